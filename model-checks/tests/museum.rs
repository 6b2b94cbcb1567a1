//! Every known fault, by whatever check: the suite fails when one of them is accepted.

use libtest_mimic::{Arguments, Failed, Trial};
use model_checks::evidence::Check;
use model_checks::job::run_if_asked;
use model_checks::museum::{Piece, gallery};
use std::collections::BTreeSet;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = run_if_asked() {
        return code;
    }
    let arguments = Arguments::from_args();
    // Those of progress take seconds each, and have tests of their own beside the designs: `tests/progress.rs`.
    let pieces = gallery().into_iter().filter(|piece| piece.check != Check::Progress);
    let mut trials: Vec<Trial> = pieces.map(trial).collect();
    trials.push(Trial::test("findings::the_interleavings_are_those_of_today", findings));
    trials.push(Trial::test("gallery::names_are_one_each", names_are_one_each));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(piece: Piece) -> Trial {
    Trial::test(format!("gallery::{}::rejected", piece.name), move || {
        let shown = piece.show();
        println!("{shown}");
        if !shown.rejected {
            return Err(Failed::from(shown.how));
        }
        match (shown.looked_at, shown.steps.is_empty()) {
            (0, _) => Err("it was rejected without a look".into()),
            (_, true) => Err("its steps cannot be shown".into()),
            _ => Ok(()),
        }
    })
}

fn names_are_one_each() -> Result<(), Failed> {
    let names: BTreeSet<String> = gallery().into_iter().map(|piece| piece.name).collect();
    assert_eq!(names.len(), gallery().len());
    assert!(names.len() >= 15, "{} pieces are few", names.len());
    Ok(())
}

/// Every `<!-- museum: NAME -->` of the findings is followed by what `slotwork museum NAME` shows now.
/// `UPDATE_NOTES=1` rewrites them.
fn findings() -> Result<(), Failed> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../notes/findings.md");
    let text = std::fs::read_to_string(path)?;
    let mut parts = text.split("<!-- museum: ");
    let mut now = parts.next().unwrap_or_default().to_string();
    let pieces = gallery();
    let mut shown = 0;
    for part in parts {
        let (name, rest) = part.split_once(" -->\n").ok_or("a museum mark without an end")?;
        let (_, after) = rest.split_once("<!-- end -->").ok_or(format!("{name} has no end mark"))?;
        let piece = pieces.iter().find(|piece| piece.name == name).ok_or(format!("no exhibit is called {name}"))?;
        let showing = piece.show();
        let steps = showing.steps.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        now += &format!(
            "<!-- museum: {name} -->\n```text\n{steps}\n\nrejected after {}: {}\n```\n<!-- end -->{after}",
            showing.looked_at, showing.how
        );
        shown += 1;
    }
    assert!(shown >= 5, "the findings show {shown} exhibits");
    if now == text {
        return Ok(());
    }
    if std::env::var_os("UPDATE_NOTES").is_some() {
        std::fs::write(path, now)?;
        return Ok(());
    }
    Err("notes/findings.md is behind: UPDATE_NOTES=1 cargo test -p model-checks --test museum findings".into())
}
