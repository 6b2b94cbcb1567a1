//! The pick: promises first, then figures; and lines that build.

#[path = "emitted/mod.rs"]
mod emitted;

use crate::synthetic::Model;
use crate::{as_text, refused, slotwork, text};
use serde_json::Value;
use slotwork::{Progress, Shape, Submitters};
use slotwork_bench::pick::{Load, Need, Objective, PickError, cargo_lines, main_lines, newest, pick};
use slotwork_bench::reading::Run;
use slotwork_catalog::{ENTRIES, Entry};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn load(submitters: Submitters, workers: usize, slots: usize, needs: &[Need], objective: Objective) -> Load {
    let shape = Shape::new(workers, slots).unwrap();
    Load { submitters, clients: None, shape, needs: needs.to_vec(), objective, handler_nanoseconds: 0 }
}

fn run(model: &Model) -> Run {
    Run { name: "run".into(), path: "run.json".into(), record: model.run(5) }
}

#[test]
fn every_need_decides_by_claims_and_everybody_is_accounted_for() {
    let run = run(&Model { ranked: false, ..Model::default() });
    for need in [Need::Fifo, Need::Bounded, Need::LockFree, Need::Exact, Need::AnyWorker, Need::NoAllocation] {
        let load = load(Submitters::Many, 4, 4, &[need], Objective::Throughput);
        let answer = pick(&load, ENTRIES, Some(&run), ".").unwrap();
        let meets = |name: &str| need.unmet(&slotwork_catalog::entry(name).unwrap().claims).is_none();
        assert!(meets(&answer.pick.design), "{need:?}");
        assert!(answer.runner_up.as_ref().is_none_or(|second| meets(&second.design)), "{need:?}");
        let by_claim = answer.out.iter().filter(|out| out.by == "claim").count();
        let unable = |entry: &&Entry| need.unmet(&entry.claims).is_some() || entry.claims.submitters == Submitters::One;
        assert_eq!(by_claim, ENTRIES.iter().filter(unable).count(), "{need:?}");
        assert_eq!(1 + usize::from(answer.runner_up.is_some()) + answer.out.len(), ENTRIES.len(), "{need:?}");
    }
    let waiting = load(Submitters::One, 4, 4, &[Need::WaitFree], Objective::Throughput);
    let answer = pick(&waiting, ENTRIES, Some(&run), ".").unwrap();
    let claims = slotwork_catalog::entry(&answer.pick.design).unwrap().claims;
    assert_eq!(claims.progress.acquire, Progress::WaitFree);
    let nobody = load(Submitters::Many, 4, 4, &[Need::WaitFree, Need::Fifo], Objective::Throughput);
    assert!(matches!(pick(&nobody, ENTRIES, None, "."), Err(PickError::Nobody(_))));
}

#[test]
fn figures_decide_among_those_that_can_and_a_planted_winner_is_taken() {
    let able = ["freelist-bitmap", "freelist-steal", "bitmap-claim"];
    for winner in able {
        let slowed =
            slotwork_catalog::names().into_iter().filter(|name| *name != winner).map(|name| (name, 0.02)).collect();
        let run = run(&Model { slowed, ranked: false, ..Model::default() });
        let load = load(Submitters::Many, 4, 64, &[Need::LockFree], Objective::Throughput);
        let answer = pick(&load, ENTRIES, Some(&run), ".").unwrap();
        assert_eq!(answer.pick.design, winner);
        assert!(answer.not_distinguishable.is_empty() && answer.sure.starts_with("clearly ahead"), "{}", answer.sure);
        let figures = answer.figures.unwrap();
        assert!(figures.exact && figures.cells == ["4×4/64 yield"], "{figures:?}");
        // The pointer leads to the row.
        let value = serde_json::to_value(&run.record).unwrap();
        let row = value.pointer(&answer.pick.figure.unwrap().rows[0]).unwrap();
        assert_eq!(row["design"], winner);
    }
}

#[test]
fn the_nearest_cell_is_used_and_said_to_be_so() {
    let run = run(&Model { ranked: false, ..Model::default() });
    let answer = pick(&load(Submitters::One, 12, 50, &[], Objective::Throughput), ENTRIES, Some(&run), ".").unwrap();
    let figures = answer.figures.unwrap();
    assert_eq!((figures.cells, figures.exact), (vec!["1×16/64 yield".to_string()], false));
    assert!(figures.remarks[0].contains("--clients 1 --workers 12 --slots 50"), "{:?}", figures.remarks);
}

