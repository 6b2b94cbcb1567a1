//! The answer of `slotwork gate`, as a table.

use super::{Decision, Verdict};
use crate::report::table;
use std::fmt::Write;

/// All of it.
#[must_use]
pub fn decision_table(decision: &Decision) -> String {
    let percent = |part: f64| format!("{:.1} %", part * 100.0);
    let mut rows = table(&["design", "verdict", "head / base", "95 % interval", "furthest down", "remarks"], 2..4);
    for judged in &decision.designs {
        let ratio = |of: fn(&crate::statistics::Estimate) -> String| judged.ratio.as_ref().map_or("–".into(), of);
        rows.add_row(vec![
            judged.design.clone(),
            judged.verdict.word().to_string(),
            ratio(|ratio| format!("{:.3}", ratio.value)),
            ratio(|ratio| format!("{:.3} – {:.3}", ratio.low, ratio.high)),
            judged.lowest_cell.as_ref().map_or("–".into(), |(cell, ratio)| format!("{ratio:.2} at {cell}")),
            judged.reason.clone().unwrap_or_default(),
        ]);
    }
    let mut text = format!(
        "{} {} of runs, {} cells; at most {} may be lost\n",
        decision.pairs,
        if decision.pairs == 1 { "pair" } else { "pairs" },
        decision.cells,
        percent(decision.max_loss),
    );
    let _ = match decision.references.as_slice() {
        [] => writeln!(text, "no peers: what the machine did between the runs is not taken out"),
        peers => writeln!(text, "relative to {} peers: {}", peers.len(), peers.join(", ")),
    };
    if let Some(machine) = decision.machine_ratio {
        let _ = writeln!(text, "the machine itself, by the peers: {machine:.3} of base");
    }
    let _ = match decision.noise {
        Some(noise) => {
            writeln!(text, "unchanged code moves by {} from run to run (one standard deviation)", percent(noise))
        }
        None => writeln!(text, "how much runs differ by themselves is not known"),
    };
    let _ = writeln!(text, "{rows}");
    let of = |verdict: Verdict| -> Vec<&str> {
        let own = decision.designs.iter().filter(|judged| judged.verdict == verdict);
        own.map(|judged| judged.design.as_str()).collect()
    };
    let _ = match decision.verdict {
        Verdict::Pass => writeln!(text, "pass: no design lost more than {}", percent(decision.max_loss)),
        Verdict::Loss => writeln!(text, "LOSS: {}", of(Verdict::Loss).join(", ")),
        Verdict::CannotTell => writeln!(
            text,
            "cannot tell: {}; give more pairs of runs, more rounds, or a quieter machine",
            of(Verdict::CannotTell).join(", ")
        ),
    };
    text
}
