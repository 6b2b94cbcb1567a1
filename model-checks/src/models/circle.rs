//! The whole circle at a size that no model checker reaches: clients, workers, rounds.

use super::{Bound, Model, UNBOUNDED, handles};
use crate::platform::Machine;
use crate::seen::Seen;
use slotwork::{Atomic, AtomicInteger, Design, SlotId, Submitters};
use slotwork_workqueue::Event;
use std::sync::Arc;

slotwork::sites! {
    /// Accesses of the oracle that watches the slots.
    pub ORACLE_SITES in "oracle";
    OWNER: Rmw(Relaxed), pairs [], "orders nothing; it is in the scheduler's sight, so that owners meet here";
}

/// How many of everything there are.
#[derive(Clone, Copy)]
struct Size {
    clients: u64,
    /// Workers, one each.
    lanes: usize,
    slots_per_lane: usize,
    /// Requests of each client.
    rounds: u64,
    /// How often a worker lets others run while it handles a request.
    handling: u32,
}

/// So few slots that clients run out of them.
fn small<D: Design>() -> Size {
    match D::CLAIMS.submitters {
        Submitters::One => Size { clients: 1, lanes: 2, slots_per_lane: 1, rounds: 6, handling: 0 },
        Submitters::Many => Size { clients: 3, lanes: 2, slots_per_lane: 2, rounds: 6, handling: 0 },
    }
}

/// Eight threads, fifty rounds. Seven workers take their time, or one client would never run out of slots.
fn large<D: Design>() -> Size {
    match D::CLAIMS.submitters {
        Submitters::One => Size { clients: 1, lanes: 7, slots_per_lane: 1, rounds: 50, handling: 400 },
        Submitters::Many => Size { clients: 5, lanes: 3, slots_per_lane: 2, rounds: 50, handling: 0 },
    }
}

/// Who owns each slot, by an atomic of the platform: a second owner is found at once.
struct Oracle<P: Machine>(Vec<P::AtomicU32>);

impl<P: Machine> Oracle<P> {
    fn new(slots: usize) -> Self {
        Self((0..slots).map(|_| P::AtomicU32::new(0)).collect())
    }

    fn enter(&self, slot: SlotId) {
        assert_eq!(self.0[slot.index()].fetch_add(1, &OWNER), 0, "slot {} has two owners", slot.index());
    }

    fn leave(&self, slot: SlotId) {
        assert_eq!(self.0[slot.index()].fetch_sub(1, &OWNER), 1, "slot {} has two owners", slot.index());
    }
}

/// Clients and workers poll: every request is handled once, every slot has one owner.
pub struct Circle;

impl Model for Circle {
    const NAME: &'static str = "circle";
    const PROPERTY: &'static str = "a request is handled once";
    const WITNESSES: &'static [&'static str] = &["no slot was free"];
    const FLOOR: u64 = 400;
    const BOUND: Bound = UNBOUNDED;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        circle::<D, P>(seen, small::<D>(), false);
    }
}

/// Clients and workers sleep when there is nothing for them. NOTIFIED-TWICE, SPURIOUS-UNPARK.
pub struct SleepingCircle;

impl Model for SleepingCircle {
    const NAME: &'static str = "spurious_unpark_sleeping_circle";
    const PROPERTY: &'static str = "no wake is lost";
    const WITNESSES: &'static [&'static str] = &["no slot was free"];
    const FLOOR: u64 = 400;
    const BOUND: Bound = UNBOUNDED;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        circle::<D, P>(seen, small::<D>(), true);
    }
}

/// [`Circle`] with eight threads and fifty rounds.
pub struct LargeCircle;

impl Model for LargeCircle {
    const NAME: &'static str = "large_circle";
    const PROPERTY: &'static str = Circle::PROPERTY;
    const WITNESSES: &'static [&'static str] = Circle::WITNESSES;
    const FLOOR: u64 = Self::SCHEDULES;
    const BOUND: Bound = Circle::BOUND;
    const SCHEDULES: u64 = 200;
    const MAX_STEPS: usize = 1_000_000;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        circle::<D, P>(seen, large::<D>(), false);
    }
}

