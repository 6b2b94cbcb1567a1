//! Payloads: each dropped once, whatever became of its slot, and in one hand at a time.

mod support;

use slotwork::{Claimed, Design, Native, Outcome, Pool, PoolError, Shape, SlotId};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::mpsc::{Sender, TryRecvError, channel};
use support::{acquire_all, admitted, assert_rejected, for_every_design, handles, large, on_small_stack, take_all};

/// Counts how often the payload of each slot was made and dropped.
#[derive(Clone, Default)]
struct Ledger(Rc<RefCell<Vec<(u32, u32)>>>);

impl Ledger {
    fn entry(&self, slot: SlotId) -> Entry {
        let mut entries = self.0.borrow_mut();
        if entries.len() <= slot.index() {
            entries.resize(slot.index() + 1, (0, 0));
        }
        entries[slot.index()].0 += 1;
        Entry { ledger: self.clone(), slot: slot.index() }
    }

    /// Fails unless `count` payloads were made, each once, and each was dropped `drops` times.
    fn assert(&self, context: &str, count: usize, drops: u32) {
        assert_eq!(*self.0.borrow(), vec![(1, drops); count], "{context}: (made, dropped) per slot");
    }
}

struct Entry {
    ledger: Ledger,
    slot: usize,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.ledger.0.borrow_mut()[self.slot].1 += 1;
    }
}

/// Where slots are when their pool is dropped. A guard cannot outlive its handle, unless it is forgotten.
#[derive(Clone, Copy, Debug)]
enum Left {
    Free,
    Held,
    Withdrawn,
    Submitted,
    Claimed,
    Completed,
    Failed,
}

const LEFT: [Left; 7] =
    [Left::Free, Left::Held, Left::Withdrawn, Left::Submitted, Left::Claimed, Left::Completed, Left::Failed];

/// Brings `count` slots of a new pool into a state, drops everything, and looks at the ledger.
fn drop_in_state<D: Design>(shape: Shape, left: Left, count: usize) {
    let context = format!("{}, {shape:?}, {count} {left:?}", D::NAME);
    let ledger = Ledger::default();
    let (client, workers) = handles::<D, Entry>(shape, |slot| ledger.entry(slot));
    let acquired = (0..count).map(|_| client.acquire().expect("a free slot"));
    match left {
        Left::Free => {}
        Left::Held => acquired.for_each(forget),
        Left::Withdrawn => drop(acquired.collect::<Vec<_>>()),
        Left::Submitted => acquired.for_each(|vacant| _ = vacant.submit()),
        Left::Claimed | Left::Completed | Left::Failed => {
            acquired.for_each(|vacant| _ = vacant.submit());
            let claimed = take_all(&workers);
            assert_eq!(claimed.len(), count, "{context}");
            match left {
                Left::Claimed => claimed.into_iter().for_each(forget),
                Left::Completed => claimed.into_iter().for_each(Claimed::complete),
                _ => claimed.into_iter().for_each(Claimed::fail),
            }
        }
    }
    drop(workers);
    ledger.assert(&context, shape.slots(), 0);
    drop(client);
    ledger.assert(&context, shape.slots(), 1);
}

#[test]
fn drop_keeps_items_and_drop_double_in_every_state() {
    fn check<D: Design>() {
        for shape in [(1, 1), (1, 3), (2, 4), (1, 64)].into_iter().filter_map(|(l, s)| admitted::<D>(l, s)) {
            for left in LEFT {
                for count in BTreeSet::from([0, 1, shape.slots()]) {
                    drop_in_state::<D>(shape, left, count);
                }
            }
        }
    }
    for_every_design!(check);
}

/// The client goes first while requests are queued: workers handle them, and the last one drops all.
#[test]
fn drop_keeps_items_when_a_worker_is_the_last() {
    fn check<D: Design>() {
        let shape = admitted::<D>(2, 3).or_else(|| admitted::<D>(1, 3)).expect("a small shape");
        let ledger = Ledger::default();
        let (client, workers) = handles::<D, Entry>(shape, |slot| ledger.entry(slot));
        acquire_all(&client).into_iter().for_each(|vacant| _ = vacant.submit());
        let drain = client.begin_drain();
        drop(client);
        assert_eq!(take_all(&workers).len(), shape.slots(), "{}", D::NAME);
        ledger.assert(D::NAME, shape.slots(), 0);
        drop(workers);
        ledger.assert(D::NAME, shape.slots(), 0);
        drop(drain);
        ledger.assert(D::NAME, shape.slots(), 1);
    }
    for_every_design!(check);
}

