//! The platform of the models: loom as in model-checks, and every atomic pointer counted, for each node has one.

#[allow(dead_code, reason = "two of the views are used here")]
#[path = "../../../model-checks/src/platform/loom.rs"]
mod loom;
#[allow(dead_code, reason = "no site is weakened here")]
#[path = "../../../model-checks/src/platform/sites.rs"]
mod sites;
#[allow(dead_code, reason = "no thread is started through it here")]
#[path = "../../../model-checks/src/platform/token.rs"]
mod token;
#[allow(dead_code, reason = "no steps are kept here")]
#[path = "../../../model-checks/src/platform/trace.rs"]
mod trace;

pub use self::loom::{Interleaving, Loom, View, Weak};

use slotwork::{Atomic, Platform, Site};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the included files ask of a platform with threads.
#[allow(dead_code, reason = "the models use loom's threads as they are")]
pub trait Machine: Platform {
    type Join<R: Send + 'static>;
    fn spawn<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> Self::Join<R>;
    fn join<R: Send + 'static>(thread: Self::Join<R>) -> R;
    fn thread<R: Send + 'static>(thread: &Self::Join<R>) -> Self::Thread;
    fn step();
    fn operation(name: &str);
}

/// Loom, with pointers that are counted.
#[derive(Debug)]
pub struct Counted<V>(PhantomData<V>);

// SAFETY: everything is done by `Loom`.
unsafe impl<V: View> Platform for Counted<V> {
    type AtomicU32 = <Loom<V> as Platform>::AtomicU32;
    type AtomicU64 = <Loom<V> as Platform>::AtomicU64;
    type AtomicPtr<T> = CountedPtr<T, V>;
    type Lock<T: Send> = <Loom<V> as Platform>::Lock<T>;
    type Cell = <Loom<V> as Platform>::Cell;
    type Thread = <Loom<V> as Platform>::Thread;

    fn fence(site: &'static Site) {
        Loom::<V>::fence(site);
    }

    fn spin_hint() {
        Loom::<V>::spin_hint();
    }

    fn yield_now() {
        Loom::<V>::yield_now();
    }

    fn current() -> Self::Thread {
        Loom::<V>::current()
    }

    fn park() {
        Loom::<V>::park();
    }

    fn unpark(thread: &Self::Thread) {
        Loom::<V>::unpark(thread);
    }
}

// No part of the model, so plain atomics.
static MADE: AtomicUsize = AtomicUsize::new(0);
static DROPPED: AtomicUsize = AtomicUsize::new(0);

/// Begins an execution.
pub fn begin<V: View>() {
    Loom::<V>::begin();
    MADE.store(0, Ordering::Relaxed);
    DROPPED.store(0, Ordering::Relaxed);
}

/// Pointers made in this execution: a queue's head and tail, and one of each node.
pub fn made() -> usize {
    MADE.load(Ordering::Relaxed)
}

/// Pointers dropped in this execution; while the queue is there, nodes freed.
pub fn dropped() -> usize {
    DROPPED.load(Ordering::Relaxed)
}

/// A pointer that is counted.
pub struct CountedPtr<T, V: View>(<Loom<V> as Platform>::AtomicPtr<T>);

impl<T, V: View> Drop for CountedPtr<T, V> {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

impl<T, V: View> Atomic<*mut T> for CountedPtr<T, V> {
    fn new(value: *mut T) -> Self {
        MADE.fetch_add(1, Ordering::Relaxed);
        Self(Atomic::new(value))
    }

    fn load(&self, site: &'static Site) -> *mut T {
        self.0.load(site)
    }

    fn store(&self, value: *mut T, site: &'static Site) {
        self.0.store(value, site);
    }

    fn swap(&self, value: *mut T, site: &'static Site) -> *mut T {
        self.0.swap(value, site)
    }

    fn compare_exchange(&self, current: *mut T, new: *mut T, site: &'static Site) -> Result<*mut T, *mut T> {
        self.0.compare_exchange(current, new, site)
    }

    fn compare_exchange_weak(&self, current: *mut T, new: *mut T, site: &'static Site) -> Result<*mut T, *mut T> {
        self.0.compare_exchange_weak(current, new, site)
    }
}
