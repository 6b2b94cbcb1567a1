//! The sequential specification of the circle, whole and in parts.
//!
//! ```text
//!   SlotSpec    one slot: who has it, what is in it; answers "none", if they are given to it
//!   FreeSpec    which slots are free: an exact "none free"
//!   QueueSpec   the requests submitted to one lane, in order or not: an exact "nothing submitted"
//!   WholeSpec   everything at once
//! ```
//!
//! An operation on one slot leaves the others as they are, so ownership is checked slot by slot: that is
//! complete (linearizability is local), and quick. The answers "none" speak of all slots, and order speaks of all
//! requests of a lane: these are checked on what they speak of.

use super::history::{Call, Content, Operation};
use super::search::Specification;
use slotwork::{Claims, NoneFree, Order};
use std::collections::VecDeque;

/// What a design is held to, by its claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// What an acquire that finds nothing says.
    pub none_free: NoneFree,
    /// Whether a take that finds nothing says that there was an instant at which nothing was submitted for it. If
    /// not, it says that no single request was there all the time.
    pub none_submitted_exact: bool,
    /// In which order requests are taken.
    pub order: Order,
}

impl Rules {
    /// The rules of these claims.
    ///
    /// No claim is made of a take that finds nothing, so it follows from two others. A lane with one worker
    /// can only gain requests while that worker looks, so whatever way it looks, its answer is exact. In a queue
    /// with an order, "nothing" is a part of the order: exact too. Where several workers take from several places in
    /// any order, requests may come and go behind the one that looks, as slots do behind [`NoneFree::Scan`].
    #[must_use]
    pub fn of(claims: &Claims) -> Self {
        let none_submitted_exact = !claims.work_conserving || claims.order == Order::Fifo;
        Self { none_free: claims.none_free, none_submitted_exact, order: claims.order }
    }
}

/// Who has a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// Nobody: it is free.
    Nobody,
    /// The client of this thread.
    Client(usize),
    /// It is submitted, to this lane or to any.
    Queue(Option<u32>),
    /// The worker of this thread.
    Worker(usize),
}

/// A slot between two operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    owner: Owner,
    content: Content,
}

impl Slot {
    const FRESH: Self = Self { owner: Owner::Nobody, content: Content::FRESH };

    /// After an operation on this slot.
    fn step(self, operation: &Operation) -> Option<Self> {
        let thread = operation.thread;
        let legal = match operation.call {
            Call::Acquire(Some((_, content))) => {
                self.owner == Owner::Nobody && content.is_none_or(|content| content == self.content)
            }
            Call::Submit { .. } | Call::Withdraw { .. } => self.owner == Owner::Client(thread),
            Call::Take { lane, taken: Some((_, content)) } => self.waits_for(lane) && content == self.content,
            Call::Complete { .. } => self.owner == Owner::Worker(thread),
            Call::Acquire(None) | Call::Take { taken: None, .. } => false,
        };
        legal.then_some(match operation.call {
            Call::Acquire(_) => Self { owner: Owner::Client(thread), ..self },
            Call::Submit { content, lane, .. } => Self { owner: Owner::Queue(lane), content },
            Call::Withdraw { .. } => Self { owner: Owner::Nobody, ..self },
            Call::Take { .. } => Self { owner: Owner::Worker(thread), ..self },
            Call::Complete { content, .. } => Self { owner: Owner::Nobody, content },
        })
    }

    fn waits_for(self, worker: u32) -> bool {
        matches!(self.owner, Owner::Queue(lane) if lane.is_none_or(|lane| lane == worker))
    }
}

/// One slot, the operations on it, and answers "none", which say that *this* slot was not there to be had.
pub struct SlotSpec<'a>(pub &'a [Operation]);

impl Specification for SlotSpec<'_> {
    type State = Slot;

    fn initial(&self) -> Slot {
        Slot::FRESH
    }

    fn step(&self, state: &Slot, operation: usize) -> Option<Slot> {
        match self.0[operation].call {
            Call::Acquire(None) => (state.owner != Owner::Nobody).then_some(*state),
            Call::Take { lane, taken: None } => (!state.waits_for(lane)).then_some(*state),
            _ => state.step(&self.0[operation]),
        }
    }

    fn only_looks(&self, operation: usize) -> bool {
        self.0[operation].call.slot().is_none()
    }
}

/// Which slots are free. Operations: acquire, withdraw, complete.
pub struct FreeSpec<'a> {
    /// The operations.
    pub operations: &'a [Operation],
    /// Slots of the queue.
    pub slots: u32,
}

