//! Is the checker right? Small random programs, against all their interleavings by brute force.
//!
//! ```text
//!   thread 1:  x.load() → r0        thread 2:  v = x.load(); x.compare_exchange(v, 1) → r1
//!
//!   brute force: every interleaving of the steps  ─▶ set of results
//!   loom in a view: every execution it explores   ─▶ set of results; what is missing was skipped
//! ```
//!
//! Two threads, one or two atomics, up to three steps each; orderings are acquire and release, so that
//! the views may add results to the sequentially consistent ones, but may not miss any.

use crate::platform::{Loom, Machine, View};
use slotwork::{Atomic, AtomicInteger, Platform};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

slotwork::sites! {
    /// Accesses of the random programs.
    pub PROGRAM_SITES in "program";
    LOAD: Load(Acquire), pairs [STORE, ADD, EXCHANGE], "a step of a program";
    STORE: Store(Release), pairs [LOAD, ADD, EXCHANGE], "a step of a program";
    ADD: Rmw(AcqRel), pairs [LOAD, STORE, ADD, EXCHANGE], "a step of a program";
    EXCHANGE: CompareExchange(AcqRel, Acquire), pairs [LOAD, STORE, ADD, EXCHANGE], "a step of a program";
}

/// One step of a program, on one of two atomics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Reads; the result is recorded.
    Load(usize),
    /// Writes.
    Store(usize, u32),
    /// Adds; what was there is recorded.
    Add(usize, u32),
    /// Replaces a value by another; what was there is recorded, and whether it was the expected one.
    Exchange(usize, u32, u32),
    /// The same with whatever the thread read last as the expected value.
    ExchangeRead(usize, u32),
}

/// Two threads' steps.
pub type Program = [Vec<Step>; 2];

/// What both threads recorded, and what was in the atomics in the end.
pub type Outcome = (Vec<u32>, Vec<u32>, [u32; 2]);

/// What a thread has to remember.
#[derive(Clone, Default)]
struct Memory {
    read: u32,
    record: Vec<u32>,
}

impl Memory {
    fn note(&mut self, found: u32) {
        self.read = found;
        self.record.push(found);
    }

    fn note_exchange(&mut self, result: Result<u32, u32>) {
        self.record.push(u32::from(result.is_ok()));
        self.note(result.unwrap_or_else(|found| found));
    }
}

/// All results of a program whose steps are taken one at a time, in every order.
#[must_use]
pub fn enumerate(program: &Program) -> BTreeSet<Outcome> {
    let mut outcomes = BTreeSet::new();
    go_on(program, [0, 0], [0, 0], [Memory::default(), Memory::default()], &mut outcomes);
    outcomes
}

fn go_on(
    program: &Program,
    next: [usize; 2],
    cells: [u32; 2],
    memories: [Memory; 2],
    outcomes: &mut BTreeSet<Outcome>,
) {
    let mut ended = true;
    for thread in 0..2 {
        if let Some(&step) = program[thread].get(next[thread]) {
            ended = false;
            let (mut next, mut cells, mut memories) = (next, cells, memories.clone());
            next[thread] += 1;
            take_step(step, &mut cells, &mut memories[thread]);
            go_on(program, next, cells, memories, outcomes);
        }
    }
    if ended {
        let [first, second] = memories;
        outcomes.insert((first.record, second.record, cells));
    }
}

fn take_step(step: Step, cells: &mut [u32; 2], memory: &mut Memory) {
    let mut exchange = |at: usize, expected, new, memory: &mut Memory| {
        let found = cells[at];
        if found == expected {
            cells[at] = new;
        }
        memory.note_exchange(if found == expected { Ok(found) } else { Err(found) });
    };
    match step {
        Step::Exchange(at, expected, new) => exchange(at, expected, new, memory),
        Step::ExchangeRead(at, new) => exchange(at, memory.read, new, memory),
        Step::Load(at) => memory.note(cells[at]),
        Step::Store(at, value) => cells[at] = value,
        Step::Add(at, value) => {
            memory.note(cells[at]);
            cells[at] += value;
        }
    }
}

/// All results that loom comes to in a view.
#[must_use]
pub fn explore<V: View>(program: &Program) -> BTreeSet<Outcome> {
    type Cells<V> = [<Loom<V> as Platform>::AtomicU32; 2];
    fn run<V: View>(steps: &[Step], cells: &Cells<V>) -> Memory {
        let mut memory = Memory::default();
        for &step in steps {
            match step {
                Step::Load(at) => memory.note(cells[at].load(&LOAD)),
                Step::Store(at, value) => cells[at].store(value, &STORE),
                Step::Add(at, value) => memory.note(cells[at].fetch_add(value, &ADD)),
                Step::Exchange(at, expected, new) => {
                    memory.note_exchange(cells[at].compare_exchange(expected, new, &EXCHANGE));
                }
                Step::ExchangeRead(at, new) => {
                    memory.note_exchange(cells[at].compare_exchange(memory.read, new, &EXCHANGE));
                }
            }
        }
        memory
    }
    let outcomes = Arc::new(Mutex::new(BTreeSet::new()));
    let (results, program) = (Arc::clone(&outcomes), program.clone());
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = None;
    builder.check(move || {
        let cells: Arc<Cells<V>> = Arc::new([0, 0].map(Atomic::new));
        let other = Loom::<V>::spawn({
            let (steps, cells) = (program[1].clone(), Arc::clone(&cells));
            move || run::<V>(&steps, &cells)
        });
        let first = run::<V>(&program[0], &cells);
        let second = Loom::<V>::join(other);
        // After the join everything is ordered, so these are the last values.
        let last = [0, 1].map(|at| cells[at].fetch_add(0, &ADD));
        results.lock().expect("no panic here").insert((first.record, second.record, last));
    });
    std::mem::take(&mut outcomes.lock().expect("no panic here"))
}

/// Random programs, always the same ones.
pub fn programs(count: usize) -> impl Iterator<Item = Program> {
    // A multiplicative generator is random enough here, and needs no version of a library to stay the same.
    let mut state = 0x2018_u64;
    let mut below = move |limit: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(state >> 33).expect("31 bits are left") % limit
    };
    (0..count).map(move |_| {
        let atomics = 1 + below(2);
        std::array::from_fn(|_| {
            let steps = 1 + below(3);
            let step = |_| {
                let at = below(atomics) as usize;
                match below(5) {
                    0 => Step::Load(at),
                    1 => Step::Store(at, 1 + below(3)),
                    2 => Step::Add(at, 1 + below(2)),
                    3 => Step::Exchange(at, below(3), 1 + below(3)),
                    _ => Step::ExchangeRead(at, 1 + below(3)),
                }
            };
            (0..steps).map(step).collect()
        })
    })
}
