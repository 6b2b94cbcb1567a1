//! A global allocator that counts, thread by thread, so that tests beside do not disturb a count.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// To be installed by a test file as its `#[global_allocator]`.
pub(crate) struct Counting;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<i64> = const { Cell::new(0) };
}

/// What one thread did with the allocator since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// Calls that asked for memory.
    pub(crate) calls: u64,
    /// Bytes allocated, less bytes freed; below zero when it frees what others allocated.
    pub(crate) bytes: i64,
}

impl Count {
    /// The calling thread's count.
    pub(crate) fn now() -> Self {
        Self { calls: CALLS.get(), bytes: BYTES.get() }
    }

    /// What was counted since then.
    pub(crate) fn since(self) -> Self {
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
