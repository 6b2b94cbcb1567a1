//! A global allocator that counts, thread by thread, so that others beside do not disturb a count: whether a design
//! allocates is found out with it. A program that wants to know installs it:
//!
//! ```
//! use slotwork_catalog::allocation::{Count, Counting};
//!
//! #[global_allocator]
//! static ALLOCATOR: Counting = Counting;
//!
//! let before = Count::now();
//! drop(Box::new(7));
//! assert_eq!(before.since(), Count { calls: 1, bytes: 0 });
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// To be installed by a program as its `#[global_allocator]`.
#[derive(Clone, Copy, Debug)]
pub struct Counting;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<i64> = const { Cell::new(0) };
}

/// What one thread did with the allocator since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Calls that asked for memory.
    pub calls: u64,
    /// Bytes allocated, less bytes freed; below zero when it frees what others allocated.
    pub bytes: i64,
}

impl Count {
    /// The calling thread's count.
    #[must_use]
    pub fn now() -> Self {
        Self { calls: CALLS.get(), bytes: BYTES.get() }
    }

    /// Whether the program installed the counting allocator; without it, everything counts as nothing.
    #[must_use]
    pub fn is_counting() -> bool {
        let before = Self::now();
        drop(std::hint::black_box(Box::new(7_u64)));
        before.since().calls > 0
    }

    /// What was counted since then.
    #[must_use]
    pub fn since(self) -> Self {
        let now = Self::now();
        Self { calls: now.calls - self.calls, bytes: now.bytes - self.bytes }
    }
}

fn count(calls: u64, bytes: i64) {
    CALLS.set(CALLS.get() + calls);
    BYTES.set(BYTES.get() + bytes);
}

/// Counts memory that was asked for, if it was given.
fn counted(memory: *mut u8, bytes: i64) -> *mut u8 {
    count(1, if memory.is_null() { 0 } else { bytes });
    memory
}

fn signed(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

// SAFETY: every call goes on to the system's allocator as it came; counting touches only
// thread-local cells without destructors, and so never allocates.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        counted(unsafe { System.alloc(layout) }, signed(layout.size()))
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        counted(unsafe { System.alloc_zeroed(layout) }, signed(layout.size()))
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(0, -signed(layout.size()));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise is passed on.
        counted(unsafe { System.realloc(memory, layout, size) }, signed(size) - signed(layout.size()))
    }
}
