//! Waiting until everything submitted before a point has completed.
//!
//! ```text
//!   turn of a slot:   … even ──submit──▶ odd ──complete──▶ even …
//!
//!   a drain remembers the odd turns it saw, and waits until each has moved on;
//!   then, for each worker seen inside `complete`, until it is out of it
//! ```
//!
//! The second step is what makes the slots free, and not only handled, when a drain ends. A client
//! that goes on submitting does not prolong a drain: later turns are not waited for.

use crate::pool::Shared;
use crate::{Backoff, LaneId, RequestQueue, SlotId};
use std::fmt;
use std::sync::Arc;

/// A drain under way: ends when everything that was submitted before it began (in happens-before
/// order) has completed. Made by [`Client::begin_drain`](crate::Client::begin_drain).
///
/// When [`Drain::poll`] has said true, the handlers of those requests happen before it, and their
/// slots are free (or were acquired again since).
pub struct Drain<T, Q: RequestQueue> {
    shared: Arc<Shared<T, Q>>,
    in_flight: Vec<(SlotId, u64)>,
    /// Workers not yet looked at since `in_flight` became empty, or last seen inside `complete`.
    completing: Option<Vec<(LaneId, u64)>>,
}

impl<T, Q: RequestQueue> Drain<T, Q> {
    pub(crate) fn begin(shared: &Arc<Shared<T, Q>>) -> Self {
        let in_flight = shared
            .shape()
            .all_slots()
            .filter_map(|slot| {
                let turn = shared.turn(slot);
                turn.in_flight().then_some((slot, turn.get()))
            })
            .collect();
        Self { shared: Arc::clone(shared), in_flight, completing: None }
    }

    /// Whether the drain has ended. Never blocks; cost: one load per slot still in flight.
    pub fn poll(&mut self) -> bool {
        let Self { shared, in_flight, completing } = self;
        in_flight.retain(|&(slot, turn)| shared.turn(slot).get() == turn);
        if !in_flight.is_empty() {
            return false;
        }
        let completing = completing.get_or_insert_with(|| {
            let phases = shared.shape().all_lanes().map(|lane| (lane, shared.phase(lane)));
            phases.filter(|&(_, phase)| phase % 2 == 1).collect()
        });
        completing.retain(|&(lane, phase)| shared.phase(lane) == phase);
        completing.is_empty()
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
