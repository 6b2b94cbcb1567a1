//! Has anything become slower? Decided on ratios, with an interval that knows how much runs differ by themselves.
//!
//! ```text
//!   base 1  head 1   base 2  head 2  …        runs in pairs, measured in turn
//!      └──┬───┘         └──┬───┘
//!     change of a contender in a pair: mean over cells of ln(head / base),
//!     each less that of the peers, which are the same code in both
//!         │
//!     ratio ± how far the peers, and the pairs, scatter       0 ──▶ pass · loss · cannot tell
//! ```
//!
//! - *loss*: the whole interval lies below what is allowed. *pass*: the whole interval lies above it. Else *cannot
//!   tell*: more pairs of runs, or a quieter machine.
//! - What unchanged code seems to gain or lose between two runs of this very machine is the noise; rounds within a run
//!   do not show it. It is known from the peers, and from pairs of runs. Without either, nothing can be told.
//! - A round's throughput is taken as part of the peers' median in that round, and a row as its median over rounds: what
//!   the machine did to everybody cancels, and a disturbed window moves nothing much.

mod changes;
mod table;

pub use changes::{Change, changes};
pub use table::decision_table;

use crate::record::{Kind, Record};
use crate::statistics::{Estimate, student};
use serde::Serialize;
use thiserror::Error;

/// What is said of one design, or of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It lost no more than is allowed.
    Pass,
    /// It lost more.
    Loss,
    /// These runs do not tell.
    CannotTell,
}

impl Verdict {
    /// As it is shown.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Loss => "LOSS",
            Self::CannotTell => "cannot tell",
        }
    }
}

/// One design's answer.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    /// The design.
    pub design: String,
    /// What is said of it.
    pub verdict: Verdict,
    /// Throughput of head as part of that of base, geometric mean over cells and pairs; none where it cannot be known.
    pub ratio: Option<Estimate>,
    /// Why, where the figures alone do not say it.
    pub reason: Option<String>,
    /// The cell that fell furthest, and its ratio; information, not part of the verdict.
    pub lowest_cell: Option<(String, f64)>,
}

/// The whole answer.
#[derive(Clone, Debug, Serialize)]
pub struct Decision {
    /// Loss if there is any; else cannot tell if there is any; else pass.
    pub verdict: Verdict,
    /// The part of the throughput that may be lost.
    pub max_loss: f64,
    /// Pairs of runs.
    pub pairs: usize,
    /// Cells that were compared.
    pub cells: usize,
    /// The unchanged contenders that the changes are relative to.
    pub references: Vec<String>,
    /// How far unchanged code seems to move from run to run: one standard deviation; none where it is not known.
    pub noise: Option<f64>,
    /// What the machine did to the references themselves, from base to head.
    pub machine_ratio: Option<f64>,
    /// A line per design.
    pub designs: Vec<Judged>,
}

/// Why runs cannot be held against each other.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RegressionError {
    /// The runs do not pair up.
    #[error("{base} base runs and {head} head runs: they are compared in pairs, so give as many of each")]
    Pairs {
        /// How many base runs.
        base: usize,
        /// How many head runs.
        head: usize,
    },
    /// Two runs do not fit together.
    #[error("base and head cannot be compared: {0}")]
    Unlike(String),
    /// A design that was asked for is not there.
    #[error("no design '{name}' in these runs; they have {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// One file on both sides.
    #[error("base and head are the same run, of {0}: give a run of each")]
    Same(String),
}

/// Fewest degrees of freedom that noise is believed from.
const LEAST_FREEDOM: usize = 2;

