//! `slot-state`: each slot says itself whose it is, in the payload's own cache line; one submitter.
//!
//! Elsewhere the state of a slot is in a word of its own, so that a round trip moves three lines there and back: the
//! word that submits, the payload, the word that completes. Here it moves one. The price: whoever looks for a slot looks at
//! slots, not at a word that tells of 64.
//!
//! ```text
//!            acquire           submit             take              complete
//!    free ──────────▶ held ──────────▶ submitted ──────────▶ claimed ──────────▶ free
//!      └── client alone ──┘              └──── the lane's worker alone ────┘
//!
//!   slot:  │ state │ turn │ payload …  │ one line
//! ```
//!
//! Each side goes round a lane's slots in the same direction and looks first where it expects the next one, so
//! that most looks are the last. Every state is stored by the one side that owns the slot: nobody retries, and every
//! operation is wait-free.
//!
//! Source: J. Giacomoni, T. Moseley, M. Vachharajani, *FastForward for efficient pipeline parallelism*, PPoPP 2008: a ring
//! whose places say themselves whether they are full, so that no index is shared.

#![cfg_attr(not(any(feature = "std", test)), no_std)]

extern crate alloc;

use alloc::{boxed::Box, vec};
use slotwork::{
    Atomic, Claims, ClientError, Cursor, Design, Destination, Dispatch, Guarantees, LaneId, NoneFree, One, Order,
    Platform, Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters, WithPayload,
};

slotwork::sites! {
    /// Every atomic access of the design.
    pub SITES in "slot-state";
    FREE_LOAD: Load(Acquire), pairs [COMPLETE], "sees the result in the slot that it finds free";
    HELD: Store(Relaxed), pairs [], "read by the same client only; the worker does nothing with a slot that is not submitted";
    SUBMIT: Store(Release), pairs [SUBMITTED_LOAD], "publishes the payload";
    WITHDRAW: Store(Relaxed), pairs [], "read by the same client only";
    SUBMITTED_LOAD: Load(Acquire), pairs [SUBMIT], "sees the payload of the slot that it finds submitted";
    CLAIMED: Store(Relaxed), pairs [], "read by the same worker only; the client does nothing with a slot that is not free";
    COMPLETE: Store(Release), pairs [FREE_LOAD], "publishes the result";
}

const FREE: u32 = 0;
const HELD_BY_CLIENT: u32 = 1;
const SUBMITTED: u32 = 2;
const CLAIMED_BY_WORKER: u32 = 3;

/// Whose a slot is.
pub struct State<P: Platform>(P::AtomicU32);

impl<P: Platform> Default for State<P> {
    fn default() -> Self {
        Self(P::AtomicU32::new(FREE))
    }
}

/// The state of each slot beside its payload.
#[derive(Clone, Copy, Debug)]
pub struct SlotState;

// SAFETY: `construct` makes a new queue; fresh headers say that every slot is free.
unsafe impl Design for SlotState {
    const NAME: &'static str = "slot-state";
    const CLAIMS: Claims = Claims {
        submitters: Submitters::One,
        order: Order::Rotating,
        none_free: NoneFree::Exact,
        progress: Guarantees::all(Progress::WaitFree),
        work_conserving: false,
        allocates: false,
        max_lanes: None,
        max_slots_per_lane: Some(256),
        max_clients: Some(1),
        source: "FastForward, 2008; the state in the slot",
    };
    const SITES: &'static [&'static [Site]] = &[SITES];
    type Queue<P: Platform> = SlotStateQueue<P>;

    fn construct<P: Platform>(shape: Shape) -> SlotStateQueue<P> {
        SlotStateQueue { shape, platform: core::marker::PhantomData }
    }
}

/// The queue of [`SlotState`]: all of it is in the slots.
pub struct SlotStateQueue<P> {
    shape: Shape,
    platform: core::marker::PhantomData<P>,
}

