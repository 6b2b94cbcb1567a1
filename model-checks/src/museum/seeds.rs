//! Exhibits of 2018 that are not in a queue's words, but in what stands around them.

use super::Sound;
use crate::models::{Bound, Model, UNBOUNDED, one_lane};
use crate::platform::Machine;
use crate::seen::Seen;
use slotwork::{Atomic, AtomicInteger, Claims, Design, LaneId, Platform, Pool, Shape, Site};
use std::sync::Arc;

slotwork::sites! {
    /// The accesses of these exhibits.
    pub SEED_SITES in "museum-seeds";
    SIGNAL: Rmw(Release), pairs [LOOK], "tells the worker of that lane";
    LOOK: Rmw(Acquire), pairs [SIGNAL], "what was signalled to this lane";
    QUIT_STORE: Store(Release), pairs [QUIT_LOAD], "submitted before the end";
    QUIT_LOAD: Load(Acquire), pairs [QUIT_STORE], "what was submitted before the end is seen";
}

/// The submit of 2018 reads the worker's number from the payload, not from the header before it: the request
/// goes wherever its first bytes say. With `FROM_HEADER` it does not.
pub struct PayloadAsHeader<const FROM_HEADER: bool>;

impl<const FROM_HEADER: bool> Model for PayloadAsHeader<FROM_HEADER> {
    const NAME: &'static str = if FROM_HEADER { "lane_from_header" } else { "lane_from_payload" };
    const PROPERTY: &'static str = "a request goes to its lane";
    const WITNESSES: &'static [&'static str] = &["submitted"];
    const FLOOR: u64 = 1;
    const BOUND: Bound = UNBOUNDED;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let shape = Shape::new(2, 1).expect("a model's shape is legal");
        let (header, payload) = (LaneId::new(0), 1_u64);
        let signals: Arc<[P::AtomicU64]> = (0..2).map(|_| P::AtomicU64::new(0)).collect();
        let worker = P::spawn({
            let signals = Arc::clone(&signals);
            move || signals[header.index()].fetch_and(0, &LOOK)
        });
        let lane = if FROM_HEADER { header.index() } else { usize::try_from(payload).unwrap_or(0) % shape.lanes() };
        signals[lane].fetch_or(1, &SIGNAL);
        seen.saw("submitted");
        let found = P::join(worker) | signals[header.index()].fetch_and(0, &LOOK);
        assert_eq!(found, 1, "the worker that the slot belongs to finds the request");
    }
}

/// A worker that tests "quit" before it looks for work leaves what is queued, and nobody is told. With `DRAINS`
/// it looks first.
pub struct QuitDropsWork<const DRAINS: bool>;

impl<const DRAINS: bool> Model for QuitDropsWork<DRAINS> {
    const NAME: &'static str = if DRAINS { "work_before_quit" } else { "quit_before_work" };
    const PROPERTY: &'static str = "every request ends once";
    const WITNESSES: &'static [&'static str] = &["handled"];
    const FLOOR: u64 = 1;
    const BOUND: Bound = UNBOUNDED;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (client, worker) = one_lane::<D, P>(1);
        let quit = Arc::new(P::AtomicU32::new(0));
        let thread = P::spawn({
            let quit = Arc::clone(&quit);
            move || {
                let mut handled = 0;
                loop {
                    let ending = quit.load(&QUIT_LOAD) == 1;
                    if ending && !DRAINS {
                        return handled;
                    }
                    match worker.take() {
                        Some(claimed) => {
                            claimed.complete();
                            handled += 1;
                        }
                        None if ending => return handled,
                        None => P::yield_now(),
                    }
                }
            }
        });
        client.acquire().expect("a slot is free").submit();
        quit.store(1, &QUIT_STORE);
        let handled = P::join(thread);
        seen.saw_if("handled", handled == 1);
        assert_eq!(handled, 1, "the request that was submitted before the end is handled");
    }
}

/// The shape's limit of 2018 was tested against the number of workers: more than 64 requests per worker share bits.
#[derive(Clone, Copy, Debug)]
pub struct BoundOnWrongArgument;

// SAFETY: `construct` makes a new queue. With more than 64 slots per lane that queue breaks its promise: that
// is the exhibit.
unsafe impl Design for BoundOnWrongArgument {
    const NAME: &'static str = "bound-on-wrong-argument";
    const CLAIMS: Claims = Claims { max_lanes: Some(64), max_slots_per_lane: None, ..Sound::CLAIMS };
    const SITES: &'static [&'static [Site]] = Sound::SITES;
    type Queue<P: Platform> = <Sound as Design>::Queue<P>;

    fn construct<P: Platform>(shape: Shape) -> Self::Queue<P> {
        Sound::construct(shape)
    }
}

/// Every slot of a lane that is wider than a word is acquired, submitted and taken, once.
pub struct EverySlot;

impl Model for EverySlot {
    const NAME: &'static str = "bound_on_wrong_arg_every_slot";
    const PROPERTY: &'static str = "every slot is usable";
    const WITNESSES: &'static [&'static str] = &["a lane wider than a word"];
    const FLOOR: u64 = 1;
    const BOUND: Bound = UNBOUNDED;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        const SLOTS: usize = 66;
        let shape = Shape::new(1, SLOTS).expect("a legal shape");
        let queue = D::build::<P>(shape).expect("the design says that it takes this shape");
        let (client, mut workers) = Pool::new(queue, |_| 0_u64).expect("there is memory for a model").split();
        let worker = workers.remove(0);
        for value in 1..=SLOTS as u64 {
            let mut vacant = client.acquire().expect("a slot is free");
            *vacant = value;
            vacant.submit();
        }
        seen.saw("a lane wider than a word");
        let mut sum = 0;
        while let Some(claimed) = worker.take() {
            sum += *claimed;
            claimed.complete();
        }
        assert_eq!(sum, (SLOTS * (SLOTS + 1) / 2) as u64, "every request arrives, once");
    }
}
