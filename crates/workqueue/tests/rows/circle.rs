//! The circle: results, `done`, fates, and what the builder refuses.

use crate::support::fault::Fault;
use crate::support::subject::{Parcel, Plan, Refused, Subject, Submits, Then, Wait, answer, handle, ignore};
use crate::support::{Gate, assert_rejects, for_every_design, for_every_type, for_four_types};
use slotwork::{Claims, Design, Dispatch, PoolError, Shape};
use slotwork_workqueue::{BuildError, Fate, Report, Waiting, Workqueue};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::scope;

/// How often `done` ran for each request, and that it saw the answer.
#[derive(Clone)]
struct Ledger(Arc<Vec<AtomicU64>>);

impl Ledger {
    fn new(requests: u64) -> Self {
        Self(Arc::new((0..requests).map(|_| AtomicU64::new(0)).collect()))
    }

    fn done(&self) -> impl Fn(&mut Parcel) + Send + Sync + 'static {
        let done = Arc::clone(&self.0);
        move |parcel| {
            assert_eq!(parcel.answer, answer(parcel.number), "request {} has its answer", parcel.number);
            done[usize::try_from(parcel.number).expect("small")].fetch_add(1, Ordering::Relaxed);
        }
    }

    fn assert_all_once(&self, way: &str) {
        for (number, done) in self.0.iter().enumerate() {
            let done = done.load(Ordering::Relaxed);
            assert!(done == 1, "{way}: done ran {done} times for request {number}");
        }
    }
}

/// Sends requests `from`, `from + step` … below `to`; every third slot in hand is given back first.
fn send_all(submitter: &dyn Submits, mut numbers: impl Iterator<Item = u64>) {
    let mut turn = 0_u32;
    let mut next = numbers.next();
    while let Some(number) = next {
        turn += 1;
        let sent = submitter.with(Wait::ForEver, |parcel, _| {
            if turn.is_multiple_of(3) {
                return Then::Withdraw;
            }
            *parcel = Parcel { number, answer: 0 };
            Then::Submit
        });
        sent.expect("not stopped");
        if !turn.is_multiple_of(3) {
            next = numbers.next();
        }
    }
}

pub(crate) fn circle_with(subject: &dyn Subject, plan: Plan, requests: u64) {
    /// What ends first: a drain, the submitters, the threads; by drop or by call.
    const WAYS: [&str; 6] = [
        "drain, shutdown, drop",
        "shutdown with submitters alive",
        "submitters dropped, then shutdown",
        "submitters dropped, then the workqueue",
        "the workqueue dropped, then the submitters",
        "the first submitter dropped early",
    ];
    for way in WAYS {
        let ledger = Ledger::new(requests);
        let (queue, first) = subject.start(plan, handle, ledger.done());
        let submitters: u64 = if subject.many() { 3 } else { 1 };
        let others: Vec<_> = (1..submitters).map(|_| first.another()).collect();
        let mut all: Vec<_> = std::iter::once(first).chain(others).collect();
        scope(|scope| {
            for (from, submitter) in (0..).zip(&mut all) {
                scope.spawn(move || {
                    send_all(&**submitter, (from..requests).step_by(usize::try_from(submitters).expect("few")));
                });
            }
        });
        match way {
            "drain, shutdown, drop" => {
                all[0].drain().expect("outside of handlers");
                assert_eq!(queue.report().handled, requests, "{way}: handled");
                assert_eq!(queue.shutdown().handled, requests, "{way}: handled");
            }
            "shutdown with submitters alive" => drop(queue.shutdown()),
            "submitters dropped, then shutdown" => {
                all.clear();
                assert_eq!(queue.shutdown().handled, requests, "{way}: handled");
                ledger.assert_all_once(way);
            }
            "submitters dropped, then the workqueue" => all.clear(),
            "the first submitter dropped early" => drop(all.remove(0)),
            _ => {}
        }
        if way == "the workqueue dropped, then the submitters" {
            drop(queue);
            drop(all);
        } else {
            drop(all);
            drop(queue);
        }
        ledger.assert_all_once(way);
    }
}

/// Results are right, and `done` runs once for each, however it all ends.
pub(crate) fn circle(subject: &'static dyn Subject) {
    for (workers, requests_per_worker) in [(1, 1), (2, 4), (3, 2)] {
        circle_with(subject, Plan::new(workers, requests_per_worker), 200);
    }
}

