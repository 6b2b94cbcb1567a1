//! Measuring the single-threaded cost, interleaved, as multiples of the reference.

use crate::report::table;
use crate::single::{AtomicFloor, Kind, Single};
use crate::statistics::{Estimate, median_with_interval};
use crate::tally::CountError;
use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use serde::Serialize;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use thiserror::Error;

/// Round trips of one batch: long beside the clock, short beside a quantum.
const BATCH: u64 = 10_000;

/// The cost of one contender.
#[derive(Clone, Debug, Serialize)]
pub struct Cost {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Nanoseconds per round trip: median over the rounds.
    pub nanoseconds: Estimate,
    /// Multiple of the reference in the same round: median over the rounds.
    pub of_reference: Estimate,
    /// Multiple of one uncontended atomic per operation in the same round: median over the rounds.
    pub of_floor: Estimate,
}

/// A contender's counts are wrong.
#[derive(Debug, Error)]
#[error("{name}: the counts are wrong: {source}")]
pub struct CostError {
    name: String,
    source: CountError,
}

/// Measures all, `rounds` times a batch each, in an order shuffled anew in each round. When interrupted, what was
/// measured so far counts; with no complete round that is nothing.
///
/// # Errors
/// [`CostError`].
pub fn measure(
    singles: &mut [Single],
    rounds: usize,
    seed: u64,
    interrupted: &AtomicBool,
    progress: &mut dyn FnMut(),
) -> Result<Vec<Cost>, CostError> {
    let mut random = SmallRng::seed_from_u64(seed);
    let mut times: Vec<Vec<f64>> = vec![Vec::with_capacity(rounds); singles.len()];
    singles.iter_mut().for_each(|single| single.trips.go(BATCH));
    for _ in 0..rounds {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        let mut order: Vec<usize> = (0..singles.len()).collect();
        order.shuffle(&mut random);
        for at in order {
            let start = Instant::now();
            singles[at].trips.go(BATCH);
            times[at].push(start.elapsed().as_secs_f64() * 1e9 / BATCH as f64);
        }
        progress();
    }
    for single in &*singles {
        single.trips.verify().map_err(|source| CostError { name: single.name.clone(), source })?;
    }
    let reference = singles.iter().position(|single| single.kind == Kind::Reference).unwrap_or(0);
    let floor = singles.iter().position(|single| single.name == AtomicFloor::NAME).unwrap_or(reference);
    let cost = |(single, own): (&Single, &Vec<f64>)| {
        let ratios = |of: usize| own.iter().zip(&times[of]).map(|(own, of)| own / of).collect::<Vec<f64>>();
        Some(Cost {
            name: single.name.clone(),
            kind: single.kind,
            nanoseconds: median_with_interval(own, seed)?,
            of_reference: median_with_interval(&ratios(reference), seed)?,
            of_floor: median_with_interval(&ratios(floor), seed)?,
        })
    };
    Ok(singles.iter().zip(&times).filter_map(cost).collect())
}

/// The costs as a table, cheapest first.
#[must_use]
pub fn cost_table(costs: &[Cost]) -> String {
    let mut costs: Vec<&Cost> = costs.iter().collect();
    costs.sort_by(|a, b| a.nanoseconds.value.total_cmp(&b.nanoseconds.value));
    let mut table = table(
        &["contender", "ns / round trip", "95 % interval", "× ArrayQueue pair", "95 % interval", "× floor"],
        1..6,
    );
    for cost in costs {
        let (time, ratio) = (&cost.nanoseconds, &cost.of_reference);
        table.add_row(vec![
            match cost.kind {
                Kind::Peer => format!("{} (peer)", cost.name),
                _ => cost.name.clone(),
            },
            format!("{:.1}", time.value),
            format!("{:.1} – {:.1}", time.low, time.high),
            format!("{:.2}", ratio.value),
            format!("{:.2} – {:.2}", ratio.low, ratio.high),
            format!("{:.2}", cost.of_floor.value),
        ]);
    }
    let mut text =
        String::from("Cost of a round trip on one thread: 1 client and 1 worker in turn, 64 slots in one lane\n");
    let _ = writeln!(
        text,
        "{table}\n× floor: of the payload's work with one uncontended atomic for each of the four operations"
    );
    text
}
