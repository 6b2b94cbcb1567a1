//! `bitmap-owned`: words of its own for every client, so that a word has one writer; the claim is in the slot.
//!
//! Where [`BitmapClaim`](crate::BitmapClaim) lets all clients write one word, here a word has one writer: each client
//! flips bits of its own fill word of a lane, and the lane's worker answers in a done word. The words say where to look; whose a
//! slot is, a flag beside the payload says, on the line that has to come to the client anyway.
//!
//! ```text
//!   lane:   fill[c]   for each client c, flipped by c alone: a plain store
//!           done      flipped by the worker alone: a plain store
//!   slot:   │ in use │ turn │ payload …  │ one line
//!
//!   acquire                          submit          take                      complete
//!   fill[0] xor fill[1] … = done?    fill[c] flip    fill[c] ≠ seen[c],        in use ≔ no
//!   in use ≔ yes, and it was no?                     for any c; seen ≔ fill    done flip
//! ```
//!
//! One read-modify-write per round trip, where the others for many submitters need three or more. Clients keep out of each
//! other's way: the places of a lane are divided among those alive, and each looks at its own share first, and at the others' when
//! that is in use. The cost is memory, a cache line per lane for each client that was ever alive at once with the others, and a
//! look at each of those clients' words for whoever seeks a slot.

use crate::lowest;
use crate::once::Once;
use alloc::boxed::Box;
use slotwork::{
    Atomic, AtomicInteger, CachePadded, Claims, ClientError, Cursor, Design, Destination, Dispatch, Guarantees, LaneId,
    Many, NoneFree, Order, Platform, Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters, WithPayload,
};

slotwork::sites! {
    /// Every atomic access of the design.
    pub SITES in "bitmap-owned";
    FILL_HINT: Load(Relaxed), pairs [], "a hint which slots to try; CLAIM decides and synchronises";
    DONE_HINT: Load(Relaxed), pairs [], "a hint which slots to try; CLAIM decides and synchronises";
    SHARE_HINT: Load(Relaxed), pairs [], "which slots to try first; all are tried";
    CLAIM: CompareExchange(Acquire, Relaxed), pairs [FREE_STORE], "marks the slot; whoever finds it unmarked owns it and sees its last result";
    FREE_STORE: Store(Release), pairs [CLAIM], "publishes the result, or the end of a withdrawn hold";
    FILL_STORE: Store(Release), pairs [FILL_LOAD], "publishes the payload; the client is the word's one writer";
    FILL_LOAD: Load(Acquire), pairs [FILL_STORE], "sees the payload of each slot it finds submitted";
    DONE_STORE: Store(Relaxed), pairs [], "tells where to look; FREE_STORE, which comes before it, publishes";
    FILL_RESUME: Load(Relaxed), pairs [], "a new client goes on with the word of the one whose place it has; ENLIST ordered them";
    ENLIST_LOAD: Load(Relaxed), pairs [], "a hint which place is vacant; ENLIST decides";
    ENLIST: Rmw(Acquire), pairs [RETIRE], "takes a place; sees the last words that its former holder wrote";
    RETIRE: Rmw(Release), pairs [ENLIST], "gives the place back, with its words as they are";
    OPEN: Rmw(Release), pairs [OPEN_LOAD], "the place's words exist, from before its first store on";
    OPEN_LOAD: Load(Acquire), pairs [OPEN], "sees the words of each place that a scan has to look at";
}

const FREE: u32 = 0;
const IN_USE: u32 = 1;

/// Whether somebody has the slot.
pub struct Use<P: Platform>(P::AtomicU32);

impl<P: Platform> Default for Use<P> {
    fn default() -> Self {
        Self(P::AtomicU32::new(FREE))
    }
}

/// Clients alive at once: a bit each in one word.
const MAX_CLIENTS: usize = 64;

/// Per-lane bitmaps for many submitters, each with words of its own.
#[derive(Clone, Copy, Debug)]
pub struct BitmapOwned;

// SAFETY: `construct` makes a new queue.
unsafe impl Design for BitmapOwned {
    const NAME: &'static str = "bitmap-owned";
    const CLAIMS: Claims = Claims {
        submitters: Submitters::Many,
        order: Order::Rotating,
        none_free: NoneFree::Scan,
        progress: Guarantees::all(Progress::WaitFree),
        work_conserving: false,
        allocates: false,
        max_lanes: None,
        max_slots_per_lane: Some(64),
        max_clients: Some(MAX_CLIENTS),
        source: "slotwork, after QEMU threaded workqueue v3, 2018",
    };
    const SITES: &'static [&'static [Site]] = &[SITES];
    type Queue<P: Platform> = BitmapOwnedQueue<P>;

    fn construct<P: Platform>(shape: Shape) -> BitmapOwnedQueue<P> {
        BitmapOwnedQueue {
            places: (0..MAX_CLIENTS).map(|_| Once::new()).collect(),
            done: shape.all_lanes().map(|_| CachePadded::new(P::AtomicU64::new(0))).collect(),
            enlisted: CachePadded::new(P::AtomicU64::new(0)),
            open: CachePadded::new(P::AtomicU64::new(0)),
            full: u64::MAX >> (64 - shape.slots_per_lane()),
            shape,
        }
    }
}