#[test]
fn results_are_right_and_done_runs_once() {
    for_every_design(circle);
    assert_rejects(
        circle,
        &[(Fault::LosesOne, "handled"), (Fault::DoneTwice, "done ran"), (Fault::ForgetsLeftovers, "done ran 0 times")],
    );
}

fn policy(subject: &'static dyn Subject, waiting: Waiting) {
    circle_with(subject, Plan { waiting, ..Plan::new(1, 2) }, 24);
    let submitted = 40;
    let (queue, submitter) = subject.start(Plan { waiting, ..Plan::new(2, 2) }, handle, ignore);
    (0..submitted).for_each(|number| submitter.send(Wait::ForEver, number).expect("not stopped"));
    assert_eq!(queue.shutdown_now().ended(), submitted, "{waiting:?}");
}

/// The policies that give the processor away.
pub(crate) fn yielding_policies(subject: &'static dyn Subject) {
    for waiting in [Waiting::YIELD, Waiting::PARK, Waiting::SETTLE, Waiting::BUSY_1000] {
        policy(subject, waiting);
    }
}

fn policies(subject: &'static dyn Subject) {
    policy(subject, Waiting::SPIN);
    yielding_policies(subject);
}

#[test]
fn every_waiting_policy_comes_to_an_end() {
    for_every_design(policies);
}

/// Slots got one inside another, as many as there are; what each carried last.
pub(crate) fn fates_in_hand(submitter: &dyn Submits, slots: usize) -> Vec<Fate> {
    let mut fates = Vec::new();
    if slots > 0 {
        let mut deeper = Vec::new();
        let held = submitter.with(Wait::Not, |_, fate| {
            fates.push(fate);
            deeper = fates_in_hand(submitter, slots - 1);
            Then::Withdraw
        });
        held.unwrap_or_else(|refused| panic!("{slots} more slots should be free, not {refused:?}"));
        fates.append(&mut deeper);
    }
    fates
}

pub(crate) fn fates(subject: &'static dyn Subject) {
    let plan = Plan::new(1, 4);
    let gate = Gate::default();
    let (queue, submitter) = {
        let gate = gate.clone();
        let handler = move |parcel: &mut Parcel| match parcel.number {
            1 => crate::support::planted_panic(),
            2 => gate.pass(),
            _ => {}
        };
        subject.start(plan, handler, ignore)
    };
    let count = |wanted: Fate| fates_in_hand(&*submitter, 4).into_iter().filter(|&fate| fate == wanted).count();
    assert_eq!(count(Fate::Fresh), 4, "before any request");
    for number in [0, 1] {
        submitter.send(Wait::Not, number).expect("free slots");
        submitter.drain().expect("outside of handlers");
    }
    let seen = fates_in_hand(&*submitter, 4);
    assert!(seen.contains(&Fate::Failed), "after a panic: {seen:?}");
    for _ in 0..4 {
        submitter.send(Wait::ForEver, 0).expect("not stopped");
        submitter.drain().expect("outside of handlers");
    }
    submitter.send(Wait::ForEver, 2).expect("not stopped");
    gate.wait_for(1);
    (0..3).for_each(|_| submitter.send(Wait::Not, 0).expect("a free slot"));
    scope(|scope| {
        scope.spawn(|| queue.shutdown_now());
        assert_eq!(submitter.send(Wait::ForEver, 0), Err(Refused::Stopped));
        gate.open();
    });
    assert_eq!(count(Fate::Cancelled), 3, "after a shutdown that cancels");
    assert_eq!(queue.report(), Report { handled: 6, failed: 1, cancelled: 3 }, "what the fates add up to");
}

#[test]
fn fates_are_told() {
    for_every_design(fates);
    assert_rejects(
        fates,
        &[
            (Fault::ForgetsFate, "after a panic"),
            (Fault::PanicPasses, "after a panic"),
            (Fault::CancelsUncounted, "add up to"),
            (Fault::CancelsNothing, "after a shutdown that cancels"),
        ],
    );
}

