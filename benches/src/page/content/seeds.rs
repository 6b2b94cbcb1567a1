//! The tables of the public discussions, remade beside the published figures.

use crate::page::chart::{Line, Lines, Spot, Style, figure, lines};
use crate::page::{Block, Figure, Key, Sheet};
use crate::reading::{Benchmark, shown};
use crate::seeds::published::{SPLITS, SPLITS_SOURCE, WORKQUEUE, WORKQUEUE_SOURCE, workqueue};
use serde_json::{Map, Value};

pub(super) fn blocks(benchmarks: &[Benchmark]) -> Vec<Block> {
    let named = |name: &str| benchmarks.iter().filter(|benchmark| benchmark.benchmark == name).collect::<Vec<_>>();
    let mut blocks = Vec::new();
    blocks.extend(pages(&named("workqueue-bench")));
    blocks.extend(splits(&named("locks")));
    blocks.extend(named("ladder").into_iter().flat_map(|ladder| {
        grid(
            ladder,
            &Layout {
                id: "ladder",
                caption: "From v2 to v3: million requests per second",
                row: "step",
                column: "threads",
                split: Some("work"),
                figure: "requests_per_second",
                scale: 1e6,
            },
        )
    }));
    blocks.extend(named("allocator-sweep").into_iter().flat_map(|sweep| {
        grid(
            sweep,
            &Layout {
                id: "allocator",
                caption: "The free-list experiment: thousand requests that clients got and submitted",
                row: "Design",
                column: "Servers Threads",
                split: Some("Tasks"),
                figure: "Successful requests",
                scale: 1e3,
            },
        )
    }));
    for benchmark in benchmarks {
        blocks.push(Block::Words(format!("{}, {}: {}", benchmark.benchmark, benchmark.started, benchmark.machine)));
        blocks.extend(benchmark.failures.iter().map(|failure| Block::Words(format!("FAILED: {failure}"))));
        blocks.push(Block::Code(super::machines::command(&benchmark.command_line)));
    }
    blocks
}

fn missing(command: &str) -> Block {
    Block::Words(format!(
        "Not remade in this report: run it, and give its JSON file to slotwork report as well: {command}"
    ))
}

fn is(row: &Map<String, Value>, column: &str, value: &str) -> bool {
    row.get(column).is_some_and(|own| shown(own) == value)
}

/// The page compression benchmark of 2018: throughput by threads.
fn pages(remade: &[&Benchmark]) -> Vec<Block> {
    let mut threads: Vec<usize> = WORKQUEUE.iter().map(|row| row.threads).collect();
    let own: Vec<usize> =
        remade.iter().flat_map(|own| own.each("threads")).filter_map(|text| text.parse().ok()).collect();
    threads.extend(own);
    threads.sort_unstable();
    threads.dedup();
    let mut series: Vec<(String, Vec<Option<f64>>)> = vec![
        ("v2, published".into(), threads.iter().map(|&threads| workqueue(threads).map(|row| row.v2)).collect()),
        ("v3, published".into(), threads.iter().map(|&threads| workqueue(threads).map(|row| row.v3)).collect()),
    ];
    for run in remade {
        for configuration in run.each("configuration") {
            let at = |threads: &usize| {
                run.median("gb_per_second", |row| {
                    is(row, "configuration", &configuration) && is(row, "threads", &threads.to_string())
                })
            };
            series.push((configuration.clone(), threads.iter().map(at).collect()));
        }
    }
    let caption = format!("Page compression, GB/s by worker threads; published: {WORKQUEUE_SOURCE}");
    let mut header = vec!["configuration".to_string()];
    header.extend(threads.iter().map(ToString::to_string));
    let mut data = Sheet::new("seed-pages", &caption, header.iter().map(String::as_str));
    for (name, values) in &series {
        data.push(
            std::iter::once(name.clone())
                .chain(values.iter().map(|value| value.map_or("–".into(), |value| format!("{value:.3}")))),
        );
    }
    let mut legend = Vec::new();
    let drawn = series.iter().enumerate().map(|(number, (name, values))| {
        let (style, hollow) = (Style::numbered(number), number < 2);
        if !style.is_grey() {
            legend.push(Key { name: name.clone(), style, hollow });
        }
        let spot = |value: &Option<f64>| value.map(|value| Spot { value, low: value, high: value });
        Line { name: name.clone(), style, hollow, spots: values.iter().map(spot).collect() }
    });
    let chart = Lines {
        lines: drawn.collect(),
        places: threads.iter().map(ToString::to_string).collect(),
        across: "worker threads".into(),
        upwards: "GB/s".into(),
        bridged: true,
    };
    let remade_words =
        if remade.is_empty() { "Only the published figures." } else { "Published figures are of another machine." };
    let description = format!(
        "Throughput of page compression by worker threads. As published, v2 falls from 5.0 GB/s at 12 threads to 0.75 at 64, and v3 stays at 4.9. {remade_words}"
    );
    let others = (series.len() > legend.len()).then(|| format!("{} others, in the table", series.len() - legend.len()));
    let title = "Page compression (2018)";
    let drawing = lines("seed-pages", title, &description, &chart);
    let mut blocks =
        vec![Block::Chart(Box::new(Figure { title: title.into(), description, drawing, legend, others, data }))];
    if remade.is_empty() {
        blocks.push(missing("slotwork workqueue-bench --threads-sweep 1,2,4,8,16,32,64"));
    }
    blocks
}

