//! Sleeping and working: what a thread does that is no access.

use super::{Event, Machine, State, Turn};
use crate::account::{Cause, Time, picoseconds};
use crate::profile::Cost;
use std::cmp::Reverse;
use std::collections::VecDeque;

impl Machine {
    /// Longest work that is done without a look at the others' clocks: 50 µs.
    const WORK_AT_ONCE: Time = 50_000_000;

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

    pub(super) fn sleep(&mut self, timeout: Option<Time>) -> Turn {
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

    pub(super) fn is_at_lock(&self, thread: usize) -> bool {
        self.sleepers.values().any(|queue| queue.contains(&thread))
    }

    pub(super) fn call_wake(&mut self, thread: usize) {
        let unpark = self.cost(Cost::Unpark);
        self.spend(Cause::System, unpark);
        let at = self.threads[self.current].clock + self.cost(Cost::Wake);
        self.threads[thread].wakes += 1;
        self.wake(thread, at);
    }

    pub(super) fn wake(&mut self, thread: usize, at: Time) {
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
            if self.jitter == 0.0 { about } else { (about * self.threads[thread].random.about(self.jitter)) >> 10 };
        (((picoseconds(nanoseconds) * about) >> 10) * self.cores[core].slowness) >> 10
    }

    /// The lines that a thread looked at last.
    pub(crate) fn watched_by(&self, thread: usize) -> Vec<u32> {
        let look = &self.threads[thread].look;
        let mut lines: Vec<u32> = look.lines.iter().take(4).chain(&look.seen).copied().collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }
}
