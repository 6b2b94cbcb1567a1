//! `global-lock`: two sequences under one lock.
//!
//! ```text
//!   ┌─ lock ────────────────────────────┐
//!   │ free:      [5, 2, 7]   a stack    │   the slot freed last is warmest
//!   │ submitted: [0 → 3 → 1] a queue    │   any worker takes the oldest
//!   └───────────────────────────────────┘
//! ```
//!
//! Everybody waits for everybody: a thread suspended inside the lock stops all operations.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use slotwork::{
    CachePadded, Claims, ClientError, Design, Destination, Guarantees, LaneId, Lock, Many, NoneFree, Order, Platform,
    Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters,
};

slotwork::sites! {
    /// Every synchronising access of the design.
    pub SITES in "global-lock";
    LOCK: Lock, pairs [LOCK], "each critical section sees all earlier ones, and the payloads behind them";
}

/// One lock around the whole queue.
#[derive(Clone, Copy, Debug)]
pub struct GlobalLock;

// SAFETY: `construct` makes a new queue.
unsafe impl Design for GlobalLock {
    const NAME: &'static str = "global-lock";
    const CLAIMS: Claims = Claims {
        submitters: Submitters::Many,
        order: Order::Fifo,
        none_free: NoneFree::Exact,
        progress: Guarantees::all(Progress::Blocking),
        work_conserving: true,
        allocates: false,
        max_lanes: None,
        max_slots_per_lane: None,
        max_clients: None,
        source: "baseline; the emulator lock before the 2008 split",
    };
    const SITES: &'static [&'static [Site]] = &[SITES];
    type Queue<P: Platform> = GlobalLockQueue<P>;

    fn construct<P: Platform>(shape: Shape) -> GlobalLockQueue<P> {
        let state =
            State { free: shape.all_slots().rev().collect(), submitted: VecDeque::with_capacity(shape.slots()) };
        GlobalLockQueue { state: CachePadded::new(P::Lock::new(state)), shape }
    }
}

struct State {
    free: Vec<SlotId>,
    submitted: VecDeque<SlotId>,
}

/// The queue of [`GlobalLock`].
pub struct GlobalLockQueue<P: Platform> {
    state: CachePadded<P::Lock<State>>,
    shape: Shape,
}

// SAFETY: a slot is in `free`, in `submitted`, or in neither; only its removal from one, under the
// lock, gives it an owner, and the owner alone puts it into the other. The lock orders owners.
unsafe impl<P: Platform> RequestQueue for GlobalLockQueue<P> {
    type Platform = P;
    type Submitters = Many;
    type Header = CachePadded<()>;
    type Client = ();
    type Worker = ();

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<(), ClientError> {
        Ok(())
    }

    fn retire(&self, (): ()) {}

    fn worker(&self, _lane: LaneId) {}

    #[inline]
    fn acquire(&self, _slots: &impl Slots<Self::Header>, (): &mut ()) -> Option<SlotId> {
        self.state.with(&LOCK, |state| state.free.pop())
    }

    #[inline]
    fn submit(&self, _slots: &impl Slots<Self::Header>, (): &mut (), slot: SlotId) -> Destination {
        self.state.with(&LOCK, |state| state.submitted.push_back(slot));
        Destination::Any
    }

    #[inline]
    fn withdraw(&self, _slots: &impl Slots<Self::Header>, (): &mut (), slot: SlotId) {
        self.state.with(&LOCK, |state| state.free.push(slot));
    }

    #[inline]
    fn take(&self, _slots: &impl Slots<Self::Header>, (): &mut ()) -> Option<SlotId> {
        self.state.with(&LOCK, |state| state.submitted.pop_front())
    }

    #[inline]
    fn complete(&self, _slots: &impl Slots<Self::Header>, (): &mut (), slot: SlotId) {
        self.state.with(&LOCK, |state| state.free.push(slot));
    }
}