/// The lock splitting table of 2008: the gain of a lock per device.
fn splits(remade: &[&Benchmark]) -> Vec<Block> {
    let mut published = Sheet::new(
        "seed-splits-published",
        &format!("Splitting the global lock, published: {SPLITS_SOURCE}"),
        ["device", "virtual CPUs", "global lock", "lock per device", "gain"],
    );
    for row in SPLITS {
        let [global, split] = row.means();
        published.push([
            row.device.into(),
            row.processors.to_string(),
            format!("{global:.0}"),
            format!("{split:.0}"),
            format!("{:.2}", split / global),
        ]);
    }
    let mut blocks = vec![Block::Table(published)];
    for (number, run) in remade.iter().enumerate() {
        let scenes: Vec<(String, String)> = run
            .each("busy_devices")
            .into_iter()
            .flat_map(|busy| run.each("processors").into_iter().map(move |cpus| (busy.clone(), cpus)))
            .collect();
        let mut header = vec!["carrier".to_string()];
        header.extend(scenes.iter().map(|(busy, cpus)| format!("{cpus} CPUs, {busy} busy")));
        let id = format!("seed-splits-{}", number + 1);
        let caption = "The same here, with every design as the carrier: thousand accesses per second, median";
        let mut sheet = Sheet::new(&id, caption, header.iter().map(String::as_str));
        for carrier in run.each("carrier") {
            let at = |(busy, cpus): &(String, String)| {
                let median = run.median("accesses_per_second", |row| {
                    is(row, "carrier", &carrier) && is(row, "busy_devices", busy) && is(row, "processors", cpus)
                });
                median.map_or("–".into(), |median| figure(median / 1e3))
            };
            sheet.push(std::iter::once(carrier.clone()).chain(scenes.iter().map(at)));
        }
        blocks.push(Block::Table(sheet));
    }
    if remade.is_empty() {
        blocks.push(missing("slotwork locks"));
    }
    blocks
}

/// How flat rows become a table.
struct Layout {
    id: &'static str,
    caption: &'static str,
    row: &'static str,
    column: &'static str,
    /// A table for each value of this column.
    split: Option<&'static str>,
    figure: &'static str,
    scale: f64,
}

fn grid(benchmark: &Benchmark, layout: &Layout) -> Vec<Block> {
    let splits = layout.split.map_or(vec![String::new()], |column| benchmark.each(column));
    let columns = benchmark.each(layout.column);
    let table = |split: &String| {
        let (suffix, of) = match layout.split {
            Some(column) => (format!("-{}", crate::page::slug(split)), format!(", {} {split}", column.to_lowercase())),
            None => (String::new(), String::new()),
        };
        let mut header = vec![layout.row.to_lowercase()];
        header.extend(columns.iter().map(|column| format!("{column} threads")));
        let caption = format!("{}{of}; median over the runs", layout.caption);
        let mut sheet = Sheet::new(&format!("seed-{}{suffix}", layout.id), &caption, header.iter().map(String::as_str));
        for name in benchmark.each(layout.row) {
            let at = |column: &String| {
                let median = benchmark.median(layout.figure, |row| {
                    is(row, layout.row, &name)
                        && is(row, layout.column, column)
                        && layout.split.is_none_or(|of| is(row, of, split))
                });
                median.map_or("–".into(), |median| figure(median / layout.scale))
            };
            sheet.push(std::iter::once(name.clone()).chain(columns.iter().map(at)));
        }
        Block::Table(sheet)
    };
    splits.iter().map(table).collect()
}
