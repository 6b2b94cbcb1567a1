//! Shapes and limits: what is refused, what is taken, and that what is taken works to the last slot.

mod support;

use slotwork::{
    ClientError, Design, HeaderTable, LaneId, Native, Pool, PoolError, RequestQueue, Shape, ShapeError, SlotId,
    SubmitterCount, Submitters,
};
use slotwork_catalog::ENTRIES;
use slotwork_catalog::allocation::{Count, Counting};
use support::known_bad::{self, Bad};
use support::{
    QueueOf, acquire_all, admitted, assert_rejected, for_every_design, full_circle, handles, large, take_all,
};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Each size is tried as it is and, where the design takes it, with two lanes.
fn capacity<D: Design>() {
    for slots in [1, 2, 3, 63, 64, 65, 255, 256, 257, 1000] {
        for shape in [1, 2].into_iter().filter_map(|lanes| admitted::<D>(lanes, slots)) {
            let (client, workers) = handles::<D, u8>(shape, |_| 0);
            for _ in 0..3 {
                full_circle(D::NAME, &client, &workers);
            }
        }
    }
}

/// One burst less, one as large, and one larger than the queue.
fn bursts<D: Design>() {
    for slots in [1, 2, 3, 64] {
        let (client, workers) = handles::<D, u8>(admitted::<D>(1, slots).expect("a small shape"), |_| 0);
        for burst in [slots - 1, slots, slots + 1] {
            let acquired: Vec<_> = (0..burst).map_while(|_| client.acquire()).collect();
            assert_eq!(acquired.len(), burst.min(slots), "{}: acquired of a burst of {burst}", D::NAME);
            for vacant in acquired {
                vacant.submit();
            }
            assert_eq!(take_all(&workers).len(), burst.min(slots), "{}: taken of a burst of {burst}", D::NAME);
        }
    }
}

#[test]
fn real_capacity_and_full_loop_256() {
    for_every_design!(capacity);
}

#[test]
fn real_capacity_in_bursts() {
    for_every_design!(bursts);
}

#[test]
fn rejects_wrong_capacities() {
    capacity::<Bad<known_bad::Honest>>();
    assert_rejected(capacity::<Bad<known_bad::NoneTooEarly>>, &["slots acquired"]);
    assert_rejected(capacity::<Bad<known_bad::AcquiresTwice>>, &["handed out twice"]);
    assert_rejected(capacity::<Bad<known_bad::LosesOne>>, &["slots taken"]);
    assert_rejected(capacity::<Bad<known_bad::AliasesBits>>, &["handed out twice", "slots taken"]);
}

/// What the claims say of a shape, written anew, so as not to ask the code under test.
fn refusal<D: Design>(lanes: usize, slots_per_lane: usize) -> Option<ShapeError> {
    let claims = D::CLAIMS;
    match (lanes, slots_per_lane) {
        (0, _) => Some(ShapeError::NoLanes),
        (_, 0) => Some(ShapeError::NoSlots),
        _ if claims.max_lanes.is_some_and(|limit| lanes > limit) => {
            claims.max_lanes.map(|limit| ShapeError::DesignLanes { lanes, limit })
        }
        _ if claims.max_slots_per_lane.is_some_and(|limit| slots_per_lane > limit) => {
            claims.max_slots_per_lane.map(|limit| ShapeError::DesignSlots { slots_per_lane, limit })
        }
        _ => None,
    }
}

#[test]
fn bound_on_wrong_arg_grid() {
    fn check<D: Design>() {
        let sizes = [0, 1, 63, 64, 65, 256];
        for (lanes, slots) in sizes.into_iter().flat_map(|lanes| sizes.map(|slots| (lanes, slots))) {
            let built = Shape::new(lanes, slots).and_then(D::build::<Native>);
            match (built, refusal::<D>(lanes, slots)) {
                (Err(error), expected) => assert_eq!(Some(error), expected, "{}, {lanes} × {slots}", D::NAME),
                (Ok(_), Some(expected)) => panic!("{}, {lanes} × {slots}: taken, and not {expected}", D::NAME),
                (Ok(queue), None) => {
                    let (client, workers) = Pool::new(queue, |_| 0_u8).expect("there is memory").split();
                    full_circle(D::NAME, &client, &workers);
                    full_circle(D::NAME, &client, &workers);
                }
            }
        }
    }
    for_every_design!(check);
}

#[test]
fn cap_zero_is_an_error_of_the_right_argument() {
    assert_eq!(Shape::new(0, 0), Err(ShapeError::NoLanes));
    assert_eq!(Shape::new(0, 1), Err(ShapeError::NoLanes));
    assert_eq!(Shape::new(1, 0), Err(ShapeError::NoSlots));
}

