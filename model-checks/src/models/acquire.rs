//! Models of finding a free slot: against another client, a withdrawal, a completion.

use super::{Bound, MEDIUM, Model, SMALL, handle, keep, look, needs_many, one_lane, second_client, submit};
use crate::platform::Machine;
use crate::seen::{Overlap, Seen};
use slotwork::{Claims, Design};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Two clients, two slots: each gets one, not the same.
pub struct AcquireAcquire;

impl Model for AcquireAcquire {
    const NAME: &'static str = "acquire_acquire";
    const PROPERTY: &'static str = "a slot has one owner";
    const WITNESSES: &'static [&'static str] = &["overlap"];
    const FLOOR: u64 = 8;
    const BOUND: Bound = SMALL;

    fn skip(claims: &Claims) -> Option<&'static str> {
        needs_many(claims)
    }

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (first, _worker) = one_lane::<D, P>(2);
        let second = second_client::<D, P>(&first);
        let overlap = Arc::new(Overlap::default());
        let other = P::spawn({
            let overlap = Arc::clone(&overlap);
            move || overlap.during(seen, "overlap", || keep::<D, P>(&second))
        });
        let mine = overlap.during(seen, "overlap", || keep::<D, P>(&first));
        let others = P::join(other);
        assert!(mine.is_some() && others.is_some(), "two slots were free: {mine:?} {others:?}");
        assert_ne!(mine, others, "a slot has one owner");
        assert_eq!(keep::<D, P>(&first), None, "both slots are held");
    }
}

/// Two clients, one slot: one of them gets it.
pub struct LastSlot;

impl Model for LastSlot {
    const NAME: &'static str = "last_slot";
    const PROPERTY: &'static str = "a slot has one owner";
    const WITNESSES: &'static [&'static str] = &["first won", "second won"];
    const FLOOR: u64 = 8;
    const BOUND: Bound = SMALL;

    fn skip(claims: &Claims) -> Option<&'static str> {
        needs_many(claims)
    }

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (first, _worker) = one_lane::<D, P>(1);
        let second = second_client::<D, P>(&first);
        let other = P::spawn(move || keep::<D, P>(&second));
        let mine = keep::<D, P>(&first);
        let others = P::join(other);
        assert!(mine.is_some() != others.is_some(), "the one slot has one owner: {mine:?} {others:?}");
        seen.saw(if mine.is_some() { "first won" } else { "second won" });
    }
}

/// The list fault of 2018: a client is held up inside its acquire, while another one acquires, acquires and
/// withdraws the first. NAIVE-POOL.
pub struct NaivePool;

impl Model for NaivePool {
    const NAME: &'static str = "naive_pool";
    const PROPERTY: &'static str = "a slot has one owner";
    const WITNESSES: &'static [&'static str] = &["reused inside one acquire"];
    const FLOOR: u64 = 13;
    const BOUND: Bound = MEDIUM;

    fn skip(claims: &Claims) -> Option<&'static str> {
        needs_many(claims)
    }

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (slow, _worker) = one_lane::<D, P>(3);
        let quick = second_client::<D, P>(&slow);
        let steps = Arc::new(AtomicU32::new(0));
        let other = P::spawn({
            let steps = Arc::clone(&steps);
            move || {
                P::step();
                let back = quick.acquire().expect("the slow client holds one of three");
                let kept = keep::<D, P>(&quick).expect("the slow client holds one of three");
                P::step();
                drop(back);
                steps.store(1, Ordering::Relaxed);
                kept
            }
        });
        let before = steps.load(Ordering::Relaxed);
        let mine = keep::<D, P>(&slow).expect("one slot is free all the time");
        seen.saw_if("reused inside one acquire", before == 0 && steps.load(Ordering::Relaxed) == 1);
        let others = P::join(other);
        let third = keep::<D, P>(&slow).expect("the withdrawn slot, or the one never touched, is free");
        assert!(mine != others && mine != third && others != third, "three owners of {mine:?} {others:?} {third:?}");
        assert_eq!(keep::<D, P>(&slow), None, "all three are held");
    }
}

/// A client is held up inside its acquire, while the one slot goes once round the circle and is
/// acquired again.
pub struct FullCircle;

impl Model for FullCircle {
    const NAME: &'static str = "full_circle";
    const PROPERTY: &'static str = "a slot has one owner";
    const WITNESSES: &'static [&'static str] = &["round inside one acquire", "slow client won"];
    const FLOOR: u64 = 20;
    const BOUND: Bound = MEDIUM;

    fn skip(claims: &Claims) -> Option<&'static str> {
        needs_many(claims)
    }

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (slow, worker) = one_lane::<D, P>(1);
        let quick = second_client::<D, P>(&slow);
        let rounds = Arc::new(AtomicU32::new(0));
        let other = P::spawn({
            let rounds = Arc::clone(&rounds);
            move || {
                P::step();
                let mut vacant = quick.acquire()?;
                *vacant = 1;
                P::step();
                vacant.submit();
                assert_eq!(handle::<D, P>(&worker), Some(1), "what was submitted is there for its worker");
                let again = keep::<D, P>(&quick);
                rounds.fetch_add(1, Ordering::Relaxed);
                again
            }
        });
        let before = rounds.load(Ordering::Relaxed);
        let mine = keep::<D, P>(&slow);
        seen.saw_if("round inside one acquire", before == 0 && rounds.load(Ordering::Relaxed) == 1);
        seen.saw_if("slow client won", mine.is_some());
        let others = P::join(other);
        assert!(mine.is_some() != others.is_some(), "the one slot has one owner: {mine:?} {others:?}");
    }
}

