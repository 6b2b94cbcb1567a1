//! A workqueue under one lock, and what is wrong with it: each check must reject the variant that has its fault.
//!
//! ```text
//!   free: [3, 0]      to-do: [1]      running: 1
//! ```
//!
//! Without a fault it is right, if slow: the control, which every check must accept.

use super::fault::Fault;
use super::subject::{Fill, Function, Parcel, Plan, Queue, Refused, Subject, Submits, Then, Wait};
use slotwork_workqueue::{Fate, Report};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

struct Shared {
    state: Mutex<State>,
    work: Condvar,
    vacancy: Condvar,
    drained: Condvar,
    fault: Fault,
    workers: usize,
    handler: Function,
    done: Function,
}

#[derive(Default)]
struct State {
    free: VecDeque<usize>,
    todo: VecDeque<usize>,
    slots: Vec<Slot>,
    report: Report,
    running: usize,
    submitted: u64,
    stops: bool,
    cancels: bool,
    live_workers: usize,
    idle_workers: usize,
    waiting: usize,
    traces: usize,
    completions: u64,
    wakes: (u64, u64),
    shutdowns: usize,
}

struct Slot {
    parcel: Parcel,
    fate: Fate,
    uncollected: bool,
    flying: bool,
    turn: u64,
}

/// See the [module](self).
pub(crate) struct Toy(pub(crate) Fault);

struct ToyQueue {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct ToySubmitter(Arc<Shared>);

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Runs `done` for a slot that somebody has in hand.
    fn collect(&self, slot: &mut Slot) {
        if slot.uncollected && slot.fate == Fate::Handled {
            (self.done)(&mut slot.parcel);
        }
        slot.uncollected &= self.fault == Fault::DoneTwice;
    }

    fn collect_free(&self, state: &mut State) {
        for index in state.free.clone() {
            self.collect(&mut state.slots[index]);
        }
    }

    fn end(&self, state: &mut State, index: usize, fate: Fate) {
        state.slots[index].fate = if self.fault == Fault::ForgetsFate { Fate::Fresh } else { fate };
        state.slots[index].uncollected = true;
        state.slots[index].turn += 1;
        state.slots[index].flying = false;
        match fate {
            Fate::Handled => state.report.handled += 1,
            Fate::Failed => state.report.failed += 1,
            Fate::Cancelled if self.fault == Fault::CancelsUncounted => {}
            Fate::Cancelled | Fate::Fresh => state.report.cancelled += 1,
        }
        state.free.push_back(index);
        state.completions += 1;
        if self.fault != Fault::DrainUnseen {
            self.drained.notify_all();
        }
        self.vacate(state);
    }

    fn vacate(&self, state: &mut State) {
        if self.fault == Fault::TimeoutLeavesTrace && state.traces > 0 {
            state.traces -= 1;
        } else if self.fault == Fault::TimedUnseen && state.waiting == 0 {
        } else if self.fault == Fault::Herd {
            state.wakes.1 += state.waiting as u64;
            self.vacancy.notify_all();
        } else if self.fault != Fault::BatchesWakes || state.completions.is_multiple_of(4) {
            state.wakes.1 += u64::from(state.waiting > 0);
            self.vacancy.notify_one();
        }
    }

