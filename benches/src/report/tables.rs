//! The report of `slotwork rank`: a table per cell, then the verdict.

use super::beside::beside_peers;
use super::metrics::{floor_table, latency_table, metrics_tables};
use super::table;
use crate::record::{Category, CellRecord, Doubt, Kind, Place, Ranking, Record, Row};
use std::fmt::Write;

/// The whole report.
#[must_use]
pub fn rank_report(record: &Record) -> String {
    let mut text = String::new();
    let what = if record.simulated { "slotwork simulate · SIMULATED" } else { "slotwork rank" };
    let _ = writeln!(text, "{what} · slot round trips · {}", record.started);
    let _ = writeln!(text, "{}", record.machine);
    let _ = writeln!(text, "{}", conditions(record));
    if !record.machine.is_optimised() {
        let _ = writeln!(text, "NOT OPTIMISED: a debug build says nothing about speed; use cargo run --release");
    }
    let windows = || record.cells.iter().flat_map(|cell| &cell.rows).flat_map(|row| &row.samples);
    let disturbed = windows().filter(|sample| sample.doubts.contains(&Doubt::Disturbed)).count();
    if disturbed > 0 {
        let _ = writeln!(
            text,
            "DISTURBED: in {disturbed} of {} windows something else ran on this machine; a quieter one ranks better",
            windows().count()
        );
    }
    if record.interrupted {
        let _ = writeln!(text, "INTERRUPTED: later rounds are missing");
    }
    if !record.floors.is_empty() {
        let _ = write!(text, "\n{}", floor_table(&record.floors));
    }
    for cell in &record.cells {
        let _ = write!(text, "\n{}", cell_table(cell));
        let _ = write!(text, "{}", latency_table(cell));
    }
    let _ = write!(text, "{}", metrics_tables(record));
    let _ = write!(text, "{}", beside_peers(record));
    for ranking in &record.rankings {
        let _ = write!(text, "\n{}", ranking_table(ranking));
    }
    if !record.rankings.is_empty() {
        let _ = writeln!(text, "{}\n", how_to_read(record));
    }
    for ranking in &record.rankings {
        let _ = writeln!(text, "{}", verdict(ranking));
    }
    text
}

fn conditions(record: &Record) -> String {
    let settings = &record.settings;
    let mut parts = vec![
        format!("{} cells, {} rounds", record.cells.len(), settings.rounds),
        (if settings.pinned { "threads pinned" } else { "threads not pinned" }).into(),
        format!("seed {}", settings.seed),
    ];
    parts.push(match settings.quiet_trip_nanoseconds {
        Some(quiet) => format!("line ping-pong {quiet:.0} ns when quiet"),
        None => "no disturbance alarm (it needs two cores)".into(),
    });
    if settings.repeated_windows > 0 {
        parts.push(format!("{} disturbed windows repeated", settings.repeated_windows));
    }
    parts.push(format!("{:.0} s", record.seconds));
    parts.join(" · ")
}

fn cell_table(cell: &CellRecord) -> String {
    let count = |number: usize, one: &str| format!("{number} {one}{}", if number == 1 { "" } else { "s" });
    let header = ["design", "Mreq/s", "min – max", "of best", "× floor", "failed acquires / request", "remarks"];
    let mut table = table(&header, 1..6);
    // What is written by hand for one and one has nothing to say elsewhere.
    let silent = |row: &&Row| row.kind == Kind::Floor && row.not_applicable.is_some();
    let mut rows: Vec<&Row> = cell.rows.iter().filter(|row| !silent(row)).collect();
    // Best first; those without a figure last, in the catalog's order.
    rows.sort_by(|a, b| {
        let floor = |row: &Row| row.kind == Kind::Floor;
        floor(a).cmp(&floor(b)).then(b.median.unwrap_or(-1.0).total_cmp(&a.median.unwrap_or(-1.0)))
    });
    for row in rows {
        table.add_row(cell_row(row));
    }
    format!(
        "{} × {}, {} per lane · waiting: {} · {} · {} ms windows\n{table}\n",
        count(cell.clients, "client"),
        count(cell.workers, "worker"),
        count(cell.slots_per_lane, "slot"),
        cell.waiting,
        match cell.handler_nanoseconds {
            0 => "empty handler".into(),
            nanoseconds => format!("handler of {nanoseconds} ns"),
        },
        cell.window_milliseconds,
    )
}

fn cell_row(row: &Row) -> Vec<String> {
    let without_figures = |text: String| {
        let mut cells = vec![shown(&row.design, row.kind)];
        cells.extend(["–"; 5].map(String::from));
        cells.push(text);
        cells
    };
    if let Some(reason) = &row.not_applicable {
        return without_figures(format!("n/a ({reason})"));
    }
    if let Some(failure) = &row.failure {
        return without_figures(format!("FAILED: {failure}"));
    }
    let Some(median) = row.median else { return without_figures("not measured".into()) };
    let throughputs = || row.samples.iter().map(|sample| sample.throughput);
    let (low, high) = (throughputs().fold(f64::INFINITY, f64::min), throughputs().fold(0.0, f64::max));
    let failed: u64 = row.samples.iter().map(|sample| sample.failed_acquires).sum();
    let acquired: u64 = row.samples.iter().map(|sample| sample.acquired).sum();
    let failed_per_request = if acquired == 0 { "–".into() } else { short(failed as f64 / acquired as f64) };
    vec![
        shown(&row.design, row.kind),
        short(median / 1e6),
        format!("{} – {}", short(low / 1e6), short(high / 1e6)),
        row.of_best.map_or("–".into(), |ratio| format!("{:.0} %", ratio * 100.0)),
        row.of_floor.map_or("–".into(), short),
        failed_per_request,
        remarks(row),
    ]
}

