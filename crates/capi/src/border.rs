//! What every call from C goes through: no panic gets out, a failure is remembered, misuse is told apart.

use crate::status::{Status, remember};
use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

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

/// Runs the body of a call of the 2018 interface, which has no way to report anything: what it fails with, and a panic of ours,
/// ends the program. That costs nothing as long as all is well; to catch a panic would.
#[inline]
pub(crate) fn call_or_abort<T>(name: &'static str, body: impl FnOnce() -> Result<T, Status>) -> T {
    struct Unless(&'static str);
    impl Drop for Unless {
        #[cold]
        fn drop(&mut self) {
            fatal(self.0, Status::Internal);
        }
    }
    let panicked = Unless(name);
    let result = body();
    std::mem::forget(panicked);
    match result {
        Ok(value) => value,
        Err(status) => fatal(name, status),
    }
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

/// A number that no other thread has, nor had, nor will have; never 0. (An address of the thread's own would be had again
/// by a thread that is started after its end.)
#[inline]
pub(crate) fn this_thread() -> u64 {
    thread_local! {
        static NUMBER: Cell<u64> = const { Cell::new(0) };
    }
    #[cold]
    fn first(number: &Cell<u64>) -> u64 {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        number.set(NEXT.fetch_add(1, Ordering::Relaxed));
        number.get()
    }
    NUMBER.with(|number| if number.get() == 0 { first(number) } else { number.get() })
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

    /// The test starts itself once more, for a program that is to end so.
    #[test]
    fn a_panic_of_the_2018_interface_ends_the_program_and_names_the_call() {
        const MARK: &str = "SLOTWORK_TEST_PANICS";
        let name = "border::tests::a_panic_of_the_2018_interface_ends_the_program_and_names_the_call";
        if std::env::var_os(MARK).is_some() {
            call_or_abort::<()>("some_call", || panic!("a bug"));
        }
        let mut program = std::process::Command::new(std::env::current_exe().unwrap());
        let output = program.args([name, "--exact", "--nocapture"]).env(MARK, "1").output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.contains("fatal: some_call: the library failed"), "{errors}");
        assert_eq!(call_or_abort("some_call", || Ok(7)), 7);
    }

    #[test]
    fn threads_are_told_apart() {
        let here = this_thread();
        assert_eq!(here, this_thread());
        let others: Vec<_> = (0..4).map(|_| std::thread::spawn(this_thread).join().unwrap()).collect();
        let all: std::collections::HashSet<_> = others.iter().chain([&here]).collect();
        assert_eq!(all.len(), 5, "{here}, {others:?}: a thread's number is not had again after its end");
    }
}
