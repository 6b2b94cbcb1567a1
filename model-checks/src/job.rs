//! One run of one model: in this process, or in one of its own.
//!
//! Loom ends a deadlock, and a model that branches too often, by aborting; and a weakened site is
//! process-wide. So each run is a process: the test program starts itself again with the job as its
//! arguments, and reads the report from the last line.
//!
//! ```text
//!   model=naive_pool design=freelist-bitmap view=weak executions=1234 bound=2 ms=35 witnesses=overlap:12 sites=…
//!   model=naive_pool design=untagged-list view=weak rejected=7 ms=1 why=…
//! ```
//!
//! A run is deterministic: the same job with the same seed finds the same, and [`replay`](crate::replay) says how.

// The unit tests and fuzz targets of this crate run no model, and need not wait for all of them to be compiled once more.
#[cfg(not(any(test, fuzzing)))]
mod here;

#[cfg(not(any(test, fuzzing)))]
pub use here::run_if_asked;

use crate::models::{Model, ModelVisitor, visit_large_model, visit_model, visit_sampled_model};
use crate::museum;
use crate::platform::Weakening;
use slotwork::{Access, Design, Site};
use std::fmt;
use std::process::Command;
use std::str::FromStr;

/// Begins the arguments of a run.
const MARK: &str = "--run-one-model";

/// The same, of a run that also prints the steps of a wrong execution.
const MARK_STEPS: &str = "--run-one-model-with-steps";

/// The seed, where none is given. Any will do; it is always the same, so that a failure comes again.
pub const SEED: u64 = 2018;

/// How a model is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lens {
    /// Loom, accesses as written.
    Weak,
    /// Loom, loads as failing compare-exchanges.
    Interleaving,
    /// As `Interleaving`, and weak compare-exchanges fail, and parks return, every other time.
    Spurious,
    /// Shuttle, every next step at random.
    Random,
    /// Shuttle, random priorities with three changes (probabilistic concurrency testing).
    Pct,
    /// Shuttle, a uniform random walk over schedules.
    Uniform,
}

impl Lens {
    /// Those that explore.
    pub const EXPLORING: [Self; 3] = [Self::Weak, Self::Interleaving, Self::Spurious];
    /// Those that sample.
    pub const SAMPLING: [Self; 3] = [Self::Random, Self::Pct, Self::Uniform];

    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Weak => "weak",
            Self::Interleaving => "interleaving",
            Self::Spurious => "spurious",
            Self::Random => "random",
            Self::Pct => "pct",
            Self::Uniform => "uniform",
        }
    }
}

impl Lens {
    /// Whether a model says anything in this view of code with these sites: without a weak exchange or a park, nothing is
    /// spurious.
    #[must_use]
    pub fn says_something(self, parks: bool, tables: &[&[Site]]) -> bool {
        let is_exchange = |site: &Site| matches!(site.access, Access::CompareExchange(..));
        self != Self::Spurious || parks || tables.iter().copied().flatten().any(is_exchange)
    }

    /// What it cannot see.
    #[must_use]
    pub const fn blind(self) -> &'static str {
        match self {
            Self::Weak => "interleavings of a load and an exchange that loom's reduction skips; load buffering",
            Self::Interleaving => "stale values; load buffering",
            Self::Spurious => "stale values; load buffering; failures and returns beyond every other one",
            Self::Random | Self::Pct | Self::Uniform => {
                "any ordering: all is sequentially consistent; what was not drawn"
            }
        }
    }
}

impl fmt::Display for Lens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Lens {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = Self::EXPLORING.into_iter().chain(Self::SAMPLING);
        all.into_iter().find(|lens| lens.name() == text).ok_or_else(|| format!("no view is called '{text}'"))
    }
}

/// What to run.
#[derive(Clone, Debug)]
pub struct Job {
    /// Name of the model.
    pub model: String,
    /// Name of the design, in the catalog or in the museum.
    pub design: String,
    /// How to look at it.
    pub lens: Lens,
    /// Preemptions to explore; none means all.
    pub bound: Option<usize>,
    /// A site to weaken.
    pub weakening: Option<Weakening>,
}

/// Which schedules a sampling view draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// Where the drawing begins.
    pub seed: u64,
    /// How many are drawn; none means as many as the model wants.
    pub schedules: Option<u64>,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { seed: SEED, schedules: None }
    }
}

/// What an accepted run has to say.
#[derive(Clone, Debug)]
pub struct Report {
    /// Executions, or schedules.
    pub executions: u64,
    /// Each witness, and in how many executions it was seen.
    pub witnesses: Vec<(String, u64)>,
    /// Sites that were executed, as `table.NAME`.
    pub sites: Vec<String>,
    /// The line that says all this.
    pub line: String,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Every execution was right.
    Accepted(Report),
    /// One was not.
    Rejected {
        /// How many executions it took.
        executions: u64,
        /// What was wrong.
        why: String,
    },
    /// The process ended in another way.
    Broken(String),
}

