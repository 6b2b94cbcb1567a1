//! Files that are no runs, or runs that cannot be true: one clear line each, whichever command reads them; and never a panic.

use crate::synthetic::Model;
use crate::{as_text, refused};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Map, Value, json};
use slotwork::{Shape, Submitters};
use slotwork_bench::page::{document, html, markdown};
use slotwork_bench::pick::{Load, Objective, pick};
use slotwork_bench::reading::{Benchmark, RunError, load, parsed};
use slotwork_bench::record::{CellRecord, Record};
use slotwork_bench::regression::judge;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A run with few cells.
fn small() -> Record {
    let mut record = Model { latency: true, rounds: 2, ..Model::default() }.run(7);
    record.cells.truncate(2);
    let names: Vec<String> = record.cells.iter().map(CellRecord::name).collect();
    record.rankings.retain_mut(|ranking| {
        ranking.cells.retain(|cell| names.contains(cell));
        !ranking.cells.is_empty()
    });
    record
}

fn value() -> Value {
    serde_json::to_value(small()).unwrap()
}

#[track_caller]
fn fault(text: &str, words: &str) {
    let line = parsed(text, Path::new("run.json")).unwrap_err().to_string();
    assert!(line.contains("run.json") && line.contains(words) && line.lines().count() == 1, "{words}: {line}");
}

#[track_caller]
fn changed(words: &str, change: impl FnOnce(&mut Value)) {
    let mut value = value();
    change(&mut value);
    fault(&value.to_string(), words);
}

#[test]
fn a_good_run_is_read_and_an_old_one_too() {
    assert!(parsed(&value().to_string(), Path::new("run.json")).is_ok());
    let old = load(Path::new("../notes/results/2026-11-30-rank-2-cores.json")).unwrap();
    assert_eq!((old.name.as_str(), old.record.cells.len()), ("2026-11-30-rank-2-cores", 10));
}

#[test]
fn what_is_no_json_or_of_another_version_is_refused() {
    let text = value().to_string();
    for cut in [0, 1, text.len() / 3, text.len() - 1] {
        fault(&text[..cut], "truncated");
    }
    fault("hello", "no JSON");
    fault(&"[".repeat(100_000), "no JSON");
    fault(&text.replacen("\"throughput\":", "\"throughput\":NaN,\"x\":", 1), "no JSON");
    fault(&text.replacen("\"seconds\":", "\"seconds\":1e999,\"x\":", 1), "no JSON");
    fault("[]", "no schema");
    fault("{}", "no schema");
    changed("newer", |value| value["schema"] = json!(99));
    changed("measure again", |value| value["schema"] = json!(0));
    changed("no schema", |value| value["schema"] = json!("2"));
    changed("no rankings", |value| drop(value.as_object_mut().unwrap().remove("rankings")));
}

