//! The first adversary: it suspends threads for ever, at every step of every call.
//!
//! ```text
//!   all run, at random ──▶ the victim comes to step k of a call ──▶ suspended: the victim alone,
//!                                                                            or all but one survivor
//!   survivors run, at random ──▶ each finishes some calls, or one of them does not: it is blocked
//! ```
//!
//! Steps are found by going on: k is raised until the victim comes to no step k, whatever the schedule before.

use super::crew::{ALTERNATE, CHURN, Crew, Program, SUBMIT, SUBMIT_BACKWARDS, WORK, WORK_BACKWARDS};
use super::ledger::{Call, Ledger, PerCall};
use super::player::Adversary;
use crate::platform::Stand;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use slotwork::Submitters;
use std::collections::BTreeMap;
use std::ops::Range;

/// Steps that survivors make without finishing a call, after which they are taken to be blocked.
const PATIENCE: u64 = 400;

/// Calls that each survivor has to finish.
const GOAL: u32 = 4;

/// Steps before the suspension.
const BEFORE: u64 = 400;

/// Where a thread can be suspended: the site of the access that comes next, or of the lock that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Table of the site.
    pub table: &'static str,
    /// Name of the site within the table.
    pub name: &'static str,
    /// Whether it is inside that lock.
    pub inside: bool,
}

impl From<Stand> for Place {
    fn from(stand: Stand) -> Self {
        Self { table: stand.site.table, name: stand.site.name, inside: stand.inside }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = if self.inside { "inside" } else { "before" };
        write!(formatter, "{place} {}.{}", self.table, self.name)
    }
}

/// A thread that was suspended, and a call that it held up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Block {
    /// The call that was not finished.
    pub blocked: Call,
    /// The call in which the other thread was suspended.
    pub suspended: Call,
    /// Where it was suspended.
    pub place: Place,
}

/// What suspending threads showed.
#[derive(Clone, Debug, Default)]
pub struct Suspensions {
    /// Executions in which somebody was suspended.
    pub executions: u64,
    /// Executions by call that survivors finished in them, or were blocked in.
    pub looked: PerCall,
    /// Calls that survivors finished.
    pub finished: PerCall,
    /// Executions by call and place of the victim.
    pub points: BTreeMap<(Call, Place), u64>,
    /// Executions in which one suspended thread blocked a call.
    pub blocks: BTreeMap<Block, u64>,
    /// The same where all but one were suspended: which of them blocked it, is not known.
    pub among_all: BTreeMap<Block, u64>,
    /// The most steps that a call took.
    pub most: PerCall,
    /// The fewest requests that survivors completed beside a thread suspended in a call; counted up to a limit.
    pub items: BTreeMap<Call, u32>,
}

/// What survivors have to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    /// Finish calls, whatever their answers.
    Calls,
    /// Complete so many requests.
    Items(u32),
}

/// Who is suspended, where.
#[derive(Clone, Copy, Debug, Default)]
struct Plan {
    crew: usize,
    victim: usize,
    call: usize,
    step: u32,
    seed: u64,
    /// All but one are suspended.
    all: bool,
}

/// How an execution stands.
#[derive(Debug)]
enum Phase {
    Before { steps: u64 },
    After(Box<After>),
}

#[derive(Debug)]
struct After {
    survivors: Vec<usize>,
    block: Block,
    finished: PerCall,
    items: u32,
    steps: u64,
    /// Per thread: calls finished, and the step at which that was noticed.
    seen: Vec<(u32, u64)>,
    /// Requests completed, and the step at which that was noticed.
    seen_items: (u32, u64),
    /// Per thread: calls finished at the suspension.
    start: Vec<u32>,
    blocked: Vec<Call>,
}

/// The adversary.
pub(super) struct Suspender {
    /// The crews, each with its victims.
    crews: Vec<(Crew, Range<usize>)>,
    goal: Goal,
    seeds: u64,
    plan: Plan,
    /// Whether any schedule came to this step.
    reached: bool,
    exhausted: bool,
    phase: Phase,
    random: SmallRng,
    /// The last choice, for schedules that go in bursts.
    last: usize,
    pub(super) found: Suspensions,
}

