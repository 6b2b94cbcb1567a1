//! TOKEN-SEMANTICS: park and unpark mean the same on this machine and under the checker.

use model_checks::platform::{Interleaving, Loom, Machine, Weak};
use slotwork::{AccessCell, Atomic, Native};
use std::sync::Arc;

slotwork::sites! {
    /// Accesses of the cases.
    SITES in "tokens";
    SET: Store(Release), pairs [GET], "the other thread did its part";
    GET: Load(Acquire), pairs [SET], "sees what the other thread did";
    SET_RELAXED: Store(Relaxed), pairs [], "ordered by the token, or not at all";
    GET_RELAXED: Load(Relaxed), pairs [], "ordered by the token, or not at all";
}

/// An unpark before the park is not lost.
fn an_early_unpark_is_remembered<P: Machine>() {
    P::unpark(&P::current());
    P::park();
}

/// Two unparks are one token: the second park needs a third.
fn tokens_do_not_add_up<P: Machine>() {
    let flag = Arc::new(P::AtomicU32::new(0));
    let me = P::current();
    P::unpark(&me);
    P::unpark(&me);
    P::park();
    let other = P::spawn({
        let flag = Arc::clone(&flag);
        move || {
            flag.store(1, &SET);
            P::unpark(&me);
        }
    });
    P::park();
    assert_eq!(flag.load(&GET), 1, "the second park waited for the third unpark");
    P::join(other);
}

/// What the waker did happens before the return of park, by the token alone.
fn an_unpark_orders<P: Machine>() {
    let cell = Arc::new(P::Cell::new());
    let flag = Arc::new(P::AtomicU32::new(0));
    let me = P::current();
    let other = P::spawn({
        let (cell, flag) = (Arc::clone(&cell), Arc::clone(&flag));
        move || {
            drop(cell.hold());
            flag.store(1, &SET_RELAXED);
            P::unpark(&me);
        }
    });
    P::park();
    assert_eq!(flag.load(&GET_RELAXED), 1);
    drop(cell.hold());
    P::join(other);
}

/// A token belongs to one thread.
fn a_token_is_not_shared<P: Machine>() {
    let flag = Arc::new(P::AtomicU32::new(0));
    let me = P::current();
    let other = P::spawn({
        let flag = Arc::clone(&flag);
        move || {
            P::unpark(&P::current());
            flag.store(1, &SET);
            P::unpark(&me);
            P::park();
        }
    });
    P::park();
    assert_eq!(flag.load(&GET), 1, "the first unpark was not for this thread");
    P::join(other);
}

/// An unpark reaches a thread that waits for something else, and does not end that wait.
fn an_unpark_ends_no_other_wait<P: Machine>() {
    let flag = Arc::new(P::AtomicU32::new(0));
    let me = P::current();
    let other = P::spawn({
        let flag = Arc::clone(&flag);
        move || {
            P::unpark(&me);
            flag.store(1, &SET);
        }
    });
    P::join(other);
    assert_eq!(flag.load(&GET), 1, "the join waited");
    P::park();
}

macro_rules! cases {
    ($($case:ident)+) => {
        mod token_semantics_on_this_machine {
            $(
                #[test]
                fn $case() {
                    super::$case::<super::Native>();
                }
            )+
        }

        mod token_semantics_under_loom {
            $(
                #[test]
                fn $case() {
                    loom::model(super::$case::<super::Loom<super::Weak>>);
                    loom::model(super::$case::<super::Loom<super::Interleaving>>);
                }
            )+
        }
    };
}

cases! {
    an_early_unpark_is_remembered
    tokens_do_not_add_up
    an_unpark_orders
    a_token_is_not_shared
    an_unpark_ends_no_other_wait
}

#[test]
fn sites_pair() {
    assert_eq!(slotwork::check_pairs(SITES), []);
}
