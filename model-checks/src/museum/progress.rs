//! Exhibits of progress: queues whose answers are right, and that wait where they should not.

use super::parts::{CLAIMS, FreeSlots, PartsQueue, SIGNAL_SITES, exhibit_design};
use slotwork::{
    Atomic, AtomicInteger, Claims, ClientError, Design, Destination, LaneId, Many, Platform, RequestQueue, Shape, Site,
    SlotId, Slots,
};
use slotwork_catalog::Visitor;
use slotwork_locked::{GlobalLock, GlobalLockQueue};

slotwork::sites! {
    /// The queues and counters of this page.
    pub PROGRESS_SITES in "museum-progress";
    TICKET: Rmw(Relaxed), pairs [], "announces a request: its place in the order; PUT publishes it";
    PUT: Store(Release), pairs [SEEN], "publishes the slot, and its payload, at the announced place";
    SEEN: Load(Acquire), pairs [PUT], "sees the payload of the slot that it finds";
    ANNOUNCED: Load(Relaxed), pairs [], "whether anything is announced";
    EMPTY: Store(Relaxed), pairs [], "the place is the taker's until the slot comes round again";
    ENTER: Rmw(AcqRel), pairs [ENTER, LEAVE], "one more that is in";
    LEAVE: Rmw(Release), pairs [ENTER], "one less";
    RECHECK: Load(Relaxed), pairs [], "are there too many?";
    BITS_LOAD: Load(Relaxed), pairs [], "which bits to try; BIT_CLAIM decides";
    BIT_CLAIM: Rmw(Acquire), pairs [BIT_FREE], "clears the bit; whoever finds it set owns the slot";
    BIT_FREE: Rmw(Release), pairs [BIT_CLAIM], "publishes the result";
}

/// Slots submitted to a lane, in order: a submit announces itself and then puts its slot in, and nobody can do the second
/// step for it.
struct Announced<P: Platform> {
    tickets: P::AtomicU32,
    places: Box<[P::AtomicU32]>,
}

/// Free slots under a counter: enter, look whether there are too many, leave and try again.
pub struct Recheck<P: Platform> {
    inside: P::AtomicU32,
    free: P::AtomicU64,
    shape: Shape,
}

impl<P: Platform> FreeSlots<P> for Recheck<P> {
    fn full(shape: Shape) -> Self {
        let free = P::AtomicU64::new((1 << shape.slots()) - 1);
        Self { inside: P::AtomicU32::new(0), free, shape }
    }

    fn acquire(&self) -> Option<SlotId> {
        let slots = self.shape.slots() as u64;
        loop {
            self.inside.fetch_add(1, &ENTER);
            if u64::from(self.inside.load(&RECHECK)) <= slots {
                break;
            }
            // Too many, and this one may be the one too many: out, and in again if there seems to be room.
            self.inside.fetch_sub(1, &LEAVE);
            if u64::from(self.inside.load(&RECHECK)) >= slots {
                return None;
            }
        }
        let mut bits = self.free.load(&BITS_LOAD);
        while bits != 0 {
            let bit = bits & bits.wrapping_neg();
            bits = self.free.fetch_and(!bit, &BIT_CLAIM);
            if bits & bit != 0 {
                return Some(SlotId::new(bit.trailing_zeros() as usize));
            }
        }
        self.inside.fetch_sub(1, &LEAVE);
        None
    }

    fn give_back(&self, slot: SlotId) {
        self.free.fetch_or(1 << slot.index(), &BIT_FREE);
        self.inside.fetch_sub(1, &LEAVE);
    }
}

exhibit_design! {
    /// Two clients that enter together each see one too many, leave together, and enter again: in step, nobody ever
    /// gets a slot, though one is free and nobody is suspended. Alone, each gets it at once.
    ClaimRecheck, "claim-recheck-counter", [PROGRESS_SITES], Recheck<P>, plain: false
}

/// A to-do queue without helping. A worker that finds an announced request whose slot is not there yet waits for it
/// (`WAITS`), or says that there is nothing, although requests may be complete behind it.
pub struct TicketQueue<P: Platform, const WAITS: bool> {
    free: super::lists::List<P, true, true>,
    lanes: Box<[Announced<P>]>,
    shape: Shape,
}

/// What a worker remembers.
pub struct TicketWorker {
    lane: LaneId,
    /// The ticket that it takes next.
    next: u32,
}

impl<P: Platform, const WAITS: bool> TicketQueue<P, WAITS> {
    fn new(shape: Shape) -> Self {
        let lanes = shape.all_lanes().map(|_| Announced {
            tickets: P::AtomicU32::new(0),
            places: shape.all_slots().map(|_| P::AtomicU32::new(0)).collect(),
        });
        Self { free: FreeSlots::<P>::full(shape), lanes: lanes.collect(), shape }
    }
}

// SAFETY: a free slot is on the list once, and one pop takes it off. A ticket is drawn once, so a place has one
// submitter; it is empty, for as many places as slots lie between two tickets of one place. The lane's one worker
// empties it, and owns the slot.
unsafe impl<P: Platform, const WAITS: bool> RequestQueue for TicketQueue<P, WAITS> {
    type Platform = P;
    type Submitters = Many;
    type Header = ();
    type Client = ();
    type Worker = TicketWorker;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<(), ClientError> {
        Ok(())
    }

    fn retire(&self, (): ()) {}

    fn worker(&self, lane: LaneId) -> TicketWorker {
        TicketWorker { lane, next: 0 }
    }

    fn acquire(&self, _slots: &impl Slots<()>, (): &mut ()) -> Option<SlotId> {
        FreeSlots::<P>::acquire(&self.free)
    }

