//! The verdicts: what each call turned out to be, beside what the design claims.

use super::ledger::Call;
use super::periodic::Periodic;
use super::suspend::{Place, Suspensions};
use crate::evidence::{Check, Evidence, Extent, Outcome};
use slotwork::{Claims, Progress};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What the adversaries found out about one design.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// The design.
    pub design: &'static str,
    /// What it says of itself.
    pub claims: Claims,
    /// The longest period that was played.
    pub period: u32,
    /// Whether it was looked at thoroughly.
    pub thorough: bool,
    /// What suspending threads showed.
    pub suspensions: Suspensions,
    /// What periodic schedules showed.
    pub periodic: Periodic,
    /// What suspending threads did to the circle.
    pub circle: Suspensions,
    /// Time of the three, ms.
    pub milliseconds: [u64; 3],
}

const SUSPENDED: &str = "suspended threads";
const PERIODIC: &str = "periodic schedules";
const BLIND_SUSPENDED: &str = "other schedules before the suspension than were drawn; a collector's inside; orderings";
const BLIND_PERIODIC: &str = "what needs three threads or a longer period; a collector's inside; orderings";

/// Requests that survivors have to complete at the least, of a design that does not block: all slots but one may
/// end up waiting for the suspended thread, each after a request that went round.
const FEWEST_ITEMS: u32 = 3;

