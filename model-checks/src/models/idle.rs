//! The model of a claim: no worker idles while a request is queued.

use super::{Bound, LONG, Model, handle_all, handles, submit};
use crate::platform::Machine;
use crate::seen::{Overlap, Seen};
use slotwork::{Claims, Design};
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// One worker is busy with a request; whatever else is queued, the other one finds. WAITING-WORKER-IDLE.
pub struct NoIdleWorker;

impl Model for NoIdleWorker {
    const NAME: &'static str = "waiting_worker_idle";
    const PROPERTY: &'static str = "no worker idles beside a queued request";
    const WITNESSES: &'static [&'static str] = &["overlap"];
    const FLOOR: u64 = 3;
    const BOUND: Bound = LONG;

    fn skip(claims: &Claims) -> Option<&'static str> {
        (!claims.work_conserving).then_some("ties requests to workers")
    }

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (client, mut workers) = handles::<D, P>(2, 2);
        let (busy, idle) = (workers.remove(0), workers.remove(0));
        (1..=3).for_each(|value| submit::<D, P>(&client, value));
        let overlap = Arc::new(Overlap::default());
        let other = P::spawn({
            let overlap = Arc::clone(&overlap);
            move || {
                P::step();
                // It never completes it: it is busy for the rest of the execution.
                let held = overlap.during(seen, "overlap", || busy.take().map(|claimed| **ManuallyDrop::new(claimed)));
                (held, busy)
            }
        });
        let mut found = overlap.during(seen, "overlap", || handle_all::<D, P>(&idle));
        let (held, _busy) = P::join(other);
        found.extend(handle_all::<D, P>(&idle));
        found.extend(held);
        found.sort_unstable();
        assert_eq!(found, [1, 2, 3], "what the busy worker does not hold, the idle one finds");
    }
}
