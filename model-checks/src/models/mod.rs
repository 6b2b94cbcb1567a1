//! The models: small programs over a design, each with its witnesses, its floor and its bounds.
//!
//! ```text
//!   model  ×  design  ×  view   ─▶  one process  ─▶  executions, witnesses, complete or bounded
//! ```
//!
//! A model is written against [`Machine`] and the handles of [`Pool`], so the very code that ships is
//! what runs. It asserts what must hold in every execution; payloads are plain integers in tracked
//! cells, so a missing ordering is a race that the checker reports. It notes *witnesses*: interesting
//! executions that must have occurred, or else the model looked at nothing.

mod acquire;
mod behind;
mod circle;
mod drain;
mod drops;
mod exact;
mod idle;
mod refill;
mod reuse;
mod shutdown;
mod sleep;
mod submit;
mod turns;

pub use acquire::{
    AcquireAcquire, AcquireComplete, FullCircle, LastSlot, NaivePool, OneOfMany, WithdrawAcquire, WithdrawComplete,
};
pub use behind::{FreeBehindCompletion, FreeBehindSubmission};
pub use circle::{Circle, LargeCircle, LargeSleepingCircle, ORACLE_SITES, SleepingCircle};
pub use drain::{Drained, DrainedTwo};
pub use drops::DropDouble;
pub use exact::ExactNone;
pub use idle::NoIdleWorker;
pub use refill::{RefillAsked, RefillComesRound, SleepingRefill};
pub use reuse::{PushTwice, Reuse};
pub use shutdown::{EndAfterSubmit, EndOfCircle, EndOfDrain, EndOfSleeper, EndOfSubmit, EndOfWait};
pub(crate) use sleep::two_sleepers;
pub use sleep::{Bell, LeftWake, SleepingAcquire, SleepingTake, TimedOutTake, TwoSleepers};
pub use submit::{
    ClientChurn, FifoOrder, RoleChange, RoleChangeTwice, SubmitTake, TwoSubmitters, TwoSubmittersOneTaker, TwoTakers,
};
pub use turns::{CompletedOutOfTurn, SubmittedOutOfTurn};

use crate::job::Lens;
use crate::platform::Machine;
use crate::seen::Seen;
use slotwork::{Claims, Client, Design, Pool, Shape, SlotId, Submitters, Worker};

/// A small program that must be right in every execution.
pub trait Model: 'static {
    /// Its name; begins with the known fault it looks for, if there is one.
    const NAME: &'static str;
    /// What it establishes, in a few words: several models may stand for one property.
    const PROPERTY: &'static str;
    /// What must have been seen at least once.
    const WITNESSES: &'static [&'static str];
    /// The fewest executions that count as having looked.
    const FLOOR: u64;
    /// How far it is explored.
    const BOUND: Bound;
    /// Whether its threads park.
    const PARKS: bool = false;
    /// How many schedules a sampling view draws.
    const SCHEDULES: u64 = 400;
    /// Steps of one schedule, above which it is taken for a loop that does not end.
    const MAX_STEPS: usize = 200_000;

    /// Why it says nothing about a design with these claims, if so.
    #[must_use]
    fn skip(claims: &Claims) -> Option<&'static str> {
        let _ = claims;
        None
    }

    /// The bound for a design with these claims.
    #[must_use]
    fn bound(claims: &Claims) -> Bound {
        let _ = claims;
        Self::BOUND
    }

    /// One execution.
    fn run<D: Design, P: Machine>(seen: &'static Seen);
}

/// How many preemptions a model explores: none means all there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// In a plain `cargo test`.
    pub plain: Option<usize>,
    /// With `--cfg loom`, and on request.
    pub full: Option<usize>,
    /// The same in the spurious view, which has every failure of an exchange to explore besides.
    pub full_spurious: Option<usize>,
}

impl Bound {
    /// The bound in a view, of a bounded run or of one on request.
    #[must_use]
    pub fn of(self, lens: Lens, full: bool) -> Option<usize> {
        match (full, lens) {
            (false, _) => self.plain,
            (true, Lens::Spurious) => self.full_spurious,
            (true, _) => self.full,
        }
    }

    /// The bound of this build.
    #[must_use]
    pub fn of_this_build(self, lens: Lens) -> Option<usize> {
        self.of(lens, cfg!(loom))
    }
}

/// Two threads, a few operations: always complete.
const SMALL: Bound = Bound { plain: None, full: None, full_spurious: None };
/// Two threads, more operations: bounded by default, complete on request.
const MEDIUM: Bound = Bound { plain: Some(3), full: None, full_spurious: None };
/// Two threads, too many operations to end without a bound: the same bound always.
const LONG: Bound = Bound { plain: Some(3), full: Some(3), full_spurious: Some(3) };
/// Three threads: bounded always.
const LARGE: Bound = Bound { plain: Some(2), full: Some(3), full_spurious: Some(3) };
/// Not explored, but sampled or sought.
pub(crate) const UNBOUNDED: Bound = SMALL;

