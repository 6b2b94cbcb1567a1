//! What a run says about a load: the nearest cells, and a score for each design in them.

use super::Load;
use crate::reading::Run;
use crate::record::{CellRecord, Kind, Latency, Row};
use crate::statistics::{CellSamples, Estimate, scores};
use crate::verdict::samples;
use clap::ValueEnum;
use serde::Serialize;
use slotwork::Submitters;
use slotwork_catalog::Entry;

/// What is to be best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// Requests per second.
    Throughput,
    /// The latency that half of the requests stay below.
    P50,
    /// The latency that 99 of 100 requests stay below.
    P99,
    /// The latency that 999 of 1000 requests stay below.
    #[value(name = "p99.9")]
    #[serde(rename = "p99.9")]
    P999,
    /// Bytes per slot.
    Memory,
    /// Processor time per request.
    Cpu,
}

impl Objective {
    /// Whether it needs latencies.
    #[must_use]
    pub const fn is_latency(self) -> bool {
        matches!(self, Self::P50 | Self::P99 | Self::P999)
    }

    /// As it is shown, with its unit.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::P50 => "p50 latency",
            Self::P99 => "p99 latency",
            Self::P999 => "p99.9 latency",
            Self::Memory => "bytes per slot",
            Self::Cpu => "processor time per request",
        }
    }
}

/// What was measured of one design.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// Geometric mean over the cells of the best as part of its own, or its own as part of the best: 1 is best.
    pub score: Estimate,
    /// Whether the interval is one of repeated measurements; else it is a tenth either way.
    pub repeated: bool,
    /// In each cell what was measured, with its unit.
    pub values: Vec<String>,
    /// Where that stands in the file, as JSON pointers.
    pub rows: Vec<String>,
    /// Bytes of one of its slots.
    pub slot_bytes: Option<usize>,
}

impl Figure {
    /// Whether the intervals overlap.
    #[must_use]
    pub fn cannot_be_told_from(&self, other: &Self) -> bool {
        self.score.overlaps(&other.score)
    }

    /// The figure in a line.
    #[must_use]
    pub fn words(&self, figures: Option<&Figures>) -> String {
        let cells = figures.map_or(String::new(), |figures| figures.cells.join(", "));
        let Estimate { value, low, high } = self.score;
        format!("{value:.2} of the best ({low:.2} – {high:.2}), {} at {cells}", self.values.join(", "))
    }
}

/// What a run says about a load.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// The run.
    pub run: String,
    /// Its machine.
    pub machine: String,
    /// When it was made.
    pub started: String,
    /// The cells that are nearest to the load.
    pub cells: Vec<String>,
    /// Whether they are the load itself.
    pub exact: bool,
    /// What is compared; throughput where the run lacks what was asked for.
    pub objective: Objective,
    /// What has to be said about them.
    pub remarks: Vec<String>,
    designs: Vec<(String, Figure)>,
    gaps: Vec<(String, String)>,
}

/// How far apart two designs must be where nothing was repeated.
const UNREPEATED: f64 = 0.1;

impl Figures {
    /// What `run` says of these designs under this load; none where it has no cell of this kind.
    pub(super) fn of(load: &Load, run: &Run, able: &[&Entry]) -> Option<Self> {
        let cells = nearest(load, run);
        let first = cells.first()?.1;
        let mut remarks = Vec::new();
        let exact = cells.iter().all(|(_, cell)| is_exact(load, cell));
        if !exact {
            remarks.push(format!("the load itself was not measured: `{}` does it", load.command()));
        }
        let waits = cells.iter().map(|(_, cell)| cell.waiting.to_string()).collect::<Vec<_>>().join(", ");
        remarks.push(format!("threads waited by: {waits}"));
        let names: Vec<&str> = able.iter().map(|entry| entry.name).collect();
        let mut objective = load.objective;
        let measured = |objective| by_objective(objective, &cells, &names, run.record.settings.seed);
        let mut designs = measured(objective);
        if designs.is_empty() && objective != Objective::Throughput {
            remarks.push(format!("{} was not measured there: ordered by throughput instead", objective.word()));
            objective = Objective::Throughput;
            designs = measured(objective);
        }
        if let Some(peer) = peer_ahead(&cells, &designs, objective) {
            remarks.push(peer);
        }
        if run.record.simulated {
            remarks.push("the run is of a simulated machine".into());
        }
        let gap = |entry: &&Entry| {
            let row = first.rows.iter().find(|row| row.design == entry.name);
            let reason = match row {
                None => "it is not in that run".into(),
                Some(Row { failure: Some(failure), .. }) => format!("it failed there: {failure}"),
                Some(Row { not_applicable: Some(reason), .. }) => format!("it took no part there: {reason}"),
                Some(_) => "it has no figure there".into(),
            };
            (entry.name.to_string(), reason)
        };
        let without = able.iter().filter(|entry| !designs.iter().any(|(name, _)| name == entry.name));
        Some(Self {
            run: run.path.display().to_string(),
            machine: run.record.machine.to_string(),
            started: run.record.started.clone(),
            cells: cells.iter().map(|(_, cell)| cell.name()).collect(),
            exact,
            objective,
            remarks,
            gaps: without.map(gap).collect(),
            designs,
        })
    }

