//! A smaller history that is wrong for the same reason.
//!
//! ```text
//!   journey:  acquire ─ submit ─ take ─ complete      of one slot, from free to free
//! ```
//!
//! Leaving out any operation may make a wrong history of a right one: without its completion, a slot's next
//! acquire would be a second owner. So only this is left out: answers "none", and whole journeys at whose
//! time no answer "none" was under way, for before and after its journey a slot is as if it had not been
//! on it. What is left is a history of the same queue, and each step keeps the violation.

use super::check::{Fault, Property, Verdict, check};
use super::history::{Call, Content, History, Operation};
use super::specification::Rules;
use slotwork::NoneFree;
use std::collections::{BTreeMap, BTreeSet};

/// A history in which nothing more can be left out, and what is wrong with it. None if nothing is wrong.
#[must_use]
pub fn minimise(history: &History, property: Property, rules: Rules, budget: u64) -> Option<(History, Fault)> {
    let fault = |history: &History| match check(history, property, rules, budget) {
        Verdict::Violation(fault) => Some(fault),
        _ => None,
    };
    let mut smallest = (history.clone(), fault(history)?);
    loop {
        let before = smallest.0.operations.len();
        let mut candidates = nones(&smallest.0);
        candidates.extend(journeys(&smallest.0));
        // The later ones first: most of what came after the fault has nothing to do with it.
        for left_out in candidates.into_iter().rev() {
            // What earlier candidates took away is gone; the rest is still there.
            if left_out.iter().any(|operation| !smallest.0.operations.contains(operation)) {
                continue;
            }
            let smaller = without(&smallest.0, &left_out);
            if removable(&smaller, &left_out)
                && !begins_a_row(&smaller, &left_out, rules)
                && let Some(fault) = fault(&smaller)
            {
                smallest = (smaller, fault);
            }
        }
        if smallest.0.operations.len() == before {
            return Some(smallest);
        }
    }
}

fn is_none(operation: &Operation) -> bool {
    operation.call.slot().is_none()
}

fn nones(history: &History) -> Vec<Vec<Operation>> {
    history.operations.iter().filter(|operation| is_none(operation)).map(|&operation| vec![operation]).collect()
}

/// The operations of each journey. One belongs to the journey that its thread or its request says.
fn journeys(history: &History) -> Vec<Vec<Operation>> {
    let mut journeys: Vec<Vec<Operation>> = Vec::new();
    // Per thread and slot, and per request: the journey that goes on.
    let (mut held, mut travelling) = (BTreeMap::new(), BTreeMap::<Content, usize>::new());
    for operation in &history.operations {
        let Some(slot) = operation.call.slot() else { continue };
        let holder = (operation.thread, slot);
        let journey = match operation.call {
            Call::Acquire(_) => None,
            Call::Take { taken, .. } => taken.and_then(|(_, content)| travelling.get(&content).copied()),
            _ => held.get(&holder).copied(),
        };
        let journey = journey.unwrap_or_else(|| {
            journeys.push(Vec::new());
            journeys.len() - 1
        });
        journeys[journey].push(*operation);
        if let Call::Submit { content, .. } = operation.call {
            travelling.insert(content, journey);
        }
        held.insert(holder, journey);
    }
    journeys
}

/// Whether the rest says nothing of the time of what was left out, or what was left out said nothing.
fn removable(rest: &History, left_out: &[Operation]) -> bool {
    if left_out.iter().all(is_none) {
        return true;
    }
    let ended =
        left_out.iter().any(|operation| matches!(operation.call, Call::Withdraw { .. } | Call::Complete { .. }));
    let begin = left_out.iter().map(|operation| operation.called).min().unwrap_or(0);
    let end = left_out.iter().map(|operation| operation.returned).max().filter(|_| ended).unwrap_or(u64::MAX);
    // A slot that never came back must have stayed where it was left.
    let slot = left_out[0].call.slot();
    let stays = ended || !rest.operations.iter().any(|other| other.call.slot() == slot && other.called > begin);
    stays
        && rest.operations.iter().filter(|other| is_none(other)).all(|none| none.returned < begin || end < none.called)
}

/// Whether it is the first of several answers "none" to one client, without which the second would be one that
/// [`NoneFree::Refill`] does not allow.
fn begins_a_row(rest: &History, left_out: &[Operation], rules: Rules) -> bool {
    let acquires = |operation: &&Operation| matches!(operation.call, Call::Acquire(_));
    rules.none_free == NoneFree::Refill
        && left_out.iter().filter(|operation| operation.call == Call::Acquire(None)).any(|none| {
            let mut later = rest.operations.iter().filter(acquires);
            let next = later.find(|other| other.thread == none.thread && other.called > none.called);
            next.is_some_and(is_none)
        })
}

/// The rest. Answers that are left out cannot come back, so they are not asked for.
fn without(history: &History, left_out: &[Operation]) -> History {
    let mut rest = history.clone();
    rest.operations.retain(|operation| !left_out.contains(operation));
    let answers: BTreeSet<Content> = left_out
        .iter()
        .filter_map(|operation| match operation.call {
            Call::Complete { content, .. } => Some(content),
            _ => None,
        })
        .collect();
    for operation in &mut rest.operations {
        if let Call::Acquire(Some((_, content))) = &mut operation.call
            && content.is_some_and(|content| answers.contains(&content))
        {
            *content = None;
        }
    }
    rest
}
