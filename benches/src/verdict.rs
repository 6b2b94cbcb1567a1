//! From the samples of all cells to rankings, without leaving anybody out silently.

use crate::contender::Contender;
use crate::record::{Category, CellRecord, Place, Ranking, Row};
use crate::statistics::{CellSamples, median, ranks, scores};
use slotwork::Submitters;

/// Fills in each row's median and its ratio to the best of each round.
pub fn summarise(cells: &mut [CellRecord]) {
    for cell in cells {
        let best_of = |round: usize| {
            let samples = cell.rows.iter().filter(|row| row.failure.is_none()).flat_map(|row| &row.samples);
            samples.filter(|sample| sample.round == round).map(|sample| sample.throughput).fold(0.0, f64::max)
        };
        let rounds = cell.rows.iter().flat_map(|row| &row.samples).map(|sample| sample.round + 1).max().unwrap_or(0);
        let best: Vec<f64> = (0..rounds).map(best_of).collect();
        for row in &mut cell.rows {
            if row.failure.is_some() {
                continue;
            }
            let throughputs: Vec<f64> = row.samples.iter().map(|sample| sample.throughput).collect();
            let ratios: Vec<f64> = row
                .samples
                .iter()
                .map(|sample| sample.throughput / best[sample.round])
                .filter(|ratio| ratio.is_finite())
                .collect();
            row.median = median(&throughputs);
            row.of_best = median(&ratios);
        }
    }
}

/// The rankings of a run: one submitter, many submitters, and both together where there are both.
#[must_use]
pub fn rankings(cells: &[CellRecord], contenders: &[Contender], seed: u64) -> Vec<Ranking> {
    let everybody: Vec<&str> = contenders.iter().map(|contender| contender.name.as_str()).collect();
    let many: Vec<&str> = contenders
        .iter()
        .filter(|contender| contender.claims.submitters == Submitters::Many)
        .map(|contender| contender.name.as_str())
        .collect();
    let (one_client, more_clients): (Vec<&CellRecord>, Vec<&CellRecord>) =
        cells.iter().partition(|cell| cell.clients == 1);
    let mut rankings = Vec::new();
    if !one_client.is_empty() {
        rankings.push(ranking(Category::OneSubmitter, &one_client, &everybody, seed));
    }
    if !more_clients.is_empty() && !many.is_empty() {
        rankings.push(ranking(Category::ManySubmitters, &more_clients, &many, seed));
    }
    if rankings.len() == 2 {
        rankings.push(ranking(Category::Together, &cells.iter().collect::<Vec<_>>(), &many, seed));
    }
    rankings
}

fn ranking(category: Category, cells: &[&CellRecord], designs: &[&str], seed: u64) -> Ranking {
    // An interrupted run has more rounds of its first cells: only rounds that are complete are scored.
    let scored: Vec<CellSamples> = cells.iter().map(|cell| samples(cell, designs)).collect();
    let estimates = scores(&scored, designs.len(), seed);
    let ranks = ranks(&estimates);
    let mut places: Vec<Place> = designs
        .iter()
        .zip(estimates.iter().zip(ranks))
        .map(|(design, (&score, rank))| Place {
            design: (*design).into(),
            rank,
            score,
            void: score.is_none().then(|| why_void(cells, design)),
        })
        .collect();
    let value = |place: &Place| place.score.map_or(f64::NEG_INFINITY, |score| score.value);
    places.sort_by(|a, b| (a.rank.unwrap_or(usize::MAX)).cmp(&b.rank.unwrap_or(usize::MAX)).then(value(b).total_cmp(&value(a))));
    Ranking { category, cells: cells.iter().map(|cell| cell.name()).collect(), places }
}

/// By design: its throughput in each round that the cell's other designs have too.
fn samples(cell: &CellRecord, designs: &[&str]) -> CellSamples {
    let row_of = |design: &&str| cell.rows.iter().find(|row| row.design == **design);
    let takes_part = |row: &&Row| row.not_applicable.is_none() && row.failure.is_none();
    let rows: Vec<Option<&Row>> = designs.iter().map(row_of).collect();
    let rounds = rows.iter().flatten().copied().filter(takes_part).map(|row| row.samples.len()).min().unwrap_or(0);
    let throughput = |row: &Row, round: usize| {
        row.samples.iter().find(|sample| sample.round == round).map(|sample| sample.throughput)
    };
    let of_row = |row: Option<&Row>| {
        let row = row.filter(takes_part);
        // A row that takes no part has a gap in its first round, so that it has no score.
        (0..rounds.max(1)).map(|round| row.and_then(|row| throughput(row, round))).collect()
    };
    rows.into_iter().map(of_row).collect()
}

fn why_void(cells: &[&CellRecord], design: &str) -> String {
    for cell in cells {
        let Some(row) = cell.rows.iter().find(|row| row.design == design) else {
            return format!("not measured at {}", cell.name());
        };
        if let Some(reason) = &row.not_applicable {
            return format!("n/a ({reason}) at {}", cell.name());
        }
        if let Some(failure) = &row.failure {
            return format!("failed at {}: {failure}", cell.name());
        }
        if row.samples.is_empty() {
            return format!("not measured at {}", cell.name());
        }
        if row.samples.iter().any(|sample| sample.round_trips == 0) {
            return format!("no round trip at {}", cell.name());
        }
    }
    "a round is missing".into()
}
