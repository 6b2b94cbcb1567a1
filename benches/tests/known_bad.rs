//! The harness must find a wrong design: queues that lose, double, or forget now and then.
//!
//! Each keeps the promise of `RequestQueue` that a slot has one owner, so it breaks no memory; it is only wrong.

use slotwork::{
    Claims, ClientError, Design, Destination, Guarantees, LaneId, Lock, Many, NoneFree, Order, Platform, Progress,
    RequestQueue, Shape, Site, SlotId, Slots, Submitters,
};
use slotwork_bench::contender::Contender;
use slotwork_bench::handler::Handler;
use slotwork_bench::measure::Plan;
use slotwork_bench::placement::Placement;
use slotwork_bench::tally::CountError;
use slotwork_bench::verdict::rankings;
use slotwork_bench::waiting::Waiting;
use slotwork_bench::workload::{Cell, Conditions, WorkloadError};
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

slotwork::sites! {
    /// Every synchronising access of the faulty queues.
    SITES in "faulty";
    LOCK: Lock, pairs [LOCK], "one lock around everything";
}

/// What goes wrong, once in every 97 operations of a kind.
trait Fault: Send + Sync + 'static {
    const NAME: &'static str;
    /// A taken request is thrown away with its slot.
    const LOSES: bool = false;
    /// A completed request is handed out again instead of being freed.
    const DOUBLES: bool = false;
    /// A completed slot is not put back, as its last request of the run.
    const FORGETS: bool = false;
}

macro_rules! faults {
    ($($fault:ident $name:literal $($flag:ident)?),+) => {
        $(
            struct $fault;
            impl Fault for $fault {
                const NAME: &'static str = $name;
                $(const $flag: bool = true;)?
            }
        )+
    };
}

faults!(Sound "sound", Loses "loses" LOSES, Doubles "doubles" DOUBLES, Forgets "forgets" FORGETS);

struct Faulty<F>(PhantomData<F>);

// SAFETY: `construct` makes a new queue.
unsafe impl<F: Fault> Design for Faulty<F> {
    const NAME: &'static str = F::NAME;
    const CLAIMS: Claims = Claims {
        submitters: Submitters::Many,
        order: Order::Fifo,
        none_free: NoneFree::Exact,
        progress: Guarantees::all(Progress::Blocking),
        work_conserving: true,
        allocates: false,
        max_lanes: None,
        max_slots_per_lane: None,
        max_clients: None,
        source: "made to be found out",
    };
    const SITES: &'static [&'static [Site]] = &[SITES];
    type Queue<P: Platform> = FaultyQueue<P, F>;

    fn construct<P: Platform>(shape: Shape) -> FaultyQueue<P, F> {
        let free = shape.all_slots().collect();
        FaultyQueue { state: P::Lock::new(State { free, ..State::default() }), shape, fault: PhantomData }
    }
}

#[derive(Default)]
struct State {
    free: Vec<SlotId>,
    submitted: VecDeque<SlotId>,
    taken: u64,
    completed: u64,
}

struct FaultyQueue<P: Platform, F> {
    state: P::Lock<State>,
    shape: Shape,
    fault: PhantomData<F>,
}

// SAFETY: as for one global lock: a slot is in at most one of the two lists, and its removal from one makes its one owner;
// the faults only put a slot into neither, or into `submitted` instead of `free`.
unsafe impl<P: Platform, F: Fault> RequestQueue for FaultyQueue<P, F> {
    type Platform = P;
    type Submitters = Many;
    type Header = ();
    type Client = ();
    type Worker = ();

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<(), ClientError> {
        Ok(())
    }

    fn retire(&self, (): ()) {}

    fn worker(&self, _lane: LaneId) {}

    fn acquire(&self, _slots: &impl Slots<()>, (): &mut ()) -> Option<SlotId> {
        self.state.with(&LOCK, |state| state.free.pop())
    }

    fn submit(&self, _slots: &impl Slots<()>, (): &mut (), slot: SlotId) -> Destination {
        self.state.with(&LOCK, |state| state.submitted.push_back(slot));
        Destination::Any
    }

