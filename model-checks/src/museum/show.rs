//! Showing an exhibit: its rejection, its minimal interleaving, and its sound counterpart.

use super::Exhibit;
use crate::job::{Job, Lens, Sampling, Verdict};

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
            let (verdict, steps) =
                self.job(self.bad, explored.then_some(preemptions)).sample_apart_with_steps(Sampling::default());
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
            Verdict::Rejected { executions, why } => {
                Err(format!("its counterpart is wrong in execution {executions}: {why}"))
            }
            Verdict::Broken(text) => Err(format!("its counterpart broke off: {text}")),
        }
    }
}
