//! What the test files share: the run over all designs, shapes, and the parts in the files beside.
#![allow(dead_code, reason = "each test file is a crate of its own, and uses a part")]

pub(crate) mod crew;
pub(crate) mod kept;
pub(crate) mod known_bad;
pub(crate) mod plain_flip;
pub(crate) mod script;
pub(crate) mod specification;

use slotwork::{Claimed, Client, Design, Native, Pool, RequestQueue, Shape, SlotId, Vacant, Worker};
use std::any::Any;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{Builder, sleep, spawn, yield_now};
use std::time::{Duration, Instant};

/// The native queue of a design.
pub(crate) type QueueOf<D> = <D as Design>::Queue<Native>;
/// A client of a design.
pub(crate) type ClientOf<D, T> = Client<T, QueueOf<D>>;
/// A worker of a design.
pub(crate) type WorkerOf<D, T> = Worker<T, QueueOf<D>>;

/// Runs a check, a function generic over `D: Design`, for every design of the catalog; all of them,
/// even when one fails, and then fails with the names of those that did.
macro_rules! for_every_design {
    ($check:ident) => {{
        struct Run;
        impl slotwork_catalog::Visitor for Run {
            type Output = Option<String>;
            fn visit<D: slotwork::Design>(&mut self) -> Option<String> {
                $crate::support::failure_of(D::NAME, $check::<D>)
            }
        }
        let outcomes = slotwork_catalog::visit_all(&mut Run);
        assert!(!outcomes.is_empty(), "the catalog has designs");
        let failures: Vec<String> = outcomes.into_iter().flatten().collect();
        assert!(failures.is_empty(), "{} of the designs fail:\n{}", failures.len(), failures.join("\n"));
    }};
}
pub(crate) use for_every_design;

/// What a check says against a design, with the design's name; a check that does not end says so too.
pub(crate) fn failure_of(name: &str, check: fn()) -> Option<String> {
    const PATIENCE: Duration = Duration::from_secs(150);
    let started = Instant::now();
    let thread = spawn(check);
    while !thread.is_finished() {
        if started.elapsed() > PATIENCE {
            // The thread is left behind, so that the test can fail.
            return Some(format!("{name}: no end in {PATIENCE:?}"));
        }
        sleep(Duration::from_micros(500));
    }
    let panic = thread.join().err()?;
    Some(format!("{name}: {}", message_of(&*panic)))
}

/// The message of a panic.
pub(crate) fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_else(|| "a panic".into())
}

/// Fails unless the check rejects a known-bad design, and does so for one of the reasons given.
pub(crate) fn assert_rejected(check: impl FnOnce(), reasons: &[&str]) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(check)) else {
        panic!("a known-bad design was accepted; expected was one of {reasons:?}");
    };
    let message = message_of(&*panic);
    let expected = reasons.iter().any(|reason| message.contains(reason));
    assert!(expected, "rejected, but for none of {reasons:?}:\n{message}");
}

/// The shape, if the design takes it.
pub(crate) fn admitted<D: Design>(lanes: usize, slots_per_lane: usize) -> Option<Shape> {
    Shape::new(lanes, slots_per_lane).ok().filter(|&shape| D::CLAIMS.admit(shape).is_ok())
}

/// A shape the design takes with `slots` slots in all, or as many as it can have below that. Over 16
/// lanes or more, as a scan of one lane may cost a step for each word of it.
pub(crate) fn large<D: Design>(slots: usize) -> Shape {
    let slots_per_lane = D::CLAIMS.max_slots_per_lane.unwrap_or(slots).min(slots / 16);
    let lanes = D::CLAIMS.max_lanes.unwrap_or(Shape::MAX_LANES).min(slots / slots_per_lane);
    Shape::new(lanes, slots_per_lane).expect("within the limits of the claims")
}

/// How many clients a test may have at once, if it would like to have `wanted`.
pub(crate) fn clients_of<D: Design>(wanted: usize) -> usize {
    wanted.min(D::CLAIMS.max_clients.unwrap_or(usize::MAX))
}

