//! The workload with a trace of each request: how long each waited, and for whom. It costs clock readings, so it is
//! never the run that throughput is taken from.
//!
//! ```text
//!   closed   as fast as it goes                      who waited how long, and whose turn came how often
//!   open     due ─────▶ due ─────▶ due ─────▶ …      a request's time runs from when it was due,
//!                └ acquire … submit … handled        whether or not the client was ready for it
//! ```
//!
//! A client that is held up does not stop the clock of the requests behind: they were due meanwhile, and their time
//! counts. What was due in the window and never sent counts with the time it had waited by then. So a slow
//! moment is not hidden by the requests that were not made in it (coordinated omission).

mod outcome;

use self::outcome::{result, verify};
use crate::counters::Counters;
use crate::record::{Latency, Metrics};
use crate::request::{Request, Sequence};
use crate::stage::{Crew, Stage, join_all, time_window};
use crate::tally::{Counter, Phase};
use crate::workload::{Cell, Conditions, WorkloadError};
use hdrhistogram::Histogram;
use slotwork::{Claims, Client, Design, Destination, LaneId, Native, Pool, RequestQueue, Worker};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

type QueueOf<D> = <D as Design>::Queue<Native>;

/// A client without its type: a call more does not matter here, and the loops are compiled once for all designs.
trait Sender: Send {
    /// Acquires, fills and submits; none when no slot is free.
    fn send(&self, fill: &mut dyn FnMut(&mut Traced)) -> Option<Destination>;

    /// Takes every slot there is, and tells each.
    fn sweep(&self, slots: usize, tell: &mut dyn FnMut(&Traced));
}

/// A worker without its type.
trait Receiver: Send {
    /// Takes, handles and completes; says whether there was anything.
    fn receive(&self, handle: &mut dyn FnMut(&mut Traced)) -> bool;

    /// Whether a sleeping client need not be woken yet.
    fn refills(&self) -> bool;

    fn lane(&self) -> LaneId;
}

impl<Q: RequestQueue> Sender for Client<Traced, Q> {
    fn send(&self, fill: &mut dyn FnMut(&mut Traced)) -> Option<Destination> {
        let mut slot = self.acquire()?;
        fill(&mut slot);
        Some(slot.submit())
    }

    fn sweep(&self, slots: usize, tell: &mut dyn FnMut(&Traced)) {
        // One more than there are would be one too many, and shows; without an end it would not end.
        let held: Vec<_> = std::iter::from_fn(|| self.acquire()).take(slots.saturating_add(1)).collect();
        held.iter().for_each(|slot| tell(slot));
    }
}

impl<Q: RequestQueue> Receiver for Worker<Traced, Q> {
    fn receive(&self, handle: &mut dyn FnMut(&mut Traced)) -> bool {
        let Some(mut slot) = self.take() else { return false };
        handle(&mut slot);
        slot.complete();
        true
    }

    fn refills(&self) -> bool {
        self.refills()
    }

    fn lane(&self) -> LaneId {
        self.lane()
    }
}

/// When requests are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// As soon as a slot is free.
    Closed,
    /// So many a second, all clients together, at fixed times.
    Open(f64),
}

/// What a traced run saw.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Who waited, and how evenly: of a closed run.
    pub metrics: Metrics,
    /// How long requests took: of an open run.
    pub latency: Option<Latency>,
}

/// A slot with its trace.
struct Traced {
    request: Request,
    /// When its request was due, in nanoseconds since the start.
    due: u64,
    /// When it was submitted.
    submitted: u64,
    /// Requests that it carried in the window.
    carried: u64,
}

/// What a client saw.
struct ClientTrace {
    blocked: Duration,
    /// Requests that were due in the window and not sent, by how long they had waited at its end.
    unsent: Histogram<u64>,
    sent: u64,
    wrong_results: u64,
}

/// What a worker saw.
struct WorkerTrace {
    idle: u64,
    handled: Counter,
    longest: u64,
    times: Histogram<u64>,
    /// The sum of all times, for the mean.
    sum: f64,
}

/// The shared clock, and the window on it.
struct Clock {
    origin: Instant,
    opened: AtomicU64,
    closes: AtomicU64,
    window: u64,
}

impl Clock {
    fn now(&self) -> u64 {
        nanoseconds(self.origin.elapsed())
    }