/// A pool that is dropped before it is split.
#[test]
fn drop_of_an_unused_pool() {
    fn check<D: Design>() {
        let ledger = Ledger::default();
        let queue = D::build::<Native>(Shape::new(1, 3).expect("small")).expect("small");
        drop(Pool::new(queue, |slot| ledger.entry(slot)));
        ledger.assert(D::NAME, 3, 1);
    }
    for_every_design!(check);
}

/// The constructor of slot `k` fails, or panics, before or after it has placed the payload.
#[test]
fn half_built_is_torn_down_once_at_every_index() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum End {
        FailsBefore,
        FailsAfter,
        PanicsBefore,
        PanicsAfter,
    }
    fn check<D: Design>() {
        let shape = admitted::<D>(2, 3).or_else(|| admitted::<D>(1, 6)).expect("a small shape");
        for at in shape.all_slots() {
            for end in [End::FailsBefore, End::FailsAfter, End::PanicsBefore, End::PanicsAfter] {
                let context = format!("{}, {end:?} slot {}", D::NAME, at.index());
                let ledger = Ledger::default();
                let queue = D::build::<Native>(shape).expect("it was admitted");
                let built = catch_unwind(AssertUnwindSafe(|| {
                    Pool::try_new_in_place(queue, |slot, place| match end {
                        End::FailsBefore if slot == at => Err("no luck"),
                        End::PanicsBefore if slot == at => panic!("planted"),
                        _ => {
                            let placed = place.write(ledger.entry(slot));
                            match end {
                                End::FailsAfter if slot == at => Err("no luck"),
                                End::PanicsAfter if slot == at => panic!("planted"),
                                _ => Ok(placed),
                            }
                        }
                    })
                    .map(drop)
                }));
                match built {
                    Ok(Err(PoolError::Payload { slot, source })) => {
                        assert!(matches!(end, End::FailsBefore | End::FailsAfter), "{context}");
                        assert_eq!((slot, source), (at, "no luck"), "{context}");
                    }
                    Ok(other) => panic!("{context}: {other:?}"),
                    Err(_) => assert!(matches!(end, End::PanicsBefore | End::PanicsAfter), "{context}"),
                }
                let placed = matches!(end, End::FailsAfter | End::PanicsAfter);
                ledger.assert(&context, at.index() + usize::from(placed), 1);
            }
        }
    }
    for_every_design!(check);
}

/// The error keeps its source, for whoever prints the chain.
#[test]
fn half_built_names_slot_and_source() {
    fn check<D: Design>() {
        let queue = D::build::<Native>(Shape::new(1, 4).expect("small")).expect("small");
        let failed = Pool::<u8, _>::try_new(queue, |slot| {
            if slot.index() == 2 { Err(std::io::Error::other("no luck")) } else { Ok(0) }
        });
        let error = failed.expect_err("the third payload fails");
        assert!(error.to_string().contains("slot 2"), "{}: {error}", D::NAME);
        let source = std::error::Error::source(&error).map(ToString::to_string);
        assert_eq!(source.as_deref(), Some("no luck"), "{}", D::NAME);
    }
    for_every_design!(check);
}

/// A million slots, all submitted, dropped where there is little stack.
#[test]
fn deep_drop_and_big_n() {
    fn run<D: Design>() {
        let shape = large::<D>(1 << 20);
        let (client, workers) = handles::<D, u8>(shape, |_| 1);
        let mut submitted = 0;
        while let Some(vacant) = client.acquire() {
            vacant.submit();
            submitted += 1;
        }
        assert_eq!(submitted, shape.slots(), "{}", D::NAME);
        // Some of them taken, so that a design that moves what it grabs has it in hand.
        for worker in &workers {
            for _ in 0..4 {
                worker.take().into_iter().for_each(Claimed::complete);
            }
        }
        drop(workers);
        drop(client);
    }
    fn check<D: Design>() {
        on_small_stack(64, run::<D>);
    }
    for_every_design!(check);
}

