//! Models of the end of a workqueue: the engine and the submitter that ship, with a model's threads around them.
//!
//! ```text
//!   worker      Engine::serve, from its first look to its return
//!   submitter   request, submit, drain
//!   main        begins the end, and joins
//! ```
//!
//! Nobody looks twice before it goes to sleep, so that every wait is one that has to be ended by a wake.
//! A thread that sleeps for ever is a deadlock, which loom reports.

use super::{Bound, LARGE, Model, Queue, SMALL, UNBOUNDED};
use crate::platform::Machine;
use crate::seen::Seen;
use slotwork::{Design, Pool, Shape, Submitters};
use slotwork_workqueue::{Completion, Engine, Fate, Report, Request, RequestError, Stopped, Submitter, Waiting};
use std::sync::Arc;

/// Asleep as soon as there is nothing.
const AT_ONCE: Waiting = Waiting { looks: 0, yields: 0 };

/// A payload.
#[derive(Default)]
struct Parcel {
    /// The bit of the request.
    bit: u64,
    /// The bits of those that were handled in this slot.
    handled: u64,
}

type EngineOf<D, P> = Arc<Engine<Parcel, D, P>>;
type SubmitterOf<D, P> = Submitter<Parcel, D, P>;

/// A workqueue whose worker threads are the model's.
struct Served<D: Design, P: Machine> {
    engine: EngineOf<D, P>,
    threads: Vec<P::Join<()>>,
}

impl<D: Design, P: Machine> Served<D, P> {
    /// Starts a worker per lane.
    fn start(lanes: usize, slots_per_lane: usize) -> (Self, SubmitterOf<D, P>) {
        let shape = Shape::new(lanes, slots_per_lane).expect("a model's shape is legal");
        let queue = D::build::<P>(shape).expect("a model's shape suits every design");
        let pool: Pool<_, Queue<D, P>> =
            Pool::new(queue, |_| Request::new(Parcel::default())).expect("there is memory for a model");
        let (client, workers) = pool.split();
        let engine: EngineOf<D, P> = Arc::new(Engine::new(lanes, AT_ONCE, Completion::default(), None));
        let serve = |worker| {
            let engine = Arc::clone(&engine);
            P::spawn(move || engine.serve(worker, handle))
        };
        let threads = workers.into_iter().map(serve).collect();
        let submitter = Submitter::new(client, Arc::clone(&engine));
        (Self { engine, threads }, submitter)
    }

    /// What [`Workqueue::shutdown`](slotwork_workqueue::Workqueue::shutdown) does.
    fn end(self, cancel: bool) -> EngineOf<D, P> {
        self.engine.begin_shutdown(cancel);
        self.threads.into_iter().for_each(P::join);
        self.engine
    }
}

fn handle(parcel: &mut Parcel) {
    assert_eq!(parcel.handled & parcel.bit, 0, "a request is handled once");
    parcel.handled |= parcel.bit;
}

/// Every request that was taken in, a bit each, has ended once; every slot is free.
fn verify<D: Design, P: Machine>(report: Report, accepted: u64, slots: usize, submitter: &SubmitterOf<D, P>) {
    assert_eq!(report.ended(), u64::from(accepted.count_ones()), "{report:?}; taken in: {accepted:b}");
    assert_eq!(report.failed, 0);
    let held: Vec<_> = std::iter::from_fn(|| submitter.try_request()).collect();
    assert_eq!(held.len(), slots, "every slot is free");
    let mut handled = 0;
    for vacancy in &held {
        assert_eq!(vacancy.handled & handled, 0, "a request is handled in one slot");
        handled |= vacancy.handled;
    }
    assert_eq!(handled & !accepted, 0, "only what was taken in is handled");
    assert_eq!(u64::from(handled.count_ones()), report.handled, "what is counted was handled");
}

