//! From samples to a verdict: medians, ratios within a round, intervals, ties.
//!
//! ```text
//!   sample     throughput of one design in one cell in one round
//!   ratio      sample / best sample of the same cell and round      what the machine did to all cancels
//!   score      geometric mean of the ratios over all cells and rounds
//!   interval   95 % bootstrap over rounds: the same rounds for all designs, cell by cell
//!   rank       designs whose intervals overlap share it
//! ```
//!
//! The cells are what was chosen, not a sample of anything, so they are not resampled. A few rounds resampled
//! understate their spread by √((n−1)/n), and a spread known from few rounds is itself in doubt: the intervals
//! are stretched by both, the second as Student did it. From one round no spread can be known: then everything
//! ties.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

/// An estimate and the interval it lies in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Estimate {
    /// Whether the two cannot be told apart.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

/// How many resamples an interval is made of.
pub const RESAMPLES: usize = 2000;

/// The median; none of nothing.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        count if count % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// The samples of one cell: `samples[contender][round]`; none where there is no valid one.
pub type CellSamples = Vec<Vec<Option<f64>>>;

/// Ranks contenders over cells; in each cell all have the same number of rounds.
///
/// The result is by contender: none where a sample of any cell is missing, failed, zero or not finite. Such a
/// contender has no score, and is not the best of any round either.
#[must_use]
pub fn scores(cells: &[CellSamples], contenders: usize, seed: u64) -> Vec<Option<Estimate>> {
    let valid: Vec<bool> = (0..contenders).map(|contender| is_valid(cells, contender)).collect();
    let logs: Vec<Vec<Vec<f64>>> = cells.iter().map(|cell| log_ratios(cell, &valid)).collect();
    let rounds = logs.iter().flatten().map(Vec::len).filter(|&rounds| rounds > 0).min().unwrap_or(0);
    let centres: Vec<f64> = (0..contenders).map(|contender| mean(&logs, contender)).collect();
    let spreads = bootstrap(&logs, contenders, seed);
    let doubt = student(cells.len() * rounds.saturating_sub(1)) / student(usize::MAX);
    let estimate = |contender: usize| {
        let centre = centres[contender];
        let [low, high] =
            if rounds < 2 { [f64::NEG_INFINITY, f64::INFINITY] } else { spreads[contender].map(|end| end * doubt) };
        // No ratio to the best is above one, so no mean of them is.
        Estimate { value: centre.exp(), low: (centre + low).exp(), high: (centre + high).exp().min(1.0) }
    };
    (0..contenders).map(|contender| valid[contender].then(|| estimate(contender))).collect()
}

fn is_valid(cells: &[CellSamples], contender: usize) -> bool {
    let is_number = |sample: &Option<f64>| sample.is_some_and(|value| value.is_finite() && value > 0.0);
    !cells.is_empty() && cells.iter().all(|cell| !cell[contender].is_empty() && cell[contender].iter().all(is_number))
}

/// By contender and round: the logarithm of the ratio to the round's best. Empty for the void.
fn log_ratios(cell: &CellSamples, valid: &[bool]) -> Vec<Vec<f64>> {
    let sample = |contender: usize, round: usize| cell[contender].get(round).copied().flatten();
    let best = |round: usize| {
        let of_round = (0..valid.len()).filter(|&contender| valid[contender]);
        of_round.filter_map(|contender| sample(contender, round)).fold(0.0, f64::max)
    };
    let of_contender = |contender: usize| {
        let rounds = if valid[contender] { cell[contender].len() } else { 0 };
        (0..rounds).filter_map(|round| sample(contender, round).map(|value| (value / best(round)).ln())).collect()
    };
    (0..valid.len()).map(of_contender).collect()
}

/// Mean over cells of the mean over rounds.
fn mean(logs: &[Vec<Vec<f64>>], contender: usize) -> f64 {
    let cell_mean = |cell: &Vec<Vec<f64>>| cell[contender].iter().sum::<f64>() / cell[contender].len().max(1) as f64;
    logs.iter().map(cell_mean).sum::<f64>() / logs.len().max(1) as f64
}

