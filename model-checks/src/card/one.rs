//! One check of one design, in a process of its own: this program, started again.

use super::plan::Level;
use crate::apart::{limit, output};
use crate::evidence::{Check, Evidence, Extent, Outcome};
use std::process::{Command, ExitCode};

/// Begins the arguments of such a process.
const MARK: &str = "--run-one-check";

/// Runs the check apart, and reads its rows. A process that ends in any other way gives a row that says so.
pub(super) fn run_apart(check: Check, design: &str, level: Level) -> Vec<Evidence> {
    let run = || -> Result<Vec<Evidence>, String> {
        let program = std::env::current_exe().map_err(|error| format!("this program is nowhere: {error}"))?;
        let output = output(Command::new(program).args([MARK, check.name(), design, &level.to_string()]), limit())?;
        let errors = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!("{}: {}", output.status, errors.trim()));
        }
        serde_json::from_slice(&output.stdout).map_err(|error| format!("its rows cannot be read: {error}"))
    };
    match run() {
        Ok(rows) if !rows.is_empty() => rows,
        Ok(_) => vec![broken(check, design, "it found nothing to check".into())],
        Err(why) => vec![broken(check, design, why.replace('\n', " "))],
    }
}

fn broken(check: Check, design: &str, why: String) -> Evidence {
    Evidence {
        design: design.into(),
        property: format!("{check} was checked"),
        check,
        subject: check.name().into(),
        view: "-".into(),
        extent: Extent::Sampled,
        count: 0,
        unit: "runs".into(),
        witnesses: Vec::new(),
        milliseconds: 0,
        blind: "everything: it broke off".into(),
        outcome: Outcome::GaveUp { why },
    }
}

/// If this process was started to run one check, runs it and says with which code to end.
#[must_use]
pub fn run_if_asked() -> Option<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mark, check, design, level] = &arguments[..] else { return None };
    if mark != MARK {
        return None;
    }
    let full = level == "full";
    let rows = match check.as_str() {
        "progress" => crate::progress::matrix(design, full),
        "history" => crate::histories::histories(design, full),
        "inspection" => crate::inspection::inspection(design),
        _ => None,
    };
    match rows.map(|rows| serde_json::to_string(&rows)) {
        Some(Ok(text)) => {
            println!("{text}");
            Some(ExitCode::SUCCESS)
        }
        Some(Err(error)) => {
            eprintln!("{error}");
            Some(ExitCode::FAILURE)
        }
        None => {
            eprintln!("no check '{check}' for a design '{design}'");
            Some(ExitCode::from(2))
        }
    }
}
