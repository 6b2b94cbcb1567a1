//! The free-list experiment: clients that do not wait, servers, and the counts at the end.
//!
//! ```text
//!   client: try a request ──free──▶ submit: one iteration, one successful request
//!                         └─none──▶ one failed request, and no iteration
//!   server: take, handle: one iteration
//! ```
//!
//! Unlike in the original, an attempt that finds no request free is no iteration: else a slower queue, on which
//! more attempts fail, would look faster. A duration is the mean over threads of how long a thread ran: a client from the
//! start to the stop, a server from the start until all was handled.

mod sweep;

pub use sweep::{Measured, Row, SWEEP_TASKS, SWEEP_THREADS, Sweep, row, sweep_table};

use super::Watch;
use crate::gate::Gate;
use crate::seeds::configuration::Policy;
use serde::Serialize;
use slotwork::{Claims, ClientError, Design, Shape, Submitters};
use slotwork_catalog::{UnknownDesign, Visitor, visit_all, visit_named};
use slotwork_workqueue::{BuildError, ShutdownError, Stopped, Submitter, Workqueue};
use std::convert::Infallible;
use std::fmt::Write;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use thiserror::Error;

/// One experiment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Client threads.
    pub clients: usize,
    /// Server threads.
    pub servers: usize,
    /// How long the clients run.
    pub duration: Duration,
    /// Requests per server.
    pub tasks: usize,
    /// How servers wait.
    pub waiting: Policy,
}

/// What was counted; the names are those of the original output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Requests that clients submitted: the iterations that did work.
    pub client_iterations: u64,
    /// Nanoseconds a client thread ran: mean over clients.
    pub enqueue_duration_ns: u64,
    /// Requests that server threads handled.
    pub thread_iterations: u64,
    /// Nanoseconds a server thread ran: mean over servers.
    pub dequeue_duration_ns: u64,
    /// Client threads.
    pub client_threads: u64,
    /// Server threads.
    pub server_threads: u64,
    /// Requests that clients got and submitted.
    pub successful_requests: u64,
    /// Attempts that found none free; no iterations.
    pub failed_requests: u64,
    /// Calls of the handler.
    pub handlers: u64,
    /// Calls of the hook that collects results.
    pub dones: u64,
    /// Payloads made.
    pub init: u64,
    /// Payloads dropped.
    pub fini: u64,
}

/// Counts that should agree differ.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("bad run: {what}: {first} and {second}")]
pub struct BadRun {
    what: &'static str,
    first: u64,
    second: u64,
}

impl Counts {
    /// That every successful request was handled and collected, and every payload dropped.
    ///
    /// # Errors
    /// [`BadRun`].
    pub fn verify(&self) -> Result<(), BadRun> {
        let pairs = [
            ("successful requests and handlers", self.successful_requests, self.handlers),
            ("handlers and dones", self.handlers, self.dones),
            ("handlers and thread iterations", self.handlers, self.thread_iterations),
            ("client iterations and successful requests", self.client_iterations, self.successful_requests),
            ("payloads made and dropped", self.init, self.fini),
        ];
        match pairs.into_iter().find(|(_, first, second)| first != second) {
            Some((what, first, second)) => Err(BadRun { what, first, second }),
            None => Ok(()),
        }
    }

    /// The lines of the original, `KEY=value` each.
    #[must_use]
    pub fn lines(&self) -> String {
        let per_millisecond = |iterations: u64, nanoseconds: u64| iterations * 1_000_000 / nanoseconds.max(1);
        let lines = [
            ("CLIENT_ITERATIONS", self.client_iterations),
            ("CLIENT_ITERATIONS_PER_MS", per_millisecond(self.client_iterations, self.enqueue_duration_ns)),
            ("ENQUEUE_DURATION_NS", self.enqueue_duration_ns),
            ("THREAD_ITERATIONS", self.thread_iterations),
            ("THREAD_ITERATIONS_PER_MS", per_millisecond(self.thread_iterations, self.dequeue_duration_ns)),
            ("DEQUEUE_DURATION_NS", self.dequeue_duration_ns),
            ("CLIENT_THREADS", self.client_threads),
            ("SERVER_THREADS", self.server_threads),
            ("SUCCESSFUL_REQUESTS", self.successful_requests),
            ("FAILED_REQUESTS", self.failed_requests),
            ("HANDLERS", self.handlers),
            ("DONES", self.dones),
            ("INIT", self.init),
            ("FINI", self.fini),
        ];
        lines.iter().fold(String::new(), |mut text, (key, value)| {
            let _ = writeln!(text, "{key}={value}");
            text
        })
    }
}

