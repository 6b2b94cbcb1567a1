//! One submitter drives a workqueue: the loop that the page benchmarks share.
//!
//! ```text
//!   submitter: take a free request, number it, submit it ──▶ worker: job.work
//!        ▲      none free: one failed attempt, then spin or wait                │
//!        └──────────────────── done: counted once more ◀────────────────────────┘
//! ```
//!
//! The clock runs from the first request to the end of the drain. Counts are kept in the requests
//! themselves, by whoever owns them, so that counting adds no contention; they are added up as the requests
//! are dropped at the end, and verified.

use super::Watch;
use super::codec::Packer;
use super::configuration::{Setup, SubmitterWaits};
use super::count::{Count, CountMismatch};
use super::job::Job;
use crate::processor_time;
use slotwork::Design;
use slotwork_workqueue::{BuildError, RequestError, ShutdownError, Stopped, Workqueue};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use thiserror::Error;

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// After so many requests.
    Requests(u64),
    /// After so much time.
    Time(Duration),
}

/// One verified run.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Requests that were submitted, handled and collected.
    pub requests: u64,
    /// Attempts that found no request free.
    pub failed_attempts: u64,
    /// From the first request to the end of the drain.
    pub time: Duration,
    /// Bytes that the work made.
    pub bytes: u64,
    /// How many sleeping threads were woken: workers, and the submitter.
    pub wakes: (u64, u64),
    /// Processor time of the whole process in that time; none where unknown.
    pub processor_time: Option<Duration>,
}

impl Run {
    /// Requests per second.
    #[must_use]
    pub fn requests_per_second(&self) -> f64 {
        self.requests as f64 / self.time.as_secs_f64().max(1e-9)
    }
}

