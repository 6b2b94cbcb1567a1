//! Designs beside peers: in each cell the best of either kind, and which of the two is ahead.
//!
//! ```text
//!   cell 2×2/16   best design 13.3  ─┐  ratio in each round ─▶ geometric mean, 95 % interval ─▶ ahead, behind, or open
//!                 best peer   10.3  ─┘
//! ```
//!
//! The best is the one with the highest median. A best of many is flattered by chance, and the more so the more there are: of
//! designs and peers, whichever are more.

use crate::record::{CellRecord, Kind, Row};
use crate::statistics::{Estimate, student};
use std::fmt;

/// Who is ahead in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The best design, clearly.
    Ahead,
    /// The best peer, clearly.
    Behind,
    /// The interval contains 1, or there is none.
    Open,
}

impl fmt::Display for Standing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Ahead => "ahead",
            Self::Behind => "behind",
            Self::Open => "open",
        })
    }
}

/// The best design and the best peer of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// The cell's name.
    pub cell: String,
    /// What it has in common with others: how threads wait, and the work.
    pub group: String,
    /// The best design, and its median requests per second.
    pub design: (String, f64),
    /// The best peer, likewise.
    pub peer: (String, f64),
    /// Design over peer: geometric mean over the rounds, from which the interval is too.
    pub ratio: Estimate,
}

impl Beside {
    /// The interval of the ratio, its ends shown as `figure` does; a dash where there is none.
    #[must_use]
    pub fn interval(&self, figure: impl Fn(f64) -> String) -> String {
        let Estimate { low, high, .. } = self.ratio;
        if high.is_finite() { format!("{} – {}", figure(low), figure(high)) } else { "–".into() }
    }

    /// Who is ahead.
    #[must_use]
    pub fn standing(&self) -> Standing {
        match self.ratio {
            Estimate { low, .. } if low > 1.0 => Standing::Ahead,
            Estimate { high, .. } if high < 1.0 => Standing::Behind,
            _ => Standing::Open,
        }
    }
}

/// The cells that have a design and a peer with figures, in their order.
#[must_use]
pub fn beside(cells: &[CellRecord]) -> Vec<Beside> {
    cells.iter().filter_map(of_cell).collect()
}

fn of_cell(cell: &CellRecord) -> Option<Beside> {
    let best = |kind: Kind| {
        let valid = cell.rows.iter().filter(move |row| row.kind == kind && row.failure.is_none());
        let figures =
            valid.filter_map(|row| Some((row, row.median.filter(|median| median.is_finite() && *median > 0.0)?)));
        figures.max_by(|(_, a), (_, b)| a.total_cmp(b))
    };
    let ((design, own), (peer, other)) = (best(Kind::Design)?, best(Kind::Peer)?);
    let work = match cell.handler_nanoseconds {
        0 => "empty handler".into(),
        nanoseconds => format!("{nanoseconds} ns"),
    };
    Some(Beside {
        cell: cell.name(),
        group: format!("{}, {work}", cell.waiting),
        design: (design.design.clone(), own),
        peer: (peer.design.clone(), other),
        ratio: ratio(design, peer)?,
    })
}

/// Of what the two did in the same rounds.
fn ratio(design: &Row, peer: &Row) -> Option<Estimate> {
    let of_round = |round: usize| peer.samples.iter().find(|sample| sample.round == round);
    let logs = design.samples.iter().filter_map(|own| Some((own.throughput / of_round(own.round)?.throughput).ln()));
    let logs: Vec<f64> = logs.filter(|log| log.is_finite()).collect();
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    let doubt = match logs.len() {
        0 => return None,
        1 => f64::INFINITY,
        rounds => student(rounds - 1) * (squares / (count - 1.0) / count).sqrt(),
    };
    Some(Estimate { value: mean.exp(), low: (mean - doubt).exp(), high: (mean + doubt).exp() })
}

/// Several cells at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Together {
    /// What they have in common.
    pub group: String,
    /// How many.
    pub cells: usize,
    /// Geometric mean of their ratios.
    pub mean: f64,
    /// The least of them.
    pub least: f64,
    /// Cells in which the best design is clearly ahead.
    pub ahead: usize,
    /// Cells in which the best peer is clearly ahead.
    pub behind: usize,
}

/// The names of the columns in which lines of [`Together`] are shown.
pub const TOGETHER: [&str; 6] =
    ["cells", "number", "best design / best peer", "least", "design clearly ahead", "peer clearly ahead"];

