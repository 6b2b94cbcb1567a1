//! The machine a design runs on, as a type parameter.
//!
//! ```text
//!                     ┌─ Native       this machine; folds to core::sync::atomic
//!   Design<P> ── P ───┼─ Loom         model checker
//!                     ├─ Shuttle      random scheduler
//!                     └─ Simulated    a machine with many cores and cache lines
//! ```
//!
//! The same shipped code runs on all of them in one build, without cfg flags.

use crate::Site;
use core::fmt::Debug;
use core::time::Duration;

/// Everything a design may ask of the machine.
///
/// # Safety
/// An implementation promises that its atomics, fences and locks do what their methods say, each access
/// with at least the ordering of its site: the promise of every queue rests on theirs.
pub unsafe trait Platform: Sized + Send + Sync + 'static {
    /// A 32-bit atomic.
    type AtomicU32: AtomicInteger<u32>;
    /// A 64-bit atomic.
    type AtomicU64: AtomicInteger<u64>;
    /// An atomic pointer.
    type AtomicPtr<T>: Atomic<*mut T>;
    /// A mutual exclusion lock around a value.
    type Lock<T: Send>: Lock<T>;
    /// Stands for the accesses to one payload, so that a checker sees them race.
    type Cell: AccessCell;
    /// A handle by which a parked thread is woken.
    type Thread: Clone + Send + Sync;

    /// A memory fence.
    fn fence(site: &'static Site);
    /// Tells the processor that this is a busy-wait.
    fn spin_hint();
    /// Lets another thread run.
    fn yield_now();
    /// The calling thread's handle.
    fn current() -> Self::Thread;
    /// Sleeps until [`Platform::unpark`] was called for this thread. May return for no reason. One
    /// token is remembered: an unpark before the park is not lost.
    fn park();
    /// As [`Platform::park`], but returns after `timeout` at the latest. Where there is no clock, as in a
    /// checker, it returns after letting others run.
    fn park_timeout(timeout: Duration) {
        let _ = timeout;
        Self::yield_now();
    }
    /// Wakes `thread`, or lets its next park return at once.
    fn unpark(thread: &Self::Thread);
}

/// An atomic cell of any kind. Every access names its [`Site`].
pub trait Atomic<V: Copy>: Send + Sync {
    /// A cell holding `value`.
    fn new(value: V) -> Self;
    /// Reads; the site is a load.
    fn load(&self, site: &'static Site) -> V;
    /// Writes; the site is a store.
    fn store(&self, value: V, site: &'static Site);
    /// Writes and returns what was there; the site is a read-modify-write.
    fn swap(&self, value: V, site: &'static Site) -> V;
    /// Writes `new` if `current` is there.
    ///
    /// # Errors
    /// What was there instead.
    fn compare_exchange(&self, current: V, new: V, site: &'static Site) -> Result<V, V>;
    /// Like [`Atomic::compare_exchange`], but may fail for no reason: stands in a loop only.
    ///
    /// # Errors
    /// What was there, which may be `current`.
    fn compare_exchange_weak(&self, current: V, new: V, site: &'static Site) -> Result<V, V>;
}

/// An atomic integer. Every method returns what was there before; sites are read-modify-writes.
pub trait AtomicInteger<V: Copy + Debug>: Atomic<V> {
    /// Adds, wrapping.
    fn fetch_add(&self, value: V, site: &'static Site) -> V;
    /// Subtracts, wrapping.
    fn fetch_sub(&self, value: V, site: &'static Site) -> V;
    /// Keeps the bits that are also in `value`.
    fn fetch_and(&self, value: V, site: &'static Site) -> V;
    /// Sets the bits of `value`.
    fn fetch_or(&self, value: V, site: &'static Site) -> V;
    /// Flips the bits of `value`.
    fn fetch_xor(&self, value: V, site: &'static Site) -> V;
}

/// A mutual exclusion lock.
pub trait Lock<T>: Send + Sync {
    /// An open lock around `value`.
    fn new(value: T) -> Self;
    /// Runs `critical` alone; the site is a lock. `critical` must not panic, and must not take the
    /// same lock.
    fn with<R>(&self, site: &'static Site, critical: impl FnOnce(&mut T) -> R) -> R;
}

/// Stands for one payload in the eyes of a checker. [`Native`](crate::Native)'s has no size.
pub trait AccessCell: Send + Sync {
    /// Lasts as long as somebody holds the payload.
    type Hold;
    /// A payload nobody holds.
    fn new() -> Self;
    /// The caller holds the payload alone from here to the drop of the result. A checker reports a
    /// hold that is not ordered after the last one.
    fn hold(&self) -> Self::Hold;
}
