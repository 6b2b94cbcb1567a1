//! The road from the second to the third version of the 2018 workqueue and on from there, a step a row.
//!
//! A step is a design with its way to wait and to dispatch: see [`steps`], which is the whole list. To add
//! one, add a line there; its design need not be in the catalog.

use super::Watch;
use super::configuration::Policy;
use super::configuration::{
    Configuration, ConfigurationError, Driven, Manner, SubmitterWaits, WantedDispatch, completion_name, dispatch_name,
};
use super::drive::{DriveError, Run, Until};
use super::job::Job;
use super::memory::PAGE;
use super::results::median;
use crate::report::table;
use clap::ValueEnum;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// What the workers do in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    /// Nothing: what remains is the queue.
    Empty,
    /// Compress a page.
    Page,
}

impl Work {
    /// As it is shown.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Page => "page",
        }
    }
}

/// One step of the ladder.
#[derive(Clone, Debug)]
pub struct Step {
    /// What changes from the step before.
    pub change: &'static str,
    /// What runs.
    pub configuration: Configuration,
}

/// The steps there are, in order; a step whose design cannot do what it asks for is left out.
///
/// # Errors
/// [`ConfigurationError::Unknown`], when the catalog has lost a design.
///
/// # Panics
/// When the catalog has other layouts between the versions than it had.
pub fn steps() -> Result<Vec<Step>, ConfigurationError> {
    let design = |name| Configuration::named(name, Manner::BEST).map(|configuration| configuration.driven);
    let (v2, v3) = (design("shared-bitmap")?, design("bitmap")?);
    let between = <[Driven; 3]>::try_from(Driven::between());
    let [aligned, requests, bitmaps] = between.expect("three layouts lie between the versions; a test walks them");
    let settled = |manner| Manner { waiting: Policy::Settle, submitter: SubmitterWaits::Wait, ..manner };
    let filling = |manner| Manner { dispatch: WantedDispatch::FillFirst, ..manner };
    let all = [
        ("v2", "one pair of bitmaps for all workers, nothing aligned", v2, Manner::V2),
        ("aligned", "bitmaps and cursor begin a line each", aligned, Manner::V2),
        ("requests", "each request begins a line: no two workers' share one", requests, Manner::V2),
        ("events", "each worker has a completion event of its own", requests, Manner::V3),
        ("bitmaps", "each worker's bits begin a line", bitmaps, Manner::V3),
        ("v3", "one word per worker, plain flips", v3, Manner::V3),
        ("v3-fill", "one worker filled first", v3, filling(Manner::V3)),
        ("v2-settle", "as v2, but workers and submitter yield, then sleep", v2, settled(Manner::V2)),
        ("v3-settle", "as v3, but the same", v3, settled(Manner::V3)),
        ("v3-fill-settle", "one worker filled first, and the same", v3, filling(settled(Manner::V3))),
    ];
    let step = |(name, change, driven, manner)| {
        Configuration::new(name, driven, manner).ok().map(|configuration| Step { change, configuration })
    };
    Ok(all.into_iter().filter_map(step).collect())
}

/// Every other design of the catalog in the best known manner, to see what lies beyond the ladder.
#[must_use]
pub fn beyond(steps: &[Step]) -> Vec<Step> {
    let on_ladder = |design: &str| steps.iter().any(|step| step.configuration.driven.design == design);
    let all = Configuration::all(Manner::BEST).into_iter();
    let others = all.filter(|configuration| !on_ladder(configuration.driven.design));
    others.map(|configuration| Step { change: "beyond: another design", configuration }).collect()
}

/// What is to be measured.
#[derive(Debug)]
pub struct Plan {
    /// The rows.
    pub steps: Vec<Step>,
    /// Worker threads of each column.
    pub threads: Vec<usize>,
    /// Requests per worker.
    pub requests: usize,
    /// How often all is repeated.
    pub rounds: usize,
    /// Length of a run.
    pub window: Duration,
    /// What the workers do.
    pub work: Vec<Work>,
    /// What compresses pages.
    pub compress: Arc<Job>,
    /// What does nothing.
    pub nothing: Arc<Job>,
}

