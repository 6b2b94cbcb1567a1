//! `slotwork museum`: the known faults, and each of them step by step.

use crate::FAILED;
use crate::cli::{MuseumArguments, print, refuse};
use anyhow::Result;
use model_checks::museum::{Shown, gallery};

/// Runs the command; the exit code.
pub(crate) fn run(arguments: &MuseumArguments) -> Result<u8> {
    let all = gallery();
    let Some(name) = &arguments.name else {
        if arguments.json {
            print(&format!("{}\n", serde_json::to_string_pretty(&all)?))?;
        } else {
            let width = all.iter().map(|piece| piece.name.len()).max().unwrap_or(0);
            for piece in &all {
                print(&format!("{:width$}  {}\n", piece.name, piece.story))?;
            }
            print(&format!("\n{} known faults; `slotwork museum NAME` shows one step by step\n", all.len()))?;
        }
        return Ok(0);
    };
    let Some(piece) = all.iter().find(|piece| piece.name == *name) else {
        let names: Vec<&str> = all.iter().map(|piece| piece.name.as_str()).collect();
        return Err(refuse(format!("unknown exhibit '{name}'; known are: {}", names.join(", "))));
    };
    let shown: Shown = piece.show();
    print(&if arguments.json { format!("{}\n", serde_json::to_string_pretty(&shown)?) } else { shown.to_string() })?;
    Ok(if shown.rejected { 0 } else { FAILED })
}
