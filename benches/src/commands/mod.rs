//! The commands of the seeds' benchmarks: their options, and what they have in common.

pub(crate) mod allocator;
pub(crate) mod calibrate;
pub(crate) mod compare;
pub(crate) mod floors;
pub(crate) mod gate;
pub(crate) mod ladder;
pub(crate) mod locks;
pub(crate) mod manual;
pub(crate) mod migrate;
pub(crate) mod pick;
pub(crate) mod proofs;
pub(crate) mod report;
pub(crate) mod simulate;
pub(crate) mod workqueue_bench;

use crate::cli::complain;
use crate::run::{print, refuse};
use crate::{FAILED, INTERRUPTED, interrupt};
use anyhow::Result;
use jiff::Timestamp;
use serde::Serialize;
use slotwork_bench::machine::Machine;
use slotwork_bench::placement::Placement;
use slotwork_bench::report::Destination;
use slotwork_bench::seeds::results::{Results, SCHEMA};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// A benchmark that has begun: where its results will go, and what may break it off.
struct Session {
    benchmark: &'static str,
    started: Timestamp,
    start: Instant,
    destination: Destination,
    machine: Machine,
    interrupted: &'static AtomicBool,
    /// Whether the results are printed as JSON, and nothing else is.
    json: bool,
}

/// What a benchmark comes to.
struct Outcome<'a, S, R> {
    settings: &'a S,
    rows: &'a [R],
    /// What is printed.
    text: String,
    failures: &'a [String],
    interrupted: bool,
}

impl Session {
    /// Begins: what cannot be written later is refused now.
    fn begin(benchmark: &'static str, folder: &Path, json: bool) -> Result<Self> {
        let started = Timestamp::now();
        let interrupted = interrupt::watch();
        let destination = Destination::prepare(folder, benchmark, started).map_err(refuse)?;
        let machine = Machine::inspect(&Placement::free());
        Ok(Self { benchmark, started, start: Instant::now(), destination, machine, interrupted, json })
    }

    /// Prints, writes, and says the exit code.
    fn finish<S: Serialize, R: Serialize>(self, outcome: &Outcome<'_, S, R>) -> Result<u8> {
        let warning = if self.machine.is_optimised() { "" } else { "NOT OPTIMISED: build with --release\n" };
        let broken_off = if outcome.interrupted { "INTERRUPTED: this is what was measured so far\n" } else { "" };
        if !self.json {
            print(&format!("{}\n{warning}{broken_off}{}", self.machine, outcome.text))?;
        }
        let results = Results {
            schema: SCHEMA,
            benchmark: self.benchmark,
            started: self.started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            seconds: self.start.elapsed().as_secs_f64(),
            interrupted: outcome.interrupted,
            command_line: std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect(),
            machine: &self.machine,
            settings: outcome.settings,
            failures: outcome.failures,
            rows: outcome.rows,
        };
        if self.json {
            print(&format!("{}\n", serde_json::to_string_pretty(&results)?))?;
        }
        let [json, csv] = results.write(self.destination)?;
        if outcome.interrupted {
            complain("interrupted; what was measured so far is kept");
        }
        for failure in outcome.failures {
            complain(failure);
        }
        let kept = format!("results: {} and {}", json.display(), csv.display());
        if self.json {
            complain(&kept);
        } else {
            print(&format!("{kept}\n"))?;
        }
        Ok(match (outcome.interrupted, outcome.failures.is_empty()) {
            (_, false) => FAILED,
            (true, true) => INTERRUPTED,
            (false, true) => 0,
        })
    }
}

/// Most seconds that can be asked for: a day.
const MOST_SECONDS: f64 = 86_400.0;

/// A time in seconds, for the command line: above zero, at most a day.
fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.001..=MOST_SECONDS).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!("seconds, from 0.001 to {MOST_SECONDS}")),
    }
}

/// A count from 1 to `MOST`, for the command line.
fn count<const MOST: usize>(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if (1..=MOST).contains(&count) => Ok(count),
        _ => Err(format!("a number from 1 to {MOST}")),
    }
}

/// Each once, in the order of the first time.
fn unique<T: PartialEq>(mut values: Vec<T>) -> Vec<T> {
    let mut at = 0;
    while at < values.len() {
        if values[..at].contains(&values[at]) {
            values.remove(at);
        } else {
            at += 1;
        }
    }
    values
}
