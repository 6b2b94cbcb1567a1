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
Measures lines on their way between two cores, exchanges, fences, pauses, yields, wakes, quanta and interruptions on this \
machine, in about a second, and writes a profile for slotwork simulate --machine FILE. On a busy machine it takes longer \
and knows less. What cannot be measured here is taken from the profile given by --like.")]
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
        "# Made by slotwork calibrate on {processor}, {} cores. Measured: hits, exchanges, fences, pauses, yields, the allocator,\n\
         # switches and wakes, the fastest of several trials each; interruptions, the quantum, transfers, and how many lines are\n\
         # fetched at once, the middle of what was undisturbed. Occupancies are a third of a transfer, another socket is as\n\
         # this one, and memory, store buffer, preemption, jitter and the work of a page are those of {}.\n{}",
        profile.core_count(),
        like.name,
        profile.to_toml()
    );
    std::fs::write(&arguments.output, &text)
        .map_err(|error| refuse(format!("cannot write '{}': {error}", arguments.output.display())))?;
    print(&format!("{text}\nprofile: {}\n", arguments.output.display()))?;
    Ok(0)
}
