//! A run in this process: finds the model's type and the design's, and explores or samples.

use super::{Job, Lens, MARK, MARK_STEPS, REJECTED, Sampling};
use crate::models::{Model, ModelVisitor, visit_large_model, visit_model, visit_sampled_model};
use crate::museum;
use crate::platform::{
    Chosen, Interleaving, Loom, Shuttle, Spurious, Weak, begin_steps, keep_steps, steps, table, touched_sites, weaken,
};
use crate::seen::Seen;
use slotwork::Design;
use slotwork_catalog::Visitor;
use std::marker::PhantomData;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::Instant;

/// Thread switches in one execution, above which it is taken for a loop that does not end.
const MAX_BRANCHES: usize = 20_000;

/// If this process was started to run one model, runs it and says with which code to end.
#[must_use]
pub fn run_if_asked() -> Option<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mark, model, design, lens, bound, seed, schedules, weakening @ ..] = &arguments[..] else { return None };
    match mark.as_str() {
        MARK => {}
        MARK_STEPS => keep_steps(),
        _ => return None,
    }
    let job = || -> Result<(Job, Sampling), Box<dyn std::error::Error>> {
        let job = Job {
            model: model.clone(),
            design: design.clone(),
            lens: lens.parse()?,
            bound: if bound == "none" { None } else { Some(bound.parse()?) },
            weakening: weakening.first().map(|weakening| weakening.parse()).transpose()?,
        };
        let schedules = if schedules == "none" { None } else { Some(schedules.parse()?) };
        Ok((job, Sampling { seed: seed.parse()?, schedules }))
    };
    match job() {
        Ok((job, sampling)) => Some(run_here(&job, sampling)),
        Err(error) => {
            eprintln!("{error}");
            Some(ExitCode::from(2))
        }
    }
}

fn run_here(job: &Job, sampling: Sampling) -> ExitCode {
    match job.lens {
        Lens::Weak => Chosen::choose::<Weak>(),
        Lens::Interleaving => Chosen::choose::<Interleaving>(),
        Lens::Spurious => Chosen::choose::<Spurious>(),
        Lens::Random | Lens::Pct | Lens::Uniform => {}
    }
    if let Some(weakening) = &job.weakening {
        weaken(weakening.clone());
    }
    let mut run = Run(job, sampling);
    let found = museum::visit_pair(&job.model, &job.design, &mut run)
        || if Lens::EXPLORING.contains(&job.lens) {
            visit_model(&job.model, &mut run).unwrap_or(false)
        } else {
            let found = visit_sampled_model(&job.model, &mut run).or_else(|| visit_large_model(&job.model, &mut run));
            found.unwrap_or(false)
        };
    if !found {
        eprintln!("no model '{}' for a design '{}'", job.model, job.design);
        return ExitCode::from(2);
    }
    ExitCode::SUCCESS
}

/// Finds the model's type, then the design's, then runs one with the other.
struct Run<'a>(&'a Job, Sampling);

impl ModelVisitor for Run<'_> {
    type Output = bool;

    fn visit<M: Model>(&mut self) -> bool {
        crate::instances::visit_named(&self.0.design, &mut RunModel(self.0, self.1, PhantomData::<M>)).is_ok()
    }
}

impl museum::PairVisitor for Run<'_> {
    fn visit<M: Model, D: Design>(&mut self) {
        RunModel(self.0, self.1, PhantomData::<M>).visit::<D>();
    }
}

struct RunModel<'a, M>(&'a Job, Sampling, PhantomData<M>);

static SEEN: OnceLock<Seen> = OnceLock::new();

impl<M: Model> Visitor for RunModel<'_, M> {
    type Output = ();

    fn visit<D: Design>(&mut self) {
        let seen = SEEN.get_or_init(|| Seen::new(M::WITNESSES));
        let job = self.0;
        let start = Instant::now();
        report_panics(job.title(), seen, start);
        if Lens::EXPLORING.contains(&job.lens) {
            explore::<M, D>(job.bound, seen);
        } else {
            sample::<M, D>(job.lens, self.1, seen);
        }
        let (title, executions) = (job.title(), seen.executions());
        let bound = match job.bound {
            _ if Lens::SAMPLING.contains(&job.lens) => "sampled".into(),
            Some(bound) => format!("bounded({bound})"),
            None => "complete".to_string(),
        };
        let witnesses: Vec<_> =
            seen.witnesses().map(|(name, count)| format!("{}:{count}", name.replace(' ', "_"))).collect();
        let sites: Vec<_> = touched_sites().into_iter().map(|(table, name)| format!("{table}.{name}")).collect();
        let (witnesses, sites, milliseconds) = (witnesses.join(","), sites.join(","), start.elapsed().as_millis());
        println!("{title} executions={executions} {bound} witnesses={witnesses} ms={milliseconds} sites={sites}");
    }
}

/// Exit code of a run that found nothing out.
const NO_ANSWER: i32 = 4;

/// How loom says that an execution does not end: a loop that spins on an old value, perhaps, or one that it never lets go
/// on. Nothing is known then. (Shuttle's limit on steps is another matter: it schedules everybody, and all is sequentially
/// consistent, so whoever still waits then waits for something that was lost.)
const ENDLESS: &str = "exceeded maximum number of branches";

/// The first panic ends the process: unwinding would run the model's own code again, half destroyed.
fn report_panics(title: String, seen: &'static Seen, start: Instant) {
    std::panic::set_hook(Box::new(move |panic| {
        let why = panic.payload_as_str().unwrap_or("a panic").replace('\n', " ");
        let (executions, milliseconds) = (seen.executions(), start.elapsed().as_millis());
        if why.contains(ENDLESS) {
            eprintln!("{title}: no answer in execution {executions}: {why}");
            std::process::exit(NO_ANSWER);
        }
        let steps = steps();
        if !steps.is_empty() {
            println!("{}", table(&steps));
        }
        println!("{title} rejected={executions} ms={milliseconds} why={why}");
        std::process::exit(REJECTED);
    }));
}

fn explore<M: Model, D: Design>(bound: Option<usize>, seen: &'static Seen) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = bound;
    builder.max_branches = MAX_BRANCHES;
    // With either of these a truncated exploration would return like a finished one.
    builder.max_duration = None;
    builder.max_permutations = None;
    builder.check(move || {
        seen.begin();
        Loom::<Chosen>::begin();
        M::run::<D, Loom<Chosen>>(seen);
    });
}

fn sample<M: Model, D: Design>(lens: Lens, sampling: Sampling, seen: &'static Seen) {
    use shuttle::scheduler::{PctScheduler, RandomScheduler, UrwRandomScheduler};
    let mut config = shuttle::Config::new();
    config.silence_warnings = true;
    // A seed and a number say the same in a line.
    config.failure_persistence = shuttle::FailurePersistence::None;
    config.stack_size = 1 << 18;
    config.max_steps = shuttle::MaxSteps::FailAfter(M::MAX_STEPS);
    let model = move || {
        seen.begin();
        begin_steps();
        M::run::<D, Shuttle>(seen);
    };
    let (seed, schedules) = (sampling.seed, sampling.schedules.unwrap_or(M::SCHEDULES));
    let schedules = usize::try_from(schedules).unwrap_or(usize::MAX);
    let _ = match lens {
        Lens::Pct => shuttle::Runner::new(PctScheduler::new_from_seed(seed, 3, schedules), config).run(model),
        Lens::Uniform => shuttle::Runner::new(UrwRandomScheduler::new_from_seed(seed, schedules), config).run(model),
        _ => shuttle::Runner::new(RandomScheduler::new_from_seed(seed, schedules), config).run(model),
    };
}
