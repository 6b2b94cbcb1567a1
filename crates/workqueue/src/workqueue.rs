//! The threads of this machine around an [`Engine`].

use crate::engine::{Completion, Done};
use crate::inside::{is_inside_of, is_worker_of, serves};
use crate::request::Request;
use crate::submitter::Submitter;
use crate::{Engine, Report, Waiting};
use slotwork::{CachePadded, Design, Dispatch, Native, Pool, PoolError, Shape, ShapeError, SlotId};
use std::convert::Infallible;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use thiserror::Error;

/// Requests per worker, if nothing else is asked for: as in 2018.
pub const DEFAULT_REQUESTS_PER_WORKER: usize = 4;

/// Why a workqueue was not built. Whatever had been built was torn down, once.
#[derive(Debug, Error)]
pub enum BuildError<E> {
    /// So many workers or requests cannot be had.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A payload could not be made, or there is no memory.
    #[error(transparent)]
    Pool(#[from] PoolError<E>),
    /// The design has no such dispatch policy.
    #[error("design {design} cannot dispatch by {dispatch:?}")]
    Dispatch {
        /// The design's name.
        design: &'static str,
        /// What was asked for.
        dispatch: Dispatch,
    },
    /// Threads cannot have this name.
    #[error("threads cannot be named {name:?}: there is a NUL in it")]
    Name {
        /// What was asked for.
        name: String,
    },
    /// A worker thread could not be started.
    #[error("worker thread {worker} could not be started")]
    Thread {
        /// Which one.
        worker: usize,
        /// What the system said.
        source: io::Error,
    },
}

/// Why a shutdown did not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ShutdownError {
    /// A handler cannot wait for its own worker to end.
    #[error("a handler may not shut its own workqueue down")]
    InsideHandler,
    /// The process was forked from the one that has the workers.
    #[error("the workers are in another process: this one was forked from it")]
    Forked,
}

/// A workqueue and its first submitter, or why there is none.
pub type Built<T, D, E> = Result<(Workqueue<T, D>, Submitter<T, D>), BuildError<E>>;

/// What can be chosen of a workqueue, whatever its design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Threads are named `name-0`, `name-1` …
    pub name: String,
    /// Worker threads, at least 1.
    pub workers: usize,
    /// Requests that exist for each worker, at least 1.
    pub requests_per_worker: usize,
    /// How workers and submitters wait.
    pub waiting: Waiting,
    /// How submitters go on from worker to worker.
    pub dispatch: Dispatch,
    /// Where submitters sleep.
    pub completion: Completion,
}

impl Default for Configuration {
    /// One worker, four requests, settling, round robin.
    fn default() -> Self {
        Self {
            name: "slotwork".into(),
            workers: 1,
            requests_per_worker: DEFAULT_REQUESTS_PER_WORKER,
            waiting: Waiting::default(),
            dispatch: Dispatch::default(),
            completion: Completion::default(),
        }
    }
}

/// How a workqueue is to be built; see [`Workqueue::builder`].
#[derive(Debug)]
pub struct Builder<T, D> {
    configuration: Configuration,
    types: PhantomData<fn() -> (T, D)>,
}

impl<T: Send + 'static, D: Design> From<Configuration> for Builder<T, D> {
    fn from(configuration: Configuration) -> Self {
        Self { configuration, types: PhantomData }
    }
}

