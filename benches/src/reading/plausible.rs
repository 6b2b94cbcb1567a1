//! A record that was read: can it be true?

use crate::grid::{MAX_SLOTS, MAX_THREADS};
use crate::record::{CellRecord, Kind, Latency, Record, Row};
use crate::statistics::Estimate;
use std::collections::HashSet;
use thiserror::Error;

/// What cannot be true in a record.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Implausible {
    /// It measured nothing.
    #[error("it has no {0}: measure again")]
    Empty(&'static str),
    /// There is more of something than anybody measures.
    #[error("{what} of {count} is absurd: at most {most}")]
    Absurd {
        /// Of what.
        what: String,
        /// How much.
        count: u64,
        /// How much there can be.
        most: u64,
    },
    /// Something is there twice.
    #[error("{what} is there twice: two results were mixed up, measure again")]
    Twice {
        /// What.
        what: String,
    },
    /// A figure that cannot have been measured.
    #[error("{what} is {figure}, which nobody measured")]
    Figure {
        /// Which figure.
        what: String,
        /// What it says.
        figure: String,
    },
    /// Two figures contradict each other.
    #[error("{0}")]
    Contradiction(String),
    /// A ranking speaks of what was not measured.
    #[error("the ranking names {0}, which is not in the cells")]
    Unknown(String),
}

const MOST_CELLS: usize = 10_000;
const MOST_ROWS: usize = 1_000;
const MOST_ROUNDS: usize = 10_000;
const MOST_LOADS: usize = 1_000;
/// Longest name of a contender: no column is wider.
const LONGEST_NAME: usize = 100;

/// Whether a record can be true.
///
/// # Errors
/// The first thing in it that cannot.
pub fn check(record: &Record) -> Result<(), Implausible> {
    if record.cells.is_empty() {
        return Err(Implausible::Empty("cells"));
    }
    at_most(|| "a number of cells".into(), record.cells.len(), MOST_CELLS)?;
    at_most(|| "a number of rounds".into(), record.settings.rounds, MOST_ROUNDS)?;
    at_most(|| "a number of cores".into(), record.machine.cores, 1 << 20)?;
    if record.machine.cores == 0 {
        return Err(Implausible::Empty("core"));
    }
    figure(|| "the length of the run".into(), record.seconds)?;
    for floor in &record.floors {
        estimate(&floor.name, &floor.nanoseconds)?;
    }
    let mut names = HashSet::new();
    for cell in &record.cells {
        if !names.insert(cell.name()) {
            return Err(Implausible::Twice { what: format!("the cell {}", cell.name()) });
        }
        check_cell(cell)?;
    }
    check_rankings(record, &names)
}

fn check_cell(cell: &CellRecord) -> Result<(), Implausible> {
    let at = cell.name();
    for (what, count, most) in [
        ("clients", cell.clients, MAX_THREADS),
        ("workers", cell.workers, MAX_THREADS),
        ("slots", cell.slots_per_lane.saturating_mul(cell.workers.max(1)), MAX_SLOTS),
        ("rows", cell.rows.len(), MOST_ROWS),
    ] {
        if count == 0 {
            return Err(Implausible::Empty(what));
        }
        at_most(|| format!("at {at} a number of {what}"), count, most)?;
    }
    let mut names = HashSet::new();
    for row in &cell.rows {
        let name = &row.design;
        if name.is_empty() || name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) {
            return Err(Implausible::Figure {
                what: format!("at {at} the name of a row"),
                figure: format!("{name:.20?}"),
            });
        }
        if !names.insert(name) {
            return Err(Implausible::Twice { what: format!("{name} at {at}") });
        }
        check_row(row, &at)?;
    }
    Ok(())
}

