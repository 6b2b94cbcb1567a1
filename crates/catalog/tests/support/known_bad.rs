//! Designs that are wrong, each in one way: what a check must reject to be worth anything.
//!
//! They share one honest queue, two kinds of lines under a lock, and replace one of its operations:
//!
//! ```text
//!   free:   [3, 0, 2]
//!   lines:  lane 0 [1 → 4]   lane 1 []
//! ```

use slotwork::{
    Claims, ClientError, Design, Destination, Dispatch, Guarantees, LaneId, Lock, Many, NoneFree, Order, Platform,
    Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters,
};
use std::collections::VecDeque;
use std::marker::PhantomData;

slotwork::sites! {
    /// The one access.
    pub(crate) SITES in "known-bad";
    LOCK: Lock, pairs [LOCK], "the whole queue is under one lock";
}

/// Claims that the honest queue keeps.
pub(crate) const HONEST: Claims = Claims {
    submitters: Submitters::Many,
    order: Order::Fifo,
    none_free: NoneFree::Exact,
    progress: Guarantees::all(Progress::Blocking),
    work_conserving: false,
    allocates: false,
    max_lanes: None,
    max_slots_per_lane: None,
    max_clients: None,
    source: "known-bad variants",
};

/// The state under the lock.
pub(crate) struct State {
    pub(crate) shape: Shape,
    pub(crate) free: VecDeque<SlotId>,
    pub(crate) lines: Vec<VecDeque<SlotId>>,
    /// Slots as they were acquired, for variants that want to know.
    pub(crate) history: VecDeque<SlotId>,
    /// Slots that are free, but not found.
    pub(crate) aside: Vec<SlotId>,
    pub(crate) clients: usize,
    pub(crate) ticks: u64,
}

impl State {
    /// True every `period`-th time.
    pub(crate) fn every(&mut self, period: u64) -> bool {
        self.ticks += 1;
        self.ticks.is_multiple_of(period)
    }
}

/// The honest operations; a variant replaces one.
pub(crate) trait Variant: Send + Sync + 'static {
    const NAME: &'static str;
    const CLAIMS: Claims = HONEST;

    fn client(state: &mut State) -> Result<(), ClientError> {
        state.clients += 1;
        Ok(())
    }
    fn retire(state: &mut State) {
        state.clients -= 1;
    }
    fn set_dispatch(dispatch: Dispatch) -> bool {
        dispatch == Dispatch::RoundRobin
    }
    fn acquire(state: &mut State) -> Option<SlotId> {
        state.free.pop_front()
    }
    fn submit(state: &mut State, slot: SlotId) -> Destination {
        let lane = state.shape.lane_of(slot);
        state.lines[lane.index()].push_back(slot);
        Destination::Lane(lane)
    }
    fn withdraw(state: &mut State, slot: SlotId) {
        state.free.push_back(slot);
    }
    fn take(state: &mut State, lane: LaneId) -> Option<SlotId> {
        state.lines[lane.index()].pop_front()
    }
    fn complete(state: &mut State, slot: SlotId) {
        state.free.push_back(slot);
    }
}

/// The design of a variant.
pub(crate) struct Bad<V>(PhantomData<V>);

// SAFETY: `construct` makes a new queue.
unsafe impl<V: Variant> Design for Bad<V> {
    const NAME: &'static str = V::NAME;
    const CLAIMS: Claims = V::CLAIMS;
    const SITES: &'static [&'static [Site]] = &[SITES];
    type Queue<P: Platform> = BadQueue<V, P>;

    fn construct<P: Platform>(shape: Shape) -> BadQueue<V, P> {
        let state = State {
            shape,
            free: shape.all_slots().collect(),
            lines: shape.all_lanes().map(|_| VecDeque::with_capacity(shape.slots())).collect(),
            history: VecDeque::new(),
            aside: Vec::new(),
            clients: 0,
            ticks: 0,
        };
        BadQueue { state: P::Lock::new(state), shape, variant: PhantomData }
    }
}

/// The queue of [`Bad`].
pub(crate) struct BadQueue<V, P: Platform> {
    state: P::Lock<State>,
    shape: Shape,
    variant: PhantomData<V>,
}

// SAFETY: none: the variants break the promise on purpose. Tests touch a payload only after they have
// checked by other means that its slot has one owner.
unsafe impl<V: Variant, P: Platform> RequestQueue for BadQueue<V, P> {
    type Platform = P;
    type Submitters = Many;
    type Header = ();
    type Client = ();
    type Worker = LaneId;

