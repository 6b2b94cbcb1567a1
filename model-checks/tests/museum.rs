//! Every known fault, by whatever check: the suite fails when one of them is accepted.

use libtest_mimic::{Arguments, Failed, Trial};
use model_checks::job::run_if_asked;
use model_checks::museum::{Piece, gallery};
use std::collections::BTreeSet;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = run_if_asked() {
        return code;
    }
    let arguments = Arguments::from_args();
    let mut trials: Vec<Trial> = gallery().into_iter().map(trial).collect();
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
