//! WEAK-CAS and NO-RELOAD-LIVELOCK: every design goes round where weak exchanges fail for no reason.

use model_checks::platform::{Flaky, spurious_failures};
use slotwork::{Access, Atomic, Design, Native, Platform, Pool, Shape, Site};
use slotwork_catalog::{Visitor, visit_all};

/// One client and one worker in turn on one thread: the result is that of a machine that never fails.
struct Circle;

impl Visitor for Circle {
    type Output = (&'static str, u64);

    fn visit<D: Design>(&mut self) -> Self::Output {
        let before = spurious_failures();
        assert_eq!(go_round::<D, Flaky>(), go_round::<D, Native>(), "{}", D::NAME);
        (D::NAME, spurious_failures() - before)
    }
}

/// Fills the queue, empties it, ten times: results in the order they came back in.
fn go_round<D: Design, P: Platform>() -> Vec<u64> {
    let queue = D::build::<P>(Shape::new(2, 3).unwrap()).unwrap();
    let (client, workers) = Pool::new(queue, |_| 0_u64).unwrap().split();
    let mut results = Vec::new();
    for round in 0..10 {
        let mut held: Vec<_> = std::iter::from_fn(|| client.acquire()).collect();
        assert_eq!(held.len(), 6, "every slot is free");
        drop(held.pop());
        for (number, mut vacant) in held.into_iter().enumerate() {
            results.push(*vacant);
            *vacant = round * 100 + number as u64;
            vacant.submit();
        }
        for worker in &workers {
            while let Some(mut claimed) = worker.take() {
                *claimed += 1;
                claimed.complete();
            }
        }
    }
    results
}

#[test]
fn weak_cas_and_reload_or_not_every_design_goes_round_with_spurious_failures() {
    for (design, failures) in visit_all(&mut Circle) {
        println!("{design}: {failures} weak compare-exchanges failed for no reason");
    }
}

/// With one thread a loop fails only when it is made to, every other time: so the tries are at most
/// the failures and one more for each success. A loop that does not use what a failure returned would
/// go on for ever, or be caught by the count.
#[test]
fn no_reload_livelock_a_loop_ends_one_try_after_the_injected_failures() {
    struct Count;
    impl Visitor for Count {
        type Output = ();
        fn visit<D: Design>(&mut self) {
            const ROUNDS: u64 = 100;
            let queue = D::build::<Flaky>(Shape::new(1, 1).unwrap()).unwrap();
            let (client, mut workers) = Pool::new(queue, |_| ()).unwrap().split();
            let worker = workers.remove(0);
            let before = spurious_failures();
            for _ in 0..ROUNDS {
                client.acquire().expect("the slot is free").submit();
                worker.take().expect("it was submitted").complete();
            }
            let loops =
                D::SITES.iter().copied().flatten().filter(|site| matches!(site.access, Access::CompareExchange(..)));
            // One loop may serve both a submit and a complete, and no more of a round.
            let most = 2 * ROUNDS * loops.count() as u64;
            let failures = spurious_failures() - before;
            assert!(failures <= most, "{}: {failures} failures in {most} successes at most", D::NAME);
        }
    }
    visit_all(&mut Count);
}

slotwork::sites! {
    /// A counter that is changed by a weak exchange.
    SITES in "counter";
    LOOK: Load(Relaxed), pairs [], "where a loop begins";
    CHANGE: CompareExchange(Relaxed, Relaxed), pairs [], "one more, or the number that was found";
}

/// The check can fail: a single weak exchange, taken for granted, loses every other increment.
#[test]
fn weak_cas_used_once_is_caught() {
    fn count<P: Platform>(add: impl Fn(&P::AtomicU32)) -> u32 {
        let counter = P::AtomicU32::new(0);
        (0..10).for_each(|_| add(&counter));
        counter.load(&LOOK)
    }
    fn once<A: Atomic<u32>>(counter: &A) {
        let now = counter.load(&LOOK);
        let _ = counter.compare_exchange_weak(now, now + 1, &CHANGE);
    }
    fn in_a_loop<A: Atomic<u32>>(counter: &A) {
        let mut now = counter.load(&LOOK);
        while let Err(found) = counter.compare_exchange_weak(now, now + 1, &CHANGE) {
            now = found;
        }
    }
    assert_eq!(count::<Native>(once), 10, "nobody sees it here");
    assert_eq!(count::<Flaky>(once), 5);
    assert_eq!(count::<Flaky>(in_a_loop), 10);
}

#[test]
fn a_park_that_returns_for_no_reason_is_no_wake() {
    use slotwork_workqueue::Event;
    use std::sync::atomic::{AtomicU32, Ordering};
    let (event, items) = (Event::<Flaky>::new(), AtomicU32::new(0));
    let take = || items.fetch_update(Ordering::AcqRel, Ordering::Acquire, |count| count.checked_sub(1)).ok();
    std::thread::scope(|scope| {
        let sleepers: Vec<_> =
            (0..2).map(|_| scope.spawn(|| (0..200).for_each(|_| _ = event.wait_until(take)))).collect();
        for _ in 0..400 {
            items.fetch_add(1, Ordering::Release);
            event.notify_one();
        }
        sleepers.into_iter().for_each(|sleeper| sleeper.join().unwrap());
    });
    assert_eq!(items.load(Ordering::Relaxed), 0);
}

/// Sites of the checker's own programs are held to the same rules as those of the designs.
#[test]
fn sites_pair() {
    const TABLES: &[&[Site]] = &[
        SITES,
        model_checks::oracle::PROGRAM_SITES,
        model_checks::models::ORACLE_SITES,
        slotwork::POOL_SITES,
        slotwork_workqueue::EVENT_SITES,
        slotwork_workqueue::ENGINE_SITES,
        model_checks::museum::SHUTDOWN_SITES,
        model_checks::museum::WAIT_SITES,
        model_checks::museum::WAKE_SITES,
    ];
    let designs = slotwork_catalog::ENTRIES.iter().flat_map(|entry| entry.sites);
    for table in TABLES.iter().chain(designs) {
        assert_eq!(slotwork::check_pairs(table), []);
    }
}
