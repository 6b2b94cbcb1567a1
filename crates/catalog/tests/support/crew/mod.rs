//! Real threads round one queue, with an owner per slot on record outside it.
//!
//! ```text
//!   client   acquire │FREE→me│ check result, fill │me→SUBMITTED│ submit
//!   worker   take    │SUBMITTED→me│ check, answer │me→FREE│ complete
//! ```
//!
//! The record is kept by relaxed swaps, which order nothing: a missing ordering stays missing. A slot
//! with two owners is seen before a payload is touched. Whoever waits yields. No verdict comes from
//! a clock, but for one: when nobody gets anywhere for 20 s, that is a hang.

mod client;
mod worker;

use self::client::ClientRun;
use self::worker::WorkerRun;
use super::{ClientOf, WorkerOf, acquire_all, handles, message_of};
use slotwork::{CachePadded, Client, Design, NoneFree, Order, RequestQueue, Shape, SlotId};
use slotwork_catalog::allocation::Count;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

/// How many of what, and what is watched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) clients: usize,
    pub(crate) lanes: usize,
    pub(crate) slots_per_lane: usize,
    /// Requests of each client.
    pub(crate) requests: u64,
    /// Whether "none" is checked against what was published before the call. That orders threads,
    /// and so is off where orderings are under test.
    pub(crate) answers: bool,
    /// Whether clients drain now and then. A lost request makes a drain wait for ever.
    pub(crate) drains: bool,
    /// How long nobody may get anywhere before that is called a hang.
    pub(crate) patience: Duration,
    pub(crate) seed: u64,
}

impl Plan {
    /// A usual one.
    pub(crate) fn new(clients: usize, lanes: usize, slots_per_lane: usize, requests: u64) -> Self {
        let (answers, drains, patience) = (false, true, Duration::from_secs(20));
        Self { clients, lanes, slots_per_lane, requests, answers, drains, patience, seed: super::script::seed() }
    }
}

/// What a run saw.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Report {
    pub(crate) submitted: u64,
    pub(crate) handled: u64,
    /// By the threads of the run, from start to end.
    pub(crate) allocated: Count,
}

const FREE: u32 = 0;
const SUBMITTED: u32 = 1;
const FIRST_CLIENT: u32 = 2;
const FIRST_WORKER: u32 = 1 << 16;

/// What a slot carries: enough to see that it is torn, stale or somebody else's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parcel {
    client: u32,
    sequence: u64,
    seal: u64,
    answer: u64,
    body: [u64; 4],
}

