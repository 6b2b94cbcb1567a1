//! Measuring with doubt: rounds, shuffled visits, an alarm around every window.
//!
//! ```text
//!   round 1   cell 1×1/4   c ▪ a ▪ b      each ▪: ping-pong, warm-up, window, ping-pong
//!             cell 2×2/4   b ▪ c ▪ a
//!   round 2   cell 1×1/4   a ▪ c ▪ b      …
//! ```
//!
//! Whatever changes on the machine in the course of a run hits all contenders alike. A window is disturbed
//! when the alarm rings before or after it, or when threads that never sleep got less processor time than there
//! was. It is measured again, within a budget, and the least disturbed attempt is kept: chosen by these signs,
//! never by its result.

use crate::alarm::Alarm;
use crate::contender::Contender;
use crate::grid::{admit, window_of};
use crate::handler::Handler;
use crate::placement::Placement;
use crate::record::{Category, CellRecord, Doubt, Kind, Row, Sample};
use crate::statistics::median;
use crate::traced::Pace;
use crate::workload::{Cell, Conditions, Window, WorkloadError};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// What is to be measured, and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The cells.
    pub cells: Vec<Cell>,
    /// Who takes part.
    pub contenders: Vec<Contender>,
    /// How often each is visited in each cell.
    pub rounds: usize,
    /// Length of a window; what suits the cell, if none.
    pub window: Option<Duration>,
    /// Seed of the visiting order.
    pub seed: u64,
    /// Where threads run.
    pub placement: Placement,
    /// Whether, after the rounds, each row is run once more with traces: who waited, and how evenly.
    pub traces: bool,
    /// Loads at which latency is measured after the rounds, as parts of what the middle contender of the cell does.
    pub loads: Vec<f64>,
}

/// What a run measured.
#[derive(Debug)]
pub struct Measured {
    /// Each cell with a row for each contender.
    pub cells: Vec<CellRecord>,
    /// The alarm, with what it heard.
    pub alarm: Alarm,
    /// How many windows were measured again.
    pub repeated_windows: usize,
    /// Whether it was broken off.
    pub interrupted: bool,
}

impl Plan {
    /// Threads that never sleep use all the processor time there is, unless others take some: below this part of it,
    /// a window counts as disturbed.
    pub const LEAST_SHARE: f64 = 0.9;
    /// Attempts at one window.
    const ATTEMPTS: usize = 3;
    /// Part of the planned time by which repeating may put the run behind.
    const REPEAT_BUDGET: f64 = 0.04;
    const FLOOR_WINDOW: Duration = Duration::from_millis(50);
    const LEAST_BUDGET: Duration = Duration::from_millis(500);
    /// What starting and ending the threads of one window takes, roughly.
    const AROUND: Duration = Duration::from_millis(3);

    fn window(&self, cell: &Cell) -> Duration {
        self.window.unwrap_or_else(|| window_of(cell, &self.placement))
    }

    /// A floor has no queue, so that it matters little whose turn it is: a short window will do.
    fn window_for(&self, cell: &Cell, contender: &Contender) -> Duration {
        let window = self.window(cell);
        if contender.kind == Kind::Floor { window.min(Self::FLOOR_WINDOW) } else { window }
    }

    fn warm_up(window: Duration) -> Duration {
        (window / 16).clamp(Duration::from_millis(2), Duration::from_millis(50))
    }

    fn visit_time(&self, cell: &Cell, contender: &Contender) -> Duration {
        let window = self.window_for(cell, contender);
        Self::warm_up(window) + window + Self::AROUND
    }

    /// Processor time used, as part of what our cores could give to so many threads.
    fn processor_share(&self, cell: &Cell, window: &Window) -> Option<f64> {
        let threads = (cell.clients + cell.shape.lanes()).min(self.placement.cores());
        let available = window.length.as_secs_f64() * threads as f64;
        window.processor_time.map(|used| used.as_secs_f64() / available)
    }

    /// How long it will take, repeated windows not counted.
    #[must_use]
    pub fn duration(&self) -> Duration {
        let traces = usize::from(self.traces) + self.loads.len();
        let each = |who: &Contender| self.rounds + if who.kind == Kind::Floor { 0 } else { traces };
        let time = |cell: &Cell, who: &Contender| self.visit_time(cell, who).mul_f64(each(who) as f64);
        let taking_part = |cell| self.contenders.iter().filter(move |who| admit(who, cell).is_ok());
        self.cells.iter().flat_map(|cell| taking_part(cell).map(move |who| time(cell, who))).sum()
    }

