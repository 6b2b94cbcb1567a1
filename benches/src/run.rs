//! What each command does.

use crate::cli::{Command, CostArguments, ListArguments, RankArguments, complain};
use crate::{FAILED, INTERRUPTED, commands, interrupt, progress};
use anyhow::{Context, Result, anyhow};
use jiff::Timestamp;
use slotwork_bench::alarm::Alarm;
use slotwork_bench::contender::{self, Contender};
use slotwork_bench::cost;
use slotwork_bench::grid::{self, Wanted};
use slotwork_bench::machine::Machine;
use slotwork_bench::measure::{Measured, Plan};
use slotwork_bench::placement::Placement;
use slotwork_bench::record::{Record, SCHEMA, Settings};
use slotwork_bench::report::{Destination, listing, listing_table, rank_report};
use slotwork_bench::single::singles;
use slotwork_bench::verdict::{self, rankings, summarise};
use slotwork_bench::{by_hand, floors};
use std::io::{self, Write};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// What was asked for cannot be done: nothing was measured.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Refused(String);

pub(crate) fn refuse(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!(Refused(error.to_string()))
}

/// Runs a command; the exit code.
pub(crate) fn run(command: Command) -> Result<u8> {
    match command {
        Command::Rank(arguments) => rank(&arguments),
        Command::List(arguments) => list(&arguments),
        Command::Verify(arguments) => commands::proofs::run("verify", &arguments),
        Command::Museum(arguments) => commands::proofs::run("museum", &arguments),
        Command::Cost(arguments) => cost(&arguments),
        Command::WorkqueueBench(arguments) => commands::workqueue_bench::run(&arguments),
        Command::Migrate(arguments) => commands::migrate::run(&arguments),
        Command::Allocator(arguments) => commands::allocator::run(&arguments),
        Command::Ladder(arguments) => commands::ladder::run(&arguments),
        Command::Locks(arguments) => commands::locks::run(&arguments),
        Command::Simulate(arguments) => commands::simulate::run(&arguments),
        Command::Calibrate(arguments) => commands::calibrate::run(&arguments),
        Command::Report(arguments) => commands::report::run(&arguments),
        Command::Compare(arguments) => commands::compare::run(&arguments),
        Command::Pick(arguments) => commands::pick::run(&arguments),
        Command::Gate(arguments) => commands::gate::run(&arguments),
        Command::Latency(mut arguments) => {
            if arguments.latency.is_empty() {
                arguments.latency = vec![0.25, 0.5, 0.75];
            }
            rank(&arguments)
        }
        Command::Floors(arguments) => commands::floors::run(&arguments),
        Command::Completions(arguments) => commands::manual::completions(arguments.shell),
        Command::Man => commands::manual::page(),
    }
}

fn rank(arguments: &RankArguments) -> Result<u8> {
    let start = Instant::now();
    let started = Timestamp::now();
    let placement = if arguments.no_pin { Placement::free() } else { Placement::pinned() };
    let plan = plan(arguments, placement)?;
    let interrupted = interrupt::watch();
    let destination = Destination::prepare(&arguments.output, "rank", started).map_err(refuse)?;
    let machine = Machine::inspect(&plan.placement);

    let bar = progress::bar(plan.duration());
    let measured = plan.measure(interrupted, &mut |time| bar.inc(progress::milliseconds(time)));
    bar.finish_and_clear();

    let record = record(&plan, measured, machine, started, start.elapsed());
    if arguments.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&record)?))?;
    } else {
        print(&rank_report(&record))?;
    }
    let [json, csv] = destination.write(&record)?;
    if record.interrupted {
        complain("interrupted; what was measured so far is kept");
    }
    let mut failures = failures(&record);
    if arguments.self_test && !record.interrupted {
        failures.extend(verdict::differing_twins(&record.rankings));
    }
    for failure in &failures {
        complain(failure);
    }
    let kept = format!("results: {} and {}", json.display(), csv.display());
    if arguments.json {
        complain(&kept);
    } else {
        print(&format!("{kept}\n"))?;
    }
    Ok(match (record.interrupted, failures.is_empty()) {
        (_, false) => FAILED,
        (true, true) => INTERRUPTED,
        (false, true) => 0,
    })
}