/// Why there is nothing to count.
#[derive(Debug, Error)]
pub enum AllocatorError {
    /// The workqueue cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError<Infallible>),
    /// There are no further submitters.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A client thread could not be started.
    #[error("client thread {client} could not be started")]
    Thread {
        /// Which one.
        client: usize,
        /// What the system said.
        source: io::Error,
    },
    /// It was stopped early.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// It could not be stopped.
    #[error(transparent)]
    Shutdown(#[from] ShutdownError),
    /// A client thread panicked.
    #[error("a client thread panicked")]
    Panicked,
}

/// The payload: counted by whoever has it, added up as it is dropped.
struct Task {
    handlers: u64,
    dones: u64,
    totals: Arc<Mutex<Counts>>,
}

impl Drop for Task {
    fn drop(&mut self) {
        let mut totals = self.totals.lock().unwrap_or_else(PoisonError::into_inner);
        totals.handlers += self.handlers;
        totals.dones += self.dones;
        totals.fini += 1;
    }
}

/// How often the main thread looks at Ctrl-C.
const NAP: Duration = Duration::from_millis(20);

/// Runs the experiment over design `D`; the counts are not verified yet. None when it was interrupted.
///
/// # Errors
/// [`AllocatorError`].
pub fn run<D: Design>(load: Load, watch: &mut Watch<'_>) -> Result<Option<Counts>, AllocatorError> {
    let totals = Arc::new(Mutex::new(Counts::default()));
    let task = |_slot| {
        totals.lock().unwrap_or_else(PoisonError::into_inner).init += 1;
        Ok(Task { handlers: 0, dones: 0, totals: Arc::clone(&totals) })
    };
    let (queue, first) = Workqueue::<Task, D>::builder("server")
        .workers(load.servers)
        .requests_per_worker(load.tasks)
        .waiting(load.waiting.waiting())
        .try_build(task, |task| task.handlers += 1, |task| task.dones += 1)?;
    let further = (1..load.clients).map(|_| first.try_clone()).collect::<Result<Vec<_>, _>>()?;
    let submitters = std::iter::once(first).chain(further);

    let (gate, stop) = (Gate::default(), AtomicBool::new(false));
    let (clients, servers, interrupted) = std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(load.clients);
        for (client, submitter) in submitters.enumerate() {
            let work = || gate.pass().then(|| client_loop(submitter, &stop));
            match std::thread::Builder::new().spawn_scoped(scope, work) {
                Ok(thread) => threads.push(thread),
                Err(source) => {
                    gate.cancel();
                    return Err(AllocatorError::Thread { client, source });
                }
            }
        }
        let start = Instant::now();
        gate.open_for(load.clients);
        while start.elapsed() < load.duration && !watch.is_interrupted() {
            std::thread::sleep(NAP.min(load.duration.saturating_sub(start.elapsed())));
        }
        stop.store(true, Ordering::Relaxed);
        let mut sum = Client::default();
        let mut end = Ok(());
        for thread in threads {
            match thread.join() {
                Ok(Some(Ok(client))) => sum.add(&client),
                Ok(Some(Err(stopped))) => end = Err(AllocatorError::Stopped(stopped)),
                Ok(None) | Err(_) => end = Err(AllocatorError::Panicked),
            }
        }
        end?;
        let report = queue.shutdown()?;
        Ok((sum, (report.handled, start.elapsed()), watch.is_interrupted()))
    })?;
    drop(queue);

    let counts = *totals.lock().unwrap_or_else(PoisonError::into_inner);
    Ok((!interrupted).then(|| Counts {
        client_iterations: clients.iterations,
        enqueue_duration_ns: nanoseconds(clients.time) / load.clients as u64,
        thread_iterations: servers.0,
        dequeue_duration_ns: nanoseconds(servers.1),
        client_threads: load.clients as u64,
        server_threads: load.servers as u64,
        successful_requests: clients.iterations,
        failed_requests: clients.failed,
        ..counts
    }))
}

/// What one client saw, or all together.
#[derive(Clone, Copy, Debug, Default)]
struct Client {
    iterations: u64,
    failed: u64,
    time: Duration,
}

