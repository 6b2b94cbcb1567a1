//! Faults that queues of this kind have had in public: one test each, for every design.

mod support;

use slotwork::{Claimed, Design, Destination, Outcome, RequestQueue, Shape, Worker};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{scope, spawn, yield_now};
use support::known_bad::{self, Bad};
use support::{
    ClientOf, acquire_all, acquired, admitted, assert_rejected, for_every_design, full_circle, handles, small, take_all,
};

/// Takes and completes until told to stop; how many.
fn work<T, Q: RequestQueue>(worker: &Worker<T, Q>, stop: &AtomicBool) -> usize {
    let mut handled = 0;
    loop {
        let stopping = stop.load(Ordering::Acquire);
        match worker.take() {
            Some(claimed) => {
                claimed.complete();
                handled += 1;
            }
            None if stopping => return handled,
            None => yield_now(),
        }
    }
}

/// Ends the workers of a scope also when the client's side panics, so that the scope ends and tells.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

fn dropped_grant<D: Design>() {
    let (client, workers) = small::<D, u64>(1, 2);
    for _ in 0..100 {
        drop(client.acquire().unwrap_or_else(|| panic!("{}: a dropped grant is gone", D::NAME)));
    }
    full_circle(D::NAME, &client, &workers);
}

#[test]
fn dropped_grant_frees_its_slot() {
    for_every_design!(dropped_grant);
}

#[test]
fn rejects_a_dropped_grant_that_is_gone() {
    assert_rejected(dropped_grant::<Bad<known_bad::WithdrawLoses>>, &["a dropped grant is gone"]);
}

/// A client that holds all slots but one, and has found nothing, gets the last one when it comes free: nobody else can give it
/// more to wait for.
fn last_one<D: Design>() {
    let (client, workers) = small::<D, u64>(1, 16);
    let mut held = acquire_all(&client);
    assert_eq!(held.len(), 16, "{}", D::NAME);
    assert!(client.acquire().is_none(), "{}: a slot too many", D::NAME);
    held.pop().expect("sixteen are held").submit();
    assert!(client.acquire().is_none(), "{}: it is in flight", D::NAME);
    take_all(&workers).into_iter().for_each(Claimed::complete);
    held.push(client.acquire().unwrap_or_else(|| panic!("{}: the last slot is not found", D::NAME)));
    assert!(client.acquire().is_none(), "{}: a slot too many", D::NAME);
    drop(held.pop());
    assert!(client.acquire().is_some(), "{}: the last slot is not found once withdrawn", D::NAME);
}

#[test]
fn who_holds_the_rest_gets_the_last_one() {
    for_every_design!(last_one);
}

#[test]
fn rejects_a_refill_that_waits_for_what_is_held() {
    assert_rejected(last_one::<Bad<known_bad::RefillCountsHeld>>, &["the last slot is not found"]);
}

/// A client that found nothing may be told to wait while nearly all slots are in flight, where that is claimed; one that
/// insists is not, nor is one that had found nothing yet, nor anybody with a quarter of the slots free.
fn refill<D: Design>() {
    let (client, workers) = small::<D, u64>(1, 16);
    let name = D::NAME;
    acquire_all(&client).into_iter().for_each(|vacant| _ = vacant.submit());
    let mut taken = take_all(&workers);
    let mut complete = || taken.pop().expect("sixteen are taken").complete();
    complete();
    let waits = D::CLAIMS.none_free.refills(15, 16);
    let first = client.acquire();
    assert!(waits || first.is_some(), "{name}: a free slot is not found");
    drop(first);
    if let Ok(other) = client.try_clone() {
        assert!(other.acquire().is_some(), "{name}: a client that had found nothing yet finds nothing");
    }
    client.insist();
    let last = client.acquire();
    assert!(last.is_some(), "{name}: a client that insists finds nothing");
    assert!(client.acquire().is_none(), "{name}: a slot too many");
    drop(last);
    (0..3).for_each(|_| complete());
    assert_eq!(acquire_all(&client).len(), 4, "{name}: a quarter of the slots is free");
}

