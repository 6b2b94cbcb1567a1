//! The short answers: for so many clients and workers, which design, how sure, and at what cost.

use super::Part;
use crate::page::chart::figure;
use crate::page::{Block, Sheet};
use crate::record::{CellRecord, Kind, Row};
use crate::statistics::{CellSamples, Estimate, scores};
use crate::verdict::samples;

/// What can be said of one number of threads, over all its cells.
struct Answer<'a> {
    clients: usize,
    workers: usize,
    best: &'a str,
    score: Estimate,
    /// Those that it cannot be told from.
    tied: Vec<&'a str>,
    /// The best peer's throughput as part of its own, geometric mean over the cells.
    peer: Option<(&'a str, f64)>,
    cells: Vec<&'a CellRecord>,
}

fn answers<'a>(part: &Part<'a>) -> Vec<Answer<'a>> {
    let record = &part.run.record;
    let mut threads: Vec<(usize, usize)> = Vec::new();
    for cell in &record.cells {
        if !threads.contains(&(cell.clients, cell.workers)) {
            threads.push((cell.clients, cell.workers));
        }
    }
    threads
        .into_iter()
        .filter_map(|(clients, workers)| {
            let cells: Vec<&CellRecord> =
                record.cells.iter().filter(|cell| (cell.clients, cell.workers) == (clients, workers)).collect();
            let takes_part = |row: &&Row| row.kind == Kind::Design && row.not_applicable.is_none();
            let names: Vec<&str> =
                cells.first()?.rows.iter().filter(takes_part).map(|row| row.design.as_str()).collect();
            let scored: Vec<CellSamples> = cells.iter().map(|cell| samples(cell, &names)).collect();
            let estimates = scores(&scored, names.len(), record.settings.seed);
            let found = names.iter().zip(&estimates).filter_map(|(name, score)| Some((*name, (*score)?)));
            let found: Vec<(&str, Estimate)> = found.collect();
            let (best, score) = *found.iter().max_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
            let tied = found
                .iter()
                .filter(|(name, other)| *name != best && other.overlaps(&score))
                .map(|(name, _)| *name)
                .collect();
            Some(Answer { clients, workers, best, score, tied, peer: best_peer(&cells, best), cells })
        })
        .collect()
}

fn best_peer<'a>(cells: &[&'a CellRecord], best: &str) -> Option<(&'a str, f64)> {
    let peers = cells.first()?.rows.iter().filter(|row| row.kind == Kind::Peer).map(|row| row.design.as_str());
    let ratio = |peer: &str| {
        let median = |cell: &CellRecord, name: &str| {
            cell.rows.iter().find(|row| row.design == name)?.median.filter(|median| *median > 0.0)
        };
        let logs: Option<Vec<f64>> =
            cells.iter().map(|cell| Some((median(cell, peer)? / median(cell, best)?).ln())).collect();
        logs.map(|logs| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
    };
    peers.filter_map(|peer| Some((peer, ratio(peer)?))).max_by(|a, b| a.1.total_cmp(&b.1))
}

fn row_of<'a>(cell: &'a CellRecord, name: &str) -> Option<&'a Row> {
    cell.rows.iter().find(|row| row.design == name)
}

/// From the least to the most of a figure over the cells.
fn range(figures: impl Iterator<Item = f64>) -> String {
    let (low, high) = figures.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    match low {
        _ if low > high => "not measured".into(),
        _ if figure(low) == figure(high) => figure(low),
        _ => format!("{} – {}", figure(low), figure(high)),
    }
}

pub(super) fn blocks(part: &Part<'_>) -> Vec<Block> {
    let header = [
        "clients × workers",
        "take",
        "how sure",
        "score among designs",
        "Mreq/s",
        "p99 in µs",
        "bytes / slot",
        "best peer",
        "cells",
    ];
    let caption =
        "The best design for each number of threads, over all slots, work and waiting that were measured there";
    let mut sheet = Sheet::new(&format!("{}which", part.prefix), caption, header);
    for answer in answers(part) {
        let rows = || answer.cells.iter().filter_map(|cell| Some((*cell, row_of(cell, answer.best)?)));
        let p99 = rows().filter_map(|(cell, row)| super::latency::common(cell, row)).filter(|load| !load.saturated);
        sheet.push([
            format!("{}×{}", answer.clients, answer.workers),
            answer.best.to_string(),
            sure(&answer),
            format!("{:.3} ({:.3} – {:.3})", answer.score.value, answer.score.low, answer.score.high),
            range(rows().filter_map(|(_, row)| row.median).map(|median| median / 1e6)),
            range(p99.map(|load| load.p99_nanoseconds as f64 / 1e3)),
            rows().find_map(|(_, row)| row.slot_bytes).map_or("not measured".into(), |bytes| bytes.to_string()),
            answer.peer.map_or("none in this run".into(), |(peer, ratio)| format!("{peer}: {ratio:.2} of it")),
            answer.cells.len().to_string(),
        ]);
    }
    vec![
        Block::Table(sheet),
        Block::Words(
            "How sure: clear means that its 95 % interval lies above that of every other design in these cells. All of it is of \
             this machine and of this load; the sections below have each cell."
                .into(),
        ),
    ]
}

fn sure(answer: &Answer<'_>) -> String {
    if answer.tied.is_empty() { "clear".into() } else { format!("not to be told from {}", answer.tied.join(", ")) }
}

/// A line or two for the top of the page.
pub(super) fn summary(part: &Part<'_>) -> Vec<String> {
    let record = &part.run.record;
    let of = |number: usize, one: &str| format!("{number} {one}{}", if number == 1 { "" } else { "s" });
    let cores = of(record.machine.cores, "core");
    let processor = record.machine.processor.as_deref().unwrap_or("an unknown processor");
    let simulated = if record.simulated { ", SIMULATED" } else { "" };
    let mut lines = vec![format!(
        "{}: {processor}, {cores}{simulated}, {}; {}, {}.",
        part.run.name,
        record.started,
        of(record.cells.len(), "cell"),
        of(record.settings.rounds, "round"),
    )];
    let mut words = Vec::new();
    for (kind, many) in [("one submitter", false), ("many submitters", true)] {
        let of_kind: Vec<Answer<'_>> =
            answers(part).into_iter().filter(|answer| (answer.clients > 1) == many).collect();
        if let Some(most) = of_kind.iter().max_by_key(|answer| answer.workers) {
            let workers = of(most.workers, "worker");
            words.push(format!("For {kind} and {workers}: {} ({}).", most.best, sure(most)));
        }
    }
    lines.push(words.join(" "));
    if !record.machine.is_optimised() {
        lines.push("NOT OPTIMISED: a debug build says nothing about speed.".into());
    }
    if record.interrupted {
        lines.push("INTERRUPTED: later rounds are missing.".into());
    }
    lines
}