/// Submits a request; its bit, or none when it was not taken in.
fn submit<D: Design, P: Machine>(submitter: &SubmitterOf<D, P>, number: u64) -> u64 {
    let bit = 1 << number;
    let mut vacancy = match submitter.request() {
        Ok(vacancy) => vacancy,
        Err(RequestError::Stopped) => return 0,
        Err(error) => panic!("{error}"),
    };
    vacancy.bit = bit;
    match vacancy.submit() {
        Ok(()) => bit,
        Err(Stopped) => 0,
    }
}

/// The end comes while the worker goes to sleep. The worker of 2018 tested quit, then reset its event: an end
/// between the two was lost, and the join hung.
pub struct EndOfSleeper;

impl Model for EndOfSleeper {
    const NAME: &'static str = "quit_then_reset_end_of_a_sleeper";
    const PROPERTY: &'static str = "no thread sleeps through the end";
    const WITNESSES: &'static [&'static str] = &["woken", "nobody asleep"];
    const FLOOR: u64 = 39;
    const BOUND: Bound = SMALL;
    const PARKS: bool = true;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (served, submitter) = Served::<D, P>::start(1, 1);
        let engine = served.end(false);
        seen.saw(if engine.wakes().0 > 0 { "woken" } else { "nobody asleep" });
        assert_eq!(submit(&submitter, 1), 0, "nothing is taken in after the end");
        verify(engine.report(), 0, 1, &submitter);
    }
}

/// The end comes after a submit by another thread: the request is handled, not cancelled. QUIT-DROPS-WORK.
pub struct EndAfterSubmit;

impl Model for EndAfterSubmit {
    const NAME: &'static str = "quit_drops_work_end_after_a_submit";
    const PROPERTY: &'static str = "a request that was taken in ends once";
    const WITNESSES: &'static [&'static str] = &["woken", "nobody asleep"];
    const FLOOR: u64 = 243;
    const BOUND: Bound = LARGE;
    const PARKS: bool = true;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (served, submitter) = Served::<D, P>::start(1, 1);
        let thread = P::spawn(move || {
            let accepted = submit(&submitter, 1);
            (submitter, accepted)
        });
        let (submitter, accepted) = P::join(thread);
        let engine = served.end(false);
        seen.saw(if engine.wakes().0 > 0 { "woken" } else { "nobody asleep" });
        assert_eq!(engine.report(), Report { handled: 1, failed: 0, cancelled: 0 });
        verify(engine.report(), accepted, 1, &submitter);
    }
}

/// The end comes while a request is submitted. QUIT-DROPS-WORK, STORE-BUFFER.
pub struct EndOfSubmit;

impl Model for EndOfSubmit {
    const NAME: &'static str = "quit_drops_work_end_of_a_submit";
    const PROPERTY: &'static str = "a request that was taken in ends once";
    const WITNESSES: &'static [&'static str] = &["handled", "cancelled", "refused"];
    const FLOOR: u64 = 148;
    const BOUND: Bound = LARGE;
    const PARKS: bool = true;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (served, submitter) = Served::<D, P>::start(1, 1);
        let thread = P::spawn(move || {
            let submitted = submit(&submitter, 1);
            (submitter, submitted)
        });
        let engine = served.end(false);
        let (submitter, submitted) = P::join(thread);
        let report = engine.report();
        seen.saw(match (submitted, report) {
            (0, _) => "refused",
            (_, Report { handled: 1, .. }) => "handled",
            _ => "cancelled",
        });
        verify(report, submitted, 1, &submitter);
    }
}

/// The end comes, and cancels, while a submitter sleeps until the one slot is free again. ONE-SLEEPER.
pub struct EndOfWait;