/// What the client remembers.
pub struct SlotStateClient {
    /// Per lane: the place to look at first.
    next: Box<[u32]>,
    /// The lane to look at first.
    cursor: Cursor,
}

/// What a worker remembers.
pub struct SlotStateWorker {
    /// The lane's first slot.
    first: SlotId,
    /// The place to look at first.
    next: u32,
}

impl<P: Platform> SlotStateQueue<P> {
    /// The first slot in this state, from the place `next` round to the one before it; `next` is the place after it then.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "a shape's slots fit in 24 bits")]
    fn find(
        &self,
        slots: &impl Slots<WithPayload<State<P>>>,
        (first, next): (SlotId, &mut u32),
        state: u32,
        site: &'static Site,
    ) -> Option<SlotId> {
        let places = self.shape.slots_per_lane() as u32;
        let mut place = *next;
        for _ in 0..places {
            let slot = first.after(place);
            place = if place + 1 == places { 0 } else { place + 1 };
            if slots.header(slot).0.load(site) == state {
                *next = place;
                return Some(slot);
            }
        }
        None
    }
}

// SAFETY: a state is stored by the owner of the slot alone: from `FREE` on by the one client (`One`), from `SUBMITTED` on
// by the lane's one worker. Each finds a slot only in the state in which it becomes the owner, and moves it out of that state
// at once, so it finds it once. `SUBMIT` and `COMPLETE` are release stores that the other side's acquire load reads.
unsafe impl<P: Platform> RequestQueue for SlotStateQueue<P> {
    type Platform = P;
    type Submitters = One;
    type Header = WithPayload<State<P>>;
    type Client = SlotStateClient;
    type Worker = SlotStateWorker;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<SlotStateClient, ClientError> {
        Ok(SlotStateClient { next: vec![0; self.shape.lanes()].into(), cursor: Cursor::at(LaneId::FIRST) })
    }

    fn retire(&self, _client: SlotStateClient) {}

    fn set_dispatch(&self, client: &mut SlotStateClient, dispatch: Dispatch) -> bool {
        client.cursor.set_dispatch(dispatch)
    }

    fn worker(&self, lane: LaneId) -> SlotStateWorker {
        SlotStateWorker { first: self.shape.slot_at(lane, 0), next: 0 }
    }

    #[inline]
    fn acquire(&self, slots: &impl Slots<Self::Header>, client: &mut SlotStateClient) -> Option<SlotId> {
        for _ in 0..self.shape.lanes() {
            let lane = client.cursor.lane();
            let begin = (self.shape.slot_at(lane, 0), &mut client.next[lane.index()]);
            if let Some(slot) = self.find(slots, begin, FREE, &FREE_LOAD) {
                slots.header(slot).0.store(HELD_BY_CLIENT, &HELD);
                client.cursor.found(self.shape);
                return Some(slot);
            }
            client.cursor.go_on(self.shape);
        }
        None
    }

    #[inline]
    fn submit(&self, slots: &impl Slots<Self::Header>, _client: &mut SlotStateClient, slot: SlotId) -> Destination {
        slots.header(slot).0.store(SUBMITTED, &SUBMIT);
        Destination::Lane(self.shape.lane_of(slot))
    }

    #[inline]
    fn withdraw(&self, slots: &impl Slots<Self::Header>, _client: &mut SlotStateClient, slot: SlotId) {
        slots.header(slot).0.store(FREE, &WITHDRAW);
    }

    #[inline]
    fn take(&self, slots: &impl Slots<Self::Header>, worker: &mut SlotStateWorker) -> Option<SlotId> {
        let slot = self.find(slots, (worker.first, &mut worker.next), SUBMITTED, &SUBMITTED_LOAD)?;
        slots.header(slot).0.store(CLAIMED_BY_WORKER, &CLAIMED);
        Some(slot)
    }

    #[inline]
    fn complete(&self, slots: &impl Slots<Self::Header>, _worker: &mut SlotStateWorker, slot: SlotId) {
        slots.header(slot).0.store(FREE, &COMPLETE);
    }
}
