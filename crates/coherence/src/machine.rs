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

mod sleep;
mod spin;

use self::spin::Look;
use crate::account::{Account, Cause, Time, picoseconds};
use crate::line::{CoreSet, Costs, Kind, Line, Requester, StoreBuffer};
use crate::profile::{Cost, Profile};
use crate::random::Random;
use crate::trace::Trace;
use rustc_hash::FxHashMap;
use slotwork::Site;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Bytes of a cache line.
pub(crate) const LINE_BYTES: usize = 64;
const ARENA_LINES: usize = crate::arena::ARENA_BYTES / LINE_BYTES;

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
    buffer: StoreBuffer,
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

    pub(crate) fn new(profile: &Profile, base: usize, idle_limit: u64, trace: Option<Trace>) -> Self {
        let order = profile.cores_in_order();
        let mut sockets = vec![CoreSet::default(); order.iter().map(|core| core.0 + 1).max().unwrap_or(1)];
        for (at, &(socket, _)) in order.iter().enumerate() {
            sockets[socket].insert(at);
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a speed is at least 0.01")]
        let cores = order.iter().map(|&(socket, speed)| Core {
            socket,
            slowness: (1024.0 / speed) as u64,
            current: None,
            queue: VecDeque::new(),
            slice_end: 0,
            idle_from: 0,
            buffer: StoreBuffer::default(),
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

    // ── who goes next ──

    /// The thread whose turn it is; none when nobody will ever run again.
    pub(crate) fn next(&mut self) -> Option<usize> {
        loop {
            let Reverse((time, event, generation)) = self.heap.pop()?;
            match event {
                Event::Core(core) if self.cores[core].generation == generation => {
                    let Some(thread) = self.cores[core].current else { continue };
                    self.cores[core].generation += 1;
                    self.current = thread;
                    self.turns += 1;
                    if self.threads[thread].state == State::Spinning {
                        self.resume_spinning(thread, time);
                    }
                    self.threads[thread].state = State::Running;
                    self.set_limit();
                    return Some(thread);
                }
                Event::Timer(thread) if self.threads[thread].sleep == generation => {
                    if self.threads[thread].state == State::Parked {
                        self.wake(thread, time);
                    }
                }
                Event::Core(_) | Event::Timer(_) => {}
            }
        }
    }

    /// Until when the current thread may run on.
    fn set_limit(&mut self) {
        while let Some(&Reverse((time, event, generation))) = self.heap.peek() {
            let counts = match event {
                Event::Core(core) => self.cores[core].generation == generation,
                Event::Timer(thread) => self.threads[thread].sleep == generation,
            };
            if counts {
                self.limit = time;
                break;
            }
            self.heap.pop();
        }
        if self.heap.is_empty() {
            self.limit = Time::MAX;
        }
        let core = &self.cores[self.threads[self.current].core];
        if !core.queue.is_empty() {
            self.limit = self.limit.min(core.slice_end);
        }
    }

    /// Puts a core's current thread among those that wait for their turn.
    fn line_up(&mut self, core: usize, time: Time) {
        self.cores[core].generation += 1;
        self.heap.push(Reverse((time, Event::Core(core), self.cores[core].generation)));
        self.limit = self.limit.min(time);
    }

    /// Whether the current thread's clock lets it make an access now.
    #[inline]
    pub(crate) fn turn(&mut self) -> Turn {
        if self.idle_events > self.idle_limit {
            return self.give_up();
        }
        if self.threads[self.current].clock <= self.limit { Turn::Go } else { self.give_way() }
    }

    /// Nothing was achieved for too long: gives way for good.
    #[cold]
    fn give_up(&mut self) -> Turn {
        let (_, core, clock) = self.here();
        self.line_up(core, clock);
        Turn::Wait
    }

    fn give_way(&mut self) -> Turn {
        self.set_limit();
        let (thread, core, clock) = self.here();
        if clock <= self.limit {
            return Turn::Go;
        }
        if !self.cores[core].queue.is_empty() && clock >= self.cores[core].slice_end {
            self.requeue(thread, core, clock);
        } else {
            self.line_up(core, clock);
        }
        Turn::Wait
    }

    fn here(&self) -> (usize, usize, Time) {
        let thread = &self.threads[self.current];
        (self.current, thread.core, thread.clock)
    }

    /// The current thread goes to the end of its core's queue.
    fn requeue(&mut self, thread: usize, core: usize, clock: Time) {
        self.threads[thread].state = State::Ready;
        self.threads[thread].since = clock;
        self.cores[core].queue.push_back(thread);
        self.switch(core, clock);
    }

    /// A core goes on with the next thread of its queue, if there is one.
    fn switch(&mut self, core: usize, now: Time) {
        let Some(next) = self.cores[core].queue.pop_front() else {
            self.cores[core].current = None;
            self.cores[core].idle_from = now;
            return;
        };
        let ready = self.threads[next].since;
        let at = now.max(ready).max(self.cores[core].buffer.drained_at());
        let switch = self.cost(Cost::Switch);
        let thread = &mut self.threads[next];
        thread.account.add(Cause::Queued, at - ready);
        if let Some(trace) = &mut self.trace {
            trace.note(next, Cause::Queued, ready, at - ready);
            trace.note(next, Cause::Switch, at, switch);
        }
        thread.account.add(Cause::Switch, switch);
        thread.clock = at + switch;
        let quantum = self.cost(Cost::Quantum);
        let clock = at + switch;
        self.cores[core].current = Some(next);
        self.cores[core].slice_end = clock + quantum;
        self.line_up(core, clock);
    }

    /// A thread wants its core from `at` on.
    fn make_ready(&mut self, thread: usize, at: Time) {
        let core = self.threads[thread].core;
        self.threads[thread].state = State::Ready;
        self.threads[thread].since = at;
        if self.cores[core].current.is_none() {
            let ready = at;
            let at = at.max(self.cores[core].idle_from);
            self.threads[thread].account.add(Cause::Queued, at - ready);
            self.threads[thread].clock = at;
            self.cores[core].current = Some(thread);
            self.cores[core].slice_end = at + self.cost(Cost::Quantum);
            self.line_up(core, at);
            return;
        }
        self.cores[core].queue.push_back(thread);
        let quantum = self.cost(Cost::Quantum);
        let began = self.cores[core].slice_end.saturating_sub(quantum);
        let earliest = at.max(began + self.cost(Cost::Preempt));
        let slice_end = self.cores[core].slice_end.max(at).min(earliest);
        self.cores[core].slice_end = slice_end;
        if let Some(current) = self.cores[core].current {
            if current == self.current && self.threads[current].state == State::Running {
                self.limit = self.limit.min(slice_end);
            } else if self.threads[current].state == State::Spinning {
                let (since, _, until) = self.threads[current].look.aside;
                self.line_up(core, until.min(slice_end.max(since)));
            }
        }
    }

    /// The current thread's body has returned.
    pub(crate) fn finish(&mut self) {
        let (thread, core, clock) = self.here();
        self.threads[thread].state = State::Done;
        self.idle_events = 0;
        self.switch(core, clock);
    }

    // ── memory ──

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

    /// Performs the current thread's access to the line of `address`. It is its turn.
    pub(crate) fn access(&mut self, kind: Kind, address: usize, site: &'static Site) {
        let at = self.current;
        if self.threads[at].look.making_up {
            if kind == Kind::Load {
                return;
            }
            self.found();
        }
        self.accesses += 1;
        self.idle_events += 1;
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
        let by = Requester { core: thread.core, socket: core.socket, slowness: core.slowness, noise: thread.noise };
        let before = self.trace.is_some().then_some(thread.account);
        let outcome =
            line.access(kind, by, thread.clock, &mut core.buffer, &self.costs, &self.sockets, &mut thread.account);
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
        thread.clock += outcome.time;
        if let Some(when) = outcome.invalidated_at
            && !self.lines[number as usize].watches.is_empty()
        {
            self.alert(number, when);
        }
    }

    /// A fence: waits for the store buffer.
    pub(crate) fn fence(&mut self) {
        self.found();
        self.idle_events += 1;
        let (thread, core, clock) = self.here();
        self.threads[thread].look.impure = true;
        let drained = self.cores[core].buffer.drained_at();
        self.spend(Cause::Buffer, drained.saturating_sub(clock));
        let fence = (self.costs.fence * self.cores[core].slowness) >> 10;
        self.spend(Cause::Hit, fence);
    }
}