    pub(super) fn of_design(&self, name: &str) -> Option<&Figure> {
        self.designs.iter().find(|(design, _)| design == name).map(|(_, figure)| figure)
    }

    /// Why a design has no figure.
    pub(super) fn gap(&self, name: &str) -> Option<String> {
        self.gaps.iter().find(|(design, _)| design == name).map(|(_, reason)| reason.clone())
    }
}

fn is_exact(load: &Load, cell: &CellRecord) -> bool {
    let clients = match (load.submitters, load.clients) {
        (Submitters::Many, None) => cell.clients > 1,
        _ => cell.clients == load.client_count(),
    };
    clients
        && cell.workers == load.shape.lanes()
        && cell.slots_per_lane == load.shape.slots_per_lane()
        && cell.handler_nanoseconds == load.handler_nanoseconds
}

/// The cells of the load's kind at the least distance, with their places in the file: as factors, workers, slots
/// and clients count alike, and work a tenth.
fn nearest<'a>(load: &Load, run: &'a Run) -> Vec<(usize, &'a CellRecord)> {
    let factor = |a: usize, b: usize| (a.max(1) as f64 / b.max(1) as f64).ln().abs();
    let distance = |cell: &CellRecord| {
        let clients = if load.submitters == Submitters::Many && load.clients.is_none() {
            0.0
        } else {
            factor(cell.clients, load.client_count())
        };
        let work = ((cell.handler_nanoseconds + 10) as f64 / (load.handler_nanoseconds + 10) as f64).ln().abs();
        factor(cell.workers, load.shape.lanes())
            + factor(cell.slots_per_lane, load.shape.slots_per_lane())
            + clients
            + work / 10.0
    };
    let of_kind = |cell: &&CellRecord| (cell.clients > 1) == (load.submitters == Submitters::Many);
    let cells = run.record.cells.iter().enumerate().filter(|(_, cell)| of_kind(cell));
    let cells: Vec<(usize, &CellRecord)> = cells.collect();
    let least = cells.iter().map(|(_, cell)| distance(cell)).fold(f64::INFINITY, f64::min);
    cells.into_iter().filter(|(_, cell)| distance(cell) <= least + 1e-9).collect()
}

type Cells<'a> = [(usize, &'a CellRecord)];

