//! One thread at a time: who is inside of a submitter, and how deep.
//!
//! A release build counts only the depth, so that what runs when a request is done cannot destroy what it was
//! called from, nor use it while it ends. A debug build also finds out a second thread that comes in at the same time.

use crate::status::Status;
use std::cell::Cell;

/// The depth of what ends: deeper than any other.
const ENDING: u32 = u32::MAX;

/// Who is inside.
pub(crate) struct Single {
    depth: Cell<u32>,
    #[cfg(debug_assertions)]
    thread: std::sync::atomic::AtomicU64,
}

/// Somebody is inside as long as this is there.
pub(crate) struct Inside<'a>(&'a Single);

impl Single {
    pub(crate) const fn new() -> Self {
        Self {
            depth: Cell::new(0),
            #[cfg(debug_assertions)]
            thread: std::sync::atomic::AtomicU64::new(0),
        }
    }

    /// Whether a call of this thread is under way, so that this one comes out of a callback of it.
    pub(crate) fn is_inside(&self) -> bool {
        self.depth.get() > 0
    }

    /// Goes in for the last time, to end it: nobody comes in after this.
    pub(crate) fn end(&self) -> Result<(), Status> {
        let inside = self.enter()?;
        if self.depth.get() > 1 {
            return Err(Status::InsideHandler);
        }
        std::mem::forget(inside);
        self.depth.set(ENDING);
        Ok(())
    }

    /// Goes in, or deeper in.
    #[inline]
    pub(crate) fn enter(&self) -> Result<Inside<'_>, Status> {
        #[cfg(debug_assertions)]
        {
            use std::sync::atomic::Ordering::{Acquire, Relaxed};
            let here = crate::border::this_thread();
            if self.thread.compare_exchange(0, here, Acquire, Relaxed).is_err_and(|thread| thread != here) {
                return Err(Status::WrongThread);
            }
        }
        if self.depth.get() == ENDING {
            return Err(Status::InsideHandler);
        }
        self.depth.set(self.depth.get() + 1);
        Ok(Inside(self))
    }
}

impl Drop for Inside<'_> {
    #[inline]
    fn drop(&mut self) {
        let depth = self.0.depth.get() - 1;
        self.0.depth.set(depth);
        #[cfg(debug_assertions)]
        if depth == 0 {
            self.0.thread.store(0, std::sync::atomic::Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_lets_nobody_in_and_ends_once() {
        let single = Single::new();
        {
            let _inside = single.enter().ok();
            assert!(single.is_inside());
            assert_eq!(single.end(), Err(Status::InsideHandler), "from inside");
        }
        assert!(!single.is_inside(), "the refusal left nothing behind");
        assert_eq!(single.end(), Ok(()));
        assert_eq!(single.enter().err(), Some(Status::InsideHandler));
        assert_eq!(single.end(), Err(Status::InsideHandler), "twice");
        assert!(single.is_inside());
    }
}
