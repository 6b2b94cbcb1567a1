//! Exhibits of waiting: for the wrong thing, or for a reason that was not given.

use crate::models::{Bound, Model, UNBOUNDED, one_lane};
use crate::platform::Machine;
use crate::seen::Seen;
use slotwork::{AccessCell, Atomic, AtomicInteger, Design};
use std::sync::Arc;

slotwork::sites! {
    /// The waits of the museum.
    pub WAIT_SITES in "museum-wait";
    TODO_ADD: Rmw(Relaxed), pairs [], "a request more; submission publishes it";
    TODO_DONE: Rmw(Release), pairs [TODO_LOOK], "a request less; publishes what its worker did so far";
    TODO_LOOK: Load(Acquire), pairs [TODO_DONE], "a waiter that finds none sees what the workers did";
    FLAG_STORE: Store(Release), pairs [FLAG_LOAD], "the work is there";
    FLAG_LOAD: Load(Acquire), pairs [FLAG_STORE], "sees the work";
}

/// The wait of 2018's double list ends when the to-do lists are empty: but a request leaves its list when
/// it is taken, and is handled after. With `AFTER_HANDLING` it is counted until then.
pub struct WaitOnToDo<const AFTER_HANDLING: bool>;

impl<const AFTER_HANDLING: bool> Model for WaitOnToDo<AFTER_HANDLING> {
    const NAME: &'static str = if AFTER_HANDLING { "wait_until_handled" } else { "wait_until_taken" };
    const PROPERTY: &'static str = "a drain ends after what it waits for";
    const WITNESSES: &'static [&'static str] = &["waited"];
    const FLOOR: u64 = 2;
    const BOUND: Bound = UNBOUNDED;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (client, worker) = one_lane::<D, P>(1);
        let todo = Arc::new(P::AtomicU32::new(0));
        let effect = Arc::new(P::Cell::new());
        todo.fetch_add(1, &TODO_ADD);
        client.acquire().expect("a slot is free").submit();
        let other = P::spawn({
            let (todo, effect) = (Arc::clone(&todo), Arc::clone(&effect));
            move || {
                let claimed = worker.take().expect("a request is there");
                if !AFTER_HANDLING {
                    todo.fetch_sub(1, &TODO_DONE);
                }
                drop(effect.hold());
                if AFTER_HANDLING {
                    todo.fetch_sub(1, &TODO_DONE);
                }
                claimed.complete();
            }
        });
        while todo.load(&TODO_LOOK) != 0 {
            seen.saw("waited");
            P::yield_now();
        }
        // What the handler did is read here: it must be done.
        drop(effect.hold());
        P::join(other);
    }
}

/// A sleeper that takes the return of `park` for the news it waits for. With `LOOKS_AGAIN` it looks.
pub struct TrustsPark<const LOOKS_AGAIN: bool>;

impl<const LOOKS_AGAIN: bool> Model for TrustsPark<LOOKS_AGAIN> {
    const NAME: &'static str = if LOOKS_AGAIN { "looks_again_after_park" } else { "trusts_park" };
    const PROPERTY: &'static str = "no wake is lost";
    const WITNESSES: &'static [&'static str] = &["slept"];
    const FLOOR: u64 = 100;
    const BOUND: Bound = UNBOUNDED;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let flag = Arc::new(P::AtomicU32::new(0));
        let sleeper = P::spawn({
            let flag = Arc::clone(&flag);
            move || {
                while flag.load(&FLAG_LOAD) == 0 {
                    seen.saw("slept");
                    P::park();
                    if !LOOKS_AGAIN {
                        break;
                    }
                }
                assert_eq!(flag.load(&FLAG_LOAD), 1, "nobody woke it, and it went on");
            }
        });
        flag.store(1, &FLAG_STORE);
        P::unpark(&P::thread(&sleeper));
        P::join(sleeper);
    }
}
