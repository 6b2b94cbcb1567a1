//! The progress of every call of every design, against its claims; and variants whose claims are false.

use model_checks::evidence::{Evidence, Outcome};
use model_checks::museum::PROGRESS_EXHIBITS;
use model_checks::progress::{Call, Matrix, Place, matrix, measure, table};
use slotwork::{Operation, Progress};
use slotwork_catalog::{ENTRIES, Entry};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock};

/// The matrix of a design, measured once for all tests.
fn of(design: &'static str) -> &'static Matrix {
    static MEASURED: Mutex<BTreeMap<&'static str, &'static OnceLock<Matrix>>> = Mutex::new(BTreeMap::new());
    let cell = *MEASURED.lock().unwrap().entry(design).or_insert_with(|| Box::leak(Box::default()));
    cell.get_or_init(|| measure(design, false).expect("there is such a design").expect("every execution ends"))
}

fn call_of(operation: Operation) -> Call {
    Call::ALL.into_iter().find(|call| call.operation() == Some(operation)).expect("an operation is a call")
}

/// Each claim of a design against what was seen; every row counts.
fn agrees(design: &'static str) {
    let matrix = of(design);
    println!("{matrix}");
    for operation in Operation::ALL {
        let call = call_of(operation);
        assert!(
            matrix.agrees(call),
            "{design} claims that {call} is {}, but {}",
            matrix.claim(call),
            matrix.describe(call)
        );
    }
    for row in matrix.evidence() {
        row.verdict().unwrap_or_else(|why| panic!("{design}: {why}"));
    }
}

macro_rules! agreement {
    ($($test:ident: $design:literal),+ $(,)?) => {
        mod claims_agree {
            $(
                #[test]
                fn $test() {
                    super::agrees($design);
                }
            )+
        }

        /// No design is left out.
        #[test]
        fn every_design_of_the_catalog_is_tested() {
            let tested = [$($design),+];
            assert_eq!(tested.to_vec(), slotwork_catalog::names());
        }
    };
}

agreement! {
    bitmap: "bitmap",
    slot_state: "slot-state",
    bitmap_owned: "bitmap-owned",
    bitmap_steal: "bitmap-steal",
    bitmap_refill: "bitmap-refill",
    bitmap_claim: "bitmap-claim",
    shared_bitmap: "shared-bitmap",
    freelist_bitmap: "freelist-bitmap",
    freelist_steal: "freelist-steal",
    double_list: "double-list",
    grab_list: "grab-list",
    linked_queue: "linked-queue",
    global_lock: "global-lock",
    lane_lock: "lane-lock",
}

fn entries(blocking: bool) -> impl Iterator<Item = &'static Entry> {
    ENTRIES.iter().filter(move |entry| entry.claims.progress.lock_free() != blocking)
}

/// Which step blocks whom: a lock's inside, and nothing else; where nothing blocks, nobody is held up.
#[test]
fn priority_inversion_only_the_inside_of_a_lock_holds_up_others() {
    for entry in entries(true) {
        let matrix = of(entry.name);
        let lock = entry.sites[0].iter().find(|site| site.access == slotwork::Access::Lock).expect("it has a lock");
        let inside = Place { table: lock.table, name: lock.name, inside: true };
        for call in Operation::ALL.map(call_of) {
            assert_eq!(matrix.verdict(call), Progress::Blocking);
            assert_eq!(matrix.held_up_at(call).into_keys().collect::<Vec<_>>(), [inside], "{}: {call}", entry.name);
        }
        let text = matrix.to_string();
        assert!(text.contains(&format!("inside {}.{}", lock.table, lock.name)), "{text}");
    }
    for entry in entries(false) {
        let matrix = of(entry.name);
        assert!(matrix.suspensions.blocks.is_empty() && matrix.suspensions.among_all.is_empty(), "{matrix}");
    }
}

/// A lock per lane: a worker is held up by clients, and never by another lane's worker.
#[test]
fn priority_inversion_a_lock_per_lane_keeps_workers_apart() {
    let holders = |design| of(design).held_up_at(Call::Take).into_values().flatten().collect::<BTreeSet<_>>();
    assert!(holders("lane-lock").iter().all(|call| call.side() == "client"));
    assert!(holders("global-lock").contains(&Call::Take));
}

/// Every access that a design declares was a place of suspension, but for those of building and dropping.
#[test]
fn every_step_was_a_place_of_suspension() {
    for entry in ENTRIES {
        let points = &of(entry.name).suspensions.points;
        let places: BTreeSet<_> = points.keys().map(|(_, place)| (place.table, place.name)).collect();
        let missing = entry.sites.iter().copied().flatten().filter(|site| !places.contains(&(site.table, site.name)));
        let missing: Vec<_> = missing.filter(|site| !site.name.starts_with("DROP")).map(ToString::to_string).collect();
        assert!(missing.is_empty(), "{}: nobody was suspended at {missing:?}", entry.name);
    }
}

