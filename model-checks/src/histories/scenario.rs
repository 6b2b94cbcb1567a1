//! What threads do in a recorded run, and a generator of such scenarios that also shrinks them.

use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, Strategy, prop_oneof};
use slotwork::{Claims, Submitters};

/// What a client does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClientStep {
    /// Acquires, and holds what it gets.
    Acquire,
    /// Submits what it has held longest, if anything.
    Submit,
    /// Withdraws what it has held longest, if anything.
    Withdraw,
    /// Lets others go on for a while.
    Pause,
}

/// What a worker does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorkerStep {
    /// Takes, and keeps what it gets.
    Take,
    /// Completes what it has kept longest, if anything.
    Complete,
    /// Lets others go on for a while.
    Pause,
}

/// A shape, and what each thread does. There is a worker per lane.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scenario {
    /// Slots of each lane.
    pub slots_per_lane: usize,
    /// One list per client.
    pub clients: Vec<Vec<ClientStep>>,
    /// One list per worker.
    pub workers: Vec<Vec<WorkerStep>>,
}

impl Scenario {
    /// Threads in all.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.clients.len() + self.workers.len()
    }
}

/// What threads do after what they did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Anything.
    Any,
    /// Anything, and clients withdraw as often as not.
    Withdrawing,
    /// A client submits what it acquires, a worker completes what it takes, at once; the worker is the slower one.
    Prompt,
    /// As [`Manner::Prompt`], and the client looks again for a while when all slots are out.
    Full,
}

/// The largest scenario to generate.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Clients, if the design takes as many.
    pub clients: usize,
    /// Lanes, and so workers.
    pub lanes: usize,
    /// Slots per lane: few, so that "none" is answered often.
    pub slots_per_lane: usize,
    /// Steps of each thread.
    pub steps: usize,
    /// In which way threads go on.
    pub manner: Manner,
}

impl Size {
    /// Up to four threads: all properties are searched.
    pub const SMALL: Self = Self { clients: 2, lanes: 2, slots_per_lane: 3, steps: 14, manner: Manner::Any };
    /// Two lanes of one slot: a look goes from lane to lane, and slots come and go behind it.
    pub const TIGHT: Self = Self { clients: 2, lanes: 2, slots_per_lane: 1, steps: 6, manner: Manner::Withdrawing };
    /// A client that keeps up with its worker, round after round: what is overtaken is overtaken often.
    pub const BEHIND: Self = Self { clients: 1, lanes: 1, slots_per_lane: 2, steps: 30, manner: Manner::Prompt };
    /// So many slots that nearly all of them can be in flight, and clients that keep them there.
    pub const FULL: Self = Self { clients: 2, lanes: 1, slots_per_lane: 12, steps: 60, manner: Manner::Full };
    /// Up to eight threads.
    pub const LARGE: Self = Self { clients: 5, lanes: 3, slots_per_lane: 4, steps: 50, manner: Manner::Any };
    /// Four real threads, which meet by chance alone.
    pub const LONG: Self = Self { clients: 2, lanes: 2, slots_per_lane: 3, steps: 80, manner: Manner::Any };

    /// The same with one lane of one slot.
    #[must_use]
    pub const fn one_slot(self) -> Self {
        Self { lanes: 1, slots_per_lane: 1, ..self }
    }
}

/// Scenarios for a design with these claims.
pub fn scenarios(claims: &Claims, size: Size) -> impl Strategy<Value = Scenario> + use<> {
    let clients = match claims.submitters {
        Submitters::One => 1,
        Submitters::Many => size.clients.min(claims.max_clients.unwrap_or(usize::MAX)),
    };
    let lanes = size.lanes.min(claims.max_lanes.unwrap_or(usize::MAX));
    let slots = size.slots_per_lane.min(claims.max_slots_per_lane.unwrap_or(usize::MAX));
    // What a thread does in one go, and how often.
    let (client, worker) = match size.manner {
        Manner::Any => (free_client(4, 1), free_worker()),
        Manner::Withdrawing => (free_client(1, 4), free_worker()),
        Manner::Prompt => (
            Just(vec![ClientStep::Acquire, ClientStep::Submit]).boxed(),
            Just(vec![WorkerStep::Take, WorkerStep::Complete, WorkerStep::Pause]).boxed(),
        ),
        Manner::Full => (
            prop_oneof![
                3 => Just(vec![ClientStep::Acquire, ClientStep::Submit]),
                1 => Just(vec![ClientStep::Acquire, ClientStep::Submit, ClientStep::Pause]),
            ]
            .boxed(),
            Just(vec![WorkerStep::Pause, WorkerStep::Take, WorkerStep::Complete]).boxed(),
        ),
    };
    // Of few slots, or few steps, nothing is ever nearly full.
    let (least_slots, least_steps) = if size.manner == Manner::Full { (slots.min(8), size.steps / 2) } else { (1, 0) };
    let clients = vec(vec(client, least_steps..=size.steps).prop_map(|steps| steps.concat()), 1..=clients);
    let workers = vec(vec(worker, least_steps..=size.steps).prop_map(|steps| steps.concat()), 1..=lanes);
    (least_slots..=slots, clients, workers).prop_map(|(slots_per_lane, clients, workers)| Scenario {
        slots_per_lane,
        clients,
        workers,
    })
}

fn free_client(submits: u32, withdraws: u32) -> BoxedStrategy<Vec<ClientStep>> {
    prop_oneof![
        4 => Just(vec![ClientStep::Acquire]),
        submits => Just(vec![ClientStep::Submit]),
        withdraws => Just(vec![ClientStep::Withdraw]),
    ]
    .boxed()
}

fn free_worker() -> BoxedStrategy<Vec<WorkerStep>> {
    prop_oneof![4 => Just(vec![WorkerStep::Take]), 3 => Just(vec![WorkerStep::Complete])].boxed()
}
