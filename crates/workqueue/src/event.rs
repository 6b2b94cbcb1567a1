//! Sleeping until there is something to do, without losing a wake.
//!
//! ```text
//!   sleeper                              waker
//!   put itself on the list               publish the work
//!   FENCE_SLEEP ◀────────pairs─────────▶ FENCE_WAKE
//!   look once more; nothing? sleep       anybody on the list? wake the first
//! ```
//!
//! Each side writes first and looks second, with a sequentially consistent fence between: so at
//! least one of them sees the other. A waker that finds nobody asleep pays a fence and a load.
//!
//! A wake goes to one sleeper, the one that has waited longest. If that one finds what it wants by its
//! own last look, just as the wake arrives, it passes the wake on, for it may have been meant for a
//! different piece of work. A sleeper that is woken and finds nothing sleeps again and wakes nobody.

use slotwork::{Atomic, AtomicInteger, CachePadded, Lock, Platform};
use std::collections::VecDeque;
use std::fmt;
use std::slice::from_ref;
use std::sync::Arc;
use std::time::Duration;

slotwork::sites! {
    /// Every atomic access of the event.
    pub EVENT_SITES in "event";
    SLEEPERS_CHANGE: Rmw(Relaxed), pairs [], "changed under LOCK; FENCE_SLEEP orders it before the last look";
    SLEEPERS_LOAD: Load(Relaxed), pairs [], "FENCE_WAKE orders it after the publication of the work";
    FENCE_SLEEP: Fence(SeqCst), pairs [FENCE_WAKE], "enlisting comes before the last look, in one order with FENCE_WAKE";
    FENCE_WAKE: Fence(SeqCst), pairs [FENCE_SLEEP, WOKEN_LOAD], "publishing comes before looking for sleepers, in one order with FENCE_SLEEP";
    WOKEN_STORE: Store(Relaxed), pairs [], "FENCE_WAKE, always before it, makes it publish what the waker did";
    WOKEN_LOAD: Load(Acquire), pairs [FENCE_WAKE], "tells a wake from a spurious return of park; with FENCE_WAKE, the look after it sees the waker's work";
    LOCK: Lock, pairs [LOCK], "the list of sleepers";
    WAKES_COUNT: Rmw(Relaxed), pairs [], "a statistic that orders nothing";
    WAKES_LOAD: Load(Relaxed), pairs [], "a statistic that orders nothing";
}

/// No timeout.
const FOR_EVER: Duration = Duration::MAX;

/// A place to sleep until somebody publishes work; any number of sleepers and wakers.
pub struct Event<P: Platform> {
    /// Length of the list, to be read without the lock.
    sleepers: CachePadded<P::AtomicU32>,
    list: P::Lock<VecDeque<Arc<Sleeper<P>>>>,
    wakes: P::AtomicU64,
}

struct Sleeper<P: Platform> {
    thread: P::Thread,
    woken: P::AtomicU32,
}

impl<P: Platform> Event<P> {
    /// An event with nobody asleep.
    #[must_use]
    pub fn new() -> Self {
        Self {
            sleepers: CachePadded::new(P::AtomicU32::new(0)),
            list: P::Lock::new(VecDeque::new()),
            wakes: P::AtomicU64::new(0),
        }
    }

    /// Looks until there is something, asleep between looks. **Blocking.**
    ///
    /// `look` is called again after every wake. It must see whatever a waker published before it
    /// called [`Event::notify_one`]. It should be tried before this is called: going to sleep costs a
    /// lock and an allocation.
    pub fn wait_until<R>(&self, look: impl FnMut() -> Option<R>) -> R {
        Self::wait_until_any(from_ref(self), look)
    }

    /// As [`Event::wait_until`], but gives up when `remaining` says that no time is left. The last
    /// look comes after that, and whoever gives up leaves no trace and swallows no wake.
    pub fn wait_until_timeout<R>(
        &self,
        look: impl FnMut() -> Option<R>,
        remaining: impl FnMut() -> Option<Duration>,
    ) -> Option<R> {
        Self::wait_until_any_timeout(from_ref(self), look, remaining)
    }

