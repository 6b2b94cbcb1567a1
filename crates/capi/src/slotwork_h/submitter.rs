//! A submitter for each thread, and whose it is.

use super::queue::{Queue, carrier};
use crate::alive;
use crate::border::{call, this_thread};
use crate::carrier::Submitting;
use crate::single::Single;
use crate::status::Status;
use std::mem::ManuallyDrop;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What one thread submits with. It belongs to the thread that created it, until another adopts it.
// In lines of its own, as `Threads` is.
#[repr(align(128))]
pub struct Submitter {
    owner: AtomicU64,
    single: Single,
    /// There until `single` ends.
    submitting: ManuallyDrop<Box<dyn Submitting>>,
}

/// Makes a submitter, which belongs to the calling thread. With a design for one submitter, a second one is
/// refused, until the first is destroyed. On failure `*submitter` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_submitter_create(queue: *const Queue, submitter: *mut *mut Submitter) -> Status {
    call("slotwork_submitter_create", || {
        if submitter.is_null() {
            return Err(Status::Null);
        }
        // SAFETY: not null, and writable, as the header demands.
        unsafe { submitter.write(null_mut()) };
        // SAFETY: null, or from `slotwork_create`, and not destroyed yet, as the header demands.
        let submitting = ManuallyDrop::new(Arc::clone(unsafe { carrier(queue) }?).submitter()?);
        let owner = AtomicU64::new(this_thread());
        // SAFETY: as above.
        unsafe { submitter.write(alive::give(Submitter { owner, single: Single::new(), submitting })) };
        Ok(())
    })
}

/// Moves a submitter to the calling thread. Its last owner must not use it any more, and everything that it did with
/// it must happen before this.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_submitter_adopt(submitter: *const Submitter) -> Status {
    call("slotwork_submitter_adopt", || {
        // SAFETY: null, or from `slotwork_submitter_create`, and not destroyed yet, as the header demands.
        unsafe { alive::look(submitter) }?.owner.store(this_thread(), Ordering::Relaxed);
        Ok(())
    })
}

/// Destroys a submitter, and withdraws what it holds. What it submitted is handled all the same. A `done` cannot
/// destroy the submitter that it is called from, nor use one in whose destruction it runs: `SLOTWORK_STATUS_INSIDE_HANDLER`.
///
/// In a process that was forked it frees the handle, withdraws nothing and runs nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_submitter_destroy(submitter: *mut Submitter) -> Status {
    call("slotwork_submitter_destroy", || {
        // SAFETY: null, or from `slotwork_submitter_create`, and not destroyed yet, as the header demands.
        let handle = unsafe { own(submitter) }?;
        handle.single.end()?;
        // The handle stays while this runs `done`s, which may come with it.
        // SAFETY: `end` lets one call through, which is this, and nobody after it: so this is read once, and not used there.
        drop(ManuallyDrop::into_inner(unsafe { std::ptr::read(&raw const handle.submitting) }));
        // SAFETY: as above; nothing refers to it any more.
        drop(unsafe { alive::take(submitter) }?);
        Ok(())
    })
}

/// The submitter behind a pointer, if it belongs to the calling thread.
///
/// # Safety
/// As [`alive::look`].
#[inline]
unsafe fn own<'a>(submitter: *const Submitter) -> Result<&'a Submitter, Status> {
    // SAFETY: as the caller promises.
    let submitter = unsafe { alive::look(submitter) }?;
    if submitter.owner.load(Ordering::Relaxed) == this_thread() { Ok(submitter) } else { Err(Status::WrongThread) }
}

/// Runs `body` with the submitter behind a pointer.
///
/// # Safety
/// As [`alive::look`].
#[inline]
pub(super) unsafe fn with<T>(
    submitter: *const Submitter,
    body: impl FnOnce(&dyn Submitting) -> Result<T, Status>,
) -> Result<T, Status> {
    // SAFETY: as the caller promises.
    let submitter = unsafe { own(submitter) }?;
    let _inside = submitter.single.enter()?;
    body(&**submitter.submitting)
}