impl Matrix {
    /// The calls that were made and have steps that others can see, and the five operations anyway.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        let shown = |call: &Call| call.operation().is_some() || self.most(*call) > 0;
        Call::ALL.into_iter().filter(shown).collect()
    }

    /// The most steps of its own that a call took.
    #[must_use]
    pub fn most(&self, call: Call) -> u64 {
        self.suspensions.most[call].max(self.periodic.most[call])
    }

    /// What a call turned out to be. "Wait-free" and "lock-free" say that nothing worse was seen.
    #[must_use]
    pub fn verdict(&self, call: Call) -> Progress {
        let blocked = self.suspensions.blocks.keys().chain(self.suspensions.among_all.keys());
        if blocked.into_iter().any(|block| block.blocked == call) {
            Progress::Blocking
        } else if self.periodic.livelocked.contains_key(&call) {
            Progress::ObstructionFree
        } else if self.periodic.starved.contains_key(&call) {
            Progress::LockFree
        } else {
            Progress::WaitFree
        }
    }

    /// What is expected of a call. Making and retiring clients have no claim of their own: where acquiring does
    /// not block, they may not.
    #[must_use]
    pub fn claim(&self, call: Call) -> Progress {
        let progress = &self.claims.progress;
        let own = call.operation().map(|operation| progress.of(operation));
        own.unwrap_or(progress.acquire.max(Progress::LockFree))
    }

    /// Whether a claim holds. A claim of weakness has to be shown: it is false when nothing that weak was
    /// seen. Only "lock-free" may go unshown, for what starves a call may need more than two threads.
    #[must_use]
    pub fn agrees(&self, call: Call) -> bool {
        let (claim, verdict) = (self.claim(call), self.verdict(call));
        verdict == claim
            || call.operation().is_none() && verdict < claim
            || claim == Progress::LockFree && verdict == Progress::WaitFree
    }

    /// Where threads were suspended that held a call up: each place, and the calls they were in.
    #[must_use]
    pub fn held_up_at(&self, call: Call) -> BTreeMap<Place, BTreeSet<Call>> {
        let Suspensions { blocks, among_all, .. } = &self.suspensions;
        let of = |block: &&super::suspend::Block| block.blocked == call;
        let mut places: BTreeMap<Place, BTreeSet<Call>> = BTreeMap::new();
        let mut alone = blocks.keys().filter(of).peekable();
        if alone.peek().is_some() {
            alone.for_each(|block| _ = places.entry(block.place).or_default().insert(block.suspended));
        } else {
            let all = among_all.keys().filter(of);
            all.for_each(|block| _ = places.entry(block.place).or_default().insert(block.suspended));
        }
        places
    }

    /// The calls that a thread suspended in this one holds up.
    #[must_use]
    pub fn holds_up(&self, call: Call) -> BTreeSet<Call> {
        let blocks = self.suspensions.blocks.keys().filter(|block| block.suspended == call);
        blocks.map(|block| block.blocked).collect()
    }

    /// The places where a thread was suspended in this call, and how often.
    #[must_use]
    pub fn points(&self, call: Call) -> Vec<(Place, u64)> {
        let points = self.suspensions.points.iter().filter(|((in_call, _), _)| *in_call == call);
        points.map(|(&(_, place), &count)| (place, count)).collect()
    }

    /// A verdict in words.
    #[must_use]
    pub fn describe(&self, call: Call) -> String {
        match self.verdict(call) {
            Progress::Blocking => {
                let places = self.held_up_at(call);
                let sides: BTreeSet<_> = places.values().flatten().map(|call| call.side()).collect();
                let places: Vec<_> = places.keys().map(ToString::to_string).collect();
                let sides: Vec<_> = sides.into_iter().collect();
                format!("{call} blocks: held up by a {} suspended {}", sides.join(" or "), places.join(", "))
            }
            Progress::ObstructionFree => {
                let (schedule, _) = &self.periodic.livelocked[&call];
                format!("{call} is obstruction-free only: nobody finishes anything in {schedule}")
            }
            Progress::LockFree => {
                let (schedule, _) = &self.periodic.starved[&call];
                format!("{call} is lock-free and not wait-free: starved in {schedule}")
            }
            Progress::WaitFree if self.claim(call) == Progress::WaitFree => {
                format!("{call} is wait-free: at most {} steps", self.most(call))
            }
            Progress::WaitFree => format!("{call} is lock-free: nothing starved it, at most {} steps", self.most(call)),
        }
    }

    /// Two rows for each call.
    #[must_use]
    pub fn evidence(&self) -> Vec<Evidence> {
        let calls = self.calls().into_iter().flat_map(|call| [self.row(call, SUSPENDED), self.row(call, PERIODIC)]);
        calls.chain(["client", "worker"].into_iter().filter_map(|side| self.circle_row(side))).collect()
    }

    /// The call in which a suspended client, or worker, lets the others complete the fewest requests, and how many these
    /// are. None where there is no other client to go on.
    #[must_use]
    pub fn fewest_items(&self, side: &str) -> Option<(Call, u32)> {
        let items = self.circle.items.iter().map(|(&call, &items)| (call, items));
        items.filter(|(call, _)| call.side() == side).min_by_key(|&(_, items)| items)
    }

    /// A suspended client delays nobody. A suspended worker keeps what was submitted to it alone, which may be every
    /// slot there is: unless any worker takes any request, how many others still complete is told, and not judged.
    fn circle_row(&self, side: &str) -> Option<Evidence> {
        let (call, fewest) = self.fewest_items(side)?;
        let judged = side == "client" || self.claims.work_conserving;
        let outcome = if !self.claims.progress.lock_free() {
            Outcome::NotApplicable { why: "the design blocks: a suspended thread may stop the circle".into() }
        } else if fewest >= FEWEST_ITEMS || !judged {
            Outcome::Passed
        } else {
            Outcome::Failed {
                why: format!("a thread suspended in {call} lets the others complete {fewest} requests, and no more"),
                replay: self.replay(),
            }
        };
        let of_side = self.circle.items.iter().filter(|(call, _)| call.side() == side);
        let witnesses = of_side.map(|(&suspended, &items)| {
            let points = self.circle.points.iter().filter(|((call, _), _)| *call == suspended);
            let name = format!("beside one suspended in {suspended}: {}", requests(items));
            (name, points.map(|(_, count)| count).sum())
        });
        let witnesses: Vec<(String, u64)> = witnesses.collect();
        Some(Evidence {
            design: self.design.into(),
            property: match judged {
                true => format!("the circle goes on beside a suspended {side}"),
                false => format!("what is submitted to a suspended {side} waits; others complete {}", requests(fewest)),
            },
            check: Check::Progress,
            subject: "circle".into(),
            view: SUSPENDED.into(),
            extent: Extent::Sampled,
            count: witnesses.iter().map(|(_, count)| count).sum(),
            unit: "executions".into(),
            witnesses,
            milliseconds: self.milliseconds[2] / 2,
            blind: BLIND_SUSPENDED.into(),
            outcome,
        })
    }

    /// Everything here is deterministic: the same again is the same.
    fn replay(&self) -> String {
        format!("verify --design {} {}", self.design, if self.thorough { "--full" } else { "--quick" })
    }

    fn row(&self, call: Call, view: &str) -> Evidence {
        let (claim, verdict, agrees) = (self.claim(call), self.verdict(call), self.agrees(call));
        let suspended = view == SUSPENDED;
        let outcome = match (agrees, suspended, claim) {
            (true, false, Progress::Blocking) => Outcome::NotApplicable {
                why: format!("{call} blocks: that nobody is suspended is no adversary for it"),
            },
            (true, ..) => Outcome::Passed,
            // The row of the adversary that refutes the claim fails; the other one stands.
            (false, ..) if suspended == (verdict.max(claim) == Progress::Blocking) => {
                Outcome::Failed { why: format!("claimed {claim}, but {}", self.describe(call)), replay: self.replay() }
            }
            (false, ..) => Outcome::Passed,
        };
        let property = match (claim, &outcome) {
            (Progress::Blocking, Outcome::Passed) => self.describe(call),
            _ => format!("{call} is {claim}"),
        };
        let rows = self.calls().len() as u64;
        let witnesses = if suspended { self.suspension_witnesses(call) } else { self.periodic_witnesses(call) };
        Evidence {
            design: self.design.into(),
            property,
            check: Check::Progress,
            subject: call.name().into(),
            view: view.into(),
            extent: if suspended { Extent::Sampled } else { Extent::Bounded(self.period.into()) },
            count: if suspended { self.suspensions.looked[call] } else { self.periodic.looked[call] },
            unit: if suspended { "executions" } else { "schedules" }.into(),
            witnesses,
            milliseconds: self.milliseconds[usize::from(!suspended)] / rows,
            blind: if suspended { BLIND_SUSPENDED } else { BLIND_PERIODIC }.into(),
            outcome,
        }
    }

    fn suspension_witnesses(&self, call: Call) -> Vec<(String, u64)> {
        let Suspensions { finished, blocks, .. } = &self.suspensions;
        let points = self.points(call).into_iter().map(|(place, count)| (format!("suspended {place}"), count));
        let mut witnesses: Vec<_> = points.collect();
        let blocked = blocks.iter().filter(|(block, _)| block.blocked == call).map(|(_, count)| count).sum();
        witnesses.push(match self.verdict(call) {
            Progress::Blocking => ("held up by one suspended thread".into(), blocked),
            _ => ("finished beside suspended threads".into(), finished[call]),
        });
        witnesses
    }

    fn periodic_witnesses(&self, call: Call) -> Vec<(String, u64)> {
        let Periodic { finished, starved, livelocked, .. } = &self.periodic;
        let mut witnesses = Vec::new();
        if finished[call] > 0 && !starved.contains_key(&call) {
            witnesses.push((format!("finished, in at most {} steps", self.periodic.most[call]), finished[call]));
        }
        for (word, schedules) in [("starved", starved), ("starved with the other thread", livelocked)] {
            if let Some((schedule, count)) = schedules.get(&call) {
                witnesses.push((format!("{word}, first in {schedule}"), *count));
            }
        }
        witnesses
    }
}

