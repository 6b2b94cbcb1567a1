//! `bitmap-steal`: any worker takes any slot; words have one writer each, and both claims are in the slot.
//!
//! [`BitmapOwned`](crate::BitmapOwned) ties a slot to a worker, so that a word of each suffices, and a slot waits when its
//! worker does. Here slots are nobody's: every client and every worker has a row of words of its own over all slots, says
//! there what it is doing, by plain stores, and reads all others' to see where there is something to do. Whose a slot is, its
//! state beside the payload says, on the line that has to move anyway. A word is flipped while its writer still has the slot:
//! a thread that is held up between the two leaves no wrong bit behind for those who have the slot after it.
//!
//! ```text
//!   64 slots:   fill[c]    for each client c: flipped when it submits
//!               taken[w]   for each worker w: flipped when it takes
//!               done[w]                       flipped when it completes
//!   slot:       │ free → held → submitted → claimed → free │ turn │ payload …  │ one line
//!
//!   acquire                            take
//!   fill[0] xor … = done[0] xor …?     fill[0] xor … ≠ taken[0] xor …?
//!   free → held, by one                submitted → claimed, by one
//! ```
//!
//! Two read-modify-writes per round trip, one for each side that others compete with. A worker that finds nothing has
//! read a word of everybody's; that is the price of finding whatever there is. Of one or two slots the states are fewer
//! lines than the words, so there are no words then: everybody looks at the states.
//!
//! `bitmap-refill` is the same with one rule more: a client that found nothing waits until a quarter of the slots is back.
//!
//! ```text
//!   in flight   16 ┐   found nothing: the client is dry, and sleeps
//!   (of 16)     15 │   a worker asks before it wakes anybody: not yet
//!               14 │   not yet
//!               13 │   not yet
//!               12 ┘   four slots: a batch, for one look and one wake
//!
//!   in flight = submissions of all clients − completions of all workers, each counted in a word beside the bits
//! ```
//!
//! With more threads than cores, a client that runs as soon as one slot is free runs for one request, and takes the processor
//! from a worker for it. The count is of what is in flight, not of what is taken: a client that itself holds the rest, and
//! waits for one slot more, is never told to wait for what nobody will complete. Whoever is refused has seen more than
//! three quarters of the slots in flight after it asked, so completions are still to come; long before the last one the rule
//! says nothing any more, and the first completion that sees that, and each after it, wakes somebody.
//!
//! Submissions are added up before completions: who sees one sees what was completed before its slot was acquired. So as many
//! as are counted, or more, were in flight at one time; of two workers that complete, one at least sees the other's completion.

use crate::clients::{Clients, MAX_CLIENTS, Share, below};
use alloc::{boxed::Box, vec};
use slotwork::{
    Atomic, CachePadded, Claims, ClientError, Design, Destination, Guarantees, LaneId, Many, NoneFree, Order, Platform,
    Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters, WithPayload,
};

slotwork::sites! {
    /// Every atomic access of the design.
    pub SITES in "bitmap-steal";
    FREE_HINT: Load(Relaxed), pairs [], "a hint which slots to try; CLAIM decides and synchronises";
    SUBMITTED_HINT: Load(Relaxed), pairs [], "a hint which slots to try; TAKE decides and synchronises";
    FILL_HINT: Load(Relaxed), pairs [], "a hint which slots to try; CLAIM and TAKE decide and synchronise";
    TAKEN_HINT: Load(Relaxed), pairs [], "a hint which slots to try; TAKE decides and synchronises";
    DONE_HINT: Load(Relaxed), pairs [], "a hint which slots to try; CLAIM decides and synchronises";
    CLAIM: CompareExchange(Acquire, Relaxed), pairs [FREE_STORE], "the one client that finds the slot free sees its last result";
    SUBMIT: Store(Release), pairs [TAKE], "publishes the payload";
    FILL_STORE: Store(Relaxed), pairs [], "tells where to look; SUBMIT, which comes after it, publishes";
    TAKE: CompareExchange(Acquire, Relaxed), pairs [SUBMIT], "the one worker that finds the slot submitted sees its payload";
    TAKEN_STORE: Store(Relaxed), pairs [], "tells where not to look; TAKE has decided";
    FREE_STORE: Store(Release), pairs [CLAIM], "publishes the result, or the end of a withdrawn hold";
    DONE_STORE: Store(Relaxed), pairs [], "tells where to look; FREE_STORE, which comes after it, publishes";
    FILL_RESUME: Load(Relaxed), pairs [], "a new client goes on with the words of the one whose place it has, after whom it comes";
}

