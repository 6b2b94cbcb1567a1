//! Simulated beside measured: rank correlation and error, cell by cell.

use super::contender::{self, SimulatedDesign};
use super::plan::Plan;
use super::round_trip::Cell;
use crate::record::{CellRecord, Record};
use crate::report::table;
use slotwork::Shape;
use slotwork_coherence::Profile;
use std::fmt::Write;
use std::sync::atomic::AtomicBool;

/// Spearman's rank correlation of pairs, ties at their mean rank; none for fewer than three, or where one side ties all.
#[must_use]
pub fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 3 {
        return None;
    }
    let ranks = |values: Vec<f64>| -> Vec<f64> {
        let rank = |value: &f64| {
            let below = values.iter().filter(|other| *other < value).count() as f64;
            let equal = values.iter().filter(|other| *other == value).count() as f64;
            below + (equal + 1.0) / 2.0
        };
        values.iter().map(rank).collect()
    };
    let (a, b) = (ranks(pairs.iter().map(|pair| pair.0).collect()), ranks(pairs.iter().map(|pair| pair.1).collect()));
    let mean = (pairs.len() as f64 + 1.0) / 2.0;
    let moment = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    let spread = (moment(&a, &a) * moment(&b, &b)).sqrt();
    (spread > 0.0).then(|| moment(&a, &b) / spread)
}

/// One cell of both.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Compared {
    /// Its name.
    pub cell: String,
    /// Design, measured and simulated round trips per second.
    pub designs: Vec<(String, f64, f64)>,
    /// Rank correlation.
    pub spearman: Option<f64>,
}

/// All cells of both.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Validity {
    /// Each cell.
    pub cells: Vec<Compared>,
    /// Rank correlation of the designs' scores, geometric means over the cells that all of them take part in, by category.
    pub rankings: Vec<(&'static str, usize, Option<f64>)>,
}

/// Requests of a run that is compared with a measured one: where threads outnumber cores, many turns of the scheduler.
const REQUESTS: u64 = 20_000;

/// The plan that simulates what was measured, on a machine of this profile.
#[must_use]
pub fn plan_of(record: &Record, profile: &Profile, rounds: usize, seed: u64) -> Plan {
    let cell = |cell: &CellRecord| {
        let shape = Shape::new(cell.workers, cell.slots_per_lane).ok()?;
        Some(Cell { clients: cell.clients, shape, waiting: cell.waiting })
    };
    let measured = |design: &SimulatedDesign| {
        record.cells.iter().any(|cell| cell.rows.iter().any(|row| row.design == design.name))
    };
    Plan {
        profile: profile.clone(),
        cells: record.cells.iter().filter_map(cell).collect(),
        designs: contender::catalog().into_iter().filter(measured).collect(),
        rounds,
        requests: Some(REQUESTS),
        handler_nanoseconds: record.cells.first().map_or(0, |cell| cell.handler_nanoseconds),
        seed,
    }
}

/// Simulates what was measured, and compares.
pub fn compare(record: &Record, plan: &Plan, interrupted: &AtomicBool, progress: &mut dyn FnMut(u64)) -> Validity {
    let simulated = plan.simulate(false, interrupted, progress);
    let cells: Vec<Compared> = record
        .cells
        .iter()
        .zip(&simulated.cells)
        .map(|(measured, simulated)| {
            let both = |row: &crate::record::Row| {
                let own = measured.rows.iter().find(|other| other.design == row.design)?;
                Some((row.design.clone(), own.median?, row.median?))
            };
            let designs: Vec<_> = simulated.rows.iter().filter_map(both).collect();
            let pairs: Vec<(f64, f64)> =
                designs.iter().map(|(_, measured, simulated)| (*measured, *simulated)).collect();
            Compared { cell: simulated.name(), designs, spearman: spearman(&pairs) }
        })
        .collect();
    let one: Vec<bool> = record.cells.iter().map(|cell| cell.clients == 1).collect();
    let of = |wanted: &dyn Fn(usize) -> bool| {
        let chosen: Vec<&Compared> =
            cells.iter().enumerate().filter(|(at, _)| wanted(*at)).map(|(_, cell)| cell).collect();
        let score = |design: &SimulatedDesign, simulated: bool| {
            let figure = |cell: &&Compared| {
                let own = cell.designs.iter().find(|(name, ..)| name == design.name)?;
                Some(if simulated { own.2.ln() } else { own.1.ln() })
            };
            chosen.iter().map(figure).sum::<Option<f64>>()
        };
        let pairs: Vec<(f64, f64)> =
            plan.designs.iter().filter_map(|design| Some((score(design, false)?, score(design, true)?))).collect();
        (chosen.len(), spearman(&pairs))
    };
    let rankings =
        [("one submitter", of(&|at| one[at])), ("many submitters", of(&|at| !one[at])), ("together", of(&|_| true))];
    let rankings = rankings.into_iter().filter(|(_, (cells, _))| *cells > 0);
    Validity { cells, rankings: rankings.map(|(name, (cells, correlation))| (name, cells, correlation)).collect() }
}

/// As text: each cell with its correlation and its errors, then the rankings.
#[must_use]
pub fn told(validity: &Validity) -> String {
    let shown = |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.2}"));
    let mut text = String::from("Simulated beside measured: round trips per second\n");
    let mut table =
        table(&["cell", "rank correlation", "simulated / measured, median", "least – most", "designs"], 1..5);
    for cell in &validity.cells {
        let mut ratios: Vec<f64> = cell.designs.iter().map(|(_, measured, simulated)| simulated / measured).collect();
        ratios.sort_by(f64::total_cmp);
        let least_most = match (ratios.first(), ratios.last()) {
            (Some(least), Some(most)) => format!("{least:.2} – {most:.2}"),
            _ => "–".into(),
        };
        table.add_row(vec![
            cell.cell.clone(),
            shown(cell.spearman),
            shown(crate::statistics::median(&ratios)),
            least_most,
            ratios.len().to_string(),
        ]);
    }
    let _ = writeln!(text, "{table}");
    for (name, cells, correlation) in &validity.rankings {
        let _ =
            writeln!(text, "rank correlation (Spearman) of the scores, {name}, {cells} cells: {}", shown(*correlation));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_correlation_by_hand() {
        let near = |pairs: &[(f64, f64)], expected: f64| {
            let found = spearman(pairs).unwrap();
            assert!((found - expected).abs() < 1e-9, "{found}");
        };
        near(&[(1.0, 10.0), (2.0, 20.0), (3.0, 21.0)], 1.0);
        near(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)], -1.0);
        // One exchange of neighbours among five: 1 − 6·2 / (5·24).
        near(&[(1.0, 1.0), (2.0, 3.0), (3.0, 2.0), (4.0, 4.0), (5.0, 5.0)], 0.9);
        assert_eq!(spearman(&[(1.0, 1.0), (2.0, 2.0)]), None);
        assert_eq!(spearman(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
    }
}
