//! Several machines, one question: where do the rankings agree, and where do they flip?
//!
//! ```text
//!   a.json ─┐            ┌─ by category: each machine's ranks and scores, one over all machines
//!   b.json ─┼─ fits? ────┼─ by pair: agreed · flipped · open
//!   c.json ─┘            └─ by cell: who is best where
//! ```
//!
//! A pair of contenders is *agreed* when the same one is clearly ahead on every machine, *flipped* when one is clearly
//! ahead on some machine and the other on another; all else is *open*. Clearly ahead means that the intervals do
//! not overlap. The score over all machines is the geometric mean over the cells of all of them, each machine with
//! the same weight: each has the same cells.

mod fits;
mod table;

pub use fits::{CompareError, Options, Shared};
pub use table::comparison_tables;

use crate::reading::Run;
use crate::record::{Category, CellRecord, Kind, Place};
use crate::statistics::{CellSamples, Estimate, ranks, scores};
use crate::verdict::samples;
use serde::Serialize;

/// What several runs say together.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The machines, in the order given.
    pub machines: Vec<Compared>,
    /// What limits the comparison.
    pub remarks: Vec<String>,
    /// A table per category that all machines have.
    pub categories: Vec<CategoryComparison>,
    /// Who is best in each cell.
    pub cells: Vec<CellComparison>,
}

/// One run of the comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// What it is called here.
    pub name: String,
    /// Its machine, in a line.
    pub machine: String,
    /// When it began.
    pub started: String,
    /// Rounds measured.
    pub rounds: usize,
    /// Whether it was simulated.
    pub simulated: bool,
}

/// One category on all machines.
#[derive(Clone, Debug, Serialize)]
pub struct CategoryComparison {
    /// What is ranked.
    pub category: Category,
    /// Contenders, best over all machines first.
    pub rows: Vec<RowComparison>,
    /// Pairs in which the same one is clearly ahead on every machine.
    pub agreed: usize,
    /// Pairs in which one is clearly ahead here, the other there.
    pub flips: Vec<Flip>,
    /// All other pairs.
    pub open: usize,
}

/// One contender on all machines.
#[derive(Clone, Debug, Serialize)]
pub struct RowComparison {
    /// Its name.
    pub design: String,
    /// What it is.
    pub kind: Kind,
    /// Its rank on each machine.
    pub ranks: Vec<Option<usize>>,
    /// Its score on each machine.
    pub scores: Vec<Option<Estimate>>,
    /// Its rank over all machines.
    pub rank: Option<usize>,
    /// Its score over all machines.
    pub score: Option<Estimate>,
}

/// Two contenders whose order is not the same everywhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flip {
    /// One of them.
    pub design: String,
    /// The other.
    pub other: String,
    /// Machines on which the first is clearly ahead.
    pub ahead_on: Vec<String>,
    /// Machines on which the second is.
    pub behind_on: Vec<String>,
}

/// One cell on all machines.
#[derive(Clone, Debug, Serialize)]
pub struct CellComparison {
    /// The cell, without the waiting policy where that differs.
    pub cell: String,
    /// The best contender of each machine, with how far ahead of the second it is.
    pub best: Vec<Option<(String, f64)>>,
    /// Whether it is the same everywhere.
    pub same: bool,
}

/// Compares runs.
///
/// # Errors
/// [`CompareError`] where they do not fit together.
pub fn compare(runs: &[Run], options: Options) -> Result<Comparison, CompareError> {
    let shared = fits::fit(runs, options)?;
    let machine = |run: &Run| Compared {
        name: run.name.clone(),
        machine: run.record.machine.to_string(),
        started: run.record.started.clone(),
        rounds: run.record.settings.rounds,
        simulated: run.record.simulated,
    };
    let seed = runs.first().map_or(1, |run| run.record.settings.seed);
    let categories = Category::ALL.into_iter().filter_map(|category| of_category(runs, &shared, category, seed));
    Ok(Comparison {
        machines: runs.iter().map(machine).collect(),
        categories: categories.collect(),
        cells: shared.cells.iter().map(|cells| of_cell(cells)).collect(),
        remarks: shared.remarks,
    })
}

