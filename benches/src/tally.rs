//! What each thread counts for itself, and what the counts must say together.
//!
//! ```text
//!              warm-up            measured window          rest
//!   count   0 ─────────────┬──────────────────────────┬──────────────▶ all: must agree
//!                          └── in the window: the score ┘
//! ```
//!
//! A thread notes the phase before it counts, so its share of the window is exact although nobody
//! shares a counter: what it did before it saw the window open was before, and a thread that sleeps does
//! nothing.

use std::time::Instant;
use thiserror::Error;

/// The phases of a run, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub(crate) enum Phase {
    /// Caches fill, threads find their places.
    WarmUp,
    /// Counted.
    Window,
    /// Clients stop; workers handle what is left.
    Stop,
    /// All clients have ended: a worker that finds nothing ends.
    Drain,
}

/// A counter with marks at the opening and the closing of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counter {
    pub(crate) all: u64,
    at_open: Option<u64>,
    at_close: Option<u64>,
}

impl Counter {
    /// Notes the phase; call it before counting.
    #[inline]
    pub(crate) fn note(&mut self, phase: u32) {
        if phase >= Phase::Window as u32 && self.at_open.is_none() {
            self.at_open = Some(self.all);
        }
        if phase >= Phase::Stop as u32 && self.at_close.is_none() {
            self.at_close = Some(self.all);
        }
    }

    /// What was counted in the window; a phase that was never noted passed without any counting.
    pub(crate) fn in_window(&self) -> u64 {
        self.at_close.unwrap_or(self.all) - self.at_open.unwrap_or(self.all)
    }
}

/// What one client did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientTally {
    pub(crate) acquired: Counter,
    pub(crate) failed: Counter,
    pub(crate) submitted: u64,
    pub(crate) sum: u64,
    pub(crate) wrong_results: u64,
    pub(crate) alive: Span,
}

/// What one worker did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkerTally {
    pub(crate) handled: Counter,
    pub(crate) sum: u64,
    pub(crate) alive: Span,
}

/// From a thread's start behind the barrier to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// When it began to work.
    pub start: Instant,
    /// When it had ended.
    pub end: Instant,
}

/// The part of `window` in which all of `threads` were at work: 1 when they all were throughout.
#[must_use]
pub fn overlap(window: Span, threads: &[Span]) -> f64 {
    let start = threads.iter().map(|span| span.start).max().unwrap_or(window.start).max(window.start);
    let end = threads.iter().map(|span| span.end).min().unwrap_or(window.end).min(window.end);
    let whole = window.end.saturating_duration_since(window.start).as_secs_f64();
    if whole > 0.0 { end.saturating_duration_since(start).as_secs_f64() / whole } else { 0.0 }
}

/// All threads' whole counts, warm-up and rest included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Slots that clients acquired.
    pub acquired: u64,
    /// Requests that clients submitted.
    pub submitted: u64,
    /// Requests that workers handled.
    pub handled: u64,
    /// Wrapping sum of the inputs submitted.
    pub sum_submitted: u64,
    /// Wrapping sum of the inputs handled.
    pub sum_handled: u64,
    /// Slots that a client got back with a result that does not belong to their input.
    pub wrong_results: u64,
    /// Slots found free after the end.
    pub free_slots: u64,
    /// Slots there are.
    pub slots: u64,
}

/// Why a run's counts are refused: the design (or the harness) is wrong, and the figures are void.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CountError {
    /// Something was lost or doubled.
    #[error("acquired {acquired}, submitted {submitted}, handled {handled}: these must be equal")]
    Counts {
        /// Slots that clients acquired.
        acquired: u64,
        /// Requests that clients submitted.
        submitted: u64,
        /// Requests that workers handled.
        handled: u64,
    },
    /// The counts agree, but not what was counted.
    #[error("the inputs handled are not those submitted: sums {handled:#x} and {submitted:#x}")]
    Checksum {
        /// Sum of the inputs submitted.
        submitted: u64,
        /// Sum of the inputs handled.
        handled: u64,
    },
    /// A client got a slot back with a wrong result.
    #[error("{wrong} slots came back with a wrong result")]
    Results {
        /// How many.
        wrong: u64,
    },
    /// Slots vanished or multiplied.
    #[error("{free} slots are free at the end, of {slots}")]
    Slots {
        /// Slots found free.
        free: u64,
        /// Slots there are.
        slots: u64,
    },
}

impl Totals {
    /// Holds the counts against each other.
    ///
    /// # Errors
    /// The first [`CountError`] found.
    pub fn verify(&self) -> Result<(), CountError> {
        let &Self { acquired, submitted, handled, .. } = self;
        if acquired != submitted || submitted != handled {
            return Err(CountError::Counts { acquired, submitted, handled });
        }
        if self.sum_submitted != self.sum_handled {
            return Err(CountError::Checksum { submitted: self.sum_submitted, handled: self.sum_handled });
        }
        if self.wrong_results != 0 {
            return Err(CountError::Results { wrong: self.wrong_results });
        }
        if self.free_slots != self.slots {
            return Err(CountError::Slots { free: self.free_slots, slots: self.slots });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn only_what_was_counted_in_the_window_counts() {
        let mut counter = Counter::default();
        let phases =
            [Phase::WarmUp, Phase::WarmUp, Phase::Window, Phase::Window, Phase::Window, Phase::Stop, Phase::Drain];
        for phase in phases {
            counter.note(phase as u32);
            counter.all += 1;
        }
        assert_eq!((counter.all, counter.in_window()), (7, 3));
    }

    #[test]
    fn a_thread_that_slept_through_a_phase_did_nothing_in_it() {
        let mut late = Counter::default();
        late.note(Phase::WarmUp as u32);
        late.all += 5;
        late.note(Phase::Drain as u32);
        late.all += 2;
        assert_eq!(late.in_window(), 0);
        assert_eq!(Counter { all: 9, ..Counter::default() }.in_window(), 0);
    }

    #[test]
    fn not_overlapping_threads_are_found_out() {
        let origin = Instant::now();
        let span = |start: u64, end: u64| Span {
            start: origin + Duration::from_millis(start),
            end: origin + Duration::from_millis(end),
        };
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(near(overlap(span(10, 110), &[span(0, 120), span(5, 115)]), 1.0));
        assert!(near(overlap(span(0, 100), &[span(0, 100), span(50, 100)]), 0.5));
        assert!(near(overlap(span(0, 100), &[span(0, 40), span(60, 100)]), 0.0));
        assert!(near(overlap(span(0, 0), &[span(0, 0)]), 0.0));
    }

    #[test]
    fn each_wrong_count_is_refused() {
        let good = Totals { acquired: 9, submitted: 9, handled: 9, free_slots: 4, slots: 4, ..Totals::default() };
        assert_eq!(good.verify(), Ok(()));
        assert!(matches!(Totals { handled: 8, ..good }.verify(), Err(CountError::Counts { .. })));
        assert!(matches!(Totals { acquired: 10, ..good }.verify(), Err(CountError::Counts { .. })));
        assert!(matches!(Totals { sum_handled: 1, ..good }.verify(), Err(CountError::Checksum { .. })));
        assert!(matches!(Totals { wrong_results: 1, ..good }.verify(), Err(CountError::Results { .. })));
        assert!(matches!(Totals { free_slots: 3, ..good }.verify(), Err(CountError::Slots { .. })));
    }
}
