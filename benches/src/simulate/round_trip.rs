//! The workload *slot round trip* on a simulated machine; see [`crate::workload`], whose loops these are.
//!
//! A run goes on until so many requests were handled; the first quarter of them is the warm-up. Who counts is
//! outside of the machine, so counting costs nothing there.

use super::RunError;
use crate::request::{Request, Sequence};
use crate::tally::Totals;
use crate::waiting::Waiting;
use slotwork::{
    Atomic, CachePadded, Claims, Client, Design, Destination, LaneId, Platform, Pool, Shape, Submitters, Worker,
};
use slotwork_coherence::{Options, Profile, Report, Simulated, Simulation};
use slotwork_workqueue::{Event, Waiting as Policy};
use std::cell::Cell as Count;
use std::rc::Rc;

slotwork::sites! {
    /// The accesses of the workload's own.
    pub WORKLOAD_SITES in "workload";
    PHASE_LOAD: Load(Acquire), pairs [PHASE_STORE], "sees what came before the phase";
    PHASE_STORE: Store(Release), pairs [PHASE_LOAD], "begins a phase";
}

const RUNNING: u64 = 0;
const STOP: u64 = 1;
const DRAIN: u64 = 2;

/// How many of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Client threads.
    pub clients: usize,
    /// Lanes, which is worker threads, and slots.
    pub shape: Shape,
    /// How threads wait.
    pub waiting: Waiting,
}

impl Cell {
    /// Why a design with these claims takes no part; none where it does.
    #[must_use]
    pub fn refusal(&self, claims: &Claims) -> Option<String> {
        match claims.max_clients {
            _ if claims.submitters == Submitters::One && self.clients > 1 => Some("one submitter".into()),
            Some(limit) if self.clients > limit => Some(format!("at most {limit} clients")),
            _ => claims.admit(self.shape).err().map(|error| error.to_string()),
        }
    }

    /// All its threads.
    #[must_use]
    pub const fn threads(&self) -> usize {
        self.clients + self.shape.lanes()
    }
}

/// What is simulated, and how long.
#[derive(Clone, Copy, Debug)]
pub struct Conditions<'a> {
    /// The machine.
    pub profile: &'a Profile,
    /// Requests in all.
    pub requests: u64,
    /// Work per request.
    pub handler_nanoseconds: f64,
    /// Part by which it differs from request to request.
    pub handler_spread: f64,
    /// Seed, limit, trace.
    pub options: Options,
}

/// What one run came to, all counts verified.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Requests handled in the window.
    pub round_trips: u64,
    /// The window's length in simulated nanoseconds.
    pub nanoseconds: f64,
    /// Slots acquired in all.
    pub acquired: u64,
    /// Acquires that found none free, in all.
    pub failed_acquires: u64,
    /// All counts.
    pub totals: Totals,
    /// Where the time went.
    pub report: Report,
}

impl Outcome {
    /// Round trips per simulated second.
    #[must_use]
    pub fn throughput(&self) -> f64 {
        self.round_trips as f64 * 1e9 / self.nanoseconds.max(1e-9)
    }
}

type QueueOf<D> = <D as Design>::Queue<Simulated>;

/// What is counted, outside of the machine.
#[derive(Default)]
struct Tally {
    acquired: Count<u64>,
    failed: Count<u64>,
    submitted: Count<u64>,
    handled: Count<u64>,
    sum_submitted: Count<u64>,
    sum_handled: Count<u64>,
    wrong_results: Count<u64>,
    clients_left: Count<usize>,
    in_window: Count<u64>,
    opened: Count<Option<f64>>,
    closed: Count<Option<f64>>,
}

fn increment(count: &Count<u64>) -> u64 {
    count.set(count.get() + 1);
    count.get()
}

/// What all threads of a run share.
struct Stage {
    phase: CachePadded<<Simulated as Platform>::AtomicU64>,
    clients: Event<Simulated>,
    /// One for each worker, or one for all.
    workers: Vec<Event<Simulated>>,
    waiting: Policy,
    requests: u64,
    handler: (f64, f64),
    tally: Tally,
}

impl Stage {
    fn phase(&self) -> u64 {
        self.phase.load(&PHASE_LOAD)
    }

    fn worker(&self, lane: LaneId) -> &Event<Simulated> {
        &self.workers[if self.workers.len() == 1 { 0 } else { lane.index() }]
    }

    fn submitted(&self, destination: Destination) {
        match destination {
            Destination::Lane(lane) => _ = self.worker(lane).notify_one(),
            Destination::Any => _ = self.workers[0].notify_one(),
        }
    }

    /// Begins a phase, and wakes whoever has to see it.
    fn enter(&self, phase: u64) {
        self.phase.store(phase, &PHASE_STORE);
        if self.waiting.sleeps() {
            self.clients.notify_all();
            self.workers.iter().for_each(|event| _ = event.notify_all());
        }
    }

    /// Counts a request that was handled now; the last one ends the window.
    fn handled(&self, input: u64) {
        let tally = &self.tally;
        tally.sum_handled.set(tally.sum_handled.get().wrapping_add(input));
        let handled = increment(&tally.handled);
        Simulated::achieved();
        if handled == self.requests / 4 {
            tally.opened.set(Some(Simulated::now_nanoseconds()));
        }
        if handled == self.requests {
            tally.in_window.set(handled - self.requests / 4);
            tally.closed.set(Some(Simulated::now_nanoseconds()));
            self.enter(STOP);
        }
    }
}

