//! Who goes next: the core with the smallest clock, and on it the thread whose slice it is.

use super::{Event, Machine, State, Turn};
use crate::account::{Cause, Time};
use crate::profile::Cost;
use std::cmp::Reverse;

impl Machine {
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
        self.limit = self.limit.min(core.interrupt.0);
        if !core.queue.is_empty() {
            self.limit = self.limit.min(core.slice_end);
        }
    }

    /// Puts a core's current thread among those that wait for their turn.
    pub(super) fn line_up(&mut self, core: usize, time: Time) {
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
    pub(super) fn give_up(&mut self) -> Turn {
        let (_, core, clock) = self.here();
        self.line_up(core, clock);
        Turn::Wait
    }

    fn give_way(&mut self) -> Turn {
        let (_, core, clock) = self.here();
        while clock > self.cores[core].interrupt.0 {
            let (_, length) = self.next_interrupt(core);
            self.spend(Cause::Interrupted, length);
        }
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

    pub(super) fn here(&self) -> (usize, usize, Time) {
        let thread = &self.threads[self.current];
        (self.current, thread.core, thread.clock)
    }

    /// The current thread goes to the end of its core's queue.
    pub(super) fn requeue(&mut self, thread: usize, core: usize, clock: Time) {
        self.threads[thread].state = State::Ready;
        self.threads[thread].since = clock;
        self.cores[core].queue.push_back(thread);
        self.switch(core, clock);
    }

    /// A core goes on with the next thread of its queue, if there is one.
    pub(super) fn switch(&mut self, core: usize, now: Time) {
        let Some(next) = self.cores[core].queue.pop_front() else {
            self.cores[core].current = None;
            self.cores[core].idle_from = now;
            return;
        };
        let ready = self.threads[next].since;
        let at = now.max(ready).max(self.cores[core].under_way.over_at());
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
    pub(super) fn make_ready(&mut self, thread: usize, at: Time) {
        let core = self.threads[thread].core;
        self.threads[thread].state = State::Ready;
        self.threads[thread].since = at;
        if self.cores[core].current.is_none() {
            let ready = at;
            let at = at.max(self.cores[core].idle_from);
            self.pass_interrupts(core, at);
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
}
