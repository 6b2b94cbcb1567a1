//! What takes a core away from a thread: interruptions from below, and other threads.
//!
//! ```text
//!   clock ▸ read read read ─── gap ─── read read …      short gaps: an interruption; how often, how long
//!   one core   b yields │ a computes … until b runs again │        what a got meanwhile: the quantum
//! ```

use super::pair;
use crate::placement::Placement;
use crate::processor_time;
use crate::statistics::median;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// From one interruption to the next, and how long one takes, in nanoseconds; none where too few were seen.
pub(super) fn interruptions() -> Option<(f64, f64)> {
    const WATCH: u64 = 40_000_000;
    let mut readings = Vec::with_capacity(1 << 12);
    let start = Instant::now();
    let mut last = 0;
    while last < WATCH {
        let now = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if now - last > GAPS.0 {
            readings.push((last, now - last));
        }
        last = now;
    }
    of_gaps(&readings)
}

/// Gaps between two readings of the clock that count, in nanoseconds: what is shorter is a cache miss, what is longer
/// was another thread.
const GAPS: (u64, u64) = (700, 50_000);

/// The same of gaps, each with when it began.
fn of_gaps(gaps: &[(u64, u64)]) -> Option<(f64, f64)> {
    const LEAST: usize = 5;
    let short: Vec<f64> = gaps.iter().filter(|gap| gap.1 < GAPS.1).map(|gap| gap.1 as f64).collect();
    // From the end of one to the beginning of the next, unless another thread ran between.
    let between = gaps.windows(2).filter(|two| two[0].1 < GAPS.1 && two[1].1 < GAPS.1);
    let between: Vec<f64> = between.map(|two| (two[1].0 - two[0].0 - two[0].1) as f64).collect();
    (between.len() >= LEAST).then(|| Some((median(&between)?, median(&short)?)))?
}

/// How long a thread computes on a core after another one yielded it to it, in nanoseconds of its own processor time.
pub(super) fn quantum(placement: &Placement) -> Option<f64> {
    const TURNS: usize = 30;
    const LONGEST: Duration = Duration::from_millis(500);
    let used = AtomicU64::new(0);
    let over = AtomicBool::new(false);
    let turns = std::sync::Mutex::new(Vec::new());
    let computes = || {
        let start = Instant::now();
        while !over.load(Ordering::Relaxed) && start.elapsed() < 2 * LONGEST {
            if let Some(time) = processor_time::of_this_thread() {
                used.store(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
            }
        }
        start.elapsed()
    };
    let yields = || {
        let start = Instant::now();
        let mut seen = Vec::new();
        while seen.len() < TURNS && start.elapsed() < LONGEST {
            let before = used.load(Ordering::Relaxed);
            std::thread::yield_now();
            seen.push((used.load(Ordering::Relaxed) - before) as f64);
        }
        over.store(true, Ordering::Relaxed);
        // At first the other is not there yet, and a yield may come back at once.
        seen.retain(|&time| time > 20_000.0);
        *turns.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = seen;
        start.elapsed()
    };
    pair([0, 0], placement, [&yields, &computes])?;
    let turns = turns.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    (turns.len() >= 3).then(|| median(&turns))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interruptions_are_what_is_between_misses_and_threads() {
        let mut gaps: Vec<(u64, u64)> = (0..10).map(|at| (at * 50_000, 3000)).collect();
        assert_eq!(of_gaps(&gaps), Some((47_000.0, 3000.0)));
        // Another thread ran for a while: neither its gap nor what is beside it counts.
        gaps.push((10 * 50_000, 4_000_000));
        gaps.push((10 * 50_000 + 4_600_000, 3000));
        assert_eq!(of_gaps(&gaps), Some((47_000.0, 3000.0)));
        assert_eq!(of_gaps(&gaps[..4]), None, "too few to say anything");
    }
}
