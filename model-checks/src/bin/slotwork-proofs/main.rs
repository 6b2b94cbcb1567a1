//! `slotwork verify` and `slotwork museum`: the program that `slotwork` starts for them.
//!
//! It is a program of its own because it holds every model of every design: whoever only ranks
//! designs does not wait for it to compile.

mod cli;
mod museum;
mod verify;

use slotwork_catalog::allocation::Counting;
use std::process::ExitCode;

/// Whether a design allocates is found out in a process of this program.
#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A check failed, or a result could not be kept.
const FAILED: u8 = 1;
/// The command line asks for something that cannot be done.
const REFUSED: u8 = 2;
/// Broken off by Ctrl-C.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    // A run of one model or of one check: this program, started again by itself.
    if let Some(code) = model_checks::job::run_if_asked().or_else(model_checks::card::run_if_asked) {
        return code;
    }
    let code = match cli::parse() {
        Ok(cli::Command::Verify(arguments)) => verify::run(&arguments),
        Ok(cli::Command::Museum(arguments)) => museum::run(&arguments),
        Err(code) => return ExitCode::from(code),
    };
    ExitCode::from(code.unwrap_or_else(|error| {
        cli::complain(&format!("{error:#}"));
        if error.is::<cli::Refused>() { REFUSED } else { FAILED }
    }))
}
