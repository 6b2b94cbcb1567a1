//! The end: every request ends once, every call returns, nothing runs after it.

use crate::circle::fates_in_hand;
use crate::support::fault::Fault;
use crate::support::subject::{Parcel, Plan, Queue, Refused, Subject, Then, Wait, handle, ignore};
use crate::support::{Gate, assert_rejects, for_every_design, for_four_types, let_others_sleep, until};
use slotwork::Design;
use slotwork_workqueue::{Report, ShutdownError, Workqueue};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::scope;

/// Ends the queue while submitters race with the end: what was submitted is handled or cancelled, and counted once.
fn race(subject: &dyn Subject, cancel: bool, submitters: usize, others_before: u64) {
    let handler = |parcel: &mut Parcel| {
        std::thread::yield_now();
        handle(parcel);
    };
    let (queue, first) = subject.start(Plan::new(2, 2), handler, ignore);
    let sent = AtomicU64::new(0);
    let others: Vec<_> = (1..if subject.many() { submitters } else { 1 }).map(|_| first.another()).collect();
    scope(|scope| {
        for submitter in std::iter::once(first).chain(others) {
            let sent = &sent;
            scope.spawn(move || {
                loop {
                    match submitter.send(Wait::ForEver, 1) {
                        Ok(()) => _ = sent.fetch_add(1, Ordering::Relaxed),
                        Err(refused) => break assert_eq!(refused, Refused::Stopped),
                    }
                }
            });
        }
        until(|| sent.load(Ordering::Relaxed) >= others_before);
        if cancel {
            queue.shutdown_now()
        } else {
            queue.shutdown()
        };
    });
    let report = queue.report();
    let sent = sent.into_inner();
    assert!(report.ended() == sent && report.failed == 0, "{sent} were submitted, and {report:?}");
}

pub(crate) fn quit_drops_work(subject: &'static dyn Subject) {
    for round in 0..15 {
        race(subject, round % 2 == 0, 3, round * 7);
    }
    // Nobody races: what was submitted before a shutdown is handled, all of it.
    let (queue, submitter) = subject.start(Plan::new(2, 4), handle, ignore);
    for number in 0..8 {
        submitter.send(Wait::ForEver, number).expect("not stopped");
    }
    assert_eq!(queue.shutdown(), Report { handled: 8, failed: 0, cancelled: 0 }, "submitted before the shutdown");
}

#[test]
fn quit_drops_work_never_and_counts_it_once() {
    for_every_design(quit_drops_work);
    assert_rejects(quit_drops_work, &[(Fault::QuitsBeforeLook, "submitted"), (Fault::CancelsUncounted, "submitted")]);
}

/// With a request in the handler and others behind it: the one is finished, the others are cancelled.
pub(crate) fn shutdown_now(subject: &'static dyn Subject) {
    for (first_cancels, then_cancels) in [(true, true), (true, false), (false, true)] {
        let gate = Gate::default();
        let (queue, submitter) = {
            let gate = gate.clone();
            subject.start(Plan::new(1, 4), move |_| gate.pass(), ignore)
        };
        (0..4).for_each(|number| submitter.send(Wait::Not, number).expect("a free slot"));
        gate.wait_for(1);
        scope(|scope| {
            let end = |cancel: bool| if cancel { queue.shutdown_now() } else { queue.shutdown() };
            scope.spawn(move || end(first_cancels));
            // Nothing tells from outside that a shutdown has begun while all slots are in use, but a submitter that waits.
            assert_eq!(submitter.send(Wait::ForEver, 9), Err(Refused::Stopped), "while the handler is at it");
            scope.spawn(move || end(then_cancels));
            let_others_sleep();
            gate.open();
        });
        let report = queue.report();
        assert_eq!(report.ended(), 4, "{report:?}");
        if first_cancels {
            assert_eq!(report, Report { handled: 1, failed: 0, cancelled: 3 }, "one was begun");
        }
    }
}

#[test]
fn shutdown_now_cancels_what_is_queued_also_during_a_shutdown() {
    for_every_design(shutdown_now);
    assert_rejects(shutdown_now, &[(Fault::CancelsNothing, "one was begun"), (Fault::WaitsBeyondEnd, "no end")]);
}

