//! A script of operations, run against a design and the specification side by side, on one thread.

use super::kept::{self, Held, Taken};
use super::specification::{Circle, Fault};
use super::{ClientOf, QueueOf, WorkerOf, admitted, handles};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use slotwork::{Design, Drain, Shape, SlotId, Submitters};
use std::rc::Rc;

/// One step. Numbers choose among what there is when the step is run, modulo how many there are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Acquire {
        client: usize,
        times: usize,
    },
    Submit {
        held: usize,
        times: usize,
    },
    Withdraw {
        held: usize,
    },
    Take {
        worker: usize,
        times: usize,
    },
    Complete {
        claimed: usize,
        times: usize,
    },
    Fail {
        claimed: usize,
    },
    /// Round and round with one slot at a time: what is in line beside it may starve.
    Cycle {
        client: usize,
        worker: usize,
        times: usize,
    },
    NewClient,
    DropClient {
        client: usize,
    },
    BeginDrain {
        client: usize,
    },
}

/// What a slot carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Letter {
    /// Written by the client.
    question: u64,
    /// Written by the worker.
    answer: u64,
}

/// One fixed seed, so that a failure comes again; `SLOTWORK_SEED` sets another.
pub(crate) fn seed() -> u64 {
    std::env::var("SLOTWORK_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(2018)
}

/// Random scripts on random shapes; fails with the shortest failing script, the shape and the seed.
pub(crate) fn check<D: Design>(cases: u32) {
    let slots = [1, 2, 3, 4, 63, 64, 65];
    let shapes = (1..=4).flat_map(|lanes| slots.map(|slots| admitted::<D>(lanes, slots))).flatten().collect();
    check_run(D::NAME, shapes, cases, run::<D>);
}

/// The same without the design's type, so that it is compiled once.
fn check_run(name: &str, shapes: Vec<Shape>, cases: u32, run: fn(Shape, &[Step]) -> Result<(), String>) {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed().to_le_bytes());
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let outcome = runner.run(&(select(shapes), vec(step(), 1..120)), |(shape, script)| {
        run(shape, &script).map_err(TestCaseError::fail)
    });
    if let Err(failure) = outcome {
        panic!("{name}, seed {}: {failure}", seed());
    }
}

fn step() -> impl Strategy<Value = Step> {
    let any = 0..1000_usize;
    // Mostly one at a time; sometimes as many as there are.
    let times = || prop_oneof![4 => Just(1_usize), 2 => 2..5_usize, 1 => Just(1000)];
    prop_oneof![
        6 => (any.clone(), times()).prop_map(|(client, times)| Step::Acquire { client, times }),
        6 => (any.clone(), times()).prop_map(|(held, times)| Step::Submit { held, times }),
        2 => any.clone().prop_map(|held| Step::Withdraw { held }),
        6 => (any.clone(), times()).prop_map(|(worker, times)| Step::Take { worker, times }),
        6 => (any.clone(), times()).prop_map(|(claimed, times)| Step::Complete { claimed, times }),
        1 => any.clone().prop_map(|claimed| Step::Fail { claimed }),
        1 => (any.clone(), any.clone(), 1..300_usize)
            .prop_map(|(client, worker, times)| Step::Cycle { client, worker, times }),
        1 => Just(Step::NewClient),
        1 => any.clone().prop_map(|client| Step::DropClient { client }),
        1 => any.prop_map(|client| Step::BeginDrain { client }),
    ]
}

/// Runs a script, then winds down, and says what went wrong.
pub(crate) fn run<D: Design>(shape: Shape, script: &[Step]) -> Result<(), String> {
    let mut machine = Machine::<D>::new(shape);
    for (number, step) in script.iter().enumerate() {
        machine.step(*step).map_err(|fault| format!("step {number}, {step:?}: {fault}"))?;
        machine.look_around().map_err(|fault| format!("after step {number}, {step:?}: {fault}"))?;
    }
    machine.wind_down().map_err(|fault| format!("winding down: {fault}"))
}

type Waiting<Q> = (Drain<Letter, Q>, Vec<(SlotId, u64)>);