#[test]
fn a_refill_is_a_quarter_of_the_slots() {
    for_every_design!(refill);
}

#[test]
fn rejects_a_refill_for_who_insists() {
    assert_rejected(refill::<Bad<known_bad::RefillCountsHeld>>, &["finds nothing"]);
}

/// Every way in which a slot comes back: by this thread, by another, handled, failed, panicked,
/// withdrawn, during a drain.
#[test]
fn not_back_on_list_on_no_path() {
    fn check<D: Design>() {
        let (client, workers) = small::<D, u64>(1, 4);
        let name = D::NAME;
        let worker = &workers[0];
        let submit = |count: usize| (0..count).for_each(|_| _ = acquired(&client).submit());
        let ways: [(&str, &mut dyn FnMut()); 6] = [
            ("completed", &mut || {
                submit(3);
                take_all(&workers).into_iter().for_each(Claimed::complete);
            }),
            ("completed in reverse", &mut || {
                submit(4);
                take_all(&workers).into_iter().rev().for_each(Claimed::complete);
            }),
            ("failed", &mut || {
                submit(2);
                take_all(&workers).into_iter().for_each(Claimed::fail);
            }),
            ("withdrawn", &mut || drop((client.acquire(), client.acquire()))),
            ("panicked", &mut || {
                submit(1);
                let panic = catch_unwind(AssertUnwindSafe(|| {
                    let _claimed = worker.take().expect("a request");
                    panic!("planted");
                }));
                assert!(panic.is_err(), "{name}");
            }),
            ("drained", &mut || {
                submit(4);
                let mut drain = client.begin_drain();
                while !drain.poll() {
                    worker.take().expect("what the drain waits for").complete();
                }
            }),
        ];
        for (way, round) in ways {
            for _ in 0..40 {
                round();
                assert_eq!(acquire_all(&client).len(), 4, "{name}: {way}");
            }
        }
        // By another thread, contended.
        let stop = AtomicBool::new(false);
        scope(|scope| {
            let _end = StopAtEnd(&stop);
            let mut workers = workers;
            let worker = workers.remove(0);
            let stop = &stop;
            scope.spawn(move || work(&worker, stop));
            for _ in 0..40 {
                submit(4);
                client.drain();
                assert_eq!(acquire_all(&client).len(), 4, "{name}: completed by another thread");
            }
        });
    }
    for_every_design!(check);
}

#[test]
fn len_underflow_and_len_over_cap_under_churn() {
    fn check<D: Design>() {
        let (client, workers) = small::<D, u64>(2, 4);
        let slots = client.shape().slots();
        let observer = client.try_clone().ok();
        let (stop, seen_busy) = (&AtomicBool::new(false), &AtomicUsize::new(0));
        let look = |client: &ClientOf<D, u64>| {
            let flying = client.in_flight();
            assert!(flying <= slots, "{}: {flying} of {slots} in flight", D::NAME);
            seen_busy.fetch_max(flying, Ordering::Relaxed);
        };
        acquired(&client).submit();
        look(&client);
        scope(|scope| {
            let _end = StopAtEnd(stop);
            for worker in workers {
                scope.spawn(move || work(&worker, stop));
            }
            if let Some(observer) = observer {
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        look(&observer);
                        yield_now();
                    }
                });
            }
            for _ in 0..5000 {
                acquired(&client).submit();
                look(&client);
            }
            client.drain();
            assert_eq!(client.in_flight(), 0, "{}: after a drain", D::NAME);
        });
        assert!(seen_busy.load(Ordering::Relaxed) > 0, "{}: never saw a request", D::NAME);
    }
    for_every_design!(check);
}

