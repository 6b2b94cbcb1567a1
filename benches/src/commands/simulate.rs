//! `slotwork simulate`.

mod pages;

pub(crate) use self::pages::simulated_ladder;

use super::{count, unique};
use crate::cli::{Wait, complain};
use crate::run::{print, refuse};
use crate::{FAILED, INTERRUPTED, interrupt, progress};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use jiff::Timestamp;
use serde::Serialize;
use slotwork::Shape;
use slotwork_bench::grid::{MAX_THREADS, STANDARD_SLOTS, STANDARD_THREADS};
use slotwork_bench::record::{self, CellRecord};
use slotwork_bench::report::{Destination, rank_report};
use slotwork_bench::simulate::contender::{SimulatedDesign, catalog, named};
use slotwork_bench::simulate::explain::explained;
use slotwork_bench::simulate::plan::Plan;
use slotwork_bench::simulate::round_trip::{Cell, Conditions};
use slotwork_bench::simulate::{sensitivity, validity};
use slotwork_bench::waiting::Waiting;
use slotwork_coherence::{Options, Profile, Report, Trace};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Workload {
    /// Clients send slots round as fast as it goes, as rank measures.
    RoundTrip,
    /// The page compression of 2018, as workqueue-bench measures; the work is in the profile.
    Page,
}

/// Options of `slotwork simulate`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Machines: 2018-two-socket-server, 64-core-server, 256-core-server, laptop-two-kinds, or a path to a profile, as slotwork \
calibrate writes one. Same machine, options and seed: the same files, to the byte.\n\n\
Examples:\n  slotwork simulate --machine 256-core-server --threads 1,4,16,64,256\n  \
slotwork simulate --machine 2018-two-socket-server --workload page --explain\n  \
slotwork simulate --machine this-machine.toml --against results/rank-….json")]
pub(crate) struct SimulateArguments {
    /// The machine.
    #[arg(long, value_name = "MACHINE")]
    machine: String,
    /// What runs on it.
    #[arg(long, value_name = "WORKLOAD", value_enum, default_value_t = Workload::RoundTrip)]
    workload: Workload,
    /// A design; may be repeated [default: all; of pages also v2-faithful and v3-faithful].
    #[arg(long = "design", value_name = "DESIGN", value_delimiter = ',')]
    designs: Vec<String>,
    /// Worker threads [default: the standard grid of rank; of pages those that were published].
    #[arg(short = 't', long, value_name = "N,N,…", value_delimiter = ',', value_parser = count::<MAX_THREADS>)]
    threads: Vec<usize>,
    /// Client threads of round trips.
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', value_parser = count::<MAX_THREADS>)]
    clients: Vec<usize>,
    /// Slots per worker [default: 4; the standard grid has 4 and 64].
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', value_parser = count::<{ 1 << 20 }>)]
    slots: Vec<usize>,
    /// Work per request of round trips, in nanoseconds.
    #[arg(long, value_name = "K", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    handler_ns: u64,
    /// How threads of round trips wait; auto: spin where each has a core, else yield.
    #[arg(long, value_name = "POLICY", value_enum, default_value_t = Wait::Auto)]
    wait: Wait,
    /// Runs of each, each with another seed; pages run once.
    #[arg(long, value_name = "N", default_value = "3", value_parser = count::<1000>)]
    rounds: usize,
    /// Requests of a run [default: what suits the cell; 4000 pages].
    #[arg(long, value_name = "N", value_parser = count::<100_000_000>)]
    requests: Option<usize>,
    /// Seed of everything that is drawn by lot.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Say where the time went: by cause, and at which lines.
    #[arg(long)]
    explain: bool,
    /// Write what happened in the first run to this file, for Perfetto or Chrome's trace viewer.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Vary each cost by half, and say which orders of designs depend on it.
    #[arg(long)]
    sensitivity: bool,
    /// Simulate what this file of slotwork rank measured, and compare.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["threads", "clients", "slots", "designs", "workload"])]
    against: Option<PathBuf>,
    /// Print the results as JSON.
    #[arg(long)]
    json: bool,
    /// The folder for the JSON and CSV files.
    #[arg(long, value_name = "DIR", default_value = "results")]
    output: PathBuf,
}

