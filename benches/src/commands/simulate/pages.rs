//! Pages on a simulated machine: `slotwork simulate --workload page`, and `slotwork ladder --machine`.

use super::{SimulateArguments, TRACE_PIECES, Workload, command_line, finish, write_trace};
use crate::cli::Wait;
use crate::commands::unique;
use crate::run::refuse;
use crate::{interrupt, progress};
use anyhow::Result;
use jiff::Timestamp;
use serde::Serialize;
use slotwork::Shape;
use slotwork_bench::record;
use slotwork_bench::report::Destination;
use slotwork_bench::seeds::configuration::{Configuration, Manner};
use slotwork_bench::seeds::ladder::{Step, Work};
use slotwork_bench::seeds::published;
use slotwork_bench::simulate::explain::explained;
use slotwork_bench::simulate::ladder;
use slotwork_bench::simulate::plan::machine;
use slotwork_coherence::{Options, Profile};
use std::fmt::Write;
use std::path::Path;

/// Pages of a run.
const PAGES: usize = 4000;

/// What a simulated benchmark leaves behind. No clock of this machine is in it.
#[derive(Serialize)]
struct Results<'a, R> {
    schema: u32,
    benchmark: &'a str,
    simulated: bool,
    command_line: Vec<String>,
    machine: slotwork_bench::machine::Machine,
    profile: String,
    failures: &'a [String],
    rows: &'a [R],
}

pub(super) fn pages(arguments: &SimulateArguments, profile: &Profile) -> Result<u8> {
    let chosen: Vec<Configuration> = if arguments.designs.is_empty() {
        Configuration::all(Manner::BEST)
    } else {
        let named = |name: &String| Configuration::named(name, Manner::BEST).map_err(refuse);
        unique(arguments.designs.clone()).iter().map(named).collect::<Result<_>>()?
    };
    let steps = chosen.into_iter().map(|configuration| Step { change: "", configuration }).collect();
    let published: Vec<usize> = published::WORKQUEUE.iter().map(|row| row.threads).collect();
    let threads = if arguments.threads.is_empty() { published } else { unique(arguments.threads.clone()) };
    run_ladder(arguments, profile, "simulate-page", steps, threads, vec![Work::Page])
}

/// `slotwork ladder --machine`.
pub(crate) fn simulated_ladder(
    machine: &str,
    steps: Vec<Step>,
    threads: Vec<usize>,
    work: Vec<Work>,
    requests: usize,
    output: &Path,
    json: bool,
) -> Result<u8> {
    let profile = Profile::named(machine).map_err(refuse)?;
    let arguments = SimulateArguments {
        machine: machine.into(),
        workload: Workload::Page,
        designs: Vec::new(),
        threads: Vec::new(),
        clients: Vec::new(),
        slots: vec![requests],
        handler_ns: 0,
        wait: Wait::Auto,
        rounds: 1,
        requests: None,
        seed: 1,
        explain: false,
        trace: None,
        sensitivity: false,
        against: None,
        json,
        output: output.into(),
    };
    run_ladder(&arguments, &profile, "simulate-ladder", steps, threads, work)
}

fn run_ladder(
    arguments: &SimulateArguments,
    profile: &Profile,
    benchmark: &str,
    steps: Vec<Step>,
    threads: Vec<usize>,
    work: Vec<Work>,
) -> Result<u8> {
    let plan = ladder::Plan {
        profile: profile.clone(),
        steps,
        threads,
        requests_per_worker: arguments.slots.first().copied().unwrap_or(4),
        requests: arguments.requests.unwrap_or(PAGES) as u64,
        work,
        seed: arguments.seed,
    };
    for &threads in &plan.threads {
        Shape::new(threads, plan.requests_per_worker).map_err(refuse)?;
    }
    let interrupted = interrupt::watch();
    let destination = Destination::prepare(&arguments.output, benchmark, Timestamp::now()).map_err(refuse)?;
    let bar = progress::count(Some(plan.runs()));
    let options = Options { trace: arguments.trace.as_ref().map(|_| TRACE_PIECES), ..Options::default() };
    let simulated = plan.simulate(options, interrupted, &mut |runs| bar.inc(runs));
    bar.finish_and_clear();
    let mut text = format!(
        "SIMULATED on {}: {}\nseed {}; figures are of simulated time, and no measurement\n\n",
        profile.name, profile.description, plan.seed
    );
    text.push_str(&if benchmark == "simulate-page" {
        pages_table(&plan, &simulated.rows)
    } else {
        ladder::tables(&plan, &simulated.rows)
    });
    if arguments.explain {
        for (step, threads, outcome) in &simulated.outcomes {
            let title = format!("{step} at {threads} threads");
            let _ = write!(text, "\n{}", explained(&title, &outcome.report, outcome.requests));
        }
    }
    if let (Some(file), Some((step, _, outcome))) = (&arguments.trace, simulated.outcomes.first()) {
        let _ = writeln!(text, "{}", write_trace(file, step, &outcome.report)?);
    }
    let results = Results {
        schema: record::SCHEMA,
        benchmark,
        simulated: true,
        command_line: command_line(),
        machine: machine(profile),
        profile: profile.to_toml(),
        failures: &simulated.failures,
        rows: &simulated.rows,
    };
    let write = |destination: Destination| destination.write_rows(&results, &simulated.rows);
    finish(arguments, &results, &text, &simulated.failures, simulated.interrupted, write, destination)
}

/// Threads down, configurations across, and what was published beside them.
fn pages_table(plan: &ladder::Plan, rows: &[ladder::Row]) -> String {
    let names: Vec<&str> = plan.steps.iter().map(|step| step.configuration.name).collect();
    let mut text = String::from(
        "Page compression, one submitter: GB/s (10⁹ bytes) of simulated time; v2, v3 2018: as published\n",
    );
    let _ = write!(text, "{:>7} {:>8} {:>8}", "threads", "v2 2018", "v3 2018");
    for name in &names {
        let _ = write!(text, " {name:>15}");
    }
    text.push('\n');
    for &threads in &plan.threads {
        let row = published::workqueue(threads);
        let shown = |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.3}"));
        let _ = write!(text, "{threads:>7} {:>8} {:>8}", shown(row.map(|row| row.v2)), shown(row.map(|row| row.v3)));
        for name in &names {
            let own = rows.iter().find(|row| row.step == *name && row.threads == threads);
            let _ = write!(text, " {:>15}", shown(own.and_then(|row| row.gb_per_second)));
        }
        text.push('\n');
    }
    text
}
