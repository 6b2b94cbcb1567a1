//! What can be wrong with a workqueue, as the toy shows it.

/// What can be wrong with a [`Toy`](super::toy::Toy).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// Frees a submitted slot unhandled, now and then.
    LosesOne,
    /// Runs `done` again when the slot is got back again.
    DoneTwice,
    /// Runs no `done` for what nobody came to get at the end.
    ForgetsLeftovers,
    /// A handler's panic ends its worker.
    PanicEndsWorker,
    /// A handler's panic ends its request as handled.
    PanicPasses,
    /// A handler's panic loses its slot, and ends no drain.
    PanicInvisible,
    /// A drain ends when the to-do list is empty.
    DrainSeesTodo,
    /// A drain waits for what is submitted after it, too.
    DrainWithoutCut,
    /// Wakes a waiting submitter for every fourth slot.
    BatchesWakes,
    /// Looks, and then goes to sleep without another look.
    SleepsUnseen,
    /// Wakes everybody for each slot.
    Herd,
    /// A worker that finds nothing wakes another.
    PingPong,
    /// Wakes nobody when all that wait have a timeout.
    TimedUnseen,
    /// Wakes no drain.
    DrainUnseen,
    /// A waiter that times out takes a slot with it, if one has come.
    TimeoutTakes,
    /// A waiter that timed out is still woken.
    TimeoutLeavesTrace,
    /// Each request belongs to a worker, whether it is busy or not.
    WorkerIdles,
    /// Tests for the end before it looks for work.
    QuitsBeforeLook,
    /// Does not count what it cancels.
    CancelsUncounted,
    /// A second shutdown waits for the worker that the first one has seen end.
    SecondJoinHangs,
    /// A submit after the end keeps the slot.
    StoppedKeepsSlot,
    /// Waits for a slot, whether the queue ends or not.
    WaitsBeyondEnd,
    /// A shutdown that cancels does not wait for the workers.
    CancelIsEarly,
    /// Handles what is queued although told to cancel it.
    CancelsNothing,
    /// A submit waits until a worker has taken the request.
    SubmitWaits,
    /// A withdrawn slot wakes nobody.
    WithdrawsSilently,
    /// What a slot carried last is forgotten.
    ForgetsFate,
}
