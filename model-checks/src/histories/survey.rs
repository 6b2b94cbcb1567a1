//! Many scenarios on one design: recorded, checked, counted; a failing one is shrunk.
//!
//! ```text
//!   generator ─▶ scenario ─▶ record ─▶ history ─▶ check each property ─▶ counts, witnesses
//!       ▲                                              │ violation
//!       └── smaller scenario ◀─────────────────────────┘ … then the history itself is minimised
//! ```

use super::check::{BUDGET, Fault, Property, Verdict, check};
use super::history::{Call, History, Operation};
use super::minimise::minimise;
use super::patterns::find_overtaken;
use super::record::record;
use super::refill::was_refused;
use super::scenario::{Scenario, Size, scenarios};
use super::specification::Rules;
use super::table::table;
use super::timeline::timeline;
use crate::platform::Shuttle;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use slotwork::{Design, Native, NoneFree, Order};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The seed of a scenario's schedules: another for each, so that not all begin with the same steps, and always the
/// same for the same one, so that a failure comes again.
fn seed(scenario: &Scenario) -> u64 {
    let mut hasher = DefaultHasher::new();
    scenario.hash(&mut hasher);
    hasher.finish()
}

/// Steps of one schedule, above which it is taken for a loop that does not end.
const MAX_STEPS: usize = 200_000;

/// Where histories come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Threads of this machine. What they do to each other is chance, and comes again or not.
    RealThreads,
    /// Shuttle, half of the runs with every next step at random, half with random priorities that change three
    /// times: a thread held up for long is frequent in the latter alone. The same at every run.
    Shuttle,
}

impl Source {
    /// Both.
    pub const ALL: [Self; 2] = [Self::RealThreads, Self::Shuttle];

    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RealThreads => "real threads",
            Self::Shuttle => "shuttle random and pct",
        }
    }
}

/// So many scenarios of up to a size, each run so often.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// The largest scenario.
    pub size: Size,
    /// How many scenarios.
    pub scenarios: u32,
    /// Runs of each.
    pub runs: usize,
}

/// What to look at, and for how long to search.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    batches: [Batch; 6],
    /// Steps of one search before it gives up.
    budget: u64,
}

impl Effort {
    /// The usual one.
    #[must_use]
    pub const fn of(source: Source, thorough: bool) -> Self {
        let more = if thorough { 12 } else { 1 };
        let (main, scenarios) = match source {
            Source::RealThreads => (Size::LONG, 30),
            Source::Shuttle => (Size::SMALL, 60),
        };
        Self {
            batches: [
                Batch { size: main, scenarios: scenarios * more, runs: 4 },
                Batch { size: main.one_slot(), scenarios: 8 * more, runs: 2 },
                Batch { size: Size::TIGHT, scenarios: scenarios * more, runs: 6 },
                Batch { size: Size::BEHIND, scenarios: 16 * more, runs: 4 },
                Batch { size: Size::FULL, scenarios: 12 * more, runs: 2 },
                Batch { size: Size::LARGE, scenarios: 6 * more, runs: 2 },
            ],
            budget: BUDGET,
        }
    }

    /// The same with another budget.
    #[must_use]
    pub const fn with_budget(self, budget: u64) -> Self {
        Self { budget, ..self }
    }

    /// The same with one batch only.
    #[must_use]
    pub const fn only(self, batch: Batch) -> Self {
        let none = Batch { scenarios: 0, ..batch };
        Self { batches: [batch, none, none, none, none, none], ..self }
    }
}

/// What was counted of one property.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Histories that were checked.
    pub histories: u64,
    /// Those of them that the search gave up.
    pub gave_up: u64,
    /// The interesting cases, and in how many histories each was seen.
    pub witnesses: BTreeMap<&'static str, u64>,
    /// Time of checking.
    pub time: Duration,
}

/// A violation: the smallest scenario that was found, and what is left of its history.
#[derive(Clone, Debug)]
pub struct Rejection {
    /// The design.
    pub design: &'static str,
    /// Where it came from.
    pub source: Source,
    /// After how many histories it was found.
    pub histories: u64,
    /// What the threads were asked to do, shrunk.
    pub scenario: Scenario,
    /// The minimised history.
    pub history: History,
    /// What is wrong with it.
    pub fault: Fault,
}

