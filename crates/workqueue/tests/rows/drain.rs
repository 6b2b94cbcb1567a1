//! Waiting for what was submitted before.

use crate::support::fault::Fault;
use crate::support::subject::{Parcel, Plan, Refused, Subject, Submits, Then, Wait, answer, handle, ignore};
use crate::support::{
    Gate, IMPATIENCE, PATIENCE, assert_rejects, for_every_design, for_four_types, in_threads, let_others_sleep, until,
};
use slotwork::{Design, Submitters};
use slotwork_workqueue::{Completion, RequestError, ShutdownError, Submitter, Workqueue};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::scope;
use std::time::{Duration, Instant};

/// Another submitter never stops, and a slow handler lets it always have something under way: a drain ends.
pub(crate) fn wait_starved(subject: &'static dyn Subject) {
    // The other's requests hold each other up: the next is there before the one before it ends.
    let over = Arc::new(AtomicBool::new(false));
    let sent = Arc::new(AtomicU64::new(0));
    let handler = {
        let (over, sent) = (Arc::clone(&over), Arc::clone(&sent));
        move |parcel: &mut Parcel| {
            while parcel.number > 0 && sent.load(Ordering::Acquire) <= parcel.number && !over.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
        }
    };
    let (queue, submitter) = subject.start(Plan::new(2, 4), handler, ignore);
    if subject.many() {
        let other = submitter.another();
        scope(|scope| {
            let (over, sent) = (&over, &sent);
            scope.spawn(move || {
                // Not for ever, so that a thread that is left behind by a drain without end does not burn on.
                let started = Instant::now();
                for number in 1.. {
                    if over.load(Ordering::Acquire) || started.elapsed() > IMPATIENCE * 2 {
                        break;
                    }
                    other.send(Wait::ForEver, number).expect("not stopped");
                    sent.store(number, Ordering::Release);
                }
                over.store(true, Ordering::Release);
            });
            until(|| sent.load(Ordering::Acquire) > 0);
            for _ in 0..20 {
                submitter.send(Wait::ForEver, 0).expect("not stopped");
                submitter.drain().expect("outside of handlers");
            }
            over.store(true, Ordering::Release);
        });
    }
    drop(queue);
}

#[test]
fn wait_starved_by_a_submitter_that_never_stops_ends() {
    for_every_design(wait_starved);
    assert_rejects(wait_starved, &[(Fault::DrainWithoutCut, "no end")]);
}

/// When a drain returns, every result is there: handlers are over, not only taken.
pub(crate) fn resume_too_early(subject: &'static dyn Subject) {
    let plan = Plan::new(2, 4);
    let handler = |parcel: &mut Parcel| {
        // Time for a drain that comes too early.
        (0..20).for_each(|_| std::thread::yield_now());
        handle(parcel);
    };
    let (queue, submitter) = subject.start(plan, handler, ignore);
    let mut number = 0;
    for round in 0..100 {
        let count = round % plan.slots() + 1;
        for _ in 0..count {
            number += 1;
            submitter.send(Wait::ForEver, number).expect("not stopped");
        }
        submitter.drain().expect("outside of handlers");
        assert_eq!(queue.report().handled, number, "handled when the drain returns");
        results_in_hand(&*submitter, plan.slots());
    }
}

/// All slots at once, each with the answer to what it carried last.
fn results_in_hand(submitter: &dyn Submits, slots: usize) {
    if slots > 0 {
        let held = submitter.with(Wait::Not, |parcel, _| {
            let Parcel { number, answer: found } = *parcel;
            assert!(number == 0 || found == answer(number), "the result is there when the drain returns");
            results_in_hand(submitter, slots - 1);
            Then::Withdraw
        });
        assert_eq!(held, Ok(()), "the slots are free when the drain returns");
    }
}

#[test]
fn resume_too_early_does_not_happen() {
    for_every_design(resume_too_early);
    assert_rejects(resume_too_early, &[(Fault::DrainSeesTodo, "when the drain returns")]);
}