/// Judges `head` against `base`, run by run in order. `designs` limits who is judged; all, if empty.
///
/// # Errors
/// [`RegressionError`].
pub fn judge(base: &[Record], head: &[Record], max_loss: f64, designs: &[String]) -> Result<Decision, RegressionError> {
    let all = changes(base, head)?;
    let (references, own): (Vec<&Change>, Vec<&Change>) = all.iter().partition(|change| change.kind == Kind::Peer);
    let own: Vec<&Change> = own.into_iter().filter(|change| change.kind == Kind::Design).collect();
    for name in designs {
        if !own.iter().any(|change| change.name == *name) {
            let known = own.iter().map(|change| change.name.as_str()).collect::<Vec<_>>().join(", ");
            return Err(RegressionError::Unknown { name: name.clone(), known });
        }
    }
    let references: Vec<&Change> = references.into_iter().filter(|change| change.pairs.is_some()).collect();
    let noise = Noise::known(&references, &own, base.len());
    let judged: Vec<Judged> = own
        .iter()
        .filter(|change| designs.is_empty() || designs.contains(&change.name))
        .map(|change| judged(change, noise, max_loss))
        .collect();
    let any = |verdict| judged.iter().any(|judged| judged.verdict == verdict);
    let verdict = if any(Verdict::Loss) {
        Verdict::Loss
    } else if judged.is_empty() || any(Verdict::CannotTell) {
        Verdict::CannotTell
    } else {
        Verdict::Pass
    };
    Ok(Decision {
        verdict,
        max_loss,
        pairs: base.len(),
        cells: base.first().map_or(0, |record| record.cells.len()),
        references: references.iter().map(|change| change.name.clone()).collect(),
        noise: noise.map(|noise| noise.deviation),
        machine_ratio: changes::machine_ratio(base, head),
        designs: judged,
    })
}

/// How much one pair's change moves by itself.
#[derive(Clone, Copy, Debug)]
struct Noise {
    deviation: f64,
    freedom: usize,
}

impl Noise {
    /// From the references' scatter in each pair, and from everybody's scatter over the pairs.
    fn known(references: &[&Change], own: &[&Change], pairs: usize) -> Option<Self> {
        let mut squares = 0.0;
        let mut freedom = 0;
        if references.len() >= 2 {
            for pair in 0..pairs {
                let of_pair: Vec<f64> =
                    references.iter().filter_map(|change| change.pairs.as_ref()?.get(pair).copied()).collect();
                squares += squared_deviations(&of_pair);
                freedom += of_pair.len().saturating_sub(1);
            }
        }
        if pairs >= 2 {
            let scatter = own.iter().filter_map(|change| change.pairs.as_deref()).map(squared_deviations);
            let scatter: Vec<f64> = scatter.collect();
            if references.len() >= 2 {
                // With the machine's own drift taken out, designs scatter each for itself.
                squares += scatter.iter().sum::<f64>();
                freedom += scatter.len() * (pairs - 1);
            } else if !scatter.is_empty() {
                // It is not taken out: all designs drift together, and are no more than one witness.
                squares += scatter.iter().sum::<f64>() / scatter.len() as f64;
                freedom += pairs - 1;
            }
        }
        let deviation = (squares / freedom.max(1) as f64).sqrt();
        (freedom >= LEAST_FREEDOM && deviation.is_finite()).then_some(Self { deviation, freedom })
    }

    /// Half of the 95 % interval of a mean over `pairs`, whose rows have a spread of their own as well.
    fn reach(self, change: &Change, pairs: usize) -> f64 {
        let known = self.deviation.powi(2) / pairs as f64;
        // What the rounds of a row alone show is the least that its interval can be.
        let within = change.within.powi(2) / pairs as f64;
        // The references' own noise is in what is known already: all changes are relative to them.
        student(self.freedom) * known.max(within).sqrt()
    }
}

fn squared_deviations(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

fn judged(change: &Change, noise: Option<Noise>, max_loss: f64) -> Judged {
    let answer = |verdict, ratio, reason: Option<String>| Judged {
        design: change.name.clone(),
        verdict,
        ratio,
        reason,
        lowest_cell: change.lowest_cell.clone(),
    };
    if let Some(broken) = &change.broken_in_head {
        return answer(Verdict::Loss, None, Some(broken.clone()));
    }
    let Some(pairs) = &change.pairs else {
        return answer(Verdict::CannotTell, None, change.gap.clone());
    };
    let Some(noise) = noise else {
        let reason = "how much runs differ by themselves is not known: measure with two peers or more, or give \
                      three pairs of runs or more";
        return answer(Verdict::CannotTell, None, Some(reason.into()));
    };
    let centre = pairs.iter().sum::<f64>() / pairs.len() as f64;
    let reach = noise.reach(change, pairs.len());
    let ratio = Estimate { value: centre.exp(), low: (centre - reach).exp(), high: (centre + reach).exp() };
    let allowed = 1.0 - max_loss;
    let verdict = if ratio.high < allowed {
        Verdict::Loss
    } else if ratio.low >= allowed {
        Verdict::Pass
    } else {
        Verdict::CannotTell
    };
    answer(verdict, Some(ratio), None)
}