impl Suspender {
    /// Suspends threads that do all there is to do; survivors have to finish calls.
    pub(super) fn of_calls(submitters: Submitters, seeds: u64) -> Self {
        let clients: &[Program] = match submitters {
            Submitters::One => &[ALTERNATE],
            Submitters::Many => &[ALTERNATE, CHURN],
        };
        let programs = [clients, &[WORK, WORK]].concat();
        let crew = |lanes, slots, programs: &[Program]| (Crew::new(lanes, slots, programs), 0..programs.len());
        let backwards = crew(1, 3, &[SUBMIT_BACKWARDS, WORK_BACKWARDS]);
        Self::new(vec![crew(2, 1, &programs), crew(2, 2, &programs), backwards], Goal::Calls, seeds)
    }

    /// Suspends one of two workers, or one of two clients, of four slots; survivors have to complete requests.
    /// All clients use one lane, so that none of them is beside the point.
    pub(super) fn of_items(submitters: Submitters, seeds: u64) -> Self {
        let workers = (Crew::new(2, 2, &[SUBMIT, WORK, WORK]), 1..3);
        let clients = (Crew::new(1, 4, &[SUBMIT, SUBMIT, WORK]), 0..2);
        let crews = match submitters {
            Submitters::One => vec![workers],
            Submitters::Many => vec![workers, clients],
        };
        Self::new(crews, Goal::Items(super::ENOUGH_ITEMS), seeds)
    }

    fn new(crews: Vec<(Crew, Range<usize>)>, goal: Goal, seeds: u64) -> Self {
        Self {
            plan: Plan { victim: crews[0].1.start, ..Plan::default() },
            crews,
            goal,
            seeds,
            reached: false,
            exhausted: false,
            phase: Phase::Before { steps: 0 },
            random: SmallRng::seed_from_u64(0),
            last: 0,
            found: Suspensions::default(),
        }
    }

    /// The calls of the victim, each once.
    fn calls(&self) -> Vec<Call> {
        let mut calls = self.crews[self.plan.crew].0.programs[self.plan.victim].calls.to_vec();
        calls.sort_unstable();
        calls.dedup();
        calls
    }

    /// Goes on to the next plan.
    fn advance(&mut self) {
        let calls = self.calls().len();
        let plan = &mut self.plan;
        if self.goal == Goal::Calls && !plan.all {
            plan.all = true;
            return;
        }
        plan.all = false;
        plan.seed += 1;
        if plan.seed < self.seeds {
            return;
        }
        plan.seed = 0;
        plan.step += 1;
        if std::mem::take(&mut self.reached) {
            return;
        }
        plan.step = 0;
        plan.call += 1;
        if plan.call < calls {
            return;
        }
        plan.call = 0;
        plan.victim += 1;
        if self.crews[plan.crew].1.contains(&plan.victim) {
            return;
        }
        plan.crew += 1;
        match self.crews.get(plan.crew) {
            Some((_, victims)) => plan.victim = victims.start,
            None => self.exhausted = true,
        }
    }

    fn any(&mut self, of: &[usize]) -> usize {
        // Every other schedule goes in bursts.
        let burst = self.plan.seed % 2 == 1 && of.contains(&self.last) && self.random.random_range(0..4) != 0;
        if !burst {
            self.last = of[self.random.random_range(0..of.len())];
        }
        self.last
    }

    /// Whether the victim has come to its step.
    fn is_there(&self, ledger: &Ledger) -> Option<Block> {
        let thread = &ledger.threads[self.plan.victim];
        let call = self.calls()[self.plan.call];
        let often = thread.begun[call];
        let there = thread.call == Some(call) && thread.steps == self.plan.step + 1;
        let place = thread.stand.filter(|_| there && often > self.plan.seed / 2 % 3)?;
        Some(Block { blocked: call, suspended: call, place: place.into() })
    }