slotwork::sites! {
    /// What is counted where clients refill.
    pub REFILL_SITES in "bitmap-refill";
    SUBMITTED_STORE: Store(Release), pairs [SUBMITTED_LOAD], "who counts this submission sees the completions that its client had seen";
    SUBMITTED_LOAD: Load(Acquire), pairs [SUBMITTED_STORE], "comes before COMPLETED_LOAD, so that no slot is counted as in flight twice";
    COMPLETED_STORE: Store(Relaxed), pairs [], "FREE_STORE, which comes after it, publishes; for who asks after waking nobody, a fence orders it";
    COMPLETED_LOAD: Load(Relaxed), pairs [], "SUBMITTED_LOAD, or the fence before the question, lets it see what it must";
    SUBMITTED_RESUME: Load(Relaxed), pairs [], "a new client goes on with the count of the one whose place it has, after whom it comes";
}

const FREE: u32 = 0;
const HELD: u32 = 1;
const SUBMITTED: u32 = 2;
const CLAIMED: u32 = 3;

/// Whose a slot is.
pub struct State<P: Platform>(P::AtomicU32);

impl<P: Platform> Default for State<P> {
    fn default() -> Self {
        Self(P::AtomicU32::new(FREE))
    }
}

/// Bitmaps over all slots, for many submitters and workers that help each other out; with `REFILL`, a client that found nothing
/// waits for a quarter of the slots.
#[derive(Clone, Copy, Debug)]
pub struct BitmapSteal<const REFILL: bool = false>;

/// [`BitmapSteal`], with clients that come back for a batch.
pub type BitmapRefill = BitmapSteal<true>;

// SAFETY: `construct` makes a new queue; fresh headers say that every slot is free.
unsafe impl<const REFILL: bool> Design for BitmapSteal<REFILL> {
    const NAME: &'static str = if REFILL { "bitmap-refill" } else { "bitmap-steal" };
    const CLAIMS: Claims = Claims {
        submitters: Submitters::Many,
        order: Order::Any,
        none_free: if REFILL { NoneFree::Refill } else { NoneFree::Scan },
        progress: Guarantees::all(Progress::WaitFree),
        work_conserving: true,
        allocates: false,
        max_lanes: Some(64),
        max_slots_per_lane: Some(64),
        max_clients: Some(MAX_CLIENTS),
        source: if REFILL {
            "bitmap-steal, with virtio's delayed notification, 2010"
        } else {
            "slotwork, after FastForward, 2008, and QEMU threaded workqueue v3, 2018"
        },
    };
    const SITES: &'static [&'static [Site]] =
        if REFILL { &[SITES, crate::clients::SITES, REFILL_SITES] } else { &[SITES, crate::clients::SITES] };
    type Queue<P: Platform> = BitmapStealQueue<P, REFILL>;

    fn construct<P: Platform>(shape: Shape) -> BitmapStealQueue<P, REFILL> {
        let workers = shape.all_lanes().map(|_| Row { taken: row::<P>(shape), done: row::<P>(shape) });
        let few = shape.slots() <= FEW;
        BitmapStealQueue { clients: Clients::new(), workers: workers.collect(), few, shape }
    }
}

/// Words of one writer, sixteen to a pair of lines: a count, then one for each group.
type Words<P> = Box<[CachePadded<[<P as Platform>::AtomicU64; WORDS_PER_LINE]>]>;

const WORDS_PER_LINE: usize = 16;

/// Up to so many slots, their states are fewer lines than the words of the fewest that share them.
const FEW: usize = 2;

fn row<P: Platform>(shape: Shape) -> Words<P> {
    let words = || CachePadded::new(core::array::from_fn(|_| P::AtomicU64::new(0)));
    (0..(1 + groups(shape)).div_ceil(WORDS_PER_LINE)).map(|_| words()).collect()
}

/// Words that it takes for a bit per slot.
const fn groups(shape: Shape) -> usize {
    shape.slots().div_ceil(64)
}

struct Row<P: Platform> {
    taken: Words<P>,
    done: Words<P>,
}

/// The word of a group in a row.
#[inline(always)]
fn word<P: Platform>(row: &Words<P>, group: usize) -> &P::AtomicU64 {
    &row[(1 + group) / WORDS_PER_LINE][(1 + group) % WORDS_PER_LINE]
}

/// What is counted beside them, where clients refill: submissions beside fill words, completions beside done words.
#[inline(always)]
fn count<P: Platform>(row: &Words<P>) -> &P::AtomicU64 {
    &row[0][0]
}

/// The queue of [`BitmapSteal`].
pub struct BitmapStealQueue<P: Platform, const REFILL: bool = false> {
    /// Each with its fill words, by group.
    clients: Clients<P, Words<P>>,
    workers: Box<[Row<P>]>,
    /// So few slots that their states are the shorter look: nobody says anything in words.
    few: bool,
    shape: Shape,
}

