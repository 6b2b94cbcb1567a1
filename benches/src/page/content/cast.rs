//! Who is drawn how: the same looks in every chart of a run.

use crate::page::Key;
use crate::page::chart::{MOST_STYLES, Style};
use crate::record::{Kind, Record};

/// The contenders, best first, with their looks.
pub(super) struct Cast {
    /// Name, kind and looks.
    pub(super) members: Vec<Key>,
    kinds: Vec<Kind>,
}

/// How many of the looks go to peers, if there are so many.
const PEERS: usize = 2;

impl Cast {
    pub(super) fn of(record: &Record) -> Self {
        let mut scored: Vec<(String, Kind, f64)> = Vec::new();
        for row in record.cells.iter().flat_map(|cell| &cell.rows) {
            if row.kind != Kind::Floor && !scored.iter().any(|(name, ..)| *name == row.design) {
                scored.push((row.design.clone(), row.kind, mean_of_best(record, &row.design)));
            }
        }
        scored.sort_by(|a, b| b.2.total_cmp(&a.2));
        let peers = scored.iter().filter(|(_, kind, _)| *kind == Kind::Peer).count().min(PEERS);
        let (mut designs_left, mut peers_left) = (MOST_STYLES - peers, peers);
        let mut next = 0;
        let members = scored.iter().map(|(name, kind, _)| {
            let left = if *kind == Kind::Peer { &mut peers_left } else { &mut designs_left };
            let style = if *left > 0 {
                *left -= 1;
                next += 1;
                Style::numbered(next - 1)
            } else {
                Style::GREY
            };
            Key { name: name.clone(), style, hollow: *kind == Kind::Peer }
        });
        Self { members: members.collect(), kinds: scored.iter().map(|(_, kind, _)| *kind).collect() }
    }

    pub(super) fn kind(&self, name: &str) -> Kind {
        let at = self.members.iter().position(|member| member.name == name);
        at.map_or(Kind::Design, |at| self.kinds[at])
    }

    /// The legend of a chart that has these; and what it does not name.
    pub(super) fn legend(&self, drawn: &[String]) -> (Vec<Key>, Option<String>) {
        let drawn: Vec<&Key> = self.members.iter().filter(|member| drawn.contains(&member.name)).collect();
        let grey = drawn.iter().filter(|member| member.style.is_grey()).count();
        let named = drawn.into_iter().filter(|member| !member.style.is_grey());
        let named =
            named.map(|member| Key { name: super::called(&member.name, self.kind(&member.name)), ..member.clone() });
        let others = (grey > 0).then(|| format!("{grey} other{}, in the table", if grey == 1 { "" } else { "s" }));
        (named.collect(), others)
    }
}

/// Geometric mean of its share of the best over the cells where it has a figure; void ones come last.
fn mean_of_best(record: &Record, name: &str) -> f64 {
    let rows =
        record.cells.iter().flat_map(|cell| &cell.rows).filter(|row| row.design == name && row.failure.is_none());
    let logs: Vec<f64> = rows.filter_map(|row| row.of_best).filter(|share| *share > 0.0).map(f64::ln).collect();
    if logs.is_empty() { f64::NEG_INFINITY } else { logs.iter().sum::<f64>() / logs.len() as f64 }
}
