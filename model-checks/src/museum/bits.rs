//! Exhibits of the bitmap: finding that reserves nothing, and a claim that is toggled.

use super::parts::{FreeSlots, PartsQueue, SIGNAL_SITES, exhibit_design};
use slotwork::{Atomic, AtomicInteger, LaneId, Platform, Shape, Site, SlotId};

slotwork::sites! {
    /// The bitmaps of the museum.
    pub BIT_SITES in "museum-bits";
    BUSY_LOAD: Load(Acquire), pairs [BUSY_CHANGE], "sees the result of each slot it finds free";
    BUSY_CHANGE: Rmw(AcqRel), pairs [BUSY_LOAD, BUSY_CHANGE], "sets or clears the bit of a slot";
    CLAIM_LOAD: Load(Acquire), pairs [CLAIM], "what others have claimed";
    CLAIM: CompareExchange(AcqRel, Acquire), pairs [CLAIM, CLAIM_LOAD], "toggles the bit: after two claims it is as it was";
    DONE_LOAD: Load(Acquire), pairs [DONE_FLIP], "sees the result of each slot it finds free";
    DONE_FLIP: Rmw(Release), pairs [DONE_LOAD], "publishes the result";
}

/// Slots of one lane that are in flight; a client that finds a clear bit does nothing about it.
pub struct FindFree<P: Platform> {
    busy: P::AtomicU64,
    shape: Shape,
}

impl<P: Platform> FreeSlots<P> for FindFree<P> {
    fn full(shape: Shape) -> Self {
        Self { busy: P::AtomicU64::new(0), shape }
    }

    fn acquire(&self) -> Option<SlotId> {
        let place = self.busy.load(&BUSY_LOAD).trailing_ones();
        (place < slots(self.shape)).then(|| self.shape.slot_at(LaneId::new(0), place))
    }

    fn give_back(&self, slot: SlotId) {
        self.busy.fetch_and(!(1 << self.shape.place_of(slot)), &BUSY_CHANGE);
    }

    fn submitted(&self, slot: SlotId) {
        self.busy.fetch_or(1 << self.shape.place_of(slot), &BUSY_CHANGE);
    }
}

/// A claim word that clients toggle and a done word that workers toggle: equal bits, free slot.
pub struct Toggled<P: Platform> {
    claim: P::AtomicU64,
    done: P::AtomicU64,
    shape: Shape,
}

impl<P: Platform> FreeSlots<P> for Toggled<P> {
    fn full(shape: Shape) -> Self {
        Self { claim: P::AtomicU64::new(0), done: P::AtomicU64::new(0), shape }
    }

    fn acquire(&self) -> Option<SlotId> {
        let mut claim = self.claim.load(&CLAIM_LOAD);
        loop {
            let busy = claim ^ self.done.load(&DONE_LOAD);
            let place = busy.trailing_ones();
            if place >= slots(self.shape) {
                return None;
            }
            match self.claim.compare_exchange_weak(claim, claim ^ 1 << place, &CLAIM) {
                Ok(_) => return Some(self.shape.slot_at(LaneId::new(0), place)),
                Err(now) => claim = now,
            }
            P::spin_hint();
        }
    }

    fn give_back(&self, slot: SlotId) {
        self.done.fetch_xor(1 << self.shape.place_of(slot), &DONE_FLIP);
    }
}

fn slots(shape: Shape) -> u32 {
    u32::try_from(shape.slots()).expect("a model's shape is small")
}

exhibit_design! {
    /// The bitmap of 2018 finds a free slot and reserves nothing: two gets without a submit between
    /// them return the same slot.
    FindFreeReservesNothing, "find-free-reserves-nothing", [BIT_SITES], FindFree<P>, plain: false
}

exhibit_design! {
    /// The nearest way to claim bits for many submitters, and one that we took ourselves: toggle a claim bit,
    /// as fill and done bits are toggled. A client held up between look and claim succeeds after the
    /// slot went round and was claimed again, for the word is as it was.
    ToggledClaim, "toggled-claim", [BIT_SITES], Toggled<P>, plain: false
}
