//! Interruptions: what a tick of the system, or what is below it, takes of each core.
//!
//! ```text
//!   core 0   ▶ thread ──── 3 µs ──── thread ──────────── 4 µs ──── …      each core's come at times of its own
//! ```
//!
//! They are few, and decide much: without them, threads that do the same fall in step, and stay so for ever.

use super::Machine;
use crate::account::Time;
use crate::profile::Cost;

impl Machine {
    /// By which parts interruptions differ, in when they come and in how long they take.
    const INTERVALS: f64 = 0.25;
    const LENGTHS: f64 = 0.6;

    /// The interruption that is due on a core; draws the one after it.
    pub(super) fn next_interrupt(&mut self, core: usize) -> (Time, Time) {
        let [every, length] = [Cost::InterruptEvery, Cost::Interrupt].map(|cost| self.cost(cost));
        let core = &mut self.cores[core];
        let due = core.interrupt;
        let until = (every * core.random.about(Self::INTERVALS)) >> 10;
        core.interrupt = (due.0 + due.1 + until, (length * core.random.about(Self::LENGTHS)) >> 10);
        due
    }

    /// Interruptions that came while a core had nothing to do, or its thread only looked, are over; of one under way the
    /// rest remains.
    pub(super) fn pass_interrupts(&mut self, core: usize, now: Time) {
        loop {
            let (at, length) = self.cores[core].interrupt;
            if at >= now {
                return;
            }
            if at + length > now {
                self.cores[core].interrupt = (now - 1, at + length - now);
                return;
            }
            self.next_interrupt(core);
        }
    }
}
