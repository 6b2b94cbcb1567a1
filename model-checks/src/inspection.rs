//! What one thread finds out by calling and counting: the limits of a design, and whether it allocates.
//!
//! ```text
//!   limits       shapes and clients up to the limit, and one beyond ──▶ every slot goes round │ refused for that argument
//!   allocations  a warm queue goes round and round ──▶ calls of the allocator: none, unless the design claims some
//! ```

use crate::evidence::{Check, Evidence, Extent, Outcome};
use slotwork::{Client, ClientError, Design, Native, Pool, Shape, ShapeError, Submitters, Worker};
use slotwork_catalog::Visitor;
use slotwork_catalog::allocation::Count;
use std::collections::BTreeSet;
use std::time::Instant;

/// The property of the row about limits.
pub const LIMITS: &str = "its limits are refused at the right argument";

/// How the property of the row about allocations begins.
pub const ALLOCATIONS: &str = "once built, it ";

type QueueOf<D> = <D as Design>::Queue<Native>;

/// What was tried, and how often.
#[derive(Default)]
struct Tried {
    taken: u64,
    refused: u64,
}

/// The rows of a design of the catalog; none when there is no such design.
#[must_use]
pub fn inspection(design: &str) -> Option<Vec<Evidence>> {
    struct Inspect;
    impl Visitor for Inspect {
        type Output = Vec<Evidence>;
        fn visit<D: Design>(&mut self) -> Vec<Evidence> {
            inspect::<D>()
        }
    }
    crate::instances::visit_named(design, &mut Inspect).ok()
}

/// The rows of any design.
#[must_use]
pub fn inspect<D: Design>() -> Vec<Evidence> {
    vec![limits_row::<D>(), allocations_row::<D>()]
}

fn limits_row<D: Design>() -> Evidence {
    let start = Instant::now();
    let mut tried = Tried::default();
    let found = shapes::<D>(&mut tried).and_then(|()| clients::<D>(&mut tried));
    let witnesses = vec![("taken".into(), tried.taken), ("refused".into(), tried.refused)];
    row::<D>(LIMITS.into(), "limits", found, (tried.taken + tried.refused, "shapes and clients"), witnesses, start)
}

/// The limit of an argument of a shape, or what all designs have.
fn shapes<D: Design>(tried: &mut Tried) -> Result<(), String> {
    let lanes = D::CLAIMS.max_lanes.unwrap_or(Shape::MAX_LANES);
    let slots = D::CLAIMS.max_slots_per_lane.unwrap_or(1000);
    let small = |limit: usize| [1, 2, 3, 63, 64, 65, 255, 256].into_iter().filter(move |&size| size < limit);
    for shape in
        small(slots).chain([slots]).map(|slots| (1, slots)).chain(small(lanes).chain([lanes]).map(|lanes| (lanes, 1)))
    {
        let built = Shape::new(shape.0, shape.1).map(goes_round::<D>);
        built.map_err(|error| format!("{} × {} is refused: {error}", shape.0, shape.1))??;
        tried.taken += 1;
    }
    let most = Shape::MAX_SLOTS;
    for (beyond, lanes, slots) in [
        (ShapeError::NoLanes, 0, 1),
        (ShapeError::NoLanes, 0, 0),
        (ShapeError::NoSlots, 1, 0),
        (
            match D::CLAIMS.max_lanes {
                Some(limit) => ShapeError::DesignLanes { lanes: limit + 1, limit },
                None => ShapeError::TooManyLanes { lanes: lanes + 1, limit: lanes },
            },
            lanes + 1,
            1,
        ),
        (
            match D::CLAIMS.max_slots_per_lane {
                Some(limit) => ShapeError::DesignSlots { slots_per_lane: limit + 1, limit },
                None => ShapeError::TooManySlots { slots_per_lane: most + 1, limit: most },
            },
            1,
            D::CLAIMS.max_slots_per_lane.map_or(most, |limit| limit) + 1,
        ),
    ] {
        match Shape::new(lanes, slots).and_then(D::build::<Native>) {
            Err(error) if error == beyond => tried.refused += 1,
            Err(error) => return Err(format!("{lanes} × {slots} is refused for another reason: {error}")),
            Ok(_) => return Err(format!("{lanes} × {slots} is taken, though {beyond}")),
        }
    }
    Ok(())
}

