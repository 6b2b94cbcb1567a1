//! Models of publishing a request: to one worker, by two clients, to two workers, in order.

use super::{
    Bound, LARGE, LONG, MEDIUM, Model, SMALL, handle, handle_all, handles, look, needs_many, one_lane, second_client,
    submit,
};
use crate::platform::Machine;
use crate::seen::{Overlap, Seen};
use slotwork::{Claims, Design};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request is submitted while its worker looks: taken at once, or by the next look.
pub struct SubmitTake;

impl Model for SubmitTake {
    const NAME: &'static str = "submit_take";
    const PROPERTY: &'static str = "a payload is seen by who takes it";
    const WITNESSES: &'static [&'static str] = &["taken at once", "taken late"];
    const FLOOR: u64 = 16;
    const BOUND: Bound = SMALL;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (client, worker) = one_lane::<D, P>(1);
        let other = P::spawn(move || (handle::<D, P>(&worker), worker));
        submit::<D, P>(&client, 1);
        let (taken, worker) = P::join(other);
        seen.saw(if taken.is_some() { "taken at once" } else { "taken late" });
        let late = handle::<D, P>(&worker);
        assert!(matches!((taken, late), (Some(1), None) | (None, Some(1))), "taken once: {taken:?} {late:?}");
        assert_eq!(look::<D, P>(&client), Some(10));
    }
}

/// Two clients submit at once: no request is lost. PLAIN-FLIP.
pub struct TwoSubmitters;

impl Model for TwoSubmitters {
    const NAME: &'static str = "plain_flip_two_submitters";
    const PROPERTY: &'static str = "many submitters: no request is lost";
    const WITNESSES: &'static [&'static str] = &["overlap"];
    const FLOOR: u64 = 28;
    const BOUND: Bound = MEDIUM;

    fn skip(claims: &Claims) -> Option<&'static str> {
        needs_many(claims)
    }

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (first, worker) = one_lane::<D, P>(2);
        let second = second_client::<D, P>(&first);
        let overlap = Arc::new(Overlap::default());
        let other = P::spawn({
            let overlap = Arc::clone(&overlap);
            move || overlap.during(seen, "overlap", || submit::<D, P>(&second, 2))
        });
        overlap.during(seen, "overlap", || submit::<D, P>(&first, 1));
        P::join(other);
        let mut taken = handle_all::<D, P>(&worker);
        taken.sort_unstable();
        assert_eq!(taken, [1, 2], "both requests arrive, once each");
    }
}

/// The same while the worker takes.
pub struct TwoSubmittersOneTaker;

impl Model for TwoSubmittersOneTaker {
    const NAME: &'static str = "two_submitters_one_taker";
    const PROPERTY: &'static str = "many submitters: no request is lost";
    const WITNESSES: &'static [&'static str] = &["one taken meanwhile", "both taken meanwhile"];
    const FLOOR: u64 = 142;
    const BOUND: Bound = LARGE;

    fn skip(claims: &Claims) -> Option<&'static str> {
        needs_many(claims)
    }

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (first, worker) = one_lane::<D, P>(2);
        let second = second_client::<D, P>(&first);
        let clients = [(first, 1), (second, 2)].map(|(client, value)| P::spawn(move || submit::<D, P>(&client, value)));
        let mut taken: Vec<u64> = (0..2).filter_map(|_| handle::<D, P>(&worker)).collect();
        seen.saw_if("one taken meanwhile", taken.len() == 1);
        seen.saw_if("both taken meanwhile", taken.len() == 2);
        clients.into_iter().for_each(P::join);
        taken.extend(handle_all::<D, P>(&worker));
        taken.sort_unstable();
        assert_eq!(taken, [1, 2], "both requests arrive, once each");
    }
}

/// One request is there and one comes, while two workers look. LOAD-LOAD.
pub struct TwoTakers;

impl Model for TwoTakers {
    const NAME: &'static str = "load_load_two_takers";
    const PROPERTY: &'static str = "a request is taken once";
    const WITNESSES: &'static [&'static str] = &["one taken meanwhile", "both taken meanwhile"];
    const FLOOR: u64 = 56;
    const BOUND: Bound = LARGE;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (client, workers) = handles::<D, P>(2, 1);
        submit::<D, P>(&client, 1);
        let threads: Vec<_> =
            workers.into_iter().map(|worker| P::spawn(move || (handle::<D, P>(&worker), worker))).collect();
        submit::<D, P>(&client, 2);
        let (mut taken, workers): (Vec<_>, Vec<_>) = threads.into_iter().map(P::join).unzip();
        let meanwhile = taken.iter().flatten().count();
        seen.saw_if("one taken meanwhile", meanwhile == 1);
        seen.saw_if("both taken meanwhile", meanwhile == 2);
        taken.extend(workers.iter().flat_map(|worker| handle_all::<D, P>(worker).into_iter().map(Some)));
        let mut taken: Vec<u64> = taken.into_iter().flatten().collect();
        taken.sort_unstable();
        assert_eq!(taken, [1, 2], "both requests arrive, once each");
    }
}

