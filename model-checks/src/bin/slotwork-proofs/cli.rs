//! The command line, and its errors in one line each.

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};
use model_checks::card::{Level, Part};
use std::io::Write;
use std::path::PathBuf;

/// What is known about each design, and by which check.
#[derive(Debug, Parser)]
#[command(name = "slotwork", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check every claim of every design, and print a proof card for each.
    #[command(
        after_help = "Examples:\n  slotwork verify --quick\n  slotwork verify --full --partition 2/8\n  slotwork verify merge A.json B.json\n\nExit codes: 0 green, 1 failed or incomplete, 2 refused, 130 interrupted."
    )]
    Verify(VerifyArguments),
    /// Show the museum of known faults, or one of them step by step.
    #[command(after_help = "Examples:\n  slotwork museum\n  slotwork museum plain_flip")]
    Museum(MuseumArguments),
}

/// Options of `slotwork verify`.
#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct VerifyArguments {
    #[command(subcommand)]
    pub(crate) command: Option<VerifyCommand>,
    /// A design to check; may be repeated [default: all, and the museum].
    #[arg(long = "design", value_name = "DESIGN", value_delimiter = ',')]
    pub(crate) designs: Vec<String>,
    /// Bounded checks, in minutes; this is the default.
    #[arg(long, conflicts_with = "full")]
    pub(crate) quick: bool,
    /// To bound 3, without bounds where that ends: under an hour.
    #[arg(long)]
    pub(crate) full: bool,
    /// Do one part of the whole, to be merged with the others: the second of eight is 2/8.
    #[arg(long, value_name = "K/N", default_value_t = Part::WHOLE)]
    pub(crate) partition: Part,
    /// What a single check may take; one that has not ended by then has not answered, and nothing is green without it.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value_t = model_checks::apart::LIMIT.as_secs_f64())]
    pub(crate) time_limit: f64,
    /// Show a failure again, by the text that was printed with it.
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["full", "quick", "designs", "partition"])]
    pub(crate) replay: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    /// The machine, as `slotwork` sees it.
    #[arg(long, hide = true, default_value = "unknown machine")]
    pub(crate) machine: String,
    /// The commit of the code, as `slotwork` sees it.
    #[arg(long, hide = true, default_value = "unknown")]
    pub(crate) commit: String,
}

impl VerifyArguments {
    pub(crate) fn level(&self) -> Level {
        if self.full { Level::Full } else { Level::Quick }
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    const LONGEST: f64 = 7.0 * 24.0 * 3600.0;
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= LONGEST => Ok(seconds),
        _ => Err(format!("a time limit is more than 0 and at most {LONGEST} seconds")),
    }
}

/// What becomes of the result.
#[derive(Args, Clone, Debug)]
pub(crate) struct OutputArguments {
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// The folder for the result files.
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) output: PathBuf,
}

/// What `slotwork verify` does besides.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum VerifyCommand {
    /// Put the results of several partitions together; what is missing stays missing.
    Merge {
        /// The files.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        output: OutputArguments,
    },
}

/// Options of `slotwork museum`.
#[derive(Args, Clone, Debug)]
pub(crate) struct MuseumArguments {
    /// The exhibit to show [default: a list of all].
    pub(crate) name: Option<String>,
    /// Print the list, or the exhibit, as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What was asked for cannot be done: nothing was checked.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Refused(String);

pub(crate) fn refuse(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow::anyhow!(Refused(error.to_string()))
}

/// The command that was asked for; or, after an answer was printed, the exit code.
pub(crate) fn parse() -> Result<Command, u8> {
    match Cli::try_parse() {
        Ok(cli) => Ok(cli.command),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            // A closed pipe is no reason to complain.
            let _ = error.print();
            Err(0)
        }
        Err(error) => {
            let text = error.to_string();
            // The first paragraph says what is wrong; usage and tips follow it.
            complain(text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: "));
            Err(crate::REFUSED)
        }
    }
}

/// Says it on stderr, in one line; where nobody hears it, that is no further fault.
pub(crate) fn complain(text: &str) {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let _ = writeln!(std::io::stderr().lock(), "slotwork: {line}");
}

/// Prints; a closed pipe ends the printing, and nothing else.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
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
    fn nonsense_is_refused() {
        for arguments in [
            &["verify", "--partition", "9/8"][..],
            &["verify", "--quick", "--full"],
            &["verify", "merge"],
            &["nonsense"],
        ] {
            let line = ["slotwork"].iter().chain(arguments);
            assert!(Cli::try_parse_from(line).is_err(), "{arguments:?}");
        }
    }
}