impl Specification for FreeSpec<'_> {
    /// A set bit for each free slot.
    type State = Box<[u64]>;

    fn initial(&self) -> Box<[u64]> {
        let mut free = vec![0; self.slots.div_ceil(64) as usize];
        (0..self.slots).for_each(|slot| free[slot as usize / 64] |= 1 << (slot % 64));
        free.into()
    }

    fn step(&self, free: &Box<[u64]>, operation: usize) -> Option<Box<[u64]>> {
        let call = &self.operations[operation].call;
        let Some(slot) = call.slot() else {
            return free.iter().all(|&word| word == 0).then(|| free.clone());
        };
        let (word, bit) = (slot as usize / 64, 1 << (slot % 64));
        let was_free = free.get(word)? & bit != 0;
        (was_free == matches!(call, Call::Acquire(_))).then(|| {
            let mut free = free.clone();
            free[word] ^= bit;
            free
        })
    }

    fn only_looks(&self, operation: usize) -> bool {
        self.operations[operation].call.slot().is_none()
    }
}

/// The requests submitted to one lane, or to all where they are shared. Operations: submit, take.
pub struct QueueSpec<'a> {
    /// The operations.
    pub operations: &'a [Operation],
    /// Whether the first one submitted is taken first.
    pub in_order: bool,
}

impl Specification for QueueSpec<'_> {
    /// In the order of submission; where that is of no account, sorted, so that equal sets are equal.
    type State = Vec<Content>;

    fn initial(&self) -> Vec<Content> {
        Vec::new()
    }

    fn step(&self, queue: &Vec<Content>, operation: usize) -> Option<Vec<Content>> {
        match self.operations[operation].call {
            Call::Submit { content, .. } => {
                let mut queue = queue.clone();
                queue.push(content);
                if !self.in_order {
                    queue.sort_unstable();
                }
                Some(queue)
            }
            Call::Take { taken: None, .. } => queue.is_empty().then(Vec::new),
            Call::Take { taken: Some((_, content)), .. } => {
                let at = queue.iter().position(|&queued| queued == content)?;
                (at == 0 || !self.in_order).then(|| {
                    let mut queue = queue.clone();
                    queue.remove(at);
                    queue
                })
            }
            _ => None,
        }
    }

    fn only_looks(&self, operation: usize) -> bool {
        self.operations[operation].call.slot().is_none()
    }
}

/// The whole circle: every rule that speaks of an instant, at once.
pub struct WholeSpec<'a> {
    /// The operations.
    pub operations: &'a [Operation],
    /// Lanes of the queue.
    pub lanes: u32,
    /// Slots of the queue.
    pub slots: u32,
    /// What is claimed.
    pub rules: Rules,
}

/// The circle between two operations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Whole {
    slots: Box<[Slot]>,
    /// Where order is claimed: the slots submitted to each lane, and behind them those for any worker.
    queues: Box<[VecDeque<u32>]>,
}

impl WholeSpec<'_> {
    fn queue_of(&self, lane: Option<u32>) -> usize {
        lane.unwrap_or(self.lanes) as usize
    }
}

impl Specification for WholeSpec<'_> {
    type State = Whole;

    fn initial(&self) -> Whole {
        let queues = if self.rules.order == Order::Fifo { self.lanes as usize + 1 } else { 0 };
        Whole { slots: vec![Slot::FRESH; self.slots as usize].into(), queues: vec![VecDeque::new(); queues].into() }
    }

    fn step(&self, state: &Whole, operation: usize) -> Option<Whole> {
        let operation = &self.operations[operation];
        let Some(slot) = operation.call.slot() else {
            let none = match operation.call {
                Call::Take { lane, .. } => {
                    !self.rules.none_submitted_exact || !state.slots.iter().any(|slot| slot.waits_for(lane))
                }
                _ => {
                    self.rules.none_free != NoneFree::Exact
                        || !state.slots.iter().any(|slot| slot.owner == Owner::Nobody)
                }
            };
            return none.then(|| state.clone());
        };
        let before = *state.slots.get(slot as usize)?;
        let after = before.step(operation)?;
        let mut state = state.clone();
        state.slots[slot as usize] = after;
        if !state.queues.is_empty() {
            match (operation.call, before.owner) {
                (Call::Submit { lane, .. }, _) => state.queues[self.queue_of(lane)].push_back(slot),
                (Call::Take { .. }, Owner::Queue(lane)) => {
                    (state.queues[self.queue_of(lane)].pop_front()? == slot).then_some(())?;
                }
                _ => {}
            }
        }
        Some(state)
    }

    fn only_looks(&self, operation: usize) -> bool {
        self.operations[operation].call.slot().is_none()
    }
}
