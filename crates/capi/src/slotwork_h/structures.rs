//! What a program fills in and reads.

use crate::callbacks::{Callback, Callbacks};
use crate::growing::Growing;
use std::ffi::{c_char, c_int, c_void};
use std::mem::offset_of;

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

/// What can be chosen of a queue. Set `size` to its size (a smaller one is refused), leave zero what is not chosen:
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
    /// Called once with each request that was initialised, with the end of the queue and of its last submitter. It must not
    /// use them.
    pub uninit: Option<unsafe extern "C" fn(request: *mut c_void, context: *mut c_void)>,
    /// Called on a worker thread, once for each submitted request that is not cancelled.
    pub handler: Option<unsafe extern "C" fn(request: *mut c_void, context: *mut c_void)>,
    /// Called on a submitter's side, once for each handled request: when its memory is acquired again, in a drain, as a
    /// submitter is destroyed, or at the end of the queue. It may use the submitter that it is called from, but not wait with it.
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
unsafe impl Growing for Configuration {
    const SIZES: &'static [usize] = &[offset_of!(Self, dispatch) + size_of::<u32>()];
}
// SAFETY: as above.
unsafe impl Growing for Operations {
    const SIZES: &'static [usize] = &[offset_of!(Self, context) + size_of::<*mut c_void>()];
}
// SAFETY: as above.
unsafe impl Growing for Statistics {
    const SIZES: &'static [usize] = &[offset_of!(Self, submitter_wakes) + size_of::<u64>()];
}

impl Operations {
    pub(super) fn callbacks(&self) -> Callbacks {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A field that is appended without its size, or put before others, is found here.
    fn whole<T: Growing>(published: &[usize]) {
        assert_eq!(T::SIZES, published, "what was published stays published");
        assert_eq!(T::SIZES.last(), Some(&size_of::<T>()), "the last one is all of it");
        assert!(T::SIZES.is_sorted());
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn each_size_that_was_published_is_known() {
        whole::<Configuration>(&[48]);
        whole::<Operations>(&[48]);
        whole::<Statistics>(&[40]);
    }
}
