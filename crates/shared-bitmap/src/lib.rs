//! `shared-bitmap`: one fill bitmap and one done bitmap for all lanes; one submitter.
//!
//! The second version of the QEMU threaded workqueue (2018), kept as it was laid out, because its
//! figures (peak at 12 threads, a seventh of it at 64) are what the later steps are measured against:
//!
//! ```text
//!             lane 0    lane 1    lane 2    …
//!   fill    │ 0 1 0 0 │ 0 0 0 0 │ 1 1 0 1 │ …    neighbours share words and lines;
//!   done    │ 0 0 0 0 │ 0 0 0 0 │ 1 0 0 0 │ …    every flip is a read-modify-write
//!
//!   queue   │ shape, bitmaps' addresses (read by all) │ cursor (written by the client) │   one line
//!   slots   │ payload 0 │ payload 1 │ payload 2 │ …   packed: neighbours share lines
//! ```
//!
//! False sharing is the point, so nothing here is aligned. A worker looks for its lowest submitted
//! bit from the start each time, as then: a slot with a high bit can be overtaken for ever.

use slotwork::{
    Atomic, AtomicInteger, Claims, ClientError, Design, Destination, Guarantees, LaneId, NoneFree, One, Order,
    Platform, Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters,
};

slotwork::sites! {
    /// Every atomic access of the design.
    pub SITES in "shared-bitmap";
    FILL_FLIP: Rmw(Release), pairs [FILL_LOAD], "publishes the payload of the slot whose bit it flips";
    FILL_LOAD: Load(Acquire), pairs [FILL_FLIP], "a worker sees the payload of each slot it finds submitted";
    FILL_OWN: Load(Relaxed), pairs [], "the client reads back what only it writes";
    DONE_FLIP: Rmw(Release), pairs [DONE_LOAD], "publishes the result; other workers flip other bits of the word";
    DONE_LOAD: Load(Acquire), pairs [DONE_FLIP], "the client sees the result of each slot it finds free";
    DONE_OWN: Load(Relaxed), pairs [], "a worker looks only at its lane's bits, which only it writes";
    CURSOR_LOAD: Load(Relaxed), pairs [], "the client reads back what only it writes";
    CURSOR_STORE: Store(Relaxed), pairs [], "read by the client alone";
}

/// One pair of bitmaps for all lanes.
#[derive(Clone, Copy, Debug)]
pub struct SharedBitmap;

impl Design for SharedBitmap {
    const NAME: &'static str = "shared-bitmap";
    const CLAIMS: Claims = Claims {
        submitters: Submitters::One,
        order: Order::Any,
        none_free: NoneFree::Exact,
        progress: Guarantees::all(Progress::WaitFree),
        work_conserving: false,
        allocates: false,
        max_lanes: None,
        max_slots_per_lane: None,
        max_clients: Some(1),
        source: "QEMU threaded workqueue v2, 2018",
    };
    const SITES: &'static [&'static [Site]] = &[SITES];
    type Queue<P: Platform> = SharedBitmapQueue<P>;

    fn construct<P: Platform>(shape: Shape) -> SharedBitmapQueue<P> {
        let words = || (0..shape.slots().div_ceil(64)).map(|_| P::AtomicU64::new(0)).collect();
        SharedBitmapQueue { shape, fill: words(), done: words(), cursor: P::AtomicU32::new(0) }
    }
}

/// The queue of [`SharedBitmap`].
#[repr(C)]
pub struct SharedBitmapQueue<P: Platform> {
    shape: Shape,
    fill: Box<[P::AtomicU64]>,
    done: Box<[P::AtomicU64]>,
    /// The lane to look at first: written by the client at each acquire, beside what all read.
    cursor: P::AtomicU32,
}

/// What the client remembers: a bit per slot that it holds.
pub struct SharedBitmapClient {
    held: Box<[u64]>,
}

/// What a worker remembers.
pub struct SharedBitmapWorker {
    lane: LaneId,
    /// The first word that has bits of the lane.
    first: usize,
    /// A bit per slot that it has claimed, from the first word on.
    claimed: Box<[u64]>,
}

