//! `slotwork calibrate`.

use crate::run::{print, refuse};
use anyhow::Result;
use clap::Args;
use slotwork_bench::placement::Placement;
use slotwork_bench::simulate::calibrate::calibrate;
use slotwork_coherence::Profile;
use std::path::PathBuf;

/// Options of `slotwork calibrate`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Measures a line's way between two cores, exchanges, fences, pauses, yields and wakes on this machine, in about a second, and \
writes a profile for slotwork simulate --machine FILE. The fastest of several trials counts. What cannot be measured \
here is taken from the profile given by --like.")]
pub(crate) struct CalibrateArguments {
    /// The file to write.
    #[arg(long, value_name = "FILE", default_value = "this-machine.toml")]
    output: PathBuf,
    /// The profile that gives what cannot be measured here.
    #[arg(long, value_name = "MACHINE", default_value = "2018-two-socket-server")]
    like: String,
}

pub(crate) fn run(arguments: &CalibrateArguments) -> Result<u8> {
    let like = Profile::named(&arguments.like).map_err(refuse)?;
    let mut profile = calibrate(&Placement::pinned(), &like).map_err(refuse)?;
    let machine = slotwork_bench::machine::Machine::inspect(&Placement::free());
    let processor = machine.processor.unwrap_or_else(|| "unknown processor".into());
    profile.description = format!("{processor}, measured");
    let text = format!(
        "# Made by slotwork calibrate: hits, exchanges, fences, pauses, transfers, yields, switches and wakes are measured, the\n\
         # fastest of several trials each. Occupancies are a third of a transfer, another socket is as this one, and\n\
         # memory, store buffer, quanta and the work of a page are those of {}.\n{}",
        like.name,
        profile.to_toml()
    );
    std::fs::write(&arguments.output, &text)
        .map_err(|error| refuse(format!("cannot write '{}': {error}", arguments.output.display())))?;
    print(&format!("{text}\nprofile: {}\n", arguments.output.display()))?;
    Ok(0)
}
