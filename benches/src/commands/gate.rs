//! `slotwork gate`.

use super::compare::read;
use crate::FAILED;
use crate::run::{print, refuse};
use anyhow::Result;
use clap::Args;
use slotwork_bench::reading::Run;
use slotwork_bench::record::Record;
use slotwork_bench::regression::{Verdict, decision_table, judge};
use std::path::PathBuf;

/// These runs do not tell whether anything became slower.
const CANNOT_TELL: u8 = 3;

/// Options of `slotwork gate`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Decides whether a design lost throughput from base to head, on one machine. Its ratio is the geometric mean over all cells, \
each relative to the peers, which are the same code in both; its interval is as wide as the peers, and pairs of runs, scatter by \
themselves. Loss: the whole interval lies below what is allowed. Pass: the whole interval lies above. Several runs of a side \
are paired in order; measure them in turn: base, head, base, head.\n\n\
Exit codes: 0 pass; 1 loss; 2 bad input, or runs that cannot be compared; 3 cannot tell: the interval holds both, or \
the noise is not known. More pairs or more rounds tell; a gate that must not be passed by doubt treats 3 as 1.\n\n\
Example:\n  slotwork gate --base before.json --head after.json --max-loss 5%")]
pub(crate) struct GateArguments {
    /// The JSON files of runs before the change.
    #[arg(long, value_name = "RUN", required = true, num_args = 1.., value_delimiter = ',')]
    base: Vec<PathBuf>,
    /// The JSON files of runs after it, as many.
    #[arg(long, value_name = "RUN", required = true, num_args = 1.., value_delimiter = ',')]
    head: Vec<PathBuf>,
    /// How much may be lost: a percentage from 0.1% to 90%.
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = percentage)]
    max_loss: f64,
    /// A design to judge; may be repeated [default: all].
    #[arg(long = "design", value_name = "DESIGN", value_delimiter = ',')]
    designs: Vec<String>,
    /// Print the decision as JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &GateArguments) -> Result<u8> {
    let records = |paths: &[PathBuf]| -> Result<Vec<Record>> {
        Ok(read(paths)?.into_iter().map(|Run { record, .. }| record).collect())
    };
    let (base, head) = (records(&arguments.base)?, records(&arguments.head)?);
    let decision = judge(&base, &head, arguments.max_loss, &arguments.designs).map_err(refuse)?;
    if arguments.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&decision)?))?;
    } else {
        print(&decision_table(&decision))?;
    }
    Ok(match decision.verdict {
        Verdict::Pass => 0,
        Verdict::Loss => FAILED,
        Verdict::CannotTell => CANNOT_TELL,
    })
}

/// A part, written as a percentage: a bare number could be either.
fn percentage(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    match number {
        Some(percent) if (0.1..=90.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("a percentage from 0.1% to 90%".into()),
    }
}
