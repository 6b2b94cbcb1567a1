//! What a core has begun and not ended: a core goes on beyond an access whose line is still to come, as far as it can
//! predict and has room.
//!
//! ```text
//!   window   │ payload at 60 │ exchange at 75 │ payload at 75 │     end in order; lines are fetched at once
//!   stores   │ done at 80 │ done at 90 │                            end in order, after what was before them
//!                                       └ a fence, and a wrong prediction, wait for all of both
//! ```

use crate::account::Time;
use std::collections::VecDeque;

/// How much of what a core does at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Lines that it fetches.
    pub(crate) fetches: usize,
    /// Of them, for read-modify-writes.
    pub(crate) exchanges: usize,
    /// Stores that wait.
    pub(crate) stores: usize,
}

/// The accesses of one core that are under way.
#[derive(Debug, Default)]
pub(crate) struct UnderWay {
    /// When each payload and each read-modify-write is there.
    window: VecDeque<Time>,
    /// Of the read-modify-writes among them that fetch a line.
    exchanges: VecDeque<Time>,
    /// When each store whose line had to be fetched is done.
    stores: VecDeque<Time>,
    /// When the last of the window is there, and the last of the stores is done.
    window_over_at: Time,
    stores_over_at: Time,
}

/// When one more may begin, if at most `most` of these are under way at once.
fn may_begin(ends: &VecDeque<Time>, most: usize) -> Time {
    ends.len().checked_sub(most).map_or(0, |at| ends[at])
}

fn forget(ends: &mut VecDeque<Time>, now: Time) {
    while ends.front().is_some_and(|&end| end <= now) {
        ends.pop_front();
    }
}

impl UnderWay {
    /// When all of it is done.
    pub(crate) fn over_at(&self) -> Time {
        self.window_over_at.max(self.stores_over_at)
    }

    /// When the line of a store may be asked for.
    pub(crate) fn store_may_begin(&self, room: Room) -> Time {
        may_begin(&self.stores, room.fetches)
    }

    /// When the line of a read-modify-write may be asked for.
    pub(crate) fn exchange_may_begin(&self, room: Room) -> Time {
        may_begin(&self.exchanges, room.exchanges)
    }

    /// A store whose line is there at `there`: when it is done, and how long the thread waits for room.
    pub(crate) fn store(&mut self, now: Time, there: Time, fetched: bool, room: Room) -> (Time, Time) {
        let done = there.max(self.over_at());
        self.stores_over_at = done;
        forget(&mut self.stores, now);
        let stall = self.stall(now, room.stores, |own| &mut own.stores);
        if fetched {
            self.stores.push_back(done);
        }
        (done, stall)
    }

    /// A payload, or a read-modify-write that takes `own` beyond its line: when it is done, and how long the thread waits for
    /// room.
    pub(crate) fn fetch(&mut self, now: Time, there: Time, own: Option<Time>, room: Room) -> (Time, Time) {
        // A read-modify-write waits for the stores before it, too.
        let before = if own.is_some() { self.over_at() } else { self.window_over_at };
        let done = there.max(before) + own.unwrap_or(0);
        self.window_over_at = done;
        forget(&mut self.window, now);
        self.window.push_back(done);
        if own.is_some() {
            forget(&mut self.exchanges, now);
            self.exchanges.push_back(done);
        }
        (done, self.stall(now, room.fetches, |own| &mut own.window))
    }

    /// How long the thread waits until fewer than `most` are left.
    fn stall(&mut self, now: Time, most: usize, ends: impl Fn(&mut Self) -> &mut VecDeque<Time>) -> Time {
        let ends = ends(self);
        let mut until = now;
        while ends.len() >= most
            && let Some(first) = ends.pop_front()
        {
            until = until.max(first);
        }
        until - now
    }
}
