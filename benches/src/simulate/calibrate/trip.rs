//! A handover to and fro between two cores: the same on this machine and on the simulated one.
//!
//! ```text
//!   core 0   look at b … ─ payloads ─ exchanges ─ store a ─┐        a and b: a line for each way
//!   core 1        ┌─ store b ─ exchanges ─ payloads ─ … look at a
//! ```
//!
//! With nothing but the lines, a trip is a copy given up and a line that comes. What payloads and exchanges add to
//! it says how many lines a core fetches at once.

use super::pair;
use crate::placement::Placement;
use crate::statistics::median;
use slotwork::{AccessCell, Atomic, AtomicInteger, CachePadded, Platform};
use slotwork_coherence::{Cost, Options, Profile, Simulated, Simulation, SimulationError};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// What is handed over on each trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Load {
    /// Lines that are read and written.
    pub(super) payloads: usize,
    /// Lines with a word that is added to.
    pub(super) exchanges: usize,
}

impl Load {
    pub(super) const NOTHING: Self = Self { payloads: 0, exchanges: 0 };
    /// Far more than a core fetches at once.
    pub(super) const PAYLOADS: Self = Self { payloads: 32, exchanges: 0 };
    pub(super) const EXCHANGES: Self = Self { payloads: 0, exchanges: 16 };
}

/// Nanoseconds of one trip on this machine; none where it has no two cores for us.
pub(super) fn measured(placement: &Placement, load: Load) -> Option<f64> {
    const TRIPS: u64 = 100;
    // Before the clock starts: until then the first player may have waited for the second one's thread to begin.
    const MEETING: u64 = 20;
    const TRIALS: usize = 200;
    let ways = [0, 1].map(|_| CachePadded::new(AtomicU64::new(0)));
    let words = |many| -> Vec<_> { (0..many).map(|_| CachePadded::new(AtomicU64::new(0))).collect() };
    let (payloads, exchanges) = (words(load.payloads), words(load.exchanges));
    let player = |number: usize| {
        let (ways, payloads, exchanges) = (&ways, &payloads, &exchanges);
        move || {
            let mut start = Instant::now();
            for round in 0..MEETING + TRIPS {
                if round == MEETING {
                    start = Instant::now();
                }
                while ways[1 - number].load(Ordering::Acquire) < round + number as u64 {
                    std::hint::spin_loop();
                }
                for payload in payloads {
                    let value = payload.load(Ordering::Relaxed);
                    // A check that always comes out the same way, as that of a result.
                    if value != u64::MAX {
                        payload.store(value + 1, Ordering::Relaxed);
                    }
                }
                for word in exchanges {
                    word.fetch_add(1, Ordering::AcqRel);
                }
                ways[number].store(round + 1, Ordering::Release);
            }
            start.elapsed()
        }
    };
    let (first, second) = (player(0), player(1));
    let trials = (0..TRIALS).filter_map(|_| {
        ways.iter().for_each(|way| way.store(0, Ordering::Release));
        let time = pair([0, 1], placement, [&first, &second])?;
        Some(time.as_secs_f64() * 1e9 / (2 * TRIPS) as f64)
    });
    middle_of_the_quiet(&trials.collect::<Vec<_>>())
}

/// What takes more than half as long again as the fastest was disturbed; the middle of the rest.
pub(super) fn middle_of_the_quiet(times: &[f64]) -> Option<f64> {
    let fastest = times.iter().copied().min_by(f64::total_cmp)?;
    let quiet: Vec<f64> = times.iter().copied().filter(|time| *time < 1.5 * fastest).collect();
    median(&quiet)
}

slotwork::sites! {
    /// The accesses of a trip.
    pub(super) TRIP_SITES in "trip";
    WAY_LOAD: Load(Acquire), pairs [WAY_STORE], "sees the other's turn end";
    WAY_STORE: Store(Release), pairs [WAY_LOAD], "ends a turn";
    WORD_ADD: Rmw(AcqRel), pairs [WORD_ADD], "a line that goes with the turn";
}

struct Lines {
    ways: [CachePadded<<Simulated as Platform>::AtomicU64>; 2],
    /// With something behind it, so that it has a place.
    payloads: Vec<CachePadded<(<Simulated as Platform>::Cell, u64)>>,
    exchanges: Vec<CachePadded<<Simulated as Platform>::AtomicU64>>,
}