/// One client's fill words, by lane; made when the place is first used.
type Place<P> = Once<Box<[CachePadded<<P as Platform>::AtomicU64>]>>;

/// The queue of [`BitmapOwned`].
pub struct BitmapOwnedQueue<P: Platform> {
    places: Box<[Place<P>]>,
    /// The workers' done words, by lane.
    done: Box<[CachePadded<P::AtomicU64>]>,
    /// A bit per place that a client holds.
    enlisted: CachePadded<P::AtomicU64>,
    /// A bit per place that was ever held: its words exist.
    open: CachePadded<P::AtomicU64>,
    /// A bit per slot of a lane.
    full: u64,
    shape: Shape,
}

/// What a client remembers.
pub struct BitmapOwnedClient {
    place: usize,
    /// The lane to look at first.
    cursor: Cursor,
    /// Per lane.
    lanes: Box<[ClientLane]>,
}

/// What a client remembers of a lane.
struct ClientLane {
    /// What its fill word holds: nobody else writes it.
    fill: u64,
    /// Slots in its share that the last look found free, and that were not tried since.
    share: u64,
    /// The same of all others.
    elsewhere: u64,
}

/// What a worker remembers.
pub struct BitmapOwnedWorker {
    lane: LaneId,
    /// The lane's first slot.
    first: SlotId,
    /// The clients' fill words as last read.
    seen: [u64; MAX_CLIENTS],
    /// What its done word holds: nobody else writes it.
    done: u64,
    /// Slots found submitted by the last look, and not taken yet.
    pending: u64,
}

impl<P: Platform> BitmapOwnedQueue<P> {
    #[inline]
    fn fill(&self, place: usize, lane: LaneId) -> &P::AtomicU64 {
        let place = self.places[place].get().expect("an open place has its words");
        &place[lane.index()]
    }

    /// Looks which slots of `lane` are free, and which of them are in this client's share.
    #[inline]
    fn look(&self, client: &mut BitmapOwnedClient, lane: LaneId) {
        let own = &mut client.lanes[lane.index()];
        // Each slot's bit: how often it was submitted and how often completed, both modulo two. Of a slot that nobody uses
        // meanwhile both are exact; of one that is used meanwhile, CLAIM finds out, or it was in use while this looked.
        let mut in_flight = own.fill ^ self.done[lane.index()].load(&DONE_HINT);
        for place in places(self.open.load(&OPEN_LOAD) & !(1 << client.place)) {
            in_flight ^= self.fill(place, lane).load(&FILL_HINT);
        }
        let (free, share) = (self.full & !in_flight, self.share(client.place));
        own.share = free & share;
        own.elsewhere = free & !share;
    }

    /// The places of a lane that belong to this client as long as there are these clients.
    #[inline]
    fn share(&self, place: usize) -> u64 {
        let enlisted = self.enlisted.load(&SHARE_HINT);
        let before = enlisted & ((1 << place) - 1);
        if enlisted & !(1 << place) == 0 {
            return u64::MAX;
        }
        let (clients, number, slots) =
            (enlisted.count_ones() as usize, before.count_ones() as usize, self.shape.slots_per_lane());
        let bits_below = |place: usize| if place < 64 { (1 << place) - 1 } else { u64::MAX };
        bits_below(slots * (number + 1) / clients) & !bits_below(slots * number / clients)
    }

    /// Claims one of the slots of `lane` that `candidates` has; none of those tried before is in there any more.
    #[inline]
    fn claim(&self, slots: &impl Slots<WithPayload<Use<P>>>, lane: LaneId, candidates: &mut u64) -> Option<SlotId> {
        while let Some((place, bit)) = lowest(*candidates) {
            *candidates ^= bit;
            let slot = self.shape.slot_at(lane, place);
            if slots.header(slot).0.compare_exchange(FREE, IN_USE, &CLAIM).is_ok() {
                return Some(slot);
            }
        }
        None
    }
}

/// The places whose bits are set in `open`.
#[inline]
fn places(mut open: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let place = (open != 0).then(|| open.trailing_zeros() as usize)?;
        open &= open - 1;
        Some(place)
    })
}

