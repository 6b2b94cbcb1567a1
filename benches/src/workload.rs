//! The workload *slot round trip*: clients send slots round the circle as fast as it goes.
//!
//! ```text
//!   client  ┌▶ acquire ─ check result ─ fill ─ submit ─┐      none free: a failed acquire, wait
//!           │                                          ▼
//!   worker  └── complete ◀─ transform ◀─ handler ◀─ take      none there: wait
//! ```
//!
//! Threads are created first, bound to cores, held at a gate, and let go together. A word on a line
//! of its own says which phase it is; that is all they share besides the queue. When the clients
//! have stopped, the workers handle what is left, and all counts are held against each other.

use crate::counters::Counters;
use crate::handler::Handler;
use crate::placement::Placement;
use crate::record::{Fairness, Metrics};
use crate::request::{Request, Sequence};
use crate::stage::{Crew, Stage, Timing, join_all, time_window};
use crate::tally::{ClientTally, CountError, Counter, Phase, Span, Totals, WorkerTally, overlap};
use crate::waiting::Waiting;
use slotwork::{Client, ClientError, Design, Native, Pool, Shape, ShapeError, Worker};
use std::sync::atomic::AtomicBool;
use std::thread::Scope;
use std::time::{Duration, Instant};
use thiserror::Error;

type QueueOf<D> = <D as Design>::Queue<Native>;

/// One workload: how many of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    /// Client threads.
    pub clients: usize,
    /// Lanes, which is worker threads, and slots.
    pub shape: Shape,
    /// How threads wait.
    pub waiting: Waiting,
    /// Work per request.
    pub handler_nanoseconds: u64,
}

/// How long, and with what.
#[derive(Clone, Copy, Debug)]
pub struct Conditions<'a> {
    /// Work per request.
    pub handler: Handler,
    /// Where threads run.
    pub placement: &'a Placement,
    /// Time before counting: at least this, at most twice this.
    pub warm_up: Duration,
    /// Time of counting.
    pub window: Duration,
    /// Set when the run is to be broken off.
    pub interrupted: &'a AtomicBool,
}

/// What one run measured, all counts verified.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Requests handled in the window.
    pub round_trips: u64,
    /// Slots acquired in the window.
    pub acquired: u64,
    /// Acquires in the window that found no slot free.
    pub failed_acquires: u64,
    /// The window's length as measured.
    pub length: Duration,
    /// How long the clock took to be read at both ends: beyond a hundredth of the window, the length is in doubt.
    pub clock_doubt: Duration,
    /// Part of the window in which all threads were at work.
    pub overlap: f64,
    /// Processor time that all threads used in the window together; none where it cannot be read.
    pub processor_time: Option<Duration>,
    /// Whether the throughput had settled when the window was opened.
    pub steady: bool,
    /// What else was measured.
    pub metrics: Metrics,
    /// All counts, warm-up and rest included.
    pub totals: Totals,
}

