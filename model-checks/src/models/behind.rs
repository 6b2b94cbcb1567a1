//! Models of a slot that goes on while a thread that had it is still inside its call.
//!
//! Where a slot's state decides and other words only say where to look, a call changes both. A thread that is held up
//! between the two may have let the slot go already: others use it meanwhile, and must not find the words wrong.

use super::{Bound, MEDIUM, Model, handle, handles, keep, needs_many, one_lane, second_client, submit};
use crate::platform::Machine;
use crate::seen::Seen;
use slotwork::{Claims, Design};

/// A slot is completed; a client that remembers it as free acquires it and gives it back before that call ends; then
/// nobody has it, and another client looks. PAUSED-PEER-FULL.
pub struct FreeBehindCompletion;

impl Model for FreeBehindCompletion {
    const NAME: &'static str = "paused_peer_full_completion";
    const PROPERTY: &'static str = "no slot is lost";
    const WITNESSES: &'static [&'static str] = &["found", "none"];
    const FLOOR: u64 = 3;
    const BOUND: Bound = MEDIUM;

    fn skip(claims: &Claims) -> Option<&'static str> {
        needs_many(claims)
    }

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (first, worker) = one_lane::<D, P>(2);
        // Its look finds both slots. It keeps one; the other one goes round by way of the second client.
        keep::<D, P>(&first).expect("two slots are free");
        let second = second_client::<D, P>(&first);
        submit::<D, P>(&second, 1);
        let other = P::spawn(move || handle::<D, P>(&worker));
        P::step();
        let found = first.acquire();
        seen.saw(if found.is_some() { "found" } else { "none" });
        if let Some(found) = found {
            P::step();
            drop(found);
            assert!(keep::<D, P>(&second).is_some(), "a slot is free during the whole call");
        }
        assert_eq!(P::join(other), Some(1));
    }
}

/// A slot is submitted; a worker that remembers it as submitted takes and completes it before that call ends; then it is
/// free, and another client looks. PAUSED-PEER-FULL.
pub struct FreeBehindSubmission;

impl Model for FreeBehindSubmission {
    const NAME: &'static str = "paused_peer_full_submission";
    const PROPERTY: &'static str = "no slot is lost";
    const WITNESSES: &'static [&'static str] = &["taken", "none"];
    const FLOOR: u64 = 3;
    const BOUND: Bound = MEDIUM;

    fn skip(claims: &Claims) -> Option<&'static str> {
        if claims.work_conserving { needs_many(claims) } else { Some("ties requests to workers") }
    }

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (first, mut workers) = handles::<D, P>(2, 1);
        let (one, two) = (workers.remove(0), workers.remove(0));
        let second = second_client::<D, P>(&first);
        // Worker one's look finds both requests. It takes one, worker two the other.
        (1..=2).for_each(|value| submit::<D, P>(&first, value));
        one.take().expect("two were submitted").complete();
        let left = two.take().expect("one of two is left");
        let slot = left.slot();
        left.complete();
        let mut both = [first.acquire(), first.acquire()].map(|found| found.expect("both are free"));
        both.sort_by_key(|vacant| vacant.slot() == slot);
        let [kept, mut again] = both;
        std::mem::forget(kept);
        *again = 3;
        let other = P::spawn(move || {
            let value = handle::<D, P>(&one)?;
            assert!(keep::<D, P>(&second).is_some(), "a slot is free during the whole call");
            Some(value)
        });
        P::step();
        again.submit();
        let value = P::join(other);
        assert!(matches!(value, None | Some(3)), "it is what was submitted: {value:?}");
        seen.saw(if value.is_some() { "taken" } else { "none" });
    }
}
