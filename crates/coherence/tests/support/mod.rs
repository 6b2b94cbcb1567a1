//! What the tests of the machine share.
#![allow(dead_code, reason = "each test file uses a part")]

use slotwork::{Atomic, AtomicInteger, Platform};
use slotwork_coherence::{Cost, LineAllocator, Options, Profile, Report, Simulated, Simulation, SimulationError};
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: LineAllocator = LineAllocator;

slotwork::sites! {
    /// The accesses of the tests' own threads.
    pub(crate) SITES in "test";
    WORD_ADD: Rmw(Relaxed), pairs [], "a counter that orders nothing";
    WORD_LOAD: Load(Relaxed), pairs [], "a look that orders nothing";
    WORD_STORE: Store(Relaxed), pairs [], "a flag that orders nothing";
    WORD_FENCE: Fence(SeqCst), pairs [WORD_FENCE], "waits for the store buffer";
}

pub(crate) type Word = <Simulated as Platform>::AtomicU64;

/// A word with a line of its own.
#[repr(align(128))]
pub(crate) struct Apart(pub(crate) Word);

impl Apart {
    pub(crate) fn new() -> Self {
        Self(Word::new(0))
    }
}

/// A machine of one socket with round figures, and nothing left to chance.
pub(crate) fn machine(cores: usize) -> Profile {
    let mut profile = Profile::named("64-core-server").unwrap();
    profile.cores = vec![slotwork_coherence::CoreGroup { socket: 0, count: cores, speed: 1.0 }];
    let figures = [
        (Cost::Hit, 2.0),
        (Cost::Store, 1.0),
        (Cost::SameSocket, 50.0),
        (Cost::CrossSocket, 150.0),
        (Cost::Memory, 90.0),
        (Cost::SharedOccupancy, 10.0),
        (Cost::CrossOccupancy, 40.0),
        (Cost::Acknowledge, 0.0),
        (Cost::Exchange, 8.0),
        (Cost::Fence, 12.0),
        (Cost::Pause, 20.0),
        (Cost::Park, 1000.0),
        (Cost::Unpark, 1500.0),
        (Cost::Wake, 4000.0),
        (Cost::Overlap, 1.0),
        (Cost::ExchangeOverlap, 1.0),
        (Cost::Allocate, 0.0),
        (Cost::InterruptEvery, 0.0),
        (Cost::Jitter, 0.0),
    ];
    figures.into_iter().fold(profile, |profile, (cost, value)| profile.with(cost, value))
}

/// Runs `body` on so many threads, over what `build` makes.
pub(crate) fn run_with<S: 'static>(
    profile: &Profile,
    options: Options,
    threads: usize,
    build: impl FnOnce() -> S,
    body: fn(&S, usize),
) -> Result<Report, SimulationError> {
    let mut run = Simulation::new(profile, options)?;
    let shared = run.build(|| Arc::new(build()));
    for number in 0..threads {
        let shared = run.build(|| Arc::clone(&shared));
        run.spawn(format!("thread-{number}"), move || body(&shared, number));
    }
    drop(shared);
    run.run()
}

pub(crate) fn run<S: 'static>(
    profile: &Profile,
    threads: usize,
    build: impl FnOnce() -> S,
    body: fn(&S, usize),
) -> Report {
    run_with(profile, Options::default(), threads, build, body).unwrap()
}

pub(crate) fn add(word: &Word) {
    word.fetch_add(1, &WORD_ADD);
}

pub(crate) fn load(word: &Word) -> u64 {
    word.load(&WORD_LOAD)
}

pub(crate) fn store(word: &Word, value: u64) {
    word.store(value, &WORD_STORE);
}

pub(crate) fn fence() {
    Simulated::fence(&WORD_FENCE);
}
