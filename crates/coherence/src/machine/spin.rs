//! Spinning: looks that find nothing are not made one by one.
//!
//! A look that only loads lines that the core has, and finds nothing, will find nothing until one of those lines
//! changes. After a few such looks the thread is set aside until then, or until an eighth of the looks it made so far
//! would have passed:
//!
//! ```text
//!   look look look look ─── set aside ───▶ a line changes: the look that is due then is made
//!                                    └───▶ time is up: the looks that were skipped are made up for, at no cost
//! ```
//!
//! They are made up for so that a budget of looks ends as it would have: an eighth too late at most.

use super::{Machine, State, Turn};
use crate::account::{Cause, Time};
use crate::line::Watch;

/// Looks made by a thread since it last found something.
#[derive(Debug, Default)]
pub(super) struct Look {
    /// Lines that this look loaded.
    pub(super) lines: Vec<u32>,
    /// Some of the lines that the thread was set aside for last.
    pub(super) seen: Vec<u32>,
    /// It did anything else than load lines that the core had.
    pub(super) impure: bool,
    /// When it began.
    pub(super) began: Time,
    /// Looks in a row that were pure.
    pub(super) pure: u64,
    /// Looks that were skipped and are to be made up for.
    pub(super) owed: u64,
    /// They are being made up for: loads and hints cost nothing.
    pub(super) making_up: bool,
    /// Since when it is set aside, how long a look takes, and until when at most.
    pub(super) aside: (Time, Time, Time),
    /// Of the watches that count.
    pub(super) generation: u64,
}

impl Machine {
    /// Looks that a thread makes in full before it is set aside.
    const PURE_LOOKS: u64 = 3;
    /// Most looks that are skipped at once.
    const MOST_SKIPPED: u64 = 4096;

    /// The current thread does something else than look.
    pub(super) fn found(&mut self) {
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
    pub(super) fn pause(&mut self, cause: Cause, time: Time) -> Turn {
        let (at, core, _) = self.here();
        let thread = &mut self.threads[at];
        if thread.look.making_up && thread.look.owed > 0 {
            thread.look.owed -= 1;
            self.made_up += 1;
            return Turn::Go;
        }
        self.idle_events += 1;
        if self.idle_events > self.idle_limit {
            return self.give_up();
        }
        let time = (((time * self.cores[core].slowness) >> 10) * self.threads[at].noise) >> 10;
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
        look.seen.clear();
        look.seen.extend(look.lines.iter().take(4));
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
    pub(super) fn resume_spinning(&mut self, thread: usize, now: Time) {
        self.pass_interrupts(self.threads[thread].core, now);
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
    pub(super) fn alert(&mut self, line: u32, when: Time) {
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
            self.pass_interrupts(core, due);
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
}
