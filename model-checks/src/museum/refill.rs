//! Exhibits that tell a client to wait for more than one free slot: by the rule that is claimed, and by two others.

use slotwork::{
    Claims, ClientError, Design, Destination, LaneId, Lock, Many, NoneFree, Order, Platform, RequestQueue, Shape, Site,
    SlotId, Slots,
};

slotwork::sites! {
    /// The one access.
    pub REFILL_SITES in "museum-refill";
    LOCK: Lock, pairs [LOCK], "each critical section sees all earlier ones";
}

/// Waits while more than three quarters are in flight: as it is claimed.
const AS_CLAIMED: u8 = 0;
/// Waits while half of the slots are in flight.
const HALF: u8 = 1;
/// Counts what is held as in flight.
const HELD_TOO: u8 = 2;

/// What the lock protects.
struct Lists {
    free: Vec<SlotId>,
    submitted: Vec<SlotId>,
    claimed: usize,
}

/// Two lists under a lock, and a rule for who found nothing.
pub struct Refilled<P: Platform, const RULE: u8> {
    lists: P::Lock<Lists>,
    shape: Shape,
}

// SAFETY: a slot is on one of the lists, in a worker's hand, or owned; only its removal gives it an owner.
unsafe impl<P: Platform, const RULE: u8> RequestQueue for Refilled<P, RULE> {
    type Platform = P;
    type Submitters = Many;
    type Header = ();
    /// Whether the last acquire found nothing.
    type Client = bool;
    type Worker = ();

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<bool, ClientError> {
        Ok(false)
    }

    fn retire(&self, _dry: bool) {}

    fn insist(&self, dry: &mut bool) {
        *dry = false;
    }

    fn worker(&self, _lane: LaneId) {}

    fn acquire(&self, _slots: &impl Slots<()>, dry: &mut bool) -> Option<SlotId> {
        let slots = self.shape.slots();
        let found = self.lists.with(&LOCK, |lists| {
            let in_flight = lists.submitted.len() + lists.claimed;
            let waits = match RULE {
                HALF => 2 * in_flight >= slots,
                HELD_TOO => NoneFree::Refill.refills(slots - lists.free.len(), slots),
                _ => NoneFree::Refill.refills(in_flight, slots),
            };
            if *dry && waits { None } else { lists.free.pop() }
        });
        *dry = found.is_none();
        found
    }

    fn submit(&self, _slots: &impl Slots<()>, _dry: &mut bool, slot: SlotId) -> Destination {
        self.lists.with(&LOCK, |lists| lists.submitted.push(slot));
        Destination::Any
    }

    fn withdraw(&self, _slots: &impl Slots<()>, _dry: &mut bool, slot: SlotId) {
        self.lists.with(&LOCK, |lists| lists.free.push(slot));
    }

    fn take(&self, _slots: &impl Slots<()>, (): &mut ()) -> Option<SlotId> {
        self.lists.with(&LOCK, |lists| {
            let slot = lists.submitted.pop()?;
            lists.claimed += 1;
            Some(slot)
        })
    }

    fn complete(&self, _slots: &impl Slots<()>, (): &mut (), slot: SlotId) {
        self.lists.with(&LOCK, |lists| {
            lists.claimed -= 1;
            lists.free.push(slot);
        });
    }
}

macro_rules! refilled {
    ($($(#[$meta:meta])* $design:ident, $name:literal, $rule:ident;)+) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug)]
            pub struct $design;

            // SAFETY: `construct` makes a new queue.
            unsafe impl Design for $design {
                const NAME: &'static str = $name;
                const CLAIMS: Claims = Claims {
                    order: Order::Any,
                    none_free: NoneFree::Refill,
                    work_conserving: true,
                    ..super::parts::CLAIMS
                };
                const SITES: &'static [&'static [Site]] = &[REFILL_SITES];
                type Queue<P: Platform> = Refilled<P, $rule>;

                fn construct<P: Platform>(shape: Shape) -> Self::Queue<P> {
                    let lists = Lists { free: shape.all_slots().collect(), submitted: Vec::new(), claimed: 0 };
                    Refilled { lists: P::Lock::new(lists), shape }
                }
            }
        )+
    };
}

refilled! {
    /// The rule as it is claimed: the sound counterpart.
    RefillsByTheRule, "refills-by-the-rule", AS_CLAIMED;
    /// A client that found nothing waits until more than half of the slots are back.
    RefillsByHalf, "refills-by-half", HALF;
    /// Held slots count as in flight: a client that holds most of them, and wants one more, waits for itself.
    RefillCountsHeld, "refill-counts-held", HELD_TOO;
}
