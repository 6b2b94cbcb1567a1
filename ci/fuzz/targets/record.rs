//! Any bytes as a kept result: refused, or written as it was read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slotwork_bench::record::Record;

fuzz_target!(|bytes: &[u8]| {
    let Ok(record) = serde_json::from_slice::<Record>(bytes) else { return };
    let written = serde_json::to_vec(&record).expect("a record can be written");
    let again: Record = serde_json::from_slice(&written).expect("and read again");
    assert_eq!(serde_json::to_vec(&again).expect("and written again"), written);
});