struct Machine<D: Design> {
    circle: Circle,
    held: Vec<Held<Letter, QueueOf<D>>>,
    claimed: Vec<Taken<Letter, QueueOf<D>>>,
    clients: Vec<Rc<ClientOf<D, Letter>>>,
    /// Whether each client's last acquire found nothing.
    found_nothing: Vec<bool>,
    workers: Vec<Rc<WorkerOf<D, Letter>>>,
    /// Each with the slots in flight when it began, and their completions then.
    drains: Vec<Waiting<QueueOf<D>>>,
    /// What each slot should carry.
    letters: Vec<Letter>,
    questions: u64,
}

impl<D: Design> Machine<D> {
    fn new(shape: Shape) -> Self {
        let (client, workers) = handles::<D, Letter>(shape, |_| Letter::default());
        Self {
            circle: Circle::new(shape, D::CLAIMS),
            held: Vec::new(),
            claimed: Vec::new(),
            clients: vec![Rc::new(client)],
            found_nothing: vec![false],
            workers: workers.into_iter().map(Rc::new).collect(),
            drains: Vec::new(),
            letters: vec![Letter::default(); shape.slots()],
            questions: 0,
        }
    }

    fn step(&mut self, step: Step) -> Result<(), String> {
        match step {
            Step::Acquire { client, times } => self.repeat(times, |machine| machine.acquire(client)),
            Step::Submit { held, times } => self.repeat(times, |machine| machine.submit(held)),
            Step::Withdraw { held } => self.withdraw(held),
            Step::Take { worker, times } => self.repeat(times, |machine| machine.take(worker)),
            Step::Complete { claimed, times } => self.repeat(times, |machine| machine.complete(claimed, false)),
            Step::Fail { claimed } => self.complete(claimed, true).map(drop),
            Step::Cycle { client, worker, times } => self.repeat(times, |machine| machine.cycle(client, worker)),
            Step::NewClient => self.new_client(),
            Step::DropClient { client } => self.drop_client(client),
            Step::BeginDrain { client } => {
                let drain = self.clients[client % self.clients.len()].begin_drain();
                self.drains.push((drain, self.circle.flying().collect()));
                Ok(())
            }
        }
    }

    /// Until it is done, or there is nothing more to do.
    fn repeat(&mut self, times: usize, one: impl Fn(&mut Self) -> Result<bool, String>) -> Result<(), String> {
        for _ in 0..times {
            if !one(self)? {
                break;
            }
        }
        Ok(())
    }

    fn acquire(&mut self, client: usize) -> Result<bool, String> {
        let number = client % self.clients.len();
        let answer = kept::acquire(&self.clients[number]);
        let before = std::mem::replace(&mut self.found_nothing[number], answer.is_none());
        self.circle.acquired(answer.as_ref().map(|held| held.guard.slot()), before).map_err(text)?;
        let Some(held) = answer else { return Ok(false) };
        // Only now is the payload touched: the specification has said that the slot was free.
        let slot = held.guard.slot();
        let expected = (self.circle.outcome(slot), self.letters[slot.index()]);
        let found = (held.guard.outcome(), *held.guard);
        self.held.push(held);
        same("what the next owner finds", slot, &expected, &found)?;
        Ok(true)
    }

    fn submit(&mut self, held: usize) -> Result<bool, String> {
        let Some(held) = swap_remove(&mut self.held, held) else { return Ok(false) };
        self.questions += 1;
        let slot = held.guard.slot();
        let letter = &mut self.letters[slot.index()];
        letter.question = self.questions;
        let letter = *letter;
        let destination = held.finish(|mut vacant| {
            *vacant = letter;
            vacant.submit()
        });
        self.circle.submitted(slot, destination).map_err(text)?;
        Ok(true)
    }

    fn withdraw(&mut self, held: usize) -> Result<(), String> {
        let Some(held) = swap_remove(&mut self.held, held) else { return Ok(()) };
        let slot = held.guard.slot();
        held.finish(drop);
        self.circle.withdrawn(slot).map_err(text)
    }

