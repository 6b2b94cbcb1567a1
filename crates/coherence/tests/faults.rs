//! Runs that go wrong say how: which thread, when, at which lines.

mod support;

use slotwork::{Design, Platform, Pool, Shape};
use slotwork_coherence::{Options, Simulated, Simulation, SimulationError};
use slotwork_locked::GlobalLock;
use support::{Apart, add, load, machine, run_with, store};

const SHORT: Options = Options { seed: 1, idle_limit: 20_000, trace: None };

fn livelock(body: fn(&Apart, usize), threads: usize) -> String {
    match run_with(&machine(4), SHORT, threads, Apart::new, body) {
        Err(error @ SimulationError::Livelock { .. }) => error.to_string(),
        other => panic!("a livelock is not {other:?}"),
    }
}

#[test]
fn threads_that_look_for_what_never_comes_end_at_the_limit_with_their_lines() {
    let text = livelock(
        |word, _| {
            while load(&word.0) == 0 {
                Simulated::spin_hint();
            }
        },
        2,
    );
    assert!(text.contains("20000 accesses"), "{text}");
    assert!(text.contains("thread-0 looks at test.word; thread-1 looks at test.word"), "{text}");
    assert_eq!(text.lines().count(), 1);
}

#[test]
fn threads_that_undo_each_other_end_at_the_limit() {
    let text = livelock(
        |word, number| {
            while load(&word.0) < 1000 {
                store(&word.0, number as u64);
            }
        },
        2,
    );
    assert!(text.contains("test.word"), "{text}");
}

#[test]
fn one_thread_that_never_gives_way_ends_at_the_limit() {
    let forever = |word: &Apart, _: usize| loop {
        add(&word.0);
    };
    assert!(livelock(forever, 1).contains("thread-0"));
}

#[test]
fn no_livelock_is_seen_where_something_is_achieved() {
    let achieves = |word: &Apart, _: usize| {
        (0..50_000).for_each(|_| {
            add(&word.0);
            Simulated::achieved();
        });
    };
    run_with(&machine(1), SHORT, 1, Apart::new, achieves).unwrap();
}

#[test]
fn sleepers_without_a_waker_are_a_deadlock() {
    let result = run_with(&machine(2), SHORT, 2, || (), |(), _| Simulated::park());
    let Err(error @ SimulationError::Deadlock { .. }) = result else { panic!("{result:?}") };
    let text = error.to_string();
    assert!(text.contains("thread-0 sleeps") && text.contains("thread-1 sleeps"), "{text}");
}

#[test]
fn a_panic_is_reported_with_its_thread_and_its_time() {
    let mut run = Simulation::new(&machine(2), SHORT).unwrap();
    let (client, workers) = run.build(|| {
        let queue = GlobalLock::build::<Simulated>(Shape::new(1, 2).unwrap()).unwrap();
        Pool::new(queue, |_| 0_u64).unwrap().split()
    });
    run.spawn("client", move || {
        client.acquire().unwrap().submit();
    });
    run.spawn("worker-0", move || {
        let _claimed = loop {
            match workers[0].take() {
                Some(claimed) => break claimed,
                None => Simulated::spin_hint(),
            }
        };
        Simulated::work(2000.0, 0.0);
        panic!("the design is wrong here");
    });
    let Err(SimulationError::Panicked { thread, nanoseconds, message }) = run.run() else { panic!("no panic") };
    assert_eq!((thread.as_str(), message.as_str()), ("worker-0", "the design is wrong here"));
    assert!((2000.0..5000.0).contains(&nanoseconds), "{nanoseconds}");
    // The next run is none the worse for it.
    run_with(&machine(1), SHORT, 1, Apart::new, |word, _| add(&word.0)).unwrap();
}

#[test]
fn a_lock_excludes_and_its_waiters_sleep() {
    type Guarded = <Simulated as Platform>::Lock<Vec<u64>>;
    slotwork::sites! {
        /// The lock of this test.
        pub(crate) SITES in "guarded";
        LOCK: Lock, pairs [LOCK], "the list";
    }
    let build = || <Guarded as slotwork::Lock<Vec<u64>>>::new(Vec::new());
    let body = |list: &Guarded, number: usize| {
        for _ in 0..20 {
            slotwork::Lock::with(list, &LOCK, |list| {
                let length = list.len();
                Simulated::work(20_000.0, 0.1);
                list.push(number as u64);
                assert_eq!(list.len(), length + 1, "nobody else is inside");
            });
        }
    };
    let report = run_with(&machine(4), SHORT, 4, build, body).unwrap();
    assert!(report.wakes() > 10, "twenty microseconds are more than a hundred looks: {}", report.wakes());
    assert!(report.nanoseconds > 80.0 * 18_000.0);
}
