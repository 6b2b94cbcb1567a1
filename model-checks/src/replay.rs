//! Showing a failure again, by the text that was printed with it.

use crate::audit::{Fate, mutants, tables, try_mutant};
use crate::job::{Job, Verdict};
use serde::Serialize;
use std::fmt;
use thiserror::Error;

/// What a replay showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Replayed {
    /// What was run.
    pub run: String,
    /// Whether it failed, as it had before.
    pub failed: bool,
    /// What happened, in a line.
    pub why: String,
    /// The steps of the wrong execution, as a table, where they are known.
    pub steps: String,
}

impl fmt::Display for Replayed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { run, failed, why, steps } = self;
        if !steps.is_empty() {
            writeln!(formatter, "{steps}\n")?;
        }
        writeln!(formatter, "{run}: {}: {why}", if *failed { "failed" } else { "passed" })
    }
}

/// A text that names no run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "'{0}' names no run: it is 'audit SITE=ORDERING', or 'MODEL DESIGN VIEW BOUND [SITE=ORDERING]' as a failure printed it"
)]
pub struct ReplayError(String);

/// Runs it again.
///
/// # Errors
/// [`ReplayError`].
pub fn replay(text: &str) -> Result<Replayed, ReplayError> {
    let unknown = || ReplayError(text.into());
    if let Some(site) = text.strip_prefix("audit ") {
        let known = tables().into_iter().find_map(|table| {
            let mutant = mutants(&table).into_iter().find(|mutant| mutant.to_string() == site)?;
            Some((table, mutant))
        });
        let (table, mutant) = known.ok_or_else(unknown)?;
        let (fate, runs, executions) = try_mutant(&table, &mutant);
        let (failed, why) = match fate {
            Fate::Killed { model, design, view, execution, why } => {
                (false, format!("killed by {model} in {design}, {view} view, execution {execution}: {why}"))
            }
            Fate::Survived => (true, format!("survives {runs} runs and {executions} executions")),
            Fate::Broken(why) => (true, format!("broke off: {why}")),
        };
        return Ok(Replayed { run: text.into(), failed, why, steps: String::new() });
    }
    let job: Job = text.parse().map_err(|_| unknown())?;
    let (verdict, steps) = job.run_apart_with_steps();
    let (failed, why) = match verdict {
        Verdict::Accepted(report) => (false, report.line),
        Verdict::Rejected { executions, why } => (true, format!("execution {executions}: {why}")),
        Verdict::Broken(why) if why.contains("no model '") => return Err(unknown()),
        Verdict::Broken(why) => (true, format!("broke off: {why}")),
    };
    Ok(Replayed { run: text.into(), failed, why, steps: if failed { steps } else { String::new() } })
}
