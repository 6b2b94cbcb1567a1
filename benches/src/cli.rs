//! The command line, and its errors in one line each.

use crate::commands::allocator::AllocatorArguments;
use crate::commands::calibrate::CalibrateArguments;
use crate::commands::compare::CompareArguments;
use crate::commands::gate::GateArguments;
use crate::commands::ladder::LadderArguments;
use crate::commands::locks::LocksArguments;
use crate::commands::migrate::MigrateArguments;
use crate::commands::pick::PickArguments;
use crate::commands::proofs::ForwardedArguments;
use crate::commands::report::ReportArguments;
use crate::commands::simulate::SimulateArguments;
use crate::commands::workqueue_bench::WorkqueueBenchArguments;
use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueEnum};
use slotwork_bench::contender::Peers;
use slotwork_bench::grid::MAX_THREADS;
use slotwork_bench::handler::Handler;
use slotwork_bench::waiting::Waiting;
use std::io::Write;
use std::path::PathBuf;

/// What the exit code says; `main.rs` has the constants.
const EXIT_CODES: &str = "\
Exit codes: 0 all is well; 1 something was wrong with what was measured, or with keeping it; 2 the command line asks for \
what cannot be done, and nothing was measured; 130 broken off by Ctrl-C, and what was measured so far is kept.";

/// The command line itself, for completions and the manual page.
pub(crate) fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Ranks lock-free request queues on this machine.
///
/// Without a command, ranks all designs over the standard grid: `slotwork rank`.
#[derive(Debug, Parser)]
#[command(name = "slotwork", version, args_conflicts_with_subcommands = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    rank: RankArguments,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure the designs and rank them.
    Rank(RankArguments),
    /// Show every design with all its claims.
    List(ListArguments),
    /// Check every claim of every design, and print a proof card for each.
    #[command(disable_help_flag = true)]
    Verify(ForwardedArguments),
    /// Show the museum of known faults, or one of them step by step.
    #[command(disable_help_flag = true)]
    Museum(ForwardedArguments),
    /// Measure what a round trip costs on one thread, beside a pair of crossbeam's ArrayQueue.
    Cost(CostArguments),
    /// Compress pages on worker threads: the benchmark of the 2018 workqueue, over any design.
    WorkqueueBench(WorkqueueBenchArguments),
    /// Pack a file page by page through a workqueue, or unpack it again.
    Migrate(MigrateArguments),
    /// The free-list experiment of 2018: clients that do not wait, servers, and the counts at the end.
    Allocator(AllocatorArguments),
    /// The road from the second to the third version of the 2018 workqueue, a step a row.
    Ladder(LadderArguments),
    /// The split of the global mutex of 2008: virtual CPUs at devices, under locks or over queues.
    Locks(LocksArguments),
    /// Rank the designs on a simulated machine: other cores, other sockets, reproducible to the byte.
    Simulate(SimulateArguments),
    /// Measure this machine's costs, and write them as a profile to simulate on.
    Calibrate(CalibrateArguments),
    /// Write a report to send: one HTML page, the same in Markdown, and every table as CSV.
    Report(ReportArguments),
    /// Hold runs of several machines against each other: where rankings agree, and where they flip.
    Compare(CompareArguments),
    /// Say which design to take for a load, why not the others, and the lines that put it to use.
    Pick(PickArguments),
    /// Decide whether a design became slower from one run to another.
    Gate(GateArguments),
    /// How long requests take at fixed rates: `slotwork rank --latency`, with two rounds.
    Latency(RankArguments),
    /// Measure what nothing can undercut on this machine.
    Floors(FloorsArguments),
    /// Print the completions of a shell.
    Completions(CompletionsArguments),
    /// Print the manual page.
    Man,
}