impl Rejection {
    /// A column per thread, a row per event.
    #[must_use]
    pub fn table(&self) -> String {
        table(&self.history, &self.fault.accused)
    }

    /// A picture, as a file of its own.
    #[must_use]
    pub fn timeline(&self) -> String {
        timeline(&self.history, &self.to_string(), &self.fault.accused)
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { design, fault, history, .. } = self;
        write!(formatter, "{design}: {fault}; {} operations show it", history.operations.len())
    }
}

/// What came of it all.
#[derive(Clone, Debug)]
pub struct Survey {
    /// What the design is held to.
    pub rules: Rules,
    /// Per property that applies.
    pub tallies: BTreeMap<Property, Tally>,
    /// A violation, if there was one: then the survey ended with it.
    pub rejection: Option<Rejection>,
    /// A run that did not end well: a panic, a deadlock, no end.
    pub broken: Option<String>,
    /// Time of recording.
    pub recording: Duration,
}

/// Looks at a design.
#[must_use]
pub fn survey<D: Design>(source: Source, effort: &Effort) -> Survey {
    let rules = Rules::of(&D::CLAIMS);
    let survey = Survey { rules, tallies: BTreeMap::new(), rejection: None, broken: None, recording: Duration::ZERO };
    let looked = RefCell::new(Looked { survey, wrong: None, budget: effort.budget, histories: 0 });
    for batch in effort.batches {
        let config =
            Config { cases: batch.scenarios, max_shrink_iters: 400, failure_persistence: None, ..Config::default() };
        let bytes: Vec<u8> = (0..32).collect();
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
        let outcome = runner.run(&scenarios(&D::CLAIMS, batch.size), |scenario| {
            let start = Instant::now();
            let histories = runs::<D>(source, &scenario, batch.runs);
            let mut looked = looked.borrow_mut();
            looked.survey.recording += start.elapsed();
            match histories {
                Ok(histories) if histories.iter().all(|history| looked.is_right(history)) => Ok(()),
                Ok(_) => Err(TestCaseError::fail("a violation")),
                Err(why) => Err(TestCaseError::fail(looked.survey.broken.insert(why).clone())),
            }
        });
        if let Err(error) = outcome {
            let mut looked = looked.into_inner();
            if let (TestError::Fail(_, scenario), Some((history, fault))) = (error, looked.wrong) {
                let smaller = minimise(&history, fault.property, rules, effort.budget);
                let (history, fault) = smaller.unwrap_or((history, fault));
                let histories = looked.histories;
                looked.survey.rejection =
                    Some(Rejection { design: D::NAME, source, histories, scenario, history, fault });
            } else if looked.survey.broken.is_none() {
                looked.survey.broken = Some("no scenario could be made".into());
            }
            return looked.survey;
        }
    }
    looked.into_inner().survey
}

struct Looked {
    survey: Survey,
    /// The last violation: while a scenario is being shrunk, the smallest so far.
    wrong: Option<(History, Fault)>,
    budget: u64,
    /// Histories until the first violation.
    histories: u64,
}

impl Looked {
    fn is_right(&mut self, history: &History) -> bool {
        let rules = self.survey.rules;
        if let Some((smallest, fault)) = &mut self.wrong {
            // It is being shrunk: only the same violation is of interest, and nothing is counted.
            if let Verdict::Violation(same) = check(history, fault.property, rules, self.budget) {
                (*smallest, *fault) = (history.clone(), same);
                return false;
            }
            return true;
        }
        self.histories += 1;
        for property in Property::ALL {
            let start = Instant::now();
            let verdict = check(history, property, rules, self.budget);
            if verdict == Verdict::NotApplicable {
                continue;
            }
            let tally = self.survey.tallies.entry(property).or_default();
            tally.histories += 1;
            tally.time += start.elapsed();
            for (name, seen) in witnesses(history, property, rules) {
                *tally.witnesses.entry(name).or_default() += u64::from(seen);
            }
            match verdict {
                Verdict::Violation(fault) => {
                    self.wrong = Some((history.clone(), fault));
                    return false;
                }
                Verdict::GaveUp => tally.gave_up += 1,
                Verdict::Linearizable | Verdict::NotApplicable => {}
            }
        }
        true
    }
}

