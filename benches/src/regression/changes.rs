//! How each contender moved from base to head, pair by pair: relative to the peers, cell by cell.

use super::RegressionError;
use crate::record::{CellRecord, Kind, Record, Row};
use crate::statistics::median;

/// One contender's change.
#[derive(Clone, Debug)]
pub struct Change {
    /// The contender.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// By pair of runs: mean over the cells of ln(head / base); none where a figure is missing.
    pub pairs: Option<Vec<f64>>,
    /// Why there is none.
    pub gap: Option<String>,
    /// What the spread of its rounds alone makes uncertain in a pair's change: one standard deviation.
    pub within: f64,
    /// What failed in head and did not in base.
    pub broken_in_head: Option<String>,
    /// The cell that fell furthest over all pairs, and its ratio.
    pub lowest_cell: Option<(String, f64)>,
}

/// The changes of all contenders, in the order of the first run.
///
/// # Errors
/// [`RegressionError`] where the runs do not fit together.
pub fn changes(base: &[Record], head: &[Record]) -> Result<Vec<Change>, RegressionError> {
    if base.len() != head.len() || base.is_empty() {
        return Err(RegressionError::Pairs { base: base.len(), head: head.len() });
    }
    let first = &base[0];
    for (number, other) in base.iter().chain(head).enumerate() {
        fits(first, other)?;
        let earlier = base.iter().chain(head).take(number);
        if number > 0 && earlier.into_iter().any(|earlier| is_same(earlier, other)) {
            return Err(RegressionError::Same(other.started.clone()));
        }
    }
    let rows = first.cells.first().map(|cell| cell.rows.as_slice()).unwrap_or_default();
    Ok(rows.iter().filter(|row| row.kind != Kind::Floor).map(|row| change(row, base, head)).collect())
}

/// Two files with the same figures, to the last digit: not two runs.
fn is_same(a: &Record, b: &Record) -> bool {
    let figures = |record: &Record| -> Vec<u64> {
        let samples = record.cells.iter().flat_map(|cell| &cell.rows).flat_map(|row| &row.samples);
        samples.map(|sample| sample.throughput.to_bits()).collect()
    };
    a.started == b.started && figures(a) == figures(b)
}

/// What must be the same in two runs whose difference is to mean something.
fn fits(a: &Record, b: &Record) -> Result<(), RegressionError> {
    let unlike = |reason: String| Err(RegressionError::Unlike(reason));
    if a.simulated != b.simulated {
        return unlike("one is of a simulated machine and one is not".into());
    }
    let machine = |record: &Record| {
        let processor = record.machine.processor.clone().unwrap_or_else(|| "an unknown processor".into());
        format!("{processor}, {} cores", record.machine.cores)
    };
    if machine(a) != machine(b) {
        return unlike(format!("they are of two machines ({}; {}): the gate is for one", machine(a), machine(b)));
    }
    if a.machine.is_optimised() != b.machine.is_optimised() {
        return unlike("one build is optimised and one is not".into());
    }
    let names = |record: &Record| -> Vec<String> { record.cells.iter().map(CellRecord::name).collect() };
    if let Some(reason) = difference("cell", &names(a), &names(b)) {
        return unlike(reason);
    }
    for (cell, other) in a.cells.iter().zip(&b.cells) {
        if cell.window_milliseconds != other.window_milliseconds {
            let (one, two) = (cell.window_milliseconds, other.window_milliseconds);
            return unlike(format!("windows of {one} ms and of {two} ms at {}", cell.name()));
        }
        let who = |cell: &CellRecord| -> Vec<String> {
            let ranked = cell.rows.iter().filter(|row| row.kind != Kind::Floor);
            ranked.map(|row| row.design.clone()).collect()
        };
        if let Some(reason) = difference("contender", &who(cell), &who(other)) {
            return unlike(reason);
        }
    }
    Ok(())
}

/// What one list has and the other has not; nothing where they have the same, in whatever order for contenders.
fn difference(what: &str, a: &[String], b: &[String]) -> Option<String> {
    let missing = |from: &[String], of: &[String]| of.iter().find(|name| !from.contains(name)).cloned();
    if let Some(name) = missing(b, a).or_else(|| missing(a, b)) {
        return Some(format!("{what} {name} is in one run and not in the other"));
    }
    (a.len() != b.len() || (what == "cell" && a != b)).then(|| format!("their {what}s are not in the same order"))
}