/// Why a run has no result.
#[derive(Debug, Error)]
pub enum WorkloadError {
    /// The design does not take this shape.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The design does not take this many clients.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// No memory for the slots.
    #[error("{0}")]
    Memory(String),
    /// The system gave no further thread.
    #[error("thread {number} of {threads} could not be started: {source}")]
    Thread {
        /// Which one.
        number: usize,
        /// How many were wanted.
        threads: usize,
        /// What the system said.
        source: std::io::Error,
    },
    /// A thread panicked.
    #[error("a {side} panicked: {message}")]
    Panicked {
        /// Client or worker.
        side: &'static str,
        /// What it said.
        message: String,
    },
    /// The counts are wrong.
    #[error("the counts are wrong: {0}")]
    Count(#[from] CountError),
}

/// Runs `cell` on a new queue of design `D`, once. None when it was interrupted.
///
/// # Errors
/// [`WorkloadError`]; with [`WorkloadError::Count`], the design is wrong.
pub fn run<D: Design>(cell: Cell, conditions: Conditions<'_>) -> Result<Option<Window>, WorkloadError> {
    run_either::<D, true>(cell, conditions)
}

/// The same, where nothing goes through, so that nothing can be held against each other: see [`crate::floors`].
pub(crate) fn run_uncounted<D: Design>(
    cell: Cell,
    conditions: Conditions<'_>,
) -> Result<Option<Window>, WorkloadError> {
    run_either::<D, false>(cell, conditions)
}

fn run_either<D: Design, const COUNTED: bool>(
    cell: Cell,
    conditions: Conditions<'_>,
) -> Result<Option<Window>, WorkloadError> {
    let pool = Pool::<Request, QueueOf<D>>::new(D::build(cell.shape)?, |_| Request::unused())
        .map_err(|error| WorkloadError::Memory(error.to_string()))?;
    let (first, workers) = pool.split();
    let mut clients = vec![first];
    for _ in 1..cell.clients {
        clients.push(clients[0].try_clone()?);
    }
    let stage = Stage::new(cell, &D::CLAIMS, conditions);
    // Before the threads, which inherit them.
    let mut counters = Counters::open();
    std::thread::scope(|scope| perform::<D, COUNTED>(scope, &stage, clients, workers, &mut counters))
}

fn perform<'scope, D: Design, const COUNTED: bool>(
    scope: &'scope Scope<'scope, '_>,
    stage: &'scope Stage<'scope>,
    clients: Vec<Client<Request, QueueOf<D>>>,
    workers: Vec<Worker<Request, QueueOf<D>>>,
    counters: &mut Counters,
) -> Result<Option<Window>, WorkloadError> {
    let threads = clients.len() + workers.len();
    let slots = clients[0].shape().slots() as u64;
    let mut crew = Crew { scope, stage, threads, started: 0 };
    let mut client_threads = Vec::with_capacity(clients.len());
    for (index, client) in clients.into_iter().enumerate() {
        client_threads.push(crew.start(move || client_loop::<D>(stage, client, index))?);
    }
    let mut worker_threads = Vec::with_capacity(workers.len());
    for worker in workers {
        worker_threads.push(crew.start(move || worker_loop::<D, COUNTED>(stage, &worker))?);
    }
    stage.gate.open_for(threads);

    let window = time_window(stage, counters);
    stage.signals.stop_clients();
    let clients = join_all(client_threads, "client");
    // Also when a client panicked: the workers must still be let go.
    stage.enter(Phase::Drain);
    stage.signals.stop_workers();
    let workers = join_all(worker_threads, "worker")?;
    let mut clients = clients?;

    let tallies: Vec<ClientTally> = clients.iter().map(|(tally, _)| *tally).collect();
    let mut totals = totals(&tallies, &workers);
    totals.slots = slots;
    clients.truncate(1);
    if COUNTED {
        let (_, last_client) = &clients[0];
        sweep::<D>(last_client, &mut totals);
        totals.verify()?;
    }

    let Some(timing) = window else { return Ok(None) };
    let metrics = metrics(&timing, &tallies, &workers);
    let Timing { window, clock_doubt, steady, processor_time, .. } = timing;
    let spans: Vec<Span> =
        tallies.iter().map(|tally| tally.alive).chain(workers.iter().map(|tally| tally.alive)).collect();
    Ok(Some(Window {
        round_trips: workers.iter().map(|tally| tally.handled.in_window()).sum(),
        acquired: tallies.iter().map(|tally| tally.acquired.in_window()).sum(),
        failed_acquires: tallies.iter().map(|tally| tally.failed.in_window()).sum(),
        length: window.end - window.start,
        clock_doubt,
        overlap: overlap(window, &spans),
        processor_time,
        steady,
        metrics,
        totals,
    }))
}

/// What the threads' own counts and the system say, per request.
fn metrics(timing: &Timing, clients: &[ClientTally], workers: &[WorkerTally]) -> Metrics {
    let submitted: Vec<u64> = clients.iter().map(|tally| tally.acquired.in_window()).collect();
    let handled: Vec<u64> = workers.iter().map(|tally| tally.handled.in_window()).collect();
    let failed: u64 = clients.iter().map(|tally| tally.failed.in_window()).sum();
    let requests: u64 = handled.iter().sum();
    let each = |figure: f64| (requests > 0).then(|| figure / requests as f64);
    let mut metrics = Metrics {
        failed_acquires_per_request: each(failed as f64),
        processor_nanoseconds_per_request: timing.processor_time.and_then(|used| each(used.as_secs_f64() * 1e9)),
        voluntary_switches_per_request: timing.switches.and_then(|switches| each(switches.voluntary as f64)),
        involuntary_switches_per_request: timing.switches.and_then(|switches| each(switches.involuntary as f64)),
        wakes_per_request: each(timing.wakes as f64),
        fairness_clients: Fairness::jain(&submitted),
        fairness_workers: Fairness::jain(&handled),
        ..Metrics::default()
    };
    timing.counted.put(&mut metrics, requests);
    metrics
}