/// By group, in the order of their first cells; then, if there are several, all.
#[must_use]
pub fn together(all: &[Beside]) -> Vec<Together> {
    let mut groups: Vec<&str> = Vec::new();
    for one in all {
        if !groups.contains(&one.group.as_str()) {
            groups.push(&one.group);
        }
    }
    let of = |group: &str, members: &[&Beside]| {
        let count = |standing| members.iter().filter(|one| one.standing() == standing).count();
        Together {
            group: group.into(),
            cells: members.len(),
            mean: (members.iter().map(|one| one.ratio.value.ln()).sum::<f64>() / members.len() as f64).exp(),
            least: members.iter().map(|one| one.ratio.value).fold(f64::INFINITY, f64::min),
            ahead: count(Standing::Ahead),
            behind: count(Standing::Behind),
        }
    };
    let of_group = |group: &&str| of(group, &all.iter().filter(|one| one.group == **group).collect::<Vec<_>>());
    let mut lines: Vec<Together> = groups.iter().map(of_group).collect();
    if groups.len() > 1 {
        lines.push(of("all", &all.iter().collect::<Vec<_>>()));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Sample;
    use crate::verdict::summarise;
    use crate::waiting::Waiting;

    fn row(name: &str, kind: Kind, throughputs: &[f64]) -> Row {
        let sample = |(round, &throughput)| Sample { round, throughput, ..Sample::default() };
        Row {
            design: name.into(),
            kind,
            samples: throughputs.iter().enumerate().map(sample).collect(),
            ..Row::default()
        }
    }

    fn cell(slots_per_lane: usize, handler_nanoseconds: u64, rows: Vec<Row>) -> CellRecord {
        let mut cells = [CellRecord {
            clients: 1,
            workers: 1,
            slots_per_lane,
            waiting: Waiting::Yield,
            handler_nanoseconds,
            categories: Vec::new(),
            window_milliseconds: 250,
            rows,
        }];
        summarise(&mut cells);
        let [cell] = cells;
        cell
    }

    #[test]
    fn the_best_of_either_kind_is_compared_round_by_round() {
        let rows = vec![
            row("slow", Kind::Design, &[1.0, 1.0, 1.0]),
            row("fast", Kind::Design, &[8.0, 2.0, 4.0]),
            row("peer", Kind::Peer, &[4.0, 1.0, 2.0]),
            row("(floor)", Kind::Floor, &[99.0; 3]),
        ];
        let all = beside(&[cell(1, 0, rows)]);
        assert_eq!((all[0].design.clone(), all[0].peer.clone()), (("fast".into(), 4.0), ("peer".into(), 2.0)));
        // The machine was slow in the second round, for both.
        assert!((all[0].ratio.value - 2.0).abs() < 1e-9 && (all[0].ratio.low - 2.0).abs() < 1e-9);
        assert_eq!(all[0].standing(), Standing::Ahead);
    }

    #[test]
    fn within_the_noise_nobody_is_ahead_and_from_one_round_nothing_is_known() {
        let noisy = cell(1, 0, vec![row("a", Kind::Design, &[1.0, 1.3, 0.9]), row("b", Kind::Peer, &[1.0; 3])]);
        let once = cell(4, 0, vec![row("a", Kind::Design, &[9.0]), row("b", Kind::Peer, &[1.0])]);
        let behind = cell(4, 100, vec![row("a", Kind::Design, &[1.0, 1.01]), row("b", Kind::Peer, &[2.0, 2.0])]);
        let failed = Row { failure: Some("planted".into()), ..row("c", Kind::Design, &[9.0; 2]) };
        let alone = cell(16, 0, vec![failed, row("b", Kind::Peer, &[2.0; 2])]);
        let all = beside(&[noisy, once, behind, alone]);
        let standings: Vec<_> = all.iter().map(Beside::standing).collect();
        assert_eq!(standings, [Standing::Open, Standing::Open, Standing::Behind]);
        let lines = together(&all);
        let counts: Vec<_> =
            lines.iter().map(|line| (line.group.as_str(), line.cells, line.ahead, line.behind)).collect();
        assert_eq!(counts, [("yield, empty handler", 2, 0, 0), ("yield, 100 ns", 1, 0, 1), ("all", 3, 0, 1)]);
        assert!(lines[2].least < 0.51);
    }
}
