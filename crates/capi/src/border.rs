//! What every call from C goes through: no panic gets out, a failure is remembered, misuse is told apart.

use crate::status::{Status, remember};
use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a call's body. A panic of ours becomes [`Status::Internal`]; a C callback has none.
#[inline]
pub(crate) fn call(name: &str, body: impl FnOnce() -> Result<(), Status>) -> Status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(status @ (Status::NoneFree | Status::Timeout))) => status,
        Ok(Err(status)) => {
            remember(name, status, "");
            status
        }
        Err(panic) => {
            // What was thrown may itself panic as it is dropped.
            std::mem::forget(panic);
            remember(name, Status::Internal, "");
            Status::Internal
        }
    }
}

/// As [`call`], for what fails with a detail in words.
pub(crate) fn call_in_detail<T>(name: &str, body: impl FnOnce() -> Result<T, (Status, String)>) -> Result<T, Status> {
    let mut built = None;
    let mut detail = String::new();
    let status = call(name, || {
        built = Some(body().map_err(|(status, words)| {
            detail = words;
            status
        })?);
        Ok(())
    });
    if !detail.is_empty() {
        remember(name, status, &detail);
    }
    built.ok_or(status)
}

/// A misuse that the 2018 interface has no way to report: says which call, and ends the program.
#[cold]
pub(crate) fn fatal(name: &str, status: Status) -> ! {
    eprintln!("slotwork: fatal: {name}: {}", status.text().to_string_lossy());
    std::process::abort();
}

/// A string of the caller's, if there is one.
///
/// # Safety
/// `text` is null or a string that ends with a zero, and nobody changes it meanwhile.
pub(crate) unsafe fn string(text: *const c_char) -> Option<String> {
    // SAFETY: not null, and as the caller promises.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// A number that no other thread has that is alive now: the address of a variable of its own.
#[inline]
pub(crate) fn this_thread() -> usize {
    thread_local! {
        static MARK: Cell<u8> = const { Cell::new(0) };
    }
    MARK.with(|mark| std::ptr::from_ref(mark).addr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_panic_crosses_the_border() {
        struct Thrower;
        impl Drop for Thrower {
            fn drop(&mut self) {
                panic!("as it is dropped");
            }
        }
        assert_eq!(call("test", || panic!("a bug")), Status::Internal);
        assert_eq!(call("test", || std::panic::panic_any(Thrower)), Status::Internal);
        assert_eq!(call_in_detail::<()>("test", || panic!("a bug")), Err(Status::Internal));
    }

    #[test]
    fn threads_are_told_apart() {
        let here = this_thread();
        assert_eq!(here, this_thread());
        assert_ne!(here, std::thread::spawn(this_thread).join().unwrap());
    }
}
