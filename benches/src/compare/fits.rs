//! Which runs can be held against each other, and which cells of theirs are the same.

use crate::reading::Run;
use crate::record::CellRecord;
use crate::waiting::Waiting;
use std::collections::HashSet;
use thiserror::Error;

/// What is let pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Only the cells and contenders that all runs have are compared; else they must be the same.
    pub common: bool,
    /// Runs of different commits are compared.
    pub any_commit: bool,
}

/// Why runs cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CompareError {
    /// There is nothing to compare.
    #[error("compare takes two runs or more")]
    TooFew,
    /// The same run twice.
    #[error("'{0}' and '{1}' are the same run")]
    Same(String, String),
    /// The grids differ.
    #[error(
        "'{0}' and '{1}' have different grids: {2}; measure the same cells, or give --common for those that all have"
    )]
    Grid(String, String, String),
    /// The contenders differ.
    #[error(
        "'{0}' and '{1}' have different contenders: {2}; measure the same ones, or give --common for those that all have"
    )]
    Contenders(String, String, String),
    /// The programs differ.
    #[error("'{0}' and '{1}' are of different versions of slotwork: {2}; build the same commit, or give --any-commit")]
    Version(String, String, String),
    /// Seconds of this world and of another.
    #[error("'{0}' is of a simulated machine and '{1}' is not: their seconds are not the same thing")]
    Simulated(String, String),
    /// They have nothing in common.
    #[error("the runs have no {0} in common")]
    Nothing(&'static str),
}

/// What the runs have in common.
#[derive(Clone, Debug)]
pub struct Shared<'a> {
    /// By cell: that cell of each run.
    pub cells: Vec<Vec<&'a CellRecord>>,
    /// What limits the comparison.
    pub remarks: Vec<String>,
}

/// A cell of any machine. The policy is no part of it: by default it is what suits the machine.
type Key = (usize, usize, usize, u64);

fn key(cell: &CellRecord) -> Key {
    (cell.clients, cell.workers, cell.slots_per_lane, cell.handler_nanoseconds)
}

/// The name of a cell without its waiting policy.
pub(super) fn key_name(cell: &CellRecord) -> String {
    let work = if cell.handler_nanoseconds == 0 { String::new() } else { format!(" {}ns", cell.handler_nanoseconds) };
    format!("{}×{}/{}{work}", cell.clients, cell.workers, cell.slots_per_lane)
}

/// Whether a cell waits as suits the machine by itself.
fn suits(run: &Run, cell: &CellRecord) -> bool {
    cell.waiting == Waiting::suited_to(cell.clients + cell.workers, run.record.machine.cores)
}

/// The cell of `run` that is `wanted` of `of`: the one that waits alike, or else the only one, where both wait
/// as suits their machines.
fn partner<'a>(of: &Run, wanted: &CellRecord, run: &'a Run) -> Option<&'a CellRecord> {
    let same: Vec<&CellRecord> = run.record.cells.iter().filter(|cell| key(cell) == key(wanted)).collect();
    let alike = same.iter().find(|cell| cell.waiting == wanted.waiting).copied();
    let alone = |run: &Run| run.record.cells.iter().filter(|cell| key(cell) == key(wanted)).count() == 1;
    alike.or_else(|| {
        let only = same.first().copied()?;
        (alone(of) && alone(run) && suits(of, wanted) && suits(run, only)).then_some(only)
    })
}

