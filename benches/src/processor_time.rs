//! The processor time of this process, where the system tells it.

use std::time::Duration;

/// Processor time used so far by all threads together; none where it cannot be read.
#[must_use]
pub fn of_this_process() -> Option<Duration> {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
    }
    #[cfg(not(unix))]
    None
}

#[cfg(test)]
mod tests {
    #[test]
    fn computing_takes_processor_time() {
        let Some(before) = super::of_this_process() else { return };
        crate::handler::Handler::calibrated(1_000_000).run();
        assert!(super::of_this_process().unwrap() > before);
    }
}
