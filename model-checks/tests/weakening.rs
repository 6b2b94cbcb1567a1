//! How the one weakened site of a mutant run is written, read and applied.

use model_checks::platform::{Part, Weakening};
use slotwork::{Access, Site};
use std::sync::atomic::Ordering;

#[test]
fn a_weakening_reads_as_it_is_written() {
    let weakening: Weakening = "bitmap.FILL_STORE=Relaxed".parse().unwrap();
    assert_eq!(weakening.to_string(), "bitmap.FILL_STORE=Relaxed");
    assert_eq!(weakening.to, Ordering::Relaxed);
    for nonsense in ["", "bitmap", "bitmap.FILL_STORE", "bitmap.FILL_STORE=Strong", "FILL_STORE=Relaxed"] {
        assert!(nonsense.parse::<Weakening>().is_err(), "{nonsense}");
    }
}

#[test]
fn a_weakened_compare_exchange_fails_no_stronger_than_it_succeeds() {
    let access = Access::CompareExchange(Ordering::AcqRel, Ordering::Acquire);
    let strong = Site { table: "t", name: "A", access, pairs: &[], why: "a test" };
    let weakened = |to| Weakening { table: "t".into(), name: "A".into(), part: Part::Whole, to }.apply(&strong);
    assert_eq!(weakened(Ordering::Relaxed), Access::CompareExchange(Ordering::Relaxed, Ordering::Relaxed));
    assert_eq!(weakened(Ordering::Release), Access::CompareExchange(Ordering::Release, Ordering::Relaxed));
    assert_eq!(weakened(Ordering::Acquire), Access::CompareExchange(Ordering::Acquire, Ordering::Acquire));
}

/// One step at a time, and each part of a compare-exchange for itself.
#[test]
fn the_steps_of_a_site_are_all_one_step() {
    let steps = |access| {
        let site = Site { table: "t", name: "A", access, pairs: &[], why: "a test" };
        Weakening::steps(&site).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(steps(Access::Load(Ordering::Acquire)), ["t.A=Relaxed"]);
    assert_eq!(steps(Access::Store(Ordering::Relaxed)), [""; 0]);
    assert_eq!(steps(Access::Rmw(Ordering::AcqRel)), ["t.A=Acquire", "t.A=Release"]);
    assert_eq!(steps(Access::Fence(Ordering::SeqCst)), ["t.A=AcqRel"]);
    let exchange = Access::CompareExchange(Ordering::Release, Ordering::Acquire);
    assert_eq!(steps(exchange), ["t.A/success=Relaxed", "t.A/failure=Relaxed"]);
    let site = Site { table: "t", name: "A", access: exchange, pairs: &[], why: "a test" };
    let applied: Vec<_> = Weakening::steps(&site).iter().map(|step| step.apply(&site)).collect();
    let parts = [(Ordering::Relaxed, Ordering::Acquire), (Ordering::Release, Ordering::Relaxed)];
    assert_eq!(applied, parts.map(|(success, failure)| Access::CompareExchange(success, failure)));
}

/// The tables around the designs.
const AROUND: [&[Site]; 3] = [slotwork::POOL_SITES, slotwork_workqueue::EVENT_SITES, slotwork_workqueue::ENGINE_SITES];

/// Every mutant of the museum weakens a site that exists, and that orders something.
#[test]
fn every_mutant_weakens_a_declared_site() {
    let designs = slotwork_catalog::ENTRIES.iter().flat_map(|entry| entry.sites.iter().copied());
    let tables: Vec<&[Site]> = designs.chain(AROUND).collect();
    for mutant in model_checks::museum::MUTANTS {
        let weakening: Weakening = mutant.weakening.parse().unwrap();
        let is_it = |site: &&Site| site.table == weakening.table && site.name == weakening.name;
        let site = tables.iter().copied().flatten().find(is_it).unwrap_or_else(|| panic!("no site {weakening}"));
        assert!(weakening.apply(site) != site.access, "{weakening} weakens nothing");
    }
}
