//! How many are woken: none for nothing, no crowd for one slot, and nobody idle beside a request.

use crate::support::fault::Fault;
use crate::support::subject::{Parcel, Plan, Real, Refused, Subject, Wait, handle, ignore};
use crate::support::{Gate, assert_rejects, for_every_design, for_four_types, let_others_sleep, until};
use crate::waits::{ASLEEP, crowd, submitters};
use slotwork::Design;
use slotwork_workqueue::Completion;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::scope;
use std::time::Duration;

/// Three workers and one request at a time: a wake for the worker, one for the drain, and no
/// more: but a worker that finds its request by itself, just as it is woken, passes that wake on.
pub(crate) fn ping_pong_notify(subject: &'static dyn Subject) {
    const REQUESTS: u64 = 300;
    let (queue, submitter) = subject.start(Plan { waiting: ASLEEP, ..Plan::new(3, 1) }, handle, ignore);
    for number in 0..REQUESTS {
        submitter.send(Wait::ForEver, number).expect("not stopped");
        submitter.drain().expect("outside of handlers");
        if number % 100 == 0 {
            // With nothing to do, nobody goes on waking anybody.
            let_others_sleep();
        }
    }
    let (workers, submitters) = queue.wakes();
    assert!(workers <= 2 * REQUESTS, "{workers} wakes of workers for {REQUESTS} requests");
    assert!(submitters <= REQUESTS, "{submitters} wakes of the one submitter, for {REQUESTS} drains");
    drop(queue);
}

#[test]
fn ping_pong_notify_and_needless_reschedule_wake_once_per_event() {
    for_every_design(ping_pong_notify);
    assert_rejects(ping_pong_notify, &[(Fault::PingPong, "wakes of workers")]);
}

/// A crowd waits for eight slots: each slot that comes back wakes one of them, and that one may pass the wake on. Ten
/// times, and no time more than the last: nothing drifts.
pub(crate) fn herd(subject: &'static dyn Subject) {
    herd_of(subject, 64, 10);
}

fn herd_of(subject: &'static dyn Subject, clients: usize, runs: usize) {
    let run = Arc::new(AtomicUsize::new(0));
    let gates: Vec<_> = (0..runs).map(|_| Gate::default()).collect();
    let (queue, first) = {
        let (run, gates) = (Arc::clone(&run), gates.clone());
        let handler = move |_: &mut Parcel| gates[run.load(Ordering::Acquire)].pass();
        subject.start(Plan { waiting: ASLEEP, ..Plan::new(2, 4) }, handler, ignore)
    };
    let mut all = submitters(subject, first, clients);
    let (mut before, mut handled) = ((0, 0), 0);
    for (number, gate) in gates.iter().enumerate() {
        run.store(number, Ordering::Release);
        let sent;
        (all, sent) = scope(|scope| {
            let crowd = scope.spawn(move || crowd(all, 2));
            // The eight slots are in use, and everybody waits.
            let_others_sleep();
            gate.open();
            crowd.join().expect("the crowd")
        });
        all[0].drain().expect("outside of handlers");
        handled += sent;
        assert_eq!(queue.report().handled, handled);
        let wakes = queue.wakes();
        let (workers, submitters) = (wakes.0 - before.0, wakes.1 - before.1);
        // The drain at the end may be woken by each of the last.
        assert!(submitters <= 2 * sent + 8, "{submitters} wakes of submitters for {sent} completions");
        assert!(workers <= 2 * sent, "{workers} wakes of workers for {sent} submits");
        before = wakes;
    }
}

#[test]
fn herd_1000_and_counter_drift_wake() {
    for_every_design(herd);
    assert_rejects(herd, &[(Fault::Herd, "wakes of submitters")]);
}

#[test]
fn herd_1000_of_a_thousand_threads() {
    fn check<D: Design>() {
        herd_of(&Real::<D>(Completion::OneEvent, PhantomData), 1000, 2);
    }
    for_four_types!(check);
}

/// Workers are busy, and nobody is asleep: a submit returns all the same.
pub(crate) fn unpark_spin(subject: &'static dyn Subject) {
    let gate = Gate::default();
    let (queue, submitter) = {
        let gate = gate.clone();
        subject.start(Plan::new(1, 8), move |_| gate.pass(), ignore)
    };
    submitter.send(Wait::Not, 0).expect("a free slot");
    gate.wait_for(1);
    (0..7).for_each(|_| submitter.send(Wait::Not, 0).expect("a free slot"));
    assert_eq!(submitter.send(Wait::Not, 0), Err(Refused::Full));
    assert_eq!(queue.report().ended(), 0, "all this while the worker is busy");
    gate.open();
    assert_eq!(queue.shutdown().handled, 8);
}

#[test]
fn unpark_spin_does_not_wait_for_a_sleeper() {
    for_every_design(unpark_spin);
    assert_rejects(unpark_spin, &[(Fault::SubmitWaits, "no end")]);
}

/// One long request and a hundred short ones: where no worker may idle beside a request, all short ones end while
/// the long one is still at it.
pub(crate) fn waiting_worker_idle(subject: &'static dyn Subject) {
    if !subject.conserves() {
        return;
    }
    let (gate, short) = (Gate::default(), Arc::new(AtomicUsize::new(0)));
    let (queue, submitter) = {
        let (gate, short) = (gate.clone(), Arc::clone(&short));
        let handler = move |parcel: &mut Parcel| match parcel.number {
            0 => gate.pass(),
            _ => _ = short.fetch_add(1, Ordering::Release),
        };
        subject.start(Plan { waiting: ASLEEP, ..Plan::new(2, 52) }, handler, ignore)
    };
    submitter.send(Wait::Not, 0).expect("a free slot");
    gate.wait_for(1);
    (1..=100).for_each(|number| submitter.send(Wait::Not, number).expect("a free slot"));
    until(|| {
        std::thread::sleep(Duration::from_micros(200));
        short.load(Ordering::Acquire) == 100
    });
    assert_eq!(queue.report().failed, 0);
    gate.open();
    assert_eq!(queue.shutdown().handled, 101);
}

#[test]
fn waiting_worker_idle_only_where_it_is_not_claimed() {
    for_every_design(waiting_worker_idle);
    assert_rejects(waiting_worker_idle, &[(Fault::WorkerIdles, "no end")]);
}
