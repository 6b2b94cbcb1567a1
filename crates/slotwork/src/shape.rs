//! How many slots a queue has, and how they are shared out over lanes.
//!
//! ```text
//!   Shape { lanes: 3, slots_per_lane: 4 }
//!
//!   lane 0          lane 1          lane 2
//!   ┌──┬──┬──┬──┐   ┌──┬──┬──┬──┐   ┌──┬──┬──┬──┐
//!   │ 0│ 1│ 2│ 3│   │ 4│ 5│ 6│ 7│   │ 8│ 9│10│11│    SlotId
//!   └──┴──┴──┴──┘   └──┴──┴──┴──┘   └──┴──┴──┴──┘
//! ```
//!
//! A design in which slots belong to no lane uses the total alone.

use thiserror::Error;

/// Index of one slot, `0..shape.slots()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotId(u32);

impl SlotId {
    /// The slot of this index.
    ///
    /// # Panics
    /// When `index` is above [`Shape::MAX_SLOTS`].
    #[inline]
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "checked against MAX_SLOTS, which fits")]
    pub const fn new(index: usize) -> Self {
        assert!(index <= Shape::MAX_SLOTS, "a slot index is at most Shape::MAX_SLOTS");
        Self(index as u32)
    }

    /// The index as a `usize`, for arrays.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The slot `places` after this one; the caller knows that there is one.
    #[inline(always)]
    #[must_use]
    pub const fn after(self, places: u32) -> Self {
        Self(self.0 + places)
    }

    /// How many places this slot is after `first`.
    ///
    /// # Panics
    /// When it is before `first`, if overflow is checked.
    #[inline(always)]
    #[must_use]
    pub const fn places_after(self, first: Self) -> u32 {
        self.0 - first.0
    }

    /// The index as it is kept in an atomic word.
    #[inline]
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// Index of one lane, that is of one worker's share of the queue, `0..shape.lanes()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneId(u32);

impl LaneId {
    /// The lane of index 0, which every queue has.
    pub const FIRST: Self = Self(0);

    /// The lane of this index.
    ///
    /// # Panics
    /// When `index` is above [`Shape::MAX_LANES`].
    #[inline]
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "checked against MAX_LANES, which fits")]
    pub const fn new(index: usize) -> Self {
        assert!(index <= Shape::MAX_LANES, "a lane index is at most Shape::MAX_LANES");
        Self(index as u32)
    }

    /// The index as a `usize`, for arrays.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Lanes × slots per lane; validated once, here.
///
/// Both are at least one; there are at most [`Shape::MAX_LANES`] lanes and [`Shape::MAX_SLOTS`]
/// slots in all. A design may ask for less: see [`Claims::admit`](crate::Claims::admit).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    lanes: u32,
    slots_per_lane: u32,
    /// log₂ of `slots_per_lane`, or [`NO_SHIFT`] when that is no power of two.
    shift: u32,
    /// ⌊2⁴⁸ / slots_per_lane⌋ + 1: else a lane is found by multiplying, not by dividing.
    reciprocal: u64,
}

const NO_SHIFT: u32 = u32::MAX;

impl Shape {
    /// Most slots a queue may have in all: 2²⁴ − 1, so that an index and "none" fit in 24 bits and
    /// leave 40 bits of a word to a tag.
    pub const MAX_SLOTS: usize = (1 << 24) - 1;

    /// Most lanes a queue may have.
    pub const MAX_LANES: usize = 4096;

    /// A shape of `lanes` lanes with `slots_per_lane` slots each. Allocates nothing.
    ///
    /// # Errors
    /// A [`ShapeError`] that names the argument at fault: zero lanes, zero slots, too many lanes, or
    /// too many slots in all.
    #[allow(clippy::cast_possible_truncation, reason = "both are checked against limits that fit")]
    pub const fn new(lanes: usize, slots_per_lane: usize) -> Result<Self, ShapeError> {
        if lanes == 0 {
            return Err(ShapeError::NoLanes);
        }
        if slots_per_lane == 0 {
            return Err(ShapeError::NoSlots);
        }
        if lanes > Self::MAX_LANES {
            return Err(ShapeError::TooManyLanes { lanes, limit: Self::MAX_LANES });
        }
        if slots_per_lane > Self::MAX_SLOTS / lanes {
            return Err(ShapeError::TooManySlots { slots_per_lane, limit: Self::MAX_SLOTS / lanes });
        }
        let reciprocal = (1 << 48) / slots_per_lane as u64 + 1;
        let shift = if slots_per_lane.is_power_of_two() { slots_per_lane.trailing_zeros() } else { NO_SHIFT };
        Ok(Self { lanes: lanes as u32, slots_per_lane: slots_per_lane as u32, shift, reciprocal })
    }

    /// Number of lanes, `1..=MAX_LANES`.
    #[inline]
    #[must_use]
    pub const fn lanes(self) -> usize {
        self.lanes as usize
    }

    /// Slots that belong to each lane, at least 1.
    #[inline]
    #[must_use]
    pub const fn slots_per_lane(self) -> usize {
        self.slots_per_lane as usize
    }

    /// Slots in all, `1..=MAX_SLOTS`.
    #[inline]
    #[must_use]
    pub const fn slots(self) -> usize {
        self.lanes as usize * self.slots_per_lane as usize
    }

