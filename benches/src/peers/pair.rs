//! Two queues of slot numbers: the free ones, and the submitted ones. Any worker takes any request.

use super::Carrier;
use slotwork::{
    CachePadded, Claims, ClientError, Design, Destination, Guarantees, LaneId, Many, NoneFree, Order, Platform,
    RequestQueue, Shape, Site, SlotId, Slots, Submitters,
};
use std::marker::PhantomData;

/// A pair of queues as a request queue.
pub struct Pair<C>(PhantomData<C>);

// SAFETY: `construct` makes a new queue.
unsafe impl<C: Carrier> Design for Pair<C> {
    const NAME: &'static str = C::NAME;
    const CLAIMS: Claims = Claims {
        submitters: Submitters::Many,
        order: Order::Fifo,
        none_free: NoneFree::Exact,
        progress: Guarantees::all(C::PROGRESS),
        work_conserving: true,
        allocates: C::ALLOCATES,
        max_lanes: None,
        max_slots_per_lane: None,
        max_clients: None,
        source: C::SOURCE,
    };
    const SITES: &'static [&'static [Site]] = &[];
    type Queue<P: Platform> = PairQueue<P, C>;

    fn construct<P: Platform>(shape: Shape) -> PairQueue<P, C> {
        let free = C::with_room(shape.slots());
        shape.all_slots().for_each(|slot| free.push(slot.get()));
        let submitted = C::with_room(shape.slots());
        PairQueue { free: CachePadded::new(free), submitted: CachePadded::new(submitted), shape, platform: PhantomData }
    }
}

/// The queue of [`Pair`].
pub struct PairQueue<P, C> {
    free: CachePadded<C>,
    submitted: CachePadded<C>,
    shape: Shape,
    platform: PhantomData<fn() -> P>,
}

// SAFETY: each number is in one of the queues, or in none and then its slot has an owner, who alone puts it back
// into one. That a number is popped once per push, and that the push happens before the pop, is what these queues
// are for; the counts of every run check it.
unsafe impl<P: Platform, C: Carrier> RequestQueue for PairQueue<P, C> {
    type Platform = P;
    type Submitters = Many;
    type Header = CachePadded<()>;
    type Client = ();
    type Worker = ();

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<(), ClientError> {
        Ok(())
    }

    fn retire(&self, (): ()) {}

    fn worker(&self, _lane: LaneId) {}

    #[inline]
    fn acquire(&self, _slots: &impl Slots<Self::Header>, (): &mut ()) -> Option<SlotId> {
        self.free.pop().map(|number| SlotId::new(number as usize))
    }

    #[inline]
    fn submit(&self, _slots: &impl Slots<Self::Header>, (): &mut (), slot: SlotId) -> Destination {
        self.submitted.push(slot.get());
        Destination::Any
    }

    #[inline]
    fn withdraw(&self, _slots: &impl Slots<Self::Header>, (): &mut (), slot: SlotId) {
        self.free.push(slot.get());
    }

    #[inline]
    fn take(&self, _slots: &impl Slots<Self::Header>, (): &mut ()) -> Option<SlotId> {
        self.submitted.pop().map(|number| SlotId::new(number as usize))
    }

    #[inline]
    fn complete(&self, _slots: &impl Slots<Self::Header>, (): &mut (), slot: SlotId) {
        self.free.push(slot.get());
    }
}
