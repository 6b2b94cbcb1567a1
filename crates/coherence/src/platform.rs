//! [`Simulated`]: the machine as a platform, so that the shipped code runs on it.
//!
//! An atomic is as large and as aligned as a native one, so that the layout is the shipped layout. Every access waits
//! for its turn, costs what its line costs, and is then made on the real memory: there is one thread of the system.
//! Outside of a simulated thread, where queues are built and dropped, accesses cost nothing.

use crate::account::picoseconds;
use crate::line::Kind;
use crate::machine::{Machine, Turn};
use crate::run::{await_turn, is_simulated, suspend, with_machine};
use slotwork::{AccessCell, Atomic, AtomicInteger, Lock, Platform, Site};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

slotwork::sites! {
    /// The accesses of the machine's own: to payloads, to locks, and where threads sleep.
    pub SIMULATED_SITES in "simulated";
    PAYLOAD: Store(Relaxed), pairs [], "an owner reads and writes the payload; the queue's handover orders it";
    LOCK_TAKE: CompareExchange(Acquire, Relaxed), pairs [LOCK_GIVE], "whoever has the lock sees what the last one did";
    LOCK_LOOK: Load(Relaxed), pairs [], "a look before the next attempt";
    LOCK_MARK: Rmw(Acquire), pairs [LOCK_GIVE], "takes the lock, or marks that somebody sleeps";
    LOCK_GIVE: Rmw(Release), pairs [LOCK_TAKE, LOCK_MARK], "publishes what was done under the lock";
    GUARDED_WRITE: Store(Relaxed), pairs [], "what the lock guards beyond its own line";
    SLEEP_LOOK: Rmw(Acquire), pairs [SLEEP_WAKE], "park looks for a token";
    SLEEP_WAKE: Rmw(Release), pairs [SLEEP_LOOK], "unpark leaves a token";
}

/// A deterministic machine with many cores, caches, and a clock each.
#[derive(Clone, Copy, Debug)]
pub struct Simulated;

/// A simulated thread, to be woken.
#[derive(Clone, Copy, Debug)]
pub struct SimulatedThread(usize);

/// Makes an access of the calling thread, if that is a simulated one.
#[inline]
fn access(kind: Kind, address: usize, site: &'static Site) {
    if is_simulated() {
        let mut rest = 0;
        await_turn(|machine| match machine.turn() {
            Turn::Go => {
                rest = machine.access(kind, address, site);
                Turn::Go
            }
            Turn::Wait => Turn::Wait,
        });
        if rest > 0 {
            await_turn(Machine::turn);
            with_machine(|machine| machine.pass(rest));
        }
    }
}

/// Lets the machine do something that may end in waiting, once it is the caller's turn.
fn act(action: impl FnOnce(&mut Machine) -> Turn) {
    if is_simulated() {
        await_turn(Machine::turn);
        if with_machine(action) == Turn::Wait {
            suspend();
        }
    }
}

// SAFETY: all simulated threads run on one thread of the system, one at a time, and change only between accesses: every
// access is sequentially consistent, which is at least what any site asks for. The lock excludes, see there.
unsafe impl Platform for Simulated {
    type AtomicU32 = SimulatedAtomic<AtomicU32>;
    type AtomicU64 = SimulatedAtomic<AtomicU64>;
    type AtomicPtr<T> = SimulatedAtomic<AtomicPtr<T>>;
    type Lock<T: Send> = SimulatedLock<T>;
    type Cell = SimulatedCell;
    type Thread = SimulatedThread;

    fn fence(site: &'static Site) {
        // On the machines of the profiles, weaker fences are no instruction.
        if site.fence() == Ordering::SeqCst {
            act(|machine| {
                machine.fence();
                Turn::Go
            });
        }
    }

    #[inline]
    fn spin_hint() {
        if is_simulated() && with_machine(Machine::hint) == Turn::Wait {
            suspend();
        }
    }

    fn yield_now() {
        act(Machine::yield_now);
    }

    fn current() -> SimulatedThread {
        SimulatedThread(if is_simulated() { with_machine(|machine| machine.current) } else { usize::MAX })
    }

    fn park() {
        look_for_token();
        act(|machine| machine.park(None));
    }

    fn park_timeout(timeout: Duration) {
        look_for_token();
        let timeout = picoseconds(timeout.as_secs_f64().min(1e6) * 1e9);
        act(|machine| machine.park(Some(timeout)));
    }

    fn unpark(thread: &SimulatedThread) {
        if is_simulated() && thread.0 != usize::MAX {
            let parker = with_machine(|machine| machine.threads[thread.0].parker);
            access(Kind::Exchange, parker, &SLEEP_WAKE);
            with_machine(|machine| machine.unpark(thread.0));
        }
    }
}

fn look_for_token() {
    assert!(is_simulated(), "only a simulated thread can sleep on the simulated machine");
    let parker = with_machine(|machine| machine.threads[machine.current].parker);
    access(Kind::Exchange, parker, &SLEEP_LOOK);
}

impl Simulated {
    /// Work of about so many nanoseconds at the profile's speed: `spread` of it more or less at most.
    pub fn work(nanoseconds: f64, spread: f64) {
        if !is_simulated() {
            return;
        }
        let mut left = with_machine(|machine| machine.sample(nanoseconds, spread));
        while left > 0 {
            let (turn, rest) = with_machine(|machine| machine.work(left));
            left = rest;
            if turn == Turn::Wait {
                suspend();
            }
        }
    }

    /// The calling thread's clock, in nanoseconds; 0 outside of a run.
    #[must_use]
    pub fn now_nanoseconds() -> f64 {
        if !is_simulated() {
            return 0.0;
        }
        with_machine(|machine| machine.threads[machine.current].clock as f64 / 1000.0)
    }

