//! What competes in the page benchmarks: a design, and how its threads wait and dispatch.

use super::Watch;
use super::drive::{DriveError, Run, Until, drive};
use super::job::{Job, StateOf};
use super::pool;
use crate::peers::Pair;
use clap::ValueEnum;
use crossbeam_queue::ArrayQueue;
use serde::{Serialize, Serializer};
use slotwork::{Claims, Design, Dispatch, Native, Pool, Shape};
use slotwork_catalog::{UnknownDesign, Visitor, visit_all, visit_named, visit_steps};
use slotwork_workqueue::{Completion, Waiting};
use std::fmt;
use std::sync::Arc;

/// How threads wait when there is nothing for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Policy {
    /// Look for ever.
    Spin,
    /// 64 looks, then yield between looks.
    Yield,
    /// 64 looks, then sleep.
    Park,
    /// 64 looks, 32 yields, then sleep.
    Settle,
    /// 1000 looks, then sleep: that of the 2018 workqueue.
    #[value(name = "busy-1000")]
    Busy1000,
}

impl Policy {
    /// As the workqueue takes it.
    #[must_use]
    pub const fn waiting(self) -> Waiting {
        match self {
            Self::Spin => Waiting::SPIN,
            Self::Yield => Waiting::YIELD,
            Self::Park => Waiting::PARK,
            Self::Settle => Waiting::SETTLE,
            Self::Busy1000 => Waiting::BUSY_1000,
        }
    }
}

/// What the submitter does when no request is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SubmitterWaits {
    /// Tries again at once, as in the original benchmark; each attempt is counted.
    Spin,
    /// Waits as the workers do.
    Wait,
}

/// The dispatch policy as it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WantedDispatch {
    /// To the next worker after each request.
    RoundRobin,
    /// Stay with a worker until its requests are all in flight.
    FillFirst,
    /// Fill-first where the design offers it.
    Auto,
}

/// How a workqueue is set up for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Worker threads.
    pub workers: usize,
    /// Requests per worker.
    pub requests: usize,
    /// How workers wait.
    pub waiting: Policy,
    /// How the submitter goes on from worker to worker.
    pub dispatch: Dispatch,
    /// What the submitter does when no request is free.
    pub submitter: SubmitterWaits,
    /// Where the submitter sleeps.
    pub completion: Completion,
}