#[test]
fn what_cannot_be_true_is_refused() {
    let sample = |value: &mut Value, field: &str, with: Value| value["cells"][0]["rows"][0]["samples"][0][field] = with;
    changed("null", |value| sample(value, "throughput", json!(null)));
    changed("-1", |value| sample(value, "throughput", json!(-1.0)));
    changed("-1", |value| sample(value, "seconds", json!(-1.0)));
    changed("round trips", |value| sample(value, "throughput", json!(1e300)));
    changed("absurd", |value| sample(value, "round", json!(1u64 << 40)));
    changed("invalid", |value| sample(value, "round_trips", json!(-5)));
    changed("is missing", |value| drop(value["cells"][1]["rows"].as_array_mut().unwrap().remove(0)));
    changed("missing field", |value| drop(value["cells"][0].as_object_mut().unwrap().remove("clients")));
    changed("missing field", |value| drop(value.as_object_mut().unwrap().remove("machine")));
    changed("no cells", |value| value["cells"] = json!([]));
    changed("twice", |value| {
        let cell = value["cells"][0].clone();
        value["cells"].as_array_mut().unwrap().push(cell);
    });
    changed("twice", |value| {
        for cell in value["cells"].as_array_mut().unwrap() {
            let row = cell["rows"][0].clone();
            cell["rows"].as_array_mut().unwrap().push(row);
        }
    });
    changed("twice", |value| {
        let sample = value["cells"][0]["rows"][0]["samples"][0].clone();
        value["cells"][0]["rows"][0]["samples"].as_array_mut().unwrap().push(sample);
    });
    for (field, most) in [("clients", 1u64 << 30), ("workers", 1 << 30), ("slots_per_lane", u64::MAX)] {
        changed("absurd", |value| value["cells"][0][field] = json!(most));
        changed("no ", |value| value["cells"][0][field] = json!(0));
    }
    changed("absurd", |value| value["settings"]["rounds"] = json!(1u64 << 40));
    changed("no core", |value| value["machine"]["cores"] = json!(0));
    changed("unknown variant", |value| value["cells"][0]["waiting"] = json!("sleep"));
    changed("does not grow", |value| value["cells"][0]["rows"][0]["latency"][0]["p99_nanoseconds"] = json!(1));
    changed("is -2", |value| value["cells"][0]["rows"][0]["metrics"]["wakes_per_request"] = json!(-2.0));
    changed("is -2", |value| value["cells"][0]["rows"][0]["median"] = json!(-2.0));
    changed("not in the cells", |value| value["rankings"][0]["places"][0]["design"] = json!("nobody"));
    changed("outside its interval", |value| value["rankings"][0]["places"][0]["score"]["low"] = json!(7.0));
    changed("a rank or a score", |value| value["rankings"][0]["places"][0]["score"] = json!(null));
    changed("the name of a row", |value| {
        for cell in value["cells"].as_array_mut().unwrap() {
            cell["rows"][0]["design"] = json!("x".repeat(5000));
        }
    });
}

#[test]
fn every_command_refuses_what_is_no_file() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, bytes: &[u8]| -> PathBuf {
        fs::write(path(name), bytes).unwrap();
        path(name)
    };
    let good = Model::default().file(folder.path(), "good.json", 1);
    let text = fs::read_to_string(&good).unwrap();
    let huge = write("huge.json", b"");
    // Sparse: it takes no room.
    fs::File::options().write(true).open(&huge).unwrap().set_len(1 << 40).unwrap();
    let cases = [
        (path("missing.json"), "cannot read"),
        (folder.path().to_path_buf(), "is a folder"),
        (write("binary.json", &[0xff, 0xfe, 0, 1]), "no text"),
        (write("empty.json", b""), "truncated"),
        (write("half.json", &text.as_bytes()[..text.len() / 2]), "truncated"),
        (huge, "none of ours"),
        #[cfg(unix)]
        (PathBuf::from("/dev/null"), "is no file"),
    ];
    let out = path("report");
    for (bad, words) in &cases {
        let (bad, good) = (as_text(bad), as_text(&good));
        refused(&["report", bad, "-o", as_text(&out)], words);
        refused(&["compare", good, bad], words);
        refused(&["pick", "--from", bad], words);
        refused(&["gate", "--base", good, "--head", bad], words);
        refused(&["gate", "--base", bad, "--head", good], words);
    }
    assert!(!out.exists(), "nothing is written of what is refused");
}

/// Whatever can be read can be used: nothing that follows may panic.
fn use_it(text: &str) -> bool {
    let path = Path::new("run.json");
    if let Ok(Some(benchmark)) = Benchmark::parse(text, path) {
        drop(html(&document(&[], &[benchmark])));
    }
    let Ok(run) = parsed(text, path) else { return false };
    let page = document(std::slice::from_ref(&run), &[]);
    assert!(html(&page).len() > 1000 && markdown(&page).len() > 100);
    let shape = Shape::new(4, 4).unwrap();
    for (submitters, objective) in [(Submitters::One, Objective::P99), (Submitters::Many, Objective::Throughput)] {
        let load = Load { submitters, clients: None, shape, needs: Vec::new(), objective, handler_nanoseconds: 0 };
        assert!(pick(&load, slotwork_catalog::ENTRIES, Some(&run), ".").is_ok());
    }
    let _ = judge(&[small()], &[run.record], 0.05, &[]);
    true
}

