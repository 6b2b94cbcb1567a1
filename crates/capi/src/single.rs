//! One thread at a time: who is inside of a submitter, and how deep.
//!
//! A release build counts only the depth, so that what runs when a request is done cannot destroy what it was
//! called from. A debug build also finds out a second thread that comes in at the same time.

use crate::status::Status;
use std::cell::Cell;

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
