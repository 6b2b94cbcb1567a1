//! `slotwork pick`.

use crate::run::{print, refuse};
use anyhow::Result;
use clap::{Args, ValueEnum};
use slotwork::{Shape, Submitters};
use slotwork_bench::grid::{MAX_SLOTS, MAX_THREADS};
use slotwork_bench::handler::Handler;
use slotwork_bench::pick::{Load, Need, Objective, newest, pick, pick_text};
use slotwork_bench::reading::load;
use std::path::PathBuf;

/// Options of `slotwork pick`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Claims decide who can do it at all; then the figures of the cells that are nearest to the load, from a run of yours, or else \
from the newest run that was in notes/results when this program was built. A figure of another machine may be another here: \
measure, and give --from.\n\n\
Exit codes: 0 picked; 2 no design does all of this, or the file is no run.\n\n\
Example:\n  slotwork pick --submitters many --workers 16 --slots 64 --need fifo,lock-free --optimise p99 --from run.json")]
pub(crate) struct PickArguments {
    /// One thread submits, or many.
    #[arg(long, value_name = "WHO", value_enum, default_value_t = Who::Many)]
    submitters: Who,
    /// How many threads submit, where it is many.
    #[arg(long, value_name = "N", value_parser = super::count::<MAX_THREADS>)]
    clients: Option<usize>,
    /// Worker threads.
    #[arg(long, value_name = "N", default_value = "4", value_parser = super::count::<MAX_THREADS>)]
    workers: usize,
    /// Slots per worker.
    #[arg(long, value_name = "N", default_value = "4", value_parser = super::count::<MAX_SLOTS>)]
    slots: usize,
    /// What the design has to promise; may be repeated.
    #[arg(long = "need", value_name = "PROMISE", value_enum, value_delimiter = ',')]
    needs: Vec<Need>,
    /// What is to be best.
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Objective::Throughput)]
    optimise: Objective,
    /// Work per request, in nanoseconds.
    #[arg(long, value_name = "K", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=Handler::MAX_NANOSECONDS))]
    handler_ns: u64,
    /// The JSON file of a run of yours.
    #[arg(long, value_name = "RUN")]
    from: Option<PathBuf>,
    /// Where the tree of slotwork lies, as seen from your Cargo.toml.
    #[arg(long, value_name = "DIR", default_value = "../slotwork")]
    tree: String,
    /// Print the answer as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Who {
    One,
    Many,
}

pub(crate) fn run(arguments: &PickArguments) -> Result<u8> {
    let submitters = match arguments.submitters {
        Who::One => Submitters::One,
        Who::Many => Submitters::Many,
    };
    match (arguments.submitters, arguments.clients) {
        (Who::One, Some(clients)) if clients > 1 => return Err(refuse("one submitter is --clients 1")),
        (Who::Many, Some(1)) => return Err(refuse("many submitters are two or more: give --submitters one")),
        _ => {}
    }
    let shape = Shape::new(arguments.workers, arguments.slots).map_err(refuse)?;
    let asked = Load {
        submitters,
        clients: arguments.clients,
        shape,
        needs: super::unique(arguments.needs.clone()),
        objective: arguments.optimise,
        handler_nanoseconds: arguments.handler_ns,
    };
    let run = match &arguments.from {
        Some(path) => Some(load(path).map_err(refuse)?),
        None => newest(),
    };
    let answer = pick(&asked, slotwork_catalog::ENTRIES, run.as_ref(), &arguments.tree).map_err(refuse)?;
    if arguments.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&answer)?))?;
    } else {
        print(&pick_text(&answer, &asked))?;
    }
    Ok(0)
}