fn plan(arguments: &RankArguments, placement: Placement) -> Result<Plan> {
    let contenders = contenders(arguments)?;
    let counts = |given: &[u64]| given.iter().map(|&count| usize::try_from(count).unwrap_or(usize::MAX)).collect();
    let wanted = Wanted {
        wide: arguments.wide,
        clients: counts(&arguments.clients),
        workers: counts(&arguments.workers),
        slots: counts(&arguments.slots),
        waiting: arguments.wait.iter().map(|wait| wait.policy()).collect(),
        handlers: arguments.handler_ns.clone(),
    };
    let cells = grid::cells(&wanted, &contenders, placement.cores()).map_err(refuse)?;
    Ok(Plan {
        cells,
        contenders,
        rounds: usize::try_from(arguments.rounds).context("too many rounds")?,
        window: arguments.window_ms.map(Duration::from_millis),
        seed: arguments.seed,
        placement,
        traces: arguments.traces,
        loads: arguments.latency.clone(),
    })
}

/// The chosen designs, each once, in the order of the choice; all, if none is chosen. Then the peers and the floor; or,
/// for a self-test, each a second time.
fn contenders(arguments: &RankArguments) -> Result<Vec<Contender>> {
    let mut chosen: Vec<Contender> = if arguments.designs.is_empty() { contender::catalog() } else { Vec::new() };
    for name in &arguments.designs {
        chosen.push(contender::named(name).map_err(refuse)?);
    }
    if arguments.self_test {
        chosen.extend(chosen.clone().iter().map(Contender::again));
    } else {
        chosen.extend(contender::peers(arguments.peers.unwrap_or_default()));
        chosen.push(floors::no_queue());
        // Beside peers it is asked how much could be had at all.
        if arguments.peers.unwrap_or_default() != contender::Peers::None {
            chosen.extend(by_hand::both());
        }
    }
    let mut names = Vec::new();
    chosen.retain(|contender| {
        !names.contains(&contender.name) && {
            names.push(contender.name.clone());
            true
        }
    });
    Ok(chosen)
}

fn record(plan: &Plan, measured: Measured, machine: Machine, started: Timestamp, took: Duration) -> Record {
    let Measured { mut cells, alarm, repeated_windows, interrupted } = measured;
    summarise(&mut cells);
    Record {
        schema: SCHEMA,
        started: started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        seconds: took.as_secs_f64(),
        interrupted,
        simulated: false,
        command_line: std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect(),
        machine,
        settings: Settings {
            rounds: plan.rounds,
            seed: plan.seed,
            pinned: plan.placement.is_pinned(),
            quiet_trip_nanoseconds: alarm.quiet(),
            disturbed_beyond: Alarm::THRESHOLD,
            disturbed_below_share: Plan::LEAST_SHARE,
            repeated_windows,
        },
        floors: floors::measure(&plan.placement, plan.seed),
        rankings: rankings(&cells, &plan.contenders, plan.seed),
        cells,
    }
}

/// Each design that failed in a cell, in a line.
fn failures(record: &Record) -> Vec<String> {
    let of_cell = |cell: &slotwork_bench::record::CellRecord| {
        let line = |row: &slotwork_bench::record::Row| {
            row.failure.as_ref().map(|failure| format!("{} failed at {}: {failure}", row.design, cell.name()))
        };
        cell.rows.iter().filter_map(line).collect::<Vec<_>>()
    };
    record.cells.iter().flat_map(of_cell).collect()
}

fn list(arguments: &ListArguments) -> Result<u8> {
    let listing = listing(slotwork_catalog::ENTRIES, &contender::catalog());
    if arguments.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&listing)?))?;
    } else {
        print(&listing_table(&listing))?;
    }
    Ok(0)
}

fn cost(arguments: &CostArguments) -> Result<u8> {
    let interrupted = interrupt::watch();
    let rounds = usize::try_from(arguments.rounds).context("too many rounds")?;
    let placement = Placement::pinned();
    placement.bind(0);
    let bar = progress::count(Some(arguments.rounds));
    let costs = cost::measure(&mut singles(), rounds, arguments.seed, interrupted, &mut || bar.inc(1))?;
    bar.finish_and_clear();
    let machine = Machine::inspect(&placement);
    if arguments.json {
        let value = serde_json::json!({ "schema": SCHEMA, "machine": machine, "rounds": rounds, "seed": arguments.seed, "costs": costs });
        print(&format!("{}\n", serde_json::to_string_pretty(&value)?))?;
    } else {
        let warning = if machine.is_optimised() { "" } else { "NOT OPTIMISED: use cargo run --release -- cost\n" };
        print(&format!("{machine}\n{warning}{}", cost::cost_table(&costs)))?;
    }
    if interrupted.load(Ordering::Relaxed) {
        complain("interrupted; these are the rounds so far");
        return Ok(INTERRUPTED);
    }
    Ok(0)
}

/// Prints to stdout; a reader that has gone away is no fault.
pub(crate) fn print(text: &str) -> Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("cannot print the results"),
        _ => Ok(()),
    }
}
