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
//!
//! # Spinning
//! A look that only loads lines that the core has, and finds nothing, will find nothing until one of those lines
//! changes. After a few such looks the thread is set aside until then, or until an eighth of the looks it made so far
//! would have passed. The looks that it skipped are made up for when it goes on, at no cost, so that a budget of looks
//! ends as it would have: an eighth too late at most.

use crate::account::{Account, Cause, Time, picoseconds};
use crate::line::{CoreSet, Costs, Kind, Line, Requester, StoreBuffer, Watch};
use crate::profile::{Cost, Profile};
use crate::random::Random;
use crate::trace::Trace;
use rustc_hash::FxHashMap;
use slotwork::Site;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Bytes of a cache line.
pub(crate) const LINE_BYTES: usize = 64;

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

/// Looks made by a thread since it last found something.
#[derive(Debug, Default)]
struct Look {
    /// Lines that this look loaded.
    lines: Vec<u32>,
    /// It did anything else than load lines that the core had.
    impure: bool,
    /// When it began.
    began: Time,
    /// Looks in a row that were pure.
    pure: u64,
    /// Looks that were skipped and are to be made up for.
    owed: u64,
    /// They are being made up for: loads and hints cost nothing.
    making_up: bool,
    /// Since when it is set aside, how long a look takes, and until when at most.
    aside: (Time, Time, Time),
    /// Of the watches that count.
    generation: u64,
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
    /// Looks that a thread makes in full before it is set aside.
    const PURE_LOOKS: u64 = 3;
    /// Most lines that a look may load and count as one.
    const MOST_LINES: usize = 4096;
    /// Longest work that is done without a look at the others' clocks: 50 µs.
    const WORK_AT_ONCE: Time = 50_000_000;
    /// Most looks that are skipped at once.
    const MOST_SKIPPED: u64 = 4096;

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
            by_offset: vec![0; crate::arena::ARENA_BYTES / LINE_BYTES],
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
        let entry = match self.by_offset.get_mut(offset) {
            Some(entry) => entry,
            None => self.by_address.entry(address / LINE_BYTES).or_insert(0),
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
        let fence = self.costs.fence * self.cores[core].slowness >> 10;
        self.spend(Cause::Hit, fence);
    }

    // ── waiting ──

    /// The current thread does something else than look.
    fn found(&mut self) {
        let look = &mut self.threads[self.current].look;
        look.making_up = false;
        look.owed = 0;
        look.pure = 0;
    }

    /// The spin hint.
    pub(crate) fn hint(&mut self) -> Turn {
        self.pause(Cause::Spin, self.costs.pause)
    }

    /// Ends a look with a pause. When it has been in vain for a while, the thread is set aside.
    fn pause(&mut self, cause: Cause, time: Time) -> Turn {
        let (at, core, _) = self.here();
        let thread = &mut self.threads[at];
        if thread.look.making_up {
            if thread.look.owed > 0 {
                thread.look.owed -= 1;
                self.made_up += 1;
                return Turn::Go;
            }
        }
        self.idle_events += 1;
        if self.idle_events > self.idle_limit {
            return self.give_up();
        }
        let time = (time * self.cores[core].slowness >> 10) * self.threads[at].noise >> 10;
        self.spend(cause, time);
        let thread = &mut self.threads[at];
        let clock = thread.clock;
        let look = &mut thread.look;
        if std::mem::take(&mut look.making_up) {
            // All is made up for; the next look is made in full.
            look.lines.clear();
            look.impure = false;
            look.began = clock;
            return Turn::Go;
        }
        let whole = !look.impure && !look.lines.is_empty();
        let period = clock - look.began;
        look.began = clock;
        look.pure = if whole { look.pure + 1 } else { 0 };
        if look.owed > 0 && look.lines.iter().all(|&line| self.lines[line as usize].is_held_by(core)) {
            look.making_up = true;
        }
        let aside = whole && look.pure > Self::PURE_LOOKS && !look.making_up && period > 0;
        if !aside {
            look.lines.clear();
            look.impure = false;
            return Turn::Go;
        }
        look.generation += 1;
        let watch = Watch { thread: at, generation: look.generation };
        for line in look.lines.drain(..) {
            let watches = &mut self.lines[line as usize].watches;
            if watches.last().is_none_or(|last| last.thread != at || last.generation != watch.generation) {
                watches.push(watch);
            }
        }
        let looks = (look.pure / 8).clamp(4, Self::MOST_SKIPPED);
        let mut until = clock + looks * period;
        if !self.cores[core].queue.is_empty() {
            until = until.min(self.cores[core].slice_end.max(clock));
        }
        look.aside = (clock, period, until);
        thread.state = State::Spinning;
        self.line_up(core, until);
        Turn::Wait
    }

