//! From the samples of all cells to rankings, without leaving anybody out silently.

use crate::contender::{AGAIN, Contender};
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
            row.metrics = Metrics::medians(row.samples.iter().map(|sample| &sample.metrics)).or(&row.metrics);
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

/// Of a self-test: a line for each that came out clearly ahead of itself, or has no score.
#[must_use]
pub fn differing_twins(rankings: &[Ranking]) -> Vec<String> {
    let mut lines = Vec::new();
    for ranking in rankings {
        for place in &ranking.places {
            let Some(name) = place.design.strip_suffix(AGAIN) else { continue };
            let first = ranking.places.iter().find(|other| other.design == name).and_then(|other| other.score);
            let title = ranking.category.title();
            match first.zip(place.score) {
                None => lines.push(format!("self-test, {title}: {name} has no score to compare with its own")),
                Some((first, again)) if !first.overlaps(&again) => lines.push(format!(
                    "self-test, {title}: {name} is not itself: {:.3} – {:.3} and {:.3} – {:.3}",
                    first.low, first.high, again.low, again.high
                )),
                Some(_) => {}
            }
        }
    }
    lines
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
        if row.samples.iter().any(|sample| !sample.throughput.is_finite() || sample.throughput <= 0.0) {
            return format!("a figure that is none at {}", cell.name());
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
    use rand::rngs::SmallRng;
    use rand::{RngExt, SeedableRng};

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

    /// A machine that is slow in some rounds, noise with a long tail, and cells that are bistable: now and then a window
    /// runs at half speed. What it gives is decided by the seed alone.
    fn noisy_run(speeds: &[(&str, f64)], rounds: usize, seed: u64) -> Vec<CellRecord> {
        let mut random = SmallRng::seed_from_u64(seed);
        let mut one_cell = |clients: usize| {
            let machine: Vec<f64> = (0..rounds).map(|_| random.random_range(0.6..1.0)).collect();
            let mut window = |speed: f64, round: usize| {
                let tail =
                    1.0 + 0.02 * random.random_range(-1.0..1.0_f64) - 0.05 * random.random_range(0.0..1.0_f64).powi(6);
                let bistable = if random.random_range(0..40) == 0 { 0.5 } else { 1.0 };
                speed * machine[round] * tail * bistable
            };
            let rows = speeds.iter().map(|&(name, speed)| {
                let figures: Vec<f64> = (0..rounds).map(|round| window(speed, round)).collect();
                row(name, &figures)
            });
            cell(clients, rows.collect())
        };
        [1, 1, 1, 2, 2, 2].map(&mut one_cell).into()
    }

    fn twins() -> Vec<Contender> {
        let first = contender::named("bitmap-claim").unwrap();
        vec![first.clone(), first.again()]
    }

    #[test]
    fn a_a_the_same_design_under_two_names_ties() {
        let tied = (0..60).filter(|&seed| {
            let cells = noisy_run(&[("bitmap-claim", 5.0), ("bitmap-claim (again)", 5.0)], 3, seed);
            let rankings = rankings(&cells, &twins(), seed);
            assert_eq!(rankings.len(), 3);
            let together = rankings.last().unwrap();
            let tied = place(together, "bitmap-claim").rank == place(together, "bitmap-claim (again)").rank;
            assert_eq!(tied, !together.distinguishable);
            tied && differing_twins(&rankings).is_empty()
        });
        let tied = tied.count();
        // As often as 95 % intervals in three rankings say, and no less.
        assert!(tied >= 54, "{tied} of 60");
    }

    #[test]
    fn a_b_a_design_that_is_a_tenth_slower_does_not_tie_with_itself() {
        let found = (0..30).filter(|&seed| {
            let cells = noisy_run(&[("bitmap-claim", 5.0), ("bitmap-claim (again)", 4.5)], 12, seed);
            !differing_twins(&rankings(&cells, &twins(), seed)).is_empty()
        });
        let found = found.count();
        assert!(found >= 28, "{found} of 30");
        // Nor does one that has no score.
        let failed = Row { failure: Some("planted".into()), ..row("bitmap-claim (again)", &[]) };
        let cells = [cell(1, vec![row("bitmap-claim", &[5.0; 3]), failed])];
        assert!(differing_twins(&rankings(&cells, &twins(), 1))[0].contains("no score"));
    }

    #[test]
    fn what_cannot_have_been_measured_voids_and_never_raises() {
        for figure in [f64::NAN, f64::INFINITY, 0.0, -8.0] {
            let mut cells = vec![cell(1, vec![row("bitmap", &[figure, 4.0, 4.0]), row("lane-lock", &[8.0, 8.0, 8.0])])];
            summarise(&mut cells);
            let ranking = &rankings(&cells, &contenders(), 1)[0];
            let bitmap = place(ranking, "bitmap");
            assert!(bitmap.score.is_none() && bitmap.rank.is_none() && bitmap.void.is_some(), "{figure}");
            assert_eq!(place(ranking, "lane-lock").score.map(|score| score.value), Some(1.0), "{figure}");
        }
    }

    #[test]
    fn peers_are_ranked_and_floors_are_not_nor_are_they_the_best() {
        let floor = Row { kind: Kind::Floor, ..row("(no queue)", &[100.0; 3]) };
        let mut cells = vec![cell(1, vec![row("bitmap", &[5.0; 3]), row("rtrb", &[10.0; 3]), floor])];
        let contenders =
            vec![contender::named("bitmap").unwrap(), contender::named("rtrb").unwrap(), crate::floors::no_queue()];
        summarise(&mut cells);
        let ranking = &rankings(&cells, &contenders, 1)[0];
        assert_eq!(ranking.places.len(), 2);
        assert_eq!((place(ranking, "rtrb").rank, place(ranking, "rtrb").kind), (Some(1), Kind::Peer));
        let figures = |at: usize| (cells[0].rows[at].of_best, cells[0].rows[at].of_floor);
        assert_eq!(
            (figures(0), figures(1), figures(2)),
            ((Some(0.5), Some(20.0)), (Some(1.0), Some(10.0)), (None, None))
        );
    }

    #[test]
    fn a_cell_counts_in_each_of_its_categories() {
        let rows = || vec![row("bitmap-claim", &[4.0; 3]), row("lane-lock", &[8.0; 3])];
        let tiny = CellRecord { slots_per_lane: 1, categories: Category::of(1, 16, 1, 2), ..cell(1, rows()) };
        let rankings = rankings(&[tiny, cell(2, rows())], &contenders()[1..], 1);
        let categories: Vec<Category> = rankings.iter().map(|ranking| ranking.category).collect();
        assert_eq!(categories, Category::ALL);
        assert!(rankings[..4].iter().all(|ranking| ranking.cells.len() == 1));
        assert_eq!(rankings[4].cells.len(), 2);
    }

    #[test]
    fn medians_are_of_ratios_within_a_round() {
        let mut cells = vec![cell(1, vec![row("bitmap", &[8.0, 2.0, 4.0]), row("lane-lock", &[4.0, 1.0, 4.0])])];
        summarise(&mut cells);
        assert_eq!(cells[0].rows[1].median, Some(4.0));
        assert_eq!(cells[0].rows[1].of_best, Some(0.5));
    }
}
