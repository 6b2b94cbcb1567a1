//! Runs drawn from a model of a noisy machine, so that what is decided about them is known beforehand.
//!
//! ```text
//!   ln throughput(contender, cell, run, round) =
//!       speed(contender, cell)      fixed; a planted slowdown is added here
//!     + machine(run)                N(0, drift): the machine is another one today          the same for all
//!     + mood(run, cell, round)      N(0, mood): what else it does                          the same for all
//!     + layout(run, contender)      N(0, layout): where this process put things            by itself
//!     + place(run, contender, cell) N(0, place)                                            by itself
//!     + window(…)                   N(0, window): one window                               by itself
//!     − disturbance(…)              with probability `disturbed`: exponential, mean 0.5    by itself
//! ```
//!
//! The levels of [`Noise::ORDINARY`] are chosen to look like two cores shared with other work; nobody measured them. Those of
//! [`Noise::WILD`] are several times as large.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use slotwork_bench::machine::Machine;
use slotwork_bench::record::{
    Category, CellRecord, FloorRecord, Kind, Latency, Metrics, Place, Ranking, Record, Row, SCHEMA, Sample, Settings,
};
use slotwork_bench::statistics::{CellSamples, Estimate, clear_order, ranks, scores};
use slotwork_bench::verdict::summarise;
use slotwork_bench::waiting::Waiting;
use std::fs;
use std::path::{Path, PathBuf};

/// How much varies, as standard deviations of logarithms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noise {
    drift: f64,
    mood: f64,
    layout: f64,
    place: f64,
    window: f64,
    disturbed: f64,
}

impl Noise {
    pub(crate) const ORDINARY: Self =
        Self { drift: 0.08, mood: 0.10, layout: 0.005, place: 0.02, window: 0.05, disturbed: 0.04 };
    pub(crate) const WILD: Self =
        Self { drift: 0.3, mood: 0.3, layout: 0.03, place: 0.10, window: 0.25, disturbed: 0.15 };
}

/// What a run is to have.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) noise: Noise,
    pub(crate) rounds: usize,
    pub(crate) peers: usize,
    /// Designs that are slower than they were, with the part of their throughput that is left.
    pub(crate) slowed: Vec<(&'static str, f64)>,
    pub(crate) latency: bool,
    /// Whether it is ranked: that takes longer than the run.
    pub(crate) ranked: bool,
    pub(crate) cores: usize,
    pub(crate) commit: &'static str,
}

impl Default for Model {
    fn default() -> Self {
        let noise = Noise::ORDINARY;
        Self {
            noise,
            rounds: 5,
            peers: 6,
            slowed: Vec::new(),
            latency: false,
            ranked: true,
            cores: 2,
            commit: "0123456789ab",
        }
    }
}

const PEERS: [&str; 6] = ["array-queue", "seg-queue", "channel", "mpsc", "flume", "mutex-deque"];
const GRID: [(usize, usize); 5] = [(1, 1), (1, 4), (2, 2), (4, 4), (1, 16)];

struct Draw(SmallRng);

impl Draw {
    /// A normal variate, by the sum of twelve uniform ones.
    fn normal(&mut self, deviation: f64) -> f64 {
        let sum: f64 = (0..12).map(|_| self.0.random_range(0.0..1.0)).sum();
        (sum - 6.0) * deviation
    }

    fn disturbance(&mut self, probability: f64) -> f64 {
        if self.0.random_range(0.0..1.0) < probability { -0.5 * self.0.random_range(1e-9_f64..1.0).ln() } else { 0.0 }
    }
}

