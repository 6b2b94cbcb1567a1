//! Every model, for every design of the catalog, in every view; each in a process of its own.

use libtest_mimic::{Arguments, Failed, Trial};
use model_checks::job::{Job, Lens, Report, Sampling, Verdict, run_if_asked};
use model_checks::models::{Model, ModelVisitor, visit_large_models, visit_models, visit_sampled_models};
use model_checks::museum::{EXHIBITS, Exhibit, MUTANTS, Mutant};
use model_checks::replay::{Replay, replay};
use slotwork::{POOL_SITES, Site};
use slotwork_catalog::{ENTRIES, Entry};
use slotwork_workqueue::{ENGINE_SITES, EVENT_SITES};
use std::collections::BTreeSet;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = run_if_asked() {
        return code;
    }
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    trials.extend(visit_models(&mut Trials(&Lens::EXPLORING)).into_iter().flatten());
    trials.extend(visit_sampled_models(&mut Trials(&Lens::SAMPLING)).into_iter().flatten());
    trials.extend(ENTRIES.iter().map(sites));
    trials.extend(EXHIBITS.iter().flat_map(exhibit));
    trials.extend(MUTANTS.iter().map(mutant));
    trials.push(Trial::test("harness::a_run_that_looked_at_nothing_fails", a_run_that_looked_at_nothing_fails));
    trials.push(Trial::test("harness::a_run_that_does_not_end_well_fails", a_run_that_does_not_end_well_fails));
    trials.extend(Lens::SAMPLING.map(|lens| {
        let name = format!("harness::replay_lost_a_forced_failure_comes_again::{lens}");
        Trial::test(name, move || a_forced_failure_comes_again(lens))
    }));
    trials.push(Trial::test("harness::another_seed_draws_other_schedules", another_seed_draws_other_schedules));
    trials.push(Trial::test("harness::large_models_run", large_models_run));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Every site that a design declares is executed by some model, and so is every one of the pool, the event and the
