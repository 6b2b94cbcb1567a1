//! `double-list`: a free list for all lanes, and a to-do list per lane.
//!
//! The third variant of the 2018 experiment, without its faults: the to-do list was a stack, so old
//! requests could starve; here each lane is first in, first out.
//!
//! ```text
//!   free list           lane 0: to-do            worker 0's own chain
//!   head ──▶ 5 ──▶ 1    newest ──▶ 3 ──▶ 0       oldest ──▶ 2 ──▶ 4
//!
//!   acquire   submit               take                                       complete
//!   pop       push onto a lane's   from the chain; when it is empty, take     push
//!             to-do list           the whole to-do list and turn it round
//! ```
//!
//! Push-one and take-all have no ABA case: the to-do list is never popped, so it needs no tag. Slots
//! belong to no lane; a client deals its requests out to the lanes in turn. What a worker took into its
//! chain waits for that worker.

#![cfg_attr(not(any(feature = "std", test)), no_std)]

extern crate alloc;

mod grab;

use alloc::boxed::Box;
pub use grab::{GrabList, GrabListQueue};
use slotwork::{
    Atomic, Backoff, CachePadded, Claims, ClientError, Design, Destination, Guarantees, LaneId, Many, NoneFree, Order,
    Platform, Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters,
};
use slotwork_free_list::{FreeList, Header};

slotwork::sites! {
    /// The atomic accesses of the to-do lists; the free list has its own table.
    pub SITES in "double-list";
    SUBMIT_LOAD: Load(Relaxed), pairs [], "its slot is only written into a link, never looked into";
    SUBMIT_LINK: Store(Relaxed), pairs [], "SUBMIT, a later release of the same thread, publishes it";
    SUBMIT: CompareExchange(Release, Relaxed), pairs [GRAB], "publishes the link and the payload";
    TODO_LOAD: Load(Relaxed), pairs [], "an idle worker only looks whether there is anything; GRAB synchronises";
    GRAB: Rmw(Acquire), pairs [SUBMIT], "takes the whole list and sees each link and payload on it";
    CHAIN_LOAD: Load(Relaxed), pairs [], "GRAB made the links visible, and the worker alone changes them now";
    CHAIN_STORE: Store(Relaxed), pairs [], "read again by the same worker only";
}

/// A free list and to-do lists.
#[derive(Clone, Copy, Debug)]
pub struct DoubleList;

// SAFETY: `construct` makes a new queue.
unsafe impl Design for DoubleList {
    const NAME: &'static str = "double-list";
    const CLAIMS: Claims = Claims {
        submitters: Submitters::Many,
        order: Order::Fifo,
        none_free: NoneFree::Exact,
        progress: Guarantees { take: Progress::WaitFree, ..Guarantees::all(Progress::LockFree) },
        work_conserving: false,
        allocates: false,
        max_lanes: None,
        max_slots_per_lane: None,
        max_clients: None,
        source: "double list, QEMU list, December 2018",
    };
    const SITES: &'static [&'static [Site]] = &[SITES, slotwork_free_list::SITES];
    type Queue<P: Platform> = DoubleListQueue<P>;

    fn construct<P: Platform>(shape: Shape) -> DoubleListQueue<P> {
        let free = FreeList::full(shape);
        let lanes = shape.all_lanes().map(|_| CachePadded::new(P::AtomicU32::new(free.none())));
        DoubleListQueue { lanes: lanes.collect(), free, shape }
    }
}

/// The queue of [`DoubleList`].
pub struct DoubleListQueue<P: Platform> {
    free: FreeList<P>,
    /// Per lane: the slot submitted last, linked to the one before it.
    lanes: Box<[CachePadded<P::AtomicU32>]>,
    shape: Shape,
}

/// What a worker remembers.
pub struct DoubleListWorker {
    lane: LaneId,
    /// The oldest slot taken off the to-do list and not yet handed out, linked to the next one.
    chain: u32,
}

// SAFETY: a slot's one link is in one list at a time: the free list, a to-do list, a worker's chain.
// One pop takes it off the free list, one swap off the to-do list, and the chain is the worker's
// own; so each hand-over has one taker, which sees what PUSH or SUBMIT published.
unsafe impl<P: Platform> RequestQueue for DoubleListQueue<P> {
    type Platform = P;
    type Submitters = Many;
    type Header = Header<P>;
    /// The lane to submit to next.
    type Client = LaneId;
    type Worker = DoubleListWorker;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<LaneId, ClientError> {
        Ok(LaneId::FIRST)
    }

    fn retire(&self, _cursor: LaneId) {}

    fn worker(&self, lane: LaneId) -> DoubleListWorker {
        DoubleListWorker { lane, chain: self.free.none() }
    }

    #[inline]
    fn acquire(&self, slots: &impl Slots<Self::Header>, _cursor: &mut LaneId) -> Option<SlotId> {
        self.free.pop(slots)
    }

    #[inline]
    fn submit(&self, slots: &impl Slots<Self::Header>, cursor: &mut LaneId, slot: SlotId) -> Destination {
        let lane = *cursor;
        *cursor = self.shape.lane_after(lane);
        let todo = &self.lanes[lane.index()];
        let link = slots.header(slot);
        let mut backoff = Backoff::<P>::new();
        let mut newest = todo.load(&SUBMIT_LOAD);
        loop {
            link.set_next(slot, newest, &SUBMIT_LINK);
            match todo.compare_exchange_weak(newest, slot.get(), &SUBMIT) {
                Ok(_) => return Destination::Lane(lane),
                Err(now) => newest = now,
            }
            backoff.spin();
        }
    }

    #[inline]
    fn withdraw(&self, slots: &impl Slots<Self::Header>, _cursor: &mut LaneId, slot: SlotId) {
        self.free.push(slots, slot);
    }

    #[inline]
    fn take(&self, slots: &impl Slots<Self::Header>, worker: &mut DoubleListWorker) -> Option<SlotId> {
        if self.free.slot(worker.chain).is_none() {
            let todo = &self.lanes[worker.lane.index()];
            self.free.slot(todo.load(&TODO_LOAD))?;
            let mut newest = todo.swap(self.free.none(), &GRAB);
            // Turn the list round: the oldest first.
            while let Some(slot) = self.free.slot(newest) {
                let link = slots.header(slot);
                newest = link.next(slot, &CHAIN_LOAD);
                link.set_next(slot, worker.chain, &CHAIN_STORE);
                worker.chain = slot.get();
            }
        }
        let oldest = self.free.slot(worker.chain)?;
        worker.chain = slots.header(oldest).next(oldest, &CHAIN_LOAD);
        Some(oldest)
    }

    #[inline]
    fn complete(&self, slots: &impl Slots<Self::Header>, _worker: &mut DoubleListWorker, slot: SlotId) {
        self.free.push(slots, slot);
    }
}