/// Counts what is alive.
#[derive(Debug)]
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(alive))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn half_built<D: Design>() {
    let alive = Arc::new(AtomicUsize::new(0));
    let (workers, requests_per_worker) = (2, 3);
    for failing in 0..=workers * requests_per_worker {
        let mut made = 0;
        let built = Workqueue::<Counted, D>::builder("half")
            .workers(workers)
            .requests_per_worker(requests_per_worker)
            .try_build(
                |slot| {
                    if slot.index() == failing {
                        return Err("planted");
                    }
                    made += 1;
                    Ok(Counted::new(&alive))
                },
                |_| {},
                |_| {},
            );
        assert_eq!(made, failing, "made before the one that fails");
        match built {
            Err(BuildError::Pool(PoolError::Payload { slot, source: "planted" })) => assert_eq!(slot.index(), failing),
            Ok((queue, submitter)) if failing == workers * requests_per_worker => {
                assert_eq!(alive.load(Ordering::Relaxed), made);
                drop(queue);
                assert_eq!(alive.load(Ordering::Relaxed), made, "a submitter may still look at them");
                drop(submitter);
            }
            other => panic!("{failing}: {:?}", other.map(drop)),
        }
        assert_eq!(alive.load(Ordering::Relaxed), 0, "init and drop agree when init {failing} fails");
    }
}

#[test]
fn half_built_is_torn_down_once() {
    for_every_type!(half_built);
}

fn refusals<D: Design>() {
    let build = |workers, requests_per_worker| {
        Workqueue::<u8, D>::builder("refused")
            .workers(workers)
            .requests_per_worker(requests_per_worker)
            .build(|_| 0, |_| {})
            .map(drop)
    };
    let Claims { max_lanes, max_slots_per_lane, .. } = D::CLAIMS;
    for (workers, requests_per_worker) in [
        (0, 4),
        (4, 0),
        (Shape::MAX_LANES + 1, 1),
        (max_lanes.unwrap_or(Shape::MAX_LANES) + 1, 1),
        (1, max_slots_per_lane.unwrap_or(Shape::MAX_SLOTS) + 1),
        (usize::MAX, usize::MAX),
    ] {
        let refused = build(workers, requests_per_worker);
        assert!(matches!(refused, Err(BuildError::Shape(_))), "{workers} × {requests_per_worker}: {refused:?}");
    }
    // A name goes to the system as a string that ends with a NUL.
    match Workqueue::<u8, D>::builder("a\0b").build(|_| 0, |_| {}).map(drop) {
        Err(BuildError::Name { name }) => assert_eq!(name, "a\0b"),
        other => panic!("{other:?}"),
    }
    for dispatch in [Dispatch::RoundRobin, Dispatch::FillFirst] {
        let built = Workqueue::<u64, D>::builder("dispatch").workers(2).dispatch(dispatch).build(|_| 0, |n| *n += 1);
        match built {
            Ok((queue, submitter)) => {
                assert!(submitter.set_dispatch(dispatch), "{dispatch:?} was built");
                for _ in 0..50 {
                    submitter.request().expect("not stopped").submit().expect("not stopped");
                }
                assert_eq!(queue.shutdown().expect("outside of handlers").handled, 50);
            }
            Err(BuildError::Dispatch { design, dispatch: asked }) => {
                assert_eq!((design, asked), (D::NAME, Dispatch::FillFirst), "round robin is everywhere");
                let (_queue, submitter) = Workqueue::<u8, D>::builder("other").build(|_| 0, |_| {}).expect("one");
                assert!(!submitter.set_dispatch(dispatch), "{dispatch:?} was refused by the builder");
            }
            Err(other) => panic!("{dispatch:?}: {other}"),
        }
    }
}

#[test]
fn what_cannot_be_had_is_a_typed_error() {
    for_every_type!(refusals);
}

/// Worker threads are named after the queue.
#[test]
fn threads_have_names() {
    fn check<D: Design>() {
        let (queue, submitter) = Workqueue::<String, D>::builder("named")
            .workers(2)
            .build(|_| String::new(), |name| *name = std::thread::current().name().unwrap_or_default().into())
            .expect("a small workqueue");
        for _ in 0..20 {
            submitter.request().expect("not stopped").submit().expect("not stopped");
        }
        submitter.drain().expect("outside of handlers");
        let mut names = std::collections::BTreeSet::new();
        let held: Vec<_> = std::iter::from_fn(|| submitter.try_request()).collect();
        names.extend(held.iter().map(|vacancy| String::clone(vacancy)).filter(|name| !name.is_empty()));
        assert!(
            !names.is_empty() && names.iter().all(|name| ["named-0", "named-1"].contains(&name.as_str())),
            "{names:?}"
        );
        drop(held);
        drop(queue);
    }
    for_four_types!(check);
}

