//! The answer to `slotwork list`: every design with all its claims.

use super::table;
use crate::contender::Contender;
use serde::Serialize;
use slotwork::Operation;
use slotwork_catalog::Entry;
use std::collections::BTreeMap;

/// The widest atomic that any design uses: no design needs a double-width compare-exchange, which some
/// targets lack and some libraries then replace by a lock.
const WIDEST_ATOMIC_BITS: u32 = 64;

/// One design, as `slotwork list --json` shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    design: String,
    submitters: String,
    order: String,
    none_free: String,
    progress: BTreeMap<String, String>,
    lock_free_on_this_target: bool,
    widest_atomic_bits: u32,
    work_conserving: bool,
    allocates: bool,
    max_slots_per_lane: Option<usize>,
    max_lanes: Option<usize>,
    max_clients: Option<usize>,
    bytes_per_slot: usize,
    source: String,
}

/// All designs of `entries`, each with its contender.
#[must_use]
pub fn listing(entries: &[Entry], contenders: &[Contender]) -> Vec<Listed> {
    entries.iter().zip(contenders).map(|(entry, contender)| listed(entry, contender)).collect()
}

fn listed(entry: &Entry, contender: &Contender) -> Listed {
    let claims = &entry.claims;
    let progress = Operation::ALL.map(|operation| (operation.to_string(), claims.progress.of(operation).to_string()));
    Listed {
        design: entry.name.into(),
        submitters: claims.submitters.to_string(),
        order: claims.order.to_string(),
        none_free: claims.none_free.to_string(),
        progress: progress.into(),
        lock_free_on_this_target: claims.progress.lock_free() && cfg!(target_has_atomic = "64"),
        widest_atomic_bits: WIDEST_ATOMIC_BITS,
        work_conserving: claims.work_conserving,
        allocates: claims.allocates,
        max_slots_per_lane: claims.max_slots_per_lane,
        max_lanes: claims.max_lanes,
        max_clients: claims.max_clients,
        bytes_per_slot: contender.slot_bytes,
        source: claims.source.into(),
    }
}

/// The same as tables.
#[must_use]
pub fn listing_table(listing: &[Listed]) -> String {
    let yes_no = |yes: bool| (if yes { "yes" } else { "no" }).to_string();
    let mut claims = table(
        &["design", "submitters", "order in lane", "none free", "any worker", "allocates", "bytes/slot", "limits"],
        6..7,
    );
    let mut progress = table(&["design", "acquire", "submit", "withdraw", "take", "complete", "lock-free here"], 0..0);
    let mut sources = table(&["design", "source"], 0..0);
    for design in listing {
        claims.add_row(vec![
            design.design.clone(),
            design.submitters.clone(),
            design.order.clone(),
            design.none_free.clone(),
            yes_no(design.work_conserving),
            yes_no(design.allocates),
            design.bytes_per_slot.to_string(),
            limits(design),
        ]);
        let mut row = vec![design.design.clone()];
        row.extend(Operation::ALL.map(|operation| design.progress[&operation.to_string()].clone()));
        row.push(yes_no(design.lock_free_on_this_target));
        progress.add_row(row);
        sources.add_row(vec![design.design.clone(), design.source.clone()]);
    }
    format!(
        "{} designs, and what each claims of itself\n{claims}\n\
         none free: exact = there was an instant without a free slot; scan = no single slot was free throughout;\n\
         refill = as scan, or a client that found nothing is told so again while more than 3/4 of the slots are in flight\n\
         any worker: any worker may take any request; bytes/slot: in the pool, with a payload of 16 bytes\n\n\
         Progress of each operation; the widest atomic needed has {WIDEST_ATOMIC_BITS} bits\n{progress}\n\n\
         Where the idea comes from\n{sources}\n",
        listing.len(),
    )
}

/// A design's own limits in words.
fn limits(design: &Listed) -> String {
    let limits = [
        (design.max_slots_per_lane, "slots per lane"),
        (design.max_lanes, "lanes"),
        (design.max_clients.filter(|&clients| clients > 1), "clients"),
    ];
    let words: Vec<String> =
        limits.iter().filter_map(|(limit, of)| limit.map(|limit| format!("{limit} {of}"))).collect();
    if words.is_empty() { "–".into() } else { words.join(", ") }
}