/// What a client remembers.
pub struct BitmapStealClient {
    place: usize,
    /// What its fill words hold, by group: nobody else writes them.
    fill: Box<[u64]>,
    /// As the count beside them; both of these where clients refill only.
    submitted: u64,
    candidates: Candidates,
    /// Whether its last acquire found nothing.
    dry: bool,
}

/// What a worker remembers.
pub struct BitmapStealWorker {
    lane: LaneId,
    /// What its words hold, by group: nobody else writes them.
    taken: Box<[u64]>,
    done: Box<[u64]>,
    /// As the count beside its done words; where clients refill only.
    completed: u64,
    candidates: Candidates,
}

/// Slots that the last look found, and that were not tried since.
struct Candidates {
    /// They are of this one.
    group: usize,
    /// A bit for each.
    found: u64,
    /// Those from this one on are tried before those below it, so that not all begin at the same.
    first: u32,
}

impl Candidates {
    const fn from(group: usize) -> Self {
        Self { group, found: 0, first: 0 }
    }

    /// The next one.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "a shape's slots fit in 24 bits")]
    fn pop(&mut self) -> Option<SlotId> {
        if self.found == 0 {
            return None;
        }
        let place = (self.found.rotate_right(self.first).trailing_zeros() + self.first) % 64;
        self.found ^= 1 << place;
        Some(SlotId::new(self.group * 64 + place as usize))
    }

    /// Claims one: of those of an earlier look as long as they prove right, then of every group, as `look` finds them.
    #[inline]
    fn claim(
        &mut self,
        shape: Shape,
        mut look: impl FnMut(usize) -> u64,
        share: impl Fn() -> Share,
        mut claim: impl FnMut(SlotId) -> bool,
    ) -> Option<SlotId> {
        if let Some(slot) = self.pop().filter(|slot| claim(*slot)) {
            return Some(slot);
        }
        let groups = groups(shape);
        for _ in 0..groups {
            self.found = look(self.group);
            if self.found != 0 {
                self.first = share().first(slots_of(shape, self.group));
                while let Some(slot) = self.pop() {
                    if claim(slot) {
                        return Some(slot);
                    }
                }
            }
            self.group = if self.group + 1 == groups { 0 } else { self.group + 1 };
        }
        None
    }
}

/// Slots of one group.
#[allow(clippy::cast_possible_truncation, reason = "at most 64")]
fn slots_of(shape: Shape, group: usize) -> u32 {
    (shape.slots() - group * 64).min(64) as u32
}

/// The slot's group, and its bit there.
#[inline(always)]
const fn split(slot: SlotId) -> (usize, u64) {
    (slot.index() / 64, 1 << (slot.index() % 64))
}

/// Flips `bit` of a word that nobody else writes; `held` is what it holds.
#[inline]
fn flip<P: Platform>(row: &Words<P>, held: &mut [u64], (group, bit): (usize, u64), site: &'static Site) {
    held[group] ^= bit;
    word::<P>(row, group).store(held[group], site);
}

impl<P: Platform, const REFILL: bool> BitmapStealQueue<P, REFILL> {
    /// A bit for each slot of a group that was submitted an odd number of times more than this side's words say.
    #[inline]
    fn differing<'a>(&'a self, group: usize, answers: impl Fn(&'a Row<P>) -> &'a Words<P>, site: &'static Site) -> u64 {
        // Bits of a slot are flipped only by who has it. So of one that is free, or submitted, all the while this looks, all
        // bits are exact; of any other, the state decides, or it was in another state while this looked.
        let mut differing = 0;
        for row in &self.workers {
            differing ^= word::<P>(answers(row), group).load(site);
        }
        self.clients.each_row(|_, fill| differing ^= word::<P>(fill, group).load(&FILL_HINT));
        differing
    }

    /// A bit for each slot of a group that is in this state.
    #[inline]
    fn in_state(
        &self,
        slots: &impl Slots<WithPayload<State<P>>>,
        group: usize,
        state: u32,
        site: &'static Site,
    ) -> u64 {
        let places = 0..slots_of(self.shape, group);
        places.fold(0, |found, place| {
            let slot = SlotId::new(group * 64 + place as usize);
            found | u64::from(slots.header(slot).0.load(site) == state) << place
        })
    }

    /// Whether a client that found nothing is to wait for more of what is in flight.
    #[cold]
    fn is_low(&self) -> bool {
        let mut in_flight = 0_u64;
        self.clients.each_row(|_, fill| in_flight += count::<P>(fill).load(&SUBMITTED_LOAD));
        let completed: u64 = self.workers.iter().map(|row| count::<P>(&row.done).load(&COMPLETED_LOAD)).sum();
        // More were completed than this sees submitted: none of what it sees is in flight.
        let in_flight = usize::try_from(in_flight.saturating_sub(completed)).unwrap_or(usize::MAX);
        NoneFree::Refill.refills(in_flight, self.shape.slots())
    }
}

