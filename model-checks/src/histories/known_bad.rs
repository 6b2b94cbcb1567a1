//! Queues that histories must reject, each for the property it breaks, and the one they must accept.

use super::check::Property;
use super::scenario::Size;
use super::survey::{Batch, Effort, Source, Survey, survey};
use crate::museum::{
    FindFreeReservesNothing, GivesUpOnLostRace, LooksLate, LowestFirstClaimsRotating, PlainFlip, RefillCountsHeld,
    RefillsByHalf, RefillsByTheRule, ScanClaimsExact, Sound, StackClaimsFifo,
};

/// A known-bad queue.
#[derive(Clone, Copy)]
pub struct KnownBad {
    /// Its name.
    pub name: &'static str,
    /// Its fault, in a line.
    pub story: &'static str,
    /// The property that it breaks.
    pub property: Property,
    /// Looks at it.
    pub survey: fn(Source) -> Survey,
}

macro_rules! looks_at {
    ($design:ty, $batch:expr) => {
        |source| survey::<$design>(source, &Effort::of(source, false).only($batch))
    };
    ($design:ty) => {
        |source| survey::<$design>(source, &Effort::of(source, false))
    };
}

/// The known-bad queues.
pub const KNOWN_BAD: &[KnownBad] = &[
    KnownBad {
        name: "two_owners",
        story: "2018: finding a free slot reserves nothing, and two acquires return the same one",
        property: Property::OneOwner,
        survey: looks_at!(FindFreeReservesNothing),
    },
    KnownBad {
        name: "none_free_on_a_lost_race",
        story: "an acquire whose compare-exchange fails says that none is free (WEAK-CAS)",
        property: Property::NoneFree,
        survey: looks_at!(GivesUpOnLostRace),
    },
    KnownBad {
        name: "none_free_by_a_scan_that_claims_exact",
        story: "lane after lane is looked at, and slots come and go behind the look",
        property: Property::NoneFree,
        // A window of two looks, in which two operations of another client must fit: it takes many.
        survey: looks_at!(ScanClaimsExact, Batch { size: Size::TIGHT, scenarios: 1000, runs: 8 }),
    },
    KnownBad {
        name: "none_free_until_half_is_back",
        story: "a client that found nothing is told so again with half of the slots in flight",
        property: Property::NoneFree,
        survey: looks_at!(RefillsByHalf),
    },
    KnownBad {
        name: "none_free_to_one_that_holds_the_rest",
        story: "held slots count as in flight, and a client waits for what it holds itself",
        property: Property::NoneFree,
        survey: looks_at!(RefillCountsHeld),
    },
    KnownBad {
        name: "lost_request",
        story: "2018: the fill bit is flipped by load, xor, store; of two flips one is lost, and a request with it",
        property: Property::NoneSubmitted,
        survey: looks_at!(PlainFlip),
    },
    KnownBad {
        name: "nothing_submitted_by_a_late_look",
        story: "a take hands out what the look before it found (STALE-STATE)",
        property: Property::NoneSubmitted,
        survey: looks_at!(LooksLate),
    },
    KnownBad {
        name: "stack_that_claims_fifo",
        story: "2018: the to-do list is a stack; the first submitted is taken last",
        property: Property::Order,
        survey: looks_at!(StackClaimsFifo),
    },
    KnownBad {
        name: "lowest_first_that_claims_rotating",
        story: "2018: each look begins at bit 0; a slot with a high bit is overtaken for ever",
        property: Property::Order,
        survey: looks_at!(LowestFirstClaimsRotating),
    },
];

/// The sound counterpart of those that refill.
#[must_use]
pub fn sound_refill(source: Source) -> Survey {
    survey::<RefillsByTheRule>(source, &Effort::of(source, false))
}

/// The sound counterpart: the same parts as the known-bad ones, without a fault.
#[must_use]
pub fn sound(source: Source) -> Survey {
    survey::<Sound>(source, &Effort::of(source, false))
}
