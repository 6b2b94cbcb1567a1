//! What a C program wants called, in the shapes of both headers.

use std::ffi::{c_int, c_void};

/// A callback without context, as in 2018.
type Plain<R> = unsafe extern "C" fn(*mut c_void) -> R;
/// A callback that gets the context of the operations after the request.
type WithContext<R> = unsafe extern "C" fn(*mut c_void, *mut c_void) -> R;

/// One callback, in either shape.
#[derive(Clone, Copy)]
pub(crate) enum Callback<R> {
    /// Of `threaded-workqueue.h`.
    Plain(Plain<R>),
    /// Of `slotwork.h`.
    WithContext(WithContext<R>, *mut c_void),
}

// SAFETY: both interfaces demand that callbacks may be called from any thread, with their context.
unsafe impl<R> Send for Callback<R> {}
// SAFETY: as above.
unsafe impl<R> Sync for Callback<R> {}

impl<R> Callback<R> {
    #[inline]
    fn call(self, request: *mut c_void) -> R {
        // SAFETY: both interfaces demand that each callback may be called with a request of the queue,
        // from any thread, until the queue is destroyed; `request` belongs to the caller.
        unsafe {
            match self {
                Self::Plain(callback) => callback(request),
                Self::WithContext(callback, context) => callback(request, context),
            }
        }
    }
}

/// All four; each but the handler may be missing.
#[derive(Clone, Copy)]
pub(crate) struct Callbacks {
    pub(crate) init: Option<Callback<c_int>>,
    pub(crate) uninit: Option<Callback<()>>,
    pub(crate) handler: Option<Callback<()>>,
    pub(crate) done: Option<Callback<()>>,
}

impl Callbacks {
    #[cfg(test)]
    pub(crate) const NONE: Self = Self { init: None, uninit: None, handler: None, done: None };

    pub(crate) fn init(&self, request: *mut c_void) -> c_int {
        self.init.map_or(0, |init| init.call(request))
    }

    pub(crate) fn uninit(&self, request: *mut c_void) {
        if let Some(uninit) = self.uninit {
            uninit.call(request);
        }
    }

    #[inline]
    pub(crate) fn handle(&self, request: *mut c_void) {
        if let Some(handler) = self.handler {
            handler.call(request);
        }
    }

    #[inline]
    pub(crate) fn done(&self, request: *mut c_void) {
        if let Some(done) = self.done {
            done.call(request);
        }
    }
}
