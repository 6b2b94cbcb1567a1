//! Each peer is held to what a design is held to: an adapter that is wrong would make a peer look fast, or slow.
//!
//! The checks answer with what is wrong, so that known-bad adapters can show that each check can fail.

use crossbeam_queue::ArrayQueue;
use slotwork::{Design, Dispatch, HeaderTable, Native, Order, Progress, RequestQueue, Shape, SlotId, Submitters};
use slotwork_bench::contender::{self, Contender, Peers};
use slotwork_bench::handler::Handler;
use slotwork_bench::peers::{Carrier, Pair, SOME, visit_peers};
use slotwork_bench::placement::Placement;
use slotwork_bench::record::Kind;
use slotwork_bench::waiting::Waiting;
use slotwork_bench::workload::{Cell, Conditions};
use slotwork_catalog::Visitor;
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

type QueueOf<D> = <D as Design>::Queue<Native>;
type Headers<D> = HeaderTable<<QueueOf<D> as RequestQueue>::Header>;

fn build<D: Design>(lanes: usize, slots: usize) -> (QueueOf<D>, Headers<D>, Shape) {
    let shape = Shape::new(lanes, slots).unwrap();
    (D::build(shape).unwrap().into_inner(), HeaderTable::new(shape), shape)
}

/// One thread: every slot can be had once, comes back from each way it can go, and lanes are served in order.
fn protocol<D: Design>() -> Result<(), String> {
    let (queue, headers, shape) = build::<D>(3, 4);
    let mut client = queue.client().map_err(|error| error.to_string())?;
    if queue.client().is_ok() != (D::CLAIMS.submitters == Submitters::Many) {
        return Err("a second client is there, or is not, against the claim".into());
    }
    queue.set_dispatch(&mut client, Dispatch::RoundRobin);
    let mut workers: Vec<_> = shape.all_lanes().map(|lane| queue.worker(lane)).collect();
    for round in 0..50 {
        // One more than there are: a queue that doubles a slot must not go on for ever.
        let held: Vec<SlotId> = (0..=shape.slots()).map_while(|_| queue.acquire(&headers, &mut client)).collect();
        let distinct: HashSet<usize> = held.iter().map(|slot| slot.index()).collect();
        if held.len() != shape.slots() || distinct.len() != held.len() || distinct.iter().any(|&at| at >= shape.slots())
        {
            return Err(format!("round {round}: {} slots are free, {} of them different", held.len(), distinct.len()));
        }
        let mut submitted = Vec::new();
        for (at, slot) in held.into_iter().enumerate() {
            if at % 3 == round % 3 {
                queue.withdraw(&headers, &mut client, slot);
            } else {
                queue.submit(&headers, &mut client, slot);
                submitted.push(slot);
            }
        }
        let mut taken = Vec::new();
        let mut turns: HashMap<usize, Vec<SlotId>> = HashMap::new();
        while taken.len() < 2 * shape.slots() {
            let before = taken.len();
            for (lane, worker) in workers.iter_mut().enumerate() {
                if let Some(slot) = queue.take(&headers, worker) {
                    queue.complete(&headers, worker, slot);
                    taken.push(slot);
                    turns.entry(lane).or_default().push(slot);
                }
            }
            if taken.len() == before {
                break;
            }
        }
        if taken.iter().copied().collect::<HashSet<_>>() != submitted.iter().copied().collect()
            || taken.len() != submitted.len()
        {
            return Err(format!("round {round}: submitted {submitted:?}, taken {taken:?}"));
        }
        let position = |slot: &SlotId| submitted.iter().position(|other| other == slot);
        let sorted = |slots: &[SlotId]| slots.iter().map(position).is_sorted();
        let in_order = if D::CLAIMS.work_conserving { sorted(&taken) } else { turns.values().all(|lane| sorted(lane)) };
        if D::CLAIMS.order == Order::Fifo && !in_order {
            return Err(format!("round {round}: submitted {submitted:?}, taken in the order {taken:?}"));
        }
    }
    Ok(())
}

