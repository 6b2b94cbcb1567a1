//! `slotwork.h`: the full interface.

use crate::alive;
use crate::border::{call, call_in_detail, string, this_thread};
use crate::callbacks::{Callback, Callbacks};
use crate::carrier::{Carrier, Patience, Submitting, build};
use crate::choice::{MANY_SUBMITTERS, dispatch, waiting};
use crate::growing::{Growing, read, write};
use crate::single::Single;
use crate::status::{self, Status};
use slotwork_workqueue::Configuration as Chosen;
use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How threads wait when there is nothing for them.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// 64 looks, 32 yields, then sleep.
    Settle = 0,
    /// Look for ever: a core for each thread.
    Spin = 1,
    /// 64 looks, then yield for ever.
    Yield = 2,
    /// 64 looks, then sleep.
    Park = 3,
    /// 1000 looks, then sleep: as in 2018.
    Busy1000 = 4,
}

/// How submitters go on from worker to worker.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispatch {
    /// To the next worker after each request.
    RoundRobin = 0,
    /// Stays with a worker until its requests are all in use.
    FillFirst = 1,
}

/// What became of a request.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was never submitted.
    Fresh = 0,
    /// Its handler returned.
    Handled = 1,
    /// It was cancelled by a shutdown.
    Cancelled = 2,
}

/// What can be chosen of a queue. Set `size` to its size, leave zero what is not chosen:
/// `slotwork_configuration c = { .size = sizeof c, .workers = 4 };`
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Configuration {
    /// `sizeof(slotwork_configuration)`: later versions have more fields.
    pub size: usize,
    /// Threads are named after it; NULL: "slotwork".
    pub name: *const c_char,
    /// A name from `slotwork_design_name`; NULL: what the environment's `SLOTWORK_DESIGN` says, else bitmap-claim.
    pub design: *const c_char,
    /// Bytes of one request; may be 0.
    pub request_size: usize,
    /// Worker threads; 0: one.
    pub workers: u32,
    /// Requests for each worker; 0: four.
    pub requests_per_worker: u32,
    /// A `slotwork_waiting`.
    pub waiting: u32,
    /// A `slotwork_dispatch`.
    pub dispatch: u32,
}

/// What a program wants called. Each but the handler may be NULL; each gets the context after the request. No
/// callback may be left by longjmp or an exception.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Operations {
    /// `sizeof(slotwork_operations)`: later versions have more fields.
    pub size: usize,
    /// Called with each request, zeroed, while the queue is created. A negative answer is a failure: what had been
    /// initialised is uninitialised, and nothing is created.
    pub init: Option<unsafe extern "C" fn(request: *mut c_void, context: *mut c_void) -> c_int>,
    /// Called once with each request that was initialised, with the end of the queue and of its last submitter.
    pub uninit: Option<unsafe extern "C" fn(request: *mut c_void, context: *mut c_void)>,
    /// Called on a worker thread, once for each submitted request that is not cancelled.
    pub handler: Option<unsafe extern "C" fn(request: *mut c_void, context: *mut c_void)>,
    /// Called on a submitter's side, once for each handled request: when its memory is acquired again, in a drain, as a
    /// submitter is destroyed, or at the end of the queue.
    pub done: Option<unsafe extern "C" fn(request: *mut c_void, context: *mut c_void)>,
    /// Handed to each of them.
    pub context: *mut c_void,
}

/// Counts of a queue since it was created; exact after a drain or a shutdown.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Statistics {
    /// `sizeof(slotwork_statistics)`: later versions have more fields.
    pub size: usize,
    /// Requests whose handler returned.
    pub handled: u64,
    /// Requests that a shutdown cancelled.
    pub cancelled: u64,
    /// Sleeping workers that were woken.
    pub worker_wakes: u64,
    /// Sleeping submitters that were woken.
    pub submitter_wakes: u64,
}

// SAFETY: each begins with its size, and all zeroes are a value of it: numbers, null pointers, absent functions.
unsafe impl Growing for Configuration {}
// SAFETY: as above.
unsafe impl Growing for Operations {}
// SAFETY: as above.
unsafe impl Growing for Statistics {}

/// A queue with its worker threads. May be used by all threads at once.
pub struct Queue {
    carrier: Arc<dyn Carrier>,
}

/// What one thread submits with. It belongs to the thread that created it, until another adopts it.
pub struct Submitter {
    owner: AtomicUsize,
    single: Single,
    submitting: Box<dyn Submitting>,
}

/// Describes a status. Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn slotwork_status_text(status: c_int) -> *const c_char {
    let known = usize::try_from(status).ok().and_then(|number| Status::ALL.get(number));
    known.map_or(c"unknown status", |status| status.text()).as_ptr()
}

/// The calling thread's last failure in words, with the name of the call; good until its next failure. "No request is
/// free" and "the time ran out" are not kept. Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn slotwork_last_error() -> *const c_char {
    status::last()
}

