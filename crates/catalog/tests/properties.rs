//! Random scripts of operations against the sequential specification, for every design.

mod support;

use slotwork::Design;
use support::known_bad::{self, Bad};
use support::{assert_rejected, for_every_design, script};

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