// SAFETY: of those who mark a slot, exactly one finds it unmarked, and owns it until it is unmarked again, which only its owner
// does: it withdraws it, or flips its bit in its own fill word, of which it is the one writer (a place has one holder: ENLIST).
// The lane's one worker takes the slot once per flip that it sees, because no further flip of the bit, in any client's word, can
// come before it has unmarked the slot. CLAIM pairs with FREE_STORE, FILL_LOAD with FILL_STORE. Done words only say where to look.
unsafe impl<P: Platform> RequestQueue for BitmapOwnedQueue<P> {
    type Platform = P;
    type Submitters = Many;
    type Header = WithPayload<Use<P>>;
    type Client = BitmapOwnedClient;
    type Worker = BitmapOwnedWorker;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<BitmapOwnedClient, ClientError> {
        let mut enlisted = self.enlisted.load(&ENLIST_LOAD);
        while enlisted != u64::MAX {
            let place = enlisted.trailing_ones() as usize;
            enlisted = self.enlisted.fetch_or(1 << place, &ENLIST);
            if enlisted & (1 << place) == 0 {
                let new = || self.shape.all_lanes().map(|_| CachePadded::new(P::AtomicU64::new(0))).collect();
                let own = self.places[place].get_or_init(new).iter();
                let lanes =
                    own.map(|fill| ClientLane { fill: fill.load(&FILL_RESUME), share: 0, elsewhere: 0 }).collect();
                self.open.fetch_or(1 << place, &OPEN);
                let cursor = Cursor::at(LaneId::new(place % self.shape.lanes()));
                return Ok(BitmapOwnedClient { place, cursor, lanes });
            }
        }
        Err(ClientError::TooManyClients { limit: MAX_CLIENTS })
    }

    fn retire(&self, client: BitmapOwnedClient) {
        self.enlisted.fetch_and(!(1 << client.place), &RETIRE);
    }

    fn set_dispatch(&self, client: &mut BitmapOwnedClient, dispatch: Dispatch) -> bool {
        client.cursor.set_dispatch(dispatch)
    }

    fn worker(&self, lane: LaneId) -> BitmapOwnedWorker {
        BitmapOwnedWorker { lane, first: self.shape.slot_at(lane, 0), seen: [0; MAX_CLIENTS], done: 0, pending: 0 }
    }

    #[inline]
    fn acquire(&self, slots: &impl Slots<Self::Header>, client: &mut BitmapOwnedClient) -> Option<SlotId> {
        for _ in 0..self.shape.lanes() {
            let lane = client.cursor.lane();
            let mut found = self.claim(slots, lane, &mut client.lanes[lane.index()].share);
            if found.is_none() {
                self.look(client, lane);
                found = self.claim(slots, lane, &mut client.lanes[lane.index()].share);
            }
            if found.is_some() {
                client.cursor.found(self.shape);
                return found;
            }
            client.cursor.go_on(self.shape);
        }
        // Nothing in its share, of any lane: what the look at each of them found elsewhere.
        self.shape.all_lanes().find_map(|lane| self.claim(slots, lane, &mut client.lanes[lane.index()].elsewhere))
    }

    #[inline]
    fn submit(&self, _slots: &impl Slots<Self::Header>, client: &mut BitmapOwnedClient, slot: SlotId) -> Destination {
        let lane = self.shape.lane_of(slot);
        let fill = &mut client.lanes[lane.index()].fill;
        *fill ^= 1 << self.shape.place_of(slot);
        self.fill(client.place, lane).store(*fill, &FILL_STORE);
        Destination::Lane(lane)
    }

    #[inline]
    fn withdraw(&self, slots: &impl Slots<Self::Header>, _client: &mut BitmapOwnedClient, slot: SlotId) {
        slots.header(slot).0.store(FREE, &FREE_STORE);
    }

    #[inline]
    fn take(&self, _slots: &impl Slots<Self::Header>, worker: &mut BitmapOwnedWorker) -> Option<SlotId> {
        if worker.pending == 0 {
            for place in places(self.open.load(&OPEN_LOAD)) {
                let fill = self.fill(place, worker.lane).load(&FILL_LOAD);
                worker.pending |= fill ^ worker.seen[place];
                worker.seen[place] = fill;
            }
        }
        let (place, bit) = lowest(worker.pending)?;
        worker.pending ^= bit;
        Some(worker.first.after(place))
    }

    #[inline]
    fn complete(&self, slots: &impl Slots<Self::Header>, worker: &mut BitmapOwnedWorker, slot: SlotId) {
        slots.header(slot).0.store(FREE, &FREE_STORE);
        worker.done ^= 1 << slot.places_after(worker.first);
        self.done[worker.lane.index()].store(worker.done, &DONE_STORE);
    }
}
