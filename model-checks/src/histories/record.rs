//! One scenario on one design on any machine, with every call written down.
//!
//! The queue is driven by hand, without payloads: a variant with two owners of a slot is then wrong, and
//! nothing worse. What is in a slot is kept beside it in plain words of the real machine, which order
//! nothing: that an answer is there when its slot comes back is the queue's own doing.
//!
//! ```text
//!   thread   tick ─ call … return ─ tick        the clock is one atomic of the machine: a call that ended
//!   clock      7                     9          before another began happens before it, and no more
//! ```
//!
//! The clock adds order between operations, so a history says nothing of missing orderings: that is what the
//! models are for.

use super::history::{Call, Content, History, Operation};
use super::scenario::{ClientStep, Scenario, WorkerStep};
use crate::platform::Machine;
use slotwork::{
    Atomic, AtomicInteger, Design, Destination, HeaderTable, LaneId, RequestQueue, Shape, ShapeError, SlotId,
};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

slotwork::sites! {
    /// The recorder's own.
    pub RECORD_SITES in "histories";
    TICK: Rmw(AcqRel), pairs [TICK], "what ended at an earlier tick happens before what begins at a later one";
    GATE_COME: Rmw(AcqRel), pairs [GATE_COME, GATE_LOOK], "threads wait for each other, so that they meet";
    GATE_LOOK: Load(Acquire), pairs [GATE_COME], "sees that all are there";
}

/// Every so many calls a thread lets others run in the middle of one: they meet on one processor too.
const STAGGER: u32 = 5;

/// Who pauses lets others run so often: long enough for a round of a client.
const PAUSE: u32 = 12;

/// What all threads of a run share.
struct Run<P: Machine, Q: RequestQueue> {
    queue: Q,
    headers: HeaderTable<Q::Header>,
    contents: Box<[AtomicU32]>,
    clock: P::AtomicU64,
    gate: P::AtomicU32,
    requests: AtomicU32,
}

/// One thread's part of it: a handle of the queue, what it has, and what it did.
struct Part<P: Machine, Q: RequestQueue, H> {
    run: Arc<Run<P, Q>>,
    thread: usize,
    handle: H,
    has: VecDeque<SlotId>,
    calls: u32,
    log: Vec<Operation>,
}

impl<P: Machine, Q: RequestQueue, H> Part<P, Q, H> {
    fn new(run: &Arc<Run<P, Q>>, thread: usize, handle: H) -> Self {
        // Each at its own place, so that not all stagger at the same calls.
        let calls = u32::try_from(thread).expect("threads are few");
        Self { run: Arc::clone(run), thread, handle, has: VecDeque::new(), calls, log: Vec::new() }
    }

    /// Starts a thread that waits for all `threads` and then takes its steps.
    fn start<S: Send + 'static>(
        mut self,
        threads: usize,
        steps: Vec<S>,
        step: fn(&mut Self, S) -> bool,
    ) -> P::Join<Self>
    where
        H: Send + 'static,
    {
        P::spawn(move || {
            self.run.gate.fetch_add(1, &GATE_COME);
            while (self.run.gate.load(&GATE_LOOK) as usize) < threads {
                P::yield_now();
            }
            for next in steps {
                step(&mut self, next);
            }
            self
        })
    }

    /// Calls the queue between two ticks, and writes down what `describe` makes of the result.
    fn call<R>(
        &mut self,
        call: impl FnOnce(&Run<P, Q>, &mut H) -> R,
        describe: impl FnOnce(&Run<P, Q>, &R) -> Call,
    ) -> R {
        let called = self.run.clock.fetch_add(1, &TICK);
        self.calls += 1;
        if self.calls.is_multiple_of(STAGGER) {
            P::yield_now();
        }
        let result = call(&self.run, &mut self.handle);
        let returned = self.run.clock.fetch_add(1, &TICK);
        let call = describe(&self.run, &result);
        self.log.push(Operation { thread: self.thread, called, returned, call });
        result
    }
}

impl<P: Machine, Q: RequestQueue> Run<P, Q> {
    fn content(&self, slot: SlotId) -> Content {
        Content(self.contents[slot.index()].load(Ordering::Relaxed))
    }

    fn fill(&self, slot: SlotId, content: Content) {
        self.contents[slot.index()].store(content.0, Ordering::Relaxed);
    }
}

impl<P: Machine, Q: RequestQueue> Part<P, Q, Q::Client> {
    fn act(&mut self, step: ClientStep) -> bool {
        if step == ClientStep::Acquire {
            let found = self.call(
                |run, client| run.queue.acquire(&run.headers, client),
                |run, found| Call::Acquire(found.map(|slot| (slot.get(), Some(run.content(slot))))),
            );
            self.has.extend(found);
            return found.is_some();
        }
        if step == ClientStep::Pause {
            (0..PAUSE).for_each(|_| P::yield_now());
            return true;
        }
        let Some(slot) = self.has.pop_front() else { return false };
        if step == ClientStep::Submit {
            let content = Content::request(self.run.requests.fetch_add(1, Ordering::Relaxed) + 1);
            self.run.fill(slot, content);
            self.call(
                |run, client| run.queue.submit(&run.headers, client, slot),
                |_, &to| Call::Submit { slot: slot.get(), content, lane: lane(to) },
            );
        } else {
            self.call(
                |run, client| run.queue.withdraw(&run.headers, client, slot),
                |_, ()| Call::Withdraw { slot: slot.get() },
            );
        }
        true
    }
}

