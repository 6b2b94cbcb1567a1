//! `slot-state`: each slot says itself whose it is, in the payload's own cache line; one submitter.
//!
//! Elsewhere the state of a slot is in a word of its own, so that a round trip moves three lines there and back: the
//! word that submits, the payload, the word that completes. Here it moves one, and whoever looks for a slot looks at slots. So
//! that one look is enough, slots are handed over in turn: after each place the next one, round the lane. Who hands one over out of
//! turn tells it beforehand, in a word that is not touched otherwise.
//!
//! ```text
//!            acquire           submit             take              complete
//!    free ──────────▶ held ──────────▶ submitted ──────────▶ claimed ──────────▶ free
//!    state 0 ── the client's alone ──┘  state 1 ── the lane's worker's alone ──┘
//!
//!   slot:  │ state │ turn │ payload …  │ one line
//!
//!   handed over   0  1  2  5  6  7 …   jump: number 3 was place 5
//!                          └─ next: if it is not there and there was no jump, then nothing is there
//! ```
//!
//! Every state is stored by the one side that owns the slot, and which of its slots are out each side remembers by itself:
//! nobody retries, and every operation is wait-free.
//!
//! Source: J. Giacomoni, T. Moseley, M. Vachharajani, *FastForward for efficient pipeline parallelism*, PPoPP 2008: a ring
//! whose places say themselves whether they are full, so that no index is shared. There the order is strict; the jumps are ours.

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
    SUBMIT_JUMP: Store(Release), pairs [SUBMIT_JUMP_LOAD], "who knows of the jump finds all that was submitted before it";
    SUBMIT_JUMP_LOAD: Load(Acquire), pairs [SUBMIT_JUMP], "the look at all slots that follows misses none from before the jump";
    SUBMITTED_LOAD: Load(Acquire), pairs [SUBMIT], "sees the payload of the slot that it finds submitted";
    COMPLETE: Store(Release), pairs [FREE_LOAD], "publishes the result";
    COMPLETE_JUMP: Store(Release), pairs [COMPLETE_JUMP_LOAD], "who knows of the jump finds all that was completed before it";
    COMPLETE_JUMP_LOAD: Load(Acquire), pairs [COMPLETE_JUMP], "the look at all slots that follows misses none from before the jump";
}

/// Slots of a lane, at most.
const MOST: usize = 64;

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
        let jump = || CachePadded::new(P::AtomicU64::new(Jump::NONE.0));
        SlotStateQueue { lanes: shape.all_lanes().map(|_| Jumps { submit: jump(), complete: jump() }).collect(), shape }
    }
}

/// The queue of [`SlotState`]: all but the jumps is in the slots.
pub struct SlotStateQueue<P: Platform> {
    lanes: Box<[Jumps<P>]>,
    shape: Shape,
}

/// The last jump of each side of a lane.
struct Jumps<P: Platform> {
    submit: CachePadded<P::AtomicU64>,
    complete: CachePadded<P::AtomicU64>,
}

/// The last time that a side handed a slot over out of turn: how many came before, and its place.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Jump(u64);

impl Jump {
    /// The first slot comes from the first place.
    const NONE: Self = Self(0);

    const fn new(number: u64, place: u32) -> Self {
        Self(number << 8 | place as u64)
    }

    /// Where the hand-over of this number comes from, if there was no jump since.
    #[allow(clippy::cast_possible_truncation, reason = "a place is below MOST")]
    const fn place_of(self, number: u64, places: u32) -> u32 {
        let since = number.wrapping_sub(self.0 >> 8);
        ((self.0 % MOST as u64).wrapping_add(since) % places as u64) as u32
    }
}

/// The place after this one, going round.
#[inline(always)]
const fn after(place: u32, places: u32) -> u32 {
    if place + 1 == places { 0 } else { place + 1 }
}

/// What the client remembers.
pub struct SlotStateClient {
    lanes: Box<[ClientLane]>,
    /// The lane to look at first.
    cursor: Cursor,
}

/// What the client remembers of a lane.
#[derive(Clone, Copy)]
struct ClientLane {
    free: Incoming,
    submitted: Outgoing,
    /// A bit for each place that was withdrawn and not acquired again.
    withdrawn: u64,
}

/// What a worker remembers.
pub struct SlotStateWorker {
    lane: LaneId,
    /// The lane's first slot.
    first: SlotId,
    submitted: Incoming,
    completed: Outgoing,
}

/// Slots on their way from this side to the other one.
#[derive(Clone, Copy)]
struct Outgoing {
    /// How many there were.
    count: u64,
    /// Where the other side expects the next one.
    next: u32,
}

/// Slots on their way from the other side to this one.
#[derive(Clone, Copy)]
struct Incoming {
    /// How many there were.
    count: u64,
    /// The place to look at first. If there was no other jump than the last one `seen`, the oldest that has not come is here.
    next: u32,
    seen: Jump,
    /// A bit for each place that this side has: what its state says does not mean that it comes.
    out: u64,
}

/// The bit of a place.
#[inline(always)]
const fn bit(place: u32) -> u64 {
    1 << place
}

impl Outgoing {
    /// The next one comes from the first place, and so many came before.
    const fn after(count: usize) -> Self {
        Self { count: count as u64, next: 0 }
    }

    /// Hands a slot over: says so beforehand if it is out of turn.
    #[inline(always)]
    fn hand_over<P: Platform>(
        &mut self,
        (place, places): (u32, u32),
        (jump, jump_site): (&P::AtomicU64, &'static Site),
        hand_over: impl FnOnce(),
    ) {
        if place != self.next {
            jump.store(Jump::new(self.count, place).0, jump_site);
        }
        hand_over();
        self.count += 1;
        self.next = after(place, places);
    }
}

impl Incoming {
    /// The first one comes from the first place.
    fn new() -> Self {
        Self { count: 0, next: 0, seen: Jump::NONE, out: 0 }
    }

