//! The standard library's channels: one to each worker, and one back to the client. They have one consumer, so this is
//! for one submitter; with several, the way back would need a lock, and the pair of locked deques shows what that costs.

use slotwork::{
    CachePadded, Claims, ClientError, Cursor, Design, Destination, Dispatch, Guarantees, LaneId, NoneFree, One, Order,
    Platform, Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters,
};
use std::marker::PhantomData;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

/// Channels as a request queue.
pub struct Mpsc;

// SAFETY: `construct` makes a new queue.
unsafe impl Design for Mpsc {
    const NAME: &'static str = "std-mpsc";
    const CLAIMS: Claims = Claims {
        submitters: Submitters::One,
        order: Order::Fifo,
        none_free: NoneFree::Exact,
        progress: Guarantees::all(Progress::Blocking),
        work_conserving: false,
        allocates: true,
        max_lanes: None,
        max_slots_per_lane: None,
        max_clients: Some(1),
        source: "the standard library's, a channel to each worker and one back",
    };
    const SITES: &'static [&'static [Site]] = &[];
    type Queue<P: Platform> = MpscQueue<P>;

    fn construct<P: Platform>(shape: Shape) -> MpscQueue<P> {
        let (complete, free) = channel();
        shape.all_slots().for_each(|slot| complete.send(slot).expect("the receiver is there"));
        let (mut lanes, mut workers) = (Vec::new(), Vec::new());
        for _ in shape.all_lanes() {
            let (submit, take) = channel();
            lanes.push(submit);
            workers.push(Mutex::new(Some(MpscWorker { take, complete: complete.clone() })));
        }
        let client = MpscClient { lanes, free, withdraw: complete, cursor: Cursor::at(LaneId::FIRST) };
        MpscQueue { client: Mutex::new(Some(client)), workers: workers.into(), shape, platform: PhantomData }
    }
}

/// The client's ends.
pub struct MpscClient {
    lanes: Vec<Sender<SlotId>>,
    free: Receiver<SlotId>,
    withdraw: Sender<SlotId>,
    cursor: Cursor,
}

/// A worker's ends.
pub struct MpscWorker {
    take: Receiver<SlotId>,
    complete: Sender<SlotId>,
}

/// The queue of [`Mpsc`]: the ends, until they are fetched.
pub struct MpscQueue<P> {
    client: Mutex<Option<MpscClient>>,
    workers: Box<[Mutex<Option<MpscWorker>>]>,
    shape: Shape,
    platform: PhantomData<fn() -> P>,
}

// SAFETY: each slot is in one channel, or has an owner, who alone sends it on; each receiver is held by one handle. That
// a channel hands over each slot once, after what its sender did, is what it is for.
unsafe impl<P: Platform> RequestQueue for MpscQueue<P> {
    type Platform = P;
    type Submitters = One;
    type Header = CachePadded<()>;
    type Client = MpscClient;
    type Worker = MpscWorker;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<MpscClient, ClientError> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or(ClientError::OneSubmitter)
    }

    fn retire(&self, client: MpscClient) {
        *self.client.lock().unwrap_or_else(PoisonError::into_inner) = Some(client);
    }

    /// To stay with a lane until its slots are in use would need slots that belong to lanes.
    fn set_dispatch(&self, client: &mut MpscClient, dispatch: Dispatch) -> bool {
        dispatch == Dispatch::RoundRobin && client.cursor.set_dispatch(dispatch)
    }

    fn worker(&self, lane: LaneId) -> MpscWorker {
        let mut worker = self.workers[lane.index()].lock().unwrap_or_else(PoisonError::into_inner);
        worker.take().expect("each lane's worker is fetched once")
    }

    #[inline]
    fn acquire(&self, _slots: &impl Slots<Self::Header>, client: &mut MpscClient) -> Option<SlotId> {
        client.free.try_recv().ok()
    }

    #[inline]
    fn submit(&self, _slots: &impl Slots<Self::Header>, client: &mut MpscClient, slot: SlotId) -> Destination {
        let lane = client.cursor.lane();
        client.cursor.found(self.shape);
        // The worker has ended: so has the run, and the slot is missed in its counts.
        let _ = client.lanes[lane.index()].send(slot);
        Destination::Lane(lane)
    }

    #[inline]
    fn withdraw(&self, _slots: &impl Slots<Self::Header>, client: &mut MpscClient, slot: SlotId) {
        let _ = client.withdraw.send(slot);
    }

    #[inline]
    fn take(&self, _slots: &impl Slots<Self::Header>, worker: &mut MpscWorker) -> Option<SlotId> {
        worker.take.try_recv().ok()
    }

    #[inline]
    fn complete(&self, _slots: &impl Slots<Self::Header>, worker: &mut MpscWorker, slot: SlotId) {
        let _ = worker.complete.send(slot);
    }
}
