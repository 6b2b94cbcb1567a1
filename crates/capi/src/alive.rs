//! Handles: what C holds of what is ours. A debug build finds a dead one out, without touching it.
//!
//! ```text
//!   release build   C ── address ──────────────▶ handle
//!   debug build     C ── number ──▶ alive list ──▶ handle      an address comes again, a number does not
//! ```

use crate::status::Status;

/// A release build has no list: the number of a handle is its address.
#[cfg(not(debug_assertions))]
mod list {
    #[inline]
    pub(super) fn enter<T>(handle: *mut T) -> *mut T {
        handle
    }

    #[inline]
    pub(super) fn find<T>(number: *const T) -> Option<*const T> {
        Some(number)
    }

    #[inline]
    pub(super) fn leave<T>(number: *mut T) -> Option<*mut T> {
        Some(number)
    }
}

#[cfg(debug_assertions)]
mod list {
    use std::collections::BTreeMap;
    use std::ptr::without_provenance_mut;
    use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    static ALIVE: Mutex<BTreeMap<usize, AtomicPtr<()>>> = Mutex::new(BTreeMap::new());

    fn alive() -> MutexGuard<'static, BTreeMap<usize, AtomicPtr<()>>> {
        ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn enter<T>(handle: *mut T) -> *mut T {
        // Odd, so that it is the address of nothing that a program may mistake for a handle.
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        let number = NEXT.fetch_add(2, Ordering::Relaxed);
        alive().insert(number, AtomicPtr::new(handle.cast()));
        without_provenance_mut(number)
    }

    pub(super) fn find<T>(number: *const T) -> Option<*const T> {
        alive().get_mut(&number.addr()).map(|handle| handle.get_mut().cast::<T>().cast_const())
    }

    pub(super) fn leave<T>(number: *mut T) -> Option<*mut T> {
        alive().remove(&number.addr()).map(|handle| handle.into_inner().cast())
    }
}

/// Gives a new handle to C.
pub(crate) fn give<T>(handle: T) -> *mut T {
    list::enter(Box::into_raw(Box::new(handle)))
}

/// What is behind a handle of C's.
///
/// # Safety
/// `handle` is null, or came from [`give`] for the same type; unless this is a debug build, it was not taken back since;
/// nobody takes it back during `'a`.
#[inline]
pub(crate) unsafe fn look<'a, T>(handle: *const T) -> Result<&'a T, Status> {
    if handle.is_null() {
        return Err(Status::Null);
    }
    let handle = list::find(handle).ok_or(Status::DeadHandle)?;
    // SAFETY: from `Box::into_raw` in `give`, and not taken back.
    Ok(unsafe { &*handle })
}

/// Takes a handle back from C.
///
/// # Safety
/// As [`look`], and no reference to it is in use.
pub(crate) unsafe fn take<T>(handle: *mut T) -> Result<Box<T>, Status> {
    if handle.is_null() {
        return Err(Status::Null);
    }
    let handle = list::leave(handle).ok_or(Status::DeadHandle)?;
    // SAFETY: from `Box::into_raw` in `give`, and taken back once.
    Ok(unsafe { Box::from_raw(handle) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// # Safety
    /// As [`look`].
    unsafe fn value(handle: *mut u64) -> Result<u64, Status> {
        // SAFETY: as the caller promises.
        unsafe { look(handle) }.copied()
    }

    #[test]
    #[cfg(debug_assertions)]
    fn a_dead_handle_is_never_taken_for_a_later_one() {
        let dead = give(1_u64);
        // SAFETY: of the right type throughout; a debug build finds out dead ones.
        unsafe {
            assert_eq!((value(dead), take(dead).map(|handle| *handle)), (Ok(1), Ok(1)));
            for number in 0..1000 {
                // Of the same size, so at an address that was just given back.
                let later = give(number);
                assert_eq!((value(dead), value(later)), (Err(Status::DeadHandle), Ok(number)));
                assert_eq!(take(dead), Err(Status::DeadHandle));
                assert_eq!(take(later).map(|handle| *handle), Ok(number));
            }
        }
    }

    #[test]
    fn null_is_no_handle() {
        // SAFETY: null may be.
        unsafe {
            assert_eq!(value(std::ptr::null_mut()), Err(Status::Null));
            assert_eq!(take(std::ptr::null_mut::<u64>()), Err(Status::Null));
        }
    }
}