    /// A spinning thread goes on at `now`: the looks between were in vain.
    fn resume_spinning(&mut self, thread: usize, now: Time) {
        let thread = &mut self.threads[thread];
        let look = &mut thread.look;
        let (since, period, _) = look.aside;
        look.generation += 1;
        let skipped = (now - since) / period.max(1);
        look.owed += skipped;
        look.pure += skipped;
        look.began = now;
        thread.account.add(Cause::Spin, now - thread.clock);
        if let Some(trace) = &mut self.trace {
            trace.note(self.current, Cause::Spin, thread.clock, now - thread.clock);
        }
        thread.clock = now;
        // Nothing has changed, or else a watch would have called before.
        thread.look.making_up = thread.look.owed > 0;
    }

    /// A line changes at `when`: those who wait for that look again, each when its next look is due.
    fn alert(&mut self, line: u32, when: Time) {
        let watches = std::mem::take(&mut self.lines[line as usize].watches);
        for Watch { thread, generation } in watches {
            let look = &mut self.threads[thread].look;
            if look.generation != generation || self.threads[thread].state != State::Spinning {
                continue;
            }
            let look = &mut self.threads[thread].look;
            look.generation += 1;
            let (since, period, _) = look.aside;
            let looks = when.saturating_sub(since).div_ceil(period.max(1));
            let due = since + looks * period;
            look.owed += looks;
            look.pure += looks;
            look.began = due;
            let core = self.threads[thread].core;
            let woken = &mut self.threads[thread];
            woken.account.add(Cause::Spin, due - woken.clock);
            if let Some(trace) = &mut self.trace {
                trace.note(thread, Cause::Spin, woken.clock, due - woken.clock);
            }
            woken.clock = due;
            // It has its core, and a look to make with new values; what it owes comes after, if that is in vain too.
            woken.state = State::Running;
            self.line_up(core, due);
        }
    }

    /// Lets others run.
    pub(crate) fn yield_now(&mut self) -> Turn {
        let (thread, core, _) = self.here();
        let time = self.cost(Cost::Yield);
        if self.cores[core].queue.is_empty() {
            return self.pause(Cause::System, time);
        }
        self.found();
        self.idle_events += 1;
        let look = &mut self.threads[thread].look;
        look.lines.clear();
        look.impure = false;
        self.spend(Cause::System, time);
        let (thread, core, clock) = self.here();
        self.requeue(thread, core, clock);
        Turn::Wait
    }

    /// Goes to sleep, unless a wake came before.
    pub(crate) fn park(&mut self, timeout: Option<Time>) -> Turn {
        self.found();
        self.idle_events += 1;
        if std::mem::take(&mut self.threads[self.current].token) {
            return Turn::Go;
        }
        self.sleep(timeout)
    }

    fn sleep(&mut self, timeout: Option<Time>) -> Turn {
        let park = self.cost(Cost::Park);
        self.spend(Cause::System, park);
        let (at, core, clock) = self.here();
        let thread = &mut self.threads[at];
        thread.state = State::Parked;
        thread.since = clock;
        thread.sleep += 1;
        if let Some(timeout) = timeout {
            let sleep = thread.sleep;
            self.heap.push(Reverse((clock + timeout, Event::Timer(at), sleep)));
        }
        self.switch(core, clock);
        Turn::Wait
    }

