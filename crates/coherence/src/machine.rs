//! The machine: cores with clocks, threads on them, and who goes next.
//!
//! ```text
//!   core 0   ▶ thread a ─── clock 812 ns ─┐
//!   core 1   ▶ thread b ─── clock 797 ns ─┼─ the smallest goes next: thread b
//!   core 2     thread c ─── clock 805 ns ─┘        queue: d, e wait for core 2
//! ```
//!
//! A thread runs on until its clock is beyond that of another core; then it waits its turn. So all accesses are made in the
//! order of simulated time, and nothing depends on anything but the program, the profile and the seed.

mod interrupt;
mod schedule;
mod sleep;
mod spin;

use self::spin::Look;
use crate::account::{Account, Cause, Time, picoseconds};
use crate::arena::allocator_calls;
use crate::line::{CoreSet, Costs, Kind, Line, Requester};
use crate::profile::{Cost, Profile};
use crate::random::Random;
use crate::trace::Trace;
use crate::under_way::UnderWay;
use rustc_hash::FxHashMap;
use slotwork::Site;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Bytes of a cache line.
pub(crate) const LINE_BYTES: usize = 64;
const ARENA_LINES: usize = crate::arena::ARENA_BYTES / LINE_BYTES;

/// More than there are threads: generators of cores are numbered from here on.
const MAX_THREADS: usize = 1 << 20;

/// Whether a thread goes on, or has to give way first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Turn {
    Go,
    Wait,
}

/// What a thread is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It has its core.
    Running,
    /// It wants its core.
    Ready,
    /// Set aside: it looks at lines that do not change.
    Spinning,
    /// Asleep, until woken.
    Parked,
    /// Its body has returned.
    Done,
}

pub(crate) struct Thread {
    pub(crate) name: String,
    pub(crate) core: usize,
    pub(crate) clock: Time,
    pub(crate) state: State,
    /// An unpark came before the park.
    token: bool,
    since: Time,
    /// Of the sleep that a timer is for.
    sleep: u64,
    look: Look,
    random: Random,
    noise: u64,
    pub(crate) account: Account,
    pub(crate) wakes: u64,
    /// Address of the word that park and unpark meet at.
    pub(crate) parker: usize,
}

struct Core {
    socket: usize,
    slowness: u64,
    current: Option<usize>,
    queue: VecDeque<usize>,
    slice_end: Time,
    /// Since when it has had nothing to do.
    idle_from: Time,
    under_way: UnderWay,
    /// When it is interrupted next, and for how long.
    interrupt: (Time, Time),
    random: Random,
    /// Accesses made.
    made: u64,
    /// Of the entry in the heap that counts.
    generation: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Core(usize),
    Timer(usize),
}

pub(crate) struct Machine {
    pub(crate) profile: Profile,
    costs: Costs,
    sockets: Vec<CoreSet>,
    cores: Vec<Core>,
    pub(crate) threads: Vec<Thread>,
    heap: BinaryHeap<Reverse<(Time, Event, u64)>>,
    pub(crate) current: usize,
    /// Beyond this the current thread has to give way.
    limit: Time,
    base: usize,
    by_offset: Vec<u32>,
    by_address: FxHashMap<usize, u32>,
    pub(crate) lines: Vec<Line>,
    sleepers: FxHashMap<usize, VecDeque<usize>>,
    jitter: f64,
    /// Calls of the allocator that are paid for.
    allocator_calls: u64,
    pub(crate) accesses: u64,
    pub(crate) made_up: u64,
    pub(crate) turns: u64,
    /// Accesses and hints since something was achieved.
    pub(crate) idle_events: u64,
    pub(crate) idle_limit: u64,
    pub(crate) trace: Option<Trace>,
}

impl Machine {
    /// Most lines that a look may load and count as one.
    const MOST_LINES: usize = 4096;