type RunJob = fn(Setup, &Arc<Job>, Until, &mut Watch<'_>) -> Result<Option<Run>, DriveError>;

/// A design that can be driven, without its type.
#[derive(Clone, Copy, Debug)]
pub struct Driven {
    /// Its name.
    pub design: &'static str,
    /// What it says of itself.
    pub claims: Claims,
    /// Whether it can stay with a worker until its requests are all in flight.
    pub fills_first: bool,
    run: RunJob,
}

impl Driven {
    /// A design, whether it is in the catalog or not.
    #[must_use]
    pub fn of<D: Design>() -> Self {
        Self { design: D::NAME, claims: D::CLAIMS, fills_first: fills_first::<D>(), run: drive::<D> }
    }

    /// A thread pool in place of a workqueue; it takes any shape, as the pair of queues does that it takes its requests from.
    #[must_use]
    pub fn pool() -> Self {
        let claims = Claims { source: "rayon, and a queue of free requests", ..<Pair<ArrayQueue<u32>>>::CLAIMS };
        Self { design: pool::NAME, claims, fills_first: false, run: pool::drive }
    }

    /// The layouts between the second and the third version, which are no designs of their own.
    #[must_use]
    pub fn between() -> Vec<Self> {
        visit_steps(&mut Enter)
    }

    /// Drives one run; see [`drive`].
    ///
    /// # Errors
    /// [`DriveError`].
    pub fn run(
        &self,
        setup: Setup,
        job: &Arc<Job>,
        until: Until,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Run>, DriveError> {
        (self.run)(setup, job, until, watch)
    }
}

/// Asks the design itself.
fn fills_first<D: Design>() -> bool {
    let Ok(shape) = Shape::new(1, 1) else { return false };
    let Ok(queue) = D::build::<Native>(shape) else { return false };
    Pool::new(queue, |_slot| ()).is_ok_and(|pool| pool.split().0.set_dispatch(Dispatch::FillFirst))
}

struct Enter;

impl Visitor for Enter {
    type Output = Driven;
    fn visit<D: Design>(&mut self) -> Driven {
        Driven::of::<D>()
    }
}

/// A design with its way to wait and to dispatch.
#[derive(Clone, Copy, Debug)]
pub struct Configuration {
    /// The name it is shown by.
    pub name: &'static str,
    /// The design.
    pub driven: Driven,
    /// How workers wait.
    pub waiting: Policy,
    /// How the submitter goes on from worker to worker.
    pub dispatch: Dispatch,
    /// What the submitter does when no request is free.
    pub submitter: SubmitterWaits,
    /// Where the submitter sleeps.
    pub completion: Completion,
}

/// Why there is no such configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigurationError {
    /// Its name is in no list.
    #[error("{0}; and as published: {V2}, {V3}")]
    Unknown(#[from] UnknownDesign),
    /// The design has no lanes to choose from, or does not let them be chosen.
    #[error("design {0} cannot fill one worker first")]
    Dispatch(&'static str),
}

/// The second version of the 2018 workqueue as it was published.
pub const V2: &str = "v2-faithful";
/// The third version.
pub const V3: &str = "v3-faithful";

/// How configurations are to be made of designs.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// How workers wait.
    pub waiting: Policy,
    /// How the submitter goes on from worker to worker.
    pub dispatch: WantedDispatch,
    /// What the submitter does when no request is free.
    pub submitter: SubmitterWaits,
    /// Where the submitter sleeps.
    pub completion: Completion,
}

impl Manner {
    /// The best that is known for more threads than cores.
    pub const BEST: Self = Self {
        waiting: Policy::Settle,
        dispatch: WantedDispatch::Auto,
        submitter: SubmitterWaits::Wait,
        completion: Completion::OneEvent,
    };
    /// That of the second version of the 2018 workqueue.
    pub const V2: Self = Self {
        waiting: Policy::Busy1000,
        dispatch: WantedDispatch::RoundRobin,
        submitter: SubmitterWaits::Spin,
        completion: Completion::OneEvent,
    };
    /// That of the third.
    pub const V3: Self = Self { completion: Completion::EventPerWorker, ..Self::V2 };
}

impl Configuration {
    /// `driven`, in this manner.
    ///
    /// # Errors
    /// [`ConfigurationError::Dispatch`].
    pub fn new(name: &'static str, driven: Driven, manner: Manner) -> Result<Self, ConfigurationError> {
        let dispatch = match (manner.dispatch, driven.fills_first) {
            (WantedDispatch::RoundRobin, _) | (WantedDispatch::Auto, false) => Dispatch::RoundRobin,
            (WantedDispatch::FillFirst | WantedDispatch::Auto, true) => Dispatch::FillFirst,
            (WantedDispatch::FillFirst, false) => return Err(ConfigurationError::Dispatch(driven.design)),
        };
        Ok(Self {
            name,
            driven,
            waiting: manner.waiting,
            dispatch,
            submitter: manner.submitter,
            completion: manner.completion,
        })
    }

    /// The configuration of this name: a design in this manner, or one that was published.
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn named(name: &str, manner: Manner) -> Result<Self, ConfigurationError> {
        match name {
            V2 => Self::new(V2, visit_named("shared-bitmap", &mut Enter)?, Manner::V2),
            V3 => Self::new(V3, visit_named("bitmap", &mut Enter)?, Manner::V3),
            _ => {
                let driven = if name == pool::NAME { Driven::pool() } else { visit_named(name, &mut Enter)? };
                Self::new(driven.design, driven, manner)
            }
        }
    }

    /// Both that were published, then every design that can work in this manner.
    #[must_use]
    pub fn all(manner: Manner) -> Vec<Self> {
        let published = [V2, V3].into_iter().filter_map(|name| Self::named(name, manner).ok());
        let designs = visit_all(&mut Enter).into_iter();
        published.chain(designs.filter_map(|driven| Self::new(driven.design, driven, manner).ok())).collect()
    }

    /// The setup of a run.
    #[must_use]
    pub const fn setup(&self, workers: usize, requests: usize) -> Setup {
        let Self { waiting, dispatch, submitter, completion, .. } = *self;
        Setup { workers, requests, waiting, dispatch, submitter, completion }
    }

    /// Why it cannot have so many workers and requests; none where it can.
    #[must_use]
    pub fn refusal(&self, workers: usize, requests: usize) -> Option<String> {
        let shape = Shape::new(workers, requests).and_then(|shape| self.driven.claims.admit(shape));
        shape.err().map(|error| error.to_string())
    }
}

/// The name of a policy, as it is asked for on the command line.
macro_rules! shown_as_asked_for {
    ($($type:ty),+) => {
        $(
            impl fmt::Display for $type {
                fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                    formatter.pad(self.to_possible_value().as_ref().map_or("", |value| value.get_name()))
                }
            }

            impl Serialize for $type {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.collect_str(self)
                }
            }
        )+
    };
}