    /// Measures. `progress` is told the planned time of each visit as it ends.
    pub fn measure(&self, interrupted: &AtomicBool, progress: &mut dyn FnMut(Duration)) -> Measured {
        let mut run = Run {
            plan: self,
            handlers: self.handlers(),
            alarm: Alarm::calibrated(&self.placement),
            budget: self.duration().mul_f64(Self::REPEAT_BUDGET).max(Self::LEAST_BUDGET),
            start: Instant::now(),
            done: Duration::ZERO,
            repeated_windows: 0,
            interrupted,
        };
        let mut cells: Vec<CellRecord> = self.cells.iter().map(|cell| self.empty_record(cell)).collect();
        let mut random = SmallRng::seed_from_u64(self.seed);
        let mut broken_off = false;
        'run: for round in 0..self.rounds {
            for (cell, record) in self.cells.iter().zip(&mut cells) {
                let mut order: Vec<usize> = (0..self.contenders.len()).collect();
                order.shuffle(&mut random);
                for at in order {
                    let row = &mut record.rows[at];
                    if row.not_applicable.is_some() {
                        continue;
                    }
                    if row.failure.is_none() {
                        match run.visit(cell, &self.contenders[at], round) {
                            Ok(Some(sample)) => row.samples.push(sample),
                            Ok(None) => {
                                broken_off = true;
                                break 'run;
                            }
                            // The design is wrong here: measuring it further would give figures of nothing.
                            Err(error) => row.failure = Some(error.to_string()),
                        }
                    }
                    let planned = self.visit_time(cell, &self.contenders[at]);
                    run.done += planned;
                    progress(planned);
                }
            }
        }
        if !broken_off {
            broken_off = !self.trace(&run, &mut cells, &mut random, progress);
        }
        let Run { alarm, repeated_windows, .. } = run;
        Measured { cells, alarm, repeated_windows, interrupted: broken_off }
    }

    /// After the rounds: one run with traces of each row, and one at each load; false when it was broken off.
    fn trace(
        &self,
        run: &Run<'_>,
        cells: &mut [CellRecord],
        random: &mut SmallRng,
        progress: &mut dyn FnMut(Duration),
    ) -> bool {
        for (cell, record) in self.cells.iter().zip(cells) {
            let mut paces: Vec<Pace> = if self.traces { vec![Pace::Closed] } else { Vec::new() };
            paces.extend(rates(record, &self.loads, self.placement.cores()).into_iter().map(Pace::Open));
            for pace in paces {
                let mut order: Vec<usize> = (0..self.contenders.len()).collect();
                order.shuffle(random);
                for at in order {
                    let (contender, row) = (&self.contenders[at], &mut record.rows[at]);
                    if contender.kind == Kind::Floor || row.not_applicable.is_some() || row.failure.is_some() {
                        continue;
                    }
                    match contender.trace(*cell, run.conditions(cell, contender), pace) {
                        Ok(Some(trace)) => {
                            row.metrics = trace.metrics.or(&row.metrics);
                            row.latency.extend(trace.latency);
                        }
                        Ok(None) => return false,
                        Err(error) => row.failure = Some(error.to_string()),
                    }
                    progress(self.visit_time(cell, contender));
                }
            }
        }
        true
    }

    fn handlers(&self) -> HashMap<u64, Handler> {
        let mut handlers = HashMap::new();
        for cell in &self.cells {
            handlers.entry(cell.handler_nanoseconds).or_insert_with_key(|&work| Handler::calibrated(work));
        }
        handlers
    }

    fn slot_bytes(&self, contender: &Contender, cell: &Cell) -> Option<usize> {
        let measured = || contender.bytes_per_slot(cell.shape);
        let takes_part = contender.kind != Kind::Floor && admit(contender, cell).is_ok();
        takes_part.then(|| measured().unwrap_or(contender.slot_bytes))
    }

    fn empty_record(&self, cell: &Cell) -> CellRecord {
        let row = |contender: &Contender| Row {
            design: contender.name.clone(),
            kind: contender.kind,
            slot_bytes: self.slot_bytes(contender, cell),
            not_applicable: admit(contender, cell).err().map(|reason| reason.to_string()),
            ..Row::default()
        };
        CellRecord {
            clients: cell.clients,
            workers: cell.shape.lanes(),
            slots_per_lane: cell.shape.slots_per_lane(),
            waiting: cell.waiting,
            handler_nanoseconds: cell.handler_nanoseconds,
            categories: Category::of(
                cell.clients,
                cell.shape.lanes(),
                cell.shape.slots_per_lane(),
                self.placement.cores(),
            ),
            window_milliseconds: u64::try_from(self.window(cell).as_millis()).unwrap_or(u64::MAX),
            rows: self.contenders.iter().map(row).collect(),
        }
    }
}

