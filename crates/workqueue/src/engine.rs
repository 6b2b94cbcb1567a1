//! What the threads of a workqueue share, and what a worker does: on any platform.
//!
//! ```text
//!   state     RUNNING ──▶ DRAINING ──▶ STOPPED        bits, only ever set
//!                  └──▶ CANCELLING ──┘
//!   bells     worker 0 … worker n, or one for all  rung by submit
//!             vacancy                                 rung when a slot becomes free
//!             drained                                 rung when a request ends
//!   retired   the handles of workers that have ended, and of a client that its submitter gave up
//! ```
//!
//! A worker ends when the queue is no longer running and it finds nothing to take. A submit that
//! raced with the end is found by one of two: the last worker to end, which looks through the queue
//! once more, or the submitter, which looks at the state after submitting. Each writes first and looks
//! second, with a fence between, so at least one of them sees the other.
//!
//! What was handled is collected by submitters as they get the slots back, and at the end by whoever
//! is last: a submitter that is dropped leaves its client here for that.

use crate::request::{Fate, Request};
use crate::{Event, Waiting, inside};
use slotwork::{
    Atomic, AtomicInteger, CachePadded, Claimed, Client, Design, Destination, LaneId, Lock, NoneFree, Platform, Worker,
};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

slotwork::sites! {
    /// Every atomic access of the engine; its events have their own table.
    pub ENGINE_SITES in "engine";
    STATE_LOAD: Load(Acquire), pairs [STATE_SET], "whoever sees the end sees what came before it; FENCE_WAKE orders it after a submit";
    STATE_SET: Rmw(Release), pairs [STATE_LOAD], "a submit before the shutdown is seen by a worker that sees the shutdown";
    COUNT_STORE: Store(Relaxed), pairs [], "one writer at a time: the worker, and after its end whoever holds RETIRED; the completion, which comes after, publishes it";
    COUNT_LOAD: Load(Relaxed), pairs [], "read after a drain or an end that orders it, or as a rough figure";
    RETIRED: Lock, pairs [RETIRED], "the handles of ended workers and of a client that was given up";
}

const RUNNING: u32 = 0;
const DRAINING: u32 = 1;
const CANCELLING: u32 = 2;
const STOPPED: u32 = 4;

/// Where submitters sleep until a slot is free, or until requests have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Completion {
    /// On one event, which every worker rings: going to sleep costs one lock.
    #[default]
    OneEvent,
    /// On an event of each worker's own, as in the third version of 2018: workers share no event, and going
    /// to sleep costs a lock for each of them.
    EventPerWorker,
}

/// What runs on the submitters' side, once for each handled request.
pub type Done<T> = Box<dyn Fn(&mut T) + Send + Sync>;

type ClientOf<T, D, P> = Client<Request<T>, <D as Design>::Queue<P>>;
type WorkerOf<T, D, P> = Worker<Request<T>, <D as Design>::Queue<P>>;
type ClaimedOf<'a, T, D, P> = Claimed<'a, Request<T>, <D as Design>::Queue<P>>;

/// How many requests ended, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The handler returned.
    pub handled: u64,
    /// The handler panicked.
    pub failed: u64,
    /// Shut down before a worker came to it.
    pub cancelled: u64,
}

impl Report {
    /// All that ended.
    #[must_use]
    pub const fn ended(&self) -> u64 {
        self.handled + self.failed + self.cancelled
    }
}

/// One worker's counters, in a line of their own. The worker is the one writer, and after its end
/// whoever cancels what is left, under the lock.
struct Counters<P: Platform> {
    handled: P::AtomicU64,
    failed: P::AtomicU64,
    cancelled: P::AtomicU64,
}

impl<P: Platform> Counters<P> {
    fn new() -> CachePadded<Self> {
        let zero = || P::AtomicU64::new(0);
        CachePadded::new(Self { handled: zero(), failed: zero(), cancelled: zero() })
    }

