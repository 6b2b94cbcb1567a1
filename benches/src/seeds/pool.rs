//! A thread pool in place of the workqueue: rayon, as one who has it already would use it.
//!
//! ```text
//!   submitter: take a free request from a queue, number it, spawn ──▶ pool: job.work, put the request back
//!        ▲      none free: one failed attempt, then spin or yield                   │
//!        └──────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! As many requests are in flight at most as the workqueue would have slots, and the same is counted and verified.

use super::Watch;
use super::codec::Packer;
use super::configuration::{Setup, SubmitterWaits};
use super::count::Count;
use super::drive::{DriveError, Run, Until};
use super::job::Job;
use crate::processor_time;
use crossbeam_queue::ArrayQueue;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

/// The name that the pool is shown by.
pub const NAME: &str = "rayon";

/// A request: it is boxed, as spawning boxes the job anyway.
struct Request {
    number: u64,
    page: usize,
    state: Option<Packer>,
    handled: Count,
    failed: u64,
    bytes: u64,
}

/// How often the loop looks at the clock, and at Ctrl-C.
const STRIDE: u64 = 64;

/// Drives one run over a pool; none when it was interrupted. Progress is in requests.
///
/// # Errors
/// [`DriveError`].
pub fn drive(setup: Setup, job: &Arc<Job>, until: Until, watch: &mut Watch<'_>) -> Result<Option<Run>, DriveError> {
    let total = setup.workers * setup.requests;
    let free = Arc::new(ArrayQueue::new(total.max(1)));
    for _ in 0..total {
        let state = job.state().map_err(|error| DriveError::Pool(error.to_string()))?;
        let request = Request { number: 0, page: 0, state, handled: Count::default(), failed: 0, bytes: 0 };
        let _ = free.push(Box::new(request));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(setup.workers).build();
    let pool = pool.map_err(|error| DriveError::Pool(error.to_string()))?;

    let (mut submitted, mut failed_attempts, mut page) = (Count::default(), 0, 0);
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
            if let Some(request) = free.pop() {
                break request;
            }
            failed_attempts += 1;
            match setup.submitter {
                SubmitterWaits::Spin => std::hint::spin_loop(),
                SubmitterWaits::Wait => std::thread::yield_now(),
            }
        };
        (request.number, request.page) = (submitted.requests, page);
        let (own_job, back) = (Arc::clone(job), Arc::clone(&free));
        pool.spawn_fifo(move || {
            let work = AssertUnwindSafe(|| own_job.work(&mut request.state, request.page));
            match catch_unwind(work) {
                Ok(bytes) => {
                    request.bytes += bytes;
                    request.handled.add(request.number);
                }
                Err(_) => request.failed += 1,
            }
            let _ = back.push(request);
        });
        submitted.add(submitted.requests);
        page = if page + 1 == job.pages() { 0 } else { page + 1 };
    };
    while free.len() < total {
        std::thread::yield_now();
    }
    let time = start.elapsed();
    let processor_after = processor_time::of_this_process();
    drop(pool);

    let requests: Vec<_> = std::iter::from_fn(|| free.pop()).collect();
    let mut handled = Count::default();
    requests.iter().for_each(|request| handled += request.handled);
    let failed: u64 = requests.iter().map(|request| request.failed).sum();
    if failed > 0 {
        return Err(DriveError::NotHandled { failed, cancelled: 0, submitted: submitted.requests });
    }
    submitted.verify(&handled, "submitted", "handled")?;
    if requests.len() != total {
        return Err(DriveError::Payloads { slots: total as u64, dropped: requests.len() as u64 });
    }
    Ok((!interrupted).then(|| Run {
        requests: submitted.requests,
        failed_attempts,
        time,
        bytes: requests.iter().map(|request| request.bytes).sum(),
        // A pool tells nobody whom it woke.
        wakes: (0, 0),
        processor_time: processor_before.zip(processor_after).map(|(before, after)| after.saturating_sub(before)),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::configuration::Policy;
    use slotwork::Dispatch;
    use slotwork_workqueue::Completion;
    use std::sync::atomic::AtomicBool;

    fn run(job: Job, requests: u64, interrupted: bool) -> Result<Option<Run>, DriveError> {
        let setup = Setup {
            workers: 3,
            requests: 2,
            waiting: Policy::Settle,
            dispatch: Dispatch::RoundRobin,
            submitter: SubmitterWaits::Wait,
            completion: Completion::OneEvent,
        };
        let interrupted = AtomicBool::new(interrupted);
        let mut watch = Watch { interrupted: &interrupted, progress: &mut |_| {} };
        drive(setup, &Arc::new(job), Until::Requests(requests), &mut watch)
    }

    #[test]
    fn a_pool_handles_what_was_submitted() {
        assert_eq!(run(Job::Nothing, 1000, false).unwrap().unwrap().requests, 1000);
        assert!(run(Job::Nothing, 1000, true).unwrap().is_none());
    }

    #[test]
    fn bench_finds_bug_a_request_that_a_pool_did_not_handle_fails_the_run() {
        let error = run(Job::FailsAt(9), 10, false).unwrap_err();
        assert!(matches!(error, DriveError::NotHandled { failed: 1, cancelled: 0, submitted: 10 }), "{error}");
    }
}
