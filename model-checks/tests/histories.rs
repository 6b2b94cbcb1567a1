//! Recorded histories of every design, the known-bad queues that they reject, and histories written by hand.

use model_checks::evidence::{Check, Outcome};
use model_checks::histories::check::BUDGET;
use model_checks::histories::known_bad::{sound, sound_refill};
use model_checks::histories::minimise::minimise;
use model_checks::histories::report::rows;
use model_checks::histories::scenario::Size;
use model_checks::histories::specification::Rules;
use model_checks::histories::survey::Batch;
use model_checks::histories::table::table;
use model_checks::histories::timeline::timeline;
use model_checks::histories::{
    Call, Content, Effort, History, KNOWN_BAD, Property, Source, Verdict, check, check_all, histories, survey,
};
use slotwork::{Design, NoneFree, Order};
use slotwork_catalog::{Visitor, names, visit_all};

#[test]
fn every_design_is_linearizable_as_claimed() {
    for design in names() {
        let rows = histories(design, false).expect("the catalog knows its own designs");
        assert_eq!(rows.len(), Property::ALL.len() * Source::ALL.len());
        for row in rows {
            println!(
                "{design}: {} ({}): {} {}, {:?}, {} ms",
                row.property, row.view, row.count, row.unit, row.witnesses, row.milliseconds
            );
            assert_eq!(row.check, Check::History);
            assert_eq!(row.verdict(), Ok(()), "{design}: {} ({})", row.property, row.view);
        }
    }
    assert!(histories("nonsense", false).is_none());
}

/// One slot, so that it is full or empty at nearly every call. EMPTY-AT-CAP1.
#[test]
fn empty_at_cap1_every_answer_none_is_right() {
    struct OneSlot;
    impl Visitor for OneSlot {
        type Output = ();
        fn visit<D: Design>(&mut self) {
            for source in Source::ALL {
                let batch = Batch { size: Size::LONG.one_slot(), scenarios: 12, runs: 2 };
                let survey = survey::<D>(source, &Effort::of(source, false).only(batch));
                assert!(survey.rejection.is_none(), "{}", survey.rejection.unwrap().table());
                for property in [Property::NoneFree, Property::NoneSubmitted] {
                    let tally = &survey.tallies[&property];
                    assert!(tally.histories > 0 && tally.gave_up == 0);
                    assert!(tally.witnesses["none beside another operation"] > 0, "{}: {tally:?}", D::NAME);
                }
            }
        }
    }
    visit_all(&mut OneSlot);
}

/// Each is rejected for the property that it breaks, with a history so small that it can be read; and the
/// row says so. NOT-EMPTY-BUT-NULL, EMPTY-AT-CAP1: the late look.
#[test]
fn not_empty_but_null_and_every_other_known_bad_queue_is_rejected() {
    for bad in KNOWN_BAD {
        let survey = (bad.survey)(Source::Shuttle);
        let rejection = survey.rejection.as_ref().unwrap_or_else(|| panic!("{} was accepted: {survey:?}", bad.name));
        println!("{}: {}\nafter {} histories: {rejection}", bad.name, bad.story, rejection.histories);
        println!("{}", rejection.table());
        assert_eq!(rejection.fault.property, bad.property, "{}", bad.name);
        assert!(rejection.history.operations.len() <= 24, "{}", rejection.table());
        assert_well_formed(&rejection.timeline());
        let rows = rows(rejection.design, Source::Shuttle, &survey);
        let failed: Vec<_> = rows.iter().filter(|row| matches!(row.outcome, Outcome::Failed { .. })).collect();
        assert_eq!(failed.len(), 1);
        assert!(failed[0].verdict().is_err());
    }
}

/// What is broken whatever the threads do is seen on real threads too.
#[test]
fn real_threads_reject_what_is_always_wrong() {
    for name in ["two_owners", "nothing_submitted_by_a_late_look", "stack_that_claims_fifo"] {
        let bad = KNOWN_BAD.iter().find(|bad| bad.name == name).unwrap();
        let rejection = (bad.survey)(Source::RealThreads).rejection.expect("a known fault is found");
        assert_eq!(rejection.fault.property, bad.property);
    }
}

#[test]
fn the_sound_counterpart_is_accepted() {
    for source in Source::ALL {
        let survey = sound(source);
        assert!(survey.rejection.is_none() && survey.broken.is_none(), "{survey:?}");
        assert!(survey.tallies[&Property::Whole].histories > 50);
    }
}

