//! The page compression benchmark: rounds of runs, interleaved, and the table that was published.

use super::Watch;
use super::codec::Codec;
use super::configuration::{Configuration, dispatch_name};
use super::drive::{DriveError, Run, Until};
use super::job::{Job, StateOf};
use super::memory::PAGE;
use super::published;
use super::results::median;
use crate::report::table;
use serde::Serialize;
use std::fmt::Write;
use std::sync::Arc;

/// What is to be measured.
#[derive(Debug)]
pub struct Plan {
    /// What competes.
    pub configurations: Vec<Configuration>,
    /// Worker threads of each step.
    pub threads: Vec<usize>,
    /// Requests per worker.
    pub requests: usize,
    /// How often all is repeated.
    pub rounds: usize,
    /// The pages.
    pub job: Arc<Job>,
    /// How they are compressed.
    pub codec: Codec,
    /// Whose the codec's state is.
    pub state: StateOf,
}

/// One run: a line of the CSV.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What ran.
    pub configuration: &'static str,
    /// Its design.
    pub design: &'static str,
    /// How its workers wait.
    pub waiting: String,
    /// How its submitter goes on from worker to worker.
    pub dispatch: &'static str,
    /// What its submitter does when no request is free.
    pub submitter: String,
    /// How pages are compressed.
    pub codec: Codec,
    /// Whose the codec's state is.
    pub state_of: StateOf,
    /// Worker threads.
    pub threads: usize,
    /// Requests per worker.
    pub requests_per_thread: usize,
    /// Which round, from 0.
    pub round: usize,
    /// "measured", or why not.
    pub status: String,
    /// Pages submitted, and compressed.
    pub pages: Option<u64>,
    /// Attempts that found no request free.
    pub failed_attempts: Option<u64>,
    /// From the first page to the end of the drain.
    pub seconds: Option<f64>,
    /// 10⁹ bytes of pages per second.
    pub gb_per_second: Option<f64>,
    /// Compressed bytes per byte.
    pub compression_rate: Option<f64>,
    /// Sleeping workers that were woken.
    pub worker_wakes: Option<u64>,
    /// Processor time per second of the run, in cores.
    pub cores_used: Option<f64>,
    /// 10⁹ bytes of pages per second of processor time: hardly moves when others use the machine too.
    pub gb_per_processor_second: Option<f64>,
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
    /// Pages of all runs together: the unit of progress.
    #[must_use]
    pub fn pages(&self) -> u64 {
        let runs = self.threads.iter().map(|&threads| {
            self.configurations
                .iter()
                .filter(|configuration| configuration.refusal(threads, self.requests).is_none())
                .count()
        });
        (runs.sum::<usize>() * self.rounds) as u64 * self.job.pages() as u64
    }

    /// Measures: in each round one run of each configuration with each number of threads, so that what the
    /// machine does meanwhile meets all of them. What fails is not run again.
    pub fn measure(&self, watch: &mut Watch<'_>, told: &mut dyn FnMut(&Row)) -> Measured {
        let mut measured = Measured::default();
        let mut out = vec![false; self.threads.len() * self.configurations.len()];
        for round in 0..self.rounds {
            let cells = self
                .threads
                .iter()
                .flat_map(|&threads| self.configurations.iter().map(move |configuration| (threads, configuration)));
            for ((threads, configuration), out) in cells.zip(&mut out).filter(|(_, out)| !**out) {
                let row = |status: String, run| self.row(configuration, threads, round, status, run);
                if let Some(refusal) = configuration.refusal(threads, self.requests) {
                    *out = true;
                    measured.rows.push(row(format!("n/a ({refusal})"), None));
                    continue;
                }
                match self.run(configuration, threads, watch) {
                    Ok(Some(run)) => {
                        let row = row("measured".into(), Some(&run));
                        told(&row);
                        measured.rows.push(row);
                    }
                    Ok(None) => {
                        measured.interrupted = true;
                        return measured;
                    }
                    Err(error) => {
                        *out = true;
                        measured.failures.push(format!("{} at {threads} threads: {error}", configuration.name));
                        measured.rows.push(row(format!("failed ({error})"), None));
                    }
                }
            }
        }
        measured
    }

    fn run(
        &self,
        configuration: &Configuration,
        threads: usize,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Run>, DriveError> {
        let setup = configuration.setup(threads, self.requests);
        configuration.driven.run(setup, &self.job, Until::Requests(self.job.pages() as u64), watch)
    }

    fn row(
        &self,
        configuration: &Configuration,
        threads: usize,
        round: usize,
        status: String,
        run: Option<&Run>,
    ) -> Row {
        let bytes = |run: &Run| run.requests as f64 * PAGE as f64;
        Row {
            configuration: configuration.name,
            design: configuration.driven.design,
            waiting: configuration.waiting.to_string(),
            dispatch: dispatch_name(configuration.dispatch),
            submitter: configuration.submitter.to_string(),
            codec: self.codec,
            state_of: self.state,
            threads,
            requests_per_thread: self.requests,
            round,
            status,
            pages: run.map(|run| run.requests),
            failed_attempts: run.map(|run| run.failed_attempts),
            seconds: run.map(|run| run.time.as_secs_f64()),
            gb_per_second: run.map(|run| bytes(run) / run.time.as_secs_f64().max(1e-9) / 1e9),
            compression_rate: run.map(|run| run.bytes as f64 / bytes(run)),
            worker_wakes: run.map(|run| run.wakes.0),
            cores_used: run.and_then(|run| Some(run.processor_time?.as_secs_f64() / run.time.as_secs_f64().max(1e-9))),
            gb_per_processor_second: run
                .and_then(|run| Some(bytes(run) / run.processor_time?.as_secs_f64().max(1e-9) / 1e9)),
        }
    }
}

