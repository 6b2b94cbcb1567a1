//! The handler's work: a given number of nanoseconds of computing, the same for every design.
//!
//! It is a calibrated loop and not a look at the clock: a thread that was preempted in between has
//! not done its work, and reading the clock costs more than a short handler.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Work of a fixed length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handler {
    steps: u64,
}

impl Handler {
    /// The longest handler that can be asked for: 100 ms, so that every window sees some end.
    pub const MAX_NANOSECONDS: u64 = 100_000_000;

    /// A handler that does nothing.
    pub const NOTHING: Self = Self { steps: 0 };

    /// A handler of about `nanoseconds` on this machine, when nothing disturbs it. Calibrating takes
    /// about 10 ms; zero takes none, and is exact.
    #[must_use]
    pub fn calibrated(nanoseconds: u64) -> Self {
        if nanoseconds == 0 {
            return Self::NOTHING;
        }
        Self { steps: steps_for(nanoseconds, steps_per_microsecond()) }
    }

    /// Does the work.
    #[inline]
    pub fn run(self) {
        let mut state = self.steps;
        for _ in 0..self.steps {
            // Each step needs the one before, so that the loop is neither removed nor vectorised.
            state = black_box(state.wrapping_mul(3));
        }
    }
}

fn steps_for(nanoseconds: u64, steps_per_microsecond: u64) -> u64 {
    (nanoseconds.saturating_mul(steps_per_microsecond) / 1000).max(1)
}

/// The fastest of several trials: whatever disturbs a trial makes it slower.
fn steps_per_microsecond() -> u64 {
    const STEPS: u64 = 200_000;
    let trial = || {
        let start = Instant::now();
        Handler { steps: STEPS }.run();
        start.elapsed()
    };
    let fastest = (0..10).map(|_| trial()).min().unwrap_or(Duration::ZERO);
    let nanoseconds = u64::try_from(fastest.as_nanos()).unwrap_or(u64::MAX).max(1);
    (STEPS * 1000 / nanoseconds).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_nanoseconds_do_nothing() {
        assert_eq!(Handler::calibrated(0), Handler::NOTHING);
    }

    #[test]
    fn steps_grow_with_the_time_and_are_never_none() {
        assert_eq!(steps_for(1000, 700), 700);
        assert_eq!(steps_for(10, 700), 7);
        assert_eq!(steps_for(1, 1), 1);
        assert!(steps_for(u64::MAX, u64::MAX) > 0);
    }
}
