//! Models of waiting for everything that was submitted: results are written, slots are free.

use super::{Bound, LARGE, Model, SMALL, handles, keep, submit};
use crate::platform::Machine;
use crate::seen::Seen;
use slotwork::{AccessCell, Design};
use std::sync::Arc;

/// One request is drained: what its handler did, outside the slot too, is seen after. RESUME-TOO-EARLY.
pub struct Drained;

impl Model for Drained {
    const NAME: &'static str = "resume_too_early_drain";
    const PROPERTY: &'static str = "a drain ends after what it waits for";
    const WITNESSES: &'static [&'static str] = &["waited", "had nothing to wait for"];
    const FLOOR: u64 = 481;
    const BOUND: Bound = SMALL;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        drain::<D, P>(seen, 1);
    }
}

/// Two requests of two workers are drained.
pub struct DrainedTwo;

impl Model for DrainedTwo {
    const NAME: &'static str = "resume_too_early_drain_of_two";
    const PROPERTY: &'static str = "a drain ends after what it waits for";
    const WITNESSES: &'static [&'static str] = &["waited", "had nothing to wait for"];
    const FLOOR: u64 = 912;
    const BOUND: Bound = LARGE;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        drain::<D, P>(seen, 2);
    }
}

fn drain<D: Design, P: Machine>(seen: &'static Seen, lanes: usize) {
    let (client, workers) = handles::<D, P>(lanes, 1);
    let effects: Arc<[P::Cell]> = (0..lanes).map(|_| P::Cell::new()).collect();
    for value in 0..lanes {
        submit::<D, P>(&client, value as u64);
    }
    let threads: Vec<_> = workers
        .into_iter()
        .map(|worker| {
            let effects = Arc::clone(&effects);
            P::spawn(move || {
                P::step();
                let claimed = worker.take().expect("there is a request for each worker");
                let effect = effects[usize::try_from(*claimed).expect("a small number")].hold();
                drop(effect);
                P::step();
                claimed.complete();
            })
        })
        .collect();
    P::step();
    let mut drain = client.begin_drain();
    let at_once = drain.poll();
    seen.saw(if at_once { "had nothing to wait for" } else { "waited" });
    drain.wait();
    effects.iter().for_each(|effect| drop(effect.hold()));
    for _ in 0..lanes {
        assert!(keep::<D, P>(&client).is_some(), "after a drain the slots are free");
    }
    threads.into_iter().for_each(P::join);
    assert!(client.begin_drain().poll(), "a queue at rest has nothing to wait for");
}
