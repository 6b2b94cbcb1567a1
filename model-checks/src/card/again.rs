//! Showing a failure of a card again, by the text that was printed with it.

use crate::audit::{Fate, mutants, tables, try_mutant};
use crate::job::Verdict;
use crate::replay::{ReplayError, replay_with_steps};
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
pub enum AgainError {
    /// It is no run of a model.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// It is no mutant.
    #[error("'{0}' is no mutant of the audit; one is written as table.SITE=Relaxed")]
    Mutant(String),
}

/// Runs it again: a mutant of the audit, written as `audit table.SITE=Relaxed`, or a run of a model, as it was printed.
///
/// # Errors
/// [`AgainError`], in one line.
pub fn again(text: &str) -> Result<Replayed, AgainError> {
    let replayed = |failed, why, steps| Replayed { run: text.into(), failed, why, steps };
    if let Some(site) = text.strip_prefix("audit ") {
        let known = tables().into_iter().find_map(|table| {
            let mutant = mutants(&table).into_iter().find(|mutant| mutant.to_string() == site)?;
            Some((table, mutant))
        });
        let (table, mutant) = known.ok_or_else(|| AgainError::Mutant(site.into()))?;
        let (fate, runs, executions) = try_mutant(&table, &mutant);
        let (failed, why) = match fate {
            Fate::Killed { model, design, view, execution, why } => {
                (false, format!("killed by {model} in {design}, {view} view, execution {execution}: {why}"))
            }
            Fate::Survived => (true, format!("survives {runs} runs and {executions} executions")),
            Fate::Broken(why) => (true, format!("broke off: {why}")),
        };
        return Ok(replayed(failed, why, String::new()));
    }
    Ok(match replay_with_steps(text)? {
        (Verdict::Accepted(report), _) => replayed(false, report.line, String::new()),
        (Verdict::Rejected { executions, why }, steps) => {
            replayed(true, format!("execution {executions}: {why}"), steps)
        }
        (Verdict::Broken(why), _) => replayed(true, format!("broke off: {why}"), String::new()),
    })
}
