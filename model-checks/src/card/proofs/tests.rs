//! A card is green only when all is there and all passed; parts of different runs are refused.

use super::*;
use crate::card::plan;
use crate::evidence::{Check, Extent, Outcome};

fn row(check: Check, property: &str, outcome: Outcome) -> Evidence {
    Evidence {
        design: "bitmap-claim".into(),
        property: property.into(),
        check,
        subject: "one".into(),
        view: "weak".into(),
        extent: Extent::Complete,
        count: 7,
        unit: "executions".into(),
        witnesses: Vec::new(),
        milliseconds: 1,
        blind: "nothing".into(),
        outcome,
    }
}

/// A run that did everything, with a passing row for each claim in its first task.
fn whole() -> Proofs {
    let asked = vec!["bitmap-claim".to_string()];
    let tasks = plan(Level::Quick, &asked).unwrap();
    let mut proofs =
        Proofs::begin("today".into(), "c0ffee".into(), "a machine".into(), Level::Quick, asked, Part::WHOLE, &tasks);
    let passed =
        |task: &String| Done { task: task.clone(), rows: vec![row(Check::Model, "something", Outcome::Passed)] };
    proofs.done = proofs.planned.iter().map(passed).collect();
    let claims = claims_of(slotwork_catalog::entry("bitmap-claim").unwrap());
    proofs.done[0].rows = claims
        .iter()
        .flat_map(|claim| &claim.needs)
        .map(|(check, property)| row(*check, property, Outcome::Passed))
        .collect();
    proofs
}

/// The same as two parts.
fn halves() -> [Proofs; 2] {
    let whole = whole();
    [1, 2].map(|number| {
        let mut part = whole.clone();
        part.parts = vec![Part { number, of: 2 }];
        part.done = part.done.into_iter().skip(number as usize - 1).step_by(2).collect();
        part
    })
}

#[test]
fn all_done_and_passed_is_green() {
    assert_eq!(whole().status(), Status::Green, "{:?} {:?}", whole().failures(), whole().open_claims());
}

#[test]
fn parts_of_who_knows_which_code_are_refused() {
    for commit in ["c0ffee and changes", "unknown", ""] {
        let parts = halves().map(|part| Proofs { commit: commit.into(), ..part });
        assert_eq!(merge(parts.into()), Err(MergeError::NoCommit(commit.into())));
    }
    assert!(merge(halves().into()).is_ok());
}

#[test]
fn a_task_that_is_missing_makes_it_incomplete() {
    let mut proofs = whole();
    let gone = proofs.done.pop().unwrap();
    assert_eq!(proofs.missing(), [gone.task]);
    assert_eq!(proofs.status(), Status::Incomplete);
}

#[test]
fn a_row_that_does_not_count_makes_it_failed() {
    let outcomes = [
        Outcome::Failed { why: "two owners".into(), replay: "verify".into() },
        Outcome::GaveUp { why: "budget".into() },
    ];
    for outcome in outcomes {
        let mut proofs = whole();
        proofs.done[3].rows[0].outcome = outcome;
        assert_eq!(proofs.status(), Status::Failed);
    }
    let mut proofs = whole();
    proofs.done[3].rows[0].count = 0;
    assert_eq!(proofs.status(), Status::Failed, "no green without a count");
    proofs.done[3].rows.clear();
    assert_eq!(proofs.status(), Status::Failed, "no green without a row");
}

#[test]
fn a_claim_that_no_row_establishes_makes_it_incomplete() {
    let mut proofs = whole();
    let removed = proofs.done[0].rows.pop().unwrap();
    assert!(proofs.open_claims().iter().any(|claim| claim.starts_with("bitmap-claim: ")), "{}", removed.property);
    assert_eq!(proofs.status(), Status::Incomplete);
}

#[test]
fn parts_make_the_whole() {
    let [one, two] = halves();
    assert_eq!(one.status(), Status::Incomplete);
    let merged = merge(vec![two, one]).unwrap();
    assert_eq!(merged.status(), Status::Green);
    assert_eq!(merged.done, whole().done, "in the order of the plan, whatever the order of the files");
    assert_eq!(merged.parts, [Part { number: 1, of: 2 }, Part { number: 2, of: 2 }]);
}

#[test]
fn a_failed_part_makes_the_whole_failed() {
    let [mut one, two] = halves();
    one.done[0].rows[0].outcome = Outcome::GaveUp { why: "budget".into() };
    assert_eq!(merge(vec![one, two]).unwrap().status(), Status::Failed);
}

#[test]
fn what_is_not_one_run_is_refused() {
    assert_eq!(merge(Vec::new()), Err(MergeError::Nothing));
    let [one, two] = halves();
    assert!(matches!(merge(vec![one.clone(), one.clone()]), Err(MergeError::Twice(_))));
    let changed = |change: &dyn Fn(&mut Proofs)| {
        let mut other = two.clone();
        change(&mut other);
        merge(vec![one.clone(), other])
    };
    assert!(matches!(changed(&|other| other.commit = "d15ea5e".into()), Err(MergeError::Different("commit", ..))));
    assert!(matches!(changed(&|other| other.level = Level::Full), Err(MergeError::Different("level", ..))));
    assert!(matches!(changed(&|other| other.asked.clear()), Err(MergeError::Different("designs", ..))));
    assert!(changed(&|other| other.planned[0] = "else".into()).is_err());
    let alone = |change: &dyn Fn(&mut Proofs)| {
        let mut other = whole();
        change(&mut other);
        merge(vec![other]).unwrap_err()
    };
    assert!(matches!(alone(&|other| other.planned = vec!["x".into()]), MergeError::OtherPlan(_)));
    assert!(matches!(alone(&|other| other.done[0].task = "x".into()), MergeError::Stray(_)));
    assert!(matches!(alone(&|other| other.parts = vec![Part { number: 9, of: 2 }]), MergeError::Stray(_)));
    assert!(matches!(alone(&|other| other.asked = vec!["nonsense".into()]), MergeError::Unknown(_)));
    assert!(changed(&|other| _ = other.planned.pop()).is_err());
}

#[test]
fn parts_are_numbered_from_one() {
    assert_eq!("2/8".parse(), Ok(Part { number: 2, of: 8 }));
    for nonsense in ["9/8", "0/8", "1/0", "0/0", "1", "", "1/8/2", "-1/8", "one/two", "1/99999999999"] {
        assert!(nonsense.parse::<Part>().is_err(), "{nonsense}");
    }
}

#[test]
fn files_that_are_no_proof_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("proofs.json");
    let written = |text: &str| {
        std::fs::write(&path, text).unwrap();
        Proofs::read(&path)
    };
    let whole = whole();
    let text = serde_json::to_string(&whole).unwrap();
    assert_eq!(written(&text).unwrap(), whole);
    assert!(matches!(written(&text[..text.len() / 2]), Err(ReadError::Malformed(..))));
    assert!(matches!(written("{}"), Err(ReadError::Malformed(..))));
    assert!(matches!(written(""), Err(ReadError::Malformed(..))));
    assert!(matches!(written(&text.replacen("\"schema\":1", "\"schema\":7", 1)), Err(ReadError::Schema(_, 7))));
    assert!(matches!(Proofs::read(&folder.path().join("none.json")), Err(ReadError::Unreadable(..))));
    for error in [written("{}"), written(&text.replacen("\"schema\":1", "\"schema\":7", 1))] {
        assert_eq!(error.unwrap_err().to_string().lines().count(), 1);
    }
}