    /// As [`Event::wait_until`], asleep on several events: woken by whichever comes first. Going to sleep
    /// costs a lock for each.
    pub fn wait_until_any<R>(events: &[Self], mut look: impl FnMut() -> Option<R>) -> R {
        loop {
            if let Some(found) = Self::sleep_once(events, &mut look, || Some(FOR_EVER)) {
                return found;
            }
        }
    }

    /// As [`Event::wait_until_timeout`], asleep on several events.
    pub fn wait_until_any_timeout<R>(
        events: &[Self],
        mut look: impl FnMut() -> Option<R>,
        mut remaining: impl FnMut() -> Option<Duration>,
    ) -> Option<R> {
        loop {
            if let Some(found) = Self::sleep_once(events, &mut look, &mut remaining) {
                return Some(found);
            }
            remaining()?;
        }
    }

    /// Sleeps until woken or out of time, with a look before and after.
    fn sleep_once<R>(
        events: &[Self],
        look: &mut impl FnMut() -> Option<R>,
        mut remaining: impl FnMut() -> Option<Duration>,
    ) -> Option<R> {
        let mut place = Place::on(events);
        P::fence(&FENCE_SLEEP);
        if let Some(found) = look() {
            return Some(found);
        }
        while place.sleeper.woken.load(&WOKEN_LOAD) == 0 {
            match remaining() {
                Some(FOR_EVER) => P::park(),
                Some(time) => P::park_timeout(time),
                None => {
                    drop(place);
                    return look();
                }
            }
        }
        let found = look();
        place.woken = true;
        found
    }

    /// Wakes the one that has slept longest, if anybody sleeps, and says whether it did. Call it
    /// after publishing the work. Cost with nobody asleep: a fence and a load.
    pub fn notify_one(&self) -> bool {
        Self::publish();
        self.wake(1) == 1
    }

    /// Wakes all that sleep now, and says how many.
    pub fn notify_all(&self) -> usize {
        Self::publish();
        self.wake(usize::MAX)
    }

    /// Orders what the caller published before what it looks at next: the fence of
    /// [`Event::notify_one`], to be paid once before several [`Event::wake`]s.
    #[inline]
    pub fn publish() {
        P::fence(&FENCE_WAKE);
    }

    /// Wakes up to `count` sleepers, those that have slept longest, and says how many. Comes after
    /// [`Event::publish`]. Cost with nobody asleep: a load.
    #[inline]
    pub fn wake(&self, count: usize) -> usize {
        if self.sleepers.load(&SLEEPERS_LOAD) == 0 { 0 } else { self.wake_sleepers(count) }
    }

    #[cold]
    fn wake_sleepers(&self, count: usize) -> usize {
        let woken: Vec<_> = self.list.with(&LOCK, |list| {
            let count = count.min(list.len());
            for _ in 0..count {
                self.sleepers.fetch_sub(1, &SLEEPERS_CHANGE);
            }
            list.drain(..count).collect()
        });
        for _ in 0..woken.len() {
            self.wakes.fetch_add(1, &WAKES_COUNT);
        }
        woken.iter().for_each(|sleeper| sleeper.wake());
        woken.len()
    }

    /// How many sleepers were woken so far: a statistic.
    #[must_use]
    pub fn wakes(&self) -> u64 {
        self.wakes.load(&WAKES_LOAD)
    }

    fn enlist(&self, sleeper: &Arc<Sleeper<P>>) {
        self.list.with(&LOCK, |list| {
            list.push_back(Arc::clone(sleeper));
            self.sleepers.fetch_add(1, &SLEEPERS_CHANGE);
        });
    }

