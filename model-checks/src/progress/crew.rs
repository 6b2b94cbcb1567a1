//! The threads of an execution, and what they go on doing: programs of calls, round and round.
//!
//! They drive a [`RequestQueue`] by hand, without a pool: each call is then the design's own accesses and nothing
//! else, and a thread that is never resumed leaves no guard behind.

use super::ledger::{Call, Shared};
use crate::platform::{Machine, Shuttle};
use slotwork::{Design, HeaderTable, LaneId, RequestQueue, Shape, SlotId};
use std::collections::VecDeque;
use std::sync::Arc;

/// What one thread does, again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) name: &'static str,
    /// Its calls. One that has nothing to work on is left out: a submit after an acquire that found nothing.
    pub(super) calls: &'static [Call],
    /// Slots that it holds back, and never submits or withdraws.
    pub(super) keeps: usize,
    /// Whether it has a client from the start.
    pub(super) client: bool,
    /// Whether it lets go of the slot first that it had last.
    pub(super) backwards: bool,
}

macro_rules! programs {
    ($($(#[$meta:meta])* $program:ident $name:literal: [$($call:ident)+], keeps $keeps:literal, client $client:literal, backwards $backwards:literal;)+) => {
        $(
            $(#[$meta])*
            pub(super) const $program: Program = Program {
                name: $name,
                calls: &[$(Call::$call),+],
                keeps: $keeps,
                client: $client,
                backwards: $backwards,
            };
        )+
    };
}

programs! {
    SUBMIT "submits": [Acquire Submit], keeps 0, client true, backwards false;
    WITHDRAW "withdraws": [Acquire Withdraw], keeps 0, client true, backwards false;
    /// Takes the next slot before it lets go of the last one.
    HAND_OVER_HAND "withdraws, hand over hand": [Acquire Withdraw], keeps 1, client true, backwards false;
    ALTERNATE "submits and withdraws": [Acquire Submit Acquire Withdraw], keeps 0, client true, backwards false;
    /// Comes and goes.
    CHURN "comes and goes": [MakeClient Acquire Submit Acquire Withdraw RetireClient], keeps 0, client false, backwards false;
    /// Only comes and goes.
    ENLIST "only comes and goes": [MakeClient RetireClient], keeps 0, client false, backwards false;
    WORK "works": [Take Complete], keeps 0, client false, backwards false;
    SUBMIT_BACKWARDS "submits the last first": [Acquire Acquire Submit Submit], keeps 0, client true, backwards true;
    WORK_BACKWARDS "completes the last first": [Take Take Complete Complete], keeps 0, client false, backwards true;
    /// Client and worker in one.
    CIRCLE "goes round": [Acquire Submit Take Complete], keeps 0, client true, backwards false;
    /// Client and worker in one, with as much in flight as there is.
    CIRCLES "goes round, twice": [Acquire Submit Acquire Submit Take Complete Take Complete], keeps 0, client true, backwards false;
}

impl Program {
    /// Whether it has a worker.
    fn works(&self) -> bool {
        self.calls.contains(&Call::Take)
    }

    /// The slot that it lets go of next.
    fn next_of(&self, slots: &mut VecDeque<SlotId>) -> Option<SlotId> {
        if self.backwards { slots.pop_back() } else { slots.pop_front() }
    }
}

/// All threads of an execution, and the queue they use.
#[derive(Clone, Debug)]
pub(super) struct Crew {
    pub(super) shape: Shape,
    pub(super) programs: Vec<Program>,
}

impl Crew {
    pub(super) fn new(lanes: usize, slots_per_lane: usize, programs: &[Program]) -> Self {
        let shape = Shape::new(lanes, slots_per_lane).expect("a small shape is legal");
        Self { shape, programs: programs.to_vec() }
    }

    /// The body of an execution: the main thread of shuttle.
    pub(super) fn run<D: Design>(&self, shared: &Shared) {
        let queue = Arc::new(D::build::<Shuttle>(self.shape).expect("a small shape suits every design").into_inner());
        let headers = Arc::new(HeaderTable::new(self.shape));
        let mut lanes = self.shape.all_lanes();
        let threads: Vec<_> = self
            .programs
            .iter()
            .zip(0..)
            .map(|(&program, number)| {
                let hands = Hands::<D::Queue<Shuttle>> {
                    client: program.client.then(|| queue.client().expect("as many clients as the design takes")),
                    worker: program.works().then(|| queue.worker(lanes.next().unwrap_or(LaneId::FIRST))),
                    queue: Arc::clone(&queue),
                    headers: Arc::clone(&headers),
                    held: VecDeque::new(),
                    claimed: VecDeque::new(),
                    shared: shared.clone(),
                    number,
                };
                (program, hands)
            })
            .collect();
        // Handles first, then threads: nobody moves before all are there.
        let threads: Vec<_> = threads
            .into_iter()
            .map(|(program, mut hands)| {
                Shuttle::spawn(move || {
                    while !hands.shared.over() {
                        let steps: u32 = program.calls.iter().map(|&call| hands.call(call, program)).sum();
                        if steps == 0 {
                            // A round without an access is one that no other thread could come into.
                            shuttle::thread::yield_now();
                        }
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(Shuttle::join);
    }
}

/// What one thread has in its hands.
struct Hands<Q: RequestQueue> {
    queue: Arc<Q>,
    headers: Arc<HeaderTable<Q::Header>>,
    client: Option<Q::Client>,
    worker: Option<Q::Worker>,
    held: VecDeque<SlotId>,
    claimed: VecDeque<SlotId>,
    shared: Shared,
    number: usize,
}

impl<Q: RequestQueue> Hands<Q> {
    /// Makes a call, if there is something to make it with, and says how many steps it took.
    fn call(&mut self, call: Call, program: Program) -> u32 {
        let Self { queue, headers, client, worker, held, claimed, shared, number } = self;
        let (queue, headers, number) = (&**queue, &**headers, *number);
        if shared.over() {
            return 0;
        }
        match call {
            Call::Acquire => {
                let Some(client) = client else { return 0 };
                let (slot, steps) = shared.during(number, call, || queue.acquire(headers, client));
                held.extend(slot);
                steps
            }
            Call::Submit | Call::Withdraw => {
                let (Some(client), true) = (client, held.len() > program.keeps) else { return 0 };
                let slot = program.next_of(held).expect("more are held than kept");
                let ((), steps) = shared.during(number, call, || match call {
                    Call::Submit => _ = queue.submit(headers, client, slot),
                    _ => queue.withdraw(headers, client, slot),
                });
                steps
            }
            Call::Take => {
                let Some(worker) = worker else { return 0 };
                let (slot, steps) = shared.during(number, call, || queue.take(headers, worker));
                claimed.extend(slot);
                steps
            }
            Call::Complete => {
                let (Some(worker), Some(slot)) = (worker, program.next_of(claimed)) else { return 0 };
                shared.during(number, call, || queue.complete(headers, worker, slot)).1
            }
            Call::MakeClient => {
                let (made, steps) = shared.during(number, call, || queue.client());
                *client = made.ok();
                steps
            }
            Call::RetireClient => {
                let Some(client) = client.take() else { return 0 };
                shared.during(number, call, || queue.retire(client)).1
            }
        }
    }
}
