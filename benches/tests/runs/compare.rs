//! Runs of several machines: agreement, flips, and what is refused.

use crate::synthetic::Model;
use crate::{as_text, refused, slotwork, text};
use serde_json::Value;
use slotwork::Submitters;
use slotwork_bench::compare::{CompareError, Options, compare};
use slotwork_bench::reading::Run;
use slotwork_bench::record::{Category, Record};
use tempfile::TempDir;

fn run(name: &str, record: Record) -> Run {
    Run { name: name.into(), path: name.into(), record }
}

#[test]
fn machines_that_agree_agree_and_a_planted_flip_is_found() {
    let laptop = run("laptop", Model::default().run(1));
    let server = run("server", Model { cores: 8, ..Model::default() }.run(2));
    let comparison = compare(&[laptop.clone(), server], Options::default()).unwrap();
    assert_eq!(comparison.cells.len(), 10);
    let together = comparison.categories.iter().find(|category| category.category == Category::Together).unwrap();
    // The designs that take many submitters and six peers take part in every cell.
    let many = slotwork_catalog::ENTRIES.iter().filter(|entry| entry.claims.submitters == Submitters::Many).count();
    assert_eq!(together.agreed + together.flips.len() + together.open, (many + 6) * (many + 5) / 2);
    assert_eq!(together.flips, []);
    assert!(together.agreed > 40, "{}", together.agreed);
    // The machines wait differently where one has the cores to spin.
    assert!(comparison.remarks.iter().any(|remark| remark.contains("wait as suits")), "{:?}", comparison.remarks);

    let best = together.rows[0].design.clone();
    let best = slotwork_catalog::names()
        .into_iter()
        .chain(["array-queue", "seg-queue", "channel", "mpsc", "flume", "mutex-deque"])
        .find(|name| *name == best)
        .unwrap();
    let other = Model { cores: 8, slowed: vec![(best, 0.05)], ..Model::default() };
    let comparison = compare(&[laptop, run("server", other.run(2))], Options::default()).unwrap();
    let together = comparison.categories.iter().find(|category| category.category == Category::Together).unwrap();
    assert!(!together.flips.is_empty());
    for flip in &together.flips {
        assert!(flip.design == best || flip.other == best, "{flip:?}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_its_reason() {
    let other = |change: &dyn Fn(&mut Record)| {
        let mut record = Model { cores: 8, ..Model::default() }.run(2);
        change(&mut record);
        compare(&[run("a", Model::default().run(1)), run("b", record)], Options::default())
    };
    assert!(other(&|_| {}).is_ok());
    assert!(matches!(other(&|record| drop(record.cells.pop())), Err(CompareError::Grid(..))));
    assert!(matches!(other(&|record| record.cells[0].slots_per_lane = 5), Err(CompareError::Grid(..))));
    assert!(matches!(other(&|record| record.machine.commit = Some("f".into())), Err(CompareError::Version(..))));
    assert!(matches!(other(&|record| record.simulated = true), Err(CompareError::Simulated(..))));
    let without =
        |record: &mut Record| record.cells.iter_mut().for_each(|cell| cell.rows.retain(|row| row.design != "bitmap"));
    assert!(matches!(other(&without), Err(CompareError::Contenders(..))));
    let same = run("a", Model::default().run(1));
    assert!(matches!(compare(&[same.clone(), same.clone()], Options::default()), Err(CompareError::Same(..))));
    assert_eq!(compare(&[same], Options::default()).unwrap_err(), CompareError::TooFew);
}

#[test]
fn what_all_have_can_be_compared_all_the_same() {
    let mut record = Model { cores: 8, commit: "fff", ..Model::default() }.run(2);
    record.cells.pop();
    let runs = [run("a", Model::default().run(1)), run("b", record)];
    let comparison = compare(&runs, Options { common: true, any_commit: true }).unwrap();
    assert_eq!(comparison.cells.len(), 9);
    assert!(comparison.remarks.iter().any(|remark| remark.contains("left out")), "{:?}", comparison.remarks);
    assert!(comparison.remarks.iter().any(|remark| remark.contains("commit")), "{:?}", comparison.remarks);
}

#[test]
fn the_command_prints_tables_or_json() {
    let folder = TempDir::new().unwrap();
    let one = Model::default().file(folder.path(), "laptop.json", 1);
    let two = Model { cores: 8, ..Model::default() }.file(folder.path(), "server.json", 2);
    let output = slotwork(&["compare", as_text(&one), as_text(&two)]);
    let shown = text(&output.stdout);
    assert!(
        output.status.success() && shown.contains("agree on every machine") && shown.contains("score, server"),
        "{shown}"
    );
    let output = slotwork(&["compare", "--json", as_text(&one), as_text(&two)]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["machines"].as_array().unwrap().len(), 2);
    refused(&["compare", as_text(&one)], "two runs or more");
    refused(&["compare", as_text(&one), as_text(&one)], "the same run");
    let old = "../notes/results/2026-11-30-rank-2-cores.json";
    refused(&["compare", as_text(&one), old], "different versions");
    refused(&["compare", "--any-commit", as_text(&one), old], "different contenders");
}
