//! The museum: faults of this kind of software, each as a small variant that a check must reject.
//!
//! A check that has never rejected anything is no evidence. Each exhibit names the model and the view
//! that reject it, and a sound counterpart that the same check accepts; the suite fails when an
//! exhibit is accepted, or its counterpart is not. Two kinds:
//!
//! * **variants** ([`EXHIBITS`]): designs and waits with the fault written into them, most of them the faults
//!   that were found in the discussions of 2018;
//! * **mutants** ([`MUTANTS`]): designs of the catalog with the ordering of one site weakened.

mod behind;
mod bits;
mod claims;
mod gallery;
mod lists;
mod mutants;
mod overstrong;
mod parts;
mod progress;
mod queues;
mod refill;
mod seeds;
mod show;
mod shutdown;
mod waits;
mod wakes;

pub use behind::{BEHIND_SITES, WordAfterState, WordBeforeState};
pub use bits::{BIT_SITES, FindFreeReservesNothing, ToggledClaim};
pub use claims::ScanClaimsExact;
pub use gallery::{Piece, Shown, gallery};
pub use lists::{LIST_SITES, PlainFlip, PopWithoutAcquire, Sound, UntaggedList};
pub use mutants::{MUTANTS, Mutant};
pub use overstrong::{OVERSTRONG_SITES, Overstrong};
pub use parts::SIGNAL_SITES;
pub use progress::{
    ClaimRecheck, EmptyForEver, LockClaimsLockFree, PROGRESS_EXHIBITS, PROGRESS_SITES, ProgressExhibit,
    QueueWithoutHelping, visit_progress,
};
pub use queues::{GivesUpOnLostRace, LooksLate, LowestFirstClaimsRotating, QUEUE_SITES, StackClaimsFifo};
pub use refill::{REFILL_SITES, RefillCountsHeld, RefillsByHalf, RefillsByTheRule};
pub use seeds::{BoundOnWrongArgument, EverySlot, PayloadAsHeader, QuitDropsWork, SEED_SITES};
pub use show::Showing;
pub use shutdown::{KeepsUnusedWake, ResetsAfterQuit, SHUTDOWN_SITES};
pub use waits::{TrustsPark, WAIT_SITES, WaitOnToDo};
pub use wakes::{KeepsLeftWake, WAKE_SITES};

use crate::job::Lens;
use crate::models::{
    AcquireComplete, Circle, ExactNone, FreeBehindCompletion, FullCircle, Model, NaivePool, NoIdleWorker, RefillAsked,
    Reuse, SubmitTake, TwoSubmitters, WithdrawAcquire, WithdrawComplete,
};
use slotwork::Design;
use slotwork_bitmap::BitmapRefill;
use slotwork_freelist_bitmap::{FreelistBitmap, FreelistSteal};
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
    (FreeBehindCompletion, WordAfterState, WordAfterState::NAME),
    (FreeBehindCompletion, WordBeforeState, WordBeforeState::NAME),
    (SubmitTake, Overstrong, Overstrong::NAME),
    (Reuse, Overstrong, Overstrong::NAME),
    (WithdrawAcquire, Overstrong, Overstrong::NAME),
    (AcquireComplete, Overstrong, Overstrong::NAME),
    (NoIdleWorker, Sound, Sound::NAME),
    (NoIdleWorker, FreelistSteal, FreelistSteal::NAME),
    (PayloadAsHeader<false>, Sound, Sound::NAME),
    (PayloadAsHeader<true>, Sound, Sound::NAME),
    (QuitDropsWork<false>, Sound, Sound::NAME),
    (QuitDropsWork<true>, Sound, Sound::NAME),
    (EverySlot, BoundOnWrongArgument, BoundOnWrongArgument::NAME),
    (EverySlot, GlobalLock, GlobalLock::NAME),
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
    (KeepsLeftWake<false>, Sound, Sound::NAME),
    (KeepsLeftWake<true>, Sound, Sound::NAME),
    (RefillAsked<false>, BitmapRefill, BitmapRefill::NAME),
    (RefillAsked<true>, BitmapRefill, BitmapRefill::NAME),
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
        name: "paused_peer_full_word_after_state",
        story: "ours: a worker frees a slot, and then puts the word right that says so; held up between, it leaves a free slot that nobody finds",
        lens: Lens::Interleaving,
        bad: (FreeBehindCompletion::NAME, WordAfterState::NAME),
        good: (FreeBehindCompletion::NAME, WordBeforeState::NAME),
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
        name: "payload_as_header",
        story: "2018: submit reads the worker's number from the payload, not from the header before it; the request goes wherever its first bytes say",
        lens: Lens::Interleaving,
        bad: (PayloadAsHeader::<false>::NAME, Sound::NAME),
        good: (PayloadAsHeader::<true>::NAME, Sound::NAME),
    },
    Exhibit {
        name: "bound_on_wrong_arg",
        story: "2018: the limit of 64 is tested against the number of workers; more than 64 requests per worker share bits, and cancel each other",
        lens: Lens::Interleaving,
        bad: (EverySlot::NAME, BoundOnWrongArgument::NAME),
        good: (EverySlot::NAME, GlobalLock::NAME),
    },
    Exhibit {
        name: "quit_drops_work",
        story: "2018: a worker tests quit before it looks for work; what is queued is dropped, and nobody is told",
        lens: Lens::Interleaving,
        bad: (QuitDropsWork::<false>::NAME, Sound::NAME),
        good: (QuitDropsWork::<true>::NAME, Sound::NAME),
    },
    Exhibit {
        name: "waiting_worker_idle",
        story: "a queue that ties slots to workers does not conserve work: a worker idles beside a request that waits for a busy one",
        lens: Lens::Interleaving,
        bad: (NoIdleWorker::NAME, Sound::NAME),
        good: (NoIdleWorker::NAME, FreelistSteal::NAME),
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
    Exhibit {
        name: "notified_twice_left_wake_kept",
        story: "ours: a wake is left to the sleeper that is on the way, which finds something and keeps it; another sleeps beside a free slot",
        lens: Lens::Random,
        bad: (KeepsLeftWake::<false>::NAME, Sound::NAME),
        good: (KeepsLeftWake::<true>::NAME, Sound::NAME),
    },
    Exhibit {
        name: "store_buffer_refill_asked_unfenced",
        story: "ours: two workers ask without a fence whether a client still sleeps for too little; each sees its own completion only, and neither wakes it",
        lens: Lens::Weak,
        bad: (RefillAsked::<false>::NAME, BitmapRefill::NAME),
        good: (RefillAsked::<true>::NAME, BitmapRefill::NAME),
    },
];