    fn serve(&self, number: usize) {
        let mut state = self.state();
        loop {
            if self.fault == Fault::QuitsBeforeLook && state.stops {
                break;
            }
            let mine = |index: &usize| self.fault != Fault::WorkerIdles || *index % self.workers == number;
            if let Some(index) = state.todo.iter().position(mine) {
                let index = state.todo.remove(index).expect("just found");
                if state.cancels && self.fault != Fault::CancelsNothing {
                    self.end(&mut state, index, Fate::Cancelled);
                    continue;
                }
                state.running += 1;
                let mut parcel = state.slots[index].parcel;
                drop(state);
                let panicked = catch_unwind(AssertUnwindSafe(|| (self.handler)(&mut parcel))).is_err();
                state = self.state();
                state.slots[index].parcel = parcel;
                state.running -= 1;
                match panicked {
                    true if self.fault == Fault::PanicInvisible => {}
                    true if self.fault != Fault::PanicPasses => self.end(&mut state, index, Fate::Failed),
                    _ => self.end(&mut state, index, Fate::Handled),
                }
                if panicked && self.fault == Fault::PanicEndsWorker {
                    break;
                }
            } else if state.stops {
                break;
            } else {
                if self.fault == Fault::PingPong && state.idle_workers > 0 {
                    state.wakes.0 += 1;
                    self.work.notify_one();
                }
                state.idle_workers += 1;
                state = self.work.wait(state).unwrap();
                state.idle_workers -= 1;
            }
        }
        state.live_workers -= 1;
        self.vacancy.notify_all();
        self.drained.notify_all();
    }

    fn shutdown(&self, cancel: bool) {
        let mut state = self.state();
        state.stops = true;
        state.cancels |= cancel;
        state.shutdowns += 1;
        self.work.notify_all();
        self.vacancy.notify_all();
        self.drained.notify_all();
    }
}

impl Subject for Toy {
    fn many(&self) -> bool {
        true
    }

    fn conserves(&self) -> bool {
        true
    }

    fn build(&self, plan: Plan, handler: Function, done: Function) -> (Box<dyn Queue>, Box<dyn Submits>) {
        let slot =
            |_| Slot { parcel: Parcel::default(), fate: Fate::Fresh, uncollected: false, flying: false, turn: 0 };
        let state = State {
            free: (0..plan.slots()).collect(),
            slots: (0..plan.slots()).map(slot).collect(),
            live_workers: plan.workers,
            ..State::default()
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            work: Condvar::new(),
            vacancy: Condvar::new(),
            drained: Condvar::new(),
            fault: self.0,
            workers: plan.workers,
            handler,
            done,
        });
        let threads = (0..plan.workers).map(|number| {
            let shared = Arc::clone(&shared);
            spawn(move || shared.serve(number))
        });
        let queue = ToyQueue { threads: Mutex::new(threads.collect()), shared: Arc::clone(&shared) };
        (Box::new(queue), Box::new(ToySubmitter(shared)))
    }
}

impl Queue for ToyQueue {
    fn shutdown(&self) -> Report {
        self.shared.shutdown(false);
        self.join()
    }

    fn shutdown_now(&self) -> Report {
        self.shared.shutdown(true);
        if self.shared.fault == Fault::CancelIsEarly { self.report() } else { self.join() }
    }

    fn report(&self) -> Report {
        self.shared.state().report
    }

    fn wakes(&self) -> (u64, u64) {
        self.shared.state().wakes
    }
}

impl ToyQueue {
    fn join(&self) -> Report {
        let second = self.shared.state().shutdowns > 1;
        if second && self.shared.fault == Fault::SecondJoinHangs {
            loop {
                std::thread::park();
            }
        }
        for thread in self.threads.lock().unwrap().drain(..) {
            thread.join().expect("a worker");
        }
        if self.shared.fault != Fault::ForgetsLeftovers {
            self.shared.collect_free(&mut self.shared.state());
        }
        self.report()
    }
}

impl Drop for ToyQueue {
    fn drop(&mut self) {
        self.shared.shutdown(false);
        self.threads.get_mut().unwrap().drain(..).for_each(|thread| thread.join().expect("a worker"));
    }
}

