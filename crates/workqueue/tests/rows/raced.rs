//! A submit that is overtaken by the end of its queue, between its steps: found by one of the two that look.

use crate::support::stepped::{Stepped, Steps, with_steps};
use crate::support::{PATIENCE, fault_of, let_others_sleep};
use slotwork_workqueue::{Fate, Report, Submitter, Workqueue};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{JoinHandle, spawn};

struct Raced {
    steps: Arc<Steps>,
    queue: Workqueue<u64, Stepped>,
    submitter: Submitter<u64, Stepped>,
    submitting: JoinHandle<bool>,
}

/// A submit that has seen the queue running, and has not published its request.
fn raced() -> Raced {
    let (steps, (queue, submitter)) = with_steps(|| {
        Workqueue::<u64, Stepped>::builder("raced").requests_per_worker(1).build(|_| 0, |_| {}).expect("a small one")
    });
    let other = submitter.clone();
    let submitting = spawn(move || other.request().is_ok_and(|request| request.submit().is_ok()));
    steps.submitting.wait_for(1);
    Raced { steps, queue, submitter, submitting }
}

/// The end is over before the request can be seen: its submitter looks afterwards.
fn quit_before_publication() {
    let Raced { steps, queue, submitter, submitting } = raced();
    assert_eq!(queue.shutdown().map(|report| report.ended()), Ok(0), "there was nothing");
    steps.submitting.open();
    assert!(submitting.join().expect("the submit"), "it was submitted in time");
    submitter.drain().expect("outside of handlers");
    assert_eq!(queue.report(), Report { handled: 0, failed: 0, cancelled: 1 });
    assert_eq!(submitter.try_request().map(|request| request.fate()), Some(Fate::Cancelled));
}

#[test]
fn quit_drops_work_before_its_publication_never() {
    assert_eq!(fault_of(quit_before_publication, PATIENCE), None);
}

/// The request is published when the worker has found nothing and has not ended: it, the last one, looks again.
fn quit_after_last_look() {
    let Raced { steps, queue, submitter, submitting } = raced();
    let_others_sleep();
    steps.stops_at_nothing.store(true, Ordering::Release);
    let ending = spawn(move || {
        let report = queue.shutdown().expect("outside of handlers");
        (queue, report)
    });
    steps.found_nothing.wait_for(1);
    steps.submitting.open();
    assert!(submitting.join().expect("the submit"), "it was submitted in time");
    steps.stops_at_nothing.store(false, Ordering::Release);
    steps.found_nothing.open();
    let (queue, report) = ending.join().expect("the end");
    assert_eq!(report.ended(), 1, "{report:?}");
    submitter.drain().expect("outside of handlers");
    assert_eq!(queue.report(), report);
}

#[test]
fn quit_drops_work_after_the_last_look_never() {
    assert_eq!(fault_of(quit_after_last_look, PATIENCE), None);
}
