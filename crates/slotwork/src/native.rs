//! This machine: every access folds to the plain instruction of `core::sync::atomic`.

use crate::{AccessCell, Atomic, AtomicInteger, Lock, Platform, Site};
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, fence};
use std::time::Duration;

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
        std::hint::spin_loop();
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

macro_rules! atomic {
    ([$($parameter:ident)?] $cell:ty, $value:ty) => {
        impl<$($parameter)?> Atomic<$value> for $cell {
            #[inline(always)]
            fn new(value: $value) -> Self {
                Self::new(value)
            }

            #[inline(always)]
            fn load(&self, site: &'static Site) -> $value {
                self.load(site.load())
            }

            #[inline(always)]
            fn store(&self, value: $value, site: &'static Site) {
                self.store(value, site.store());
            }

            #[inline(always)]
            fn swap(&self, value: $value, site: &'static Site) -> $value {
                self.swap(value, site.rmw())
            }

            #[inline(always)]
            fn compare_exchange(&self, current: $value, new: $value, site: &'static Site) -> Result<$value, $value> {
                let (success, failure) = site.compare_exchange();
                self.compare_exchange(current, new, success, failure)
            }

            #[inline(always)]
            fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                site: &'static Site,
            ) -> Result<$value, $value> {
                let (success, failure) = site.compare_exchange();
                self.compare_exchange_weak(current, new, success, failure)
            }
        }
    };
}

macro_rules! integer {
    ($cell:ty, $value:ty: $($operation:ident)+) => {
        impl AtomicInteger<$value> for $cell {
            $(
                #[inline(always)]
                fn $operation(&self, value: $value, site: &'static Site) -> $value {
                    self.$operation(value, site.rmw())
                }
            )+
        }
    };
}

atomic!([] AtomicU32, u32);
atomic!([] AtomicU64, u64);
atomic!([T] AtomicPtr<T>, *mut T);
integer!(AtomicU32, u32: fetch_add fetch_sub fetch_and fetch_or fetch_xor);
integer!(AtomicU64, u64: fetch_add fetch_sub fetch_and fetch_or fetch_xor);

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

/// No size, no cost: native payload accesses are ordered by the design alone.
#[derive(Debug)]
pub struct NativeCell;

impl AccessCell for NativeCell {
    type Hold = ();

    #[inline(always)]
    fn new() -> Self {
        Self
    }

    #[inline(always)]
    fn hold(&self) -> Self::Hold {}
}
