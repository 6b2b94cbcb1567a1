//! The museum: faults of this kind of software, each as a small variant that a check must reject.
//!
//! A check that has never rejected anything is no evidence. Each exhibit names the model and the view
//! that reject it, and a sound counterpart that the same check accepts; the suite fails when an
//! exhibit is accepted, or its counterpart is not. Two kinds:
//!
//! * **variants** ([`EXHIBITS`]): designs and waits with the fault written into them, most of them the faults
//!   that were found in the discussions of 2018;
//! * **mutants** ([`MUTANTS`]): designs of the catalog with the ordering of one site weakened.

mod bits;
mod claims;
mod lists;
mod mutants;
mod parts;
mod progress;
mod queues;
mod shutdown;
mod waits;

pub use bits::{BIT_SITES, FindFreeReservesNothing, ToggledClaim};
pub use claims::ScanClaimsExact;
pub use lists::{LIST_SITES, PlainFlip, PopWithoutAcquire, Sound, UntaggedList};
pub use mutants::{MUTANTS, Mutant};
pub use parts::SIGNAL_SITES;
pub use progress::{
    ClaimRecheck, EmptyForEver, LockClaimsLockFree, PROGRESS_EXHIBITS, PROGRESS_SITES, ProgressExhibit,
    QueueWithoutHelping, visit_progress,
};
pub use queues::{GivesUpOnLostRace, LooksLate, LowestFirstClaimsRotating, QUEUE_SITES, StackClaimsFifo};
pub use shutdown::{KeepsUnusedWake, ResetsAfterQuit, SHUTDOWN_SITES};
pub use waits::{TrustsPark, WAIT_SITES, WaitOnToDo};

use crate::job::Lens;
use crate::models::{Circle, ExactNone, FullCircle, Model, NaivePool, Reuse, TwoSubmitters, WithdrawComplete};
use slotwork::Design;
use slotwork_freelist_bitmap::FreelistBitmap;
use slotwork_locked::GlobalLock;

/// A known-bad variant and its sound counterpart.
#[derive(Clone, Copy, Debug)]
pub struct Exhibit {
    /// Its name.
    pub name: &'static str,
    /// Whose fault it is, and how it shows.
    pub story: &'static str,
    /// The view that rejects it.
    pub lens: Lens,
    /// Model and design to be rejected.
    pub bad: (&'static str, &'static str),
    /// Model and design to be accepted.
    pub good: (&'static str, &'static str),
}

/// Code that runs for a model with a design.
pub trait PairVisitor {
    /// Runs for one pair.
    fn visit<M: Model, D: Design>(&mut self);
}

macro_rules! pairs {
    ($(($model:ty, $design:ty, $name:expr)),+ $(,)?) => {
        /// Runs `visitor` for the pair of the museum with these names, and says whether there is one.
        pub fn visit_pair(model: &str, design: &str, visitor: &mut impl PairVisitor) -> bool {
            $(
                if model == <$model>::NAME && design == $name {
                    visitor.visit::<$model, $design>();
                    return true;
                }
            )+
            false
        }
    };
}

pairs![
    (NaivePool, UntaggedList, UntaggedList::NAME),
    (NaivePool, FreelistBitmap<1>, "freelist-bitmap-of-1-bit"),
    (NaivePool, FreelistBitmap<2>, "freelist-bitmap-of-2-bits"),
    (NaivePool, Sound, Sound::NAME),
    (ExactNone, ScanClaimsExact, ScanClaimsExact::NAME),
    (ExactNone, GlobalLock, GlobalLock::NAME),
    (TwoSubmitters, PlainFlip, PlainFlip::NAME),
    (TwoSubmitters, Sound, Sound::NAME),
    (Reuse, PopWithoutAcquire, PopWithoutAcquire::NAME),
    (Reuse, Sound, Sound::NAME),
    (WithdrawComplete, FindFreeReservesNothing, FindFreeReservesNothing::NAME),
    (WithdrawComplete, Sound, Sound::NAME),
    (FullCircle, ToggledClaim, ToggledClaim::NAME),
    (FullCircle, Sound, Sound::NAME),
    (Circle, PlainFlip, PlainFlip::NAME),
    (Circle, Sound, Sound::NAME),
    (WaitOnToDo<false>, Sound, Sound::NAME),
    (WaitOnToDo<true>, Sound, Sound::NAME),
    (TrustsPark<false>, Sound, Sound::NAME),
    (TrustsPark<true>, Sound, Sound::NAME),
    (ResetsAfterQuit<false>, Sound, Sound::NAME),
    (ResetsAfterQuit<true>, Sound, Sound::NAME),
    (KeepsUnusedWake<false>, Sound, Sound::NAME),
    (KeepsUnusedWake<true>, Sound, Sound::NAME),
];

