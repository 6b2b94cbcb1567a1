//! The second adversary: it suspends nobody, and plays every periodic schedule of two threads.
//!
//! ```text
//!   ABABAB…   AABAABAAB…   ABBABB…   …   every word of A and B up to a length, again and again
//! ```
//!
//! A call that makes step after step and is never finished is *starved*. When the other thread finishes calls meanwhile,
//! the call is no worse than lock-free, and not wait-free; when both are starved at once, nobody finishes
//! anything, though nobody is suspended: the calls are obstruction-free at best.

use super::crew::{ALTERNATE, CHURN, CIRCLE, CIRCLES, Crew, ENLIST, HAND_OVER_HAND, Program, SUBMIT, WITHDRAW, WORK};
use super::ledger::{Call, Ledger, PerCall};
use super::player::Adversary;
use slotwork::Submitters;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Own steps of a call, from which on it is starved. The longest call on four slots has a quarter of them.
pub const STARVED: u32 = 48;

/// A schedule of two threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Word {
    length: u32,
    /// The thread of each step, from the lowest bit on.
    bits: u32,
}

impl Word {
    fn at(self, step: u32) -> usize {
        (self.bits >> (step % self.length)) as usize & 1
    }

    /// Every word up to this length that has both threads and is no other word twice or more.
    fn all(period: u32) -> Vec<Self> {
        let words = (2..=period).flat_map(|length| (1..(1 << length) - 1).map(move |bits| Self { length, bits }));
        words.filter(|word| !word.repeats()).collect()
    }

    fn repeats(self) -> bool {
        let shorter = (1..self.length).filter(|part| self.length.is_multiple_of(*part));
        shorter.into_iter().any(|part| (0..self.length).all(|step| self.at(step) == self.at(step % part)))
    }
}

impl fmt::Display for Word {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters: String = (0..self.length).map(|step| if self.at(step) == 0 { 'A' } else { 'B' }).collect();
        formatter.pad(&letters)
    }
}

/// What two threads do, and in which schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// What A and B do, again and again.
    pub programs: [&'static str; 2],
    /// Whose turn it is.
    pub word: Word,
}

impl fmt::Display for Schedule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b] = self.programs;
        write!(formatter, "{}: A {a}, B {b}", self.word)
    }
}

/// What playing periodic schedules showed.
#[derive(Clone, Debug, Default)]
pub struct Periodic {
    /// Schedules played.
    pub schedules: u64,
    /// Schedules in which each call was made.
    pub looked: PerCall,
    /// Calls finished.
    pub finished: PerCall,
    /// Calls that were starved: the first such schedule, and how many there are.
    pub starved: BTreeMap<Call, (Schedule, u64)>,
    /// Calls that were starved while the other thread was starved too.
    pub livelocked: BTreeMap<Call, (Schedule, u64)>,
    /// The most steps that a call took, finished or not.
    pub most: PerCall,
}

/// The adversary.
pub(super) struct Repeater {
    crews: Vec<Crew>,
    words: Vec<Word>,
    /// Which crew and word are next.
    next: usize,
    step: u32,
    starved: BTreeSet<Call>,
    livelocked: BTreeSet<Call>,
    pub(super) found: Periodic,
}

impl Repeater {
    /// Plays every schedule up to a period.
    pub(super) fn new(submitters: Submitters, period: u32) -> Self {
        let pairs: &[[Program; 2]] = match submitters {
            Submitters::One => &[[SUBMIT, WORK], [ALTERNATE, WORK], [CIRCLE, WORK], [CIRCLES, WORK]],
            Submitters::Many => &[
                [SUBMIT, WORK],
                [ALTERNATE, CIRCLE],
                [CIRCLE, CIRCLES],
                [WITHDRAW, WITHDRAW],
                [WITHDRAW, HAND_OVER_HAND],
                [CIRCLE, HAND_OVER_HAND],
                [CHURN, CIRCLE],
                [ENLIST, ENLIST],
            ],
        };
        let crews = pairs.iter().flat_map(|pair| {
            let two_workers = pair.iter().all(|program| program.calls.contains(&Call::Take));
            [(2, 1), if two_workers { (2, 2) } else { (1, 2) }].map(|(lanes, slots)| Crew::new(lanes, slots, pair))
        });
        Self {
            crews: crews.collect(),
            words: Word::all(period),
            next: 0,
            step: 0,
            starved: BTreeSet::new(),
            livelocked: BTreeSet::new(),
            found: Periodic::default(),
        }
    }

    fn now(&self) -> (&Crew, Word) {
        (&self.crews[self.next / self.words.len()], self.words[self.next % self.words.len()])
    }
}

impl Adversary for Repeater {
    fn begin(&mut self) -> Option<Crew> {
        (self.step, self.starved, self.livelocked) = Default::default();
        self.crews.get(self.next / self.words.len()).cloned()
    }

    fn choose(&mut self, ledger: &Ledger, runnable: &[usize]) -> Option<usize> {
        let (_, word) = self.now();
        // Each thread has its turn often enough to be starved, once all has come into its period.
        if self.step > (STARVED + 8) * word.length {
            return None;
        }
        let starved = |thread: usize| ledger.threads[thread].call.filter(|_| ledger.threads[thread].steps >= STARVED);
        self.starved.extend((0..2).filter_map(starved));
        if let (Some(a), Some(b)) = (starved(0), starved(1)) {
            self.livelocked.extend([a, b]);
            return None;
        }
        let thread = word.at(self.step);
        self.step += 1;
        Some(if runnable.contains(&thread) { thread } else { 1 - thread })
    }

    fn end(&mut self, ledger: &Ledger) {
        let (crew, word) = self.now();
        let schedule = Schedule { programs: [crew.programs[0].name, crew.programs[1].name], word };
        let found = &mut self.found;
        found.schedules += 1;
        for call in Call::ALL {
            found.finished[call] += ledger.finished[call];
            found.looked[call] += u64::from(ledger.threads.iter().any(|thread| thread.begun[call] > 0));
            found.most[call] = ledger.most[call].max(found.most[call]);
        }
        for (calls, schedules) in [(&self.starved, &mut found.starved), (&self.livelocked, &mut found.livelocked)] {
            for &call in calls {
                schedules.entry(call).or_insert_with(|| (schedule.clone(), 0)).1 += 1;
            }
        }
        self.next += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_comes_once_and_has_both_threads() {
        let words: Vec<_> = Word::all(3).iter().map(ToString::to_string).collect();
        assert_eq!(words, ["BA", "AB", "BAA", "ABA", "BBA", "AAB", "BAB", "ABB"]);
        // Lyndon words of two letters, 1, 2, 3, 6, 9, 18, 30 for lengths 2 to 8, in each rotation.
        assert_eq!(Word::all(8).len(), 2 + 2 * 3 + 3 * 4 + 6 * 5 + 9 * 6 + 18 * 7 + 30 * 8);
    }
}
