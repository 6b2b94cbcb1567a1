//! The circle as a sequential machine: what a queue may answer when nobody runs beside the caller.
//!
//! ```text
//!   free ──acquired──▶ held ──submitted──▶ submitted ──taken──▶ claimed ──completed──▶ free
//!     ▲                 │                 (in line, at a destination)
//!     └────withdrawn────┘
//! ```
//!
//! Each method is told what the queue did, and says what is wrong with it.

use slotwork::{Claims, Destination, LaneId, Order, Outcome, Shape, SlotId};
use std::collections::VecDeque;
use thiserror::Error;

/// Where a slot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nobody's.
    Free,
    /// A client's.
    Held,
    /// In line.
    Submitted(Destination),
    /// This lane's worker's.
    Claimed(LaneId),
}

/// What a queue did wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum Fault {
    #[error("acquire says none, but {free} slots are free")]
    NoneButFree { free: usize },
    #[error("take says none, but {slots:?} are submitted for lane {lane}")]
    NoneButSubmitted { lane: usize, slots: Vec<usize> },
    #[error("slot {slot} does not exist")]
    NoSuchSlot { slot: usize },
    #[error("{operation} of slot {slot}, which is {state:?}")]
    WrongState { operation: &'static str, slot: usize, state: State },
    #[error("slot {slot} was submitted to {destination:?}, which the claims or the shape rule out")]
    WrongDestination { slot: usize, destination: Destination },
    #[error("slot {slot} was submitted to {destination:?}, and lane {lane} took it")]
    WrongWorker { slot: usize, destination: Destination, lane: usize },
    #[error("slot {slot} was taken before slot {first}, which was submitted first")]
    OutOfOrder { slot: usize, first: usize },
    #[error("slot {slot} was overtaken {times} times, and the bound is fewer than {bound}")]
    Overtaken { slot: usize, times: usize, bound: usize },
}

struct Slot {
    state: State,
    /// Other takes from its line since it was submitted.
    overtaken: usize,
    completions: u64,
    failed: bool,
}

/// All slots, and the lines of submitted ones.
pub(crate) struct Circle {
    shape: Shape,
    claims: Claims,
    slots: Vec<Slot>,
    free: usize,
    /// Per lane, and at the end the line that all workers share.
    lines: Vec<VecDeque<SlotId>>,
}

impl Circle {
    /// Every slot free.
    pub(crate) fn new(shape: Shape, claims: Claims) -> Self {
        let fresh = || Slot { state: State::Free, overtaken: 0, completions: 0, failed: false };
        Self {
            shape,
            claims,
            slots: shape.all_slots().map(|_| fresh()).collect(),
            free: shape.slots(),
            lines: vec![VecDeque::new(); shape.lanes() + 1],
        }
    }

    /// Slots submitted or claimed.
    pub(crate) fn in_flight(&self) -> usize {
        self.flying().count()
    }

    /// The slots in flight, each with its completions so far: what a drain waits for.
    pub(crate) fn flying(&self) -> impl Iterator<Item = (SlotId, u64)> {
        let all = self.shape.all_slots().zip(&self.slots);
        all.filter(|(_, slot)| matches!(slot.state, State::Submitted(_) | State::Claimed(_)))
            .map(|(id, slot)| (id, slot.completions))
    }

    /// How often a slot's requests were completed, failures included.
    pub(crate) fn completions(&self, slot: SlotId) -> u64 {
        self.slots[slot.index()].completions
    }

    /// What became of the slot's last request.
    pub(crate) fn outcome(&self, slot: SlotId) -> Outcome {
        match &self.slots[slot.index()] {
            Slot { completions: 0, .. } => Outcome::Fresh,
            Slot { failed: true, .. } => Outcome::Failed,
            Slot { failed: false, .. } => Outcome::Completed,
        }
    }

    /// A client asked for a free slot; it may have found nothing the last time.
    pub(crate) fn acquired(&mut self, answer: Option<SlotId>, found_nothing: bool) -> Result<(), Fault> {
        let refills = self.claims.none_free.refills(self.in_flight(), self.shape.slots());
        match answer {
            None if found_nothing && refills => Ok(()),
            None if self.free > 0 => Err(Fault::NoneButFree { free: self.free }),
            None => Ok(()),
            Some(slot) => {
                self.change("acquire", slot, |state| state == State::Free, State::Held)?;
                self.free -= 1;
                Ok(())
            }
        }
    }

