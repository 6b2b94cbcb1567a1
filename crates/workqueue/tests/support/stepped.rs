//! A design that stops at a gate inside its operations: so that a test can put the end of a workqueue between two steps
//! of a submit or of a worker.

use super::Gate;
use slotwork::{Claims, ClientError, Design, Destination, LaneId, Platform, RequestQueue, Shape, Site, SlotId, Slots};
use slotwork_locked::{GlobalLock, GlobalLockQueue};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Where the next queue that is made stops.
static NEXT: Mutex<Option<Arc<Steps>>> = Mutex::new(None);

/// The gates of one queue.
#[derive(Default)]
pub(crate) struct Steps {
    /// A submit stops here, before anybody can see the request.
    pub(crate) submitting: Gate,
    /// A worker that found nothing stops here, if it is told to.
    pub(crate) found_nothing: Gate,
    pub(crate) stops_at_nothing: AtomicBool,
}

/// Runs `make`, which builds one workqueue over [`Stepped`], and gives its gates too.
pub(crate) fn with_steps<R>(make: impl FnOnce() -> R) -> (Arc<Steps>, R) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let steps = Arc::new(Steps::default());
    *NEXT.lock().expect("no panic in it") = Some(Arc::clone(&steps));
    (steps, make())
}

/// The global lock, with gates.
pub(crate) struct Stepped;

// SAFETY: `construct` makes a new queue.
unsafe impl Design for Stepped {
    const NAME: &'static str = "stepped";
    const CLAIMS: Claims = GlobalLock::CLAIMS;
    const SITES: &'static [&'static [Site]] = GlobalLock::SITES;
    type Queue<P: Platform> = SteppedQueue<P>;

    fn construct<P: Platform>(shape: Shape) -> SteppedQueue<P> {
        let steps = NEXT.lock().expect("no panic in it").take().expect("made inside of `with_steps`");
        SteppedQueue { queue: GlobalLock::construct(shape), steps }
    }
}

/// The queue of [`Stepped`].
pub(crate) struct SteppedQueue<P: Platform> {
    queue: GlobalLockQueue<P>,
    steps: Arc<Steps>,
}

// SAFETY: the queue inside keeps the promise, and every operation is one of its.
unsafe impl<P: Platform> RequestQueue for SteppedQueue<P> {
    type Platform = P;
    type Submitters = <GlobalLockQueue<P> as RequestQueue>::Submitters;
    type Header = <GlobalLockQueue<P> as RequestQueue>::Header;
    type Client = ();
    type Worker = ();

    fn shape(&self) -> Shape {
        self.queue.shape()
    }
    fn client(&self) -> Result<(), ClientError> {
        self.queue.client()
    }
    fn retire(&self, (): ()) {
        self.queue.retire(());
    }
    fn worker(&self, lane: LaneId) {
        self.queue.worker(lane);
    }
    fn acquire(&self, slots: &impl Slots<Self::Header>, client: &mut ()) -> Option<SlotId> {
        self.queue.acquire(slots, client)
    }
    fn submit(&self, slots: &impl Slots<Self::Header>, client: &mut (), slot: SlotId) -> Destination {
        self.steps.submitting.pass();
        self.queue.submit(slots, client, slot)
    }
    fn withdraw(&self, slots: &impl Slots<Self::Header>, client: &mut (), slot: SlotId) {
        self.queue.withdraw(slots, client, slot);
    }
    fn take(&self, slots: &impl Slots<Self::Header>, worker: &mut ()) -> Option<SlotId> {
        let found = self.queue.take(slots, worker);
        if found.is_none() && self.steps.stops_at_nothing.load(Ordering::Acquire) {
            self.steps.found_nothing.pass();
        }
        found
    }
    fn complete(&self, slots: &impl Slots<Self::Header>, worker: &mut (), slot: SlotId) {
        self.queue.complete(slots, worker, slot);
    }
}
