//! What runs when a request is done, beside others that wait.

use slotwork_bitmap::BitmapClaim;
use slotwork_workqueue::{Completion, Submitter, Waiting, Workqueue};
use std::cell::RefCell;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A `done` that is still running keeps no free slot from another submitter. ONE-SLEEPER, DROPPED-GRANT: the wake for
/// the second slot must not stay with the submitter whose `done` runs.
fn one_sleeper_gets_the_slot_while_the_done_of_another_runs(completion: Completion) {
    let go: Arc<[AtomicBool; 2]> = Arc::default();
    let (got, first) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(true)));
    let (done_started, gave_up) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let handler = {
        let go = Arc::clone(&go);
        move |slot: &mut usize| until(|| go[*slot].load(Ordering::SeqCst))
    };
    let done = {
        let (got, first) = (Arc::clone(&got), Arc::clone(&first));
        let (done_started, gave_up) = (Arc::clone(&done_started), Arc::clone(&gave_up));
        move |_: &mut usize| {
            if first.swap(false, Ordering::SeqCst) {
                done_started.store(true, Ordering::SeqCst);
                let start = Instant::now();
                while !got.load(Ordering::SeqCst) {
                    if start.elapsed() > Duration::from_secs(20) {
                        gave_up.store(true, Ordering::SeqCst);
                        return;
                    }
                    thread::yield_now();
                }
            }
        }
    };
    let builder = Workqueue::<usize, BitmapClaim>::builder("done").workers(2).requests_per_worker(1);
    let builder = builder.waiting(Waiting::PARK).completion(completion);
    let (queue, submitter) = builder.try_build(|slot| Ok::<_, Infallible>(slot.index()), handler, done).unwrap();
    let both = [submitter.try_request().unwrap(), submitter.try_request().unwrap()];
    both.into_iter().for_each(|vacancy| vacancy.submit().unwrap());
    // Whoever gets the first slot stays in its `done`, so the other is the first to come here.
    let wait = |submitter: Submitter<usize, BitmapClaim>, got: Arc<AtomicBool>| {
        thread::spawn(move || {
            let vacancy = submitter.request().unwrap();
            got.store(true, Ordering::SeqCst);
            drop(vacancy);
        })
    };
    let one = wait(submitter.clone(), Arc::clone(&got));
    thread::sleep(Duration::from_millis(50));
    let two = wait(submitter.clone(), Arc::clone(&got));
    thread::sleep(Duration::from_millis(50));
    go[0].store(true, Ordering::SeqCst);
    until(|| done_started.load(Ordering::SeqCst));
    go[1].store(true, Ordering::SeqCst);
    one.join().unwrap();
    two.join().unwrap();
    assert!(!gave_up.load(Ordering::SeqCst), "the other submitter slept beside a free slot");
    drop(submitter);
    queue.shutdown().unwrap();
}

fn until(so: impl Fn() -> bool) {
    while !so() {
        thread::yield_now();
    }
}

#[test]
fn one_sleeper_gets_the_slot_while_a_done_runs_with_one_event() {
    one_sleeper_gets_the_slot_while_the_done_of_another_runs(Completion::OneEvent);
}

#[test]
fn one_sleeper_gets_the_slot_while_a_done_runs_with_an_event_per_worker() {
    one_sleeper_gets_the_slot_while_the_done_of_another_runs(Completion::EventPerWorker);
}

/// A submitter that its thread's end drops still runs `done` for what was handled. THREAD-EXIT.
#[test]
fn thread_exit_drops_a_submitter_that_has_something_to_collect() {
    thread_local! {
        static KEPT: RefCell<Option<Submitter<(), BitmapClaim>>> = const { RefCell::new(None) };
    }
    let dones = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&dones);
    let done = move |_: &mut ()| _ = counted.fetch_add(1, Ordering::SeqCst);
    let builder = Workqueue::<(), BitmapClaim>::builder("exit");
    let (queue, submitter) = builder.try_build(|_| Ok::<_, Infallible>(()), |()| {}, done).unwrap();
    let queue = Arc::new(queue);
    let handled = Arc::clone(&queue);
    let thread = thread::spawn(move || {
        // A thread's variables go in the reverse order of their first use: what the drain uses goes before the submitter.
        KEPT.with_borrow_mut(|kept| *kept = Some(submitter));
        KEPT.with_borrow(|kept| kept.as_ref().unwrap().drain().unwrap());
        KEPT.with_borrow(|kept| kept.as_ref().unwrap().try_request().unwrap().submit().unwrap());
        until(|| handled.report().handled == 1);
    });
    thread.join().unwrap();
    queue.shutdown().unwrap();
    assert_eq!(dones.load(Ordering::SeqCst), 1);
}
