//! Waiting until everything submitted before a point has completed.
//!
//! ```text
//!   turn of a slot:      … ──submit──▶ in flight ──complete──▶ completed as worker 2's 17th …
//!   worker 2's counter:  … 16 ─────────────────────────────────────────────────────▶ 17
//!
//!   a drain remembers the turns that it saw in flight, waits until each has moved on,
//!   and then until the counter of whoever completed it has come to that number
//! ```
//!
//! The counter moves after the queue has the slot back: this is what makes the slots free, and not
//! only handled, when a drain ends. A client that goes on submitting does not prolong a drain:
//! later turns are not waited for.

use crate::pool::Shared;
use crate::{Backoff, LaneId, RequestQueue, SlotId};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// A drain under way: ends when everything that was submitted before it began (in happens-before
/// order) has completed. Made by [`Client::begin_drain`](crate::Client::begin_drain).
///
/// When [`Drain::poll`] has said true, the handlers of those requests happen before it, and their
/// slots are free (or were acquired again since).
pub struct Drain<T, Q: RequestQueue> {
    shared: Arc<Shared<T, Q>>,
    in_flight: Vec<(SlotId, u64)>,
    /// Completions seen whose number the worker's counter has not come to yet.
    completing: Vec<(LaneId, u64)>,
}

impl<T, Q: RequestQueue> Drain<T, Q> {
    pub(crate) fn begin(shared: &Arc<Shared<T, Q>>) -> Self {
        let mut drain = Self { shared: Arc::clone(shared), in_flight: Vec::new(), completing: Vec::new() };
        for slot in shared.shape().all_slots() {
            let turn = shared.turn(slot);
            if turn.in_flight() {
                drain.in_flight.push((slot, turn.get()));
            } else {
                drain.completing.push(turn.completion());
            }
        }
        drain
    }

    /// Whether the drain has ended. Never blocks; cost: a load for each slot not yet seen completed.
    pub fn poll(&mut self) -> bool {
        let Self { shared, in_flight, completing } = self;
        in_flight.retain(|&(slot, turn)| {
            let now = shared.turn(slot);
            let completed = now.get() != turn;
            if completed {
                completing.push(now.completion());
            }
            !completed
        });
        completing.retain(|&(lane, number)| shared.completed(lane) < number);
        in_flight.is_empty() && completing.is_empty()
    }

    /// Waits for the end. **Blocking**: needs the workers to go on.
    pub fn wait(mut self) {
        let mut backoff = Backoff::<Q::Platform>::new();
        while !self.poll() {
            backoff.snooze();
        }
    }
}

impl<T, Q: RequestQueue> fmt::Debug for Drain<T, Q> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Drain").field("in_flight", &self.in_flight.len()).finish_non_exhaustive()
    }
}
