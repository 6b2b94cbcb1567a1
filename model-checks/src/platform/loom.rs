//! The model checker loom as a platform, in three views.
//!
//! ```text
//!                     load               store      read-modify-write   weak compare-exchange
//!   Weak              as written         as written as written          never fails for no reason
//!   Interleaving      failing exchange   as written as written          never fails for no reason
//!   Spurious          failing exchange   as written as written          fails every other time
//! ```
//!
//! Loom's reduction remembers one last access per atomic, and a thread's own load hides another
//! thread's earlier load: interleavings of "load, then compare-exchange" are skipped without a word.
//! Where a load is performed as a compare-exchange that fails, with the load's own ordering, any
//! two accesses to an atomic depend on each other and nothing is skipped; but such a load reads the
//! newest value only. So every model runs in both views: one sees stale values, the other sees all
//! interleavings. Happens-before follows the written orderings in both.

use super::Machine;
use super::sites::execute;
use super::token::{LoomJoin, LoomThread};
use super::trace;
use loom::cell::{MutPtr, UnsafeCell};
use loom::sync::Mutex;
use loom::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};
use slotwork::{AccessCell, Atomic, AtomicInteger, Lock, Platform, Site};
use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

/// How accesses are shown to loom.
pub trait View: Debug + Send + Sync + 'static {
    /// Whether a load is performed as a compare-exchange that fails.
    fn loads_exchange() -> bool;
    /// Whether a weak compare-exchange fails, and a park returns, every other time, for no reason.
    fn fails_at_times() -> bool;
}

/// Accesses as written: stale values are explored, interleavings incompletely.
#[derive(Debug)]
pub struct Weak;

/// Loads as failing compare-exchanges: all interleavings are explored, stale values are not.
#[derive(Debug)]
pub struct Interleaving;

/// As [`Interleaving`], and every other time a weak compare-exchange on a cell fails, and a park of a
/// thread returns.
#[derive(Debug)]
pub struct Spurious;

macro_rules! view {
    ($view:ty, $loads_exchange:literal, $fails_at_times:literal) => {
        impl View for $view {
            fn loads_exchange() -> bool {
                $loads_exchange
            }

            fn fails_at_times() -> bool {
                $fails_at_times
            }
        }
    };
}

view!(Weak, false, false);
view!(Interleaving, true, false);
view!(Spurious, true, true);

static CHOSEN: OnceLock<(bool, bool)> = OnceLock::new();

/// One of the others, chosen once as the process runs: models are compiled once, not three times.
#[derive(Debug)]
pub struct Chosen;

impl Chosen {
    /// Makes it the same as `V` for the rest of the process.
    ///
    /// # Panics
    /// When it was another one already: one process, one view.
    pub fn choose<V: View>() {
        let view = (V::loads_exchange(), V::fails_at_times());
        assert_eq!(*CHOSEN.get_or_init(|| view), view, "one process runs one view");
    }

    fn get() -> (bool, bool) {
        *CHOSEN.get().expect("a view is chosen before a model runs")
    }
}

impl View for Chosen {
    fn loads_exchange() -> bool {
        Self::get().0
    }

    fn fails_at_times() -> bool {
        Self::get().1
    }
}

/// Loom as a platform.
#[derive(Clone, Copy, Debug)]
pub struct Loom<V>(PhantomData<V>);

thread_local! {
    /// Where threads meet in [`Machine::step`]. All threads of a model share one thread of the system.
    static STAGE: RefCell<Option<Arc<AtomicU32>>> = const { RefCell::new(None) };
    /// Whether anything was accessed since the last yield.
    static NEWS: Cell<bool> = const { Cell::new(true) };
}

fn accessed(site: &'static Site) -> Site {
    NEWS.set(true);
    execute(site)
}

/// Notes an access for whoever reads the execution.
fn note(site: &'static Site, values: &[&dyn trace::Shown], result: Option<&dyn trace::Shown>) {
    if trace::is_on() {
        trace::record(thread_number(), false, trace::access(site, values, result));
    }
}

/// The number of the running thread, in the order in which threads were started.
fn thread_number() -> usize {
    let identity = format!("{:?}", loom::thread::current().id());
    identity.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0)
}

impl<V: View> Loom<V> {
    /// Begins an execution.
    pub fn begin() {
        STAGE.set(Some(Arc::new(AtomicU32::new(0))));
        trace::begin_steps();
    }
}

// SAFETY: loom's atomics with the orderings of the sites; where a site is weakened on purpose, loom itself
// tracks the payloads, and a model holds nothing but integers in them.
unsafe impl<V: View> Platform for Loom<V> {
    type AtomicU32 = LoomAtomic<AtomicU32, V>;
    type AtomicU64 = LoomAtomic<AtomicU64, V>;
    type AtomicPtr<T> = LoomAtomic<AtomicPtr<T>, V>;
    type Lock<T: Send> = LoomLock<T>;
    type Cell = LoomCell;
    type Thread = LoomThread;

    fn fence(site: &'static Site) {
        note(site, &[], None);
        match accessed(site).fence() {
            // A weakened fence.
            Ordering::Relaxed => {}
            ordering => loom::sync::atomic::fence(ordering),
        }
    }

    /// A yield would let all others run before the caller's next try. Where all interleavings are to be
    /// seen it is nothing; where a retry may read the same stale value for ever it is a yield, one for
    /// a whole series of hints.
    fn spin_hint() {
        if !V::loads_exchange() && NEWS.replace(false) {
            loom::thread::yield_now();
        }
    }

    fn yield_now() {
        loom::thread::yield_now();
    }

