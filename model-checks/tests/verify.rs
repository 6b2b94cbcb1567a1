//! `slotwork verify` and `slotwork museum`, as they are called: answers, exit codes, one line for bad input.

use model_checks::job::{Job, Lens};
use std::path::Path;
use std::process::{Command, Output};

fn proofs(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_slotwork-proofs")).current_dir(folder).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Refused: exit code 2, one line, nothing on stdout and nothing in the folder.
fn refused(arguments: &[&str], says: &str) {
    let folder = tempfile::tempdir().unwrap();
    let output = proofs(folder.path(), arguments);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    assert_eq!(errors.lines().count(), 1, "{arguments:?}: {errors}");
    assert!(errors.contains(says), "{arguments:?}: {errors}");
    assert!(output.stdout.is_empty());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{arguments:?} left something behind");
}

#[test]
fn bad_input_gets_one_line() {
    refused(&["verify", "--design", "nonsense"], "unknown design 'nonsense'");
    refused(&["verify", "--partition", "9/8"], "9/8");
    refused(&["verify", "--partition", "0/8"], "0/8");
    refused(&["verify", "--quick", "--full"], "--full");
    refused(&["verify", "--time-limit", "0"], "--time-limit");
    refused(&["verify", "--time-limit", "NaN"], "--time-limit");
    refused(&["verify", "--time-limit", "1e300"], "--time-limit");
    refused(&["verify", "--output", "/proc/nowhere"], "/proc/nowhere");
    refused(&["verify", "--replay", "nonsense"], "replay line");
    refused(&["verify", "--replay", "audit bitmap.NONE=Relaxed"], "NONE");
    refused(&["verify", "merge"], "FILE");
    refused(&["verify", "merge", "none.json"], "none.json");
    refused(&["museum", "nonsense"], "unknown exhibit 'nonsense'");
    refused(&["nonsense"], "nonsense");
}

#[test]
fn a_truncated_card_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for content in ["", "{", "[]", "{\"schema\": 99}", "{\"schema\": 1}"] {
        std::fs::write(folder.path().join("card.json"), content).unwrap();
        let output = proofs(folder.path(), &["verify", "merge", "card.json"]);
        assert_eq!(output.status.code(), Some(2), "{content}");
        assert_eq!(text(&output.stderr).lines().count(), 1, "{content}");
    }
}

/// The files that a run left in `results`.
fn results(folder: &Path, extension: &str) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder.join("results")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|own| own == extension)).collect();
    files.sort();
    files
}

/// A few tasks of one design: every part is right and says that it is not the whole; two of them do not make
/// it green, and the same one twice is refused.
#[test]
fn a_part_is_never_green() {
    let folder = tempfile::tempdir().unwrap();
    for part in ["3/60", "4/60"] {
        let asked = ["verify", "--design", "bitmap-claim", "--partition", part, "--commit", "c0ffee"];
        let output = proofs(folder.path(), &asked);
        let printed = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{printed}{}", text(&output.stderr));
        assert!(printed.contains("INCOMPLETE") && printed.contains("not done: "), "{printed}");
        assert!(!printed.contains("green"), "{printed}");
    }
    let files = results(folder.path(), "json");
    let [one, two] = &files[..] else { panic!("{files:?}") };
    let (one, two) = (one.to_str().unwrap(), two.to_str().unwrap());
    let merged = proofs(folder.path(), &["verify", "merge", one, two]);
    assert_eq!(merged.status.code(), Some(1), "incomplete");
    assert!(text(&merged.stdout).contains("INCOMPLETE"));
    let twice = proofs(folder.path(), &["verify", "merge", one, one]);
    assert_eq!(twice.status.code(), Some(2));
    assert!(text(&twice.stderr).contains("in two of the files"));
}

