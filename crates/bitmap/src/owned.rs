//! `bitmap-owned`: words of its own for every client, so that a word has one writer; stealing.
//!
//! Where [`BitmapClaim`](crate::BitmapClaim) lets all clients write one word, here each client has a
//! home word of free slots and a fill word per lane. It looks at home first, then at the others'.
//!
//! ```text
//!   lane l, client c:   home   set: free, and last used by c; anybody may claim it, c does so first
//!                       fill   flipped by c alone: a plain store
//!
//!   acquire               submit               take                       complete
//!   home[c'] 1 → 0 (and)  fill[c] flip (store)  fill[c] ≠ seen[c], any c   home[c] 0 → 1 (or)
//! ```
//!
//! A slot claimed from another client's home comes back to the home of the client that submitted it:
//! slots follow their users, and a line is shared by one client and one worker until somebody runs
//! out. The cost is memory, two cache lines per lane for each client that was ever alive at once with
//! the others, and a worker's look at each of those clients.

use crate::lowest;
use crate::once::Once;
use alloc::boxed::Box;
use slotwork::{
    Atomic, AtomicInteger, CachePadded, Claims, ClientError, Cursor, Design, Destination, Dispatch, Guarantees, LaneId,
    Many, NoneFree, Order, Platform, Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters,
};

slotwork::sites! {
    /// Every atomic access of the design.
    pub SITES in "bitmap-owned";
    HOME_LOAD: Load(Relaxed), pairs [], "a hint which bits to try; CLAIM decides and synchronises";
    CLAIM: Rmw(Acquire), pairs [HOME_SET], "clears the bit; whoever finds it set owns the slot and sees its last result";
    HOME_SET: Rmw(Release), pairs [CLAIM], "publishes the result, or the end of a withdrawn hold";
    FILL_STORE: Store(Release), pairs [FILL_LOAD], "publishes the payload; the client is the word's one writer";
    FILL_LOAD: Load(Acquire), pairs [FILL_STORE], "sees the payload of each slot it finds submitted";
    FILL_RESUME: Load(Relaxed), pairs [], "a new client goes on with the word of the one whose place it has; ENLIST ordered them";
    ENLIST_LOAD: Load(Relaxed), pairs [], "a hint which place is vacant; ENLIST decides";
    ENLIST: Rmw(Acquire), pairs [RETIRE], "takes a place; sees the last words that its former holder wrote";
    RETIRE: Rmw(Release), pairs [ENLIST], "gives the place back, with its words as they are";
    OPEN: Rmw(Release), pairs [OPEN_LOAD], "the place's words exist, from before its first store on";
    OPEN_LOAD: Load(Acquire), pairs [OPEN], "sees the words of each place that a scan has to look at";
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
        progress: Guarantees { acquire: Progress::LockFree, ..Guarantees::all(Progress::WaitFree) },
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
        let places: Box<[Place<P>]> = (0..MAX_CLIENTS).map(|_| Once::new()).collect();
        // The first client's place exists from the start: all slots are at home there.
        let full = u64::MAX >> (64 - shape.slots_per_lane());
        let _ = places[0].set(words(shape, full));
        BitmapOwnedQueue {
            places,
            enlisted: CachePadded::new(P::AtomicU64::new(0)),
            open: CachePadded::new(P::AtomicU64::new(1)),
            shape,
        }
    }
}

/// One client's words of one lane.
struct Words<P: Platform> {
    home: CachePadded<P::AtomicU64>,
    fill: CachePadded<P::AtomicU64>,
}

/// One client's words of all lanes, made when the place is first used.
type Place<P> = Once<Box<[Words<P>]>>;

fn words<P: Platform>(shape: Shape, home: u64) -> Box<[Words<P>]> {
    let lanes = shape.all_lanes().map(|_| Words {
        home: CachePadded::new(P::AtomicU64::new(home)),
        fill: CachePadded::new(P::AtomicU64::new(0)),
    });
    lanes.collect()
}

/// The queue of [`BitmapOwned`].
pub struct BitmapOwnedQueue<P: Platform> {
    places: Box<[Place<P>]>,
    /// A bit per place that a client holds.
    enlisted: CachePadded<P::AtomicU64>,
    /// A bit per place that was ever held: its words exist.
    open: CachePadded<P::AtomicU64>,
    shape: Shape,
}

/// What a client remembers.
pub struct BitmapOwnedClient {
    place: usize,
    /// The lane to look at first.
    cursor: Cursor,
    /// What its fill words hold: nobody else writes them.
    fill: Box<[u64]>,
}