shown_as_asked_for!(Policy, SubmitterWaits, WantedDispatch, StateOf);

/// The name of a dispatch policy.
#[must_use]
pub const fn dispatch_name(dispatch: Dispatch) -> &'static str {
    match dispatch {
        Dispatch::RoundRobin => "round-robin",
        Dispatch::FillFirst => "fill-first",
    }
}

/// The name of where submitters sleep.
#[must_use]
pub const fn completion_name(completion: Completion) -> &'static str {
    match completion {
        Completion::OneEvent => "one",
        Completion::EventPerWorker => "per worker",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotwork_catalog::ENTRIES;

    #[test]
    fn all_are_the_published_ones_and_every_design() {
        let all = Configuration::all(Manner::BEST);
        assert_eq!(all.len(), ENTRIES.len() + 2);
        assert_eq!(all[1].name, V3);
        assert_eq!((all[1].waiting, all[1].dispatch), (Policy::Busy1000, Dispatch::RoundRobin));
        assert_eq!((all[0].completion, all[1].completion), (Completion::OneEvent, Completion::EventPerWorker));
    }

    #[test]
    fn a_thread_pool_can_be_asked_for() {
        let configuration = Configuration::named("rayon", Manner::BEST).unwrap();
        assert_eq!((configuration.name, configuration.refusal(64, 4)), ("rayon", None));
    }

    #[test]
    fn what_a_design_cannot_is_refused() {
        assert!(matches!(Configuration::named("nonsense", Manner::BEST), Err(ConfigurationError::Unknown(_))));
        let fill_first = Manner { dispatch: WantedDispatch::FillFirst, ..Manner::BEST };
        for entry in ENTRIES {
            let asked = Configuration::named(entry.name, fill_first);
            let can = Configuration::named(entry.name, Manner::BEST).unwrap().driven.fills_first;
            assert_eq!(asked.is_ok(), can, "{}", entry.name);
        }
    }

    #[test]
    fn bound_on_wrong_arg_65_requests_are_refused_by_a_bitmap_and_65_workers_are_not() {
        let bitmap = Configuration::named(V3, Manner::BEST).unwrap();
        assert_eq!(bitmap.refusal(65, 64), None);
        assert!(bitmap.refusal(64, 65).is_some());
        assert!(bitmap.refusal(0, 1).is_some() && bitmap.refusal(1, 0).is_some());
    }
}
