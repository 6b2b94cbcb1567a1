//! A recorded run: who called what, when, and what came of it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What a slot holds: a request, the answer to one, or nothing yet. Requests are numbered from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Content(pub u32);

impl Content {
    /// The content of a slot that carried nothing yet.
    pub const FRESH: Self = Self(0);

    /// The request of this number.
    #[must_use]
    pub const fn request(number: u32) -> Self {
        Self(number << 1)
    }

    /// What a worker makes of it.
    #[must_use]
    pub const fn answered(self) -> Self {
        Self(self.0 | 1)
    }
}

impl fmt::Display for Content {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0, self.0 >> 1, self.0 & 1) {
            (0, ..) => formatter.write_str("fresh"),
            (_, number, 0) => write!(formatter, "request {number}"),
            (_, number, _) => write!(formatter, "answer {number}"),
        }
    }
}

/// One operation of the circle with its result. Slots and lanes are plain indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "slot, content, lane: the words of the circle")]
pub enum Call {
    /// A free slot and what was in it, or none. What is in it counts unless it is `None`.
    Acquire(Option<(u32, Option<Content>)>),
    /// To one lane, or to any worker.
    Submit { slot: u32, content: Content, lane: Option<u32> },
    /// Given back unsubmitted.
    Withdraw { slot: u32 },
    /// By the worker of a lane: a slot and the request in it, or none.
    Take { lane: u32, taken: Option<(u32, Content)> },
    /// Given back with an answer in it.
    Complete { slot: u32, content: Content },
}

impl Call {
    /// The slot it is about; none for an answer "none".
    #[must_use]
    pub fn slot(&self) -> Option<u32> {
        match *self {
            Self::Acquire(found) => found.map(|(slot, _)| slot),
            Self::Take { taken, .. } => taken.map(|(slot, _)| slot),
            Self::Submit { slot, .. } | Self::Withdraw { slot } | Self::Complete { slot, .. } => Some(slot),
        }
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Acquire(_) => "acquire",
            Self::Submit { .. } => "submit",
            Self::Withdraw { .. } => "withdraw",
            Self::Take { .. } => "take",
            Self::Complete { .. } => "complete",
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())?;
        match self {
            Self::Acquire(None) | Self::Take { taken: None, .. } => formatter.write_str(" → none"),
            Self::Acquire(Some((slot, Some(content)))) => write!(formatter, " → slot {slot} ({content})"),
            Self::Acquire(Some((slot, None))) => write!(formatter, " → slot {slot}"),
            Self::Submit { slot, content, lane: Some(lane) } => {
                write!(formatter, " slot {slot} ({content}) to lane {lane}")
            }
            Self::Submit { slot, content, lane: None } => write!(formatter, " slot {slot} ({content}) to any"),
            Self::Withdraw { slot } => write!(formatter, " slot {slot}"),
            Self::Take { taken: Some((slot, content)), .. } => write!(formatter, " → slot {slot} ({content})"),
            Self::Complete { slot, content } => write!(formatter, " slot {slot} ({content})"),
        }
    }
}

/// A call, its thread, and its time. No two times of a history are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// Which thread.
    pub thread: usize,
    /// When it began.
    pub called: u64,
    /// When it had ended.
    pub returned: u64,
    /// What it was, and its result.
    pub call: Call,
}

impl Operation {
    /// Whether it had ended before `other` began.
    #[must_use]
    pub const fn before(&self, other: &Self) -> bool {
        self.returned < other.called
    }

    /// Whether it and `other` were under way at the same time.
    #[must_use]
    pub const fn overlaps(&self, other: &Self) -> bool {
        !self.before(other) && !other.before(self)
    }
}

/// A run of one queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// Lanes of the queue.
    pub lanes: u32,
    /// Slots of each.
    pub slots_per_lane: u32,
    /// Name of each thread.
    pub threads: Vec<String>,
    /// In the order in which they began.
    pub operations: Vec<Operation>,
}

impl History {
    /// A run in which nothing has happened yet, to be written by hand.
    #[must_use]
    pub fn new(lanes: u32, slots_per_lane: u32, threads: &[&str]) -> Self {
        let threads = threads.iter().map(|&name| name.into()).collect();
        Self { lanes, slots_per_lane, threads, operations: Vec::new() }
    }

    /// The same run with one more operation.
    #[must_use]
    pub fn with(mut self, thread: usize, (called, returned): (u64, u64), call: Call) -> Self {
        self.operations.push(Operation { thread, called, returned, call });
        self.operations.sort_by_key(|operation| operation.called);
        self
    }

    /// Slots in all.
    #[must_use]
    pub const fn slots(&self) -> u32 {
        self.lanes * self.slots_per_lane
    }

    /// Whether two operations were under way at the same time.
    #[must_use]
    pub fn overlapped(&self) -> bool {
        // They are sorted by their beginnings: the latest end so far is all there is to remember.
        let mut latest = 0;
        self.operations.iter().any(|operation| {
            let overlaps = operation.called < latest;
            latest = latest.max(operation.returned);
            overlaps
        })
    }

    /// Whether some request may be taken by any worker: then all requests are one queue.
    #[must_use]
    pub fn shared(&self) -> bool {
        self.operations.iter().any(|operation| matches!(operation.call, Call::Submit { lane: None, .. }))
    }
}
