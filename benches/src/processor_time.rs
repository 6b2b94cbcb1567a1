//! The processor time of this process and its threads, where the system tells it.

use std::time::Duration;

/// Processor time used so far by all threads together; none where it cannot be read.
#[must_use]
pub fn of_this_process() -> Option<Duration> {
    #[cfg(unix)]
    return of(rustix::time::ClockId::ProcessCPUTime);
    #[cfg(not(unix))]
    None
}

/// Processor time used so far by the calling thread; none where it cannot be read.
#[must_use]
pub fn of_this_thread() -> Option<Duration> {
    #[cfg(unix)]
    return of(rustix::time::ClockId::ThreadCPUTime);
    #[cfg(not(unix))]
    None
}

#[cfg(unix)]
fn of(clock: rustix::time::ClockId) -> Option<Duration> {
    let time = rustix::time::clock_gettime(clock);
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

#[cfg(test)]
mod tests {
    #[test]
    fn computing_takes_processor_time() {
        let Some((process, thread)) = super::of_this_process().zip(super::of_this_thread()) else { return };
        crate::handler::Handler::calibrated(1_000_000).run();
        assert!(super::of_this_process().unwrap() > process);
        assert!(super::of_this_thread().unwrap() > thread);
    }
}
