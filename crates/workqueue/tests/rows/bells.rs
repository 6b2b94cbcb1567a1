//! The event, with the interleaving written into the look: each case happens in every run.

use crate::support::bells::{
    BadBell, Bell, KEEPS_WAKE, LEAVES_TRACE, NO_SECOND_LOOK, REBROADCASTS, RIGHT, TRUSTS_PARK, WAKES_FIRST_AGAIN,
};
use crate::support::{PATIENCE, assert_rejected, fault_of, until};
use slotwork::Native;
use slotwork_workqueue::Event;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{scope, spawn};
use std::time::Duration;

fn accepted(check: fn()) {
    assert_eq!(fault_of(check, PATIENCE), None);
}

/// Pieces of work, taken one by one.
#[derive(Default)]
struct Items(AtomicUsize);

impl Items {
    fn put(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }

    fn take(&self) -> Option<()> {
        let fewer = |count: usize| count.checked_sub(1);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, fewer).ok().map(|_| ())
    }
}

/// Another thread sleeps on the bell until there is an item; returns when it is on the list for certain, as it looks
/// after it went there. Its own first looks find nothing.
fn sleeper<B: Bell>(bell: &Arc<B>, items: &Arc<Items>) -> std::thread::JoinHandle<()> {
    let (bell, items) = (Arc::clone(bell), Arc::clone(items));
    let looked = Arc::new(AtomicBool::new(false));
    let looks = Arc::clone(&looked);
    let thread = spawn(move || {
        bell.wait_until(|| {
            let found = items.take();
            looks.store(true, Ordering::Release);
            found
        });
    });
    until(|| looked.load(Ordering::Acquire));
    thread
}

/// Work is published just as the sleeper has looked for it: between "nothing there" and "asleep".
fn stale_state_and_store_buffer<B: Bell>() {
    let (bell, items, looks) = (B::default(), Items::default(), Cell::new(0));
    bell.wait_until(|| {
        looks.set(looks.get() + 1);
        let found = items.take();
        if looks.get() == 1 {
            scope(|scope| {
                scope.spawn(|| {
                    items.put();
                    bell.notify_one();
                });
            });
        }
        found
    });
    assert!(items.take().is_none(), "one item, taken once");
}

#[test]
fn stale_state_and_store_buffer_lose_no_wake() {
    accepted(stale_state_and_store_buffer::<Event<Native>>);
    accepted(stale_state_and_store_buffer::<BadBell<RIGHT>>);
    assert_rejected("no second look", stale_state_and_store_buffer::<BadBell<NO_SECOND_LOOK>>, "no end");
}

/// The wake comes to a sleeper that has just found its own item, and is meant for another's.
fn unused_wake<B: Bell>() {
    let (bell, items) = (Arc::new(B::default()), Arc::new(Items::default()));
    let mut other = None;
    bell.wait_until(|| {
        if other.is_none() {
            other = Some(sleeper(&bell, &items));
            items.put();
            assert!(bell.notify_one(), "two are on the list");
        }
        Some(())
    });
    other.expect("made in the first look").join().expect("the other sleeper");
}

#[test]
fn unused_wake_is_passed_on() {
    accepted(unused_wake::<Event<Native>>);
    accepted(unused_wake::<BadBell<RIGHT>>);
    assert_rejected("keeps the wake", unused_wake::<BadBell<KEEPS_WAKE>>, "no end");
}

/// The wake comes to a sleeper that has just given up.
fn timed_out_wake<B: Bell>() {
    let (bell, items) = (Arc::new(B::default()), Arc::new(Items::default()));
    let mut other = None;
    let found = bell.wait_until_timeout(
        || None::<()>,
        || {
            if other.is_none() {
                other = Some(sleeper(&bell, &items));
                items.put();
                assert!(bell.notify_one(), "two are on the list");
            }
            None
        },
    );
    assert_eq!(found, None);
    other.expect("made as the time was over").join().expect("the other sleeper");
}

#[test]
fn timed_out_waiter_passes_the_wake_on() {
    accepted(timed_out_wake::<Event<Native>>);
    assert_rejected("keeps the wake", timed_out_wake::<BadBell<KEEPS_WAKE>>, "no end");
}

fn no_trace<B: Bell>() {
    let bell = B::default();
    for _ in 0..10 {
        assert_eq!(bell.wait_until_timeout(|| None::<()>, || None), None);
    }
    assert!(!bell.notify_one(), "nobody is there, and somebody was woken");
}

#[test]
fn timed_out_waiter_leaves_no_trace() {
    accepted(no_trace::<Event<Native>>);
    assert_rejected("leaves a trace", no_trace::<BadBell<LEAVES_TRACE>>, "somebody was woken");
}

/// As many wakes as others sleep, the first of them to one that does not run yet: it is still at its look.
fn notified_twice<B: Bell>() {
    let (bell, items) = (Arc::new(B::default()), Arc::new(Items::default()));
    let mut sleepers = Vec::new();
    bell.wait_until(|| {
        if sleepers.is_empty() {
            sleepers.extend((0..4).map(|_| sleeper(&bell, &items)));
            for _ in 0..4 {
                items.put();
                assert!(bell.notify_one(), "five are on the list");
            }
        }
        Some(())
    });
    sleepers.into_iter().for_each(|sleeper| sleeper.join().expect("a sleeper"));
}