/// The line of one run, as the original benchmark prints one.
#[must_use]
pub fn run_line(row: &Row) -> String {
    let figure = |value: Option<f64>| value.unwrap_or(f64::NAN);
    format!(
        "{} threads {} run {}: requests {}, failed attempts {}, cost {:.3} s, compression rate {:.4}, {:.6} GB/s",
        row.configuration,
        row.threads,
        row.round + 1,
        row.pages.unwrap_or(0),
        row.failed_attempts.unwrap_or(0),
        figure(row.seconds),
        figure(row.compression_rate),
        figure(row.gb_per_second),
    )
}

fn of<'a>(rows: &'a [Row], configuration: &'a str, threads: usize) -> impl Iterator<Item = &'a Row> + 'a {
    rows.iter().filter(move |row| row.configuration == configuration && row.threads == threads)
}

/// The average of a figure over the runs of one configuration and number of threads; none without a run.
fn average(rows: &[Row], configuration: &str, threads: usize, figure: fn(&Row) -> Option<f64>) -> Option<f64> {
    let figures: Vec<f64> = of(rows, configuration, threads).filter_map(figure).collect();
    (!figures.is_empty()).then(|| figures.iter().sum::<f64>() / figures.len() as f64)
}

/// The averages of a run without a sweep.
#[must_use]
pub fn average_table(plan: &Plan, rows: &[Row]) -> String {
    let header = [
        "configuration",
        "waiting",
        "dispatch",
        "submitter",
        "threads",
        "GB/s",
        "median",
        "rate",
        "cores used",
        "GB/processor s",
        "wakes/page",
    ];
    let mut averages = table(&header, 4..header.len());
    for configuration in &plan.configurations {
        for &threads in &plan.threads {
            let middle =
                |figure: fn(&Row) -> Option<f64>| median(of(rows, configuration.name, threads).filter_map(figure));
            let shown =
                |value: Option<f64>, digits: usize| value.map_or("–".into(), |value| format!("{value:.digits$}"));
            averages.add_row(vec![
                configuration.name.to_string(),
                configuration.waiting.to_string(),
                dispatch_name(configuration.dispatch).to_string(),
                configuration.submitter.to_string(),
                threads.to_string(),
                shown(average(rows, configuration.name, threads, |row| row.gb_per_second), 6),
                shown(middle(|row| row.gb_per_second), 6),
                shown(middle(|row| row.compression_rate), 4),
                shown(middle(|row| row.cores_used), 2),
                shown(middle(|row| row.gb_per_processor_second), 3),
                shown(middle(|row| Some(row.worker_wakes? as f64 / row.pages? as f64)), 3),
            ]);
        }
    }
    format!("Average over the runs\n{averages}\n")
}

/// The table of the sweep, the published columns first; and the same per second of processor time.
#[must_use]
pub fn sweep_table(plan: &Plan, rows: &[Row]) -> String {
    let mut text = format!(
        "Page compression by {}, its state per {}; GB/s (10⁹ bytes), average over the runs\n",
        plan.codec, plan.state
    );
    let _ = writeln!(text, "{}", by_threads(plan, rows, true, |row| row.gb_per_second));
    let _ = writeln!(text, "v2, v3 2018: as published, on another machine: {}", published::WORKQUEUE_SOURCE);
    text.push_str(&kept_line(plan, rows));
    text.push_str(&slower_line(plan, rows));
    text.push_str("\nGB per second of processor time: what the pages cost, hardly moved by others on the machine\n");
    let _ = writeln!(text, "{}", by_threads(plan, rows, false, |row| row.gb_per_processor_second));
    text
}

