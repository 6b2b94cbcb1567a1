//! The script of the experiment: threads × requests per server × designs × runs, as a CSV, with its bad-run check.

use super::{Counts, Load, Variant};
use crate::report::table;
use crate::seeds::Watch;
use crate::seeds::configuration::Policy;
use crate::seeds::results::median;
use serde::Serialize;
use std::time::Duration;

/// Client and server threads of the original script.
pub const SWEEP_THREADS: [usize; 5] = [1, 4, 8, 16, 32];
/// Requests per server of the original script.
pub const SWEEP_TASKS: [usize; 4] = [1, 4, 8, 16];

/// What is to be measured by a sweep.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// What competes.
    pub variants: Vec<Variant>,
    /// Clients, and as many servers.
    pub threads: Vec<usize>,
    /// Requests per server.
    pub tasks: Vec<usize>,
    /// How often all is repeated.
    pub runs: usize,
    /// How long each runs.
    pub duration: Duration,
    /// How servers wait.
    pub waiting: Policy,
}

/// One run: a line of the CSV, with the header of the original script and the design behind it.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Which test, from 1.
    #[serde(rename = "Test")]
    pub test: usize,
    /// Client threads.
    #[serde(rename = "Clients Threads")]
    pub clients: usize,
    /// Server threads.
    #[serde(rename = "Servers Threads")]
    pub servers: usize,
    /// Requests per server.
    #[serde(rename = "Tasks")]
    pub tasks: usize,
    /// Requests that clients submitted.
    #[serde(rename = "Successful requests")]
    pub successful_requests: Option<u64>,
    /// The same: only these are iterations.
    #[serde(rename = "Client iterations")]
    pub client_iterations: Option<u64>,
    /// Requests that servers handled.
    #[serde(rename = "Thread iterations")]
    pub thread_iterations: Option<u64>,
    /// Attempts that found none free.
    #[serde(rename = "Failed requests")]
    pub failed_requests: Option<u64>,
    /// Nanoseconds a client ran.
    #[serde(rename = "Enqueue duration")]
    pub enqueue_duration: Option<u64>,
    /// Nanoseconds a server ran.
    #[serde(rename = "Dequeue duration")]
    pub dequeue_duration: Option<u64>,
    /// The design.
    #[serde(rename = "Design")]
    pub design: &'static str,
    /// "ok", or why not.
    #[serde(rename = "Status")]
    pub status: String,
}

/// What was measured.
#[derive(Debug, Default)]
pub struct Measured {
    /// A row per run, in the order of the runs.
    pub rows: Vec<Row>,
    /// Runs that failed or were bad, a line each.
    pub failures: Vec<String>,
    /// Whether it was broken off.
    pub interrupted: bool,
}

impl Sweep {
    fn loads(&self) -> impl Iterator<Item = Load> + '_ {
        let Self { duration, waiting, .. } = *self;
        self.threads.iter().flat_map(move |&threads| {
            let load = move |&tasks| Load { clients: threads, servers: threads, duration, tasks, waiting };
            self.tasks.iter().map(load)
        })
    }

    /// Runs in all that are not refused: the unit of progress.
    #[must_use]
    pub fn count(&self) -> u64 {
        let takes_part = |load: Load| self.variants.iter().filter(|variant| variant.refusal(load).is_none()).count();
        (self.loads().map(takes_part).sum::<usize>() * self.runs) as u64
    }

    /// Measures all; the variants are interleaved.
    pub fn measure(&self, watch: &mut Watch<'_>) -> Measured {
        let mut measured = Measured::default();
        for load in self.loads() {
            for _ in 0..self.runs {
                for variant in &self.variants {
                    let test = measured.rows.len() + 1;
                    if let Some(refusal) = variant.refusal(load) {
                        measured.rows.push(row(test, variant, load, format!("n/a ({refusal})"), None));
                        continue;
                    }
                    let failure = match variant.run(load, watch) {
                        Ok(None) => {
                            measured.interrupted = true;
                            return measured;
                        }
                        Ok(Some(counts)) => {
                            let verdict = counts.verify();
                            let status = verdict.as_ref().map_or_else(ToString::to_string, |()| "ok".into());
                            measured.rows.push(row(test, variant, load, status, Some(&counts)));
                            verdict.err().map(|bad| bad.to_string())
                        }
                        Err(error) => {
                            measured.rows.push(row(test, variant, load, format!("failed ({error})"), None));
                            Some(error.to_string())
                        }
                    };
                    if let Some(failure) = failure {
                        let Load { clients, servers, tasks, .. } = load;
                        measured.failures.push(format!("{} at {clients}×{servers}/{tasks}: {failure}", variant.design));
                    }
                    watch.advance(1);
                }
            }
        }
        measured
    }
}

/// A line of the CSV.
#[must_use]
pub fn row(test: usize, variant: &Variant, load: Load, status: String, counts: Option<&Counts>) -> Row {
    Row {
        test,
        clients: load.clients,
        servers: load.servers,
        tasks: load.tasks,
        successful_requests: counts.map(|counts| counts.successful_requests),
        client_iterations: counts.map(|counts| counts.client_iterations),
        thread_iterations: counts.map(|counts| counts.thread_iterations),
        failed_requests: counts.map(|counts| counts.failed_requests),
        enqueue_duration: counts.map(|counts| counts.enqueue_duration_ns),
        dequeue_duration: counts.map(|counts| counts.dequeue_duration_ns),
        design: variant.design,
        status,
    }
}

/// Successful requests per millisecond, median of the runs: a load a row, a design a column.
#[must_use]
pub fn sweep_table(sweep: &Sweep, rows: &[Row]) -> String {
    let mut header = vec!["clients\nservers".to_string(), "tasks".into()];
    header.extend(sweep.variants.iter().map(|variant| variant.design.replace('-', "-\n")));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = table(&header, 0..header.len());
    for load in sweep.loads() {
        let mut line = vec![load.clients.to_string(), load.tasks.to_string()];
        line.extend(sweep.variants.iter().map(|variant| {
            let own = rows
                .iter()
                .filter(|row| row.design == variant.design && row.clients == load.clients && row.tasks == load.tasks);
            let rate = |row: &Row| Some(row.successful_requests? as f64 * 1e6 / row.enqueue_duration?.max(1) as f64);
            match (variant.refusal(load), median(own.filter_map(rate))) {
                (Some(_), _) => "n/a".into(),
                (None, rate) => rate.map_or("–".into(), |rate| format!("{rate:.0}")),
            }
        }));
        table.add_row(line);
    }
    format!("Successful requests per millisecond, median of {} runs\n{table}\n", sweep.runs)
}
