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
//!
//! Of those that were woken, only so many are on the way at a time. A wake beyond that is *left* to them:
//!
//! ```text
//!   asleep          e d c          woken last ◀── on the list ──▶ woken first
//!   on the way      b a            woken, and not come yet: two at once
//!   left            1              a wake that c would have got
//!
//!   a comes         takes what is left with it, then looks
//!     found         leaves it again, which now wakes c
//!     found nothing drops it: the work it was for has been done meanwhile
//! ```
//!
//! So a burst wakes as many as find something, and one or two more, and not everybody: with more threads than cores, those
//! that are awake have done the work before the others would have come. The rule is that of schedulers that let few
//! workers search at a time (Go, Tokio).

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
    FENCE_WAKE: Fence(SeqCst), pairs [FENCE_SLEEP], "publishing comes before looking for sleepers, in one order with FENCE_SLEEP";
    WOKEN_STORE: Store(Relaxed), pairs [], "tells that the sleeper is off the list; LOCK, taken before it, publishes what the waker did";
    WOKEN_LOAD: Load(Relaxed), pairs [], "tells a wake from a spurious return of park; LOCK, taken after it, lets the look see the waker's work";
    LOCK: Lock, pairs [LOCK], "the list of sleepers; who comes sees the work of whoever woke it, or left it a wake";
    WAKES_COUNT: Rmw(Relaxed), pairs [], "a statistic that orders nothing";
    WAKES_LOAD: Load(Relaxed), pairs [], "a statistic that orders nothing";
}

/// No timeout.
const FOR_EVER: Duration = Duration::MAX;

/// On the way at a time. With one, two pairs of threads that wait for each other take turns, each at the pace of a wake.
const AT_ONCE: usize = 2;

/// A place to sleep until somebody publishes work; any number of sleepers and wakers.
pub struct Event<P: Platform> {
    /// How many are asleep, to be read without the lock.
    sleepers: CachePadded<P::AtomicU32>,
    list: P::Lock<List<P>>,
    at_once: usize,
    wakes: P::AtomicU64,
}

struct List<P: Platform> {
    /// Who has slept longest comes first.
    asleep: VecDeque<Arc<Sleeper<P>>>,
    /// Woken, and not come yet.
    on_the_way: usize,
    /// Wakes left to those: at most one for each that is asleep.
    left: usize,
}

struct Sleeper<P: Platform> {
    thread: P::Thread,
    woken: P::AtomicU32,
}

impl<P: Platform> Event<P> {
    /// An event with nobody asleep, that has two on the way at a time.
    #[must_use]
    pub fn new() -> Self {
        Self::waking_at_once(AT_ONCE)
    }

    /// An event with nobody asleep, that has so many on the way at a time; at least one.
    #[must_use]
    pub fn waking_at_once(at_once: usize) -> Self {
        Self {
            sleepers: CachePadded::new(P::AtomicU32::new(0)),
            list: P::Lock::new(List { asleep: VecDeque::new(), on_the_way: 0, left: 0 }),
            at_once: at_once.max(1),
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
    /// costs a lock for each, and so does coming back.
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
        while !place.sleeper.is_woken() {
            match remaining() {
                Some(FOR_EVER) => P::park(),
                Some(time) => P::park_timeout(time),
                None => {
                    drop(place);
                    return look();
                }
            }
        }
        place.come();
        let found = look();
        place.looked = Some(found.is_some());
        found
    }

    /// Wakes the one that has slept longest, if anybody sleeps, and says whether anybody does: with enough of them on the
    /// way, the wake is left to those. Call it after publishing the work. Cost with nobody asleep: a fence and a load.
    pub fn notify_one(&self) -> bool {
        Self::publish();
        self.wake(1) == 1
    }

    /// As [`Event::notify_one`], unless, with somebody asleep, `not_yet` says that it need not be: that it would sleep again,
    /// and that somebody else will ask.
    pub fn notify_one_unless(&self, not_yet: impl FnOnce() -> bool) -> bool {
        Self::publish();
        self.has_sleepers() && !not_yet() && self.wake(1) == 1
    }

    /// Wakes all that sleep now, at once, and says how many.
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

    /// Whether anybody sleeps. Comes after [`Event::publish`]; whoever goes to sleep later sees what was published. Cost: a load.
    #[inline]
    pub fn has_sleepers(&self) -> bool {
        self.sleepers.load(&SLEEPERS_LOAD) != 0
    }

    /// Wakes up to `count` sleepers, those that have slept longest, as soon as those on the way have come, and says how
    /// many sleep that this is for; `usize::MAX` wakes all at once. Comes after [`Event::publish`]. Cost with nobody asleep: a load.
    #[inline]
    pub fn wake(&self, count: usize) -> usize {
        if self.has_sleepers() { self.wake_sleepers(count) } else { 0 }
    }

    #[cold]
    fn wake_sleepers(&self, count: usize) -> usize {
        let at_once = if count == usize::MAX { count } else { self.at_once };
        let (asleep, woken): (usize, Vec<_>) = self.list.with(&LOCK, |list| {
            let asleep = list.asleep.len();
            list.left = list.left.saturating_add(count).min(asleep);
            let now = list.left.min(at_once.saturating_sub(list.on_the_way));
            list.left -= now;
            list.on_the_way += now;
            for _ in 0..now {
                self.sleepers.fetch_sub(1, &SLEEPERS_CHANGE);
            }
            (asleep, list.asleep.drain(..now).collect())
        });
        for _ in 0..woken.len() {
            self.wakes.fetch_add(1, &WAKES_COUNT);
        }
        woken.iter().for_each(|sleeper| sleeper.wake());
        count.min(asleep)
    }

    /// How many sleepers were woken so far: a statistic.
    #[must_use]
    pub fn wakes(&self) -> u64 {
        self.wakes.load(&WAKES_LOAD)
    }

    fn enlist(&self, sleeper: &Arc<Sleeper<P>>) {
        self.list.with(&LOCK, |list| {
            list.asleep.push_back(Arc::clone(sleeper));
            self.sleepers.fetch_add(1, &SLEEPERS_CHANGE);
        });
    }

    /// The sleeper is here: it goes off the list, or, if a waker took it off, gets the wakes that were left.
    fn receive(&self, sleeper: &Arc<Sleeper<P>>) -> Option<usize> {
        self.list.with(&LOCK, |list| {
            let Some(at) = list.asleep.iter().position(|other| Arc::ptr_eq(other, sleeper)) else {
                list.on_the_way -= 1;
                return Some(std::mem::take(&mut list.left));
            };
            list.asleep.remove(at);
            list.left = list.left.min(list.asleep.len());
            self.sleepers.fetch_sub(1, &SLEEPERS_CHANGE);
            None
        })
    }
}

/// A place on the list of each event. Given up before its sleeper was woken, or by a panic of its look, it leaves
/// no trace: and if a waker has taken it off a list already, that wake goes to somebody else. So does every wake
/// but one, where several events had one for it.
struct Place<'a, P: Platform> {
    /// Those it is on the list of, or on the way from.
    events: &'a [Event<P>],
    sleeper: Arc<Sleeper<P>>,
    /// Where a wake came from, and how many were left there.
    wakes: Vec<(&'a Event<P>, usize)>,
    /// Whether it found something by a look after it had come.
    looked: Option<bool>,
}

impl<'a, P: Platform> Place<'a, P> {
    fn on(events: &'a [Event<P>]) -> Self {
        let sleeper = Arc::new(Sleeper { thread: P::current(), woken: P::AtomicU32::new(0) });
        let place = Self { events, sleeper, wakes: Vec::new(), looked: None };
        events.iter().for_each(|event| event.enlist(&place.sleeper));
        place
    }

