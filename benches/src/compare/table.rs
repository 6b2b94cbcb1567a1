//! The answer of `slotwork compare`, as tables.

use super::{CategoryComparison, Comparison};
use crate::record::Kind;
use crate::report::table;
use crate::statistics::Estimate;
use std::fmt::Write;

/// All of it.
#[must_use]
pub fn comparison_tables(comparison: &Comparison) -> String {
    let mut text = String::new();
    for machine in &comparison.machines {
        let simulated = if machine.simulated { "simulated; " } else { "" };
        let _ = writeln!(
            text,
            "{}: {simulated}{} rounds, {}; {}",
            machine.name, machine.rounds, machine.started, machine.machine
        );
    }
    for remark in &comparison.remarks {
        let _ = writeln!(text, "note: {remark}");
    }
    for category in &comparison.categories {
        let _ = write!(text, "\n{}", category_table(comparison, category));
    }
    let _ = write!(text, "\n{}", cell_table(comparison));
    text
}

fn score(score: Option<Estimate>) -> String {
    score.map_or("–".into(), |score| format!("{:.3} ({:.3} – {:.3})", score.value, score.low, score.high))
}

fn rank(rank: Option<usize>) -> String {
    rank.map_or("–".into(), |rank| rank.to_string())
}

fn category_table(comparison: &Comparison, category: &CategoryComparison) -> String {
    let mut header = vec!["rank".to_string(), "contender".into(), "score over all".into()];
    for machine in &comparison.machines {
        header.push(format!("rank, {}", machine.name));
        header.push(format!("score, {}", machine.name));
    }
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut rows = table(&header, 0..1);
    for row in &category.rows {
        let peer = if row.kind == Kind::Peer { " (peer)" } else { "" };
        let mut line = vec![rank(row.rank), format!("{}{peer}", row.design), score(row.score)];
        for (own_rank, own_score) in row.ranks.iter().zip(&row.scores) {
            line.push(rank(*own_rank));
            line.push(score(*own_score));
        }
        rows.add_row(line);
    }
    let pairs = category.agreed + category.flips.len() + category.open;
    let mut text = format!(
        "{}: of {pairs} pairs {} agree on every machine, {} flip, {} are open\n{rows}\n",
        category.category.title(),
        category.agreed,
        category.flips.len(),
        category.open,
    );
    for flip in &category.flips {
        let _ = writeln!(
            text,
            "flips: {} is clearly ahead of {} on {}, and clearly behind on {}",
            flip.design,
            flip.other,
            flip.ahead_on.join(", "),
            flip.behind_on.join(", "),
        );
    }
    text
}

fn cell_table(comparison: &Comparison) -> String {
    let mut header = vec!["cell".to_string()];
    header.extend(comparison.machines.iter().map(|machine| format!("best, {}", machine.name)));
    header.push("the same".into());
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut rows = table(&header, 0..0);
    for cell in &comparison.cells {
        let mut line = vec![cell.cell.clone()];
        let best = |best: &Option<(String, f64)>| {
            best.as_ref().map_or("–".into(), |(name, lead)| format!("{name} ({lead:.2}x the next)"))
        };
        line.extend(cell.best.iter().map(best));
        line.push(if cell.same { "yes" } else { "no" }.into());
        rows.add_row(line);
    }
    let same = comparison.cells.iter().filter(|cell| cell.same).count();
    format!(
        "the best of each cell, by median: the same on every machine in {same} of {} cells\n{rows}\n",
        comparison.cells.len()
    )
}
