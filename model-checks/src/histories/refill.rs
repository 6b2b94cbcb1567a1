//! Answers "none free" that a count explains: the client found nothing before, and nearly all slots were in flight.
//!
//! ```text
//!   submit called ├────────── in flight ──────────┤ complete returned      of each slot, as long as it can have been
//!                        acquire ├────┤ none                              those that overlap are counted
//! ```

use super::history::{Call, History, Operation};
use slotwork::NoneFree;
use std::collections::BTreeSet;

/// The operations that [`NoneFree::Refill`] explains by its count: thread and time of each.
#[must_use]
pub fn refills(history: &History) -> BTreeSet<(usize, u64)> {
    let flights = flights(history);
    let slots = history.slots() as usize;
    let mut found_nothing = BTreeSet::new();
    let mut explained = BTreeSet::new();
    for operation in &history.operations {
        let Call::Acquire(found) = operation.call else { continue };
        if found.is_some() {
            found_nothing.remove(&operation.thread);
            continue;
        }
        // The first answer "none" of a row is as any design's.
        if !found_nothing.insert(operation.thread) {
            let beside = |&&(_, from, to): &&(u32, u64, u64)| from < operation.returned && operation.called < to;
            let in_flight: BTreeSet<u32> = flights.iter().filter(beside).map(|&(slot, ..)| slot).collect();
            if NoneFree::Refill.refills(in_flight.len(), slots) {
                explained.insert((operation.thread, operation.called));
            }
        }
    }
    explained
}

/// Whether some client was told to wait for more although a slot was free all the time of the call.
#[must_use]
pub fn was_refused(history: &History) -> bool {
    let explained = refills(history);
    let mut refills =
        history.operations.iter().filter(|operation| explained.contains(&(operation.thread, operation.called)));
    refills.any(|none| (0..history.slots()).any(|slot| is_free_beside(history, slot, none)))
}

/// Whether a slot was free during a whole call.
fn is_free_beside(history: &History, slot: u32, none: &Operation) -> bool {
    let mut of_slot = history.operations.iter().filter(|operation| operation.call.slot() == Some(slot));
    let last = of_slot.rfind(|operation| operation.called < none.returned);
    last.is_none_or(|last| {
        matches!(last.call, Call::Withdraw { .. } | Call::Complete { .. }) && last.returned < none.called
    })
}

/// Each slot, from the call of a submit to the return of its completion.
fn flights(history: &History) -> Vec<(u32, u64, u64)> {
    let end = |answer| {
        let is_it =
            |operation: &&Operation| matches!(operation.call, Call::Complete { content, .. } if content == answer);
        history.operations.iter().find(is_it).map_or(u64::MAX, |operation| operation.returned)
    };
    let flight = |operation: &Operation| match operation.call {
        Call::Submit { slot, content, .. } => Some((slot, operation.called, end(content.answered()))),
        _ => None,
    };
    history.operations.iter().filter_map(flight).collect()
}
