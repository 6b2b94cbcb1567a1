//! Any two numbers: a shape, or an error when they are beyond the limits; never a panic or a wrong index. And what each
//! design's claims admit.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slotwork::{Shape, SlotId};
use slotwork_catalog::ENTRIES;

fuzz_target!(|input: (usize, usize, usize)| {
    let (lanes, slots_per_lane, slot) = input;
    // Small shapes too: most pairs of numbers are far too large.
    for (lanes, slots_per_lane) in [(lanes, slots_per_lane), (lanes % 5_000, slots_per_lane % 5_000)] {
        let legal = (1..=Shape::MAX_LANES).contains(&lanes)
            && (1..=Shape::MAX_SLOTS).contains(&slots_per_lane)
            && lanes * slots_per_lane <= Shape::MAX_SLOTS;
        let shape = Shape::new(lanes, slots_per_lane);
        assert_eq!(shape.is_ok(), legal, "{lanes} x {slots_per_lane}: {shape:?}");
        let Ok(shape) = shape else { continue };
        assert_eq!(shape.slots(), lanes * slots_per_lane);
        let slot = SlotId::new(slot % shape.slots());
        assert_eq!(shape.slot_at(shape.lane_of(slot), shape.place_of(slot)), slot);
        for entry in ENTRIES {
            let within = |limit: Option<usize>, count| limit.is_none_or(|limit| count <= limit);
            let admitted =
                within(entry.claims.max_lanes, lanes) && within(entry.claims.max_slots_per_lane, slots_per_lane);
            assert_eq!(entry.claims.admit(shape).is_ok(), admitted, "{}: {lanes} x {slots_per_lane}", entry.name);
        }
    }
});