    fn current() -> Self::Thread {
        LoomThread::current()
    }

    fn park() {
        Self::operation("park");
        LoomThread::park(V::fails_at_times());
    }

    fn unpark(thread: &Self::Thread) {
        Self::operation("unpark");
        thread.unpark();
    }
}

impl<V: View> Machine for Loom<V> {
    type Join<R: Send + 'static> = LoomJoin<R>;

    fn spawn<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> LoomJoin<R> {
        LoomJoin::spawn(body)
    }

    fn join<R: Send + 'static>(thread: LoomJoin<R>) -> R {
        thread.join()
    }

    fn thread<R: Send + 'static>(thread: &LoomJoin<R>) -> LoomThread {
        thread.thread()
    }

    /// All orders of such borders are explored, even where the reduction finds the operations
    /// independent, or the weak view skips them. It is a store that nobody reads, so it orders nothing.
    fn step() {
        let stage = STAGE.with_borrow(Clone::clone).expect("an execution has begun");
        stage.store(0, Ordering::Relaxed);
    }

    fn operation(name: &str) {
        if trace::is_on() {
            trace::record(thread_number(), true, name.into());
        }
    }
}

/// An atomic of loom, seen in a view.
pub struct LoomAtomic<A, V> {
    inner: A,
    /// Weak compare-exchanges so far, where they fail every other time. No part of the model.
    attempts: std::sync::atomic::AtomicU32,
    view: PhantomData<V>,
}

macro_rules! atomic {
    ([$($parameter:ident)?] $cell:ty, $value:ty, $unlikely:expr) => {
        impl<$($parameter,)? V: View> LoomAtomic<$cell, V> {
            fn read(&self, ordering: Ordering) -> $value {
                if V::loads_exchange() {
                    // Should the unlikely value be there, it is replaced by itself.
                    let unlikely: $value = $unlikely;
                    self.inner.compare_exchange(unlikely, unlikely, ordering, ordering).unwrap_or_else(|found| found)
                } else {
                    self.inner.load(ordering)
                }
            }
        }

        impl<$($parameter,)? V: View> Atomic<$value> for LoomAtomic<$cell, V> {
            fn new(value: $value) -> Self {
                Self { inner: <$cell>::new(value), attempts: Default::default(), view: PhantomData }
            }

            fn load(&self, site: &'static Site) -> $value {
                let value = self.read(accessed(site).load());
                note(site, &[], Some(&value));
                value
            }

            fn store(&self, value: $value, site: &'static Site) {
                self.inner.store(value, accessed(site).store());
                note(site, &[&value], None);
            }

            fn swap(&self, value: $value, site: &'static Site) -> $value {
                let before = self.inner.swap(value, accessed(site).rmw());
                note(site, &[&value], Some(&before));
                before
            }

            fn compare_exchange(&self, current: $value, new: $value, site: &'static Site) -> Result<$value, $value> {
                let (success, failure) = accessed(site).compare_exchange();
                let result = self.inner.compare_exchange(current, new, success, failure);
                note(site, &[&current, &new], Some(&result));
                result
            }

            fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                site: &'static Site,
            ) -> Result<$value, $value> {
                if V::fails_at_times() && self.attempts.fetch_add(1, Ordering::Relaxed) % 2 == 0 {
                    let (_, failure) = accessed(site).compare_exchange();
                    let result = Err(self.read(failure));
                    note(site, &[&current, &new], Some(&result));
                    return result;
                }
                self.compare_exchange(current, new, site)
            }
        }
    };
}

macro_rules! integer {
    ($cell:ty, $value:ty: $($operation:ident)+) => {
        impl<V: View> AtomicInteger<$value> for LoomAtomic<$cell, V> {
            $(
                fn $operation(&self, value: $value, site: &'static Site) -> $value {
                    let before = self.inner.$operation(value, accessed(site).rmw());
                    note(site, &[&value], Some(&before));
                    before
                }
            )+
        }
    };
}

atomic!([] AtomicU32, u32, 0x9E37_79B9);
atomic!([] AtomicU64, u64, 0x9E37_79B9_7F4A_7C15);
atomic!([T] AtomicPtr<T>, *mut T, std::ptr::without_provenance_mut(usize::MAX));
integer!(AtomicU32, u32: fetch_add fetch_sub fetch_and fetch_or fetch_xor);
integer!(AtomicU64, u64: fetch_add fetch_sub fetch_and fetch_or fetch_xor);

/// A mutex of loom.
pub struct LoomLock<T>(Mutex<T>);

impl<T: Send> Lock<T> for LoomLock<T> {
    fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    fn with<R>(&self, site: &'static Site, critical: impl FnOnce(&mut T) -> R) -> R {
        accessed(site);
        let mut guard = self.0.lock().expect("loom's mutex is not poisoned: a panic ends the process");
        note(site, &[], None);
        critical(&mut guard)
    }
}

/// One payload, as loom tracks it: a hold that does not happen after the last one is reported.
pub struct LoomCell(UnsafeCell<()>);

// SAFETY: there is no data in it; loom finds the accesses that race, which is what it is for.
unsafe impl Sync for LoomCell {}
// SAFETY: as above.
unsafe impl Send for LoomCell {}

impl AccessCell for LoomCell {
    type Hold = MutPtr<()>;

    fn new() -> Self {
        Self(UnsafeCell::new(()))
    }

    fn hold(&self) -> MutPtr<()> {
        if trace::is_on() {
            trace::record(thread_number(), false, "touch a payload".into());
        }
        self.0.get_mut()
    }
}