fn check_row(row: &Row, at: &str) -> Result<(), Implausible> {
    let name = &row.design;
    let of = |what: &str| format!("{what} of {name} at {at}");
    at_most(|| of("a number of samples"), row.samples.len(), MOST_ROUNDS)?;
    at_most(|| of("a number of loads"), row.latency.len(), MOST_LOADS)?;
    let mut rounds = HashSet::new();
    for sample in &row.samples {
        at_most(|| of("a round"), sample.round, MOST_ROUNDS)?;
        if !rounds.insert(sample.round) {
            return Err(Implausible::Twice { what: of(&format!("round {}", sample.round)) });
        }
        figure(|| of("throughput"), sample.throughput)?;
        figure(|| of("the length of a window"), sample.seconds)?;
        let trips = sample.round_trips as f64;
        if (sample.throughput * sample.seconds - trips).abs() > 0.01 * trips + 1.0 {
            let (throughput, seconds) = (sample.throughput, sample.seconds);
            return Err(Implausible::Contradiction(format!(
                "{} says {trips} round trips in {seconds} s are {throughput} per second",
                of("a sample"),
            )));
        }
        for (what, value) in sample.metrics.all() {
            figure(|| of(what), value.unwrap_or(0.0))?;
        }
    }
    for (what, value) in
        [("median", row.median), ("share of the best", row.of_best), ("share of the floor", row.of_floor)]
    {
        figure(|| of(what), value.unwrap_or(0.0))?;
    }
    for (what, value) in row.metrics.all() {
        figure(|| of(what), value.unwrap_or(0.0))?;
    }
    row.latency.iter().try_for_each(|load| check_latency(load, &of))
}

fn check_latency(load: &Latency, of: &impl Fn(&str) -> String) -> Result<(), Implausible> {
    for (what, value) in [
        ("the offered load", load.offered_per_second),
        ("the load achieved", load.achieved_per_second),
        ("mean latency", load.mean_nanoseconds),
    ] {
        figure(|| of(what), value)?;
    }
    let quantiles = [
        load.p50_nanoseconds,
        load.p90_nanoseconds,
        load.p99_nanoseconds,
        load.p99_9_nanoseconds,
        load.max_nanoseconds,
    ];
    if quantiles.windows(2).any(|pair| pair[0] > pair[1]) {
        return Err(Implausible::Contradiction(format!("{} does not grow with the quantile", of("latency"))));
    }
    Ok(())
}

fn check_rankings(record: &Record, cells: &HashSet<String>) -> Result<(), Implausible> {
    let known: HashSet<&str> = record.cells.iter().flat_map(|cell| &cell.rows).map(|row| row.design.as_str()).collect();
    let mut categories = Vec::new();
    for ranking in &record.rankings {
        if categories.contains(&ranking.category) {
            return Err(Implausible::Twice { what: format!("the ranking of {}", ranking.category.title()) });
        }
        categories.push(ranking.category);
        if let Some(unknown) = ranking.cells.iter().find(|cell| !cells.contains(*cell)) {
            return Err(Implausible::Unknown(unknown.clone()));
        }
        let mut names = HashSet::new();
        for place in &ranking.places {
            if !known.contains(place.design.as_str()) {
                return Err(Implausible::Unknown(place.design.clone()));
            }
            if !names.insert(&place.design) {
                return Err(Implausible::Twice { what: format!("{} in a ranking", place.design) });
            }
            if place.kind == Kind::Floor {
                return Err(Implausible::Contradiction(format!("{} is a floor, and ranked", place.design)));
            }
            if let Some(score) = &place.score {
                estimate(&format!("the score of {}", place.design), score)?;
            }
            if place.score.is_some() != place.rank.is_some() {
                return Err(Implausible::Contradiction(format!("{} has a rank or a score alone", place.design)));
            }
            at_most(|| "a rank".into(), place.rank.unwrap_or(1), MOST_ROWS)?;
        }
    }
    Ok(())
}

fn at_most(what: impl Fn() -> String, count: usize, most: usize) -> Result<(), Implausible> {
    if count > most {
        return Err(Implausible::Absurd { what: what(), count: count as u64, most: most as u64 });
    }
    Ok(())
}

fn figure(what: impl Fn() -> String, value: f64) -> Result<(), Implausible> {
    if !value.is_finite() || value < 0.0 {
        return Err(Implausible::Figure { what: what(), figure: value.to_string() });
    }
    Ok(())
}

fn estimate(what: &str, estimate: &Estimate) -> Result<(), Implausible> {
    for value in [estimate.value, estimate.low, estimate.high] {
        figure(|| what.to_string(), value)?;
    }
    if estimate.low > estimate.value || estimate.value > estimate.high {
        return Err(Implausible::Contradiction(format!("{what} lies outside its interval")));
    }
    Ok(())
}
