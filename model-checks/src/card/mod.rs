//! Proof cards: what is known about each design, and by which check.
//!
//! ```text
//!   plan ──▶ tasks ──run, a process each──▶ rows of evidence ──▶ Proofs (a file) ──▶ a card per design
//!                     partition 2/8 ─────────────────────────▶ part ┐
//!                     partition 3/8 ─────────────────────────▶ part ┴─merge──▶ Proofs
//! ```
//!
//! A card is **green** when every task of the plan was done, every row passed with a count, and every claim of
//! the design has a row that establishes it, or says where else it is checked (by the compiler, or by a test of the
//! catalog that needs a process of its own: allocation, limits). A task that is missing makes it **incomplete**, never green.

mod again;
mod claims;
mod one;
mod plan;
mod proofs;
mod render;
mod run;

pub use again::{AgainError, Replayed, again};
pub use claims::{Claim, claims_of};
pub use one::run_if_asked;
pub use plan::{Level, Task, plan};
pub use proofs::{Done, MergeError, Part, PartError, Proofs, ReadError, SCHEMA, Status, merge};
pub use render::{card, summary};
pub use run::{Progress, part_of, run};
