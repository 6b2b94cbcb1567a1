//! What the threads of one execution are doing: who is in which call, at which step, and what was finished.
//!
//! The threads write into it what they begin and finish, the scheduler where they stand. It is no part of the queue:
//! its lock is the machine's own, and is never held across a switch of threads.

use crate::platform::Stand;
use slotwork::Operation;
use std::fmt;
use std::ops::{Index, IndexMut};
use std::sync::{Arc, Mutex, MutexGuard};

/// A call of a queue: an operation of the circle, or the making or retiring of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Call {
    /// Take a free slot.
    Acquire,
    /// Publish a held slot.
    Submit,
    /// Give a held slot back unsubmitted.
    Withdraw,
    /// Claim a submitted slot.
    Take,
    /// Give a claimed slot back handled.
    Complete,
    /// Make a further client.
    MakeClient,
    /// Retire a client.
    RetireClient,
}

impl Call {
    /// All calls.
    pub const ALL: [Self; 7] =
        [Self::Acquire, Self::Submit, Self::Withdraw, Self::Take, Self::Complete, Self::MakeClient, Self::RetireClient];

    /// The operation of the circle, for which designs make claims.
    #[must_use]
    pub const fn operation(self) -> Option<Operation> {
        match self {
            Self::Acquire => Some(Operation::Acquire),
            Self::Submit => Some(Operation::Submit),
            Self::Withdraw => Some(Operation::Withdraw),
            Self::Take => Some(Operation::Take),
            Self::Complete => Some(Operation::Complete),
            Self::MakeClient | Self::RetireClient => None,
        }
    }

    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Acquire => "acquire",
            Self::Submit => "submit",
            Self::Withdraw => "withdraw",
            Self::Take => "take",
            Self::Complete => "complete",
            Self::MakeClient => "client",
            Self::RetireClient => "retire",
        }
    }

    /// Who makes it.
    #[must_use]
    pub const fn side(self) -> &'static str {
        match self {
            Self::Take | Self::Complete => "worker",
            _ => "client",
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// A number for each call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerCall([u64; Call::ALL.len()]);

impl Index<Call> for PerCall {
    type Output = u64;

    fn index(&self, call: Call) -> &u64 {
        &self.0[call as usize]
    }
}

impl IndexMut<Call> for PerCall {
    fn index_mut(&mut self, call: Call) -> &mut u64 {
        &mut self.0[call as usize]
    }
}

/// One thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    /// The call it is in.
    pub(super) call: Option<Call>,
    /// Accesses of that call that it has come to; the last one is not made yet.
    pub(super) steps: u32,
    /// Where it stands.
    pub(super) stand: Option<Stand>,
    /// Calls that it finished.
    pub(super) finished: u32,
    /// How often it has begun each call.
    pub(super) begun: PerCall,
}

/// All threads of one execution.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    pub(super) threads: Vec<Thread>,
    /// Requests completed.
    pub(super) items: u32,
    /// Whether the threads are to stop.
    pub(super) over: bool,
    /// How often each call was finished.
    pub(super) finished: PerCall,
    /// The most steps that each call took.
    pub(super) most: PerCall,
}

/// The ledger of the execution that is under way.
#[derive(Clone, Default)]
pub(super) struct Shared(Arc<Mutex<Ledger>>);

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(super) fn over(&self) -> bool {
        self.lock().over
    }

    /// Runs a call of a thread, and says with how many steps.
    pub(super) fn during<R>(&self, thread: usize, call: Call, run: impl FnOnce() -> R) -> (R, u32) {
        {
            let mut ledger = self.lock();
            let thread = &mut ledger.threads[thread];
            (thread.call, thread.steps, thread.stand) = (Some(call), 0, None);
            thread.begun[call] += 1;
        }
        let result = run();
        let mut ledger = self.lock();
        let thread = &mut ledger.threads[thread];
        let steps = thread.steps;
        (thread.call, thread.stand) = (None, None);
        thread.finished += 1;
        ledger.items += u32::from(call == Call::Complete);
        ledger.finished[call] += 1;
        ledger.most[call] = ledger.most[call].max(steps.into());
        (result, steps)
    }
}
