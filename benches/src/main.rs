//! The `slotwork` command: which request queue carries the circle best on this machine?

mod cli;
mod commands;
mod interrupt;
mod progress;
mod run;

use std::process::ExitCode;

/// Something was wrong with what was measured, or with keeping it.
const FAILED: u8 = 1;
/// The command line asks for something that cannot be done.
const REFUSED: u8 = 2;
/// Broken off by Ctrl-C.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    // A panic is a defect of slotwork or of a design; the report of the run says what it means.
    std::panic::set_hook(Box::new(|panic| {
        let message = panic.payload_as_str().unwrap_or("unknown");
        let at = panic.location().map(|at| format!(" at {}:{}", at.file(), at.line())).unwrap_or_default();
        cli::complain(&format!("a thread panicked{at}: {message}"));
    }));
    let code = match cli::parse() {
        Ok(command) => run::run(command).unwrap_or_else(|error| {
            cli::complain(&format!("{error:#}"));
            if error.is::<run::Refused>() { REFUSED } else { FAILED }
        }),
        Err(code) => code,
    };
    ExitCode::from(code)
}
