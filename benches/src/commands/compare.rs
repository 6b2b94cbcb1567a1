//! `slotwork compare`.

use crate::run::{print, refuse};
use anyhow::Result;
use clap::Args;
use slotwork_bench::compare::{Options, compare, comparison_tables};
use slotwork_bench::reading::{Run, load, name_apart};
use std::path::PathBuf;

/// Options of `slotwork compare`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Give runs of the same grid, contenders and commit, one or more of each machine. A pair of contenders agrees when the same one \
is clearly ahead on every machine, and flips when one is ahead here and the other there.\n\n\
Exit codes: 0 compared; 2 the runs cannot be compared, or a file is no run.\n\n\
Example:\n  slotwork compare laptop.json server.json")]
pub(crate) struct CompareArguments {
    /// The JSON files of the runs.
    #[arg(value_name = "RUN", required = true, num_args = 1..)]
    runs: Vec<PathBuf>,
    /// Compare the cells and contenders that all runs have, and leave out the others.
    #[arg(long)]
    common: bool,
    /// Compare runs of different commits.
    #[arg(long)]
    any_commit: bool,
    /// Print the comparison as JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &CompareArguments) -> Result<u8> {
    let runs = read(&arguments.runs)?;
    let options = Options { common: arguments.common, any_commit: arguments.any_commit };
    let comparison = compare(&runs, options).map_err(refuse)?;
    if arguments.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&comparison)?))?;
    } else {
        print(&comparison_tables(&comparison))?;
    }
    Ok(0)
}

/// The runs of these files, under names that differ.
pub(super) fn read(paths: &[PathBuf]) -> Result<Vec<Run>> {
    let mut runs = paths.iter().map(|path| load(path).map_err(refuse)).collect::<Result<Vec<Run>>>()?;
    name_apart(&mut runs);
    Ok(runs)
}
