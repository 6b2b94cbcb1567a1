//! Ranking on machines that are not here: the shipped designs on simulated cores and cache lines.
//!
//! ```text
//!   profile ─▶ round_trip   clients and workers, as `rank` measures them   ─┐
//!              pages        the 2018 workqueue benchmark, as `ladder` does  ┼─▶ rows, tables, explain
//!              sensitivity  which rankings hold when a cost is wrong        │
//!              validity     simulated beside measured                      ─┘
//! ```
//!
//! What is counted and verified is what the measured workloads count and verify; time alone is simulated.

pub mod calibrate;
pub mod contender;
pub mod explain;
pub mod ladder;
pub mod pages;
pub mod plan;
pub mod round_trip;
pub mod sensitivity;
pub mod validity;

use slotwork::{ClientError, ShapeError};
use slotwork_coherence::{LineAllocator, SimulationError};
use thiserror::Error;

/// Without it, addresses would decide simulated results. Where nothing is simulated, it hands over to the system.
#[global_allocator]
static ALLOCATOR: LineAllocator = LineAllocator;

/// Why a simulated run has no result.
#[derive(Debug, Error)]
pub enum RunError {
    /// The design does not take this shape.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The design does not take this many clients.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// No memory for the slots.
    #[error("{0}")]
    Memory(String),
    /// The run did not come to an end.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// Requests were lost, doubled, or confused.
    #[error("the counts are wrong: {0}")]
    Count(String),
}
