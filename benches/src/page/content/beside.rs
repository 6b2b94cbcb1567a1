//! Designs beside peers, cell by cell.

use super::Part;
use crate::beside::{beside, together};
use crate::page::{Block, Sheet};

pub(super) fn blocks(part: &Part<'_>) -> Vec<Block> {
    let all = beside(&part.run.record.cells);
    if all.is_empty() {
        return vec![Block::Words("No peer took part; slotwork rank --peers some lets five of them.".into())];
    }
    let figure = |value: f64| format!("{value:.2}");
    let header = ["cells", "number", "best design / best peer", "least", "design clearly ahead", "peer clearly ahead"];
    let mut groups =
        Sheet::new(&format!("{}beside-groups", part.prefix), "By how threads wait and what they work", header);
    for line in together(&all) {
        let counts = [line.ahead, line.behind].map(|count| count.to_string());
        let [ahead, behind] = counts;
        groups.push([line.group, line.cells.to_string(), figure(line.mean), figure(line.least), ahead, behind]);
    }
    let header =
        ["cell", "best design", "its Mreq/s", "best peer", "its Mreq/s", "ratio", "95 % interval", "the design is"];
    let mut cells =
        Sheet::new(&format!("{}beside", part.prefix), "The best design and the best peer of each cell", header);
    for one in &all {
        let ratio = one.ratio;
        let ends =
            if ratio.high.is_finite() { format!("{:.2} – {:.2}", ratio.low, ratio.high) } else { "–".into() };
        cells.push([
            one.cell.clone(),
            one.design.0.clone(),
            figure(one.design.1 / 1e6),
            one.peer.0.clone(),
            figure(one.peer.1 / 1e6),
            figure(ratio.value),
            ends,
            one.standing().to_string(),
        ]);
    }
    let words = "The best of many is flattered by chance, and there may be more peers than designs. Open: the interval contains 1, \
                 or there was one round.";
    vec![Block::Words(words.into()), Block::Table(groups), Block::Table(cells)]
}