    fn shape(&self) -> Shape {
        self.shape
    }
    fn client(&self) -> Result<(), ClientError> {
        self.state.with(&LOCK, V::client)
    }
    fn retire(&self, (): ()) {
        self.state.with(&LOCK, V::retire);
    }
    fn set_dispatch(&self, (): &mut (), dispatch: Dispatch) -> bool {
        V::set_dispatch(dispatch)
    }
    fn worker(&self, lane: LaneId) -> LaneId {
        lane
    }
    fn acquire(&self, _slots: &impl Slots<()>, (): &mut ()) -> Option<SlotId> {
        self.state.with(&LOCK, V::acquire)
    }
    fn submit(&self, _slots: &impl Slots<()>, (): &mut (), slot: SlotId) -> Destination {
        self.state.with(&LOCK, |state| V::submit(state, slot))
    }
    fn withdraw(&self, _slots: &impl Slots<()>, (): &mut (), slot: SlotId) {
        self.state.with(&LOCK, |state| V::withdraw(state, slot));
    }
    fn take(&self, _slots: &impl Slots<()>, lane: &mut LaneId) -> Option<SlotId> {
        self.state.with(&LOCK, |state| V::take(state, *lane))
    }
    fn complete(&self, _slots: &impl Slots<()>, _lane: &mut LaneId, slot: SlotId) {
        self.state.with(&LOCK, |state| V::complete(state, slot));
    }
}

