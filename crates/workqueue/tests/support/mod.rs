//! What the tests share: the run over all designs, watchdogs, gates, and the parts in the files beside.

pub(crate) mod bells;
pub(crate) mod child;
pub(crate) mod fault;
pub(crate) mod stepped;
pub(crate) mod subject;
pub(crate) mod toy;

use fault::Fault;
use slotwork::Design;
use slotwork_catalog::{Visitor, visit_all};
use slotwork_workqueue::Completion;
use std::any::Any;
use std::marker::PhantomData;
use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{ScopedJoinHandle, scope, sleep, spawn};
use std::time::{Duration, Instant};
use subject::{Real, Subject};
use toy::Toy;

/// Longer than anything here takes on a busy machine: only what hangs takes longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// For variants of which it is known that they hang.
pub(crate) const IMPATIENCE: Duration = Duration::from_secs(1);
/// What is said of those.
const NO_END: &str = "no end";

/// Runs a check for the workqueue over every design of the catalog; all of them, even when one fails, and then fails
/// with the names of those that did.
pub(crate) fn for_every_design(check: fn(&'static dyn Subject)) {
    struct Subjects;
    impl Visitor for Subjects {
        type Output = (&'static str, &'static dyn Subject);
        fn visit<D: Design>(&mut self) -> Self::Output {
            (D::NAME, &Real::<D>(Completion::OneEvent, PhantomData))
        }
    }
    let outcomes = visit_all(&mut Subjects).into_iter().map(|(name, subject)| {
        let fault = fault_of(move || check(subject), PATIENCE)?;
        Some(format!("{name}: {fault}"))
    });
    assert_no_failures(outcomes.collect());
}

/// Runs a check, a function generic over `D: Design`, for every design of the catalog.
macro_rules! for_every_type {
    ($check:ident) => {{
        struct Run;
        impl slotwork_catalog::Visitor for Run {
            type Output = Option<String>;
            fn visit<D: slotwork::Design>(&mut self) -> Option<String> {
                let fault = $crate::support::fault_of($check::<D>, $crate::support::PATIENCE)?;
                Some(format!("{}: {fault}", D::NAME))
            }
        }
        $crate::support::assert_no_failures(slotwork_catalog::visit_all(&mut Run));
    }};
}
pub(crate) use for_every_type;

/// Runs a check, a function generic over `D: Design`, for four designs that differ in all that a workqueue sees: one
/// submitter or many, a worker's own requests or anybody's, a lock or none.
macro_rules! for_four_types {
    ($check:ident) => {{
        use slotwork::Design;
        let checks: [(&str, fn()); 4] = [
            (slotwork_bitmap::Bitmap::NAME, $check::<slotwork_bitmap::Bitmap>),
            (slotwork_bitmap::BitmapClaim::NAME, $check::<slotwork_bitmap::BitmapClaim>),
            (slotwork_linked_queue::LinkedQueue::NAME, $check::<slotwork_linked_queue::LinkedQueue>),
            (slotwork_locked::GlobalLock::NAME, $check::<slotwork_locked::GlobalLock>),
        ];
        let outcomes = checks.into_iter().map(|(name, check)| {
            let fault = $crate::support::fault_of(check, $crate::support::PATIENCE)?;
            Some(format!("{name}: {fault}"))
        });
        $crate::support::assert_no_failures(outcomes.collect());
    }};
}
pub(crate) use for_four_types;

/// Runs a check against the toy workqueue: without a fault it passes, with each of these it must fail, for the reason
/// given.
pub(crate) fn assert_rejects(check: fn(&'static dyn Subject), faults: &[(Fault, &str)]) {
    let control: &'static Toy = Box::leak(Box::new(Toy(Fault::None)));
    assert_eq!(fault_of(move || check(control), PATIENCE), None, "the control");
    for &(fault, reason) in faults {
        let toy: &'static Toy = Box::leak(Box::new(Toy(fault)));
        assert_rejected(&format!("{fault:?}"), move || check(toy), reason);
    }
}

pub(crate) fn assert_no_failures(outcomes: Vec<Option<String>>) {
    assert!(!outcomes.is_empty(), "the catalog has designs");
    let failures: Vec<String> = outcomes.into_iter().flatten().collect();
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
}

/// What a check complains of; also when it does not end.
pub(crate) fn fault_of(check: impl FnOnce() + Send + 'static, patience: Duration) -> Option<String> {
    let started = Instant::now();
    let thread = spawn(check);
    while !thread.is_finished() {
        if started.elapsed() > patience {
            // The thread is left behind, so that the test can fail.
            return Some(format!("{NO_END} in {patience:?}"));
        }
        sleep(Duration::from_micros(300));
    }
    thread.join().err().map(|panic| message_of(&*panic))
}

/// Fails unless the check complains, and of this.
pub(crate) fn assert_rejected(variant: &str, check: impl FnOnce() + Send + 'static, reason: &str) {
    let patience = if reason == NO_END { IMPATIENCE } else { PATIENCE };
    match fault_of(check, patience) {
        None => panic!("{variant} was accepted"),
        // A fault that loses something may also show as a wait for it without end, as the threads happen to run.
        Some(fault) => assert!(
            fault.contains(reason) || fault.contains(NO_END),
            "{variant} was rejected, but not for '{reason}':\n{fault}"
        ),
    }
}

/// The message of a panic.
pub(crate) fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_else(|| "a panic".into())
}

/// Panics without the noise of a message.
pub(crate) fn planted_panic() -> ! {
    resume_unwind(Box::new("planted"))
}

/// Runs the same in a thread for each, and gives back what each gives; a panic goes on in the caller.
pub(crate) fn in_threads<T: Send, R: Send>(all: Vec<T>, run: impl Fn(T) -> R + Copy + Send) -> Vec<R> {
    scope(|scope| {
        let threads: Vec<_> = all.into_iter().map(|one| scope.spawn(move || run(one))).collect();
        let ended: Vec<_> = threads.into_iter().map(ScopedJoinHandle::join).collect();
        ended.into_iter().map(|end| end.unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// Yields until it is so. What never becomes so is seen by the watchdog.
pub(crate) fn until(mut so: impl FnMut() -> bool) {
    while !so() {
        std::thread::yield_now();
    }
}

/// Long enough, usually, for another thread to fall asleep. A test is sharper for it; no verdict hangs on it.
pub(crate) fn let_others_sleep() {
    sleep(Duration::from_millis(20));
}

/// A gate that threads wait at until it is opened.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<(Mutex<(bool, usize)>, Condvar)>);

impl Gate {
    /// Waits until it is open.
    pub(crate) fn pass(&self) {
        let (state, condition) = &*self.0;
        let mut state = state.lock().unwrap();
        state.1 += 1;
        condition.notify_all();
        drop(condition.wait_while(state, |state| !state.0).unwrap());
    }

    pub(crate) fn open(&self) {
        let (state, condition) = &*self.0;
        state.lock().unwrap().0 = true;
        condition.notify_all();
    }

    /// Waits until so many have come to it.
    pub(crate) fn wait_for(&self, count: usize) {
        let (state, condition) = &*self.0;
        drop(condition.wait_while(state.lock().unwrap(), |state| state.1 < count).unwrap());
    }
}
