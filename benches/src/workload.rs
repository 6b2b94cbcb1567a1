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

use crate::gate::Gate;
use crate::handler::Handler;
use crate::placement::Placement;
use crate::processor_time;
use crate::request::{Request, Sequence};
use crate::tally::{ClientTally, CountError, Counter, Phase, Span, Totals, WorkerTally, overlap};
use crate::waiting::{Signals, Waiting};
use slotwork::{CachePadded, Client, ClientError, Design, Native, Pool, Shape, ShapeError, Worker};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle};
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
    /// Time before counting.
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

/// What all threads of a run share.
struct Stage<'a> {
    phase: CachePadded<AtomicU32>,
    gate: Gate,
    signals: Signals,
    waiting: Waiting,
    conditions: Conditions<'a>,
}

impl Stage<'_> {
    #[inline]
    fn phase(&self) -> u32 {
        self.phase.load(Ordering::Acquire)
    }

    fn enter(&self, phase: Phase) {
        self.phase.store(phase as u32, Ordering::Release);
    }
}

/// Runs `cell` on a new queue of design `D`, once. None when it was interrupted.
///
/// # Errors
/// [`WorkloadError`]; with [`WorkloadError::Count`], the design is wrong.
pub fn run<D: Design>(cell: Cell, conditions: Conditions<'_>) -> Result<Option<Window>, WorkloadError> {
    let pool = Pool::<Request, QueueOf<D>>::new(D::build(cell.shape)?, |_| Request::unused())
        .map_err(|error| WorkloadError::Memory(error.to_string()))?;
    let (first, workers) = pool.split();
    let mut clients = vec![first];
    for _ in 1..cell.clients {
        clients.push(clients[0].try_clone()?);
    }
    let stage = Stage {
        phase: CachePadded::new(AtomicU32::new(Phase::WarmUp as u32)),
        gate: Gate::default(),
        signals: Signals::new(&D::CLAIMS, cell.shape.lanes()),
        waiting: cell.waiting,
        conditions,
    };
    std::thread::scope(|scope| perform::<D>(scope, &stage, clients, workers))
}

fn perform<'scope, D: Design>(
    scope: &'scope Scope<'scope, '_>,
    stage: &'scope Stage<'scope>,
    clients: Vec<Client<Request, QueueOf<D>>>,
    workers: Vec<Worker<Request, QueueOf<D>>>,
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
        worker_threads.push(crew.start(move || worker_loop::<D>(stage, &worker))?);
    }
    stage.gate.open_for(threads);

    let window = time_window(stage);
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
    let (_, last_client) = &clients[0];
    sweep::<D>(last_client, &mut totals);
    totals.verify()?;

    let Some(Timing { window, clock_doubt, processor_time }) = window else { return Ok(None) };
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
        totals,
    }))
}

/// Starts the threads of a run; when one cannot be started, sends the others home.
struct Crew<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    stage: &'scope Stage<'scope>,
    threads: usize,
    started: usize,
}

impl<'scope> Crew<'scope, '_> {
    fn start<R: Send + 'scope>(
        &mut self,
        body: impl FnOnce() -> R + Send + 'scope,
    ) -> Result<ScopedJoinHandle<'scope, Option<R>>, WorkloadError> {
        let (stage, number) = (self.stage, self.started);
        self.started += 1;
        let thread = move || {
            stage.conditions.placement.bind(number);
            stage.gate.pass().then(body)
        };
        Builder::new().spawn_scoped(self.scope, thread).map_err(|source| {
            stage.gate.cancel();
            WorkloadError::Thread { number: number + 1, threads: self.threads, source }
        })
    }
}

/// When the window was, and what can be said of it.
struct Timing {
    window: Span,
    clock_doubt: Duration,
    processor_time: Option<Duration>,
}

/// Sleeps through warm-up and window; none when interrupted.
fn time_window(stage: &Stage<'_>) -> Option<Timing> {
    let mut went_on = sleep(stage.conditions.warm_up, stage.conditions.interrupted);
    let used_before = processor_time::of_this_process();
    let before = Instant::now();
    stage.enter(Phase::Window);
    let start = Instant::now();
    went_on = went_on && sleep(stage.conditions.window, stage.conditions.interrupted);
    let close = Instant::now();
    stage.enter(Phase::Stop);
    let end = Instant::now();
    let used = used_before.and_then(|before| processor_time::of_this_process()?.checked_sub(before));
    let clock_doubt = (start - before) + (end - close);
    went_on.then_some(Timing { window: Span { start, end }, clock_doubt, processor_time: used })
}

/// Sleeps in short steps; false when interrupted.
fn sleep(time: Duration, interrupted: &AtomicBool) -> bool {
    const STEP: Duration = Duration::from_millis(50);
    let end = Instant::now() + time;
    loop {
        if interrupted.load(Ordering::Relaxed) {
            return false;
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(STEP));
    }
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

fn worker_loop<D: Design>(stage: &Stage<'_>, worker: &Worker<Request, QueueOf<D>>) -> WorkerTally {
    let start = Instant::now();
    let (mut handled, mut sum) = (Counter::default(), 0_u64);
    loop {
        let found = stage.waiting.until(stage.signals.worker(worker.lane()), || {
            // Before the take: when all clients had ended by then, a take that finds nothing is the last.
            let phase = stage.phase();
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
        if stage.waiting.sleeps() {
            stage.signals.completed();
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

/// Joins all, then says whether one panicked.
fn join_all<R>(threads: Vec<ScopedJoinHandle<'_, Option<R>>>, side: &'static str) -> Result<Vec<R>, WorkloadError> {
    let ended: Vec<_> = threads.into_iter().map(ScopedJoinHandle::join).collect();
    let mut results = Vec::with_capacity(ended.len());
    for end in ended {
        match end {
            Ok(result) => results.extend(result),
            Err(panic) => {
                let message = panic.downcast_ref::<&str>().map(ToString::to_string);
                let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
                return Err(WorkloadError::Panicked { side, message: message.unwrap_or_else(|| "unknown".into()) });
            }
        }
    }
    Ok(results)
}
