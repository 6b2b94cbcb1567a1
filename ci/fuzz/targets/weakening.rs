//! Any text as a weakening: refused with that text, or written as it was read. The shipped parser, by its source: the crate
//! that it is in takes a fuzzer's compiler ten minutes.
#![no_main]

#[allow(dead_code, reason = "only the parser is used")]
#[path = "../../../model-checks/src/platform/sites.rs"]
mod sites;

use libfuzzer_sys::fuzz_target;
use sites::{Part, Weakening};

fuzz_target!(|text: &str| {
    match text.parse::<Weakening>() {
        Ok(weakening) => {
            assert!(matches!(weakening.part, Part::Whole | Part::Success | Part::Failure));
            assert_eq!(weakening.to_string(), text);
        }
        Err(error) => assert!(error.to_string().contains(text)),
    }
});