/// The rates at which a cell's latency is measured: the same for all its contenders, so that they can be compared.
/// More than a million requests a second and core would measure the clock.
fn rates(cell: &CellRecord, loads: &[f64], cores: usize) -> Vec<f64> {
    const MOST: f64 = 1e6;
    let of_row = |row: &Row| median(&row.samples.iter().map(|sample| sample.throughput).collect::<Vec<_>>());
    let ranked = cell.rows.iter().filter(|row| row.kind != Kind::Floor && row.failure.is_none());
    let medians: Vec<f64> = ranked.filter_map(of_row).collect();
    let most = MOST * cell.clients.min(cores) as f64;
    let Some(middle) = median(&medians).filter(|&middle| middle > 0.0) else { return Vec::new() };
    loads.iter().map(|load| load * middle.min(most)).collect()
}

/// A run under way.
struct Run<'a> {
    plan: &'a Plan,
    /// By the cell's work: all cells with the same work have the very same loop.
    handlers: HashMap<u64, Handler>,
    alarm: Alarm,
    /// How far repeating may put the run behind its plan.
    budget: Duration,
    start: Instant,
    /// Planned time of the visits that ended.
    done: Duration,
    repeated_windows: usize,
    interrupted: &'a AtomicBool,
}

impl<'a> Run<'a> {
    fn conditions(&self, cell: &Cell, contender: &Contender) -> Conditions<'a> {
        let window = self.plan.window_for(cell, contender);
        Conditions {
            handler: self.handlers[&cell.handler_nanoseconds],
            placement: &self.plan.placement,
            warm_up: Plan::warm_up(window),
            window,
            interrupted: self.interrupted,
        }
    }

    /// One window of one contender, measured again while the alarm rings; none when interrupted.
    fn visit(&mut self, cell: &Cell, contender: &Contender, round: usize) -> Result<Option<Sample>, WorkloadError> {
        let conditions = self.conditions(cell, contender);
        let mut kept: Option<(f64, Sample)> = None;
        for attempt in 1..=Plan::ATTEMPTS {
            let before = self.alarm.trip();
            let Some(window) = contender.run(*cell, conditions)? else { return Ok(None) };
            let trips = [before, self.alarm.trip()];
            let share = self.plan.processor_share(cell, &window);
            let took_less = !cell.waiting.sleeps() && share.is_some_and(|share| share < Plan::LEAST_SHARE);
            let disturbed = took_less || trips.iter().any(|&trip| self.alarm.is_disturbed(trip));
            let disturbance = trips.into_iter().flatten().fold(0.0, f64::max) / share.unwrap_or(1.0).max(0.01);
            if kept.as_ref().is_none_or(|(least, _)| disturbance < *least) {
                kept = Some((disturbance, sample(round, &window, trips, share, disturbed)));
            }
            if let Some((_, sample)) = &mut kept {
                sample.attempts = attempt;
            }
            // On a machine that is busy throughout, repeating would only make the run longer.
            let behind = self.start.elapsed().saturating_sub(self.done);
            if !disturbed || attempt == Plan::ATTEMPTS || behind + self.plan.visit_time(cell, contender) > self.budget {
                break;
            }
            self.repeated_windows += 1;
        }
        Ok(kept.map(|(_, sample)| sample))
    }
}

fn sample(
    round: usize,
    window: &Window,
    [before, after]: [Option<f64>; 2],
    share: Option<f64>,
    disturbed: bool,
) -> Sample {
    let seconds = window.length.as_secs_f64();
    let mut doubts = Vec::new();
    if disturbed {
        doubts.push(Doubt::Disturbed);
    }
    if window.clock_doubt > window.length / 100 {
        doubts.push(Doubt::Clock);
    }
    if window.overlap < 0.9 {
        doubts.push(Doubt::NotOverlapping);
    }
    if !window.steady {
        doubts.push(Doubt::NotSteady);
    }
    Sample {
        round,
        round_trips: window.round_trips,
        seconds,
        throughput: window.round_trips as f64 / seconds,
        acquired: window.acquired,
        failed_acquires: window.failed_acquires,
        overlap: window.overlap,
        processor_share: share,
        handled_in_all: window.totals.handled,
        attempts: 1,
        trip_before_nanoseconds: before,
        trip_after_nanoseconds: after,
        doubts,
        metrics: window.metrics,
    }
}
