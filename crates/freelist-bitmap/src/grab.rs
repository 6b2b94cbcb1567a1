//! `freelist-bitmap`: a free list for all lanes, and signal words per lane.
//!
//! The answer that Christophe de Dinechin gave to the pure bitmap in December 2018: keep the bitmaps
//! for telling workers what to do, and keep the free slots on a lock-free list, so that any thread
//! may submit. The list posted then had no tag and no acquire, and the signal was flipped by load and
//! store; here the list is tagged and the signal is set by atomic or.
//!
//! ```text
//!   free list (all lanes)          lane 0              lane 1
//!   head ──▶ 5 ──▶ 1 ──▶ 6         signal 0b0100       signal 0b0010
//!
//!   acquire    submit          take                     complete
//!   pop        signal |= bit   signal swapped for 0     push
//! ```
//!
//! A slot belongs to a lane, but is free for everybody. The slot freed last is acquired first, so a
//! lightly loaded queue stays on few warm slots, and on few lanes.

use alloc::boxed::Box;
use slotwork::{
    Atomic, AtomicInteger, CachePadded, Claims, ClientError, Design, Destination, Guarantees, LaneId, Many, NoneFree,
    Order, Platform, Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters,
};
use slotwork_free_list::{FreeList, Header, WIDEST_TAG};

slotwork::sites! {
    /// The atomic accesses of the signal words; the list has its own table.
    pub SITES in "freelist-bitmap";
    SIGNAL_SET: Rmw(Release), pairs [SIGNAL_GRAB], "publishes the payload; other clients set other bits of the word";
    SIGNAL_LOAD: Load(Relaxed), pairs [], "an idle worker only looks whether there is anything; SIGNAL_GRAB synchronises";
    SIGNAL_GRAB: Rmw(Acquire), pairs [SIGNAL_SET], "takes all bits at once and sees the payload of each";
}

/// A free list and signal words. `TAG_BITS` is narrowed by models alone.
#[derive(Clone, Copy, Debug)]
pub struct FreelistBitmap<const TAG_BITS: u32 = WIDEST_TAG>;

// SAFETY: `construct` makes a new queue.
unsafe impl<const TAG_BITS: u32> Design for FreelistBitmap<TAG_BITS> {
    const NAME: &'static str = "freelist-bitmap";
    const CLAIMS: Claims = Claims {
        submitters: Submitters::Many,
        order: Order::Rotating,
        none_free: NoneFree::Exact,
        progress: Guarantees {
            submit: Progress::WaitFree,
            take: Progress::WaitFree,
            ..Guarantees::all(Progress::LockFree)
        },
        work_conserving: false,
        allocates: false,
        max_lanes: None,
        max_slots_per_lane: None,
        max_clients: None,
        source: "free list + bitmap, QEMU list, December 2018",
    };
    const SITES: &'static [&'static [Site]] = &[SITES, slotwork_free_list::SITES];
    type Queue<P: Platform> = FreelistBitmapQueue<P, TAG_BITS>;

    fn construct<P: Platform>(shape: Shape) -> Self::Queue<P> {
        let words = shape.slots_per_lane().div_ceil(64);
        let signals = (0..shape.lanes() * words).map(|_| CachePadded::new(P::AtomicU64::new(0)));
        FreelistBitmapQueue { free: FreeList::full(shape), signals: signals.collect(), words, shape }
    }
}

/// The queue of [`FreelistBitmap`].
pub struct FreelistBitmapQueue<P: Platform, const TAG_BITS: u32 = WIDEST_TAG> {
    free: FreeList<P, TAG_BITS>,
    /// `words` for each lane in turn.
    signals: Box<[CachePadded<P::AtomicU64>]>,
    words: usize,
    shape: Shape,
}

/// What a worker remembers.
pub struct FreelistBitmapWorker {
    lane: LaneId,
    /// The word of the lane that `pending` was grabbed from.
    word: usize,
    /// Slots grabbed and not yet taken.
    pending: u64,
}

// SAFETY: a free slot is on the list once, and one pop takes it off: its owner. The owner sets the
// slot's signal bit once, and the lane's one worker clears it by the swap that makes it the owner. The
// pop sees what the push published, the swap what the or did.
unsafe impl<P: Platform, const TAG_BITS: u32> RequestQueue for FreelistBitmapQueue<P, TAG_BITS> {
    type Platform = P;
    type Submitters = Many;
    type Header = Header<P>;
    type Client = ();
    type Worker = FreelistBitmapWorker;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<(), ClientError> {
        Ok(())
    }

    fn retire(&self, (): ()) {}

    fn worker(&self, lane: LaneId) -> FreelistBitmapWorker {
        FreelistBitmapWorker { lane, word: 0, pending: 0 }
    }

    #[inline]
    fn acquire(&self, slots: &impl Slots<Self::Header>, (): &mut ()) -> Option<SlotId> {
        self.free.pop(slots)
    }

    #[inline]
    fn submit(&self, _slots: &impl Slots<Self::Header>, (): &mut (), slot: SlotId) -> Destination {
        let lane = self.shape.lane_of(slot);
        let place = self.shape.place_of(slot);
        let signal = &self.signals[lane.index() * self.words + place as usize / 64];
        signal.fetch_or(1 << (place % 64), &SIGNAL_SET);
        Destination::Lane(lane)
    }

    #[inline]
    fn withdraw(&self, slots: &impl Slots<Self::Header>, (): &mut (), slot: SlotId) {
        self.free.push(slots, slot);
    }

    #[inline]
    fn take(&self, _slots: &impl Slots<Self::Header>, worker: &mut FreelistBitmapWorker) -> Option<SlotId> {
        if worker.pending == 0 {
            let first = worker.lane.index() * self.words;
            let signals = &self.signals[first..first + self.words];
            // From the word behind the last one, so that no word waits for ever.
            let found = (worker.word + 1..self.words)
                .chain(0..(worker.word + 1).min(self.words))
                .find(|&word| signals[word].load(&SIGNAL_LOAD) != 0)?;
            worker.word = found;
            worker.pending = signals[found].swap(0, &SIGNAL_GRAB);
        }
        let bit = worker.pending.trailing_zeros();
        worker.pending &= worker.pending - 1;
        let place = u32::try_from(worker.word).expect("a shape's slots fit") * 64 + bit;
        Some(self.shape.slot_at(worker.lane, place))
    }

    #[inline]
    fn complete(&self, slots: &impl Slots<Self::Header>, _worker: &mut FreelistBitmapWorker, slot: SlotId) {
        self.free.push(slots, slot);
    }
}
