//! The requests' memory: one block for all of them, a stride apart, found again by address.
//!
//! ```text
//!   │ request 0 ░░│ request 1 ░░│ request 2 ░░│ …      a stride is whole cache lines, so that
//!   ▲             ▲                                    no two requests share one
//!   start         start + stride
//! ```
//!
//! The size of a request is known only as the program runs, and the pool's payload is a type: so the payload
//! is a [`Memory`], which points to its place in the block. From the pointer that a C program hands in, the
//! slot follows by a subtraction and a division, and a pointer that is none of ours is found out on the way.

use crate::callbacks::Callbacks;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

/// Also more than `malloc` promises for any object.
const LINE: usize = 64;

/// The block, and what is to be called with its requests.
pub(crate) struct Block {
    start: NonNull<u8>,
    layout: Layout,
    stride: usize,
    pub(crate) callbacks: Callbacks,
}

// SAFETY: the fields are never changed; the bytes that `start` leads to belong to whoever owns the slot.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Block {
    /// Zeroed memory for so many requests; none when there is not so much.
    pub(crate) fn new(requests: usize, size: usize, callbacks: Callbacks) -> Option<Arc<Self>> {
        let stride = size.max(1).checked_next_multiple_of(LINE)?;
        let layout = Layout::from_size_align(stride.checked_mul(requests)?, LINE).ok()?;
        if layout.size() == 0 {
            return None;
        }
        // SAFETY: the layout's size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Arc::new(Self { start, layout, stride, callbacks }))
    }

    /// Where a slot's request is; the caller knows that there is such a slot.
    #[inline]
    pub(crate) fn request(&self, slot: usize) -> *mut c_void {
        debug_assert!(slot < self.layout.size() / self.stride, "a slot of this block");
        self.start.as_ptr().wrapping_add(slot * self.stride).cast()
    }

    /// The slot whose request this is; none for a pointer that is no request's.
    #[inline]
    pub(crate) fn slot(&self, request: *const c_void) -> Option<usize> {
        let offset = request.addr().wrapping_sub(self.start.addr().get());
        (offset < self.layout.size() && offset.is_multiple_of(self.stride)).then(|| offset / self.stride)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout, and freed once, here.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// One request's place in the block: it was initialised, and is uninitialised by the drop.
pub(crate) struct Memory {
    pub(crate) request: *mut c_void,
    block: Arc<Block>,
}

// SAFETY: the request belongs to whoever owns the slot, and the pool hands a slot to one thread at a time.
unsafe impl Send for Memory {}

impl Memory {
    /// Initialises the request of a slot.
    ///
    /// # Errors
    /// What the program's `init` returned, if that is negative; then there is nothing to undo.
    pub(crate) fn new(block: &Arc<Block>, slot: usize) -> Result<Self, i32> {
        let request = block.request(slot);
        let answer = block.callbacks.init(request);
        if answer < 0 { Err(answer) } else { Ok(Self { request, block: Arc::clone(block) }) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.block.callbacks.uninit(self.request);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_calc_overflow_is_refused_without_allocating() {
        for (requests, size) in [(2, usize::MAX), (2, usize::MAX / 2), (1 << 24, 1 << 50), (1, isize::MAX as usize)] {
            assert!(Block::new(requests, size, Callbacks::NONE).is_none(), "{requests} × {size}");
        }
    }

    #[test]
    fn a_request_is_aligned_zeroed_and_found_again() {
        for size in [0, 1, 4, 63, 64, 65, 4096] {
            let block = Block::new(5, size, Callbacks::NONE).unwrap();
            for slot in 0..5 {
                let request = block.request(slot);
                assert!(request.addr().is_multiple_of(LINE));
                assert_eq!(block.slot(request), Some(slot));
                assert_eq!(block.slot(request.wrapping_byte_add(1)), None, "inside of a request");
                // SAFETY: `size` bytes of the block are there, and nobody else knows it.
                let bytes = unsafe { std::slice::from_raw_parts(request.cast::<u8>(), size) };
                assert!(bytes.iter().all(|&byte| byte == 0));
            }
            assert_eq!(block.slot(block.request(0).wrapping_byte_sub(LINE)), None, "before the block");
            assert_eq!(block.slot(block.request(4).wrapping_byte_add(block.stride)), None, "behind the block");
            assert_eq!(block.slot(std::ptr::null()), None);
        }
    }
}