/// A thread submits and then takes, while another one takes: nothing is lost. ROLE-CHANGE.
pub struct RoleChange;

impl Model for RoleChange {
    const NAME: &'static str = "role_change";
    const PROPERTY: &'static str = "a request is taken once";
    const WITNESSES: &'static [&'static str] = &["overlap"];
    const FLOOR: u64 = 12;
    const BOUND: Bound = MEDIUM;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        role_change::<D, P>(seen, 1);
    }
}

/// The same twice over, so that the other thread's take may find the queue two requests further on.
pub struct RoleChangeTwice;

impl Model for RoleChangeTwice {
    const NAME: &'static str = "role_change_twice";
    const PROPERTY: &'static str = "a request is taken once";
    const WITNESSES: &'static [&'static str] = &["overlap"];
    const FLOOR: u64 = 12;
    const BOUND: Bound = LONG;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        role_change::<D, P>(seen, 2);
    }
}

fn role_change<D: Design, P: Machine>(seen: &'static Seen, requests: u64) {
    let slots_per_lane = usize::try_from(requests).expect("a few");
    let (client, mut workers) = handles::<D, P>(2, slots_per_lane);
    let (one, two) = (workers.remove(0), workers.remove(0));
    let overlap = Arc::new(Overlap::default());
    let other = P::spawn({
        let overlap = Arc::clone(&overlap);
        move || {
            let taken = overlap.during(seen, "overlap", || handle::<D, P>(&two));
            (taken, two)
        }
    });
    let taken = overlap.during(seen, "overlap", || {
        (1..=requests).for_each(|value| submit::<D, P>(&client, value));
        (1..=requests).filter_map(|_| handle::<D, P>(&one)).collect::<Vec<_>>()
    });
    let (others, two) = P::join(other);
    let late = handle_all::<D, P>(&one).into_iter().chain(handle_all::<D, P>(&two));
    let mut all: Vec<u64> = taken.into_iter().chain(others).chain(late).collect();
    all.sort_unstable();
    assert!(all.iter().copied().eq(1..=requests), "each request arrives once");
}

/// A client submits and goes; another comes meanwhile, perhaps in its place, and submits. THREAD-EXIT.
pub struct ClientChurn;

impl Model for ClientChurn {
    const NAME: &'static str = "thread_exit_client_churn";
    const PROPERTY: &'static str = "clients may come and go";
    const WITNESSES: &'static [&'static str] = &["came after the other had gone", "both taken meanwhile"];
    const FLOOR: u64 = 101;
    const BOUND: Bound = Bound { full_spurious: Some(3), ..MEDIUM };

    /// Where clients are enlisted, coming and going takes so many steps that it does not end without a bound.
    fn bound(claims: &Claims) -> Bound {
        if claims.max_clients.is_some() { Bound { full: Some(5), ..Self::BOUND } } else { Self::BOUND }
    }

    fn skip(claims: &Claims) -> Option<&'static str> {
        needs_many(claims)
    }

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (first, worker) = one_lane::<D, P>(2);
        let second = second_client::<D, P>(&first);
        let gone = Arc::new(AtomicBool::new(false));
        let other = P::spawn({
            let gone = Arc::clone(&gone);
            move || {
                submit::<D, P>(&second, 2);
                drop(second);
                gone.store(true, Ordering::Relaxed);
                let taken: Vec<u64> = (0..2).filter_map(|_| handle::<D, P>(&worker)).collect();
                (taken, worker)
            }
        });
        P::step();
        seen.saw_if("came after the other had gone", gone.load(Ordering::Relaxed));
        let third = second_client::<D, P>(&first);
        submit::<D, P>(&third, 1);
        let (mut taken, worker) = P::join(other);
        seen.saw_if("both taken meanwhile", taken.len() == 2);
        taken.extend(handle_all::<D, P>(&worker));
        taken.sort_unstable();
        assert_eq!(taken, [1, 2], "both requests arrive, once each");
    }
}

/// Two requests of one client are taken in the order they were submitted in.
pub struct FifoOrder;

impl Model for FifoOrder {
    const NAME: &'static str = "fifo_order";
    const PROPERTY: &'static str = "order per lane";
    const WITNESSES: &'static [&'static str] = &["one taken meanwhile", "both taken meanwhile"];
    const FLOOR: u64 = 75;
    const BOUND: Bound = Bound { full_spurious: Some(3), ..MEDIUM };

    fn skip(claims: &Claims) -> Option<&'static str> {
        (claims.order != slotwork::Order::Fifo).then_some("claims no first-in-first-out order")
    }

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (client, worker) = one_lane::<D, P>(2);
        let other = P::spawn(move || {
            submit::<D, P>(&client, 1);
            submit::<D, P>(&client, 2);
        });
        let mut taken: Vec<u64> = (0..2).filter_map(|_| handle::<D, P>(&worker)).collect();
        seen.saw_if("one taken meanwhile", taken.len() == 1);
        seen.saw_if("both taken meanwhile", taken.len() == 2);
        P::join(other);
        taken.extend(handle_all::<D, P>(&worker));
        assert_eq!(taken, [1, 2], "first submitted, first taken");
    }
}
