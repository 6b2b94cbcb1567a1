//! A lock-free list of free slots, with a tag against ABA: the part that four designs share.
//!
//! It is a stack of indices. The links are in the slots' headers, so a slot that is popped brings its
//! payload's cache line along.
//!
//! ```text
//!   head: │ tag (40 bits) │ slot (24 bits) │        links, one per slot:
//!                              │                     ┌───┐   ┌───┐   ┌───┐
//!                              └───────────────────▶ │ 4 │──▶│ 0 │──▶│ 2 │──▶ none
//!                                                    └───┘   └───┘   └───┘
//! ```
//!
//! A pop reads the head and then the head's link, and swings the head to it. Between the two
//! reads others may pop that slot, pop the next, and push the first back: the head is the same slot
//! again, but the link that was read now leads to a slot in use. This is the ABA fault of the list
//! that was posted in 2018. The tag counts pops, so the head is not the same word: within one value of
//! the tag there are only pushes, each of another slot, so no word ever comes twice before the tag has
//! gone round.
//!
//! It goes round after 2⁴⁰ pops: at a hundred million a second, a pop would have to be suspended
//! between its two steps for three hours, and be resumed at exactly that count.
//!
//! Source: R. K. Treiber, *Systems programming: coping with parallelism*, 1986 (the stack, and the
//! count beside its head); in use for requests: the QEMU list, December 2018.

#![cfg_attr(not(any(feature = "std", test)), no_std)]

use slotwork::{Atomic, Backoff, CachePadded, Platform, Shape, Site, SlotId, Slots, WithPayload};

slotwork::sites! {
    /// Every atomic access of the list.
    pub SITES in "free-list";
    POP_LOAD: Load(Acquire), pairs [PUSH], "sees the link and the payload of the slot at the head";
    POP_LINK: Load(Relaxed), pairs [], "POP_LOAD made the link visible; if it was changed since, the tag has moved and POP fails";
    POP: CompareExchange(Relaxed, Acquire), pairs [PUSH], "on success the head is the very word that was read with acquire; on failure the word returned is the next to try";
    PUSH_LOAD: Load(Relaxed), pairs [], "its slot is only written into a link, never looked into";
    PUSH_LINK: Store(Relaxed), pairs [], "PUSH, a later release of the same thread, publishes it";
    PUSH: CompareExchange(Release, Relaxed), pairs [POP_LOAD, POP], "publishes the link and the payload; later pops and pushes carry it on, being read-modify-writes";
}

/// Bits of the head word that hold a slot, or the number of slots for "none".
const SLOT_BITS: u32 = 24;
const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;

/// The widest tag, and the one that every design ships with.
pub const WIDEST_TAG: u32 = u64::BITS - SLOT_BITS;

/// A slot's header: where the list goes on after it, in the payload's line.
pub type Header<P> = WithPayload<Link<P>>;

/// The slot that follows another in a list. A fresh link leads to the slot with the next higher index,
/// so that a fresh table of headers is a list of all slots, without anybody having to build it.
pub struct Link<P: Platform> {
    /// Next slot, less this one, less one.
    distance: P::AtomicU32,
}

impl<P: Platform> Default for Link<P> {
    fn default() -> Self {
        Self { distance: P::AtomicU32::new(0) }
    }
}

impl<P: Platform> Link<P> {
    /// The index after `slot`, whose link this is; it may be no slot's, for "none".
    #[inline]
    #[must_use]
    pub fn next(&self, slot: SlotId, site: &'static Site) -> u32 {
        self.distance.load(site).wrapping_add(slot.get() + 1)
    }

    /// Makes `next` follow `slot`, whose link this is.
    #[inline]
    pub fn set_next(&self, slot: SlotId, next: u32, site: &'static Site) {
        self.distance.store(next.wrapping_sub(slot.get() + 1), site);
    }
}

/// The free slots of a queue. `TAG_BITS`, at most [`WIDEST_TAG`], is narrowed by tests alone, to show
/// that a narrow tag fails.
pub struct FreeList<P: Platform, const TAG_BITS: u32 = WIDEST_TAG> {
    head: CachePadded<P::AtomicU64>,
    slots: u32,
}

impl<P: Platform, const TAG_BITS: u32> FreeList<P, TAG_BITS> {
    const TAG_MASK: u64 = {
        assert!(TAG_BITS >= 1 && TAG_BITS <= WIDEST_TAG, "a tag has 1 to 40 bits");
        u64::MAX >> (u64::BITS - TAG_BITS)
    };

    /// A list of all slots of `shape`, over a fresh table of headers.
    #[must_use]
    pub fn full(shape: Shape) -> Self {
        let slots = u32::try_from(shape.slots()).expect("a shape's slots fit");
        Self { head: CachePadded::new(P::AtomicU64::new(0)), slots }
    }

    /// The index that stands for "no slot": one above the last.
    #[inline]
    #[must_use]
    pub const fn none(&self) -> u32 {
        self.slots
    }

    /// The slot of an index read from a link or a head.
    #[inline]
    #[must_use]
    pub const fn slot(&self, index: u32) -> Option<SlotId> {
        if index < self.slots { Some(SlotId::new(index as usize)) } else { None }
    }

