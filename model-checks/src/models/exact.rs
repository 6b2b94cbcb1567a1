//! The model of a claim: "none free" is exact.

use super::{Bound, MEDIUM, Model, handles, keep, needs_many, second_client};
use crate::platform::Machine;
use crate::seen::{Overlap, Seen};
use slotwork::{Claims, Design, NoneFree};
use std::sync::Arc;

/// One of two slots is free at every instant, but not the same one all the time: a scan can look at
/// each just while it is held. Who claims to be exact must find one.
pub struct ExactNone;

impl Model for ExactNone {
    const NAME: &'static str = "exact_none";
    const PROPERTY: &'static str = "none free is exact";
    const WITNESSES: &'static [&'static str] = &["overlap"];
    const FLOOR: u64 = 3;
    const BOUND: Bound = MEDIUM;

    fn skip(claims: &Claims) -> Option<&'static str> {
        if claims.none_free == NoneFree::Exact { needs_many(claims) } else { Some("claims no exact \"none free\"") }
    }

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (mover, _workers) = handles::<D, P>(2, 1);
        let looker = second_client::<D, P>(&mover);
        let overlap = Arc::new(Overlap::default());
        let other = P::spawn({
            let overlap = Arc::clone(&overlap);
            move || overlap.during(seen, "overlap", || keep::<D, P>(&looker))
        });
        let held = mover.acquire().expect("two slots are free, and one other client looks for one");
        overlap.during(seen, "overlap", || {
            P::step();
            drop(held);
            keep::<D, P>(&mover)
        });
        assert!(P::join(other).is_some(), "a slot was free at every instant");
    }
}