/// How many requests others complete, in words.
fn requests(items: u32) -> String {
    match items {
        super::ENOUGH_ITEMS => "requests without end".into(),
        few => format!("at least {few} requests"),
    }
}

impl fmt::Display for Matrix {
    /// A table: per call, claim and verdict, where it is held up, and whom it holds up.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { suspensions, periodic, period, .. } = self;
        writeln!(
            formatter,
            "progress of {}: {} executions with suspended threads, {} periodic schedules to period {period}",
            self.design, suspensions.executions, periodic.schedules
        )?;
        let head = ["call", "claim", "steps", "suspended at", "which holds up", "beside it go", "what was seen"];
        let mut rows = vec![head.map(String::from)];
        let list = |texts: Vec<String>| if texts.is_empty() { "nobody".into() } else { texts.join(", ") };
        for call in self.calls() {
            let sides = self.holds_up(call).into_iter().map(|held_up| format!("{}'s {held_up}", held_up.side()));
            let places = self.points(call).len();
            rows.push([
                call.to_string(),
                call.operation().map_or_else(|| "—".into(), |_| self.claim(call).to_string()),
                if self.periodic.starved.contains_key(&call) {
                    "no bound".into()
                } else {
                    format!("≤ {}", self.most(call))
                },
                format!("{places} places"),
                list(sides.collect()),
                self.circle.items.get(&call).map_or_else(|| "—".into(), |&items| requests(items)),
                format!("{}{}", if self.agrees(call) { "" } else { "NOT AS CLAIMED: " }, self.describe(call)),
            ]);
        }
        let widths: [usize; 7] =
            std::array::from_fn(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default());
        for row in rows {
            let cells: Vec<_> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
            writeln!(formatter, "  {}", cells.join("   ").trim_end())?;
        }
        Ok(())
    }
}
