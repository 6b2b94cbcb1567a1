//! `grab-list`: two lists for all lanes, each only ever pushed onto one by one and taken off whole; one submitter.
//!
//! The client takes the whole list of free slots when its own chain of them is empty; a worker takes the whole to-do list. So a
//! line that all share is touched once for many slots on the taking side, and nobody pops: neither list needs a tag.
//!
//! ```text
//!                    ┌── to-do: newest ──▶ 3 ──▶ 0 ──┐  a worker with an empty chain takes all of it, and turns it round
//!   submit pushes ───┘                               └──▶ its chain: oldest ──▶ 0 ──▶ 3 ──▶ take
//!
//!                    ┌── free:  newest ──▶ 5 ──▶ 1 ──┐  the client takes all of it
//!   complete pushes ─┘                               └──▶ its chain: 5 ──▶ 1 ──▶ acquire
//! ```
//!
//! What a worker took waits for that worker, though any worker may come first: good where work is short and even, or where
//! one worker runs at a time.
//!
//! Source: the take-all list is old (IBM System/370 Extended Architecture, 1983, as a stack that is emptied by one swap); for
//! requests it was advised on the QEMU list, 2018: push one, take all.

use slotwork::{
    Atomic, Backoff, CachePadded, Claims, ClientError, Design, Destination, Guarantees, LaneId, NoneFree, One, Order,
    Platform, Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters,
};
use slotwork_free_list::Header;

slotwork::sites! {
    /// Every atomic access of the design.
    pub SITES in "grab-list";
    PUSH_LOAD: Load(Relaxed), pairs [], "its slot is only written into a link, never looked into";
    PUSH_LINK: Store(Relaxed), pairs [], "PUSH, a later release of the same thread, publishes it";
    PUSH: CompareExchange(Release, Relaxed), pairs [GRAB], "publishes the link, and the payload or the result";
    LOOK: Load(Relaxed), pairs [], "only looks whether there is anything; GRAB synchronises";
    GRAB: Rmw(Acquire), pairs [PUSH], "takes the whole list and sees each link and payload on it";
    CHAIN_LOAD: Load(Relaxed), pairs [], "GRAB made the links visible, and the owner of the chain alone changes them now";
    CHAIN_STORE: Store(Relaxed), pairs [], "read again by the same owner only, until a PUSH publishes another";
}

/// Two lists that are taken whole.
#[derive(Clone, Copy, Debug)]
pub struct GrabList;

// SAFETY: `construct` makes a new queue: fresh links lead from each slot to the next, and the client begins with them all.
unsafe impl Design for GrabList {
    const NAME: &'static str = "grab-list";
    const CLAIMS: Claims = Claims {
        submitters: Submitters::One,
        order: Order::Any,
        none_free: NoneFree::Exact,
        progress: Guarantees {
            acquire: Progress::WaitFree,
            withdraw: Progress::WaitFree,
            take: Progress::WaitFree,
            ..Guarantees::all(Progress::LockFree)
        },
        work_conserving: false,
        allocates: false,
        max_lanes: None,
        max_slots_per_lane: None,
        max_clients: Some(1),
        source: "push one, take all: QEMU list, 2018",
    };
    const SITES: &'static [&'static [Site]] = &[SITES];
    type Queue<P: Platform> = GrabListQueue<P>;

    fn construct<P: Platform>(shape: Shape) -> GrabListQueue<P> {
        let list = || CachePadded::new(P::AtomicU32::new(none(shape)));
        GrabListQueue { todo: list(), free: list(), shape }
    }
}

/// The index that stands for "no slot": one above the last.
fn none(shape: Shape) -> u32 {
    SlotId::new(shape.slots()).get()
}

/// The queue of [`GrabList`].
pub struct GrabListQueue<P: Platform> {
    /// The slot submitted last, linked to the one before it.
    todo: CachePadded<P::AtomicU32>,
    /// The slot completed last, linked to the one before it.
    free: CachePadded<P::AtomicU32>,
    shape: Shape,
}