/// Beside a suspended client, at least all slots but one go round once more; and beside a suspended worker, where
/// any worker takes any request. Behind a lock, nothing need go on.
#[test]
fn paused_peer_full_the_circle_goes_on_beside_a_suspended_thread() {
    for entry in ENTRIES {
        let matrix = of(entry.name);
        println!("{}: {:?}", entry.name, matrix.circle.items);
        for side in ["client", "worker"] {
            let Some((call, items)) = matrix.fewest_items(side) else { continue };
            if !entry.claims.progress.lock_free() {
                assert_eq!(items, 0, "{} has a lock", entry.name);
            } else if side == "client" || entry.claims.work_conserving {
                assert!(items >= 3, "{}: beside a thread suspended in {call}, {items} requests went round", entry.name);
            }
        }
    }
}

fn failures(rows: &[Evidence]) -> Vec<&Evidence> {
    rows.iter().filter(|row| matches!(row.outcome, Outcome::Failed { .. })).collect()
}

/// Each exhibit fails in at least one row, and is told why.
#[test]
fn every_exhibit_of_progress_is_rejected() {
    for exhibit in PROGRESS_EXHIBITS {
        let rows = of(exhibit.design).evidence();
        let failures = failures(&rows);
        for row in &failures {
            println!("museum {}: {}: {:?}", exhibit.name, row.subject, row.outcome);
        }
        let is_expected =
            |row: &&&Evidence| matches!(&row.outcome, Outcome::Failed { why, .. } if why.contains(exhibit.expected));
        assert!(failures.iter().any(|row| is_expected(&row)), "{} was accepted", exhibit.name);
        let sound = of(exhibit.counterpart).evidence();
        assert!(self::failures(&sound).is_empty(), "{} has a counterpart that fails", exhibit.name);
    }
}

#[test]
fn a_queue_without_helping_blocks_its_taker_at_the_missing_step() {
    let matrix = of("queue-without-helping");
    assert_eq!(matrix.verdict(Call::Take), Progress::Blocking);
    let put = Place { table: "museum-progress", name: "PUT", inside: false };
    let held_up_at: Vec<_> = matrix.held_up_at(Call::Take).into_iter().collect();
    assert_eq!(held_up_at, [(put, BTreeSet::from([Call::Submit]))]);
    assert_eq!(matrix.holds_up(Call::Submit), BTreeSet::from([Call::Take]));
    for call in [Call::Acquire, Call::Submit, Call::Withdraw, Call::Complete] {
        assert!(matrix.agrees(call), "{}", matrix.describe(call));
    }
}

/// Found by a schedule in which nobody is suspended; alone, each acquire ends at once.
#[test]
fn no_reload_livelock_a_claim_recheck_counter_is_obstruction_free_only() {
    let matrix = of("claim-recheck-counter");
    assert_eq!(matrix.verdict(Call::Acquire), Progress::ObstructionFree, "{matrix}");
    assert!(matrix.suspensions.blocks.is_empty() && matrix.suspensions.among_all.is_empty(), "{matrix}");
    for call in [Call::Submit, Call::Withdraw, Call::Take, Call::Complete] {
        assert!(matrix.agrees(call), "{}", matrix.describe(call));
    }
    // No design of the catalog has two calls that keep each other from ending.
    for entry in ENTRIES {
        assert!(of(entry.name).periodic.livelocked.is_empty(), "{}", entry.name);
    }
}

/// Every call ends, and yet nothing goes round: only the count of requests tells.
#[test]
fn paused_peer_full_a_queue_that_stays_empty_is_rejected() {
    let matrix = of("empty-for-ever");
    assert!(Operation::ALL.map(call_of).into_iter().all(|call| matrix.agrees(call)), "{matrix}");
    let rows = matrix.evidence();
    let failures = failures(&rows);
    assert_eq!(failures.iter().map(|row| &*row.subject).collect::<Vec<_>>(), ["circle"], "{matrix}");
}

/// Where the claim is "lock-free" and that is all, some schedule starves the call; where it is "wait-free", none does.
#[test]
fn starvation_tells_lock_free_from_wait_free() {
    for entry in ENTRIES {
        let matrix = of(entry.name);
        for call in Operation::ALL.map(call_of) {
            if matrix.claim(call) == Progress::WaitFree {
                assert!(matrix.most(call) < 16, "{}: {} steps of {call}", entry.name, matrix.most(call));
            }
        }
    }
    for design in ["bitmap-claim", "freelist-bitmap", "linked-queue"] {
        assert_eq!(of(design).verdict(Call::Acquire), Progress::LockFree, "{design}");
    }
}

#[test]
fn a_design_that_there_is_not_has_no_matrix() {
    assert!(matrix("nonsense", false).is_none());
    assert!(table("nonsense", false).is_none());
}
