//! Where a thread of shuttle stands: before which access, or inside which lock.
//!
//! Shuttle switches threads before each access. The platform notes the site just before that, and a
//! scheduler that wants to know takes the note: it is about the thread that was running until then. All
//! threads of an execution share one thread of the system, so a note per thread of the system will do.

use slotwork::{Access, Site};
use std::cell::Cell;
use std::fmt;

/// A place between two steps of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stand {
    /// The access that comes next, or the lock that is held.
    pub site: &'static Site,
    /// Whether it is inside that lock.
    pub inside: bool,
}

impl fmt::Display for Stand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.inside { "inside" } else { "before" };
        write!(formatter, "{place} {}.{}", self.site.table, self.site.name)
    }
}

thread_local! {
    static NOTE: Cell<Option<Stand>> = const { Cell::new(None) };
    static HINTS_ARE_STEPS: Cell<bool> = const { Cell::new(true) };
}

/// Notes that the running thread is about to make an access.
pub(super) fn before(site: &'static Site) {
    NOTE.set(Some(Stand { site, inside: false }));
}

/// Notes that the running thread holds a lock.
pub(super) fn inside(site: &'static Site) {
    debug_assert!(matches!(site.access, Access::Lock));
    NOTE.set(Some(Stand { site, inside: true }));
}

/// Takes the last note, if one was made since it was last taken.
#[must_use]
pub fn take_stand() -> Option<Stand> {
    NOTE.take()
}

/// Whether a spin hint lets other threads in. It is no access: to be suspended at a hint is to be suspended before the
/// access that follows, and a scheduler that counts accesses has no use for it.
pub fn hints_are_steps(so: bool) {
    HINTS_ARE_STEPS.set(so);
}

pub(super) fn hint_is_step() -> bool {
    HINTS_ARE_STEPS.get()
}