    /// The lane a slot belongs to, for designs in which slots belong to lanes.
    #[inline]
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "a lane index fits")]
    pub const fn lane_of(self, slot: SlotId) -> LaneId {
        if self.shift != NO_SHIFT {
            return LaneId(slot.0 >> self.shift);
        }
        // Keeps the compiler from computing both and choosing: a shift is on the path of every operation.
        core::hint::cold_path();
        // Exact, because slot × slots_per_lane is below 2⁴⁸.
        LaneId(((self.reciprocal as u128 * slot.0 as u128) >> 48) as u32)
    }

    /// The slot's place within its lane, `0..slots_per_lane`.
    #[inline]
    #[must_use]
    pub const fn place_of(self, slot: SlotId) -> u32 {
        if self.shift != NO_SHIFT {
            return slot.0 & (self.slots_per_lane - 1);
        }
        slot.0 - self.lane_of(slot).0 * self.slots_per_lane
    }

    /// The slot at `place` of `lane`.
    #[inline]
    #[must_use]
    pub const fn slot_at(self, lane: LaneId, place: u32) -> SlotId {
        SlotId(lane.0 * self.slots_per_lane + place)
    }

    /// The lane after `lane`, going round.
    #[inline]
    #[must_use]
    pub const fn lane_after(self, lane: LaneId) -> LaneId {
        LaneId(if lane.0 + 1 < self.lanes { lane.0 + 1 } else { 0 })
    }

    /// All lanes in order.
    pub fn all_lanes(self) -> impl DoubleEndedIterator<Item = LaneId> + ExactSizeIterator {
        (0..self.lanes).map(LaneId)
    }

    /// All slots in order.
    pub fn all_slots(self) -> impl DoubleEndedIterator<Item = SlotId> {
        (0..self.lanes * self.slots_per_lane).map(SlotId)
    }
}

/// Why a shape is refused. Each bound is named after the argument that broke it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ShapeError {
    /// `lanes` was zero.
    #[error("a queue needs at least one lane")]
    NoLanes,
    /// `slots_per_lane` was zero.
    #[error("a queue needs at least one slot per lane")]
    NoSlots,
    /// More lanes than any design takes.
    #[error("{lanes} lanes are too many: at most {limit}")]
    TooManyLanes {
        /// What was asked for.
        lanes: usize,
        /// The most that is allowed.
        limit: usize,
    },
    /// More slots than any design takes.
    #[error("{slots_per_lane} slots per lane are too many: at most {limit} with this many lanes")]
    TooManySlots {
        /// What was asked for.
        slots_per_lane: usize,
        /// The most that is allowed with this number of lanes.
        limit: usize,
    },
    /// More lanes than this design takes.
    #[error("{lanes} lanes are too many for this design: at most {limit}")]
    DesignLanes {
        /// What was asked for.
        lanes: usize,
        /// The design's own limit, from its claims.
        limit: usize,
    },
    /// More slots per lane than this design takes.
    #[error("{slots_per_lane} slots per lane are too many for this design: at most {limit}")]
    DesignSlots {
        /// What was asked for.
        slots_per_lane: usize,
        /// The design's own limit, from its claims.
        limit: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cap_zero_names_the_argument() {
        assert_eq!(Shape::new(0, 4), Err(ShapeError::NoLanes));
        assert_eq!(Shape::new(4, 0), Err(ShapeError::NoSlots));
    }

    #[test]
    fn size_calc_overflow_is_an_error_not_a_wrap() {
        for slots in [usize::MAX, usize::MAX / 2 + 1, 1 << 33, Shape::MAX_SLOTS + 1] {
            assert!(matches!(Shape::new(1, slots), Err(ShapeError::TooManySlots { .. })));
            assert!(matches!(Shape::new(slots, 1), Err(ShapeError::TooManyLanes { .. })));
        }
        assert!(Shape::new(1, Shape::MAX_SLOTS).is_ok());
        assert!(Shape::new(2, Shape::MAX_SLOTS / 2).is_ok());
        assert!(Shape::new(2, Shape::MAX_SLOTS / 2 + 1).is_err());
    }

    #[test]
    fn slots_and_lanes_correspond() {
        let shape = Shape::new(3, 5).unwrap();
        for slot in shape.all_slots() {
            assert_eq!(shape.slot_at(shape.lane_of(slot), shape.place_of(slot)), slot);
        }
        assert_eq!(shape.all_slots().count(), shape.slots());
    }

    #[test]
    fn multiplying_by_the_reciprocal_is_exact_division() {
        for slots_per_lane in (1..200).chain([1000, 4095, 4096, 65_537, 1 << 20, Shape::MAX_SLOTS]) {
            let lanes = (Shape::MAX_SLOTS / slots_per_lane).min(Shape::MAX_LANES);
            let shape = Shape::new(lanes, slots_per_lane).unwrap();
            for lane in 0..lanes {
                for place in [0, slots_per_lane / 2, slots_per_lane - 1] {
                    let slot = SlotId::new(lane * slots_per_lane + place);
                    assert_eq!(shape.lane_of(slot).index(), lane);
                    assert_eq!(shape.place_of(slot) as usize, place);
                }
            }
        }
    }
}
