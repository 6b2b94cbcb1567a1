//! Models of linked-queue with crossbeam-epoch's own atomics under loom, for ci/epoch-loom.sh.
//!
//! ```text
//! epoch-loom                      every model in both views; too few executions, or a witness not seen, is exit code 1
//! epoch-loom --plant freed-early  the model that frees, on a queue that frees at once: to be stopped by AddressSanitizer
//! epoch-loom --plant unpinned     the same on a queue whose workers look without a pin
//! ```

mod platform;

/// The shipped queue but for one word: nodes are freed as they are handed over.
#[allow(dead_code, clippy::all, reason = "made from the shipped source")]
mod freed_early {
    include!(concat!(env!("OUT_DIR"), "/freed_early.rs"));

    /// The fault: whoever still looks at the nodes is not waited for.
    unsafe fn run_at_once(_guard: &Guard, free: impl FnOnce()) {
        free();
    }
}

/// The shipped queue but for one line: a worker looks at the nodes without a pin.
#[allow(dead_code, clippy::all, reason = "made from the shipped source")]
mod unpinned {
    include!(concat!(env!("OUT_DIR"), "/unpinned.rs"));
}

use platform::{Counted, Interleaving, View, Weak, begin, dropped, made};
use slotwork::{Design, HeaderTable, LaneId, RequestQueue, Shape, SlotId};
use slotwork_linked_queue::LinkedQueue;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

type Queue<D, V> = <D as Design>::Queue<Counted<V>>;
type Headers<D, V> = HeaderTable<<Queue<D, V> as RequestQueue>::Header>;
type Handle<D, V> = <Queue<D, V> as RequestQueue>::Worker;

/// A queue with its headers.
struct Both<D: Design, V: View> {
    queue: Queue<D, V>,
    headers: Headers<D, V>,
}

impl<D: Design, V: View> Both<D, V>
where
    <Queue<D, V> as RequestQueue>::Header: Default,
{
    fn new(slots: usize) -> Self {
        let shape = Shape::new(1, slots).expect("a small shape is legal");
        Self { queue: D::construct(shape), headers: HeaderTable::new(shape) }
    }

    fn submit(&self, client: &mut <Queue<D, V> as RequestQueue>::Client) -> SlotId {
        let slot = self.queue.acquire(&self.headers, client).expect("a slot is free");
        self.queue.submit(&self.headers, client, slot);
        slot
    }

    fn take(&self, worker: &mut Handle<D, V>) -> Option<SlotId> {
        self.queue.take(&self.headers, worker)
    }
}

/// What was seen in the executions of one model.
#[derive(Default)]
struct Seen {
    executions: AtomicU64,
    witnesses: Mutex<BTreeMap<&'static str, u64>>,
}

impl Seen {
    fn saw(&self, witness: &'static str) {
        *self.witnesses.lock().expect("a panic ends the process").entry(witness).or_default() += 1;
    }
}

struct Model {
    name: &'static str,
    /// The fewest executions that count as having looked. Where loom sees nothing of crossbeam-epoch there are fewer.
    floor: u64,
    witnesses: &'static [&'static str],
}

/// Push beside pop: a participant each.
const PUSH_POP: Model = Model { name: "push | pop", floor: 400, witnesses: &["taken at once", "taken late"] };

fn push_pop<D: Design, V: View>(seen: &Seen) {
    let both = Arc::new(Both::<D, V>::new(1));
    let mut client = both.queue.client().expect("there is no limit");
    let mut worker = both.queue.worker(LaneId::FIRST);
    let other = loom::thread::spawn({
        let both = Arc::clone(&both);
        move || (both.take(&mut worker), worker)
    });
    let slot = both.submit(&mut client);
    let (taken, mut worker) = other.join().expect("a model's thread does not panic");
    seen.saw(if taken.is_some() { "taken at once" } else { "taken late" });
    assert_eq!(taken.or_else(|| both.take(&mut worker)), Some(slot), "it is taken once");
    assert_eq!(both.take(&mut worker), None, "and no more than once");
}

