//! A history against what its design claims: one property at a time, each on the part it speaks of.
//!
//! | property | on | by |
//! |---|---|---|
//! | one owner, results kept | each slot | search |
//! | none free | exact: all slots at once; scan: each slot; refill: each slot, but for answers that the count explains | search; counted |
//! | nothing submitted | exact: each lane, or all where they are shared; else each slot | bad patterns; search |
//! | order | each lane, or all where they are shared | FIFO: bad patterns, and search up to four threads; rotating: counted |
//! | the whole circle | everything at once, up to four threads | search |

use super::history::{Call, History, Operation};
use super::patterns::{find_bad_pattern, find_overtaken};
use super::refill::refills;
use super::search::{Found, Specification, search};
use super::specification::{FreeSpec, QueueSpec, Rules, SlotSpec, WholeSpec};
use serde::{Deserialize, Serialize};
use slotwork::{NoneFree, Order};
use std::collections::BTreeMap;
use std::fmt;

/// Most threads of a history that is searched for an order of all its requests: beyond, it takes too long.
pub const SEARCHED_THREADS: usize = 4;

/// Steps of one search, unless a test wants fewer. About a second in a build without optimisation.
pub const BUDGET: u64 = 400_000;

/// What is checked of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Property {
    /// A slot has one owner, its requests are taken once, its answers come back.
    OneOwner,
    /// An acquire finds nothing only as the claim says.
    NoneFree,
    /// A take finds nothing only when nothing is there for it: no request is lost.
    NoneSubmitted,
    /// Requests are taken in the order claimed.
    Order,
    /// All that speaks of an instant, in one order of all operations.
    Whole,
}

impl Property {
    /// All of them; a fault is reported by the first one that it breaks.
    pub const ALL: [Self; 5] = [Self::OneOwner, Self::NoneFree, Self::NoneSubmitted, Self::Order, Self::Whole];

    /// What it says under these rules, in a few words; or why it says nothing.
    ///
    /// # Errors
    /// Why it says nothing.
    pub const fn name(self, rules: Rules) -> Result<&'static str, &'static str> {
        Ok(match (self, rules.none_free, rules.none_submitted_exact, rules.order) {
            (Self::OneOwner, ..) => "one owner per slot, answers kept",
            (Self::NoneFree, NoneFree::Exact, ..) => "none free: there was an instant without a free slot",
            (Self::NoneFree, NoneFree::Scan, ..) => "none free: no single slot was free all the time",
            (Self::NoneFree, NoneFree::Refill, ..) => {
                "none free: no single slot was free all the time, or a refill was due"
            }
            (Self::NoneSubmitted, _, true, _) => "nothing submitted: there was an instant without a request",
            (Self::NoneSubmitted, _, false, _) => "nothing submitted: no single request was there all the time",
            (Self::Order, _, _, Order::Fifo) => "first submitted, first taken",
            (Self::Order, _, _, Order::Rotating) => "overtaken fewer than 2 × slots per lane times",
            (Self::Order, _, _, Order::Any) => return Err("claims no order"),
            (Self::Whole, ..) => "the whole circle is linearizable",
        })
    }
}

/// Why a history is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The property.
    pub property: Property,
    /// Which part of the queue: a slot, a lane.
    pub subject: String,
    /// In words.
    pub why: String,
    /// The operations that have no place, or make the bad pattern: indices into the history.
    pub accused: Vec<usize>,
    /// How many operations of the part could be explained, and how many there are.
    pub explained: Option<(usize, usize)>,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.subject, self.why)?;
        match self.explained {
            Some((explained, all)) => write!(formatter, " (the longest prefix explains {explained} of {all})"),
            None => Ok(()),
        }
    }
}

/// What is known of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is an order that explains it.
    Linearizable,
    /// There is none.
    Violation(Fault),
    /// The budget was used up: no answer, and no pass.
    GaveUp,
    /// The property says nothing of this history.
    NotApplicable,
}

/// Checks one property.
#[must_use]
pub fn check(history: &History, property: Property, rules: Rules, budget: u64) -> Verdict {
    let check = Check { history, property, rules, budget };
    let searched = history.threads.len() <= SEARCHED_THREADS;
    match property {
        Property::OneOwner => check.slots(|_| false),
        Property::NoneFree => match rules.none_free {
            NoneFree::Exact => check.free(),
            NoneFree::Scan => check.slots(|none| matches!(none.call, Call::Acquire(_))),
            NoneFree::Refill => {
                let explained = refills(history);
                let is_explained = |none: &Operation| explained.contains(&(none.thread, none.called));
                check.slots(|none| matches!(none.call, Call::Acquire(_)) && !is_explained(none))
            }
        },
        Property::NoneSubmitted if rules.none_submitted_exact => check.queues(|part| check.pattern(part, false)),
        Property::NoneSubmitted => check.slots(|none| matches!(none.call, Call::Take { .. })),
        Property::Order => match rules.order {
            Order::Any => Verdict::NotApplicable,
            Order::Fifo => check.queues(|part| match check.pattern(part, true) {
                Verdict::Linearizable if searched => {
                    check.search(part, |operations| QueueSpec { operations, in_order: true })
                }
                verdict => verdict,
            }),
            Order::Rotating => check.queues(|part| check.overtaken(part)),
        },
        Property::Whole if !searched => Verdict::NotApplicable,
        Property::Whole => check.whole(),
    }
}