    fn suspend(&mut self, ledger: &Ledger, block: Block) -> After {
        let threads = ledger.threads.len();
        let others: Vec<_> = (0..threads).filter(|&thread| thread != self.plan.victim).collect();
        #[allow(clippy::cast_possible_truncation, reason = "a seed is small")]
        let survivors = if self.plan.all { vec![others[self.plan.seed as usize % others.len()]] } else { others };
        let start: Vec<u32> = ledger.threads.iter().map(|thread| thread.finished).collect();
        After {
            survivors,
            block,
            finished: ledger.finished,
            items: ledger.items,
            steps: 0,
            seen: start.iter().map(|&finished| (finished, 0)).collect(),
            seen_items: (ledger.items, 0),
            start,
            blocked: Vec::new(),
        }
    }
}

impl After {
    /// Whether enough was seen; then the blocked calls are known.
    fn is_over(&mut self, ledger: &Ledger, runnable: &[usize], goal: Goal) -> bool {
        let Self { survivors, steps, seen, seen_items, start, blocked, items, .. } = self;
        for &survivor in &*survivors {
            if ledger.threads[survivor].finished != seen[survivor].0 {
                seen[survivor] = (ledger.threads[survivor].finished, *steps);
            }
        }
        if ledger.items != seen_items.0 {
            *seen_items = (ledger.items, *steps);
        }
        let stuck = !survivors.iter().any(|survivor| runnable.contains(survivor));
        match goal {
            Goal::Items(enough) => stuck || ledger.items - *items >= enough || *steps - seen_items.1 >= PATIENCE,
            Goal::Calls => {
                let short = |&survivor: &usize| seen[survivor].0 - start[survivor] < GOAL;
                let over = stuck
                    || survivors
                        .iter()
                        .copied()
                        .filter(|survivor| short(survivor))
                        .all(|survivor| *steps - seen[survivor].1 >= PATIENCE);
                if over {
                    let held_up = survivors.iter().copied().filter(|survivor| stuck || short(survivor));
                    *blocked = held_up.filter_map(|survivor| ledger.threads[survivor].call).collect();
                }
                over
            }
        }
    }
}

impl Adversary for Suspender {
    fn begin(&mut self) -> Option<Crew> {
        if self.exhausted {
            return None;
        }
        let Plan { crew, victim, call, step, seed, all } = self.plan;
        let number = [crew as u64, victim as u64, call as u64, step.into(), seed, all.into()];
        let seed = number.iter().fold(0_u64, |seed, &part| seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + part + 1);
        self.random = SmallRng::seed_from_u64(seed);
        self.phase = Phase::Before { steps: 0 };
        Some(self.crews[crew].0.clone())
    }

    fn choose(&mut self, ledger: &Ledger, runnable: &[usize]) -> Option<usize> {
        if let Phase::Before { steps } = &mut self.phase {
            *steps += 1;
            if *steps > BEFORE {
                return None;
            }
            let Some(block) = self.is_there(ledger) else { return Some(self.any(runnable)) };
            self.reached = true;
            self.phase = Phase::After(Box::new(self.suspend(ledger, block)));
        }
        let Phase::After(after) = &mut self.phase else { return None };
        if after.is_over(ledger, runnable, self.goal) {
            return None;
        }
        after.steps += 1;
        let can: Vec<usize> = after.survivors.iter().copied().filter(|thread| runnable.contains(thread)).collect();
        Some(self.any(&can))
    }

    fn end(&mut self, ledger: &Ledger) {
        let found = &mut self.found;
        for call in Call::ALL {
            found.most[call] = ledger.most[call].max(found.most[call]);
        }
        if let Phase::After(after) = &self.phase {
            found.executions += 1;
            *found.points.entry((after.block.suspended, after.block.place)).or_default() += 1;
            for call in Call::ALL {
                let finished = ledger.finished[call] - after.finished[call];
                found.finished[call] += finished;
                found.looked[call] += u64::from(finished > 0 || after.blocked.contains(&call));
            }
            let blocks = if self.plan.all { &mut found.among_all } else { &mut found.blocks };
            for &blocked in &after.blocked {
                *blocks.entry(Block { blocked, ..after.block }).or_default() += 1;
            }
            if let Goal::Items(enough) = self.goal {
                let items = (after.seen_items.0 - after.items).min(enough);
                let fewest = found.items.entry(after.block.suspended).or_insert(items);
                *fewest = items.min(*fewest);
            }
        }
        self.advance();
    }
}
