//! Hardware counters, where the machine has them: many virtual machines do not, and then they are absent.

use crate::record::Metrics;

/// Counters of all threads that are started while they exist; none of those the machine does not have.
#[derive(Debug, Default)]
pub struct Counters {
    #[cfg(target_os = "linux")]
    open: [Option<perf_event::Counter>; 3],
}

/// What they counted: instructions, cycles, cache misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    instructions: Option<u64>,
    cycles: Option<u64>,
    cache_misses: Option<u64>,
}

#[cfg(target_os = "linux")]
impl Counters {
    /// Opens what there is, stopped.
    #[must_use]
    pub fn open() -> Self {
        use perf_event::Builder;
        use perf_event::events::Hardware;
        let events = [Hardware::INSTRUCTIONS, Hardware::CPU_CYCLES, Hardware::CACHE_MISSES];
        // Inherited, so that threads started later are counted; user space only, which is what may be had without rights.
        Self { open: events.map(|event| Builder::new(event).inherit(true).exclude_kernel(true).build().ok()) }
    }

    /// Lets them run.
    pub fn start(&mut self) {
        for counter in self.open.iter_mut().flatten() {
            // What cannot be started counts nothing, and is absent.
            let _ = counter.enable();
        }
    }

    /// Stops them, and reads them; one that counted nothing was not there.
    #[must_use]
    pub fn stop(&mut self) -> Counted {
        let mut read = |at: usize| {
            let counter = self.open[at].as_mut()?;
            counter.disable().ok()?;
            counter.read().ok().filter(|&count| count > 0)
        };
        Counted { instructions: read(0), cycles: read(1), cache_misses: read(2) }
    }
}

#[cfg(not(target_os = "linux"))]
impl Counters {
    /// Nothing: only Linux is asked.
    #[must_use]
    pub fn open() -> Self {
        Self::default()
    }

    /// Nothing.
    pub fn start(&mut self) {}

    /// Nothing.
    #[must_use]
    pub fn stop(&mut self) -> Counted {
        Counted::default()
    }
}

impl Counted {
    /// Puts them into `metrics`, per request.
    pub fn put(&self, metrics: &mut Metrics, requests: u64) {
        let each = |count: Option<u64>| count.filter(|_| requests > 0).map(|count| count as f64 / requests as f64);
        metrics.instructions_per_request = each(self.instructions);
        metrics.cycles_per_request = each(self.cycles);
        metrics.cache_misses_per_request = each(self.cache_misses);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handler::Handler;

    #[test]
    fn instructions_are_counted_or_absent_and_never_zero() {
        let mut counters = Counters::open();
        counters.start();
        std::thread::scope(|scope| drop(scope.spawn(|| Handler::calibrated(1_000_000).run())));
        let counted = counters.stop();
        let mut metrics = Metrics::default();
        counted.put(&mut metrics, 2);
        assert_eq!(metrics.instructions_per_request.is_some(), counted.instructions.is_some());
        // The loop alone is hundreds of thousands, on the other thread.
        assert!(counted.instructions.is_none_or(|count| count > 100_000), "{counted:?}");
        counted.put(&mut metrics, 0);
        assert_eq!(metrics.instructions_per_request, None);
    }
}