impl<T: Send + 'static, D: Design> Builder<T, D> {
    /// Worker threads, at least 1. Default: 1.
    #[must_use]
    pub fn workers(self, workers: usize) -> Self {
        Configuration { workers, ..self.configuration }.into()
    }

    /// Requests that exist for each worker, at least 1. Default: 4.
    #[must_use]
    pub fn requests_per_worker(self, requests_per_worker: usize) -> Self {
        Configuration { requests_per_worker, ..self.configuration }.into()
    }

    /// How workers and submitters wait. Default: [`Waiting::SETTLE`].
    #[must_use]
    pub fn waiting(self, waiting: Waiting) -> Self {
        Configuration { waiting, ..self.configuration }.into()
    }

    /// How submitters go on from worker to worker. Default: [`Dispatch::RoundRobin`].
    #[must_use]
    pub fn dispatch(self, dispatch: Dispatch) -> Self {
        Configuration { dispatch, ..self.configuration }.into()
    }

    /// Where submitters sleep. Default: [`Completion::OneEvent`].
    #[must_use]
    pub fn completion(self, completion: Completion) -> Self {
        Configuration { completion, ..self.configuration }.into()
    }

    /// Builds it, with payloads that can always be made, and no `done`.
    ///
    /// # Errors
    /// [`BuildError`].
    pub fn build(
        self,
        mut init: impl FnMut(SlotId) -> T,
        handler: impl Fn(&mut T) + Send + Sync + 'static,
    ) -> Built<T, D, Infallible> {
        self.start(|slot| Ok(init(slot)), handler, None)
    }

    /// Builds it. `init` makes each slot's payload and may fail; `handler` runs on the worker
    /// threads; `done` runs on a submitter's thread, once for each handled request, when its slot is got back.
    ///
    /// # Errors
    /// [`BuildError`]; what `init` had made is dropped, threads that were started have ended.
    pub fn try_build<E>(
        self,
        init: impl FnMut(SlotId) -> Result<T, E>,
        handler: impl Fn(&mut T) + Send + Sync + 'static,
        done: impl Fn(&mut T) + Send + Sync + 'static,
    ) -> Built<T, D, E> {
        self.start(init, handler, Some(Box::new(done)))
    }

    fn start<E>(
        self,
        mut init: impl FnMut(SlotId) -> Result<T, E>,
        handler: impl Fn(&mut T) + Send + Sync + 'static,
        done: Option<Done<T>>,
    ) -> Built<T, D, E> {
        let Configuration { name, workers: count, requests_per_worker, waiting, dispatch, completion } =
            self.configuration;
        if name.contains('\0') {
            return Err(BuildError::Name { name });
        }
        let queue = D::build::<Native>(Shape::new(count, requests_per_worker)?)?;
        let pool = Pool::try_new(queue, |slot| init(slot).map(Request::new))?;
        let (client, workers) = pool.split();
        let engine = Arc::new(Engine::<T, D, Native>::new(count, waiting, completion, done));
        let submitter = Submitter::new(client, Arc::clone(&engine));
        if !submitter.set_dispatch(dispatch) {
            return Err(BuildError::Dispatch { design: D::NAME, dispatch });
        }
        let workqueue = Workqueue {
            engine: Arc::clone(&engine),
            threads: Mutex::new(Vec::with_capacity(count)),
            process: std::process::id(),
        };
        // All workers read it for each request, so nothing that is written may be beside it.
        let handler = Arc::new(CachePadded::new(handler));
        for (number, worker) in workers.into_iter().enumerate() {
            let (engine, handler) = (Arc::clone(&engine), Arc::clone(&handler));
            let thread = std::thread::Builder::new()
                .name(format!("{name}-{number}"))
                .spawn(move || {
                    serves(&engine);
                    engine.serve(worker, |value| handler(value));
                })
                .map_err(|source| BuildError::Thread { worker: number, source })?;
            workqueue.threads().push(thread);
        }
        Ok((workqueue, submitter))
    }
}

/// The worker threads of a queue, and their end. Dropping it shuts the queue down, draining it.
///
/// Payloads, those of cancelled requests too, are dropped with the last of the workqueue and its submitters,
/// and not before.
pub struct Workqueue<T: Send + 'static, D: Design> {
    engine: Arc<Engine<T, D, Native>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    process: u32,
}

impl<T: Send + 'static, D: Design> Workqueue<T, D> {
    /// Begins to describe a workqueue whose threads are named `name-0`, `name-1` …
    #[must_use]
    pub fn builder(name: &str) -> Builder<T, D> {
        Configuration { name: name.into(), ..Configuration::default() }.into()
    }

    /// Handles what is queued, then ends the workers; no request is taken any more. **Blocking.** May be called
    /// again, and from several threads: each call returns when all has ended.
    ///
    /// # Errors
    /// [`ShutdownError`].
    pub fn shutdown(&self) -> Result<Report, ShutdownError> {
        self.end(false)
    }

    /// Cancels what is queued, lets running handlers finish, then ends the workers. **Blocking.** May be
    /// called while a [`Workqueue::shutdown`] is under way, which it cuts short.
    ///
    /// # Errors
    /// [`ShutdownError`].
    pub fn shutdown_now(&self) -> Result<Report, ShutdownError> {
        self.end(true)
    }

    fn end(&self, cancel: bool) -> Result<Report, ShutdownError> {
        if is_worker_of(&self.engine) {
            return Err(ShutdownError::InsideHandler);
        }
        if self.process != std::process::id() {
            return Err(ShutdownError::Forked);
        }
        self.engine.begin_shutdown(cancel);
        // Held while joining: a second call waits here for the first one.
        let mut threads = self.threads();
        for thread in threads.drain(..) {
            // A worker catches its handler's panics, and has none of its own.
            let _ = thread.join();
        }
        drop(threads);
        self.engine.collect_leftovers();
        Ok(self.engine.report())
    }

    fn threads(&self) -> std::sync::MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the calling thread runs a handler or a `done` of this workqueue. There, a shutdown is refused to the
    /// handler only: what a `done` is called from holds a slot, and no worker waits for that.
    #[must_use]
    pub fn is_inside(&self) -> bool {
        is_inside_of(&self.engine)
    }

    /// How many requests have ended so far, and how.
    #[must_use]
    pub fn report(&self) -> Report {
        self.engine.report()
    }

    /// How many sleeping threads were woken so far: workers, and submitters.
    #[must_use]
    pub fn wakes(&self) -> (u64, u64) {
        self.engine.wakes()
    }
}

impl<T: Send + 'static, D: Design> Drop for Workqueue<T, D> {
    fn drop(&mut self) {
        if self.end(false) == Err(ShutdownError::InsideHandler) {
            // A thread cannot wait for itself. The workers end by themselves, when nothing is queued any more.
            self.engine.begin_shutdown(false);
        }
    }
}

impl<T: Send + 'static, D: Design> fmt::Debug for Workqueue<T, D> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Workqueue").field("engine", &self.engine).finish_non_exhaustive()
    }
}
