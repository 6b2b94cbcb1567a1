//! Showing an exhibit: its rejection, its minimal interleaving, and its sound counterpart.

use super::Exhibit;
use crate::evidence::{Check, Evidence, Extent, Outcome};
use crate::job::{Job, Lens, Verdict};
use std::time::Instant;

/// An exhibit as it was rejected, with as few thread switches as that takes.
#[derive(Clone, Debug)]
pub struct Showing {
    /// Preemptions that it takes: a thread switch where the thread could have gone on.
    pub preemptions: usize,
    /// Executions until it was rejected, at that bound.
    pub executions: u64,
    /// What was wrong.
    pub why: String,
    /// The steps of that execution, as a table.
    pub steps: String,
}

/// More preemptions than any exhibit takes.
const MOST_PREEMPTIONS: usize = 6;

impl Exhibit {
    fn job(&self, (model, design): (&str, &str), bound: Option<usize>) -> Job {
        Job { model: model.into(), design: design.into(), lens: self.lens, bound, weakening: None }
    }

    /// Rejects it with no preemption, with one, with two…: the first time that it works is the
    /// smallest interleaving that shows the fault.
    ///
    /// # Errors
    /// What happened instead, in one line.
    pub fn show(&self) -> Result<Showing, String> {
        let explored = Lens::EXPLORING.contains(&self.lens);
        for preemptions in 0..=MOST_PREEMPTIONS {
            let (verdict, steps) = self.job(self.bad, explored.then_some(preemptions)).run_apart_with_steps();
            match verdict {
                Verdict::Rejected { executions, why } => return Ok(Showing { preemptions, executions, why, steps }),
                Verdict::Accepted(_) if explored => {}
                Verdict::Accepted(_) => break,
                Verdict::Broken(text) => return Err(format!("the run broke off: {text}")),
            }
        }
        Err("a known fault was accepted".into())
    }

    /// Whether its sound counterpart is accepted, and after how many executions.
    ///
    /// # Errors
    /// What happened instead, in one line.
    pub fn counterpart(&self) -> Result<u64, String> {
        match self.job(self.good, None).run_apart() {
            Verdict::Accepted(report) => Ok(report.executions),
            Verdict::Rejected { executions, why } => Err(format!("its counterpart is wrong in execution {executions}: {why}")),
            Verdict::Broken(text) => Err(format!("its counterpart broke off: {text}")),
        }
    }

    /// Both, as a row: it passes when the exhibit is rejected and its counterpart is not.
    #[must_use]
    pub fn evidence(&self) -> Evidence {
        let start = Instant::now();
        let both = self.show().and_then(|showing| Ok((showing, self.counterpart()?)));
        let (property, count, witnesses, outcome) = match both {
            Ok((showing, counterpart)) => (
                format!("rejected with {} preemptions: {}", showing.preemptions, showing.why),
                showing.executions,
                vec![("executions of the counterpart, accepted".into(), counterpart)],
                Outcome::Passed,
            ),
            Err(why) => {
                let replay = format!("museum {}", self.name);
                ("rejected".into(), 0, Vec::new(), Outcome::Failed { why: why.replace('\n', " "), replay })
            }
        };
        Evidence {
            design: self.bad.1.into(),
            property,
            check: Check::Museum,
            subject: self.name.into(),
            view: self.lens.to_string(),
            extent: Extent::Complete,
            count,
            unit: "executions until rejected".into(),
            witnesses,
            milliseconds: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
            blind: "other ways into the same fault".into(),
            outcome,
        }
    }
}