macro_rules! variants {
    ($($(#[$meta:meta])* $name:ident { $($claim:ident: $value:expr),* } $({ $($operation:item)+ })?)+) => {
        $(
            $(#[$meta])*
            pub(crate) struct $name;
            impl Variant for $name {
                const NAME: &'static str = stringify!($name);
                const CLAIMS: Claims = Claims { $($claim: $value,)* ..HONEST };
                $($($operation)+)?
            }
        )+
    };
}

variants! {
    /// Keeps every claim: the control, which every check must accept.
    Honest {}

    /// Finds a slot without reserving it, now and then.
    AcquiresTwice {} {
        fn acquire(state: &mut State) -> Option<SlotId> {
            let slot = state.free.pop_front()?;
            if state.every(5) {
                state.free.push_front(slot);
            }
            Some(slot)
        }
    }

    /// Says that it goes round robin, or stays with a lane, and takes what slot there is.
    DispatchesAsItPleases {} {
        fn set_dispatch(_dispatch: Dispatch) -> bool {
            true
        }
        fn acquire(state: &mut State) -> Option<SlotId> {
            if state.free.len().is_multiple_of(2) { state.free.pop_front() } else { state.free.pop_back() }
        }
    }

    /// Refuses what every design can.
    GoesNoRounds {} {
        fn set_dispatch(_dispatch: Dispatch) -> bool {
            false
        }
    }

    /// Drops a submitted slot, now and then.
    LosesOne { order: Order::Any } {
        fn submit(state: &mut State, slot: SlotId) -> Destination {
            let lane = state.shape.lane_of(slot);
            if !state.every(7) {
                state.lines[lane.index()].push_back(slot);
            }
            Destination::Lane(lane)
        }
    }

    /// Hands a submitted slot to its worker twice, now and then.
    TakesTwice {} {
        fn take(state: &mut State, lane: LaneId) -> Option<SlotId> {
            let slot = state.lines[lane.index()].pop_front()?;
            if state.every(5) {
                state.lines[lane.index()].push_front(slot);
            }
            Some(slot)
        }
    }

    /// Says that no slot is free when one is.
    NoneTooEarly {} {
        fn acquire(state: &mut State) -> Option<SlotId> {
            if state.free.len() > 1 || state.shape.slots() == 1 { state.free.pop_front() } else { None }
        }
    }

    /// The same with the claim that allows it, but not so.
    NoneTooEarlyForARefill { none_free: NoneFree::Refill } {
        fn acquire(state: &mut State) -> Option<SlotId> {
            if state.free.len() > 1 || state.shape.slots() == 1 { state.free.pop_front() } else { None }
        }
    }

    /// Counts what is held as in flight, once nothing was found: who holds the rest waits for itself.
    RefillCountsHeld { none_free: NoneFree::Refill } {
        fn acquire(state: &mut State) -> Option<SlotId> {
            let slots = state.shape.slots();
            let waits = state.ticks > 0 && Self::CLAIMS.none_free.refills(slots - state.free.len(), slots);
            let found = if waits { None } else { state.free.pop_front() };
            state.ticks = u64::from(found.is_none());
            found
        }
    }

    /// Says that nothing is submitted when something is, now and then.
    NothingTooEarly {} {
        fn take(state: &mut State, lane: LaneId) -> Option<SlotId> {
            if state.every(4) { None } else { state.lines[lane.index()].pop_front() }
        }
    }

    /// A stack that claims to be a queue.
    LastInFirstOut {} {
        fn take(state: &mut State, lane: LaneId) -> Option<SlotId> {
            state.lines[lane.index()].pop_back()
        }
    }

    /// Begins each look at the lowest slot, as a bitmap does that forgets where it was.
    LowestFirst { order: Order::Rotating } {
        fn take(state: &mut State, lane: LaneId) -> Option<SlotId> {
            let line = &mut state.lines[lane.index()];
            let lowest = *line.iter().min()?;
            line.retain(|&slot| slot != lowest);
            Some(lowest)
        }
    }

    /// Names a worker that cannot take the slot.
    WrongDestination {} {
        fn submit(state: &mut State, slot: SlotId) -> Destination {
            let lane = state.shape.lane_of(slot);
            state.lines[lane.index()].push_back(slot);
            Destination::Lane(LaneId::new((lane.index() + 1) % state.shape.lanes()))
        }
    }

    /// Claims that any worker takes any slot, and names one.
    NotConserving { work_conserving: true }

    /// Lets any worker take any slot, and does not say so.
    ConservesInSecret {} {
        fn take(state: &mut State, lane: LaneId) -> Option<SlotId> {
            let own = state.lines[lane.index()].pop_front();
            own.or_else(|| state.lines.iter_mut().find_map(VecDeque::pop_front))
        }
    }

    /// Forgets a slot that was given back unsubmitted.
    WithdrawLoses {} {
        fn withdraw(_state: &mut State, _slot: SlotId) {}
    }

    /// Frees slots only in the order in which they were acquired, as a ring does: a slow peer
    /// delays everybody.
    HeadOfLine {} {
        fn acquire(state: &mut State) -> Option<SlotId> {
            let slot = state.free.pop_front()?;
            state.history.push_back(slot);
            Some(slot)
        }
        fn withdraw(state: &mut State, slot: SlotId) {
            Self::complete(state, slot);
        }
        fn complete(state: &mut State, slot: SlotId) {
            state.aside.push(slot);
            while let Some(place) = state.history.front().and_then(|first| state.aside.iter().position(|slot| slot == first)) {
                state.free.push_back(state.aside.swap_remove(place));
                state.history.pop_front();
            }
        }
    }

    /// Claims one submitter, and its type lets many be made.
    OneByClaim { submitters: Submitters::One }

    /// Claims a limit on clients and has none.
    LimitNotKept { max_clients: Some(3) }

    /// Counts the clients that ever were, and not those that are.
    ClientNeverReturns { max_clients: Some(3) } {
        fn client(state: &mut State) -> Result<(), ClientError> {
            state.clients += 1;
            if state.clients > 3 { Err(ClientError::TooManyClients { limit: 3 }) } else { Ok(()) }
        }
        fn retire(_state: &mut State) {}
    }

    /// Keeps something for every client that ever was.
    ClientsPileUp {} {
        fn client(state: &mut State) -> Result<(), ClientError> {
            state.clients += 1;
            state.aside.extend([SlotId::new(0); 64]);
            Ok(())
        }
    }

    /// Takes a shape beyond its word and lets slots share bits.
    AliasesBits {} {
        fn submit(state: &mut State, slot: SlotId) -> Destination {
            let lane = state.shape.lane_of(slot);
            let place = state.shape.place_of(slot) % 64;
            let slot = state.shape.slot_at(lane, place);
            let line = &mut state.lines[lane.index()];
            if !line.contains(&slot) {
                line.push_back(slot);
            }
            Destination::Lane(lane)
        }
    }

    /// Calls the allocator without saying so.
    AllocatesInSecret {} {
        fn take(state: &mut State, lane: LaneId) -> Option<SlotId> {
            std::hint::black_box(Box::new(lane));
            state.lines[lane.index()].pop_front()
        }
    }

    /// Says that it allocates, and does not.
    AllocatesNothing { allocates: true }

    /// Remembers every request for ever.
    Grows {} {
        fn complete(state: &mut State, slot: SlotId) {
            state.aside.extend([slot; 4]);
            state.free.push_back(slot);
        }
    }
}
