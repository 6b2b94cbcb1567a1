//! `bitmap`: a fill word and a done word per lane; one submitter.
//!
//! The idea is that of the third version of the QEMU threaded workqueue (Xiao Guangrong, 2018): a
//! slot's state is two bits, each flipped by one side only. Equal bits: the slot is the client's.
//! Different bits: it is the worker's.
//!
//! ```text
//!               client flips fill                worker flips done
//!   fill 0 ─┐  ─────────────────▶  fill 1 ─┐  ─────────────────▶  fill 1 ─┐
//!   done 0 ─┘  free                done 0 ─┘  submitted           done 1 ─┘  free again
//!
//!   lane:  │ fill (own line, written by the client) │ done (own line, written by the worker) │
//! ```
//!
//! Each word has one writer, so a flip is a plain store, and nobody ever retries: every operation
//! is wait-free. What a client holds and what a worker has claimed, only they themselves know. A
//! side hands out all that one look at the other's word found before it looks again: the word's line
//! moves once for many slots, and no slot is overtaken for ever, as it was when each look began at bit 0.

use alloc::{boxed::Box, vec};
use slotwork::{
    Atomic, CachePadded, Claims, ClientError, Cursor, Design, Destination, Dispatch, Guarantees, LaneId, NoneFree, One,
    Order, Platform, Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters,
};

use crate::lowest;

slotwork::sites! {
    /// Every atomic access of the design.
    pub SITES in "bitmap";
    FILL_STORE: Store(Release), pairs [FILL_LOAD], "publishes the payload of the slot whose bit it flips";
    FILL_LOAD: Load(Acquire), pairs [FILL_STORE], "sees the payload of each slot it finds submitted";
    DONE_STORE: Store(Release), pairs [DONE_LOAD], "publishes the result of the slot whose bit it flips";
    DONE_LOAD: Load(Acquire), pairs [DONE_STORE], "sees the result of each slot it finds free";
}

/// Per-lane bitmaps for one submitter.
#[derive(Clone, Copy, Debug)]
pub struct Bitmap;

// SAFETY: `construct` makes a new queue.
unsafe impl Design for Bitmap {
    const NAME: &'static str = "bitmap";
    const CLAIMS: Claims = Claims {
        submitters: Submitters::One,
        order: Order::Rotating,
        none_free: NoneFree::Exact,
        progress: Guarantees::all(Progress::WaitFree),
        work_conserving: false,
        allocates: false,
        max_lanes: None,
        max_slots_per_lane: Some(64),
        max_clients: Some(1),
        source: "QEMU threaded workqueue v3, 2018",
    };
    const SITES: &'static [&'static [Site]] = &[SITES];
    type Queue<P: Platform> = BitmapQueue<P>;

    fn construct<P: Platform>(shape: Shape) -> BitmapQueue<P> {
        let lanes = shape.all_lanes().map(|_| Lane {
            fill: CachePadded::new(P::AtomicU64::new(0)),
            done: CachePadded::new(P::AtomicU64::new(0)),
        });
        BitmapQueue { lanes: lanes.collect(), shape }
    }
}

struct Lane<P: Platform> {
    /// Flipped by the client alone.
    fill: CachePadded<P::AtomicU64>,
    /// Flipped by the lane's worker alone.
    done: CachePadded<P::AtomicU64>,
}

/// The queue of [`Bitmap`].
pub struct BitmapQueue<P: Platform> {
    lanes: Box<[Lane<P>]>,
    shape: Shape,
}

/// The client's own view of one lane.
#[derive(Clone, Copy, Default)]
struct Own {
    /// What the fill word holds: nobody else writes it.
    fill: u64,
    /// The fill word as it will be when every held slot is submitted: a held slot looks busy.
    intent: u64,
    /// Slots that the last look at the done word found free, and that were not acquired yet.
    free: u64,
}

/// What the client remembers.
pub struct BitmapClient {
    lanes: Box<[Own]>,
    /// The lane to look at first.
    cursor: Cursor,
    /// A set bit for each slot of a lane.
    full: u64,
}

/// What a worker remembers.
pub struct BitmapWorker {
    lane: LaneId,
    /// The lane's first slot.
    first: SlotId,
    /// The fill word as last read.
    seen: u64,
    /// Slots that the last read found submitted, and that were not taken yet.
    pending: u64,
    /// What the done word holds: nobody else writes it.
    done: u64,
}

// SAFETY: a slot's bits are equal exactly while the client owns it, and differ exactly while the
// worker does: each side flips its own bit only, which hands the slot over, and only while it owns
// the slot. `intent` keeps the client from finding a slot that it already has, and `seen` the worker: a
// flip is seen once, and the next one comes only after the worker's own. Each flip is a release store
// that the other side's acquire load reads. There is one client (`One`) and one worker per lane.
unsafe impl<P: Platform> RequestQueue for BitmapQueue<P> {
    type Platform = P;
    type Submitters = One;
    type Header = CachePadded<()>;
    type Client = BitmapClient;
    type Worker = BitmapWorker;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<BitmapClient, ClientError> {
        let full = u64::MAX >> (64 - self.shape.slots_per_lane());
        Ok(BitmapClient {
            lanes: vec![Own::default(); self.shape.lanes()].into(),
            cursor: Cursor::at(LaneId::FIRST),
            full,
        })
    }

    fn retire(&self, _client: BitmapClient) {}

    fn set_dispatch(&self, client: &mut BitmapClient, dispatch: Dispatch) -> bool {
        client.cursor.set_dispatch(dispatch)
    }

    fn worker(&self, lane: LaneId) -> BitmapWorker {
        BitmapWorker { lane, first: self.shape.slot_at(lane, 0), seen: 0, pending: 0, done: 0 }
    }

    #[inline]
    fn acquire(&self, _slots: &impl Slots<Self::Header>, client: &mut BitmapClient) -> Option<SlotId> {
        for _ in 0..self.shape.lanes() {
            let lane = client.cursor.lane();
            let own = &mut client.lanes[lane.index()];
            if own.free == 0 {
                own.free = !(own.intent ^ self.lanes[lane.index()].done.load(&DONE_LOAD)) & client.full;
            }
            if let Some((place, bit)) = lowest(own.free) {
                own.free ^= bit;
                own.intent ^= bit;
                client.cursor.found(self.shape);
                return Some(self.shape.slot_at(lane, place));
            }
            client.cursor.go_on(self.shape);
        }
        None
    }

    #[inline]
    fn submit(&self, _slots: &impl Slots<Self::Header>, client: &mut BitmapClient, slot: SlotId) -> Destination {
        let lane = self.shape.lane_of(slot);
        let own = &mut client.lanes[lane.index()];
        own.fill ^= 1 << self.shape.place_of(slot);
        self.lanes[lane.index()].fill.store(own.fill, &FILL_STORE);
        Destination::Lane(lane)
    }

    #[inline]
    fn withdraw(&self, _slots: &impl Slots<Self::Header>, client: &mut BitmapClient, slot: SlotId) {
        client.lanes[self.shape.lane_of(slot).index()].intent ^= 1 << self.shape.place_of(slot);
    }

    #[inline]
    fn take(&self, _slots: &impl Slots<Self::Header>, worker: &mut BitmapWorker) -> Option<SlotId> {
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
    fn complete(&self, _slots: &impl Slots<Self::Header>, worker: &mut BitmapWorker, slot: SlotId) {
        worker.done ^= 1 << slot.places_after(worker.first);
        self.lanes[worker.lane.index()].done.store(worker.done, &DONE_STORE);
    }
}
