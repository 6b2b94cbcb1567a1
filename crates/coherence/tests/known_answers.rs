//! Runs whose time can be worked out on paper.

mod support;

use slotwork::Platform;
use slotwork_coherence::{Cause, Cost, Profile, Report, Simulated, SimulatedThread};
use std::sync::Mutex;
use support::{Apart, Word, add, fence, load, machine, run, store};

const ROUNDS: usize = 200;

fn near(figure: f64, expected: f64) -> bool {
    (figure - expected).abs() < 0.5
}

/// What the tests below expect of [`machine`].
struct Paper {
    hit: f64,
    exchange: f64,
    transfer: f64,
    memory: f64,
    occupancy: f64,
}

const PAPER: Paper = Paper { hit: 2.0, exchange: 10.0, transfer: 50.0, memory: 90.0, occupancy: 10.0 };

/// Every thread adds to one word: the line goes round, and each transfer waits for the one before.
fn bouncing(profile: &Profile, threads: usize) -> f64 {
    let body = |word: &Apart, _| (0..ROUNDS).for_each(|_| add(&word.0));
    run(profile, threads, Apart::new, body).nanoseconds
}

fn bouncing_on_paper(threads: usize) -> f64 {
    let own = PAPER.exchange;
    if threads == 1 {
        return PAPER.memory + own * ROUNDS as f64;
    }
    PAPER.memory + own + (threads * ROUNDS - 1) as f64 * (PAPER.transfer + own)
}

#[test]
fn one_line_bouncing_between_n_cores() {
    for threads in [1, 2, 3, 8, 32] {
        let (time, paper) = (bouncing(&machine(64), threads), bouncing_on_paper(threads));
        assert!(near(time, paper), "{threads} threads: {time} ns, on paper {paper} ns");
    }
}

#[test]
fn a_wrong_cost_is_rejected_by_the_answer_on_paper() {
    for (cost, value) in [(Cost::SameSocket, 51.0), (Cost::Exchange, 8.1), (Cost::Memory, 92.0)] {
        let time = bouncing(&machine(64).with(cost, value), 8);
        assert!(!near(time, bouncing_on_paper(8)), "{cost:?} is not {value}");
    }
}

#[test]
fn false_sharing_costs_what_sharing_costs_and_padding_costs_nothing() {
    #[repr(align(64))]
    struct OneLine([Word; 8]);
    let neighbours = || OneLine(std::array::from_fn(|_| slotwork::Atomic::new(0)));
    let body = |line: &OneLine, number: usize| (0..ROUNDS).for_each(|_| add(&line.0[number]));
    let shared = run(&machine(8), 8, neighbours, body).nanoseconds;
    assert!(near(shared, bouncing_on_paper(8)), "{shared}");
    let padded = || -> [Apart; 8] { std::array::from_fn(|_| Apart::new()) };
    let body = |words: &[Apart; 8], number: usize| (0..ROUNDS).for_each(|_| add(&words[number].0));
    let padded = run(&machine(8), 8, padded, body).nanoseconds;
    assert!(near(padded, PAPER.memory + ROUNDS as f64 * PAPER.exchange), "{padded}");
}

#[test]
fn readers_of_a_line_that_nobody_writes_pay_once() {
    let body = |word: &Apart, _| (0..ROUNDS).for_each(|_| _ = load(&word.0));
    let report = run(&machine(16), 16, Apart::new, body);
    for (number, thread) in report.threads.iter().enumerate() {
        let first = match number {
            0 => PAPER.memory,
            1 => PAPER.memory + PAPER.transfer,
            // The second reader made it shared; from then on the line is busy for the directory's part only.
            later => PAPER.memory + PAPER.transfer + (later - 2) as f64 * PAPER.occupancy + PAPER.transfer,
        };
        let paper = first + ROUNDS as f64 * PAPER.hit;
        assert!(
            near(thread.ended_nanoseconds, paper),
            "reader {number}: {} on paper {paper}",
            thread.ended_nanoseconds
        );
    }
}

#[test]
fn a_store_does_not_wait_and_a_fence_waits_for_it() {
    let lines = || -> [Apart; 4] { std::array::from_fn(|_| Apart::new()) };
    let stores = |lines: &[Apart; 4], _: usize| lines.iter().for_each(|line| store(&line.0, 1));
    assert!(near(run(&machine(1), 1, lines, stores).nanoseconds, 4.0));
    let fenced = |lines: &[Apart; 4], _: usize| {
        lines.iter().for_each(|line| store(&line.0, 1));
        fence();
    };
    // Four lines from memory, one after the other, then the fence.
    assert!(near(run(&machine(1), 1, lines, fenced).nanoseconds, 4.0 * PAPER.memory + 12.0));
    let full = machine(1).with(Cost::Entries, 2.0);
    let time = run(&full, 1, lines, stores).nanoseconds;
    assert!(near(time, 2.0 * PAPER.memory + 1.0), "the fourth store waits for the second to be done: {time}");
}

#[test]
fn the_far_socket_is_farther() {
    let mut two = machine(1);
    two.cores.push(slotwork_coherence::CoreGroup { socket: 1, count: 1, speed: 1.0 });
    let body = |word: &Apart, _| (0..ROUNDS).for_each(|_| add(&word.0));
    let time = run(&two, 2, Apart::new, body).nanoseconds;
    let paper = PAPER.memory + PAPER.exchange + (2 * ROUNDS - 1) as f64 * (150.0 + PAPER.exchange);
    assert!(near(time, paper), "{time} on paper {paper}");
}

