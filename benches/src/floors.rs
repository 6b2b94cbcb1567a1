//! What nothing can undercut here: the harness without a queue, and the single steps of the hardware.
//!
//! ```text
//!   no queue   client ──▶ its own slot, again and again      worker ──▶ its own slot, again and again
//!   harness    the payload's work on one thread                 atomic  four read-modify-writes, nobody else there
//!   line       one line to another core and back                lines   the same with a line each way
//! ```
//!
//! *No queue* is a row of each cell: all the harness does, and nothing goes through. It is shown and never ranked.

use crate::alarm::{Lines, ping_pong};
use crate::contender::Contender;
use crate::placement::Placement;
use crate::record::FloorRecord;
use crate::single::{Floor, RoundTrips};
use crate::statistics::median_with_interval;
use crate::workload::{Cell, Conditions, Window, WorkloadError, run_uncounted};
use slotwork::{
    CachePadded, Claims, ClientError, Design, Destination, Guarantees, LaneId, Many, NoneFree, Order, Platform,
    Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters,
};
use std::hint::black_box;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The name that the harness's own row is shown by.
pub const NO_QUEUE: &str = "(no queue)";

/// The contender that is no queue.
#[must_use]
pub fn no_queue() -> Contender {
    Contender::of::<NoQueue>().into_floor(run)
}

fn run(cell: Cell, conditions: Conditions<'_>) -> Result<Option<Window>, WorkloadError> {
    // Each thread needs a slot of its own, however few the cell has.
    let threads = cell.clients + cell.shape.lanes();
    let slots = cell.shape.slots_per_lane().max(threads.div_ceil(cell.shape.lanes()));
    run_uncounted::<NoQueue>(Cell { shape: Shape::new(cell.shape.lanes(), slots)?, ..cell }, conditions)
}

/// No queue: every handle has a slot to itself, and nobody gives anything to anybody.
struct NoQueue;

// SAFETY: `construct` makes a new queue.
unsafe impl Design for NoQueue {
    const NAME: &'static str = NO_QUEUE;
    const CLAIMS: Claims = Claims {
        submitters: Submitters::Many,
        order: Order::Any,
        none_free: NoneFree::Scan,
        progress: Guarantees::all(Progress::WaitFree),
        work_conserving: true,
        allocates: false,
        max_lanes: None,
        max_slots_per_lane: None,
        max_clients: None,
        source: "the harness itself",
    };
    const SITES: &'static [&'static [Site]] = &[];
    type Queue<P: Platform> = NoQueueOf<P>;

    fn construct<P: Platform>(shape: Shape) -> NoQueueOf<P> {
        NoQueueOf { clients: AtomicUsize::new(shape.lanes()), shape, platform: PhantomData }
    }
}

struct NoQueueOf<P> {
    /// The slot of the next client, behind those of the workers.
    clients: AtomicUsize,
    shape: Shape,
    platform: PhantomData<fn() -> P>,
}

/// A handle's own slot, and whether it is out.
struct Own {
    slot: SlotId,
    held: bool,
}

impl Own {
    #[inline]
    fn get(&mut self) -> Option<SlotId> {
        (!std::mem::replace(&mut self.held, true)).then_some(self.slot)
    }
}

// SAFETY: each worker has the slot of its lane's number, each client one behind those that nobody had before; a handle
// gives its slot out only while it is not out. No slot ever changes hands.
unsafe impl<P: Platform> RequestQueue for NoQueueOf<P> {
    type Platform = P;
    type Submitters = Many;
    type Header = CachePadded<()>;
    type Client = Own;
    type Worker = Own;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<Own, ClientError> {
        let slot = self.clients.fetch_add(1, Ordering::Relaxed);
        let limit = self.shape.slots() - self.shape.lanes();
        if slot >= self.shape.slots() {
            return Err(ClientError::TooManyClients { limit });
        }
        Ok(Own { slot: SlotId::new(slot), held: false })
    }

    fn retire(&self, _client: Own) {}

    fn worker(&self, lane: LaneId) -> Own {
        Own { slot: SlotId::new(lane.index()), held: false }
    }

    #[inline]
    fn acquire(&self, _slots: &impl Slots<Self::Header>, client: &mut Own) -> Option<SlotId> {
        client.get()
    }

    #[inline]
    fn submit(&self, _slots: &impl Slots<Self::Header>, client: &mut Own, _slot: SlotId) -> Destination {
        client.held = false;
        Destination::Any
    }

    #[inline]
    fn withdraw(&self, _slots: &impl Slots<Self::Header>, client: &mut Own, _slot: SlotId) {
        client.held = false;
    }

