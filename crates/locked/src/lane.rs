//! `lane-lock`: the global lock, split by lane.
//!
//! ```text
//!   lane 0                 lane 1                 lane 2
//!   ┌─ lock ───────────┐   ┌─ lock ───────────┐   ┌─ lock ───────────┐
//!   │ free, submitted  │   │ free, submitted  │   │ free, submitted  │
//!   └──────────────────┘   └──────────────────┘   └──────────────────┘
//!        worker 0               worker 1               worker 2
//! ```
//!
//! Clients go round the lanes, one lock at a time; a worker meets the clients of its own lane only.
//! It is the split of the 2008 patches, where a lane was a device.

use alloc::collections::VecDeque;
use alloc::{boxed::Box, vec::Vec};
use slotwork::{
    CachePadded, Claims, ClientError, Cursor, Design, Destination, Dispatch, Guarantees, LaneId, Lock, Many, NoneFree,
    Order, Platform, Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters,
};

slotwork::sites! {
    /// Every synchronising access of the design.
    pub SITES in "lane-lock";
    LOCK: Lock, pairs [LOCK], "each critical section of a lane sees all earlier ones, and the payloads behind them";
}

/// One lock per lane.
#[derive(Clone, Copy, Debug)]
pub struct LaneLock;

// SAFETY: `construct` makes a new queue.
unsafe impl Design for LaneLock {
    const NAME: &'static str = "lane-lock";
    const CLAIMS: Claims = Claims {
        submitters: Submitters::Many,
        order: Order::Fifo,
        none_free: NoneFree::Scan,
        progress: Guarantees::all(Progress::Blocking),
        work_conserving: false,
        allocates: false,
        max_lanes: None,
        max_slots_per_lane: None,
        max_clients: None,
        source: "baseline; RFC: split the global mutex, 2008",
    };
    const SITES: &'static [&'static [Site]] = &[SITES];
    type Queue<P: Platform> = LaneLockQueue<P>;

    fn construct<P: Platform>(shape: Shape) -> LaneLockQueue<P> {
        let lanes = shape.all_lanes().map(|lane| {
            let count = u32::try_from(shape.slots_per_lane()).expect("a shape's slots fit");
            let state = Lane {
                free: (0..count).rev().map(|place| shape.slot_at(lane, place)).collect(),
                submitted: VecDeque::with_capacity(shape.slots_per_lane()),
            };
            CachePadded::new(P::Lock::new(state))
        });
        LaneLockQueue { lanes: lanes.collect(), shape }
    }
}

struct Lane {
    free: Vec<SlotId>,
    submitted: VecDeque<SlotId>,
}

/// The queue of [`LaneLock`].
pub struct LaneLockQueue<P: Platform> {
    lanes: Box<[CachePadded<P::Lock<Lane>>]>,
    shape: Shape,
}

// SAFETY: as for one global lock, lane by lane: a slot belongs to one lane for ever, and only its
// removal from that lane's `free` or `submitted`, under that lane's lock, gives it an owner.
unsafe impl<P: Platform> RequestQueue for LaneLockQueue<P> {
    type Platform = P;
    type Submitters = Many;
    type Header = CachePadded<()>;
    /// The lane to look at first.
    type Client = Cursor;
    type Worker = LaneId;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<Cursor, ClientError> {
        Ok(Cursor::at(LaneId::FIRST))
    }

    fn retire(&self, _cursor: Cursor) {}

    fn set_dispatch(&self, cursor: &mut Cursor, dispatch: Dispatch) -> bool {
        cursor.set_dispatch(dispatch)
    }

    fn worker(&self, lane: LaneId) -> LaneId {
        lane
    }

    #[inline]
    fn acquire(&self, _slots: &impl Slots<Self::Header>, cursor: &mut Cursor) -> Option<SlotId> {
        for _ in 0..self.shape.lanes() {
            let lane = cursor.lane();
            if let Some(slot) = self.lanes[lane.index()].with(&LOCK, |state| state.free.pop()) {
                cursor.found(self.shape);
                return Some(slot);
            }
            cursor.go_on(self.shape);
        }
        None
    }

    #[inline]
    fn submit(&self, _slots: &impl Slots<Self::Header>, _cursor: &mut Cursor, slot: SlotId) -> Destination {
        let lane = self.shape.lane_of(slot);
        self.lanes[lane.index()].with(&LOCK, |state| state.submitted.push_back(slot));
        Destination::Lane(lane)
    }

    #[inline]
    fn withdraw(&self, _slots: &impl Slots<Self::Header>, _cursor: &mut Cursor, slot: SlotId) {
        self.lanes[self.shape.lane_of(slot).index()].with(&LOCK, |state| state.free.push(slot));
    }

    #[inline]
    fn take(&self, _slots: &impl Slots<Self::Header>, lane: &mut LaneId) -> Option<SlotId> {
        self.lanes[lane.index()].with(&LOCK, |state| state.submitted.pop_front())
    }

    #[inline]
    fn complete(&self, _slots: &impl Slots<Self::Header>, lane: &mut LaneId, slot: SlotId) {
        self.lanes[lane.index()].with(&LOCK, |state| state.free.push(slot));
    }
}