/// A queue that refills by the rule is accepted, and its clients were told to wait beside free slots.
#[test]
fn the_sound_refill_is_accepted() {
    for source in Source::ALL {
        let survey = sound_refill(source);
        assert!(survey.rejection.is_none() && survey.broken.is_none(), "{survey:?}");
        let tally = &survey.tallies[&Property::NoneFree];
        assert!(tally.gave_up == 0 && tally.witnesses["none beside a free slot"] > 0, "{tally:?}");
    }
}

/// Under shuttle a violation is the same at every run, to the last operation.
#[test]
fn a_rejection_under_shuttle_comes_again() {
    let lost_request = || KNOWN_BAD.iter().find(|bad| bad.name == "lost_request").unwrap();
    let again = || (lost_request().survey)(Source::Shuttle).rejection.expect("a known fault is found");
    let (one, two) = (again(), again());
    assert_eq!((one.scenario, one.history, one.fault), (two.scenario, two.history, two.fault));
}

const FIFO: Rules = Rules { none_free: NoneFree::Exact, none_submitted_exact: true, order: Order::Fifo };
const SCAN: Rules = Rules { none_free: NoneFree::Scan, none_submitted_exact: false, order: Order::Any };

fn acquire(slot: u32) -> Call {
    Call::Acquire(Some((slot, Some(Content::FRESH))))
}

fn submit(slot: u32, request: u32) -> Call {
    Call::Submit { slot, content: Content::request(request), lane: Some(0) }
}

fn take(slot: u32, request: u32) -> Call {
    Call::Take { lane: 0, taken: Some((slot, Content::request(request))) }
}

fn complete(slot: u32, request: u32) -> Call {
    Call::Complete { slot, content: Content::request(request).answered() }
}

const NONE_SUBMITTED: Call = Call::Take { lane: 0, taken: None };

/// One lane with two slots, two clients, a worker.
fn history() -> History {
    History::new(1, 2, &["client 0", "client 1", "worker 0"])
}

fn broken(history: &History, rules: Rules) -> Vec<Property> {
    let verdicts = check_all(history, rules, BUDGET).into_iter();
    verdicts.filter(|(_, verdict)| matches!(verdict, Verdict::Violation(_))).map(|(property, _)| property).collect()
}

/// A right history: both slots go round, and "none" is answered on both sides.
fn right() -> History {
    history()
        .with(0, (1, 4), acquire(0))
        .with(1, (2, 3), acquire(1))
        .with(1, (5, 8), Call::Acquire(None))
        .with(2, (6, 7), NONE_SUBMITTED)
        .with(0, (9, 12), submit(0, 1))
        .with(2, (10, 11), take(0, 1))
        .with(1, (13, 14), Call::Withdraw { slot: 1 })
        .with(2, (15, 18), complete(0, 1))
        .with(0, (16, 17), acquire(1))
        .with(0, (19, 20), Call::Acquire(Some((0, Some(Content::request(1).answered())))))
}

#[test]
fn a_right_history_is_linearizable_under_every_rule() {
    for rules in [FIFO, SCAN, Rules { order: Order::Rotating, ..FIFO }] {
        assert_eq!(broken(&right(), rules), []);
    }
}

#[test]
fn two_owners_of_one_slot_are_a_violation() {
    let two = history().with(0, (1, 4), acquire(0)).with(1, (2, 3), acquire(0));
    assert_eq!(broken(&two, SCAN)[0], Property::OneOwner);
    let taken_twice = history()
        .with(0, (1, 2), acquire(0))
        .with(0, (3, 4), submit(0, 1))
        .with(2, (5, 6), take(0, 1))
        .with(2, (7, 8), take(0, 1));
    assert_eq!(broken(&taken_twice, SCAN)[0], Property::OneOwner);
}

#[test]
fn an_answer_that_does_not_come_back_is_a_violation() {
    let mut stale = right();
    let last = stale.operations.last_mut().unwrap();
    last.call = Call::Acquire(Some((0, Some(Content::FRESH))));
    assert_eq!(broken(&stale, SCAN)[0], Property::OneOwner);
}

#[test]
fn none_free_beside_a_free_slot_is_a_violation_of_both_claims() {
    let free_all_the_time = history().with(0, (1, 2), acquire(0)).with(1, (3, 4), Call::Acquire(None));
    for rules in [FIFO, SCAN] {
        assert_eq!(broken(&free_all_the_time, rules)[0], Property::NoneFree);
    }
}