fn client_loop<D: Design>(
    stage: &Stage<'_>,
    client: Client<Request, QueueOf<D>>,
    index: usize,
) -> (ClientTally, Client<Request, QueueOf<D>>) {
    let start = Instant::now();
    let (mut acquired, mut failed) = (Counter::default(), Counter::default());
    let (mut submitted, mut sum, mut wrong_results) = (0_u64, 0_u64, 0_u64);
    let mut inputs = Sequence::of_client(index);
    loop {
        let found = stage.waiting.until(stage.signals.clients(), || {
            let phase = stage.phase();
            acquired.note(phase);
            failed.note(phase);
            if phase >= Phase::Stop as u32 {
                return Some(None);
            }
            let found = client.acquire();
            failed.all += u64::from(found.is_none());
            found.map(Some)
        });
        let Some(mut slot) = found else { break };
        acquired.all += 1;
        wrong_results += u64::from(!slot.is_handled());
        let input = inputs.next_input();
        slot.fill(input);
        let destination = slot.submit();
        submitted += 1;
        sum = sum.wrapping_add(input);
        if stage.waiting.sleeps() {
            stage.signals.submitted(destination);
        }
    }
    let alive = Span { start, end: Instant::now() };
    (ClientTally { acquired, failed, submitted, sum, wrong_results, alive }, client)
}

fn worker_loop<D: Design, const COUNTED: bool>(stage: &Stage<'_>, worker: &Worker<Request, QueueOf<D>>) -> WorkerTally {
    let start = Instant::now();
    let (mut handled, mut sum) = (Counter::default(), 0_u64);
    loop {
        let found = stage.waiting.until(stage.signals.worker(worker.lane()), || {
            // Before the take: when all clients had ended by then, a take that finds nothing is the last.
            let phase = stage.phase();
            if !COUNTED && phase >= Phase::Stop as u32 {
                handled.note(phase);
                return Some(None);
            }
            let found = worker.take();
            if found.is_none() && phase < Phase::Drain as u32 {
                return None;
            }
            handled.note(phase);
            Some(found.map(|slot| (slot, phase)))
        });
        let Some((mut slot, phase)) = found else { break };
        // Outside the window nobody counts, so nobody waits for the handler's work either.
        if phase < Phase::Stop as u32 {
            stage.conditions.handler.run();
        }
        sum = sum.wrapping_add(slot.handle());
        slot.complete();
        handled.all += 1;
        stage.tell(worker.lane().index(), phase, handled.all);
        if stage.waiting.sleeps() {
            stage.signals.completed(|| worker.refills());
        }
    }
    WorkerTally { handled, sum, alive: Span { start, end: Instant::now() } }
}

/// Takes every slot there is, so that none can be missing or doubled, and checks its last result.
fn sweep<D: Design>(client: &Client<Request, QueueOf<D>>, totals: &mut Totals) {
    let held: Vec<_> = std::iter::from_fn(|| client.acquire())
        .take(usize::try_from(totals.slots).unwrap_or(usize::MAX).saturating_add(1))
        .collect();
    totals.free_slots = held.len() as u64;
    totals.wrong_results += held.iter().filter(|slot| !slot.is_handled()).count() as u64;
}

fn totals(clients: &[ClientTally], workers: &[WorkerTally]) -> Totals {
    let mut totals = Totals::default();
    for client in clients {
        totals.acquired += client.acquired.all;
        totals.submitted += client.submitted;
        totals.sum_submitted = totals.sum_submitted.wrapping_add(client.sum);
        totals.wrong_results += client.wrong_results;
    }
    for worker in workers {
        totals.handled += worker.handled.all;
        totals.sum_handled = totals.sum_handled.wrapping_add(worker.sum);
    }
    totals
}