    /// Goes off every list; before the look that the wakes were for.
    fn come(&mut self) {
        for event in std::mem::take(&mut self.events) {
            self.wakes.extend(event.receive(&self.sleeper).map(|left| (event, left)));
        }
    }
}

impl<P: Platform> Drop for Place<'_, P> {
    fn drop(&mut self) {
        self.come();
        for &(event, left) in &self.wakes {
            let unused = match self.looked.take() {
                None => left + 1,
                Some(true) => left,
                // What the wakes left were for was published before it came: it is done.
                Some(false) => 0,
            };
            // Not by way of `wake`: whoever sleeps since before the wake was left is on the list, by LOCK.
            if unused > 0 {
                event.wake_sleepers(unused);
            }
        }
    }
}

impl<P: Platform> Sleeper<P> {
    fn is_woken(&self) -> bool {
        self.woken.load(&WOKEN_LOAD) != 0
    }

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
        assert!(!second.sleeper.is_woken());
        first.come();
        first.looked = Some(true);
        drop(first);
        assert!(second.sleeper.is_woken(), "the second wake was passed on");
        drop(second);
        assert!(events.iter().all(|event| !event.notify_one()), "nobody is on a list");
    }

    /// Sleepers on one event.
    fn sleepers<const COUNT: usize>(event: &Event<Native>) -> [Place<'_, Native>; COUNT] {
        std::array::from_fn(|_| Place::on(from_ref(event)))
    }

    fn woken(places: &[Place<'_, Native>]) -> usize {
        places.iter().filter(|place| place.sleeper.is_woken()).count()
    }

    #[test]
    fn few_are_on_the_way_and_who_finds_something_wakes_the_next() {
        let event = Event::<Native>::new();
        let mut places = sleepers::<5>(&event);
        for _ in 0..4 {
            assert!(event.notify_one());
        }
        assert_eq!(woken(&places), 2, "the others are left to them");
        for (at, awake) in [(0, 3), (1, 4), (2, 4), (3, 4)] {
            places[at].come();
            places[at].looked = Some(true);
            // What a drop does, but for the place itself.
            let next = std::mem::replace(&mut places[at], Place::on(&[]));
            drop(next);
            assert_eq!(woken(&places) + at + 1, awake, "of four wakes, after {} have come", at + 1);
        }
        assert_eq!(event.wakes(), 4);
    }

    #[test]
    fn who_finds_nothing_drops_what_was_left_before_it_came_and_no_other() {
        let event = Event::<Native>::waking_at_once(1);
        let mut places = sleepers::<4>(&event);
        assert_eq!(event.wake(2), 2);
        places[0].come();
        assert_eq!(event.wake(2), 2, "one is on the way again, and one wake is left");
        places[0].looked = Some(false);
        drop(std::mem::replace(&mut places[0], Place::on(&[])));
        assert_eq!(woken(&places), 1);
        places[1].come();
        places[1].looked = Some(true);
        drop(std::mem::replace(&mut places[1], Place::on(&[])));
        assert_eq!(woken(&places), 1, "the one left since");
        assert!(places[2].sleeper.is_woken());
        assert_eq!(event.wakes(), 3, "of four");
    }

    #[test]
    fn all_are_woken_at_once() {
        let event = Event::<Native>::waking_at_once(1);
        let places = sleepers::<4>(&event);
        assert!(event.notify_one() && event.notify_one());
        assert_eq!(event.notify_all(), 3, "one is on the way, and one has a wake left for it");
        assert_eq!(woken(&places), 4);
    }

    #[test]
    fn every_published_item_finds_a_sleeper() {
        (1..=3).for_each(|at_once| every_item_finds_a_sleeper(&Event::waking_at_once(at_once)));
    }

    fn every_item_finds_a_sleeper(event: &Event<Native>) {
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