impl Client {
    fn add(&mut self, other: &Self) {
        self.iterations += other.iterations;
        self.failed += other.failed;
        self.time += other.time;
    }
}

fn client_loop<D: Design>(submitter: Submitter<Task, D>, stop: &AtomicBool) -> Result<Client, Stopped> {
    let mut client = Client::default();
    let start = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        match submitter.try_request() {
            Some(request) => {
                request.submit()?;
                client.iterations += 1;
            }
            None => client.failed += 1,
        }
    }
    client.time = start.elapsed();
    drop(submitter);
    Ok(client)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A design that can take part, without its type.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// Its name.
    pub design: &'static str,
    /// What it says of itself.
    pub claims: Claims,
    run: fn(Load, &mut Watch<'_>) -> Result<Option<Counts>, AllocatorError>,
}

struct Enter;

impl Visitor for Enter {
    type Output = Variant;
    fn visit<D: Design>(&mut self) -> Variant {
        Variant { design: D::NAME, claims: D::CLAIMS, run: run::<D> }
    }
}

impl Variant {
    /// Every design of the catalog.
    #[must_use]
    pub fn all() -> Vec<Self> {
        visit_all(&mut Enter)
    }

    /// The design of this name.
    ///
    /// # Errors
    /// [`UnknownDesign`].
    pub fn named(name: &str) -> Result<Self, UnknownDesign> {
        visit_named(name, &mut Enter)
    }

    /// Why it takes no part; none where it does.
    #[must_use]
    pub fn refusal(&self, load: Load) -> Option<String> {
        if self.claims.submitters == Submitters::One && load.clients > 1 {
            return Some("one submitter".into());
        }
        if let Some(limit) = self.claims.max_clients.filter(|&limit| load.clients > limit) {
            return Some(format!("at most {limit} clients"));
        }
        let shape = Shape::new(load.servers, load.tasks).and_then(|shape| self.claims.admit(shape));
        shape.err().map(|error| error.to_string())
    }

    /// Runs the experiment once; the counts are not verified yet. None when it was interrupted.
    ///
    /// # Errors
    /// [`AllocatorError`].
    pub fn run(&self, load: Load, watch: &mut Watch<'_>) -> Result<Option<Counts>, AllocatorError> {
        (self.run)(load, watch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: Load =
        Load { clients: 1, servers: 2, duration: Duration::from_millis(5), tasks: 2, waiting: Policy::Settle };

    fn counts() -> Counts {
        let never = AtomicBool::new(false);
        let mut watch = Watch { interrupted: &never, progress: &mut |_| {} };
        Variant::all()[0].run(LOAD, &mut watch).unwrap().unwrap()
    }

    #[test]
    fn every_design_counts_right_and_one_submitter_is_refused_two() {
        let never = AtomicBool::new(false);
        let mut watch = Watch { interrupted: &never, progress: &mut |_| {} };
        for variant in Variant::all() {
            for clients in [1, 3] {
                let load = Load { clients, ..LOAD };
                let one = variant.claims.submitters == Submitters::One;
                assert_eq!(variant.refusal(load).is_some(), one && clients > 1, "{}", variant.design);
                if variant.refusal(load).is_none() {
                    let counts = variant.run(load, &mut watch).unwrap().unwrap();
                    assert_eq!(counts.verify(), Ok(()), "{}", variant.design);
                    assert_eq!((counts.init, counts.fini), (4, 4));
                } else {
                    assert!(variant.run(load, &mut watch).is_err(), "{}: the type would refuse it too", variant.design);
                }
            }
        }
    }

    #[test]
    fn bench_finds_bug_each_planted_difference_is_a_bad_run() {
        let good = counts();
        assert_eq!(good.verify(), Ok(()));
        let plants: [fn(&mut Counts); 5] = [
            |counts| counts.handlers -= 1,
            |counts| counts.dones -= 1,
            |counts| counts.thread_iterations += 1,
            |counts| counts.successful_requests += 1,
            |counts| counts.fini -= 1,
        ];
        for plant in plants {
            let mut bad = Counts {
                handlers: 5,
                dones: 5,
                thread_iterations: 5,
                successful_requests: 5,
                client_iterations: 5,
                ..good
            };
            assert_eq!(bad.verify(), Ok(()));
            plant(&mut bad);
            assert!(bad.verify().is_err(), "{bad:?}");
        }
    }
}