fn lane(to: Destination) -> Option<u32> {
    match to {
        Destination::Lane(lane) => Some(index(lane)),
        Destination::Any => None,
    }
}

fn index(lane: LaneId) -> u32 {
    u32::try_from(lane.index()).expect("a lane's index fits")
}

impl<P: Machine, Q: RequestQueue> Part<P, Q, (LaneId, Q::Worker)> {
    fn work(&mut self, step: WorkerStep) -> bool {
        if step == WorkerStep::Take {
            let lane = index(self.handle.0);
            let taken = self.call(
                |run, (_, worker)| run.queue.take(&run.headers, worker),
                |run, taken| Call::Take { lane, taken: taken.map(|slot| (slot.get(), run.content(slot))) },
            );
            self.has.extend(taken);
            return taken.is_some();
        }
        if step == WorkerStep::Pause {
            (0..PAUSE).for_each(|_| P::yield_now());
            return true;
        }
        let Some(slot) = self.has.pop_front() else { return false };
        let content = self.run.content(slot).answered();
        self.run.fill(slot, content);
        self.call(
            |run, (_, worker)| run.queue.complete(&run.headers, worker, slot),
            |_, ()| Call::Complete { slot: slot.get(), content },
        );
        true
    }
}

type Clients<P, Q> = [Part<P, Q, <Q as RequestQueue>::Client>];
type Workers<P, Q> = [Part<P, Q, (LaneId, <Q as RequestQueue>::Worker)>];

/// What is still out is given back, what is still submitted is taken, what is free is acquired.
fn give_back<P: Machine, Q: RequestQueue>(shape: Shape, clients: &mut Clients<P, Q>, workers: &mut Workers<P, Q>) {
    for client in &mut *clients {
        while client.act(ClientStep::Withdraw) {}
    }
    for worker in workers {
        while worker.work(WorkerStep::Complete) {}
        // A broken queue may give out requests without end.
        for _ in 0..=2 * shape.slots() {
            if !worker.work(WorkerStep::Take) {
                break;
            }
            worker.work(WorkerStep::Complete);
        }
    }
    if let Some(client) = clients.first_mut() {
        for _ in 0..=shape.slots() {
            client.act(ClientStep::Acquire);
        }
    }
}

/// Runs a scenario with a thread for each client and worker. When all have ended, everything is given back, every
/// request is taken and every slot acquired, by one after the other: what was lost is missed then.
///
/// # Errors
/// [`ShapeError`] when the design does not take the scenario's shape.
///
/// # Panics
/// When the design refuses a client that its claims allow.
pub fn record<D: Design, P: Machine>(scenario: &Scenario) -> Result<History, ShapeError> {
    let shape = Shape::new(scenario.workers.len(), scenario.slots_per_lane)?;
    let run = Arc::new(Run::<P, D::Queue<P>> {
        queue: D::build::<P>(shape)?.into_inner(),
        headers: HeaderTable::new(shape),
        contents: shape.all_slots().map(|_| AtomicU32::new(Content::FRESH.0)).collect(),
        clock: P::AtomicU64::new(1),
        gate: P::AtomicU32::new(0),
        requests: AtomicU32::new(0),
    });
    let threads = scenario.threads();
    let clients = scenario.clients.iter().enumerate().map(|(at, steps)| {
        let handle = run.queue.client().expect("no more clients than the design claims to take");
        (Part::new(&run, at, handle), steps.clone())
    });
    let first_worker = scenario.clients.len();
    let workers = shape.all_lanes().zip(&scenario.workers).map(|(lane, steps)| {
        let handle = (lane, run.queue.worker(lane));
        (Part::new(&run, first_worker + lane.index(), handle), steps.clone())
    });
    // All handles are made before the first thread begins.
    let (clients, workers): (Vec<_>, Vec<_>) = (clients.collect(), workers.collect());
    let clients: Vec<_> = clients.into_iter().map(|(part, steps)| part.start(threads, steps, Part::act)).collect();
    let workers: Vec<_> = workers.into_iter().map(|(part, steps)| part.start(threads, steps, Part::work)).collect();
    let mut clients: Vec<_> = clients.into_iter().map(P::join).collect();
    let mut workers: Vec<_> = workers.into_iter().map(P::join).collect();
    give_back(shape, &mut clients, &mut workers);
    let names = |kind: &str, count: usize| (0..count).map(|at| format!("{kind} {at}")).collect::<Vec<_>>();
    let mut history = History {
        lanes: u32::try_from(shape.lanes()).expect("a lane's index fits"),
        slots_per_lane: u32::try_from(shape.slots_per_lane()).expect("a shape's slots fit"),
        threads: [names("client", clients.len()), names("worker", workers.len())].concat(),
        operations: Vec::new(),
    };
    for client in clients {
        history.operations.extend(client.log);
        run.queue.retire(client.handle);
    }
    history.operations.extend(workers.into_iter().flat_map(|worker| worker.log));
    history.operations.sort_by_key(|operation| operation.called);
    Ok(history)
}
