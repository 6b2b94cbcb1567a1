//! `bitmap-claim`: a free word and a fill word per lane; many submitters claim bits.
//!
//! The answer to the fault that the 2018 discussion found in the pure bitmap: two submitters that
//! flip bits of one word by load, xor, store lose a flip, and a slot that was only *found* free is
//! found by both. Here finding is claiming.
//!
//! ```text
//!   free   set: anybody may claim the slot by clearing its bit; set again by the worker
//!   fill   flipped by whoever claimed the slot; the worker remembers what it has seen of it
//!
//!   acquire            submit             take                  complete
//!   free 1 → 0 (and)   fill flip (xor)    fill ≠ seen; seen ≔    free 0 → 1 (or)
//! ```
//!
//! The claim bits are set and cleared, never toggled: a toggled claim has an ABA hole, because after two
//! claims the word is again as a slow third client remembers it. The fill bits may be toggled: only
//! the one who claimed the slot flips its bit.

use alloc::boxed::Box;
use slotwork::{
    Atomic, AtomicInteger, CachePadded, Claims, ClientError, Cursor, Design, Destination, Dispatch, Guarantees, LaneId,
    Many, NoneFree, Order, Platform, Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters,
};

use crate::lowest;

slotwork::sites! {
    /// Every atomic access of the design.
    pub SITES in "bitmap-claim";
    FREE_LOAD: Load(Relaxed), pairs [], "a hint which bits to try; CLAIM decides and synchronises";
    CLAIM: Rmw(Acquire), pairs [FREE_SET], "clears the bit; whoever finds it set owns the slot and sees its last result";
    FREE_SET: Rmw(Release), pairs [CLAIM], "publishes the result, or the end of a withdrawn hold";
    FILL_FLIP: Rmw(Release), pairs [FILL_LOAD], "publishes the payload; other clients flip other bits of the word";
    FILL_LOAD: Load(Acquire), pairs [FILL_FLIP], "sees the payload of each slot it finds submitted";
}

/// Per-lane bitmaps for many submitters, with a bit to claim per slot.
#[derive(Clone, Copy, Debug)]
pub struct BitmapClaim;

// SAFETY: `construct` makes a new queue.
unsafe impl Design for BitmapClaim {
    const NAME: &'static str = "bitmap-claim";
    const CLAIMS: Claims = Claims {
        submitters: Submitters::Many,
        order: Order::Rotating,
        none_free: NoneFree::Scan,
        progress: Guarantees { acquire: Progress::LockFree, ..Guarantees::all(Progress::WaitFree) },
        work_conserving: false,
        allocates: false,
        max_lanes: None,
        max_slots_per_lane: Some(64),
        max_clients: None,
        source: "slotwork, after QEMU threaded workqueue v3, 2018",
    };
    const SITES: &'static [&'static [Site]] = &[SITES];
    type Queue<P: Platform> = BitmapClaimQueue<P>;

    fn construct<P: Platform>(shape: Shape) -> BitmapClaimQueue<P> {
        let full = u64::MAX >> (64 - shape.slots_per_lane());
        let lanes = shape.all_lanes().map(|_| Lane {
            free: CachePadded::new(P::AtomicU64::new(full)),
            fill: CachePadded::new(P::AtomicU64::new(0)),
        });
        BitmapClaimQueue { lanes: lanes.collect(), shape }
    }
}

struct Lane<P: Platform> {
    free: CachePadded<P::AtomicU64>,
    fill: CachePadded<P::AtomicU64>,
}

/// The queue of [`BitmapClaim`].
pub struct BitmapClaimQueue<P: Platform> {
    lanes: Box<[Lane<P>]>,
    shape: Shape,
}

/// What a worker remembers.
pub struct BitmapClaimWorker {
    lane: LaneId,
    /// The lane's first slot.
    first: SlotId,
    /// The fill word as last read.
    seen: u64,
    /// Slots that the last read found submitted, and that were not taken yet.
    pending: u64,
}

impl<P: Platform> BitmapClaimQueue<P> {
    #[inline]
    fn give_back(&self, lane: LaneId, place: u32) {
        self.lanes[lane.index()].free.fetch_or(1 << place, &FREE_SET);
    }
}

// SAFETY: a slot's free bit is cleared by exactly one CLAIM that found it set, which makes that client
// the owner; only an owner sets it again. The owner flips the fill bit once to submit, and the one
// worker of the lane takes the slot once per flip that it sees, because no further flip can come
// before it has set the free bit. CLAIM pairs with FREE_SET, FILL_LOAD with
// FILL_FLIP.
unsafe impl<P: Platform> RequestQueue for BitmapClaimQueue<P> {
    type Platform = P;
    type Submitters = Many;
    type Header = CachePadded<()>;
    /// The lane to look at first.
    type Client = Cursor;
    type Worker = BitmapClaimWorker;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<Cursor, ClientError> {
        Ok(Cursor::at(LaneId::FIRST))
    }

    fn retire(&self, _cursor: Cursor) {}

    fn set_dispatch(&self, cursor: &mut Cursor, dispatch: Dispatch) -> bool {
        cursor.set_dispatch(dispatch)
    }

    fn worker(&self, lane: LaneId) -> BitmapClaimWorker {
        BitmapClaimWorker { lane, first: self.shape.slot_at(lane, 0), seen: 0, pending: 0 }
    }

    #[inline]
    fn acquire(&self, _slots: &impl Slots<Self::Header>, cursor: &mut Cursor) -> Option<SlotId> {
        for _ in 0..self.shape.lanes() {
            let lane = cursor.lane();
            let free = &self.lanes[lane.index()].free;
            let mut word = free.load(&FREE_LOAD);
            while let Some((place, bit)) = lowest(word) {
                word = free.fetch_and(!bit, &CLAIM);
                if word & bit != 0 {
                    cursor.found(self.shape);
                    return Some(self.shape.slot_at(lane, place));
                }
            }
            cursor.go_on(self.shape);
        }
        None
    }

    #[inline]
    fn submit(&self, _slots: &impl Slots<Self::Header>, _cursor: &mut Cursor, slot: SlotId) -> Destination {
        let lane = self.shape.lane_of(slot);
        self.lanes[lane.index()].fill.fetch_xor(1 << self.shape.place_of(slot), &FILL_FLIP);
        Destination::Lane(lane)
    }

    #[inline]
    fn withdraw(&self, _slots: &impl Slots<Self::Header>, _cursor: &mut Cursor, slot: SlotId) {
        self.give_back(self.shape.lane_of(slot), self.shape.place_of(slot));
    }

    #[inline]
    fn take(&self, _slots: &impl Slots<Self::Header>, worker: &mut BitmapClaimWorker) -> Option<SlotId> {
        if worker.pending == 0 {
            let fill = self.lanes[worker.lane.index()].fill.load(&FILL_LOAD);
            worker.pending = fill ^ worker.seen;
            worker.seen = fill;
        }
        let (place, bit) = lowest(worker.pending)?;
        worker.pending ^= bit;
        Some(worker.first.after(place))
    }

    #[inline]
    fn complete(&self, _slots: &impl Slots<Self::Header>, worker: &mut BitmapClaimWorker, slot: SlotId) {
        self.give_back(worker.lane, slot.places_after(worker.first));
    }
}