/// One run: a line of the CSV.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The step.
    pub step: &'static str,
    /// What changes from the step before.
    pub change: &'static str,
    /// Its design.
    pub design: &'static str,
    /// How its workers wait.
    pub waiting: String,
    /// How its submitter goes on from worker to worker.
    pub dispatch: &'static str,
    /// What its submitter does when no request is free.
    pub submitter: String,
    /// How many completion events there are: one, or one per worker.
    pub completion_events: &'static str,
    /// What the workers do.
    pub work: Work,
    /// Worker threads.
    pub threads: usize,
    /// Requests per worker.
    pub requests_per_thread: usize,
    /// Which round, from 0.
    pub round: usize,
    /// "measured", or why not.
    pub status: String,
    /// Requests submitted, and handled.
    pub requests: Option<u64>,
    /// Attempts that found no request free.
    pub failed_attempts: Option<u64>,
    /// From the first request to the end of the drain.
    pub seconds: Option<f64>,
    /// Requests per second.
    pub requests_per_second: Option<f64>,
    /// Requests per second of processor time: hardly moves when others use the machine too.
    pub requests_per_processor_second: Option<f64>,
    /// Sleeping workers that were woken.
    pub worker_wakes: Option<u64>,
    /// Sleeping submitters that were woken.
    pub submitter_wakes: Option<u64>,
}

/// What was measured.
#[derive(Debug, Default)]
pub struct Measured {
    /// A row per run, in the order of the runs.
    pub rows: Vec<Row>,
    /// Runs that failed, a line each.
    pub failures: Vec<String>,
    /// Whether it was broken off.
    pub interrupted: bool,
}

impl Plan {
    /// Runs in all: the unit of progress.
    #[must_use]
    pub fn runs(&self) -> u64 {
        (self.steps.len() * self.threads.len() * self.work.len() * self.rounds) as u64
    }

    /// Measures: in each round one run of each step, with each kind of work and number of threads.
    pub fn measure(&self, watch: &mut Watch<'_>) -> Measured {
        let mut measured = Measured::default();
        for round in 0..self.rounds {
            let columns = self.work.iter().flat_map(|&work| self.threads.iter().map(move |&threads| (work, threads)));
            for (work, threads) in columns {
                for step in &self.steps {
                    let row = |status: String, run| self.row(step, work, threads, round, status, run);
                    if let Some(refusal) = step.configuration.refusal(threads, self.requests) {
                        measured.rows.push(row(format!("n/a ({refusal})"), None));
                        watch.advance(1);
                        continue;
                    }
                    match self.run(step, work, threads, watch) {
                        Ok(Some(run)) => measured.rows.push(row("measured".into(), Some(&run))),
                        Ok(None) => {
                            measured.interrupted = true;
                            return measured;
                        }
                        Err(error) => {
                            let name = step.configuration.name;
                            measured.failures.push(format!("{name} at {threads} threads, {}: {error}", work.word()));
                            measured.rows.push(row(format!("failed ({error})"), None));
                        }
                    }
                    watch.advance(1);
                }
            }
        }
        measured
    }

    fn run(&self, step: &Step, work: Work, threads: usize, watch: &mut Watch<'_>) -> Result<Option<Run>, DriveError> {
        let setup = step.configuration.setup(threads, self.requests);
        let mut quiet = Watch { interrupted: watch.interrupted, progress: &mut |_| {} };
        let until = Until::Time(self.window);
        let job = if work == Work::Empty { &self.nothing } else { &self.compress };
        step.configuration.driven.run(setup, job, until, &mut quiet)
    }

    fn row(&self, step: &Step, work: Work, threads: usize, round: usize, status: String, run: Option<&Run>) -> Row {
        let configuration = &step.configuration;
        Row {
            step: configuration.name,
            change: step.change,
            design: configuration.driven.design,
            waiting: configuration.waiting.to_string(),
            dispatch: dispatch_name(configuration.dispatch),
            submitter: configuration.submitter.to_string(),
            completion_events: completion_name(configuration.completion),
            work,
            threads,
            requests_per_thread: self.requests,
            round,
            status,
            requests: run.map(|run| run.requests),
            failed_attempts: run.map(|run| run.failed_attempts),
            seconds: run.map(|run| run.time.as_secs_f64()),
            requests_per_second: run.map(Run::requests_per_second),
            requests_per_processor_second: run
                .and_then(|run| Some(run.requests as f64 / run.processor_time?.as_secs_f64().max(1e-9))),
            worker_wakes: run.map(|run| run.wakes.0),
            submitter_wakes: run.map(|run| run.wakes.1),
        }
    }
}

