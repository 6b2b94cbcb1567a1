//! What a program does all the time: acquire, submit, wait.

use super::structures::Fate;
use super::submitter::{Submitter, with};
use crate::border::call;
use crate::carrier::{Patience, Submitting};
use crate::status::Status;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::time::Duration;

/// A free request, if there is one now. Never waits. Its memory is as the last handler left it, after `done`.
/// On failure `*request` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_try_acquire(submitter: *const Submitter, request: *mut *mut c_void) -> Status {
    // SAFETY: as the header demands.
    call("slotwork_try_acquire", || unsafe {
        acquire(submitter, request, |submitting| submitting.try_acquire().ok_or(Status::NoneFree))
    })
}

/// A free request; waits until there is one. Inside of a callback of the same queue, and after a shutdown, it fails instead of
/// waiting. On failure `*request` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_acquire(submitter: *const Submitter, request: *mut *mut c_void) -> Status {
    // SAFETY: as the header demands.
    call("slotwork_acquire", || unsafe {
        acquire(submitter, request, |submitting| submitting.acquire(Patience::ForEver))
    })
}

/// As `slotwork_acquire`, for at most so many nanoseconds; then the `done` of the request that it got runs, however long that takes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_acquire_timeout(
    submitter: *const Submitter,
    nanoseconds: u64,
    request: *mut *mut c_void,
) -> Status {
    let patience = Patience::For(Duration::from_nanos(nanoseconds));
    // SAFETY: as the header demands.
    call("slotwork_acquire_timeout", || unsafe {
        acquire(submitter, request, |submitting| submitting.acquire(patience))
    })
}

/// Hands a request to the workers. Never waits. After a shutdown the request is given back instead, and not held
/// any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_submit(submitter: *const Submitter, request: *mut c_void) -> Status {
    // SAFETY: as the header demands.
    call("slotwork_submit", || unsafe { with(submitter, |submitting| submitting.submit(request)) })
}

/// Gives a request back unsubmitted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_withdraw(submitter: *const Submitter, request: *mut c_void) -> Status {
    // SAFETY: as the header demands.
    call("slotwork_withdraw", || unsafe { with(submitter, |submitting| submitting.withdraw(request)) })
}

/// What became of a held request when it was submitted last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_get_fate(
    submitter: *const Submitter,
    request: *mut c_void,
    fate: *mut Fate,
) -> Status {
    call("slotwork_get_fate", || {
        if fate.is_null() {
            return Err(Status::Null);
        }
        // SAFETY: as the header demands.
        let found = unsafe { with(submitter, |submitting| submitting.fate(request)) }?;
        // SAFETY: not null, and writable, as the header demands.
        unsafe { fate.write(found.into()) };
        Ok(())
    })
}

/// Waits until all that was submitted before the call, by anybody, has ended, and runs `done` for what was handled.
/// What others submit meanwhile is not waited for.
///
/// What another thread is collecting at that moment, in a drain of its own or with a request that it just acquired, its own
/// `done`s are for it to run: they may be under way, or be to come, when this returns. If there is a `done`, all requests that
/// are free are held for a moment at the end, to see which are owed one, and those until theirs has run: a
/// `slotwork_try_acquire` of another thread may find none meanwhile. So a `done` must not wait for a thread that waits for a request.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_drain(submitter: *const Submitter) -> Status {
    // SAFETY: as the header demands.
    call("slotwork_drain", || unsafe { with(submitter, |submitting| submitting.drain(Patience::ForEver)) })
}

/// As `slotwork_drain`, for at most so many nanoseconds. When the time runs out, no `done` was run: each runs later, as if
/// this had not been called. When all has ended in time, all `done`s are run, however long they take.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_drain_timeout(submitter: *const Submitter, nanoseconds: u64) -> Status {
    let patience = Patience::For(Duration::from_nanos(nanoseconds));
    // SAFETY: as the header demands.
    call("slotwork_drain_timeout", || unsafe { with(submitter, |submitting| submitting.drain(patience)) })
}

/// Acquires into `*request`.
///
/// # Safety
/// As [`with`]; `request` is null or writable.
#[inline]
unsafe fn acquire(
    submitter: *const Submitter,
    request: *mut *mut c_void,
    body: impl FnOnce(&dyn Submitting) -> Result<*mut c_void, Status>,
) -> Result<(), Status> {
    if request.is_null() {
        return Err(Status::Null);
    }
    // SAFETY: as the caller promises.
    let acquired = unsafe { with(submitter, body) };
    // SAFETY: not null, so writable, as the caller promises.
    unsafe { request.write(*acquired.as_ref().unwrap_or(&null_mut())) };
    acquired.map(drop)
}
