//! `slot-state`: each slot says itself whose it is, in the payload's own cache line; one submitter.
//!
//! Elsewhere the state of a slot is in a word of its own, so that a round trip moves three lines there and back: the
//! word that submits, the payload, the word that completes. Here it moves one. The price: whoever looks for a slot looks at
//! slots, not at a word that tells of 64. Lest it look at many in vain, each side counts what it has handed over.
//!
//! ```text
//!            acquire           submit             take              complete
//!    free ──────────▶ held ──────────▶ submitted ──────────▶ claimed ──────────▶ free
//!    state 0 ── the client's alone ──┘  state 1 ── the lane's worker's alone ──┘
//!
//!   slot:  │ state │ turn │ payload …  │ one line         lane:  │ submitted 7 │   │ completed 5 │   a line each
//! ```
//!
//! Each side goes round a lane's slots in the same direction and looks first where it expects the next one, so
//! that most looks are the last. Where it is not, and there are many, the other side's count says whether there is any: only then
//! are the others looked at. Every state is stored by the one side that owns the slot, and which of its slots are
//! out each side remembers by itself: nobody retries, and every operation is wait-free.
//!
//! Source: J. Giacomoni, T. Moseley, M. Vachharajani, *FastForward for efficient pipeline parallelism*, PPoPP 2008: a ring
//! whose places say themselves whether they are full, so that no index is shared.

#![cfg_attr(not(any(feature = "std", test)), no_std)]

extern crate alloc;

use alloc::{boxed::Box, vec};
use slotwork::{
    Atomic, CachePadded, Claims, ClientError, Cursor, Design, Destination, Dispatch, Guarantees, LaneId, NoneFree, One,
    Order, Platform, Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters, WithPayload,
};

slotwork::sites! {
    /// Every atomic access of the design.
    pub SITES in "slot-state";
    FREE_LOAD: Load(Acquire), pairs [COMPLETE], "sees the result in the slot that it finds free";
    SUBMIT: Store(Release), pairs [SUBMITTED_LOAD], "publishes the payload";
    SUBMITTED_LOAD: Load(Acquire), pairs [SUBMIT], "sees the payload of the slot that it finds submitted";
    COMPLETE: Store(Release), pairs [FREE_LOAD], "publishes the result";
    SUBMITTED_COUNT: Store(Relaxed), pairs [], "tells whether to look; SUBMIT, which comes after it, publishes";
    SUBMITTED_COUNT_LOAD: Load(Relaxed), pairs [], "tells whether to look; SUBMITTED_LOAD synchronises";
    COMPLETED_COUNT: Store(Relaxed), pairs [], "tells whether to look; COMPLETE, which comes after it, publishes";
    COMPLETED_COUNT_LOAD: Load(Relaxed), pairs [], "tells whether to look; FREE_LOAD synchronises";
}

/// So many slots of a lane are looked at as quickly as a count, which costs its writer time when it is read often. Where
/// there are more, both sides count.
const FEW: usize = 8;

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
        let count = || CachePadded::new(P::AtomicU64::new(0));
        let lanes = shape.all_lanes().map(|_| Counts { submitted: count(), completed: count() });
        SlotStateQueue { lanes: lanes.collect(), shape }
    }
}

/// What was handed over in a lane, each way: a hint whether there is anything to look for.
struct Counts<P: Platform> {
    /// Written by the client alone.
    submitted: CachePadded<P::AtomicU64>,
    /// Written by the lane's worker alone.
    completed: CachePadded<P::AtomicU64>,
}

/// The queue of [`SlotState`]: the states are in the slots.
pub struct SlotStateQueue<P: Platform> {
    lanes: Box<[Counts<P>]>,
    shape: Shape,
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
    /// Slots submitted so far.
    submitted: u64,
}

/// What a worker remembers.
pub struct SlotStateWorker {
    lane: LaneId,
    /// The lane's first slot.
    first: SlotId,
    /// The place to look at first.
    next: u32,
    claimed: Out,
    /// Slots completed so far.
    completed: u64,
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
    #[inline(always)]
    const fn is_counted(&self) -> bool {
        self.shape.slots_per_lane() > FEW
    }

    /// The first slot that is this side's and not out, from the place `next` round to the one before it: its place; `next` is
    /// the one after it then. Where there are counts, it goes on after the first look only if `others` says that there is one.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "at most MOST")]
    fn find(
        &self,
        slots: &impl Slots<WithPayload<State<P>>>,
        (first, next, out): (SlotId, &mut u32, &mut Out),
        (state, site): (u32, &'static Site),
        others: impl Fn(u64) -> bool,
    ) -> Option<SlotId> {
        let places = self.shape.slots_per_lane() as u32;
        let counted = self.is_counted();
        let mut place = *next;
        for look in 0..places {
            let slot = first.after(place);
            let after = if place + 1 == places { 0 } else { place + 1 };
            if !out.has(place) && slots.header(slot).0.load(site) == state {
                out.add(place);
                *next = after;
                return Some(slot);
            }
            if look == 0 && counted && !others(out.count) {
                break;
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
        SlotStateWorker { lane, first: self.shape.slot_at(lane, 0), next: 0, claimed: Out::default(), completed: 0 }
    }

    #[inline]
    fn acquire(&self, slots: &impl Slots<Self::Header>, client: &mut SlotStateClient) -> Option<SlotId> {
        for _ in 0..self.shape.lanes() {
            let lane = client.cursor.lane();
            let ClientLane { next, held, submitted } = &mut client.lanes[lane.index()];
            let free = |held| {
                let completed = self.lanes[lane.index()].completed.load(&COMPLETED_COUNT_LOAD);
                held + (*submitted - completed) < self.shape.slots_per_lane() as u64
            };
            let begin = (self.shape.slot_at(lane, 0), next, held);
            if let Some(slot) = self.find(slots, begin, (FREE, &FREE_LOAD), free) {
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
        let own = &mut client.lanes[lane.index()];
        own.held.remove(self.shape.place_of(slot));
        own.submitted += 1;
        // Counted first, so that a count is never behind what the other side has already got.
        if self.is_counted() {
            self.lanes[lane.index()].submitted.store(own.submitted, &SUBMITTED_COUNT);
        }
        slots.header(slot).0.store(SUBMITTED, &SUBMIT);
        Destination::Lane(lane)
    }

    #[inline]
    fn withdraw(&self, _slots: &impl Slots<Self::Header>, client: &mut SlotStateClient, slot: SlotId) {
        client.lanes[self.shape.lane_of(slot).index()].held.remove(self.shape.place_of(slot));
    }

    #[inline]
    fn take(&self, slots: &impl Slots<Self::Header>, worker: &mut SlotStateWorker) -> Option<SlotId> {
        let SlotStateWorker { lane, first, next, claimed, completed } = worker;
        let submitted =
            |claimed| self.lanes[lane.index()].submitted.load(&SUBMITTED_COUNT_LOAD) != *completed + claimed;
        self.find(slots, (*first, next, claimed), (SUBMITTED, &SUBMITTED_LOAD), submitted)
    }

    #[inline]
    fn complete(&self, slots: &impl Slots<Self::Header>, worker: &mut SlotStateWorker, slot: SlotId) {
        worker.claimed.remove(slot.places_after(worker.first));
        worker.completed += 1;
        if self.is_counted() {
            self.lanes[worker.lane.index()].completed.store(worker.completed, &COMPLETED_COUNT);
        }
        slots.header(slot).0.store(FREE, &COMPLETE);
    }
}
