//! What a benchmark leaves behind: flat rows, with the machine and the command line they come from.

use crate::machine::Machine;
use crate::report::{Destination, OutputError};
use serde::Serialize;
use std::path::PathBuf;

/// The version of the layout of these records.
pub const SCHEMA: u32 = 1;

/// One run of a benchmark, as it is written.
#[derive(Clone, Debug, Serialize)]
pub struct Results<'a, S, R> {
    /// See [`SCHEMA`].
    pub schema: u32,
    /// Which benchmark.
    pub benchmark: &'a str,
    /// When it began, in UTC.
    pub started: String,
    /// How long it took in all.
    pub seconds: f64,
    /// Whether it was broken off; then later rows are missing.
    pub interrupted: bool,
    /// The exact command line.
    pub command_line: Vec<String>,
    /// Where it ran.
    pub machine: &'a Machine,
    /// What was asked for.
    pub settings: &'a S,
    /// Why it failed, if it did: one line each.
    pub failures: &'a [String],
    /// A row per run; the lines of the CSV.
    pub rows: &'a [R],
}

impl<S: Serialize, R: Serialize> Results<'_, S, R> {
    /// Writes both files; returns their paths, JSON first.
    ///
    /// # Errors
    /// [`OutputError`], with neither file left behind.
    pub fn write(&self, destination: Destination) -> Result<[PathBuf; 2], OutputError> {
        destination.write_rows(self, self.rows)
    }
}

/// The median; none of nothing.
#[must_use]
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.into_iter().collect();
    crate::statistics::median(&values)
}