/// Threads down, configurations across.
fn by_threads(plan: &Plan, rows: &[Row], published: bool, figure: fn(&Row) -> Option<f64>) -> comfy_table::Table {
    let mut header = vec!["threads".to_string()];
    if published {
        header.extend(["v2\n2018".into(), "v3\n2018".into()]);
    }
    // A name is broken at its hyphens, so that many columns fit beside each other.
    header.extend(plan.configurations.iter().map(|configuration| configuration.name.replace('-', "-\n")));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut sweep = table(&header, 0..header.len());
    let shown = |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.3}"));
    for &threads in &plan.threads {
        let mut line = vec![threads.to_string()];
        if published {
            let row = published::workqueue(threads);
            line.extend([shown(row.map(|row| row.v2)), shown(row.map(|row| row.v3))]);
        }
        line.extend(plan.configurations.iter().map(|configuration| {
            let refused = of(rows, configuration.name, threads).any(|row| row.status.starts_with("n/a"));
            if refused { "n/a".into() } else { shown(average(rows, configuration.name, threads, figure)) }
        }));
        sweep.add_row(line);
    }
    sweep
}

/// How much of its own figure at the fewest threads that are at least two each configuration keeps at the
/// most: median over the rounds of the ratio within a round.
fn kept_line(plan: &Plan, rows: &[Row]) -> String {
    let few = plan.threads.iter().copied().filter(|&threads| threads >= 2).min();
    let Some((few, many)) = few.zip(plan.threads.iter().copied().max()).filter(|(few, many)| few < many) else {
        return String::new();
    };
    let kept = |name| {
        let ratios = (0..plan.rounds).filter_map(|round| {
            let figure = |threads| of(rows, name, threads).find(|row| row.round == round)?.gb_per_second;
            Some(figure(many)? / figure(few)?)
        });
        Some((name, median(ratios)?))
    };
    let mut kept: Vec<(&str, f64)> =
        plan.configurations.iter().filter_map(|configuration| kept(configuration.name)).collect();
    kept.sort_by(|a, b| b.1.total_cmp(&a.1));
    let words: Vec<String> = kept.iter().map(|(name, ratio)| format!("{name} {ratio:.2}")).collect();
    format!("kept at {many} threads of the own GB/s at {few}, in the same round: {}\n", words.join(", "))
}

/// Figures below this part of the own best with fewer workers are called slower.
const SLOWER: f64 = 0.8;

/// Which configurations do less with more workers than they did with fewer, and where it is worst.
fn slower_line(plan: &Plan, rows: &[Row]) -> String {
    let slower = plan.configurations.iter().filter_map(|configuration| {
        let figures = plan.threads.iter().filter_map(|&threads| {
            Some((threads, average(rows, configuration.name, threads, |row| row.gb_per_second)?))
        });
        let (threads, kept) = worst_kept(figures)?;
        (kept < SLOWER).then(|| format!("{} {kept:.2} at {threads}", configuration.name))
    });
    let slower: Vec<String> = slower.collect();
    if slower.is_empty() {
        return String::new();
    }
    format!("slower with more workers, below {SLOWER} of the own best with fewer: {}\n", slower.join(", "))
}

/// Of figures by number of workers, the smallest part that one keeps of the best with fewer workers, and where.
fn worst_kept(figures: impl Iterator<Item = (usize, f64)>) -> Option<(usize, f64)> {
    let mut figures: Vec<(usize, f64)> = figures.collect();
    figures.sort_by_key(|&(threads, _)| threads);
    let mut best = f64::NEG_INFINITY;
    let kept = figures.into_iter().filter_map(|(threads, figure)| {
        let kept = (best > 0.0).then(|| (threads, figure / best));
        best = best.max(figure);
        kept
    });
    kept.min_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_workers_slower_is_flagged() {
        let worst = |figures: &[(usize, f64)]| worst_kept(figures.iter().copied());
        assert_eq!(worst(&[(64, 0.25), (1, 0.5), (2, 1.0), (8, 0.9)]), Some((64, 0.25)));
        let rising = worst(&[(1, 1.0), (2, 1.5), (4, 1.5)]).unwrap();
        assert!(rising.1 >= 1.0, "{rising:?}");
        assert_eq!(worst(&[(4, 1.0)]), None, "nothing to compare with");
    }
}
