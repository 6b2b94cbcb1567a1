//! The file that a run of `verify` writes, and how parts of a run are put together.

use super::claims::claims_of;
use super::plan::{Level, Task, plan};
use crate::evidence::Evidence;
use serde::{Deserialize, Serialize};
use slotwork_catalog::UnknownDesign;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use thiserror::Error;

/// Version of the file. A file of another one is refused: its rows may mean something else.
pub const SCHEMA: u32 = 1;

/// A part of a plan: the second of eight is written 2/8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Part {
    /// Which; the first is 1.
    pub number: u32,
    /// Of how many.
    pub of: u32,
}

impl Part {
    /// All of it.
    pub const WHOLE: Self = Self { number: 1, of: 1 };
}

/// A part that there is not.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("'{0}' is no partition; one is written as 2/8, from 1/8 to 8/8")]
pub struct PartError(String);

impl FromStr for Part {
    type Err = PartError;

    fn from_str(text: &str) -> Result<Self, PartError> {
        let read = || {
            let (number, of) = text.split_once('/')?;
            let part = Self { number: number.parse().ok()?, of: of.parse().ok()? };
            (1..=part.of).contains(&part.number).then_some(part)
        };
        read().ok_or_else(|| PartError(text.into()))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.number, self.of)
    }
}

/// A task that was done, and what it found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// Name of the task.
    pub task: String,
    /// Its rows.
    pub rows: Vec<Evidence>,
}

/// What a run found, or several that were put together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proofs {
    /// [`SCHEMA`] of whoever wrote it.
    pub schema: u32,
    /// Day and time.
    pub made: String,
    /// Commit of the code that was checked.
    pub commit: String,
    /// The machine, in a line; of several, a line each.
    pub machines: Vec<String>,
    /// How hard it looked.
    pub level: Level,
    /// The designs that were asked for; none means all.
    pub asked: Vec<String>,
    /// The parts that are in it.
    pub parts: Vec<Part>,
    /// The names of all tasks of the whole plan.
    pub planned: Vec<String>,
    /// The tasks that were done.
    pub done: Vec<Done>,
}

/// Whether everything is known to be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Everything planned was done, everything passed, and every claim is established.
    Green,
    /// Something did not pass.
    Failed,
    /// Nothing failed, but something was not done, or a claim has nothing that establishes it.
    Incomplete,
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Green => "green",
            Self::Failed => "FAILED",
            Self::Incomplete => "INCOMPLETE",
        })
    }
}

/// A file that is no proof.
#[derive(Debug, Error)]
pub enum ReadError {
    /// It cannot be read.
    #[error("{0} cannot be read: {1}")]
    Unreadable(PathBuf, std::io::Error),
    /// It is truncated, or something else.
    #[error("{0} is no proof file, or a truncated one: {1}")]
    Malformed(PathBuf, serde_json::Error),
    /// It is of another version.
    #[error("{0} has schema {1}, and this is schema {SCHEMA}: run its verify again with this version")]
    Schema(PathBuf, u64),
}

