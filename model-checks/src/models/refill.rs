//! Models of a client that is told to wait for more than one free slot: it is told so in good time only, and is woken.
//!
//! ```text
//!   eight slots; up to six in flight the rule says nothing
//!   client   finds nothing ▸ dry ▸ more than six in flight? none ▸ sleeps
//!   worker   completes ▸ fence ▸ somebody asleep, and not more than six in flight? wakes it
//! ```

use super::{Bound, ClientOf, LARGE, MEDIUM, Model, WorkerOf, handle, handles, needs_many, second_client, submit};
use crate::platform::Machine;
use crate::seen::Seen;
use slotwork::{Claims, Design, NoneFree};
use slotwork_workqueue::Event;
use std::sync::Arc;

const SLOTS: usize = 8;

fn needs_refill(claims: &Claims) -> Option<&'static str> {
    (claims.none_free != NoneFree::Refill)
        .then_some("never tells a client to wait for more")
        .or_else(|| needs_many(claims))
}

/// A queue with every slot in flight, and a client that found nothing.
fn dry<D: Design, P: Machine>(lanes: usize) -> (ClientOf<D, P>, Vec<WorkerOf<D, P>>) {
    let (client, workers) = handles::<D, P>(lanes, SLOTS / lanes);
    (1..=SLOTS as u64).for_each(|value| submit::<D, P>(&client, value));
    assert!(client.acquire().is_none(), "none is free");
    (client, workers)
}

/// Two workers complete a request each, and each asks whether a sleeping client need not be woken yet: it need be now, and one
/// of them at least is told. STORE-BUFFER. Without `FENCED`, an exhibit of the museum.
pub struct RefillAsked<const FENCED: bool>;

impl<const FENCED: bool> Model for RefillAsked<FENCED> {
    const NAME: &'static str = if FENCED { "store_buffer_refill_asked" } else { "store_buffer_refill_asked_unfenced" };
    const PROPERTY: &'static str = "no wake is lost";
    const WITNESSES: &'static [&'static str] = &["one was told", "both were told"];
    const FLOOR: u64 = 20;
    const BOUND: Bound = MEDIUM;

    fn skip(claims: &Claims) -> Option<&'static str> {
        needs_refill(claims)
    }

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (_client, workers) = dry::<D, P>(2);
        let wakes = |worker: WorkerOf<D, P>| {
            move || {
                handle::<D, P>(&worker).expect("requests are there");
                if FENCED {
                    Event::<P>::publish();
                }
                !worker.refills()
            }
        };
        let [one, other] = <[_; 2]>::try_from(workers).expect("two lanes").map(wakes);
        let one = P::spawn(one);
        let other = other();
        let one = P::join(one);
        assert!(one || other, "six are in flight, and nobody wakes who sleeps");
        seen.saw(if one && other { "both were told" } else { "one was told" });
    }
}

/// A client that found nothing sleeps, while a worker completes as many as it takes. WAITER-VS-RECHECK.
pub struct SleepingRefill;

impl Model for SleepingRefill {
    const NAME: &'static str = "waiter_vs_recheck_sleeping_refill";
    const PROPERTY: &'static str = "no wake is lost";
    const WITNESSES: &'static [&'static str] = &["woken", "nobody asleep", "not yet"];
    const FLOOR: u64 = 50;
    const BOUND: Bound = MEDIUM;
    const PARKS: bool = true;

    fn skip(claims: &Claims) -> Option<&'static str> {
        needs_refill(claims)
    }

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (client, workers) = dry::<D, P>(1);
        let event = Arc::new(Event::<P>::new());
        let sleeper = P::spawn({
            let event = Arc::clone(&event);
            move || event.wait_until(|| client.acquire().map(|vacant| *vacant))
        });
        let mut woken = false;
        for _ in 0..2 {
            handle::<D, P>(&workers[0]).expect("requests are there");
            woken |= event.notify_one_unless(|| {
                let refills = workers[0].refills();
                seen.saw_if("not yet", refills);
                refills
            });
        }
        seen.saw(if woken { "woken" } else { "nobody asleep" });
        assert_eq!(P::join(sleeper) % 10, 0, "a result is there");
    }
}

/// Another client submits as often as requests are completed, so that never more than six are in flight; however late the
/// news of that come, a client that was told there was nothing finds the slot that is free all the time.
pub struct RefillComesRound;

impl Model for RefillComesRound {
    const NAME: &'static str = "refill_comes_round";
    const PROPERTY: &'static str = "a slot that is free all the time is found, but for refills";
    const WITNESSES: &'static [&'static str] = &["before the submission", "after it"];
    const FLOOR: u64 = 10;
    const BOUND: Bound = LARGE;

    fn skip(claims: &Claims) -> Option<&'static str> {
        needs_refill(claims)
    }

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (client, mut workers) = dry::<D, P>(1);
        let other = second_client::<D, P>(&client);
        let worker = workers.remove(0);
        (0..2).for_each(|_| _ = handle::<D, P>(&worker).expect("requests are there"));
        let submitted = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let thread = P::spawn({
            let submitted = Arc::clone(&submitted);
            move || {
                handle::<D, P>(&worker).expect("requests are there");
                submit::<D, P>(&other, 9);
                submitted.store(true, std::sync::atomic::Ordering::Relaxed);
                (other, worker)
            }
        });
        P::step();
        let after = submitted.load(std::sync::atomic::Ordering::Relaxed);
        assert!(client.acquire().is_some(), "at most six are in flight, and a slot is free all the time");
        seen.saw(if after { "after it" } else { "before the submission" });
        P::join(thread);
    }
}