// SAFETY: of those who change a slot's state from free to held, or from submitted to claimed, one succeeds, and owns the slot
// until it changes the state again, which nobody else does then. CLAIM pairs with FREE_STORE, TAKE with SUBMIT. The words
// only say where to look.
unsafe impl<P: Platform, const REFILL: bool> RequestQueue for BitmapStealQueue<P, REFILL> {
    type Platform = P;
    type Submitters = Many;
    type Header = WithPayload<State<P>>;
    type Client = BitmapStealClient;
    type Worker = BitmapStealWorker;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<BitmapStealClient, ClientError> {
        let groups = groups(self.shape);
        let resume = |fill: &Words<P>| {
            let words = (0..groups).map(|group| word::<P>(fill, group).load(&FILL_RESUME));
            (words.collect::<Box<[u64]>>(), if REFILL { count::<P>(fill).load(&SUBMITTED_RESUME) } else { 0 })
        };
        let (place, (fill, submitted)) = self.clients.enlist(|| row::<P>(self.shape), resume)?;
        Ok(BitmapStealClient { place, fill, submitted, candidates: Candidates::from(place % groups), dry: false })
    }

    fn retire(&self, client: BitmapStealClient) {
        self.clients.retire(client.place);
    }

    fn insist(&self, client: &mut BitmapStealClient) {
        client.dry = false;
    }

    fn refills(&self, _worker: &BitmapStealWorker) -> bool {
        REFILL && self.is_low()
    }

    fn worker(&self, lane: LaneId) -> BitmapStealWorker {
        let groups = groups(self.shape);
        let words = || vec![0; groups].into_boxed_slice();
        let candidates = Candidates::from(lane.index() * groups / self.shape.lanes());
        BitmapStealWorker { lane, taken: words(), done: words(), completed: 0, candidates }
    }

    #[inline]
    fn acquire(&self, slots: &impl Slots<Self::Header>, client: &mut BitmapStealClient) -> Option<SlotId> {
        // Who is dry has no candidates left: its last look tried them all, or came after such a one.
        if REFILL && client.dry && self.is_low() {
            return None;
        }
        let place = client.place;
        let found = client.candidates.claim(
            self.shape,
            |group| {
                if self.few {
                    return self.in_state(slots, group, FREE, &FREE_HINT);
                }
                below(slots_of(self.shape, group)) & !self.differing(group, |row| &row.done, &DONE_HINT)
            },
            || self.clients.share(place),
            |slot| slots.header(slot).0.compare_exchange(FREE, HELD, &CLAIM).is_ok(),
        );
        if REFILL {
            client.dry = found.is_none();
        }
        found
    }

    #[inline]
    fn submit(&self, slots: &impl Slots<Self::Header>, client: &mut BitmapStealClient, slot: SlotId) -> Destination {
        let row = self.clients.row(client.place);
        if !self.few {
            flip::<P>(row, &mut client.fill, split(slot), &FILL_STORE);
        }
        slots.header(slot).0.store(SUBMITTED, &SUBMIT);
        if REFILL {
            client.submitted += 1;
            count::<P>(row).store(client.submitted, &SUBMITTED_STORE);
        }
        Destination::Any
    }

    #[inline]
    fn withdraw(&self, slots: &impl Slots<Self::Header>, _client: &mut BitmapStealClient, slot: SlotId) {
        slots.header(slot).0.store(FREE, &FREE_STORE);
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "at most 64 lanes, as the claims say")]
    fn take(&self, slots: &impl Slots<Self::Header>, worker: &mut BitmapStealWorker) -> Option<SlotId> {
        let share = Share { number: worker.lane.index() as u32, of: self.shape.lanes() as u32 };
        let slot = worker.candidates.claim(
            self.shape,
            |group| {
                if self.few {
                    return self.in_state(slots, group, SUBMITTED, &SUBMITTED_HINT);
                }
                self.differing(group, |row| &row.taken, &TAKEN_HINT)
            },
            || share,
            |slot| slots.header(slot).0.compare_exchange(SUBMITTED, CLAIMED, &TAKE).is_ok(),
        )?;
        if !self.few {
            flip::<P>(&self.workers[worker.lane.index()].taken, &mut worker.taken, split(slot), &TAKEN_STORE);
        }
        Some(slot)
    }

    #[inline]
    fn complete(&self, slots: &impl Slots<Self::Header>, worker: &mut BitmapStealWorker, slot: SlotId) {
        let row = &self.workers[worker.lane.index()].done;
        if !self.few {
            flip::<P>(row, &mut worker.done, split(slot), &DONE_STORE);
        }
        if REFILL {
            worker.completed += 1;
            count::<P>(row).store(worker.completed, &COMPLETED_STORE);
        }
        slots.header(slot).0.store(FREE, &FREE_STORE);
    }
}