    fn take(&mut self, worker: usize) -> Result<bool, String> {
        let worker = &self.workers[worker % self.workers.len()];
        let answer = kept::take(worker);
        self.circle.taken(worker.lane(), answer.as_ref().map(|claimed| claimed.guard.slot())).map_err(text)?;
        let Some(claimed) = answer else { return Ok(false) };
        let slot = claimed.guard.slot();
        let found = *claimed.guard;
        self.claimed.push(claimed);
        same("what the worker finds", slot, &self.letters[slot.index()], &found)?;
        Ok(true)
    }

    fn complete(&mut self, claimed: usize, failed: bool) -> Result<bool, String> {
        let Some(claimed) = swap_remove(&mut self.claimed, claimed) else { return Ok(false) };
        let slot = claimed.guard.slot();
        let letter = &mut self.letters[slot.index()];
        letter.answer = !letter.question;
        let answer = letter.answer;
        claimed.finish(|mut guard| {
            guard.answer = answer;
            if failed { guard.fail() } else { guard.complete() }
        });
        self.circle.completed(slot, failed).map_err(text)?;
        Ok(true)
    }

    fn cycle(&mut self, client: usize, worker: usize) -> Result<bool, String> {
        let last = self.claimed.len();
        if self.take(worker)? {
            self.complete(last, false)?;
        }
        let last = self.held.len();
        Ok(self.acquire(client)? && self.submit(last)?)
    }

    fn new_client(&mut self) -> Result<(), String> {
        let limit = match D::CLAIMS.submitters {
            Submitters::One => 1,
            Submitters::Many => D::CLAIMS.max_clients.unwrap_or(usize::MAX),
        };
        match self.clients[0].try_clone() {
            Ok(client) if self.clients.len() < limit => {
                self.clients.push(Rc::new(client));
                self.found_nothing.push(false);
                Ok(())
            }
            Ok(_) => Err(format!("client {} was made, and the limit is {limit}", self.clients.len() + 1)),
            Err(_) if self.clients.len() >= limit => Ok(()),
            Err(error) => Err(format!("no client {}: {error}", self.clients.len() + 1)),
        }
    }

    /// Drops one, when it is not the last, after withdrawing what it holds.
    fn drop_client(&mut self, client: usize) -> Result<(), String> {
        if self.clients.len() == 1 {
            return Ok(());
        }
        let number = client % self.clients.len();
        let client = self.clients.swap_remove(number);
        self.found_nothing.swap_remove(number);
        while let Some(held) = self.held.iter().position(|held| Rc::ptr_eq(&held.handle, &client)) {
            self.withdraw(held)?;
        }
        Ok(())
    }

    /// What must be so after every step.
    fn look_around(&mut self) -> Result<(), String> {
        let (expected, found) = (self.circle.in_flight(), self.clients[0].in_flight());
        if expected != found {
            return Err(format!("in_flight() is {found}, and {expected} are in flight"));
        }
        let mut fault = None;
        let circle = &self.circle;
        self.drains.retain_mut(|(drain, waited_for)| {
            let ended = drain.poll();
            let open = waited_for.iter().filter(|&&(slot, before)| circle.completions(slot) == before).count();
            if ended != (open == 0) {
                fault = Some(format!("a drain says {ended}, and {open} requests from before it are open"));
            }
            !ended
        });
        fault.map_or(Ok(()), Err)
    }

    /// Everything round to free again; then all slots are there, once.
    fn wind_down(&mut self) -> Result<(), String> {
        while self.submit(0)? {}
        for worker in 0..self.workers.len() {
            while self.take(worker)? {}
        }
        while self.complete(0, false)? {}
        self.look_around()?;
        for client in 0..self.clients.len() {
            while self.acquire(client)? {}
            while let Some(held) = self.held.len().checked_sub(1) {
                self.withdraw(held)?;
            }
        }
        Ok(())
    }
}

fn swap_remove<T>(from: &mut Vec<T>, number: usize) -> Option<T> {
    (!from.is_empty()).then(|| from.swap_remove(number % from.len()))
}

#[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn text(fault: Fault) -> String {
    fault.to_string()
}

fn same<V: PartialEq + std::fmt::Debug>(what: &str, slot: SlotId, expected: &V, found: &V) -> Result<(), String> {
    let fault = || format!("{what} in slot {} is {found:?}, and not {expected:?}", slot.index());
    if expected == found { Ok(()) } else { Err(fault()) }
}
