//! Designs beside peers: by how threads wait and what they work, then each cell in which a peer is ahead.

use super::table;
use super::tables::short;
use crate::beside::{Beside, TOGETHER, beside, together};
use crate::record::Record;
use std::fmt::Write;

/// Empty where no peer took part.
pub(super) fn beside_peers(record: &Record) -> String {
    let all = beside(&record.cells);
    let mut text = String::new();
    if all.is_empty() {
        return text;
    }
    let mut groups = table(&TOGETHER, 1..6);
    for line in together(&all) {
        groups.add_row([
            line.group,
            line.cells.to_string(),
            short(line.mean),
            short(line.least),
            line.ahead.to_string(),
            line.behind.to_string(),
        ]);
    }
    let _ = writeln!(text, "\nBeside peers: in each cell the best design over the best peer\n{groups}");
    let behind: Vec<&Beside> = all.iter().filter(|one| one.ratio.value < 1.0).collect();
    if behind.is_empty() {
        let _ = writeln!(text, "in no cell is a peer ahead");
        return text;
    }
    let mut cells =
        table(&["cell", "best design", "Mreq/s", "best peer", "Mreq/s", "ratio", "95 % interval", ""], 0..0);
    for one in behind {
        let Beside { cell, design, peer, ratio, .. } = one;
        cells.add_row([
            cell.clone(),
            design.0.clone(),
            short(design.1 / 1e6),
            peer.0.clone(),
            short(peer.1 / 1e6),
            short(ratio.value),
            one.interval(short),
            one.standing().to_string(),
        ]);
    }
    let _ = writeln!(text, "\nCells in which a peer is ahead\n{cells}");
    text
}