/// Most pieces of a trace: a file of some ten megabytes.
const TRACE_PIECES: usize = 100_000;

pub(crate) fn run(arguments: &SimulateArguments) -> Result<u8> {
    let profile = Profile::named(&arguments.machine).map_err(refuse)?;
    match (&arguments.against, arguments.workload) {
        (Some(file), _) => against(arguments, &profile, file),
        (None, Workload::RoundTrip) => round_trips(arguments, &profile),
        (None, Workload::Page) => pages::pages(arguments, &profile),
    }
}

/// The command line without where results go: two runs that differ in that alone have equal files.
pub(crate) fn command_line() -> Vec<String> {
    let mut kept = Vec::new();
    let mut arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).skip(1);
    kept.push("slotwork".to_string());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--output" | "--trace" => _ = arguments.next(),
            other if other.starts_with("--output=") || other.starts_with("--trace=") => {}
            _ => kept.push(argument),
        }
    }
    kept
}

fn designs(arguments: &SimulateArguments) -> Result<Vec<SimulatedDesign>> {
    if arguments.designs.is_empty() {
        return Ok(catalog());
    }
    unique(arguments.designs.clone()).iter().map(|name| named(name).map_err(refuse)).collect()
}

fn cells(arguments: &SimulateArguments, profile: &Profile) -> Result<Vec<Cell>> {
    let or = |given: &[usize], otherwise: &[usize]| {
        unique(if given.is_empty() { otherwise.to_vec() } else { given.to_vec() })
    };
    let standard = arguments.threads.is_empty() && arguments.clients.is_empty();
    let threads: Vec<(usize, usize)> = if standard {
        STANDARD_THREADS.to_vec()
    } else {
        let workers = or(&arguments.threads, &[1]);
        or(&arguments.clients, &[1]).iter().flat_map(|&c| workers.iter().map(move |&w| (c, w))).collect()
    };
    let slots = or(&arguments.slots, if standard { &STANDARD_SLOTS } else { &[4] });
    let all = threads.into_iter().flat_map(|pair| slots.iter().map(move |&slots| (pair, slots)));
    all.map(|((clients, workers), slots)| {
        let shape = Shape::new(workers, slots).map_err(refuse)?;
        if shape.slots() > 1 << 16 {
            return Err(refuse(format!("{} slots are more than are simulated: at most {}", shape.slots(), 1 << 16)));
        }
        let suited = Waiting::suited_to(clients + workers, profile.core_count());
        Ok(Cell { clients, shape, waiting: arguments.wait.policy().unwrap_or(suited) })
    })
    .collect()
}

fn round_trips(arguments: &SimulateArguments, profile: &Profile) -> Result<u8> {
    let plan = Plan {
        profile: profile.clone(),
        cells: cells(arguments, profile)?,
        designs: designs(arguments)?,
        rounds: arguments.rounds,
        requests: arguments.requests.map(|requests| requests as u64),
        handler_nanoseconds: arguments.handler_ns,
        seed: arguments.seed,
    };
    if !plan.cells.iter().any(|cell| plan.designs.iter().any(|design| cell.refusal(&design.claims).is_none())) {
        return Err(refuse("no chosen design can do any of the cells"));
    }
    let interrupted = interrupt::watch();
    let destination = Destination::prepare(&arguments.output, "simulate", Timestamp::now()).map_err(refuse)?;
    let bar = progress::count(Some(plan.runs()));
    let simulated = plan.simulate(arguments.explain, interrupted, &mut |runs| bar.inc(runs));
    bar.finish_and_clear();
    let record = plan.record(&simulated, command_line());
    let mut text = rank_report(&record);
    for explanation in &simulated.explained {
        let cell = explanation.cell;
        let title = format!(
            "{} at {}×{}/{}",
            explanation.design,
            cell.clients,
            cell.shape.lanes(),
            cell.shape.slots_per_lane()
        );
        let outcome = &explanation.outcome;
        let _ = write!(text, "\n{}", explained(&title, &outcome.report, outcome.totals.handled));
    }
    if arguments.sensitivity && !simulated.interrupted {
        let short = Plan { rounds: 1, ..plan.clone() };
        let bar = progress::count(None);
        let found = sensitivity::sensitivity(&short, interrupted, &mut |runs| bar.inc(runs));
        bar.finish_and_clear();
        let _ = write!(text, "\n{}", sensitivity::told(&found));
    }
    if let Some(file) = &arguments.trace {
        let first = plan.cells.iter().find_map(|cell| {
            let design = plan.designs.iter().find(|design| cell.refusal(&design.claims).is_none())?;
            Some((*cell, *design))
        });
        let (cell, design) = first.context("no run to trace")?;
        let options = Options { seed: plan.seed, trace: Some(TRACE_PIECES), ..Options::default() };
        let conditions = Conditions {
            profile,
            requests: plan.requests.unwrap_or(500),
            handler_nanoseconds: plan.handler_nanoseconds as f64,
            handler_spread: 0.1,
            options,
        };
        let outcome = (design.round_trips)(cell, conditions).map_err(refuse)?;
        let _ = writeln!(text, "{}", write_trace(file, design.name, &outcome.report)?);
    }
    let failures: Vec<String> = record.cells.iter().flat_map(failures).collect();
    finish(
        arguments,
        &record,
        &text,
        &failures,
        record.interrupted,
        |destination| destination.write(&record),
        destination,
    )
}

