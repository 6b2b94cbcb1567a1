//! Models of going to sleep on an event: no wake is lost between the last look and the sleep.

use super::{Bound, LARGE, Model, SMALL, handle, keep, needs_many, one_lane, second_client, submit};
use crate::platform::Machine;
use crate::seen::Seen;
use slotwork::{Claims, Design};
use slotwork_workqueue::Event;
use std::sync::Arc;

/// A worker sleeps until a request comes. STORE-BUFFER.
pub struct SleepingTake;

impl Model for SleepingTake {
    const NAME: &'static str = "store_buffer_sleeping_take";
    const PROPERTY: &'static str = "no wake is lost";
    const WITNESSES: &'static [&'static str] = &["woken", "nobody asleep"];
    const FLOOR: u64 = 191;
    const BOUND: Bound = SMALL;
    const PARKS: bool = true;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (client, worker) = one_lane::<D, P>(1);
        let event = Arc::new(Event::<P>::new());
        let sleeper = P::spawn({
            let event = Arc::clone(&event);
            move || event.wait_until(|| handle::<D, P>(&worker))
        });
        submit::<D, P>(&client, 1);
        seen.saw(if event.notify_one() { "woken" } else { "nobody asleep" });
        assert_eq!(P::join(sleeper), 1);
    }
}

/// A worker gives up at the first look; a wake that it was sent has not been for nothing. TIMED-OUT-WAITER.
pub struct TimedOutTake;

impl Model for TimedOutTake {
    const NAME: &'static str = "timed_out_waiter_take";
    const PROPERTY: &'static str = "no wake is lost";
    const WITNESSES: &'static [&'static str] = &["woken", "gave up"];
    const FLOOR: u64 = 191;
    const BOUND: Bound = SMALL;
    const PARKS: bool = true;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (client, worker) = one_lane::<D, P>(1);
        let event = Arc::new(Event::<P>::new());
        let sleeper = P::spawn({
            let event = Arc::clone(&event);
            move || {
                // Out of time from the start. A sleep between would hide a stale look: after a yield, loom shows
                // a thread no value again that it has seen before, if there is a newer one.
                let found = event.wait_until_timeout(|| handle::<D, P>(&worker), || None);
                (found, worker)
            }
        });
        submit::<D, P>(&client, 1);
        let woken = event.notify_one();
        let (found, _worker) = P::join(sleeper);
        assert!(found.is_some() || !woken, "who was woken has found the request");
        seen.saw_if("woken", woken);
        seen.saw_if("gave up", found.is_none());
    }
}

/// A client sleeps until the one slot is free. WAITER-VS-RECHECK, ONE-SLEEPER.
pub struct SleepingAcquire;

impl Model for SleepingAcquire {
    const NAME: &'static str = "waiter_vs_recheck_sleeping_acquire";
    const PROPERTY: &'static str = "no wake is lost";
    const WITNESSES: &'static [&'static str] = &["woken", "nobody asleep"];
    const FLOOR: u64 = 24;
    const BOUND: Bound = SMALL;
    const PARKS: bool = true;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (client, worker) = one_lane::<D, P>(1);
        submit::<D, P>(&client, 1);
        let event = Arc::new(Event::<P>::new());
        let sleeper = P::spawn({
            let event = Arc::clone(&event);
            move || event.wait_until(|| client.acquire().map(|vacant| *vacant))
        });
        assert_eq!(handle::<D, P>(&worker), Some(1));
        seen.saw(if event.notify_one() { "woken" } else { "nobody asleep" });
        assert_eq!(P::join(sleeper), 10);
    }
}

/// What two sleepers need of an event.
pub trait Bell: Send + Sync + 'static {
    /// Looks until there is something, asleep between looks.
    fn wait<R>(&self, look: impl FnMut() -> Option<R>) -> R;

    /// Wakes one, now or later, and says whether anybody sleeps.
    fn notify(&self) -> bool;

    /// How many were woken so far.
    fn woken(&self) -> u64;
}

impl<P: Machine> Bell for Event<P> {
    fn wait<R>(&self, look: impl FnMut() -> Option<R>) -> R {
        self.wait_until(look)
    }

    fn notify(&self) -> bool {
        self.notify_one()
    }

    fn woken(&self) -> u64 {
        self.wakes()
    }
}

/// Two clients sleep on `bell` until both slots come back, one after the other.
pub(crate) fn two_sleepers<D: Design, P: Machine, B: Bell>(bell: B, seen: &'static Seen) {
    let (first, worker) = one_lane::<D, P>(2);
    let second = second_client::<D, P>(&first);
    submit::<D, P>(&first, 1);
    submit::<D, P>(&first, 2);
    let bell = Arc::new(bell);
    let sleepers = [first, second].map(|client| {
        let bell = Arc::clone(&bell);
        P::spawn(move || bell.wait(|| keep::<D, P>(&client)))
    });
    let mut asleep = 0;
    for _ in 0..2 {
        handle::<D, P>(&worker).expect("two requests are there");
        asleep += u64::from(bell.notify());
    }
    let woken = bell.woken();
    seen.saw_if("woke one", asleep == 1);
    seen.saw_if("woke both", asleep == 2 && woken == 2);
    seen.saw_if("left a wake", woken < asleep);
    let [one, other] = sleepers.map(P::join);
    assert_ne!(one, other, "a slot has one owner");
}

/// Two clients sleep until both slots come back: two completions wake two. NOTIFIED-TWICE.
pub struct TwoSleepers;

impl Model for TwoSleepers {
    const NAME: &'static str = "notified_twice_two_sleepers";
    const PROPERTY: &'static str = "no wake is lost";
    const WITNESSES: &'static [&'static str] = &["woke one", "woke both"];
    const FLOOR: u64 = 450;
    const BOUND: Bound = LARGE;
    const PARKS: bool = true;

    fn skip(claims: &Claims) -> Option<&'static str> {
        needs_many(claims)
    }

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        two_sleepers::<D, P, _>(Event::<P>::new(), seen);
    }
}

/// The same with one on the way at a time: a wake that is left to the first is passed on to the second. NOTIFIED-TWICE.
pub struct LeftWake;

impl Model for LeftWake {
    const NAME: &'static str = "notified_twice_left_wake";
    const PROPERTY: &'static str = "no wake is lost";
    const WITNESSES: &'static [&'static str] = &["woke one", "woke both", "left a wake"];
    const FLOOR: u64 = 450;
    const BOUND: Bound = LARGE;
    const PARKS: bool = true;

    fn skip(claims: &Claims) -> Option<&'static str> {
        needs_many(claims)
    }

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        two_sleepers::<D, P, _>(Event::<P>::waking_at_once(1), seen);
    }
}