/// No check ends at once: none has answered, not even by catching a weakened ordering; nothing is green.
#[test]
fn what_does_not_end_in_time_has_not_answered() {
    let folder = tempfile::tempdir().unwrap();
    let asked = ["verify", "--design", "bitmap", "--time-limit", "0.000001"];
    let output = proofs(folder.path(), &asked);
    let (printed, errors) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{printed}{errors}");
    assert!(errors.contains("did not end within 0.000001 s"), "{errors}");
    assert!(!printed.contains("green"), "{printed}");
    let [file] = &results(folder.path(), "json")[..] else { panic!("one run, one file") };
    let kept: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let rows: Vec<_> =
        kept["done"].as_array().unwrap().iter().flat_map(|done| done["rows"].as_array().unwrap()).collect();
    let unanswered = rows.iter().filter(|row| row["outcome"].to_string().contains("did not end within")).count();
    assert!(unanswered > 20, "{unanswered} of {}", rows.len());
    assert!(rows.iter().all(|row| !row["outcome"].to_string().to_lowercase().contains("pass")), "{printed}");
}

/// A file that was made by hand says what it likes; what it says was planned has to be what is planned.
#[test]
fn a_plan_made_by_hand_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let output = proofs(folder.path(), &["verify", "--design", "bitmap,bitmap", "--partition", "1/90"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let file = results(folder.path(), "json").remove(0);
    let made = std::fs::read_to_string(&file).unwrap();
    let value: serde_json::Value = serde_json::from_str(&made).unwrap();
    let merged = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut value = value.clone();
        change(&mut value);
        std::fs::write(folder.path().join("changed.json"), value.to_string()).unwrap();
        let output = proofs(folder.path(), &["verify", "merge", "changed.json"]);
        assert_eq!(text(&output.stderr).lines().count(), 1, "{}", text(&output.stderr));
        (output.status.code(), text(&output.stdout))
    };
    let (code, printed) = merged(&|value| value["done"][0]["rows"][0]["count"] = u64::MAX.into());
    assert_eq!(code, Some(1), "incomplete, and no panic: {printed}");
    let changes: [&dyn Fn(&mut serde_json::Value); 4] = [
        &|value| value["planned"] = serde_json::json!(["x"]),
        &|value| value["asked"] = serde_json::json!(["nonsense"]),
        &|value| value["parts"] = serde_json::json!([{"number": 9, "of": 2}]),
        &|value| value["done"][0]["task"] = "x".into(),
    ];
    for change in changes {
        assert_eq!(merged(change).0, Some(2));
    }
}

/// The results are kept, whatever becomes of the output.
#[test]
fn a_full_output_loses_no_results() {
    let folder = tempfile::tempdir().unwrap();
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let status = Command::new(env!("CARGO_BIN_EXE_slotwork-proofs"))
        .current_dir(folder.path())
        .args(["verify", "--design", "bitmap", "--partition", "3/90"])
        .stdout(full)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(1));
    assert_eq!(results(folder.path(), "json").len(), 1);
    assert_eq!(results(folder.path(), "txt").len(), 1);
}

#[test]
fn a_failure_comes_again() {
    let folder = tempfile::tempdir().unwrap();
    let job = |design: &str| Job {
        model: "naive_pool".into(),
        design: design.into(),
        lens: Lens::Interleaving,
        bound: Some(2),
        weakening: None,
    };
    let line = |design: &str| job(design).replay(1000).to_string();
    let replay = line("untagged-list");
    let [one, two] = [0, 1].map(|_| proofs(folder.path(), &["verify", "--replay", &replay]));
    assert_eq!(one.status.code(), Some(1));
    assert_eq!(text(&one.stdout), text(&two.stdout), "the same failure");
    let printed = text(&one.stdout);
    assert!(printed.contains("thread 1") && printed.contains("exchange "), "its steps are shown: {printed}");
    let right = proofs(folder.path(), &["verify", "--replay", &line("museum-sound")]);
    assert_eq!(right.status.code(), Some(0), "{}", text(&right.stdout));
}

#[test]
fn the_museum_shows_its_pieces() {
    let folder = tempfile::tempdir().unwrap();
    let list = proofs(folder.path(), &["museum"]);
    assert_eq!(list.status.code(), Some(0));
    assert!(text(&list.stdout).lines().count() > 15);
    let shown = proofs(folder.path(), &["museum", "plain_flip"]);
    let printed = text(&shown.stdout);
    assert_eq!(shown.status.code(), Some(0), "{printed}");
    assert!(printed.contains("rejected after") && printed.contains("museum-signal.PLAIN_STORE"), "{printed}");
    let json = proofs(folder.path(), &["museum", "plain_flip", "--json"]);
    let value: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(value["rejected"], true);
}