/// The median of a figure in one cell.
fn cell(rows: &[Row], step: &str, work: Work, threads: usize, figure: fn(&Row) -> Option<f64>) -> Option<f64> {
    let own = rows.iter().filter(|row| row.step == step && row.work == work && row.threads == threads);
    median(own.filter_map(figure))
}

/// How many times step v3 a step is, in the same round: median over the rounds.
fn times_v3(plan: &Plan, rows: &[Row], step: &str, work: Work, threads: usize) -> Option<f64> {
    median((0..plan.rounds).filter_map(|round| {
        let figure = |step: &str| {
            let own = |row: &&Row| (row.step, row.work, row.threads, row.round) == (step, work, threads, round);
            rows.iter().find(own)?.requests_per_second
        };
        Some(figure(step)? / figure("v3")?)
    }))
}

/// A table per kind of work: a step a row, a number of threads a column.
#[must_use]
pub fn ladder_tables(plan: &Plan, rows: &[Row]) -> String {
    let mut text = String::new();
    for &work in &plan.work {
        let (name, unit, scale) = match work {
            Work::Empty => ("Empty", "million requests per second", 1e6),
            Work::Page => ("Page", "GB/s (10⁹ bytes)", 1e9 / PAGE as f64),
        };
        let most = plan.threads.iter().copied().max().unwrap_or(1);
        let mut header =
            vec!["step".to_string(), "design".into(), "waiting".into(), "dispatch".into(), "events".into()];
        header.extend(plan.threads.iter().map(|threads| format!("{threads} thr")));
        header.extend(["× v3".to_string(), "per processor s".into(), "what changes".into()]);
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let mut ladder = table(&header, 5..7 + plan.threads.len());
        for step in &plan.steps {
            let configuration = &step.configuration;
            let shown =
                |value: Option<f64>, digits: usize| value.map_or("–".into(), |value| format!("{value:.digits$}"));
            let figure =
                |threads, figure| cell(rows, configuration.name, work, threads, figure).map(|value: f64| value / scale);
            let mut line = vec![
                configuration.name.to_string(),
                configuration.driven.design.to_string(),
                configuration.waiting.to_string(),
                dispatch_name(configuration.dispatch).to_string(),
                completion_name(configuration.completion).to_string(),
            ];
            line.extend(plan.threads.iter().map(|&threads| shown(figure(threads, |row| row.requests_per_second), 3)));
            line.extend([
                shown(times_v3(plan, rows, configuration.name, work, most), 1),
                shown(figure(most, |row| row.requests_per_processor_second), 3),
                step.change.to_string(),
            ]);
            ladder.add_row(line);
        }
        text.push_str(&format!(
            "{name} handler, one submitter, {} requests per worker: {unit}, median of {} runs\n{ladder}\n\
             × v3: multiple of step v3 at {most} threads in the same round; per processor s: at {most} threads, per second \
             of processor time\n\n",
            plan.requests, plan.rounds,
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ladder_goes_from_v2_to_v3_and_every_design_is_somewhere() {
        let steps = steps().unwrap();
        let names: Vec<&str> = steps.iter().map(|step| step.configuration.name).collect();
        assert_eq!(names[..7], ["v2", "aligned", "requests", "events", "bitmaps", "v3", "v3-fill"]);
        assert!(steps[..7].iter().all(|step| step.configuration.waiting == Policy::Busy1000));
        let unlike = |step: &Step| {
            let Configuration { driven, completion, dispatch, .. } = step.configuration;
            (driven.design, completion_name(completion), dispatch_name(dispatch))
        };
        for pair in steps[..7].windows(2) {
            let ((design, events, dispatch), next) = (unlike(&pair[0]), unlike(&pair[1]));
            let changed = [design != next.0, events != next.1, dispatch != next.2];
            assert_eq!(changed.iter().filter(|&&changed| changed).count(), 1, "{pair:?}: a step changes one thing");
        }
        let beyond = beyond(&steps);
        for entry in slotwork_catalog::ENTRIES {
            let design = |step: &&Step| step.configuration.driven.design == entry.name;
            assert!(steps.iter().chain(&beyond).any(|step| design(&step)), "{}", entry.name);
        }
    }
}
