//! What one would write by hand for one client and one worker, and for nothing else: floors for the cells of one by one.
//!
//! ```text
//!   flag       │ full │ request │ │ full │ request │ …   each side looks at the next slot alone
//!   counters   submitted 7 ──▶ ◀── completed 5           each side looks at the other's counter when its copy says stop
//! ```
//!
//! Both hand slots out in order and have no free choice among them: a slot is submitted and completed in the order in which it
//! was acquired, and none is withdrawn as long as it goes on. A queue cannot ask that of its users; that is why these are no designs.
//!
//! Sources: *FastForward* (Giacomoni et al., 2008) for the flag; L. Lamport, *Specifying concurrent program modules*, 1983, for the
//! counters, with the copies of Lee et al., *MCRingBuffer*, 2010.

use crate::contender::Contender;
use slotwork::{
    Atomic, CachePadded, Claims, ClientError, Design, Destination, Guarantees, LaneId, NoneFree, One, Order, Platform,
    Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters, WithPayload,
};
use std::marker::PhantomData;

/// Both, as rows that are shown and never ranked.
#[must_use]
pub fn both() -> [Contender; 2] {
    [Contender::of::<Flag>().into_a_floor(), Contender::of::<Counters>().into_a_floor()]
}

const CLAIMS: Claims = Claims {
    submitters: Submitters::One,
    order: Order::Fifo,
    none_free: NoneFree::Scan,
    progress: Guarantees::all(Progress::WaitFree),
    work_conserving: false,
    allocates: false,
    max_lanes: Some(1),
    max_slots_per_lane: None,
    max_clients: Some(1),
    source: "by hand",
};

slotwork::sites! {
    /// Of the flag.
    FLAG_SITES in "by-hand-flag";
    EMPTY_LOAD: Load(Acquire), pairs [EMPTY_STORE], "sees the result";
    FULL_STORE: Store(Release), pairs [FULL_LOAD], "publishes the request";
    FULL_LOAD: Load(Acquire), pairs [FULL_STORE], "sees the request";
    EMPTY_STORE: Store(Release), pairs [EMPTY_LOAD], "publishes the result";
}

slotwork::sites! {
    /// Of the counters.
    COUNTER_SITES in "by-hand-counters";
    SUBMITTED_STORE: Store(Release), pairs [SUBMITTED_LOAD], "publishes the request";
    SUBMITTED_LOAD: Load(Acquire), pairs [SUBMITTED_STORE], "sees the requests";
    COMPLETED_STORE: Store(Release), pairs [COMPLETED_LOAD], "publishes the result";
    COMPLETED_LOAD: Load(Acquire), pairs [COMPLETED_STORE], "sees the results";
}

/// Slots that one side has out, in order: how many came and went on, and which comes and goes on next.
#[derive(Clone, Copy, Default)]
struct Turns {
    came: u64,
    gone: u64,
    coming: usize,
    going: usize,
    /// A slot was given back without going on: there is no order any more, and nothing comes.
    over: bool,
}

impl Turns {
    fn after(shape: Shape, place: usize) -> usize {
        if place + 1 == shape.slots() { 0 } else { place + 1 }
    }

    /// Whether this side may have another one at all.
    fn may_come(&self, shape: Shape) -> bool {
        !self.over && self.came - self.gone < shape.slots() as u64
    }

    fn next(&self) -> SlotId {
        SlotId::new(self.coming)
    }

    fn come(&mut self, shape: Shape) -> SlotId {
        let slot = self.next();
        self.came += 1;
        self.coming = Self::after(shape, self.coming);
        slot
    }

    /// # Panics
    /// When it is another one's turn: what follows would give a slot to two owners.
    fn go(&mut self, shape: Shape, slot: SlotId) {
        assert_eq!(slot.index(), self.going, "by hand, slots go on in the order in which they came");
        self.gone += 1;
        self.going = Self::after(shape, self.going);
    }
}

/// A flag in each slot.
struct Flag;

/// Whether a slot is full.
struct Full<P: Platform>(P::AtomicU32);

impl<P: Platform> Default for Full<P> {
    fn default() -> Self {
        Self(P::AtomicU32::new(0))
    }
}

// SAFETY: `construct` makes a new queue; fresh headers say that every slot is empty.
unsafe impl Design for Flag {
    const NAME: &'static str = "(by hand: flag)";
    const CLAIMS: Claims = CLAIMS;
    const SITES: &'static [&'static [Site]] = &[FLAG_SITES];
    type Queue<P: Platform> = FlagQueue<P>;

    fn construct<P: Platform>(shape: Shape) -> FlagQueue<P> {
        FlagQueue { shape, platform: PhantomData }
    }
}

struct FlagQueue<P> {
    shape: Shape,
    platform: PhantomData<P>,
}

