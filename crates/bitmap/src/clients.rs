//! A row of words for every client, of which it is the one writer, and its share of the slots while it stays.
//!
//! ```text
//!   enlisted   0b0101   clients 0 and 2 are alive       a place given back is taken again, words and all
//!   open       0b0111   places 0 to 2 have a row        rows are made once, when a place is first taken
//! ```

use crate::once::Once;
use alloc::boxed::Box;
use slotwork::{Atomic, AtomicInteger, CachePadded, ClientError, Platform};

slotwork::sites! {
    /// The atomic accesses by which clients come and go.
    pub SITES in "clients";
    SHARE_HINT: Load(Relaxed), pairs [], "which slots to try first; all are tried";
    ENLIST_LOAD: Load(Relaxed), pairs [], "a hint which place is vacant; ENLIST decides";
    ENLIST: Rmw(Acquire), pairs [RETIRE], "takes a place; sees the last words that its former holder wrote";
    RETIRE: Rmw(Release), pairs [ENLIST], "gives the place back, with its words as they are";
    OPEN: Rmw(Release), pairs [OPEN_LOAD], "the place's words exist, from before its first store on";
    OPEN_LOAD: Load(Acquire), pairs [OPEN], "sees the words of each place that has to be looked at";
}

/// Clients alive at once: a bit each in one word.
pub(crate) const MAX_CLIENTS: usize = 64;

/// The clients of one queue, each with a `Row`.
pub(crate) struct Clients<P: Platform, Row> {
    rows: Box<[Once<Row>]>,
    /// A bit per place that a client holds.
    enlisted: CachePadded<P::AtomicU64>,
    /// A bit per place that was ever held: its row exists.
    open: CachePadded<P::AtomicU64>,
}

impl<P: Platform, Row> Clients<P, Row> {
    /// None yet.
    pub(crate) fn new() -> Self {
        Self {
            rows: (0..MAX_CLIENTS).map(|_| Once::new()).collect(),
            enlisted: CachePadded::new(P::AtomicU64::new(0)),
            open: CachePadded::new(P::AtomicU64::new(0)),
        }
    }

    /// Gives a client a place; `resume` reads its row, which `make` makes if need be.
    ///
    /// # Errors
    /// [`ClientError::TooManyClients`].
    pub(crate) fn enlist<R>(
        &self,
        make: impl FnOnce() -> Row,
        resume: impl FnOnce(&Row) -> R,
    ) -> Result<(usize, R), ClientError> {
        let mut enlisted = self.enlisted.load(&ENLIST_LOAD);
        while enlisted != u64::MAX {
            let place = enlisted.trailing_ones() as usize;
            enlisted = self.enlisted.fetch_or(1 << place, &ENLIST);
            if enlisted & (1 << place) == 0 {
                let resumed = resume(self.rows[place].get_or_init(make));
                self.open.fetch_or(1 << place, &OPEN);
                return Ok((place, resumed));
            }
        }
        Err(ClientError::TooManyClients { limit: MAX_CLIENTS })
    }

    /// The client there has gone.
    pub(crate) fn retire(&self, place: usize) {
        self.enlisted.fetch_and(!(1 << place), &RETIRE);
    }

    /// The row of an open place.
    #[inline]
    pub(crate) fn row(&self, place: usize) -> &Row {
        self.rows[place].get().expect("an open place has its row")
    }

    /// Goes to the rows of all clients that were ever there, with their places.
    #[inline(always)]
    pub(crate) fn each_row(&self, mut go: impl FnMut(usize, &Row)) {
        let mut open = self.open.load(&OPEN_LOAD);
        while open != 0 {
            let place = open.trailing_zeros() as usize;
            open &= open - 1;
            go(place, self.row(place));
        }
    }

    /// How many clients are alive, and the number of the one at `place` among them. May be out of date.
    #[inline]
    pub(crate) fn share(&self, place: usize) -> Share {
        let enlisted = self.enlisted.load(&SHARE_HINT) | 1 << place;
        Share { number: (enlisted & ((1 << place) - 1)).count_ones(), of: enlisted.count_ones() }
    }
}

/// One of equal parts, so that those who seek slots begin at different ones.
#[derive(Clone, Copy)]
pub(crate) struct Share {
    pub(crate) number: u32,
    pub(crate) of: u32,
}

impl Share {
    /// The first place of this part of `slots` slots.
    #[inline]
    pub(crate) const fn first(self, slots: u32) -> u32 {
        // The one client there is should not wait for a division.
        if self.number == 0 { 0 } else { slots * self.number / self.of }
    }

    /// A bit for each place of this part of `slots` slots, at most 64.
    #[inline]
    pub(crate) const fn bits(self, slots: u32) -> u64 {
        if self.of == 1 {
            return below(slots);
        }
        let end = Self { number: self.number + 1, of: self.of }.first(slots);
        below(end) & !below(self.first(slots))
    }
}

/// The bits of the places below `place`, at most 64.
#[inline]
pub(crate) const fn below(place: u32) -> u64 {
    if place < 64 { (1 << place) - 1 } else { u64::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_part_the_slots() {
        for slots in 1..=64 {
            for of in 1..=64 {
                let shares = (0..of).map(|number| Share { number, of }.bits(slots));
                assert_eq!(shares.clone().fold(0, |all, share| all | share), below(slots), "each is in one");
                assert_eq!(shares.map(u64::count_ones).sum::<u32>(), slots, "and in no other");
            }
        }
    }
}
