//! Any words as a command line of `slotwork`: refused, or a command. The shipped parser, by its source: it is in a program.
#![no_main]
#![allow(dead_code, reason = "nothing is run, only read")]

#[path = "../../../benches/src/cli.rs"]
mod cli;
#[path = "../../../benches/src/commands/mod.rs"]
mod commands;
#[path = "../../../benches/src/interrupt.rs"]
mod interrupt;
#[path = "../../../benches/src/progress.rs"]
mod progress;
#[path = "../../../benches/src/run.rs"]
mod run;

use clap::{Args, FromArgMatches, Subcommand};
use libfuzzer_sys::fuzz_target;

// The program's exit codes, which those files name.
const FAILED: u8 = 1;
const REFUSED: u8 = 2;
const INTERRUPTED: u8 = 130;

fuzz_target!(|text: &str| {
    let parser = cli::Command::augment_subcommands(cli::RankArguments::augment_args(clap::Command::new("slotwork")))
        .args_conflicts_with_subcommands(true)
        .subcommand_required(false);
    let Ok(matches) = parser.try_get_matches_from(std::iter::once("slotwork").chain(text.split('\n'))) else { return };
    if matches.subcommand().is_some() {
        cli::Command::from_arg_matches(&matches).map(drop).unwrap_or(());
    } else {
        cli::RankArguments::from_arg_matches(&matches).map(drop).unwrap_or(());
    }
});
