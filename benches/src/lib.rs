//! Workloads, measuring, statistics, and the slotwork command.
//!
//! ```text
//!   request ─▶ workload ─▶ contender ─▶ measure ─▶ verdict ─▶ report
//!   payload    threads     a design     rounds     ranking     tables, JSON, CSV
//!                 │        by name      alarm      statistics
//!              waiting, gate, handler, placement, tally
//! ```
//!
//! [`seeds`] has the benchmarks of the public discussions that the designs come from.
//!
//! Everything is driven by the catalog: a design that is added there is measured and shown here. The workloads
//! are shared by the `slotwork` command and the Criterion benches.

pub mod alarm;
pub mod beside;
pub mod by_hand;
pub mod compare;
pub mod contender;
pub mod cost;
pub mod counters;
pub mod floors;
pub mod gate;
pub mod grid;
pub mod handler;
pub mod machine;
pub mod measure;
pub mod page;
pub mod peers;
pub mod pick;
pub mod placement;
pub mod processor_time;
pub mod reading;
pub mod record;
pub mod regression;
pub mod report;
pub mod request;
pub mod seeds;
pub mod simulate;
pub mod single;
mod stage;
pub mod statistics;
pub mod steady;
pub mod tally;
pub mod traced;
pub mod usage;
pub mod verdict;
pub mod waiting;
pub mod workload;