/// The words that have bits of `lane`, each with a mask of those bits.
fn words_of(shape: Shape, lane: LaneId) -> impl Iterator<Item = (usize, u64)> {
    let start = lane.index() * shape.slots_per_lane();
    let end = start + shape.slots_per_lane();
    (start / 64..end.div_ceil(64)).map(move |word| {
        let from = start.saturating_sub(word * 64);
        let unused = ((word + 1) * 64).saturating_sub(end);
        (word, u64::MAX << from & u64::MAX >> unused)
    })
}

fn slot_of(word: usize, candidates: u64) -> Option<SlotId> {
    (candidates != 0).then(|| SlotId::new(word * 64 + candidates.trailing_zeros() as usize))
}

fn bit_of(slot: SlotId) -> (usize, u64) {
    (slot.index() / 64, 1 << (slot.index() % 64))
}

// SAFETY: a slot's bits are equal exactly while the client owns it, and differ exactly while its
// lane's worker does; each side flips only its own bitmap, atomically, and only while it owns the slot.
// `held` and `claimed` keep a side from finding a slot that it already has. Each flip is a release that
// the other side's acquire load reads. There is one client (`One`) and one worker per lane.
unsafe impl<P: Platform> RequestQueue for SharedBitmapQueue<P> {
    type Platform = P;
    type Submitters = One;
    type Header = ();
    type Client = SharedBitmapClient;
    type Worker = SharedBitmapWorker;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<SharedBitmapClient, ClientError> {
        Ok(SharedBitmapClient { held: vec![0; self.fill.len()].into() })
    }

    fn retire(&self, _client: SharedBitmapClient) {}

    fn worker(&self, lane: LaneId) -> SharedBitmapWorker {
        let first = lane.index() * self.shape.slots_per_lane() / 64;
        SharedBitmapWorker { lane, first, claimed: words_of(self.shape, lane).map(|_| 0).collect() }
    }

    fn acquire(&self, _slots: &impl Slots<Self::Header>, client: &mut SharedBitmapClient) -> Option<SlotId> {
        let count = self.shape.lanes();
        let cursor = self.cursor.load(&CURSOR_LOAD) as usize;
        for lane in (cursor..count).chain(0..cursor) {
            for (word, lane_bits) in words_of(self.shape, LaneId::new(lane)) {
                let busy = self.fill[word].load(&FILL_OWN) ^ self.done[word].load(&DONE_LOAD);
                if let Some(slot) = slot_of(word, !busy & !client.held[word] & lane_bits) {
                    client.held[word] |= bit_of(slot).1;
                    let next = if lane + 1 < count { lane + 1 } else { 0 };
                    self.cursor.store(u32::try_from(next).expect("a lane fits"), &CURSOR_STORE);
                    return Some(slot);
                }
            }
        }
        None
    }

    fn submit(&self, _slots: &impl Slots<Self::Header>, client: &mut SharedBitmapClient, slot: SlotId) -> Destination {
        let (word, bit) = bit_of(slot);
        client.held[word] &= !bit;
        self.fill[word].fetch_xor(bit, &FILL_FLIP);
        Destination::Lane(self.shape.lane_of(slot))
    }

    fn withdraw(&self, _slots: &impl Slots<Self::Header>, client: &mut SharedBitmapClient, slot: SlotId) {
        let (word, bit) = bit_of(slot);
        client.held[word] &= !bit;
    }

    fn take(&self, _slots: &impl Slots<Self::Header>, worker: &mut SharedBitmapWorker) -> Option<SlotId> {
        words_of(self.shape, worker.lane).find_map(|(word, lane_bits)| {
            let submitted = self.fill[word].load(&FILL_LOAD) ^ self.done[word].load(&DONE_OWN);
            let claimed = &mut worker.claimed[word - worker.first];
            let slot = slot_of(word, submitted & !*claimed & lane_bits)?;
            *claimed |= bit_of(slot).1;
            Some(slot)
        })
    }

    fn complete(&self, _slots: &impl Slots<Self::Header>, worker: &mut SharedBitmapWorker, slot: SlotId) {
        let (word, bit) = bit_of(slot);
        worker.claimed[word - worker.first] &= !bit;
        self.done[word].fetch_xor(bit, &DONE_FLIP);
    }
}
