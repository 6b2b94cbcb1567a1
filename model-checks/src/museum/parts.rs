//! The queue that the exhibits are made of: one part keeps the free slots, one word signals per lane.
//!
//! Parts are put together so that an exhibit differs from a sound queue in its fault alone.

use slotwork::{
    Atomic, AtomicInteger, CachePadded, ClientError, Destination, LaneId, Many, Platform, RequestQueue, Shape, SlotId,
    Slots,
};

slotwork::sites! {
    /// The signal words.
    pub SIGNAL_SITES in "museum-signal";
    FILL_FLIP: Rmw(Release), pairs [FILL_LOAD], "publishes the payload; other clients flip other bits of the word";
    FILL_LOAD: Load(Acquire), pairs [FILL_FLIP, PLAIN_STORE], "sees the payload of each slot it finds submitted";
    PLAIN_LOAD: Load(Relaxed), pairs [], "one submitter alone would read back what only it writes";
    PLAIN_STORE: Store(Release), pairs [FILL_LOAD], "publishes the payload, and overwrites what others did meanwhile";
}

/// Keeps the free slots.
pub trait FreeSlots<P: Platform>: Send + Sync + 'static {
    /// All slots are free.
    fn full(shape: Shape) -> Self;
    /// Takes one.
    fn acquire(&self) -> Option<SlotId>;
    /// Puts one back.
    fn give_back(&self, slot: SlotId);
    /// Hears that a slot was submitted.
    fn submitted(&self, _slot: SlotId) {}
}

/// A queue of parts. With `PLAIN_FLIP` the submitter flips its signal by load, xor, store.
pub struct PartsQueue<P: Platform, F, const PLAIN_FLIP: bool> {
    free: F,
    fill: Box<[CachePadded<P::AtomicU64>]>,
    shape: Shape,
}

impl<P: Platform, F: FreeSlots<P>, const PLAIN_FLIP: bool> PartsQueue<P, F, PLAIN_FLIP> {
    pub(super) fn new(shape: Shape) -> Self {
        let fill = shape.all_lanes().map(|_| CachePadded::new(P::AtomicU64::new(0)));
        Self { free: F::full(shape), fill: fill.collect(), shape }
    }
}

/// What a worker remembers.
pub struct PartsWorker {
    lane: LaneId,
    seen: u64,
    pending: u64,
}

// SAFETY: false for every exhibit but the sound one; that is what they are for. They run under
// checkers alone, with plain integers for payloads, and the first wrong step ends the process.
unsafe impl<P: Platform, F: FreeSlots<P>, const PLAIN_FLIP: bool> RequestQueue for PartsQueue<P, F, PLAIN_FLIP> {
    type Platform = P;
    type Submitters = Many;
    type Header = ();
    type Client = ();
    type Worker = PartsWorker;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<(), ClientError> {
        Ok(())
    }

    fn retire(&self, (): ()) {}

    fn worker(&self, lane: LaneId) -> PartsWorker {
        PartsWorker { lane, seen: 0, pending: 0 }
    }

    fn acquire(&self, _slots: &impl Slots<()>, (): &mut ()) -> Option<SlotId> {
        self.free.acquire()
    }

    fn submit(&self, _slots: &impl Slots<()>, (): &mut (), slot: SlotId) -> Destination {
        let lane = self.shape.lane_of(slot);
        // Where nobody tests the bound, places above 63 share bits: see `BoundOnWrongArgument`.
        let bit = 1_u64.wrapping_shl(self.shape.place_of(slot));
        let fill = &self.fill[lane.index()];
        self.free.submitted(slot);
        if PLAIN_FLIP {
            fill.store(fill.load(&PLAIN_LOAD) ^ bit, &PLAIN_STORE);
        } else {
            fill.fetch_xor(bit, &FILL_FLIP);
        }
        Destination::Lane(lane)
    }

    fn withdraw(&self, _slots: &impl Slots<()>, (): &mut (), slot: SlotId) {
        self.free.give_back(slot);
    }

    fn take(&self, _slots: &impl Slots<()>, worker: &mut PartsWorker) -> Option<SlotId> {
        if worker.pending == 0 {
            let fill = self.fill[worker.lane.index()].load(&FILL_LOAD);
            worker.pending = fill ^ worker.seen;
            worker.seen = fill;
        }
        let place = (worker.pending != 0).then(|| worker.pending.trailing_zeros())?;
        worker.pending &= worker.pending - 1;
        Some(self.shape.slot_at(worker.lane, place))
    }

    fn complete(&self, _slots: &impl Slots<()>, _worker: &mut PartsWorker, slot: SlotId) {
        self.free.give_back(slot);
    }
}

/// The claims of every exhibit: what its author believed of it.
pub(super) const CLAIMS: slotwork::Claims = slotwork::Claims {
    submitters: slotwork::Submitters::Many,
    order: slotwork::Order::Any,
    none_free: slotwork::NoneFree::Scan,
    progress: slotwork::Guarantees::all(slotwork::Progress::LockFree),
    work_conserving: false,
    allocates: false,
    max_lanes: None,
    max_slots_per_lane: Some(64),
    max_clients: None,
    source: "museum",
};

/// Makes a design of parts.
macro_rules! exhibit_design {
    ($(#[$meta:meta])* $design:ident, $name:literal, [$($sites:expr),+], $part:ty, plain: $plain:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub struct $design;

        // SAFETY: `construct` makes a new queue.
        unsafe impl slotwork::Design for $design {
            const NAME: &'static str = $name;
            const CLAIMS: slotwork::Claims = $crate::museum::parts::CLAIMS;
            const SITES: &'static [&'static [Site]] = &[SIGNAL_SITES, $($sites),+];
            type Queue<P: Platform> = PartsQueue<P, $part, $plain>;

            fn construct<P: Platform>(shape: Shape) -> Self::Queue<P> {
                PartsQueue::new(shape)
            }
        }
    };
}

pub(super) use exhibit_design;
