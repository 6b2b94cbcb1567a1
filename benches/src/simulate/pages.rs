//! The page compression of the 2018 workqueue on a simulated machine: the shipped engine and submitter, over any design.
//!
//! ```text
//!   submitter: own work, take a free request, submit it ──▶ worker: works for as long as a page takes
//!        ▲      none free: one failed attempt, then spin or wait                    │
//!        └──────────────────── done, when the slot is got back ◀────────────────────┘
//! ```
//!
//! The loop is that of [`crate::seeds::drive`]. How long the work takes is in the machine's profile.

use super::RunError;
use crate::seeds::configuration::{Setup, SubmitterWaits};
use crate::seeds::memory::PAGE;
use slotwork::{Design, Pool, Shape};
use slotwork_coherence::{Cost, Options, Profile, Report, Simulated, Simulation};
use slotwork_workqueue::{Engine, Request, Submitter};
use std::cell::Cell as Count;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is handed over: as large as a request of the original, with its codec's state beside it.
#[derive(Debug)]
struct Page {
    number: u64,
    handled: u64,
    _codec: [u64; 15],
}

/// What one run came to, all counts verified.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Requests that were submitted, handled and collected.
    pub requests: u64,
    /// Attempts that found no request free.
    pub failed_attempts: u64,
    /// From the first request to the end of the drain, in simulated nanoseconds.
    pub nanoseconds: f64,
    /// How many sleeping threads were woken: workers, and the submitter.
    pub wakes: (u64, u64),
    /// Where the time went.
    pub report: Report,
}

impl Outcome {
    /// Requests per simulated second.
    #[must_use]
    pub fn requests_per_second(&self) -> f64 {
        self.requests as f64 * 1e9 / self.nanoseconds.max(1e-9)
    }

    /// 10⁹ bytes of pages per simulated second.
    #[must_use]
    pub fn gb_per_second(&self) -> f64 {
        self.requests_per_second() * PAGE as f64 / 1e9
    }
}

/// Work of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    /// Requests.
    pub requests: u64,
    /// A worker's work, in nanoseconds.
    pub handler: f64,
    /// The submitter's own.
    pub submitter: f64,
    /// Part by which both differ from request to request.
    pub spread: f64,
}

impl Job {
    /// Pages, as the profile says.
    #[must_use]
    pub fn pages(profile: &Profile, requests: u64) -> Self {
        Self {
            requests,
            handler: profile.cost(Cost::Compress),
            submitter: profile.cost(Cost::Submit),
            spread: profile.cost(Cost::PageSpread),
        }
    }

    /// Nothing: what remains is the queue.
    #[must_use]
    pub const fn nothing(requests: u64) -> Self {
        Self { requests, handler: 0.0, submitter: 0.0, spread: 0.0 }
    }
}

/// What is counted, outside of the machine.
#[derive(Default)]
struct Tally {
    submitted: Count<u64>,
    failed: Count<u64>,
    handled: Count<u64>,
    sum_submitted: Count<u64>,
    sum_handled: Count<u64>,
    started: Count<f64>,
    ended: Count<f64>,
}

/// Drives one run over design `D`.
///
/// # Errors
/// [`RunError`].
pub fn run<D: Design>(profile: &Profile, setup: Setup, job: Job, options: Options) -> Result<Outcome, RunError> {
    let mut simulation = Simulation::new(profile, options)?;
    let collected = Arc::new(AtomicU64::new(0));
    let (engine, submitter, workers) = simulation.build(|| -> Result<_, RunError> {
        let queue = D::build::<Simulated>(Shape::new(setup.workers, setup.requests)?)?;
        let pool = Pool::new(queue, |_slot| Request::new(Page { number: 0, handled: 0, _codec: [0; 15] }))
            .map_err(|error| RunError::Memory(error.to_string()))?;
        let (client, workers) = pool.split();
        let collected = Arc::clone(&collected);
        let done = move |page: &mut Page| _ = collected.fetch_add(page.handled, Ordering::Relaxed);
        let waiting = setup.waiting.waiting();
        let engine =
            Arc::new(Engine::<Page, D, Simulated>::new(setup.workers, waiting, setup.completion, Some(Box::new(done))));
        let submitter = Submitter::new(client, Arc::clone(&engine));
        submitter.set_dispatch(setup.dispatch);
        Ok((engine, submitter, workers))
    })?;
    let tally: Rc<Tally> = Rc::default();
    {
        let (engine, tally) = (Arc::clone(&engine), Rc::clone(&tally));
        simulation.spawn("submitter", move || submit_all(submitter, &engine, setup.submitter, job, &tally));
    }
    for (number, worker) in workers.into_iter().enumerate() {
        let (engine, tally) = (Arc::clone(&engine), Rc::clone(&tally));
        simulation.spawn(format!("worker-{number}"), move || {
            engine.serve(worker, |page| {
                if job.handler > 0.0 {
                    Simulated::work(job.handler, job.spread);
                }
                page.handled = 1;
                tally.handled.set(tally.handled.get() + 1);
                tally.sum_handled.set(tally.sum_handled.get().wrapping_add(page.number));
                Simulated::achieved();
            });
        });
    }
    let report = simulation.run()?;
    let ended = engine.report();
    let counts = [tally.submitted.get(), tally.handled.get(), ended.handled, collected.load(Ordering::Relaxed)];
    if counts != [job.requests; 4] || tally.sum_submitted != tally.sum_handled {
        let [submitted, handled, ended, collected] = counts;
        return Err(RunError::Count(format!(
            "submitted {submitted}, handled {handled}, ended {ended}, collected {collected}: these must be equal, and so must what was handled"
        )));
    }
    Ok(Outcome {
        requests: job.requests,
        failed_attempts: tally.failed.get(),
        nanoseconds: tally.ended.get() - tally.started.get(),
        wakes: engine.wakes(),
        report,
    })
}

fn submit_all<D: Design>(
    submitter: Submitter<Page, D, Simulated>,
    engine: &Engine<Page, D, Simulated>,
    waits: SubmitterWaits,
    job: Job,
    tally: &Tally,
) {
    tally.started.set(Simulated::now_nanoseconds());
    for number in 0..job.requests {
        if job.submitter > 0.0 {
            Simulated::work(job.submitter, job.spread);
        }
        let mut request = loop {
            if let Some(request) = submitter.try_request() {
                break request;
            }
            tally.failed.set(tally.failed.get() + 1);
            match waits {
                SubmitterWaits::Spin => slotwork_spin(),
                SubmitterWaits::Wait => break submitter.request().expect("the queue runs until all are submitted"),
            }
        };
        request.number = number;
        request.handled = 0;
        request.submit().expect("the queue runs until all are submitted");
        tally.submitted.set(number + 1);
        tally.sum_submitted.set(tally.sum_submitted.get().wrapping_add(number));
    }
    submitter.drain().expect("a submitter may drain");
    tally.ended.set(Simulated::now_nanoseconds());
    drop(submitter);
    engine.begin_shutdown(false);
}

fn slotwork_spin() {
    <Simulated as slotwork::Platform>::spin_hint();
}
