//! Exhibits that histories reject: wrong order, and "none" where there is something.

use super::parts::{FreeSlots, PartsQueue, SIGNAL_SITES, exhibit_design};
use slotwork::{
    Atomic, AtomicInteger, Claims, ClientError, Design, Destination, LaneId, Lock, Many, NoneFree, Order, Platform,
    RequestQueue, Shape, Site, SlotId, Slots,
};
use slotwork_shared_bitmap::{SharedBitmap, SharedBitmapQueue};

slotwork::sites! {
    /// The queues of the museum.
    pub QUEUE_SITES in "museum-queues";
    LOCK: Lock, pairs [LOCK], "each critical section sees all earlier ones";
    FREE_LOAD: Load(Relaxed), pairs [], "a hint which bit to try";
    CLAIM: CompareExchange(Acquire, Relaxed), pairs [FREE_SET], "clears the bit, and sees the slot's last result";
    FREE_SET: Rmw(Release), pairs [CLAIM], "publishes the result";
}

/// Free slots in a word, up to 64 of them. A client tries once; when it loses, it says that none is free.
pub struct OneTry<P: Platform>(P::AtomicU64);

impl<P: Platform> FreeSlots<P> for OneTry<P> {
    fn full(shape: Shape) -> Self {
        Self(P::AtomicU64::new(u64::MAX >> (64 - shape.slots())))
    }

    fn acquire(&self) -> Option<SlotId> {
        let free = self.0.load(&FREE_LOAD);
        let bit = free & free.wrapping_neg();
        (bit != 0 && self.0.compare_exchange(free, free ^ bit, &CLAIM).is_ok())
            .then(|| SlotId::new(bit.trailing_zeros() as usize))
    }

    fn give_back(&self, slot: SlotId) {
        self.0.fetch_or(1 << slot.get(), &FREE_SET);
    }
}

exhibit_design! {
    /// An acquire that gives up after one lost race: "none free" beside free slots.
    GivesUpOnLostRace, "gives-up-on-a-lost-race", [QUEUE_SITES], OneTry<P>, plain: false
}

/// Two lists under one lock. With `STACK` the request submitted last is taken first; with `LATE` a take
/// hands out what the take before it found.
pub struct Locked<P: Platform, const STACK: bool, const LATE: bool> {
    lists: P::Lock<(Vec<SlotId>, Vec<SlotId>)>,
    shape: Shape,
}

// SAFETY: a slot is on one of the lists, in a worker's hand, or owned; only its removal gives it an owner.
unsafe impl<P: Platform, const STACK: bool, const LATE: bool> RequestQueue for Locked<P, STACK, LATE> {
    type Platform = P;
    type Submitters = Many;
    type Header = ();
    type Client = ();
    /// What was found, and is handed out at the next call.
    type Worker = Option<SlotId>;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<(), ClientError> {
        Ok(())
    }

    fn retire(&self, (): ()) {}

    fn worker(&self, _lane: LaneId) -> Option<SlotId> {
        None
    }

    fn acquire(&self, _slots: &impl Slots<()>, (): &mut ()) -> Option<SlotId> {
        self.lists.with(&LOCK, |(free, _)| free.pop())
    }

    fn submit(&self, _slots: &impl Slots<()>, (): &mut (), slot: SlotId) -> Destination {
        self.lists.with(&LOCK, |(_, submitted)| submitted.push(slot));
        Destination::Any
    }

    fn withdraw(&self, _slots: &impl Slots<()>, (): &mut (), slot: SlotId) {
        self.lists.with(&LOCK, |(free, _)| free.push(slot));
    }

    fn take(&self, _slots: &impl Slots<()>, found: &mut Option<SlotId>) -> Option<SlotId> {
        let now = self.lists.with(&LOCK, |(_, submitted)| match submitted.len() {
            0 => None,
            count => Some(submitted.remove(if STACK { count - 1 } else { 0 })),
        });
        if LATE { std::mem::replace(found, now) } else { now }
    }

    fn complete(&self, _slots: &impl Slots<()>, _found: &mut Option<SlotId>, slot: SlotId) {
        self.lists.with(&LOCK, |(free, _)| free.push(slot));
    }
}

macro_rules! locked {
    ($(#[$meta:meta])* $design:ident, $name:literal, stack: $stack:literal, late: $late:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub struct $design;

        // SAFETY: `construct` makes a new queue.
        unsafe impl Design for $design {
            const NAME: &'static str = $name;
            const CLAIMS: Claims = Claims {
                order: Order::Fifo,
                none_free: NoneFree::Exact,
                work_conserving: true,
                ..super::parts::CLAIMS
            };
            const SITES: &'static [&'static [Site]] = &[QUEUE_SITES];
            type Queue<P: Platform> = Locked<P, $stack, $late>;

            fn construct<P: Platform>(shape: Shape) -> Self::Queue<P> {
                Locked { lists: P::Lock::new((shape.all_slots().collect(), Vec::new())), shape }
            }
        }
    };
}

locked! {
    /// The to-do list of 2018 is a stack, and whoever claims an order of it claims too much.
    StackClaimsFifo, "stack-that-claims-fifo", stack: true, late: false
}

locked! {
    /// A worker that looks ahead, and hands out what it saw the time before: a request is there, and
    /// "nothing" is the answer.
    LooksLate, "looks-late", stack: false, late: true
}

/// `shared-bitmap`, with the claim that no slot is overtaken for ever.
#[derive(Clone, Copy, Debug)]
pub struct LowestFirstClaimsRotating;

// SAFETY: `construct` makes a new queue.
unsafe impl Design for LowestFirstClaimsRotating {
    const NAME: &'static str = "lowest-first-that-claims-rotating";
    const CLAIMS: Claims = Claims { order: Order::Rotating, ..SharedBitmap::<slotwork_shared_bitmap::V2>::CLAIMS };
    const SITES: &'static [&'static [Site]] = SharedBitmap::<slotwork_shared_bitmap::V2>::SITES;
    type Queue<P: Platform> = SharedBitmapQueue<P>;

    fn construct<P: Platform>(shape: Shape) -> Self::Queue<P> {
        SharedBitmap::<slotwork_shared_bitmap::V2>::construct(shape)
    }
}