/// What a worker remembers.
pub struct BitmapOwnedWorker {
    lane: LaneId,
    /// The lane's first slot.
    first: SlotId,
    /// The clients' fill words as last read.
    seen: [u64; MAX_CLIENTS],
    /// Slots found submitted by the last look, and not taken yet.
    pending: u64,
    /// Per slot of the lane: the place that submitted it last.
    submitter: [u8; 64],
}

impl<P: Platform> BitmapOwnedQueue<P> {
    #[inline]
    fn words(&self, place: usize, lane: LaneId) -> &Words<P> {
        let place = self.places[place].get().expect("an open place has its words");
        &place[lane.index()]
    }

    /// Claims a free slot of `lane` that is at home with `place`.
    #[inline]
    fn claim(&self, place: usize, lane: LaneId) -> Option<SlotId> {
        let home = &self.words(place, lane).home;
        let mut word = home.load(&HOME_LOAD);
        while let Some((slot, bit)) = lowest(word) {
            word = home.fetch_and(!bit, &CLAIM);
            if word & bit != 0 {
                return Some(self.shape.slot_at(lane, slot));
            }
        }
        None
    }

    #[inline]
    fn give_back(&self, place: usize, lane: LaneId, bit: u32) {
        self.words(place, lane).home.fetch_or(1 << bit, &HOME_SET);
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

// SAFETY: a free slot's bit is set in exactly one home word; exactly one CLAIM that finds it set
// clears it, and that client owns the slot until it flips the bit in its own fill word, of which it is
// the one writer (a place has one holder: ENLIST). The lane's one worker takes the slot once per flip
// that it sees, because no further flip of the bit, in any client's word, can come before it has set a
// home bit again. CLAIM pairs with HOME_SET, FILL_LOAD with FILL_STORE.
unsafe impl<P: Platform> RequestQueue for BitmapOwnedQueue<P> {
    type Platform = P;
    type Submitters = Many;
    type Header = CachePadded<()>;
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
                let own = self.places[place].get_or_init(|| words(self.shape, 0));
                let fill = own.iter().map(|words| words.fill.load(&FILL_RESUME)).collect();
                self.open.fetch_or(1 << place, &OPEN);
                return Ok(BitmapOwnedClient {
                    place,
                    cursor: Cursor::at(LaneId::new(place % self.shape.lanes())),
                    fill,
                });
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
        BitmapOwnedWorker {
            lane,
            first: self.shape.slot_at(lane, 0),
            seen: [0; MAX_CLIENTS],
            pending: 0,
            submitter: [0; 64],
        }
    }

    #[inline]
    fn acquire(&self, _slots: &impl Slots<Self::Header>, client: &mut BitmapOwnedClient) -> Option<SlotId> {
        for _ in 0..self.shape.lanes() {
            if let Some(slot) = self.claim(client.place, client.cursor.lane()) {
                client.cursor.found(self.shape);
                return Some(slot);
            }
            client.cursor.go_on(self.shape);
        }
        let others = self.open.load(&OPEN_LOAD) & !(1 << client.place);
        places(others).find_map(|place| self.shape.all_lanes().find_map(|lane| self.claim(place, lane)))
    }

    #[inline]
    fn submit(&self, _slots: &impl Slots<Self::Header>, client: &mut BitmapOwnedClient, slot: SlotId) -> Destination {
        let lane = self.shape.lane_of(slot);
        let fill = &mut client.fill[lane.index()];
        *fill ^= 1 << self.shape.place_of(slot);
        self.words(client.place, lane).fill.store(*fill, &FILL_STORE);
        Destination::Lane(lane)
    }

    #[inline]
    fn withdraw(&self, _slots: &impl Slots<Self::Header>, client: &mut BitmapOwnedClient, slot: SlotId) {
        self.give_back(client.place, self.shape.lane_of(slot), self.shape.place_of(slot));
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "a place is below MAX_CLIENTS")]
    fn take(&self, _slots: &impl Slots<Self::Header>, worker: &mut BitmapOwnedWorker) -> Option<SlotId> {
        if worker.pending == 0 {
            for place in places(self.open.load(&OPEN_LOAD)) {
                let fill = self.words(place, worker.lane).fill.load(&FILL_LOAD);
                let mut news = fill ^ worker.seen[place];
                worker.seen[place] = fill;
                worker.pending |= news;
                while news != 0 {
                    worker.submitter[news.trailing_zeros() as usize] = place as u8;
                    news &= news - 1;
                }
            }
        }
        let (place, bit) = lowest(worker.pending)?;
        worker.pending ^= bit;
        Some(worker.first.after(place))
    }

    #[inline]
    fn complete(&self, _slots: &impl Slots<Self::Header>, worker: &mut BitmapOwnedWorker, slot: SlotId) {
        let bit = slot.places_after(worker.first);
        self.give_back(worker.submitter[bit as usize].into(), worker.lane, bit);
    }
}
