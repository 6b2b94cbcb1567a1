//! Waiting for a slot and for work: no wake is lost, however one waits.

use crate::support::fault::Fault;
use crate::support::subject::{Parcel, Plan, Refused, Subject, Submits, Then, Wait, handle, ignore};
use crate::support::{Gate, assert_rejects, for_every_design, for_every_type, in_threads, let_others_sleep};
use slotwork::{Design, Dispatch};
use slotwork_workqueue::{Waiting, Workqueue};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread::{Thread, scope};
use std::time::Duration;

/// The first submitter and others, `count` in all; one where the subject takes one.
pub(crate) fn submitters(subject: &dyn Subject, first: Box<dyn Submits>, count: usize) -> Vec<Box<dyn Submits>> {
    let others: Vec<_> = (1..if subject.many() { count } else { 1 }).map(|_| first.another()).collect();
    std::iter::once(first).chain(others).collect()
}

/// A thread for each submitter sends so many requests and waits for a slot each time. The submitters, for another
/// time, and how many requests were sent.
pub(crate) fn crowd(submitters: Vec<Box<dyn Submits>>, each: u64) -> (Vec<Box<dyn Submits>>, u64) {
    let sent = submitters.len() as u64 * each;
    let send = |submitter: Box<dyn Submits>| {
        (0..each).for_each(|number| submitter.send(Wait::ForEver, number).expect("not stopped"));
        submitter
    };
    (in_threads(submitters, send), sent)
}

/// Sleeps at once, so that every wake matters.
pub(crate) const ASLEEP: Waiting = Waiting { looks: 0, yields: 0 };

pub(crate) fn waiter_vs_recheck(subject: &'static dyn Subject) {
    for waiting in [ASLEEP, Waiting::SETTLE] {
        let (queue, first) = subject.start(Plan { waiting, ..Plan::new(1, 1) }, handle, ignore);
        let (_, sent) = crowd(submitters(subject, first, 40), if subject.many() { 40 } else { 1600 });
        assert_eq!(queue.shutdown().handled, sent);
    }
}

#[test]
fn waiter_vs_recheck_one_slot_and_forty_clients() {
    for_every_design(waiter_vs_recheck);
    assert_rejects(waiter_vs_recheck, &[(Fault::SleepsUnseen, "no end"), (Fault::BatchesWakes, "no end")]);
}

pub(crate) fn batch_too_big(subject: &'static dyn Subject) {
    for slots in (1..=8).chain([16]) {
        let (queue, first) = subject.start(Plan { waiting: ASLEEP, ..Plan::new(1, slots) }, handle, ignore);
        let (_, sent) = crowd(submitters(subject, first, 4 * slots), 20);
        assert_eq!(queue.shutdown().handled, sent);
    }
}

#[test]
fn batch_too_big_for_few_slots() {
    for_every_design(batch_too_big);
    assert_rejects(batch_too_big, &[(Fault::BatchesWakes, "no end")]);
}

/// One submitter, and nothing under way but its own: it never sleeps beside a free slot.
pub(crate) fn one_sleeper(subject: &'static dyn Subject) {
    for slots in [1, 2] {
        let (queue, submitter) = subject.start(Plan { waiting: ASLEEP, ..Plan::new(1, slots) }, handle, ignore);
        for number in 0..1000 {
            submitter.send(Wait::ForEver, number).expect("not stopped");
            if number % 3 == 0 {
                submitter.drain().expect("outside of handlers");
            }
        }
        assert_eq!(queue.shutdown().handled, 1000);
    }
}

#[test]
fn one_sleeper_beside_a_free_slot() {
    for_every_design(one_sleeper);
    assert_rejects(one_sleeper, &[(Fault::BatchesWakes, "no end")]);
}

/// All requests end back to back, and as many that wait go on, all of them at once: with four slots, and with so many that a client
/// may be told to wait for more than one.
pub(crate) fn notified_twice(subject: &'static dyn Subject) {
    if !subject.many() {
        return;
    }
    for slots in [4, 4, 4, 4, 16] {
        let (gate, ended) = (Gate::default(), AtomicU64::new(0));
        let (_queue, submitter) = {
            let gate = gate.clone();
            // Of many, the first end one by one: who is woken and told to wait for more is asleep again before the next.
            let handler = move |_: &mut Parcel| {
                gate.pass();
                if slots > 4 && ended.fetch_add(1, Ordering::Relaxed) < 4 {
                    let_others_sleep();
                }
            };
            subject.start(Plan { waiting: ASLEEP, ..Plan::new(1, slots) }, handler, ignore)
        };
        (0..slots).for_each(|_| submitter.send(Wait::Not, 0).expect("a free slot"));
        let together = Arc::new(Barrier::new(slots));
        scope(|scope| {
            for _ in 0..slots {
                let (other, together) = (submitter.another(), Arc::clone(&together));
                scope.spawn(move || {
                    let held = other.with(Wait::ForEver, |_, _| {
                        together.wait();
                        Then::Withdraw
                    });
                    held.expect("not stopped");
                });
            }
            let_others_sleep();
            gate.open();
        });
    }
}