/// The limits that the claims name are the true ones: the limit works, and one more is refused.
#[test]
fn limits_are_as_claimed() {
    fn check<D: Design>() {
        let limit = D::CLAIMS.max_lanes.unwrap_or(Shape::MAX_LANES);
        let (client, workers) = handles::<D, u8>(Shape::new(limit, 1).expect("the limit"), |_| 0);
        full_circle(D::NAME, &client, &workers);
        let refused = Shape::new(limit + 1, 1).and_then(D::build::<Native>).map(drop);
        let expected = match D::CLAIMS.max_lanes {
            Some(limit) => ShapeError::DesignLanes { lanes: limit + 1, limit },
            None => ShapeError::TooManyLanes { lanes: limit + 1, limit },
        };
        assert_eq!(refused, Err(expected), "{}", D::NAME);
        if let Some(limit) = D::CLAIMS.max_slots_per_lane {
            let (client, workers) = handles::<D, u8>(Shape::new(3, limit).expect("the limit"), |_| 0);
            full_circle(D::NAME, &client, &workers);
            let refused = Shape::new(3, limit + 1).and_then(D::build::<Native>).map(drop);
            assert_eq!(refused, Err(ShapeError::DesignSlots { slots_per_lane: limit + 1, limit }), "{}", D::NAME);
        }
    }
    for_every_design!(check);
}

/// The most slots of any shape, where the headers of so many leave room; a million where not.
fn largest<D: Design>() -> Shape {
    const HEADERS: usize = 1 << 28;
    let lanes = 4095;
    let slots_per_lane = D::CLAIMS.max_slots_per_lane.unwrap_or(4097);
    let shape = admitted::<D>(lanes, slots_per_lane);
    let fits = |shape: &Shape| shape.slots() * size_of::<<QueueOf<D> as RequestQueue>::Header>() <= HEADERS;
    shape.filter(fits).unwrap_or_else(|| large::<D>((1 << 20) - 1))
}

/// Driven by hand, without payloads: every slot up to the highest index is acquired, and the last ones,
/// that one among them, go round.
fn at_the_index_limit<D: Design>() {
    let shape = largest::<D>();
    let name = format!("{}, {shape:?}", D::NAME);
    let queue = D::build::<Native>(shape).expect("a shape that the claims admit").into_inner();
    let headers = HeaderTable::new(shape);
    let mut client = queue.client().expect("the first client");
    let mut seen = vec![false; shape.slots()];
    let mut last = Vec::new();
    while let Some(slot) = queue.acquire(&headers, &mut client) {
        assert!(!std::mem::replace(&mut seen[slot.index()], true), "{name}: slot {} twice", slot.index());
        if slot.index() + 100 >= shape.slots() {
            last.push(slot);
        }
    }
    assert!(seen.iter().all(|&seen| seen), "{name}: not all were acquired");
    for &slot in &last {
        queue.submit(&headers, &mut client, slot);
    }
    let mut taken = Vec::new();
    for lane in shape.all_lanes() {
        let mut worker = queue.worker(lane);
        while let Some(slot) = queue.take(&headers, &mut worker) {
            queue.complete(&headers, &mut worker, slot);
            taken.push(slot);
        }
    }
    taken.sort_unstable();
    last.sort_unstable();
    assert_eq!(taken, last, "{name}");
    let mut again: Vec<SlotId> = std::iter::from_fn(|| queue.acquire(&headers, &mut client)).collect();
    again.sort_unstable();
    assert_eq!(again, last, "{name}");
    queue.retire(client);
}

fn is_among_even<D: Design>() -> bool {
    ENTRIES.iter().position(|entry| entry.name == D::NAME).is_some_and(|place| place.is_multiple_of(2))
}

#[test]
fn pointer_bits_at_the_index_limit() {
    fn check<D: Design>() {
        if is_among_even::<D>() {
            at_the_index_limit::<D>();
        }
    }
    assert_eq!(4095 * 4097, Shape::MAX_SLOTS);
    for_every_design!(check);
}

/// The other half, because each takes its time: a thread for each half.
#[test]
fn pointer_bits_at_the_index_limit_of_the_others() {
    fn check<D: Design>() {
        if !is_among_even::<D>() {
            at_the_index_limit::<D>();
        }
    }
    for_every_design!(check);
}

/// A size beyond a limit is refused before anything is allocated.
#[test]
fn size_calc_overflow_allocates_nothing() {
    fn check<D: Design>() {
        let huge = [usize::MAX, usize::MAX / 2 + 1, 1 << 33, Shape::MAX_SLOTS + 1];
        for (lanes, slots) in huge.into_iter().flat_map(|size| [(1, size), (size, 1), (size, size), (4096, size)]) {
            let before = Count::now();
            let refused = Shape::new(lanes, slots).and_then(D::build::<Native>).is_err();
            assert!(refused, "{}, {lanes} × {slots}", D::NAME);
            assert_eq!(before.since(), Count::default(), "{}, {lanes} × {slots}", D::NAME);
        }
        if let Some(limit) = D::CLAIMS.max_slots_per_lane {
            let before = Count::now();
            let refused = Shape::new(1, limit + 1).and_then(D::build::<Native>).is_err();
            assert!(refused, "{}", D::NAME);
            assert_eq!(before.since(), Count::default(), "{}", D::NAME);
        }
    }
    for_every_design!(check);
}

