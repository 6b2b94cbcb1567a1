//! Mutants: designs of the catalog, the pool and the event, with one site weakened to relaxed.

use crate::job::Lens;
use crate::models::{
    AcquireComplete, ClientChurn, CompletedOutOfTurn, Drained, EndAfterSubmit, EndOfSleeper, EndOfSubmit, Model,
    NaivePool, RefillAsked, RefillComesRound, RoleChange, RoleChangeTwice, SleepingAcquire, SleepingTake, SubmitTake,
    SubmittedOutOfTurn,
};

/// A site made weaker, and the model that must notice.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// `table.NAME=ordering`.
    pub weakening: &'static str,
    /// Model that rejects it.
    pub model: &'static str,
    /// Design it runs with.
    pub design: &'static str,
    /// View that rejects it.
    pub lens: Lens,
}

/// Stale values are what a relaxed site lets in, so the weak view is the one that sees them.
const fn relaxed(weakening: &'static str, model: &'static str, design: &'static str) -> Mutant {
    Mutant { weakening, model, design, lens: Lens::Weak }
}

/// The mutants. A fence that is relaxed is left out.
pub const MUTANTS: &[Mutant] = &[
    relaxed("bitmap.FILL_STORE=Relaxed", SubmitTake::NAME, "bitmap"),
    relaxed("bitmap.FILL_LOAD=Relaxed", SubmitTake::NAME, "bitmap"),
    relaxed("bitmap.DONE_STORE=Relaxed", AcquireComplete::NAME, "bitmap"),
    relaxed("bitmap.DONE_LOAD=Relaxed", AcquireComplete::NAME, "bitmap"),
    relaxed("slot-state.SUBMIT=Relaxed", SubmitTake::NAME, "slot-state"),
    relaxed("slot-state.SUBMITTED_LOAD=Relaxed", SubmitTake::NAME, "slot-state"),
    relaxed("slot-state.COMPLETE=Relaxed", AcquireComplete::NAME, "slot-state"),
    relaxed("slot-state.FREE_LOAD=Relaxed", AcquireComplete::NAME, "slot-state"),
    relaxed("slot-state.SUBMIT_JUMP=Relaxed", SubmittedOutOfTurn::NAME, "slot-state"),
    relaxed("slot-state.SUBMIT_JUMP_LOAD=Relaxed", SubmittedOutOfTurn::NAME, "slot-state"),
    relaxed("slot-state.COMPLETE_JUMP=Relaxed", CompletedOutOfTurn::NAME, "slot-state"),
    relaxed("slot-state.COMPLETE_JUMP_LOAD=Relaxed", CompletedOutOfTurn::NAME, "slot-state"),
    relaxed("bitmap-owned.FILL_STORE=Relaxed", SubmitTake::NAME, "bitmap-owned"),
    relaxed("bitmap-owned.FILL_LOAD=Relaxed", SubmitTake::NAME, "bitmap-owned"),
    relaxed("bitmap-owned.FREE_STORE=Relaxed", AcquireComplete::NAME, "bitmap-owned"),
    relaxed("bitmap-owned.CLAIM=Relaxed", AcquireComplete::NAME, "bitmap-owned"),
    relaxed("bitmap-steal.SUBMIT=Relaxed", SubmitTake::NAME, "bitmap-steal"),
    relaxed("bitmap-steal.TAKE=Relaxed", SubmitTake::NAME, "bitmap-steal"),
    relaxed("bitmap-steal.FREE_STORE=Relaxed", AcquireComplete::NAME, "bitmap-steal"),
    relaxed("bitmap-steal.CLAIM=Relaxed", AcquireComplete::NAME, "bitmap-steal"),
    relaxed("bitmap-refill.SUBMITTED_STORE=Relaxed", RefillComesRound::NAME, "bitmap-refill"),
    relaxed("bitmap-refill.SUBMITTED_LOAD=Relaxed", RefillComesRound::NAME, "bitmap-refill"),
    relaxed("clients.RETIRE=Relaxed", ClientChurn::NAME, "bitmap-owned"),
    relaxed("clients.ENLIST=Relaxed", ClientChurn::NAME, "bitmap-owned"),
    relaxed("clients.OPEN=Relaxed", ClientChurn::NAME, "bitmap-owned"),
    relaxed("clients.OPEN_LOAD=Relaxed", ClientChurn::NAME, "bitmap-owned"),
    relaxed("bitmap-claim.FILL_FLIP=Relaxed", SubmitTake::NAME, "bitmap-claim"),
    relaxed("bitmap-claim.FILL_LOAD=Relaxed", SubmitTake::NAME, "bitmap-claim"),
    relaxed("bitmap-claim.FREE_SET=Relaxed", AcquireComplete::NAME, "bitmap-claim"),
    relaxed("bitmap-claim.CLAIM=Relaxed", AcquireComplete::NAME, "bitmap-claim"),
    relaxed("shared-bitmap.FILL_FLIP=Relaxed", SubmitTake::NAME, "shared-bitmap"),
    relaxed("shared-bitmap.FILL_LOAD=Relaxed", SubmitTake::NAME, "shared-bitmap"),
    relaxed("shared-bitmap.DONE_FLIP=Relaxed", AcquireComplete::NAME, "shared-bitmap"),
    relaxed("shared-bitmap.DONE_LOAD=Relaxed", AcquireComplete::NAME, "shared-bitmap"),
    relaxed("freelist-bitmap.SIGNAL_SET=Relaxed", SubmitTake::NAME, "freelist-bitmap"),
    relaxed("freelist-bitmap.SIGNAL_GRAB=Relaxed", SubmitTake::NAME, "freelist-bitmap"),
    relaxed("freelist-steal.SIGNAL_SET=Relaxed", SubmitTake::NAME, "freelist-steal"),
    relaxed("freelist-steal.SIGNAL_CLAIM=Relaxed", SubmitTake::NAME, "freelist-steal"),
    relaxed("free-list.PUSH=Relaxed", AcquireComplete::NAME, "freelist-bitmap"),
    relaxed("free-list.POP_LOAD=Relaxed", AcquireComplete::NAME, "freelist-bitmap"),
    relaxed("free-list.POP=Relaxed", NaivePool::NAME, "freelist-bitmap"),
    relaxed("double-list.SUBMIT=Relaxed", SubmitTake::NAME, "double-list"),
    relaxed("double-list.GRAB=Relaxed", SubmitTake::NAME, "double-list"),
    relaxed("grab-list.PUSH=Relaxed", SubmitTake::NAME, "grab-list"),
    relaxed("grab-list.GRAB=Relaxed", SubmitTake::NAME, "grab-list"),
    relaxed("linked-queue.TAIL_SWING=Relaxed", SubmitTake::NAME, "linked-queue"),
    relaxed("linked-queue.TAIL_LOAD=Relaxed", SubmitTake::NAME, "linked-queue"),
    relaxed("linked-queue.NEWER_STORE=Relaxed", SubmitTake::NAME, "linked-queue"),
    relaxed("linked-queue.NEWER_LOAD=Relaxed", SubmitTake::NAME, "linked-queue"),
    relaxed("linked-queue.HEAD_SWING=Relaxed", RoleChange::NAME, "linked-queue"),
    relaxed("linked-queue.HEAD_LOAD=Relaxed", RoleChange::NAME, "linked-queue"),
    relaxed("linked-queue.HEAD_SWING/failure=Relaxed", RoleChangeTwice::NAME, "linked-queue"),
    relaxed("event.FENCE_SLEEP=Relaxed", SleepingTake::NAME, "bitmap-claim"),
    relaxed("event.FENCE_WAKE=Relaxed", SleepingTake::NAME, "bitmap-claim"),
    relaxed("event.FENCE_SLEEP=Relaxed", SleepingAcquire::NAME, "bitmap"),
    relaxed("event.FENCE_WAKE=Relaxed", SleepingAcquire::NAME, "bitmap"),
    relaxed("event.FENCE_WAKE=Relaxed", RefillAsked::<true>::NAME, "bitmap-refill"),
    relaxed("event.FENCE_WAKE=Relaxed", EndOfSubmit::NAME, "bitmap-claim"),
    relaxed("event.FENCE_SLEEP=Relaxed", EndOfSleeper::NAME, "bitmap"),
    relaxed("event.FENCE_WAKE=Relaxed", EndOfSleeper::NAME, "linked-queue"),
    relaxed("engine.STATE_LOAD=Relaxed", EndAfterSubmit::NAME, "bitmap"),
    relaxed("engine.STATE_SET=Relaxed", EndAfterSubmit::NAME, "bitmap"),
    relaxed("pool.COMPLETED_STORE=Relaxed", Drained::NAME, "bitmap"),
    relaxed("pool.COMPLETED_LOAD=Relaxed", Drained::NAME, "bitmap"),
];
