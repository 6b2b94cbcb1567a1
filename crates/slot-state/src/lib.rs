//! `slot-state`: each slot says itself whose it is, in the payload's own cache line; one submitter.
//!
//! Elsewhere the state of a slot is in a word of its own, so that a round trip moves three lines there and back: the
//! word that submits, the payload, the word that completes. Here it moves one. The price: whoever looks for a slot looks at
//! slots, not at a word that tells of 64.
//!
//! ```text
//!            acquire           submit             take              complete
//!    free ──────────▶ held ──────────▶ submitted ──────────▶ claimed ──────────▶ free
//!    state 0 ── the client's alone ──┘  state 1 ── the lane's worker's alone ──┘
//!
//!   slot:  │ state │ turn │ payload …  │ one line
//! ```
//!
//! Each side goes round a lane's slots in the same direction and looks first where it expects the next one, so
//! that most looks are the last. Every state is stored by the one side that owns the slot, and which of its slots are
//! out each side remembers by itself: nobody retries, and every operation is wait-free.
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
    SUBMIT: Store(Release), pairs [SUBMITTED_LOAD], "publishes the payload";
    SUBMITTED_LOAD: Load(Acquire), pairs [SUBMIT], "sees the payload of the slot that it finds submitted";
    COMPLETE: Store(Release), pairs [FREE_LOAD], "publishes the result";
}

/// Slots of a lane, at most.
const MOST: usize = 256;

/// The client's.
const FREE: u32 = 0;
/// The worker's.
const SUBMITTED: u32 = 1;

/// Whose turn a slot is.
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
        max_slots_per_lane: Some(MOST),
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
    lanes: Box<[ClientLane]>,
    /// The lane to look at first.
    cursor: Cursor,
}

/// What the client remembers of a lane.
#[derive(Clone, Default)]
struct ClientLane {
    /// The place to look at first.
    next: u32,
    held: Out,
}

/// What a worker remembers.
pub struct SlotStateWorker {
    /// The lane's first slot.
    first: SlotId,
    /// The place to look at first.
    next: u32,
    claimed: Out,
}

/// Slots of a lane that this side has out: nobody else's business.
#[derive(Clone, Default)]
struct Out {
    places: [u64; MOST / 64],
    count: u64,
}

impl Out {
    #[inline(always)]
    const fn has(&self, place: u32) -> bool {
        self.count > 0 && self.places[place as usize / 64] >> (place % 64) & 1 == 1
    }

    /// In or out.
    #[inline(always)]
    const fn flip(&mut self, place: u32) {
        self.places[place as usize / 64] ^= 1 << (place % 64);
    }

    #[inline(always)]
    const fn add(&mut self, place: u32) {
        self.flip(place);
        self.count += 1;
    }

    #[inline(always)]
    const fn remove(&mut self, place: u32) {
        self.flip(place);
        self.count -= 1;
    }
}

impl<P: Platform> SlotStateQueue<P> {
    /// The first slot that is this side's and not out, from the place `next` round to the one before it; `next` is the place
    /// after it then, and it is out.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "at most MOST")]
    fn find(
        &self,
        slots: &impl Slots<WithPayload<State<P>>>,
        (first, next, out): (SlotId, &mut u32, &mut Out),
        state: u32,
        site: &'static Site,
    ) -> Option<SlotId> {
        let places = self.shape.slots_per_lane() as u32;
        let mut place = *next;
        for _ in 0..places {
            let slot = first.after(place);
            let after = if place + 1 == places { 0 } else { place + 1 };
            if !out.has(place) && slots.header(slot).0.load(site) == state {
                out.add(place);
                *next = after;
                return Some(slot);
            }
            place = after;
        }
        None
    }
}

// SAFETY: a slot is the one client's (`One`) while its state is `FREE` and the lane's one worker's while it is `SUBMITTED`; each
// hands it out only when it is its own and not out already, and changes the state only when it comes back. `SUBMIT` and
// `COMPLETE` are release stores that the other side's acquire load reads.
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
        let lanes = vec![ClientLane::default(); self.shape.lanes()].into();
        Ok(SlotStateClient { lanes, cursor: Cursor::at(LaneId::FIRST) })
    }

    fn retire(&self, _client: SlotStateClient) {}

    fn set_dispatch(&self, client: &mut SlotStateClient, dispatch: Dispatch) -> bool {
        client.cursor.set_dispatch(dispatch)
    }

    fn worker(&self, lane: LaneId) -> SlotStateWorker {
        SlotStateWorker { first: self.shape.slot_at(lane, 0), next: 0, claimed: Out::default() }
    }

    #[inline]
    fn acquire(&self, slots: &impl Slots<Self::Header>, client: &mut SlotStateClient) -> Option<SlotId> {
        for _ in 0..self.shape.lanes() {
            let lane = client.cursor.lane();
            let ClientLane { next, held } = &mut client.lanes[lane.index()];
            let begin = (self.shape.slot_at(lane, 0), next, held);
            if let Some(slot) = self.find(slots, begin, FREE, &FREE_LOAD) {
                client.cursor.found(self.shape);
                return Some(slot);
            }
            client.cursor.go_on(self.shape);
        }
        None
    }

    #[inline]
    fn submit(&self, slots: &impl Slots<Self::Header>, client: &mut SlotStateClient, slot: SlotId) -> Destination {
        let lane = self.shape.lane_of(slot);
        client.lanes[lane.index()].held.remove(self.shape.place_of(slot));
        slots.header(slot).0.store(SUBMITTED, &SUBMIT);
        Destination::Lane(lane)
    }

    #[inline]
    fn withdraw(&self, _slots: &impl Slots<Self::Header>, client: &mut SlotStateClient, slot: SlotId) {
        client.lanes[self.shape.lane_of(slot).index()].held.remove(self.shape.place_of(slot));
    }

    #[inline]
    fn take(&self, slots: &impl Slots<Self::Header>, worker: &mut SlotStateWorker) -> Option<SlotId> {
        let SlotStateWorker { first, next, claimed } = worker;
        self.find(slots, (*first, next, claimed), SUBMITTED, &SUBMITTED_LOAD)
    }

    #[inline]
    fn complete(&self, slots: &impl Slots<Self::Header>, worker: &mut SlotStateWorker, slot: SlotId) {
        worker.claimed.remove(slot.places_after(worker.first));
        slots.header(slot).0.store(FREE, &COMPLETE);
    }
}
