//! What a run leaves behind: every raw sample, what was made of them, and on which machine.
//!
//! ```text
//!   Record ─┬─ machine, command line, settings, floors
//!           ├─ cells ── rows (a design, peer or floor each) ── samples (a round each) ── metrics
//!           │              └─ latency (a load each)
//!           └─ rankings (a category each) ── places
//! ```
//!
//! It is written as JSON; [`SCHEMA`] goes up when a reader of an older file would misunderstand it.
//! `notes/result-files.md` describes it for other programs.

mod metrics;
mod read;

pub use metrics::{Fairness, Latency, Metrics};
pub use read::{ReadError, parse, read};

use crate::machine::Machine;
use crate::statistics::Estimate;
use crate::waiting::Waiting;
use serde::{Deserialize, Serialize};

/// The version of the layout of a record.
pub const SCHEMA: u32 = 2;

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
    /// Whether it ran on a simulated machine: then its figures are no seconds of this one.
    #[serde(default)]
    pub simulated: bool,
    /// The exact command line.
    pub command_line: Vec<String>,
    /// Where it ran.
    pub machine: Machine,
    /// How it was measured.
    pub settings: Settings,
    /// What nothing can undercut on this machine; empty where it was not measured.
    #[serde(default)]
    pub floors: Vec<FloorRecord>,
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

/// What one step of the hardware costs: the yardstick of every design.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FloorRecord {
    /// Its name: `harness`, `atomic`, `line` or `lines`.
    pub name: String,
    /// What was measured, in words.
    pub what: String,
    /// Nanoseconds a round trip.
    pub nanoseconds: Estimate,
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
    /// Work per request.
    pub handler_nanoseconds: u64,
    /// The categories that it counts in, [`Category::Together`] apart.
    #[serde(default)]
    pub categories: Vec<Category>,
    /// Length of a window.
    pub window_milliseconds: u64,
    /// A row per contender, each contender in every cell.
    pub rows: Vec<Row>,
}

impl CellRecord {
    /// Clients × workers / slots, how threads wait, and the work if there is any: one name for each cell of a run.
    #[must_use]
    pub fn name(&self) -> String {
        let work = match self.handler_nanoseconds {
            0 => String::new(),
            nanoseconds => format!(" {nanoseconds}ns"),
        };
        format!("{}×{}/{} {}{work}", self.clients, self.workers, self.slots_per_lane, self.waiting)
    }
}

/// What a contender is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A design of the catalog.
    #[default]
    Design,
    /// What a user would take instead: queues of other crates, or of the standard library.
    Peer,
    /// No queue at all: what the harness costs. It is shown and never ranked.
    Floor,
}

/// One contender in one cell.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Row {
    /// The contender.
    pub design: String,
    /// What it is.
    #[serde(default)]
    pub kind: Kind,
    /// Bytes of one slot: of the pool's, and where a row's queue needs more, of that too.
    #[serde(default)]
    pub slot_bytes: Option<usize>,
    /// Why it takes no part.
    pub not_applicable: Option<String>,
    /// Why its figures are void.
    pub failure: Option<String>,
    /// The median over its samples, in round trips per second.
    pub median: Option<f64>,
    /// The median of its ratio to the best of the same round; floors are never the best.
    pub of_best: Option<f64>,
    /// How many times as long a round trip takes as with the cell's floor; none where there is no floor.
    #[serde(default)]
    pub of_floor: Option<f64>,
    /// The medians of its samples' metrics.
    #[serde(default)]
    pub metrics: Metrics,
    /// Latency under paced load, a load each, the lightest first; empty where it was not measured.
    #[serde(default)]
    pub latency: Vec<Latency>,
    /// A sample per round.
    pub samples: Vec<Sample>,
}

/// One measured window.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
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
    /// What else was measured in the window.
    #[serde(default)]
    pub metrics: Metrics,
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
    /// The throughput had not settled when the window was opened.
    NotSteady,
}

impl Doubt {
    /// As it is shown.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Disturbed => "disturbed",
            Self::Clock => "clock in doubt",
            Self::NotOverlapping => "not overlapping",
            Self::NotSteady => "not steady",
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
    /// A place per contender; those without a score last.
    pub places: Vec<Place>,
    /// Whether any two of them could be told apart on this machine.
    #[serde(default = "yes")]
    pub distinguishable: bool,
}

/// Files that do not say so are of runs that were ranked all the same.
const fn yes() -> bool {
    true
}

/// What is ranked. A cell may count in several categories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// The cells with one client.
    OneSubmitter,
    /// The cells with several clients.
    ManySubmitters,
    /// The cells with more threads than cores.
    Oversubscribed,
    /// The cells with at most [`Category::TINY`] slots per lane.
    TinyShape,
    /// All cells.
    Together,
}

impl Category {
    /// All, in the order they are shown in.
    pub const ALL: [Self; 5] =
        [Self::OneSubmitter, Self::ManySubmitters, Self::Oversubscribed, Self::TinyShape, Self::Together];
    /// Most slots per lane of a tiny shape.
    pub const TINY: usize = 2;

    /// As it is shown.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::OneSubmitter => "one submitter",
            Self::ManySubmitters => "many submitters",
            Self::Oversubscribed => "oversubscribed",
            Self::TinyShape => "tiny shape",
            Self::Together => "together",
        }
    }

    /// The categories of a cell on a machine with so many cores; [`Category::Together`] is every cell's.
    #[must_use]
    pub fn of(clients: usize, workers: usize, slots_per_lane: usize, cores: usize) -> Vec<Self> {
        let mut categories = vec![if clients == 1 { Self::OneSubmitter } else { Self::ManySubmitters }];
        categories.extend((clients + workers > cores).then_some(Self::Oversubscribed));
        categories.extend((slots_per_lane <= Self::TINY).then_some(Self::TinyShape));
        categories
    }
}

/// One contender's place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Place {
    /// The contender.
    pub design: String,
    /// A design or a peer.
    #[serde(default)]
    pub kind: Kind,
    /// Its rank; contenders that cannot be told apart share one.
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