#[test]
fn a_slow_core_computes_slowly_and_fetches_as_fast() {
    let mut slow = machine(1);
    slow.cores[0].speed = 0.5;
    let body = |word: &Apart, _| (0..ROUNDS).for_each(|_| add(&word.0));
    let time = run(&slow, 1, Apart::new, body).nanoseconds;
    assert!(near(time, PAPER.memory + 2.0 * ROUNDS as f64 * PAPER.exchange), "{time}");
}

type Handle = Mutex<Option<SimulatedThread>>;

fn sleep_and_wake(handle: &Handle, number: usize) {
    if number == 0 {
        *handle.lock().unwrap() = Some(Simulated::current());
        Simulated::park();
    } else {
        Simulated::work(10_000.0, 0.0);
        let sleeper = handle.lock().unwrap().take().expect("it went to sleep long ago");
        Simulated::unpark(&sleeper);
    }
}

#[test]
fn a_wake_takes_what_a_wake_takes() {
    let report = run(&machine(2), 2, Handle::default, sleep_and_wake);
    // Ten microseconds, the parker's line from the sleeper's core, the call, and until the sleeper runs.
    let woken = 10_000.0 + PAPER.transfer + PAPER.exchange + 1500.0 + 4000.0;
    assert!(near(report.threads[0].ended_nanoseconds, woken), "{}", report.threads[0].ended_nanoseconds);
    assert_eq!(report.wakes(), 1);
    let awake = PAPER.memory + PAPER.exchange + 1000.0;
    assert!(near(report.threads[0].account.nanoseconds(Cause::Asleep), woken - awake));
}

#[test]
fn a_token_left_before_the_sleep_is_not_lost() {
    fn early(handle: &Handle, number: usize) {
        if number == 0 {
            *handle.lock().unwrap() = Some(Simulated::current());
            Simulated::work(50_000.0, 0.0);
            Simulated::park();
        } else {
            sleep_and_wake(handle, number);
        }
    }
    let report = run(&machine(2), 2, Handle::default, early);
    assert_eq!(report.wakes(), 0);
    assert!(report.threads[0].ended_nanoseconds < 51_000.0);
}

#[test]
fn threads_that_share_a_core_take_turns() {
    let profile = machine(1).with(Cost::Quantum, 10_000.0).with(Cost::Preempt, 10_000.0).with(Cost::Switch, 1000.0);
    let report = run(&profile, 3, || (), |(), _| Simulated::work(40_000.0, 0.0));
    // Twelve quanta of ten microseconds, and a switch at the end of each but the last.
    let switches = report.account().nanoseconds(Cause::Switch) / 1000.0;
    assert!((9.0..=12.0).contains(&switches), "{switches}");
    assert!(near(report.nanoseconds, 120_000.0 + switches * 1000.0), "{}", report.nanoseconds);
    let ends: Vec<f64> = report.threads.iter().map(|thread| thread.ended_nanoseconds).collect();
    assert!(ends[0] > 100_000.0, "the first one did not get all of it first: {ends:?}");
}

/// Two threads pass a word to and fro, each spinning for the other.
fn ping_pong(word: &Apart, number: usize) {
    for round in 0..ROUNDS as u64 {
        while load(&word.0) != 2 * round + number as u64 {
            Simulated::spin_hint();
        }
        store(&word.0, 2 * round + number as u64 + 1);
    }
}

#[test]
fn a_spinning_thread_sees_a_change_at_its_next_look() {
    let time = run(&machine(2), 2, Apart::new, ping_pong).nanoseconds;
    // A trip: the look fetches the line, for the store too, which follows closely; a look is made each 22 ns.
    let trip = time / (2 * ROUNDS) as f64;
    let least = PAPER.transfer;
    assert!((least..least + 22.0 + 5.0).contains(&trip), "{trip}");
}

#[test]
fn a_budget_of_looks_ends_as_if_every_look_had_been_made() {
    // The other thread works for 100 µs: far beyond a budget of a thousand looks of 22 ns.
    fn budget(word: &Apart, number: usize) {
        if number == 1 {
            Simulated::work(100_000.0, 0.0);
            return;
        }
        let mut looks = 0;
        while load(&word.0) == 0 && looks < 1000 {
            looks += 1;
            Simulated::spin_hint();
        }
        assert_eq!(looks, 1000);
    }
    let report = run(&machine(2), 2, Apart::new, budget);
    let paper = PAPER.memory + 1000.0 * 22.0;
    let time = report.threads[0].ended_nanoseconds;
    assert!(time >= paper - 1.0 && time < paper * 1.15, "{time} on paper {paper}");
    assert!(report.accesses < 300, "looks that change nothing are not simulated one by one: {}", report.accesses);
}

/// All time is somebody's: a thread's causes add up to its clock.
fn check_conservation(report: &Report) {
    for thread in &report.threads {
        let difference = thread.account.total_picoseconds() as f64 / 1000.0 - thread.ended_nanoseconds;
        assert!(difference.abs() < 0.01, "{}: {difference} ns are nobody's", thread.name);
    }
}

#[test]
fn every_picosecond_has_a_cause() {
    let profile = machine(2).with(Cost::Quantum, 3000.0).with(Cost::Preempt, 1000.0).with(Cost::Jitter, 0.1);
    fn everything(shared: &(Apart, Handle), number: usize) {
        for round in 0..50 {
            add(&shared.0.0);
            fence();
            Simulated::work(300.0, 0.5);
            Simulated::yield_now();
            (0..20).for_each(|_| {
                load(&shared.0.0);
                Simulated::spin_hint();
            });
            store(&shared.0.0, round);
            Simulated::park_timeout(std::time::Duration::from_nanos(500 * number as u64));
        }
    }
    check_conservation(&run(&profile, 5, || (Apart::new(), Handle::default()), everything));
    check_conservation(&run(&machine(2), 2, Apart::new, ping_pong));
    check_conservation(&run(&machine(2), 2, Handle::default, sleep_and_wake));
}
