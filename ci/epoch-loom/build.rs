//! Makes the planted faults from the shipped source of linked-queue, each by one replacement.

use std::{env, fs, path::Path};

const SOURCE: &str = "../../crates/linked-queue/src/lib.rs";

const PLANTS: [(&str, &str, &str); 2] = [
    ("freed_early.rs", "guard.defer_unchecked(", "run_at_once(guard, "),
    ("unpinned.rs", "&worker.handle.pin()", "unsafe { crossbeam_epoch::unprotected() }"),
];

fn main() {
    println!("cargo::rerun-if-changed={SOURCE}");
    let source = fs::read_to_string(SOURCE).expect("the source of linked-queue is there");
    // It becomes a module: what may only stand at the head of a crate goes.
    let module: Vec<_> = source.lines().filter(|line| !line.starts_with("//!") && !line.starts_with("#![")).collect();
    let module = module.join("\n");
    let output = env::var_os("OUT_DIR").expect("cargo sets it");
    for (file, shipped, planted) in PLANTS {
        assert_eq!(module.matches(shipped).count(), 1, "{shipped} stands in one place");
        fs::write(Path::new(&output).join(file), module.replace(shipped, planted))
            .expect("the output folder can be written");
    }
}