fn of_category(runs: &[Run], shared: &Shared<'_>, category: Category, seed: u64) -> Option<CategoryComparison> {
    let ranking = |run: &'_ Run| run.record.rankings.iter().find(|ranking| ranking.category == category).cloned();
    let rankings: Vec<_> = runs.iter().map(ranking).collect::<Option<_>>()?;
    let named = |place: &&Place| rankings.iter().all(|ranking| ranking.places.iter().any(|p| p.design == place.design));
    let places: Vec<&Place> = rankings.first()?.places.iter().filter(named).collect();
    let names: Vec<&str> = places.iter().map(|place| place.design.as_str()).collect();
    // Which machine a cell is of does not matter to a score: each machine brings as many as the others.
    let counts = |cell: &&&CellRecord| category == Category::Together || cell.categories.contains(&category);
    let everywhere = |cells: &&Vec<&CellRecord>| cells.iter().all(|cell| counts(&cell));
    let cells: Vec<&Vec<&CellRecord>> = shared.cells.iter().filter(everywhere).collect();
    if cells.is_empty() || names.len() < 2 {
        return None;
    }
    // Scores of each machine over the cells that count on all of them, and over all machines.
    let of_machine =
        |machine: usize| -> Vec<CellSamples> { cells.iter().map(|cells| samples(cells[machine], &names)).collect() };
    let own: Vec<Vec<Option<Estimate>>> =
        (0..runs.len()).map(|machine| scores(&of_machine(machine), names.len(), seed)).collect();
    let own_ranks: Vec<Vec<Option<usize>>> = own.iter().map(|estimates| ranks(estimates)).collect();
    let all: Vec<CellSamples> = (0..runs.len()).flat_map(of_machine).collect();
    let merged = scores(&all, names.len(), seed);
    let merged_ranks = ranks(&merged);
    let mut rows: Vec<RowComparison> = places
        .iter()
        .enumerate()
        .map(|(at, place)| RowComparison {
            design: place.design.clone(),
            kind: place.kind,
            ranks: own_ranks.iter().map(|ranks| ranks[at]).collect(),
            scores: own.iter().map(|scores| scores[at]).collect(),
            rank: merged_ranks[at],
            score: merged[at],
        })
        .collect();
    let value = |row: &RowComparison| row.score.map_or(f64::NEG_INFINITY, |score| score.value);
    rows.sort_by(|a, b| value(b).total_cmp(&value(a)));
    let (mut agreed, mut open, mut flips) = (0, 0, Vec::new());
    for (at, row) in rows.iter().enumerate() {
        for other in &rows[at + 1..] {
            let ahead = |a: &RowComparison, b: &RowComparison| -> Vec<String> {
                let clearly = |machine: &usize| match (a.scores[*machine], b.scores[*machine]) {
                    (Some(a), Some(b)) => a.low > b.high,
                    _ => false,
                };
                (0..runs.len()).filter(clearly).map(|machine| runs[machine].name.clone()).collect()
            };
            let (before, behind) = (ahead(row, other), ahead(other, row));
            if !before.is_empty() && !behind.is_empty() {
                flips.push(Flip {
                    design: row.design.clone(),
                    other: other.design.clone(),
                    ahead_on: before,
                    behind_on: behind,
                });
            } else if before.len() == runs.len() || behind.len() == runs.len() {
                agreed += 1;
            } else {
                open += 1;
            }
        }
    }
    Some(CategoryComparison { category, rows, agreed, flips, open })
}

fn of_cell(cells: &[&CellRecord]) -> CellComparison {
    let best = |cell: &&CellRecord| {
        let figures = cell.rows.iter().filter(|row| row.kind != Kind::Floor && row.failure.is_none());
        let mut figures: Vec<(&str, f64)> =
            figures.filter_map(|row| row.median.map(|median| (row.design.as_str(), median))).collect();
        figures.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (name, first) = figures.first()?;
        let lead = figures.get(1).filter(|(_, second)| *second > 0.0).map_or(1.0, |(_, second)| first / second);
        Some(((*name).to_string(), lead))
    };
    let best: Vec<Option<(String, f64)>> = cells.iter().map(best).collect();
    let name = |best: &Option<(String, f64)>| best.as_ref().map(|(name, _)| name.clone());
    let same = best.windows(2).all(|pair| name(&pair[0]) == name(&pair[1]));
    let waits_alike = cells.windows(2).all(|pair| pair[0].waiting == pair[1].waiting);
    let first = cells[0];
    let cell = if waits_alike { first.name() } else { fits::key_name(first) };
    CellComparison { cell, best, same }
}
