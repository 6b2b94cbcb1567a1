//! Which rows establish a design's claims. A claim that nothing establishes keeps its card from being green.

use crate::evidence::{Check, Evidence, Outcome};
use crate::inspection::{ALLOCATIONS, LIMITS};
use slotwork::{NoneFree, Operation, Order, Progress, Submitters};
use slotwork_catalog::Entry;

/// A claim, and the rows that stand for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The claim, in words.
    pub text: String,
    /// Each of these kinds must have a row with this property that passed; one that begins so will do.
    pub needs: Vec<(Check, String)>,
}

impl Claim {
    fn by(text: impl Into<String>, needs: &[(Check, &str)]) -> Self {
        let needs = needs.iter().map(|&(check, property)| (check, property.into())).collect();
        Self { text: text.into(), needs }
    }

    /// Whether these rows establish it.
    pub fn is_established<'a>(&self, rows: impl IntoIterator<Item = &'a Evidence>) -> bool {
        let rows: Vec<&Evidence> = rows.into_iter().collect();
        let passed = |row: &&&Evidence| row.outcome == Outcome::Passed && row.verdict().is_ok();
        self.needs.iter().all(|(check, property)| {
            rows.iter().filter(passed).any(|row| row.check == *check && row.property.starts_with(property.as_str()))
        })
    }
}

/// The claims of a design.
#[must_use]
pub fn claims_of(entry: &Entry) -> Vec<Claim> {
    let claims = &entry.claims;
    let mut all = vec![
        Claim::by("a slot has one owner", &[(Check::Model, "a slot has one owner"), (Check::History, "one owner")]),
        Claim::by("the whole circle is linearizable", &[(Check::History, "the whole circle")]),
        Claim::by("a request is handled once", &[(Check::Sampled, "a request is handled once")]),
        Claim::by("no slot is lost", &[(Check::Model, "no slot is lost")]),
    ];
    if claims.submitters == Submitters::One {
        // These three have models for two clients only.
        all.retain(|claim| claim.text != "a slot has one owner" && claim.text != "no slot is lost");
        all.push(Claim::by("a slot has one owner", &[(Check::History, "one owner")]));
        // The compiler keeps it where the design is known; where it is not, the queue itself does.
        all.push(Claim::by("one submitter", &[(Check::Inspection, LIMITS)]));
    } else {
        all.push(Claim::by("many submitters", &[(Check::Model, "many submitters")]));
    }
    match claims.order {
        Order::Fifo => all.push(Claim::by(
            "first in, first out per lane",
            &[(Check::Model, "order per lane"), (Check::History, "first submitted, first taken")],
        )),
        Order::Rotating => all.push(Claim::by(
            "overtaken fewer than 2 × slots per lane times",
            &[(Check::History, "overtaken fewer than")],
        )),
        Order::Any => {}
    }
    match claims.none_free {
        NoneFree::Exact if claims.submitters == Submitters::Many => all.push(Claim::by(
            "none free is exact",
            &[(Check::Model, "none free is exact"), (Check::History, "none free")],
        )),
        NoneFree::Refill => all.push(Claim::by(
            "a slot that is free all the time is found, but for refills",
            &[(Check::History, "none free")],
        )),
        _ => all.push(Claim::by("a slot that is free all the time is found", &[(Check::History, "none free")])),
    }
    for operation in Operation::ALL {
        let name = operation.to_string();
        let text = match claims.progress.of(operation) {
            Progress::Blocking => format!("{name} blocks"),
            Progress::ObstructionFree => format!("{name} is obstruction-free only"),
            Progress::LockFree => format!("{name} is lock-free"),
            Progress::WaitFree => format!("{name} is wait-free"),
        };
        // The row says what was found; that it passes says that it agrees with the claim.
        let needs = vec![(Check::Progress, format!("{name} "))];
        all.push(Claim { text, needs });
    }
    if claims.work_conserving {
        all.push(Claim::by(
            "no worker idles beside a queued request",
            &[(Check::Model, "no worker idles beside a queued request")],
        ));
    }
    if !claims.allocates {
        all.push(Claim::by("allocates nothing once built", &[(Check::Inspection, ALLOCATIONS)]));
    }
    if claims.max_lanes.is_some() || claims.max_slots_per_lane.is_some() || claims.max_clients.is_some() {
        all.push(Claim::by(LIMITS, &[(Check::Inspection, LIMITS)]));
    }
    all
}