    /// A place whose slot has come: the next one, or after a jump any. `ready` says of a place whether its state is this side's.
    #[inline(always)]
    fn find<P: Platform>(
        &mut self,
        places: u32,
        (jump, jump_site): (&P::AtomicU64, &'static Site),
        ready: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let next = self.next;
        if self.out & bit(next) == 0 && ready(next) {
            return Some(self.come(next, places));
        }
        let jump = Jump(jump.load(jump_site));
        if jump == self.seen { None } else { self.look_everywhere(jump, places, ready) }
    }

    #[cold]
    fn look_everywhere(&mut self, jump: Jump, places: u32, ready: impl Fn(u32) -> bool) -> Option<u32> {
        let mut place = self.next;
        for _ in 0..places {
            if self.out & bit(place) == 0 && ready(place) {
                return Some(self.come(place, places));
            }
            place = after(place, places);
        }
        // All that was handed over before the jump has come, and of the rest all that was before the last one that has come:
        // each would have been found. So what has come is all up to some number, and the next one has the number after it.
        self.next = jump.place_of(self.count, places);
        self.seen = jump;
        None
    }

    #[inline(always)]
    fn come(&mut self, place: u32, places: u32) -> u32 {
        self.out |= bit(place);
        self.count += 1;
        self.next = after(place, places);
        place
    }
}

#[allow(clippy::cast_possible_truncation, reason = "at most MOST, as the claims say")]
#[inline(always)]
const fn places_of(shape: Shape) -> u32 {
    shape.slots_per_lane() as u32
}

// SAFETY: a slot is the one client's (`One`) while its state is `FREE` and the lane's one worker's while it is `SUBMITTED`; each
// hands it out only when it is its own and not out already, and changes the state only when it comes back. `SUBMIT` and
// `COMPLETE` are release stores that the other side's acquire load reads. The jumps only say where to look.
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
        let lane = ClientLane { free: Incoming::new(), submitted: Outgoing::after(0), withdrawn: 0 };
        Ok(SlotStateClient { lanes: vec![lane; self.shape.lanes()].into(), cursor: Cursor::at(LaneId::FIRST) })
    }

    fn retire(&self, _client: SlotStateClient) {}

    fn set_dispatch(&self, client: &mut SlotStateClient, dispatch: Dispatch) -> bool {
        client.cursor.set_dispatch(dispatch)
    }

    fn worker(&self, lane: LaneId) -> SlotStateWorker {
        // All slots were free before the first was completed.
        let completed = Outgoing::after(self.shape.slots_per_lane());
        SlotStateWorker { lane, first: self.shape.slot_at(lane, 0), submitted: Incoming::new(), completed }
    }

    #[inline]
    fn acquire(&self, slots: &impl Slots<Self::Header>, client: &mut SlotStateClient) -> Option<SlotId> {
        for _ in 0..self.shape.lanes() {
            let lane = client.cursor.lane();
            let ClientLane { free, withdrawn, .. } = &mut client.lanes[lane.index()];
            let first = self.shape.slot_at(lane, 0);
            let found = if *withdrawn == 0 {
                let jump = (&*self.lanes[lane.index()].complete, &COMPLETE_JUMP_LOAD);
                let ready = |place| slots.header(first.after(place)).0.load(&FREE_LOAD) == FREE;
                free.find::<P>(places_of(self.shape), jump, ready)
            } else {
                let place = withdrawn.trailing_zeros();
                *withdrawn ^= bit(place);
                Some(place)
            };
            if let Some(place) = found {
                client.cursor.found(self.shape);
                return Some(first.after(place));
            }
            client.cursor.go_on(self.shape);
        }
        None
    }

    #[inline]
    fn submit(&self, slots: &impl Slots<Self::Header>, client: &mut SlotStateClient, slot: SlotId) -> Destination {
        let (lane, place) = (self.shape.lane_of(slot), self.shape.place_of(slot));
        let ClientLane { free, submitted, .. } = &mut client.lanes[lane.index()];
        free.out ^= bit(place);
        let jump = (&*self.lanes[lane.index()].submit, &SUBMIT_JUMP);
        let submit = || slots.header(slot).0.store(SUBMITTED, &SUBMIT);
        submitted.hand_over::<P>((place, places_of(self.shape)), jump, submit);
        Destination::Lane(lane)
    }

    #[inline]
    fn withdraw(&self, _slots: &impl Slots<Self::Header>, client: &mut SlotStateClient, slot: SlotId) {
        client.lanes[self.shape.lane_of(slot).index()].withdrawn ^= bit(self.shape.place_of(slot));
    }

    #[inline]
    fn take(&self, slots: &impl Slots<Self::Header>, worker: &mut SlotStateWorker) -> Option<SlotId> {
        let first = worker.first;
        let jump = (&*self.lanes[worker.lane.index()].submit, &SUBMIT_JUMP_LOAD);
        let ready = |place| slots.header(first.after(place)).0.load(&SUBMITTED_LOAD) == SUBMITTED;
        worker.submitted.find::<P>(places_of(self.shape), jump, ready).map(|place| first.after(place))
    }

    #[inline]
    fn complete(&self, slots: &impl Slots<Self::Header>, worker: &mut SlotStateWorker, slot: SlotId) {
        let place = slot.places_after(worker.first);
        worker.submitted.out ^= bit(place);
        let jump = (&*self.lanes[worker.lane.index()].complete, &COMPLETE_JUMP);
        let complete = || slots.header(slot).0.store(FREE, &COMPLETE);
        worker.completed.hand_over::<P>((place, places_of(self.shape)), jump, complete);
    }
}
