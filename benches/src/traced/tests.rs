//! Traced runs: what is counted, and what leaving something out would hide.

use super::outcome::latency;
use super::*;
use crate::handler::Handler;
use crate::peers::Pair;
use crate::placement::Placement;
use crate::waiting::Waiting;
use crossbeam_queue::ArrayQueue;
use slotwork::Shape;
use std::sync::atomic::AtomicBool;

fn run(pace: Pace, window: u64, work: u64) -> Trace {
    let (placement, interrupted) = (Placement::free(), AtomicBool::new(false));
    let shape = Shape::new(1, 4).unwrap();
    let cell = Cell { clients: 1, shape, waiting: Waiting::Yield, handler_nanoseconds: work };
    let conditions = Conditions {
        handler: Handler::calibrated(work),
        placement: &placement,
        warm_up: Duration::from_millis(5),
        window: Duration::from_millis(window),
        interrupted: &interrupted,
    };
    trace::<Pair<ArrayQueue<u32>>>(cell, conditions, pace).unwrap().unwrap()
}

#[test]
fn a_closed_run_says_who_waited_and_how_evenly() {
    let metrics = run(Pace::Closed, 40, 0).metrics;
    assert!(metrics.fairness_slots.is_some_and(|index| index > 0.25 && index <= 1.0 + 1e-9), "{metrics:?}");
    assert!(metrics.blocked_nanoseconds_per_request.is_some() && metrics.idle_nanoseconds_per_request.is_some());
}

#[test]
fn an_open_run_counts_what_was_due_and_its_quantiles_are_in_order() {
    // Two thousand are due in the window, and all of them count. A client that begins late on a busy machine has a
    // shorter window, so one run of several has to be whole.
    let mut runs = (0..10).map(|_| run(Pace::Open(20_000.0), 100, 0).latency.unwrap());
    let whole = runs.find(|latency| (1900..=2100).contains(&latency.requests));
    let latency = whole.expect("of ten runs one counts what was due");
    let quantiles = [
        latency.p50_nanoseconds,
        latency.p90_nanoseconds,
        latency.p99_nanoseconds,
        latency.p99_9_nanoseconds,
        latency.max_nanoseconds,
    ];
    assert!(quantiles.is_sorted() && quantiles[0] > 0, "{quantiles:?}");
    assert_eq!(latency.histogram.iter().map(|[_, count]| count).sum::<u64>(), latency.requests);
}

#[test]
fn what_was_due_and_not_sent_counts_and_shows_as_saturated() {
    // A handler of 1 ms can do 50 of the 1000 that are due in 50 ms.
    let mut runs = (0..10).map(|_| run(Pace::Open(20_000.0), 50, 1_000_000).latency.unwrap());
    let whole = runs.find(|latency| (900..=1100).contains(&latency.requests));
    let latency = whole.expect("of ten runs one counts all that were due");
    assert!(latency.saturated, "{latency:?}");
    assert!(latency.achieved_per_second < 5_000.0, "{latency:?}");
    // Most waited long: a harness that omits them would show a millisecond or five.
    assert!(latency.p50_nanoseconds > 10_000_000, "{latency:?}");
}

#[test]
fn leaving_out_what_was_not_sent_would_hide_a_stall() {
    // Known-bad: 99 requests of 1 µs and a stall in which 900 more were due.
    let (mut omitted, mut counted) = (histogram(), histogram());
    for _ in 0..99 {
        omitted.record(1_000).unwrap();
        counted.record(1_000).unwrap();
    }
    (1..=900_u64).for_each(|waited| counted.record(waited * 10_000).unwrap());
    let window = Duration::from_millis(10);
    let hidden = latency(1e5, window, 99, 0.0, &omitted);
    let shown = latency(1e5, window, 99, 0.0, &counted);
    assert!(!hidden.saturated && hidden.p99_nanoseconds < 1_100);
    assert!(shown.saturated && shown.p99_nanoseconds > 8_000_000, "{shown:?}");
}
