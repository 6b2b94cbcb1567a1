//! Memory whose addresses do not matter: while a simulated run is built or runs, every allocation begins a line.
//!
//! ```text
//!   arena   │ allocation 1 ░░│ allocation 2 ░░░░░░│ 3 ░░│ …      each begins 128 bytes
//! ```
//!
//! Costs depend on what shares a line, so where an allocator puts things would decide results: an address that is
//! a multiple of 16 may be at four places in a line. Here the offset in a line is that in the allocation, and which
//! memory is used again after it was freed is decided by the run's own frees alone.
//!
//! [`LineAllocator`] is installed by the program as its `#[global_allocator]`. Outside of simulated runs it asks one
//! thread-local word, and hands over to the system.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// Every allocation begins at a multiple of this: two lines of 64, as designs align what is to be apart.
pub(crate) const GRAIN: usize = 128;
/// Bytes of one arena: far more than any run needs; untouched pages cost nothing.
pub(crate) const ARENA_BYTES: usize = 256 << 20;
/// Freed blocks up to this size are used again.
const LARGEST_CLASS: usize = 1 << 20;
const CLASSES: usize = LARGEST_CLASS / GRAIN + 1;
/// Runs at a time, and runs that failed and left memory behind.
const ARENAS: usize = 32;

struct Arena {
    base: AtomicPtr<u8>,
    /// A thread has it open.
    open: AtomicBool,
    /// Allocations that were not freed.
    live: AtomicUsize,
    busy: AtomicBool,
    next: AtomicUsize,
    free: [AtomicPtr<u8>; CLASSES],
}

static ARENA: [Arena; ARENAS] = [const {
    Arena {
        base: AtomicPtr::new(ptr::null_mut()),
        open: AtomicBool::new(false),
        live: AtomicUsize::new(0),
        busy: AtomicBool::new(false),
        next: AtomicUsize::new(0),
        free: [const { AtomicPtr::new(ptr::null_mut()) }; CLASSES],
    }
}; ARENAS];

/// All arenas lie between these, so that most other memory is told apart at once.
static LOWEST: AtomicUsize = AtomicUsize::new(usize::MAX);
static HIGHEST: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The arena this thread allocates from, plus one; 0 for none.
    static CURRENT: Cell<usize> = const { Cell::new(0) };
    /// Allocations and frees within arenas.
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

/// How often this thread has taken memory from arenas, or given it back to them while one was its own.
#[inline]
pub(crate) fn allocator_calls() -> u64 {
    CALLS.get()
}

fn count_call() {
    _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
}

/// The allocator of a program that simulates.
#[derive(Clone, Copy, Debug)]
pub struct LineAllocator;

impl Arena {
    /// Runs alone with this arena. Short: no system call is in it.
    fn alone<R>(&self, critical: impl FnOnce() -> R) -> R {
        while self.busy.swap(true, Ordering::Acquire) {
            std::hint::spin_loop();
        }
        let result = critical();
        self.busy.store(false, Ordering::Release);
        result
    }

    fn alloc(&self, layout: Layout) -> Option<*mut u8> {
        count_call();
        let size = layout.size().checked_next_multiple_of(GRAIN)?.max(GRAIN);
        let align = layout.align().max(GRAIN);
        let base = self.base.load(Ordering::Relaxed);
        let place = self.alone(|| {
            if align == GRAIN && size <= LARGEST_CLASS {
                let list = &self.free[size / GRAIN];
                let block = list.load(Ordering::Relaxed);
                if !block.is_null() {
                    // SAFETY: a freed block holds the next one of its list in its first word, and is this arena's.
                    list.store(unsafe { block.cast::<*mut u8>().read() }, Ordering::Relaxed);
                    return Some(block);
                }
            }
            let at = (base.addr() + self.next.load(Ordering::Relaxed)).checked_next_multiple_of(align)? - base.addr();
            let end = at.checked_add(size).filter(|&end| end <= ARENA_BYTES)?;
            self.next.store(end, Ordering::Relaxed);
            // SAFETY: `at` is within the arena's one allocation.
            Some(unsafe { base.add(at) })
        })?;
        self.live.fetch_add(1, Ordering::Relaxed);
        Some(place)
    }

    /// # Safety
    /// `block` is an allocation of this arena with this layout, and is not used any more.
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count_call();
        let size = layout.size().next_multiple_of(GRAIN).max(GRAIN);
        if layout.align() <= GRAIN && size <= LARGEST_CLASS {
            self.alone(|| {
                let list = &self.free[size / GRAIN];
                // SAFETY: the block is free, large enough for a pointer and aligned for it.
                unsafe { block.cast::<*mut u8>().write(list.load(Ordering::Relaxed)) };
                list.store(block, Ordering::Relaxed);
            });
        }
        self.live.fetch_sub(1, Ordering::Release);
    }
}

/// The arena that an address is in.
#[inline]
fn arena_of(address: usize) -> Option<&'static Arena> {
    if address < LOWEST.load(Ordering::Relaxed) || address >= HIGHEST.load(Ordering::Relaxed) {
        return None;
    }
    ARENA.iter().find(|arena| {
        let base = arena.base.load(Ordering::Relaxed).addr();
        base != 0 && (base..base + ARENA_BYTES).contains(&address)
    })
}

