//! Layout: payloads are built in place, aligned, apart where promised, and steer nothing.

mod support;

use slotwork::{Design, Header, Native, Pool, RequestQueue, Shape, Vacant};
use std::collections::BTreeSet;
use support::known_bad::{self, Bad};
use support::{QueueOf, acquire_all, admitted, assert_rejected, for_every_design, handles, on_small_stack, take_all};

#[test]
fn big_t_is_built_in_place() {
    fn run<D: Design>() {
        let queue = D::build::<Native>(Shape::new(1, 4).expect("small")).expect("small");
        let pool = Pool::<[u8; 1 << 20], _>::try_new_in_place::<()>(queue, |slot, mut place| {
            let fill = u8::try_from(slot.index()).expect("four slots") + 1;
            // SAFETY: the memory is that of one payload, and any bytes are a valid one.
            unsafe {
                place.memory().as_mut_ptr().write_bytes(fill, 1);
                Ok(place.assume_filled())
            }
        });
        let (client, workers) = pool.expect("four mebibytes").split();
        for vacant in acquire_all(&client) {
            let fill = u8::try_from(vacant.slot().index()).expect("four slots") + 1;
            assert!(vacant.iter().all(|&byte| byte == fill), "{}", D::NAME);
            vacant.submit();
        }
        assert_eq!(take_all(&workers).len(), 4, "{}", D::NAME);
    }
    fn check<D: Design>() {
        on_small_stack(128, run::<D>);
    }
    for_every_design!(check);
}

#[repr(align(128))]
#[allow(dead_code, reason = "only the layout matters")]
struct Align128(u8);
#[repr(align(256))]
#[allow(dead_code, reason = "only the layout matters")]
struct Align256(u8);
#[repr(align(64))]
struct AlignedNothing;

fn address<T, Q: RequestQueue>(vacant: &Vacant<'_, T, Q>) -> usize {
    std::ptr::from_ref::<T>(vacant).addr()
}

#[test]
fn over_aligned_payloads_are_aligned() {
    fn aligned<D: Design, T>(payload: fn() -> T) {
        let (client, workers) = handles::<D, T>(Shape::new(1, 5).expect("small"), |_| payload());
        for vacant in acquire_all(&client) {
            let at = address(&vacant);
            assert_eq!(at % align_of::<T>(), 0, "{}: {at:#x} for {}", D::NAME, std::any::type_name::<T>());
            vacant.submit();
        }
        assert_eq!(take_all(&workers).len(), 5, "{}", D::NAME);
    }
    fn check<D: Design>() {
        aligned::<D, _>(|| Align128(1));
        aligned::<D, _>(|| Align256(1));
        aligned::<D, _>(|| AlignedNothing);
        aligned::<D, _>(|| ());
        aligned::<D, _>(|| 1_u8);
        aligned::<D, _>(|| [0_u8; 3]);
    }
    for_every_design!(check);
}

/// Which slot and which worker come next does not depend on what is in the payloads.
#[test]
fn payload_as_header_changes_nothing() {
    fn trace<D: Design, T: Clone>(payload: &T) -> Vec<(usize, usize)> {
        let shape = admitted::<D>(4, 3).or_else(|| admitted::<D>(1, 3)).expect("a small shape");
        let (client, workers) = handles::<D, T>(shape, |_| payload.clone());
        let mut trace = Vec::new();
        for round in 0..40 {
            for _ in 0..=round % shape.slots() {
                let Some(mut vacant) = client.acquire() else { break };
                *vacant = payload.clone();
                trace.push((vacant.slot().index(), usize::MAX));
                vacant.submit();
            }
            for worker in &workers {
                while let Some(mut claimed) = worker.take() {
                    *claimed = payload.clone();
                    trace.push((claimed.slot().index(), worker.lane().index()));
                    claimed.complete();
                }
            }
        }
        trace
    }
    fn check<D: Design>() {
        let expected = trace::<D, u32>(&0);
        assert!(expected.len() > 100, "{}: {} steps", D::NAME, expected.len());
        let others = [
            trace::<D, ()>(&()),
            trace::<D, u8>(&0),
            trace::<D, u8>(&u8::MAX),
            trace::<D, u32>(&u32::MAX),
            trace::<D, u32>(&0x10),
        ];
        for other in others {
            assert_eq!(other, expected, "{}: slots and workers", D::NAME);
        }
    }
    for_every_design!(check);
}

/// A pair of cache lines: neighbours are fetched together.
const LINE: usize = 128;

/// No two slots share a line.
fn lines_apart<D: Design, T>(payload: fn() -> T) {
    let (client, _workers) = handles::<D, T>(Shape::new(1, 9).expect("small"), |_| payload());
    let mut taken = BTreeSet::new();
    for vacant in acquire_all(&client) {
        let first = address(&vacant) / LINE;
        let last = (address(&vacant) + size_of::<T>().max(1) - 1) / LINE;
        for line in first..=last {
            assert!(taken.insert(line), "{}: slot {} shares a line", D::NAME, vacant.slot().index());
        }
    }
}

#[test]
fn false_sharing_of_payloads_where_the_header_is_padded() {
    fn check<D: Design>() {
        if align_of::<<<QueueOf<D> as RequestQueue>::Header as Header>::Alignment>() >= LINE {
            lines_apart::<D, u8>(|| 0);
            lines_apart::<D, [u8; 129]>(|| [0; 129]);
            lines_apart::<D, Align256>(|| Align256(0));
        }
    }
    for_every_design!(check);
}

#[test]
fn rejects_payloads_that_share_a_line() {
    assert_rejected(|| lines_apart::<Bad<known_bad::Honest>, u8>(|| 0), &["shares a line"]);
}