/// Options of `slotwork rank`.
#[derive(Args, Clone, Debug)]
pub(crate) struct RankArguments {
    /// A design or peer to measure; may be repeated [default: all designs].
    #[arg(long = "design", value_name = "DESIGN", value_delimiter = ',')]
    pub(crate) designs: Vec<String>,
    /// Which peers take part: other crates' queues behind the same workload [default: none].
    #[arg(long, value_name = "WHICH", value_enum)]
    pub(crate) peers: Option<Peers>,
    /// The wide grid: 1×1, 1×2, 2×2, 4×4, 1×16 and 1×64, each with 1, 4, 16 and 64 slots.
    #[arg(long)]
    pub(crate) wide: bool,
    /// Client threads, or several separated by commas [default: the standard grid].
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=MAX_THREADS as u64))]
    pub(crate) clients: Vec<u64>,
    /// Worker threads, or several separated by commas [default: the standard grid].
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=MAX_THREADS as u64))]
    pub(crate) workers: Vec<u64>,
    /// Slots per worker, or several separated by commas [default: the standard grid].
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=slotwork_bench::grid::MAX_SLOTS as u64))]
    pub(crate) slots: Vec<u64>,
    /// Work per request in nanoseconds, or several separated by commas.
    #[arg(long, value_name = "K", default_value = "0", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(0..=Handler::MAX_NANOSECONDS))]
    pub(crate) handler_ns: Vec<u64>,
    /// How threads wait when there is nothing for them, or several separated by commas; auto: spin where each has a
    /// core, else yield.
    #[arg(long, value_name = "POLICY", value_enum, value_delimiter = ',', default_value = "auto")]
    pub(crate) wait: Vec<Wait>,
    /// How often each design is measured in each cell.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) rounds: u64,
    /// Length of a measured window [default: 100; 220 where threads outnumber cores, 250 beyond 32 of them].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=60_000))]
    pub(crate) window_ms: Option<u64>,
    /// Seed of the visiting order and of the intervals.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// After the rounds, run each once more with traces: who waited how long, and how evenly slots are used.
    #[arg(long)]
    pub(crate) traces: bool,
    /// After the rounds, measure latency at fixed rates: parts of what the middle contender of a cell does
    /// [default, when given without parts: 0.25,0.5,0.75].
    #[arg(long, value_name = "PART,…", value_delimiter = ',', num_args = 0..=1, require_equals = true, default_missing_value = "0.25,0.5,0.75", value_parser = part)]
    pub(crate) latency: Vec<f64>,
    /// Measure each design twice under two names, and fail unless the two tie.
    #[arg(long, conflicts_with = "peers")]
    pub(crate) self_test: bool,
    /// Leave threads where the scheduler puts them.
    #[arg(long)]
    pub(crate) no_pin: bool,
    /// Print the results as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// The folder for the JSON and CSV files.
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) output: PathBuf,
}

/// A part of a whole, for the command line.
fn part(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(part) if part > 0.0 && part <= 10.0 => Ok(part),
        _ => Err("a part, above 0 and up to 10".into()),
    }
}

/// Options of `slotwork list`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ListArguments {
    /// Print the list as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `slotwork cost`.
#[derive(Args, Clone, Debug)]
pub(crate) struct CostArguments {
    /// How many batches of each contender are measured.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) rounds: u64,
    /// Seed of the visiting order and of the intervals.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print the results as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `slotwork floors`.
#[derive(Args, Clone, Debug)]
pub(crate) struct FloorsArguments {
    /// Seed of the intervals.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print the results as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `slotwork completions`.
#[derive(Args, Clone, Debug)]
pub(crate) struct CompletionsArguments {
    /// The shell.
    #[arg(value_name = "SHELL", value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// The waiting policy as it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Wait {
    /// What suits each cell.
    Auto,
    /// Poll for ever.
    Spin,
    /// 64 polls, then yield between polls.
    Yield,
    /// 64 polls, then sleep.
    Park,
    /// 64 polls, 32 yields, then sleep.
    Settle,
}

impl Wait {
    pub(crate) fn policy(self) -> Option<Waiting> {
        match self {
            Self::Auto => None,
            Self::Spin => Some(Waiting::Spin),
            Self::Yield => Some(Waiting::Yield),
            Self::Park => Some(Waiting::Park),
            Self::Settle => Some(Waiting::Settle),
        }
    }
}

/// The command that was asked for; or, after an answer was printed, the exit code.
pub(crate) fn parse() -> Result<Command, u8> {
    match Cli::try_parse() {
        Ok(cli) => Ok(cli.command.unwrap_or(Command::Rank(cli.rank))),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            // A closed pipe is no reason to complain.
            let _ = error.print();
            Err(0)
        }
        Err(error) => {
            let text = error.to_string();
            // The first paragraph says what is wrong; usage and tips follow it.
            let paragraph = text.split("\n\n").next().unwrap_or_default();
            complain(paragraph.trim_start_matches("error: "));
            Err(crate::REFUSED)
        }
    }
}

/// Says it on stderr, in one line; where nobody hears it, that is no further fault.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "slotwork: {}", one_line(text));
}

/// The text with its line ends made spaces.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn no_command_means_rank() {
        let cli = Cli::try_parse_from(["slotwork", "--rounds", "2"]).unwrap();
        assert!(cli.command.is_none());
        assert_eq!(cli.rank.rounds, 2);
        assert!(Cli::try_parse_from(["slotwork", "list", "--rounds", "2"]).is_err());
    }
}