const fn policy(waiting: Waiting) -> Policy {
    match waiting {
        Waiting::Spin => Policy::SPIN,
        Waiting::Yield => Policy::YIELD,
        Waiting::Park => Policy::PARK,
        Waiting::Settle => Policy::SETTLE,
    }
}

/// Runs `cell` on a new queue of design `D`.
///
/// # Errors
/// [`RunError`].
pub fn run<D: Design>(cell: Cell, conditions: Conditions<'_>) -> Result<Outcome, RunError> {
    let mut simulation = Simulation::new(conditions.profile, conditions.options)?;
    let (clients, workers, stage) = simulation.build(|| -> Result<_, RunError> {
        let pool = Pool::<Request, QueueOf<D>>::new(D::build(cell.shape)?, |_| Request::unused())
            .map_err(|error| RunError::Memory(error.to_string()))?;
        let (first, workers) = pool.split();
        let mut clients = vec![first];
        for _ in 1..cell.clients {
            clients.push(clients[0].try_clone()?);
        }
        let bells = if D::CLAIMS.work_conserving { 1 } else { cell.shape.lanes() };
        let stage = Rc::new(Stage {
            phase: CachePadded::new(Atomic::new(RUNNING)),
            clients: Event::new(),
            workers: (0..bells).map(|_| Event::new()).collect(),
            waiting: policy(cell.waiting),
            requests: conditions.requests.max(8),
            handler: (conditions.handler_nanoseconds, conditions.handler_spread),
            tally: Tally { clients_left: Count::new(cell.clients), ..Tally::default() },
        });
        Ok((clients, workers, stage))
    })?;
    let last = Rc::new(Count::<Option<Client<Request, QueueOf<D>>>>::default());
    for (index, client) in clients.into_iter().enumerate() {
        let (stage, last) = (Rc::clone(&stage), Rc::clone(&last));
        simulation.spawn(format!("client-{index}"), move || {
            client_loop::<D>(&stage, &client, index);
            last.set(Some(client));
        });
    }
    for worker in workers {
        let stage = Rc::clone(&stage);
        simulation.spawn(format!("worker-{}", worker.lane().index()), move || worker_loop::<D>(&stage, &worker));
    }
    let report = simulation.run()?;
    let client = last.take().ok_or_else(|| RunError::Count("no client came back".into()))?;
    outcome::<D>(&stage.tally, &client, cell.shape.slots() as u64, report)
}

fn client_loop<D: Design>(stage: &Stage, client: &Client<Request, QueueOf<D>>, index: usize) {
    let tally = &stage.tally;
    let mut inputs = Sequence::of_client(index);
    loop {
        let found = stage.waiting.until(&stage.clients, || {
            if stage.phase() >= STOP {
                return Some(None);
            }
            let found = client.acquire();
            if found.is_none() {
                increment(&tally.failed);
            }
            found.map(Some)
        });
        let Some(mut slot) = found else { break };
        increment(&tally.acquired);
        tally.wrong_results.set(tally.wrong_results.get() + u64::from(!slot.is_handled()));
        let input = inputs.next_input();
        slot.fill(input);
        let destination = slot.submit();
        increment(&tally.submitted);
        tally.sum_submitted.set(tally.sum_submitted.get().wrapping_add(input));
        if stage.waiting.sleeps() {
            stage.submitted(destination);
        }
    }
    let left = tally.clients_left.get() - 1;
    tally.clients_left.set(left);
    if left == 0 {
        stage.enter(DRAIN);
    }
}

fn worker_loop<D: Design>(stage: &Stage, worker: &Worker<Request, QueueOf<D>>) {
    loop {
        let found = stage.waiting.until(stage.worker(worker.lane()), || {
            // Before the take: when all clients had ended by then, a take that finds nothing is the last.
            let phase = stage.phase();
            match worker.take() {
                Some(slot) => Some(Some(slot)),
                None => (phase >= DRAIN).then_some(None),
            }
        });
        let Some(mut slot) = found else { break };
        let (nanoseconds, spread) = stage.handler;
        if nanoseconds > 0.0 {
            Simulated::work(nanoseconds, spread);
        }
        let input = slot.handle();
        slot.complete();
        stage.handled(input);
        if stage.waiting.sleeps() {
            stage.clients.notify_one_unless(|| worker.refills());
        }
    }
}

fn outcome<D: Design>(
    tally: &Tally,
    client: &Client<Request, QueueOf<D>>,
    slots: u64,
    report: Report,
) -> Result<Outcome, RunError> {
    // Takes every slot there is, so that none can be missing or doubled, and checks its last result.
    let held: Vec<_> = std::iter::from_fn(|| client.acquire())
        .take(usize::try_from(slots).unwrap_or(usize::MAX).saturating_add(1))
        .collect();
    let late = held.iter().filter(|slot| !slot.is_handled()).count() as u64;
    let totals = Totals {
        acquired: tally.acquired.get(),
        submitted: tally.submitted.get(),
        handled: tally.handled.get(),
        sum_submitted: tally.sum_submitted.get(),
        sum_handled: tally.sum_handled.get(),
        wrong_results: tally.wrong_results.get() + late,
        free_slots: held.len() as u64,
        slots,
    };
    totals.verify().map_err(|error| RunError::Count(error.to_string()))?;
    let (Some(opened), Some(closed)) = (tally.opened.get(), tally.closed.get()) else {
        return Err(RunError::Count("the window was never closed".into()));
    };
    Ok(Outcome {
        round_trips: tally.in_window.get(),
        nanoseconds: closed - opened,
        acquired: tally.acquired.get(),
        failed_acquires: tally.failed.get(),
        totals,
        report,
    })
}