fn change(row: &Row, base: &[Record], head: &[Record]) -> Change {
    let mut change = Change {
        name: row.design.clone(),
        kind: row.kind,
        pairs: None,
        gap: None,
        within: 0.0,
        broken_in_head: None,
        lowest_cell: None,
    };
    let mut pairs = Vec::new();
    let mut of_cell: Vec<(String, f64)> = Vec::new();
    let (mut variances, mut cells) = (0.0, 0);
    for (base, head) in base.iter().zip(head) {
        let mut sum = 0.0;
        let mut counted = 0;
        for (base, head) in base.cells.iter().zip(&head.cells) {
            let (Some(old), Some(new)) = (row_of(base, &change.name), row_of(head, &change.name)) else { continue };
            // Where it takes no part, it takes none on either side.
            if old.not_applicable.is_some() && new.not_applicable.is_some() {
                continue;
            }
            let name = base.name();
            if old.failure.is_none() && old.not_applicable.is_none() {
                if let Some(failure) = &new.failure {
                    change.broken_in_head = Some(format!("failed in head at {name}: {failure}"));
                } else if new.not_applicable.is_some() {
                    change.broken_in_head = Some(format!("takes no part any more in head at {name}"));
                }
            }
            match (level(base, old), level(head, new)) {
                (Ok(before), Ok(after)) => {
                    let moved = after.centre - before.centre;
                    sum += moved;
                    counted += 1;
                    variances += before.variance + after.variance;
                    match of_cell.iter_mut().find(|(cell, _)| *cell == name) {
                        Some((_, total)) => *total += moved,
                        None => of_cell.push((name, moved)),
                    }
                }
                (Err(reason), _) => change.gap = Some(format!("base, {name}: {reason}")),
                (_, Err(reason)) => change.gap = Some(format!("head, {name}: {reason}")),
            }
        }
        cells += counted;
        pairs.push(sum / f64::from(counted));
    }
    let count = base.len() as f64;
    let lowest = of_cell.into_iter().min_by(|a, b| a.1.total_cmp(&b.1));
    change.lowest_cell = lowest.map(|(cell, moved)| (cell, (moved / count).exp()));
    // Mean variance of a cell's change, over the cells of one pair.
    change.within = (variances / f64::from(cells.max(1)) / (f64::from(cells.max(1)) / count)).sqrt();
    if cells == 0 && change.gap.is_none() {
        change.gap = Some("it takes part in no cell".into());
    }
    change.pairs = (change.gap.is_none() && pairs.iter().all(|pair| pair.is_finite())).then_some(pairs);
    change
}

fn row_of<'a>(cell: &'a CellRecord, name: &str) -> Option<&'a Row> {
    cell.rows.iter().find(|row| row.design == name)
}

/// Where a row stands, as a logarithm, and how far its rounds leave that open.
struct Level {
    centre: f64,
    variance: f64,
}

fn level(cell: &CellRecord, row: &Row) -> Result<Level, String> {
    if let Some(failure) = &row.failure {
        return Err(format!("it failed: {failure}"));
    }
    if let Some(reason) = &row.not_applicable {
        return Err(format!("it takes no part: {reason}"));
    }
    let mut values = Vec::new();
    for sample in &row.samples {
        if !(sample.throughput.is_finite() && sample.throughput > 0.0) {
            return Err(format!("nothing was handled in round {}", sample.round + 1));
        }
        values.push(sample.throughput.ln() - reference(cell, row, sample.round).unwrap_or(0.0));
    }
    let Some(centre) = median(&values) else { return Err("it was not measured".into()) };
    // The spread of a median, from that of the rounds around it: robustly, as the rounds may have been disturbed.
    let distances: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    let spread = 1.4826 * median(&distances).unwrap_or(0.0);
    Ok(Level { centre, variance: std::f64::consts::FRAC_PI_2 * spread.powi(2) / values.len() as f64 })
}

/// The peers' median in a round, as a logarithm, the row itself left out; none where there are too few.
fn reference(cell: &CellRecord, own: &Row, round: usize) -> Option<f64> {
    let others =
        cell.rows.iter().filter(|row| row.kind == Kind::Peer && row.failure.is_none() && row.design != own.design);
    let of_round = others.filter_map(|row| row.samples.iter().find(|sample| sample.round == round));
    let values: Vec<f64> = of_round.map(|sample| sample.throughput.ln()).filter(|value| value.is_finite()).collect();
    median(&values)
}

/// Head as part of base, over the peers themselves: what the machine did between the runs. None without peers.
pub(super) fn machine_ratio(base: &[Record], head: &[Record]) -> Option<f64> {
    let levels = |records: &[Record]| -> Vec<f64> {
        let cells = records.iter().flat_map(|record| &record.cells);
        let rows = cells.flat_map(|cell| &cell.rows).filter(|row| row.kind == Kind::Peer);
        rows.filter_map(|row| row.median).filter(|median| *median > 0.0).map(f64::ln).collect()
    };
    let (old, new) = (levels(base), levels(head));
    if old.is_empty() || old.len() != new.len() {
        return None;
    }
    Some(((new.iter().sum::<f64>() - old.iter().sum::<f64>()) / old.len() as f64).exp())
}
