//! A ring to each worker and one back: rtrb's, with one producer and one consumer, so for one submitter.

use rtrb::{Consumer, Producer, RingBuffer};
use slotwork::{
    CachePadded, Claims, ClientError, Cursor, Design, Destination, Dispatch, Guarantees, LaneId, NoneFree, One, Order,
    Platform, Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters,
};
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

/// Rings as a request queue.
pub struct Rings;

// SAFETY: `construct` makes a new queue.
unsafe impl Design for Rings {
    const NAME: &'static str = "rtrb";
    const CLAIMS: Claims = Claims {
        submitters: Submitters::One,
        order: Order::Fifo,
        none_free: NoneFree::Scan,
        progress: Guarantees::all(Progress::WaitFree),
        work_conserving: false,
        allocates: false,
        max_lanes: None,
        max_slots_per_lane: None,
        max_clients: Some(1),
        source: "rtrb 0.4, a pair of rings per worker",
    };
    const SITES: &'static [&'static [Site]] = &[];
    type Queue<P: Platform> = RingsQueue<P>;

    fn construct<P: Platform>(shape: Shape) -> RingsQueue<P> {
        let (mut lanes, mut workers) = (Vec::new(), Vec::new());
        for lane in shape.all_lanes() {
            let (submit, take) = RingBuffer::new(shape.slots_per_lane());
            let (mut complete, free) = RingBuffer::new(shape.slots_per_lane());
            for place in (0_u32..).take(shape.slots_per_lane()) {
                complete.push(shape.slot_at(lane, place)).expect("there is room for every slot");
            }
            lanes.push(Lane { submit, free });
            workers.push(Mutex::new(Some(RingWorker { take, complete })));
        }
        let client = RingClient { lanes, cursor: Cursor::at(LaneId::FIRST), withdrawn: Vec::new() };
        RingsQueue { client: Mutex::new(Some(client)), workers: workers.into(), shape, platform: PhantomData }
    }
}

struct Lane {
    submit: Producer<SlotId>,
    free: Consumer<SlotId>,
}

/// The client's ends of all rings.
pub struct RingClient {
    lanes: Vec<Lane>,
    cursor: Cursor,
    /// The way back has one producer, which is the worker: what the client gives back, it keeps.
    withdrawn: Vec<SlotId>,
}

/// A worker's ends of its two rings.
pub struct RingWorker {
    take: Consumer<SlotId>,
    complete: Producer<SlotId>,
}

/// The queue of [`Rings`]: the ends, until they are fetched.
pub struct RingsQueue<P> {
    client: Mutex<Option<RingClient>>,
    workers: Box<[Mutex<Option<RingWorker>>]>,
    shape: Shape,
    platform: PhantomData<fn() -> P>,
}

// SAFETY: each slot is in one ring, or kept by the client, or has an owner, who alone puts it into a ring; each end of a
// ring is held by one handle. That a ring hands over each slot once and in order is what it is for.
unsafe impl<P: Platform> RequestQueue for RingsQueue<P> {
    type Platform = P;
    type Submitters = One;
    type Header = CachePadded<()>;
    type Client = RingClient;
    type Worker = RingWorker;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<RingClient, ClientError> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or(ClientError::OneSubmitter)
    }

    fn retire(&self, client: RingClient) {
        *self.client.lock().unwrap_or_else(PoisonError::into_inner) = Some(client);
    }

    fn set_dispatch(&self, client: &mut RingClient, dispatch: Dispatch) -> bool {
        client.cursor.set_dispatch(dispatch)
    }

    fn worker(&self, lane: LaneId) -> RingWorker {
        let mut worker = self.workers[lane.index()].lock().unwrap_or_else(PoisonError::into_inner);
        worker.take().expect("each lane's worker is fetched once")
    }

    #[inline]
    fn acquire(&self, _slots: &impl Slots<Self::Header>, client: &mut RingClient) -> Option<SlotId> {
        if let Some(slot) = client.withdrawn.pop() {
            return Some(slot);
        }
        for _ in 0..client.lanes.len() {
            if let Ok(slot) = client.lanes[client.cursor.lane().index()].free.pop() {
                client.cursor.found(self.shape);
                return Some(slot);
            }
            client.cursor.go_on(self.shape);
        }
        None
    }

    #[inline]
    fn submit(&self, _slots: &impl Slots<Self::Header>, client: &mut RingClient, slot: SlotId) -> Destination {
        let lane = self.shape.lane_of(slot);
        client.lanes[lane.index()].submit.push(slot).expect("there is room for every slot of the lane");
        Destination::Lane(lane)
    }

    #[inline]
    fn withdraw(&self, _slots: &impl Slots<Self::Header>, client: &mut RingClient, slot: SlotId) {
        client.withdrawn.push(slot);
    }

    #[inline]
    fn take(&self, _slots: &impl Slots<Self::Header>, worker: &mut RingWorker) -> Option<SlotId> {
        worker.take.pop().ok()
    }

    #[inline]
    fn complete(&self, _slots: &impl Slots<Self::Header>, worker: &mut RingWorker, slot: SlotId) {
        worker.complete.push(slot).expect("there is room for every slot of the lane");
    }
}
