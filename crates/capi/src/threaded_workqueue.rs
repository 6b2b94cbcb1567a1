//! `threaded-workqueue.h`: the interface of 2018, source compatible.

use crate::alive;
use crate::border::{call_in_detail, call_or_abort, string};
use crate::callbacks::{Callback, Callbacks};
use crate::carrier::{Carrier, Patience, Submitting, build};
use crate::choice::{ONE_SUBMITTER, from_environment};
use crate::single::Single;
use crate::status::Status;
use slotwork_workqueue::Configuration;
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::ptr::null_mut;
use std::sync::Arc;

/// A usual number of requests for each thread.
pub const DEFAULT_THREAD_REQUEST_NR: c_uint = 4;

/// What a program wants called, and how large its requests are. Each but the handler may be NULL.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ThreadedWorkqueueOps {
    /// Called with each request, zeroed, while the workqueue is created. A negative answer is a failure: what had
    /// been initialised is uninitialised, and nothing is created.
    pub thread_request_init: Option<unsafe extern "C" fn(request: *mut c_void) -> c_int>,
    /// Called once with each request that was initialised, at the latest by the time that the workqueue is destroyed. It must
    /// not use the workqueue.
    pub thread_request_uninit: Option<unsafe extern "C" fn(request: *mut c_void)>,
    /// Called on a worker thread, once for each submitted request.
    pub thread_request_handler: Option<unsafe extern "C" fn(request: *mut c_void)>,
    /// Called on the submitter's thread, once for each handled request: when its memory is got again, or while
    /// waiting for requests, or while the workqueue is destroyed.
    pub thread_request_done: Option<unsafe extern "C" fn(request: *mut c_void)>,
    /// Bytes of one request; may be 0.
    pub request_size: usize,
}

/// A workqueue. One thread at a time submits.
// In lines of its own: each call writes to it, and the allocator may have put beside it what a worker reads.
#[repr(align(128))]
pub struct Threads {
    /// Both are there until `single` ends.
    submitter: ManuallyDrop<Box<dyn Submitting>>,
    carrier: ManuallyDrop<Arc<dyn Carrier>>,
    single: Single,
    /// It is being destroyed: what runs when a request is done gets no other any more.
    ending: Cell<bool>,
    /// There was a submit since this was last cleared.
    submitted: Cell<bool>,
}

/// Creates `threads_nr` worker threads, named after `name`, with `thread_requests_nr` requests (1 to 64) for each.
/// Requests are zeroed and aligned as malloc's memory is.
///
/// NULL on failure; `slotwork_last_error` of slotwork.h says why.
///
/// The environment may choose another design (`SLOTWORK_DESIGN`: a name from `slotwork_design_name`), way of waiting
/// (`SLOTWORK_WAITING`: settle, spin, yield, park, busy-1000) and dispatch (`SLOTWORK_DISPATCH`: round-robin, fill-first).
///
/// No callback may be left by longjmp or an exception.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn threaded_workqueue_create(
    name: *const c_char,
    threads_nr: c_uint,
    thread_requests_nr: c_uint,
    ops: *const ThreadedWorkqueueOps,
) -> *mut Threads {
    let created = call_in_detail("threaded_workqueue_create", || {
        let null = || (Status::Null, String::new());
        // SAFETY: null, or readable, as the header demands.
        let ops = unsafe { ops.as_ref() }.ok_or_else(null)?;
        if ops.thread_request_handler.is_none() {
            return Err((Status::Null, "there is no handler".into()));
        }
        let mut configuration = Configuration {
            workers: threads_nr as usize,
            requests_per_worker: thread_requests_nr as usize,
            ..Configuration::default()
        };
        // SAFETY: null, or a string, as the header demands.
        if let Some(name) = unsafe { string(name) } {
            configuration.name = name;
        }
        let design = from_environment(|variable| std::env::var_os(variable), ONE_SUBMITTER, &mut configuration)
            .map_err(|words| (Status::Configuration, words))?;
        let carrier = build(&design, configuration, ops.request_size, ops.callbacks())?;
        let submitter = Arc::clone(&carrier).submitter().map_err(|status| (status, String::new()))?;
        let (submitter, carrier) = (ManuallyDrop::new(submitter), ManuallyDrop::new(carrier));
        let (single, ending, submitted) = (Single::new(), Cell::new(false), Cell::new(false));
        Ok(Threads { submitter, carrier, single, ending, submitted })
    });
    created.map_or(null_mut(), alive::give)
}

