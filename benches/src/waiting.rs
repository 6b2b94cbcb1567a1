//! How a thread waits when there is nothing for it: a named axis, the same for every design.
//!
//! ```text
//!   spin     poll ──▶ poll ──▶ poll …                       cores for everybody
//!   yield    64 polls ──▶ yield, poll ──▶ yield, poll …     more threads than cores
//!   park     64 polls ──▶ sleep until notified
//!   settle   64 polls ──▶ 32 × yield, poll ──▶ sleep until notified
//! ```
//!
//! Sleepers lie on events: one for all clients, and one for each worker, or one for all workers where
//! any of them may take any request. Policies that never sleep notify nobody, and pay nothing for it.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use slotwork::{Claims, Destination, LaneId, Native};
use slotwork_workqueue::Event;
use std::fmt;

/// A waiting policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Waiting {
    /// Polls for ever.
    Spin,
    /// 64 polls, then yields between polls.
    Yield,
    /// 64 polls, then sleeps.
    Park,
    /// 64 polls, 32 yields with a poll after each, then sleeps.
    Settle,
}

impl Waiting {
    const POLLS: u32 = 64;
    const YIELDS: u32 = 32;

    /// What suits so many threads on so many cores: spinning where each has a core, else yielding,
    /// so that the design is measured and not the scheduler's quantum.
    #[must_use]
    pub const fn suited_to(threads: usize, cores: usize) -> Self {
        if threads <= cores { Self::Spin } else { Self::Yield }
    }

    /// Whether a thread may sleep, and so has to be notified.
    #[must_use]
    pub const fn sleeps(self) -> bool {
        matches!(self, Self::Park | Self::Settle)
    }

    /// Polls `look` until it finds something, waiting between polls; asleep on `event`, if at all.
    #[inline]
    pub fn until<R>(self, event: &Event<Native>, mut look: impl FnMut() -> Option<R>) -> R {
        if let Some(found) = look() {
            return found;
        }
        self.wait(event, look)
    }

    fn wait<R>(self, event: &Event<Native>, mut look: impl FnMut() -> Option<R>) -> R {
        let mut polls = 1;
        while self == Self::Spin || polls < Self::POLLS {
            std::hint::spin_loop();
            if let Some(found) = look() {
                return found;
            }
            polls = polls.saturating_add(1);
        }
        let mut yields = 0;
        while self == Self::Yield || (self == Self::Settle && yields < Self::YIELDS) {
            std::thread::yield_now();
            if let Some(found) = look() {
                return found;
            }
            yields = yields.saturating_add(1);
        }
        event.wait_until(look)
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Spin => "spin",
            Self::Yield => "yield",
            Self::Park => "park",
            Self::Settle => "settle",
        })
    }
}

/// The events of one queue's threads.
#[derive(Debug)]
pub struct Signals {
    clients: Event<Native>,
    workers: Workers,
}

#[derive(Debug)]
enum Workers {
    /// Any worker takes any request: they sleep in one place.
    Together(Box<Event<Native>>),
    /// A request is for one lane.
    PerLane(Vec<Event<Native>>),
}

impl Signals {
    /// Events for a design with these claims and so many lanes.
    #[must_use]
    pub fn new(claims: &Claims, lanes: usize) -> Self {
        let workers = if claims.work_conserving {
            Workers::Together(Box::default())
        } else {
            Workers::PerLane((0..lanes).map(|_| Event::new()).collect())
        };
        Self { clients: Event::new(), workers }
    }

    /// Where clients sleep.
    #[must_use]
    pub fn clients(&self) -> &Event<Native> {
        &self.clients
    }

    /// Where the worker of this lane sleeps.
    #[must_use]
    pub fn worker(&self, lane: LaneId) -> &Event<Native> {
        match &self.workers {
            Workers::Together(event) => event,
            Workers::PerLane(events) => &events[lane.index()],
        }
    }

    /// Wakes a worker that may take what was submitted. Where the design's claim and its answer
    /// differ, it wakes all that could be meant: too many wakes are slow, too few hang.
    pub fn submitted(&self, destination: Destination) {
        match (&self.workers, destination) {
            (Workers::Together(event), Destination::Any) => {
                event.notify_one();
            }
            (Workers::PerLane(events), Destination::Lane(lane)) => {
                events[lane.index()].notify_one();
            }
            (Workers::Together(event), Destination::Lane(_)) => {
                event.notify_all();
            }
            (Workers::PerLane(events), Destination::Any) => {
                for event in events {
                    event.notify_one();
                }
            }
        }
    }

    /// Wakes a client: a slot is free. Unless one that sleeps would be told to wait for more, as [`slotwork::Worker::refills`] says.
    pub fn completed(&self, refills: impl FnOnce() -> bool) {
        self.clients.notify_one_unless(refills);
    }

    /// How many sleepers were woken so far, on both sides.
    #[must_use]
    pub fn wakes(&self) -> u64 {
        let workers = match &self.workers {
            Workers::Together(event) => event.wakes(),
            Workers::PerLane(events) => events.iter().map(Event::wakes).sum(),
        };
        self.clients.wakes() + workers
    }

    /// Wakes all clients, to see that they are to stop.
    pub fn stop_clients(&self) {
        self.clients.notify_all();
    }

    /// Wakes all workers, to see that nothing more will come.
    pub fn stop_workers(&self) {
        match &self.workers {
            Workers::Together(event) => {
                event.notify_all();
            }
            Workers::PerLane(events) => {
                for event in events {
                    event.notify_all();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotwork_catalog::ENTRIES;

    #[test]
    fn spinning_is_for_those_who_have_a_core_each() {
        assert_eq!(Waiting::suited_to(2, 2), Waiting::Spin);
        assert_eq!(Waiting::suited_to(3, 2), Waiting::Yield);
        assert_eq!(Waiting::suited_to(2, 1), Waiting::Yield);
    }

    #[test]
    fn every_policy_finds_at_once_and_after_many_polls() {
        let event = Event::new();
        for waiting in [Waiting::Spin, Waiting::Yield] {
            for wanted in [1, 2, 64, 65, 500] {
                let mut polls = 0;
                let found = waiting.until(&event, || {
                    polls += 1;
                    (polls == wanted).then_some(polls)
                });
                assert_eq!(found, wanted);
            }
        }
        // These sleep after 64 and after 96 polls, and look once more before they do.
        for (waiting, last) in [(Waiting::Park, 65), (Waiting::Settle, 97)] {
            let mut polls = 0;
            let found = waiting.until(&event, || {
                polls += 1;
                (polls == last).then_some(polls)
            });
            assert_eq!(found, last);
        }
    }

    #[test]
    fn whatever_the_claims_a_submission_reaches_its_worker() {
        for entry in ENTRIES {
            for destination in [Destination::Any, Destination::Lane(LaneId::new(1))] {
                let signals = Signals::new(&entry.claims, 2);
                let there = std::sync::atomic::AtomicBool::new(false);
                let look = || there.load(std::sync::atomic::Ordering::Acquire).then_some(());
                std::thread::scope(|scope| {
                    let sleeper = scope.spawn(|| signals.worker(LaneId::new(1)).wait_until(look));
                    there.store(true, std::sync::atomic::Ordering::Release);
                    signals.submitted(destination);
                    sleeper.join().unwrap();
                });
            }
        }
    }
}