/// Every slot of this shape is acquired, submitted, taken and completed, twice; and then there are as many again.
fn goes_round<D: Design>(shape: Shape) -> Result<(), String> {
    let (client, workers) = handles::<D>(shape)?;
    for _ in 0..2 {
        let held: Vec<_> = std::iter::from_fn(|| client.acquire()).take(shape.slots() + 1).collect();
        let different: BTreeSet<_> = held.iter().map(slotwork::Vacant::slot).collect();
        if held.len() != shape.slots() || different.len() != held.len() {
            return Err(format!("{shape:?}: {} slots acquired, {} of them different", held.len(), different.len()));
        }
        held.into_iter().for_each(|vacant| _ = vacant.submit());
        let mut taken = 0;
        for worker in &workers {
            while taken <= shape.slots()
                && let Some(claimed) = worker.take()
            {
                claimed.complete();
                taken += 1;
            }
        }
        if taken != shape.slots() {
            return Err(format!("{shape:?}: {taken} slots taken"));
        }
    }
    Ok(())
}

type Handles<D> = (Client<u64, QueueOf<D>>, Vec<Worker<u64, QueueOf<D>>>);

fn handles<D: Design>(shape: Shape) -> Result<Handles<D>, String> {
    let queue = D::build::<Native>(shape).map_err(|error| format!("{shape:?} is refused: {error}"))?;
    Ok(Pool::new(queue, |_| 0).map_err(|error| format!("{shape:?}: {error}"))?.split())
}

/// As many clients as claimed, and not one more; a dropped one makes room.
fn clients<D: Design>(tried: &mut Tried) -> Result<(), String> {
    let (client, _workers) = handles::<D>(Shape::new(1, 2).map_err(|error| error.to_string())?)?;
    let limit = D::CLAIMS.max_clients;
    let expected = match D::CLAIMS.submitters {
        Submitters::One => Some(ClientError::OneSubmitter),
        Submitters::Many => limit.map(|limit| ClientError::TooManyClients { limit }),
    };
    let mut clients = vec![client];
    while clients.len() < limit.unwrap_or(100) {
        let next = clients[0].try_clone().map_err(|error| format!("client {}: {error}", clients.len() + 1))?;
        clients.push(next);
        tried.taken += 1;
    }
    let Some(expected) = expected else { return Ok(()) };
    for _ in 0..2 {
        match clients[0].try_clone() {
            Err(error) if error == expected => tried.refused += 1,
            Err(error) => return Err(format!("client {} is refused for another reason: {error}", clients.len() + 1)),
            Ok(_) => return Err(format!("client {} is taken, though {expected}", clients.len() + 1)),
        }
        if D::CLAIMS.submitters == Submitters::Many {
            clients.pop();
            clients.push(clients[0].try_clone().map_err(|error| format!("a dropped client makes no room: {error}"))?);
        }
    }
    Ok(())
}

fn allocations_row<D: Design>() -> Evidence {
    const WARM: u64 = 200;
    const MEASURED: u64 = 5000;
    let start = Instant::now();
    let claimed = D::CLAIMS.allocates;
    let property = format!("{ALLOCATIONS}{}", if claimed { "may allocate, and does" } else { "allocates nothing" });
    let mut calls = 0;
    let mut found = || {
        let (client, workers) = handles::<D>(Shape::new(1, 4).map_err(|error| error.to_string())?)?;
        let mut before = Count::now();
        for number in 0..WARM + MEASURED {
            if number == WARM {
                before = Count::now();
            }
            drop(client.acquire());
            client.acquire().ok_or("no slot is free in an idle queue")?.submit();
            workers[0].take().ok_or("nothing is submitted after a submit")?.complete();
        }
        calls = before.since().calls;
        if (calls > 0) == claimed { Ok(()) } else { Err(format!("{calls} allocations in {MEASURED} round trips")) }
    };
    let found = if Count::is_counting() { found() } else { Err(NOT_COUNTING.into()) };
    row::<D>(property, "allocations", found, (MEASURED, "round trips"), Vec::new(), start)
}

const NOT_COUNTING: &str = "this program does not count allocations";

fn row<D: Design>(
    property: String,
    subject: &str,
    found: Result<(), String>,
    (count, unit): (u64, &str),
    witnesses: Vec<(String, u64)>,
    start: Instant,
) -> Evidence {
    Evidence {
        design: D::NAME.into(),
        property,
        check: Check::Inspection,
        subject: subject.into(),
        view: "one thread".into(),
        extent: Extent::Sampled,
        count,
        unit: unit.into(),
        witnesses,
        milliseconds: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
        blind: "what only happens when threads meet".into(),
        outcome: match found {
            Ok(()) => Outcome::Passed,
            Err(why) if why == NOT_COUNTING => Outcome::GaveUp { why },
            Err(why) => Outcome::Failed { why, replay: format!("verify --design {}", D::NAME) },
        },
    }
}
