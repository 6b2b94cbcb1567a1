//! What the calling thread is inside of, so that a wait for itself is refused and not a deadlock.

use crate::Engine;
use slotwork::{Design, Platform};
use std::cell::{Cell, RefCell};

thread_local! {
    /// The engine that this thread serves as a worker, by address; 0 for none.
    static SERVES: Cell<usize> = const { Cell::new(0) };
    /// The engines whose `done`s this thread runs, by address: one may call another's.
    static COLLECTS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

fn address<T: Send, D: Design, P: Platform>(engine: &Engine<T, D, P>) -> usize {
    std::ptr::from_ref(engine).addr()
}

/// Marks the calling thread as a worker of `engine`, for its life.
pub(crate) fn serves<T: Send, D: Design, P: Platform>(engine: &Engine<T, D, P>) {
    SERVES.set(address(engine));
}

/// Whether the calling thread is a worker of `engine`.
pub(crate) fn is_worker_of<T: Send, D: Design, P: Platform>(engine: &Engine<T, D, P>) -> bool {
    SERVES.get() == address(engine)
}

/// Runs a `done` of `engine`: the slot it is for is held meanwhile, and may be the last one.
pub(crate) fn collecting<T: Send, D: Design, P: Platform>(engine: &Engine<T, D, P>, done: impl FnOnce()) {
    struct Restore;
    impl Drop for Restore {
        fn drop(&mut self) {
            let _ = COLLECTS.try_with(|collects| collects.borrow_mut().pop());
        }
    }
    // A submitter may be dropped as its thread ends, when this thread's own variables are gone already. Then nothing
    // is marked, and a `done` that waits for its own slot is not refused.
    let _ = COLLECTS.try_with(|collects| collects.borrow_mut().push(address(engine)));
    let _restore = Restore;
    done();
}

/// Whether the calling thread runs a `done` of `engine`.
pub(crate) fn is_collecting_for<T: Send, D: Design, P: Platform>(engine: &Engine<T, D, P>) -> bool {
    COLLECTS.try_with(|collects| collects.borrow().contains(&address(engine))).unwrap_or(false)
}