    /// Takes the slot that was pushed last. **Lock-free**: it retries only when another pop or push
    /// succeeded. Cost: two loads and a compare-exchange.
    #[inline]
    pub fn pop(&self, slots: &impl Slots<Header<P>>) -> Option<SlotId> {
        let mut backoff = Backoff::<P>::new();
        let mut head = self.head.load(&POP_LOAD);
        loop {
            let slot = self.slot((head & SLOT_MASK) as u32)?;
            let next = slots.header(slot).next(slot, &POP_LINK);
            let tag = (head >> SLOT_BITS).wrapping_add(1) & Self::TAG_MASK;
            // A link that was changed since may lead anywhere; then the exchange fails.
            let after = tag << SLOT_BITS | u64::from(next) & SLOT_MASK;
            match self.head.compare_exchange_weak(head, after, &POP) {
                Ok(_) => return Some(slot),
                Err(now) => head = now,
            }
            backoff.spin();
        }
    }

    /// Puts a slot that the caller owns on top. **Lock-free**, as [`FreeList::pop`].
    #[inline]
    pub fn push(&self, slots: &impl Slots<Header<P>>, slot: SlotId) {
        let mut backoff = Backoff::<P>::new();
        let link = slots.header(slot);
        let mut head = self.head.load(&PUSH_LOAD);
        loop {
            link.set_next(slot, (head & SLOT_MASK) as u32, &PUSH_LINK);
            let after = head & !SLOT_MASK | u64::from(slot.get());
            match self.head.compare_exchange_weak(head, after, &PUSH) {
                Ok(_) => return,
                Err(now) => head = now,
            }
            backoff.spin();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotwork::{HeaderTable, Native};

    fn list(slots: usize) -> (FreeList<Native>, HeaderTable<Header<Native>>) {
        let shape = Shape::new(1, slots).unwrap();
        (FreeList::full(shape), HeaderTable::new(shape))
    }

    #[test]
    fn a_fresh_list_holds_every_slot_once() {
        for slots in [1, 2, 3, 64, 1000] {
            let (list, headers) = list(slots);
            let popped: Vec<_> = std::iter::from_fn(|| list.pop(&headers)).map(SlotId::index).collect();
            assert_eq!(popped, (0..slots).collect::<Vec<_>>());
            assert_eq!(list.pop(&headers), None);
        }
    }

    #[test]
    fn the_last_pushed_is_popped_first() {
        let (list, headers) = list(3);
        let [a, b, c] = [(); 3].map(|()| list.pop(&headers).unwrap());
        for slot in [b, a, c] {
            list.push(&headers, slot);
        }
        assert_eq!([(); 3].map(|()| list.pop(&headers).unwrap()), [c, a, b]);
        assert_eq!(list.pop(&headers), None);
    }

    #[test]
    fn no_head_word_comes_twice() {
        let (list, headers) = list(2);
        let mut seen = std::collections::HashSet::new();
        for _ in 0..1000 {
            assert!(seen.insert(Atomic::load(&*list.head, &PUSH_LOAD)));
            let a = list.pop(&headers).unwrap();
            let b = list.pop(&headers).unwrap();
            list.push(&headers, a);
            assert!(seen.insert(Atomic::load(&*list.head, &PUSH_LOAD)));
            list.push(&headers, b);
        }
    }

    /// A header that serves for every slot, where a test uses one slot only.
    struct OneHeader(Header<Native>);

    impl Slots<Header<Native>> for OneHeader {
        fn header(&self, _slot: SlotId) -> &Header<Native> {
            &self.0
        }
    }

    #[test]
    fn pointer_bits_the_highest_slot_and_none_fit_the_word() {
        assert!(Shape::MAX_SLOTS as u64 <= SLOT_MASK);
        let list = FreeList::<Native>::full(Shape::new(1, Shape::MAX_SLOTS).unwrap());
        let header = OneHeader(Header::default());
        let last = SlotId::new(Shape::MAX_SLOTS - 1);
        list.push(&header, last);
        assert_eq!(list.pop(&header), Some(last));
        list.head.store(u64::from(list.none()), std::sync::atomic::Ordering::Relaxed);
        assert_eq!(list.pop(&header), None);
        list.push(&header, last);
        assert_eq!(list.pop(&header), Some(last));
        assert_eq!(list.pop(&header), None);
    }

    #[test]
    fn tag_too_narrow_wraps_after_two_pops_and_the_shipped_one_does_not() {
        fn head_after_two_pops<const TAG_BITS: u32>() -> u64 {
            let shape = Shape::new(1, 2).unwrap();
            let (list, headers) = (FreeList::<Native, TAG_BITS>::full(shape), HeaderTable::new(shape));
            let a = list.pop(&headers).unwrap();
            let b = list.pop(&headers).unwrap();
            list.push(&headers, b);
            list.push(&headers, a);
            Atomic::load(&*list.head, &PUSH_LOAD)
        }
        assert_eq!(head_after_two_pops::<1>(), 0, "the same word as at the start");
        assert_ne!(head_after_two_pops::<2>(), 0);
        assert_ne!(head_after_two_pops::<WIDEST_TAG>(), 0);
    }
}