/// Threads: a slot has one owner at a time, carries what its owner put there, and none is missing at the end.
fn ownership<D: Design>() -> Result<(), String> {
    const TRIPS: u64 = 4000;
    const FREE: u32 = 0;
    let (queue, headers, shape) = build::<D>(2, 3);
    let owners: Vec<AtomicU32> = shape.all_slots().map(|_| AtomicU32::new(FREE)).collect();
    let payloads: Vec<AtomicU64> = shape.all_slots().map(|_| AtomicU64::new(0)).collect();
    let fault: Mutex<Option<String>> = Mutex::new(None);
    let (submitted, handled, stop) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let complain = |text: String| {
        fault.lock().unwrap().get_or_insert(text);
        stop.store(true, Ordering::Release);
    };
    let own = |slot: SlotId, who: u32| {
        let before = owners[slot.index()].swap(who, Ordering::AcqRel);
        if before != FREE {
            complain(format!("slot {} is {before}'s, and {who}'s too", slot.index()));
        }
    };
    let disown = |slot: SlotId| owners[slot.index()].store(FREE, Ordering::Release);
    let clients = if D::CLAIMS.submitters == Submitters::Many { 2 } else { 1 };
    std::thread::scope(|scope| {
        for number in 1..=clients {
            let mut client = queue.client().unwrap();
            let (queue, headers) = (&queue, &headers);
            let (payloads, submitted, stop, own, disown) = (&payloads, &submitted, &stop, &own, &disown);
            scope.spawn(move || {
                let mut sent = 0;
                while sent < TRIPS && !stop.load(Ordering::Acquire) {
                    let Some(slot) = queue.acquire(headers, &mut client) else {
                        std::thread::yield_now();
                        continue;
                    };
                    own(slot, number);
                    payloads[slot.index()].store(u64::from(number) << 32 | slot.index() as u64, Ordering::Relaxed);
                    disown(slot);
                    sent += 1;
                    submitted.fetch_add(1, Ordering::AcqRel);
                    queue.submit(headers, &mut client, slot);
                }
                queue.retire(client);
            });
        }
        for lane in shape.all_lanes() {
            let mut worker = queue.worker(lane);
            let (queue, headers) = (&queue, &headers);
            let (payloads, handled, stop, own, disown, complain) =
                (&payloads, &handled, &stop, &own, &disown, &complain);
            scope.spawn(move || {
                let mut idle = 0_u32;
                while handled.load(Ordering::Acquire) < clients as u64 * TRIPS && !stop.load(Ordering::Acquire) {
                    let Some(slot) = queue.take(headers, &mut worker) else {
                        // By then whoever is to come has come: what is missing is lost.
                        idle += 1;
                        if idle > 200_000 {
                            complain("requests are lost".into());
                        }
                        std::thread::yield_now();
                        continue;
                    };
                    idle = 0;
                    own(slot, 100 + u32::try_from(lane.index()).unwrap());
                    let payload = payloads[slot.index()].swap(u64::MAX, Ordering::Relaxed);
                    if payload & 0xFFFF_FFFF != slot.index() as u64 || payload >> 32 == 0 {
                        complain(format!("slot {} carries {payload:#x}", slot.index()));
                    }
                    disown(slot);
                    handled.fetch_add(1, Ordering::AcqRel);
                    queue.complete(headers, &mut worker, slot);
                }
            });
        }
    });
    if let Some(fault) = fault.into_inner().unwrap() {
        return Err(fault);
    }
    let mut client = queue.client().unwrap();
    let free = (0..=shape.slots()).map_while(|_| queue.acquire(&headers, &mut client)).count();
    if free != shape.slots() {
        return Err(format!("{free} slots are free at the end, of {}", shape.slots()));
    }
    Ok(())
}

/// The harness's own counts, under every policy.
fn counts<D: Design>() -> Result<(), String> {
    let contender = Contender::peer::<D>();
    let clients = if D::CLAIMS.submitters == Submitters::Many { 2 } else { 1 };
    let (placement, interrupted) = (Placement::free(), AtomicBool::new(false));
    for waiting in [Waiting::Yield, Waiting::Park, Waiting::Settle] {
        let cell = Cell { clients, shape: Shape::new(2, 3).unwrap(), waiting, handler_nanoseconds: 0 };
        let conditions = Conditions {
            handler: Handler::NOTHING,
            placement: &placement,
            warm_up: Duration::from_millis(1),
            window: Duration::from_millis(10),
            interrupted: &interrupted,
        };
        contender.run(cell, conditions).map_err(|error| error.to_string())?;
    }
    Ok(())
}

struct Check;

