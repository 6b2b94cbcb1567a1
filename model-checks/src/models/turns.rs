//! Models of slots that are not handed over in the order in which they were got.
//!
//! A client that holds several slots may submit any of them first, and a worker that has taken several may complete any of
//! them first. Who goes by an order that it expects must notice, and must know which order holds from then on.

use super::{Bound, MEDIUM, Model, handle, handle_all, keep, one_lane, submit};
use crate::platform::Machine;
use crate::seen::Seen;
use slotwork::Design;

/// Of three slots that a client holds it submits the first, and then the last, while the worker takes.
pub struct SubmittedOutOfTurn;

impl Model for SubmittedOutOfTurn {
    const NAME: &'static str = "submitted_out_of_turn";
    const PROPERTY: &'static str = "no request is lost";
    const WITNESSES: &'static [&'static str] = &["one taken meanwhile", "both taken meanwhile"];
    const FLOOR: u64 = 45;
    const BOUND: Bound = MEDIUM;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (client, worker) = one_lane::<D, P>(3);
        let other = P::spawn(move || {
            let [first, second, third] = [1, 3, 2].map(|value| {
                let mut vacant = client.acquire().expect("three slots are free");
                *vacant = value;
                vacant
            });
            P::step();
            first.submit();
            P::step();
            third.submit();
            std::mem::forget(second);
            client
        });
        let mut taken: Vec<u64> = (0..2).filter_map(|_| handle::<D, P>(&worker)).collect();
        seen.saw_if("one taken meanwhile", taken.len() == 1);
        seen.saw_if("both taken meanwhile", taken.len() == 2);
        let client = P::join(other);
        taken.extend(handle_all::<D, P>(&worker));
        // Whatever order holds now, both sides know it.
        (3..=4).for_each(|value| submit::<D, P>(&client, value));
        taken.extend(handle_all::<D, P>(&worker));
        taken.sort_unstable();
        assert_eq!(taken, [1, 2, 3, 4], "each request arrives once");
    }
}

/// Of three requests that a worker has taken it completes the first, and then the last, while the client looks for slots.
pub struct CompletedOutOfTurn;

impl Model for CompletedOutOfTurn {
    const NAME: &'static str = "completed_out_of_turn";
    const PROPERTY: &'static str = "no slot is lost";
    const WITNESSES: &'static [&'static str] = &["one came back meanwhile", "both came back meanwhile"];
    const FLOOR: u64 = 45;
    const BOUND: Bound = MEDIUM;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (client, worker) = one_lane::<D, P>(3);
        (1..=3).for_each(|value| submit::<D, P>(&client, value));
        let other = P::spawn(move || {
            let [first, second, third] = [(); 3].map(|()| worker.take().expect("three were submitted"));
            P::step();
            first.complete();
            P::step();
            third.complete();
            std::mem::forget(second);
        });
        let mut back: Vec<_> = (0..2).filter_map(|_| keep::<D, P>(&client)).collect();
        seen.saw_if("one came back meanwhile", back.len() == 1);
        seen.saw_if("both came back meanwhile", back.len() == 2);
        P::join(other);
        back.extend(std::iter::from_fn(|| keep::<D, P>(&client)));
        back.sort_unstable();
        back.dedup();
        assert_eq!(back.len(), 2, "two slots came back, once each");
    }
}