/// The handles of a new pool.
pub(crate) fn handles<D: Design, T>(
    shape: Shape,
    payload: impl FnMut(SlotId) -> T,
) -> (ClientOf<D, T>, Vec<WorkerOf<D, T>>) {
    let queue = D::build::<Native>(shape).unwrap_or_else(|error| panic!("{}, {shape:?}: {error}", D::NAME));
    Pool::new(queue, payload).unwrap_or_else(|error| panic!("{}, {shape:?}: {error}", D::NAME)).split()
}

/// Handles of a pool with this shape, or with one lane as large where the design takes no more.
pub(crate) fn small<D: Design, T: Default>(
    lanes: usize,
    slots_per_lane: usize,
) -> (ClientOf<D, T>, Vec<WorkerOf<D, T>>) {
    let shape = admitted::<D>(lanes, slots_per_lane).or_else(|| admitted::<D>(1, lanes * slots_per_lane));
    handles::<D, T>(shape.expect("a small shape"), |_| T::default())
}

/// Acquires when there is a slot.
pub(crate) fn acquired<T, Q: RequestQueue>(client: &Client<T, Q>) -> Vacant<'_, T, Q> {
    loop {
        match client.acquire() {
            Some(vacant) => return vacant,
            None => yield_now(),
        }
    }
}

/// Acquires until none is free; the slots are distinct.
pub(crate) fn acquire_all<T, Q: RequestQueue>(client: &Client<T, Q>) -> Vec<Vacant<'_, T, Q>> {
    // A queue that gives a slot twice would never end: one more than there are is enough to see it.
    let limit = client.shape().slots() + 1;
    let all: Vec<_> = std::iter::from_fn(|| client.acquire()).take(limit).collect();
    assert_distinct(&all.iter().map(Vacant::slot).collect::<Vec<_>>(), client.shape());
    all
}

/// Takes until there is nothing for any worker; the slots are distinct.
pub(crate) fn take_all<T, Q: RequestQueue>(workers: &[Worker<T, Q>]) -> Vec<Claimed<'_, T, Q>> {
    let Some(shape) = workers.first().map(Worker::shape) else { return Vec::new() };
    let limit = shape.slots() + 1;
    let all: Vec<_> = workers.iter().flat_map(|worker| std::iter::from_fn(|| worker.take())).take(limit).collect();
    assert_distinct(&all.iter().map(Claimed::slot).collect::<Vec<_>>(), shape);
    all
}

fn assert_distinct(slots: &[SlotId], shape: Shape) {
    let mut seen = HashSet::new();
    for slot in slots {
        assert!(slot.index() < shape.slots(), "{shape:?}: slot {} does not exist", slot.index());
        assert!(seen.insert(slot), "{shape:?}: slot {} was handed out twice", slot.index());
    }
}

/// Once round the circle with every slot at once: exactly N acquires, submits, takes and completes.
pub(crate) fn full_circle<T, Q: RequestQueue>(name: &str, client: &Client<T, Q>, workers: &[Worker<T, Q>]) {
    let shape = client.shape();
    let acquired = acquire_all(client);
    assert_count(name, shape, "slots acquired", acquired.len(), shape.slots());
    for vacant in acquired {
        vacant.submit();
    }
    assert_count(name, shape, "slots too many", usize::from(client.acquire().is_some()), 0);
    assert_count(name, shape, "in flight when all are submitted", client.in_flight(), shape.slots());
    let taken = take_all(workers);
    assert_count(name, shape, "slots taken", taken.len(), shape.slots());
    assert_count(name, shape, "claimed slots acquired", usize::from(client.acquire().is_some()), 0);
    taken.into_iter().for_each(Claimed::complete);
    assert_count(name, shape, "in flight when all are completed", client.in_flight(), 0);
}

fn assert_count(name: &str, shape: Shape, what: &str, found: usize, expected: usize) {
    assert_eq!(found, expected, "{name}, {shape:?}: {what}");
}

/// Runs where there is little stack, and fails as it does.
pub(crate) fn on_small_stack(kibibytes: usize, run: fn()) {
    let thread = Builder::new().stack_size(kibibytes << 10).spawn(run).expect("a thread");
    if let Err(panic) = thread.join() {
        panic!("{}", message_of(&*panic));
    }
}
