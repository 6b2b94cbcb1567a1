//! Any bytes as a packed stream of pages: refused, or unpacked; never a panic, a hang, or more memory than a crew's.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slotwork_bench::seeds::Watch;
use slotwork_bench::seeds::configuration::Policy;
use slotwork_bench::seeds::migrate::{Crew, Mover};
use std::sync::atomic::AtomicBool;

fuzz_target!(|bytes: &[u8]| {
    let never = AtomicBool::new(false);
    let mut watch = Watch { interrupted: &never, progress: &mut |_| {} };
    let mut output = tempfile::tempfile().expect("a temporary file can be made");
    let crew = Crew { threads: 1, requests: 2, waiting: Policy::Settle };
    let mover = Mover::named("bitmap").expect("it is in the catalog");
    if let Err(error) = mover.unpack(crew, &mut &bytes[..], &mut output, &mut watch) {
        assert_eq!(error.to_string().lines().count(), 1);
    }
});