#[test]
fn notified_twice_wakes_two() {
    accepted(notified_twice::<Event<Native>>);
    accepted(notified_twice::<BadBell<RIGHT>>);
    assert_rejected("wakes the first again", notified_twice::<BadBell<WAKES_FIRST_AGAIN>>, "no end");
}

/// Unparks that mean nothing: the sleeper stays asleep, and on the list.
fn spurious_unpark<B: Bell>() {
    let (bell, items, looks) = (Arc::new(B::default()), Arc::new(Items::default()), Arc::new(AtomicUsize::new(0)));
    let sleeper = {
        let (bell, items, looks) = (Arc::clone(&bell), Arc::clone(&items), Arc::clone(&looks));
        spawn(move || {
            bell.wait_until(|| {
                looks.fetch_add(1, Ordering::AcqRel);
                items.take()
            });
        })
    };
    until(|| looks.load(Ordering::Acquire) > 0);
    for _ in 0..100 {
        sleeper.thread().unpark();
        std::thread::sleep(Duration::from_micros(100));
    }
    assert_eq!(looks.load(Ordering::Acquire), 1, "it looks for no reason");
    items.put();
    assert!(bell.notify_one(), "the sleeper is on the list");
    sleeper.join().expect("a sleeper");
}

#[test]
fn spurious_unpark_is_harmless() {
    accepted(spurious_unpark::<Event<Native>>);
    accepted(spurious_unpark::<BadBell<RIGHT>>);
    assert_rejected("trusts park", spurious_unpark::<BadBell<TRUSTS_PARK>>, "it looks for no reason");
}

/// One wake for nothing, three asleep: one look in all.
fn ping_pong_notify<B: Bell>() {
    let (bell, items, looks) = (Arc::new(B::default()), Arc::new(Items::default()), Arc::new(AtomicUsize::new(0)));
    let sleepers: Vec<_> = (0..3)
        .map(|number| {
            let (bell, items, looks) = (Arc::clone(&bell), Arc::clone(&items), Arc::clone(&looks));
            let seen = Arc::clone(&looks);
            let thread = spawn(move || {
                bell.wait_until(|| {
                    let found = items.take();
                    looks.fetch_add(1, Ordering::AcqRel);
                    found
                });
            });
            until(|| seen.load(Ordering::Acquire) > number);
            thread
        })
        .collect();
    assert!(bell.notify_one());
    // The one that was woken looks twice: as it wakes, and as it goes back to sleep. For three to go on looking
    // for ever takes no time at all.
    until(|| looks.load(Ordering::Acquire) >= 5);
    std::thread::sleep(Duration::from_millis(50));
    let looked = looks.load(Ordering::Acquire);
    assert!(looked == 5, "{looked} looks: they wake each other");
    (0..3).for_each(|_| items.put());
    until(|| {
        bell.notify_one();
        sleepers.iter().all(std::thread::JoinHandle::is_finished)
    });
    sleepers.into_iter().for_each(|sleeper| sleeper.join().expect("a sleeper"));
}

#[test]
fn ping_pong_notify_wakes_nobody_else() {
    accepted(ping_pong_notify::<Event<Native>>);
    accepted(ping_pong_notify::<BadBell<RIGHT>>);
    assert_rejected("rebroadcasts", ping_pong_notify::<BadBell<REBROADCASTS>>, "they wake each other");
}

/// A look that panics: the list is as it was, and a wake that had come is passed on.
#[test]
fn panicking_look_leaves_no_trace_and_keeps_no_wake() {
    accepted(|| {
        for woken_first in [false, true] {
            let (bell, items) = (Arc::new(Event::<Native>::new()), Arc::new(Items::default()));
            let waiting = Arc::clone(&bell);
            let other = std::sync::OnceLock::new();
            let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                waiting.wait_until::<()>(|| {
                    if woken_first {
                        _ = other.set(sleeper(&bell, &items));
                        items.put();
                        assert!(bell.notify_one());
                    }
                    crate::support::planted_panic()
                });
            }));
            assert!(panicked.is_err());
            if let Some(other) = other.into_inner() {
                other.join().expect("the other sleeper");
            }
            assert!(!bell.notify_one(), "nobody is on the list");
        }
    });
}

/// Sleepers, wakers, waiters that time out and polls, all at once: every item is taken.
#[test]
fn load_with_every_way_of_waiting() {
    accepted(|| {
        const ITEMS: usize = 6000;
        let (bell, items, left) = (Event::<Native>::new(), Items::default(), AtomicUsize::new(ITEMS));
        let taken = |found: Option<()>| match found {
            Some(()) => left.fetch_sub(1, Ordering::AcqRel) == 1,
            None => false,
        };
        let over = || left.load(Ordering::Acquire) == 0;
        scope(|scope| {
            for way in 0..5 {
                let (bell, items) = (&bell, &items);
                scope.spawn(move || {
                    let look = || items.take().map(Some).or_else(|| over().then_some(None));
                    while !over() {
                        let found = match way {
                            0..3 => bell.wait_until(look),
                            3 => {
                                let mut once = Some(Duration::from_micros(20));
                                bell.wait_until_timeout(look, || once.take()).flatten()
                            }
                            _ => items.take(),
                        };
                        if taken(found) {
                            bell.notify_all();
                        }
                    }
                });
            }
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..ITEMS / 2 {
                        items.put();
                        bell.notify_one();
                    }
                });
            }
        });
        assert!(over() && items.take().is_none());
        assert!(!bell.notify_one(), "nobody is on the list");
    });
}