/// Drains from several threads at once, each of which sees its own request through.
pub(crate) fn several_threads(subject: &'static dyn Subject) {
    let handled: Arc<Vec<AtomicBool>> = Arc::new((0..400).map(|_| AtomicBool::new(false)).collect());
    let (queue, submitter) = {
        let handled = Arc::clone(&handled);
        let handler = move |parcel: &mut Parcel| {
            std::thread::yield_now();
            handled[usize::try_from(parcel.number).expect("small")].store(true, Ordering::Relaxed);
        };
        subject.start(Plan::new(2, 2), handler, ignore)
    };
    let threads = if subject.many() { 4 } else { 1 };
    let others: Vec<_> = (1..threads).map(|_| submitter.another()).collect();
    let all = std::iter::once(submitter).chain(others).enumerate().collect();
    in_threads(all, |(thread, submitter): (usize, Box<dyn Submits>)| {
        for number in (thread..400).step_by(threads) {
            submitter.send(Wait::ForEver, number as u64).expect("not stopped");
            if number % 3 == 0 {
                submitter.drain().expect("outside of handlers");
                assert!(handled[number].load(Ordering::Relaxed), "what was sent before the drain is handled");
            }
        }
    });
    assert_eq!(queue.shutdown().handled, 400);
}

#[test]
fn several_threads_drain_at_once() {
    for_every_design(several_threads);
    assert_rejects(several_threads, &[(Fault::DrainSeesTodo, "before the drain is handled")]);
}

pub(crate) fn nothing_to_wait_for(subject: &'static dyn Subject) {
    let (queue, submitter) = subject.start(Plan::new(2, 2), handle, ignore);
    submitter.drain().expect("nothing was submitted yet");
    submitter.send(Wait::Not, 1).expect("a free slot");
    submitter.drain().expect("outside of handlers");
    submitter.drain().expect("nothing since");
    // A slot in hand is not under way.
    let held = submitter.with(Wait::Not, |_, _| {
        submitter.drain().expect("nothing since");
        Then::Submit
    });
    held.expect("a free slot");
    assert_eq!(queue.shutdown().handled, 2);
    submitter.drain().expect("after a shutdown there is nothing to wait for");
    assert_eq!(submitter.send(Wait::Not, 1), Err(Refused::Stopped));
    drop(queue);
    submitter.drain().expect("nor after the workqueue is gone");
}

#[test]
fn a_drain_with_nothing_under_way_returns() {
    for_every_design(nothing_to_wait_for);
}

/// A drain that gives up is told so, leaves no trace, and takes nothing with it.
fn drain_in_time<D: Design>() {
    for completion in [Completion::OneEvent, Completion::EventPerWorker] {
        let gate = Gate::default();
        let inside = gate.clone();
        let (queue, submitter) = Workqueue::<u64, D>::builder("in time")
            .workers(2)
            .completion(completion)
            .build(|_| 0, move |_| inside.pass())
            .expect("a small workqueue");
        submitter.drain_timeout(Duration::ZERO).expect("nothing was submitted yet");
        submitter.request().expect("not stopped").submit().expect("not stopped");
        gate.wait_for(1);
        for _ in 0..50 {
            assert_eq!(submitter.drain_timeout(Duration::from_micros(100)), Err(RequestError::Timeout));
        }
        assert_eq!(queue.wakes().1, 0, "nobody was woken");
        gate.open();
        submitter.drain_timeout(PATIENCE).expect("the gate is open");
        assert_eq!(queue.report().handled, 1);
        let before = queue.wakes().1;
        submitter.request().expect("not stopped").submit().expect("not stopped");
        submitter.drain().expect("outside of handlers");
        assert!(queue.wakes().1 <= before + 1, "whoever gave up is not woken any more");
    }
}

#[test]
fn timed_out_waiter_of_a_drain_leaves_no_trace() {
    for_four_types!(drain_in_time);
}