impl Drop for ToySubmitter {
    fn drop(&mut self) {
        if self.0.fault != Fault::ForgetsLeftovers {
            self.0.collect_free(&mut self.0.state());
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let mut state = std::mem::take(self.state.get_mut().unwrap());
        if self.fault != Fault::ForgetsLeftovers {
            state.slots.iter_mut().for_each(|slot| self.collect(slot));
        }
    }
}

impl ToySubmitter {
    fn wait(&self, wait: Wait) -> Result<usize, Refused> {
        let shared = &*self.0;
        let started = Instant::now();
        let mut state = shared.state();
        loop {
            if let Some(index) = state.free.pop_front() {
                return Ok(index);
            }
            let time = match wait {
                Wait::Not => return Err(Refused::Full),
                Wait::ForEver => Duration::from_secs(3600),
                Wait::For(time) => time.saturating_sub(started.elapsed()),
            };
            if state.stops && shared.fault != Fault::WaitsBeyondEnd {
                return Err(Refused::Stopped);
            }
            if time.is_zero() && shared.fault == Fault::TimeoutTakes {
                drop(state);
                std::thread::yield_now();
                shared.state().free.pop_front();
                return Err(Refused::Timeout);
            }
            if time.is_zero() {
                state.traces += 1;
                return Err(Refused::Timeout);
            }
            if shared.fault == Fault::SleepsUnseen {
                drop(state);
                sleep(Duration::from_millis(1));
                state = shared.state();
            }
            let seen = usize::from(shared.fault != Fault::TimedUnseen || matches!(wait, Wait::ForEver));
            state.waiting += seen;
            state = shared.vacancy.wait_timeout(state, time).unwrap().0;
            state.waiting -= seen;
        }
    }
}

impl Submits for ToySubmitter {
    fn another(&self) -> Box<dyn Submits> {
        Box::new(Self(Arc::clone(&self.0)))
    }

    fn use_slot(&self, wait: Wait, fill: Fill<'_>) -> Result<(), Refused> {
        let shared = &*self.0;
        let index = self.wait(wait)?;
        let mut state = shared.state();
        shared.collect(&mut state.slots[index]);
        let (mut parcel, fate) = (state.slots[index].parcel, state.slots[index].fate);
        drop(state);
        let then = fill(&mut parcel, fate);
        let mut state = shared.state();
        state.slots[index].parcel = parcel;
        if then == Then::Withdraw || state.stops {
            if then == Then::Withdraw || shared.fault != Fault::StoppedKeepsSlot {
                state.free.push_back(index);
            }
            if shared.fault != Fault::WithdrawsSilently {
                shared.vacate(&mut state);
            }
            return if then == Then::Withdraw { Ok(()) } else { Err(Refused::Stopped) };
        }
        state.submitted += 1;
        if shared.fault == Fault::LosesOne && state.submitted.is_multiple_of(7) {
            state.free.push_back(index);
            return Ok(());
        }
        state.slots[index].flying = true;
        state.todo.push_back(index);
        state.wakes.0 += u64::from(state.idle_workers > 0);
        if shared.fault == Fault::WorkerIdles {
            shared.work.notify_all();
        } else {
            shared.work.notify_one();
        }
        while shared.fault == Fault::SubmitWaits && state.todo.contains(&index) {
            state = shared.drained.wait_timeout(state, Duration::from_millis(1)).unwrap().0;
        }
        Ok(())
    }

    fn drain(&self) -> Result<(), Refused> {
        let shared = &*self.0;
        let mut state = shared.state();
        let mut flying: Vec<_> = (0..state.slots.len()).filter(|&index| state.slots[index].flying).collect();
        let turns: Vec<_> = state.slots.iter().map(|slot| slot.turn).collect();
        loop {
            flying.retain(|&index| state.slots[index].turn == turns[index]);
            let over = match shared.fault {
                Fault::DrainSeesTodo => state.todo.is_empty(),
                Fault::DrainWithoutCut => state.todo.is_empty() && state.running == 0,
                _ => flying.is_empty(),
            };
            if over || state.live_workers == 0 {
                break;
            }
            state = shared.drained.wait(state).unwrap();
        }
        shared.collect_free(&mut state);
        Ok(())
    }
}
