//! The two views against brute force: one misses interleavings, the other none.

use model_checks::oracle::{Program, Step, enumerate, explore, programs};
use model_checks::platform::{Interleaving, View, Weak};

const PROGRAMS: usize = 600;

/// Programs of which the view misses a sequentially consistent result.
fn missed<V: View>() -> Vec<Program> {
    programs(PROGRAMS).filter(|program| !enumerate(program).is_subset(&explore::<V>(program))).collect()
}

#[test]
fn the_interleaving_view_misses_no_result_of_600_programs() {
    let missed = missed::<Interleaving>();
    assert!(missed.is_empty(), "{} programs, the first is {:?}", missed.len(), missed[0]);
}

/// If this ever fails, loom has become complete, and the second view is not needed any more.
#[test]
fn the_weak_view_misses_results_of_some() {
    let missed = missed::<Weak>();
    println!(
        "the weak view misses results of {} of {PROGRAMS} programs; the first is {:?}",
        missed.len(),
        missed.first()
    );
    assert!(!missed.is_empty());
}

/// The smallest known program that loom alone gets wrong: a load, against a load and an exchange.
#[test]
fn a_load_hides_another_load_from_the_weak_view_alone() {
    let program: Program = [vec![Step::Load(0)], vec![Step::Load(0), Step::ExchangeRead(0, 1)]];
    let all = enumerate(&program);
    assert!(all.iter().any(|(first, ..)| first == &[1]), "the first thread may read what the second wrote");
    assert!(explore::<Interleaving>(&program).is_superset(&all));
    assert!(!explore::<Weak>(&program).is_superset(&all));
}

#[test]
fn the_programs_are_not_all_alike() {
    let outcomes: Vec<usize> = programs(PROGRAMS).map(|program| enumerate(&program).len()).collect();
    assert!(outcomes.iter().filter(|&&outcomes| outcomes > 1).count() > PROGRAMS / 2, "most have a race");
    assert!(outcomes.iter().any(|&outcomes| outcomes > 5));
}
