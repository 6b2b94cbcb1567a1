//! The answer of `slotwork pick`, in words.

use super::{Candidate, Load, Pick};
use std::fmt::Write;

/// All of it.
#[must_use]
pub fn pick_text(pick: &Pick, load: &Load) -> String {
    let mut text = String::new();
    let needs = load.needs.iter().filter_map(clap::ValueEnum::to_possible_value);
    let needs: Vec<String> = needs.map(|value| value.get_name().to_string()).collect();
    let needs = if needs.is_empty() { String::new() } else { format!(", {}", needs.join(", ")) };
    let _ = writeln!(
        text,
        "{} submitter{}, {} workers, {} slots each{needs}; best {}\n",
        load.submitters,
        if load.client_count() == 1 { "" } else { "s" },
        load.shape.lanes(),
        load.shape.slots_per_lane(),
        load.objective.word(),
    );
    let figures = pick.figures.as_ref();
    let line = |text: &mut String, label: &str, candidate: &Candidate| {
        let words = candidate.figure.as_ref().map_or("no figure".into(), |figure| figure.words(figures));
        let _ = writeln!(text, "{label}{}: {words}\n{:>11}{}", candidate.design, "", candidate.page);
        for row in candidate.figure.iter().flat_map(|figure| &figure.rows) {
            let run = figures.map_or("", |figures| figures.run.as_str());
            let _ = writeln!(text, "{:>11}{run}#{row}", "");
        }
    };
    line(&mut text, "take:      ", &pick.pick);
    let _ = writeln!(text, "how sure:  {}", pick.sure);
    if let Some(runner_up) = &pick.runner_up {
        line(&mut text, "runner-up: ", runner_up);
    }
    if let Some(figures) = figures {
        let _ = writeln!(text, "\nfigures:   {} of {}, {}", figures.run, figures.started, figures.machine);
        for remark in &figures.remarks {
            let _ = writeln!(text, "           {remark}");
        }
    } else {
        let _ =
            writeln!(text, "\nfigures:   none of this kind of load: `{}` makes them, then give --from", pick.measure);
    }
    if !pick.out.is_empty() {
        let _ = writeln!(text, "\nnot these:");
    }
    for out in &pick.out {
        let rows = out.rows.iter().map(|row| format!("#{row}")).collect::<Vec<_>>().join(" ");
        let space = if rows.is_empty() { "" } else { " " };
        let _ = writeln!(text, "  {} ({}): {} · {}{space}{rows}", out.design, out.by, out.reason, out.page);
    }
    let _ = write!(text, "\nCargo.toml:\n\n{}\nmain.rs:\n\n{}", indented(&pick.cargo_toml), indented(&pick.main_rs));
    text
}

fn indented(lines: &str) -> String {
    lines.lines().map(|line| if line.is_empty() { "\n".into() } else { format!("    {line}\n") }).collect()
}
