//! A queue, from its creation to its end.

use super::structures::{Configuration, Operations, Statistics};
use crate::alive;
use crate::border::{call, call_in_detail, string};
use crate::carrier::{Carrier, build};
use crate::choice::{MANY_SUBMITTERS, design_from_environment, dispatch, waiting};
use crate::growing::{read, write};
use crate::status::Status;
use slotwork_workqueue::Configuration as Chosen;
use std::mem::ManuallyDrop;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A queue with its worker threads. May be used by all threads at once.
pub struct Queue {
    /// There until `ended`.
    carrier: ManuallyDrop<Arc<dyn Carrier>>,
    ended: AtomicBool,
}

/// What is behind a queue's handle, unless it is being freed: then this is called by an `uninit`, or by a thread
/// that should not be here any more.
///
/// # Safety
/// As [`alive::look`].
pub(super) unsafe fn carrier<'a>(queue: *const Queue) -> Result<&'a Arc<dyn Carrier>, Status> {
    // SAFETY: as the caller promises.
    let queue = unsafe { alive::look(queue) }?;
    if queue.ended.load(Ordering::Relaxed) { Err(Status::InsideHandler) } else { Ok(&queue.carrier) }
}

/// Creates a queue. Both structures are copied. On failure `*queue` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_create(
    configuration: *const Configuration,
    operations: *const Operations,
    queue: *mut *mut Queue,
) -> Status {
    const NAME: &str = "slotwork_create";
    let created = call_in_detail(NAME, || {
        let plain = |status| (status, String::new());
        if queue.is_null() {
            return Err(plain(Status::Null));
        }
        // SAFETY: not null, and writable, as the header demands.
        unsafe { queue.write(null_mut()) };
        // SAFETY: null, or readable for as many bytes as their sizes say, as the header demands.
        let (configuration, operations) =
            unsafe { (read(configuration).map_err(plain)?, read(operations).map_err(plain)?) };
        if operations.handler.is_none() {
            return Err((Status::Null, "there is no handler".into()));
        }
        let or = |number: u32, default: usize| if number == 0 { default } else { number as usize };
        let mut chosen = Chosen::default();
        // SAFETY: null, or strings, as the header demands.
        let (name, design) = unsafe { (string(configuration.name), string(configuration.design)) };
        let design = match design {
            Some(design) => design,
            None => design_from_environment(|variable| std::env::var_os(variable), MANY_SUBMITTERS)
                .map_err(|words| (Status::Configuration, words))?,
        };
        let unknown = |what: &str, number| (Status::Configuration, format!("{number} is no {what}"));
        chosen.waiting =
            waiting(configuration.waiting).ok_or_else(|| unknown("slotwork_waiting", configuration.waiting))?;
        chosen.dispatch =
            dispatch(configuration.dispatch).ok_or_else(|| unknown("slotwork_dispatch", configuration.dispatch))?;
        chosen.workers = or(configuration.workers, chosen.workers);
        chosen.requests_per_worker = or(configuration.requests_per_worker, chosen.requests_per_worker);
        chosen.name = name.unwrap_or(chosen.name);
        let carrier = build(&design, chosen, configuration.request_size, operations.callbacks())?;
        Ok(alive::give(Queue { carrier: ManuallyDrop::new(carrier), ended: AtomicBool::new(false) }))
    });
    match created {
        Ok(created) => {
            // SAFETY: checked above.
            unsafe { queue.write(created) };
            Status::Ok
        }
        Err(status) => status,
    }
}

/// Handles what is queued, ends the workers, runs `done` for what was handled, and frees the queue. On failure nothing was
/// destroyed; so inside of a callback of the queue, `done` too: `SLOTWORK_STATUS_INSIDE_HANDLER`.
///
/// A submitter outlives it, and the requests' memory goes with the last one. To a submitter it is as after
/// `slotwork_shutdown`: a submit, and a wait for a request when none is free, return `SLOTWORK_STATUS_STOPPED`;
/// all else goes on, so that results can be had: a request that is free can still be acquired and withdrawn, and a drain returns
/// at once. (So a loop that never submits does not see the end.) With a design for one submitter, only a submitter
/// can run `done`: while there is one, this runs none, and what is owed runs in its calls, at the latest as it is destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_destroy(queue: *mut Queue) -> Status {
    call("slotwork_destroy", || {
        // SAFETY: null, or from `slotwork_create`, and not destroyed yet, as the header demands.
        unsafe { carrier(queue) }?.close()?;
        // SAFETY: as above.
        let handle = unsafe { alive::look(queue) }?;
        if handle.ended.swap(true, Ordering::Relaxed) {
            return Err(Status::InsideHandler);
        }
        // The handle stays while this runs `uninit`s, which may come with it.
        // SAFETY: one call comes here, and none looks at it after this: so it is read once, and not used there.
        drop(ManuallyDrop::into_inner(unsafe { std::ptr::read(&raw const handle.carrier) }));
        // SAFETY: as above; nothing refers to it any more.
        drop(unsafe { alive::take(queue) }?);
        Ok(())
    })
}

/// Handles what is queued, then ends the workers. Blocks. May be called again, and from several threads; by a `done`, but
/// not by a handler.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_shutdown(queue: *const Queue) -> Status {
    // SAFETY: null, or from `slotwork_create`, and not destroyed yet, as the header demands.
    call("slotwork_shutdown", || unsafe { carrier(queue) }?.shutdown(false).map(drop))
}

/// Cancels what is queued, lets running handlers finish, then ends the workers. Blocks. Cuts a
/// `slotwork_shutdown` short that is under way.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_shutdown_now(queue: *const Queue) -> Status {
    // SAFETY: null, or from `slotwork_create`, and not destroyed yet, as the header demands.
    call("slotwork_shutdown_now", || unsafe { carrier(queue) }?.shutdown(true).map(drop))
}

/// Counts since the creation. Set `statistics->size` before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_get_statistics(queue: *const Queue, statistics: *mut Statistics) -> Status {
    call("slotwork_get_statistics", || {
        // SAFETY: null, or from `slotwork_create`, and not destroyed yet, as the header demands.
        let carrier = unsafe { carrier(queue) }?;
        let (report, (worker_wakes, submitter_wakes)) = (carrier.report(), carrier.wakes());
        let counts =
            Statistics { size: 0, handled: report.handled, cancelled: report.cancelled, worker_wakes, submitter_wakes };
        // SAFETY: null, or writable for as many bytes as its size says, as the header demands.
        unsafe { write(counts, statistics) }
    })
}