pub(crate) fn join_twice(subject: &'static dyn Subject) {
    for cancel in [false, true] {
        let end = move |queue: &dyn Queue| if cancel { queue.shutdown_now() } else { queue.shutdown() };
        let (queue, submitter) = subject.start(Plan::new(2, 2), handle, ignore);
        (0..20).for_each(|number| submitter.send(Wait::ForEver, number).expect("not stopped"));
        let reports: Vec<_> = scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| end(&*queue))).collect();
            threads.into_iter().map(|thread| thread.join().expect("a shutdown")).collect()
        });
        for report in reports.into_iter().chain((0..3).map(|_| end(&*queue))) {
            assert_eq!(report.ended(), 20, "each says the same: {report:?}");
        }
        drop(queue);
        drop(submitter);
    }
}

#[test]
fn join_twice_three_times_and_at_once() {
    for_every_design(join_twice);
    assert_rejects(join_twice, &[(Fault::SecondJoinHangs, "no end")]);
}

/// Stop and start, with a submitter at work: the count of live workers is right each time.
pub(crate) fn suspend_count(subject: &'static dyn Subject) {
    for round in 0..150 {
        race(subject, round % 3 == 0, 1 + (round % 2), (round % 5) as u64);
    }
}

#[test]
fn suspend_count_over_many_rounds() {
    for_every_design(suspend_count);
    assert_rejects(suspend_count, &[(Fault::QuitsBeforeLook, "submitted, and")]);
}

/// After the end: no request is taken, and its slot is not lost.
pub(crate) fn after_the_end(subject: &'static dyn Subject) {
    let plan = Plan::new(2, 2);
    let (queue, submitter) = subject.start(plan, handle, ignore);
    submitter.send(Wait::Not, 1).expect("a free slot");
    queue.shutdown();
    for _ in 0..3 * plan.slots() {
        for wait in [Wait::Not, Wait::ForEver] {
            assert_eq!(submitter.send(wait, 1), Err(Refused::Stopped), "after the end");
        }
    }
    assert_eq!(fates_in_hand(&*submitter, plan.slots()).len(), plan.slots());
    assert_eq!(queue.report().ended(), 1);
}

#[test]
fn a_submit_after_the_end_is_refused_and_keeps_no_slot() {
    for_every_design(after_the_end);
    assert_rejects(after_the_end, &[(Fault::StoppedKeepsSlot, "after the end")]);
}

/// When a shutdown that cancels has returned, the handler that it found at work is over.
pub(crate) fn cancel_then_callback(subject: &'static dyn Subject) {
    for _ in 0..5 {
        let (gate, over) = (Gate::default(), Arc::new(AtomicBool::new(false)));
        let (queue, submitter) = {
            let (gate, over) = (gate.clone(), Arc::clone(&over));
            let handler = move |_: &mut Parcel| {
                gate.pass();
                over.store(true, Ordering::Release);
            };
            subject.start(Plan::new(1, 1), handler, ignore)
        };
        submitter.send(Wait::Not, 0).expect("a free slot");
        gate.wait_for(1);
        scope(|scope| {
            scope.spawn(move || {
                assert_eq!(submitter.send(Wait::ForEver, 0), Err(Refused::Stopped));
                let_others_sleep();
                gate.open();
            });
            queue.shutdown_now();
            assert!(over.load(Ordering::Acquire), "a handler runs when the shutdown returns");
        });
    }
}

#[test]
fn cancel_then_callback_is_over() {
    for_every_design(cancel_then_callback);
    assert_rejects(cancel_then_callback, &[(Fault::CancelIsEarly, "a handler runs")]);
}