struct Check<'a> {
    history: &'a History,
    property: Property,
    rules: Rules,
    budget: u64,
}

/// Some of a history's operations, and what they are about.
struct Part {
    subject: String,
    indices: Vec<usize>,
    operations: Vec<Operation>,
}

impl Check<'_> {
    fn part(&self, subject: String, wanted: impl Fn(&Operation) -> bool) -> Part {
        let chosen = self.history.operations.iter().enumerate().filter(|(_, operation)| wanted(operation));
        let (indices, operations) = chosen.map(|(index, operation)| (index, *operation)).unzip();
        Part { subject, indices, operations }
    }

    /// Every slot by itself, together with the answers "none" that are of this kind.
    fn slots(&self, none: impl Fn(&Operation) -> bool) -> Verdict {
        first_fault((0..self.history.slots()).map(|slot| {
            let part = self.part(format!("slot {slot}"), |operation| {
                operation.call.slot().map_or_else(|| none(operation), |of| of == slot)
            });
            self.search(&part, SlotSpec)
        }))
    }

    fn free(&self) -> Verdict {
        let part = self.part("free slots".into(), |operation| {
            matches!(operation.call, Call::Acquire(_) | Call::Withdraw { .. } | Call::Complete { .. })
        });
        self.search(&part, |operations| FreeSpec { operations, slots: self.history.slots() })
    }

    /// The submits and takes of each lane, or of the queue where requests are shared.
    fn queues(&self, check: impl Fn(&Part) -> Verdict) -> Verdict {
        if self.history.shared() {
            let is = |call: &Call| matches!(call, Call::Submit { .. } | Call::Take { .. });
            return check(&self.part("queue".into(), |operation| is(&operation.call)));
        }
        first_fault((0..self.history.lanes).map(|of| {
            check(&self.part(format!("lane {of}"), |operation| match operation.call {
                Call::Submit { lane, .. } => lane == Some(of),
                Call::Take { lane, .. } => lane == of,
                _ => false,
            }))
        }))
    }

    fn pattern(&self, part: &Part, in_order: bool) -> Verdict {
        match find_bad_pattern(&part.operations, in_order, self.rules.none_submitted_exact) {
            Some(pattern) => self.fault(part, pattern.why, &pattern.operations, None),
            None => Verdict::Linearizable,
        }
    }

    fn overtaken(&self, part: &Part) -> Verdict {
        match find_overtaken(&part.operations, 2 * self.history.slots_per_lane as usize) {
            Some(pattern) => self.fault(part, pattern.why, &pattern.operations, None),
            None => Verdict::Linearizable,
        }
    }

    fn whole(&self) -> Verdict {
        let part = self.part("circle".into(), |_| true);
        let History { lanes, .. } = *self.history;
        let (slots, rules) = (self.history.slots(), self.rules);
        self.search(&part, |operations| WholeSpec { operations, lanes, slots, rules })
    }

    fn search<'p, S: Specification>(&self, part: &'p Part, specification: impl Fn(&'p [Operation]) -> S) -> Verdict {
        let spans: Vec<_> = part.operations.iter().map(|operation| (operation.called, operation.returned)).collect();
        match search(&specification(&part.operations), &spans, self.budget) {
            Found::Order(_) => Verdict::Linearizable,
            Found::GaveUp => Verdict::GaveUp,
            Found::NoOrder { prefix, stuck } => {
                let Operation { thread, call, .. } = part.operations[stuck];
                let why = format!("'{call}' of {} has no place", self.history.threads[thread]);
                self.fault(part, why, &[stuck], Some((prefix.len(), spans.len())))
            }
        }
    }

    fn fault(&self, part: &Part, why: String, accused: &[usize], explained: Option<(usize, usize)>) -> Verdict {
        let accused = accused.iter().map(|&at| part.indices[at]).collect();
        Verdict::Violation(Fault { property: self.property, subject: part.subject.clone(), why, accused, explained })
    }
}

/// A violation before no answer, and no answer before a pass.
fn first_fault(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    let mut all = Verdict::Linearizable;
    for verdict in verdicts {
        match verdict {
            Verdict::Violation(_) => return verdict,
            Verdict::GaveUp => all = verdict,
            Verdict::Linearizable | Verdict::NotApplicable => {}
        }
    }
    all
}

/// The verdict on each property; those that do not apply are left out.
#[must_use]
pub fn check_all(history: &History, rules: Rules, budget: u64) -> BTreeMap<Property, Verdict> {
    let verdicts = Property::ALL.into_iter().map(|property| (property, check(history, property, rules, budget)));
    verdicts.filter(|(_, verdict)| *verdict != Verdict::NotApplicable).collect()
}
