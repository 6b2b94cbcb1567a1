//! Mutants: designs of the catalog, the pool and the event, with one site weakened.

use crate::job::Lens;

/// A site made weaker, and the model that must notice.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// `table.NAME=ordering`.
    pub weakening: &'static str,
    /// Model that rejects it.
    pub model: &'static str,
    /// Design it runs with.
    pub design: &'static str,
    /// View that rejects it.
    pub lens: Lens,
}

/// The mutants.
pub const MUTANTS: &[Mutant] = &[];
