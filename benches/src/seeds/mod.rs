//! The benchmarks of the three public discussions that the designs come from, remade over every design.
//!
//! ```text
//!   workqueue-bench, ladder   drive ── a job (compress a page, or nothing) through a workqueue
//!   migrate                   pages through a workqueue into frames, and back
//!   allocator                 clients that do not wait, servers, and the counts at the end
//!   locks                     virtual CPUs and an I/O thread at devices, under locks or over queues
//! ```
//!
//! Each gives flat rows, one per run, which become the table, the CSV and the JSON; and each verifies its
//! counts: what was submitted was handled, once.

pub mod allocator;
pub mod codec;
pub mod configuration;
pub mod count;
pub mod drive;
pub mod job;
pub mod ladder;
pub mod locks;
pub mod memory;
pub mod migrate;
pub mod page_bench;
pub mod pool;
pub mod published;
pub mod results;

use std::sync::atomic::{AtomicBool, Ordering};

/// What a benchmark looks at, and tells, while it runs.
pub struct Watch<'a> {
    /// Set by Ctrl-C: ends the run; what is complete is kept.
    pub interrupted: &'a AtomicBool,
    /// Told how much further it is; in which unit, each benchmark says.
    pub progress: &'a mut dyn FnMut(u64),
}

impl Watch<'_> {
    /// Whether the run is to end.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Tells that it is `steps` further.
    pub fn advance(&mut self, steps: u64) {
        (self.progress)(steps);
    }
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Watch").field("interrupted", &self.interrupted).finish_non_exhaustive()
    }
}
