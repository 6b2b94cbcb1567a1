//! Throughput against threads, a chart per workload; and all figures in one table.

use super::{Part, called};
use crate::page::chart::{Line, Lines, Spot, figure, lines};
use crate::page::{Block, Figure, Sheet, slug};
use crate::record::{CellRecord, Kind, Row};

/// The cells that are one workload: all but the threads is the same.
fn workloads(cells: &[CellRecord]) -> Vec<(String, Vec<&CellRecord>)> {
    let several = |cell: &CellRecord| {
        let same = |other: &&CellRecord| {
            (other.clients, other.workers, other.slots_per_lane, other.handler_nanoseconds)
                == (cell.clients, cell.workers, cell.slots_per_lane, cell.handler_nanoseconds)
        };
        cells.iter().filter(same).count() > 1
    };
    // With one policy in each cell, the policy is what suits it, and no axis.
    let by_policy = cells.iter().any(several);
    let mut workloads: Vec<(String, Vec<&CellRecord>)> = Vec::new();
    for cell in cells {
        let slots = if cell.slots_per_lane == 1 { "1 slot".into() } else { format!("{} slots", cell.slots_per_lane) };
        let work = if cell.handler_nanoseconds == 0 {
            "no work".into()
        } else {
            format!("{} ns of work", cell.handler_nanoseconds)
        };
        let waiting = if by_policy { format!(", {}", cell.waiting) } else { String::new() };
        let name = format!("{slots} per worker, {work}{waiting}");
        match workloads.iter_mut().find(|(other, _)| *other == name) {
            Some((_, cells)) => cells.push(cell),
            None => workloads.push((name, vec![cell])),
        }
    }
    workloads
}

pub(super) fn blocks(part: &Part<'_>) -> Vec<Block> {
    let mut blocks = vec![Block::Words(
        "Median over the rounds; the band goes from the lowest round to the highest. The axis is logarithmic.".into(),
    )];
    blocks.extend(workloads(&part.run.record.cells).iter().map(|(name, cells)| chart(part, name, cells)));
    blocks
}

fn spot(row: &Row) -> Option<Spot> {
    let median = row.median.filter(|median| *median > 0.0 && row.failure.is_none())?;
    let rounds = || row.samples.iter().map(|sample| sample.throughput);
    let (low, high) = (rounds().fold(median, f64::min), rounds().fold(median, f64::max));
    Some(Spot { value: median / 1e6, low: low / 1e6, high: high / 1e6 })
}

fn chart(part: &Part<'_>, name: &str, cells: &[&CellRecord]) -> Block {
    let places: Vec<String> = cells.iter().map(|cell| format!("{}×{}", cell.clients, cell.workers)).collect();
    let mut series = Vec::new();
    for member in &part.cast.members {
        let row = |cell: &&CellRecord| cell.rows.iter().find(|row| row.design == member.name).and_then(spot);
        let spots: Vec<Option<Spot>> = cells.iter().map(row).collect();
        if spots.iter().any(Option::is_some) {
            series.push(Line {
                name: called(&member.name, part.cast.kind(&member.name)),
                style: member.style,
                hollow: member.hollow,
                spots,
            });
        }
    }
    let id = format!("{}throughput-{}", part.prefix, slug(name));
    let mut header = vec!["contender".to_string()];
    header.extend(places.iter().cloned());
    let caption = format!("Throughput, {name}: million requests per second, median (lowest – highest round)");
    let mut data = Sheet::new(&id, &caption, header.iter().map(String::as_str));
    for line in &series {
        let cell = |spot: &Option<Spot>| {
            spot.map_or("–".into(), |spot| {
                format!("{} ({} – {})", figure(spot.value), figure(spot.low), figure(spot.high))
            })
        };
        data.push(std::iter::once(line.name.clone()).chain(line.spots.iter().map(cell)));
    }
    let best: Vec<String> = places
        .iter()
        .enumerate()
        .filter_map(|(at, place)| {
            let value = |line: &&Line| line.spots[at].map_or(0.0, |spot| spot.value);
            let best = series.iter().max_by(|a, b| value(a).total_cmp(&value(b)))?;
            best.spots[at].map(|spot| format!("{} with {} at {place}", best.name, figure(spot.value)))
        })
        .collect();
    let description = format!(
        "Lines of {} contenders over {} numbers of threads, in million requests per second. Best: {}.",
        series.len(),
        places.len(),
        best.join("; ")
    );
    let drawn: Vec<String> = part
        .cast
        .members
        .iter()
        .filter(|member| series.iter().any(|line| line.name == called(&member.name, part.cast.kind(&member.name))))
        .map(|member| member.name.clone())
        .collect();
    let (legend, others) = part.cast.legend(&drawn);
    let shown = Lines {
        places,
        across: "clients × workers".into(),
        upwards: "million requests per second".into(),
        bridged: false,
        lines: series,
    };
    let drawing = lines(&id, name, &description, &shown);
    Block::Chart(Box::new(Figure { title: name.into(), description, drawing, legend, others, data }))
}

/// Every row of every cell.
pub(super) fn figures(part: &Part<'_>) -> Vec<Block> {
    let header = [
        "cell",
        "contender",
        "Mreq/s",
        "lowest",
        "highest",
        "of best",
        "× floor",
        "p50 ns",
        "p99 ns",
        "p99.9 ns",
        "load /s",
        "bytes / slot",
        "cpu ns / request",
        "failed acquires / request",
        "wakes / request",
        "fairness of slots",
        "remarks",
    ];
    let mut sheet = Sheet::new(&format!("{}figures", part.prefix), "Every contender in every cell", header);
    for cell in &part.run.record.cells {
        for row in &cell.rows {
            let spot = spot(row);
            let shown = |value: Option<f64>| value.map_or("–".into(), figure);
            let load = super::latency::common(cell, row);
            let latency =
                |of: fn(&crate::record::Latency) -> u64| load.map_or("–".into(), |load| of(load).to_string());
            let remark = match (&row.not_applicable, &row.failure) {
                (Some(reason), _) => format!("n/a ({reason})"),
                (_, Some(failure)) => format!("failed: {failure}"),
                _ => doubts(row),
            };
            sheet.push([
                cell.name(),
                called(&row.design, row.kind),
                shown(spot.map(|spot| spot.value)),
                shown(spot.map(|spot| spot.low)),
                shown(spot.map(|spot| spot.high)),
                shown(row.of_best.filter(|_| row.kind != Kind::Floor)),
                shown(row.of_floor),
                latency(|load| load.p50_nanoseconds),
                latency(|load| load.p99_nanoseconds),
                latency(|load| load.p99_9_nanoseconds),
                shown(load.map(|load| load.offered_per_second)),
                row.slot_bytes.map_or("–".into(), |bytes| bytes.to_string()),
                shown(row.metrics.processor_nanoseconds_per_request),
                shown(row.metrics.failed_acquires_per_request),
                shown(row.metrics.wakes_per_request),
                shown(row.metrics.fairness_slots),
                remark,
            ]);
        }
    }
    vec![Block::Table(sheet)]
}

fn doubts(row: &Row) -> String {
    let mut words: Vec<&str> = row.samples.iter().flat_map(|sample| &sample.doubts).map(|doubt| doubt.word()).collect();
    words.sort_unstable();
    words.dedup();
    words.join(", ")
}
