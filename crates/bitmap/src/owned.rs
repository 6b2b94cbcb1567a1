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
//!   fill[0] xor fill[1] … = done?    fill[c] flip    fill[c] ≠ seen[c],        done flip
//!   in use ≔ yes, and it was no?                     for any c; seen ≔ fill    in use ≔ no
//! ```
//!
//! One read-modify-write per round trip, where others for many submitters need two or more. Clients keep out of each
//! other's way: the places of a lane are divided among those alive, and each looks at its own share first, and at the others' when
//! that is in use. The cost is memory, a cache line per lane for each client that was ever alive at once with the others, and a
//! look at each of those clients' words for whoever seeks a slot.

use crate::clients::{Clients, MAX_CLIENTS, below};
use crate::lowest;
use alloc::boxed::Box;
use slotwork::{
    Atomic, CachePadded, Claims, ClientError, Cursor, Design, Destination, Dispatch, Guarantees, LaneId, Many,
    NoneFree, Order, Platform, Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters, WithPayload,
};

slotwork::sites! {
    /// Every atomic access of the design.
    pub SITES in "bitmap-owned";
    FILL_HINT: Load(Relaxed), pairs [], "a hint which slots to try; CLAIM decides and synchronises";
    DONE_HINT: Load(Relaxed), pairs [], "a hint which slots to try; CLAIM decides and synchronises";
    CLAIM: CompareExchange(Acquire, Relaxed), pairs [FREE_STORE], "marks the slot; whoever finds it unmarked owns it and sees its last result";
    FREE_STORE: Store(Release), pairs [CLAIM], "publishes the result, or the end of a withdrawn hold";
    FILL_STORE: Store(Release), pairs [FILL_LOAD], "publishes the payload; the client is the word's one writer";
    FILL_LOAD: Load(Acquire), pairs [FILL_STORE], "sees the payload of each slot it finds submitted";
    DONE_STORE: Store(Relaxed), pairs [], "tells where to look; FREE_STORE, which comes after it, publishes";
    FILL_RESUME: Load(Relaxed), pairs [], "a new client goes on with the word of the one whose place it has, after whom it comes";
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
    const SITES: &'static [&'static [Site]] = &[SITES, crate::clients::SITES];
    type Queue<P: Platform> = BitmapOwnedQueue<P>;

    fn construct<P: Platform>(shape: Shape) -> BitmapOwnedQueue<P> {
        let done = shape.all_lanes().map(|_| CachePadded::new(P::AtomicU64::new(0)));
        BitmapOwnedQueue { clients: Clients::new(), done: done.collect(), shape }
    }
}

/// The queue of [`BitmapOwned`].
pub struct BitmapOwnedQueue<P: Platform> {
    /// Each with its fill words, by lane.
    clients: Clients<P, Box<[CachePadded<P::AtomicU64>]>>,
    /// The workers' done words, by lane.
    done: Box<[CachePadded<P::AtomicU64>]>,
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

#[allow(clippy::cast_possible_truncation, reason = "at most 64, as the claims say")]
const fn slots_of_a_lane(shape: Shape) -> u32 {
    shape.slots_per_lane() as u32
}

impl<P: Platform> BitmapOwnedQueue<P> {
    /// Looks which slots of `lane` are free, and which of them are in this client's share.
    #[inline]
    fn look(&self, client: &mut BitmapOwnedClient, lane: LaneId) {
        let own = &mut client.lanes[lane.index()];
        // Each slot's bit: how often it was submitted and how often completed, both modulo two. Of a slot that nobody uses
        // meanwhile both are exact; of one that is used meanwhile, CLAIM finds out, or it was in use while this looked.
        let mut in_flight = own.fill ^ self.done[lane.index()].load(&DONE_HINT);
        self.clients.each_row(|place, fill| {
            if place != client.place {
                in_flight ^= fill[lane.index()].load(&FILL_HINT);
            }
        });
        let slots = slots_of_a_lane(self.shape);
        let (free, share) = (below(slots) & !in_flight, self.clients.share(client.place).bits(slots));
        own.share = free & share;
        own.elsewhere = free & !share;
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

// SAFETY: of those who mark a slot, exactly one finds it unmarked, and owns it until it is unmarked again, which only its owner
// does: it withdraws it, or flips its bit in its own fill word, of which it is the one writer (a place has one holder).
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
        let new = || self.shape.all_lanes().map(|_| CachePadded::new(P::AtomicU64::new(0))).collect();
        let lane =
            |fill: &CachePadded<P::AtomicU64>| ClientLane { fill: fill.load(&FILL_RESUME), share: 0, elsewhere: 0 };
        let (place, lanes) = self.clients.enlist(new, |fills| fills.iter().map(lane).collect())?;
        Ok(BitmapOwnedClient { place, cursor: Cursor::at(LaneId::new(place % self.shape.lanes())), lanes })
    }

    fn retire(&self, client: BitmapOwnedClient) {
        self.clients.retire(client.place);
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
        self.clients.row(client.place)[lane.index()].store(*fill, &FILL_STORE);
        Destination::Lane(lane)
    }

    #[inline]
    fn withdraw(&self, slots: &impl Slots<Self::Header>, _client: &mut BitmapOwnedClient, slot: SlotId) {
        slots.header(slot).0.store(FREE, &FREE_STORE);
    }

    #[inline]
    fn take(&self, _slots: &impl Slots<Self::Header>, worker: &mut BitmapOwnedWorker) -> Option<SlotId> {
        if worker.pending == 0 {
            self.clients.each_row(|place, fills| {
                let fill = fills[worker.lane.index()].load(&FILL_LOAD);
                worker.pending |= fill ^ worker.seen[place];
                worker.seen[place] = fill;
            });
        }
        let (place, bit) = lowest(worker.pending)?;
        worker.pending ^= bit;
        Some(worker.first.after(place))
    }

    #[inline]
    fn complete(&self, slots: &impl Slots<Self::Header>, worker: &mut BitmapOwnedWorker, slot: SlotId) {
        // The word first, while the slot is this worker's: whoever has the slot next finds the words right, and so leaves
        // them right, however long this takes.
        worker.done ^= 1 << slot.places_after(worker.first);
        self.done[worker.lane.index()].store(worker.done, &DONE_STORE);
        slots.header(slot).0.store(FREE, &FREE_STORE);
    }
}
