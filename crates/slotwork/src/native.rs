//! This machine: the atomics of `core`, the threads and the lock of `std`.

use crate::{Lock, NativeCell, Platform, Site};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, fence};
use core::time::Duration;
use std::sync::Mutex;

/// The machine the program runs on.
#[derive(Clone, Copy, Debug)]
pub struct Native;

// SAFETY: `core::sync::atomic` and `std::sync::Mutex`, with the orderings of the sites.
unsafe impl Platform for Native {
    type AtomicU32 = AtomicU32;
    type AtomicU64 = AtomicU64;
    type AtomicPtr<T> = AtomicPtr<T>;
    type Lock<T: Send> = Mutex<T>;
    type Cell = NativeCell;
    type Thread = std::thread::Thread;

    #[inline(always)]
    fn fence(site: &'static Site) {
        fence(site.fence());
    }

    #[inline(always)]
    fn spin_hint() {
        core::hint::spin_loop();
    }

    #[inline]
    fn yield_now() {
        std::thread::yield_now();
    }

    #[inline]
    fn current() -> Self::Thread {
        std::thread::current()
    }

    #[inline]
    fn park() {
        std::thread::park();
    }

    #[inline]
    fn park_timeout(timeout: Duration) {
        std::thread::park_timeout(timeout);
    }

    #[inline]
    fn unpark(thread: &Self::Thread) {
        thread.unpark();
    }
}

impl<T: Send> Lock<T> for Mutex<T> {
    #[inline]
    fn new(value: T) -> Self {
        Self::new(value)
    }

    #[inline]
    fn with<R>(&self, _site: &'static Site, critical: impl FnOnce(&mut T) -> R) -> R {
        // A critical section does not panic, so poison carries no news.
        let mut guard = self.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        critical(&mut guard)
    }
}
