//! A deterministic machine with many cores and cache lines, on which the shipped designs run.
//!
//! ```text
//!   design<Simulated> ─▶ platform ─▶ machine ─▶ line        who has it, how long it takes
//!                           │           │
//!                         run         account, report      where the time went
//!                      coroutines     profile              what things cost
//! ```
//!
//! [`Simulated`] is a [`Platform`](slotwork::Platform): the code is what ships, its layout too. Each simulated thread is a
//! coroutine, all on one thread of the system; each core has a clock, and the smallest goes next. Same program,
//! profile and seed: same result, to the byte.
//!
//! ```
//! use slotwork_coherence::{LineAllocator, Options, Profile, Simulated, Simulation};
//!
//! #[global_allocator]
//! static ALLOCATOR: LineAllocator = LineAllocator;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let machine = Profile::named("64-core-server")?;
//! let mut run = Simulation::new(&machine, Options::default())?;
//! for number in 0..2 {
//!     run.spawn(format!("worker-{number}"), || Simulated::work(1000.0, 0.0));
//! }
//! let report = run.run()?;
//! assert!(report.nanoseconds > 900.0);
//! # Ok(())
//! # }
//! ```
//!
//! What the model leaves out, and when not to believe it, is in `notes/simulation.md`.

mod account;
mod arena;
mod line;
mod machine;
mod platform;
mod profile;
mod random;
mod report;
mod run;
mod trace;
mod under_way;

pub use account::{Account, Cause};
pub use arena::LineAllocator;
pub use line::LineFigures;
pub use platform::{SIMULATED_SITES, Simulated, SimulatedAtomic, SimulatedCell, SimulatedLock, SimulatedThread};
pub use profile::{CoreGroup, Cost, Fault, MAX_CORES, Order, Profile, ProfileError, names};
pub use report::{LineReport, Report, ThreadReport, field_names};
pub use run::{Options, Simulation, SimulationError};
pub use trace::Trace;

#[cfg(test)]
#[global_allocator]
static ALLOCATOR: LineAllocator = LineAllocator;
