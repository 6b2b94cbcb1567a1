//! A run: threads as coroutines on the machine, all on one thread of the system.
//!
//! ```text
//!   Simulation::new ▸ build what they share ▸ spawn, spawn … ▸ run ▸ Report
//! ```

use crate::account::Time;
use crate::arena::{Opened, aside};
use crate::machine::{Machine, State, Turn};
use crate::profile::Profile;
use crate::report::{Report, ThreadReport, line_report, nanoseconds};
use crate::trace::Trace;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use thiserror::Error;

/// Why a run has no report.
#[derive(Debug, Error)]
pub enum SimulationError {
    /// The program's allocator is another one, so addresses would decide results.
    #[error("the program does not have LineAllocator as its global allocator: results would depend on addresses")]
    NoAllocator,
    /// Too many runs at a time.
    #[error("no memory for a further simulated run: too many are under way, or failed before")]
    NoArena,
    /// A coroutine has no stack.
    #[error("no memory for the stack of a simulated thread: {0}")]
    Stack(std::io::Error),
    /// A thread panicked.
    #[error("thread '{thread}' panicked at {nanoseconds:.0} ns of simulated time: {message}")]
    Panicked {
        /// Its name.
        thread: String,
        /// Simulated time.
        nanoseconds: f64,
        /// What it said.
        message: String,
    },
    /// Nothing was achieved for too long.
    #[error("nothing was achieved in {events} accesses and hints, at {nanoseconds:.0} ns of simulated time; {stuck}")]
    Livelock {
        /// The limit.
        events: u64,
        /// Simulated time.
        nanoseconds: f64,
        /// Who does what, and at which lines.
        stuck: String,
    },
    /// All threads that have not ended are asleep.
    #[error("all threads are asleep for ever, at {nanoseconds:.0} ns of simulated time; {stuck}")]
    Deadlock {
        /// Simulated time.
        nanoseconds: f64,
        /// Who sleeps.
        stuck: String,
    },
}

/// How a run is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Of everything that is drawn by lot.
    pub seed: u64,
    /// Accesses and hints without [`Simulated::achieved`](crate::Simulated::achieved) after which a run is broken off.
    pub idle_limit: u64,
    /// Most pieces of a trace; none is kept, if none.
    pub trace: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 1, idle_limit: 5_000_000, trace: None }
    }
}

type Body = Box<dyn FnOnce()>;
type Fiber = Coroutine<(), (), Result<(), String>, DefaultStack>;

thread_local! {
    static MACHINE: RefCell<Option<Box<Machine>>> = const { RefCell::new(None) };
    /// The simulated thread that runs now: its way out. Null on no simulated thread.
    static WAY_OUT: Cell<*const Yielder<(), ()>> = const { Cell::new(std::ptr::null()) };
}

/// Whether the caller is a simulated thread.
#[inline]
pub(crate) fn is_simulated() -> bool {
    !WAY_OUT.get().is_null()
}

/// Calls the machine of the running simulation. What it keeps for itself is no part of the run's memory.
#[inline]
pub(crate) fn with_machine<R>(call: impl FnOnce(&mut Machine) -> R) -> R {
    aside(|| {
        MACHINE.with_borrow_mut(|machine| call(machine.as_mut().expect("a simulated thread has a machine around it")))
    })
}

/// Gives way to other threads; returns when it is the caller's turn again.
pub(crate) fn suspend() {
    let way_out = WAY_OUT.get();
    // SAFETY: not null, for only a simulated thread comes here; the yielder is on that thread's stack, below this
    // frame, and lives as long as the coroutine runs. The run loop sets the word for whom it resumes.
    unsafe { &*way_out }.suspend(());
}

/// Waits until the machine lets the caller go on.
#[inline]
pub(crate) fn await_turn(mut turn: impl FnMut(&mut Machine) -> Turn) {
    while with_machine(&mut turn) == Turn::Wait {
        suspend();
    }
}

/// A run before it begins.
pub struct Simulation {
    arena: Opened,
    threads: Vec<(String, Body)>,
    profile: Profile,
    options: Options,
}

/// Bytes of a simulated thread's stack; what is not touched costs nothing.
const STACK_BYTES: usize = 256 << 10;

impl Simulation {
    /// A run on a machine of this profile.
    ///
    /// # Errors
    /// [`SimulationError::NoAllocator`], [`SimulationError::NoArena`].
    pub fn new(profile: &Profile, options: Options) -> Result<Self, SimulationError> {
        let arena = Opened::new().ok_or(SimulationError::NoArena)?;
        if !arena.is_installed() {
            return Err(SimulationError::NoAllocator);
        }
        Ok(Self { arena, threads: Vec::new(), profile: profile.clone(), options })
    }

    /// Builds what threads share: everything that `build` allocates begins a line of its own. It costs no time.
    pub fn build<R>(&self, build: impl FnOnce() -> R) -> R {
        self.arena.inside(build)
    }

    /// A thread of the run, on the next core in the profile's order.
    pub fn spawn(&mut self, name: impl Into<String>, body: impl FnOnce() + 'static) {
        self.threads.push((name.into(), Box::new(body)));
    }

