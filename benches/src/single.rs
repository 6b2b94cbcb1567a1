//! The cost of a round trip on one thread: client and worker in turn, nobody else there.
//!
//! ```text
//!   acquire ▸ check ▸ fill ▸ submit ▸ take ▸ transform ▸ complete ▸ acquire …
//! ```
//!
//! It is what a design costs when nothing is contended. Beside the designs stand a *reference*, a pair of
//! crossbeam's `ArrayQueue` (free indices, submitted indices), and a *floor*, the same payload work
//! without any queue. Counters are local to a batch, so that they stay in registers.

use crate::peers::visit_peers;
use crate::request::{Request, Sequence};
use crate::tally::{CountError, Totals};
use crossbeam_queue::ArrayQueue;
use slotwork::{CachePadded, Client, Design, Native, Pool, Shape, Worker};
use slotwork_catalog::{Visitor, visit_all};
use std::sync::atomic::{AtomicU64, Ordering};

/// Slots in the one lane.
pub const SLOTS: usize = 64;

/// Something that goes round the circle on one thread.
pub trait RoundTrips {
    /// Goes round `count` times.
    fn go(&mut self, count: u64);

    /// Holds all counts so far against each other.
    ///
    /// # Errors
    /// [`CountError`].
    fn verify(&self) -> Result<(), CountError>;
}

/// A contender of the single-threaded measurement.
pub struct Single {
    /// The name it is shown by.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The circle itself.
    pub trips: Box<dyn RoundTrips>,
}

/// What a single-threaded contender is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A design of the catalog.
    Design,
    /// What a user would take instead.
    Peer,
    /// What everything is compared with.
    Reference,
    /// What cannot be undercut.
    Floor,
}

/// Every design of the catalog, then the peers, the reference, and the floors.
#[must_use]
pub fn singles() -> Vec<Single> {
    struct Enter;
    impl Visitor for Enter {
        type Output = Single;
        fn visit<D: Design>(&mut self) -> Single {
            Single { name: D::NAME.into(), kind: Kind::Design, trips: Box::new(OneThread::<D>::new()) }
        }
    }
    struct Meet;
    impl Visitor for Meet {
        type Output = Single;
        fn visit<D: Design>(&mut self) -> Single {
            Single { kind: Kind::Peer, ..Enter.visit::<D>() }
        }
    }
    let mut singles = visit_all(&mut Enter);
    singles.extend(visit_peers(&mut Meet));
    let reference = Box::new(ArrayQueuePair::new());
    singles.push(Single { name: ArrayQueuePair::NAME.into(), kind: Kind::Reference, trips: reference });
    singles.push(Single { name: Floor::NAME.into(), kind: Kind::Floor, trips: Box::new(Floor::new()) });
    let atomics = Box::new(AtomicFloor(Floor::new(), Default::default()));
    singles.push(Single { name: AtomicFloor::NAME.into(), kind: Kind::Floor, trips: atomics });
    singles
}

/// Counts of one thread that plays both parts.
#[derive(Clone, Copy, Debug)]
struct Both {
    inputs: Sequence,
    totals: Totals,
}

/// The counts of one batch: no more of them than stay in registers.
struct Batch {
    inputs: Sequence,
    /// Acquires that found nothing: a slot is missing, since nobody else holds one.
    missing: u64,
    handled: u64,
    sum_submitted: u64,
    sum_handled: u64,
    wrong_results: u64,
}

impl Both {
    fn new() -> Self {
        // Slots at rest are counted by nobody here: each trip needs its slot, or it fails.
        Self { inputs: Sequence::of_client(0), totals: Totals::default() }
    }

    /// Runs a batch and adds up its counts.
    #[inline(always)]
    fn batch(&mut self, count: u64, mut round_trip: impl FnMut(&mut Batch)) {
        let inputs = self.inputs;
        let mut batch = Batch { inputs, missing: 0, handled: 0, sum_submitted: 0, sum_handled: 0, wrong_results: 0 };
        (0..count).for_each(|_| round_trip(&mut batch));
        self.inputs = batch.inputs;
        let totals = &mut self.totals;
        totals.acquired += count - batch.missing;
        totals.submitted += count - batch.missing;
        totals.handled += batch.handled;
        totals.sum_submitted = totals.sum_submitted.wrapping_add(batch.sum_submitted);
        totals.sum_handled = totals.sum_handled.wrapping_add(batch.sum_handled);
        totals.wrong_results += batch.wrong_results;
        totals.slots += batch.missing;
    }
}

impl Batch {
    #[inline(always)]
    fn fill(&mut self, request: &mut Request) {
        self.wrong_results += u64::from(!request.is_handled());
        let input = self.inputs.next_input();
        request.fill(input);
        self.sum_submitted = self.sum_submitted.wrapping_add(input);
    }

    #[inline(always)]
    fn handle(&mut self, request: &mut Request) {
        self.sum_handled = self.sum_handled.wrapping_add(request.handle());
        self.handled += 1;
    }
}

type ClientOf<D> = Client<Request, <D as Design>::Queue<Native>>;
type WorkerOf<D> = Worker<Request, <D as Design>::Queue<Native>>;

/// A design of the catalog on one thread.
pub struct OneThread<D: Design> {
    client: ClientOf<D>,
    worker: WorkerOf<D>,
    both: Both,
}

