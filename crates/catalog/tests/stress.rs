//! Real threads against the record of owners, for every design.

mod support;

use slotwork::Design;
use slotwork_catalog::allocation::Counting;
use std::time::Duration;
use support::crew::{Plan, run, try_run};
use support::known_bad::{self, Bad};
use support::plain_flip::PlainFlip;
use support::{admitted, assert_rejected, clients_of, for_every_design};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn grid<D: Design>(clients: &[usize], requests: u64) {
    for &clients in clients {
        for lanes in [1, 2, 4] {
            for slots_per_lane in [1, 3, 64] {
                if clients_of::<D>(clients) == clients && admitted::<D>(lanes, slots_per_lane).is_some() {
                    run::<D>(Plan::new(clients, lanes, slots_per_lane, requests));
                }
            }
        }
    }
}

#[test]
fn one_client() {
    fn check<D: Design>() {
        grid::<D>(&[1], 20_000);
    }
    for_every_design!(check);
}

#[test]
fn many_clients() {
    fn check<D: Design>() {
        grid::<D>(&[2, 4], 10_000);
    }
    for_every_design!(check);
}

/// "None" is checked against what was published before the call: a sole client, and a lane's one worker.
#[test]
fn empty_at_cap1_and_not_empty_but_null() {
    fn check<D: Design>() {
        for (lanes, slots_per_lane) in [(1, 1), (1, 4), (2, 1), (3, 64)] {
            for clients in [1, 2] {
                if clients_of::<D>(clients) == clients {
                    run::<D>(Plan { answers: true, ..Plan::new(clients, lanes, slots_per_lane, 10_000) });
                }
            }
        }
    }
    for_every_design!(check);
}

/// Two clients flip bits of one word, for as long as it takes a lossy flip to show.
#[test]
fn plain_flip_loses_nothing() {
    fn check<D: Design>() {
        if clients_of::<D>(2) == 2 {
            run::<D>(Plan::new(2, 1, 64, 100_000));
        }
    }
    for_every_design!(check);
}

/// After a run with all there is, the free slots are N and distinct: no slot is lost, doubled, or owed.
#[test]
fn cycle_and_credit_negative_after_stress() {
    fn check<D: Design>() {
        for seed in 0..10 {
            let clients = clients_of::<D>(3);
            run::<D>(Plan { seed, ..Plan::new(clients, 2, 4, 2000) });
        }
    }
    for_every_design!(check);
}

/// Bytes that live after many threads have churned are bounded, and not by the number of requests. Where a
/// design defers what it frees, a thread that is off its processor defers it for long.
fn memory_growth<D: Design>() {
    let bound = if D::CLAIMS.allocates { 4 << 20 } else { 128 << 10 };
    let report = run::<D>(Plan::new(clients_of::<D>(2), 2, 8, 150_000));
    let (grown, requests) = (report.allocated.bytes, report.handled);
    assert!(grown < bound, "{}: {grown} bytes more after {requests} requests", D::NAME);
}

#[test]
fn memory_growth_is_bounded_with_many_threads() {
    for_every_design!(memory_growth);
}

#[test]
fn rejects_memory_that_grows() {
    assert_rejected(memory_growth::<Bad<known_bad::Grows>>, &["bytes more after"]);
}

/// All threads on one processor: nobody waits for a peer that cannot run.
#[test]
fn one_cpu_is_enough() {
    fn check<D: Design>() {
        let cores = core_affinity::get_core_ids().unwrap_or_default();
        if let Some(&core) = cores.first() {
            // Threads made by this one are bound to the same processor.
            core_affinity::set_for_current(core);
        }
        run::<D>(Plan::new(clients_of::<D>(4), 4, 2, 2000));
    }
    for_every_design!(check);
}

#[test]
fn the_control_is_accepted() {
    grid::<Bad<known_bad::Honest>>(&[1, 2, 4], 1000);
    run::<Bad<known_bad::Honest>>(Plan { answers: true, ..Plan::new(2, 1, 1, 1000) });
}

#[test]
fn plain_flip_is_accepted_with_one_client() {
    run::<PlainFlip>(Plan { answers: true, ..Plan::new(1, 1, 64, 1000) });
}

/// Runs until it is caught: what depends on the interleaving may need more than one run.
fn until_caught<D: Design>(plan: Plan) {
    for round in 0..200 {
        if let Err(violation) = try_run::<D>(Plan { seed: plan.seed + round, ..plan }) {
            panic!("{violation}");
        }
    }
}

/// Fewer requests than slots, and no drains, so that nobody waits for a slot that is lost.
const LOSSY: Plan = Plan {
    clients: 2,
    lanes: 1,
    slots_per_lane: 64,
    requests: 30,
    answers: false,
    drains: false,
    patience: Duration::from_secs(20),
    seed: 1,
};

#[test]
fn rejects_plain_flip_with_two_clients() {
    // Twice or never, as it happens.
    assert_rejected(|| until_caught::<PlainFlip>(LOSSY), &["two owners", "were handled"]);
}

#[test]
fn rejects_a_slot_handed_out_twice() {
    assert_rejected(|| until_caught::<Bad<known_bad::AcquiresTwice>>(LOSSY), &["two owners"]);
}

#[test]
fn rejects_a_slot_taken_twice() {
    assert_rejected(|| until_caught::<Bad<known_bad::TakesTwice>>(LOSSY), &["two owners"]);
}

#[test]
fn rejects_a_lost_slot_by_the_count() {
    assert_rejected(|| until_caught::<Bad<known_bad::LosesOne>>(LOSSY), &["were handled"]);
}

#[test]
fn rejects_a_withdrawn_slot_that_is_lost() {
    assert_rejected(|| until_caught::<Bad<known_bad::WithdrawLoses>>(LOSSY), &["are free at the end"]);
}

#[test]
fn rejects_a_stack_that_claims_to_be_a_queue() {
    assert_rejected(|| until_caught::<Bad<known_bad::LastInFirstOut>>(LOSSY), &["was taken after"]);
}

#[test]
fn rejects_none_free_too_early() {
    let plan = Plan { clients: 1, slots_per_lane: 3, answers: true, ..LOSSY };
    assert_rejected(|| until_caught::<Bad<known_bad::NoneTooEarly>>(plan), &["none free, after"]);
}

#[test]
fn rejects_nothing_submitted_too_early() {
    let plan = Plan { answers: true, requests: 1000, ..LOSSY };
    assert_rejected(|| until_caught::<Bad<known_bad::NothingTooEarly>>(plan), &["nothing to take, after"]);
}

/// The request that is lost is the only slot, and its client waits for ever.
#[test]
fn rejects_a_hang() {
    let plan = Plan { slots_per_lane: 1, patience: Duration::from_millis(300), ..LOSSY };
    assert_rejected(|| until_caught::<Bad<known_bad::LosesOne>>(plan), &["no progress"]);
}
