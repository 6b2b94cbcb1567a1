//! The flip that loses: a bit in a shared word, flipped by load, xor, store. Right with one client.
//!
//! ```text
//!   client A: load 00 ······················ store 01     the worker sees B's flip come and go,
//!   client B:         load 00 · store 10                  and takes its slot twice or never
//! ```

use slotwork::{
    Atomic, AtomicInteger, Claims, ClientError, Design, Destination, LaneId, Many, Order, Platform, RequestQueue,
    Shape, Site, SlotId, Slots,
};

slotwork::sites! {
    /// Every atomic access of the design.
    pub(crate) SITES in "plain-flip";
    FREE_LOAD: Load(Relaxed), pairs [], "a hint which bits to try; CLAIM decides and synchronises";
    CLAIM: Rmw(Acquire), pairs [FREE_SET], "clears the bit; whoever finds it set owns the slot";
    FREE_SET: Rmw(Release), pairs [CLAIM], "publishes the result";
    FILL_PEEK: Load(Relaxed), pairs [], "the first half of the flip: the fault is that it is one of two";
    FILL_STORE: Store(Release), pairs [FILL_LOAD], "the second half of the flip, which undoes what came between";
    FILL_LOAD: Load(Acquire), pairs [FILL_STORE], "sees the payload of each slot it finds submitted";
}

/// Claims many submitters, with flips that bear one.
pub(crate) struct PlainFlip;

// SAFETY: `construct` makes a new queue.
unsafe impl Design for PlainFlip {
    const NAME: &'static str = "PlainFlip";
    const CLAIMS: Claims =
        Claims { order: Order::Any, max_lanes: Some(1), max_slots_per_lane: Some(64), ..super::known_bad::HONEST };
    const SITES: &'static [&'static [Site]] = &[SITES];
    type Queue<P: Platform> = PlainFlipQueue<P>;

    fn construct<P: Platform>(shape: Shape) -> PlainFlipQueue<P> {
        let full = u64::MAX >> (64 - shape.slots_per_lane());
        PlainFlipQueue { free: Atomic::new(full), fill: Atomic::new(0), shape }
    }
}

/// The queue of [`PlainFlip`]: one lane.
pub(crate) struct PlainFlipQueue<P: Platform> {
    free: P::AtomicU64,
    fill: P::AtomicU64,
    shape: Shape,
}

// SAFETY: none with two clients; the tests touch a payload only after they have seen that its slot has
// one owner.
unsafe impl<P: Platform> RequestQueue for PlainFlipQueue<P> {
    type Platform = P;
    type Submitters = Many;
    type Header = ();
    type Client = ();
    /// The fill word as last seen, with the slots taken since.
    type Worker = u64;

    fn shape(&self) -> Shape {
        self.shape
    }
    fn client(&self) -> Result<(), ClientError> {
        Ok(())
    }
    fn retire(&self, (): ()) {}
    fn worker(&self, _lane: LaneId) -> u64 {
        0
    }
    fn acquire(&self, _slots: &impl Slots<()>, (): &mut ()) -> Option<SlotId> {
        let mut free = self.free.load(&FREE_LOAD);
        while free != 0 {
            let place = free.trailing_zeros();
            free = self.free.fetch_and(!(1 << place), &CLAIM);
            if free & (1 << place) != 0 {
                return Some(SlotId::new(place as usize));
            }
        }
        None
    }
    fn submit(&self, _slots: &impl Slots<()>, (): &mut (), slot: SlotId) -> Destination {
        let fill = self.fill.load(&FILL_PEEK);
        // Where a preemption may come anyway, one does: so that the fault shows within a few runs.
        P::yield_now();
        self.fill.store(fill ^ (1 << slot.get()), &FILL_STORE);
        Destination::Lane(LaneId::new(0))
    }
    fn withdraw(&self, _slots: &impl Slots<()>, (): &mut (), slot: SlotId) {
        self.free.fetch_or(1 << slot.get(), &FREE_SET);
    }
    fn take(&self, _slots: &impl Slots<()>, seen: &mut u64) -> Option<SlotId> {
        let news = self.fill.load(&FILL_LOAD) ^ *seen;
        if news == 0 {
            return None;
        }
        *seen ^= news & news.wrapping_neg();
        Some(SlotId::new(news.trailing_zeros() as usize))
    }
    fn complete(&self, _slots: &impl Slots<()>, _seen: &mut u64, slot: SlotId) {
        self.free.fetch_or(1 << slot.get(), &FREE_SET);
    }
}
