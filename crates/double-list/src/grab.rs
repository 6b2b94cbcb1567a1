//! `grab-list`: `double-list` for one submitter: the list of free slots is taken whole too, as the to-do lists are.
//!
//! The client takes all that is free when its own chain of free slots is empty. So the line that all workers push their
//! completed slots onto is touched by the client once for many slots, and nobody pops: no list needs a tag.
//!
//! ```text
//!                    ┌── lane 0: newest ──▶ 3 ──▶ 0 ──┐  its worker takes all of it, and turns it round
//!   submit pushes ───┘                                └──▶ its chain: oldest ──▶ 0 ──▶ 3 ──▶ take
//!
//!                    ┌── free:   newest ──▶ 5 ──▶ 1 ──┐  the client takes all of it
//!   complete pushes ─┘                                └──▶ its chain: 5 ──▶ 1 ──▶ acquire
//! ```
//!
//! Source: the take-all list is old (IBM System/370 Extended Architecture, 1983, as a stack that is emptied by one swap); for
//! requests it was advised on the QEMU list, 2018: push one, take all.

use alloc::boxed::Box;
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

/// Lists that are taken whole.
#[derive(Clone, Copy, Debug)]
pub struct GrabList;

// SAFETY: `construct` makes a new queue: fresh links lead from each slot to the next, and the client begins with them all.
unsafe impl Design for GrabList {
    const NAME: &'static str = "grab-list";
    const CLAIMS: Claims = Claims {
        submitters: Submitters::One,
        order: Order::Fifo,
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
        GrabListQueue { lanes: shape.all_lanes().map(|_| list()).collect(), free: list(), shape }
    }
}

/// The index that stands for "no slot": one above the last.
fn none(shape: Shape) -> u32 {
    SlotId::new(shape.slots()).get()
}

/// The queue of [`GrabList`].
pub struct GrabListQueue<P: Platform> {
    /// Per lane: the slot submitted last, linked to the one before it.
    lanes: Box<[CachePadded<P::AtomicU32>]>,
    /// The slot completed last, linked to the one before it.
    free: CachePadded<P::AtomicU32>,
    shape: Shape,
}

/// What a handle took and has not handed out yet: its first slot, linked to the next one.
struct Chain(u32);

/// What the client remembers.
pub struct GrabListClient {
    free: Chain,
    /// The lane to submit to next.
    next: LaneId,
}

/// What a worker remembers.
pub struct GrabListWorker {
    lane: LaneId,
    todo: Chain,
}

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
    type Client = GrabListClient;
    type Worker = GrabListWorker;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<GrabListClient, ClientError> {
        Ok(GrabListClient { free: Chain(0), next: LaneId::FIRST })
    }

    fn retire(&self, _client: GrabListClient) {}

    fn worker(&self, lane: LaneId) -> GrabListWorker {
        GrabListWorker { lane, todo: Chain(none(self.shape)) }
    }

    #[inline]
    fn acquire(&self, slots: &impl Slots<Self::Header>, client: &mut GrabListClient) -> Option<SlotId> {
        if self.slot(client.free.0).is_none() {
            client.free.0 = self.grab(&self.free)?.get();
        }
        self.next(slots, &mut client.free)
    }

    #[inline]
    fn submit(&self, slots: &impl Slots<Self::Header>, client: &mut GrabListClient, slot: SlotId) -> Destination {
        let lane = client.next;
        client.next = self.shape.lane_after(lane);
        self.push(&self.lanes[lane.index()], slots, slot);
        Destination::Lane(lane)
    }

    #[inline]
    fn withdraw(&self, slots: &impl Slots<Self::Header>, client: &mut GrabListClient, slot: SlotId) {
        self.put(slots, &mut client.free, slot);
    }

    #[inline]
    fn take(&self, slots: &impl Slots<Self::Header>, worker: &mut GrabListWorker) -> Option<SlotId> {
        if self.slot(worker.todo.0).is_none() {
            let mut newest = self.grab(&self.lanes[worker.lane.index()]);
            while let Some(slot) = newest {
                newest = self.slot(slots.header(slot).next(slot, &CHAIN_LOAD));
                self.put(slots, &mut worker.todo, slot);
            }
        }
        self.next(slots, &mut worker.todo)
    }

    #[inline]
    fn complete(&self, slots: &impl Slots<Self::Header>, _worker: &mut GrabListWorker, slot: SlotId) {
        self.push(&self.free, slots, slot);
    }
}