/// Why there is no run to count.
#[derive(Debug, Error)]
pub enum DriveError {
    /// The workqueue cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError<io::Error>),
    /// The submitter was refused.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// It was stopped early.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// It could not be stopped.
    #[error(transparent)]
    Shutdown(#[from] ShutdownError),
    /// Requests were lost, doubled, or confused.
    #[error(transparent)]
    Count(#[from] CountMismatch),
    /// Handlers failed, or requests were cancelled.
    #[error("{failed} requests failed and {cancelled} were cancelled, of {submitted}")]
    NotHandled {
        /// Their handler panicked.
        failed: u64,
        /// No worker came to them.
        cancelled: u64,
        /// All.
        submitted: u64,
    },
    /// A pool of threads, or what its requests need, could not be made.
    #[error("{0}")]
    Pool(String),
    /// Requests were not made or not dropped as often as they should.
    #[error("wrong count: {slots} slots, but {dropped} payloads dropped")]
    Payloads {
        /// Slots of the queue.
        slots: u64,
        /// Payloads that were dropped.
        dropped: u64,
    },
}

/// What the requests counted, added up as they are dropped.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    handled: Count,
    collected: Count,
    bytes: u64,
    dropped: u64,
}

struct Request {
    number: u64,
    page: usize,
    state: Option<Packer>,
    own: Totals,
    totals: Arc<Mutex<Totals>>,
}

impl Drop for Request {
    fn drop(&mut self) {
        let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        totals.handled += self.own.handled;
        totals.collected += self.own.collected;
        totals.bytes += self.own.bytes;
        totals.dropped += 1;
    }
}

/// How often the loop looks at the clock, and at Ctrl-C.
const STRIDE: u64 = 64;

/// Drives one run over design `D`; none when it was interrupted. Progress is in requests.
///
/// # Errors
/// [`DriveError`].
pub fn drive<D: Design>(
    setup: Setup,
    job: &Arc<Job>,
    until: Until,
    watch: &mut Watch<'_>,
) -> Result<Option<Run>, DriveError> {
    let totals = Arc::new(Mutex::new(Totals::default()));
    let (queue, submitter) = Workqueue::<Request, D>::builder("worker")
        .workers(setup.workers)
        .requests_per_worker(setup.requests)
        .waiting(setup.waiting.waiting())
        .dispatch(setup.dispatch)
        .completion(setup.completion)
        .try_build(
            |_slot| {
                let (state, own, totals) = (job.state()?, Totals::default(), Arc::clone(&totals));
                Ok(Request { number: 0, page: 0, state, own, totals })
            },
            {
                let job = Arc::clone(job);
                move |request| {
                    request.own.bytes += job.work(&mut request.state, request.page);
                    request.own.handled.add(request.number);
                }
            },
            |request| request.own.collected.add(request.number),
        )?;

    let mut submitted = Count::default();
    let mut failed_attempts = 0;
    let mut page = 0;
    let processor_before = processor_time::of_this_process();
    let start = Instant::now();
    let interrupted = loop {
        if submitted.requests.is_multiple_of(STRIDE) {
            watch.advance(if submitted.requests == 0 { 0 } else { STRIDE });
            if watch.is_interrupted() {
                break true;
            }
            if matches!(until, Until::Time(time) if start.elapsed() >= time) {
                break false;
            }
        }
        if until == Until::Requests(submitted.requests) {
            break false;
        }
        let mut request = loop {
            if let Some(request) = submitter.try_request() {
                break request;
            }
            failed_attempts += 1;
            match setup.submitter {
                SubmitterWaits::Spin => std::hint::spin_loop(),
                SubmitterWaits::Wait => break submitter.request()?,
            }
        };
        request.number = submitted.requests;
        request.page = page;
        request.submit()?;
        submitted.add(submitted.requests);
        page = if page + 1 == job.pages() { 0 } else { page + 1 };
    };
    submitter.drain()?;
    let time = start.elapsed();
    let processor_after = processor_time::of_this_process();

    drop(submitter);
    let report = queue.shutdown()?;
    let wakes = queue.wakes();
    drop(queue);
    if report.failed + report.cancelled > 0 {
        let (failed, cancelled) = (report.failed, report.cancelled);
        return Err(DriveError::NotHandled { failed, cancelled, submitted: submitted.requests });
    }
    let totals = *totals.lock().unwrap_or_else(PoisonError::into_inner);
    submitted.verify(&totals.handled, "submitted", "handled")?;
    submitted.verify(&totals.collected, "submitted", "collected")?;
    let slots = (setup.workers * setup.requests) as u64;
    if totals.dropped != slots {
        return Err(DriveError::Payloads { slots, dropped: totals.dropped });
    }
    Ok((!interrupted).then(|| Run {
        requests: submitted.requests,
        failed_attempts,
        time,
        bytes: totals.bytes,
        wakes,
        processor_time: processor_before.zip(processor_after).map(|(before, after)| after.saturating_sub(before)),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::configuration::Policy;
    use slotwork::Dispatch;
    use slotwork_catalog::{Visitor, visit_all};
    use slotwork_workqueue::Completion;
    use std::sync::atomic::AtomicBool;

    const SETUP: Setup = Setup {
        workers: 3,
        requests: 2,
        waiting: Policy::Settle,
        dispatch: Dispatch::RoundRobin,
        submitter: SubmitterWaits::Wait,
        completion: Completion::OneEvent,
    };

    struct All(Setup);

    impl Visitor for All {
        type Output = Run;
        fn visit<D: Design>(&mut self) -> Run {
            let never = AtomicBool::new(false);
            let mut watch = Watch { interrupted: &never, progress: &mut |_| {} };
            drive::<D>(self.0, &Arc::new(Job::Nothing), Until::Requests(1000), &mut watch).unwrap().unwrap()
        }
    }

    #[test]
    fn every_design_handles_what_was_submitted() {
        for (submitter, completion) in [
            (SubmitterWaits::Wait, Completion::OneEvent),
            (SubmitterWaits::Wait, Completion::EventPerWorker),
            (SubmitterWaits::Spin, Completion::OneEvent),
        ] {
            for run in visit_all(&mut All(Setup { submitter, completion, ..SETUP })) {
                assert_eq!(run.requests, 1000);
            }
        }
    }

    struct AllFail;

    impl Visitor for AllFail {
        type Output = DriveError;
        fn visit<D: Design>(&mut self) -> DriveError {
            let never = AtomicBool::new(false);
            let mut watch = Watch { interrupted: &never, progress: &mut |_| {} };
            drive::<D>(SETUP, &Arc::new(Job::FailsAt(9)), Until::Requests(10), &mut watch).unwrap_err()
        }
    }

    #[test]
    fn bench_finds_bug_a_request_that_was_not_handled_fails_the_run() {
        for error in visit_all(&mut AllFail) {
            assert!(matches!(error, DriveError::NotHandled { failed: 1, cancelled: 0, submitted: 10 }), "{error}");
        }
    }

    #[test]
    fn an_interrupted_run_is_no_run() {
        struct Interrupted;
        impl Visitor for Interrupted {
            type Output = ();
            fn visit<D: Design>(&mut self) {
                let now = AtomicBool::new(true);
                let mut watch = Watch { interrupted: &now, progress: &mut |_| {} };
                assert!(drive::<D>(SETUP, &Arc::new(Job::Nothing), Until::Requests(10), &mut watch).unwrap().is_none());
            }
        }
        visit_all(&mut Interrupted);
    }
}
