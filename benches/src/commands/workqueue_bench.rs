//! `slotwork workqueue-bench`.

use super::{Outcome, Session, count, unique};
use crate::progress;
use crate::run::{print, refuse};
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use slotwork::Shape;
use slotwork_bench::grid::MAX_THREADS;
use slotwork_bench::seeds::Watch;
use slotwork_bench::seeds::codec::Codec;
use slotwork_bench::seeds::configuration::{Configuration, Manner, Policy, SubmitterWaits, WantedDispatch};
use slotwork_bench::seeds::job::{Job, StateOf};
use slotwork_bench::seeds::memory::Memory;
use slotwork_bench::seeds::page_bench::{Plan, average_table, run_line, sweep_table};
use slotwork_bench::seeds::pool;
use std::path::PathBuf;
use std::sync::Arc;

/// Options of `slotwork workqueue-bench`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
One submitter takes a free request, names a page in it and submits it; a worker compresses the page. An attempt that \
finds no request free is counted apart. Pages compressed must equal pages submitted, else the exit code is 1.\n\n\
Rayon's thread pool can be asked for by name (rayon) in place of the workqueue, and takes part in a sweep.\n\n\
Besides the designs there are v2-faithful and v3-faithful, as published: busy-wait of 1000, round robin, spinning \
submitter.\n\n\
Examples:\n  slotwork workqueue-bench -t 4 -r 4 -m 1 -c 3 --design bitmap-claim\n  \
slotwork workqueue-bench --threads-sweep 1,2,8,64 -m 0.25\n  \
slotwork workqueue-bench --input memory.dump --codec lz4")]
pub(crate) struct WorkqueueBenchArguments {
    /// Worker threads.
    #[arg(short = 't', long, value_name = "N", default_value = "2", value_parser = count::<MAX_THREADS>)]
    threads: usize,
    /// Requests per worker thread.
    #[arg(short = 'r', long, value_name = "N", default_value = "4", value_parser = count::<{ Shape::MAX_SLOTS }>)]
    requests: usize,
    /// Memory to compress, in GiB; may be a fraction.
    #[arg(short = 'm', long, value_name = "GIB", default_value_t = 1.0, conflicts_with = "input")]
    memory: f64,
    /// How often all is repeated.
    #[arg(short = 'c', long, value_name = "N", default_value = "3", value_parser = count::<100_000>)]
    count: usize,
    /// A design, v2-faithful or v3-faithful; may be repeated [default: bitmap; with a sweep: all].
    #[arg(long = "design", value_name = "DESIGN", value_delimiter = ',')]
    designs: Vec<String>,
    /// Take the pages from a file, the last one padded with zeros.
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// How pages are compressed: zlib (level 1), lz4, zstd, or none, which copies them.
    #[arg(long, value_name = "CODEC", default_value = "zlib")]
    codec: Codec,
    /// Whose the codec's state is: each request has one, as in the original, or each worker
    /// [default: request; with a sweep: worker].
    #[arg(long, value_name = "WHOSE", value_enum)]
    state: Option<StateOf>,
    /// How workers wait.
    #[arg(long, value_name = "POLICY", value_enum, default_value_t = Policy::Settle)]
    waiting: Policy,
    /// How the submitter goes on from worker to worker; auto: fill-first where the design offers it.
    #[arg(long, value_name = "POLICY", value_enum, default_value_t = WantedDispatch::Auto)]
    dispatch: WantedDispatch,
    /// What the submitter does when no request is free: spin as in the original, or wait as the workers do
    /// [default: spin; with a sweep: wait].
    #[arg(long, value_name = "HOW", value_enum)]
    submitter: Option<SubmitterWaits>,
    /// Measure with each of these numbers of worker threads, and print the published table beside it.
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', value_parser = count::<MAX_THREADS>, conflicts_with = "threads")]
    threads_sweep: Vec<usize>,
    /// Print the results as JSON.
    #[arg(long)]
    json: bool,
    /// The folder for the JSON and CSV files.
    #[arg(long, value_name = "DIR", default_value = "results")]
    output: PathBuf,
}

#[derive(Serialize)]
struct Settings {
    codec: Codec,
    state_of: StateOf,
    pages: usize,
    input: Option<PathBuf>,
    rounds: usize,
    threads: Vec<usize>,
    requests_per_thread: usize,
    configurations: Vec<&'static str>,
}

pub(crate) fn run(arguments: &WorkqueueBenchArguments) -> Result<u8> {
    let sweeps = !arguments.threads_sweep.is_empty();
    let configurations = configurations(arguments, sweeps)?;
    let threads = if sweeps { unique(arguments.threads_sweep.clone()) } else { vec![arguments.threads] };
    // With a single shape, one that cannot be had is a mistake; in a sweep it is a gap in the table.
    if !sweeps {
        for configuration in &configurations {
            if let Some(refusal) = configuration.refusal(arguments.threads, arguments.requests) {
                return Err(refuse(format!("{}: {refusal}", configuration.name)));
            }
        }
    }
    let session = Session::begin("workqueue-bench", &arguments.output, arguments.json)?;
    let memory = match &arguments.input {
        Some(path) => Memory::of_file(path).map_err(|error| refuse(format!("{:#}", anyhow::Error::from(error))))?,
        None => Memory::synthetic(arguments.memory).map_err(refuse)?,
    };
    let state = arguments.state.unwrap_or(if sweeps { StateOf::Worker } else { StateOf::Request });
    let job = Arc::new(Job::Compress { memory, codec: arguments.codec, state });
    let plan = Plan {
        configurations,
        threads,
        requests: arguments.requests,
        rounds: arguments.count,
        job,
        codec: arguments.codec,
        state,
    };

    let bar = progress::count(Some(plan.pages()));
    let mut watch = Watch { interrupted: session.interrupted, progress: &mut |pages| bar.inc(pages) };
    let measured = plan.measure(&mut watch, &mut |row| {
        bar.set_message(format!("{} at {} threads", row.configuration, row.threads));
        if !sweeps && !arguments.json {
            // A line that cannot be printed now will be missed at the end too.
            bar.suspend(|| drop(print(&format!("{}\n", run_line(row)))));
        }
    });
    bar.finish_and_clear();

    let text = if sweeps { sweep_table(&plan, &measured.rows) } else { average_table(&plan, &measured.rows) };
    let settings = Settings {
        codec: arguments.codec,
        state_of: state,
        pages: plan.job.pages(),
        input: arguments.input.clone(),
        rounds: plan.rounds,
        threads: plan.threads.clone(),
        requests_per_thread: plan.requests,
        configurations: plan.configurations.iter().map(|configuration| configuration.name).collect(),
    };
    session.finish(&Outcome {
        settings: &settings,
        rows: &measured.rows,
        text,
        failures: &measured.failures,
        interrupted: measured.interrupted,
    })
}

fn configurations(arguments: &WorkqueueBenchArguments, sweeps: bool) -> Result<Vec<Configuration>> {
    let submitter = arguments.submitter.unwrap_or(if sweeps { SubmitterWaits::Wait } else { SubmitterWaits::Spin });
    let manner = Manner { waiting: arguments.waiting, dispatch: arguments.dispatch, submitter, ..Manner::BEST };
    if arguments.designs.is_empty() && sweeps {
        let mut all = Configuration::all(manner);
        all.extend(Configuration::named(pool::NAME, manner).ok());
        return Ok(all);
    }
    let names = if arguments.designs.is_empty() { vec!["bitmap".into()] } else { unique(arguments.designs.clone()) };
    names.iter().map(|name| Configuration::named(name, manner).map_err(refuse)).collect()
}
