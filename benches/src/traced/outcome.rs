//! What a traced run comes to: its counts verified, then who waited, and how long requests took.

use super::{ClientTrace, Pace, Trace, WorkerTrace, histogram};
use crate::record::{Fairness, Latency, Metrics};
use crate::tally::Totals;
use crate::workload::WorkloadError;
use hdrhistogram::Histogram;
use std::time::Duration;

pub(super) fn verify(
    clients: &[ClientTrace],
    workers: &[WorkerTrace],
    carried: &[u64],
    slots: usize,
    wrong: u64,
) -> Result<(), WorkloadError> {
    let sent = clients.iter().map(|client| client.sent).sum();
    let totals = Totals {
        acquired: sent,
        submitted: sent,
        handled: workers.iter().map(|worker| worker.handled.all).sum(),
        wrong_results: wrong + clients.iter().map(|client| client.wrong_results).sum::<u64>(),
        free_slots: carried.len() as u64,
        slots: slots as u64,
        ..Totals::default()
    };
    Ok(totals.verify()?)
}

pub(super) fn result(
    pace: Pace,
    window: Duration,
    clients: &[ClientTrace],
    workers: &[WorkerTrace],
    carried: &[u64],
) -> Trace {
    let requests: u64 = workers.iter().map(|worker| worker.handled.in_window()).sum();
    let each = |time: Duration| (requests > 0).then(|| time.as_secs_f64() * 1e9 / requests as f64);
    let longest = workers.iter().map(|worker| worker.longest).max().unwrap_or(0);
    let metrics = Metrics {
        blocked_nanoseconds_per_request: each(clients.iter().map(|client| client.blocked).sum()),
        idle_nanoseconds_per_request: each(Duration::from_nanos(workers.iter().map(|worker| worker.idle).sum())),
        fairness_slots: Fairness::jain(carried),
        longest_slot_wait_nanoseconds: (longest > 0).then_some(longest as f64),
        ..Metrics::default()
    };
    let latency = match pace {
        Pace::Closed => None,
        Pace::Open(rate) => {
            let mut times = histogram();
            let handled: u64 = workers.iter().map(|worker| worker.times.len()).sum();
            let mut sum: f64 = workers.iter().map(|worker| worker.sum).sum();
            for trace in workers {
                times += &trace.times;
            }
            for trace in clients {
                sum += trace
                    .unsent
                    .iter_recorded()
                    .map(|step| step.value_iterated_to() as f64 * step.count_at_value() as f64)
                    .sum::<f64>();
                times += &trace.unsent;
            }
            Some(latency(rate, window, handled, sum, &times))
        }
    };
    Trace { metrics, latency }
}

/// Beyond this part of requests that were due and not sent, a contender could not keep up.
const SATURATED: f64 = 0.01;

pub(super) fn latency(rate: f64, window: Duration, handled: u64, sum: f64, times: &Histogram<u64>) -> Latency {
    let requests = times.len();
    let unsent = requests - handled;
    Latency {
        offered_per_second: rate,
        achieved_per_second: handled as f64 / window.as_secs_f64().max(1e-9),
        saturated: requests == 0 || unsent as f64 > SATURATED * requests as f64,
        requests,
        mean_nanoseconds: if requests == 0 { 0.0 } else { sum / requests as f64 },
        p50_nanoseconds: times.value_at_quantile(0.5),
        p90_nanoseconds: times.value_at_quantile(0.9),
        p99_nanoseconds: times.value_at_quantile(0.99),
        p99_9_nanoseconds: times.value_at_quantile(0.999),
        max_nanoseconds: times.max(),
        histogram: times.iter_recorded().map(|step| [step.value_iterated_to(), step.count_at_value()]).collect(),
    }
}