/// The interesting cases of a property, and whether this history has them.
fn witnesses(history: &History, property: Property, rules: Rules) -> Vec<(&'static str, bool)> {
    let operations = &history.operations;
    let beside = |none: &Operation| operations.iter().any(|other| other.thread != none.thread && other.overlaps(none));
    let nones = |is: fn(&Call) -> bool| operations.iter().filter(move |operation| is(&operation.call));
    let overlapped = ("operations overlapped", history.overlapped());
    match property {
        Property::OneOwner => {
            let again = |operation: &Operation| matches!(operation.call, Call::Acquire(Some((_, Some(content)))) if content.0 & 1 == 1);
            vec![overlapped, ("an answer came back", operations.iter().any(again))]
        }
        Property::NoneFree => {
            let mut nones = nones(|call| matches!(call, Call::Acquire(None)));
            let mut seen = vec![("none beside another operation", nones.any(beside))];
            if rules.none_free == NoneFree::Refill {
                seen.push(("none beside a free slot", was_refused(history)));
            }
            seen
        }
        Property::NoneSubmitted => {
            let mut nones = nones(|call| matches!(call, Call::Take { taken: None, .. }));
            vec![("none beside another operation", nones.any(beside))]
        }
        Property::Order => {
            let (mut waiting, mut two) = (0_u32, false);
            for operation in operations {
                match operation.call {
                    Call::Submit { .. } => waiting += 1,
                    Call::Take { taken: Some(_), .. } => waiting = waiting.saturating_sub(1),
                    _ => {}
                }
                two |= waiting >= 2;
            }
            let mut seen = vec![("two requests waited", two)];
            if rules.order == Order::Rotating {
                let queued: Vec<_> = operations
                    .iter()
                    .filter(|operation| matches!(operation.call, Call::Submit { .. } | Call::Take { .. }))
                    .copied()
                    .collect();
                seen.push(("one was overtaken", find_overtaken(&queued, 1).is_some()));
            }
            seen
        }
        Property::Whole => vec![overlapped],
    }
}

/// Runs a scenario some times.
fn runs<D: Design>(source: Source, scenario: &Scenario, runs: usize) -> Result<Vec<History>, String> {
    let ended = catch_unwind(AssertUnwindSafe(|| match source {
        Source::RealThreads => (0..runs).map(|_| record::<D, Native>(scenario)).collect::<Result<_, _>>(),
        Source::Shuttle => under_shuttle::<D>(scenario, runs),
    }));
    match ended {
        Ok(histories) => histories.map_err(|error| error.to_string()),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
            Err(format!("a run did not end well: {}", text.lines().next().unwrap_or_default()))
        }
    }
}

fn under_shuttle<D: Design>(scenario: &Scenario, schedules: usize) -> Result<Vec<History>, slotwork::ShapeError> {
    use shuttle::scheduler::{PctScheduler, RandomScheduler};
    let mut config = shuttle::Config::new();
    config.silence_warnings = true;
    config.stack_size = 1 << 17;
    config.failure_persistence = shuttle::FailurePersistence::None;
    config.max_steps = shuttle::MaxSteps::FailAfter(MAX_STEPS);
    let histories = Arc::new(Mutex::new(Vec::new()));
    let (scenario, kept, seed) = (scenario.clone(), Arc::clone(&histories), seed(scenario));
    let run = move || {
        let history = record::<D, Shuttle>(&scenario);
        kept.lock().expect("nobody panics with the histories in hand").push(history);
    };
    let random = RandomScheduler::new_from_seed(seed, schedules.div_ceil(2));
    shuttle::Runner::new(random, config.clone()).run(run.clone());
    shuttle::Runner::new(PctScheduler::new_from_seed(seed, 3, schedules / 2), config).run(run);
    let mut histories = histories.lock().expect("nobody panics with the histories in hand");
    std::mem::take(&mut *histories).into_iter().collect()
}