    /// Takes the sleeper off the list; false when a waker had done so already.
    fn leave(&self, sleeper: &Arc<Sleeper<P>>) -> bool {
        self.list.with(&LOCK, |list| {
            let at = list.iter().position(|other| Arc::ptr_eq(other, sleeper));
            if let Some(at) = at {
                list.remove(at);
                self.sleepers.fetch_sub(1, &SLEEPERS_CHANGE);
            }
            at.is_some()
        })
    }
}

/// A place on the list of each event. Given up before its sleeper was woken, or by a panic of its look, it leaves
/// no trace: and if a waker has taken it off a list already, that wake goes to somebody else. So does every wake
/// but one, where several events had one for it.
struct Place<'a, P: Platform> {
    events: &'a [Event<P>],
    sleeper: Arc<Sleeper<P>>,
    /// A wake came, and was made use of.
    woken: bool,
}

impl<'a, P: Platform> Place<'a, P> {
    fn on(events: &'a [Event<P>]) -> Self {
        let sleeper = Arc::new(Sleeper { thread: P::current(), woken: P::AtomicU32::new(0) });
        let place = Self { events, sleeper, woken: false };
        events.iter().for_each(|event| event.enlist(&place.sleeper));
        place
    }
}

impl<P: Platform> Drop for Place<'_, P> {
    fn drop(&mut self) {
        if self.woken && self.events.len() == 1 {
            return;
        }
        let mut used = self.woken;
        for event in self.events {
            if !event.leave(&self.sleeper) && !std::mem::take(&mut used) {
                event.notify_one();
            }
        }
    }
}

impl<P: Platform> Sleeper<P> {
    fn wake(&self) {
        self.woken.store(1, &WOKEN_STORE);
        P::unpark(&self.thread);
    }
}

impl<P: Platform> Default for Event<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Platform> fmt::Debug for Event<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Event").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotwork::{Native, check_pairs};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Instant;

    #[test]
    fn sites_pair() {
        assert_eq!(check_pairs(EVENT_SITES), []);
    }

    #[test]
    fn notifying_nobody_is_no_wake() {
        let event = Event::<Native>::new();
        assert!(!event.notify_one());
        assert_eq!(event.notify_all(), 0);
    }

    #[test]
    fn timed_out_waiter_leaves_no_trace() {
        let event = Event::<Native>::new();
        for _ in 0..100 {
            let end = Instant::now() + Duration::from_micros(50);
            let remaining = || end.checked_duration_since(Instant::now()).filter(|time| !time.is_zero());
            assert_eq!(event.wait_until_timeout(|| None::<()>, remaining), None);
        }
        assert!(!event.notify_one(), "nobody is on the list");
    }

    #[test]
    fn one_wake_of_several_is_used_and_the_others_are_passed_on() {
        let events = [Event::<Native>::new(), Event::new()];
        let places = [Place::on(&events), Place::on(&events)];
        assert!(events.iter().all(Event::notify_one), "the first one is on both lists");
        let [mut first, second] = places;
        assert_eq!(Atomic::load(&second.sleeper.woken, &WOKEN_LOAD), 0);
        first.woken = true;
        drop(first);
        assert_eq!(Atomic::load(&second.sleeper.woken, &WOKEN_LOAD), 1, "the second wake was passed on");
        drop(second);
        assert!(events.iter().all(|event| !event.notify_one()), "nobody is on a list");
    }

    #[test]
    fn every_published_item_finds_a_sleeper() {
        let event = Event::<Native>::new();
        let items = AtomicUsize::new(0);
        let take = || items.fetch_update(Ordering::AcqRel, Ordering::Acquire, |count| count.checked_sub(1)).ok();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    (0..1000).for_each(|_| {
                        event.wait_until(take);
                    });
                });
            }
            for _ in 0..4000 {
                items.fetch_add(1, Ordering::Release);
                event.notify_one();
            }
        });
        assert_eq!(items.load(Ordering::Relaxed), 0);
        assert_eq!(Atomic::load(&*event.sleepers, &SLEEPERS_LOAD), 0);
    }
}
