//! What the threads of a run share, and how they are started, timed and joined.

use crate::counters::{Counted, Counters};
use crate::gate::Gate;
use crate::processor_time;
use crate::steady::{SLICES, Settled, WarmUp};
use crate::tally::{Phase, Span};
use crate::usage::{self, Switches};
use crate::waiting::{Signals, Waiting};
use crate::workload::{Cell, Conditions, WorkloadError};
use slotwork::{CachePadded, Claims};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// What all threads of a run share.
pub(crate) struct Stage<'a> {
    phase: CachePadded<AtomicU32>,
    pub(crate) gate: Gate,
    pub(crate) signals: Signals,
    pub(crate) waiting: Waiting,
    pub(crate) conditions: Conditions<'a>,
    /// By worker: how many it handled, told during the warm-up alone.
    warm: Box<[CachePadded<AtomicU64>]>,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(cell: Cell, claims: &Claims, conditions: Conditions<'a>) -> Self {
        Self {
            phase: CachePadded::new(AtomicU32::new(Phase::WarmUp as u32)),
            gate: Gate::default(),
            signals: Signals::new(claims, cell.shape.lanes()),
            waiting: cell.waiting,
            conditions,
            warm: (0..cell.shape.lanes()).map(|_| CachePadded::new(AtomicU64::new(0))).collect(),
        }
    }

    #[inline]
    pub(crate) fn phase(&self) -> u32 {
        self.phase.load(Ordering::Acquire)
    }

    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.store(phase as u32, Ordering::Release);
    }

    /// A worker tells how many it has handled: on a line of its own, and only while nothing is counted.
    #[inline]
    pub(crate) fn tell(&self, worker: usize, phase: u32, handled: u64) {
        if phase == Phase::WarmUp as u32 {
            self.warm[worker].store(handled, Ordering::Relaxed);
        }
    }

    fn told(&self) -> u64 {
        self.warm.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }
}

/// Starts the threads of a run; when one cannot be started, sends the others home.
pub(crate) struct Crew<'scope, 'env> {
    pub(crate) scope: &'scope Scope<'scope, 'env>,
    pub(crate) stage: &'scope Stage<'scope>,
    pub(crate) threads: usize,
    pub(crate) started: usize,
}

impl<'scope> Crew<'scope, '_> {
    pub(crate) fn start<R: Send + 'scope>(
        &mut self,
        body: impl FnOnce() -> R + Send + 'scope,
    ) -> Result<ScopedJoinHandle<'scope, Option<R>>, WorkloadError> {
        let (stage, number) = (self.stage, self.started);
        self.started += 1;
        let thread = move || {
            stage.conditions.placement.bind(number);
            stage.gate.pass().then(body)
        };
        Builder::new().spawn_scoped(self.scope, thread).map_err(|source| {
            stage.gate.cancel();
            WorkloadError::Thread { number: number + 1, threads: self.threads, source }
        })
    }
}

/// When the window was, and what can be said of it.
pub(crate) struct Timing {
    pub(crate) window: Span,
    pub(crate) clock_doubt: Duration,
    pub(crate) steady: bool,
    pub(crate) processor_time: Option<Duration>,
    pub(crate) switches: Option<Switches>,
    pub(crate) wakes: u64,
    pub(crate) counted: Counted,
}

/// Sleeps through warm-up and window; none when interrupted. The counters were opened before the threads were started.
pub(crate) fn time_window(stage: &Stage<'_>, counters: &mut Counters) -> Option<Timing> {
    let settled = warm_up(stage);
    let (used_before, switches_before, wakes_before) =
        (processor_time::of_this_process(), usage::switches(), stage.signals.wakes());
    counters.start();
    let before = Instant::now();
    stage.enter(Phase::Window);
    let start = Instant::now();
    let went_on = settled.is_some() && sleep(stage.conditions.window, stage.conditions.interrupted);
    let close = Instant::now();
    stage.enter(Phase::Stop);
    let end = Instant::now();
    let counted = counters.stop();
    let used = used_before.and_then(|before| processor_time::of_this_process()?.checked_sub(before));
    let switches = switches_before.zip(usage::switches()).map(|(before, after)| Switches {
        voluntary: after.voluntary.saturating_sub(before.voluntary),
        involuntary: after.involuntary.saturating_sub(before.involuntary),
    });
    went_on.then(|| Timing {
        window: Span { start, end },
        clock_doubt: (start - before) + (end - close),
        steady: settled == Some(Settled::Steady),
        processor_time: used,
        switches,
        wakes: stage.signals.wakes() - wakes_before,
        counted,
    })
}

/// Sleeps until the throughput is steady or that is given up; none when interrupted.
fn warm_up(stage: &Stage<'_>) -> Option<Settled> {
    let slice = stage.conditions.warm_up / u32::try_from(SLICES).unwrap_or(1);
    let mut warm_up = WarmUp::default();
    let (mut told, mut at) = (stage.told(), Instant::now());
    loop {
        if !sleep(slice, stage.conditions.interrupted) {
            return None;
        }
        let (now, handled) = (Instant::now(), stage.told());
        match warm_up.add((handled - told) as f64 / (now - at).as_secs_f64().max(1e-9)) {
            Settled::NotYet => (told, at) = (handled, now),
            settled => return Some(settled),
        }
    }
}

/// Sleeps in short steps; false when interrupted.
fn sleep(time: Duration, interrupted: &AtomicBool) -> bool {
    const STEP: Duration = Duration::from_millis(50);
    let end = Instant::now() + time;
    loop {
        if interrupted.load(Ordering::Relaxed) {
            return false;
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(STEP));
    }
}

/// Joins all, then says whether one panicked.
pub(crate) fn join_all<R>(
    threads: Vec<ScopedJoinHandle<'_, Option<R>>>,
    side: &'static str,
) -> Result<Vec<R>, WorkloadError> {
    let ended: Vec<_> = threads.into_iter().map(ScopedJoinHandle::join).collect();
    let mut results = Vec::with_capacity(ended.len());
    for end in ended {
        match end {
            Ok(result) => results.extend(result),
            Err(panic) => {
                let message = panic.downcast_ref::<&str>().map(ToString::to_string);
                let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
                return Err(WorkloadError::Panicked { side, message: message.unwrap_or_else(|| "unknown".into()) });
            }
        }
    }
    Ok(results)
}