/// What a handle took and has not handed out yet: its first slot, linked to the next one.
pub struct Chain(u32);

impl<P: Platform> GrabListQueue<P> {
    #[inline(always)]
    fn slot(&self, index: u32) -> Option<SlotId> {
        ((index as usize) < self.shape.slots()).then(|| SlotId::new(index as usize))
    }

    #[inline(always)]
    fn push(&self, list: &P::AtomicU32, slots: &impl Slots<Header<P>>, slot: SlotId) {
        let link = slots.header(slot);
        let mut backoff = Backoff::<P>::new();
        let mut newest = list.load(&PUSH_LOAD);
        loop {
            link.set_next(slot, newest, &PUSH_LINK);
            match list.compare_exchange_weak(newest, slot.get(), &PUSH) {
                Ok(_) => return,
                Err(now) => newest = now,
            }
            backoff.spin();
        }
    }

    /// The whole list, newest first, if there is anything on it.
    #[inline(always)]
    fn grab(&self, list: &P::AtomicU32) -> Option<SlotId> {
        self.slot(list.load(&LOOK))?;
        self.slot(list.swap(none(self.shape), &GRAB))
    }

    /// The first slot of a chain.
    #[inline(always)]
    fn next(&self, slots: &impl Slots<Header<P>>, chain: &mut Chain) -> Option<SlotId> {
        let slot = self.slot(chain.0)?;
        chain.0 = slots.header(slot).next(slot, &CHAIN_LOAD);
        Some(slot)
    }

    /// Puts a slot before the others of a chain.
    #[inline(always)]
    fn put(&self, slots: &impl Slots<Header<P>>, chain: &mut Chain, slot: SlotId) {
        slots.header(slot).set_next(slot, chain.0, &CHAIN_STORE);
        chain.0 = slot.get();
    }
}

// SAFETY: a slot's one link is in one list or chain at a time. A list is taken off whole by one swap, which has one winner,
// and a chain is its handle's own; so each hand-over has one taker, which sees what PUSH published.
unsafe impl<P: Platform> RequestQueue for GrabListQueue<P> {
    type Platform = P;
    type Submitters = One;
    type Header = Header<P>;
    type Client = Chain;
    type Worker = Chain;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<Chain, ClientError> {
        Ok(Chain(0))
    }

    fn retire(&self, _client: Chain) {}

    fn worker(&self, _lane: LaneId) -> Chain {
        Chain(none(self.shape))
    }

    #[inline]
    fn acquire(&self, slots: &impl Slots<Self::Header>, client: &mut Chain) -> Option<SlotId> {
        if self.slot(client.0).is_none() {
            client.0 = self.grab(&self.free)?.get();
        }
        self.next(slots, client)
    }

    #[inline]
    fn submit(&self, slots: &impl Slots<Self::Header>, _client: &mut Chain, slot: SlotId) -> Destination {
        self.push(&self.todo, slots, slot);
        Destination::Any
    }

    #[inline]
    fn withdraw(&self, slots: &impl Slots<Self::Header>, client: &mut Chain, slot: SlotId) {
        self.put(slots, client, slot);
    }

    #[inline]
    fn take(&self, slots: &impl Slots<Self::Header>, worker: &mut Chain) -> Option<SlotId> {
        if self.slot(worker.0).is_none() {
            let mut newest = self.grab(&self.todo);
            while let Some(slot) = newest {
                newest = self.slot(slots.header(slot).next(slot, &CHAIN_LOAD));
                self.put(slots, worker, slot);
            }
        }
        self.next(slots, worker)
    }

    #[inline]
    fn complete(&self, slots: &impl Slots<Self::Header>, _worker: &mut Chain, slot: SlotId) {
        self.push(&self.free, slots, slot);
    }
}
