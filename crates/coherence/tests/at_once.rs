//! What a core does at once: lines that it fetches while it goes on, and writes that it foresees.

mod support;

use slotwork::{AccessCell, Platform};
use slotwork_coherence::{Cost, Profile, Simulated};
use support::{Apart, add, fence, load, machine, run, store};

const LINES: usize = 8;

/// A payload on a line of its own.
#[repr(align(128))]
struct Payload(<Simulated as Platform>::Cell, #[expect(dead_code, reason = "gives the payload a place")] u64);

fn payloads() -> [Payload; LINES] {
    std::array::from_fn(|_| Payload(AccessCell::new(), 0))
}

/// The payloads of [`LINES`] slots, then a fence; the memory is 90 ns away.
fn time_of_payloads(profile: &Profile) -> f64 {
    let body = |payloads: &[Payload; LINES], _: usize| {
        payloads.iter().for_each(|payload| payload.0.hold());
        fence();
    };
    run(profile, 1, payloads, body).nanoseconds
}

#[test]
fn payloads_come_at_once_as_far_as_there_is_room() {
    for at_once in [1_usize, 2, 4] {
        let time = time_of_payloads(&machine(1).with(Cost::Overlap, at_once as f64));
        // Groups of lines from memory, and the fence.
        let paper = (LINES / at_once) as f64 * 90.0 + 12.0;
        // The thread itself takes two nanoseconds for each, so the groups are a little longer than their lines.
        assert!((paper..paper + 2.0 * LINES as f64).contains(&time), "{at_once}: {time}, on paper {paper}");
    }
    assert!(time_of_payloads(&machine(1).with(Cost::Overlap, 16.0)) < 90.0 + 12.0 + 2.0 * LINES as f64 + 1.0);
}

#[test]
fn exchanges_end_in_order_and_their_lines_come_at_once() {
    let lines = || -> [Apart; LINES] { std::array::from_fn(|_| Apart::new()) };
    let body = |lines: &[Apart; LINES], _: usize| {
        lines.iter().for_each(|line| add(&line.0));
        fence();
    };
    let time = |at_once: f64| {
        let profile = machine(1).with(Cost::Overlap, 16.0).with(Cost::ExchangeOverlap, at_once);
        run(&profile, 1, lines, body).nanoseconds
    };
    let serial = LINES as f64 * (90.0 + 10.0) + 12.0;
    assert!((time(1.0) - serial).abs() < 3.0 * LINES as f64, "{}", time(1.0));
    let twice = time(2.0);
    assert!(twice < 0.65 * serial && twice > 0.45 * serial, "{twice}, one after the other {serial}");
}

#[test]
fn a_load_waits_for_its_line_however_many_come_at_once() {
    let lines = || -> [Apart; LINES] { std::array::from_fn(|_| Apart::new()) };
    let body = |lines: &[Apart; LINES], _: usize| lines.iter().for_each(|line| _ = load(&line.0));
    let time = run(&machine(1).with(Cost::Overlap, 16.0), 1, lines, body).nanoseconds;
    assert!((time - LINES as f64 * 92.0).abs() < 0.5, "{time}");
}

/// One thread writes, the other reads and, close behind or far behind, writes.
fn read_then_write(accesses_between: usize) -> f64 {
    type Shared = (Apart, Apart, usize);
    let body = |shared: &Shared, number: usize| {
        if number == 0 {
            store(&shared.0.0, 1);
        } else {
            Simulated::work(1000.0, 0.0);
            load(&shared.0.0);
            (0..shared.2).for_each(|_| _ = load(&shared.1.0));
            store(&shared.0.0, 2);
            fence();
        }
    };
    run(&machine(2), 2, || (Apart::new(), Apart::new(), accesses_between), body).threads[1].ended_nanoseconds
}

#[test]
fn a_line_that_is_read_and_written_comes_once() {
    // The line, the look at it, the store, the fence.
    let near = read_then_write(0);
    assert!((near - (1000.0 + 50.0 + 2.0 + 1.0 + 12.0)).abs() < 1.5, "{near}");
    // Another line from memory, and looks at it, before the store: that was not foreseen, and asks for the line again.
    let far = read_then_write(40);
    assert!((far - (1000.0 + 50.0 + 2.0 + 90.0 + 80.0 + 50.0 + 12.0)).abs() < 2.5, "{far}");
}

#[test]
fn stores_to_a_line_on_its_way_are_done_with_it_and_seen_together() {
    fn body(words: &(Apart, Apart), number: usize) {
        if number == 0 {
            // The other has the line: the first store asks for it, the others find it under way.
            Simulated::work(1000.0, 0.0);
            (1..=5).for_each(|value| store(&words.0.0, value));
        } else {
            load(&words.0.0);
            Simulated::work(920.0, 0.0);
            // Asked for while the stores are under way, so this look sees the last of them.
            Simulated::work(3.0, 0.0);
            while load(&words.0.0) == 0 {}
            assert_eq!(load(&words.0.0), 5);
        }
    }
    let report = run(&machine(2), 2, || (Apart::new(), Apart::new()), body);
    let line = report.lines.iter().find(|line| line.figures.accesses > 5).expect("the word's line");
    // From memory for the reader, to the writer once, and back once.
    assert_eq!(line.figures.transfers, 3, "{line:?}");
}

#[test]
fn an_exchange_that_fails_is_waited_for() {
    use slotwork::Atomic;
    slotwork::sites! {
        /// The accesses of this test.
        pub(crate) SITES in "failing";
        TRY: CompareExchange(Relaxed, Relaxed), pairs [], "orders nothing";
    }
    let profile = machine(1).with(Cost::Overlap, 16.0).with(Cost::ExchangeOverlap, 4.0);
    let time = |expected: u64| {
        fn body(shared: &(Apart, u64), _: usize) {
            _ = shared.0.0.compare_exchange(shared.1, 1, &TRY);
        }
        run(&profile, 1, || (Apart::new(), expected), body).nanoseconds
    };
    assert!(time(0) < 11.0, "it goes on beyond one that was predicted: {}", time(0));
    assert!(time(7) > 99.0, "and waits for one that was not: {}", time(7));
}

#[test]
fn interruptions_take_their_time_of_work_and_nothing_of_sleep() {
    let profile = machine(1).with(Cost::InterruptEvery, 10_000.0).with(Cost::Interrupt, 1000.0);
    let body = |word: &Apart, _: usize| {
        (0..100).for_each(|_| {
            Simulated::work(1000.0, 0.0);
            load(&word.0);
        });
    };
    let working = run(&profile, 1, Apart::new, body);
    // A hundred microseconds of work are interrupted about ten times; each differs by 60 % at most, both by far less together.
    assert!((104_000.0..118_000.0).contains(&working.nanoseconds), "{}", working.nanoseconds);
    let asleep = run(&profile, 1, || (), |(), _| Simulated::park_timeout(std::time::Duration::from_micros(100)));
    assert!(asleep.nanoseconds < 104_000.0, "{}", asleep.nanoseconds);
}

#[test]
fn the_allocator_costs_what_the_profile_says() {
    let profile = machine(1).with(Cost::Allocate, 40.0);
    let body = |word: &Apart, _: usize| {
        for _ in 0..10 {
            drop(std::hint::black_box(Box::new(1_u64)));
        }
        load(&word.0);
    };
    let time = run(&profile, 1, Apart::new, body).nanoseconds;
    // Ten taken and ten given back, and the line from memory.
    assert!((time - (800.0 + 92.0)).abs() < 0.5, "{time}");
}