    #[inline]
    fn take(&self, _slots: &impl Slots<Self::Header>, worker: &mut Own) -> Option<SlotId> {
        worker.get()
    }

    #[inline]
    fn complete(&self, _slots: &impl Slots<Self::Header>, worker: &mut Own, _slot: SlotId) {
        worker.held = false;
    }
}

/// How often each floor is measured.
const SAMPLES: usize = 25;
/// Beyond this no further sample is begun; a quiet machine needs a fifth of it.
const AT_MOST: Duration = Duration::from_millis(250);
/// Round trips of one sample on one thread: long beside the clock, short beside a quantum.
const BATCH: u32 = 20_000;

/// Measures the floors of this machine, the steps in turn; without two cores there are no lines. Takes about 50 ms.
#[must_use]
pub fn measure(placement: &Placement, seed: u64) -> Vec<FloorRecord> {
    // A thread of its own: the pin must not stay on the caller.
    let run = || {
        placement.bind(0);
        let mut samples: [Vec<f64>; 4] = Default::default();
        let mut harness = Floor::new();
        let start = Instant::now();
        for sample in 0..SAMPLES {
            // On a busy machine fewer samples, and a wider interval, rather than a run that nobody waits for.
            if sample > 0 && start.elapsed() > AT_MOST {
                break;
            }
            samples[0].push(per_trip(|| harness.go(u64::from(BATCH))));
            samples[1].push(per_trip(four_atomics));
            if let Some(cores) = placement.two_cores() {
                samples[2].extend(ping_pong(cores, Lines::One));
                samples[3].extend(ping_pong(cores, Lines::OneEachWay));
            }
        }
        samples
    };
    let samples = std::thread::scope(|scope| scope.spawn(run).join()).unwrap_or_default();
    let names = ["harness", "atomic", "line", "lines"];
    let what = [
        "the payload's own work on one thread, without a queue",
        "one uncontended atomic read-modify-write per operation, four a round trip",
        "a cache line to another core and back",
        "a cache line to another core, and another one back",
    ];
    let floor = |((name, what), samples): ((&str, &str), &Vec<f64>)| {
        let nanoseconds = median_with_interval(samples, seed)?;
        Some(FloorRecord { name: name.into(), what: what.into(), nanoseconds })
    };
    names.into_iter().zip(what).zip(&samples).filter_map(floor).collect()
}

fn per_trip(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64() * 1e9 / f64::from(BATCH)
}

fn four_atomics() {
    let words: [CachePadded<AtomicU64>; 2] = Default::default();
    for _ in 0..BATCH {
        for word in [&words[0], &words[1], &words[1], &words[0]] {
            black_box(word).fetch_add(1, Ordering::AcqRel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handler::Handler;
    use crate::record::Kind;
    use crate::waiting::Waiting;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn every_floor_is_measured_where_there_are_two_cores() {
        let placement = Placement::pinned();
        let floors = measure(&placement, 1);
        let names: Vec<&str> = floors.iter().map(|floor| floor.name.as_str()).collect();
        assert!(names.starts_with(&["harness", "atomic"]), "{names:?}");
        assert!(floors.iter().all(|floor| floor.nanoseconds.value > 0.0));
    }

    #[test]
    fn harness_contention_the_harness_runs_without_a_queue_in_any_cell() {
        let (placement, interrupted) = (Placement::free(), AtomicBool::new(false));
        for (clients, lanes, slots) in [(1, 1, 1), (4, 2, 1), (1, 16, 1), (2, 2, 64)] {
            for waiting in [Waiting::Yield, Waiting::Park] {
                let shape = Shape::new(lanes, slots).unwrap();
                let cell = Cell { clients, shape, waiting, handler_nanoseconds: 0 };
                let conditions = Conditions {
                    handler: Handler::NOTHING,
                    placement: &placement,
                    warm_up: Duration::from_millis(1),
                    window: Duration::from_millis(5),
                    interrupted: &interrupted,
                };
                let contender = no_queue();
                assert_eq!(contender.kind, Kind::Floor);
                assert!(contender.run(cell, conditions).unwrap().is_some());
            }
        }
    }

    #[test]
    fn a_handle_gives_its_slot_out_once() {
        use slotwork::{HeaderTable, Native};
        let shape = Shape::new(1, 2).unwrap();
        let queue = NoQueue::build::<Native>(shape).unwrap().into_inner();
        let headers = HeaderTable::new(shape);
        let mut client = queue.client().unwrap();
        assert!(queue.acquire(&headers, &mut client).is_some());
        assert!(queue.acquire(&headers, &mut client).is_none());
        assert!(queue.client().is_err(), "there is a slot for one client");
    }
}