/// Something that stands where something else is expected.
fn odd(random: &mut SmallRng) -> Value {
    let values = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(-0.5),
        json!(1e308),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(""),
        json!("</script>"),
        json!("../../x"),
        json!([]),
        json!({}),
        json!([[[]]]),
        json!({"schema": 1}),
        json!(2),
        json!(1e-320),
    ];
    values[random.random_range(0..values.len())].clone()
}

/// Changes one place of a value, anywhere in it.
fn mutate(value: &mut Value, random: &mut SmallRng) {
    let here = random.random_range(0..8) == 0;
    match value {
        Value::Array(items) if !items.is_empty() && !here => {
            let at = random.random_range(0..items.len());
            match random.random_range(0..8) {
                0 => drop(items.remove(at)),
                1 => items.push(items[at].clone()),
                2 => items.reverse(),
                _ => mutate(&mut items[at], random),
            }
        }
        Value::Object(fields) if !fields.is_empty() && !here => {
            let at = random.random_range(0..fields.len());
            let name = fields.keys().nth(at).unwrap().clone();
            match random.random_range(0..10) {
                0 => drop(fields.remove(&name)),
                1 => drop(fields.insert(format!("{name}x"), json!(1))),
                _ => mutate(&mut fields[&name], random),
            }
        }
        other => *other = odd(random),
    }
}

#[test]
fn no_mutated_file_makes_anything_panic() {
    let mut random = SmallRng::seed_from_u64(20_261_130);
    let mut record = small();
    record.cells.truncate(1);
    record.rankings.clear();
    for cell in &mut record.cells {
        cell.rows.truncate(4);
    }
    let good = serde_json::to_value(&record).unwrap();
    assert!(use_it(&good.to_string()));
    // One of schema 1 goes through the upgrade.
    let mut old = good.clone();
    old["schema"] = json!(1);
    old["settings"]["handler_nanoseconds"] = json!(5);
    let benchmark = json!({
        "schema": 1, "benchmark": "workqueue-bench", "started": "", "seconds": 1.0, "interrupted": false, "command_line": ["x"],
        "machine": good["machine"], "settings": {}, "failures": [],
        "rows": [{ "configuration": "v3", "threads": 4, "gb_per_second": 1.5, "status": "measured" }],
    });
    let mut used = 0;
    for origin in [&good, &old, &benchmark] {
        for _ in 0..120 {
            let mut value = origin.clone();
            for _ in 0..random.random_range(1..4) {
                mutate(&mut value, &mut random);
            }
            used += usize::from(use_it(&value.to_string()));
        }
        let bytes = origin.to_string().into_bytes();
        for _ in 0..60 {
            let mut bytes = bytes.clone();
            for _ in 0..random.random_range(1..4) {
                let at = random.random_range(0..bytes.len());
                match random.random_range(0..3) {
                    0 => bytes[at] = random.random_range(0..128),
                    1 => drop(bytes.remove(at)),
                    _ => bytes.truncate(at.max(1)),
                }
            }
            used += usize::from(use_it(&String::from_utf8_lossy(&bytes)));
        }
    }
    // Some changes do no harm: the rest of the test is then about something.
    assert!((10..500).contains(&used), "{used}");
}

#[test]
fn a_benchmark_that_cannot_be_true_is_refused() {
    let good = json!({
        "schema": 1, "benchmark": "locks", "started": "", "seconds": 1.0, "interrupted": false, "command_line": ["x"],
        "machine": value()["machine"], "settings": {}, "failures": [], "rows": [{ "carrier": "one lock", "accesses_per_second": 1.5 }],
    });
    let read = |change: &dyn Fn(&mut Value)| {
        let mut value = good.clone();
        change(&mut value);
        Benchmark::parse(&value.to_string(), Path::new("locks.json"))
    };
    assert!(read(&|_| {}).unwrap().is_some());
    assert!(read(&|value| *value = Value::Object(Map::new())).unwrap().is_none());
    let bad: [&dyn Fn(&mut Value); 5] = [
        &|value| value["schema"] = json!(9),
        &|value| value["rows"] = json!([]),
        &|value| value["rows"][0]["accesses_per_second"] = json!(-1.0),
        &|value| value["rows"][0]["carrier"] = json!({}),
        &|value| value["machine"] = json!(null),
    ];
    for change in bad {
        assert!(matches!(read(change), Err(RunError::Read(_))));
    }
}