impl Visitor for Check {
    type Output = (&'static str, Vec<Result<(), String>>);

    fn visit<D: Design>(&mut self) -> Self::Output {
        (D::NAME, vec![protocol::<D>(), ownership::<D>(), counts::<D>()])
    }
}

#[test]
fn every_peer_keeps_the_protocol_the_owners_and_the_counts() {
    for (name, results) in visit_peers(&mut Check) {
        assert!(results.iter().all(Result::is_ok), "{name}: {results:?}");
    }
}

#[test]
fn peers_are_told_from_designs_and_none_has_a_designs_name() {
    let all = contender::peers(Peers::All);
    assert!(all.iter().all(|peer| peer.kind == Kind::Peer));
    let designs: Vec<&str> = slotwork_catalog::ENTRIES.iter().map(|entry| entry.name).collect();
    let names: HashSet<&str> = all.iter().map(|peer| peer.name.as_str()).collect();
    assert_eq!(names.len(), all.len());
    assert!(names.iter().all(|name| !designs.contains(name)));
    assert_eq!(contender::peers(Peers::Some).len(), SOME.len(), "each of the default peers is one");
    assert!(contender::peers(Peers::None).is_empty());
    for peer in &all {
        assert_eq!(contender::named(&peer.name).unwrap().kind, Kind::Peer);
    }
}

/// What is wrong with a known-bad adapter, once in every eleven pops.
trait Fault: Send + Sync + 'static {
    const NAME: &'static str;
    fn pop(queue: &ArrayQueue<u32>, count: u64) -> Option<u32>;
}

struct Bad<F: Fault> {
    queue: ArrayQueue<u32>,
    pops: AtomicU64,
    fault: std::marker::PhantomData<F>,
}

impl<F: Fault> Carrier for Bad<F> {
    const NAME: &'static str = F::NAME;
    const SOURCE: &'static str = "made to be found out";
    const PROGRESS: Progress = Progress::Blocking;
    const ALLOCATES: bool = false;

    fn with_room(slots: usize) -> Self {
        // Room for what is doubled.
        Self { queue: ArrayQueue::new(slots * 1000), pops: AtomicU64::new(0), fault: std::marker::PhantomData }
    }

    fn push(&self, number: u32) {
        let _ = self.queue.push(number);
    }

    fn pop(&self) -> Option<u32> {
        F::pop(&self.queue, self.pops.fetch_add(1, Ordering::Relaxed))
    }
}

macro_rules! faults {
    ($($fault:ident $name:literal |$queue:ident, $count:ident| $pop:expr;)+) => {
        $(
            struct $fault;
            impl Fault for $fault {
                const NAME: &'static str = $name;
                fn pop($queue: &ArrayQueue<u32>, $count: u64) -> Option<u32> { $pop }
            }
        )+
    };
}

faults! {
    Sound "sound" |queue, _count| queue.pop();
    Loses "loses" |queue, count| { if count % 11 == 10 { queue.pop(); } queue.pop() };
    Doubles "doubles" |queue, count| { let number = queue.pop()?; if count % 11 == 10 { let _ = queue.push(number); } Some(number) };
    Reorders "reorders" |queue, count| {
        if count % 11 == 10 && queue.len() > 1 && let Some(number) = queue.pop() { let _ = queue.push(number); }
        queue.pop()
    };
}

#[test]
fn each_check_accepts_a_sound_adapter_and_rejects_those_that_are_not() {
    for result in Check.visit::<Pair<Bad<Sound>>>().1 {
        assert_eq!(result, Ok(()));
    }
    let refused = |result: Result<(), String>, words: &[&str]| {
        let line = result.expect_err("it is wrong");
        assert!(words.iter().any(|word| line.contains(word)), "{line}");
    };
    refused(protocol::<Pair<Bad<Loses>>>(), &["are free", "taken"]);
    refused(protocol::<Pair<Bad<Doubles>>>(), &["are free", "taken"]);
    refused(protocol::<Pair<Bad<Reorders>>>(), &["in the order"]);
    refused(ownership::<Pair<Bad<Loses>>>(), &["lost", "free at the end"]);
    refused(ownership::<Pair<Bad<Doubles>>>(), &["too", "carries", "free at the end"]);
    refused(counts::<Pair<Bad<Loses>>>(), &["counts are wrong"]);
}
