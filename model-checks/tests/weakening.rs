//! How the one weakened site of a mutant run is written, read and applied.

use model_checks::platform::Weakening;
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
    let weakened = |to| Weakening { table: "t".into(), name: "A".into(), to }.apply(&strong);
    assert_eq!(weakened(Ordering::Relaxed), Access::CompareExchange(Ordering::Relaxed, Ordering::Relaxed));
    assert_eq!(weakened(Ordering::Release), Access::CompareExchange(Ordering::Release, Ordering::Relaxed));
    assert_eq!(weakened(Ordering::Acquire), Access::CompareExchange(Ordering::Acquire, Ordering::Acquire));
}

/// Every mutant of the museum weakens a site that exists, and that orders something.
#[test]
fn every_mutant_weakens_a_declared_site() {
    let designs = slotwork_catalog::ENTRIES.iter().flat_map(|entry| entry.sites.iter().copied());
    let tables: Vec<&[Site]> = designs.chain([slotwork::POOL_SITES, slotwork_workqueue::EVENT_SITES]).collect();
    for mutant in model_checks::museum::MUTANTS {
        let weakening: Weakening = mutant.weakening.parse().unwrap();
        let is_it = |site: &&Site| site.table == weakening.table && site.name == weakening.name;
        let site = tables.iter().copied().flatten().find(is_it).unwrap_or_else(|| panic!("no site {weakening}"));
        assert!(weakening.apply(site) != site.access, "{weakening} weakens nothing");
    }
}
