//! The ordering audit: every site weakened by one step, and every model run again.
//!
//! ```text
//!   site ──one step weaker──▶ mutant ──▶ models of each design that uses it ──▶ killed: by which, in what view
//!                                                                          └──▶ survivor: waived, with a reason, or a finding
//! ```
//!
//! A killed mutant shows that the ordering is needed. A survivor shows nothing but that *these models
//! at these bounds* do not need it: it is then weakened for good, or killed by a new model, or
//! waived here with a reason. A waiver of a mutant that is killed is stale, and fails too.
//!
//! Relaxed sites have nothing to be weakened, and a lock is not weakened: the audit is about atomics.

use crate::evidence::{Check, Evidence, Extent, Outcome};
use crate::job::{Job, Lens, Verdict};
use crate::models::{Model, ModelVisitor, visit_models};
use crate::museum::MUTANTS;
use crate::platform::Weakening;
use slotwork::{Claims, POOL_SITES, Site};
use slotwork_catalog::ENTRIES;
use slotwork_workqueue::{ENGINE_SITES, EVENT_SITES};
use std::time::Instant;

/// A mutant that no model rejects, and why its site stays as it is.
#[derive(Clone, Copy, Debug)]
pub struct Waiver {
    /// `table.NAME=ordering`.
    pub weakening: &'static str,
    /// Why.
    pub reason: &'static str,
}

/// The waivers.
pub const WAIVERS: &[Waiver] = &[];

/// A table of sites, and who runs it.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name: that of a design, of a shared building block, of the pool or of the event.
    pub name: &'static str,
    /// Its sites.
    pub sites: &'static [Site],
    /// The designs whose models execute it.
    pub designs: Vec<(&'static str, Claims)>,
    /// The models to run, if not all.
    pub models: Option<&'static [&'static str]>,
}

/// Every table that the shipped code has: of the designs of the catalog, and of what stands around them.
#[must_use]
pub fn tables() -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for entry in ENTRIES {
        for &sites in entry.sites {
            let Some(first) = sites.first() else { continue };
            match tables.iter_mut().find(|table| table.name == first.table) {
                Some(table) => table.designs.push((entry.name, entry.claims)),
                None => tables.push(Table {
                    name: first.table,
                    sites,
                    designs: vec![(entry.name, entry.claims)],
                    models: None,
                }),
            }
        }
    }
    // What stands around the designs is executed with every one of them: two of the simplest will do,
    // one for one submitter and one for many.
    let around: Vec<_> = ["bitmap", "bitmap-claim"]
        .iter()
        .filter_map(|name| ENTRIES.iter().find(|entry| entry.name == *name))
        .map(|entry| (entry.name, entry.claims))
        .collect();
    for sites in [POOL_SITES, EVENT_SITES, ENGINE_SITES] {
        if let Some(first) = sites.first() {
            tables.push(Table { name: first.table, sites, designs: around.clone(), models: None });
        }
    }
    tables
}

/// Every mutant of a table.
#[must_use]
pub fn mutants(table: &Table) -> Vec<Weakening> {
    table.sites.iter().flat_map(Weakening::steps).collect()
}

/// The views that a mutant is shown to: stale values first, since they are what most orderings keep out.
const VIEWS: [Lens; 2] = [Lens::Weak, Lens::Interleaving];

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// A model rejected it.
    Killed {
        /// Which model.
        model: String,
        /// Running which design.
        design: String,
        /// In what view.
        view: Lens,
        /// By which execution.
        execution: u64,
        /// What was wrong.
        why: String,
    },
    /// None did.
    Survived,
    /// A model ended in neither way.
    Broken(String),
}

/// Runs the models with one site weakened, until one rejects it. Also: how many runs, and how many executions.
#[must_use]
pub fn try_mutant(table: &Table, mutant: &Weakening) -> (Fate, u64, u64) {
    let (mut runs, mut executions) = (0, 0);
    for job in jobs(table, mutant) {
        runs += 1;
        match job.run_apart() {
            Verdict::Accepted(report) => executions += report.executions,
            Verdict::Rejected { executions: execution, why } => {
                let Job { model, design, lens: view, .. } = job;
                return (Fate::Killed { model, design, view, execution, why }, runs, executions + execution);
            }
            Verdict::Broken(text) => return (Fate::Broken(format!("{}: {text}", job.model)), runs, executions),
        }
    }
    (Fate::Survived, runs, executions)
}

/// What to run, the model that is known to notice first.
fn jobs(table: &Table, mutant: &Weakening) -> Vec<Job> {
    struct Jobs<'a>(&'a Table, &'a Weakening);
    impl ModelVisitor for Jobs<'_> {
        type Output = Vec<Job>;
        fn visit<M: Model>(&mut self) -> Vec<Job> {
            if self.0.models.is_some_and(|models| !models.contains(&M::NAME)) {
                return Vec::new();
            }
            let designs = self.0.designs.iter().filter(|(_, claims)| M::skip(claims).is_none());
            let pairs = VIEWS.iter().flat_map(|&lens| designs.clone().map(move |&(design, _)| (lens, design)));
            pairs
                .map(|(lens, design)| Job {
                    model: M::NAME.into(),
                    design: design.into(),
                    lens,
                    bound: M::BOUND.plain,
                    weakening: Some(self.1.clone()),
                })
                .collect()
        }
    }
    let mut jobs: Vec<_> = visit_models(&mut Jobs(table, mutant)).into_iter().flatten().collect();
    let site = format!("{}.{}", mutant.table, mutant.name);
    let known = |job: &Job| {
        let is_it = |known: &&crate::museum::Mutant| {
            known.weakening.split('=').next() == Some(&site) && known.model == job.model && known.design == job.design
        };
        MUTANTS.iter().any(|known| is_it(&known))
    };
    jobs.sort_by_key(|job| (!known(job), job.lens != Lens::Weak));
    jobs
}

/// The row of one mutant.
#[must_use]
pub fn audit(table: &Table, mutant: &Weakening, waivers: &[Waiver]) -> Evidence {
    let start = Instant::now();
    let (fate, runs, executions) = try_mutant(table, mutant);
    let waiver = waivers.iter().find(|waiver| waiver.weakening == mutant.to_string());
    let failed = |why: String| Outcome::Failed { why, replay: format!("verify --replay 'audit {mutant}'") };
    let (view, finding, outcome) = match (fate, waiver) {
        (Fate::Killed { model, design, view, execution, why }, None) => {
            (view.to_string(), format!("killed by {model} in {design}, execution {execution}: {why}"), Outcome::Passed)
        }
        (Fate::Killed { model, view, .. }, Some(_)) => (
            view.to_string(),
            "killed".into(),
            failed(format!("it is waived, but {model} rejects it: the waiver is stale")),
        ),
        (Fate::Survived, Some(waiver)) => {
            ("all".into(), format!("survives; waived: {}", waiver.reason), Outcome::Passed)
        }
        (Fate::Survived, None) => (
            "all".into(),
            "survives".into(),
            failed(format!("no model rejects it ({runs} runs): too strong, or too few models")),
        ),
        (Fate::Broken(text), _) => ("all".into(), "broke off".into(), Outcome::GaveUp { why: text }),
    };
    Evidence {
        design: table.name.into(),
        property: finding,
        check: Check::Audit,
        subject: mutant.to_string(),
        view,
        extent: Extent::Bounded(runs),
        count: executions,
        unit: "executions".into(),
        witnesses: Vec::new(),
        milliseconds: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
        blind: "load buffering; what the models do not do".into(),
        outcome,
    }
}
