//! Designs beside peers, cell by cell.

use super::Part;
use crate::beside::{TOGETHER, beside, together};
use crate::page::{Block, Sheet};

pub(super) fn blocks(part: &Part<'_>) -> Vec<Block> {
    let all = beside(&part.run.record.cells);
    if all.is_empty() {
        return vec![Block::Words("No peer took part; slotwork rank --peers some lets five of them.".into())];
    }
    let figure = |value: f64| format!("{value:.2}");
    let mut groups =
        Sheet::new(&format!("{}beside-groups", part.prefix), "By how threads wait and what they work", TOGETHER);
    for line in together(&all) {
        let [ahead, behind] = [line.ahead, line.behind].map(|count| count.to_string());
        groups.push([line.group, line.cells.to_string(), figure(line.mean), figure(line.least), ahead, behind]);
    }
    let header =
        ["cell", "best design", "its Mreq/s", "best peer", "its Mreq/s", "ratio", "95 % interval", "the design is"];
    let mut cells =
        Sheet::new(&format!("{}beside", part.prefix), "The best design and the best peer of each cell", header);
    for one in &all {
        cells.push([
            one.cell.clone(),
            one.design.0.clone(),
            figure(one.design.1 / 1e6),
            one.peer.0.clone(),
            figure(one.peer.1 / 1e6),
            figure(one.ratio.value),
            one.interval(figure),
            one.standing().to_string(),
        ]);
    }
    let words = "The best of many is flattered by chance, and there may be more peers than designs. Open: the interval contains 1, \
                 or there was one round.";
    vec![Block::Words(words.into()), Block::Table(groups), Block::Table(cells)]
}