/// Slot 0 is free until slot 1 is: at every instant one of them, and neither all the time.
#[test]
fn none_free_while_slots_come_and_go_breaks_the_exact_claim_alone() {
    let behind_the_scan = history()
        .with(0, (1, 2), acquire(1))
        .with(1, (3, 10), Call::Acquire(None))
        .with(0, (4, 5), Call::Withdraw { slot: 1 })
        .with(0, (6, 7), acquire(0));
    assert_eq!(broken(&behind_the_scan, FIFO), [Property::NoneFree, Property::Whole]);
    assert_eq!(broken(&behind_the_scan, SCAN), []);
}

/// A lane with so many slots, all of them acquired, and so many submitted; one is completed when all is done.
fn nearly_full(slots: u32, in_flight: u32) -> History {
    let mut history = History::new(1, slots, &["client 0", "client 1", "worker 0"]);
    for slot in 0..slots {
        let at = u64::from(slot) * 10 + 1;
        history = history.with(0, (at, at + 1), acquire(slot));
        if slot < in_flight {
            history = history.with(0, (at + 2, at + 3), submit(slot, slot + 1));
        }
    }
    history
}

/// Eight slots: beside seven in flight, and after a first "none", a free slot may be kept from a client. Beside six it may not; nor
/// from one that had found something; nor when the rest is held.
#[test]
fn none_free_beside_a_free_slot_is_a_refill_if_nearly_all_are_in_flight() {
    const REFILL: Rules = Rules { none_free: NoneFree::Refill, ..SCAN };
    let nones = |history: History, first: bool, withdrawn: u32| {
        let history = if first { history.with(1, (200, 201), Call::Acquire(None)) } else { history };
        let history = (0..withdrawn).fold(history, |history, number| {
            let at = 210 + u64::from(number) * 2;
            history.with(0, (at, at + 1), Call::Withdraw { slot: 7 - number })
        });
        history.with(1, (300, 301), Call::Acquire(None))
    };
    let refill = nones(nearly_full(8, 7), true, 1);
    assert_eq!(broken(&refill, REFILL), []);
    assert_eq!(broken(&refill, SCAN), [Property::NoneFree]);
    assert_eq!(broken(&refill, FIFO), [Property::NoneFree, Property::Whole]);
    for wrong in [
        nones(nearly_full(8, 6), true, 2),
        nones(nearly_full(8, 6), true, 1),
        nones(nearly_full(8, 7), false, 1),
        nones(nearly_full(8, 0), true, 1),
        nones(nearly_full(7, 6).with(0, (100, 101), Call::Withdraw { slot: 6 }), true, 0),
    ] {
        assert_eq!(broken(&wrong, REFILL), [Property::NoneFree]);
    }
}

#[test]
fn a_lost_request_is_a_violation() {
    let lost = history().with(0, (1, 2), acquire(0)).with(0, (3, 4), submit(0, 1)).with(2, (5, 6), NONE_SUBMITTED);
    for rules in [FIFO, SCAN] {
        assert_eq!(broken(&lost, rules)[0], Property::NoneSubmitted);
    }
    let meanwhile = history().with(0, (1, 2), acquire(0)).with(0, (3, 6), submit(0, 1)).with(2, (4, 5), NONE_SUBMITTED);
    assert_eq!(broken(&meanwhile, FIFO), []);
}

fn inverted() -> History {
    history()
        .with(0, (1, 2), acquire(0))
        .with(0, (3, 4), submit(0, 1))
        .with(1, (5, 6), acquire(1))
        .with(1, (7, 8), submit(1, 2))
        .with(2, (9, 10), take(1, 2))
        .with(2, (11, 12), take(0, 1))
}

#[test]
fn an_inverted_order_is_a_violation_of_fifo_alone() {
    assert_eq!(broken(&inverted(), FIFO), [Property::Order, Property::Whole]);
    assert_eq!(broken(&inverted(), SCAN), []);
    assert_eq!(broken(&inverted(), Rules { order: Order::Rotating, ..FIFO }), []);
}

/// The same with more threads than are searched: the bad patterns find it.
#[test]
fn beyond_four_threads_the_bad_patterns_are_looked_for() {
    let mut many = inverted();
    many.threads.extend(["idle 0".into(), "idle 1".into()]);
    assert_eq!(broken(&many, FIFO), [Property::Order]);
}

