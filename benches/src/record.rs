//! What a run leaves behind: every raw sample, what was made of them, and on which machine.
//!
//! ```text
//!   Record ─┬─ machine, command line, settings
//!           ├─ cells ── rows (a design each) ── samples (a round each)
//!           └─ rankings (a category each) ── places
//! ```
//!
//! It is written as JSON; [`SCHEMA`] goes up when a reader of an older file would misunderstand it.

use crate::machine::Machine;
use crate::statistics::Estimate;
use crate::waiting::Waiting;
use serde::{Deserialize, Serialize};

/// The version of the layout of a record.
pub const SCHEMA: u32 = 1;

/// One run of `slotwork rank`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// See [`SCHEMA`].
    pub schema: u32,
    /// When it began, in UTC.
    pub started: String,
    /// How long it took in all.
    pub seconds: f64,
    /// Whether it was broken off; then later rounds are missing.
    pub interrupted: bool,
    /// The exact command line.
    pub command_line: Vec<String>,
    /// Where it ran.
    pub machine: Machine,
    /// How it was measured.
    pub settings: Settings,
    /// What was measured.
    pub cells: Vec<CellRecord>,
    /// What follows.
    pub rankings: Vec<Ranking>,
}

/// How a run was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// Rounds asked for.
    pub rounds: usize,
    /// Seed of the visiting order and the bootstrap.
    pub seed: u64,
    /// Work per request.
    pub handler_nanoseconds: u64,
    /// Whether threads were bound to cores.
    pub pinned: bool,
    /// The quiet level of the line ping-pong; none where it could not be measured.
    pub quiet_trip_nanoseconds: Option<f64>,
    /// Beyond this multiple of the quiet level a window counts as disturbed.
    pub disturbed_beyond: f64,
    /// Below this part of the processor time that threads which never sleep must get, it does too.
    pub disturbed_below_share: f64,
    /// How many windows were repeated.
    pub repeated_windows: usize,
}

/// One cell of the grid.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CellRecord {
    /// Client threads.
    pub clients: usize,
    /// Worker threads, which is lanes.
    pub workers: usize,
    /// Slots per lane.
    pub slots_per_lane: usize,
    /// How threads waited.
    pub waiting: Waiting,
    /// Length of a window.
    pub window_milliseconds: u64,
    /// A row per design, each design in every cell.
    pub rows: Vec<Row>,
}

impl CellRecord {
    /// Clients × workers / slots.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}×{}/{}", self.clients, self.workers, self.slots_per_lane)
    }
}

/// One design in one cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The design.
    pub design: String,
    /// Why it takes no part.
    pub not_applicable: Option<String>,
    /// Why its figures are void.
    pub failure: Option<String>,
    /// The median over its samples, in round trips per second.
    pub median: Option<f64>,
    /// The median of its ratio to the best of the same round.
    pub of_best: Option<f64>,
    /// A sample per round.
    pub samples: Vec<Sample>,
}

/// One measured window.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// Which round, from 0.
    pub round: usize,
    /// Requests handled in the window.
    pub round_trips: u64,
    /// Length of the window as measured.
    pub seconds: f64,
    /// Round trips per second.
    pub throughput: f64,
    /// Slots acquired in the window.
    pub acquired: u64,
    /// Acquires in the window that found none free.
    pub failed_acquires: u64,
    /// Part of the window in which all threads were at work.
    pub overlap: f64,
    /// Processor time used in the window, as part of what the cores we can use could give; none where unknown.
    pub processor_share: Option<f64>,
    /// Requests handled in all, warm-up and rest included; submitted and acquired are equal to it.
    pub handled_in_all: u64,
    /// How often the window was measured until the alarm was quiet, or given up.
    pub attempts: usize,
    /// Line ping-pong before the window.
    pub trip_before_nanoseconds: Option<f64>,
    /// Line ping-pong after the window.
    pub trip_after_nanoseconds: Option<f64>,
    /// What speaks against the sample; nothing, if empty.
    pub doubts: Vec<Doubt>,
}

/// What speaks against a sample that was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Doubt {
    /// The alarm was far above its quiet level before or after, or others took the processor meanwhile.
    Disturbed,
    /// The clock was read so late that the length of the window is in doubt.
    Clock,
    /// The threads were all at work together for less than nine tenths of the window.
    NotOverlapping,
}

impl Doubt {
    /// As it is shown.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Disturbed => "disturbed",
            Self::Clock => "clock in doubt",
            Self::NotOverlapping => "not overlapping",
        }
    }
}

/// The verdict over one category of cells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ranking {
    /// What is ranked.
    pub category: Category,
    /// The cells it counts.
    pub cells: Vec<String>,
    /// A place per design; those without a score last.
    pub places: Vec<Place>,
}

/// What is ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// The cells with one client, all designs.
    OneSubmitter,
    /// The cells with several clients, the designs that take them.
    ManySubmitters,
    /// All cells, the designs that take part in all.
    Together,
}

/// One design's place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Place {
    /// The design.
    pub design: String,
    /// Its rank; designs that cannot be told apart share one.
    pub rank: Option<usize>,
    /// Geometric mean of its ratio to the best of each round.
    pub score: Option<Estimate>,
    /// How many others it is clearly ahead of.
    pub ahead_of: usize,
    /// How many others it is clearly behind.
    pub behind: usize,
    /// Why it has no score.
    pub void: Option<String>,
}
