//! What speed costs: throughput against latency, and against memory.

use super::{Part, called};
use crate::page::chart::{Point, Points, figure, points};
use crate::page::{Block, Figure, Sheet, slug};
use crate::record::{CellRecord, Kind, Row};

pub(super) fn blocks(part: &Part<'_>) -> Vec<Block> {
    let mut blocks = vec![Block::Words(
        "To the right is faster, down is cheaper. The dashed line joins those that nobody beats in both; squares are beaten. Hollow: peers.".into(),
    )];
    let cells = &part.run.record.cells;
    for ranking in &part.run.record.rankings {
        let title = ranking.category.title();
        let bytes = |name: &str| {
            let row = cells.iter().flat_map(|cell| &cell.rows).find(|row| row.design == name)?;
            row.slot_bytes.filter(|bytes| *bytes > 0)
        };
        let scored = ranking.places.iter().filter_map(|place| {
            let (score, bytes) = (place.score?, bytes(&place.design)?);
            Some(Point {
                name: place.design.clone(),
                hollow: place.kind == Kind::Peer,
                x: score.value,
                y: bytes as f64,
            })
        });
        let chart = Points {
            across: "score: 1 is always best".into(),
            upwards: "bytes per slot".into(),
            points: scored.collect(),
        };
        blocks.extend(drawn(part, &format!("Score against memory, {title}"), &chart, ["score", "bytes per slot"]));
    }
    for cell in cells {
        let point = |row: &Row| {
            let load = super::latency::common(cell, row).filter(|load| !load.saturated && load.p99_nanoseconds > 0)?;
            let median = row.median.filter(|median| *median > 0.0 && row.failure.is_none())?;
            let y = load.p99_nanoseconds as f64 / 1e3;
            Some(Point { name: row.design.clone(), hollow: row.kind == Kind::Peer, x: median / 1e6, y })
        };
        let chart = Points {
            across: "million requests per second".into(),
            upwards: "p99 in µs".into(),
            points: ranked(cell).filter_map(point).collect(),
        };
        blocks.extend(drawn(
            part,
            &format!("Throughput against p99, {}", cell.name()),
            &chart,
            ["Mreq/s", "p99 in µs"],
        ));
    }
    if blocks.len() == 1 {
        return vec![Block::Words("Neither latency nor bytes per slot were measured in this run.".into())];
    }
    blocks
}

fn ranked(cell: &CellRecord) -> impl Iterator<Item = &Row> {
    cell.rows.iter().filter(|row| row.kind != Kind::Floor)
}

fn drawn(part: &Part<'_>, title: &str, chart: &Points, columns: [&str; 2]) -> Option<Block> {
    if chart.points.is_empty() {
        return None;
    }
    let id = format!("{}pareto-{}", part.prefix, slug(title));
    let mut data = Sheet::new(&id, title, ["contender", columns[0], columns[1], "on the front"]);
    let front = chart.front();
    for (point, first) in chart.points.iter().zip(&front) {
        let name = called(&point.name, part.cast.kind(&point.name));
        data.push([name, figure(point.x), figure(point.y), if *first { "yes" } else { "no" }.into()]);
    }
    let names: Vec<&str> =
        chart.points.iter().zip(&front).filter(|(_, first)| **first).map(|(point, _)| point.name.as_str()).collect();
    let description = format!(
        "{} contenders by {} and {}. Nobody beats: {}.",
        chart.points.len(),
        columns[0],
        columns[1],
        names.join(", ")
    );
    let drawing = points(&id, title, &description, chart);
    Some(Block::Chart(Box::new(Figure {
        title: title.into(),
        description,
        drawing,
        legend: Vec::new(),
        others: None,
        data,
    })))
}