fn failures(cell: &CellRecord) -> Vec<String> {
    let line = |row: &record::Row| {
        row.failure.as_ref().map(|failure| format!("{} failed at {}: {failure}", row.design, cell.name()))
    };
    cell.rows.iter().filter_map(line).collect()
}

fn write_trace(file: &Path, design: &str, report: &Report) -> Result<String> {
    let threads: Vec<&str> = report.threads.iter().map(|thread| thread.name.as_str()).collect();
    let trace: &Trace = report.trace.as_ref().context("a trace was asked for")?;
    let text = trace.to_json(&threads)?;
    std::fs::write(file, text).map_err(|error| refuse(format!("cannot write '{}': {error}", file.display())))?;
    let left_out = match trace.left_out {
        0 => String::new(),
        many => format!("; {many} later pieces are left out"),
    };
    Ok(format!("trace of {design}, simulated: {}{left_out}", file.display()))
}

fn against(arguments: &SimulateArguments, profile: &Profile, file: &Path) -> Result<u8> {
    let measured = record::read(file).map_err(refuse)?;
    if measured.simulated {
        return Err(refuse(format!("'{}' was simulated too", file.display())));
    }
    let plan = validity::plan_of(&measured, profile, arguments.rounds, arguments.seed);
    let interrupted = interrupt::watch();
    let bar = progress::count(Some(plan.runs()));
    let found = validity::compare(&measured, &plan, interrupted, &mut |runs| bar.inc(runs));
    bar.finish_and_clear();
    if arguments.json {
        let beside = serde_json::json!({
            "simulated": true,
            "machine": profile.name,
            "measured": file.display().to_string(),
            "comparison": found,
        });
        print(&format!("{}\n", serde_json::to_string_pretty(&beside)?))?;
    } else {
        print(&format!("SIMULATED on {}: {}\n{}", profile.name, profile.description, validity::told(&found)))?;
    }
    Ok(if interrupted.load(std::sync::atomic::Ordering::Relaxed) { INTERRUPTED } else { 0 })
}

fn finish(
    arguments: &SimulateArguments,
    results: &impl Serialize,
    text: &str,
    failures: &[String],
    interrupted: bool,
    write: impl FnOnce(Destination) -> Result<[PathBuf; 2], slotwork_bench::report::OutputError>,
    destination: Destination,
) -> Result<u8> {
    if arguments.json {
        print(&format!("{}\n", serde_json::to_string_pretty(results)?))?;
    } else {
        print(text)?;
    }
    let [json, csv] = write(destination)?;
    if interrupted {
        complain("interrupted; what was simulated so far is kept");
    }
    failures.iter().for_each(|failure| complain(failure));
    let kept = format!("results: {} and {}", json.display(), csv.display());
    if arguments.json {
        complain(&kept);
    } else {
        print(&format!("{kept}\n"))?;
    }
    Ok(match (interrupted, failures.is_empty()) {
        (_, false) => FAILED,
        (true, true) => INTERRUPTED,
        (false, true) => 0,
    })
}