/// A slot is withdrawn while another client looks for one.
pub struct WithdrawAcquire;

impl Model for WithdrawAcquire {
    const NAME: &'static str = "withdraw_acquire";
    const PROPERTY: &'static str = "no slot is lost";
    const WITNESSES: &'static [&'static str] = &["found", "none"];
    const FLOOR: u64 = 8;
    const BOUND: Bound = SMALL;

    fn skip(claims: &Claims) -> Option<&'static str> {
        needs_many(claims)
    }

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (first, _worker) = one_lane::<D, P>(1);
        let second = second_client::<D, P>(&first);
        let mut held = first.acquire().expect("the slot is free");
        let other = P::spawn(move || {
            P::step();
            let found = second.acquire();
            let value = found.as_deref().copied();
            std::mem::forget(found);
            value
        });
        *held = 7;
        P::step();
        drop(held);
        let found = P::join(other);
        assert!(matches!(found, None | Some(7)), "what the last holder wrote is there: {found:?}");
        seen.saw(if found.is_some() { "found" } else { "none" });
        assert_eq!(keep::<D, P>(&first).is_some(), found.is_none(), "the one slot has one owner");
    }
}

/// A slot is withdrawn while another one is completed: neither is lost.
pub struct WithdrawComplete;

impl Model for WithdrawComplete {
    const NAME: &'static str = "withdraw_complete";
    const PROPERTY: &'static str = "no slot is lost";
    const WITNESSES: &'static [&'static str] = &["overlap"];
    const FLOOR: u64 = 3;
    const BOUND: Bound = SMALL;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (client, worker) = one_lane::<D, P>(2);
        let held = client.acquire().expect("two slots are free");
        submit::<D, P>(&client, 1);
        let overlap = Arc::new(Overlap::default());
        let other = P::spawn({
            let overlap = Arc::clone(&overlap);
            move || overlap.during(seen, "overlap", || handle::<D, P>(&worker))
        });
        overlap.during(seen, "overlap", || {
            P::step();
            drop(held);
        });
        assert_eq!(P::join(other), Some(1));
        let both = (keep::<D, P>(&client), keep::<D, P>(&client));
        assert!(both.0.is_some() && both.1.is_some() && both.0 != both.1, "both slots are free: {both:?}");
        assert_eq!(keep::<D, P>(&client), None);
    }
}

/// A slot is completed while its client looks for one: found with its result, or not yet.
pub struct AcquireComplete;

impl Model for AcquireComplete {
    const NAME: &'static str = "acquire_complete";
    const PROPERTY: &'static str = "a result is seen by who gets the slot back";
    const WITNESSES: &'static [&'static str] = &["found", "none"];
    const FLOOR: u64 = 8;
    const BOUND: Bound = SMALL;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (client, worker) = one_lane::<D, P>(1);
        submit::<D, P>(&client, 1);
        let other = P::spawn(move || handle::<D, P>(&worker));
        let found = look::<D, P>(&client);
        assert!(matches!(found, None | Some(10)), "the result is there: {found:?}");
        seen.saw(if found.is_some() { "found" } else { "none" });
        assert_eq!(P::join(other), Some(1), "what was submitted is there for its worker");
        assert_eq!(look::<D, P>(&client), Some(10), "after the completion it is free");
    }
}

/// A slot is completed while its client looks for one, and holds so many others that it does not look at each of them.
pub struct OneOfMany;

impl Model for OneOfMany {
    const NAME: &'static str = "one_of_many";
    const PROPERTY: &'static str = "a result is seen by who gets the slot back";
    const WITNESSES: &'static [&'static str] = &["found", "none"];
    const FLOOR: u64 = 8;
    const BOUND: Bound = SMALL;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        const SLOTS: usize = 12;
        let (client, worker) = one_lane::<D, P>(SLOTS);
        let held = (1..SLOTS).map(|_| keep::<D, P>(&client)).collect::<Option<Vec<_>>>();
        assert!(held.is_some(), "twelve slots were free");
        submit::<D, P>(&client, 1);
        let other = P::spawn(move || handle::<D, P>(&worker));
        let found = look::<D, P>(&client);
        assert!(matches!(found, None | Some(10)), "the result is there: {found:?}");
        seen.saw(if found.is_some() { "found" } else { "none" });
        assert_eq!(P::join(other), Some(1), "what was submitted is there for its worker");
        assert_eq!(look::<D, P>(&client), Some(10), "after the completion it is free");
    }
}
