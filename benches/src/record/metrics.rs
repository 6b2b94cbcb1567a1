//! What is measured besides throughput. What is absent was not measured, or this machine cannot: it is shown as n/a.

use crate::statistics::median;
use serde::{Deserialize, Serialize};

macro_rules! metrics {
    ($($(#[doc = $text:literal])+ $name:ident),+ $(,)?) => {
        /// Figures of one window, or their medians over a row's windows.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct Metrics {
            $(
                $(#[doc = $text])+
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $name: Option<f64>,
            )+
        }

        impl Metrics {
            /// The names of all of them, in order.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),+];

            /// Name and figure of each, in order.
            #[must_use]
            pub fn all(&self) -> Vec<(&'static str, Option<f64>)> {
                vec![$((stringify!($name), self.$name)),+]
            }

            /// Of each metric the median over those windows that have it.
            #[must_use]
            pub fn medians<'a>(windows: impl Iterator<Item = &'a Self> + Clone) -> Self {
                let median_of = |figure: fn(&Self) -> Option<f64>| {
                    let figures: Vec<f64> = windows.clone().filter_map(figure).collect();
                    median(&figures)
                };
                Self { $($name: median_of(|metrics| metrics.$name)),+ }
            }

            /// These, and where there is none, the other.
            #[must_use]
            pub fn or(&self, other: &Self) -> Self {
                Self { $($name: self.$name.or(other.$name)),+ }
            }
        }
    };
}

metrics! {
    /// Acquires that found no slot free, per request.
    failed_acquires_per_request,
    /// Time that clients waited for a free slot, in nanoseconds per request, all clients together.
    blocked_nanoseconds_per_request,
    /// Time that workers waited for work, in nanoseconds per request, all workers together.
    idle_nanoseconds_per_request,
    /// Processor time of all threads, in nanoseconds per request.
    processor_nanoseconds_per_request,
    /// Context switches of all threads because a thread waited, per request.
    voluntary_switches_per_request,
    /// Context switches of all threads because another's turn had come, per request.
    involuntary_switches_per_request,
    /// Wakes of sleeping threads, per request.
    wakes_per_request,
    /// Jain's index of the requests that each client submitted: 1 is even, 1/n is one client alone.
    fairness_clients,
    /// Jain's index of the requests that each worker handled.
    fairness_workers,
    /// Jain's index of the requests that each slot carried.
    fairness_slots,
    /// The longest time that a submitted slot waited to be taken, in nanoseconds.
    longest_slot_wait_nanoseconds,
    /// Instructions in user space, per request.
    instructions_per_request,
    /// Processor cycles in user space, per request.
    cycles_per_request,
    /// Misses of the last cache, per request.
    cache_misses_per_request,
}

/// How evenly something was spread.
pub struct Fairness;

impl Fairness {
    /// Jain's index: (Σx)² / (n·Σx²). None where nothing was handed out, or to nobody.
    #[must_use]
    pub fn jain(shares: &[u64]) -> Option<f64> {
        let sum: f64 = shares.iter().map(|&share| share as f64).sum();
        let squares: f64 = shares.iter().map(|&share| (share as f64).powi(2)).sum();
        (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
    }
}

/// Latency of requests that were due at fixed times, whether or not the client was ready for them: what a slow
/// request delays counts against it (no coordinated omission).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Requests due per second, all clients together.
    pub offered_per_second: f64,
    /// Requests handled per second.
    pub achieved_per_second: f64,
    /// Whether the contender could not keep up: then the figures grow with the length of the window, and say no more.
    pub saturated: bool,
    /// Requests that the figures are of.
    pub requests: u64,
    /// The mean, in nanoseconds, as the others.
    pub mean_nanoseconds: f64,
    /// Half of the requests took no longer.
    pub p50_nanoseconds: u64,
    /// Nine of ten took no longer.
    pub p90_nanoseconds: u64,
    /// 99 of 100 took no longer.
    pub p99_nanoseconds: u64,
    /// 999 of 1000 took no longer.
    pub p99_9_nanoseconds: u64,
    /// The longest.
    pub max_nanoseconds: u64,
    /// The whole distribution: `[nanoseconds, requests]`, to two significant digits, only where there are any.
    #[serde(default)]
    pub histogram: Vec<[u64; 2]>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_is_one_when_even_and_one_nth_when_one_has_all() {
        let near = |index: Option<f64>, wanted: f64| (index.unwrap() - wanted).abs() < 1e-12;
        assert!(near(Fairness::jain(&[7, 7, 7, 7]), 1.0));
        assert!(near(Fairness::jain(&[9, 0, 0, 0]), 0.25));
        assert!(near(Fairness::jain(&[u64::MAX, u64::MAX]), 1.0));
        assert_eq!((Fairness::jain(&[]), Fairness::jain(&[0, 0])), (None, None));
    }

    #[test]
    fn a_median_is_of_the_windows_that_have_the_metric() {
        let window = |wakes, instructions| Metrics {
            wakes_per_request: wakes,
            instructions_per_request: instructions,
            ..Metrics::default()
        };
        let windows = [window(Some(1.0), None), window(Some(5.0), Some(8.0)), window(Some(2.0), None)];
        let medians = Metrics::medians(windows.iter());
        assert_eq!((medians.wakes_per_request, medians.instructions_per_request), (Some(2.0), Some(8.0)));
        assert_eq!(medians.cycles_per_request, None);
        assert_eq!(medians.all().len(), Metrics::NAMES.len());
    }
}
