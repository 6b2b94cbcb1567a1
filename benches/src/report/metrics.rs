//! Tables of what is measured besides throughput: floors, metrics, latency.

use super::table;
use super::tables::{short, shown};
use crate::record::{CellRecord, FloorRecord, Kind, Record, Row};
use std::fmt::Write;

/// The floors of a machine.
#[must_use]
pub fn floor_table(floors: &[FloorRecord]) -> String {
    let mut table = table(&["floor", "ns / round trip", "95 % interval", "what"], 1..3);
    for floor in floors {
        let time = &floor.nanoseconds;
        table.add_row(vec![
            floor.name.clone(),
            short(time.value),
            format!("{} – {}", short(time.low), short(time.high)),
            floor.what.clone(),
        ]);
    }
    format!("Floors: what nothing can undercut here\n{table}\n")
}

/// Latency by load; nothing where it was not measured.
pub(super) fn latency_table(cell: &CellRecord) -> String {
    if cell.rows.iter().all(|row| row.latency.is_empty()) {
        return String::new();
    }
    let header = ["design", "offered Mreq/s", "done", "p50 µs", "p90 µs", "p99 µs", "p99.9 µs", "max µs", "requests"];
    let mut table = table(&header, 1..header.len());
    let loads = cell.rows.iter().map(|row| row.latency.len()).max().unwrap_or(0);
    for load in 0..loads {
        let mut rows: Vec<&Row> = cell.rows.iter().filter(|row| row.latency.len() > load).collect();
        rows.sort_by_key(|row| (row.latency[load].saturated, row.latency[load].p99_nanoseconds));
        for row in rows {
            let latency = &row.latency[load];
            let micros = |nanoseconds: u64| {
                let mark = if latency.saturated { "≥ " } else { "" };
                format!("{mark}{}", short(nanoseconds as f64 / 1e3))
            };
            let done = 100.0 * latency.achieved_per_second / latency.offered_per_second;
            table.add_row(vec![
                shown(&row.design, row.kind),
                short(latency.offered_per_second / 1e6),
                format!("{done:.0} %{}", if latency.saturated { ", saturated" } else { "" }),
                micros(latency.p50_nanoseconds),
                micros(latency.p90_nanoseconds),
                micros(latency.p99_nanoseconds),
                micros(latency.p99_9_nanoseconds),
                micros(latency.max_nanoseconds),
                latency.requests.to_string(),
            ]);
        }
    }
    format!("{}: latency at fixed rates, from when a request was due to when it was handled\n{table}\n", cell.name())
}

/// The heads of the metrics, in the order of their names, and the factor they are shown with.
const HEADS: [(&str, f64); 14] = [
    ("failed acquires", 1.0),
    ("blocked ns", 1.0),
    ("idle ns", 1.0),
    ("CPU ns", 1.0),
    ("switches", 1.0),
    ("preempted", 1.0),
    ("wakes", 1.0),
    ("even: clients", 1.0),
    ("workers", 1.0),
    ("slots", 1.0),
    ("longest wait µs", 1e-3),
    ("instructions", 1.0),
    ("cycles", 1.0),
    ("cache misses", 1.0),
];

/// A table of metrics per cell, when any row was traced; else nothing, for most are in the files.
pub(super) fn metrics_tables(record: &Record) -> String {
    let traced =
        |row: &Row| row.metrics.fairness_slots.is_some() || row.metrics.longest_slot_wait_nanoseconds.is_some();
    let mut text = String::new();
    for cell in record.cells.iter().filter(|cell| cell.rows.iter().any(traced)) {
        let _ = writeln!(
            text,
            "\n{}: metrics, per request where it says nothing else\n{}",
            cell.name(),
            metrics_table(cell)
        );
    }
    text
}

fn metrics_table(cell: &CellRecord) -> comfy_table::Table {
    let mut header = vec!["design", "bytes/slot"];
    header.extend(HEADS.iter().map(|(head, _)| *head));
    let mut table = table(&header, 1..header.len());
    let mut rows: Vec<&Row> =
        cell.rows.iter().filter(|row| row.kind != Kind::Floor && row.not_applicable.is_none()).collect();
    rows.sort_by(|a, b| b.median.unwrap_or(-1.0).total_cmp(&a.median.unwrap_or(-1.0)));
    for row in rows {
        let mut line =
            vec![shown(&row.design, row.kind), row.slot_bytes.map_or("n/a".into(), |bytes| bytes.to_string())];
        let figures = row.metrics.all().into_iter().zip(HEADS);
        line.extend(
            figures.map(|((_, figure), (_, factor))| figure.map_or("n/a".into(), |figure| short(figure * factor))),
        );
        table.add_row(line);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Latency, Metrics};
    use crate::waiting::Waiting;

    #[test]
    fn every_metric_has_a_head_and_what_is_absent_is_said_so() {
        assert_eq!(HEADS.len(), Metrics::NAMES.len());
        let metrics = Metrics { fairness_slots: Some(0.5), ..Metrics::default() };
        let latency =
            Latency { offered_per_second: 1e6, achieved_per_second: 5e5, saturated: true, ..Latency::default() };
        let row = Row { design: "bitmap".into(), metrics, latency: vec![latency], ..Row::default() };
        let cell = CellRecord {
            clients: 1,
            workers: 1,
            slots_per_lane: 4,
            waiting: Waiting::Spin,
            handler_nanoseconds: 0,
            categories: Vec::new(),
            window_milliseconds: 1,
            rows: vec![row],
        };
        let shown = metrics_table(&cell).to_string();
        assert!(shown.contains("0.50") && shown.contains("n/a"), "{shown}");
        assert!(latency_table(&cell).contains("50 %, saturated"));
    }
}