/// The name of the design of this number, from 0; NULL when there are no more.
#[unsafe(no_mangle)]
pub extern "C" fn slotwork_design_name(number: usize) -> *const c_char {
    crate::names::design(number).map_or(null(), std::ffi::CStr::as_ptr)
}

/// How many submitters a design takes at once: 0 for as many as there is memory for, less the queue's own; and -1
/// when there is no such design.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_design_submitters(design: *const c_char) -> c_int {
    // SAFETY: null, or a string, as the header demands.
    let entry = unsafe { string(design) }.and_then(|name| slotwork_catalog::entry(&name).ok());
    entry.map_or(-1, |entry| match (entry.claims.submitters, entry.claims.max_clients) {
        (slotwork::Submitters::One, _) => 1,
        // One of them is the queue's own, from which the others are made.
        (slotwork::Submitters::Many, limit) => limit.and_then(|limit| c_int::try_from(limit - 1).ok()).unwrap_or(0),
    })
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
        let submitting = Arc::clone(&unsafe { alive::look(queue) }?.carrier).submitter()?;
        let owner = AtomicUsize::new(this_thread());
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

/// Destroys a submitter, and withdraws what it holds. What it submitted is handled all the same. What runs meanwhile
/// because a request is done must not use this submitter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_submitter_destroy(submitter: *mut Submitter) -> Status {
    call("slotwork_submitter_destroy", || {
        // SAFETY: null, or from `slotwork_submitter_create`, and not destroyed yet, as the header demands.
        let inside = unsafe { own(submitter) }?.single.is_inside();
        if inside {
            return Err(Status::InsideHandler);
        }
        // SAFETY: as above; nothing refers to it any more.
        drop(unsafe { alive::take(submitter) }?);
        Ok(())
    })
}

/// A free request, if there is one now. Never waits. Its memory is as the last handler left it, after `done`.
/// On failure `*request` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_try_acquire(submitter: *const Submitter, request: *mut *mut c_void) -> Status {
    // SAFETY: as the header demands.
    call("slotwork_try_acquire", || unsafe { acquire(submitter, Patience::None, request) })
}

/// A free request; waits until there is one. Inside of a callback of the same queue it fails instead of waiting.
/// On failure `*request` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_acquire(submitter: *const Submitter, request: *mut *mut c_void) -> Status {
    // SAFETY: as the header demands.
    call("slotwork_acquire", || unsafe { acquire(submitter, Patience::ForEver, request) })
}

/// As `slotwork_acquire`, for at most so many nanoseconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_acquire_timeout(
    submitter: *const Submitter,
    nanoseconds: u64,
    request: *mut *mut c_void,
) -> Status {
    let patience = Patience::For(Duration::from_nanos(nanoseconds));
    // SAFETY: as the header demands.
    call("slotwork_acquire_timeout", || unsafe { acquire(submitter, patience, request) })
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
#[unsafe(no_mangle)]
pub unsafe extern "C" fn slotwork_drain(submitter: *const Submitter) -> Status {
    // SAFETY: as the header demands.
    call("slotwork_drain", || unsafe { with(submitter, |submitting| submitting.drain()) })
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
unsafe fn with<T>(
    submitter: *const Submitter,
    body: impl FnOnce(&dyn Submitting) -> Result<T, Status>,
) -> Result<T, Status> {
    // SAFETY: as the caller promises.
    let submitter = unsafe { own(submitter) }?;
    let _inside = submitter.single.enter()?;
    body(&*submitter.submitting)
}

/// Acquires into `*request`.
///
/// # Safety
/// As [`alive::look`]; `request` is null or writable.
#[inline]
unsafe fn acquire(submitter: *const Submitter, patience: Patience, request: *mut *mut c_void) -> Result<(), Status> {
    if request.is_null() {
        return Err(Status::Null);
    }
    // SAFETY: as the caller promises.
    let acquired = unsafe { with(submitter, |submitting| submitting.acquire(patience)) };
    // SAFETY: not null, so writable, as the caller promises.
    unsafe { request.write(*acquired.as_ref().unwrap_or(&null_mut())) };
    acquired.map(drop)
}

impl Operations {
    fn callbacks(&self) -> Callbacks {
        Callbacks {
            init: self.init.map(|init| Callback::WithContext(init, self.context)),
            uninit: self.uninit.map(|uninit| Callback::WithContext(uninit, self.context)),
            handler: self.handler.map(|handler| Callback::WithContext(handler, self.context)),
            done: self.done.map(|done| Callback::WithContext(done, self.context)),
        }
    }
}

impl From<slotwork_workqueue::Fate> for Fate {
    fn from(fate: slotwork_workqueue::Fate) -> Self {
        use slotwork_workqueue::Fate as Of;
        match fate {
            Of::Fresh => Self::Fresh,
            // A C handler cannot fail.
            Of::Handled | Of::Failed => Self::Handled,
            Of::Cancelled => Self::Cancelled,
        }
    }
}
