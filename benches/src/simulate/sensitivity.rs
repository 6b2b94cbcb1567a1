//! Which rankings hold when a cost of the profile is wrong by half.
//!
//! ```text
//!   each cost × 0.5, × 1.5 ─▶ the same plan ─▶ who is ahead of whom now?     flipped: "depends on …"
//! ```

use super::plan::{Plan, Simulated};
use slotwork_coherence::Cost;
use std::fmt::Write;
use std::sync::atomic::AtomicBool;

/// By how much each cost is varied.
pub const FACTORS: [f64; 2] = [0.5, 1.5];

/// Designs closer than this are not said to be in an order.
const TIE: f64 = 1.03;

/// A pair that is in another order when a cost is another.
#[derive(Clone, Debug, PartialEq)]
pub struct Flip {
    /// Ahead with the profile as it is.
    pub ahead: &'static str,
    /// Behind.
    pub behind: &'static str,
    /// The costs that turn them round, and by which factor.
    pub by: Vec<(Cost, f64)>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivity {
    /// Designs by score, with the profile as it is.
    pub order: Vec<(&'static str, f64)>,
    /// How many pairs are in an order at all.
    pub pairs: usize,
    /// Those that flip.
    pub flips: Vec<Flip>,
    /// Runs of the plan that were made.
    pub variations: usize,
}

/// Scores of a plan's designs that take part in every cell: geometric means of throughput.
fn scores(plan: &Plan, simulated: &Simulated) -> Vec<(&'static str, f64)> {
    let score = |at: usize| {
        let medians: Option<Vec<f64>> = simulated.cells.iter().map(|cell| cell.rows[at].median).collect();
        let medians = medians?;
        Some((medians.iter().map(|median| median.ln()).sum::<f64>() / medians.len().max(1) as f64).exp())
    };
    (0..plan.designs.len()).filter_map(|at| Some((plan.designs[at].name, score(at)?))).collect()
}

/// Varies each cost of the machine, and compares. The work of the page workload is no cost of a round trip.
pub fn sensitivity(plan: &Plan, interrupted: &AtomicBool, progress: &mut dyn FnMut(u64)) -> Sensitivity {
    let base = scores(plan, &plan.simulate(false, interrupted, progress));
    let mut flips: Vec<Flip> = Vec::new();
    let mut pairs = Vec::new();
    for &(ahead, high) in &base {
        pairs.extend(base.iter().filter(|(_, low)| high > low * TIE).map(|&(behind, _)| (ahead, behind)));
    }
    let mut variations = 0;
    // What is not there, as interruptions may be, has no half.
    let varied = |cost: &&Cost| cost.key().0 != "page" && **cost != Cost::Jitter && plan.profile.cost(**cost) > 0.0;
    for &cost in Cost::ALL.iter().filter(varied) {
        for factor in FACTORS {
            let (least, most) = cost.bounds();
            let value = (plan.profile.cost(cost) * factor).clamp(least.max(0.1), most);
            let varied = Plan { profile: plan.profile.clone().with(cost, value), ..plan.clone() };
            let now = scores(&varied, &varied.simulate(false, interrupted, progress));
            let score = |name| now.iter().find(|(other, _)| *other == name).map(|&(_, score)| score);
            for &(ahead, behind) in &pairs {
                if score(ahead).zip(score(behind)).is_some_and(|(high, low)| low > high * TIE) {
                    match flips.iter_mut().find(|flip| (flip.ahead, flip.behind) == (ahead, behind)) {
                        Some(flip) => flip.by.push((cost, factor)),
                        None => flips.push(Flip { ahead, behind, by: vec![(cost, factor)] }),
                    }
                }
            }
            variations += 1;
        }
    }
    let mut order = base;
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    Sensitivity { order, pairs: pairs.len(), flips, variations }
}

/// As text.
#[must_use]
pub fn told(sensitivity: &Sensitivity) -> String {
    let Sensitivity { order, pairs, flips, variations } = sensitivity;
    let names: Vec<&str> = order.iter().map(|(name, _)| *name).collect();
    let mut text = format!(
        "Sensitivity: each cost × 0.5 and × 1.5, {variations} variations; order now: {}\n{} of {pairs} pairs keep their order in all of them\n",
        names.join(" > "),
        pairs - flips.len()
    );
    for Flip { ahead, behind, by } in flips {
        let costs: Vec<String> =
            by.iter().map(|(cost, factor)| format!("{}.{} × {factor}", cost.key().0, cost.key().1)).collect();
        let _ = writeln!(text, "{ahead} ahead of {behind}: depends on {}", costs.join(", "));
    }
    text
}