    pub(crate) fn new(profile: &Profile, base: usize, seed: u64, idle_limit: u64, trace: Option<Trace>) -> Self {
        let [every, length] = [Cost::InterruptEvery, Cost::Interrupt].map(|cost| picoseconds(profile.cost(cost)));
        let order = profile.cores_in_order();
        let mut sockets = vec![CoreSet::default(); order.iter().map(|core| core.0 + 1).max().unwrap_or(1)];
        for (at, &(socket, _)) in order.iter().enumerate() {
            sockets[socket].insert(at);
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a speed is at least 0.01")]
        let cores = order.iter().enumerate().map(|(at, &(socket, speed))| Core {
            socket,
            slowness: (1024.0 / speed) as u64,
            current: None,
            queue: VecDeque::new(),
            slice_end: 0,
            idle_from: 0,
            under_way: UnderWay::default(),
            interrupt: (if every == 0 { Time::MAX } else { every * (at as Time % 7 + 1) / 8 }, length),
            random: Random::new(seed, MAX_THREADS + at),
            made: 0,
            generation: 0,
        });
        Self {
            profile: profile.clone(),
            costs: Costs::of(profile),
            sockets,
            cores: cores.collect(),
            threads: Vec::new(),
            heap: BinaryHeap::new(),
            current: 0,
            limit: 0,
            base,
            by_offset: Vec::new(),
            by_address: FxHashMap::default(),
            lines: Vec::new(),
            sleepers: FxHashMap::default(),
            jitter: profile.cost(Cost::Jitter),
            allocator_calls: 0,
            accesses: 0,
            made_up: 0,
            turns: 0,
            idle_events: 0,
            idle_limit,
            trace,
        }
    }

    /// A new thread, on the next core, ready from the beginning.
    pub(crate) fn add(&mut self, name: String, seed: u64, parker: usize) {
        let number = self.threads.len();
        let core = number % self.cores.len();
        self.threads.push(Thread {
            name,
            core,
            clock: 0,
            state: State::Ready,
            token: false,
            since: 0,
            sleep: 0,
            look: Look::default(),
            random: Random::new(seed, number),
            noise: 1024,
            account: Account::default(),
            wakes: 0,
            parker,
        });
        self.make_ready(number, 0);
    }

    /// What was allocated so far was for building, and is paid for.
    pub(crate) fn begin(&mut self) {
        self.allocator_calls = allocator_calls();
    }

    fn cost(&self, cost: Cost) -> Time {
        picoseconds(self.profile.cost(cost))
    }

    /// Books time of the current thread that passes by itself.
    fn spend(&mut self, cause: Cause, time: Time) {
        let thread = &mut self.threads[self.current];
        if let Some(trace) = &mut self.trace {
            trace.note(self.current, cause, thread.clock, time);
        }
        thread.clock += time;
        thread.account.add(cause, time);
    }

    fn line_of(&mut self, address: usize) -> u32 {
        let offset = address.wrapping_sub(self.base) / LINE_BYTES;
        let entry = if offset < ARENA_LINES {
            // The arena gives out its memory from the beginning on, so the table is as long as what was used of it.
            if offset >= self.by_offset.len() {
                self.by_offset.resize((offset + 1).next_power_of_two(), 0);
            }
            &mut self.by_offset[offset]
        } else {
            self.by_address.entry(address / LINE_BYTES).or_insert(0)
        };
        if *entry == 0 {
            self.lines.push(Line::new());
            *entry = u32::try_from(self.lines.len()).expect("fewer lines than bytes in an arena");
        }
        *entry - 1
    }

    /// Performs the current thread's access to the line of `address`. It is its turn. What is returned passes after it has
    /// seen what is there, when its turn comes again.
    pub(crate) fn access(&mut self, kind: Kind, address: usize, site: &'static Site) -> Time {
        let at = self.current;
        if self.threads[at].look.making_up {
            if kind == Kind::Load {
                return 0;
            }
            self.found();
        }
        self.accesses += 1;
        self.idle_events += 1;
        let calls = allocator_calls() - self.allocator_calls;
        if calls != 0 {
            self.allocator_calls += calls;
            let time = self.cost(Cost::Allocate) * calls * self.cores[self.threads[at].core].slowness;
            self.spend(Cause::Allocator, time >> 10);
        }
        let number = self.line_of(address);
        if self.jitter != 0.0 && self.accesses & 7 == 0 {
            self.threads[at].noise = self.threads[at].random.about(self.jitter);
        }
        let thread = &mut self.threads[at];
        let line = &mut self.lines[number as usize];
        if line.sites.last().is_none_or(|&last| !std::ptr::eq(last, site)) {
            match line.sites.iter().position(|&known| std::ptr::eq(known, site)) {
                Some(known) => {
                    let last = line.sites.len() - 1;
                    line.sites.swap(known, last);
                }
                None => line.sites.push(site),
            }
        }
        let core = &mut self.cores[thread.core];
        core.made += 1;
        let by = Requester {
            core: thread.core,
            socket: core.socket,
            slowness: core.slowness,
            made: core.made,
            noise: thread.noise,
        };
        let before = self.trace.is_some().then_some(thread.account);
        let outcome =
            line.access(kind, by, thread.clock, &mut core.under_way, &self.costs, &self.sockets, &mut thread.account);
        let look = &mut thread.look;
        look.impure |= !outcome.quiet;
        if kind != Kind::Load || look.lines.len() == Self::MOST_LINES {
            look.impure = true;
            look.owed = 0;
            look.lines.clear();
        }
        if kind == Kind::Load {
            look.lines.push(number);
        }
        if let (Some(trace), Some(before)) = (&mut self.trace, before)
            && !outcome.quiet
        {
            trace.access(at, &before, &thread.account, thread.clock, site);
        }
        let rest = if outcome.sees_after > 0 { outcome.time - outcome.sees_after } else { 0 };
        thread.clock += outcome.time - rest;
        if let Some(when) = outcome.invalidated_at
            && !self.lines[number as usize].watches.is_empty()
        {
            self.alert(number, when);
        }
        rest
    }

    /// The rest of an access whose value has been read.
    pub(crate) fn pass(&mut self, time: Time) {
        self.threads[self.current].clock += time;
    }

    /// What was predicted was wrong: the thread begins again when all that is under way is done.
    pub(crate) fn mispredicted(&mut self) {
        let (_, core, clock) = self.here();
        let over_at = self.cores[core].under_way.over_at();
        self.spend(Cause::Buffer, over_at.saturating_sub(clock));
    }

    /// A fence: waits for all that is under way.
    pub(crate) fn fence(&mut self) {
        self.found();
        self.idle_events += 1;
        let (thread, core, clock) = self.here();
        self.threads[thread].look.impure = true;
        let drained = self.cores[core].under_way.over_at();
        self.spend(Cause::Buffer, drained.saturating_sub(clock));
        let fence = (self.costs.fence * self.cores[core].slowness) >> 10;
        self.spend(Cause::Hit, fence);
    }
}
