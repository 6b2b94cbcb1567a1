//! What a design has to promise, and whether it does.

use super::Load;
use clap::ValueEnum;
use slotwork::{Claims, NoneFree, Operation, Order, Progress, ShapeError, Submitters};

/// A promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Need {
    /// First submitted, first taken, in each lane.
    Fifo,
    /// No request is overtaken for ever.
    Bounded,
    /// No operation blocks: some thread always gets on.
    LockFree,
    /// Every operation ends in a bounded number of its own steps.
    WaitFree,
    /// "None free" means that there was an instant without a free slot.
    Exact,
    /// Any worker may take any request.
    AnyWorker,
    /// No operation calls the allocator.
    NoAllocation,
}

impl Need {
    /// Why these claims do not meet it; nothing where they do.
    #[must_use]
    pub fn unmet(self, claims: &Claims) -> Option<String> {
        let worst = |least: Progress| {
            let below = |operation: &Operation| claims.progress.of(*operation) > least;
            let operation = Operation::ALL.into_iter().find(below)?;
            Some(format!("{operation} is {}, not {least}", claims.progress.of(operation)))
        };
        match self {
            Self::Fifo => {
                (claims.order != Order::Fifo).then(|| format!("order per lane is {}, not fifo", claims.order))
            }
            Self::Bounded => (claims.order == Order::Any).then(|| "a request may be overtaken for ever".into()),
            Self::LockFree => worst(Progress::LockFree),
            Self::WaitFree => worst(Progress::WaitFree),
            Self::Exact => {
                let why = match claims.none_free {
                    NoneFree::Exact => return None,
                    NoneFree::Scan => "the result of a scan, not exact",
                    NoneFree::Refill => "told also while less than a quarter of the slots is free",
                };
                Some(format!("\"none free\" is {why}"))
            }
            Self::AnyWorker => (!claims.work_conserving).then(|| "a request is for one worker".into()),
            Self::NoAllocation => claims.allocates.then(|| "an operation may call the allocator".into()),
        }
    }
}

/// Why a design with these claims cannot carry this load; nothing where it can.
pub(super) fn objection(load: &Load, claims: &Claims) -> Option<String> {
    if load.submitters == Submitters::Many && claims.submitters == Submitters::One {
        return Some("it takes one submitter".into());
    }
    if let (Some(limit), Some(clients)) = (claims.max_clients, load.clients)
        && clients > limit
    {
        return Some(format!("it takes at most {limit} submitters"));
    }
    match claims.admit(load.shape) {
        Err(ShapeError::DesignLanes { limit, .. }) => return Some(format!("it takes at most {limit} workers")),
        Err(ShapeError::DesignSlots { limit, .. }) => {
            return Some(format!("it takes at most {limit} slots per worker"));
        }
        Err(other) => return Some(other.to_string()),
        Ok(()) => {}
    }
    load.needs.iter().find_map(|need| need.unmet(claims))
}