// SAFETY: there is one client and, with one lane, one worker. A slot is the client's while its flag is down and the worker's
// while it is up, and each side hands it out once per turn (`Turns`): a slot whose turn comes again was put down or up by the
// other side since, because this side moved the flag when it went on, and it goes on in order.
unsafe impl<P: Platform> RequestQueue for FlagQueue<P> {
    type Platform = P;
    type Submitters = One;
    type Header = WithPayload<Full<P>>;
    type Client = Turns;
    type Worker = Turns;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<Turns, ClientError> {
        Ok(Turns::default())
    }

    fn retire(&self, _client: Turns) {}

    fn worker(&self, _lane: LaneId) -> Turns {
        Turns::default()
    }

    #[inline]
    fn acquire(&self, slots: &impl Slots<Self::Header>, client: &mut Turns) -> Option<SlotId> {
        let next = slots.header(client.next());
        (client.may_come(self.shape) && next.0.load(&EMPTY_LOAD) == 0).then(|| client.come(self.shape))
    }

    #[inline]
    fn submit(&self, slots: &impl Slots<Self::Header>, client: &mut Turns, slot: SlotId) -> Destination {
        client.go(self.shape, slot);
        slots.header(slot).0.store(1, &FULL_STORE);
        Destination::Any
    }

    fn withdraw(&self, _slots: &impl Slots<Self::Header>, client: &mut Turns, _slot: SlotId) {
        client.over = true;
    }

    #[inline]
    fn take(&self, slots: &impl Slots<Self::Header>, worker: &mut Turns) -> Option<SlotId> {
        let next = slots.header(worker.next());
        (worker.may_come(self.shape) && next.0.load(&FULL_LOAD) == 1).then(|| worker.come(self.shape))
    }

    #[inline]
    fn complete(&self, slots: &impl Slots<Self::Header>, worker: &mut Turns, slot: SlotId) {
        worker.go(self.shape, slot);
        slots.header(slot).0.store(0, &EMPTY_STORE);
    }
}

/// Two counters.
struct Counters;

// SAFETY: `construct` makes a new queue: nothing was submitted or completed.
unsafe impl Design for Counters {
    const NAME: &'static str = "(by hand: counters)";
    const CLAIMS: Claims = CLAIMS;
    const SITES: &'static [&'static [Site]] = &[COUNTER_SITES];
    type Queue<P: Platform> = CountersQueue<P>;

    fn construct<P: Platform>(shape: Shape) -> CountersQueue<P> {
        let counter = || CachePadded::new(P::AtomicU64::new(0));
        CountersQueue { submitted: counter(), completed: counter(), shape }
    }
}

struct CountersQueue<P: Platform> {
    submitted: CachePadded<P::AtomicU64>,
    completed: CachePadded<P::AtomicU64>,
    shape: Shape,
}

/// A side's turns, and its copy of the other side's counter.
#[derive(Default)]
struct Side {
    turns: Turns,
    others: u64,
}

// SAFETY: there is one client and, with one lane, one worker. The client hands out turn n only when turn n minus the number of
// slots was completed, the worker only when turn n was submitted; both count their slots in order (`Turns`).
unsafe impl<P: Platform> RequestQueue for CountersQueue<P> {
    type Platform = P;
    type Submitters = One;
    type Header = CachePadded<()>;
    type Client = Side;
    type Worker = Side;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<Side, ClientError> {
        Ok(Side::default())
    }

    fn retire(&self, _client: Side) {}

    fn worker(&self, _lane: LaneId) -> Side {
        Side::default()
    }

    #[inline]
    fn acquire(&self, _slots: &impl Slots<Self::Header>, client: &mut Side) -> Option<SlotId> {
        let slots = self.shape.slots() as u64;
        if client.turns.came - client.others == slots {
            client.others = self.completed.load(&COMPLETED_LOAD);
        }
        (!client.turns.over && client.turns.came - client.others < slots).then(|| client.turns.come(self.shape))
    }

    #[inline]
    fn submit(&self, _slots: &impl Slots<Self::Header>, client: &mut Side, slot: SlotId) -> Destination {
        client.turns.go(self.shape, slot);
        self.submitted.store(client.turns.gone, &SUBMITTED_STORE);
        Destination::Any
    }

    fn withdraw(&self, _slots: &impl Slots<Self::Header>, client: &mut Side, _slot: SlotId) {
        client.turns.over = true;
    }

    #[inline]
    fn take(&self, _slots: &impl Slots<Self::Header>, worker: &mut Side) -> Option<SlotId> {
        if worker.turns.came == worker.others {
            worker.others = self.submitted.load(&SUBMITTED_LOAD);
        }
        (worker.turns.came < worker.others).then(|| worker.turns.come(self.shape))
    }

    #[inline]
    fn complete(&self, _slots: &impl Slots<Self::Header>, worker: &mut Side, slot: SlotId) {
        worker.turns.go(self.shape, slot);
        self.completed.store(worker.turns.gone, &COMPLETED_STORE);
    }
}