/// The variants.
pub const EXHIBITS: &[Exhibit] = &[
    Exhibit {
        name: "plain_flip",
        story: "2018: the fill bit is flipped by load, xor, store; of two submitters' flips one is lost, and a request with it",
        lens: Lens::Interleaving,
        bad: (TwoSubmitters::NAME, PlainFlip::NAME),
        good: (TwoSubmitters::NAME, Sound::NAME),
    },
    Exhibit {
        name: "naive_pool_untagged_list",
        story: "2018: the free list has no tag; a client held up between head and link swings the head to a slot in use (ABA)",
        lens: Lens::Interleaving,
        bad: (NaivePool::NAME, UntaggedList::NAME),
        good: (NaivePool::NAME, Sound::NAME),
    },
    Exhibit {
        name: "tag_too_narrow",
        story: "a tag of one bit is the same again after two pops; the shipped list, with its tag narrowed; two bits outlast this model, and no more",
        lens: Lens::Interleaving,
        bad: (NaivePool::NAME, "freelist-bitmap-of-1-bit"),
        good: (NaivePool::NAME, "freelist-bitmap-of-2-bits"),
    },
    Exhibit {
        name: "pop_no_acquire",
        story: "2018: the head is read plainly and exchanged without acquire; the payload of the slot need not be there yet",
        lens: Lens::Weak,
        bad: (Reuse::NAME, PopWithoutAcquire::NAME),
        good: (Reuse::NAME, Sound::NAME),
    },
    Exhibit {
        name: "find_free_reserves_nothing",
        story: "2018: finding a free request reserves nothing; two gets without a submit between them return the same one",
        lens: Lens::Interleaving,
        bad: (WithdrawComplete::NAME, FindFreeReservesNothing::NAME),
        good: (WithdrawComplete::NAME, Sound::NAME),
    },
    Exhibit {
        name: "toggled_claim",
        story: "ours: a claim bit that is toggled is, after two claims, as a slow client remembers it (ABA)",
        lens: Lens::Interleaving,
        bad: (FullCircle::NAME, ToggledClaim::NAME),
        good: (FullCircle::NAME, Sound::NAME),
    },
    Exhibit {
        name: "resume_too_early_wait_on_empty_to_do_lists",
        story: "2018: the wait ends when the to-do lists are empty, while the last request taken is still being handled",
        lens: Lens::Interleaving,
        bad: (WaitOnToDo::<false>::NAME, Sound::NAME),
        good: (WaitOnToDo::<true>::NAME, Sound::NAME),
    },
    Exhibit {
        name: "scan_claims_exact",
        story: "ours: a scan over lanes says that none is free, although one was at every instant: each just behind the scan",
        lens: Lens::Interleaving,
        bad: (ExactNone::NAME, ScanClaimsExact::NAME),
        good: (ExactNone::NAME, GlobalLock::NAME),
    },
    Exhibit {
        name: "spurious_unpark_trusted",
        story: "a sleeper takes the return of park for the news it waits for; park may return for no reason",
        lens: Lens::Random,
        bad: (TrustsPark::<false>::NAME, Sound::NAME),
        good: (TrustsPark::<true>::NAME, Sound::NAME),
    },
    Exhibit {
        name: "quit_then_reset",
        story: "2018: a worker tests quit, then resets its event; a shutdown between the two is lost, and the join hangs",
        lens: Lens::Interleaving,
        bad: (ResetsAfterQuit::<false>::NAME, Sound::NAME),
        good: (ResetsAfterQuit::<true>::NAME, Sound::NAME),
    },
    Exhibit {
        name: "one_sleeper_unused_wake_kept",
        story: "a sleeper that finds a slot by its own last look keeps the wake that came meanwhile; another sleeps beside a free slot",
        lens: Lens::Uniform,
        bad: (KeepsUnusedWake::<false>::NAME, Sound::NAME),
        good: (KeepsUnusedWake::<true>::NAME, Sound::NAME),
    },
];
