//! The ladder from v2 to v3 on a simulated machine: each step with its gain and its cause.

use super::contender::{self, SimulatedDesign};
use super::explain::cause_of_gain;
use super::pages::{Job, Outcome};
use crate::report::table;
use crate::seeds::ladder::{Step, Work};
use crate::seeds::memory::PAGE;
use serde::Serialize;
use slotwork_coherence::{Options, Profile};
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is to be simulated.
#[derive(Debug)]
pub struct Plan {
    /// The machine.
    pub profile: Profile,
    /// The steps.
    pub steps: Vec<Step>,
    /// Worker threads of each column.
    pub threads: Vec<usize>,
    /// Requests per worker.
    pub requests_per_worker: usize,
    /// Requests of a run.
    pub requests: u64,
    /// What the workers do.
    pub work: Vec<Work>,
    /// The seed.
    pub seed: u64,
}

/// One run: a line of the CSV.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The step, or the configuration.
    pub step: String,
    /// What changes from the step before.
    pub change: String,
    /// Its design.
    pub design: &'static str,
    /// What the workers do.
    pub work: Work,
    /// Worker threads.
    pub threads: usize,
    /// "simulated", or why not.
    pub status: String,
    /// Requests submitted, and handled.
    pub requests: Option<u64>,
    /// Attempts that found no request free.
    pub failed_attempts: Option<u64>,
    /// Simulated seconds.
    pub seconds: Option<f64>,
    /// Requests per simulated second.
    pub requests_per_second: Option<f64>,
    /// 10⁹ bytes of pages per simulated second.
    pub gb_per_second: Option<f64>,
    /// Sleeping workers that were woken.
    pub worker_wakes: Option<u64>,
    /// Accesses that were simulated.
    pub accesses: Option<u64>,
    /// Against the step before: its gain is due to this.
    pub cause: String,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Simulated {
    /// A row per run.
    pub rows: Vec<Row>,
    /// Each run that succeeded: step, threads, and all that is known of it.
    pub outcomes: Vec<(String, usize, Outcome)>,
    /// Runs that failed, a line each.
    pub failures: Vec<String>,
    /// Whether it was broken off.
    pub interrupted: bool,
}

impl Plan {
    /// Runs in all.
    #[must_use]
    pub fn runs(&self) -> u64 {
        (self.steps.len() * self.threads.len() * self.work.len()) as u64
    }

    /// Simulates every step at every number of threads.
    pub fn simulate(&self, options: Options, interrupted: &AtomicBool, progress: &mut dyn FnMut(u64)) -> Simulated {
        let mut simulated = Simulated::default();
        for &work in &self.work {
            for &threads in &self.threads {
                let mut before: Option<Outcome> = None;
                for step in &self.steps {
                    if interrupted.load(Ordering::Relaxed) {
                        simulated.interrupted = true;
                        return simulated;
                    }
                    let name = step.configuration.name;
                    let design = contender::named(step.configuration.driven.design);
                    let refusal = step.configuration.refusal(threads, self.requests_per_worker);
                    match (design, refusal) {
                        (Ok(design), None) => match self.run(design, step, work, threads, options) {
                            Ok(outcome) => {
                                let cause = before
                                    .as_ref()
                                    .map(|before| cause_of_gain(&before.report, &outcome.report, self.requests));
                                simulated.rows.push(row(
                                    step,
                                    work,
                                    threads,
                                    "simulated".into(),
                                    Some(&outcome),
                                    cause,
                                ));
                                before = Some(outcome.clone());
                                simulated.outcomes.push((name.into(), threads, outcome));
                            }
                            Err(error) => {
                                simulated.failures.push(format!("{name} at {threads} threads: {error}"));
                                simulated.rows.push(row(step, work, threads, format!("failed ({error})"), None, None));
                            }
                        },
                        (Err(error), _) => simulated.failures.push(error.to_string()),
                        (_, Some(refusal)) => {
                            simulated.rows.push(row(step, work, threads, format!("n/a ({refusal})"), None, None));
                        }
                    }
                    progress(1);
                }
            }
        }
        simulated
    }

    fn run(
        &self,
        design: SimulatedDesign,
        step: &Step,
        work: Work,
        threads: usize,
        options: Options,
    ) -> Result<Outcome, super::RunError> {
        let job = match work {
            Work::Empty => Job::nothing(self.requests),
            Work::Page => Job::pages(&self.profile, self.requests),
        };
        let setup = step.configuration.setup(threads, self.requests_per_worker);
        (design.pages)(&self.profile, setup, job, Options { seed: self.seed, ..options })
    }
}

fn row(step: &Step, work: Work, threads: usize, status: String, run: Option<&Outcome>, cause: Option<String>) -> Row {
    Row {
        step: step.configuration.name.into(),
        change: step.change.into(),
        design: step.configuration.driven.design,
        work,
        threads,
        status,
        requests: run.map(|run| run.requests),
        failed_attempts: run.map(|run| run.failed_attempts),
        seconds: run.map(|run| run.nanoseconds / 1e9),
        requests_per_second: run.map(Outcome::requests_per_second),
        gb_per_second: run.filter(|_| work == Work::Page).map(Outcome::gb_per_second),
        worker_wakes: run.map(|run| run.wakes.0),
        accesses: run.map(|run| run.report.accesses),
        cause: cause.unwrap_or_default(),
    }
}

fn unit(work: Work) -> (&'static str, f64) {
    match work {
        Work::Empty => ("million requests per simulated second", 1e6),
        Work::Page => ("GB/s (10⁹ bytes) of simulated time", 1e9 / PAGE as f64),
    }
}

/// A table per kind of work: a step a row, a number of threads a column; then each step's gain and cause.
#[must_use]
pub fn tables(plan: &Plan, rows: &[Row]) -> String {
    let mut text = String::new();
    for &work in &plan.work {
        let (unit, scale) = unit(work);
        let figure = |step: &str, threads| {
            let own = |row: &&Row| (row.step.as_str(), row.work, row.threads) == (step, work, threads);
            rows.iter().find(own)?.requests_per_second.map(|rate| rate / scale)
        };
        let mut header = vec!["step".to_string(), "design".into()];
        header.extend(plan.threads.iter().map(|threads| format!("{threads} thr")));
        header.push("what changes".into());
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let mut ladder = table(&header, 2..2 + plan.threads.len());
        for step in &plan.steps {
            let name = step.configuration.name;
            let mut line = vec![name.to_string(), step.configuration.driven.design.to_string()];
            let shown = |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.3}"));
            line.extend(plan.threads.iter().map(|&threads| shown(figure(name, threads))));
            line.push(step.change.into());
            ladder.add_row(line);
        }
        let _ = writeln!(
            text,
            "{} handler, one submitter, {} requests per worker: {unit}\n{ladder}",
            work.word(),
            plan.requests_per_worker
        );
        let most = plan.threads.iter().copied().max().unwrap_or(1);
        let mut gains = table(&["step", "gain", "cause"], 1..2);
        for pair in plan.steps.windows(2) {
            let [before, step] = [pair[0].configuration.name, pair[1].configuration.name];
            let gain = figure(step, most).zip(figure(before, most)).map(|(now, was)| now / was);
            let cause = rows.iter().find(|row| row.step == step && row.work == work && row.threads == most);
            gains.add_row(vec![
                step.to_string(),
                gain.map_or("–".into(), |gain| format!("× {gain:.2}")),
                cause.map_or(String::new(), |row| row.cause.clone()),
            ]);
        }
        let _ = writeln!(text, "Gains from step to step at {most} threads, simulated\n{gains}\n");
    }
    text
}
