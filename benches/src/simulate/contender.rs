//! What takes part in simulated runs: a design without its type.

use super::RunError;
use super::pages::{self, Job};
use super::round_trip::{self, Cell, Conditions};
use crate::seeds::configuration::Setup;
use slotwork::{Claims, Design};
use slotwork_catalog::{UnknownDesign, Visitor, visit_all, visit_named, visit_steps};
use slotwork_coherence::{Options, Profile};

/// A design that can be simulated.
#[derive(Clone, Copy, Debug)]
pub struct SimulatedDesign {
    /// Its name.
    pub name: &'static str,
    /// What it says of itself.
    pub claims: Claims,
    /// Runs the slot round trip.
    pub round_trips: fn(Cell, Conditions<'_>) -> Result<round_trip::Outcome, RunError>,
    /// Runs the pages.
    pub pages: fn(&Profile, Setup, Job, Options) -> Result<pages::Outcome, RunError>,
}

struct Enter;

impl Visitor for Enter {
    type Output = SimulatedDesign;
    fn visit<D: Design>(&mut self) -> SimulatedDesign {
        SimulatedDesign { name: D::NAME, claims: D::CLAIMS, round_trips: round_trip::run::<D>, pages: pages::run::<D> }
    }
}

/// Every design of the catalog, in its order.
#[must_use]
pub fn catalog() -> Vec<SimulatedDesign> {
    visit_all(&mut Enter)
}

/// The design of this name: of the catalog, or a step of the ladder.
///
/// # Errors
/// [`UnknownDesign`].
pub fn named(name: &str) -> Result<SimulatedDesign, UnknownDesign> {
    let step = visit_steps(&mut Enter).into_iter().find(|step| step.name == name);
    step.map_or_else(|| visit_named(name, &mut Enter), Ok)
}