    /// A client published a slot.
    pub(crate) fn submitted(&mut self, slot: SlotId, destination: Destination) -> Result<(), Fault> {
        self.change("submit", slot, |state| state == State::Held, State::Submitted(destination))?;
        let allowed = match destination {
            Destination::Any => self.claims.work_conserving || self.shape.lanes() == 1,
            Destination::Lane(lane) => {
                lane.index() < self.shape.lanes() && (!self.claims.work_conserving || self.shape.lanes() == 1)
            }
        };
        if !allowed {
            return Err(Fault::WrongDestination { slot: slot.index(), destination });
        }
        self.slots[slot.index()].overtaken = 0;
        let line = self.line(destination);
        self.lines[line].push_back(slot);
        Ok(())
    }

    /// A client gave a slot back unsubmitted.
    pub(crate) fn withdrawn(&mut self, slot: SlotId) -> Result<(), Fault> {
        self.free += 1;
        self.change("withdraw", slot, |state| state == State::Held, State::Free)
    }

    /// A worker asked for a submitted slot.
    pub(crate) fn taken(&mut self, lane: LaneId, answer: Option<SlotId>) -> Result<(), Fault> {
        let Some(slot) = answer else {
            let mine = self.lines[lane.index()].iter().chain(&self.lines[self.shape.lanes()]);
            let slots: Vec<usize> = mine.map(|slot| slot.index()).collect();
            let fault = Fault::NoneButSubmitted { lane: lane.index(), slots: slots.clone() };
            return if slots.is_empty() { Ok(()) } else { Err(fault) };
        };
        let before = self.slots.get(slot.index()).map(|slot| slot.state);
        self.change("take", slot, |state| matches!(state, State::Submitted(_)), State::Claimed(lane))?;
        let Some(State::Submitted(destination)) = before else { unreachable!("checked by `change`") };
        if !matches!(destination, Destination::Any) && destination != Destination::Lane(lane) {
            return Err(Fault::WrongWorker { slot: slot.index(), destination, lane: lane.index() });
        }
        self.leave_line(slot, destination)
    }

    /// A worker gave a slot back.
    pub(crate) fn completed(&mut self, slot: SlotId, failed: bool) -> Result<(), Fault> {
        self.free += 1;
        self.change("complete", slot, |state| matches!(state, State::Claimed(_)), State::Free)?;
        self.slots[slot.index()].completions += 1;
        self.slots[slot.index()].failed = failed;
        Ok(())
    }

    fn line(&self, destination: Destination) -> usize {
        match destination {
            Destination::Lane(lane) => lane.index(),
            Destination::Any => self.shape.lanes(),
        }
    }

    fn leave_line(&mut self, slot: SlotId, destination: Destination) -> Result<(), Fault> {
        let line = self.line(destination);
        let slots = match destination {
            Destination::Lane(_) => self.shape.slots_per_lane(),
            Destination::Any => self.shape.slots(),
        };
        let line = &mut self.lines[line];
        let place = line.iter().position(|&other| other == slot).expect("a submitted slot is in its line");
        if self.claims.order == Order::Fifo && place != 0 {
            return Err(Fault::OutOfOrder { slot: slot.index(), first: line[0].index() });
        }
        line.remove(place);
        for &other in &*line {
            let overtaken = &mut self.slots[other.index()].overtaken;
            *overtaken += 1;
            let bound = 2 * slots;
            if self.claims.order == Order::Rotating && *overtaken >= bound {
                return Err(Fault::Overtaken { slot: other.index(), times: *overtaken, bound });
            }
        }
        Ok(())
    }

    fn change(
        &mut self,
        operation: &'static str,
        slot: SlotId,
        allowed: impl FnOnce(State) -> bool,
        next: State,
    ) -> Result<(), Fault> {
        let entry = self.slots.get_mut(slot.index()).ok_or(Fault::NoSuchSlot { slot: slot.index() })?;
        if !allowed(entry.state) {
            return Err(Fault::WrongState { operation, slot: slot.index(), state: entry.state });
        }
        entry.state = next;
        Ok(())
    }
}
