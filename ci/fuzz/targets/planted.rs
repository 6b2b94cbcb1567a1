//! The planted fault: it says that every shape is legal, and the fuzzer has to find one that is not.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slotwork::Shape;

fuzz_target!(|input: (usize, usize)| {
    let (lanes, slots_per_lane) = (1 + input.0 % 5_000, 1 + input.1 % 5_000);
    assert!(Shape::new(lanes, slots_per_lane).is_ok(), "planted: {lanes} x {slots_per_lane}");
});
