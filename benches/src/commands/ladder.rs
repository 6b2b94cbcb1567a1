//! `slotwork ladder`.

use super::{Outcome, Session, count, seconds, unique};
use crate::progress;
use crate::run::refuse;
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use slotwork::Shape;
use slotwork_bench::grid::MAX_THREADS;
use slotwork_bench::seeds::Watch;
use slotwork_bench::seeds::codec::Codec;
use slotwork_bench::seeds::job::{Job, StateOf};
use slotwork_bench::seeds::ladder::{Plan, Work, beyond, ladder_tables, steps};
use slotwork_bench::seeds::memory::Memory;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Options of `slotwork ladder`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
One submitter sends requests round for the length of a run, then drains; requests handled must equal requests \
submitted, else the exit code is 1. Steps wait as in 2018 (1000 looks, then sleep; the submitter spins) unless their name \
ends in settle. The other designs follow in the best known manner, unless --steps-only.\n\n\
Example:\n  slotwork ladder --threads 1,2,64 --work empty --seconds 0.5")]
pub(crate) struct LadderArguments {
    /// Worker threads of each column.
    #[arg(short = 't', long, value_name = "N,N,…", value_delimiter = ',', default_value = "1,2,8,64", value_parser = count::<MAX_THREADS>)]
    threads: Vec<usize>,
    /// Requests per worker thread.
    #[arg(short = 'r', long, value_name = "N", default_value = "4", value_parser = count::<{ Shape::MAX_SLOTS }>)]
    requests: usize,
    /// What the workers do.
    #[arg(long, value_name = "WORK", value_enum, value_delimiter = ',', default_value = "empty,page")]
    work: Vec<Work>,
    /// How often all is repeated.
    #[arg(long, value_name = "N", default_value = "3", value_parser = count::<1000>)]
    rounds: usize,
    /// Length of a run.
    #[arg(long, value_name = "S", default_value = "0.3", value_parser = seconds)]
    seconds: Duration,
    /// Simulate it on this machine instead: see slotwork simulate.
    #[arg(long, value_name = "MACHINE", conflicts_with_all = ["rounds", "seconds"])]
    machine: Option<String>,
    /// Leave out what is beyond the ladder.
    #[arg(long)]
    steps_only: bool,
    /// Print the results as JSON.
    #[arg(long)]
    json: bool,
    /// The folder for the JSON and CSV files.
    #[arg(long, value_name = "DIR", default_value = "results")]
    output: PathBuf,
}

#[derive(Serialize)]
struct Settings {
    threads: Vec<usize>,
    requests_per_thread: usize,
    rounds: usize,
    seconds: f64,
    steps: Vec<&'static str>,
}

/// The pages of the page rows, in GiB: more than a cache holds.
const PAGES_GIB: f64 = 1.0 / 16.0;

pub(crate) fn run(arguments: &LadderArguments) -> Result<u8> {
    let mut all = steps().map_err(refuse)?;
    if !arguments.steps_only {
        all.extend(beyond(&all));
    }
    let threads = unique(arguments.threads.clone());
    for &threads in &threads {
        Shape::new(threads, arguments.requests).map_err(refuse)?;
    }
    if let Some(machine) = &arguments.machine {
        let work = unique(arguments.work.clone());
        return super::simulate::simulated_ladder(
            machine,
            all,
            threads,
            work,
            arguments.requests,
            &arguments.output,
            arguments.json,
        );
    }
    let session = Session::begin("ladder", &arguments.output, arguments.json)?;
    let memory = Memory::synthetic(PAGES_GIB).map_err(refuse)?;
    let plan = Plan {
        steps: all,
        threads,
        requests: arguments.requests,
        rounds: arguments.rounds,
        window: arguments.seconds,
        work: unique(arguments.work.clone()),
        compress: Arc::new(Job::Compress { memory, codec: Codec::Zlib, state: StateOf::Request }),
        nothing: Arc::new(Job::Nothing),
    };

    let bar = progress::count(Some(plan.runs()));
    let measured = plan.measure(&mut Watch { interrupted: session.interrupted, progress: &mut |runs| bar.inc(runs) });
    bar.finish_and_clear();

    let settings = Settings {
        threads: plan.threads.clone(),
        requests_per_thread: plan.requests,
        rounds: plan.rounds,
        seconds: plan.window.as_secs_f64(),
        steps: plan.steps.iter().map(|step| step.configuration.name).collect(),
    };
    session.finish(&Outcome {
        settings: &settings,
        rows: &measured.rows,
        text: ladder_tables(&plan, &measured.rows),
        failures: &measured.failures,
        interrupted: measured.interrupted,
    })
}
