//! A design that claims more than it keeps.

use slotwork::{Claims, Design, NoneFree, Platform, Shape, Site};
use slotwork_locked::{LaneLock, LaneLockQueue};

/// `lane-lock`, with the claim that its "none free" is exact.
#[derive(Clone, Copy, Debug)]
pub struct ScanClaimsExact;

// SAFETY: `construct` makes a new queue.
unsafe impl Design for ScanClaimsExact {
    const NAME: &'static str = "lane-lock-that-claims-exact";
    const CLAIMS: Claims = Claims { none_free: NoneFree::Exact, ..LaneLock::CLAIMS };
    const SITES: &'static [&'static [Site]] = LaneLock::SITES;
    type Queue<P: Platform> = LaneLockQueue<P>;

    fn construct<P: Platform>(shape: Shape) -> Self::Queue<P> {
        LaneLock::construct(shape)
    }
}
