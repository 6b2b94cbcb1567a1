//! The word that says what became of a slot's requests, and whose turn it is.
//!
//! ```text
//!   │ number of its last completion among the worker's │ worker │ failed │ in flight │
//! ```
//!
//! Only the slot's owner writes it: the client at submit, the worker at complete. A drain reads it.

use crate::{LaneId, Shape};

/// A slot's turn word, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn(pub(crate) u64);

impl Turn {
    pub(crate) const fn get(self) -> u64 {
        self.0
    }

    pub(crate) const fn in_flight(self) -> bool {
        self.0 & 1 == 1
    }

    /// The worker that completed the slot last, and the number of that among its completions.
    #[allow(clippy::cast_possible_truncation, reason = "a lane has 12 bits, and usize at least 32")]
    pub(crate) const fn completion(self) -> (LaneId, u64) {
        (LaneId::new((self.0 >> 2) as usize & (Shape::MAX_LANES - 1)), self.0 >> Self::NUMBER)
    }

    /// Where the number begins: behind two flags and a lane.
    const NUMBER: u32 = 2 + Shape::MAX_LANES.trailing_zeros();

    pub(crate) const fn submitted(self) -> Self {
        Self(self.0 | 1)
    }

    /// The turn of a worker that has completed nothing yet.
    pub(crate) const fn before_first(lane: LaneId) -> Self {
        Self((lane.index() as u64) << 2)
    }

    /// The worker's next completion after this one.
    pub(crate) const fn next(self) -> Self {
        Self(self.0 + (1 << Self::NUMBER))
    }

    pub(crate) const fn with_outcome(self, failed: bool) -> Self {
        Self(self.0 | (failed as u64) << 1)
    }

    pub(crate) const fn outcome(self) -> Outcome {
        match (self.0 >> Self::NUMBER, self.0 & 2) {
            (0, _) => Outcome::Fresh,
            (_, 0) => Outcome::Completed,
            _ => Outcome::Failed,
        }
    }
}

/// What became of a slot's last request, as its next owner sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It carried no request yet.
    Fresh,
    /// It was completed.
    Completed,
    /// Its handler panicked, or dropped it without completing it.
    Failed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_keeps_its_parts_apart() {
        for lane in [0, 1, Shape::MAX_LANES - 1].map(LaneId::new) {
            let fresh = Turn::before_first(lane);
            assert_eq!((fresh.completion(), fresh.in_flight()), ((lane, 0), false));
            let mut last = fresh;
            for number in 1..100 {
                last = last.next();
                for failed in [false, true] {
                    let turn = last.with_outcome(failed);
                    let outcome = if failed { Outcome::Failed } else { Outcome::Completed };
                    assert_eq!((turn.completion(), turn.outcome()), ((lane, number), outcome));
                    let submitted = turn.submitted();
                    assert!(submitted.in_flight() && !turn.in_flight());
                    assert_eq!(submitted.completion(), (lane, number));
                }
            }
        }
        assert_eq!(Turn(0).outcome(), Outcome::Fresh);
        assert_eq!(Turn(0).submitted().outcome(), Outcome::Fresh);
    }

    /// The number has 50 bits: at ten million completions a second, a worker needs three years. The last
    /// one is still told from the others, and does not spill into lane or flags.
    #[test]
    fn unbounded_wrap_is_far_away_and_spills_nowhere() {
        let lane = LaneId::new(Shape::MAX_LANES - 1);
        let last = Turn::before_first(lane).0 | u64::MAX << Turn::NUMBER;
        assert_eq!(Turn(last).completion(), (lane, (1 << 50) - 1));
        assert_eq!(Turn(last).with_outcome(true).outcome(), Outcome::Failed);
        assert_eq!(Turn(last).with_outcome(true).submitted().completion().0, lane);
    }
}
