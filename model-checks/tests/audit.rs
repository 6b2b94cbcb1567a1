//! The ordering audit of every table, and that it can fail: a site that is too strong survives.

use libtest_mimic::{Arguments, Failed, Trial};
use model_checks::audit::{Fate, Table, WAIVERS, Waiver, audit, mutants, tables, try_mutant};
use model_checks::evidence::Outcome;
use model_checks::job::run_if_asked;
use model_checks::models::{AcquireComplete, Model, Reuse, SubmitTake, WithdrawAcquire};
use model_checks::museum::{OVERSTRONG_SITES, Overstrong};
use model_checks::platform::Weakening;
use slotwork::Design;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = run_if_asked() {
        return code;
    }
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for table in tables() {
        for mutant in mutants(&table) {
            let table = table.clone();
            trials.push(Trial::test(format!("audit::{mutant}"), move || {
                let row = audit(&table, &mutant, WAIVERS);
                println!("{}: {} ({} view, {} {})", row.subject, row.property, row.view, row.count, row.unit);
                row.verdict().map_err(Failed::from)
            }));
        }
    }
    trials.push(Trial::test("audit::every_waiver_is_of_a_mutant", every_waiver_is_of_a_mutant));
    trials.push(Trial::test("audit::what_is_too_strong_survives", what_is_too_strong_survives));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn every_waiver_is_of_a_mutant() -> Result<(), Failed> {
    let all: Vec<String> = tables().iter().flat_map(mutants).map(|mutant| mutant.to_string()).collect();
    for Waiver { weakening, reason } in WAIVERS {
        assert!(all.iter().any(|mutant| mutant == weakening), "{weakening} is no mutant");
        assert!(reason.len() > 20, "{weakening} is waived without a reason");
    }
    Ok(())
}

/// Sites that were made stronger on purpose: the audit must say so, unless they are waived.
fn what_is_too_strong_survives() -> Result<(), Failed> {
    let table = Table {
        name: "overstrong",
        sites: OVERSTRONG_SITES,
        designs: vec![(Overstrong::NAME, Overstrong::CLAIMS)],
        models: Some(&[SubmitTake::NAME, Reuse::NAME, WithdrawAcquire::NAME, AcquireComplete::NAME]),
    };
    let mut fates = Vec::new();
    for mutant in mutants(&table) {
        let (fate, _, executions) = try_mutant(&table, &mutant);
        println!("{mutant}: {fate:?}, {executions} executions");
        assert!(executions > 0);
        fates.push((mutant.to_string(), matches!(fate, Fate::Survived)));
    }
    let survives = |name: &str| fates.iter().find(|(mutant, _)| mutant == name).is_some_and(|&(_, survived)| survived);
    assert!(survives("overstrong.CLAIM=AcqRel"), "sequential consistency that nobody needs");
    assert!(survives("overstrong.FREE_LOAD=Relaxed"), "an acquire that the claim repeats");
    assert!(!survives("overstrong.FREE_SET=Relaxed"), "the result is published by it");
    let survivor: Weakening = "overstrong.FREE_LOAD=Relaxed".parse().map_err(|error| format!("{error}"))?;
    assert!(
        matches!(audit(&table, &survivor, &[]).outcome, Outcome::Failed { .. }),
        "a survivor without a reason fails"
    );
    let waiver = |weakening| [Waiver { weakening, reason: "seeded on purpose, for this test" }];
    assert!(audit(&table, &survivor, &waiver("overstrong.FREE_LOAD=Relaxed")).verdict().is_ok());
    let killed: Weakening = "overstrong.FREE_SET=Relaxed".parse().map_err(|error| format!("{error}"))?;
    assert!(audit(&table, &killed, &waiver("overstrong.FREE_SET=Relaxed")).verdict().is_err(), "a stale waiver");
    Ok(())
}
