//! The report: a page that needs nothing, in which every chart is said in words; and pages that are not, rejected.

use crate::page::faults;
use crate::synthetic::{Model, Noise};
use crate::{as_text, refused, slotwork, text};
use serde_json::{Value, json};
use slotwork_bench::page::{Document, document, html, markdown};
use slotwork_bench::reading::{Benchmark, Run, load};
use slotwork_bench::record::Record;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn run(name: &str, record: Record) -> Run {
    Run { name: name.into(), path: name.into(), record }
}

fn benchmark(name: &str, rows: &Value) -> Benchmark {
    let value = json!({
        "schema": 1, "benchmark": name, "started": "2026-11-30T00:00:00Z", "seconds": 1.0, "interrupted": false,
        "command_line": ["slotwork", name, "--output", "a b"], "machine": Model::default().run(1).machine, "settings": {},
        "failures": [], "rows": rows,
    });
    Benchmark::parse(&value.to_string(), Path::new("b.json")).unwrap().unwrap()
}

fn benchmarks() -> Vec<Benchmark> {
    let pages = json!([
        { "configuration": "v3-faithful", "threads": 2, "gb_per_second": 0.5 },
        { "configuration": "v3-faithful", "threads": 4, "gb_per_second": 0.75 },
        { "configuration": "bitmap", "threads": 4, "gb_per_second": null, "status": "failed (x)" },
    ]);
    let locks = json!([
        { "carrier": "one lock", "processors": 1, "busy_devices": 4, "accesses_per_second": 123_456.0 },
        { "carrier": "a lock <each>", "processors": 1, "busy_devices": 4, "accesses_per_second": 234_567.0 },
    ]);
    let ladder = json!([{ "step": "v3", "work": "empty", "threads": 2, "requests_per_second": 2.5e6 }]);
    let sweep = json!([{ "Design": "bitmap", "Servers Threads": 4, "Tasks": 4, "Successful requests": 70_000 }]);
    vec![
        benchmark("workqueue-bench", &pages),
        benchmark("locks", &locks),
        benchmark("ladder", &ladder),
        benchmark("allocator-sweep", &sweep),
    ]
}

fn full() -> Document {
    document(&[run("laptop", Model { latency: true, ..Model::default() }.run(1))], &benchmarks())
}

