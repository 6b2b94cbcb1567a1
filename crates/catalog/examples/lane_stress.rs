//! A small stress of every design, for the sanitizers' lanes in `ci/`: own atomics, spawn and join, nothing else.
//!
//! ```text
//! lane_stress                    every design; a wrong count ends with exit code 1
//! lane_stress --without-locks    the same without designs that lock: ThreadSanitizer knows nothing of std's mutex
//! lane_stress --plant address    reads a node after it was freed
//! lane_stress --plant leak       forgets a client, and a pool with it
//! lane_stress --plant thread     reads a word plainly that another thread writes atomically (CONDITIONAL-ORDER)
//! ```

use slotwork::{Access, Client, Design, Native, Pool, Shape, Submitters, Worker};
use slotwork_catalog::{Visitor, visit_all};
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Requests of each client.
const REQUESTS: u64 = 4_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["--plant", "address"] => plant_use_after_free(),
        ["--plant", "leak"] => plant_leak(),
        ["--plant", "thread"] => plant_plain_read(),
        [] | ["--without-locks"] => return stress(!arguments.is_empty()),
        _ => {
            eprintln!("lane_stress [--without-locks | --plant address|leak|thread]");
            return ExitCode::from(2);
        }
    }
    println!("planted, and not stopped");
    ExitCode::SUCCESS
}

fn stress(without_locks: bool) -> ExitCode {
    let right = visit_all(&mut Stress { without_locks });
    println!("{} designs stressed", right.iter().flatten().count());
    if right.iter().flatten().all(|&right| right) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Stress {
    without_locks: bool,
}

impl Visitor for Stress {
    /// Whether the counts were right; none when the design was left out.
    type Output = Option<bool>;

    fn visit<D: Design>(&mut self) -> Option<bool> {
        let locks = D::SITES.iter().copied().flatten().any(|site| matches!(site.access, Access::Lock));
        if self.without_locks && locks {
            println!("{}: left out, it locks", D::NAME);
            return None;
        }
        let clients = if D::CLAIMS.submitters == Submitters::One { 1 } else { 2 };
        let right = [(1, 1), (2, 3), (2, 64)].into_iter().all(|(lanes, slots)| round::<D>(clients, lanes, slots));
        println!("{}: {}", D::NAME, if right { "ok" } else { "WRONG COUNT" });
        Some(right)
    }
}

/// Every request adds its number once, and its answer comes back in the slot: the payloads are plain words, so a
/// missing order is a data race for a sanitizer to see.
fn round<D: Design>(clients: u64, lanes: usize, slots_per_lane: usize) -> bool {
    let shape = Shape::new(lanes, slots_per_lane).expect("a small shape is legal");
    let queue = D::build::<Native>(shape).expect("a small shape suits every design");
    let (client, workers) = Pool::new(queue, |_| [0_u64; 2]).expect("there is memory for it").split();
    let handled = Arc::new(AtomicU64::new(0));
    let all = clients * REQUESTS;
    let workers: Vec<_> = workers
        .into_iter()
        .map(|worker| {
            let handled = Arc::clone(&handled);
            thread::spawn(move || work::<D>(&worker, &handled, all))
        })
        .collect();
    let mut handles: Vec<_> =
        (1..clients).map(|_| client.try_clone().expect("the design takes many submitters")).collect();
    handles.push(client);
    let handles: Vec<_> = handles.into_iter().map(|client| thread::spawn(move || submit::<D>(&client))).collect();
    handles.into_iter().for_each(|handle| handle.join().expect("a client does not panic"));
    let sum: u64 = workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")).sum();
    sum == clients * (1..=REQUESTS).sum::<u64>()
}

fn submit<D: Design>(client: &Client<[u64; 2], D::Queue<Native>>) {
    let mut number = 0;
    while number < REQUESTS {
        let Some(mut vacant) = client.acquire() else {
            thread::yield_now();
            continue;
        };
        assert_eq!(vacant[1], vacant[0] * 10, "the answer is there when the slot comes back");
        number += 1;
        *vacant = [number, 0];
        vacant.submit();
    }
}

fn work<D: Design>(worker: &Worker<[u64; 2], D::Queue<Native>>, handled: &AtomicU64, all: u64) -> u64 {
    let mut sum = 0;
    while handled.load(Ordering::Relaxed) < all {
        let Some(mut claimed) = worker.take() else {
            thread::yield_now();
            continue;
        };
        sum += claimed[0];
        claimed[1] = claimed[0] * 10;
        claimed.complete();
        handled.fetch_add(1, Ordering::Relaxed);
    }
    sum
}

fn plant_use_after_free() {
    let node = Box::into_raw(Box::new([7_u64; 8]));
    // SAFETY: the node was just made, and is freed once.
    drop(unsafe { Box::from_raw(black_box(node)) });
    // SAFETY: none: this is the fault that AddressSanitizer has to stop.
    black_box(unsafe { black_box(node).cast::<u64>().read_volatile() });
}

fn plant_leak() {
    // On a thread of its own, so that no pointer to it is left on a stack.
    let leak = || {
        let queue = slotwork_bitmap::Bitmap::build::<Native>(Shape::new(1, 4).expect("a small shape is legal"))
            .expect("a small shape suits every design");
        let (client, workers) = Pool::new(queue, |_| 0_u64).expect("there is memory for it").split();
        drop(workers);
        std::mem::forget(client);
    };
    thread::spawn(leak).join().expect("it only forgets");
}

fn plant_plain_read() {
    struct Shared(AtomicU64);
    let shared = Arc::new(Shared(AtomicU64::new(0)));
    let writer = {
        let shared = Arc::clone(&shared);
        thread::spawn(move || (0..10_000).for_each(|value| shared.0.store(value, Ordering::Release)))
    };
    for _ in 0..10_000 {
        // SAFETY: none: a plain read beside an atomic write is the fault that ThreadSanitizer has to stop.
        black_box(unsafe { shared.0.as_ptr().read_volatile() });
    }
    writer.join().expect("it only stores");
}
