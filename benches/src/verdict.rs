//! From the samples of all cells to rankings, without leaving anybody out silently.

use crate::contender::Contender;
use crate::record::{Category, CellRecord, Place, Ranking, Row};
use crate::statistics::{CellSamples, clear_order, median, ranks, scores};
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
    let (ranks, order) = (ranks(&estimates), clear_order(&estimates));
    let mut places: Vec<Place> = designs
        .iter()
        .enumerate()
        .map(|(at, design)| (design, estimates[at], ranks[at], order[at]))
        .map(|(design, score, rank, [ahead_of, behind])| Place {
            design: (*design).into(),
            rank,
            score,
            ahead_of,
            behind,
            void: score.is_none().then(|| why_void(cells, design)),
        })
        .collect();
    let value = |place: &Place| place.score.map_or(f64::NEG_INFINITY, |score| score.value);
    places.sort_by(|a, b| {
        (a.rank.unwrap_or(usize::MAX)).cmp(&b.rank.unwrap_or(usize::MAX)).then(value(b).total_cmp(&value(a)))
    });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender;
    use crate::record::Sample;
    use crate::waiting::Waiting;

    fn row(design: &str, throughputs: &[f64]) -> Row {
        let sample = |(round, &throughput): (usize, &f64)| Sample {
            round,
            round_trips: u64::from(throughput > 0.0),
            seconds: 1.0,
            throughput,
            acquired: 1,
            failed_acquires: 0,
            overlap: 1.0,
            processor_share: None,
            handled_in_all: 1,
            attempts: 1,
            trip_before_nanoseconds: None,
            trip_after_nanoseconds: None,
            doubts: Vec::new(),
        };
        let samples = throughputs.iter().enumerate().map(sample).collect();
        Row { design: design.into(), not_applicable: None, failure: None, median: None, of_best: None, samples }
    }

    fn cell(clients: usize, rows: Vec<Row>) -> CellRecord {
        CellRecord { clients, workers: 1, slots_per_lane: 4, waiting: Waiting::Yield, window_milliseconds: 250, rows }
    }

    fn not_applicable(design: &str) -> Row {
        Row { not_applicable: Some("one submitter".into()), ..row(design, &[]) }
    }

    fn contenders() -> Vec<Contender> {
        ["bitmap", "bitmap-claim", "lane-lock"].map(|name| contender::named(name).unwrap()).into()
    }

    fn place<'a>(ranking: &'a Ranking, design: &str) -> &'a Place {
        ranking.places.iter().find(|place| place.design == design).unwrap()
    }

    #[test]
    fn nobody_is_left_out_and_each_category_has_its_cells() {
        let one = cell(1, vec![row("bitmap", &[9.0; 3]), row("bitmap-claim", &[6.0; 3]), row("lane-lock", &[3.0; 3])]);
        let two = cell(2, vec![not_applicable("bitmap"), row("bitmap-claim", &[4.0; 3]), row("lane-lock", &[8.0; 3])]);
        let rankings = rankings(&[one, two], &contenders(), 1);
        let categories: Vec<Category> = rankings.iter().map(|ranking| ranking.category).collect();
        assert_eq!(categories, [Category::OneSubmitter, Category::ManySubmitters, Category::Together]);
        let sizes: Vec<_> = rankings.iter().map(|ranking| (ranking.cells.len(), ranking.places.len())).collect();
        assert_eq!(sizes, [(1, 3), (1, 2), (2, 2)]);
        assert_eq!(place(&rankings[0], "bitmap").rank, Some(1));
        assert_eq!(place(&rankings[1], "lane-lock").rank, Some(1));
        // In one cell twice as fast, in the other half as fast: together they are equal.
        assert_eq!(place(&rankings[2], "lane-lock").rank, place(&rankings[2], "bitmap-claim").rank);
    }

    #[test]
    fn a_failed_or_missing_cell_voids_a_score_with_its_reason() {
        let good = cell(1, vec![row("bitmap", &[9.0; 3]), row("bitmap-claim", &[6.0; 3]), row("lane-lock", &[3.0; 3])]);
        let failed = Row { failure: Some("the counts are wrong".into()), ..row("bitmap", &[99.0]) };
        let bad = cell(1, vec![failed, row("bitmap-claim", &[6.0; 3]), row("lane-lock", &[0.0, 3.0, 3.0])]);
        let ranking = &rankings(&[good, bad], &contenders(), 1)[0];
        assert!(place(ranking, "bitmap").void.as_ref().unwrap().contains("the counts are wrong"));
        assert!(place(ranking, "lane-lock").void.as_ref().unwrap().contains("no round trip"));
        assert_eq!(place(ranking, "bitmap-claim").rank, Some(1));
        assert_eq!(ranking.places.len(), 3);
    }

    #[test]
    fn an_interrupted_round_is_not_scored() {
        let begun =
            cell(1, vec![row("bitmap", &[9.0; 3]), row("bitmap-claim", &[6.0; 2]), row("lane-lock", &[3.0; 2])]);
        let ranking = &rankings(&[begun], &contenders(), 1)[0];
        assert!(ranking.places.iter().all(|place| place.score.is_some()));
    }

    #[test]
    fn medians_are_of_ratios_within_a_round() {
        let mut cells = vec![cell(1, vec![row("bitmap", &[8.0, 2.0, 4.0]), row("lane-lock", &[4.0, 1.0, 4.0])])];
        summarise(&mut cells);
        assert_eq!(cells[0].rows[1].median, Some(4.0));
        assert_eq!(cells[0].rows[1].of_best, Some(0.5));
    }
}