/// engine; no other site is.
fn sites(entry: &'static Entry) -> Trial {
    struct Jobs(&'static Entry);
    impl ModelVisitor for Jobs {
        type Output = Option<Job>;
        fn visit<M: Model>(&mut self) -> Option<Job> {
            let (model, design, bound) = (M::NAME.into(), self.0.name.into(), Some(1));
            let job = Job { model, design, lens: Lens::Interleaving, bound, weakening: None };
            M::skip(&self.0.claims).is_none().then_some(job)
        }
    }
    Trial::test(format!("sites::{}", entry.name), move || {
        let mut executed = BTreeSet::new();
        for job in visit_models(&mut Jobs(entry)).into_iter().flatten() {
            executed.extend(accepted(job.run_apart())?.sites);
        }
        let names = |tables: &[&[Site]]| -> BTreeSet<String> {
            tables.iter().copied().flatten().map(|site| format!("{}.{}", site.table, site.name)).collect()
        };
        let own = names(entry.sites);
        let all = &own | &names(&[POOL_SITES, EVENT_SITES, ENGINE_SITES]);
        let (unused, undeclared) = (&all - &executed, &executed - &all);
        println!("sites design={} declared={} executed={}", entry.name, own.len(), (&own & &executed).len());
        match (unused.is_empty(), undeclared.is_empty()) {
            (true, true) => Ok(()),
            _ => Err(format!(
                "declared, but executed by no model: {unused:?}; executed, but not declared: {undeclared:?}"
            )
            .into()),
        }
    })
}

/// A known-bad variant is rejected; its sound counterpart passes the same check.
fn exhibit(exhibit: &'static Exhibit) -> [Trial; 2] {
    let job = |(model, design): (&str, &str)| Job {
        model: model.into(),
        design: design.into(),
        lens: exhibit.lens,
        bound: None,
        weakening: None,
    };
    let (bad, good) = (job(exhibit.bad), job(exhibit.good));
    [
        Trial::test(format!("museum::{}::rejected", exhibit.name), move || {
            let (executions, why) = rejected(bad.run_apart())?;
            println!("museum {}: {}", exhibit.name, exhibit.story);
            println!("museum {}: rejected in the {} view by execution {executions}: {why}", exhibit.name, exhibit.lens);
            Ok(())
        }),
        Trial::test(format!("museum::{}::counterpart_accepted", exhibit.name), move || {
            let report = accepted(good.run_apart())?;
            println!("{}", report.line);
            looked(&report, 1)
        }),
    ]
}

/// A weakened site is noticed. That the unweakened one passes is the model's own trial.
fn mutant(mutant: &'static Mutant) -> Trial {
    let Mutant { weakening, model, design, lens } = *mutant;
    Trial::test(format!("museum::{weakening}::{design}"), move || {
        let weakened = Some(weakening.parse().map_err(|error| format!("{error}"))?);
        let job = Job { model: model.into(), design: design.into(), lens, bound: Some(3), weakening: weakened };
        let (executions, why) = rejected(job.run_apart())?;
        println!(
            "museum {weakening} in {design}: rejected by {model} in the {lens} view, execution {executions}: {why}"
        );
        Ok(())
    })
}

fn rejected(verdict: Verdict) -> Result<(u64, String), Failed> {
    match verdict {
        Verdict::Rejected { executions, why } => Ok((executions, why)),
        Verdict::Accepted(report) => Err(format!("a known fault was accepted: {}", report.line).into()),
        Verdict::Broken(text) => Err(format!("the run broke off: {text}").into()),
    }
}

/// Makes the trials of each model: a design that it says nothing about is named, not left out.
struct Trials(&'static [Lens]);

impl ModelVisitor for Trials {
    type Output = Vec<Trial>;

    fn visit<M: Model>(&mut self) -> Vec<Trial> {
        let pairs = ENTRIES.iter().flat_map(|entry| self.0.iter().map(move |&lens| (entry, lens)));
        pairs.filter_map(|(entry, lens)| trial::<M>(entry, lens)).collect()
    }
}

fn trial<M: Model>(entry: &'static Entry, lens: Lens) -> Option<Trial> {
    if !lens.says_something(M::PARKS, entry.sites) {
        return None;
    }
    let name = format!("{}::{}::{lens}", M::NAME, entry.name);
    if let Some(reason) = M::skip(&entry.claims) {
        let line = format!("model={} design={} view={lens} skipped: the design {reason}", M::NAME, entry.name);
        return Some(Trial::test(name, move || {
            println!("{line}");
            Ok(())
        }));
    }
    let job = Job {
        model: M::NAME.into(),
        design: entry.name.into(),
        lens,
        bound: M::bound(&entry.claims).of_this_build(lens),
        weakening: None,
    };
    Some(Trial::test(name, move || {
        let report = run(&job)?;
        println!("{}", report.line);
        looked(&report, M::FLOOR)
    }))
}

/// Runs a job that has to be accepted; otherwise, says how to see the failure again.
fn run(job: &Job) -> Result<Report, Failed> {
    match job.run_apart() {
        Verdict::Rejected { executions, why } => {
            let again = job.replay(executions).command();
            Err(format!("execution {executions} is wrong: {why}; to see it again: {again}").into())
        }
        verdict => accepted(verdict),
    }
}

fn accepted(verdict: Verdict) -> Result<Report, Failed> {
    match verdict {
        Verdict::Accepted(report) => Ok(report),
        Verdict::Rejected { executions, why } => Err(format!("execution {executions} is wrong: {why}").into()),
        Verdict::Broken(text) => Err(format!("the run broke off: {text}").into()),
    }
}

/// A run that explored little, or never met what it is about, is no evidence.
fn looked(report: &Report, floor: u64) -> Result<(), Failed> {
    if report.executions < floor {
        return Err(format!("{} executions are fewer than the floor of {floor}", report.executions).into());
    }
    match report.witnesses.iter().find(|&&(_, count)| count == 0) {
        Some((name, _)) => Err(format!("the interesting case '{name}' never occurred").into()),
        None => Ok(()),
    }
}

fn a_run_that_looked_at_nothing_fails() -> Result<(), Failed> {
    let report = |executions, count| Report {
        executions,
        witnesses: vec![("overlap".into(), count)],
        sites: Vec::new(),
        line: String::new(),
    };
    assert!(looked(&report(5, 1), 5).is_ok());
    assert!(looked(&report(4, 1), 5).is_err(), "below the floor");
    assert!(looked(&report(5, 0), 5).is_err(), "no witness");
    Ok(())
}

/// A design that there is not, and a model that the design cannot be used in: neither is accepted.
fn a_run_that_does_not_end_well_fails() -> Result<(), Failed> {
    let run = |model: &str, design: &str| {
        let (model, design) = (model.into(), design.into());
        Job { model, design, lens: Lens::Weak, bound: Some(1), weakening: None }.run_apart()
    };
    assert!(matches!(run("last_slot", "nonsense"), Verdict::Broken(_)));
    assert!(matches!(run("nonsense", "bitmap-claim"), Verdict::Broken(_)));
    assert!(accepted(run("last_slot", "bitmap")).is_err(), "it takes one submitter");
    assert!(accepted(run("last_slot", "bitmap-claim")).is_ok());
    Ok(())
}

/// A design of the museum fails in a sampled circle; its line, printed and read, fails in the same way.
fn a_forced_failure_comes_again(lens: Lens) -> Result<(), Failed> {
    let job = |design: &str| Job { model: "circle".into(), design: design.into(), lens, bound: None, weakening: None };
    let bad = job("plain-flip");
    let (executions, why) = rejected(bad.run_apart())?;
    let line = bad.replay(executions).to_string();
    println!("{}", bad.replay(executions).command());
    let again = rejected(replay(&line)?)?;
    assert_eq!(again, (executions, why), "the same failure");
    let cut_off = replay(&line[..line.len() - 8]);
    assert!(cut_off.is_err_and(|error| error.to_string().contains("cut off")));
    // The same line with a sound design: the failure does not come.
    let report = accepted(replay(&job("museum-sound").replay(executions).to_string())?)?;
    assert_eq!(report.executions, executions, "it goes as far, and no further");
    Ok(())
}

fn another_seed_draws_other_schedules() -> Result<(), Failed> {
    let model = "circle".into();
    let job = Job { model, design: "plain-flip".into(), lens: Lens::Random, bound: None, weakening: None };
    let mut found = BTreeSet::new();
    for seed in 0..8 {
        let (executions, why) = rejected(job.sample_apart(Sampling { seed, schedules: None }))?;
        let again = Replay { seed, ..job.replay(executions) };
        assert_eq!(rejected(again.run())?, (executions, why));
        found.insert(executions);
    }
    assert!(found.len() > 1, "all seeds fail in execution {found:?}");
    Ok(())
}

/// The large models are for thorough runs; here they only show that they run, and meet what they are about.
fn large_models_run() -> Result<(), Failed> {
    struct Names;
    impl ModelVisitor for Names {
        type Output = &'static str;
        fn visit<M: Model>(&mut self) -> &'static str {
            M::NAME
        }
    }
    const SCHEDULES: u64 = 20;
    let designs = ["bitmap", "freelist-steal"];
    let pairs = visit_large_models(&mut Names).into_iter().flat_map(|model| designs.map(|design| (model, design)));
    for (model, design) in pairs {
        let job = Job { model: model.into(), design: design.into(), lens: Lens::Random, bound: None, weakening: None };
        let report = accepted(job.sample_apart(Sampling { schedules: Some(SCHEDULES), ..Sampling::default() }))?;
        println!("{}", report.line);
        looked(&report, SCHEDULES)?;
    }
    Ok(())
}