impl Parcel {
    fn seal_of(client: u32, sequence: u64, slot: SlotId) -> u64 {
        (sequence ^ u64::from(client) << 48 ^ u64::from(slot.get()) << 24).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn fill(&mut self, client: u32, sequence: u64, slot: SlotId) {
        let seal = Self::seal_of(client, sequence, slot);
        *self = Self { client, sequence, seal, answer: 0, body: [seal; 4] };
    }

    fn sealed(&self, slot: SlotId) -> bool {
        let seal = Self::seal_of(self.client, self.sequence, slot);
        self.seal == seal && self.body == [seal; 4]
    }
}

/// What the threads of a run share, beside the queue.
struct Record {
    plan: Plan,
    order: Order,
    none_free: NoneFree,
    owners: Box<[AtomicU32]>,
    /// Per client: requests handled.
    handled: Box<[CachePadded<AtomicU64>]>,
    /// Per lane: submits that have returned. With one lane, those to any worker too.
    published: Box<[CachePadded<AtomicU64>]>,
    /// Completes that have returned.
    returned: CachePadded<AtomicU64>,
    /// Operations of all threads, for the watchdog.
    progress: CachePadded<AtomicU64>,
    clients_done: AtomicUsize,
    stop: AtomicBool,
    violation: OnceLock<String>,
}

impl Record {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn violate(&self, text: String) {
        let _ = self.violation.set(text);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Passes a slot on, and says whether it was where it had to be.
    fn pass(&self, slot: SlotId, from: u32, to: u32) -> bool {
        let Some(owner) = self.owners.get(slot.index()) else {
            self.violate(format!("slot {} does not exist", slot.index()));
            return false;
        };
        let was = owner.swap(to, Ordering::Relaxed);
        if was != from {
            let (slot, was, from, to) = (slot.index(), role(was), role(from), role(to));
            self.violate(format!("slot {slot} has two owners: it went to {to} from {was}, and not from {from}"));
        }
        was == from
    }
}

fn role(owner: u32) -> String {
    match owner {
        FREE => "the free".into(),
        SUBMITTED => "the submitted".into(),
        FIRST_WORKER.. => format!("worker {}", owner - FIRST_WORKER),
        _ => format!("client {}", owner - FIRST_CLIENT),
    }
}

/// Numbers that look random (xorshift); a generator of its own per thread.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Runs the plan, and fails with whatever went wrong.
pub(crate) fn run<D: Design>(plan: Plan) -> Report {
    try_run::<D>(plan).unwrap_or_else(|violation| panic!("{}, {plan:?}: {violation}", D::NAME))
}

/// Runs the plan, and says what it saw or what went wrong.
pub(crate) fn try_run<D: Design>(plan: Plan) -> Result<Report, String> {
    let shape = Shape::new(plan.lanes, plan.slots_per_lane).expect("a test's shape");
    let (first, workers) = handles::<D, Parcel>(shape, |_| Parcel::default());
    let mut clients = vec![first];
    for _ in 1..plan.clients {
        clients.push(clients[0].try_clone().map_err(|error| error.to_string())?);
    }
    let counters = |count: usize| (0..count).map(|_| CachePadded::new(AtomicU64::new(0))).collect();
    let record = Arc::new(Record {
        plan,
        order: D::CLAIMS.order,
        none_free: D::CLAIMS.none_free,
        owners: shape.all_slots().map(|_| AtomicU32::new(FREE)).collect(),
        handled: counters(plan.clients),
        published: counters(plan.lanes),
        returned: CachePadded::new(AtomicU64::new(0)),
        progress: CachePadded::new(AtomicU64::new(0)),
        clients_done: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        violation: OnceLock::new(),
    });
    let clients: Vec<_> =
        (0..).zip(clients).map(|(number, client)| start_client::<D>(&record, number, client)).collect();
    let workers: Vec<_> =
        (0..).zip(workers).map(|(number, worker)| start_worker::<D>(&record, number, worker)).collect();
    watch(&record, || clients.iter().all(JoinHandle::is_finished) && workers.iter().all(JoinHandle::is_finished))?;
    let clients: Vec<_> = clients.into_iter().map(JoinHandle::join).collect();
    let workers: Vec<_> = workers.into_iter().map(JoinHandle::join).collect();
    let panic = clients
        .iter()
        .filter_map(|end| end.as_ref().err())
        .chain(workers.iter().filter_map(|end| end.as_ref().err()))
        .next();
    if let Some(panic) = panic {
        return Err(format!("a thread panicked: {}", message_of(&**panic)));
    }
    if let Some(violation) = record.violation.get() {
        return Err(violation.clone());
    }
    let clients: Vec<_> = clients.into_iter().flatten().collect();
    let workers: Vec<_> = workers.into_iter().flatten().collect();
    let mut report = Report::default();
    for count in clients.iter().map(|end| end.2).chain(workers.iter().map(|end| end.2)) {
        report.allocated.calls += count.calls;
        report.allocated.bytes += count.bytes;
    }
    report.submitted = clients.iter().map(|end| end.1).sum();
    report.handled = workers.iter().map(|end| end.1).sum();
    settle(&record, &report, &clients[0].0)?;
    Ok(report)
}

/// Until all threads are done; an error when nobody gets anywhere.
fn watch(record: &Record, finished: impl Fn() -> bool) -> Result<(), String> {
    let mut last = (record.progress.load(Ordering::Relaxed), Instant::now());
    while !finished() {
        sleep(Duration::from_micros(200));
        let progress = record.progress.load(Ordering::Relaxed);
        if progress != last.0 {
            last = (progress, Instant::now());
        } else if last.1.elapsed() > record.plan.patience {
            record.stop.store(true, Ordering::Relaxed);
            let told = record.violation.get().cloned().unwrap_or_default();
            // Threads that are stuck inside the queue are left behind, so that the test can fail.
            let patience = record.plan.patience;
            return Err(format!("no progress in {patience:?} after {progress} operations {told}"));
        }
    }
    Ok(())
}

/// What must be so when all threads are done.
fn settle<Q: RequestQueue>(record: &Record, report: &Report, client: &Client<Parcel, Q>) -> Result<(), String> {
    let slots = client.shape().slots();
    let (submitted, handled) = (report.submitted, report.handled);
    if submitted != handled {
        return Err(format!("{submitted} requests were submitted, and {handled} were handled"));
    }
    let expected = record.plan.requests * record.plan.clients as u64;
    if submitted != expected {
        return Err(format!("{submitted} requests were submitted, and {expected} were planned"));
    }
    let free = acquire_all(client).len();
    if free != slots || client.in_flight() != 0 {
        return Err(format!("{free} slots of {slots} are free at the end, {} in flight", client.in_flight()));
    }
    Ok(())
}

type End<H> = JoinHandle<(H, u64, Count)>;

fn start_client<D: Design>(record: &Arc<Record>, number: u32, client: ClientOf<D, Parcel>) -> End<ClientOf<D, Parcel>> {
    let record = Arc::clone(record);
    spawn(move || {
        let before = Count::now();
        let submitted =
            ClientRun { record: &record, client: &client, number, submitted: 0, net_acquired: 0, found_nothing: false }
                .run();
        record.clients_done.fetch_add(1, Ordering::Release);
        (client, submitted, before.since())
    })
}

fn start_worker<D: Design>(record: &Arc<Record>, number: u32, worker: WorkerOf<D, Parcel>) -> End<WorkerOf<D, Parcel>> {
    let record = Arc::clone(record);
    spawn(move || {
        let before = Count::now();
        let last = vec![None; record.plan.clients];
        let handled = WorkerRun { record: &record, worker: &worker, number, handled: 0, last }.run();
        (worker, handled, before.since())
    })
}
