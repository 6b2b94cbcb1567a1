//! What a design says of itself. Every claim has a check that fails when the claim is false.

use crate::{Shape, ShapeError};
use core::fmt;

/// Everything a design claims. Claims are checked through the catalog, never believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claims {
    /// How many clients may acquire and submit at once.
    pub submitters: Submitters,
    /// In which order one lane's requests are taken.
    pub order: Order,
    /// What "no slot is free" means under concurrency.
    pub none_free: NoneFree,
    /// How far each operation depends on other threads.
    pub progress: Guarantees,
    /// Whether any worker may take any request, so that none idles beside a queued one.
    pub work_conserving: bool,
    /// Whether an operation may call the allocator after the queue was built.
    pub allocates: bool,
    /// Most lanes, if fewer than [`Shape::MAX_LANES`].
    pub max_lanes: Option<usize>,
    /// Most slots per lane, if fewer than [`Shape::MAX_SLOTS`] allows.
    pub max_slots_per_lane: Option<usize>,
    /// Most clients alive at once, if there is a limit.
    pub max_clients: Option<usize>,
    /// Where the idea comes from.
    pub source: &'static str,
}

impl Claims {
    /// Whether this design takes this shape: each limit is tested on its own argument.
    ///
    /// # Errors
    /// [`ShapeError::DesignLanes`] or [`ShapeError::DesignSlots`].
    pub const fn admit(&self, shape: Shape) -> Result<(), ShapeError> {
        if let Some(limit) = self.max_lanes
            && shape.lanes() > limit
        {
            return Err(ShapeError::DesignLanes { lanes: shape.lanes(), limit });
        }
        if let Some(limit) = self.max_slots_per_lane
            && shape.slots_per_lane() > limit
        {
            return Err(ShapeError::DesignSlots { slots_per_lane: shape.slots_per_lane(), limit });
        }
        Ok(())
    }
}

/// How many clients may use the queue at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitters {
    /// One client; a second one cannot be made.
    One,
    /// Any number up to [`Claims::max_clients`].
    Many,
}

/// The order in which the requests that were submitted to one lane are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// First submitted, first taken, per lane (or over the whole queue when it is shared).
    Fifo,
    /// Any order, but a submitted request is taken after fewer than `2 × slots_per_lane` other takes of its lane.
    Rotating,
    /// Any order; a request may be overtaken for ever.
    Any,
}

/// What [`RequestQueue::acquire`](crate::RequestQueue::acquire) promises when it finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoneFree {
    /// There was an instant during the call at which no slot was free, by happens-before: each slot that was free when another
    /// call ended that happens before this one was counted. Of two calls on two cores that neither of them sees, no order is
    /// promised; who needs it, to sleep say, puts a sequentially consistent fence in between, as the workqueue does.
    Exact,
    /// No single slot was free during the whole call; with several clients, slots may have been
    /// free one after the other, each just behind the scan.
    Scan,
    /// As [`NoneFree::Scan`]; or the client's acquire before this one found nothing either, and more than three quarters
    /// of all slots were in flight, each at some time of the call, by happens-before: [`NoneFree::refills`]. So a client
    /// that has found nothing comes back to a quarter of the slots, or to what others hold of it, and not to one.
    Refill,
}

impl NoneFree {
    /// Whether a client that found nothing may be told so again, although slots are free, while so many of all slots are
    /// in flight: submitted and not completed.
    ///
    /// Those will be completed, as long as no handler waits for what a client does after its wait, and whoever waits for a free
    /// slot is told of it. Slots that somebody holds do not count: of them nobody knows when they come back.
    #[must_use]
    pub const fn refills(self, in_flight: usize, slots: usize) -> bool {
        matches!(self, Self::Refill) && in_flight > slots - slots / 4
    }
}

/// The progress guarantee of one operation, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Progress {
    /// Ends in a bounded number of its own steps, whatever others do.
    WaitFree,
    /// Some operation always ends, even when any other thread is suspended for ever.
    LockFree,
    /// Ends when it runs alone for long enough.
    ObstructionFree,
    /// A suspended thread may stop it for ever.
    Blocking,
}

/// The progress guarantee of each operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guarantees {
    /// Taking a free slot.
    pub acquire: Progress,
    /// Publishing a held slot.
    pub submit: Progress,
    /// Giving a held slot back unsubmitted.
    pub withdraw: Progress,
    /// Claiming a submitted slot.
    pub take: Progress,
    /// Giving a claimed slot back handled.
    pub complete: Progress,
}

impl Guarantees {
    /// The same guarantee for every operation.
    #[must_use]
    pub const fn all(progress: Progress) -> Self {
        Self { acquire: progress, submit: progress, withdraw: progress, take: progress, complete: progress }
    }

    /// The guarantee of one operation.
    #[must_use]
    pub const fn of(&self, operation: Operation) -> Progress {
        match operation {
            Operation::Acquire => self.acquire,
            Operation::Submit => self.submit,
            Operation::Withdraw => self.withdraw,
            Operation::Take => self.take,
            Operation::Complete => self.complete,
        }
    }

    /// Whether no operation blocks.
    #[must_use]
    pub fn lock_free(&self) -> bool {
        Operation::ALL.iter().all(|&operation| self.of(operation) <= Progress::LockFree)
    }
}

/// The five operations of the circle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
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
}

impl Operation {
    /// All five, in the order of the circle.
    pub const ALL: [Self; 5] = [Self::Acquire, Self::Submit, Self::Withdraw, Self::Take, Self::Complete];
}

macro_rules! words {
    ($type:ty: $($variant:ident => $word:literal),+) => {
        impl fmt::Display for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(match self { $(Self::$variant => $word),+ })
            }
        }
    };
}

words!(Submitters: One => "one", Many => "many");
words!(Order: Fifo => "fifo", Rotating => "rotating", Any => "any");
words!(NoneFree: Exact => "exact", Scan => "scan", Refill => "refill");
words!(Progress: WaitFree => "wait-free", LockFree => "lock-free", ObstructionFree => "obstruction-free", Blocking => "blocking");
words!(Operation: Acquire => "acquire", Submit => "submit", Withdraw => "withdraw", Take => "take", Complete => "complete");
