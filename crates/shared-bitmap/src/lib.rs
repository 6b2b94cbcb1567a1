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
//! False sharing is the point, so nothing here is aligned; the steps that aligned one thing after
//! another are other [`Layout`]s of the same code. A worker looks for its lowest submitted
//! bit from the start each time, as then: a slot with a high bit can be overtaken for ever.

#![cfg_attr(not(any(feature = "std", test)), no_std)]

extern crate alloc;

mod layout;

use alloc::{boxed::Box, vec};
use slotwork::{
    Atomic, AtomicInteger, Claims, ClientError, Design, Destination, Guarantees, LaneId, NoneFree, One, Order,
    Platform, Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters,
};

use core::marker::PhantomData;
use layout::LINE_WORDS;
pub use layout::{Aligned, LaneBitmaps, Layout, SlotsApart, V2};

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

/// One pair of bitmaps for all lanes; `L` is the step, [`V2`] in the catalog.
#[derive(Clone, Copy, Debug)]
pub struct SharedBitmap<L = V2>(PhantomData<L>);

// SAFETY: `construct` makes a new queue.
unsafe impl<L: Layout> Design for SharedBitmap<L> {
    const NAME: &'static str = L::NAME;
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
        source: L::SOURCE,
    };
    const SITES: &'static [&'static [Site]] = &[SITES];
    type Queue<P: Platform> = SharedBitmapQueue<P, L>;

    fn construct<P: Platform>(shape: Shape) -> SharedBitmapQueue<P, L> {
        let stride = L::lane_stride(shape);
        let words = (stride * shape.lanes()).div_ceil(64);
        let done = L::done_begins(words);
        let lines = (0..(done + words).div_ceil(LINE_WORDS)).map(|_| Line::default()).collect();
        SharedBitmapQueue { shape, lines, stride, words, done, cursor: P::AtomicU32::new(0).into() }
    }
}

/// A line of words; it only aligns the first word of the bitmaps.
#[repr(align(128))]
struct Line<P: Platform>([P::AtomicU64; LINE_WORDS]);

impl<P: Platform> Default for Line<P> {
    fn default() -> Self {
        Self(core::array::from_fn(|_| P::AtomicU64::new(0)))
    }
}

/// The queue of [`SharedBitmap`].
#[repr(C)]
pub struct SharedBitmapQueue<P: Platform, L: Layout = V2> {
    shape: Shape,
    /// The fill bitmap, and behind it, at word `done`, the done bitmap.
    lines: Box<[Line<P>]>,
    /// Bits per lane.
    stride: usize,
    /// Words of one bitmap.
    words: usize,
    done: usize,
    /// The lane to look at first: written by the client at each acquire; in v2, beside what all read.
    cursor: L::Cursor<P>,
}

impl<P: Platform, L: Layout> SharedBitmapQueue<P, L> {
    fn fill(&self, word: usize) -> &P::AtomicU64 {
        &self.lines[word / LINE_WORDS].0[word % LINE_WORDS]
    }

    fn done(&self, word: usize) -> &P::AtomicU64 {
        self.fill(self.done + word)
    }

    /// The words that have bits of `lane`, each with a mask of those bits.
    fn words_of(&self, lane: LaneId) -> impl Iterator<Item = (usize, u64)> + use<P, L> {
        let start = lane.index() * self.stride;
        let end = start + self.shape.slots_per_lane();
        (start / 64..end.div_ceil(64)).map(move |word| {
            let from = start.saturating_sub(word * 64);
            let unused = ((word + 1) * 64).saturating_sub(end);
            (word, u64::MAX << from & u64::MAX >> unused)
        })
    }

    /// A slot's word, and its bit in it.
    fn bit_of(&self, slot: SlotId) -> (usize, u64) {
        let bit = self.shape.lane_of(slot).index() * self.stride + self.shape.place_of(slot) as usize;
        (bit / 64, 1 << (bit % 64))
    }

