//! The files of a run: one JSON with everything, one CSV with a line per sample.

use crate::record::{CellRecord, Kind, Metrics, Record, Row, Sample};
use jiff::Timestamp;
use serde::Serialize;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why the results cannot be kept.
#[derive(Debug, Error)]
#[error("cannot write results to '{}': {source}", folder.display())]
pub struct OutputError {
    folder: PathBuf,
    source: io::Error,
}

/// The two files of a run, opened before anything is measured.
#[derive(Debug)]
pub struct Destination {
    folder: PathBuf,
    json: (PathBuf, File),
    csv: (PathBuf, File),
    kept: bool,
}

impl Destination {
    /// Creates the folder and both files in it, named by what runs and the time. What cannot be written is
    /// found out here, before minutes of measuring.
    ///
    /// # Errors
    /// [`OutputError`].
    pub fn prepare(folder: &Path, name: &str, started: Timestamp) -> Result<Self, OutputError> {
        let error = |source| OutputError { folder: folder.into(), source };
        fs::create_dir_all(folder).map_err(error)?;
        let stamp = started.strftime("%Y-%m-%dT%H-%M-%SZ");
        // Two runs may begin in the same second: the second one gets a number.
        for number in 1.. {
            let suffix = if number == 1 { String::new() } else { format!("-{number}") };
            let path = |extension: &str| folder.join(format!("{name}-{stamp}{suffix}.{extension}"));
            let create = |path: &Path| OpenOptions::new().write(true).create_new(true).open(path);
            let (json, csv) = (path("json"), path("csv"));
            match create(&json) {
                Ok(json_file) => {
                    let csv_file = create(&csv).inspect_err(|_| drop(fs::remove_file(&json))).map_err(error)?;
                    return Ok(Self {
                        folder: folder.into(),
                        json: (json, json_file),
                        csv: (csv, csv_file),
                        kept: false,
                    });
                }
                Err(taken) if taken.kind() == io::ErrorKind::AlreadyExists => {}
                Err(other) => return Err(error(other)),
            }
        }
        unreachable!("the numbers do not run out")
    }

    /// Writes both files; returns their paths, JSON first.
    ///
    /// # Errors
    /// [`OutputError`], with neither file left behind.
    pub fn write(self, record: &Record) -> Result<[PathBuf; 2], OutputError> {
        self.fill(record, |file| write_csv(file, record))
    }

    /// Writes `record` as JSON and `rows` as CSV; returns their paths, JSON first.
    ///
    /// # Errors
    /// [`OutputError`], with neither file left behind.
    pub fn write_rows(self, record: &impl Serialize, rows: &[impl Serialize]) -> Result<[PathBuf; 2], OutputError> {
        self.fill(record, |file| {
            let mut writer = csv::Writer::from_writer(file);
            rows.iter().try_for_each(|row| writer.serialize(row))?;
            writer.flush()
        })
    }

    fn fill(
        mut self,
        record: &impl Serialize,
        csv: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<[PathBuf; 2], OutputError> {
        let wrote = write_json(&mut self.json.1, record).and_then(|()| csv(&mut self.csv.1));
        wrote.map_err(|source| OutputError { folder: self.folder.clone(), source })?;
        self.kept = true;
        Ok([self.json.0.clone(), self.csv.0.clone()])
    }
}

impl Drop for Destination {
    /// Files that were never filled do not stay.
    fn drop(&mut self) {
        if !self.kept {
            let _ = fs::remove_file(&self.json.0);
            let _ = fs::remove_file(&self.csv.0);
        }
    }
}

fn write_json(file: &mut File, record: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_string_pretty(record)?;
    text.push('\n');
    file.write_all(text.as_bytes())?;
    file.flush()
}

/// The names of the fields of [`Line`].
const COLUMNS: [&str; 20] = [
    "design",
    "kind",
    "clients",
    "workers",
    "slots_per_lane",
    "waiting",
    "handler_ns",
    "status",
    "round",
    "throughput_per_second",
    "round_trips",
    "seconds",
    "acquired",
    "failed_acquires",
    "overlap",
    "processor_share",
    "attempts",
    "trip_before_ns",
    "trip_after_ns",
    "doubts",
];

/// One line of the CSV.
#[derive(Serialize)]
struct Line<'a> {
    design: &'a str,
    kind: Kind,
    clients: usize,
    workers: usize,
    slots_per_lane: usize,
    waiting: String,
    handler_ns: u64,
    status: String,
    round: Option<usize>,
    throughput_per_second: Option<f64>,
    round_trips: Option<u64>,
    seconds: Option<f64>,
    acquired: Option<u64>,
    failed_acquires: Option<u64>,
    overlap: Option<f64>,
    processor_share: Option<f64>,
    attempts: Option<usize>,
    trip_before_ns: Option<f64>,
    trip_after_ns: Option<f64>,
    doubts: String,
}

/// The columns of [`Line`], then one of each metric.
fn write_csv(file: &mut File, record: &Record) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(file);
    writer.write_record(COLUMNS.iter().chain(Metrics::NAMES))?;
    for cell in &record.cells {
        for row in &cell.rows {
            for sample in &row.samples {
                writer.serialize((line(cell, row, Some(sample)), figures(&sample.metrics)))?;
            }
            if row.samples.is_empty() {
                writer.serialize((line(cell, row, None), figures(&Metrics::default())))?;
            }
        }
    }
    writer.flush()
}

fn figures(metrics: &Metrics) -> Vec<Option<f64>> {
    metrics.all().into_iter().map(|(_, figure)| figure).collect()
}

fn line<'a>(cell: &CellRecord, row: &'a Row, sample: Option<&Sample>) -> Line<'a> {
    let status = match (&row.not_applicable, &row.failure, sample) {
        (Some(reason), _, _) => format!("n/a ({reason})"),
        (_, Some(failure), _) => format!("failed ({failure})"),
        (_, _, Some(_)) => "measured".into(),
        _ => "not measured".into(),
    };
    let doubts: Vec<&str> = sample.iter().flat_map(|sample| &sample.doubts).map(|doubt| doubt.word()).collect();
    Line {
        design: &row.design,
        kind: row.kind,
        clients: cell.clients,
        workers: cell.workers,
        slots_per_lane: cell.slots_per_lane,
        waiting: cell.waiting.to_string(),
        handler_ns: cell.handler_nanoseconds,
        status,
        round: sample.map(|sample| sample.round),
        throughput_per_second: sample.map(|sample| sample.throughput),
        round_trips: sample.map(|sample| sample.round_trips),
        seconds: sample.map(|sample| sample.seconds),
        acquired: sample.map(|sample| sample.acquired),
        failed_acquires: sample.map(|sample| sample.failed_acquires),
        overlap: sample.map(|sample| sample.overlap),
        processor_share: sample.and_then(|sample| sample.processor_share),
        attempts: sample.map(|sample| sample.attempts),
        trip_before_ns: sample.and_then(|sample| sample.trip_before_nanoseconds),
        trip_after_ns: sample.and_then(|sample| sample.trip_after_nanoseconds),
        doubts: doubts.join("; "),
    }
}