/// The last handle of the threads is dropped by a handler: no thread waits for itself.
fn join_self<D: Design>() {
    type Last<D> = Option<Arc<Workqueue<Owner<D>, D>>>;
    struct Owner<D: Design>(Last<D>, Option<Gate>);
    for workers in [1, 3] {
        let ended = Arc::new(AtomicUsize::new(0));
        let refused = Arc::new(Mutex::new(None));
        let (count, told) = (Arc::clone(&ended), Arc::clone(&refused));
        let (queue, submitter) = Workqueue::<Owner<D>, D>::builder("last")
            .workers(workers)
            .build(
                |_| Owner(None, None),
                move |owner| {
                    if let Some(gate) = owner.1.take() {
                        gate.pass();
                        let queue = owner.0.take().expect("with its gate");
                        *told.lock().expect("once") = Some(queue.shutdown());
                        drop(queue);
                    }
                    count.fetch_add(1, Ordering::Relaxed);
                },
            )
            .expect("a small workqueue");
        let queue = Arc::new(queue);
        let weak = Arc::downgrade(&queue);
        let gate = Gate::default();
        let mut request = submitter.request().expect("a free slot");
        (request.0, request.1) = (Some(Arc::clone(&queue)), Some(gate.clone()));
        request.submit().expect("not stopped");
        gate.wait_for(1);
        drop(queue);
        for _ in 0..2 {
            submitter.request().expect("a free slot").submit().expect("not stopped");
        }
        gate.open();
        submitter.drain().expect("outside of handlers");
        assert_eq!(ended.load(Ordering::Relaxed), 3, "what was queued is handled");
        assert_eq!(*refused.lock().expect("once"), Some(Err(ShutdownError::InsideHandler)));
        assert!(weak.upgrade().is_none());
        until(|| submitter.request().is_ok_and(|request| request.submit().is_err()));
    }
}

#[test]
fn join_self_by_dropping_the_last_handle_in_a_handler() {
    for_four_types!(join_self);
}

/// Payloads that keep a channel open: they go with the last of the workqueue and its submitters, whatever state they
/// are in, and not before.
fn reply_inside_item<D: Design>() {
    let (reply, replies) = channel::<()>();
    let gate = Gate::default();
    let inside = gate.clone();
    let (queue, submitter) = Workqueue::<Option<Sender<()>>, D>::builder("reply")
        .requests_per_worker(4)
        .build(|_| None, move |_| inside.pass())
        .expect("a small workqueue");
    for _ in 0..3 {
        let mut request = submitter.try_request().expect("a free slot");
        *request = Some(reply.clone());
        request.submit().expect("not stopped");
    }
    drop(reply);
    gate.wait_for(1);
    let waiting = replies.try_recv();
    assert_eq!(waiting, Err(std::sync::mpsc::TryRecvError::Empty), "requests are under way");
    let opener = std::thread::spawn(move || {
        let_others_sleep();
        gate.open();
    });
    let report = queue.shutdown_now().expect("outside of handlers");
    opener.join().expect("the opener");
    assert_eq!(report.ended(), 3);
    drop(queue);
    assert_eq!(replies.try_recv(), Err(std::sync::mpsc::TryRecvError::Empty), "a submitter may still look at them");
    drop(submitter);
    assert_eq!(replies.recv(), Err(std::sync::mpsc::RecvError), "the last handle is gone");
}

#[test]
fn reply_inside_item_goes_with_the_last_handle() {
    for_four_types!(reply_inside_item);
}

/// A submitter that waits for a slot when the end comes, and never gets one.
pub(crate) fn waiting_at_the_end(subject: &'static dyn Subject) {
    let gate = Gate::default();
    let (queue, submitter) = {
        let gate = gate.clone();
        subject.start(Plan::new(1, 1), move |_| gate.pass(), ignore)
    };
    submitter.send(Wait::Not, 0).expect("a free slot");
    gate.wait_for(1);
    let over = AtomicBool::new(false);
    scope(|scope| {
        let (queue, over) = (&queue, &over);
        scope.spawn(move || {
            let_others_sleep();
            queue.shutdown();
            over.store(true, Ordering::Release);
        });
        let hour = Wait::For(std::time::Duration::from_secs(3600));
        for wait in [Wait::ForEver, hour, Wait::ForEver] {
            assert_eq!(submitter.with(wait, |_, _| Then::Submit), Err(Refused::Stopped));
        }
        assert!(!over.load(Ordering::Acquire), "the handler is still at it");
        gate.open();
    });
}

#[test]
fn a_submitter_that_waits_is_told_of_the_end() {
    for_every_design(waiting_at_the_end);
    assert_rejects(waiting_at_the_end, &[(Fault::WaitsBeyondEnd, "no end")]);
}