/// A handler that waits for its own queue is refused, also when it could only wait for itself; what does not wait works.
fn nested_wait<D: Design>() {
    type Slot<D> = Arc<OnceLock<(Arc<Workqueue<u64, D>>, Mutex<Submitter<u64, D>>)>>;
    if D::CLAIMS.submitters == Submitters::One {
        return;
    }
    for slots in [1, 2] {
        let place: Slot<D> = Arc::new(OnceLock::new());
        let (answers, seen) = channel();
        let inside = Arc::clone(&place);
        let handler = move |depth: &mut u64| {
            let Some((queue, submitter)) = inside.get() else { return };
            let submitter = submitter.lock().expect("one handler at a time");
            let again = submitter.try_request().map(|mut vacancy| {
                *vacancy = *depth + 1;
                if *depth < 5 { vacancy.submit().is_ok() } else { false }
            });
            // All other slots in hand, so that a wait would be for the one that this handler has.
            let held: Vec<_> = std::iter::from_fn(|| submitter.try_request()).collect();
            let waited = submitter.request().map(drop);
            let in_time = submitter.request_timeout(std::time::Duration::from_secs(3600)).map(drop);
            drop(held);
            let answer = (again, waited, in_time, submitter.drain(), queue.shutdown(), queue.shutdown_now());
            answers.send(answer).expect("the test waits");
        };
        let (queue, submitter) = Workqueue::<u64, D>::builder("nested")
            .requests_per_worker(slots)
            .build(|_| 0, handler)
            .expect("a small workqueue");
        let queue = Arc::new(queue);
        let other = Mutex::new(submitter.try_clone().expect("many submitters"));
        assert!(place.set((Arc::clone(&queue), other)).is_ok());
        let vacancy = submitter.request().expect("a free slot");
        vacancy.submit().expect("not stopped");
        let expected = if slots == 1 { 1 } else { 6 };
        for depth in 0..expected {
            let (again, waited, in_time, drained, shut, shut_now) = seen.recv().expect("the handler lives");
            let submits = (slots > 1).then_some(depth < 5);
            assert_eq!(again, submits, "a handler submits to its own queue, if there is a slot");
            assert_eq!(waited, Err(RequestError::InsideHandler));
            assert_eq!(in_time, Err(RequestError::InsideHandler));
            assert_eq!(drained, Err(RequestError::InsideHandler));
            assert_eq!((shut, shut_now), (Err(ShutdownError::InsideHandler), Err(ShutdownError::InsideHandler)));
        }
        submitter.drain().expect("outside of handlers");
        assert_eq!(queue.shutdown().expect("outside of handlers").handled, expected);
        drop(submitter);
    }
}

#[test]
fn nested_wait_inside_a_handler_is_refused() {
    for_four_types!(nested_wait);
}

/// `done` is called with a slot in hand, perhaps the last: waiting there is refused too.
fn nested_wait_in_done<D: Design>() {
    if D::CLAIMS.submitters == Submitters::One {
        return;
    }
    let place: Arc<OnceLock<Mutex<Submitter<u64, D>>>> = Arc::new(OnceLock::new());
    let answers = Arc::new(Mutex::new(Vec::new()));
    let (inside, told) = (Arc::clone(&place), Arc::clone(&answers));
    let (queue, submitter) = Workqueue::<u64, D>::builder("nested")
        .requests_per_worker(1)
        .try_build(
            |_| Ok::<_, ()>(0),
            |_| {},
            move |_| {
                let submitter = inside.get().expect("set before the first request").lock().expect("one at a time");
                told.lock().expect("one at a time").push((submitter.request().map(drop), submitter.drain()));
            },
        )
        .expect("a small workqueue");
    assert!(place.set(Mutex::new(submitter.try_clone().expect("many submitters"))).is_ok());
    for _ in 0..3 {
        submitter.request().expect("not stopped").submit().expect("not stopped");
        submitter.drain().expect("outside of handlers");
    }
    let refused = (Err(RequestError::InsideHandler), Err(RequestError::InsideHandler));
    assert_eq!(*answers.lock().expect("over"), vec![refused; 3]);
    drop(queue);
}

#[test]
fn nested_wait_inside_done_is_refused() {
    for_four_types!(nested_wait_in_done);
}

/// A drain that has slots in hand to collect them wakes all that wait for one: as many as there are slots.
fn collecting_wakes_as_many_as_slots<D: Design>() {
    if D::CLAIMS.submitters == Submitters::One {
        return;
    }
    const SLOTS: usize = 4;
    let gate = Gate::default();
    let inside = gate.clone();
    let (_queue, submitter) = Workqueue::<u64, D>::builder("collecting")
        .requests_per_worker(SLOTS)
        .try_build(|_| Ok::<_, ()>(0), |_| {}, move |_| inside.pass())
        .expect("a small workqueue");
    submitter.request().expect("not stopped").submit().expect("not stopped");
    let together = std::sync::Barrier::new(SLOTS);
    let waiters: Vec<_> = (0..SLOTS).map(|_| submitter.try_clone().expect("few")).collect();
    scope(|scope| {
        scope.spawn(move || submitter.drain().expect("outside of handlers"));
        gate.wait_for(1);
        // All slots are in the drain's hand now, as `done` is in the gate.
        for waiter in waiters {
            let together = &together;
            scope.spawn(move || {
                let vacancy = waiter.request().expect("not stopped");
                together.wait();
                drop(vacancy);
            });
        }
        let_others_sleep();
        gate.open();
    });
}

#[test]
fn one_sleeper_is_woken_for_each_slot_a_drain_gives_back() {
    for_four_types!(collecting_wakes_as_many_as_slots);
}