/// Code that runs for a model, whatever its type.
pub trait ModelVisitor {
    /// What it says of each model.
    type Output;
    /// Runs for one model.
    fn visit<M: Model>(&mut self) -> Self::Output;
}

macro_rules! models {
    ($(#[$meta:meta])* $all:ident, $named:ident: $($model:ty),+ $(,)?) => {
        $(#[$meta])*
        pub fn $all<V: ModelVisitor>(visitor: &mut V) -> Vec<V::Output> {
            vec![$(visitor.visit::<$model>()),+]
        }

        /// The same for the model of this name, if there is one.
        pub fn $named<V: ModelVisitor>(name: &str, visitor: &mut V) -> Option<V::Output> {
            $(
                if name == <$model>::NAME {
                    return Some(visitor.visit::<$model>());
                }
            )+
            None
        }
    };
}

models![
    /// Runs `visitor` for every model that is explored by loom.
    visit_models, visit_model:
    AcquireAcquire, LastSlot, ExactNone, NoIdleWorker, NaivePool, FullCircle, WithdrawAcquire, WithdrawComplete, AcquireComplete, OneOfMany,
    FreeBehindCompletion, FreeBehindSubmission, SubmittedOutOfTurn, CompletedOutOfTurn,
    SubmitTake, TwoSubmitters, TwoSubmittersOneTaker, TwoTakers, RoleChange, RoleChangeTwice, ClientChurn, FifoOrder,
    Reuse, PushTwice, Drained, DrainedTwo, DropDouble,
    SleepingTake, TimedOutTake, SleepingAcquire, TwoSleepers, LeftWake,
    RefillAsked<true>, SleepingRefill, RefillComesRound,
    EndOfSleeper, EndAfterSubmit, EndOfSubmit, EndOfWait, EndOfDrain,
];

models![
    /// Runs `visitor` for every model that is sampled by shuttle.
    visit_sampled_models, visit_sampled_model:
    Circle, SleepingCircle, EndOfCircle,
];

models![
    /// Runs `visitor` for every model that is sampled at a size for which an ordinary test run has no time.
    visit_large_models, visit_large_model:
    LargeCircle, LargeSleepingCircle,
];

pub(crate) type Queue<D, P> = <D as Design>::Queue<P>;
pub(crate) type ClientOf<D, P, T = u64> = Client<T, Queue<D, P>>;
pub(crate) type WorkerOf<D, P, T = u64> = Worker<T, Queue<D, P>>;

/// A queue of this shape with integers for payloads.
fn handles<D: Design, P: Machine>(lanes: usize, slots_per_lane: usize) -> (ClientOf<D, P>, Vec<WorkerOf<D, P>>) {
    let shape = Shape::new(lanes, slots_per_lane).expect("a model's shape is legal");
    let queue = D::build::<P>(shape).expect("a model's shape suits every design");
    Pool::new(queue, |_| 0).expect("there is memory for a model").split()
}

/// The same with the one worker of one lane.
pub(crate) fn one_lane<D: Design, P: Machine>(slots: usize) -> (ClientOf<D, P>, WorkerOf<D, P>) {
    let (client, mut workers) = handles::<D, P>(1, slots);
    (client, workers.remove(0))
}

fn second_client<D: Design, P: Machine>(client: &ClientOf<D, P>) -> ClientOf<D, P> {
    client.try_clone().expect("the design claims many submitters")
}

/// Acquires a slot for the rest of the execution.
fn keep<D: Design, P: Machine>(client: &ClientOf<D, P>) -> Option<SlotId> {
    P::step();
    P::operation("acquire, to keep");
    let vacant = client.acquire()?;
    let slot = vacant.slot();
    std::mem::forget(vacant);
    Some(slot)
}

/// Acquires a slot that must be free, and submits a value in it.
fn submit<D: Design, P: Machine>(client: &ClientOf<D, P>, value: u64) {
    P::step();
    P::operation("acquire");
    let mut vacant = client.acquire().expect("a slot is free");
    *vacant = value;
    P::step();
    P::operation("submit");
    vacant.submit();
}

/// Looks for a slot, and says what is in it; it is withdrawn at once.
fn look<D: Design, P: Machine>(client: &ClientOf<D, P>) -> Option<u64> {
    P::step();
    P::operation("acquire, read, withdraw");
    client.acquire().map(|vacant| *vacant)
}

/// Takes a request, answers it with ten times its value, and says what the value was.
fn handle<D: Design, P: Machine>(worker: &WorkerOf<D, P>) -> Option<u64> {
    P::step();
    P::operation("take");
    let mut claimed = worker.take()?;
    let value = *claimed;
    *claimed = value * 10;
    P::step();
    P::operation("complete");
    claimed.complete();
    Some(value)
}

/// Everything that one worker still finds.
fn handle_all<D: Design, P: Machine>(worker: &WorkerOf<D, P>) -> Vec<u64> {
    std::iter::from_fn(|| handle::<D, P>(worker)).collect()
}

fn needs_many(claims: &Claims) -> Option<&'static str> {
    (claims.submitters == Submitters::One).then_some("takes one submitter")
}
