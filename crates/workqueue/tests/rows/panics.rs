//! Handlers, and what runs after them, that panic.

use crate::support::fault::Fault;
use crate::support::subject::{Parcel, Plan, Subject, Then, Wait, ignore};
use crate::support::{assert_rejects, for_every_design, for_four_types, let_others_sleep, planted_panic};
use slotwork::{Design, Submitters};
use slotwork_workqueue::{Fate, Report, Workqueue};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread::spawn;

/// 100 requests, every 7th panics: 14 failed, 86 handled, each told to its submitter; the workers are all there.
pub(crate) fn panic_invisible(subject: &'static dyn Subject) {
    let workers = 3;
    let together = Arc::new(Barrier::new(workers));
    let done = Arc::new(AtomicUsize::new(0));
    let (queue, submitter) = {
        let (together, done) = (Arc::clone(&together), Arc::clone(&done));
        let handler = move |parcel: &mut Parcel| match parcel.number {
            // Each worker comes here once: with one of them gone, the others wait for ever.
            u64::MAX => drop(together.wait()),
            number if number % 7 == 0 => planted_panic(),
            _ => {}
        };
        subject.start(Plan::new(workers, 2), handler, move |_| _ = done.fetch_add(1, Ordering::Relaxed))
    };
    let mut failed = 0;
    for number in 1..=100 {
        let sent = submitter.with(Wait::ForEver, |parcel, fate| {
            let panicked = parcel.number % 7 == 0 && parcel.number != 0;
            assert_eq!(fate == Fate::Failed, panicked, "request {} was {fate:?}", parcel.number);
            failed += u32::from(panicked);
            parcel.number = number;
            Then::Submit
        });
        sent.expect("not stopped");
        submitter.drain().expect("outside of handlers");
    }
    let report = queue.report();
    assert_eq!(report, Report { handled: 86, failed: 14, cancelled: 0 });
    // A worker may have more slots than one: enough for each to get one, whoever takes them.
    let (threads, slots) = (workers, workers * 2);
    for _ in 0..slots {
        submitter.send(Wait::ForEver, u64::MAX).expect("not stopped");
    }
    let report = queue.shutdown();
    assert_eq!(report.handled, 86 + slots as u64, "all {threads} workers live");
    drop(submitter);
    assert_eq!(done.load(Ordering::Relaxed), 86 + slots, "done ran for what was handled, and nothing else");
    assert!(failed >= 8, "{failed} of the failed were told before their slots were used again");
}

#[test]
fn panic_invisible_is_told_counted_and_survived() {
    for_every_design(panic_invisible);
    assert_rejects(
        panic_invisible,
        &[(Fault::PanicEndsWorker, "no end"), (Fault::PanicPasses, "was Handled"), (Fault::PanicInvisible, "no end")],
    );
}

/// What is thrown panics as it is dropped, and what that throws does too: the worker lives on all the same.
#[test]
fn a_panic_inside_a_panic_is_survived() {
    struct Twice;
    impl Drop for Twice {
        fn drop(&mut self) {
            std::panic::resume_unwind(Box::new(Self));
        }
    }
    fn check(subject: &'static dyn Subject) {
        let handler = |parcel: &mut Parcel| {
            if parcel.number.is_multiple_of(2) {
                std::panic::resume_unwind(Box::new(Twice));
            }
        };
        let (queue, submitter) = subject.start(Plan::new(1, 2), handler, ignore);
        (0..10).for_each(|number| submitter.send(Wait::ForEver, number).expect("not stopped"));
        submitter.drain().expect("outside of handlers");
        assert_eq!(queue.shutdown(), Report { handled: 5, failed: 5, cancelled: 0 });
    }
    for_every_design(check);
}

/// `done` panics in one submitter's hands, when another waits for that slot: the slot is not lost, and the wake is not.
#[test]
fn a_done_that_panics_loses_no_slot_and_no_wake() {
    fn check<D: Design>() {
        let panics = Arc::new(AtomicBool::new(true));
        let planted = Arc::clone(&panics);
        let (_queue, submitter) = Workqueue::<u8, D>::builder("done")
            .requests_per_worker(1)
            .try_build(
                |_| Ok::<_, ()>(0),
                |_| {},
                move |_| {
                    if planted.swap(false, Ordering::Relaxed) {
                        let_others_sleep();
                        planted_panic();
                    }
                },
            )
            .expect("a small workqueue");
        let use_once = |submitter: &slotwork_workqueue::Submitter<u8, D>| {
            let used = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                submitter.request().expect("not stopped").submit().expect("not stopped");
            }));
            usize::from(used.is_err())
        };
        use_once(&submitter);
        let many = D::CLAIMS.submitters == Submitters::Many;
        let others: Vec<_> = if many { (0..3).map(|_| submitter.try_clone().expect("few")).collect() } else { vec![] };
        let threads: Vec<_> = others.into_iter().map(|other| spawn(move || use_once(&other))).collect();
        let mut panicked = use_once(&submitter);
        panicked += threads.into_iter().map(|thread| thread.join().expect("a submitter")).sum::<usize>();
        assert_eq!(panicked, 1, "in the hands of one");
        assert_eq!(use_once(&submitter), 0);
        panics.store(true, Ordering::Relaxed);
        let drained = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| submitter.drain()));
        assert!(drained.is_err(), "in the hands of a drain");
        assert!(submitter.request().is_ok(), "the slot is there");
    }
    for_four_types!(check);
}