/// The same on the simulated machine.
pub(super) fn simulated(profile: &Profile, load: Load) -> Result<f64, SimulationError> {
    const TRIPS: u64 = 200;
    let undisturbed = profile.clone().with(Cost::InterruptEvery, 0.0);
    let mut run = Simulation::new(&undisturbed, Options::default())?;
    let word = || CachePadded::new(<Simulated as Platform>::AtomicU64::new(0));
    let lines = run.build(|| {
        Arc::new(Lines {
            ways: [word(), word()],
            payloads: (0..load.payloads).map(|_| CachePadded::new((AccessCell::new(), 0))).collect(),
            exchanges: (0..load.exchanges).map(|_| word()).collect(),
        })
    });
    for number in 0..2_usize {
        let lines = Arc::clone(&lines);
        run.spawn("player", move || {
            for round in 0..TRIPS {
                while lines.ways[1 - number].load(&WAY_LOAD) < round + number as u64 {
                    Simulated::spin_hint();
                }
                lines.payloads.iter().for_each(|payload| payload.0.hold());
                lines.exchanges.iter().for_each(|word| _ = word.fetch_add(1, &WORD_ADD));
                lines.ways[number].store(round + 1, &WAY_STORE);
            }
        });
    }
    drop(lines);
    Ok(run.run()?.nanoseconds / (2 * TRIPS) as f64)
}

/// The profile whose simulated trip with nothing but the lines takes as long as the measured one.
///
/// # Errors
/// [`SimulationError`].
pub(super) fn with_trip(mut profile: Profile, trip: f64) -> Result<Profile, SimulationError> {
    let (mut low, mut high) = (0.5, trip.max(1.0));
    for _ in 0..20 {
        let middle = (low + high) / 2.0;
        profile = with_transfer(profile, middle);
        if simulated(&profile, Load::NOTHING)? < trip { low = middle } else { high = middle }
    }
    Ok(with_transfer(profile, low))
}

fn with_transfer(profile: Profile, transfer: f64) -> Profile {
    let costs = [
        (Cost::SameSocket, transfer),
        (Cost::CrossSocket, transfer),
        (Cost::SharedOccupancy, transfer / 3.0),
        (Cost::CrossOccupancy, transfer / 3.0),
    ];
    costs.into_iter().fold(profile, |profile, (cost, value)| profile.with(cost, (value * 10.0).round() / 10.0))
}

/// The profile whose simulated trip with `load` comes nearest to the measured one, by how many lines are fetched at once.
///
/// # Errors
/// [`SimulationError`].
pub(super) fn with_overlap(profile: &Profile, cost: Cost, load: Load, trip: f64) -> Result<Profile, SimulationError> {
    const MOST: u32 = 16;
    let mut best: Option<(f64, Profile)> = None;
    for at_once in 1..=MOST {
        let tried = profile.clone().with(cost, f64::from(at_once));
        let error = (simulated(&tried, load)? / trip).ln().abs();
        if best.as_ref().is_none_or(|(least, _)| error < *least) {
            best = Some((error, tried));
        }
    }
    Ok(best.map_or_else(|| profile.clone(), |(_, profile)| profile))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn like() -> Profile {
        Profile::named("laptop-two-kinds").unwrap().with(Cost::Jitter, 0.0)
    }

    #[test]
    fn a_measured_trip_comes_back_as_a_simulated_one() {
        for trip in [80.0, 150.0, 400.0] {
            let profile = with_trip(like(), trip).unwrap();
            let simulated = simulated(&profile, Load::NOTHING).unwrap();
            assert!((simulated / trip - 1.0).abs() < 0.1, "{trip}: {simulated}");
        }
    }

    #[test]
    fn how_many_lines_are_fetched_at_once_is_found_again() {
        for (cost, load, most) in [(Cost::Overlap, Load::PAYLOADS, 8.0), (Cost::ExchangeOverlap, Load::EXCHANGES, 3.0)]
        {
            for at_once in [1.0, 2.0, most] {
                let profile = like().with(Cost::Overlap, 10.0).with(cost, at_once);
                let trip = simulated(&profile, load).unwrap();
                let found = with_overlap(&like().with(Cost::Overlap, 10.0), cost, load, trip).unwrap();
                assert!((found.cost(cost) - at_once).abs() < 0.5, "{cost:?} {at_once}: {}", found.cost(cost));
            }
        }
    }

    #[test]
    fn disturbed_trials_do_not_count() {
        assert_eq!(middle_of_the_quiet(&[70.0, 72.0, 71.0, 900.0, 5000.0]), Some(71.0));
        assert_eq!(middle_of_the_quiet(&[]), None);
    }
}