    fn withdraw(&self, _slots: &impl Slots<()>, (): &mut (), slot: SlotId) {
        self.state.with(&LOCK, |state| state.free.push(slot));
    }

    fn take(&self, _slots: &impl Slots<()>, (): &mut ()) -> Option<SlotId> {
        self.state.with(&LOCK, |state| {
            state.taken += 1;
            if F::LOSES && state.taken % 97 == 0 {
                state.submitted.pop_front();
            }
            state.submitted.pop_front()
        })
    }

    fn complete(&self, _slots: &impl Slots<()>, (): &mut (), slot: SlotId) {
        self.state.with(&LOCK, |state| {
            state.completed += 1;
            let wrong = state.completed % 97 == 0;
            if F::DOUBLES && wrong {
                state.submitted.push_back(slot);
            } else if !(F::FORGETS && wrong) {
                state.free.push(slot);
            }
        });
    }
}

fn run<F: Fault>(waiting: Waiting) -> Result<(), WorkloadError> {
    let cell = Cell { clients: 2, shape: Shape::new(2, 64).unwrap(), waiting, handler_nanoseconds: 0 };
    let (placement, interrupted) = (Placement::free(), AtomicBool::new(false));
    let conditions = Conditions {
        handler: Handler::NOTHING,
        placement: &placement,
        warm_up: Duration::from_millis(1),
        window: Duration::from_millis(20),
        interrupted: &interrupted,
    };
    // A window may be too short for a fault to happen, on a machine that is busy elsewhere.
    for _ in 0..50 {
        Contender::of::<Faulty<F>>().run(cell, conditions)?;
    }
    Ok(())
}

const POLICIES: [Waiting; 3] = [Waiting::Yield, Waiting::Park, Waiting::Settle];

#[test]
fn the_sound_variant_passes() {
    let cell_runs = POLICIES.map(run::<Sound>);
    assert!(cell_runs.iter().all(Result::is_ok), "{cell_runs:?}");
}

#[test]
fn bench_finds_bug_a_lost_request() {
    for waiting in POLICIES {
        let error = run::<Loses>(waiting).unwrap_err();
        let WorkloadError::Count(CountError::Counts { submitted, handled, .. }) = error else { panic!("{error}") };
        assert!(handled < submitted);
    }
}

#[test]
fn bench_finds_bug_a_doubled_request() {
    for waiting in POLICIES {
        let error = run::<Doubles>(waiting).unwrap_err();
        let WorkloadError::Count(CountError::Counts { submitted, handled, .. }) = error else { panic!("{error}") };
        assert!(handled > submitted);
    }
}

#[test]
fn bench_finds_bug_a_forgotten_slot() {
    for waiting in POLICIES {
        let error = run::<Forgets>(waiting).unwrap_err();
        let WorkloadError::Count(CountError::Slots { free, slots }) = error else { panic!("{error}") };
        assert!(free < slots);
    }
}

#[test]
fn a_wrong_design_gets_no_score_and_the_others_keep_theirs() {
    let plan = Plan {
        cells: vec![Cell {
            clients: 2,
            shape: Shape::new(1, 64).unwrap(),
            waiting: Waiting::Yield,
            handler_nanoseconds: 0,
        }],
        contenders: vec![Contender::of::<Faulty<Loses>>(), Contender::of::<Faulty<Sound>>()],
        rounds: 8,
        window: Some(Duration::from_millis(40)),
        seed: 1,
        placement: Placement::pinned(),
        traces: false,
        loads: Vec::new(),
    };
    let measured = plan.measure(&AtomicBool::new(false), &mut |_| ());
    let failure = measured.cells[0].rows[0].failure.as_ref().expect("the loss is found in one of the rounds");
    assert!(failure.contains("counts are wrong"), "{failure}");
    assert_eq!(measured.cells[0].rows[1].samples.len(), 8);
    let ranking = &rankings(&measured.cells, &plan.contenders, 1)[0];
    let place = |name: &str| ranking.places.iter().find(|place| place.design == name).unwrap();
    assert_eq!((place("loses").rank, place("sound").rank), (None, Some(1)));
    assert!(place("loses").void.as_ref().unwrap().contains("failed"));
}
