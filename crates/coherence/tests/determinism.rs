//! Same program, profile and seed: the same run, to the picosecond and the line.

mod support;

use slotwork::{Design, Platform, Pool, Shape};
use slotwork_catalog::{Visitor, visit_all};
use slotwork_coherence::{Cost, Options, Profile, Report, Simulated, Simulation};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use support::{Apart, add, load, machine, run_with};

/// Everything that a report says, as text.
fn everything(report: &Report) -> String {
    format!("{report:?}")
}

/// A design's round trips: a client and three workers on two cores, asleep when there is nothing.
fn round_trips<D: Design>(profile: &Profile, seed: u64) -> Report {
    let mut run = Simulation::new(profile, Options { seed, ..Options::default() }).unwrap();
    let (client, workers) = run.build(|| {
        let queue = D::build::<Simulated>(Shape::new(3, 2).unwrap()).unwrap();
        Pool::new(queue, |_| 0_u64).unwrap().split()
    });
    let handled = Arc::new(AtomicU64::new(0));
    run.spawn("client", move || {
        for number in 0..REQUESTS {
            loop {
                if let Some(mut vacant) = client.acquire() {
                    *vacant = number;
                    vacant.submit();
                    break;
                }
                Simulated::yield_now();
            }
        }
    });
    for worker in workers {
        let handled = Arc::clone(&handled);
        run.spawn("worker", move || {
            while handled.load(Ordering::Relaxed) < REQUESTS {
                match worker.take() {
                    Some(claimed) => {
                        Simulated::work(300.0, 0.5);
                        claimed.complete();
                        handled.fetch_add(1, Ordering::Relaxed);
                    }
                    None => Simulated::yield_now(),
                }
            }
        });
    }
    run.run().unwrap()
}

const REQUESTS: u64 = 200;

struct Both<'a>(&'a Profile);

impl Visitor for Both<'_> {
    type Output = ();
    fn visit<D: Design>(&mut self) {
        let first = everything(&round_trips::<D>(self.0, 7));
        // Memory that the system gave out meanwhile moves whatever it would give out next.
        let elsewhere: Vec<Box<[u8; 24]>> = (0..101).map(|byte| Box::new([byte; 24])).collect();
        let second = everything(&round_trips::<D>(self.0, 7));
        assert!(first == second, "{}: two runs of one seed differ", D::NAME);
        assert!(first != everything(&round_trips::<D>(self.0, 8)), "{}: the seed decides something", D::NAME);
        drop(elsewhere);
    }
}

#[test]
fn every_design_runs_the_same_twice() {
    let profile = machine(2).with(Cost::Jitter, 0.1).with(Cost::Preempt, 5000.0).with(Cost::Quantum, 20_000.0);
    visit_all(&mut Both(&profile));
}

#[test]
fn runs_on_threads_of_the_system_at_once_do_not_meet() {
    let profile = machine(4).with(Cost::Jitter, 0.1);
    let alone = everything(&round_trips::<slotwork_bitmap::Bitmap>(&profile, 3));
    std::thread::scope(|scope| {
        let runs: Vec<_> =
            (0..4).map(|_| scope.spawn(|| everything(&round_trips::<slotwork_bitmap::Bitmap>(&profile, 3)))).collect();
        assert!(runs.into_iter().all(|run| run.join().unwrap() == alone));
    });
}

/// How often a thread has run, kept beyond the run: what a simulated program must not look at.
static RUNS: AtomicU64 = AtomicU64::new(0);

#[test]
fn a_program_that_is_not_deterministic_is_found_out() {
    let outside = |word: &Apart, _: usize| (0..=RUNS.fetch_add(1, Ordering::Relaxed)).for_each(|_| add(&word.0));
    let run = || everything(&run_with(&machine(2), Options::default(), 2, Apart::new, outside).unwrap());
    assert!(run() != run());
}

#[test]
fn without_the_arena_addresses_would_decide() {
    // Three words of eight bytes in memory that begins anywhere: whether the first and the last share a line depends on
    // where. In the arena it begins a line, so they always do.
    let shares = |words: &Vec<u64>| words.as_ptr().addr() / 64 == (&raw const words[2]).addr() / 64;
    let simulation = Simulation::new(&machine(1), Options::default()).unwrap();
    assert!((0..50).all(|_| simulation.build(|| shares(&vec![0; 3]))));
    let outside: Vec<(Vec<u64>, Vec<u8>)> = (1..200).map(|size| (vec![0; 3], vec![0; size])).collect();
    assert!(outside.iter().any(|(words, _)| !shares(words)), "the system's allocator puts some across two lines");
    assert_eq!(load(&Apart::new().0), 0, "outside of a run an access costs nothing and works");
}