    fn submit(&self, _slots: &impl Slots<()>, (): &mut (), slot: SlotId) -> Destination {
        let lane = self.shape.lane_of(slot);
        let queue = &self.lanes[lane.index()];
        let ticket = queue.tickets.fetch_add(1, &TICKET) as usize;
        queue.places[ticket % queue.places.len()].store(slot.get() + 1, &PUT);
        Destination::Lane(lane)
    }

    fn withdraw(&self, _slots: &impl Slots<()>, (): &mut (), slot: SlotId) {
        FreeSlots::<P>::give_back(&self.free, slot);
    }

    fn take(&self, _slots: &impl Slots<()>, worker: &mut TicketWorker) -> Option<SlotId> {
        let queue = &self.lanes[worker.lane.index()];
        let place = &queue.places[worker.next as usize % queue.places.len()];
        loop {
            if let Some(slot) = place.load(&SEEN).checked_sub(1) {
                place.store(0, &EMPTY);
                worker.next += 1;
                return Some(SlotId::new(slot as usize));
            }
            if !WAITS || queue.tickets.load(&ANNOUNCED) == worker.next {
                return None;
            }
            P::spin_hint();
        }
    }

    fn complete(&self, _slots: &impl Slots<()>, _worker: &mut TicketWorker, slot: SlotId) {
        FreeSlots::<P>::give_back(&self.free, slot);
    }
}

macro_rules! ticket_design {
    ($(#[$meta:meta])* $design:ident, $name:literal, waits: $waits:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub struct $design;

        // SAFETY: `construct` makes a new queue.
        unsafe impl Design for $design {
            const NAME: &'static str = $name;
            const CLAIMS: Claims = CLAIMS;
            const SITES: &'static [&'static [Site]] = &[PROGRESS_SITES, super::LIST_SITES];
            type Queue<P: Platform> = TicketQueue<P, $waits>;

            fn construct<P: Platform>(shape: Shape) -> Self::Queue<P> {
                TicketQueue::new(shape)
            }
        }
    };
}

ticket_design! {
    /// A submit that is suspended between its two steps stops its lane's worker for ever: nobody helps it.
    QueueWithoutHelping, "queue-without-helping", waits: true
}

ticket_design! {
    /// The same, with a worker that says "nothing" instead of waiting. No call is ever blocked, and yet a lane
    /// whose client is suspended between its two steps is dead: its queue stays empty, whatever is submitted.
    /// PAUSED-PEER-FULL.
    EmptyForEver, "empty-for-ever", waits: false
}

/// `global-lock`, with the claim that nobody waits for anybody.
#[derive(Clone, Copy, Debug)]
pub struct LockClaimsLockFree;

// SAFETY: `construct` makes a new queue.
unsafe impl Design for LockClaimsLockFree {
    const NAME: &'static str = "global-lock-that-claims-lock-free";
    const CLAIMS: Claims = Claims { progress: CLAIMS.progress, ..GlobalLock::CLAIMS };
    const SITES: &'static [&'static [Site]] = GlobalLock::SITES;
    type Queue<P: Platform> = GlobalLockQueue<P>;

    fn construct<P: Platform>(shape: Shape) -> Self::Queue<P> {
        GlobalLock::construct(shape)
    }
}

/// A variant whose claims of progress are false, or whose circle stops, as the progress matrix has to find out.
#[derive(Clone, Copy, Debug)]
pub struct ProgressExhibit {
    /// Its name.
    pub name: &'static str,
    /// How it shows.
    pub story: &'static str,
    /// The design.
    pub design: &'static str,
    /// What is found out about it: how the refuted claim begins, or with which words.
    pub expected: &'static str,
    /// A design of the catalog that does the same, and of which nothing is refuted.
    pub counterpart: &'static str,
}

/// The exhibits of progress.
pub const PROGRESS_EXHIBITS: &[ProgressExhibit] = &[
    ProgressExhibit {
        name: "queue_without_helping",
        story: "a request is announced, then put in; a worker waits for what is announced, so a client suspended between the two steps stops it for ever",
        design: QueueWithoutHelping::NAME,
        expected: "take blocks: held up by a client suspended before museum-progress.PUT",
        counterpart: "double-list",
    },
    ProgressExhibit {
        name: "no_reload_livelock_claim_recheck_counter",
        story: "enter, look whether there are too many, leave, try again: two clients in step keep each other out for ever, though nobody is suspended",
        design: ClaimRecheck::NAME,
        expected: "acquire is obstruction-free only",
        counterpart: "bitmap-claim",
    },
    ProgressExhibit {
        name: "paused_peer_full_empty_for_ever",
        story: "no call waits, but while one client is suspended inside its submit, its lane says 'nothing is submitted' for ever",
        design: EmptyForEver::NAME,
        expected: "a thread suspended in submit lets the others complete 0 requests",
        counterpart: "double-list",
    },
    ProgressExhibit {
        name: "lock_claims_lock_free",
        story: "a lock that claims to be lock-free: whoever is suspended inside holds up all others",
        design: LockClaimsLockFree::NAME,
        expected: "suspended inside global-lock.LOCK",
        counterpart: "global-lock",
    },
];

/// Runs `visitor` for the exhibit of progress that is this design, if it is one.
pub fn visit_progress<V: Visitor>(design: &str, visitor: &mut V) -> Option<V::Output> {
    Some(match design {
        QueueWithoutHelping::NAME => visitor.visit::<QueueWithoutHelping>(),
        ClaimRecheck::NAME => visitor.visit::<ClaimRecheck>(),
        EmptyForEver::NAME => visitor.visit::<EmptyForEver>(),
        LockClaimsLockFree::NAME => visitor.visit::<LockClaimsLockFree>(),
        _ => return None,
    })
}
