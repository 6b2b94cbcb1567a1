//! Memory: what operations allocate, what long churn leaves behind, what the last handle gives back.

mod support;

use slotwork::{Claimed, Design, Shape, Submitters};
use slotwork_catalog::allocation::{Count, Counting};
use std::thread::{scope, spawn, yield_now};
use support::known_bad::{self, Bad};
use support::{acquire_all, acquired, assert_rejected, for_every_design, full_circle, handles, small, take_all};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Ten thousand clients that come and go, in a thousand threads; the queue ends in yet another.
fn thread_exit<D: Design>() {
    let (mut client, workers) = small::<D, u64>(2, 2);
    // Bytes by the queue's own operations: what a thread itself costs is not the queue's.
    let mut grown = 0;
    for _ in 0..1000 {
        let thread = spawn(move || {
            let before = Count::now();
            let others = if D::CLAIMS.submitters == Submitters::Many { 9 } else { 0 };
            for _ in 0..others {
                let short_lived = client.try_clone().expect("within the limit");
                drop(short_lived.acquire());
            }
            let mut vacant = client.acquire().expect("a free slot");
            *vacant += 1;
            vacant.submit();
            (client, before.since().bytes)
        });
        let (moved, bytes) = thread.join().expect("no panic");
        client = moved;
        let before = Count::now();
        take_all(&workers).into_iter().for_each(Claimed::complete);
        grown += bytes + before.since().bytes;
    }
    assert!(grown < 512 << 10, "{}: {grown} bytes more after 10 000 clients", D::NAME);
    assert_eq!(acquire_all(&client).iter().map(|vacant| **vacant).sum::<u64>(), 1000, "{}", D::NAME);
    let name = D::NAME;
    spawn(move || drop((client, workers))).join().unwrap_or_else(|_| panic!("{name}: dropped elsewhere"));
}

#[test]
fn thread_exit_leaves_nothing() {
    for_every_design!(thread_exit);
}

#[test]
fn rejects_clients_that_leave_something() {
    thread_exit::<Bad<known_bad::Honest>>();
    assert_rejected(thread_exit::<Bad<known_bad::ClientsPileUp>>, &["bytes more after 10 000 clients"]);
}

/// Clients made and dropped more often than 16 bits count, without using them.
#[test]
fn resize_counter_does_not_drift() {
    fn check<D: Design>() {
        let (client, workers) = small::<D, u8>(1, 2);
        if D::CLAIMS.submitters == Submitters::One {
            return;
        }
        let before = Count::now();
        for number in 0..70_000 {
            let next = client.try_clone();
            drop(next.unwrap_or_else(|error| panic!("{}, client {number}: {error}", D::NAME)));
        }
        let grown = before.since().bytes;
        assert!(grown < 1 << 20, "{}: {grown} bytes more after 70 000 clients", D::NAME);
        full_circle(D::NAME, &client, &workers);
    }
    for_every_design!(check);
}

/// Slots are acquired by one thread and completed by another: where the claim says so, neither calls
/// the allocator once the queue is warm; where it says otherwise, somebody does.
fn allocations_as_claimed<D: Design>() {
    const WARM: usize = 200;
    const MEASURED: usize = 5000;
    let (client, mut workers) = handles::<D, u64>(Shape::new(1, 4).expect("small"), |_| 0);
    let worker = workers.remove(0);
    let calls: u64 = scope(|scope| {
        let worker = scope.spawn(move || {
            let mut before = Count::now();
            for number in 0..WARM + MEASURED {
                if number == WARM {
                    before = Count::now();
                }
                loop {
                    if let Some(claimed) = worker.take() {
                        claimed.complete();
                        break;
                    }
                    yield_now();
                }
            }
            before.since().calls
        });
        let mut before = Count::now();
        for number in 0..WARM + MEASURED {
            if number == WARM {
                before = Count::now();
            }
            if number % 8 == 0 {
                drop(acquired(&client));
            }
            acquired(&client).submit();
        }
        let calls = before.since().calls;
        calls + worker.join().expect("no panic")
    });
    let claimed = D::CLAIMS.allocates;
    assert_eq!(calls > 0, claimed, "{}: {calls} allocations; claims that it allocates: {claimed}", D::NAME);
}

#[test]
fn pool_cross_thread_allocations_are_as_claimed() {
    for_every_design!(allocations_as_claimed);
}

#[test]
fn rejects_wrong_claims_of_allocation() {
    allocations_as_claimed::<Bad<known_bad::Honest>>();
    assert_rejected(allocations_as_claimed::<Bad<known_bad::AllocatesInSecret>>, &["claims that it allocates: false"]);
    assert_rejected(allocations_as_claimed::<Bad<known_bad::AllocatesNothing>>, &["claims that it allocates: true"]);
}

/// Live bytes after a long churn are bounded, and not by the number of requests. `stress.rs` does the same
/// with many threads.
fn memory_growth<D: Design>() {
    const BOUND: i64 = 128 << 10;
    let (client, workers) = small::<D, u64>(1, 8);
    full_circle(D::NAME, &client, &workers);
    let before = Count::now();
    for _ in 0..25_000 {
        full_circle(D::NAME, &client, &workers);
    }
    let grown = before.since().bytes;
    assert!(grown < BOUND, "{}: {grown} bytes more after 200 000 requests", D::NAME);
}

#[test]
fn memory_growth_is_bounded() {
    for_every_design!(memory_growth);
}

#[test]
fn rejects_memory_that_grows() {
    memory_growth::<Bad<known_bad::Honest>>();
    assert_rejected(memory_growth::<Bad<known_bad::Grows>>, &["bytes more after"]);
}

/// After the last handle is gone, every byte is given back.
#[test]
fn drop_keeps_items_no_byte() {
    fn check<D: Design>() {
        // What a thread's first use of the runtime allocates stays.
        drop(small::<D, u64>(2, 3));
        let before = Count::now();
        {
            let (client, workers) = small::<D, u64>(2, 3);
            let second = client.try_clone();
            for _ in 0..100 {
                full_circle(D::NAME, &client, &workers);
            }
            if let Ok(second) = &second {
                full_circle(D::NAME, second, &workers);
            }
            client.acquire().expect("a free slot").submit();
            client.acquire().expect("a free slot").submit();
            assert_eq!(take_all(&workers).len(), 2, "{}", D::NAME);
            client.acquire().expect("a free slot").submit();
        }
        assert_eq!(before.since().bytes, 0, "{}: bytes kept", D::NAME);
    }
    for_every_design!(check);
}