/// A drain has a cut: it ends although requests are submitted without pause, by its own client or, where
/// there may be others, by another.
#[test]
fn wait_starved_by_no_other_client() {
    fn check<D: Design>() {
        let (client, workers) = small::<D, u64>(2, 4);
        let other = client.try_clone().ok();
        let stop = &AtomicBool::new(false);
        let resubmitted = &AtomicUsize::new(0);
        scope(|scope| {
            let _end = StopAtEnd(stop);
            for worker in workers {
                scope.spawn(move || work(&worker, stop));
            }
            let submit = move |client: &ClientOf<D, u64>| {
                match client.acquire() {
                    Some(vacant) => _ = vacant.submit(),
                    None => yield_now(),
                }
                resubmitted.fetch_add(1, Ordering::Relaxed);
            };
            let alone = other.is_none();
            if let Some(other) = other {
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        submit(&other);
                    }
                });
                while resubmitted.load(Ordering::Relaxed) == 0 {
                    yield_now();
                }
            }
            for _ in 0..500 {
                submit(&client);
                let mut drain = client.begin_drain();
                loop {
                    if alone {
                        submit(&client);
                    }
                    if drain.poll() {
                        break;
                    }
                    yield_now();
                }
            }
        });
    }
    for_every_design!(check);
}

/// The same on one thread, step by step: what comes after the cut is not waited for.
#[test]
fn wait_starved_has_a_cut() {
    fn check<D: Design>() {
        let (client, workers) = small::<D, u64>(1, 2);
        client.acquire().expect("a free slot").submit();
        let mut drain = client.begin_drain();
        assert!(!drain.poll(), "{}: ended too early", D::NAME);
        client.acquire().expect("a free slot").submit();
        let (first, second) = (workers[0].take().expect("one"), workers[0].take().expect("two"));
        assert!(!drain.poll(), "{}: claimed is not completed", D::NAME);
        // Whichever of the two was before the cut ends it, and it alone.
        first.complete();
        let after_first = drain.poll();
        if after_first {
            let _still_claimed = second;
        } else {
            second.complete();
        }
        assert!(drain.poll(), "{}: the request from before the cut is completed", D::NAME);
        let all = client.acquire();
        assert!(all.is_some(), "{}: its slot is free", D::NAME);
    }
    for_every_design!(check);
}

/// When a drain ends, results are there and slots are free: written by other threads, read at once.
#[test]
fn resume_too_early_never() {
    fn check<D: Design>() {
        let (client, workers) = small::<D, (u64, [u64; 8])>(2, 4);
        let (slots, stop) = (client.shape().slots(), &AtomicBool::new(false));
        scope(|scope| {
            let _end = StopAtEnd(stop);
            for worker in workers {
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        let Some(mut claimed) = worker.take() else {
                            yield_now();
                            continue;
                        };
                        claimed.1 = [!claimed.0; 8];
                        claimed.complete();
                    }
                });
            }
            for round in 1..=1000 {
                let batch = acquire_all(&client);
                assert_eq!(batch.len(), slots, "{}, round {round}: free after a drain", D::NAME);
                for mut vacant in batch {
                    let expected = if round == 1 { (0, [0; 8]) } else { (round - 1, [!(round - 1); 8]) };
                    assert_eq!(*vacant, expected, "{}, round {round}: the result", D::NAME);
                    let outcome = if round == 1 { Outcome::Fresh } else { Outcome::Completed };
                    assert_eq!(vacant.outcome(), outcome, "{}, round {round}", D::NAME);
                    vacant.0 = round;
                    vacant.submit();
                }
                client.drain();
            }
        });
    }
    for_every_design!(check);
}

/// A slot that is held, and one that is claimed, for ever: all others go round as if they were not there.
fn paused_peer<D: Design>() {
    for slots in [3, 4, 64] {
        let (client, workers) = handles::<D, u64>(Shape::new(1, slots).expect("small"), |_| 0);
        let _held = client.acquire().expect("a free slot");
        client.acquire().expect("a free slot").submit();
        let _claimed = workers[0].take().expect("a request");
        for round in 0..10 {
            let rest = acquire_all(&client);
            assert_eq!(rest.len(), slots - 2, "{}, {slots} slots, round {round}: acquired beside a peer", D::NAME);
            rest.into_iter().for_each(|vacant| _ = vacant.submit());
            let taken = take_all(&workers);
            assert_eq!(taken.len(), slots - 2, "{}, {slots} slots, round {round}: taken beside a peer", D::NAME);
            taken.into_iter().for_each(Claimed::complete);
        }
    }
}