/// Two slots per lane: fewer than four may pass. The fourth is one too many.
#[test]
fn a_request_overtaken_too_often_is_a_violation_of_rotating() {
    let mut overtaken = history().with(1, (1, 2), acquire(1)).with(1, (3, 4), submit(1, 100));
    let mut content = Content::FRESH;
    for request in 1..=4 {
        let at = u64::from(request) * 100;
        overtaken = overtaken
            .with(0, (at, at + 1), Call::Acquire(Some((0, Some(content)))))
            .with(0, (at + 2, at + 3), submit(0, request))
            .with(2, (at + 4, at + 5), take(0, request))
            .with(2, (at + 6, at + 7), complete(0, request));
        content = Content::request(request).answered();
        let once_more = overtaken.clone().with(2, (at + 8, at + 9), take(1, 100));
        let rotating = Rules { order: Order::Rotating, ..FIFO };
        let expected: &[Property] = if request < 4 { &[] } else { &[Property::Order] };
        assert_eq!(broken(&once_more, rotating), expected, "{request} overtake");
    }
}

#[test]
fn a_search_that_gives_up_is_no_pass() {
    assert_eq!(check(&right(), Property::Whole, FIFO, 3), Verdict::GaveUp);
    assert_eq!(check(&right(), Property::Whole, FIFO, BUDGET), Verdict::Linearizable);
    // The same in a survey, and in the row it makes.
    let batch = Batch { size: Size::SMALL, scenarios: 4, runs: 1 };
    let tight = Effort::of(Source::Shuttle, false).only(batch).with_budget(5);
    let survey = survey::<slotwork_locked::GlobalLock>(Source::Shuttle, &tight);
    assert!(survey.rejection.is_none());
    let rows = rows("global-lock", Source::Shuttle, &survey);
    let whole = rows.iter().find(|row| row.property.contains("whole")).unwrap();
    assert!(matches!(whole.outcome, Outcome::GaveUp { .. }), "{whole:?}");
    assert!(whole.verdict().is_err());
}

#[test]
fn a_minimised_history_is_of_the_same_fault_and_has_nothing_to_spare() {
    // Journeys before and after an inverted pair.
    let mut long = inverted();
    for operation in &mut long.operations {
        operation.called += 1000;
        operation.returned += 1000;
    }
    let mut answers = [Content::FRESH; 2];
    for request in 10..20 {
        let (slot, at) = (request % 2, u64::from(request) * 20);
        long = long
            .with(0, (at, at + 1), Call::Acquire(Some((slot, Some(answers[slot as usize])))))
            .with(0, (at + 2, at + 3), submit(slot, request))
            .with(2, (at + 4, at + 5), take(slot, request))
            .with(2, (at + 6, at + 7), complete(slot, request))
            .with(2, (at + 8, at + 9), NONE_SUBMITTED);
        answers[slot as usize] = Content::request(request).answered();
    }
    for operation in &mut long.operations {
        if let Call::Acquire(Some((slot, content))) = &mut operation.call
            && operation.called >= 1000
        {
            *content = Some(answers[*slot as usize]);
        }
    }
    assert_eq!(broken(&long, FIFO), [Property::Order, Property::Whole]);
    let (smallest, fault) = minimise(&long, Property::Order, FIFO, BUDGET).unwrap();
    assert_eq!(smallest.operations.len(), 6, "{}", table(&smallest, &fault.accused));
    assert_eq!(broken(&smallest, FIFO), [Property::Order, Property::Whole]);
    assert_eq!(minimise(&right(), Property::Order, FIFO, BUDGET), None, "nothing is wrong with it");
}

#[test]
fn a_history_is_shown_as_a_table_and_as_a_timeline() {
    let Verdict::Violation(fault) = check(&inverted(), Property::Order, FIFO, BUDGET) else { panic!("it is inverted") };
    let text = table(&inverted(), &fault.accused);
    assert_eq!(text.lines().count(), 1 + 2 * 6, "a line for each event:\n{text}");
    assert!(text.starts_with("time │ client 0"));
    assert!(text.contains("└ → slot 1 (request 2) ◀"), "{text}");
    let svg = timeline(&inverted(), "a < b & \"c\"", &fault.accused);
    assert_well_formed(&svg);
    assert!(svg.contains("a &lt; b &amp; &quot;c&quot;"));
    assert_eq!(svg.matches("<rect").count(), 1 + 6);
    assert!(svg.contains("take → slot 1 (request 2)"));
}

#[test]
fn a_history_survives_json() {
    let text = serde_json::to_string(&right()).unwrap();
    assert_eq!(serde_json::from_str::<History>(&text).unwrap(), right());
}

/// Every element is closed, in order, and nothing comes from elsewhere.
fn assert_well_formed(svg: &str) {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("a tag ends");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty() && svg.starts_with("<svg") && !svg.contains("href"));
}
