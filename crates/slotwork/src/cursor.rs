//! Going round the lanes, by a dispatch policy.

use crate::{Dispatch, LaneId, Shape};

/// Where a client looks for a free slot first.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    lane: LaneId,
    dispatch: Dispatch,
}

impl Cursor {
    /// A cursor at `lane` that goes round robin.
    #[must_use]
    pub const fn at(lane: LaneId) -> Self {
        Self { lane, dispatch: Dispatch::RoundRobin }
    }

    /// Chooses the policy. Always possible, and says so.
    pub const fn set_dispatch(&mut self, dispatch: Dispatch) -> bool {
        self.dispatch = dispatch;
        true
    }

    /// The lane to look at now.
    #[inline(always)]
    #[must_use]
    pub const fn lane(&self) -> LaneId {
        self.lane
    }

    /// A slot was found at this lane: goes on, or stays, as the policy says.
    #[inline(always)]
    pub const fn found(&mut self, shape: Shape) {
        if matches!(self.dispatch, Dispatch::RoundRobin) {
            self.lane = shape.lane_after(self.lane);
        }
    }

    /// Nothing was found at this lane: goes on.
    #[inline(always)]
    pub const fn go_on(&mut self, shape: Shape) {
        self.lane = shape.lane_after(self.lane);
    }
}
