//! What is made of runs: reading them back, comparing, picking, the gate, the report. No test here measures anything.

mod compare;
mod gate;
mod page;
mod pick;
mod reading;
mod report;
mod synthetic;

use std::path::Path;
use std::process::Output;
use std::time::Duration;

/// Runs the command to its end; what hangs fails.
fn slotwork(arguments: &[&str]) -> Output {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_slotwork"));
    command.args(arguments).timeout(Duration::from_secs(60)).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// One line on stderr with these words, nothing on stdout, exit code 2.
#[track_caller]
fn refused(arguments: &[&str], words: &str) {
    let output = slotwork(arguments);
    let line = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {line}");
    assert_eq!(line.lines().count(), 1, "{arguments:?}: {line}");
    assert!(line.starts_with("slotwork: ") && line.contains(words), "{arguments:?}: {line}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
}

fn as_text(path: &Path) -> &str {
    path.to_str().unwrap()
}