impl Model for EndOfWait {
    const NAME: &'static str = "one_sleeper_end_of_a_request";
    const PROPERTY: &'static str = "no thread sleeps through the end";
    const WITNESSES: &'static [&'static str] = &["both taken in", "told of the end", "woken"];
    const FLOOR: u64 = 334;
    const BOUND: Bound = LARGE;
    const PARKS: bool = true;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (served, submitter) = Served::<D, P>::start(1, 1);
        let thread = P::spawn(move || {
            let accepted = submit(&submitter, 1) | submit(&submitter, 2);
            (submitter, accepted)
        });
        let engine = served.end(true);
        let (submitter, accepted) = P::join(thread);
        seen.saw(if accepted.count_ones() == 2 { "both taken in" } else { "told of the end" });
        seen.saw_if("woken", engine.wakes().1 > 0);
        verify(engine.report(), accepted, 1, &submitter);
    }
}

/// The end comes while a submitter waits for all that it submitted.
pub struct EndOfDrain;

impl Model for EndOfDrain {
    const NAME: &'static str = "wait_starved_end_of_a_drain";
    const PROPERTY: &'static str = "no thread sleeps through the end";
    const WITNESSES: &'static [&'static str] = &["handled", "cancelled", "refused", "woken"];
    const FLOOR: u64 = 252;
    const BOUND: Bound = LARGE;
    const PARKS: bool = true;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (served, submitter) = Served::<D, P>::start(1, 1);
        let thread = P::spawn(move || {
            let submitted = submit(&submitter, 1);
            assert_eq!(submitter.drain(), Ok(()));
            let fate = submitter.try_request().expect("after a drain the slot is free").fate();
            (submitter, submitted, fate)
        });
        let engine = served.end(true);
        let (submitter, submitted, fate) = P::join(thread);
        seen.saw(match fate {
            Fate::Handled => "handled",
            Fate::Cancelled => "cancelled",
            _ => "refused",
        });
        seen.saw_if("woken", engine.wakes().1 > 0);
        verify(engine.report(), submitted, 1, &submitter);
    }
}

/// Workers, submitters that run out of slots, and an end that comes at some time: at a size that no model
/// checker reaches. QUIT-DROPS-WORK, SUSPEND-COUNT.
pub struct EndOfCircle;

impl Model for EndOfCircle {
    const NAME: &'static str = "quit_drops_work_end_of_a_circle";
    const PROPERTY: &'static str = "a request that was taken in ends once";
    const WITNESSES: &'static [&'static str] = &["all handled", "some cancelled", "some refused"];
    const FLOOR: u64 = 400;
    const BOUND: Bound = UNBOUNDED;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        const ROUNDS: u64 = 4;
        let submitters = match D::CLAIMS.submitters {
            Submitters::One => 1,
            Submitters::Many => 2,
        };
        let (served, submitter) = Served::<D, P>::start(2, 1);
        let mut all = vec![submitter];
        while all.len() < submitters {
            all.push(all[0].try_clone().expect("the design claims many submitters"));
        }
        let submits = |(submitter, first): (SubmitterOf<D, P>, u64)| {
            P::spawn(move || {
                let accepted = (0..ROUNDS).map(|round| submit(&submitter, first * ROUNDS + round)).sum::<u64>();
                assert_eq!(submitter.drain(), Ok(()));
                (submitter, accepted)
            })
        };
        let threads: Vec<_> = all.into_iter().zip(0..).map(submits).collect();
        // At another moment in each schedule: from at once to after all is done.
        for _ in 0..seen.executions() % 8 * 40 {
            P::yield_now();
        }
        let engine = served.end(true);
        let ended: Vec<_> = threads.into_iter().map(P::join).collect();
        let accepted: u64 = ended.iter().map(|(_, accepted)| accepted).sum();
        let all = submitters as u64 * ROUNDS;
        let report = engine.report();
        seen.saw_if("all handled", report.handled == all);
        seen.saw_if("some cancelled", report.cancelled > 0);
        seen.saw_if("some refused", u64::from(accepted.count_ones()) < all);
        verify(report, accepted, 2, &ended[0].0);
    }
}