impl<D: Design> OneThread<D> {
    /// A new queue with one lane.
    ///
    /// # Panics
    /// When the design does not take one lane of [`SLOTS`] slots, which every design of the catalog does.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "it allocates a queue")]
    pub fn new() -> Self {
        let shape = Shape::new(1, SLOTS).expect("one lane of a few slots is a shape");
        let queue = D::build(shape).expect("every design takes one lane of 64 slots");
        let pool = Pool::new(queue, |_| Request::unused()).expect("a few slots fit in memory");
        let (client, mut workers) = pool.split();
        Self { client, worker: workers.remove(0), both: Both::new() }
    }

    /// Goes round once.
    #[inline(always)]
    fn round_trip(client: &ClientOf<D>, worker: &WorkerOf<D>, batch: &mut Batch) {
        // A slot that is missing shows in the counts: less was handled than acquired, or less than asked for.
        if let Some(mut slot) = client.acquire() {
            batch.fill(&mut slot);
            slot.submit();
        } else {
            batch.missing += 1;
        }
        if let Some(mut slot) = worker.take() {
            batch.handle(&mut slot);
            slot.complete();
        }
    }
}

impl<D: Design> RoundTrips for OneThread<D> {
    fn go(&mut self, count: u64) {
        let Self { client, worker, both } = self;
        both.batch(count, |batch| Self::round_trip(client, worker, batch));
    }

    fn verify(&self) -> Result<(), CountError> {
        self.both.totals.verify()
    }
}

/// The reference: indices in two bounded queues, one of free slots, one of submitted ones.
pub struct ArrayQueuePair {
    free: ArrayQueue<u32>,
    submitted: ArrayQueue<u32>,
    slots: Box<[CachePadded<Request>]>,
    both: Both,
}

impl ArrayQueuePair {
    /// The name it is shown by.
    pub const NAME: &'static str = "ArrayQueue pair";

    /// A pair for [`SLOTS`] slots.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "it allocates a queue")]
    pub fn new() -> Self {
        let free = ArrayQueue::new(SLOTS);
        for slot in (0_u32..).take(SLOTS) {
            let _ = free.push(slot);
        }
        let slots = (0..SLOTS).map(|_| CachePadded::new(Request::unused())).collect();
        Self { free, submitted: ArrayQueue::new(SLOTS), slots, both: Both::new() }
    }
}

impl RoundTrips for ArrayQueuePair {
    fn go(&mut self, count: u64) {
        let Self { free, submitted, slots, both } = self;
        both.batch(count, |batch| {
            if let Some(slot) = free.pop() {
                batch.fill(&mut slots[slot as usize]);
                let _ = submitted.push(slot);
            } else {
                batch.missing += 1;
            }
            if let Some(slot) = submitted.pop() {
                batch.handle(&mut slots[slot as usize]);
                let _ = free.push(slot);
            }
        });
    }

    fn verify(&self) -> Result<(), CountError> {
        self.both.totals.verify()
    }
}

/// The floor: the payload's own work, slot after slot.
pub struct Floor {
    slots: Box<[CachePadded<Request>]>,
    next: usize,
    both: Both,
}

impl Floor {
    /// The name it is shown by.
    pub const NAME: &'static str = "floor (no queue)";

    /// Slots without a queue.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "it allocates")]
    pub fn new() -> Self {
        let slots = (0..SLOTS).map(|_| CachePadded::new(Request::unused())).collect();
        Self { slots, next: 0, both: Both::new() }
    }
}

impl RoundTrips for Floor {
    fn go(&mut self, count: u64) {
        let Self { slots, next, both } = self;
        both.batch(count, |batch| {
            let slot = std::hint::black_box(&mut slots[*next]);
            *next = (*next + 1) % SLOTS;
            batch.fill(slot);
            let slot = std::hint::black_box(slot);
            batch.handle(slot);
        });
    }

    fn verify(&self) -> Result<(), CountError> {
        self.both.totals.verify()
    }
}

/// The payload's own work, and one uncontended read-modify-write for each of the four operations.
pub struct AtomicFloor(Floor, [CachePadded<AtomicU64>; 2]);

impl AtomicFloor {
    /// The name it is shown by.
    pub const NAME: &'static str = "floor (an atomic per operation)";
}

impl RoundTrips for AtomicFloor {
    fn go(&mut self, count: u64) {
        let Self(Floor { slots, next, both }, [free, submitted]) = self;
        both.batch(count, |batch| {
            free.fetch_add(1, Ordering::AcqRel);
            let slot = std::hint::black_box(&mut slots[*next]);
            *next = (*next + 1) % SLOTS;
            batch.fill(slot);
            submitted.fetch_add(1, Ordering::AcqRel);
            submitted.fetch_sub(1, Ordering::AcqRel);
            let slot = std::hint::black_box(slot);
            batch.handle(slot);
            free.fetch_sub(1, Ordering::AcqRel);
        });
    }

    fn verify(&self) -> Result<(), CountError> {
        self.0.verify()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_single_counts_what_it_did() {
        for mut single in singles() {
            single.trips.go(1000);
            assert_eq!(single.trips.verify(), Ok(()), "{}", single.name);
        }
    }

    #[test]
    fn bench_finds_bug_also_on_one_thread() {
        let mut pair = ArrayQueuePair::new();
        pair.go(100);
        // A slot is lost between the queues.
        assert!(pair.free.pop().is_some());
        pair.both.batch(1, |batch| batch.fill(&mut Request::unused()));
        assert!(matches!(pair.verify(), Err(CountError::Counts { .. })));
        // None is left at all.
        let mut pair = ArrayQueuePair::new();
        while pair.free.pop().is_some() {}
        pair.go(1);
        assert!(matches!(pair.verify(), Err(CountError::Slots { .. })));
    }
}
