//! Latency against load, and its quantiles at one load, for the cells where it was measured.

use super::{Part, called};
use crate::page::chart::{Line, Lines, Spot, figure, lines};
use crate::page::{Block, Figure, Sheet, slug};
use crate::record::{CellRecord, Kind, Latency, Row};

/// Loads that differ by less are the same.
const SAME_LOAD: f64 = 0.05;

fn alike(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME_LOAD * a.max(b)
}

/// The heaviest load that all of a cell's designs could carry, as this row met it; else its lightest.
pub(super) fn common<'a>(cell: &CellRecord, row: &'a Row) -> Option<&'a Latency> {
    let designs = || cell.rows.iter().filter(|row| row.kind == Kind::Design && !row.latency.is_empty());
    let carried = |offered: f64| {
        designs().all(|row| row.latency.iter().any(|load| alike(load.offered_per_second, offered) && !load.saturated))
    };
    let heaviest = row.latency.iter().filter(|load| carried(load.offered_per_second));
    heaviest.max_by(|a, b| a.offered_per_second.total_cmp(&b.offered_per_second)).or_else(|| row.latency.first())
}

pub(super) fn blocks(part: &Part<'_>) -> Vec<Block> {
    let cells: Vec<&CellRecord> =
        part.run.record.cells.iter().filter(|cell| cell.rows.iter().any(|row| !row.latency.is_empty())).collect();
    if cells.is_empty() {
        return vec![Block::Words("No latency was measured in this run.".into())];
    }
    let mut blocks = vec![Block::Words(
        "From when a request was due to when it was handled, under paced load. Both axes are logarithmic. The line of a contender \
         ends where it could not keep up."
            .into(),
    )];
    for cell in cells {
        blocks.push(against_load(part, cell));
        blocks.push(quantiles(part, cell));
    }
    blocks
}

/// The loads of a cell, each once, the lightest first.
fn loads(cell: &CellRecord) -> Vec<f64> {
    let mut all: Vec<f64> = cell.rows.iter().flat_map(|row| &row.latency).map(|load| load.offered_per_second).collect();
    all.sort_by(f64::total_cmp);
    let mut loads: Vec<f64> = Vec::new();
    for load in all {
        if loads.last().is_none_or(|last| !alike(*last, load)) {
            loads.push(load);
        }
    }
    loads
}

fn against_load(part: &Part<'_>, cell: &CellRecord) -> Block {
    let loads = loads(cell);
    let at = |row: &Row, load: f64| row.latency.iter().find(|own| alike(own.offered_per_second, load)).cloned();
    let spots = |row: &Row| -> Vec<Option<Spot>> {
        let spot = |load: Latency| Spot {
            value: micro(load.p99_nanoseconds),
            low: micro(load.p50_nanoseconds),
            high: micro(load.p99_9_nanoseconds),
        };
        loads.iter().map(|load| at(row, *load).filter(|load| !load.saturated).map(spot)).collect()
    };
    let places: Vec<String> = loads.iter().map(|load| thousands(*load)).collect();
    let mut header = vec!["contender".to_string()];
    header.extend(places.iter().map(|place| format!("{place}/s")));
    let name = format!("p99 against load, {}", cell.name());
    let id = format!("{}latency-{}", part.prefix, slug(&cell.name()));
    let caption = format!("Latency, {}: p50 / p99 / p99.9 in µs at each load offered", cell.name());
    let mut data = Sheet::new(&id, &caption, header.iter().map(String::as_str));
    let cells = |row: &Row| -> Vec<String> {
        loads
            .iter()
            .map(|load| match at(row, *load) {
                None => "–".into(),
                Some(load) if load.saturated => "saturated".into(),
                Some(load) => {
                    let [p50, p99, p999] = [load.p50_nanoseconds, load.p99_nanoseconds, load.p99_9_nanoseconds]
                        .map(|ns| figure(micro(ns)));
                    format!("{p50} / {p99} / {p999}")
                }
            })
            .collect()
    };
    let what = "the band goes from p50 to p99.9";
    chart(
        part,
        cell,
        &Plan {
            id,
            name,
            what,
            places,
            across: "requests offered per second",
            spots: &spots,
            cells: &cells,
            data: &mut data,
        },
    )
}

