//! An event of each worker's own, where submitters sleep on all of them: what holds with one event holds with many.

use crate::support::for_four_types;
use crate::support::subject::{Real, Subject};
use crate::{circle, drain, shutdown, waits};
use slotwork::Design;
use slotwork_workqueue::Completion;
use std::marker::PhantomData;

/// Each of these is shown elsewhere to reject what it should.
const CHECKS: [fn(&'static dyn Subject); 9] = [
    circle::circle,
    waits::waiter_vs_recheck,
    waits::batch_too_big,
    waits::notified_twice,
    waits::withdrawn,
    waits::bypass_count,
    waits::timed_out_waiter,
    drain::several_threads,
    shutdown::waiting_at_the_end,
];

#[test]
fn an_event_per_worker_loses_no_wake() {
    fn check<D: Design>() {
        for check in CHECKS {
            check(&Real::<D>(Completion::EventPerWorker, PhantomData));
        }
    }
    for_four_types!(check);
}