/// How fast a contender is in a cell when nothing is the matter: fixed by its name.
fn speed(name: &str, cell: usize) -> f64 {
    let seed = name.bytes().fold(cell as u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let mut fixed = SmallRng::seed_from_u64(seed);
    (1e6_f64).ln() + fixed.random_range(0.0..2.5)
}

impl Model {
    /// The run of this seed; another seed is another day.
    pub(crate) fn run(&self, seed: u64) -> Record {
        let mut draw = Draw(SmallRng::seed_from_u64(seed));
        let noise = self.noise;
        let machine = draw.normal(noise.drift);
        let designs = slotwork_catalog::ENTRIES.iter().map(|entry| (entry.name, Kind::Design));
        let peers = PEERS[..self.peers].iter().map(|name| (*name, Kind::Peer));
        let mut contenders: Vec<(&str, Kind, f64)> =
            designs.chain(peers).map(|(name, kind)| (name, kind, draw.normal(noise.layout))).collect();
        contenders.push(("nothing", Kind::Floor, 0.0));
        let mut cells = Vec::new();
        for (clients, workers) in GRID {
            for slots in [4, 64] {
                cells.push(self.cell(&mut draw, machine, &contenders, cells.len(), [clients, workers, slots]));
            }
        }
        summarise(&mut cells);
        let categories: &[Category] = if self.ranked { &Category::ALL } else { &[] };
        let rankings = categories.iter().filter_map(|category| ranking(*category, &cells)).collect();
        Record {
            schema: SCHEMA,
            started: format!("2026-11-30T{:02}:{:02}:{:02}Z", seed / 3600 % 24, seed / 60 % 60, seed % 60),
            seconds: 70.0 + seed as f64 / 1000.0,
            interrupted: false,
            simulated: false,
            command_line: vec!["slotwork".into(), "rank".into()],
            machine: self.machine(),
            settings: Settings {
                rounds: self.rounds,
                seed: 1,
                pinned: true,
                quiet_trip_nanoseconds: Some(130.0),
                disturbed_beyond: 2.0,
                disturbed_below_share: 0.9,
                repeated_windows: 3,
            },
            floors: vec![FloorRecord {
                name: "line".into(),
                what: "a line sent to another core and back".into(),
                nanoseconds: Estimate { value: 123.0, low: 120.0, high: 128.0 },
            }],
            rankings,
            cells,
        }
    }

    fn machine(&self) -> Machine {
        Machine {
            processor: Some(format!("Model <{}> & Sons", self.cores)),
            cores: self.cores,
            kernel: Some("Linux 6.1".into()),
            governor: None,
            load: Some(0.5),
            compiler: "rustc 1.95.0".into(),
            profile: "release".into(),
            commit: Some(self.commit.into()),
            dirty: Some(false),
        }
    }

    fn cell(
        &self,
        draw: &mut Draw,
        machine: f64,
        contenders: &[(&str, Kind, f64)],
        number: usize,
        [clients, workers, slots]: [usize; 3],
    ) -> CellRecord {
        let noise = self.noise;
        let moods: Vec<f64> = (0..self.rounds).map(|_| draw.normal(noise.mood)).collect();
        let mut rows = Vec::new();
        for &(name, kind, layout) in contenders {
            let one =
                slotwork_catalog::entry(name).is_ok_and(|entry| entry.claims.submitters == slotwork::Submitters::One);
            let left = self.slowed.iter().find(|(slowed, _)| *slowed == name).map_or(1.0, |(_, left)| *left);
            let place = draw.normal(noise.place);
            let mut samples = Vec::new();
            for (round, mood) in moods.iter().enumerate() {
                let own = draw.normal(noise.window) - draw.disturbance(noise.disturbed);
                let level = speed(name, number) + left.ln() + machine + mood + layout + place + own;
                let trips = whole(level.exp() / 10.0).max(1);
                samples.push(Sample {
                    round,
                    round_trips: trips,
                    seconds: 0.1,
                    throughput: trips as f64 / 0.1,
                    acquired: trips,
                    overlap: 1.0,
                    handled_in_all: trips,
                    attempts: 1,
                    metrics: Metrics { wakes_per_request: Some(0.1), ..Metrics::default() },
                    ..Sample::default()
                });
            }
            let takes_part = !(one && clients > 1);
            let has_latency = self.latency && kind != Kind::Floor && takes_part && slots == 4;
            let latency = |load: u64| latency(load, whole(speed(name, number) * 100.0));
            rows.push(Row {
                design: name.into(),
                kind,
                slot_bytes: Some(32 + 8 * (name.len() % 7)),
                not_applicable: (!takes_part).then(|| "one submitter".into()),
                samples: if takes_part { samples } else { Vec::new() },
                latency: if has_latency { [1, 3, 10].map(latency).into() } else { Vec::new() },
                ..Row::default()
            });
        }
        let waiting = Waiting::suited_to(clients + workers, self.cores);
        let categories = Category::of(clients, workers, slots, self.cores);
        CellRecord {
            clients,
            workers,
            slots_per_lane: slots,
            waiting,
            handler_nanoseconds: 0,
            categories,
            window_milliseconds: 100,
            rows,
        }
    }

    /// The run of this seed as a file.
    pub(crate) fn file(&self, folder: &Path, name: &str, seed: u64) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, serde_json::to_string(&self.run(seed)).unwrap()).unwrap();
        path
    }
}

fn latency(load: u64, slowness: u64) -> Latency {
    let p50 = 500 * load + slowness;
    Latency {
        offered_per_second: load as f64 * 1e5,
        achieved_per_second: load as f64 * 1e5,
        saturated: load == 10 && slowness.is_multiple_of(5),
        requests: 10_000 * load,
        mean_nanoseconds: p50 as f64 * 1.2,
        p50_nanoseconds: p50,
        p90_nanoseconds: p50 * 2,
        p99_nanoseconds: p50 * 5,
        p99_9_nanoseconds: p50 * 20,
        max_nanoseconds: p50 * 100,
        histogram: Vec::new(),
    }
}

/// A ranking as the command makes it, of contenders that take part in all of its cells.
fn ranking(category: Category, cells: &[CellRecord]) -> Option<Ranking> {
    let counts = |cell: &&CellRecord| category == Category::Together || cell.categories.contains(&category);
    let cells: Vec<&CellRecord> = cells.iter().filter(counts).collect();
    let everywhere = |row: &&Row| {
        let takes_part =
            |cell: &&CellRecord| cell.rows.iter().any(|own| own.design == row.design && own.not_applicable.is_none());
        row.kind != Kind::Floor && cells.iter().all(takes_part)
    };
    let who: Vec<&Row> = cells.first()?.rows.iter().filter(everywhere).collect();
    let samples = |cell: &&CellRecord| -> CellSamples {
        let of = |row: &&Row| cell.rows.iter().find(|own| own.design == row.design).unwrap();
        who.iter().map(|row| of(row).samples.iter().map(|sample| Some(sample.throughput)).collect()).collect()
    };
    let scored: Vec<CellSamples> = cells.iter().map(samples).collect();
    let estimates = scores(&scored, who.len(), 1);
    let (ranks, order) = (ranks(&estimates), clear_order(&estimates));
    let mut places: Vec<Place> = who
        .iter()
        .enumerate()
        .map(|(at, row)| Place {
            design: row.design.clone(),
            kind: row.kind,
            rank: ranks[at],
            score: estimates[at],
            ahead_of: order[at][0],
            behind: order[at][1],
            void: None,
        })
        .collect();
    places.sort_by_key(|place| place.rank);
    Some(Ranking { category, cells: cells.iter().map(|cell| cell.name()).collect(), places, distinguishable: true })
}

/// The whole part.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count: far below 2^64, and never negative"
)]
fn whole(value: f64) -> u64 {
    value as u64
}