/// Parts that do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MergeError {
    /// There is nothing to put together.
    #[error("nothing to merge")]
    Nothing,
    /// They are about different things.
    #[error("the files differ in {0}: '{1}' and '{2}'; only parts of one run can be merged")]
    Different(&'static str, String, String),
    /// Nobody knows whether they are about the same code.
    #[error("{0} is not known to be one state of the code; only parts of one commit, without changes, can be merged")]
    NoCommit(String),
    /// One is there twice.
    #[error("task {0} is in two of the files")]
    Twice(String),
    /// A design that there is not.
    #[error(transparent)]
    Unknown(#[from] UnknownDesign),
    /// What it says was planned is not what this version plans.
    #[error("the plan in the file is not the plan of this version (at '{0}'): merge with the version that made it")]
    OtherPlan(String),
    /// It has results of something that was not planned, or a part that there is not.
    #[error("'{0}' is in a file, but not in its plan")]
    Stray(String),
}

impl Proofs {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let text = std::fs::read_to_string(path).map_err(|error| ReadError::Unreadable(path.into(), error))?;
        let malformed = |error| ReadError::Malformed(path.into(), error);
        // The version comes first: another one may have other fields.
        let value: serde_json::Value = serde_json::from_str(&text).map_err(malformed)?;
        match value.get("schema").and_then(serde_json::Value::as_u64) {
            Some(schema) if schema != u64::from(SCHEMA) => Err(ReadError::Schema(path.into(), schema)),
            _ => serde_json::from_value(value).map_err(malformed),
        }
    }

    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = &Evidence> + Clone {
        self.done.iter().flat_map(|done| &done.rows)
    }

    /// The planned tasks that were not done.
    #[must_use]
    pub fn missing(&self) -> Vec<&str> {
        let done: BTreeSet<&str> = self.done.iter().map(|done| done.task.as_str()).collect();
        self.planned.iter().map(String::as_str).filter(|task| !done.contains(task)).collect()
    }

    /// Every row that does not count, and why not; and every task that ended without a row.
    #[must_use]
    pub fn failures(&self) -> Vec<(Option<&Evidence>, String)> {
        let rows = self.rows().filter_map(|row| row.verdict().err().map(|why| (Some(row), why)));
        let empty = self.done.iter().filter(|done| done.rows.is_empty());
        rows.chain(empty.map(|done| (None, format!("{} ended without a row", done.task)))).collect()
    }

    /// The claims of the designs that no row establishes, as `design: claim`.
    #[must_use]
    pub fn open_claims(&self) -> Vec<String> {
        self.designs()
            .into_iter()
            .flat_map(|design| {
                let claims = slotwork_catalog::entry(design).map_or_else(|_| Vec::new(), claims_of);
                claims
                    .into_iter()
                    .filter(move |claim| !claim.is_established(self.rows().filter(|row| row.design == design)))
                    .map(move |claim| format!("{design}: {}", claim.text))
            })
            .collect()
    }

    /// The designs that it is about.
    #[must_use]
    pub fn designs(&self) -> Vec<&str> {
        if self.asked.is_empty() { slotwork_catalog::names() } else { self.asked.iter().map(String::as_str).collect() }
    }

    /// Whether everything is known to be right.
    #[must_use]
    pub fn status(&self) -> Status {
        if !self.failures().is_empty() {
            Status::Failed
        } else if self.planned.is_empty() || !self.missing().is_empty() || !self.open_claims().is_empty() {
            Status::Incomplete
        } else {
            Status::Green
        }
    }

    /// What a run with this plan begins with.
    #[must_use]
    pub fn begin(
        made: String,
        commit: String,
        machine: String,
        level: Level,
        asked: Vec<String>,
        part: Part,
        plan: &[Task],
    ) -> Self {
        let planned = plan.iter().map(Task::name).collect();
        let (machines, parts) = (vec![machine], vec![part]);
        Self { schema: SCHEMA, made, commit, machines, level, asked, parts, planned, done: Vec::new() }
    }
}

/// Puts parts of one run together. What is missing stays missing: see [`Proofs::missing`].
///
/// # Errors
/// [`MergeError`].
pub fn merge(parts: Vec<Proofs>) -> Result<Proofs, MergeError> {
    let is_known = |commit: &str| commit.starts_with(|first: char| first.is_ascii_hexdigit()) && !commit.contains(' ');
    if parts.len() > 1
        && let Some(part) = parts.iter().find(|part| !is_known(&part.commit))
    {
        return Err(MergeError::NoCommit(part.commit.clone()));
    }
    let mut parts = parts.into_iter();
    let mut whole = parts.next().ok_or(MergeError::Nothing)?;
    for part in parts {
        let same = |what, one: String, other: String| {
            if one == other { Ok(()) } else { Err(MergeError::Different(what, one, other)) }
        };
        same("commit", whole.commit.clone(), part.commit.clone())?;
        same("level", whole.level.to_string(), part.level.to_string())?;
        same("designs", whole.asked.join(", "), part.asked.join(", "))?;
        same("number of tasks planned", whole.planned.len().to_string(), part.planned.len().to_string())?;
        let differ = whole.planned.iter().zip(&part.planned).find(|(one, other)| one != other);
        differ.map_or(Ok(()), |(one, other)| same("plan", one.clone(), other.clone()))?;
        for machine in part.machines {
            if !whole.machines.contains(&machine) {
                whole.machines.push(machine);
            }
        }
        whole.made = whole.made.max(part.made);
        whole.parts.extend(part.parts);
        whole.done.extend(part.done);
    }
    whole.parts.sort();
    let plan: Vec<String> = plan(whole.level, &whole.asked)?.iter().map(Task::name).collect();
    let longer = plan.len().max(whole.planned.len());
    if let Some(at) = (0..longer).find(|&at| plan.get(at) != whole.planned.get(at)) {
        let name = whole.planned.get(at).or(plan.get(at)).cloned().unwrap_or_default();
        return Err(MergeError::OtherPlan(name));
    }
    if let Some(part) = whole.parts.iter().find(|part| !(1..=part.of).contains(&part.number)) {
        return Err(MergeError::Stray(part.to_string()));
    }
    if let Some(stray) = whole.done.iter().find(|done| !plan.contains(&done.task)) {
        return Err(MergeError::Stray(stray.task.clone()));
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = whole.done.iter().find(|done| !seen.insert(done.task.as_str())) {
        return Err(MergeError::Twice(twice.task.clone()));
    }
    let place = |task: &str| whole.planned.iter().position(|planned| planned == task);
    let mut done: Vec<_> = whole.done.iter().cloned().map(|done| (place(&done.task), done)).collect();
    done.sort_by_key(|&(place, _)| place);
    whole.done = done.into_iter().map(|(_, done)| done).collect();
    Ok(whole)
}

#[cfg(test)]
mod tests;