/// By contender: how far below and above its centre the resampled means lie.
fn bootstrap(logs: &[Vec<Vec<f64>>], contenders: usize, seed: u64) -> Vec<[f64; 2]> {
    let mut random = SmallRng::seed_from_u64(seed);
    let mut deviations = vec![Vec::with_capacity(RESAMPLES); contenders];
    let rounds_of = |cell: &Vec<Vec<f64>>| cell.iter().map(Vec::len).max().unwrap_or(0);
    for _ in 0..RESAMPLES {
        let drawn: Vec<Vec<usize>> = logs
            .iter()
            .map(|cell| (0..rounds_of(cell)).map(|_| random.random_range(0..rounds_of(cell))).collect())
            .collect();
        for (contender, deviations) in deviations.iter_mut().enumerate() {
            let mut sum = 0.0;
            for (cell, drawn) in logs.iter().zip(&drawn) {
                let rounds = &cell[contender];
                let count = rounds.len();
                if count == 0 {
                    continue;
                }
                let picked: f64 = drawn.iter().filter_map(|&round| rounds.get(round)).sum();
                let cell_mean = rounds.iter().sum::<f64>() / count as f64;
                let stretch = if count > 1 { (count as f64 / (count - 1) as f64).sqrt() } else { 1.0 };
                sum += (picked / count as f64 - cell_mean) * stretch;
            }
            deviations.push(sum / logs.len().max(1) as f64);
        }
    }
    deviations.into_iter().map(|mut sorted| interval_of(&mut sorted)).collect()
}

/// How many standard errors hold 95 %, when they are known from so many degrees of freedom.
pub(crate) fn student(freedom: usize) -> f64 {
    const TABLE: [f64; 20] = [
        12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10,
        2.09, 2.09,
    ];
    match freedom {
        0 => f64::INFINITY,
        1..=20 => TABLE[freedom - 1],
        21..=60 => 2.03,
        _ => 1.96,
    }
}

/// The middle 95 % of the values.
fn interval_of(values: &mut [f64]) -> [f64; 2] {
    values.sort_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else { return [0.0, 0.0] };
    let cut = values.len() * 25 / 1000;
    [values[cut], values[last - cut]]
}

/// The median of `values` with a bootstrap interval.
#[must_use]
pub fn median_with_interval(values: &[f64], seed: u64) -> Option<Estimate> {
    let value = median(values)?;
    let mut random = SmallRng::seed_from_u64(seed);
    let resample = |_| {
        let drawn: Vec<f64> = values.iter().map(|_| values[random.random_range(0..values.len())]).collect();
        median(&drawn).unwrap_or(value)
    };
    let mut medians: Vec<f64> = (0..RESAMPLES).map(resample).collect();
    let [low, high] = interval_of(&mut medians);
    Some(Estimate { value, low, high })
}

/// For each: how many others it is clearly ahead of, and how many it is clearly behind.
#[must_use]
pub fn clear_order(estimates: &[Option<Estimate>]) -> Vec<[usize; 2]> {
    let ahead = |a: &Estimate, b: &Estimate| a.low > b.high;
    let count = |own: &Option<Estimate>| {
        let others = || estimates.iter().flatten();
        own.as_ref().map_or([0, 0], |own| {
            [others().filter(|other| ahead(own, other)).count(), others().filter(|other| ahead(other, own)).count()]
        })
    };
    estimates.iter().map(count).collect()
}

