//! What can go wrong, as C sees it: codes with texts, and the last failure of each thread in words.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::io::Write as _;

/// What became of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It did what was asked.
    Ok = 0,
    /// An argument that may not be null is.
    Null = 1,
    /// A structure's size is smaller than it ever was, a field that is not known is not zero, a value is none of
    /// its enumeration, or a variable of the environment is not UTF-8.
    Configuration = 2,
    /// There is no design of that name.
    UnknownDesign = 3,
    /// So many workers or requests cannot be had, or not with this design.
    Shape = 4,
    /// The design cannot dispatch so.
    Dispatch = 5,
    /// There is not so much memory.
    Memory = 6,
    /// A worker thread could not be started.
    Thread = 7,
    /// `init` refused a request. What had been initialised was uninitialised.
    Init = 8,
    /// The design takes one submitter, and it has one.
    OneSubmitter = 9,
    /// The design takes no more submitters at once.
    TooManySubmitters = 10,
    /// No request is free now.
    NoneFree = 11,
    /// The time ran out.
    Timeout = 12,
    /// The queue was shut down.
    Stopped = 13,
    /// A handler, or what runs when it is done, may not do this to its own queue: it would wait for itself, or destroy what
    /// it is called from.
    InsideHandler = 14,
    /// The process was forked from the one that has the workers.
    Forked = 15,
    /// The pointer is no request of this queue.
    ForeignRequest = 16,
    /// The request is not held by this submitter: it was submitted or withdrawn already, or another has it.
    NotHeld = 17,
    /// The submitter belongs to another thread.
    WrongThread = 18,
    /// The handle was destroyed, or never was one. Only a debug build finds this out.
    DeadHandle = 19,
    /// The library failed. Nothing is known of the queue any more.
    Internal = 20,
}

impl Status {
    /// All of them, by their numbers.
    pub(crate) const ALL: [Self; 21] = [
        Self::Ok,
        Self::Null,
        Self::Configuration,
        Self::UnknownDesign,
        Self::Shape,
        Self::Dispatch,
        Self::Memory,
        Self::Thread,
        Self::Init,
        Self::OneSubmitter,
        Self::TooManySubmitters,
        Self::NoneFree,
        Self::Timeout,
        Self::Stopped,
        Self::InsideHandler,
        Self::Forked,
        Self::ForeignRequest,
        Self::NotHeld,
        Self::WrongThread,
        Self::DeadHandle,
        Self::Internal,
    ];

    pub(crate) const fn text(self) -> &'static CStr {
        match self {
            Self::Ok => c"no error",
            Self::Null => c"an argument is null",
            Self::Configuration => c"the configuration is not valid",
            Self::UnknownDesign => c"there is no design of that name",
            Self::Shape => c"so many workers or requests cannot be had",
            Self::Dispatch => c"the design cannot dispatch so",
            Self::Memory => c"there is not so much memory",
            Self::Thread => c"a worker thread could not be started",
            Self::Init => c"a request could not be initialised",
            Self::OneSubmitter => c"this design takes one submitter, and it has one",
            Self::TooManySubmitters => c"this design takes no more submitters at once",
            Self::NoneFree => c"no request is free",
            Self::Timeout => c"the time ran out",
            Self::Stopped => c"the queue was shut down",
            Self::InsideHandler => c"a handler may not do this to its own queue",
            Self::Forked => c"the workers are in another process: this one was forked from it",
            Self::ForeignRequest => c"the pointer is no request of this queue",
            Self::NotHeld => c"the request is not held by this submitter",
            Self::WrongThread => c"the submitter belongs to another thread",
            Self::DeadHandle => c"the handle was destroyed",
            Self::Internal => c"the library failed",
        }
    }

    /// Whether the program, and not the moment, is at fault.
    const fn is_misuse(self) -> bool {
        matches!(
            self,
            Self::Null
                | Self::ForeignRequest
                | Self::NotHeld
                | Self::WrongThread
                | Self::DeadHandle
                | Self::InsideHandler
        )
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Keeps the words of a failure for the calling thread. A debug build also prints those of a misuse.
#[cold]
pub(crate) fn remember(call: &str, status: Status, detail: &str) {
    let text = if detail.is_empty() { status.text().to_string_lossy() } else { detail.into() };
    let text = format!("{call}: {text}");
    if cfg!(debug_assertions) && status.is_misuse() {
        // Where nobody hears it, that is no further fault.
        let _ = writeln!(std::io::stderr(), "slotwork: {text}");
    }
    // A thread that is ending has no place for it any more.
    let _ = LAST.try_with(|last| *last.borrow_mut() = CString::new(text).unwrap_or_default());
}

/// The words of the calling thread's last failure; good until its next one.
pub(crate) fn last() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_is_listed_under_its_number_and_has_a_text_of_its_own() {
        let mut texts = std::collections::HashSet::new();
        for (number, status) in Status::ALL.into_iter().enumerate() {
            assert_eq!(status as usize, number);
            assert!(texts.insert(status.text()), "{status:?}");
        }
    }
}
