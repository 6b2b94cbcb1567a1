//! Reading a record back: what is not one is refused in one line that says what to do.

use super::{Category, Record, SCHEMA};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a file is not read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// There is no such file, or it may not be read.
    #[error("cannot read '{}': {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It ends too early.
    #[error("'{}' is truncated at line {line}: measure again, or fetch it again", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Its last line.
        line: usize,
    },
    /// It is no JSON.
    #[error("'{}' is no JSON file: {reason}; give the .json that slotwork rank wrote", path.display())]
    NotJson {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// It is JSON, but not of `slotwork rank`.
    #[error("'{}' is no result of slotwork rank: {reason}", path.display())]
    NotARecord {
        /// The file.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// It is of another version.
    #[error(
        "'{}' has schema {found}, and this slotwork reads 1 to {SCHEMA}: {}",
        path.display(),
        if *found > u64::from(SCHEMA) { "use the slotwork that wrote it, or a newer one" } else { "measure again" }
    )]
    Schema {
        /// The file.
        path: PathBuf,
        /// What it says.
        found: u64,
    },
    /// A figure in it cannot have been measured.
    #[error("'{}': {what} of {design} at {cell} is {figure}, which nobody measured", path.display())]
    Figure {
        /// The file.
        path: PathBuf,
        /// Which figure.
        what: &'static str,
        /// Whose.
        design: String,
        /// Where.
        cell: String,
        /// What it says.
        figure: f64,
    },
    /// A contender is missing from a cell.
    #[error("'{}': {design} is missing at {cell}: a design in one cell stands in every cell", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// Who.
        design: String,
        /// Where.
        cell: String,
    },
}

/// The record in a file. Files of schema 1 are read as what they would be today.
///
/// # Errors
/// [`ReadError`]: each in one line.
pub fn read(path: &Path) -> Result<Record, ReadError> {
    let text = std::fs::read_to_string(path).map_err(|source| ReadError::File { path: path.into(), source })?;
    parse(&text, path)
}

/// The record in a text; `path` is what it is called by.
///
/// # Errors
/// [`ReadError`]: each in one line.
pub fn parse(text: &str, path: &Path) -> Result<Record, ReadError> {
    let mut value: Value = serde_json::from_str(text).map_err(|error| {
        if error.is_eof() {
            ReadError::Truncated { path: path.into(), line: error.line() }
        } else {
            ReadError::NotJson { path: path.into(), reason: error.to_string() }
        }
    })?;
    let not_a_record = |reason: String| ReadError::NotARecord { path: path.into(), reason };
    match value.get("schema").and_then(Value::as_u64) {
        None => return Err(not_a_record("it names no schema".into())),
        Some(_) if value.get("rankings").is_none() => {
            return Err(not_a_record("it has no rankings; other commands' results have other tables".into()));
        }
        Some(1) => upgrade(&mut value),
        Some(found) if found == u64::from(SCHEMA) => {}
        Some(found) => return Err(ReadError::Schema { path: path.into(), found }),
    }
    let record: Record = serde_json::from_value(value).map_err(|error| not_a_record(error.to_string()))?;
    check(&record, path)?;
    Ok(record)
}

/// From schema 1: the work stood in the settings, and what was not measured then is absent. The rankings stay as they
/// were; their cells get the names they have now.
fn upgrade(value: &mut Value) {
    let work = value["settings"]["handler_nanoseconds"].as_u64().unwrap_or(0);
    let cores = value["machine"]["cores"].as_u64().unwrap_or(1);
    let mut names = Vec::new();
    for cell in value["cells"].as_array_mut().into_iter().flatten().filter(|cell| cell.is_object()) {
        let count = |key: &str| cell[key].as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
        let (clients, workers, slots) = (count("clients"), count("workers"), count("slots_per_lane"));
        let cores = usize::try_from(cores).unwrap_or(usize::MAX);
        let suffix = if work == 0 { String::new() } else { format!(" {work}ns") };
        let old = format!("{clients}×{workers}/{slots}");
        names.push((old.clone(), format!("{old} {}{suffix}", cell["waiting"].as_str().unwrap_or("?"))));
        cell["categories"] = json!(Category::of(clients, workers, slots, cores));
        cell["handler_nanoseconds"] = json!(work);
    }
    for ranking in value["rankings"].as_array_mut().into_iter().flatten() {
        for cell in ranking.get_mut("cells").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Some((_, new)) = names.iter().find(|(old, _)| cell == old) {
                *cell = json!(new);
            }
        }
    }
    value["schema"] = json!(SCHEMA);
}

