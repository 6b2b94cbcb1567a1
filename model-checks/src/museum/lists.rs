//! Exhibits of the free list: without a tag, and without acquire.

use super::parts::{FreeSlots, PartsQueue, SIGNAL_SITES, exhibit_design};
use slotwork::{Atomic, Platform, Shape, Site, SlotId};

slotwork::sites! {
    /// The lists of the museum.
    pub LIST_SITES in "museum-list";
    HEAD_LOAD: Load(Acquire), pairs [PUSH], "sees the link and the payload of the slot at the head";
    HEAD_PLAIN: Load(Relaxed), pairs [], "as the list of 2018 read it: nothing makes the link or the payload visible";
    LINK_LOAD: Load(Relaxed), pairs [], "HEAD_LOAD made the link visible";
    POP: CompareExchange(Acquire, Acquire), pairs [PUSH], "takes the slot off, and sees what its last owner wrote";
    POP_PLAIN: CompareExchange(Relaxed, Relaxed), pairs [], "as the list of 2018 took it off";
    LINK_STORE: Store(Relaxed), pairs [], "PUSH publishes it";
    PUSH: CompareExchange(Release, Relaxed), pairs [POP, HEAD_LOAD], "publishes the link and the payload";
}

/// A stack of indices. The tag is in the upper half of the head, and counts pops if `TAG`.
pub struct List<P: Platform, const TAG: bool, const ACQUIRE: bool> {
    head: P::AtomicU64,
    links: Box<[P::AtomicU32]>,
}

const INDEX: u64 = 0xFFFF_FFFF;

impl<P: Platform, const TAG: bool, const ACQUIRE: bool> FreeSlots<P> for List<P, TAG, ACQUIRE> {
    fn full(shape: Shape) -> Self {
        let links = shape.all_slots().map(|slot| P::AtomicU32::new(slot.get() + 1));
        Self { head: P::AtomicU64::new(0), links: links.collect() }
    }

    #[allow(clippy::cast_possible_truncation, reason = "the lower half of a word is an index")]
    fn acquire(&self) -> Option<SlotId> {
        let (load, pop) = if ACQUIRE { (&HEAD_LOAD, &POP) } else { (&HEAD_PLAIN, &POP_PLAIN) };
        let mut head = self.head.load(load);
        loop {
            let slot = (head & INDEX) as usize;
            let next = self.links.get(slot)?.load(&LINK_LOAD);
            let tag = (head >> 32) + u64::from(TAG);
            match self.head.compare_exchange_weak(head, tag << 32 | u64::from(next), pop) {
                Ok(_) => return Some(SlotId::new(slot)),
                Err(now) => head = now,
            }
            P::spin_hint();
        }
    }

    #[allow(clippy::cast_possible_truncation, reason = "the lower half of a word is an index")]
    fn give_back(&self, slot: SlotId) {
        let mut head = self.head.load(&HEAD_PLAIN);
        loop {
            self.links[slot.index()].store((head & INDEX) as u32, &LINK_STORE);
            match self.head.compare_exchange_weak(head, head & !INDEX | u64::from(slot.get()), &PUSH) {
                Ok(_) => return,
                Err(now) => head = now,
            }
            P::spin_hint();
        }
    }
}

exhibit_design! {
    /// The parts as they should be: the check of each exhibit accepts it.
    Sound, "museum-sound", [LIST_SITES], List<P, true, true>, plain: false
}

exhibit_design! {
    /// The free list posted in 2018 has no tag: a client that read the head and its link, and was then held
    /// up, swings the head to a slot that others took meanwhile.
    UntaggedList, "untagged-list", [LIST_SITES], List<P, false, true>, plain: false
}

exhibit_design! {
    /// The same list took slots off without acquire: what the slot's last owner wrote need not be
    /// there yet.
    PopWithoutAcquire, "pop-without-acquire", [LIST_SITES], List<P, true, false>, plain: false
}

exhibit_design! {
    /// The fill bit of 2018 is flipped by load, xor, store. With two submitters one flip is lost, and with it a
    /// request.
    PlainFlip, "plain-flip", [LIST_SITES], List<P, true, true>, plain: true
}
