//! A debug build's list of the handles that are alive, so that a dead one is found out without being touched.

use crate::status::Status;

#[cfg(debug_assertions)]
mod list {
    use std::collections::BTreeSet;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    static ALIVE: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

    pub(super) fn alive() -> MutexGuard<'static, BTreeSet<usize>> {
        ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives a new handle to C.
pub(crate) fn give<T>(handle: T) -> *mut T {
    let handle = Box::into_raw(Box::new(handle));
    #[cfg(debug_assertions)]
    list::alive().insert(handle.addr());
    handle
}

/// The handle behind a pointer.
///
/// # Safety
/// `handle` is null, or came from [`give`]; unless this is a debug build, it was not taken back since; nobody
/// takes it back during `'a`.
#[inline]
pub(crate) unsafe fn look<'a, T>(handle: *const T) -> Result<&'a T, Status> {
    if handle.is_null() {
        return Err(Status::Null);
    }
    #[cfg(debug_assertions)]
    if !list::alive().contains(&handle.addr()) {
        return Err(Status::DeadHandle);
    }
    // SAFETY: not null, from `give`, and not taken back.
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
    #[cfg(debug_assertions)]
    if !list::alive().remove(&handle.addr()) {
        return Err(Status::DeadHandle);
    }
    // SAFETY: from `Box::into_raw` in `give`, and taken back once.
    Ok(unsafe { Box::from_raw(handle) })
}