#[test]
fn the_page_is_sound_whatever_is_in_it() {
    let mut wild = Model { noise: Noise::WILD, latency: true, cores: 8, ..Model::default() }.run(2);
    wild.interrupted = true;
    wild.command_line = ["slotwork", "--output", "<script>alert(1)</script>", "it's"].map(String::from).into();
    wild.machine.kernel = Some("\u{0}<&>\"'".into());
    for cell in &mut wild.cells {
        cell.rows[2].failure = Some("a \"worker\" panicked: </table>".into());
        cell.rows[3].samples.clear();
        cell.rows[3].median = None;
        cell.rows[4].samples.iter_mut().for_each(|sample| sample.throughput = 0.0);
        cell.rows[4].median = Some(0.0);
    }
    let old = load(Path::new("../notes/results/2026-11-30-rank-2-cores.json")).unwrap();
    let one = run("one", Model { peers: 0, rounds: 1, ..Model::default() }.run(3));
    let laptop = run("laptop", Model { latency: true, ..Model::default() }.run(1));
    let server = run("server", Model { cores: 8, ..Model::default() }.run(2));
    let pages = [
        full(),
        document(&[run("<wild> & \"run\"", wild)], &[]),
        document(&[old], &[]),
        document(std::slice::from_ref(&one), &[]),
        document(&[laptop.clone(), server.clone()], &[]),
        document(&[laptop, server, one], &benchmarks()),
        document(&[], &benchmarks()),
        document(&[], &[]),
    ];
    for page in &pages {
        let found = faults(&html(page));
        assert!(found.is_empty(), "{}: {found:#?}", page.summary.join(" "));
        // Each table, those of charts too, has a name of its own, and so a file.
        let mut names: Vec<&str> = page.tables().iter().map(|table| table.id.as_str()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
    assert!(html(&pages[4]).contains("agree on every machine"));
    assert!(html(&pages[5]).contains("Not compared"));
}

/// Each kind of fault that a page could have, planted in a good one: the check must see it.
#[test]
fn broken_pages_are_rejected() {
    let good = html(&full());
    assert_eq!(faults(&good), Vec::<String>::new());
    let plants = [
        ("<!DOCTYPE html>\n", "", "doctype"),
        ("</figure>", "", "well-formed"),
        ("<main>", "<main><p>a & b</p>", "well-formed"),
        ("<main>", "<main><script></script>", "script"),
        ("<main>", "<main><img src=\"x.png\"/>", "img"),
        ("<body>", "<body onload=\"x()\">", "handler"),
        ("href=\"data:,\"", "href=\"https://example.org/i.png\"", "href"),
        ("href=\"#ranking\"", "href=\"#nowhere\"", "nowhere"),
        ("* { box", "@import 'x'; * { box", "style sheet"),
        ("* { box", "b { background: url(x) } * { box", "style sheet"),
        ("(prefers-color-scheme: dark)", "(min-width: 0)", "prefers-color-scheme"),
        ("name=\"viewport\"", "name=\"view\"", "viewport"),
        ("<html lang=\"en\">", "<html>", "language"),
        (" role=\"img\"", "", "role"),
        ("<desc ", "<metadata ", "well-formed"),
        ("aria-labelledby=\"", "aria-labelledby=\"x", "labelled"),
        ("class=\"grid\" x1=\"", "class=\"grid\" x1=\"NaN", "x1"),
        ("class=\"grid\"", "class=\"grid\" stroke=\"#fff\"", "colour of its own"),
        ("<caption>", "<caption></caption><caption>", "caption"),
        ("<tbody><tr>", "<tbody><tr><td></td>", "rows of"),
        ("id=\"ranking\"", "id=\"seeds\"", "twice"),
    ];
    for (words, broken, fault) in plants {
        assert!(good.contains(words), "{words}");
        let found = faults(&good.replacen(words, broken, 1));
        assert!(found.iter().any(|found| found.contains(fault)), "{broken}: {found:?}");
    }
    // A chart without its words, or without its table; and no chart at all.
    let without = |from: &str, to: &str| {
        let (start, end) = (good.find(from).unwrap(), good.find(to).unwrap() + to.len());
        faults(&good.replacen(&good[start..end], "", 1))
    };
    let found = without("<desc ", "</desc>");
    assert!(found.iter().any(|fault| fault.contains("no description")), "{found:?}");
    let found = without("<details>", "</details>");
    assert!(found.iter().any(|fault| fault.contains("no table of its figures")), "{found:?}");
    let found = faults(&good.replace("<svg class=\"chart\"", "<svg aria-hidden=\"true\" class=\"chart\""));
    assert!(found.iter().any(|fault| fault.contains("no chart")), "{found:?}");
}

#[test]
fn the_report_alone_answers_which_how_sure_and_at_what_cost() {
    let record = Model { latency: true, ..Model::default() }.run(1);
    let page = document(&[run("laptop", record.clone())], &[]);
    let which = page.tables().into_iter().find(|table| table.id == "which").unwrap().clone();
    let row = which.rows.iter().find(|row| row[0] == "1×16").unwrap();
    // The best of the designs by the figures themselves.
    let cells = || record.cells.iter().filter(|cell| cell.workers == 16);
    let mean = |name: &str| -> f64 {
        cells().map(|cell| cell.rows.iter().find(|row| row.design == name).unwrap().median.unwrap().ln()).sum()
    };
    let best = slotwork_catalog::names().into_iter().max_by(|a, b| mean(a).total_cmp(&mean(b))).unwrap();
    assert!(row[1] == best || row[2].contains(best), "{best}: {row:?}");
    assert!(row[2] == "clear" || row[2].contains("not to be told from"), "{row:?}");
    assert!(row[4..7].iter().all(|figure| figure.starts_with(|first: char| first.is_ascii_digit())), "{row:?}");
    assert!(page.summary.iter().any(|line| line.contains("one submitter and 16 workers")), "{:?}", page.summary);
    let words = html(&page);
    for wanted in ["slotwork rank", "Model &lt;2&gt; &amp; Sons", "array-queue (peer)", "0123456789ab"] {
        assert!(words.contains(wanted), "{wanted}");
    }
}

#[test]
fn published_figures_stand_beside_those_remade() {
    let page = full();
    let tables = page.tables();
    let table = |id: &str| *tables.iter().find(|table| table.id == id).unwrap_or_else(|| panic!("no table {id}"));
    let pages = table("seed-pages");
    let at = pages.header.iter().position(|column| column == "4").unwrap();
    let shown: Vec<&str> = pages.rows.iter().map(|row| row[at].as_str()).collect();
    assert_eq!(shown, ["1.669", "1.849", "0.750", "–"]);
    assert_eq!(table("seed-splits-published").rows.len(), 4);
    assert_eq!(table("seed-splits-1").rows[1], ["a lock <each>", "235"]);
    assert_eq!(table("seed-ladder-empty").rows[0], ["v3", "2.50"]);
    assert_eq!(table("seed-allocator-4").rows[0], ["bitmap", "70.0"]);
    let without = markdown(&document(&[], &[]));
    assert!(without.contains("Not remade in this report") && without.contains("5.026"), "{without}");
}

#[test]
fn markdown_and_csv_have_every_table() {
    let folder = TempDir::new().unwrap();
    let file = Model { latency: true, ..Model::default() }.file(folder.path(), "run.json", 1);
    let out = folder.path().join("a/report");
    let output = slotwork(&["report", as_text(&file), "-o", as_text(&out), "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let written: Value = serde_json::from_slice(&output.stdout).unwrap();
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert_eq!(faults(&page), Vec::<String>::new());
    assert_eq!(written["charts"], page.matches("class=\"chart\"").count());
    let words = fs::read_to_string(out.join("report.md")).unwrap();
    let tables = written["tables"].as_array().unwrap();
    assert!(tables.len() > 15, "{}", tables.len());
    for path in tables {
        let mut csv = csv::Reader::from_path(path.as_str().unwrap()).unwrap();
        let width = csv.headers().unwrap().len();
        assert!(csv.records().all(|record| record.unwrap().len() == width));
    }
    // A table of Markdown has as many cells in each line.
    let mut width = None;
    for line in words.lines() {
        let cells = line.starts_with('|').then(|| line.replace("\\|", "").matches('|').count());
        assert!(width.is_none() || cells.is_none() || width == cells, "{line}");
        width = cells;
    }
    assert!(words.matches("|---").count() >= tables.len());
    // A folder that cannot be made is an error of its own.
    let output = slotwork(&["report", as_text(&file), "-o", as_text(&file)]);
    assert_eq!((output.status.code(), text(&output.stderr).lines().count()), (Some(1), 1));
    refused(&["report"], "RUN");
}