#[test]
fn notified_twice_wakes_as_many_as_ended() {
    for_every_design(notified_twice);
    assert_rejects(notified_twice, &[(Fault::BatchesWakes, "no end")]);
}

/// Slots that are given back unsubmitted wake those that wait, too.
pub(crate) fn withdrawn(subject: &'static dyn Subject) {
    if !subject.many() {
        return;
    }
    let (_queue, first) = subject.start(Plan { waiting: ASLEEP, ..Plan::new(1, 1) }, handle, ignore);
    for _ in 0..5 {
        let others = [first.another(), first.another(), first.another()];
        scope(|scope| {
            let held = first.with(Wait::ForEver, |_, _| {
                for other in others {
                    scope.spawn(move || {
                        for _ in 0..40 {
                            let held = other.with(Wait::ForEver, |_, _| {
                                std::thread::yield_now();
                                Then::Withdraw
                            });
                            held.expect("not stopped");
                        }
                    });
                }
                let_others_sleep();
                Then::Withdraw
            });
            held.expect("not stopped");
        });
    }
}

#[test]
fn a_withdrawn_slot_wakes() {
    for_every_design(withdrawn);
    assert_rejects(withdrawn, &[(Fault::WithdrawsSilently, "no end")]);
}

/// Every way of waiting at once, on two slots: try, wait, wait with a timeout, drain.
pub(crate) fn bypass_count(subject: &'static dyn Subject) {
    const EACH: u64 = 300;
    let (queue, first) = subject.start(Plan { waiting: ASLEEP, ..Plan::new(2, 1) }, handle, ignore);
    let sent = AtomicU64::new(0);
    scope(|scope| {
        for (way, submitter) in submitters(subject, first, 5).into_iter().enumerate() {
            let sent = &sent;
            scope.spawn(move || {
                for number in 0..EACH {
                    let way = if subject.many() { way } else { usize::try_from(number).expect("small") } % 5;
                    let wait = match way {
                        0 => Wait::Not,
                        1 => Wait::For(Duration::from_micros(1)),
                        2 => Wait::For(Duration::from_micros(200)),
                        _ => Wait::ForEver,
                    };
                    match submitter.send(wait, number) {
                        Ok(()) => _ = sent.fetch_add(1, Ordering::Relaxed),
                        Err(Refused::Full | Refused::Timeout) => std::thread::yield_now(),
                        Err(refused) => panic!("{refused:?}"),
                    }
                    if way == 4 {
                        submitter.drain().expect("outside of handlers");
                    }
                }
            });
        }
    });
    assert_eq!(queue.shutdown().ended(), sent.into_inner(), "submitted requests end once");
}

#[test]
fn bypass_count_every_way_of_waiting_at_once() {
    for_every_design(bypass_count);
    assert_rejects(bypass_count, &[(Fault::LosesOne, "end once")]);
}

/// A waiter of each kind, the only one there is, is woken.
pub(crate) fn bypass_count_alone(subject: &'static dyn Subject) {
    let hour = Wait::For(Duration::from_secs(3600));
    for wait in [Some(Wait::ForEver), Some(hour), None].into_iter().cycle().take(9) {
        let gate = Gate::default();
        let (queue, submitter) = {
            let gate = gate.clone();
            subject.start(Plan { waiting: ASLEEP, ..Plan::new(1, 1) }, move |_| gate.pass(), ignore)
        };
        submitter.send(Wait::Not, 0).expect("a free slot");
        gate.wait_for(1);
        scope(|scope| {
            scope.spawn(move || match wait {
                Some(wait) => submitter.send(wait, 1).expect("a slot becomes free"),
                None => submitter.drain().expect("outside of handlers"),
            });
            let_others_sleep();
            gate.open();
        });
        queue.shutdown();
    }
}

#[test]
fn bypass_count_each_way_of_waiting_alone() {
    for_every_design(bypass_count_alone);
    assert_rejects(bypass_count_alone, &[(Fault::TimedUnseen, "no end"), (Fault::DrainUnseen, "no end")]);
}

/// Waiters that time out on a full queue; then slots come back, one for each that still waits.
pub(crate) fn timed_out_waiter(subject: &'static dyn Subject) {
    let gate = Gate::default();
    let (queue, first) = {
        let gate = gate.clone();
        subject.start(Plan::new(1, 1), move |_| gate.pass(), ignore)
    };
    first.send(Wait::Not, 0).expect("a free slot");
    let submitters = in_threads(submitters(subject, first, 4), |submitter: Box<dyn Submits>| {
        for _ in 0..20 {
            let refused = submitter.send(Wait::For(Duration::from_millis(5)), 1);
            assert_eq!(refused, Err(Refused::Timeout), "the queue is full");
        }
        submitter
    });
    let (_, sent) = scope(|scope| {
        let waits = scope.spawn(move || crowd(submitters, 5));
        let_others_sleep();
        gate.open();
        waits.join().expect("submitters")
    });
    assert_eq!(queue.shutdown().handled, sent + 1);
}

