//! What is to be checked: the tasks of a run, each with a name that says all of it.
//!
//! ```text
//!   model/<model>/<design>/<view>/<bound>      one model of one design in one view
//!   progress/<design>                          its operations, with threads suspended
//!   history/<design>                           its recorded runs
//!   inspection/<design>                        its limits, and whether it allocates
//!   audit/<table>.<SITE>=<ordering>            one ordering, weakened
//!   museum/<exhibit>                           a known fault, which must be rejected
//! ```
//!
//! The plan depends on the code and on what was asked for, and on nothing else: two machines that run
//! the same commit make the same plan, so that its parts can be run apart and put together.

use super::one::run_apart;
use crate::audit::{WAIVERS, audit, mutants, tables};
use crate::evidence::{Check, Evidence, Extent, Outcome};
use crate::job::{Job, Lens, Verdict};
use crate::models::{Model, ModelVisitor, visit_large_models, visit_models, visit_sampled_models};
use crate::museum::gallery;
use serde::{Deserialize, Serialize};
use slotwork_catalog::{ENTRIES, Entry, UnknownDesign};
use std::fmt;
use std::time::Instant;

/// How hard to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Bounded, in minutes.
    Quick,
    /// To bound 3, without bounds where that ends, in under an hour.
    Full,
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Quick => "quick",
            Self::Full => "full",
        })
    }
}

/// One thing to do, in a process of its own.
#[derive(Clone, Debug)]
pub enum Task {
    /// A model.
    Model(ModelTask),
    /// The progress of one design.
    Progress(&'static str, Level),
    /// The histories of one design.
    History(&'static str, Level),
    /// The limits and allocations of one design.
    Inspection(&'static str, Level),
    /// A mutant, by its table and its weakening.
    Audit(&'static str, String),
    /// An exhibit.
    Museum(String),
}

/// A model, with what its report is held to.
#[derive(Clone, Debug)]
pub struct ModelTask {
    job: Job,
    property: &'static str,
    floor: u64,
    /// Why the model says nothing about the design, if so.
    skip: Option<&'static str>,
}

impl Task {
    /// Its name; no two of a plan have the same.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Model(ModelTask { job: Job { model, design, lens, bound, .. }, .. }) => {
                let bound = bound.map_or_else(|| "none".into(), |bound| bound.to_string());
                format!("model/{model}/{design}/{lens}/{bound}")
            }
            Self::Progress(design, _) => format!("progress/{design}"),
            Self::History(design, _) => format!("history/{design}"),
            Self::Inspection(design, _) => format!("inspection/{design}"),
            Self::Audit(_, mutant) => format!("audit/{mutant}"),
            Self::Museum(exhibit) => format!("museum/{exhibit}"),
        }
    }

    /// Does it.
    #[must_use]
    pub fn run(&self) -> Vec<Evidence> {
        match self {
            Self::Model(task) => vec![task.run()],
            Self::Progress(design, level) => run_apart(Check::Progress, design, *level),
            Self::History(design, level) => run_apart(Check::History, design, *level),
            Self::Inspection(design, level) => run_apart(Check::Inspection, design, *level),
            Self::Audit(table, mutant) => tables()
                .iter()
                .filter(|known| known.name == *table)
                .flat_map(|table| mutants(table).into_iter().map(move |mutant| (table, mutant)))
                .filter(|(_, known)| known.to_string() == *mutant)
                .map(|(table, mutant)| audit(table, &mutant, WAIVERS))
                .collect(),
            Self::Museum(name) => {
                gallery().iter().filter(|piece| piece.name == *name).map(crate::museum::Piece::evidence).collect()
            }
        }
    }
}

impl ModelTask {
    fn run(&self) -> Evidence {
        let start = Instant::now();
        let Job { model, design, lens, bound, .. } = &self.job;
        let sampled = Lens::SAMPLING.contains(lens);
        let (count, witnesses, outcome) = match self.skip {
            Some(why) => (0, Vec::new(), Outcome::NotApplicable { why: format!("the design {why}") }),
            None => match self.job.run_apart() {
                Verdict::Accepted(report) if report.executions < self.floor => {
                    let why = format!("{} executions are fewer than its floor of {}", report.executions, self.floor);
                    (report.executions, report.witnesses, Outcome::GaveUp { why })
                }
                Verdict::Accepted(report) => (report.executions, report.witnesses, Outcome::Passed),
                Verdict::Rejected { executions, why } => {
                    let replay = self.job.replay(executions).arguments();
                    (executions, Vec::new(), Outcome::Failed { why, replay })
                }
                Verdict::Broken(why) => (0, Vec::new(), Outcome::GaveUp { why: why.replace('\n', " ") }),
            },
        };
        Evidence {
            design: design.clone(),
            property: self.property.into(),
            check: if sampled { Check::Sampled } else { Check::Model },
            subject: model.clone(),
            view: lens.to_string(),
            extent: match bound {
                _ if sampled => Extent::Sampled,
                Some(bound) => Extent::Bounded(*bound as u64),
                None => Extent::Complete,
            },
            count,
            unit: if sampled { "schedules" } else { "executions" }.into(),
            witnesses,
            milliseconds: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
            blind: lens.blind().into(),
            outcome,
        }
    }
}

/// Everything to be done at a level, for the designs of these names, or for all; in a fixed order.
///
/// # Errors
/// [`UnknownDesign`].
pub fn plan(level: Level, designs: &[String]) -> Result<Vec<Task>, UnknownDesign> {
    let mut chosen = Vec::new();
    for design in designs {
        let entry = slotwork_catalog::entry(design)?;
        if chosen.iter().all(|other: &&Entry| other.name != entry.name) {
            chosen.push(entry);
        }
    }
    if chosen.is_empty() {
        chosen.extend(ENTRIES);
    }
    let mut tasks = Vec::new();
    for entry in &chosen {
        tasks.push(Task::Progress(entry.name, level));
        tasks.push(Task::History(entry.name, level));
        tasks.push(Task::Inspection(entry.name, level));
        let explored = visit_models(&mut Models(entry, level, &Lens::EXPLORING));
        let sampled = visit_sampled_models(&mut Models(entry, level, &Lens::SAMPLING));
        // Eight threads and fifty rounds.
        let large = match level {
            Level::Quick => Vec::new(),
            Level::Full => visit_large_models(&mut Models(entry, level, &Lens::SAMPLING)),
        };
        tasks.extend(explored.into_iter().chain(sampled).chain(large).flatten().map(Task::Model));
    }
    for table in tables() {
        // What stands around all designs is audited with all of them, or with none.
        let asked = |(name, _): &(&str, _)| chosen.iter().any(|entry| entry.name == *name);
        if table.designs.iter().any(asked) {
            tasks.extend(mutants(&table).iter().map(|mutant| Task::Audit(table.name, mutant.to_string())));
        }
    }
    if designs.is_empty() {
        tasks.extend(gallery().into_iter().map(|piece| Task::Museum(piece.name)));
    }
    Ok(tasks)
}

/// The tasks of each model for one design. A view that cannot differ from another one is left out.
struct Models<'a>(&'a Entry, Level, &'a [Lens]);

impl ModelVisitor for Models<'_> {
    type Output = Vec<ModelTask>;