    /// The slot of the lowest of some bits of a word of `lane`.
    fn slot_of(&self, lane: LaneId, word: usize, bits: u64) -> Option<SlotId> {
        let bit = (bits != 0).then(|| word * 64 + bits.trailing_zeros() as usize)?;
        let place = u32::try_from(bit - lane.index() * self.stride).expect("a lane's slots fit");
        Some(self.shape.slot_at(lane, place))
    }
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

// SAFETY: a slot's bits are equal exactly while the client owns it, and differ exactly while its
// lane's worker does; each side flips only its own bitmap, atomically, and only while it owns the slot.
// `held` and `claimed` keep a side from finding a slot that it already has. Each flip is a release that
// the other side's acquire load reads. There is one client (`One`) and one worker per lane.
unsafe impl<P: Platform, L: Layout> RequestQueue for SharedBitmapQueue<P, L> {
    type Platform = P;
    type Submitters = One;
    type Header = L::Header;
    type Client = SharedBitmapClient;
    type Worker = SharedBitmapWorker;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<SharedBitmapClient, ClientError> {
        Ok(SharedBitmapClient { held: vec![0; self.words].into() })
    }

    fn retire(&self, _client: SharedBitmapClient) {}

    fn worker(&self, lane: LaneId) -> SharedBitmapWorker {
        let first = lane.index() * self.stride / 64;
        SharedBitmapWorker { lane, first, claimed: self.words_of(lane).map(|_| 0).collect() }
    }

    fn acquire(&self, _slots: &impl Slots<Self::Header>, client: &mut SharedBitmapClient) -> Option<SlotId> {
        let count = self.shape.lanes();
        let cursor = self.cursor.load(&CURSOR_LOAD) as usize;
        for lane in (cursor..count).chain(0..cursor).map(LaneId::new) {
            for (word, lane_bits) in self.words_of(lane) {
                let busy = self.fill(word).load(&FILL_OWN) ^ self.done(word).load(&DONE_LOAD);
                if let Some(slot) = self.slot_of(lane, word, !busy & !client.held[word] & lane_bits) {
                    client.held[word] |= self.bit_of(slot).1;
                    let next = u32::try_from(self.shape.lane_after(lane).index()).expect("a lane fits");
                    self.cursor.store(next, &CURSOR_STORE);
                    return Some(slot);
                }
            }
        }
        None
    }

    fn submit(&self, _slots: &impl Slots<Self::Header>, client: &mut SharedBitmapClient, slot: SlotId) -> Destination {
        let (word, bit) = self.bit_of(slot);
        client.held[word] &= !bit;
        self.fill(word).fetch_xor(bit, &FILL_FLIP);
        Destination::Lane(self.shape.lane_of(slot))
    }

    fn withdraw(&self, _slots: &impl Slots<Self::Header>, client: &mut SharedBitmapClient, slot: SlotId) {
        let (word, bit) = self.bit_of(slot);
        client.held[word] &= !bit;
    }

    fn take(&self, _slots: &impl Slots<Self::Header>, worker: &mut SharedBitmapWorker) -> Option<SlotId> {
        self.words_of(worker.lane).find_map(|(word, lane_bits)| {
            let submitted = self.fill(word).load(&FILL_LOAD) ^ self.done(word).load(&DONE_OWN);
            let claimed = &mut worker.claimed[word - worker.first];
            let slot = self.slot_of(worker.lane, word, submitted & !*claimed & lane_bits)?;
            *claimed |= self.bit_of(slot).1;
            Some(slot)
        })
    }

    fn complete(&self, _slots: &impl Slots<Self::Header>, worker: &mut SharedBitmapWorker, slot: SlotId) {
        let (word, bit) = self.bit_of(slot);
        worker.claimed[word - worker.first] &= !bit;
        self.done(word).fetch_xor(bit, &DONE_FLIP);
    }
}