/// JSON has no NaN (it is written as null, which is no number), but it has figures that are none.
fn check(record: &Record, path: &Path) -> Result<(), ReadError> {
    let names: Vec<&str> = record.cells.iter().flat_map(|cell| &cell.rows).map(|row| row.design.as_str()).collect();
    for cell in &record.cells {
        if let Some(&design) = names.iter().find(|name| !cell.rows.iter().any(|row| row.design == **name)) {
            return Err(ReadError::Missing { path: path.into(), design: design.into(), cell: cell.name() });
        }
        for row in &cell.rows {
            for sample in &row.samples {
                for (what, figure) in [("throughput", sample.throughput), ("length", sample.seconds)] {
                    if !figure.is_finite() || figure < 0.0 {
                        let (design, cell) = (row.design.clone(), cell.name());
                        return Err(ReadError::Figure { path: path.into(), what, design, cell, figure });
                    }
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = include_str!("../../../notes/results/2026-11-30-rank-2-cores.json");

    fn parsed(text: &str) -> Result<Record, ReadError> {
        parse(text, Path::new("run.json"))
    }

    #[track_caller]
    fn refused(text: &str, words: &str) {
        let line = parsed(text).unwrap_err().to_string();
        assert!(line.contains("run.json") && line.contains(words) && line.lines().count() == 1, "{line}");
    }

    fn changed(change: impl FnOnce(&mut Value)) -> String {
        let mut value: Value = serde_json::from_str(OLD).unwrap();
        change(&mut value);
        value.to_string()
    }

    #[test]
    fn a_file_of_schema_1_still_loads() {
        let record = parsed(OLD).unwrap();
        assert_eq!(record.schema, SCHEMA);
        assert!(!record.simulated && record.floors.is_empty());
        assert!(record.cells.iter().all(|cell| !cell.categories.is_empty()));
        let names: Vec<String> = record.cells.iter().map(super::super::CellRecord::name).collect();
        assert!(record.rankings.iter().flat_map(|ranking| &ranking.cells).all(|cell| names.contains(cell)));
        // And is written and read as what it is now.
        let again = parsed(&serde_json::to_string(&record).unwrap()).unwrap();
        assert_eq!(again.cells.len(), record.cells.len());
    }

    #[test]
    fn what_is_no_record_is_refused_in_one_line_that_says_what_to_do() {
        refused(&OLD[..OLD.len() / 2], "truncated");
        refused("", "truncated");
        refused("design,clients\n", "no JSON");
        refused("{}", "no schema");
        refused(&changed(|value| value["schema"] = json!(99)), "newer one");
        refused(&changed(|value| value["schema"] = json!(0)), "measure again");
        refused(&changed(|value| drop(value.as_object_mut().unwrap().remove("rankings"))), "no rankings");
        refused(&changed(|value| value["cells"][0]["rows"][0]["samples"][0]["throughput"] = json!(null)), "null");
        refused(&changed(|value| value["cells"][0]["rows"][0]["samples"][0]["throughput"] = json!(-1.0)), "-1");
        refused(&OLD.replacen("\"throughput\": ", "\"throughput\": NaN, \"x\": ", 1), "no JSON");
        refused(&changed(|value| drop(value["cells"][1]["rows"].as_array_mut().unwrap().remove(0))), "is missing");
    }
}