    fn visit<M: Model>(&mut self) -> Vec<ModelTask> {
        let Self(entry, level, lenses) = self;
        let skip = M::skip(&entry.claims);
        let looked = lenses.iter().filter(|lens| lens.says_something(M::PARKS, entry.sites));
        let task = |&lens: &Lens| ModelTask {
            job: Job {
                model: M::NAME.into(),
                design: entry.name.into(),
                lens,
                bound: M::bound(&entry.claims).of(lens, *level == Level::Full),
                weakening: None,
            },
            property: M::PROPERTY,
            floor: M::FLOOR,
            skip,
        };
        // What a design does not claim is said once.
        looked.take(if skip.is_some() { 1 } else { usize::MAX }).map(task).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// No design is only listed: each has every model, be it to say that it does not claim what the model is about.
    #[test]
    fn modelable_every_design_has_every_model() {
        for level in [Level::Quick, Level::Full] {
            let mut models: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for task in plan(level, &[]).unwrap() {
                if let Task::Model(ModelTask { job, .. }) = task {
                    models.entry(job.design).or_default().insert(job.model);
                }
            }
            assert_eq!(models.len(), ENTRIES.len());
            let first = models[ENTRIES[0].name].clone();
            assert!(first.len() > 10, "{first:?}");
            for (design, models) in models {
                assert_eq!(models, first, "{design}");
            }
        }
    }
}