/// Pop beside pop; then one of the workers is gone, which hands its node over, and others come and look, which moves the
/// epoch on and frees the node: under the eyes of the second worker, if nobody waits for it.
const FREES: Model =
    Model { name: "pop | pop, which frees", floor: 60, witnesses: &["freed", "kept, the other looks"] };

fn frees<D: Design, V: View>(seen: &Seen) {
    let both = Arc::new(Both::<D, V>::new(1));
    let mut client = both.queue.client().expect("there is no limit");
    // A participant's first look tries to move the epoch on, and frees what is old enough: for these two it is over.
    let [mut mine, mut worker] = [(); 2].map(|()| both.queue.worker(LaneId::FIRST));
    assert_eq!([both.take(&mut mine), both.take(&mut worker)], [None; 2]);
    let submitted = both.submit(&mut client);
    let looks = Arc::new(AtomicBool::new(false));
    let other = loom::thread::spawn({
        let (both, looks) = (Arc::clone(&both), Arc::clone(&looks));
        move || {
            looks.store(true, Ordering::Relaxed);
            let taken = both.take(&mut worker);
            looks.store(false, Ordering::Relaxed);
            (taken, worker)
        }
    });
    let first = both.take(&mut mine);
    drop(mine);
    for _ in 0..2 {
        both.take(&mut both.queue.worker(LaneId::FIRST));
    }
    if first.is_some() {
        seen.saw(match (dropped(), looks.load(Ordering::Relaxed)) {
            (0, true) => "kept, the other looks",
            (0, false) => "kept",
            (_, true) => "freed, the other looks",
            (_, false) => "freed",
        });
    }
    let (second, worker) = other.join().expect("a model's thread does not panic");
    drop(worker);
    assert_eq!([first, second].map(|taken| taken == Some(submitted)).iter().filter(|&&it| it).count(), 1, "taken once");
}

/// Explores a model in a view, with so many preemptions in an execution; none means however many there are.
fn explore<V: View>(model: &Model, bound: Option<usize>, run: fn(&Seen)) -> bool {
    let seen = Arc::new(Seen::default());
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = bound;
    builder.max_branches = 100_000;
    builder.check({
        let seen = Arc::clone(&seen);
        move || {
            begin::<V>();
            seen.executions.fetch_add(1, Ordering::Relaxed);
            run(&seen);
            assert_eq!(made(), dropped(), "every node is freed, once");
        }
    });
    let executions = seen.executions.load(Ordering::Relaxed);
    let witnesses = seen.witnesses.lock().expect("a panic ends the process");
    let missing: Vec<_> = model.witnesses.iter().filter(|witness| !witnesses.contains_key(*witness)).collect();
    let view = std::any::type_name::<V>().rsplit("::").next().unwrap_or_default().to_lowercase();
    println!(
        "{}, {view}: {executions} executions, {}, witnesses {witnesses:?}",
        model.name,
        bound.map_or("complete".into(), |bound| format!("bound {bound}"))
    );
    if executions < model.floor {
        println!("  too few executions, {} at least", model.floor);
    }
    if !missing.is_empty() {
        println!("  not seen: {missing:?}");
    }
    executions >= model.floor && missing.is_empty()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let right = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => [
            explore::<Weak>(&PUSH_POP, Some(3), push_pop::<LinkedQueue, Weak>),
            explore::<Interleaving>(&PUSH_POP, Some(3), push_pop::<LinkedQueue, Interleaving>),
            explore::<Weak>(&FREES, None, frees::<LinkedQueue, Weak>),
            explore::<Interleaving>(&FREES, Some(3), frees::<LinkedQueue, Interleaving>),
        ]
        .iter()
        .all(|&right| right),
        ["--plant", "freed-early"] => explore::<Weak>(&FREES, None, frees::<freed_early::LinkedQueue, Weak>),
        ["--plant", "unpinned"] => explore::<Weak>(&FREES, None, frees::<unpinned::LinkedQueue, Weak>),
        _ => {
            eprintln!("epoch-loom [--plant freed-early|unpinned]");
            return ExitCode::from(2);
        }
    };
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
