//! From the samples of all cells to rankings, without leaving anybody out silently.

use crate::contender::Contender;
use crate::record::{Category, CellRecord, Kind, Metrics, Place, Ranking, Row};
use crate::statistics::{CellSamples, clear_order, median, ranks, scores};
use slotwork::Submitters;

/// Fills in each row's median, its ratio to the best of each round and to the cell's floor, and its metrics.
pub fn summarise(cells: &mut [CellRecord]) {
    for cell in cells {
        let best_of = |round: usize| {
            let ranked = cell.rows.iter().filter(|row| row.failure.is_none() && row.kind != Kind::Floor);
            let samples = ranked.flat_map(|row| &row.samples);
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
            row.of_best = median(&ratios).filter(|_| row.kind != Kind::Floor);
            row.metrics = Metrics::medians(row.samples.iter().map(|sample| &sample.metrics));
        }
        let floor = cell.rows.iter().filter(|row| row.kind == Kind::Floor).find_map(|row| row.median);
        for row in cell.rows.iter_mut().filter(|row| row.kind != Kind::Floor) {
            row.of_floor = floor.zip(row.median).map(|(floor, own)| floor / own).filter(|ratio| ratio.is_finite());
        }
    }
}

/// The rankings of a run, one for each category that has cells. Where all cells are of one category, it says all.
#[must_use]
pub fn rankings(cells: &[CellRecord], contenders: &[Contender], seed: u64) -> Vec<Ranking> {
    let ranked: Vec<&Contender> = contenders.iter().filter(|contender| contender.kind != Kind::Floor).collect();
    let many = || ranked.iter().copied().filter(|contender| contender.claims.submitters == Submitters::Many).collect();
    let of_category = |category: Category| {
        let cells: Vec<&CellRecord> = cells.iter().filter(|cell| counts(cell, category)).collect();
        // One that takes one submitter is no worse for it, but it cannot be compared where there are several.
        let who: Vec<&Contender> = if cells.iter().any(|cell| cell.clients > 1) { many() } else { ranked.clone() };
        (!cells.is_empty() && !who.is_empty()).then(|| ranking(category, &cells, &who, seed))
    };
    let mut rankings: Vec<Ranking> = Category::ALL.into_iter().filter_map(of_category).collect();
    let whole = |ranking: &Ranking| ranking.category != Category::Together && ranking.cells.len() == cells.len();
    if rankings.iter().any(whole) {
        rankings.retain(|ranking| ranking.category != Category::Together);
    }
    rankings
}

fn counts(cell: &CellRecord, category: Category) -> bool {
    category == Category::Together || cell.categories.contains(&category)
}

fn ranking(category: Category, cells: &[&CellRecord], contenders: &[&Contender], seed: u64) -> Ranking {
    let names: Vec<&str> = contenders.iter().map(|contender| contender.name.as_str()).collect();
    // An interrupted run has more rounds of its first cells: only rounds that are complete are scored.
    let scored: Vec<CellSamples> = cells.iter().map(|cell| samples(cell, &names)).collect();
    let estimates = scores(&scored, names.len(), seed);
    let (ranks, order) = (ranks(&estimates), clear_order(&estimates));
    let place = |(at, contender): (usize, &&Contender)| Place {
        design: contender.name.clone(),
        kind: contender.kind,
        rank: ranks[at],
        score: estimates[at],
        ahead_of: order[at][0],
        behind: order[at][1],
        void: estimates[at].is_none().then(|| why_void(cells, &contender.name)),
    };
    let mut places: Vec<Place> = contenders.iter().enumerate().map(place).collect();
    let value = |place: &Place| place.score.map_or(f64::NEG_INFINITY, |score| score.value);
    places.sort_by(|a, b| {
        (a.rank.unwrap_or(usize::MAX)).cmp(&b.rank.unwrap_or(usize::MAX)).then(value(b).total_cmp(&value(a)))
    });
    let distinguishable = places.iter().any(|place| place.ahead_of > 0);
    Ranking { category, cells: cells.iter().map(|cell| cell.name()).collect(), places, distinguishable }
}

/// By design: its throughput in each round that the cell's other designs have too.
pub(crate) fn samples(cell: &CellRecord, designs: &[&str]) -> CellSamples {
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
            handled_in_all: 1,
            attempts: 1,
            ..Sample::default()
        };
        let samples = throughputs.iter().enumerate().map(sample).collect();
        Row { design: design.into(), samples, ..Row::default() }
    }

    fn cell(clients: usize, rows: Vec<Row>) -> CellRecord {
        CellRecord {
            clients,
            workers: 1,
            slots_per_lane: 4,
            waiting: Waiting::Yield,
            handler_nanoseconds: 0,
            categories: Category::of(clients, 1, 4, 8),
            window_milliseconds: 250,
            rows,
        }
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