/// The doubts of a row, with how many of its samples they concern.
fn remarks(row: &Row) -> String {
    let samples = row.samples.len();
    let mut doubts: Vec<_> = row.samples.iter().flat_map(|sample| &sample.doubts).copied().collect();
    doubts.sort_by_key(|doubt| doubt.word());
    doubts.dedup();
    let count = |doubt| row.samples.iter().filter(|sample| sample.doubts.contains(doubt)).count();
    let words: Vec<String> =
        doubts.iter().map(|doubt| format!("{} {}/{samples}", doubt.word(), count(doubt))).collect();
    words.join(", ")
}

fn ranking_table(ranking: &Ranking) -> String {
    let title = ranking.category.title();
    let who = match ranking.category {
        Category::OneSubmitter => "all",
        Category::ManySubmitters => "those that take them",
        Category::Oversubscribed | Category::TinyShape | Category::Together => "those that take part in all its cells",
    };
    let mut table =
        table(&["rank", "design", "score", "95 % interval", "clearly ahead of", "clearly behind", "remarks"], 0..1);
    for column in 2..6 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(comfy_table::CellAlignment::Right);
        }
    }
    for place in &ranking.places {
        table.add_row(place_row(place, &ranking.places));
    }
    let cells = ranking.cells.len();
    let noun = if cells == 1 { "cell" } else { "cells" };
    let names = match ranking.category {
        Category::Together => String::new(),
        _ => format!(" ({})", ranking.cells.join(", ")),
    };
    format!("Ranking, {title}: {who}, {cells} {noun}{names}\n{table}\n")
}

fn place_row(place: &Place, places: &[Place]) -> Vec<String> {
    let tied = place.rank.is_some() && places.iter().filter(|other| other.rank == place.rank).count() > 1;
    vec![
        place.rank.map_or("–".into(), |rank| format!("{}{rank}", if tied { "=" } else { "" })),
        shown(&place.design, place.kind),
        place.score.map_or("–".into(), |score| format!("{:.3}", score.value)),
        place.score.map_or("–".into(), |score| format!("{:.3} – {:.3}", score.low, score.high)),
        if place.score.is_some() { place.ahead_of.to_string() } else { "–".into() },
        if place.score.is_some() { place.behind.to_string() } else { "–".into() },
        place.void.as_ref().map_or(String::new(), |reason| format!("no score: {reason}")),
    ]
}

/// Whom a ranking speaks for: those that are clearly behind nobody.
fn verdict(ranking: &Ranking) -> String {
    if !ranking.distinguishable && ranking.places.iter().filter(|place| place.score.is_some()).count() > 1 {
        return format!("{}: not distinguishable on this machine", ranking.category.title());
    }
    let first: Vec<String> = ranking
        .places
        .iter()
        .filter(|place| place.score.is_some() && place.behind == 0)
        .map(|place| shown(&place.design, place.kind))
        .collect();
    let names = if first.is_empty() { "nobody has a score".into() } else { first.join(", ") };
    format!("ahead here, {}: {names}", ranking.category.title())
}

fn how_to_read(record: &Record) -> String {
    let mut text = String::from(
        "cell:   clients × workers / slots per lane\n\
         × floor: how many times as long a round trip takes as the harness alone, without a queue, in the same cell\n\
         score:  geometric mean of the throughput as part of the best in the same round; 1 is always best\n\
         =:      shares its rank: intervals overlap, directly or through others in between\n\
         clearly: the two intervals do not overlap",
    );
    if record.settings.rounds < 2 {
        text.push_str("\none round shows no spread, so everything ties: use --rounds 3 or more");
    }
    text
}

/// The name, and what it is if no design.
pub(super) fn shown(name: &str, kind: Kind) -> String {
    match kind {
        Kind::Peer => format!("{name} (peer)"),
        Kind::Design | Kind::Floor => name.into(),
    }
}

/// Three significant digits or so, without an exponent.
pub(super) fn short(value: f64) -> String {
    match value {
        value if value >= 99.95 => format!("{value:.0}"),
        value if value >= 9.995 => format!("{value:.1}"),
        value if value >= 0.0995 => format!("{value:.2}"),
        0.0 => "0".into(),
        value => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        let shown: Vec<String> = [0.0, 0.0012, 0.123, 1.5, 12.34, 123.4, 12345.6].map(short).into();
        assert_eq!(shown, ["0", "0.001", "0.12", "1.50", "12.3", "123", "12346"]);
    }
}