pub(super) fn fit(runs: &[Run], options: Options) -> Result<Shared<'_>, CompareError> {
    let [first, others @ ..] = runs else { return Err(CompareError::TooFew) };
    if others.is_empty() {
        return Err(CompareError::TooFew);
    }
    let mut remarks = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        for earlier in &runs[..number] {
            if earlier.record.started == run.record.started
                && earlier.record.seconds.to_bits() == run.record.seconds.to_bits()
            {
                return Err(CompareError::Same(earlier.name.clone(), run.name.clone()));
            }
            if earlier.record.machine.processor == run.record.machine.processor
                && earlier.record.machine.cores == run.record.machine.cores
                && !earlier.record.simulated
                && !run.record.simulated
            {
                remarks.push(format!(
                    "{} and {} are of one machine, or of two alike: where they differ, that is how much runs differ",
                    earlier.name, run.name
                ));
            }
        }
        remarks.extend(of_run(run));
    }
    if let (Some(simulated), Some(real)) =
        (runs.iter().find(|run| run.record.simulated), runs.iter().find(|run| !run.record.simulated))
    {
        return Err(CompareError::Simulated(simulated.name.clone(), real.name.clone()));
    }
    for run in others {
        version(first, run, options, &mut remarks)?;
        contenders(first, run, options, &mut remarks)?;
    }
    let mut cells = Vec::new();
    for cell in &first.record.cells {
        let partners: Vec<Option<&CellRecord>> = others.iter().map(|run| partner(first, cell, run)).collect();
        if let Some(missing) = partners.iter().position(Option::is_none) {
            if !options.common {
                let reason = format!("{} is in the first only", cell.name());
                return Err(CompareError::Grid(first.name.clone(), others[missing].name.clone(), reason));
            }
            remarks.push(format!("{} is not in every run, and is left out", cell.name()));
            continue;
        }
        let all: Vec<&CellRecord> = std::iter::once(cell).chain(partners.into_iter().flatten()).collect();
        if all.iter().any(|other| other.waiting != cell.waiting) {
            let waits = all.iter().map(|cell| cell.waiting.to_string()).collect::<Vec<_>>().join(", ");
            remarks.push(format!("at {} threads wait as suits each machine: {waits}", key_name(cell)));
        }
        cells.push(all);
    }
    for run in others {
        let extra = run.record.cells.iter().find(|cell| partner(run, cell, first).is_none());
        if let Some(cell) = extra {
            if !options.common {
                let reason = format!("{} is in the second only", cell.name());
                return Err(CompareError::Grid(first.name.clone(), run.name.clone(), reason));
            }
            remarks.push(format!("{} has cells that {} has not; they are left out", run.name, first.name));
        }
    }
    if cells.is_empty() {
        return Err(CompareError::Nothing("cell"));
    }
    Ok(Shared { cells, remarks })
}

/// What a run says against itself.
fn of_run(run: &Run) -> Vec<String> {
    let mut remarks = Vec::new();
    let record = &run.record;
    if record.simulated {
        remarks.push(format!("{} is of a simulated machine", run.name));
    }
    if record.interrupted {
        remarks.push(format!("{} was interrupted: later rounds are missing", run.name));
    }
    if !record.machine.is_optimised() {
        remarks.push(format!("{} is of a build that is not optimised, and says nothing about speed", run.name));
    }
    if record.machine.dirty == Some(true) {
        remarks.push(format!("{} is of a tree with changes that are in no commit", run.name));
    }
    remarks
}

fn version(first: &Run, run: &Run, options: Options, remarks: &mut Vec<String>) -> Result<(), CompareError> {
    let (one, two) = (&first.record.machine.commit, &run.record.machine.commit);
    let word = |commit: &Option<String>| commit.clone().unwrap_or_else(|| "unknown".into());
    match (one, two) {
        (Some(a), Some(b)) if a == b => {}
        (Some(_), Some(_)) if !options.any_commit => {
            let reason = format!("commits {} and {}", word(one), word(two));
            return Err(CompareError::Version(first.name.clone(), run.name.clone(), reason));
        }
        _ => remarks.push(format!("{} is of commit {}, {} of commit {}", first.name, word(one), run.name, word(two))),
    }
    Ok(())
}

fn contenders(first: &Run, run: &Run, options: Options, remarks: &mut Vec<String>) -> Result<(), CompareError> {
    let names = |run: &Run| -> HashSet<String> {
        run.record.cells.iter().flat_map(|cell| &cell.rows).map(|row| row.design.clone()).collect()
    };
    let (one, two) = (names(first), names(run));
    if one.is_disjoint(&two) {
        return Err(CompareError::Nothing("contender"));
    }
    let mut only: Vec<String> = one.symmetric_difference(&two).cloned().collect();
    only.sort();
    if only.is_empty() {
        return Ok(());
    }
    let reason = format!("{} in one only", only.join(", "));
    if !options.common {
        return Err(CompareError::Contenders(first.name.clone(), run.name.clone(), reason));
    }
    remarks.push(format!("{reason} of {} and {}: left out", first.name, run.name));
    Ok(())
}