#[test]
fn paused_peer_full_delays_nobody() {
    for_every_design!(paused_peer);
}

#[test]
fn rejects_a_peer_that_delays_others() {
    paused_peer::<Bad<known_bad::Honest>>();
    assert_rejected(paused_peer::<Bad<known_bad::HeadOfLine>>, &["acquired beside a peer"]);
}

/// One worker is busy for ever with one request: the other takes all the rest if the design claims that
/// no worker idles beside a queued request, and not all if it claims the contrary.
fn work_conserving_as_claimed<D: Design>() {
    let Some(shape) = admitted::<D>(2, 4) else { return };
    let (client, workers) = handles::<D, u64>(shape, |_| 0);
    let submitted: Vec<_> = acquire_all(&client).into_iter().map(slotwork::Vacant::submit).collect();
    let _busy = workers[0].take().expect("a request for each worker");
    let mut others = 0;
    while let Some(claimed) = workers[1].take() {
        claimed.complete();
        others += 1;
    }
    let conserving = others == shape.slots() - 1;
    let claimed = D::CLAIMS.work_conserving;
    assert_eq!(conserving, claimed, "{}: {others} taken beside a busy worker; claims to conserve: {claimed}", D::NAME);
    let any = submitted.iter().all(|&destination| destination == Destination::Any);
    assert_eq!(any, claimed, "{}: destinations {submitted:?}", D::NAME);
}

#[test]
fn waiting_worker_idle_only_where_claimed() {
    for_every_design!(work_conserving_as_claimed);
}

#[test]
fn rejects_wrong_claims_of_work_conservation() {
    work_conserving_as_claimed::<Bad<known_bad::Honest>>();
    assert_rejected(work_conserving_as_claimed::<Bad<known_bad::NotConserving>>, &["claims to conserve: true"]);
    assert_rejected(work_conserving_as_claimed::<Bad<known_bad::ConservesInSecret>>, &["claims to conserve: false"]);
}

/// A thread that is client first and worker next, and passes its roles on.
#[test]
fn role_change_between_threads() {
    fn check<D: Design>() {
        let (mut client, mut workers) = small::<D, u64>(2, 3);
        for round in 0..300 {
            let name = D::NAME;
            (client, workers) = spawn(move || {
                acquire_all(&client).into_iter().for_each(|mut vacant| {
                    assert_eq!(*vacant, round, "{name}");
                    *vacant += 1;
                    vacant.submit();
                });
                // Half of them here; the other half by the next thread, in its turn.
                for worker in &workers[..1] {
                    while let Some(claimed) = worker.take() {
                        claimed.complete();
                    }
                }
                (client, workers)
            })
            .join()
            .unwrap_or_else(|panic| panic!("{}: {}", D::NAME, support::message_of(&*panic)));
            take_all(&workers).into_iter().for_each(Claimed::complete);
        }
        full_circle(D::NAME, &client, &workers);
    }
    for_every_design!(check);
}

/// Slots that are given up, by clients and by workers, ten times as often as there are slots: none is lost on the way.
fn overflow_leak<D: Design>() {
    let (client, workers) = small::<D, u8>(2, 3);
    let slots = client.shape().slots();
    for _ in 0..10 * slots {
        drop(client.acquire());
        if let Some(vacant) = client.acquire() {
            vacant.submit();
        }
        take_all(&workers).into_iter().for_each(drop);
    }
    full_circle(D::NAME, &client, &workers);
}

#[test]
fn overflow_leak_what_is_given_up_comes_back() {
    for_every_design!(overflow_leak);
    assert_rejected(overflow_leak::<Bad<known_bad::WithdrawLoses>>, &["slots acquired"]);
}
