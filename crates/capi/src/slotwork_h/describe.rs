//! Names and texts.

use crate::border::string;
use crate::status::{self, Status};
use std::ffi::{c_char, c_int};
use std::ptr::null;

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
