//! Which sites a run touched, and the one site that a mutant run weakens.
//!
//! Both are process-wide: a run of a checker is a process of its own, and all threads of a model
//! share one thread of the system.

use slotwork::{Access, Site};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use thiserror::Error;

/// Table and name of a site that was executed.
pub type TouchedSite = (&'static str, &'static str);

thread_local! {
    /// By address: a site has a few addresses, one per crate that uses it, and a run millions of accesses.
    static TOUCHED: RefCell<HashMap<*const Site, &'static Site>> = RefCell::default();
}

static WEAKENING: OnceLock<Weakening> = OnceLock::new();

/// Which part of an access is made weaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it; a compare-exchange then fails no stronger than it succeeds.
    Whole,
    /// A compare-exchange when it succeeds; how it fails stays as it is.
    Success,
    /// A compare-exchange when it fails.
    Failure,
}

impl Part {
    const fn suffix(self) -> &'static str {
        match self {
            Self::Whole => "",
            Self::Success => "/success",
            Self::Failure => "/failure",
        }
    }
}

/// One site with a weaker ordering than it asks for: a mutant of the code under the checker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weakening {
    /// Table of the site.
    pub table: String,
    /// Name of the site within the table.
    pub name: String,
    /// Which part of the access.
    pub part: Part,
    /// The ordering instead. A fence weakened to `Relaxed` is left out.
    pub to: Ordering,
}

/// A weakening that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "'{0}' is no weakening; one is written as table.NAME=Relaxed (or NAME/success, NAME/failure; Acquire, Release, AcqRel)"
)]
pub struct UnknownWeakening(String);

impl FromStr for Weakening {
    type Err = UnknownWeakening;

    fn from_str(text: &str) -> Result<Self, UnknownWeakening> {
        let parse = || {
            let (site, to) = text.split_once('=')?;
            let (table, name) = site.split_once('.')?;
            let (name, part) = match name.split_once('/') {
                None => (name, Part::Whole),
                Some((name, "success")) => (name, Part::Success),
                Some((name, "failure")) => (name, Part::Failure),
                Some(_) => return None,
            };
            let to = match to {
                "Relaxed" => Ordering::Relaxed,
                "Acquire" => Ordering::Acquire,
                "Release" => Ordering::Release,
                "AcqRel" => Ordering::AcqRel,
                _ => return None,
            };
            Some(Self { table: table.into(), name: name.into(), part, to })
        };
        parse().ok_or_else(|| UnknownWeakening(text.into()))
    }
}

impl fmt::Display for Weakening {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}{}={:?}", self.table, self.name, self.part.suffix(), self.to)
    }
}

/// The orderings one step below, for an access that may both acquire and release.
const fn below(ordering: Ordering) -> &'static [Ordering] {
    match ordering {
        Ordering::SeqCst => &[Ordering::AcqRel],
        Ordering::AcqRel => &[Ordering::Acquire, Ordering::Release],
        Ordering::Acquire | Ordering::Release => &[Ordering::Relaxed],
        _ => &[],
    }
}

/// The same, for a load, or for a compare-exchange that fails.
const fn below_load(ordering: Ordering) -> &'static [Ordering] {
    match ordering {
        Ordering::SeqCst => &[Ordering::Acquire],
        Ordering::Acquire => &[Ordering::Relaxed],
        _ => &[],
    }
}

/// The same, for a store.
const fn below_store(ordering: Ordering) -> &'static [Ordering] {
    match ordering {
        Ordering::SeqCst => &[Ordering::Release],
        Ordering::Release => &[Ordering::Relaxed],
        _ => &[],
    }
}

impl Weakening {
    /// Every way of weakening a site by one step; none for one that orders nothing, and for a lock.
    #[must_use]
    pub fn steps(site: &Site) -> Vec<Self> {
        let weaker = |part, orderings: &[Ordering]| -> Vec<Self> {
            let one = |&to| Self { table: site.table.into(), name: site.name.into(), part, to };
            orderings.iter().map(one).collect()
        };
        match site.access {
            Access::Load(ordering) => weaker(Part::Whole, below_load(ordering)),
            Access::Store(ordering) => weaker(Part::Whole, below_store(ordering)),
            Access::Rmw(ordering) | Access::Fence(ordering) => weaker(Part::Whole, below(ordering)),
            Access::CompareExchange(success, failure) => {
                let mut steps = weaker(Part::Success, below(success));
                steps.extend(weaker(Part::Failure, below_load(failure)));
                steps
            }
            Access::Lock => Vec::new(),
        }
    }

    fn is_for(&self, site: &Site) -> bool {
        self.name == site.name && self.table == site.table
    }

    /// The access of a site, as it is when weakened.
    #[must_use]
    pub fn apply(&self, site: &Site) -> Access {
        match site.access {
            Access::Load(_) => Access::Load(self.to),
            Access::Store(_) => Access::Store(self.to),
            Access::Rmw(_) => Access::Rmw(self.to),
            Access::Fence(_) => Access::Fence(self.to),
            Access::CompareExchange(success, failure) => match self.part {
                Part::Whole => {
                    let acquires = matches!(self.to, Ordering::Acquire | Ordering::AcqRel);
                    Access::CompareExchange(self.to, if acquires { failure } else { Ordering::Relaxed })
                }
                Part::Success => Access::CompareExchange(self.to, failure),
                Part::Failure => Access::CompareExchange(success, self.to),
            },
            Access::Lock => Access::Lock,
        }
    }
}

/// Weakens one site for the rest of the process.
///
/// # Panics
/// When one was weakened already: one process, one mutant.
pub fn weaken(weakening: Weakening) {
    WEAKENING.set(weakening).expect("one process runs one mutant");
}

/// The sites executed so far by models on this thread.
#[must_use]
pub fn touched_sites() -> BTreeSet<TouchedSite> {
    TOUCHED.with_borrow(|touched| touched.values().map(|site| (site.table, site.name)).collect())
}

/// Notes that a site is executed, and says how: as written, or weakened.
pub(super) fn execute(site: &'static Site) -> Site {
    TOUCHED.with_borrow_mut(|touched| touched.insert(std::ptr::from_ref(site), site));
    match WEAKENING.get() {
        Some(weakening) if weakening.is_for(site) => Site { access: weakening.apply(site), ..*site },
        _ => *site,
    }
}