/// Handles what was submitted, runs what is to be run when requests are done, ends the threads, uninitialises all
/// requests and frees everything. What runs when a request is done may submit what the program holds meanwhile, which is
/// handled too; none is free for it. Not to be called by a handler, nor by what runs when a request is done. NULL is ignored.
/// In a process that was forked it does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn threaded_workqueue_destroy(threads: *mut Threads) {
    if threads.is_null() {
        return;
    }
    call_or_abort("threaded_workqueue_destroy", || {
        // SAFETY: from `threaded_workqueue_create`, and not destroyed yet, as the header demands.
        let handle = unsafe { alive::look(threads) }?;
        if handle.single.is_inside() || handle.ending.replace(true) {
            return Err(Status::InsideHandler);
        }
        // With the threads still there, until nothing more comes: each submit takes a request that is held, and none
        // is got any more.
        loop {
            handle.submitted.set(false);
            match handle.submitter.drain(Patience::ForEver) {
                // The memory may be in use by threads of the other process, as far as this one knows; it is kept.
                Err(Status::Forked) => {
                    handle.ending.set(false);
                    return Ok(());
                }
                drained => drained?,
            }
            if !handle.submitted.get() {
                break;
            }
        }
        handle.carrier.shutdown(false)?;
        // No `done` is left that would call the workqueue. The handle stays while `uninit`s run, which should not.
        handle.single.end()?;
        // SAFETY: `end` lets one call through, which is this, and nobody after it: so both are read once, and not used there.
        let (submitter, carrier) =
            unsafe { (std::ptr::read(&raw const handle.submitter), std::ptr::read(&raw const handle.carrier)) };
        drop(ManuallyDrop::into_inner(submitter));
        carrier.close()?;
        drop(ManuallyDrop::into_inner(carrier));
        // SAFETY: as above; nothing refers to it any more.
        drop(unsafe { alive::take(threads) }?);
        Ok(())
    });
}

/// A free request, or NULL when none is free: never waits. Its memory is as the last handler left it, after
/// what runs when it is done has run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn threaded_workqueue_get_request(threads: *mut Threads) -> *mut c_void {
    call_or_abort("threaded_workqueue_get_request", || {
        // SAFETY: from `threaded_workqueue_create`, and not destroyed yet, as the header demands.
        let threads = unsafe { alive::look(threads) }?;
        let _single = threads.single.enter()?;
        let request = if threads.ending.get() { None } else { threads.submitter.try_acquire() };
        Ok(request.unwrap_or(null_mut()))
    })
}

/// Hands a request to the threads; it must have been got from `threaded_workqueue_get_request`, and not been
/// submitted since: everything else is found out, named on standard error, and ends the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn threaded_workqueue_submit_request(threads: *mut Threads, request: *mut c_void) {
    call_or_abort("threaded_workqueue_submit_request", || {
        // SAFETY: from `threaded_workqueue_create`, and not destroyed yet, as the header demands.
        let threads = unsafe { alive::look(threads) }?;
        let _single = threads.single.enter()?;
        threads.submitted.set(true);
        threads.submitter.submit(request)
    });
}

/// Waits until all that was submitted before has been handled, and runs what is to be run when a request is done. Not to be
/// called by a handler, nor by what runs when a request is done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn threaded_workqueue_wait_for_requests(threads: *mut Threads) {
    call_or_abort("threaded_workqueue_wait_for_requests", || {
        // SAFETY: from `threaded_workqueue_create`, and not destroyed yet, as the header demands.
        let threads = unsafe { alive::look(threads) }?;
        let _single = threads.single.enter()?;
        threads.submitter.drain(Patience::ForEver)
    });
}

impl ThreadedWorkqueueOps {
    fn callbacks(&self) -> Callbacks {
        Callbacks {
            init: self.thread_request_init.map(Callback::Plain),
            uninit: self.thread_request_uninit.map(Callback::Plain),
            handler: self.thread_request_handler.map(Callback::Plain),
            done: self.thread_request_done.map(Callback::Plain),
        }
    }
}
