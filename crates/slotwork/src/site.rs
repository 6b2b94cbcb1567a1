//! An atomic access as a named thing: its ordering, its partner, its reason.
//!
//! The atomics of a [`Platform`](crate::Platform) take a [`Site`], never an `Ordering`. So all
//! orderings of a design can be read in one table at the top of its file, a test can check that
//! each release names an acquire that names it back, and an audit can weaken one site at a time.
//!
//! ```text
//!   client                                   worker
//!   payload = …                              FILL_LOAD: load(Acquire)
//!   FILL_STORE: store(Release)  ───pairs──▶  … = payload
//! ```

use alloc::{format, string::String, vec::Vec};
use core::fmt;
use core::sync::atomic::Ordering;

/// The kind of an access and its ordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A plain atomic load.
    Load(Ordering),
    /// A plain atomic store.
    Store(Ordering),
    /// A read-modify-write that always writes: swap, add, or, and, xor.
    Rmw(Ordering),
    /// A compare-exchange: ordering on success, ordering on failure.
    CompareExchange(Ordering, Ordering),
    /// A fence.
    Fence(Ordering),
    /// Taking and giving back a lock; acquires and releases.
    Lock,
}

/// One atomic access of a design: a constant, made by [`sites!`](crate::sites).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// The table it stands in, usually the design's name.
    pub table: &'static str,
    /// Its name within the table.
    pub name: &'static str,
    /// Kind and ordering.
    pub access: Access,
    /// Names (same table) of the sites it synchronises with.
    pub pairs: &'static [&'static str],
    /// Why the access is there and why this ordering is enough and needed.
    pub why: &'static str,
}

impl Site {
    /// Ordering of a load site.
    ///
    /// # Panics
    /// When the site is no load: a slip in the design, caught by its first use.
    #[inline(always)]
    #[must_use]
    pub const fn load(&self) -> Ordering {
        match self.access {
            Access::Load(ordering) => ordering,
            _ => panic!("a load uses a load site"),
        }
    }

    /// Ordering of a store site.
    ///
    /// # Panics
    /// When the site is no store.
    #[inline(always)]
    #[must_use]
    pub const fn store(&self) -> Ordering {
        match self.access {
            Access::Store(ordering) => ordering,
            _ => panic!("a store uses a store site"),
        }
    }

    /// Ordering of a read-modify-write site.
    ///
    /// # Panics
    /// When the site is no read-modify-write.
    #[inline(always)]
    #[must_use]
    pub const fn rmw(&self) -> Ordering {
        match self.access {
            Access::Rmw(ordering) => ordering,
            _ => panic!("a read-modify-write uses a read-modify-write site"),
        }
    }

    /// Orderings of a compare-exchange site: success, failure.
    ///
    /// # Panics
    /// When the site is no compare-exchange.
    #[inline(always)]
    #[must_use]
    pub const fn compare_exchange(&self) -> (Ordering, Ordering) {
        match self.access {
            Access::CompareExchange(success, failure) => (success, failure),
            _ => panic!("a compare-exchange uses a compare-exchange site"),
        }
    }

    /// Ordering of a fence site.
    ///
    /// # Panics
    /// When the site is no fence.
    #[inline(always)]
    #[must_use]
    pub const fn fence(&self) -> Ordering {
        match self.access {
            Access::Fence(ordering) => ordering,
            _ => panic!("a fence uses a fence site"),
        }
    }

    /// Whether what came before the access is published by it.
    #[must_use]
    pub const fn releases(&self) -> bool {
        match self.access {
            Access::Load(_) => false,
            Access::Lock => true,
            Access::Store(ordering)
            | Access::Rmw(ordering)
            | Access::CompareExchange(ordering, _)
            | Access::Fence(ordering) => {
                matches!(ordering, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
            }
        }
    }

    /// Whether what comes after the access sees what its partner published.
    #[must_use]
    pub const fn acquires(&self) -> bool {
        const fn acquiring(ordering: Ordering) -> bool {
            matches!(ordering, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
        }
        match self.access {
            Access::Store(_) => false,
            Access::Lock => true,
            Access::Load(ordering) | Access::Rmw(ordering) | Access::Fence(ordering) => acquiring(ordering),
            Access::CompareExchange(success, failure) => acquiring(success) || acquiring(failure),
        }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}: ", self.table, self.name)?;
        match self.access {
            Access::Load(ordering) => write!(formatter, "load({ordering:?})"),
            Access::Store(ordering) => write!(formatter, "store({ordering:?})"),
            Access::Rmw(ordering) => write!(formatter, "rmw({ordering:?})"),
            Access::CompareExchange(success, failure) => {
                write!(formatter, "compare_exchange({success:?}, {failure:?})")
            }
            Access::Fence(ordering) => write!(formatter, "fence({ordering:?})"),
            Access::Lock => write!(formatter, "lock"),
        }
    }
}

/// Declares a table of sites: a constant for each, and a slice of them all.
///
/// ```
/// slotwork::sites! {
///     /// Every atomic access of the example.
///     pub SITES in "example";
///     PUBLISH: Store(Release), pairs [OBSERVE], "publishes the payload";
///     OBSERVE: Load(Acquire), pairs [PUBLISH], "sees the payload before it is read";
///     COUNT: Rmw(Relaxed), pairs [], "a statistic that orders nothing";
/// }
/// assert_eq!(SITES.len(), 3);
/// assert!(slotwork::check_pairs(SITES).is_empty());
/// ```
///
/// A partner that does not exist does not compile:
///
/// ```compile_fail,E0425
/// slotwork::sites! {
///     /// A partner that nobody declared.
///     pub SITES in "example";
///     PUBLISH: Store(Release), pairs [NOWHERE], "publishes the payload";
/// }
/// ```
#[macro_export]
macro_rules! sites {
    (
        $(#[$meta:meta])*
        $visibility:vis $table:ident in $title:literal;
        $($name:ident: $kind:ident $(($($ordering:ident),+))?, pairs [$($partner:ident),*], $why:literal;)+
    ) => {
        $(
            #[doc = $why]
            const $name: $crate::Site = $crate::Site {
                table: $title,
                name: stringify!($name),
                access: $crate::Access::$kind $(($(::core::sync::atomic::Ordering::$ordering),+))?,
                pairs: &[$(stringify!($partner)),*],
                why: $why,
            };
        )+
        $(#[$meta])*
        $visibility const $table: &[$crate::Site] = &[$($name),+];
        // Each partner must be a declared site.
        const _: () = { $($(let _: &$crate::Site = &$partner;)*)+ };
    };
}

/// What is wrong with a table of sites; see [`check_pairs`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairFault {
    /// The site at fault, as `table.NAME`.
    pub site: String,
    /// What is wrong with it, in words.
    pub fault: String,
}

impl fmt::Display for PairFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.site, self.fault)
    }
}

