//! Exhibits of the end of a workqueue: a quit that is lost, and a wake that goes to nobody.

use crate::models::{Bound, Model, UNBOUNDED, one_lane};
use crate::platform::Machine;
use crate::seen::Seen;
use slotwork::{Atomic, Design, Lock};
use std::collections::VecDeque;
use std::sync::Arc;

slotwork::sites! {
    /// The ends of the museum.
    pub SHUTDOWN_SITES in "museum-shutdown";
    QUIT_STORE: Store(Release), pairs [QUIT_LOAD], "what was submitted before the end is seen by a worker that sees the end";
    QUIT_LOAD: Load(Acquire), pairs [QUIT_STORE], "sees what came before the end";
    EVENT_SET: Rmw(Release), pairs [EVENT_RESET, EVENT_LOOK], "there is news: a request, or the end";
    EVENT_RESET: Rmw(AcqRel), pairs [EVENT_SET], "whoever resets the event sees the news that it was set for";
    EVENT_LOOK: Load(Acquire), pairs [EVENT_SET], "a sleeper goes on";
    LIST: Lock, pairs [LIST], "the sleepers: whoever is on the list looks after, whoever wakes has published before";
    WOKEN_STORE: Store(Release), pairs [WOKEN_LOAD], "the sleeper was taken off the list";
    WOKEN_LOAD: Load(Acquire), pairs [WOKEN_STORE], "tells a wake from a return of park for no reason";
}

/// The worker of 2018 tests quit, then resets its event, looks for requests, and sleeps until the event is set. An
/// end between the test and the reset is lost. With `RESETS_FIRST` the event is reset before the test.
pub struct ResetsAfterQuit<const RESETS_FIRST: bool>;

impl<const RESETS_FIRST: bool> Model for ResetsAfterQuit<RESETS_FIRST> {
    const NAME: &'static str = if RESETS_FIRST { "resets_then_tests_quit" } else { "tests_quit_then_resets" };
    const PROPERTY: &'static str = "no thread sleeps through the end";
    const WITNESSES: &'static [&'static str] = &["slept", "ended at once"];
    const FLOOR: u64 = 2;
    const BOUND: Bound = UNBOUNDED;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let quit = Arc::new(P::AtomicU32::new(0));
        let event = Arc::new(P::AtomicU32::new(0));
        let (client, worker) = one_lane::<D, P>(1);
        client.acquire().expect("a slot is free").submit();
        let thread = P::spawn({
            let (quit, event) = (Arc::clone(&quit), Arc::clone(&event));
            move || {
                let mut slept = false;
                loop {
                    let reset = || event.swap(0, &EVENT_RESET);
                    if RESETS_FIRST {
                        reset();
                    }
                    if quit.load(&QUIT_LOAD) == 1 {
                        break;
                    }
                    if !RESETS_FIRST {
                        reset();
                    }
                    while let Some(claimed) = worker.take() {
                        claimed.complete();
                    }
                    while event.load(&EVENT_LOOK) == 0 {
                        slept = true;
                        P::park();
                    }
                }
                seen.saw(if slept { "slept" } else { "ended at once" });
            }
        });
        quit.store(1, &QUIT_STORE);
        // Exchanged, as in 2018. Where a plain store races with the exchange that resets, loom lets a reader that comes after
        // both see the older value: a false alarm.
        event.swap(1, &EVENT_SET);
        P::unpark(&P::thread(&thread));
        P::join(thread);
    }
}

/// A sleeper on the list of a [`Bell`].
struct Sleeper<P: Machine> {
    thread: P::Thread,
    woken: P::AtomicU32,
}

/// The event that ships, without its counter and its timeouts: all goes through the lock.
struct Bell<P: Machine>(P::Lock<VecDeque<Arc<Sleeper<P>>>>);

impl<P: Machine> Bell<P> {
    fn wake_one(&self) {
        if let Some(sleeper) = self.0.with(&LIST, VecDeque::pop_front) {
            sleeper.woken.store(1, &WOKEN_STORE);
            P::unpark(&sleeper.thread);
        }
    }

    /// Sleeps until `look` finds something; whether a wake that came too late to be of use goes to somebody else
    /// is for the exhibit to say.
    fn wait_until<R>(&self, passes_on: bool, look: impl Fn() -> Option<R>) -> R {
        loop {
            let own = Arc::new(Sleeper::<P> { thread: P::current(), woken: P::AtomicU32::new(0) });
            self.0.with(&LIST, |list| list.push_back(Arc::clone(&own)));
            if let Some(found) = look() {
                let left = self.0.with(&LIST, |list| {
                    let at = list.iter().position(|other| Arc::ptr_eq(other, &own));
                    at.and_then(|at| list.remove(at)).is_some()
                });
                if passes_on && !left {
                    self.wake_one();
                }
                return found;
            }
            while own.woken.load(&WOKEN_LOAD) == 0 {
                P::park();
            }
            if let Some(found) = look() {
                return found;
            }
        }
    }
}

/// Two clients sleep until two slots come back. One is woken just as it finds a slot by its own last look: that wake
/// was for the other slot, and unless it is passed on, the other client sleeps beside a free one for ever.
pub struct KeepsUnusedWake<const PASSES_ON: bool>;

impl<const PASSES_ON: bool> Model for KeepsUnusedWake<PASSES_ON> {
    const NAME: &'static str = if PASSES_ON { "passes_unused_wake_on" } else { "keeps_unused_wake" };
    const PROPERTY: &'static str = "no wake is lost";
    const WITNESSES: &'static [&'static str] = &["both slept"];
    const FLOOR: u64 = 100;
    const BOUND: Bound = UNBOUNDED;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (first, worker) = one_lane::<D, P>(2);
        let second = first.try_clone().expect("the design claims many submitters");
        first.acquire().expect("a slot is free").submit();
        first.acquire().expect("a slot is free").submit();
        let bell = Arc::new(Bell::<P>(Lock::new(VecDeque::new())));
        let asleep = Arc::new(std::sync::atomic::AtomicU32::new(0));
        let sleepers = [first, second].map(|client| {
            let (bell, asleep) = (Arc::clone(&bell), Arc::clone(&asleep));
            P::spawn(move || {
                bell.wait_until(PASSES_ON, || {
                    let found = client.acquire().map(|vacant| {
                        let slot = vacant.slot();
                        std::mem::forget(vacant);
                        slot
                    });
                    if found.is_none() && asleep.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 0 {
                        seen.saw("both slept");
                    }
                    found
                })
            })
        });
        for _ in 0..2 {
            worker.take().expect("two requests are there").complete();
            bell.wake_one();
        }
        let [one, other] = sleepers.map(P::join);
        assert_ne!(one, other, "a slot has one owner");
    }
}
