//! `slotwork allocator`.

use super::{Outcome, Session, count, seconds, unique};
use crate::progress;
use crate::run::{print, refuse};
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use slotwork::Shape;
use slotwork_bench::grid::MAX_THREADS;
use slotwork_bench::seeds::Watch;
use slotwork_bench::seeds::allocator::{Load, SWEEP_TASKS, SWEEP_THREADS, Sweep, Variant, row, sweep_table};
use slotwork_bench::seeds::configuration::Policy;
use std::path::PathBuf;
use std::time::Duration;

/// Options of `slotwork allocator`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Clients try to get a request and submit it, and do not wait when none is free: that is a failed request, and, unlike in the \
original, no iteration, for else a slower queue would look faster. CLIENT_ITERATIONS so equals SUCCESSFUL_REQUESTS. \
A duration is the mean over threads of how long a thread ran. A run in which successful requests, handlers and dones \
differ, or payloads made and dropped, is bad: the exit code is 1.\n\n\
Examples:\n  slotwork allocator 4 4 1 8 --design freelist-bitmap\n  \
slotwork allocator --sweep --seconds 0.2 --runs 3")]
pub(crate) struct AllocatorArguments {
    /// Client threads.
    #[arg(value_name = "CLIENTS", value_parser = count::<MAX_THREADS>, required_unless_present = "sweep")]
    clients: Option<usize>,
    /// Server threads.
    #[arg(value_name = "SERVERS", value_parser = count::<MAX_THREADS>, required_unless_present = "sweep")]
    servers: Option<usize>,
    /// How long it runs; may be a fraction.
    #[arg(value_name = "SECONDS", value_parser = seconds, required_unless_present = "sweep")]
    duration: Option<Duration>,
    /// Requests per server.
    #[arg(value_name = "TASKS", value_parser = count::<{ Shape::MAX_SLOTS }>, required_unless_present = "sweep")]
    tasks: Option<usize>,
    /// A design; may be repeated in a sweep [default: freelist-bitmap; with a sweep: all].
    #[arg(long = "design", value_name = "DESIGN", value_delimiter = ',')]
    designs: Vec<String>,
    /// How servers wait.
    #[arg(long, value_name = "POLICY", value_enum, default_value_t = Policy::Settle)]
    waiting: Policy,
    /// Measure all designs over the threads and tasks of the original script.
    #[arg(long, conflicts_with = "clients")]
    sweep: bool,
    /// Length of each run of a sweep.
    #[arg(long, value_name = "S", default_value = "1", value_parser = seconds, requires = "sweep")]
    seconds: Duration,
    /// How often a sweep repeats all.
    #[arg(long, value_name = "N", default_value = "3", value_parser = count::<1000>, requires = "sweep")]
    runs: usize,
    /// Clients, and as many servers, of a sweep [default: 1,4,8,16,32].
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', value_parser = count::<MAX_THREADS>, requires = "sweep")]
    sweep_threads: Vec<usize>,
    /// Requests per server of a sweep [default: 1,4,8,16].
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', value_parser = count::<4096>, requires = "sweep")]
    sweep_tasks: Vec<usize>,
    /// Print the results as JSON.
    #[arg(long)]
    json: bool,
    /// The folder for the JSON and CSV files.
    #[arg(long, value_name = "DIR", default_value = "results")]
    output: PathBuf,
}

pub(crate) fn run(arguments: &AllocatorArguments) -> Result<u8> {
    match (arguments.clients, arguments.servers, arguments.duration, arguments.tasks) {
        (Some(clients), Some(servers), Some(duration), Some(tasks)) => {
            single(arguments, Load { clients, servers, duration, tasks, waiting: arguments.waiting })
        }
        _ => sweep(arguments),
    }
}

#[derive(Serialize)]
struct SingleSettings {
    design: &'static str,
    waiting: Policy,
    seconds: f64,
}

fn single(arguments: &AllocatorArguments, load: Load) -> Result<u8> {
    let name = match &arguments.designs[..] {
        [] => "freelist-bitmap",
        [name] => name,
        _ => return Err(refuse("several designs need --sweep")),
    };
    let variant = Variant::named(name).map_err(refuse)?;
    if let Some(refusal) = variant.refusal(load) {
        return Err(refuse(format!("{name} cannot serve {} clients like this: {refusal}", load.clients)));
    }
    let session = Session::begin("allocator", &arguments.output, arguments.json)?;
    let bar = progress::running(load.duration);
    let mut watch = Watch { interrupted: session.interrupted, progress: &mut |_| {} };
    let outcome = variant.run(load, &mut watch);
    bar.finish_and_clear();
    let (mut rows, mut failures, mut text, mut interrupted) = (Vec::new(), Vec::new(), String::new(), false);
    match outcome {
        Ok(Some(counts)) => {
            text = counts.lines();
            let verdict = counts.verify();
            let status = verdict.as_ref().map_or_else(ToString::to_string, |()| "ok".into());
            rows.push(row(1, &variant, load, status, Some(&counts)));
            failures.extend(verdict.err().map(|bad| bad.to_string()));
        }
        Ok(None) => interrupted = true,
        Err(error) => failures.push(error.to_string()),
    }
    let settings =
        SingleSettings { design: variant.design, waiting: load.waiting, seconds: load.duration.as_secs_f64() };
    session.finish(&Outcome { settings: &settings, rows: &rows, text, failures: &failures, interrupted })
}

#[derive(Serialize)]
struct SweepSettings {
    designs: Vec<&'static str>,
    threads: Vec<usize>,
    tasks: Vec<usize>,
    runs: usize,
    seconds: f64,
    waiting: Policy,
}

fn sweep(arguments: &AllocatorArguments) -> Result<u8> {
    let variants = if arguments.designs.is_empty() {
        Variant::all()
    } else {
        unique(arguments.designs.clone())
            .iter()
            .map(|name| Variant::named(name).map_err(refuse))
            .collect::<Result<_>>()?
    };
    let given = |given: &[usize], default: &[usize]| unique(if given.is_empty() { default } else { given }.to_vec());
    let sweep = Sweep {
        variants,
        threads: given(&arguments.sweep_threads, &SWEEP_THREADS),
        tasks: given(&arguments.sweep_tasks, &SWEEP_TASKS),
        runs: arguments.runs,
        duration: arguments.seconds,
        waiting: arguments.waiting,
    };
    let session = Session::begin("allocator-sweep", &arguments.output, arguments.json)?;
    let bar = progress::count(Some(sweep.count()));
    let measured = sweep.measure(&mut Watch { interrupted: session.interrupted, progress: &mut |runs| bar.inc(runs) });
    bar.finish_and_clear();

    if !arguments.json {
        let mut writer = csv::Writer::from_writer(Vec::new());
        measured.rows.iter().try_for_each(|row| writer.serialize(row))?;
        print(&String::from_utf8(writer.into_inner()?)?)?;
    }
    let settings = SweepSettings {
        designs: sweep.variants.iter().map(|variant| variant.design).collect(),
        threads: sweep.threads.clone(),
        tasks: sweep.tasks.clone(),
        runs: sweep.runs,
        seconds: sweep.duration.as_secs_f64(),
        waiting: sweep.waiting,
    };
    session.finish(&Outcome {
        settings: &settings,
        rows: &measured.rows,
        text: sweep_table(&sweep, &measured.rows),
        failures: &measured.failures,
        interrupted: measured.interrupted,
    })
}