/// [`SleepingCircle`] with eight threads and fifty rounds.
pub struct LargeSleepingCircle;

impl Model for LargeSleepingCircle {
    const NAME: &'static str = "spurious_unpark_large_sleeping_circle";
    const PROPERTY: &'static str = SleepingCircle::PROPERTY;
    const WITNESSES: &'static [&'static str] = SleepingCircle::WITNESSES;
    const FLOOR: u64 = Self::SCHEDULES;
    const BOUND: Bound = SleepingCircle::BOUND;
    const SCHEDULES: u64 = 200;
    const MAX_STEPS: usize = 1_000_000;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        circle::<D, P>(seen, large::<D>(), true);
    }
}

fn circle<D: Design, P: Machine>(seen: &'static Seen, size: Size, asleep: bool) {
    let Size { clients: client_count, lanes, slots_per_lane, rounds, handling } = size;
    let (client, workers) = handles::<D, P>(lanes, slots_per_lane);
    let oracle = Arc::new(Oracle::<P>::new(lanes * slots_per_lane));
    let handled = Arc::new(P::AtomicU32::new(0));
    let freed = Arc::new(Event::<P>::new());
    let submitted: Arc<[_]> = (0..lanes).map(|_| Event::<P>::new()).collect();
    let requests = client_count * rounds;

    let mut clients = vec![client];
    while (clients.len() as u64) < client_count {
        clients.push(clients[0].try_clone().expect("the design claims many submitters"));
    }
    let client_threads: Vec<_> = clients
        .into_iter()
        .zip(0..)
        .map(|(client, number)| {
            let (oracle, freed, submitted) = (Arc::clone(&oracle), Arc::clone(&freed), Arc::clone(&submitted));
            P::spawn(move || {
                for round in 0..rounds {
                    let try_once = || {
                        let mut vacant = client.acquire()?;
                        oracle.enter(vacant.slot());
                        assert!(vacant.is_multiple_of(10), "a result is there, or nothing yet");
                        *vacant = number * rounds + round + 1;
                        oracle.leave(vacant.slot());
                        vacant.submit();
                        submitted.iter().for_each(|event| _ = event.notify_one());
                        Some(())
                    };
                    if try_once().is_none() {
                        seen.saw("no slot was free");
                        wait(&freed, asleep, try_once);
                    }
                }
            })
        })
        .collect();
    let worker_threads: Vec<_> = workers
        .into_iter()
        .map(|worker| {
            let (oracle, handled) = (Arc::clone(&oracle), Arc::clone(&handled));
            let (freed, submitted) = (Arc::clone(&freed), Arc::clone(&submitted));
            P::spawn(move || {
                let mut sum = 0;
                loop {
                    let try_once = || {
                        if u64::from(handled.fetch_add(0, &OWNER)) == requests {
                            return Some(None);
                        }
                        let mut claimed = worker.take()?;
                        oracle.enter(claimed.slot());
                        let value = *claimed;
                        (0..handling).for_each(|_| P::yield_now());
                        *claimed = value * 10;
                        oracle.leave(claimed.slot());
                        claimed.complete();
                        Some(Some(value))
                    };
                    let Some(value) =
                        try_once().unwrap_or_else(|| wait(&submitted[worker.lane().index()], asleep, try_once))
                    else {
                        return sum;
                    };
                    sum += value;
                    freed.notify_one();
                    if u64::from(handled.fetch_add(1, &OWNER)) + 1 == requests {
                        submitted.iter().for_each(|event| _ = event.notify_all());
                    }
                }
            })
        })
        .collect();
    client_threads.into_iter().for_each(P::join);
    let sum: u64 = worker_threads.into_iter().map(P::join).sum();
    assert_eq!(sum, requests * (requests + 1) / 2, "every request was handled, once");
}

fn wait<P: Machine, R>(event: &Event<P>, asleep: bool, mut look: impl FnMut() -> Option<R>) -> R {
    if asleep {
        return event.wait_until(look);
    }
    loop {
        P::yield_now();
        if let Some(found) = look() {
            return found;
        }
    }
}
