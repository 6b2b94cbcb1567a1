//! This machine with the failures that the language allows and the hardware seldom shows.
//!
//! On x86 a weak compare-exchange never fails for no reason, and `park` hardly ever returns for none.
//! Here both do: each thread's weak compare-exchanges fail every other time, and so its parks return. Code that uses a
//! weak exchange without a loop, or that takes the return of `park` for a wake, breaks at once.

use slotwork::{Atomic, AtomicInteger, Native, Platform, Site};
use std::cell::Cell;
use std::fmt::Debug;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// [`Native`], with weak compare-exchanges that fail and parks that return, every other time each.
#[derive(Clone, Copy, Debug)]
pub struct Flaky;

thread_local! {
    static WEAK_ATTEMPTS: Cell<u64> = const { Cell::new(0) };
    static PARKS: Cell<u64> = const { Cell::new(0) };
}

/// How many weak compare-exchanges of this thread were made to fail so far.
#[must_use]
pub fn spurious_failures() -> u64 {
    WEAK_ATTEMPTS.get().div_ceil(2)
}

/// True for the first, third, fifth … time.
fn every_other(counter: &'static std::thread::LocalKey<Cell<u64>>) -> bool {
    let count = counter.get();
    counter.set(count + 1);
    count.is_multiple_of(2)
}

// SAFETY: native atomics; a weak compare-exchange may fail, and a park return, for no reason.
unsafe impl Platform for Flaky {
    type AtomicU32 = FlakyAtomic<AtomicU32>;
    type AtomicU64 = FlakyAtomic<AtomicU64>;
    type AtomicPtr<T> = FlakyAtomic<AtomicPtr<T>>;
    type Lock<T: Send> = Mutex<T>;
    type Cell = <Native as Platform>::Cell;
    type Thread = std::thread::Thread;

    fn fence(site: &'static Site) {
        Native::fence(site);
    }

    fn spin_hint() {
        Native::spin_hint();
    }

    fn yield_now() {
        Native::yield_now();
    }

    fn current() -> Self::Thread {
        Native::current()
    }

    fn park() {
        if every_other(&PARKS) {
            std::thread::yield_now();
        } else {
            Native::park();
        }
    }

    fn park_timeout(timeout: Duration) {
        if every_other(&PARKS) {
            std::thread::yield_now();
        } else {
            Native::park_timeout(timeout);
        }
    }

    fn unpark(thread: &Self::Thread) {
        Native::unpark(thread);
    }
}

/// A native atomic whose weak compare-exchange fails every other time.
pub struct FlakyAtomic<A>(A);

/// A look at an atomic with the ordering that a failed compare-exchange has.
trait Peek<V> {
    fn peek(&self, ordering: Ordering) -> V;
}

macro_rules! peek {
    ($([$($parameter:ident)?] $cell:ty, $value:ty);+) => {
        $(
            impl<$($parameter)?> Peek<$value> for $cell {
                fn peek(&self, ordering: Ordering) -> $value {
                    self.load(ordering)
                }
            }
        )+
    };
}

peek!([] AtomicU32, u32; [] AtomicU64, u64; [T] AtomicPtr<T>, *mut T);

impl<V: Copy, A: Atomic<V> + Peek<V>> Atomic<V> for FlakyAtomic<A> {
    fn new(value: V) -> Self {
        Self(A::new(value))
    }

    fn load(&self, site: &'static Site) -> V {
        self.0.load(site)
    }

    fn store(&self, value: V, site: &'static Site) {
        self.0.store(value, site);
    }

    fn swap(&self, value: V, site: &'static Site) -> V {
        self.0.swap(value, site)
    }

    fn compare_exchange(&self, current: V, new: V, site: &'static Site) -> Result<V, V> {
        self.0.compare_exchange(current, new, site)
    }

    fn compare_exchange_weak(&self, current: V, new: V, site: &'static Site) -> Result<V, V> {
        if every_other(&WEAK_ATTEMPTS) {
            return Err(self.0.peek(site.compare_exchange().1));
        }
        self.0.compare_exchange_weak(current, new, site)
    }
}

macro_rules! integer {
    ($($operation:ident)+) => {
        impl<V: Copy + Debug, A: AtomicInteger<V> + Peek<V>> AtomicInteger<V> for FlakyAtomic<A> {
            $(
                fn $operation(&self, value: V, site: &'static Site) -> V {
                    self.0.$operation(value, site)
                }
            )+
        }
    };
}

integer!(fetch_add fetch_sub fetch_and fetch_or fetch_xor);