    fn count(&self, fate: Fate) {
        let counter = match fate {
            Fate::Fresh => return,
            Fate::Handled => &self.handled,
            Fate::Failed => &self.failed,
            Fate::Cancelled => &self.cancelled,
        };
        counter.store(counter.load(&COUNT_LOAD) + 1, &COUNT_STORE);
    }
}

/// What the threads share. [`Workqueue`](crate::Workqueue) is made around it; checkers drive it by hand.
pub struct Engine<T: Send + 'static, D: Design, P: Platform> {
    waiting: Waiting,
    state: CachePadded<P::AtomicU32>,
    /// One per lane, or a single one where any worker takes any request.
    work: Box<[Event<P>]>,
    /// One for all workers, or one for each: see [`Completion`].
    vacancy: Box<[Event<P>]>,
    drained: Box<[Event<P>]>,
    counters: Box<[CachePadded<Counters<P>>]>,
    retired: P::Lock<Retired<T, D, P>>,
    done: Option<Done<T>>,
}

struct Retired<T: Send + 'static, D: Design, P: Platform> {
    workers: Vec<WorkerOf<T, D, P>>,
    client: Option<ClientOf<T, D, P>>,
}

impl<T: Send + 'static, D: Design, P: Platform> Engine<T, D, P> {
    /// An engine for so many workers, none of which serves yet. `done` runs on the submitters' side, once
    /// for each handled request.
    #[must_use]
    pub fn new(workers: usize, waiting: Waiting, completion: Completion, done: Option<Done<T>>) -> Self {
        let bells = if D::CLAIMS.work_conserving { 1 } else { workers };
        let ends = if completion == Completion::OneEvent { 1 } else { workers };
        let events = |count| (0..count).map(|_| Event::new()).collect();
        Self {
            waiting,
            state: CachePadded::new(P::AtomicU32::new(RUNNING)),
            work: events(bells),
            vacancy: events(ends),
            drained: events(ends),
            counters: (0..workers).map(|_| Counters::new()).collect(),
            retired: P::Lock::new(Retired { workers: Vec::with_capacity(workers), client: None }),
            done,
        }
    }

    /// Serves until the queue ends: takes, handles, completes. A panic of the handler ends its
    /// request as failed and nothing else.
    pub fn serve(&self, worker: WorkerOf<T, D, P>, handler: impl Fn(&mut T)) {
        let bell = of_lane(&self.work, worker.lane());
        loop {
            let next = self.waiting.until(bell, || {
                // The state comes first: what was submitted before the end is still found after it.
                let ends = self.state.load(&STATE_LOAD) != RUNNING;
                match worker.take() {
                    Some(claimed) => Some(Some(claimed)),
                    None => ends.then_some(None),
                }
            });
            match next {
                Some(claimed) => self.end(&worker, claimed, &handler),
                None => break,
            }
        }
        let ended = self.retired.with(&RETIRED, |retired| {
            retired.workers.push(worker);
            retired.workers.len()
        });
        if ended == self.counters.len() {
            self.finish_shutdown();
        }
    }

    fn end(&self, worker: &WorkerOf<T, D, P>, mut claimed: ClaimedOf<'_, T, D, P>, handler: &impl Fn(&mut T)) {
        let fate = if self.state.load(&STATE_LOAD) & CANCELLING != 0 {
            Fate::Cancelled
        } else {
            match catch_unwind(AssertUnwindSafe(|| handler(&mut claimed.value))) {
                Ok(()) => Fate::Handled,
                Err(panic) => {
                    // What was thrown may itself panic as it is dropped; the worker lives on also then.
                    let _ = catch_unwind(AssertUnwindSafe(|| drop(panic))).map_err(std::mem::forget);
                    Fate::Failed
                }
            }
        };
        self.complete(worker, claimed, fate);
    }

    fn complete(&self, worker: &WorkerOf<T, D, P>, mut claimed: ClaimedOf<'_, T, D, P>, fate: Fate) {
        let lane = worker.lane();
        claimed.end(fate);
        self.counters[lane.index()].count(fate);
        if fate == Fate::Failed {
            claimed.fail();
        } else {
            claimed.complete();
        }
        if self.waiting.sleeps() {
            Event::<P>::publish();
            let vacancy = of_lane(&self.vacancy, lane);
            // Whoever sleeps would be told to wait for more; one of the completions to come wakes it.
            if vacancy.has_sleepers() && !worker.refills() {
                vacancy.wake(1);
            }
            of_lane(&self.drained, lane).wake(usize::MAX);
        }
    }

    /// So many slots were given back unsubmitted: wakes as many that wait for one.
    pub(crate) fn vacated(&self, slots: usize) {
        if self.waiting.sleeps() {
            Event::<P>::publish();
            // Whoever sleeps is on every list.
            self.vacancy[0].wake(slots);
        }
    }

    /// A slot was submitted: wakes a worker that can take it. If the queue has ended meanwhile, cancels it.
    #[inline]
    pub(crate) fn submitted(&self, destination: Destination) {
        Event::<P>::publish();
        if self.waiting.sleeps() {
            let bell = match destination {
                Destination::Lane(lane) => of_lane(&self.work, lane),
                Destination::Any => &self.work[0],
            };
            bell.wake(1);
        }
        if self.state.load(&STATE_LOAD) & STOPPED != 0 {
            self.cancel_leftovers();
        }
    }

    /// Whether the queue still takes requests.
    #[inline]
    pub fn running(&self) -> bool {
        self.state.load(&STATE_LOAD) == RUNNING
    }

    /// Tells the workers to end: after handling what is queued, or after cancelling it.
    pub fn begin_shutdown(&self, cancel: bool) {
        self.state.fetch_or(if cancel { CANCELLING } else { DRAINING }, &STATE_SET);
        notify_all(&self.work);
        self.notify_submitters();
    }

    /// Ends what no worker came to any more. The last [`Engine::serve`] to return does this.
    fn finish_shutdown(&self) {
        self.state.fetch_or(STOPPED, &STATE_SET);
        Event::<P>::publish();
        self.cancel_leftovers();
        self.notify_submitters();
    }

    fn notify_submitters(&self) {
        notify_all(&self.vacancy);
        notify_all(&self.drained);
    }

    fn cancel_leftovers(&self) {
        self.retired.with(&RETIRED, |retired| {
            for worker in &retired.workers {
                while let Some(claimed) = worker.take() {
                    self.complete(worker, claimed, Fate::Cancelled);
                }
            }
        });
    }

    /// Runs `done` for a request that was handled and not yet collected.
    #[inline]
    pub(crate) fn collect(&self, request: &mut Request<T>) {
        let handled = request.take_handled();
        if let (Some(value), Some(done)) = (handled, &self.done) {
            inside::collecting(self, || done(value));
        }
    }

    /// Runs `done` for every handled request whose slot this client gets now.
    pub(crate) fn collect_all(&self, client: &ClientOf<T, D, P>) {
        if self.done.is_some() {
            client.insist();
            // All of them are held for a moment, so that none comes twice; and while a `done` runs, only those with one.
            let (owed, others): (Vec<_>, Vec<_>) =
                std::iter::from_fn(|| client.acquire()).partition(|vacant| vacant.is_handled());
            // That nothing more is free was no answer to whoever asks next.
            client.insist();
            let vacated = others.len();
            drop(others);
            self.vacated(vacated);
            let mut thrown = None;
            for mut vacant in owed {
                // A `done` that panics keeps no other request from its own.
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.collect(&mut vacant))) {
                    match &thrown {
                        None => thrown = Some(panic),
                        Some(_) => std::mem::forget(panic),
                    }
                }
                drop(vacant);
                self.vacated(1);
            }
            if let Some(panic) = thrown {
                resume_unwind(panic);
            }
        }
    }

    /// Takes the client of a submitter that is dropped, so that what is handled later is collected too.
    pub(crate) fn give_up(&self, client: ClientOf<T, D, P>) {
        let collected = catch_unwind(AssertUnwindSafe(|| self.collect_all(&client)));
        let spare = self.retired.with(&RETIRED, |retired| retired.client.replace(client));
        drop(spare);
        if self.state.load(&STATE_LOAD) & STOPPED != 0 {
            self.collect_leftovers();
        }
        if let Err(panic) = collected {
            resume_unwind(panic);
        }
    }

    /// The client that was given up, for a submitter that would be one too many with it.
    pub(crate) fn spare_client(&self) -> Option<ClientOf<T, D, P>> {
        self.retired.with(&RETIRED, |retired| retired.client.take())
    }

    /// Collects with the client that was given up, if there is one. Whoever comes later to the lock,
    /// the one that gives up or the one that ends, finds the other's mark.
    pub(crate) fn collect_leftovers(&self) {
        if let Some(client) = self.spare_client() {
            self.collect_all(&client);
        }
    }

    /// Waits for a vacancy, or for whatever `look` wants of one.
    pub(crate) fn wait_vacancy<R>(&self, look: impl FnMut() -> Option<R>) -> R {
        let found = self.waiting.until_any(&self.vacancy, look);
        self.pass_on();
        found
    }

    /// Where clients refill, a wake may have come to one that was told to wait for more, and the slot that it was meant for
    /// is free still. So whoever got one wakes the next, which does the same, as long as there are slots for them.
    fn pass_on(&self) {
        if D::CLAIMS.none_free == NoneFree::Refill {
            self.vacated(1);
        }
    }

    /// As [`Engine::wait_vacancy`], until no time is left.
    pub(crate) fn wait_vacancy_timeout<R>(
        &self,
        look: impl FnMut() -> Option<R>,
        remaining: impl FnMut() -> Option<std::time::Duration>,
    ) -> Option<R> {
        let found = self.waiting.until_any_timeout(&self.vacancy, look, remaining);
        if found.is_some() {
            self.pass_on();
        }
        found
    }

    /// Waits for requests to end.
    pub(crate) fn wait_drained(&self, mut drained: impl FnMut() -> bool) {
        self.waiting.until_any(&self.drained, || drained().then_some(()));
    }

    /// As [`Engine::wait_drained`], until no time is left; says whether they have.
    pub(crate) fn wait_drained_timeout(
        &self,
        mut drained: impl FnMut() -> bool,
        remaining: impl FnMut() -> Option<std::time::Duration>,
    ) -> bool {
        self.waiting.until_any_timeout(&self.drained, || drained().then_some(()), remaining).is_some()
    }

    /// How many requests have ended, and how; exact after a drain or a shutdown.
    #[must_use]
    pub fn report(&self) -> Report {
        self.counters.iter().fold(Report::default(), |sum, counters| Report {
            handled: sum.handled + counters.handled.load(&COUNT_LOAD),
            failed: sum.failed + counters.failed.load(&COUNT_LOAD),
            cancelled: sum.cancelled + counters.cancelled.load(&COUNT_LOAD),
        })
    }

    /// How many sleeping threads were woken so far: workers, and submitters.
    #[must_use]
    pub fn wakes(&self) -> (u64, u64) {
        let wakes = |events: &[Event<P>]| events.iter().map(Event::wakes).sum::<u64>();
        (wakes(&self.work), wakes(&self.vacancy) + wakes(&self.drained))
    }
}

/// The event of a lane, or the one that all share.
fn of_lane<P: Platform>(events: &[Event<P>], lane: LaneId) -> &Event<P> {
    &events[if events.len() == 1 { 0 } else { lane.index() }]
}

/// Wakes all that sleep on any of these now.
fn notify_all<P: Platform>(events: &[Event<P>]) {
    events.iter().for_each(|event| _ = event.notify_all());
}

impl<T: Send + 'static, D: Design, P: Platform> Drop for Engine<T, D, P> {
    fn drop(&mut self) {
        self.collect_leftovers();
    }
}

impl<T: Send + 'static, D: Design, P: Platform> fmt::Debug for Engine<T, D, P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Engine")
            .field("design", &D::NAME)
            .field("report", &self.report())
            .finish_non_exhaustive()
    }
}
