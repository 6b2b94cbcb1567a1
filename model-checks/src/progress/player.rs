//! The scheduler of shuttle under which adversaries play: it keeps the ledger, and lets every execution end well.
//!
//! ```text
//!   set up ──▶ the adversary chooses each step ──▶ its verdict ──▶ all threads go on, at random, to the end of a call
//! ```
//!
//! A suspended thread is one that the adversary does not choose. When the adversary has seen enough, the
//! execution is over: everybody runs again, and stops at the end of its call. So no stack is left behind.

use super::crew::Crew;
use super::ledger::{Ledger, Shared};
use crate::platform::{hints_are_steps, take_stand};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
use slotwork::Design;
use std::sync::{Arc, Mutex};

/// Chooses the steps of executions.
pub(super) trait Adversary: Send + 'static {
    /// The threads of the next execution, if there is one more.
    fn begin(&mut self) -> Option<Crew>;

    /// The thread to make the next step, of those that can; none when it has seen enough.
    fn choose(&mut self, ledger: &Ledger, runnable: &[usize]) -> Option<usize>;

    /// The execution was seen to its end.
    fn end(&mut self, ledger: &Ledger);
}

/// Steps of an execution, above which even a fair schedule is taken not to end.
const MAX_STEPS: usize = 50_000;

/// Lets an adversary play against a design until it has no more executions; gives it back with what it found.
///
/// # Errors
/// Why an execution did not end, in one line.
pub(super) fn play<D: Design, A: Adversary>(adversary: A) -> Result<A, String> {
    let shared = Shared::default();
    let crew = Arc::new(Mutex::new(None));
    let adversary = Arc::new(Mutex::new(adversary));
    let player = Player {
        adversary: Arc::clone(&adversary),
        crew: Arc::clone(&crew),
        shared: shared.clone(),
        random: SmallRng::seed_from_u64(2018),
        runnable: Vec::new(),
        began: false,
    };
    let mut config = shuttle::Config::new();
    config.silence_warnings = true;
    config.failure_persistence = shuttle::FailurePersistence::None;
    config.stack_size = 1 << 16;
    config.max_steps = shuttle::MaxSteps::FailAfter(MAX_STEPS);
    hints_are_steps(false);
    let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        shuttle::Runner::new(player, config).run(move || {
            let crew: Option<Crew> = lock(&crew).clone();
            crew.expect("an execution has a crew").run::<D>(&shared);
        });
    }));
    hints_are_steps(true);
    match played {
        Ok(()) => {
            let adversary = Arc::into_inner(adversary).expect("the player is gone");
            Ok(adversary.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
        }
        Err(payload) => {
            let why = payload.downcast_ref::<String>().cloned();
            let why = why.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string));
            Err(why.unwrap_or_else(|| "a panic".into()).replace('\n', " "))
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

struct Player<A> {
    adversary: Arc<Mutex<A>>,
    crew: Arc<Mutex<Option<Crew>>>,
    shared: Shared,
    random: SmallRng,
    /// Kept for its memory.
    runnable: Vec<usize>,
    began: bool,
}

impl<A: Adversary> Scheduler for Player<A> {
    fn new_execution(&mut self) -> Option<Schedule> {
        let mut adversary = lock(&self.adversary);
        if self.began {
            adversary.end(&self.shared.lock());
        }
        let crew = adversary.begin()?;
        let threads = crew.programs.iter().map(|_| Default::default()).collect();
        *self.shared.lock() = Ledger { threads, ..Ledger::default() };
        *lock(&self.crew) = Some(crew);
        self.began = true;
        let _ = take_stand();
        Some(Schedule::new(0))
    }

    fn next_task(&mut self, runnable: &[&Task], current: Option<TaskId>, _is_yielding: bool) -> Option<TaskId> {
        let mut ledger = self.shared.lock();
        let current = current.map_or(0, usize::from);
        let stand = take_stand();
        if let (Some(_), Some(thread)) = (stand, current.checked_sub(1)) {
            let thread = &mut ledger.threads[thread];
            thread.stand = stand;
            thread.steps += 1;
        }
        // The main thread sets up, and in the end joins.
        if runnable.iter().any(|task| usize::from(task.id()) == 0) {
            return Some(TaskId::from(0));
        }
        self.runnable.clear();
        self.runnable.extend(runnable.iter().map(|task| usize::from(task.id()) - 1));
        if !ledger.over {
            match lock(&self.adversary).choose(&ledger, &self.runnable) {
                Some(thread) => return Some(TaskId::from(thread + 1)),
                None => ledger.over = true,
            }
        }
        Some(TaskId::from(self.runnable[self.random.random_range(0..self.runnable.len())] + 1))
    }

    fn next_u64(&mut self) -> u64 {
        self.random.random()
    }
}