/// The rank of each: 1 is best; those whose intervals overlap, directly or through others, share one.
#[must_use]
pub fn ranks(estimates: &[Option<Estimate>]) -> Vec<Option<usize>> {
    let mut order: Vec<usize> = (0..estimates.len()).filter(|&at| estimates[at].is_some()).collect();
    let of = |at: usize| estimates[at].expect("only contenders with an estimate are in the order");
    order.sort_by(|&a, &b| of(b).high.total_cmp(&of(a).high));
    let mut ranks = vec![None; estimates.len()];
    let (mut rank, mut lowest) = (0, f64::INFINITY);
    for (position, &at) in order.iter().enumerate() {
        // Sorted by upper ends, a contender overlaps one before it exactly when it reaches the lowest end so far.
        if position == 0 || of(at).high < lowest {
            rank = position + 1;
        }
        lowest = lowest.min(of(at).low);
        ranks[at] = Some(rank);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of contenders whose true throughputs are `speeds`, with noise of `spread` and a machine
    /// that is slower in some rounds than in others.
    fn samples(speeds: &[f64], rounds: usize, spread: f64, seed: u64) -> CellSamples {
        let mut random = SmallRng::seed_from_u64(seed);
        let machine: Vec<f64> = (0..rounds).map(|_| random.random_range(0.5..1.0)).collect();
        let mut sample =
            |speed: f64, round: usize| Some(speed * machine[round] * (1.0 + spread * random.random_range(-1.0..1.0)));
        speeds.iter().map(|&speed| (0..rounds).map(|round| sample(speed, round)).collect()).collect()
    }

    fn cells(speeds: &[f64], rounds: usize, spread: f64, seed: u64) -> Vec<CellSamples> {
        (0..6).map(|cell| samples(speeds, rounds, spread, seed * 100 + cell)).collect()
    }

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 9.0]), Some(3.0));
    }

    #[test]
    fn the_same_design_twice_ties() {
        // The same samples always do.
        let samples: Vec<CellSamples> =
            cells(&[5.0], 3, 0.05, 1).into_iter().map(|cell| vec![cell[0].clone(), cell[0].clone()]).collect();
        assert_eq!(ranks(&scores(&samples, 2, 1)), [Some(1), Some(1)]);
        // Samples of the same kind do as often as a 95 % interval says.
        for rounds in [2, 3, 5] {
            let ties = |&seed: &u64| {
                let estimates = scores(&cells(&[5.0, 5.0], rounds, 0.05, seed), 2, seed);
                ranks(&estimates) == [Some(1), Some(1)]
            };
            let tied = (0..200).filter(ties).count();
            assert!(tied >= 190, "{tied} of 200 with {rounds} rounds");
        }
    }

    #[test]
    fn a_clear_difference_is_no_tie() {
        for seed in 0..5 {
            let estimates = scores(&cells(&[5.0, 2.5, 4.99, 1.0], 3, 0.03, seed), 4, seed);
            assert_eq!(ranks(&estimates), [Some(1), Some(3), Some(1), Some(4)], "seed {seed}: {estimates:?}");
        }
    }

    #[test]
    fn a_score_is_the_geometric_mean_of_ratios_within_rounds() {
        // The second round ran on a machine of half the speed: the ratios do not notice.
        let cell = vec![vec![Some(8.0), Some(4.0)], vec![Some(2.0), Some(1.0)]];
        let other = vec![vec![Some(1.0), Some(1.0)], vec![Some(1.0), Some(1.0)]];
        let estimates = scores(&[cell, other], 2, 1);
        let near = |estimate: Option<Estimate>, wanted: f64| {
            let estimate = estimate.unwrap();
            [estimate.value, estimate.low, estimate.high].iter().all(|end| (end - wanted).abs() < 1e-12)
        };
        assert!(near(estimates[0], 1.0));
        assert!(near(estimates[1], 0.5));
    }

    #[test]
    fn a_bad_cell_voids_the_score_and_never_raises_it() {
        let good = cells(&[4.0, 3.0, 2.0], 3, 0.01, 7);
        let clean = scores(&good, 3, 7);
        for bad in [None, Some(0.0), Some(-1.0), Some(f64::NAN), Some(f64::INFINITY)] {
            let mut broken = good.clone();
            broken[2][1][1] = bad;
            let estimates = scores(&broken, 3, 7);
            assert_eq!(estimates[1], None, "{bad:?}");
            assert_eq!(ranks(&estimates)[1], None);
            // The others are scored as if it had not been there.
            assert!((estimates[0].unwrap().value - clean[0].unwrap().value).abs() < 1e-9);
        }
        let mut without_rounds = good.clone();
        without_rounds[0][1].clear();
        assert_eq!(scores(&without_rounds, 3, 7)[1], None);
        assert_eq!(scores(&[], 1, 7), [None]);
    }

    #[test]
    fn one_round_decides_nothing() {
        let estimates = scores(&cells(&[9.0, 1.0], 1, 0.01, 3), 2, 3);
        assert_eq!(ranks(&estimates), [Some(1), Some(1)]);
    }

    #[test]
    fn ties_reach_through_a_third() {
        let interval = |low, high| Some(Estimate { value: f64::midpoint(low, high), low, high });
        let estimates = [interval(0.1, 0.2), interval(0.5, 0.7), None, interval(0.6, 0.9), interval(0.3, 0.55)];
        assert_eq!(ranks(&estimates), [Some(4), Some(1), None, Some(1), Some(1)]);
        assert!(!estimates[3].unwrap().overlaps(&estimates[4].unwrap()));
        // The chain hides no clear difference.
        assert_eq!(clear_order(&estimates), [[0, 3], [1, 0], [0, 0], [2, 0], [1, 1]]);
    }

    #[test]
    fn intervals_hold_the_truth_about_as_often_as_they_say() {
        let truth = 0.5_f64;
        let held = (0..200).filter(|&seed| {
            let estimate = scores(&cells(&[4.0, 2.0], 5, 0.02, seed), 2, seed)[1].unwrap();
            (estimate.low..=estimate.high).contains(&truth)
        });
        let held = held.count();
        assert!(held >= 170, "{held} of 200");
    }

    #[test]
    fn a_median_lies_in_its_interval_and_seeds_repeat() {
        let values: Vec<f64> = (0..50).map(|value| f64::from(value * value % 37)).collect();
        let estimate = median_with_interval(&values, 5).unwrap();
        assert!(estimate.low <= estimate.value && estimate.value <= estimate.high && estimate.low < estimate.high);
        assert_eq!(median_with_interval(&values, 5), Some(estimate));
        assert_eq!(median_with_interval(&[], 5), None);
    }
}