#[test]
fn timed_out_waiter_leaves_no_trace() {
    for_every_design(timed_out_waiter);
    assert_rejects(timed_out_waiter, &[(Fault::TimeoutLeavesTrace, "no end")]);
}

/// Timeouts that end just as a slot comes: each slot is used or left, never lost.
pub(crate) fn cancel_loses_item(subject: &'static dyn Subject) {
    let (queue, first) = subject.start(Plan { waiting: ASLEEP, ..Plan::new(2, 1) }, handle, ignore);
    let sent = AtomicU64::new(0);
    scope(|scope| {
        for submitter in submitters(subject, first, 3) {
            let sent = &sent;
            scope.spawn(move || {
                for number in 0..400 {
                    if submitter.send(Wait::For(Duration::from_micros(1 + number % 50)), number).is_ok() {
                        sent.fetch_add(1, Ordering::Relaxed);
                    }
                }
                (0..20).for_each(|number| submitter.send(Wait::ForEver, number).expect("not stopped"));
                sent.fetch_add(20, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(queue.shutdown().handled, sent.into_inner(), "what was sent is handled");
}

#[test]
fn cancel_loses_item_when_the_time_ends_at_hand_over() {
    for_every_design(cancel_loses_item);
    assert_rejects(cancel_loses_item, &[(Fault::TimeoutTakes, "no end"), (Fault::LosesOne, "is handled")]);
}

/// One request at a time, to whichever worker the policy says: none sleeps beside its own.
#[test]
fn second_inbox_is_looked_into() {
    fn check<D: Design>() {
        let (queue, submitter) = Workqueue::<u64, D>::builder("inbox")
            .workers(4)
            .requests_per_worker(2)
            .waiting(ASLEEP)
            .build(|_| 0, |_| {})
            .expect("a small workqueue");
        for number in 0..400_usize {
            if number.is_multiple_of(5) {
                submitter.set_dispatch([Dispatch::RoundRobin, Dispatch::FillFirst][number / 5 % 2]);
            }
            // One, or two at once: to the same worker, or to two.
            for _ in 0..number % 2 + 1 {
                submitter.request().expect("not stopped").submit().expect("not stopped");
            }
            submitter.drain().expect("outside of handlers");
        }
        assert_eq!(queue.shutdown().expect("outside of handlers").handled, 600);
    }
    for_every_type!(check);
}

/// Unparks that mean nothing, fired at workers and submitters all the time.
pub(crate) fn spurious_unpark(subject: &'static dyn Subject) {
    let sleepers: Arc<Mutex<Vec<Thread>>> = Arc::default();
    let meet = |sleepers: &Mutex<Vec<Thread>>| {
        let this = std::thread::current();
        let mut sleepers = sleepers.lock().expect("no panic in it");
        if !sleepers.iter().any(|thread| thread.id() == this.id()) {
            sleepers.push(this);
        }
    };
    let (queue, first) = {
        let sleepers = Arc::clone(&sleepers);
        let handler = move |parcel: &mut Parcel| {
            meet(&sleepers);
            handle(parcel);
        };
        subject.start(Plan { waiting: ASLEEP, ..Plan::new(2, 1) }, handler, ignore)
    };
    let over = AtomicBool::new(false);
    let sent = AtomicU64::new(0);
    scope(|scope| {
        let (over, sent, sleepers) = (&over, &sent, &sleepers);
        scope.spawn(move || {
            while !over.load(Ordering::Relaxed) {
                sleepers.lock().expect("no panic in it").iter().for_each(Thread::unpark);
                std::thread::yield_now();
            }
        });
        let crowd: Vec<_> = submitters(subject, first, 3)
            .into_iter()
            .map(|submitter| {
                scope.spawn(move || {
                    meet(sleepers);
                    for number in 0..500 {
                        let wait = if number % 2 == 0 { Wait::ForEver } else { Wait::For(Duration::from_micros(100)) };
                        match submitter.send(wait, number) {
                            Ok(()) => _ = sent.fetch_add(1, Ordering::Relaxed),
                            Err(refused) => assert_eq!(refused, Refused::Timeout),
                        }
                        if number % 50 == 0 {
                            submitter.drain().expect("outside of handlers");
                        }
                    }
                })
            })
            .collect();
        let ended: Vec<_> = crowd.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        over.store(true, Ordering::Relaxed);
        ended.into_iter().for_each(|end| end.expect("a submitter"));
    });
    assert_eq!(queue.shutdown().handled, sent.into_inner());
}

#[test]
fn spurious_unpark_disturbs_nobody() {
    for_every_design(spurious_unpark);
}
