//! The random scheduler shuttle as a platform: larger sizes, sequentially consistent.
//!
//! Shuttle reads every ordering as sequentially consistent, so it never finds a wrong ordering; it
//! finds wrong algorithms, at sizes that a model checker does not reach. Its `park` returns for no
//! reason now and then. Each access is noted before it is made, for schedulers that want to know where a thread
//! stands.

use super::{stand, trace};
use shuttle::sync::Mutex;
use shuttle::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, fence};
use slotwork::{AccessCell, Atomic, AtomicInteger, Lock, Platform, Site};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shuttle as a platform.
#[derive(Clone, Copy, Debug)]
pub struct Shuttle;

// SAFETY: shuttle's atomics are sequentially consistent, and its mutex excludes.
unsafe impl Platform for Shuttle {
    type AtomicU32 = ShuttleAtomic<AtomicU32>;
    type AtomicU64 = ShuttleAtomic<AtomicU64>;
    type AtomicPtr<T> = ShuttleAtomic<AtomicPtr<T>>;
    type Lock<T: Send> = ShuttleLock<T>;
    type Cell = ShuttleCell;
    type Thread = shuttle::thread::Thread;

    fn fence(_site: &'static Site) {
        fence(Ordering::SeqCst);
    }

    fn spin_hint() {
        if stand::hint_is_step() {
            shuttle::hint::spin_loop();
        }
    }

    fn yield_now() {
        shuttle::thread::yield_now();
    }

    fn current() -> Self::Thread {
        shuttle::thread::current()
    }

    fn park() {
        heading("park");
        shuttle::thread::park();
    }

    fn unpark(thread: &Self::Thread) {
        heading("unpark");
        thread.unpark();
    }
}

/// Notes an access for whoever reads the execution.
fn note(site: &'static Site, values: &[&dyn trace::Shown], result: Option<&dyn trace::Shown>) {
    if trace::is_on() {
        trace::record(thread_number(), false, trace::access(site, values, result));
    }
}

/// Notes an operation that begins, for the same reader.
pub(super) fn heading(name: &str) {
    if trace::is_on() {
        trace::record(thread_number(), true, name.into());
    }
}

fn thread_number() -> usize {
    shuttle::current::me().into()
}

/// An atomic of shuttle.
pub struct ShuttleAtomic<A>(A);

macro_rules! atomic {
    ([$($parameter:ident)?] $cell:ty, $value:ty) => {
        impl<$($parameter)?> Atomic<$value> for ShuttleAtomic<$cell> {
            fn new(value: $value) -> Self {
                Self(<$cell>::new(value))
            }

            fn load(&self, site: &'static Site) -> $value {
                stand::before(site);
                let value = self.0.load(Ordering::SeqCst);
                note(site, &[], Some(&value));
                value
            }

            fn store(&self, value: $value, site: &'static Site) {
                stand::before(site);
                self.0.store(value, Ordering::SeqCst);
                note(site, &[&value], None);
            }

            fn swap(&self, value: $value, site: &'static Site) -> $value {
                stand::before(site);
                let before = self.0.swap(value, Ordering::SeqCst);
                note(site, &[&value], Some(&before));
                before
            }

            fn compare_exchange(&self, current: $value, new: $value, site: &'static Site) -> Result<$value, $value> {
                stand::before(site);
                let result = self.0.compare_exchange(current, new, Ordering::SeqCst, Ordering::SeqCst);
                note(site, &[&current, &new], Some(&result));
                result
            }

            fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                site: &'static Site,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, site)
            }
        }
    };
}

macro_rules! integer {
    ($cell:ty, $value:ty: $($operation:ident)+) => {
        impl AtomicInteger<$value> for ShuttleAtomic<$cell> {
            $(
                fn $operation(&self, value: $value, site: &'static Site) -> $value {
                    stand::before(site);
                    let before = self.0.$operation(value, Ordering::SeqCst);
                    note(site, &[&value], Some(&before));
                    before
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

/// A mutex of shuttle.
pub struct ShuttleLock<T>(Mutex<T>);

impl<T: Send> Lock<T> for ShuttleLock<T> {
    fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    fn with<R>(&self, site: &'static Site, critical: impl FnOnce(&mut T) -> R) -> R {
        stand::before(site);
        let mut guard = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let result = critical(&mut guard);
        // Shuttle switches before it gives the lock back.
        stand::inside(site);
        result
    }
}

/// One payload: held by one thread at a time, or the run fails.
pub struct ShuttleCell(Arc<AtomicBool>);

/// Ends the hold when dropped.
pub struct ShuttleHold(Arc<AtomicBool>);

impl AccessCell for ShuttleCell {
    type Hold = ShuttleHold;

    fn new() -> Self {
        Self(Arc::default())
    }

    fn hold(&self) -> ShuttleHold {
        assert!(!self.0.swap(true, Ordering::Relaxed), "two owners hold one payload");
        ShuttleHold(Arc::clone(&self.0))
    }
}

impl Drop for ShuttleHold {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}
