//! An alarm for a disturbed machine: how long a cache line takes between two cores and back.
//!
//! ```text
//!   core 0   1 ──┐     ┌──▶ 2 ──┐         quiet: a few hundred nanoseconds a trip
//!   core 1       └──▶ 1┘        └──▶ …    somebody else is running: many times that
//! ```
//!
//! Nothing else is measured so fast and says so much: other programs on a core, a hypervisor that took
//! it away, or a clock turned down all show in it. The quiet level is the run's own: the median of all trips
//! measured so far.

use crate::placement::Placement;
use crate::statistics::median;
use core_affinity::CoreId;
use slotwork::CachePadded;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The alarm of one run.
#[derive(Debug)]
pub struct Alarm {
    cores: Option<[CoreId; 2]>,
    measured: Vec<f64>,
}

impl Alarm {
    /// Beyond this multiple of the quiet level, the machine is disturbed.
    pub const THRESHOLD: f64 = 2.0;
    const CALIBRATION: usize = 15;

    /// An alarm that knows the quiet level; none on a machine with one core for us.
    #[must_use]
    pub fn calibrated(placement: &Placement) -> Self {
        let mut alarm = Self { cores: placement.two_cores(), measured: Vec::new() };
        for _ in 0..Self::CALIBRATION {
            alarm.trip();
        }
        alarm
    }

    /// Nanoseconds of a trip, measured now; none where it cannot be measured.
    pub fn trip(&mut self) -> Option<f64> {
        let trip = ping_pong(self.cores?, Lines::One)?;
        self.measured.push(trip);
        Some(trip)
    }

    /// The quiet level in nanoseconds.
    #[must_use]
    pub fn quiet(&self) -> Option<f64> {
        median(&self.measured)
    }

    /// Whether a trip of this length means a disturbed machine; what was not measured does not.
    #[must_use]
    pub fn is_disturbed(&self, trip: Option<f64>) -> bool {
        matches!((trip, self.quiet()), (Some(trip), Some(quiet)) if trip > quiet * Self::THRESHOLD)
    }
}

/// What goes to and fro.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// One line, written by both.
    One,
    /// A line that one writes, and a line that the other writes.
    OneEachWay,
}

/// Nanoseconds a line takes from one core to the other and back: the mean of some hundred trips, so that a
/// core that is taken away for a while shows. None when a thread could not be started or bound.
pub(crate) fn ping_pong(cores: [CoreId; 2], lines: Lines) -> Option<f64> {
    const WARM_UP: u32 = 64;
    const TRIPS: u32 = 1024;
    /// A disturbed machine must not hold up the run for long.
    const AT_MOST: Duration = Duration::from_millis(4);
    const OVER: u32 = u32::MAX;

    let pair: [CachePadded<AtomicU32>; 2] = Default::default();
    let (forth, back) = (&pair[0], &pair[usize::from(lines == Lines::OneEachWay)]);
    let echo = || {
        let bound = core_affinity::set_for_current(cores[1]);
        let mut next = 1;
        loop {
            match forth.load(Ordering::Acquire) {
                OVER => return bound,
                value if value == next => {
                    back.store(value + 1, Ordering::Release);
                    next += 2;
                }
                _ => std::hint::spin_loop(),
            }
        }
    };
    let send = || {
        let bound = core_affinity::set_for_current(cores[0]);
        let mut value = 0;
        let mut trip = || {
            forth.store(value + 1, Ordering::Release);
            value += 2;
            while back.load(Ordering::Acquire) != value {
                std::hint::spin_loop();
            }
        };
        // Where other programs hold a core, a trip takes their turn: then a few must do.
        let begun = Instant::now();
        for _ in 0..WARM_UP {
            trip();
            if begun.elapsed() > AT_MOST {
                break;
            }
        }
        let start = Instant::now();
        let mut trips = 0;
        while trips < TRIPS && (trips % 16 != 0 || start.elapsed() < AT_MOST) {
            trip();
            trips += 1;
        }
        let time = start.elapsed();
        forth.store(OVER, Ordering::Release);
        bound.then(|| time.as_secs_f64() * 1e9 / f64::from(trips.max(1)))
    };
    std::thread::scope(|scope| {
        // The echo first: without it the sender would wait for ever.
        let echo = std::thread::Builder::new().spawn_scoped(scope, echo).ok()?;
        let trip = match std::thread::Builder::new().spawn_scoped(scope, send) {
            Ok(sender) => sender.join().ok().flatten(),
            Err(_) => {
                forth.store(OVER, Ordering::Release);
                None
            }
        };
        echo.join().ok().filter(|&bound| bound).and(trip)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_above_the_median_is_disturbed() {
        let alarm = Alarm { cores: None, measured: vec![100.0, 90.0, 110.0, 100.0, 5000.0] };
        assert_eq!(alarm.quiet(), Some(100.0));
        assert!(!alarm.is_disturbed(Some(199.0)));
        assert!(alarm.is_disturbed(Some(201.0)));
    }

    #[test]
    fn without_two_cores_there_is_no_alarm() {
        let mut alarm = Alarm { cores: None, measured: Vec::new() };
        assert_eq!(alarm.trip(), None);
        assert_eq!(alarm.quiet(), None);
        assert!(!alarm.is_disturbed(None));
    }

    #[test]
    fn a_trip_takes_time_where_there_are_two_cores() {
        let mut alarm = Alarm::calibrated(&Placement::pinned());
        if alarm.cores.is_some() {
            assert!(alarm.trip().is_none_or(|trip| trip > 1.0));
        }
    }
}
