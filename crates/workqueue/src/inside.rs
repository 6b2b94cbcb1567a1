//! What the calling thread is inside of, so that a wait for itself is refused and not a deadlock.

use crate::Engine;
use slotwork::{Design, Platform};
use std::cell::{Cell, RefCell};

thread_local! {
    /// The engine that this thread serves as a worker, by address; 0 for none.
    static SERVES: Cell<usize> = const { Cell::new(0) };
    /// The engine whose `done` this thread runs, by address; 0 for none. It is looked up once for each request, so it
    /// is a bare number, which needs no destructor and is there until the thread's very end.
    static COLLECTS: Cell<usize> = const { Cell::new(0) };
    /// The engines whose `done`s that one was called inside of, where they are others.
    static OUTER: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
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
#[inline]
pub(crate) fn collecting<T: Send, D: Design, P: Platform>(engine: &Engine<T, D, P>, done: impl FnOnce()) {
    struct Restore<'a> {
        innermost: &'a Cell<usize>,
        outer: usize,
        kept: bool,
    }
    impl Drop for Restore<'_> {
        #[inline]
        fn drop(&mut self) {
            self.innermost.set(self.outer);
            if self.kept {
                forget_outer();
            }
        }
    }
    let here = address(engine);
    COLLECTS.with(|innermost| {
        let outer = innermost.replace(here);
        let kept = outer != 0 && outer != here;
        if kept {
            keep_outer(outer);
        }
        let _restore = Restore { innermost, outer, kept };
        done();
    });
}

/// A submitter may be dropped as its thread ends, when the list is gone already. Then nothing is kept, and a `done` inside
/// of another workqueue's that waits for the outer slot is not refused.
#[cold]
fn keep_outer(engine: usize) {
    let _ = OUTER.try_with(|outer| outer.borrow_mut().push(engine));
}

#[cold]
fn forget_outer() {
    let _ = OUTER.try_with(|outer| outer.borrow_mut().pop());
}

/// Whether the calling thread runs a `done` of `engine`.
pub(crate) fn is_collecting_for<T: Send, D: Design, P: Platform>(engine: &Engine<T, D, P>) -> bool {
    let (innermost, here) = (COLLECTS.get(), address(engine));
    innermost == here || innermost != 0 && OUTER.try_with(|outer| outer.borrow().contains(&here)).unwrap_or(false)
}

/// Whether the calling thread runs a handler or a `done` of `engine`.
pub(crate) fn is_inside_of<T: Send, D: Design, P: Platform>(engine: &Engine<T, D, P>) -> bool {
    is_worker_of(engine) || is_collecting_for(engine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Waiting;
    use slotwork::Native;
    use slotwork_bitmap::Bitmap;

    #[test]
    fn each_engine_whose_done_is_under_way_is_known() {
        let engine = || Engine::<(), Bitmap, Native>::new(1, Waiting::default(), crate::Completion::OneEvent, None);
        let (one, other, third) = (engine(), engine(), engine());
        let now = || [&one, &other, &third].map(is_collecting_for);
        assert_eq!(now(), [false; 3]);
        collecting(&one, || {
            collecting(&one, || assert_eq!(now(), [true, false, false]));
            collecting(&other, || {
                assert_eq!(now(), [true, true, false]);
                collecting(&one, || assert_eq!(now(), [true, true, false]));
            });
            assert_eq!(now(), [true, false, false]);
            let panicked = std::panic::AssertUnwindSafe(|| {
                collecting(&third, || std::panic::resume_unwind(Box::new("thrown by a done")));
            });
            assert!(std::panic::catch_unwind(panicked).is_err());
            assert_eq!(now(), [true, false, false], "a done that panicked is over");
        });
        assert_eq!(now(), [false; 3]);
    }

    #[test]
    fn a_worker_and_whoever_runs_a_done_are_inside() {
        let engine = || Engine::<(), Bitmap, Native>::new(1, Waiting::default(), crate::Completion::OneEvent, None);
        let (one, other) = (engine(), engine());
        let now = || [&one, &other].map(is_inside_of);
        assert_eq!(now(), [false; 2]);
        collecting(&one, || assert_eq!(now(), [true, false]));
        serves(&other);
        assert_eq!(now(), [false, true]);
        collecting(&one, || assert_eq!(now(), [true; 2]));
    }
}
