//! Simulated rounds over cells and designs, as a record of the same layout as a measured one.

use super::contender::SimulatedDesign;
use super::round_trip::{Cell, Conditions, Outcome};
use crate::contender;
use crate::machine::Machine;
use crate::record::{Category, CellRecord, Metrics, Record, Row, SCHEMA, Sample, Settings};
use crate::verdict::{rankings, summarise};
use slotwork_coherence::{Options, Profile};
use std::sync::atomic::{AtomicBool, Ordering};

/// What is to be simulated.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The machine.
    pub profile: Profile,
    /// The cells.
    pub cells: Vec<Cell>,
    /// Who takes part.
    pub designs: Vec<SimulatedDesign>,
    /// How often, each time with another seed.
    pub rounds: usize,
    /// Requests of a run; what suits the cell, if none.
    pub requests: Option<u64>,
    /// Work per request, in nanoseconds.
    pub handler_nanoseconds: u64,
    /// Seed of the first round.
    pub seed: u64,
}

/// The first round of one design in one cell, with all that is known of it.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The cell.
    pub cell: Cell,
    /// The design.
    pub design: &'static str,
    /// Its run.
    pub outcome: Outcome,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Simulated {
    /// Each cell with a row for each design.
    pub cells: Vec<CellRecord>,
    /// The first round of each, where that was asked for.
    pub explained: Vec<Explained>,
    /// Accesses that were simulated.
    pub accesses: u64,
    /// Whether it was broken off.
    pub interrupted: bool,
}

impl Plan {
    /// Runs in all: the unit of progress.
    #[must_use]
    pub fn runs(&self) -> u64 {
        (self.cells.len() * self.designs.len() * self.rounds) as u64
    }

    fn requests(&self, cell: &Cell) -> u64 {
        self.requests.unwrap_or(1500 + 12 * cell.threads() as u64)
    }

    /// Simulates. `explain` keeps the first round of each.
    pub fn simulate(&self, explain: bool, interrupted: &AtomicBool, progress: &mut dyn FnMut(u64)) -> Simulated {
        let mut simulated = Simulated::default();
        for cell in &self.cells {
            let mut record = self.empty_record(cell);
            for (design, row) in self.designs.iter().zip(&mut record.rows) {
                if row.not_applicable.is_some() {
                    progress(self.rounds as u64);
                    continue;
                }
                for round in 0..self.rounds {
                    if interrupted.load(Ordering::Relaxed) {
                        simulated.interrupted = true;
                        return simulated;
                    }
                    let conditions = Conditions {
                        profile: &self.profile,
                        requests: self.requests(cell),
                        handler_nanoseconds: self.handler_nanoseconds as f64,
                        handler_spread: 0.1,
                        options: Options { seed: self.seed + round as u64, ..Options::default() },
                    };
                    match (design.round_trips)(*cell, conditions) {
                        Ok(outcome) => {
                            simulated.accesses += outcome.report.accesses;
                            row.samples.push(sample(round, &outcome));
                            if explain && round == 0 {
                                simulated.explained.push(Explained { cell: *cell, design: design.name, outcome });
                            }
                        }
                        Err(error) => {
                            row.failure = Some(error.to_string());
                            break;
                        }
                    }
                    progress(1);
                }
            }
            let longest =
                record.rows.iter().flat_map(|row| &row.samples).map(|sample| sample.seconds).fold(0.0, f64::max);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "milliseconds of a short run")]
            let milliseconds = (longest * 1e3).ceil() as u64;
            record.window_milliseconds = milliseconds;
            simulated.cells.push(record);
        }
        summarise(&mut simulated.cells);
        simulated
    }

    fn empty_record(&self, cell: &Cell) -> CellRecord {
        let row = |design: &SimulatedDesign| Row {
            design: design.name.into(),
            not_applicable: cell.refusal(&design.claims),
            ..Row::default()
        };
        let (workers, slots) = (cell.shape.lanes(), cell.shape.slots_per_lane());
        CellRecord {
            clients: cell.clients,
            workers,
            slots_per_lane: slots,
            waiting: cell.waiting,
            handler_nanoseconds: self.handler_nanoseconds,
            categories: Category::of(cell.clients, workers, slots, self.profile.core_count()),
            window_milliseconds: 0,
            rows: self.designs.iter().map(row).collect(),
        }
    }

    /// As a record, marked as simulated. Same plan, same record: no clock of this machine is in it.
    #[must_use]
    pub fn record(&self, simulated: &Simulated, command_line: Vec<String>) -> Record {
        let names: Vec<&str> = self.designs.iter().map(|design| design.name).collect();
        let contenders: Vec<_> = names.iter().filter_map(|name| contender::named(name).ok()).collect();
        Record {
            schema: SCHEMA,
            started: "simulated".into(),
            seconds: 0.0,
            interrupted: simulated.interrupted,
            simulated: true,
            command_line,
            machine: machine(&self.profile),
            settings: Settings {
                rounds: self.rounds,
                seed: self.seed,
                pinned: true,
                quiet_trip_nanoseconds: None,
                disturbed_beyond: 0.0,
                disturbed_below_share: 0.0,
                repeated_windows: 0,
            },
            floors: Vec::new(),
            rankings: rankings(&simulated.cells, &contenders, self.seed),
            cells: simulated.cells.clone(),
        }
    }
}

/// A simulated machine, as a record names machines.
#[must_use]
pub fn machine(profile: &Profile) -> Machine {
    Machine {
        processor: Some(format!("simulated {}: {}", profile.name, profile.description)),
        cores: profile.core_count(),
        kernel: None,
        governor: None,
        load: None,
        compiler: env!("SLOTWORK_RUSTC").into(),
        profile: "simulated".into(),
        commit: None,
        dirty: None,
    }
}

fn sample(round: usize, outcome: &Outcome) -> Sample {
    let handled = outcome.totals.handled as f64;
    Sample {
        round,
        round_trips: outcome.round_trips,
        seconds: outcome.nanoseconds / 1e9,
        throughput: outcome.throughput(),
        acquired: outcome.acquired,
        failed_acquires: outcome.failed_acquires,
        overlap: 1.0,
        handled_in_all: outcome.totals.handled,
        attempts: 1,
        metrics: Metrics {
            failed_acquires_per_request: Some(outcome.failed_acquires as f64 / handled),
            wakes_per_request: Some(outcome.report.wakes() as f64 / handled),
            ..Metrics::default()
        },
        ..Sample::default()
    }
}