    /// Runs all threads to their ends.
    ///
    /// # Errors
    /// [`SimulationError`]. What threads own that did not end is not freed: they are frozen in the middle of it.
    pub fn run(self) -> Result<Report, SimulationError> {
        let Self { arena, threads, profile, options } = self;
        let trace = options.trace.map(Trace::of_at_most);
        let mut machine = Box::new(Machine::new(&profile, arena.base(), options.seed, options.idle_limit, trace));
        let mut fibers = Vec::with_capacity(threads.len());
        let ways_out: Rc<[Cell<*const Yielder<(), ()>>]> =
            threads.iter().map(|_| Cell::new(std::ptr::null())).collect();
        for (number, (name, body)) in threads.into_iter().enumerate() {
            // The word that park and unpark meet at is the thread's own line.
            let parker = arena.inside(|| Box::new([0_u8; 64]));
            machine.add(name, options.seed, std::ptr::from_ref(&*parker).addr());
            let stack = DefaultStack::new(STACK_BYTES).map_err(SimulationError::Stack)?;
            let ways_out = Rc::clone(&ways_out);
            let body = move |way_out: &Yielder<(), ()>, ()| {
                ways_out[number].set(way_out);
                WAY_OUT.set(way_out);
                catch_unwind(AssertUnwindSafe(body)).map_err(|panic| message_of(panic.as_ref()))
            };
            fibers.push((Some(Coroutine::with_stack(stack, body)), parker));
        }
        machine.begin();
        MACHINE.with_borrow_mut(|current| *current = Some(machine));
        let ended = arena.inside(|| drive(&mut fibers, &ways_out));
        WAY_OUT.set(std::ptr::null());
        let machine = MACHINE.with_borrow_mut(Option::take).expect("the run's machine");
        for (fiber, _) in &mut fibers {
            // A thread that did not end is in the middle of something; its destructors would wait for others.
            if let Some(fiber) = fiber.take() {
                std::mem::forget(fiber);
            }
        }
        ended.map(|()| report(*machine))
    }
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.threads.iter().map(|(name, _)| name);
        formatter.debug_list().entries(names).finish()
    }
}

/// Resumes whose turn it is, until all have ended.
fn drive(
    fibers: &mut [(Option<Fiber>, Box<[u8; 64]>)],
    ways_out: &[Cell<*const Yielder<(), ()>>],
) -> Result<(), SimulationError> {
    let mut left = fibers.len();
    while left > 0 {
        let next = with_machine(|machine| {
            if machine.idle_events > machine.idle_limit {
                let (events, nanoseconds) = (machine.idle_limit, now(machine));
                return Err(SimulationError::Livelock { events, nanoseconds, stuck: stuck(machine) });
            }
            machine.next().ok_or_else(|| SimulationError::Deadlock { nanoseconds: now(machine), stuck: stuck(machine) })
        })?;
        let fiber = fibers[next].0.as_mut().expect("a thread that ended has no turn");
        WAY_OUT.set(ways_out[next].get());
        match fiber.resume(()) {
            CoroutineResult::Yield(()) => {}
            CoroutineResult::Return(ended) => {
                WAY_OUT.set(std::ptr::null());
                with_machine(|machine| match ended {
                    Ok(()) => {
                        machine.finish();
                        Ok(())
                    }
                    Err(message) => {
                        let thread = &machine.threads[next];
                        let nanoseconds = nanoseconds(thread.clock);
                        Err(SimulationError::Panicked { thread: thread.name.clone(), nanoseconds, message })
                    }
                })?;
                fibers[next].0 = None;
                left -= 1;
            }
        }
    }
    Ok(())
}

fn now(machine: &Machine) -> f64 {
    nanoseconds(machine.threads.iter().map(|thread| thread.clock).max().unwrap_or(0))
}

/// Every thread that has not ended: what it does, and at which lines.
fn stuck(machine: &Machine) -> String {
    let state = |state| match state {
        State::Running | State::Spinning => "looks",
        State::Ready => "waits for its core",
        State::Parked => "sleeps",
        State::Done => "has ended",
    };
    let thread = |(number, thread): (usize, &crate::machine::Thread)| {
        let mut lines: Vec<String> = machine
            .watched_by(number)
            .into_iter()
            .map(|line| line_report((line as usize, &machine.lines[line as usize])).name)
            .collect();
        lines.dedup();
        lines.truncate(4);
        let lines = if lines.is_empty() { String::new() } else { format!(" at {}", lines.join(", ")) };
        format!("{} {}{lines}", thread.name, state(thread.state))
    };
    let left = machine.threads.iter().enumerate().filter(|(_, thread)| thread.state != State::Done);
    let words: Vec<String> = left.map(thread).collect();
    let more = if words.len() > 12 { format!("; and {} more", words.len() - 12) } else { String::new() };
    format!("{}{more}", words.iter().take(12).cloned().collect::<Vec<_>>().join("; "))
}

fn message_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "unknown".into())
}

fn report(machine: Machine) -> Report {
    let end: Time = machine.threads.iter().map(|thread| thread.clock).max().unwrap_or(0);
    let threads = machine.threads.into_iter().map(|thread| ThreadReport {
        ended_nanoseconds: nanoseconds(thread.clock),
        name: thread.name,
        account: thread.account,
        wakes: thread.wakes,
    });
    Report {
        nanoseconds: nanoseconds(end),
        threads: threads.collect(),
        lines: machine.lines.iter().enumerate().map(line_report).collect(),
        accesses: machine.accesses,
        made_up_looks: machine.made_up,
        turns: machine.turns,
        trace: machine.trace,
    }
}
