//! Limits and allocations as claimed, by every design; and variants whose claims are false.

use model_checks::evidence::{Evidence, Outcome};
use model_checks::inspection::{inspect, inspection};
use slotwork::{Claims, Design, Platform, Shape, Site};
use slotwork_bitmap::Bitmap;
use slotwork_catalog::ENTRIES;
use slotwork_catalog::allocation::Counting;
use slotwork_linked_queue::LinkedQueue;
use slotwork_locked::GlobalLock;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn every_design_is_as_it_claims() {
    for entry in ENTRIES {
        for row in inspection(entry.name).unwrap() {
            println!("{}: {}: {} {}, {:?}", row.design, row.property, row.count, row.unit, row.witnesses);
            assert_eq!(row.verdict(), Ok(()));
        }
    }
    assert!(inspection("nonsense").is_none());
}

/// A design of the catalog, with claims that are not its own.
macro_rules! false_claims {
    ($name:ident, $design:ident: $($claim:ident = $value:expr),+) => {
        struct $name;

        // SAFETY: it builds what the design itself builds.
        unsafe impl Design for $name {
            const NAME: &'static str = stringify!($name);
            const CLAIMS: Claims = Claims { $($claim: $value,)+ ..$design::CLAIMS };
            const SITES: &'static [&'static [Site]] = $design::SITES;
            type Queue<P: Platform> = <$design as Design>::Queue<P>;

            fn construct<P: Platform>(shape: Shape) -> Self::Queue<P> {
                $design::construct(shape)
            }
        }
    };
}

false_claims!(MoreSlotsThanBits, Bitmap: max_slots_per_lane = Some(65));
false_claims!(ThreeClients, GlobalLock: max_clients = Some(3));
false_claims!(AllocatesInSecret, LinkedQueue: allocates = false);
false_claims!(AllocatesNothing, GlobalLock: allocates = true);

fn failures<D: Design>() -> Vec<Evidence> {
    inspect::<D>().into_iter().filter(|row| matches!(row.outcome, Outcome::Failed { .. })).collect()
}

#[test]
fn false_claims_are_refuted() {
    assert_eq!(failures::<GlobalLock>(), []);
    let why =
        |rows: Vec<Evidence>| rows.iter().map(|row| format!("{}: {:?}", row.subject, row.outcome)).collect::<String>();
    assert!(why(failures::<ThreeClients>()).contains("limits"), "{}", why(failures::<ThreeClients>()));
    assert!(why(failures::<AllocatesInSecret>()).contains("allocations in 5000"), "in secret");
    assert!(why(failures::<AllocatesNothing>()).contains("0 allocations"), "nothing");
    let beyond = std::panic::catch_unwind(failures::<MoreSlotsThanBits>);
    assert!(beyond.is_err() || beyond.is_ok_and(|rows| why(rows).contains("limits")), "65 slots in 64 bits");
}
