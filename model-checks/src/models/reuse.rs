//! Models of a slot that goes round: its payload is handed over by the queue and by nothing else.

use super::{Bound, LARGE, MEDIUM, Model, handle, handles, keep, look, one_lane, submit};
use crate::platform::Machine;
use crate::seen::Seen;
use slotwork::Design;

/// One slot, two requests: the worker takes, completes and takes again while the client acquires and
/// submits again. Nothing but the queue orders the payload's owners. WRONG-FENCE-MASKED, POP-NO-ACQUIRE.
pub struct Reuse;

impl Model for Reuse {
    const NAME: &'static str = "wrong_fence_masked_reuse";
    const PROPERTY: &'static str = "the queue alone orders a payload's owners";
    const WITNESSES: &'static [&'static str] = &["the slot was reused meanwhile", "reused after one miss"];
    const FLOOR: u64 = 30;
    const BOUND: Bound = MEDIUM;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (client, worker) = one_lane::<D, P>(1);
        submit::<D, P>(&client, 1);
        let other = P::spawn(move || {
            let taken: Vec<u64> = (0..2).filter_map(|_| handle::<D, P>(&worker)).collect();
            (taken, worker)
        });
        let mut submitted = false;
        for attempt in 0..2 {
            P::step();
            if let Some(mut vacant) = client.acquire() {
                assert_eq!(*vacant, 10, "the result of the first request is there");
                *vacant = 2;
                P::step();
                vacant.submit();
                submitted = true;
                seen.saw_if("reused after one miss", attempt == 1);
                break;
            }
        }
        let (mut taken, worker) = P::join(other);
        seen.saw_if("the slot was reused meanwhile", taken.len() == 2);
        taken.extend(handle::<D, P>(&worker));
        assert_eq!(taken, if submitted { vec![1, 2] } else { vec![1] });
        let result = look::<D, P>(&client);
        assert_eq!(result, Some(if submitted { 20 } else { 10 }));
    }
}

/// Two workers complete while the client acquires: each slot comes back once. PUSH-TWICE.
pub struct PushTwice;

impl Model for PushTwice {
    const NAME: &'static str = "push_twice";
    const PROPERTY: &'static str = "no slot is lost";
    const WITNESSES: &'static [&'static str] = &["one came back meanwhile", "both came back meanwhile"];
    const FLOOR: u64 = 122;
    const BOUND: Bound = LARGE;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let (client, workers) = handles::<D, P>(2, 1);
        submit::<D, P>(&client, 1);
        submit::<D, P>(&client, 2);
        let threads: Vec<_> = workers.into_iter().map(|worker| P::spawn(move || handle::<D, P>(&worker))).collect();
        let mut back: Vec<_> = (0..2).filter_map(|_| keep::<D, P>(&client)).collect();
        seen.saw_if("one came back meanwhile", back.len() == 1);
        seen.saw_if("both came back meanwhile", back.len() == 2);
        let taken: u64 = threads.into_iter().filter_map(P::join).sum();
        assert_eq!(taken, 3, "each worker had one request");
        back.extend(std::iter::from_fn(|| keep::<D, P>(&client)));
        back.sort_unstable();
        assert_eq!(back, client.shape().all_slots().collect::<Vec<_>>(), "each slot came back once");
    }
}