/// More payload than there is memory for, or than there are addresses for, is an error, and quick.
#[test]
fn size_calc_overflow_of_payloads_is_an_error() {
    fn refused<D: Design, T>(shape: Shape) {
        let queue = D::build::<Native>(shape).expect("a shape that the claims admit");
        let before = Count::now();
        let pool = Pool::<T, _>::try_new_in_place::<()>(queue, |_, _| panic!("no payload is made"));
        let Err(PoolError::Memory { slots, slot_bytes }) = pool else { panic!("{}: {pool:?}", D::NAME) };
        assert_eq!(slots, shape.slots(), "{}", D::NAME);
        assert!(slot_bytes >= size_of::<T>(), "{}", D::NAME);
        assert!(before.since().bytes <= 0, "{}: the queue was freed, and nothing kept", D::NAME);
    }
    fn check<D: Design>() {
        refused::<D, [u8; 1 << 40]>(large::<D>(1 << 18));
        refused::<D, [u8; 1 << 46]>(large::<D>(1 << 18));
    }
    for_every_design!(check);
}

/// As many clients as claimed, and not one more; a dropped one makes room.
fn client_limit<D: Design>() {
    let shape = admitted::<D>(2, 4).or_else(|| admitted::<D>(1, 4)).expect("a small shape");
    let (client, workers) = handles::<D, u8>(shape, |_| 0);
    match (D::CLAIMS.submitters, D::CLAIMS.max_clients) {
        (Submitters::One, limit) => {
            assert_eq!(limit, Some(1), "{}", D::NAME);
            assert_eq!(client.try_clone().map(drop), Err(ClientError::OneSubmitter), "{}", D::NAME);
        }
        (Submitters::Many, limit) => {
            let count = limit.unwrap_or(1000);
            let mut clients = vec![client];
            while clients.len() < count {
                let next = clients[0].try_clone();
                clients.push(next.unwrap_or_else(|error| panic!("{}, client {}: {error}", D::NAME, clients.len() + 1)));
            }
            for _ in 0..3 {
                if let Some(limit) = limit {
                    let error = clients[0].try_clone().map(drop);
                    assert_eq!(error, Err(ClientError::TooManyClients { limit }), "{}", D::NAME);
                }
                // Each of them can use the queue, to the last slot.
                for client in &clients {
                    full_circle(D::NAME, client, &workers);
                }
                let last = clients.pop().expect("many");
                drop(last);
                clients.push(clients[0].try_clone().expect("a dropped client makes room"));
            }
        }
    }
}

#[test]
fn client_limits_are_as_claimed() {
    for_every_design!(client_limit);
}

#[test]
fn rejects_wrong_limits_of_clients() {
    assert_rejected(client_limit::<Bad<known_bad::LimitNotKept>>, &["TooManyClients"]);
    assert_rejected(client_limit::<Bad<known_bad::ClientNeverReturns>>, &["a dropped client makes room"]);
}

fn claims_agree<D: Design>() {
    let count = <QueueOf<D> as RequestQueue>::Submitters::COUNT;
    assert_eq!(count, D::CLAIMS.submitters, "{}: claim and type of submitters", D::NAME);
    let shape = admitted::<D>(3, 4).or_else(|| admitted::<D>(1, 4)).expect("a small shape");
    let queue = D::build::<Native>(shape).expect("it was admitted");
    assert_eq!(queue.shape(), shape, "{}", D::NAME);
    let (_client, workers) = handles::<D, u8>(shape, |_| 0);
    let lanes: Vec<LaneId> = workers.iter().map(slotwork::Worker::lane).collect();
    assert_eq!(lanes, shape.all_lanes().collect::<Vec<_>>(), "{}: a worker per lane, in order", D::NAME);
}

#[test]
fn claims_agree_with_types() {
    for_every_design!(claims_agree);
}

#[test]
fn rejects_a_claim_that_its_type_denies() {
    assert_rejected(claims_agree::<Bad<known_bad::OneByClaim>>, &["claim and type of submitters"]);
}

/// A slot beyond the last does not exist: after exhaustion, again and again, there is none.
#[test]
fn exhaustion_lasts() {
    fn check<D: Design>() {
        let (client, workers) = handles::<D, u8>(admitted::<D>(1, 3).expect("a small shape"), |_| 0);
        let held = acquire_all(&client);
        for _ in 0..1000 {
            assert!(client.acquire().is_none(), "{}", D::NAME);
            assert!(workers[0].take().is_none(), "{}", D::NAME);
        }
        drop(held);
        full_circle(D::NAME, &client, &workers);
    }
    for_every_design!(check);
}