    /// Wakes a thread, or lets its next park return at once.
    pub(crate) fn unpark(&mut self, thread: usize) {
        if self.threads[thread].state == State::Parked && !self.is_at_lock(thread) {
            self.call_wake(thread);
        } else if self.threads[thread].state != State::Done {
            self.threads[thread].token = true;
        }
    }

    fn is_at_lock(&self, thread: usize) -> bool {
        self.sleepers.values().any(|queue| queue.contains(&thread))
    }

    fn call_wake(&mut self, thread: usize) {
        let unpark = self.cost(Cost::Unpark);
        self.spend(Cause::System, unpark);
        let at = self.threads[self.current].clock + self.cost(Cost::Wake);
        self.threads[thread].wakes += 1;
        self.wake(thread, at);
    }

    fn wake(&mut self, thread: usize, at: Time) {
        let woken = &mut self.threads[thread];
        woken.sleep += 1;
        let at = at.max(woken.since);
        woken.account.add(Cause::Asleep, at - woken.since);
        if let Some(trace) = &mut self.trace {
            trace.note(thread, Cause::Asleep, woken.since, at - woken.since);
        }
        self.make_ready(thread, at);
    }

    /// Sleeps at a lock's word.
    pub(crate) fn sleep_at(&mut self, address: usize) -> Turn {
        self.found();
        self.idle_events += 1;
        let thread = self.current;
        self.sleepers.entry(address).or_default().push_back(thread);
        self.sleep(None)
    }

    /// Wakes one that sleeps at a lock's word.
    pub(crate) fn wake_at(&mut self, address: usize) {
        if let Some(thread) = self.sleepers.get_mut(&address).and_then(VecDeque::pop_front) {
            self.call_wake(thread);
        } else {
            let unpark = self.cost(Cost::Unpark) / 2;
            self.spend(Cause::System, unpark);
        }
    }

    /// Works for a time, giving the core up when it has to; says what is left then.
    pub(crate) fn work(&mut self, left: Time) -> (Turn, Time) {
        self.found();
        let (thread, core, clock) = self.here();
        self.threads[thread].look.impure = true;
        if !self.cores[core].queue.is_empty() && clock >= self.cores[core].slice_end {
            self.requeue(thread, core, clock);
            return (Turn::Wait, left);
        }
        // In parts, so that a thread that is woken meanwhile does not wait for all of it.
        let until = if self.cores[core].queue.is_empty() { Time::MAX } else { self.cores[core].slice_end };
        let done = left.min(until.saturating_sub(clock)).min(Self::WORK_AT_ONCE);
        self.spend(Cause::Work, done);
        let left = left - done;
        if left == 0 { (Turn::Go, 0) } else { (self.turn(), left) }
    }

    /// A time of about `nanoseconds` on the current thread's core: `spread` of it more or less at most.
    pub(crate) fn sample(&mut self, nanoseconds: f64, spread: f64) -> Time {
        let (thread, core, _) = self.here();
        let about = self.threads[thread].random.about(spread);
        let about =
            if self.jitter == 0.0 { about } else { about * self.threads[thread].random.about(self.jitter) >> 10 };
        (picoseconds(nanoseconds) * about >> 10) * self.cores[core].slowness >> 10
    }

    /// The lines that a thread looked at last.
    pub(crate) fn watched_by(&self, thread: usize) -> Vec<u32> {
        let generation = self.threads[thread].look.generation;
        let watches =
            |line: &Line| line.watches.iter().any(|watch| watch.thread == thread && watch.generation == generation);
        let watched = (0..).zip(&self.lines).filter(|(_, line)| watches(line)).map(|(number, _)| number);
        let mut lines: Vec<u32> = watched.chain(self.threads[thread].look.lines.iter().copied()).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }
}
