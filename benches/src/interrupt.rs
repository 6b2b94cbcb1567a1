//! Ctrl-C: the first ends the run and keeps what was measured, the second ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The flag that Ctrl-C sets. Where no handler can be set, Ctrl-C ends the program as always.
pub(crate) fn watch() -> &'static AtomicBool {
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(crate::INTERRUPTED));
        }
    });
    &INTERRUPTED
}