/// Where the number of submitters is limited, a dropped one makes room for another, however often.
#[test]
fn a_dropped_submitter_makes_room() {
    fn check<D: Design>() {
        let Some(limit) = D::CLAIMS.max_clients.filter(|&limit| limit > 1) else { return };
        let (_queue, first) = Workqueue::<u64, D>::builder("room").build(|_| 0, |_| {}).expect("a small workqueue");
        let mut all = vec![first];
        while all.len() < limit {
            let next = all[0].try_clone().expect("within the limit");
            all.push(next);
        }
        assert!(all[0].try_clone().is_err(), "{limit} are there already");
        for _ in 0..3 * limit {
            all.pop();
            let next = all[0].try_clone().expect("one was dropped");
            next.request().expect("not stopped").submit().expect("not stopped");
            all.push(next);
        }
        assert!(all[0].try_clone().is_err(), "{limit} are there again");
    }
    for_every_type!(check);
}

/// A submitter that found nothing and is dropped while nearly all requests are under way still runs `done` for the one
/// that was handled.
pub(crate) fn dropped_nearly_full(subject: &'static dyn Subject) {
    const SLOTS: usize = 16;
    let (gates, started) = ([Gate::default(), Gate::default()], Arc::new(AtomicUsize::new(0)));
    let dones = Arc::new(AtomicUsize::new(0));
    let handler = {
        let (gates, started) = (gates.clone(), Arc::clone(&started));
        move |_: &mut Parcel| gates[started.fetch_add(1, Ordering::SeqCst).min(1)].pass()
    };
    let done = {
        let dones = Arc::clone(&dones);
        move |_: &mut Parcel| _ = dones.fetch_add(1, Ordering::SeqCst)
    };
    let (queue, submitter) = subject.start(Plan::new(1, SLOTS), handler, done);
    while submitter.send(Wait::Not, 0).is_ok() {}
    gates[0].open();
    // The only worker is at its second request, so it is through with the first.
    while started.load(Ordering::SeqCst) < 2 {
        std::thread::yield_now();
    }
    drop(submitter);
    let done_at_drop = dones.load(Ordering::SeqCst);
    gates[1].open();
    assert_eq!(done_at_drop, 1, "what was handled is done at the drop");
    assert_eq!(queue.shutdown().handled, SLOTS as u64);
}

#[test]
fn a_submitter_that_is_dropped_when_nearly_full_runs_what_is_done() {
    for_every_design(dropped_nearly_full);
    assert_rejects(dropped_nearly_full, &[(Fault::ForgetsLeftovers, "done at the drop")]);
}

/// That a drain found no further slot to collect, or a submitter before it none at all, is no answer to one that has not asked: it
/// gets one of the last three of sixteen.
#[test]
fn what_others_were_told_is_no_answer() {
    const SLOTS: usize = 16;
    fn check<D: Design>() {
        if D::CLAIMS.submitters == slotwork::Submitters::One {
            return;
        }
        let [started, allowed] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
        let handler = {
            let (started, allowed) = (Arc::clone(&started), Arc::clone(&allowed));
            move |_: &mut u64| {
                let number = started.fetch_add(1, Ordering::SeqCst);
                while number >= allowed.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
            }
        };
        let builder = Workqueue::<u64, D>::builder("told").workers(1).requests_per_worker(SLOTS);
        let (_queue, first) = builder.try_build(|_| Ok::<_, std::convert::Infallible>(0), handler, |_| {}).unwrap();
        first.drain().expect("outside of handlers");
        let second = first.try_clone().expect("two are within every limit");
        let submit = || second.try_request().map(|vacancy| vacancy.submit().expect("not stopped"));
        assert_eq!(std::iter::from_fn(submit).take(13).count(), 13);
        assert!(first.try_request().is_some(), "it has only drained");
        assert_eq!(std::iter::from_fn(submit).count(), 3);
        allowed.store(3, Ordering::SeqCst);
        while started.load(Ordering::SeqCst) < 4 {
            std::thread::yield_now();
        }
        // Where there is a limit, the next one has the client of the one that is dropped.
        let limit = D::CLAIMS.max_clients.unwrap_or(3);
        let others: Vec<_> = std::iter::from_fn(|| first.try_clone().ok()).take(limit - 2).collect();
        drop(second);
        let third = first.try_clone().expect("one was dropped");
        assert!(third.try_request().is_some(), "it has not asked before");
        drop(others);
        allowed.store(usize::MAX, Ordering::SeqCst);
    }
    for_every_type!(check);
}
