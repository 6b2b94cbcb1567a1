//! Threads that come and go: workers and submitters.

use crate::support::child::in_child;
use crate::support::fault::Fault;
use crate::support::subject::{Plan, Subject, Wait, handle, ignore};
use crate::support::toy::Toy;
use crate::support::{for_every_design, in_threads};
use slotwork_bitmap::BitmapClaim;
use slotwork_workqueue::Workqueue;

/// More starts and stops than a 16-bit counter has numbers; then one request.
#[test]
fn resize_counter_over_70_000_starts_and_stops() {
    let cycle = |requests: u64| {
        let (queue, submitter) = Workqueue::<u64, BitmapClaim>::builder("cycle")
            .requests_per_worker(1)
            .build(|_| 0, |number| *number += 1)
            .expect("a tiny workqueue");
        for _ in 0..requests {
            submitter.request().expect("not stopped").submit().expect("not stopped");
        }
        queue.shutdown().expect("outside of handlers").handled
    };
    for _ in 0..70_000 {
        cycle(0);
    }
    assert_eq!(cycle(1), 1);
}

/// Ten thousand submitters that live for a request each; the last of all ends on another thread than its queue began on.
pub(crate) fn thread_exit(subject: &'static dyn Subject) {
    let (queue, first) = subject.start(Plan::new(2, 2), handle, ignore);
    let (rounds, threads) = if subject.many() { (250, 4) } else { (0, 0) };
    for _ in 0..rounds {
        let here: Vec<_> = (0..threads).map(|_| first.another()).collect();
        in_threads(here, |one| {
            for _ in 0..10 {
                let short_lived = one.another();
                short_lived.send(Wait::ForEver, 1).expect("not stopped");
            }
        });
    }
    let sent: u64 = rounds * threads * 10;
    let ended = std::thread::spawn(move || {
        drop(first);
        queue.shutdown()
    });
    assert_eq!(ended.join().expect("the end").handled, sent);
}

#[test]
fn thread_exit_of_ten_thousand_submitters() {
    for_every_design(thread_exit);
}

/// Bytes of this process in memory.
#[cfg(target_os = "linux")]
fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("this process");
    pages.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("a number of pages") * 4096
}

/// The growth of memory from one half of many rounds to the other.
#[cfg(target_os = "linux")]
fn growth(mut round: impl FnMut()) -> u64 {
    const ROUNDS: usize = 150;
    (0..ROUNDS).for_each(|_| round());
    let before = resident_bytes();
    (0..2 * ROUNDS).for_each(|_| round());
    resident_bytes().saturating_sub(before)
}

/// A round of all that comes and goes: requests, submitters, timeouts, drains.
#[cfg(target_os = "linux")]
fn churn(subject: &'static dyn Subject) -> impl FnMut() {
    let (queue, first) = subject.start(Plan::new(2, 4), handle, ignore);
    move || {
        let _ = &queue;
        let one = if subject.many() { Some(first.another()) } else { None };
        let one = one.as_ref().unwrap_or(&first);
        for number in 0..100 {
            let wait = if number % 2 == 0 { Wait::ForEver } else { Wait::For(std::time::Duration::from_micros(10)) };
            let _ = one.send(wait, number);
        }
        one.drain().expect("outside of handlers");
    }
}

/// Memory is bounded by the queue's size: what went through it leaves nothing.
#[cfg(target_os = "linux")]
#[test]
fn memory_growth_is_bounded() {
    const BOUND: u64 = 2 << 20;
    in_child("threads::memory_growth_is_bounded", || {
        for_every_design(|subject| {
            let growth = growth(churn(subject));
            assert!(growth < BOUND, "{growth} bytes more");
        });
        // 64 bytes a request are seen.
        let mut round = churn(&Toy(Fault::None));
        let growth = growth(|| {
            round();
            std::mem::forget(std::hint::black_box(vec![1_u8; 64 * 100 * 4]));
        });
        assert!(growth > BOUND, "a leak of 64 bytes a request would not be seen: {growth} bytes");
    });
}
