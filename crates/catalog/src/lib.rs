//! The one list of all designs. Models, properties, benches, audits and the report are driven by it.
//!
//! To add a design: write its crate, depend on it here, and add its factory to the list at the end of
//! this file. It is then modelled, stressed, measured and shown with all the others, and refused by
//! the tests until it passes.
//!
//! Code that is generic over designs is a [`Visitor`]:
//!
//! ```
//! use slotwork::Design;
//! use slotwork_catalog::{Visitor, visit_all, visit_named};
//!
//! struct Longest(usize);
//!
//! impl Visitor for Longest {
//!     type Output = ();
//!     fn visit<D: Design>(&mut self) {
//!         self.0 = self.0.max(D::NAME.len());
//!     }
//! }
//!
//! let mut longest = Longest(0);
//! visit_all(&mut longest);
//! assert!(longest.0 >= "bitmap".len());
//! assert!(visit_named("bitmap", &mut longest).is_ok());
//! assert!(visit_named("nonsense", &mut longest).is_err());
//! ```

pub mod allocation;
mod by_name;

pub use by_name::ByNameError;
use slotwork::{Claims, Design, Site};
use thiserror::Error;

/// Code that runs for a design, whatever its type.
pub trait Visitor {
    /// What it says of each design.
    type Output;
    /// Runs for one design.
    fn visit<D: Design>(&mut self) -> Self::Output;
}

/// What can be known of a design without its type.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// What it says of itself.
    pub claims: Claims,
    /// Its atomic accesses, a table per part.
    pub sites: &'static [&'static [Site]],
    /// The path of its factory: the crate and the type.
    pub factory: &'static str,
}

impl Entry {
    const fn of<D: Design>(factory: &'static str) -> Self {
        Self { name: D::NAME, claims: D::CLAIMS, sites: D::SITES, factory }
    }
}

/// A name that is in no catalog.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown design '{name}'; known are: {}", names().join(", "))]
pub struct UnknownDesign {
    /// The name asked for.
    pub name: String,
}

/// The names of all designs, in the order of the list.
#[must_use]
pub fn names() -> Vec<&'static str> {
    ENTRIES.iter().map(|entry| entry.name).collect()
}

/// The entry of a design.
///
/// # Errors
/// [`UnknownDesign`].
pub fn entry(name: &str) -> Result<&'static Entry, UnknownDesign> {
    ENTRIES.iter().find(|entry| entry.name == name).ok_or_else(|| UnknownDesign { name: name.into() })
}

macro_rules! catalog {
    ($($variant:ident: $design:ty),+ $(,)?) => {
        by_name::by_name!($($variant: $design),+);

        /// All designs, in the order of the list.
        pub const ENTRIES: &[Entry] = &[$(Entry::of::<$design>(stringify!($design))),+];

        /// Runs `visitor` for every design, in the order of the list.
        pub fn visit_all<V: Visitor>(visitor: &mut V) -> Vec<V::Output> {
            vec![$(visitor.visit::<$design>()),+]
        }

        /// Runs `visitor` for the design of this name.
        ///
        /// # Errors
        /// [`UnknownDesign`].
        pub fn visit_named<V: Visitor>(name: &str, visitor: &mut V) -> Result<V::Output, UnknownDesign> {
            $(
                if name == <$design>::NAME {
                    return Ok(visitor.visit::<$design>());
                }
            )+
            Err(UnknownDesign { name: name.into() })
        }
    };
}

catalog![
    Bitmap: slotwork_bitmap::Bitmap,
    SlotState: slotwork_slot_state::SlotState,
    BitmapOwned: slotwork_bitmap::BitmapOwned,
    BitmapSteal: slotwork_bitmap::BitmapSteal,
    BitmapRefill: slotwork_bitmap::BitmapRefill,
    BitmapClaim: slotwork_bitmap::BitmapClaim,
    SharedBitmap: slotwork_shared_bitmap::SharedBitmap,
    FreelistBitmap: slotwork_freelist_bitmap::FreelistBitmap,
    FreelistSteal: slotwork_freelist_bitmap::FreelistSteal,
    DoubleList: slotwork_double_list::DoubleList,
    GrabList: slotwork_double_list::GrabList,
    LinkedQueue: slotwork_linked_queue::LinkedQueue,
    GlobalLock: slotwork_locked::GlobalLock,
    LaneLock: slotwork_locked::LaneLock,
];

/// Runs `visitor` for the steps from v2 towards v3: layouts of `shared-bitmap` that are no designs of their
/// own, and are measured by the ladder only.
pub fn visit_steps<V: Visitor>(visitor: &mut V) -> Vec<V::Output> {
    use slotwork_shared_bitmap::{Aligned, LaneBitmaps, SharedBitmap, SlotsApart};
    vec![
        visitor.visit::<SharedBitmap<Aligned>>(),
        visitor.visit::<SharedBitmap<SlotsApart>>(),
        visitor.visit::<SharedBitmap<LaneBitmaps>>(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_plain() {
        let mut names = names();
        assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '-')));
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