fn quantiles(part: &Part<'_>, cell: &CellRecord) -> Block {
    let spots = |row: &Row| -> Vec<Option<Spot>> {
        let load = common(cell, row).filter(|load| !load.saturated);
        let spot = |ns: u64| Spot { value: micro(ns), low: micro(ns), high: micro(ns) };
        let of = |load: &Latency| {
            [
                load.p50_nanoseconds,
                load.p90_nanoseconds,
                load.p99_nanoseconds,
                load.p99_9_nanoseconds,
                load.max_nanoseconds,
            ]
        };
        load.map_or(vec![None; 5], |load| of(load).map(|ns| Some(spot(ns))).into())
    };
    let places: Vec<String> = ["p50", "p90", "p99", "p99.9", "longest"].map(String::from).into();
    let name = format!("Quantiles, {}", cell.name());
    let id = format!("{}quantiles-{}", part.prefix, slug(&cell.name()));
    let header =
        ["contender", "load /s", "mean µs", "p50 µs", "p90 µs", "p99 µs", "p99.9 µs", "longest µs", "requests"];
    let mut data = Sheet::new(
        &id,
        &format!("Latency, {}: quantiles at the heaviest load that all designs carried", cell.name()),
        header,
    );
    let cells = |row: &Row| -> Vec<String> {
        let Some(load) = common(cell, row) else { return vec!["–".into(); 8] };
        let mut line = vec![thousands(load.offered_per_second), figure(load.mean_nanoseconds / 1e3)];
        let quantiles = [
            load.p50_nanoseconds,
            load.p90_nanoseconds,
            load.p99_nanoseconds,
            load.p99_9_nanoseconds,
            load.max_nanoseconds,
        ];
        line.extend(quantiles.map(|ns| if load.saturated { "saturated".into() } else { figure(micro(ns)) }));
        line.push(load.requests.to_string());
        line
    };
    let what = "at the heaviest load that all designs carried";
    chart(
        part,
        cell,
        &Plan { id, name, what, places, across: "quantile", spots: &spots, cells: &cells, data: &mut data },
    )
}

struct Plan<'a> {
    id: String,
    name: String,
    what: &'static str,
    places: Vec<String>,
    across: &'static str,
    spots: &'a dyn Fn(&Row) -> Vec<Option<Spot>>,
    cells: &'a dyn Fn(&Row) -> Vec<String>,
    data: &'a mut Sheet,
}

fn chart(part: &Part<'_>, cell: &CellRecord, plan: &Plan<'_>) -> Block {
    let mut data = plan.data.clone();
    let mut drawn = Vec::new();
    let mut series = Vec::new();
    for member in &part.cast.members {
        let Some(row) = cell.rows.iter().find(|row| row.design == member.name && !row.latency.is_empty()) else {
            continue;
        };
        let name = called(&member.name, row.kind);
        data.push(std::iter::once(name.clone()).chain((plan.cells)(row)));
        let spots = (plan.spots)(row);
        if spots.iter().any(Option::is_some) {
            drawn.push(member.name.clone());
            series.push(Line { name, style: member.style, hollow: member.hollow, spots });
        }
    }
    let last = |line: &&Line| line.spots.iter().flatten().last().map_or(f64::INFINITY, |spot| spot.value);
    let best = series.iter().min_by(|a, b| last(a).total_cmp(&last(b)));
    let best = best.map_or("nobody carried the load".into(), |line| {
        format!("{} is lowest at its end, with {} µs", line.name, figure(last(&line)))
    });
    let description = format!("Latency of {} contenders in microseconds, {}; {best}.", series.len(), plan.what);
    let (legend, others) = part.cast.legend(&drawn);
    let shown = Lines {
        places: plan.places.clone(),
        across: plan.across.into(),
        upwards: "µs".into(),
        bridged: true,
        lines: series,
    };
    let drawing = lines(&plan.id, &plan.name, &description, &shown);
    Block::Chart(Box::new(Figure { title: plan.name.clone(), description, drawing, legend, others, data }))
}

fn micro(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e3
}

fn thousands(load: f64) -> String {
    match load {
        _ if load >= 1e6 => format!("{}M", figure(load / 1e6)),
        _ if load >= 1e3 => format!("{}k", figure(load / 1e3)),
        _ => figure(load),
    }
}
