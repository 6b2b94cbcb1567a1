//! The result files of the seeds' benchmarks: flat rows, read as what they are.

use super::{RunError, text_of};
use crate::machine::Machine;
use crate::record::ReadError;
use crate::seeds::results::SCHEMA;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// One run of a seed's benchmark.
#[derive(Clone, Debug, Deserialize)]
pub struct Benchmark {
    /// The version of its layout.
    pub schema: u32,
    /// Which benchmark.
    pub benchmark: String,
    /// When it began.
    pub started: String,
    /// Whether it was broken off.
    pub interrupted: bool,
    /// The exact command line.
    pub command_line: Vec<String>,
    /// Where it ran.
    pub machine: Machine,
    /// Why it failed, if it did.
    #[serde(default)]
    pub failures: Vec<String>,
    /// A row per run.
    pub rows: Vec<Map<String, Value>>,
    /// The file.
    #[serde(skip)]
    pub path: PathBuf,
}

impl Benchmark {
    /// The benchmark in a text, if it is one; a record is none.
    ///
    /// # Errors
    /// [`RunError`] where it is one, and a bad one.
    pub fn parse(text: &str, path: &Path) -> Result<Option<Self>, RunError> {
        let Ok(value) = serde_json::from_str::<Value>(text) else { return Ok(None) };
        if value.get("benchmark").is_none() {
            return Ok(None);
        }
        let bad = |reason: String| RunError::Read(ReadError::NotARecord { path: path.into(), reason });
        match value.get("schema").and_then(Value::as_u64) {
            Some(schema) if schema == u64::from(SCHEMA) => {}
            Some(found) => {
                return Err(bad(format!("its benchmark has schema {found}, and this slotwork reads {SCHEMA}")));
            }
            None => return Err(bad("it names no schema".into())),
        }
        let mut benchmark: Self = serde_json::from_value(value).map_err(|error| bad(error.to_string()))?;
        benchmark.path = path.into();
        if benchmark.rows.is_empty() {
            return Err(bad("it has no rows".into()));
        }
        for (number, row) in benchmark.rows.iter().enumerate() {
            for (name, value) in row {
                if value.as_f64().is_some_and(|figure| !figure.is_finite() || figure < 0.0) {
                    return Err(bad(format!("{name} of row {} is {value}, which nobody measured", number + 1)));
                }
                if value.is_object() || value.is_array() {
                    return Err(bad(format!("{name} of row {} is no figure", number + 1)));
                }
            }
        }
        Ok(Some(benchmark))
    }

    /// The benchmark in a file, if it is one.
    ///
    /// # Errors
    /// [`RunError`].
    pub fn load(path: &Path) -> Result<Option<Self>, RunError> {
        Self::parse(&text_of(path)?, path)
    }

    /// The median of a figure over the rows that `of` takes; none where there is none.
    pub fn median(&self, figure: &str, of: impl Fn(&Map<String, Value>) -> bool) -> Option<f64> {
        let rows = self.rows.iter().filter(|row| of(row));
        let figures: Vec<f64> = rows.filter_map(|row| row.get(figure)?.as_f64()).collect();
        crate::statistics::median(&figures)
    }

    /// The values of a column, each once, in the order of the rows.
    #[must_use]
    pub fn each(&self, column: &str) -> Vec<String> {
        let mut values = Vec::new();
        for row in &self.rows {
            let value = shown(row.get(column).unwrap_or(&Value::Null));
            if !values.contains(&value) {
                values.push(value);
            }
        }
        values
    }
}

/// A value as it is shown, and compared.
#[must_use]
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "–".into(),
        other => other.to_string(),
    }
}