    /// Says that something was achieved: the run is no livelock.
    pub fn achieved() {
        if is_simulated() {
            with_machine(|machine| machine.idle_events = 0);
        }
    }

    /// Accesses that the running simulation has made so far.
    #[must_use]
    pub fn accesses() -> u64 {
        if is_simulated() { with_machine(|machine| machine.accesses) } else { 0 }
    }
}

/// An atomic cell of the machine: a native one, each of whose accesses costs what its line costs.
#[repr(transparent)]
pub struct SimulatedAtomic<A>(A);

macro_rules! atomic {
    ([$($parameter:ident)?] $cell:ty, $value:ty) => {
        impl<$($parameter)?> Atomic<$value> for SimulatedAtomic<$cell> {
            fn new(value: $value) -> Self {
                Self(<$cell>::new(value))
            }

            #[inline]
            fn load(&self, site: &'static Site) -> $value {
                access(Kind::Load, std::ptr::from_ref(self).addr(), site);
                self.0.load(Ordering::SeqCst)
            }

            #[inline]
            fn store(&self, value: $value, site: &'static Site) {
                access(Kind::Store, std::ptr::from_ref(self).addr(), site);
                self.0.store(value, Ordering::SeqCst);
            }

            #[inline]
            fn swap(&self, value: $value, site: &'static Site) -> $value {
                access(Kind::Exchange, std::ptr::from_ref(self).addr(), site);
                self.0.swap(value, Ordering::SeqCst)
            }

            #[inline]
            fn compare_exchange(&self, current: $value, new: $value, site: &'static Site) -> Result<$value, $value> {
                access(Kind::Exchange, std::ptr::from_ref(self).addr(), site);
                let result = self.0.compare_exchange(current, new, Ordering::SeqCst, Ordering::SeqCst);
                if result.is_err() && is_simulated() {
                    with_machine(Machine::mispredicted);
                }
                result
            }

            #[inline]
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
        impl AtomicInteger<$value> for SimulatedAtomic<$cell> {
            $(
                #[inline]
                fn $operation(&self, value: $value, site: &'static Site) -> $value {
                    access(Kind::Exchange, std::ptr::from_ref(self).addr(), site);
                    self.0.$operation(value, Ordering::SeqCst)
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

/// The lock of the standard library on Linux, as it is since 2022, on the machine: one word, a hundred looks, then sleep.
///
/// ```text
///   0 open     1 taken     2 taken, and somebody may sleep
/// ```
///
/// What it guards is taken to be read and written at each use: on the lock's own line, and on one line beyond it.
#[repr(C)]
pub struct SimulatedLock<T> {
    word: SimulatedAtomic<AtomicU32>,
    value: UnsafeCell<T>,
    /// Stands for memory that the value leads to.
    beyond: Box<[u8; 64]>,
}

// SAFETY: `with` gives the value to one simulated thread at a time, and `T: Send`; all of them run on one thread of the
// system, or, outside of a run, the word keeps others out too.
unsafe impl<T: Send> Sync for SimulatedLock<T> {}

impl<T> SimulatedLock<T> {
    const LOOKS: u32 = 100;

    fn take(&self) {
        if self.word.compare_exchange(0, 1, &LOCK_TAKE).is_ok() {
            return;
        }
        let mut word = self.look();
        if word == 0 {
            match self.word.compare_exchange(0, 1, &LOCK_TAKE) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
        loop {
            if word != 2 && self.word.swap(2, &LOCK_MARK) == 0 {
                return;
            }
            let address = std::ptr::from_ref(&self.word).addr();
            // The word is looked at and the sleep begun at one instant, as the system call does it.
            await_turn(Machine::turn);
            if self.word.0.load(Ordering::SeqCst) == 2
                && with_machine(|machine| machine.sleep_at(address)) == Turn::Wait
            {
                suspend();
            }
            word = self.look();
        }
    }

    /// Looks until the lock is open or somebody sleeps, a hundred times at most.
    fn look(&self) -> u32 {
        let mut looks = Self::LOOKS;
        loop {
            let word = self.word.load(&LOCK_LOOK);
            if word != 1 || looks == 0 {
                return word;
            }
            Simulated::spin_hint();
            looks -= 1;
        }
    }

    fn give(&self) {
        if self.word.swap(0, &LOCK_GIVE) == 2 {
            let address = std::ptr::from_ref(&self.word).addr();
            with_machine(|machine| machine.wake_at(address));
        }
    }
}

impl<T: Send> Lock<T> for SimulatedLock<T> {
    fn new(value: T) -> Self {
        Self { word: SimulatedAtomic::new(0), value: UnsafeCell::new(value), beyond: Box::new([0; 64]) }
    }

    fn with<R>(&self, _site: &'static Site, critical: impl FnOnce(&mut T) -> R) -> R {
        if is_simulated() {
            self.take();
            access(Kind::Store, self.beyond.as_ptr().addr(), &GUARDED_WRITE);
        } else {
            assert_eq!(self.word.0.swap(1, Ordering::Acquire), 0, "outside of a run nobody else has a lock");
        }
        // SAFETY: the word was 0 and was set by this thread, so nobody else is here until it is 0 again.
        let result = critical(unsafe { &mut *self.value.get() });
        if is_simulated() {
            self.give();
        } else {
            self.word.0.store(0, Ordering::Release);
        }
        result
    }
}

/// Stands for the payload behind it: its owner reads its line, then writes it.
#[derive(Debug)]
pub struct SimulatedCell;

impl AccessCell for SimulatedCell {
    type Hold = ();

    fn new() -> Self {
        Self
    }

    fn hold(&self) {
        let address = std::ptr::from_ref(self).addr();
        access(Kind::Own, address, &PAYLOAD);
    }
}
