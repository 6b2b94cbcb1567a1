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
//! slot follows by [`Places`], and a pointer that is none of ours is found out on the way. From a slot, the pointer
//! follows too: a submitter that read it from the payload would wait for a line that the worker had last, before the
//! program can so much as begin to write its request.

use crate::callbacks::Callbacks;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

/// Also more than `malloc` promises for any object.
const LINE: usize = 64;

/// The block, and what is to be called with its requests. In lines of its own, as what submitters write is: measured, not
/// understood (see the results of the C interface's speed).
#[repr(align(128))]
pub(crate) struct Block {
    layout: Layout,
    pub(crate) places: Places,
    pub(crate) callbacks: Callbacks,
}

/// Finds the request of a slot, and the slot of a request: that without dividing, which would be the most expensive step
/// of a submit. It is a copy of what does not change, for each submitter to have at hand; whoever has one keeps the block.
///
/// A stride is an odd number times a power of two. To divide by the odd number is to multiply by its inverse modulo 2ⁿ; to
/// divide by the power of two is to rotate, which moves what would be left over to the top. Both are one to one, and the
/// requests' own offsets become 0, 1, 2 …: so every other offset becomes a number that is too large.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    /// The block's own pointer, from its allocation: each request's is derived from it, never from a number or from
    /// another request's, and so may be used for all of the request.
    start: *mut u8,
    stride: usize,
    inverse: usize,
    shift: u32,
    requests: usize,
}

impl Places {
    fn new(start: *mut u8, stride: usize, requests: usize) -> Self {
        let shift = stride.trailing_zeros();
        let odd = stride >> shift;
        // Newton: an odd number is its own inverse modulo 8, and each step doubles the bits that are right.
        let inverse =
            (0..5).fold(odd, |inverse, _| inverse.wrapping_mul(2_usize.wrapping_sub(odd.wrapping_mul(inverse))));
        Self { start, stride, inverse, shift, requests }
    }

    /// Where a slot's request is: computed, without a look at any memory that others write. The caller knows that there
    /// is such a slot; of another one the pointer would be of no use, but no harm would be done here.
    #[inline]
    pub(crate) fn request(&self, slot: usize) -> *mut c_void {
        debug_assert!(slot < self.requests, "a slot of this block");
        self.start.wrapping_add(slot.wrapping_mul(self.stride)).cast()
    }

    /// The slot whose request this is; none for a pointer that is no request's.
    #[inline]
    pub(crate) fn slot(&self, request: *const c_void) -> Option<usize> {
        let offset = request.addr().wrapping_sub(self.start.addr());
        let slot = offset.wrapping_mul(self.inverse).rotate_right(self.shift);
        (slot < self.requests).then_some(slot)
    }
}

// SAFETY: the fields are never changed; the bytes that `places.start` leads to belong to whoever owns the slot.
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
        let places = Places::new(start.as_ptr(), stride, requests);
        Some(Arc::new(Self { layout, places, callbacks }))
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout, and freed once, here.
        unsafe { dealloc(self.places.start, self.layout) };
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
        let request = block.places.request(slot);
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
    fn a_slot_is_found_without_dividing_as_by_dividing() {
        let start = 1_usize << 20;
        for stride in [64_usize, 128, 192, 320, 448, 4736, 1 << 20, 3 << 40] {
            for requests in [1, 4, 64, 4096] {
                let places = Places::new(std::ptr::without_provenance_mut(start), stride, requests);
                let by_dividing = |address: usize| {
                    let offset = address.wrapping_sub(start);
                    (offset.is_multiple_of(stride) && offset / stride < requests).then(|| offset / stride)
                };
                let near = |slot: usize| start.wrapping_add(stride.wrapping_mul(slot));
                for slot in [0, 1, 2, 3, 5, 63, 64, 4095, 4096, 4097, usize::MAX, usize::MAX / 2] {
                    for beside in [0, 1, 32, 63, 64, stride / 2, usize::MAX, usize::MAX - 63] {
                        let address = near(slot).wrapping_add(beside);
                        let found = places.slot(std::ptr::without_provenance(address));
                        assert_eq!(found, by_dividing(address), "stride {stride}, slot {slot}, {beside} beside it");
                    }
                }
            }
        }
    }

    #[test]
    fn a_request_is_aligned_zeroed_and_found_again() {
        for size in [0, 1, 4, 63, 64, 65, 4096] {
            let block = Block::new(5, size, Callbacks::NONE).unwrap();
            for slot in 0..5 {
                let request = block.places.request(slot);
                assert!(request.addr().is_multiple_of(LINE));
                assert_eq!(block.places.slot(request), Some(slot));
                assert_eq!(block.places.slot(request.wrapping_byte_add(1)), None, "inside of a request");
                // SAFETY: `size` bytes of the block are there, and nobody else knows it.
                let bytes = unsafe { std::slice::from_raw_parts(request.cast::<u8>(), size) };
                assert!(bytes.iter().all(|&byte| byte == 0));
            }
            assert_eq!(block.places.slot(block.places.request(0).wrapping_byte_sub(LINE)), None, "before the block");
            assert_eq!(
                block.places.slot(block.places.request(4).wrapping_byte_add(block.places.stride)),
                None,
                "behind the block"
            );
            assert_eq!(block.places.slot(std::ptr::null()), None);
        }
    }
}