#[inline]
fn current() -> Option<&'static Arena> {
    // At the end of a thread its variables are gone; then nothing is simulated.
    let current = CURRENT.try_with(Cell::get).unwrap_or(0);
    if current == 0 { None } else { ARENA.get(current - 1) }
}

// SAFETY: what an arena gives out is its own memory, aligned, disjoint from what it gave out and was not given back;
// everything else is the system's, and goes back to whom it came from.
unsafe impl GlobalAlloc for LineAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if let Some(arena) = current()
            && let Some(place) = arena.alloc(layout)
        {
            return place;
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        match arena_of(place.addr()) {
            // SAFETY: it is in this arena, so it was allocated there.
            Some(arena) => unsafe { arena.dealloc(place, layout) },
            // SAFETY: it is in none, so it is the system's.
            None => unsafe { System.dealloc(place, layout) },
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if let Some(arena) = current()
            && let Some(place) = arena.alloc(layout)
        {
            // SAFETY: the place is as large as the layout says.
            unsafe { place.write_bytes(0, layout.size()) };
            return place;
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if current().is_none() && arena_of(place.addr()).is_none() {
            // SAFETY: as the caller promises; the place is the system's.
            return unsafe { System.realloc(place, layout, size) };
        }
        // SAFETY: the caller promises that `size`, rounded up, does not overflow.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: old and new place are disjoint, and both as large as what is copied.
        unsafe {
            let to = self.alloc(new);
            if !to.is_null() {
                to.copy_from_nonoverlapping(place, layout.size().min(size));
                self.dealloc(place, layout);
            }
            to
        }
    }
}

/// An arena that this thread has open. What is allocated within [`Opened::inside`] comes from it.
#[derive(Debug)]
pub(crate) struct Opened(usize);

impl Opened {
    /// Opens an arena that holds nothing, so that its addresses begin anew; none when all are in use.
    pub(crate) fn new() -> Option<Self> {
        let index = ARENA.iter().position(|arena| {
            let taken = arena.open.swap(true, Ordering::Acquire);
            if !taken && arena.live.load(Ordering::Acquire) != 0 {
                arena.open.store(false, Ordering::Release);
                return false;
            }
            !taken
        })?;
        let arena = &ARENA[index];
        if arena.base.load(Ordering::Relaxed).is_null() {
            let layout = Layout::from_size_align(ARENA_BYTES, 4096).ok()?;
            // SAFETY: the layout has a size.
            let base = unsafe { System.alloc(layout) };
            if base.is_null() {
                arena.open.store(false, Ordering::Release);
                return None;
            }
            LOWEST.fetch_min(base.addr(), Ordering::Relaxed);
            HIGHEST.fetch_max(base.addr() + ARENA_BYTES, Ordering::Relaxed);
            arena.base.store(base, Ordering::Relaxed);
        }
        arena.next.store(0, Ordering::Relaxed);
        arena.free.iter().for_each(|list| list.store(ptr::null_mut(), Ordering::Relaxed));
        Some(Self(index))
    }

    pub(crate) fn base(&self) -> usize {
        ARENA[self.0].base.load(Ordering::Relaxed).addr()
    }

    /// Runs with this arena as the thread's.
    pub(crate) fn inside<R>(&self, body: impl FnOnce() -> R) -> R {
        within(self.0 + 1, body)
    }

    /// Whether the program has [`LineAllocator`] installed.
    pub(crate) fn is_installed(&self) -> bool {
        let probe = self.inside(|| Box::new(0_u64));
        arena_of(ptr::from_ref(&*probe).addr()).is_some()
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        ARENA[self.0].open.store(false, Ordering::Release);
    }
}

fn within<R>(arena: usize, body: impl FnOnce() -> R) -> R {
    struct Restore(usize);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let _restore = Restore(CURRENT.replace(arena));
    body()
}

/// Runs with the system's memory: what the machine keeps for itself is no part of the run.
#[inline]
pub(crate) fn aside<R>(body: impl FnOnce() -> R) -> R {
    if CURRENT.get() == 0 { body() } else { within(0, body) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_allocation_begins_a_line_and_a_run_begins_anew() {
        let mut seen = Vec::new();
        for _ in 0..2 {
            let opened = Opened::new().expect("an arena");
            assert!(opened.is_installed());
            let base = opened.base();
            let offsets: Vec<usize> = opened.inside(|| {
                let bytes: Vec<Box<u8>> = (0..3).map(Box::new).collect();
                let offsets: Vec<usize> = bytes.iter().map(|byte| ptr::from_ref(&**byte).addr() - base).collect();
                drop(bytes);
                let again = Box::new(1_u8);
                let most = base + 8 * GRAIN;
                assert!(ptr::from_ref(&*again).addr() < most, "freed memory is used again");
                aside(|| offsets.clone())
            });
            assert!(offsets.iter().all(|offset| offset % GRAIN == 0), "{offsets:?}");
            seen.push(offsets);
        }
        assert_eq!(seen[0], seen[1]);
    }

    #[test]
    fn memory_may_leave_the_run_and_grow() {
        let opened = Opened::new().expect("an arena");
        let mut kept: Vec<u64> = opened.inside(|| (0..10).collect());
        drop(opened);
        kept.extend(10..100_000);
        assert!(kept.iter().copied().eq(0..100_000));
    }
}