/// Odd sizes and counts: what was allocated is what is freed.
#[test]
fn vec_capacity_of_odd_sizes() {
    fn check<D: Design>() {
        for slots in [1, 3, 7, 13, 61] {
            let ledger = Ledger::default();
            let payload = |slot: SlotId| (ledger.entry(slot), vec![1_u8; slot.index() * 3 + 1]);
            let (client, workers) = handles::<D, _>(Shape::new(1, slots).expect("small"), payload);
            for mut vacant in acquire_all(&client) {
                vacant.1.extend([2; 5]);
                vacant.submit();
            }
            for mut claimed in take_all(&workers) {
                claimed.1.shrink_to_fit();
                claimed.complete();
            }
            assert!(acquire_all(&client).iter().all(|vacant| vacant.1.len() == vacant.slot().index() * 3 + 6));
            drop((client, workers));
            ledger.assert(D::NAME, slots, 1);
        }
    }
    for_every_design!(check);
}

/// A payload that is not `Sync` is in one hand at a time, also across threads.
#[test]
fn payloads_need_not_be_sync() {
    fn check<D: Design>() {
        let (client, mut workers) = handles::<D, Cell<u64>>(Shape::new(1, 4).expect("small"), |_| Cell::new(0));
        let worker = workers.remove(0);
        for vacant in acquire_all(&client) {
            vacant.set(7);
            vacant.submit();
        }
        let handled = std::thread::spawn(move || {
            let mut handled = 0;
            while let Some(claimed) = worker.take() {
                claimed.set(claimed.get() + 1);
                claimed.complete();
                handled += 1;
            }
            handled
        });
        assert_eq!(handled.join().expect("no panic"), 4, "{}", D::NAME);
        assert!(acquire_all(&client).iter().all(|vacant| vacant.get() == 8), "{}", D::NAME);
    }
    for_every_design!(check);
}

/// A handler that panics gives its slot back as failed, by unwinding.
#[test]
fn panic_invisible_is_seen_as_failed() {
    fn check<D: Design>() {
        for slots in [1, 4] {
            let (client, workers) = handles::<D, u32>(Shape::new(1, slots).expect("small"), |_| 0);
            for round in 1..=100 {
                let mut vacant = client.acquire().expect("a free slot");
                *vacant = round;
                vacant.submit();
                let handled = catch_unwind(AssertUnwindSafe(|| {
                    let mut claimed = workers[0].take().expect("a request");
                    *claimed += 1000;
                    assert!(round % 7 != 0, "planted");
                    claimed.complete();
                }));
                assert_eq!(handled.is_err(), round % 7 == 0, "{}", D::NAME);
                assert_eq!(client.in_flight(), 0, "{}", D::NAME);
                assert!(client.begin_drain().poll(), "{}", D::NAME);
                let all = acquire_all(&client);
                assert_eq!(all.len(), slots, "{}: round {round}", D::NAME);
                let last = all.iter().find(|vacant| ***vacant == round + 1000).expect("the slot's payload");
                let expected = if round % 7 == 0 { Outcome::Failed } else { Outcome::Completed };
                assert_eq!(last.outcome(), expected, "{}: round {round}", D::NAME);
            }
        }
    }
    for_every_design!(check);
}

/// What a payload owns lives as long as the last handle, and no longer, in whatever state it is.
#[test]
fn reply_inside_item_ends_with_the_last_handle() {
    fn check<D: Design>() {
        let (sender, receiver) = channel::<()>();
        let shape = Shape::new(1, 4).expect("small");
        let (client, workers) = handles::<D, Sender<()>>(shape, |_| sender.clone());
        drop(sender);
        acquire_all(&client).into_iter().for_each(|vacant| _ = vacant.submit());
        workers[0].take().into_iter().for_each(Claimed::complete);
        drop(workers);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty), "{}", D::NAME);
        drop(client);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected), "{}", D::NAME);
    }
    for_every_design!(check);
}

/// What the ledger is for: a double drop and a missing one are both seen.
#[test]
fn rejects_a_payload_dropped_twice_or_never() {
    let once = Ledger::default();
    drop(once.entry(SlotId::new(0)));
    once.assert("once", 1, 1);
    let twice = Ledger::default();
    let entry = twice.entry(SlotId::new(0));
    drop(Entry { ledger: twice.clone(), slot: 0 });
    drop(entry);
    assert_rejected(|| twice.assert("twice", 1, 1), &["(made, dropped)"]);
    let never = Ledger::default();
    forget(never.entry(SlotId::new(0)));
    assert_rejected(|| never.assert("never", 1, 1), &["(made, dropped)"]);
}
