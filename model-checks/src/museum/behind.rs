//! An exhibit of a word that says where to look, and is put right only after the slot was let go.

use super::parts::{FreeSlots, PartsQueue, SIGNAL_SITES, exhibit_design};
use slotwork::{Atomic, AtomicInteger, LaneId, Platform, Shape, Site, SlotId};

slotwork::sites! {
    /// The states and the word of the exhibit.
    pub BEHIND_SITES in "museum-behind";
    CLAIM: CompareExchange(Acquire, Relaxed), pairs [LET_GO], "the one client that finds the slot free sees its last result";
    LET_GO: Store(Release), pairs [CLAIM], "publishes the result, or the end of a withdrawn hold";
    STATE_LOAD: Load(Relaxed), pairs [], "whether it was submitted: the caller has the slot";
    BUSY_HINT: Load(Relaxed), pairs [], "a hint which slots to try; CLAIM decides and synchronises";
    BUSY_FLIP: Rmw(Relaxed), pairs [], "tells where to look";
    RECENT: Rmw(Relaxed), pairs [], "a slot to try without a look";
}

const FREE: u32 = 0;
const HELD: u32 = 1;
const SUBMITTED: u32 = 2;

/// No slot was found by a look that is not tried again since.
const NONE: u64 = u64::MAX;

/// A state per slot that decides, and a word that says which are worth a try: flipped at submission and at completion.
pub struct StateAndWord<P: Platform, const WORD_FIRST: bool> {
    states: Box<[P::AtomicU32]>,
    busy: P::AtomicU64,
    /// What the last look found: tried once more before there is another look.
    recent: P::AtomicU64,
    shape: Shape,
}

impl<P: Platform, const WORD_FIRST: bool> StateAndWord<P, WORD_FIRST> {
    fn claim(&self, place: u32) -> Option<SlotId> {
        let claimed = self.states[place as usize].compare_exchange(FREE, HELD, &CLAIM).is_ok();
        claimed.then(|| self.shape.slot_at(LaneId::FIRST, place))
    }

    fn flip(&self, slot: SlotId) {
        self.busy.fetch_xor(1 << slot.index(), &BUSY_FLIP);
    }
}

impl<P: Platform, const WORD_FIRST: bool> FreeSlots<P> for StateAndWord<P, WORD_FIRST> {
    fn full(shape: Shape) -> Self {
        let states = shape.all_slots().map(|_| P::AtomicU32::new(FREE)).collect();
        Self { states, busy: P::AtomicU64::new(0), recent: P::AtomicU64::new(NONE), shape }
    }

    fn acquire(&self) -> Option<SlotId> {
        let recent = u32::try_from(self.recent.swap(NONE, &RECENT)).ok();
        recent.and_then(|place| self.claim(place)).or_else(|| {
            let busy = self.busy.load(&BUSY_HINT);
            let found = (0..self.shape.slots()).filter(|place| busy & 1 << place == 0);
            let slot = found.filter_map(|place| self.claim(u32::try_from(place).ok()?)).next()?;
            self.recent.swap(slot.index() as u64, &RECENT);
            Some(slot)
        })
    }

    fn submitted(&self, slot: SlotId) {
        self.flip(slot);
        self.states[slot.index()].store(SUBMITTED, &LET_GO);
    }

    fn give_back(&self, slot: SlotId) {
        let state = &self.states[slot.index()];
        let completed = state.load(&STATE_LOAD) == SUBMITTED;
        if completed && WORD_FIRST {
            self.flip(slot);
        }
        state.store(FREE, &LET_GO);
        if completed && !WORD_FIRST {
            self.flip(slot);
        }
    }
}

exhibit_design! {
    /// A worker frees the slot, and then says in the word that it is worth a try. Between the two somebody has it and
    /// gives it back, and now the slot is free and the word says that it is not, until the worker goes on.
    WordAfterState, "word-after-state", [BEHIND_SITES], StateAndWord<P, false>, plain: false
}

exhibit_design! {
    /// The same the other way round: words are put right by who still has the slot.
    WordBeforeState, "word-before-state", [BEHIND_SITES], StateAndWord<P, true>, plain: false
}
