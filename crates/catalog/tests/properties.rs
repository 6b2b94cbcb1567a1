//! Random scripts of operations against the sequential specification, for every design.

mod support;

use slotwork::{Design, Destination, Dispatch};
use support::known_bad::{self, Bad};
use support::{admitted, assert_rejected, for_every_design, handles, script};

const CASES: u32 = 256;

#[test]
fn every_design_agrees_with_the_specification() {
    fn check<D: Design>() {
        script::check::<D>(CASES);
    }
    for_every_design!(check);
}

#[test]
fn the_control_is_accepted() {
    script::check::<Bad<known_bad::Honest>>(CASES);
}

/// Every design goes round robin. One that says it can stay with a lane has lanes to choose from, so that both are seen in
/// where its requests go.
fn dispatch_is_as_said<D: Design>() {
    const SLOTS: usize = 3;
    let Some(shape) = admitted::<D>(3, SLOTS) else { return };
    let lanes_of = |dispatch| {
        let (client, _workers) = handles::<D, u8>(shape, |_| 0);
        let can = client.set_dispatch(dispatch);
        let lane = |destination| if let Destination::Lane(lane) = destination { Some(lane.index()) } else { None };
        let all = std::iter::from_fn(|| client.acquire().map(|vacant| lane(vacant.submit())));
        can.then(|| all.collect::<Option<Vec<usize>>>())
    };
    let round = lanes_of(Dispatch::RoundRobin).unwrap_or_else(|| panic!("{} does not go round robin", D::NAME));
    let Some(filled) = lanes_of(Dispatch::FillFirst) else { return };
    let each = |lanes: Option<Vec<usize>>| lanes.unwrap_or_else(|| panic!("{} has no lanes to choose from", D::NAME));
    for turn in each(round).windows(shape.lanes()) {
        let mut met = turn.to_vec();
        met.sort_unstable();
        met.dedup();
        assert_eq!(met.len(), shape.lanes(), "{}, round robin: went to {turn:?} one after another", D::NAME);
    }
    for lane in each(filled).chunks(SLOTS) {
        assert!(
            lane.iter().all(|each| *each == lane[0]),
            "{}, fill first: went to {lane:?} one after another",
            D::NAME
        );
    }
}

#[test]
fn every_design_dispatches_as_it_says() {
    for_every_design!(dispatch_is_as_said);
    dispatch_is_as_said::<Bad<known_bad::Honest>>();
}

#[test]
fn rejects_dispatch_that_is_not_as_said() {
    assert_rejected(dispatch_is_as_said::<Bad<known_bad::DispatchesAsItPleases>>, &["one after another"]);
    assert_rejected(dispatch_is_as_said::<Bad<known_bad::GoesNoRounds>>, &["does not go round robin"]);
}

macro_rules! rejects {
    ($($test:ident: $variant:ident, $reason:literal;)+) => {
        $(
            #[test]
            fn $test() {
                assert_rejected(|| script::check::<Bad<known_bad::$variant>>(CASES), &[$reason]);
            }
        )+
    };
}

rejects! {
    rejects_a_slot_handed_out_twice: AcquiresTwice, "acquire of slot";
    rejects_a_slot_taken_twice: TakesTwice, "take of slot";
    rejects_a_lost_slot: LosesOne, "take says none";
    rejects_none_free_too_early: NoneTooEarly, "acquire says none";
    rejects_none_free_too_early_for_a_refill: NoneTooEarlyForARefill, "acquire says none";
    rejects_a_refill_that_counts_what_is_held: RefillCountsHeld, "acquire says none";
    rejects_nothing_submitted_too_early: NothingTooEarly, "take says none";
    rejects_a_stack_that_claims_to_be_a_queue: LastInFirstOut, "was submitted first";
    rejects_lowest_slot_first_that_claims_to_rotate: LowestFirst, "overtaken";
    rejects_a_wrong_destination: WrongDestination, "took it";
    rejects_a_claim_of_work_conservation: NotConserving, "rule out";
    rejects_a_withdrawn_slot_that_is_lost: WithdrawLoses, "acquire says none";
    rejects_a_slot_that_waits_for_another: HeadOfLine, "acquire says none";
    rejects_a_limit_on_clients_that_is_not_kept: LimitNotKept, "the limit is 3";
    rejects_a_dropped_client_that_makes_no_room: ClientNeverReturns, "no client";
    rejects_slots_that_share_a_bit: AliasesBits, "take";
}
