//! Exhibit of waking: an event that leaves wakes to the sleeper that is on the way, which does not pass them on.

use crate::models::{Bell, Bound, Model, UNBOUNDED, two_sleepers};
use crate::platform::Machine;
use crate::seen::Seen;
use slotwork::{Atomic, AtomicInteger, Design, Lock};
use std::sync::Arc;

slotwork::sites! {
    /// Accesses of the event.
    pub WAKE_SITES in "museum-wake";
    LIST: Lock, pairs [LIST], "who sleeps; who is not on it sees what the waker did";
    WOKEN_STORE: Store(Relaxed), pairs [], "tells that the sleeper is off the list; LIST orders";
    WOKEN_LOAD: Load(Relaxed), pairs [], "tells a wake from a return of park for no reason; LIST orders";
    COUNT: Rmw(Relaxed), pairs [], "a statistic that orders nothing";
}

struct Sleeper<P: Machine> {
    thread: P::Thread,
    woken: P::AtomicU32,
}

struct List<P: Machine> {
    asleep: Vec<Arc<Sleeper<P>>>,
    on_the_way: bool,
    left: bool,
}

/// An event under a lock, with one on the way at a time. Every look is made under the lock, so that none is lost otherwise.
struct OneOnTheWay<P: Machine, const PASSES_ON: bool> {
    list: P::Lock<List<P>>,
    woken: P::AtomicU64,
}

impl<P: Machine, const PASSES_ON: bool> OneOnTheWay<P, PASSES_ON> {
    fn new() -> Self {
        let list = P::Lock::new(List { asleep: Vec::new(), on_the_way: false, left: false });
        Self { list, woken: P::AtomicU64::new(0) }
    }

    /// Wakes one, or leaves the wake to the one on the way.
    fn wake(&self, list: &mut List<P>) -> bool {
        let any = !list.asleep.is_empty();
        if list.on_the_way {
            list.left |= any;
        } else if any {
            list.on_the_way = true;
            let sleeper = list.asleep.remove(0);
            sleeper.woken.store(1, &WOKEN_STORE);
            P::unpark(&sleeper.thread);
            self.woken.fetch_add(1, &COUNT);
        }
        any
    }
}

impl<P: Machine, const PASSES_ON: bool> Bell for OneOnTheWay<P, PASSES_ON> {
    fn wait<R>(&self, mut look: impl FnMut() -> Option<R>) -> R {
        let mut comes = false;
        loop {
            let sleeper = Arc::new(Sleeper { thread: P::current(), woken: P::AtomicU32::new(0) });
            let found = self.list.with(&LIST, |list| {
                let found = look();
                if comes {
                    list.on_the_way = false;
                    if std::mem::take(&mut list.left) && found.is_some() && PASSES_ON {
                        self.wake(list);
                    }
                }
                if found.is_none() {
                    list.asleep.push(Arc::clone(&sleeper));
                }
                found
            });
            if let Some(found) = found {
                return found;
            }
            while sleeper.woken.load(&WOKEN_LOAD) == 0 {
                P::park();
            }
            comes = true;
        }
    }

    fn notify(&self) -> bool {
        self.list.with(&LIST, |list| self.wake(list))
    }

    fn woken(&self) -> u64 {
        self.woken.fetch_add(0, &COUNT)
    }
}

/// Two sleepers, and two wakes, one of which may be left to the first: who, without `PASSES_ON`, keeps it.
pub struct KeepsLeftWake<const PASSES_ON: bool>;

impl<const PASSES_ON: bool> Model for KeepsLeftWake<PASSES_ON> {
    const NAME: &'static str = if PASSES_ON { "passes_left_wake_on" } else { "keeps_left_wake" };
    const PROPERTY: &'static str = "no wake is lost";
    const WITNESSES: &'static [&'static str] = &["woke one", "woke both", "left a wake"];
    const FLOOR: u64 = 100;
    const BOUND: Bound = UNBOUNDED;
    const PARKS: bool = true;
    // The wake is left only if both sleep and the first does not run between two completions.
    const SCHEDULES: u64 = 20_000;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        two_sleepers::<D, P, _>(OneOnTheWay::<P, PASSES_ON>::new(), seen);
    }
}
