//! A sound queue with sites that are stronger than they need be, on purpose: the audit must find them.

use super::parts::{FreeSlots, PartsQueue, SIGNAL_SITES, exhibit_design};
use slotwork::{Atomic, AtomicInteger, LaneId, Platform, Shape, Site, SlotId};

slotwork::sites! {
    /// The free bits of the queue that is too strong.
    pub OVERSTRONG_SITES in "overstrong";
    FREE_LOAD: Load(Acquire), pairs [FREE_SET], "too strong: the claim below acquires what is needed";
    CLAIM: Rmw(SeqCst), pairs [FREE_SET], "too strong: acquire is what is needed";
    FREE_SET: Rmw(Release), pairs [FREE_LOAD, CLAIM], "publishes the result; needed";
}

/// A bit per free slot; a client clears the one it claims.
pub struct FreeBits<P: Platform> {
    free: P::AtomicU64,
    shape: Shape,
}

impl<P: Platform> FreeSlots<P> for FreeBits<P> {
    fn full(shape: Shape) -> Self {
        Self { free: P::AtomicU64::new((1 << shape.slots()) - 1), shape }
    }

    fn acquire(&self) -> Option<SlotId> {
        let mut free = self.free.load(&FREE_LOAD);
        while free != 0 {
            let place = free.trailing_zeros();
            let bit = 1 << place;
            let before = self.free.fetch_and(!bit, &CLAIM);
            if before & bit != 0 {
                let places = u32::try_from(self.shape.slots_per_lane()).expect("a model's shape is small");
                return Some(self.shape.slot_at(LaneId::new((place / places) as usize), place % places));
            }
            free = before & !bit;
        }
        None
    }

    fn give_back(&self, slot: SlotId) {
        let lane = self.shape.lane_of(slot).index() * self.shape.slots_per_lane();
        self.free.fetch_or(1 << (lane + self.shape.place_of(slot) as usize), &FREE_SET);
    }
}

exhibit_design! {
    /// Sound, and too strong.
    Overstrong, "overstrong", [OVERSTRONG_SITES], FreeBits<P>, plain: false
}
