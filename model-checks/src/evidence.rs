//! What one check found out about one design: a row of its proof card.
//!
//! ```text
//!   design · property ◀── check, subject, view, extent ──▶ count, witnesses, time ──▶ outcome
//! ```
//!
//! A row without a count says nothing, and is refused: see [`Evidence::verdict`].

use serde::{Deserialize, Serialize};
use std::fmt;

/// The kinds of checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// A small program, explored by loom.
    Model,
    /// A larger program, sampled by shuttle.
    Sampled,
    /// Recorded runs, searched for an order that explains them.
    History,
    /// Calls on one thread, counted: limits, allocations.
    Inspection,
    /// Threads suspended at every step, and every periodic schedule.
    Progress,
    /// A site weakened, and every model run again.
    Audit,
    /// A known-bad variant, which must be rejected.
    Museum,
}

impl Check {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::Model, Self::Sampled, Self::History, Self::Inspection, Self::Progress, Self::Audit, Self::Museum];

    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Sampled => "sampled",
            Self::History => "history",
            Self::Inspection => "inspection",
            Self::Progress => "progress",
            Self::Audit => "audit",
            Self::Museum => "museum",
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// How much of what there is was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// Everything that the view can see.
    Complete,
    /// Everything with that many preemptions, steps or threads, as the check says; no more.
    Bounded(u64),
    /// What was drawn.
    Sampled,
}

impl fmt::Display for Extent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete => formatter.pad("complete"),
            Self::Bounded(bound) => formatter.pad(&format!("bounded ({bound})")),
            Self::Sampled => formatter.pad("sampled"),
        }
    }
}

/// How a check ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Nothing was wrong.
    Passed,
    /// Something was.
    Failed {
        /// What, in one line.
        why: String,
        /// Arguments of `slotwork` that show the same failure again.
        replay: String,
    },
    /// The check ended without an answer: never a pass.
    GaveUp {
        /// Why, in one line.
        why: String,
    },
    /// The design does not claim what the check is about.
    NotApplicable {
        /// Why, in one line.
        why: String,
    },
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The design.
    pub design: String,
    /// What is being established, in a few words: `one owner per slot`, `acquire is lock-free`.
    pub property: String,
    /// The kind of check.
    pub check: Check,
    /// Which check of that kind: the model, the scenario, the operation, the site.
    pub subject: String,
    /// How it looked: a view of loom, a scheduler of shuttle, real threads.
    pub view: String,
    /// How far it looked.
    pub extent: Extent,
    /// How many executions, schedules or histories it looked at.
    pub count: u64,
    /// What was counted.
    pub unit: String,
    /// The interesting cases, and in how many of them each was seen.
    pub witnesses: Vec<(String, u64)>,
    /// Time, ms.
    pub milliseconds: u64,
    /// What this check cannot see.
    pub blind: String,
    /// How it ended.
    pub outcome: Outcome,
}

impl Evidence {
    /// Whether it counts for the design: it passed, it looked at something, and it saw what it is about.
    ///
    /// # Errors
    /// Why not, in one line.
    pub fn verdict(&self) -> Result<(), String> {
        match &self.outcome {
            Outcome::Passed => {
                if self.count == 0 {
                    return Err(format!("{}: it looked at no {}", self.subject, self.unit));
                }
                match self.witnesses.iter().find(|&&(_, count)| count == 0) {
                    Some((name, _)) => Err(format!("{}: the interesting case '{name}' never occurred", self.subject)),
                    None => Ok(()),
                }
            }
            Outcome::Failed { why, .. } => Err(format!("{}: {why}", self.subject)),
            Outcome::GaveUp { why } => Err(format!("{}: no answer: {why}", self.subject)),
            Outcome::NotApplicable { .. } => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(count: u64, witness: u64, outcome: Outcome) -> Evidence {
        Evidence {
            design: "bitmap".into(),
            property: "one owner per slot".into(),
            check: Check::Model,
            subject: "reuse".into(),
            view: "weak".into(),
            extent: Extent::Complete,
            count,
            unit: "executions".into(),
            witnesses: vec![("overlap".into(), witness)],
            milliseconds: 1,
            blind: "load buffering".into(),
            outcome,
        }
    }

    #[test]
    fn only_a_pass_that_looked_and_saw_counts() {
        assert!(evidence(3, 1, Outcome::Passed).verdict().is_ok());
        assert!(evidence(0, 1, Outcome::Passed).verdict().is_err());
        assert!(evidence(3, 0, Outcome::Passed).verdict().is_err());
        assert!(evidence(3, 1, Outcome::GaveUp { why: "budget".into() }).verdict().is_err());
        let failed = Outcome::Failed { why: "two owners".into(), replay: "verify".into() };
        assert!(evidence(3, 1, failed).verdict().is_err());
    }

    #[test]
    fn a_row_survives_json() {
        let row = evidence(3, 1, Outcome::Passed);
        let text = serde_json::to_string(&row).unwrap();
        assert_eq!(serde_json::from_str::<Evidence>(&text).unwrap(), row);
    }
}
