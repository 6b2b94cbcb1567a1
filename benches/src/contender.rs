//! What takes part in a run: a design without its type.

use crate::record::Kind;
use crate::request::Request;
use crate::workload::{self, Cell, Conditions, Window, WorkloadError};
use slotwork::{Claims, Design, Native, Pool};
use slotwork_catalog::{UnknownDesign, Visitor, visit_all, visit_named};

/// A design as a contender.
#[derive(Clone, Debug)]
pub struct Contender {
    /// The name it is shown by.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// What it says of itself.
    pub claims: Claims,
    /// Bytes of one slot of its pool, payload of the workload included.
    pub slot_bytes: usize,
    run: fn(Cell, Conditions<'_>) -> Result<Option<Window>, WorkloadError>,
}

impl Contender {
    /// The contender of a design, whether it is in the catalog or not.
    #[must_use]
    pub fn of<D: Design>() -> Self {
        Self {
            name: D::NAME.into(),
            kind: Kind::Design,
            claims: D::CLAIMS,
            slot_bytes: Pool::<Request, D::Queue<Native>>::SLOT_BYTES,
            run: workload::run::<D>,
        }
    }

    /// Runs the workload once; none when it was interrupted.
    ///
    /// # Errors
    /// See [`workload::run`].
    pub fn run(&self, cell: Cell, conditions: Conditions<'_>) -> Result<Option<Window>, WorkloadError> {
        (self.run)(cell, conditions)
    }
}

struct Enter;

impl Visitor for Enter {
    type Output = Contender;

    fn visit<D: Design>(&mut self) -> Contender {
        Contender::of::<D>()
    }
}

/// Every design of the catalog, in its order.
#[must_use]
pub fn catalog() -> Vec<Contender> {
    visit_all(&mut Enter)
}

/// The design of this name.
///
/// # Errors
/// [`UnknownDesign`].
pub fn named(name: &str) -> Result<Contender, UnknownDesign> {
    visit_named(name, &mut Enter)
}