    /// Opens the window on the clock when the first thread sees the phase: all agree on one beginning.
    fn see(&self, phase: u32) {
        if phase == Phase::Window as u32 && self.opened.load(Ordering::Acquire) == u64::MAX {
            let now = self.now();
            if self.opened.compare_exchange(u64::MAX, now, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                self.closes.store(now + self.window, Ordering::Release);
            }
        }
    }

    /// Whether what was due then is of the window.
    fn holds(&self, due: u64) -> bool {
        due >= self.opened.load(Ordering::Acquire) && due < self.closes.load(Ordering::Acquire)
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The longest time that is told from others: beyond it, all are this long.
const LONGEST: u64 = 60_000_000_000;

fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST, 2).expect("the bounds are constants and well formed")
}

/// Runs `cell` on a new queue of design `D`, with traces. None when it was interrupted.
///
/// # Errors
/// [`WorkloadError`], with the counts verified as in any run.
pub fn trace<D: Design>(cell: Cell, conditions: Conditions<'_>, pace: Pace) -> Result<Option<Trace>, WorkloadError> {
    let unused = |_| Traced { request: Request::unused(), due: 0, submitted: 0, carried: 0 };
    let pool = Pool::<Traced, QueueOf<D>>::new(D::build(cell.shape)?, unused)
        .map_err(|error| WorkloadError::Memory(error.to_string()))?;
    let (first, workers) = pool.split();
    let mut clients = vec![first];
    for _ in 1..cell.clients {
        clients.push(clients[0].try_clone()?);
    }
    let clients = clients.into_iter().map(|client| Box::new(client) as Box<dyn Sender>).collect();
    let workers = workers.into_iter().map(|worker| Box::new(worker) as Box<dyn Receiver>).collect();
    perform(cell, &D::CLAIMS, conditions, pace, clients, workers)
}

fn perform(
    cell: Cell,
    claims: &Claims,
    conditions: Conditions<'_>,
    pace: Pace,
    clients: Vec<Box<dyn Sender>>,
    workers: Vec<Box<dyn Receiver>>,
) -> Result<Option<Trace>, WorkloadError> {
    let stage = Stage::new(cell, claims, conditions);
    let window = nanoseconds(conditions.window);
    let (opened, closes) = (AtomicU64::new(u64::MAX), AtomicU64::new(u64::MAX));
    let clock = Clock { origin: Instant::now(), opened, closes, window };
    // A request of each client in turn, so that they are not all due at once.
    let interval = match pace {
        Pace::Closed => None,
        Pace::Open(rate) => Some(cell.clients as f64 * 1e9 / rate.max(1e-3)),
    };
    let threads = clients.len() + workers.len();
    std::thread::scope(|scope| {
        let mut crew = Crew { scope, stage: &stage, threads, started: 0 };
        let mut client_threads = Vec::new();
        for (index, client) in clients.into_iter().enumerate() {
            let due = interval.map(|interval| Due { interval, next: interval * index as f64 / cell.clients as f64 });
            let (stage, clock) = (&stage, &clock);
            client_threads.push(crew.start(move || client_loop(stage, clock, client, index, due))?);
        }
        let mut worker_threads = Vec::new();
        for worker in workers {
            let (stage, clock) = (&stage, &clock);
            worker_threads.push(crew.start(move || worker_loop(stage, clock, &*worker, interval.is_some()))?);
        }
        stage.gate.open_for(threads);
        let timing = time_window(&stage, &mut Counters::default());
        stage.signals.stop_clients();
        let clients = join_all(client_threads, "client");
        stage.enter(Phase::Drain);
        stage.signals.stop_workers();
        let workers = join_all(worker_threads, "worker")?;
        let clients = clients?;
        let (mut carried, mut wrong) = (Vec::new(), 0);
        clients[0].1.sweep(cell.shape.slots(), &mut |slot| {
            carried.push(slot.carried);
            wrong += u64::from(!slot.request.is_handled());
        });
        let clients: Vec<ClientTrace> = clients.into_iter().map(|(trace, _)| trace).collect();
        verify(&clients, &workers, &carried, cell.shape.slots(), wrong)?;
        Ok(timing.map(|_| result(pace, conditions.window, &clients, &workers, &carried)))
    })
}

/// When a client's requests are due.
#[derive(Clone, Copy)]
struct Due {
    interval: f64,
    next: f64,
}