#[test]
fn a_latency_that_was_not_measured_is_not_made_up() {
    let asked = load(Submitters::Many, 4, 4, &[], Objective::P99);
    let without =
        pick(&asked, ENTRIES, Some(&run(&Model { ranked: false, ..Model::default() })), ".").unwrap().figures.unwrap();
    assert_eq!(without.objective, Objective::Throughput);
    assert!(without.remarks.iter().any(|remark| remark.contains("was not measured")), "{:?}", without.remarks);
    let with = run(&Model { latency: true, ranked: false, ..Model::default() });
    let answer = pick(&asked, ENTRIES, Some(&with), ".").unwrap();
    assert_eq!(answer.figures.unwrap().objective, Objective::P99);
    let least = answer.pick.figure.unwrap();
    assert!(least.score.high >= 1.0 && least.values[0].contains("p99"), "{least:?}");
    let memory = pick(&load(Submitters::One, 4, 4, &[], Objective::Memory), ENTRIES, Some(&with), ".").unwrap();
    let bytes = |name: &str| 32 + 8 * (name.len() % 7);
    let fewest = ENTRIES.iter().map(|entry| bytes(entry.name)).min().unwrap();
    assert_eq!(bytes(&memory.pick.design), fewest);
}

#[test]
fn without_a_run_the_claims_alone_decide_and_it_says_so() {
    let answer = pick(&load(Submitters::Many, 4, 4, &[Need::Fifo], Objective::Throughput), ENTRIES, None, ".").unwrap();
    assert!(answer.figures.is_none() && answer.sure.contains("by claims alone"), "{}", answer.sure);
    assert!(answer.measure.starts_with("slotwork rank --clients"));
    // A failed design is not picked, however it would have done.
    let mut failed = run(&Model { ranked: false, ..Model::default() });
    let all = failed.record.cells.iter_mut().flat_map(|cell| &mut cell.rows).filter(|row| row.design == "double-list");
    all.for_each(|row| row.failure = Some("the counts are wrong".into()));
    let answer = pick(
        &load(Submitters::Many, 4, 4, &[Need::Fifo, Need::LockFree], Objective::Throughput),
        ENTRIES,
        Some(&failed),
        ".",
    )
    .unwrap();
    assert_ne!(answer.pick.design, "double-list");
}

/// The load of a design's example: what it takes.
fn example(entry: &Entry) -> Load {
    Load { clients: None, ..load(entry.claims.submitters, 4, 16, &[], Objective::Throughput) }
}

/// The main.rs of every design is a file that is built with these tests, and run by them.
/// `UPDATE_NOTES=1` writes the files anew.
#[test]
fn the_lines_are_those_of_programs_that_are_built_and_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runs/emitted");
    let module = |name: &str| name.replace('-', "_");
    for entry in ENTRIES {
        let path = folder.join(format!("{}.rs", module(entry.name)));
        let lines = main_lines(entry, &example(entry));
        if std::env::var_os("UPDATE_NOTES").is_some() {
            fs::write(&path, &lines).unwrap();
        }
        let built = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(built, lines, "{}: UPDATE_NOTES=1 cargo test -p slotwork-bench --test runs", path.display());
    }
    let ran: Vec<&str> = emitted::ALL.iter().map(|(name, _)| *name).collect();
    assert_eq!(ran, slotwork_catalog::names(), "every design's program is in emitted/mod.rs");
    for (name, main) in emitted::ALL {
        main().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn the_dependencies_are_there() {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for entry in ENTRIES {
        let lines = cargo_lines(entry, as_text(&tree));
        assert_eq!(lines.lines().next(), Some("[dependencies]"));
        for line in lines.lines().skip(1) {
            let (package, path) = line.split_once(" = { path = \"").unwrap();
            let manifest = Path::new(path.trim_end_matches("\" }")).join("Cargo.toml");
            let manifest =
                fs::read_to_string(&manifest).unwrap_or_else(|error| panic!("{}: {error}", manifest.display()));
            assert!(manifest.contains(&format!("name = \"{package}\"")), "{package}");
        }
    }
}

#[test]
fn the_command_answers_in_words_and_in_json() {
    let folder = TempDir::new().unwrap();
    let file = Model { latency: true, ranked: false, ..Model::default() }.file(folder.path(), "run.json", 1);
    let arguments = [
        "pick",
        "--submitters",
        "many",
        "--workers",
        "16",
        "--slots",
        "64",
        "--need",
        "fifo,lock-free",
        "--optimise",
        "p99",
        "--from",
        as_text(&file),
    ];
    let output = slotwork(&arguments);
    let shown = text(&output.stdout);
    for words in [
        "take:",
        "how sure:",
        "runner-up:",
        "not these:",
        "notes/designs/",
        "run.json#/cells/",
        "[dependencies]",
        "fn main()",
    ] {
        assert!(output.status.success() && shown.contains(words), "{words}: {shown}");
    }
    let json = slotwork(&[&arguments[..], &["--json"]].concat());
    let value: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert!(shown.contains(value["pick"]["design"].as_str().unwrap()));
    // Without a run of one's own: the newest that was there when the program was built.
    let output = slotwork(&["pick", "--submitters", "one", "--workers", "16", "--slots", "64"]);
    assert!(newest().is_some() && text(&output.stdout).contains("notes/results/"), "{}", text(&output.stdout));
    refused(&["pick", "--need", "wait-free,fifo"], "no design does all of this");
    refused(&["pick", "--submitters", "one", "--clients", "2"], "one submitter");
    refused(&["pick", "--workers", "0"], "--workers");
    refused(&["pick", "--slots", "99999999999"], "--slots");
    refused(&["pick", "--need", "speed"], "speed");
}