/// Checks one table: every releasing site names an acquiring partner that names it back, and the
/// other way round; a relaxed site names none; every site has a reason; names are unique; no site
/// uses sequentially consistent loads or stores (checkers read those wrongly: use a fence).
#[must_use]
pub fn check_pairs(table: &[Site]) -> Vec<PairFault> {
    let mut faults = Vec::new();
    for site in table {
        let mut fault = |text: String| {
            faults.push(PairFault { site: format!("{}.{}", site.table, site.name), fault: text });
        };
        if site.why.trim().len() < 10 {
            fault("has no reason".into());
        }
        if table.iter().filter(|other| other.name == site.name).count() != 1 {
            fault("is declared twice".into());
        }
        if matches!(site.access, Access::Load(Ordering::SeqCst) | Access::Store(Ordering::SeqCst)) {
            fault("is a sequentially consistent access; use a fence".into());
        }
        if (site.releases() || site.acquires()) && site.pairs.is_empty() {
            fault("orders, but names no partner".into());
        }
        if !site.releases() && !site.acquires() && !site.pairs.is_empty() {
            fault("is relaxed, but names a partner".into());
        }
        for &name in site.pairs {
            let Some(partner) = table.iter().find(|other| other.name == name) else {
                fault(format!("names {name}, which is not in its table"));
                continue;
            };
            if !partner.pairs.contains(&site.name) {
                fault(format!("names {name}, which does not name it back"));
            }
            if !((site.releases() && partner.acquires()) || (site.acquires() && partner.releases())) {
                fault(format!("and {name} are no release and acquire"));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(table: &[Site]) -> Vec<String> {
        check_pairs(table).into_iter().map(|fault| fault.fault).collect()
    }

    fn site(name: &'static str, access: Access, pairs: &'static [&'static str]) -> Site {
        Site { table: "t", name, access, pairs, why: "a reason of some length" }
    }

    #[test]
    fn the_pair_check_rejects_each_fault() {
        use Ordering::{Acquire, Relaxed, Release, SeqCst};
        let good = [site("A", Access::Store(Release), &["B"]), site("B", Access::Load(Acquire), &["A"])];
        assert!(faults(&good).is_empty());
        let one_way = [site("A", Access::Store(Release), &["B"]), site("B", Access::Load(Acquire), &[])];
        assert!(faults(&one_way).iter().any(|fault| fault.contains("name it back")));
        assert!(faults(&one_way).iter().any(|fault| fault.contains("names no partner")));
        let lonely = [site("A", Access::Rmw(Release), &[])];
        assert!(faults(&lonely).iter().any(|fault| fault.contains("names no partner")));
        let relaxed = [site("A", Access::Store(Relaxed), &["B"]), site("B", Access::Load(Acquire), &["A"])];
        assert!(faults(&relaxed).iter().any(|fault| fault.contains("relaxed, but")));
        let twice = [good[0], good[0], good[1]];
        assert!(faults(&twice).iter().any(|fault| fault.contains("twice")));
        let absent = [site("A", Access::Store(Release), &["C"])];
        assert!(faults(&absent).iter().any(|fault| fault.contains("not in its table")));
        let unreasoned = [Site { why: "", ..site("A", Access::Load(Relaxed), &[]) }];
        assert!(faults(&unreasoned).iter().any(|fault| fault.contains("no reason")));
        let strong = [site("A", Access::Store(SeqCst), &["B"]), site("B", Access::Load(Acquire), &["A"])];
        assert!(faults(&strong).iter().any(|fault| fault.contains("use a fence")));
        let two_releases = [site("A", Access::Store(Release), &["B"]), site("B", Access::Store(Release), &["A"])];
        assert!(faults(&two_releases).iter().any(|fault| fault.contains("no release and acquire")));
    }
}