fn client_loop(
    stage: &Stage<'_>,
    clock: &Clock,
    client: Box<dyn Sender>,
    index: usize,
    mut due: Option<Due>,
) -> (ClientTrace, Box<dyn Sender>) {
    let mut inputs = Sequence::of_client(index);
    let mut trace = ClientTrace { blocked: Duration::ZERO, unsent: histogram(), sent: 0, wrong_results: 0 };
    loop {
        let mut phase = stage.phase();
        clock.see(phase);
        let due_at = due.map_or(0, |due| nanoseconds(Duration::from_secs_f64(due.next / 1e9)));
        while due.is_some() && clock.now() < due_at && phase < Phase::Stop as u32 {
            wait_a_little(due_at.saturating_sub(clock.now()));
            phase = stage.phase();
        }
        let mut wrong_results = 0;
        let mut fill = |slot: &mut Traced| {
            wrong_results += u64::from(!slot.request.is_handled());
            slot.request.fill(inputs.next_input());
            slot.due = due_at;
            slot.submitted = clock.now();
            slot.carried += u64::from(phase == Phase::Window as u32);
        };
        let mut look = || {
            if stage.phase() >= Phase::Stop as u32 {
                return Some(None);
            }
            client.send(&mut fill).map(Some)
        };
        let sent = look().unwrap_or_else(|| {
            let since = Instant::now();
            let sent = stage.waiting.until(stage.signals.clients(), &mut look);
            if phase == Phase::Window as u32 {
                trace.blocked += since.elapsed();
            }
            sent
        });
        trace.wrong_results += wrong_results;
        let Some(destination) = sent else { break };
        trace.sent += 1;
        if stage.waiting.sleeps() {
            stage.signals.submitted(destination);
        }
        if let Some(due) = &mut due {
            due.next += due.interval;
        }
    }
    // What was due and not sent: it has waited until now, at least.
    if let Some(mut due) = due {
        let closes = clock.closes.load(Ordering::Acquire);
        while due.next < closes.min(clock.now()) as f64 && closes != u64::MAX {
            let due_at = nanoseconds(Duration::from_secs_f64(due.next / 1e9));
            if clock.holds(due_at) {
                trace.unsent.saturating_record((closes.saturating_sub(due_at)).max(1));
            }
            due.next += due.interval;
        }
    }
    (trace, client)
}

/// Waits for a part of the time that is left, without sleeping past its end.
fn wait_a_little(left: u64) {
    const SLEEP_LAG: u64 = 200_000;
    const YIELD_LAG: u64 = 20_000;
    match left {
        left if left > SLEEP_LAG => std::thread::sleep(Duration::from_nanos(left - SLEEP_LAG)),
        left if left > YIELD_LAG => std::thread::yield_now(),
        _ => std::hint::spin_loop(),
    }
}

fn worker_loop(stage: &Stage<'_>, clock: &Clock, worker: &dyn Receiver, timed: bool) -> WorkerTrace {
    let mut trace = WorkerTrace { idle: 0, handled: Counter::default(), longest: 0, times: histogram(), sum: 0.0 };
    let lane = worker.lane();
    loop {
        let mut began = 0;
        let mut handle = |phase: u32, slot: &mut Traced| {
            clock.see(phase);
            trace.handled.note(phase);
            if phase == Phase::Window as u32 {
                began = clock.now();
                trace.longest = trace.longest.max(began.saturating_sub(slot.submitted));
            }
            // In an open run also what is late is worked for: it would be faster without.
            if phase < Phase::Stop as u32 || timed {
                stage.conditions.handler.run();
            }
            slot.request.handle();
            if timed && clock.holds(slot.due) {
                let time = clock.now().saturating_sub(slot.due).max(1);
                trace.times.saturating_record(time);
                trace.sum += time as f64;
            }
        };
        let mut look = || {
            let phase = stage.phase();
            if worker.receive(&mut |slot| handle(phase, slot)) {
                return Some(Some(phase));
            }
            (phase >= Phase::Drain as u32).then_some(None)
        };
        let mut since = None;
        let found = look().unwrap_or_else(|| {
            since = (stage.phase() == Phase::Window as u32).then(|| clock.now());
            stage.waiting.until(stage.signals.worker(lane), &mut look)
        });
        // Up to where the request began, not to where it was handled; a wait that outlived the window is not counted.
        trace.idle += since.map_or(0, |since| began.saturating_sub(since));
        let Some(phase) = found else { break };
        trace.handled.all += 1;
        stage.tell(lane.index(), phase, trace.handled.all);
        if stage.waiting.sleeps() {
            stage.signals.completed(|| worker.refills());
        }
    }
    trace
}

#[cfg(test)]
mod tests;
