//! `freelist-steal`: the free list and signal words, with idle workers helping out.
//!
//! In [`FreelistBitmap`](crate::FreelistBitmap) a worker takes all signals of a word of its lane at once, and
//! they wait for it. Here any worker takes any signal, one at a time: its own lane's first, then the
//! others'. So no worker idles beside a submitted slot; the price is a read-modify-write for each slot
//! instead of one for each batch, and a look at every lane before a worker may sleep.
//!
//! ```text
//!            worker 0 (idle)          worker 1 (busy)
//!   signal   lane 0: 0b0000           lane 1: 0b0110
//!                    └── nothing here ───────────┘ takes this one
//! ```

use alloc::boxed::Box;
use slotwork::{
    Atomic, AtomicInteger, CachePadded, Claims, ClientError, Design, Destination, Guarantees, LaneId, Many, NoneFree,
    Order, Platform, Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters,
};
use slotwork_free_list::{FreeList, Header};

slotwork::sites! {
    /// The atomic accesses of the signal words; the list has its own table.
    pub SITES in "freelist-steal";
    SIGNAL_SET: Rmw(Release), pairs [SIGNAL_CLAIM], "publishes the payload; other clients set other bits of the word";
    SIGNAL_LOAD: Load(Relaxed), pairs [], "a hint which bits to try; SIGNAL_CLAIM decides and synchronises";
    SIGNAL_CLAIM: Rmw(Acquire), pairs [SIGNAL_SET], "clears the bit; whichever worker finds it set owns the slot and sees its payload";
}

/// A free list and signal words that any worker takes from.
#[derive(Clone, Copy, Debug)]
pub struct FreelistSteal;

// SAFETY: `construct` makes a new queue.
unsafe impl Design for FreelistSteal {
    const NAME: &'static str = "freelist-steal";
    const CLAIMS: Claims = Claims {
        submitters: Submitters::Many,
        order: Order::Any,
        none_free: NoneFree::Exact,
        progress: Guarantees { submit: Progress::WaitFree, ..Guarantees::all(Progress::LockFree) },
        work_conserving: true,
        allocates: false,
        max_lanes: None,
        max_slots_per_lane: None,
        max_clients: None,
        source: "slotwork, after free list + bitmap, December 2018",
    };
    const SITES: &'static [&'static [Site]] = &[SITES, slotwork_free_list::SITES];
    type Queue<P: Platform> = FreelistStealQueue<P>;

    fn construct<P: Platform>(shape: Shape) -> Self::Queue<P> {
        let words = shape.slots_per_lane().div_ceil(64);
        let signals = (0..shape.lanes() * words).map(|_| CachePadded::new(P::AtomicU64::new(0)));
        FreelistStealQueue { free: FreeList::full(shape), signals: signals.collect(), words, shape }
    }
}

/// The queue of [`FreelistSteal`].
pub struct FreelistStealQueue<P: Platform> {
    free: FreeList<P>,
    /// `words` for each lane in turn.
    signals: Box<[CachePadded<P::AtomicU64>]>,
    words: usize,
    shape: Shape,
}

impl<P: Platform> FreelistStealQueue<P> {
    fn claim(&self, index: usize) -> Option<SlotId> {
        let signal = &self.signals[index];
        let mut word = signal.load(&SIGNAL_LOAD);
        while word != 0 {
            let bit = word & word.wrapping_neg();
            word = signal.fetch_and(!bit, &SIGNAL_CLAIM);
            if word & bit != 0 {
                let lane = LaneId::new(index / self.words);
                let place = index % self.words * 64 + bit.trailing_zeros() as usize;
                return Some(self.shape.slot_at(lane, 0).after(u32::try_from(place).expect("a shape's slots fit")));
            }
        }
        None
    }
}

// SAFETY: a free slot is on the list once, and one pop takes it off: its owner. The owner sets the
// slot's signal bit once, and the one worker whose SIGNAL_CLAIM finds it set is the next owner. The pop
// sees what the push published, the claim what the or did.
unsafe impl<P: Platform> RequestQueue for FreelistStealQueue<P> {
    type Platform = P;
    type Submitters = Many;
    type Header = Header<P>;
    type Client = ();
    type Worker = LaneId;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<(), ClientError> {
        Ok(())
    }

    fn retire(&self, (): ()) {}

    fn worker(&self, lane: LaneId) -> LaneId {
        lane
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
        Destination::Any
    }

    #[inline]
    fn withdraw(&self, slots: &impl Slots<Self::Header>, (): &mut (), slot: SlotId) {
        self.free.push(slots, slot);
    }

    #[inline]
    fn take(&self, _slots: &impl Slots<Self::Header>, lane: &mut LaneId) -> Option<SlotId> {
        let own = lane.index() * self.words;
        (own..self.signals.len()).chain(0..own).find_map(|index| self.claim(index))
    }

    #[inline]
    fn complete(&self, slots: &impl Slots<Self::Header>, _lane: &mut LaneId, slot: SlotId) {
        self.free.push(slots, slot);
    }
}
