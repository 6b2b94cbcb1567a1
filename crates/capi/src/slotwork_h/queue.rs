//! A queue, from its creation to its end.

use super::structures::{Configuration, Operations, Statistics};
use crate::alive;
use crate::border::{call, call_in_detail, string};
use crate::carrier::{Carrier, build};
use crate::choice::{MANY_SUBMITTERS, dispatch, waiting};
use crate::growing::{read, write};
use crate::status::Status;
use slotwork_workqueue::Configuration as Chosen;
use std::ptr::null_mut;
use std::sync::Arc;

/// A queue with its worker threads. May be used by all threads at once.
pub struct Queue {
    pub(super) carrier: Arc<dyn Carrier>,
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
            None => {
                let asked = std::env::var("SLOTWORK_DESIGN").ok().filter(|name| !name.is_empty());
                asked.unwrap_or_else(|| MANY_SUBMITTERS.into())
            }
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
        Ok(alive::give(Queue { carrier }))
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

/// Handles what is queued, ends the workers, runs what is to be run when requests are done, and frees the queue: its
/// memory goes with the last of its submitters. Those can only be destroyed any more: their calls return
/// `SLOTWORK_STATUS_STOPPED`, and a request that they hold stays readable. On failure nothing was destroyed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_destroy(queue: *mut Queue) -> Status {
    call("slotwork_destroy", || {
        // SAFETY: null, or from `slotwork_create`, and not destroyed yet, as the header demands.
        unsafe { alive::look(queue) }?.carrier.close()?;
        // SAFETY: as above; what runs when a request is done has run, and nothing refers to it any more.
        drop(unsafe { alive::take(queue) }?);
        Ok(())
    })
}

/// Handles what is queued, then ends the workers. Blocks. May be called again, and from several threads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_shutdown(queue: *const Queue) -> Status {
    // SAFETY: null, or from `slotwork_create`, and not destroyed yet, as the header demands.
    call("slotwork_shutdown", || unsafe { alive::look(queue) }?.carrier.shutdown(false).map(drop))
}

/// Cancels what is queued, lets running handlers finish, then ends the workers. Blocks. Cuts a
/// `slotwork_shutdown` short that is under way.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_shutdown_now(queue: *const Queue) -> Status {
    // SAFETY: null, or from `slotwork_create`, and not destroyed yet, as the header demands.
    call("slotwork_shutdown_now", || unsafe { alive::look(queue) }?.carrier.shutdown(true).map(drop))
}

/// Counts since the creation. Set `statistics->size` before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_get_statistics(queue: *const Queue, statistics: *mut Statistics) -> Status {
    call("slotwork_get_statistics", || {
        // SAFETY: null, or from `slotwork_create`, and not destroyed yet, as the header demands.
        let queue = unsafe { alive::look(queue) }?;
        let (report, (worker_wakes, submitter_wakes)) = (queue.carrier.report(), queue.carrier.wakes());
        let counts =
            Statistics { size: 0, handled: report.handled, cancelled: report.cancelled, worker_wakes, submitter_wakes };
        // SAFETY: null, or writable for as many bytes as its size says, as the header demands.
        unsafe { write(counts, statistics) }
    })
}