impl Job {
    /// Runs it in a process of its own: this program, started again.
    #[must_use]
    pub fn run_apart(&self) -> Verdict {
        self.sample_apart(Sampling::default())
    }

    /// The same, with other schedules. A view that explores has no use for them.
    #[must_use]
    pub fn sample_apart(&self, sampling: Sampling) -> Verdict {
        self.run_and_read(MARK, sampling).0
    }

    /// The same, and the steps of the wrong execution as a table; nothing when there is none.
    #[must_use]
    pub fn sample_apart_with_steps(&self, sampling: Sampling) -> (Verdict, String) {
        self.run_and_read(MARK_STEPS, sampling)
    }

    fn run_and_read(&self, mark: &str, sampling: Sampling) -> (Verdict, String) {
        let mut command = match std::env::current_exe() {
            Ok(program) => Command::new(program),
            Err(error) => return (Verdict::Broken(format!("this program is nowhere: {error}")), String::new()),
        };
        let bound = self.bound.map_or_else(|| "none".into(), |bound| bound.to_string());
        let schedules = sampling.schedules.map_or_else(|| "none".into(), |schedules| schedules.to_string());
        let seed = sampling.seed.to_string();
        command.args([mark, &self.model, &self.design, self.lens.name(), &bound, &seed, &schedules]);
        command.args(self.weakening.as_ref().map(Weakening::to_string));
        // A run is what its arguments say, whatever the caller has in the environment.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("LOOM_") || name.to_string_lossy().starts_with("SHUTTLE_") {
                command.env_remove(name);
            }
        }
        match crate::apart::output(&mut command, crate::apart::limit()) {
            Ok(output) => {
                let text = String::from_utf8_lossy(&output.stdout);
                let (steps, line) = text.trim_end().rsplit_once('\n').unwrap_or(("", text.trim_end()));
                let verdict = Verdict::read(line, output.status.code().and_then(|code| i32::try_from(code).ok()));
                let verdict = verdict.unwrap_or_else(|| {
                    let errors = String::from_utf8_lossy(&output.stderr);
                    Verdict::Broken(format!("{}: {text}{errors}", output.status))
                });
                (verdict, steps.into())
            }
            Err(why) => (Verdict::Broken(why), String::new()),
        }
    }

    /// Whether there is such a model and such a design, in the catalog or as a pair of the museum.
    #[must_use]
    pub fn exists(&self) -> bool {
        /// Only finds out whether there is one.
        struct Nothing;
        impl ModelVisitor for Nothing {
            type Output = ();
            fn visit<M: Model>(&mut self) {}
        }
        impl museum::PairVisitor for Nothing {
            fn visit<M: Model, D: Design>(&mut self) {}
        }
        let model = if Lens::EXPLORING.contains(&self.lens) {
            visit_model(&self.model, &mut Nothing)
        } else {
            visit_sampled_model(&self.model, &mut Nothing).or_else(|| visit_large_model(&self.model, &mut Nothing))
        };
        museum::visit_pair(&self.model, &self.design, &mut Nothing)
            || model.is_some() && slotwork_catalog::entry(&self.design).is_ok()
    }

    pub(crate) fn title(&self) -> String {
        let Self { model, design, lens, .. } = self;
        let weakening = self.weakening.as_ref().map_or_else(String::new, |weakening| format!(" weakened={weakening}"));
        format!("model={model} design={design} view={lens}{weakening}")
    }
}

impl Verdict {
    fn read(line: &str, code: Option<i32>) -> Option<Self> {
        let field = |name: &str| line.split(' ').find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
        match code? {
            0 => {
                let witnesses = field("witnesses")?.split(',').filter_map(|witness| {
                    let (name, count) = witness.rsplit_once(':')?;
                    Some((name.replace('_', " "), count.parse().ok()?))
                });
                let (shown, _) = line.split_once(" sites=")?;
                Some(Self::Accepted(Report {
                    executions: field("executions")?.parse().ok()?,
                    witnesses: witnesses.collect(),
                    sites: field("sites")?.split(',').map(Into::into).collect(),
                    line: shown.into(),
                }))
            }
            REJECTED => {
                let why = line.split_once(" why=")?.1.into();
                Some(Self::Rejected { executions: field("rejected")?.parse().ok()?, why })
            }
            _ => None,
        }
    }
}

/// Exit code of a run that found a wrong execution.
const REJECTED: i32 = 3;