fn by_objective(objective: Objective, cells: &Cells<'_>, names: &[&str], seed: u64) -> Vec<(String, Figure)> {
    let figure = |name: &str, score: Estimate, repeated: bool| {
        let row_of = |(at, cell): &(usize, &CellRecord)| {
            let row = cell.rows.iter().position(|row| row.design == name)?;
            Some((
                format!("/cells/{at}/rows/{row}"),
                shown(objective, cell, &cell.rows[row])?,
                cell.rows[row].slot_bytes,
            ))
        };
        let rows: Vec<(String, String, Option<usize>)> = cells.iter().filter_map(row_of).collect();
        let figure = Figure {
            score,
            repeated,
            values: rows.iter().map(|(_, value, _)| value.clone()).collect(),
            rows: rows.iter().map(|(pointer, _, _)| pointer.clone()).collect(),
            slot_bytes: rows.first().and_then(|(_, _, bytes)| *bytes),
        };
        (name.to_string(), figure)
    };
    if objective == Objective::Throughput {
        let scored: Vec<CellSamples> = cells.iter().map(|(_, cell)| samples(cell, names)).collect();
        let estimates = scores(&scored, names.len(), seed);
        let scored = names.iter().zip(estimates).filter_map(|(name, score)| Some(figure(name, score?, true)));
        return scored.collect();
    }
    // Less is better: the score is the geometric mean of the least over its own.
    let value = |cell: &CellRecord, name: &str| {
        let row = cell.rows.iter().find(|row| row.design == name && row.failure.is_none())?;
        cost(objective, cell, row).filter(|cost| *cost > 0.0)
    };
    let own: Vec<Option<Vec<f64>>> =
        names.iter().map(|name| cells.iter().map(|(_, cell)| value(cell, name)).collect()).collect();
    let least: Vec<f64> = (0..cells.len())
        .map(|at| own.iter().flatten().map(|values| values[at]).fold(f64::INFINITY, f64::min))
        .collect();
    let scored = names.iter().zip(&own).filter_map(|(name, values)| {
        let values = values.as_ref()?;
        let logs: f64 = values.iter().zip(&least).map(|(own, least)| (least / own).ln()).sum();
        let score = (logs / values.len() as f64).exp();
        // Bytes are exact; other figures are of one window, and not believed to a tenth.
        let doubt = if objective == Objective::Memory { 0.0 } else { UNREPEATED / 2.0 };
        let score = Estimate { value: score, low: score * (1.0 - doubt), high: score * (1.0 + doubt) };
        Some(figure(name, score, false))
    });
    scored.collect()
}

/// What is to be small.
fn cost(objective: Objective, cell: &CellRecord, row: &Row) -> Option<f64> {
    let quantile = |of: fn(&Latency) -> u64| common_load(cell, row).map(|load| of(load) as f64);
    match objective {
        Objective::Throughput => None,
        Objective::P50 => quantile(|load| load.p50_nanoseconds),
        Objective::P99 => quantile(|load| load.p99_nanoseconds),
        Objective::P999 => quantile(|load| load.p99_9_nanoseconds),
        Objective::Memory => row.slot_bytes.map(|bytes| bytes as f64),
        Objective::Cpu => row.metrics.processor_nanoseconds_per_request,
    }
}

/// The heaviest load that every design of the cell could carry, as this row met it; else the lightest there was.
fn common_load<'a>(cell: &CellRecord, row: &'a Row) -> Option<&'a Latency> {
    let near = |a: f64, b: f64| (a - b).abs() <= 0.05 * b;
    let designs = || cell.rows.iter().filter(|row| row.kind == Kind::Design && !row.latency.is_empty());
    let carried = |offered: f64| {
        designs().all(|row| row.latency.iter().any(|load| near(load.offered_per_second, offered) && !load.saturated))
    };
    let heaviest = row.latency.iter().filter(|load| carried(load.offered_per_second));
    heaviest.max_by(|a, b| a.offered_per_second.total_cmp(&b.offered_per_second)).or_else(|| row.latency.first())
}

fn shown(objective: Objective, cell: &CellRecord, row: &Row) -> Option<String> {
    if objective == Objective::Throughput {
        return row.median.map(|median| format!("{:.2} Mreq/s", median / 1e6));
    }
    let value = cost(objective, cell, row)?;
    Some(match objective {
        Objective::Memory => format!("{value:.0} bytes per slot"),
        Objective::Cpu => format!("{value:.0} ns of processor time per request"),
        _ => {
            let load = common_load(cell, row)?;
            format!("{} of {value:.0} ns at {:.0} requests/s", objective.word(), load.offered_per_second)
        }
    })
}

/// A peer with more throughput than the best design: a user should know.
fn peer_ahead(cells: &Cells<'_>, designs: &[(String, Figure)], objective: Objective) -> Option<String> {
    let best = designs.iter().max_by(|a, b| a.1.score.value.total_cmp(&b.1.score.value))?;
    if objective != Objective::Throughput {
        return None;
    }
    let mut ahead: Vec<(String, f64)> = Vec::new();
    for (_, cell) in cells {
        let own = cell.rows.iter().find(|row| row.design == best.0)?.median?;
        for peer in cell.rows.iter().filter(|row| row.kind == Kind::Peer) {
            if let Some(median) = peer.median
                && median > own
            {
                ahead.push((peer.design.clone(), median / own));
            }
        }
    }
    let (name, factor) = ahead.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!("the peer {name}, which is no design of ours, had {factor:.2}x the throughput of {} there", best.0))
}
