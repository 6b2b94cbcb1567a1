//! A model of letting go: every payload is dropped once, whoever is last.

use super::{Bound, Model, SMALL};
use crate::platform::Machine;
use crate::seen::Seen;
use slotwork::{Design, Pool, Shape};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

struct Counted(Arc<AtomicU32>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A client submits and goes, while the worker takes or not, and goes. DROP-DOUBLE.
pub struct DropDouble;

impl Model for DropDouble {
    const NAME: &'static str = "drop_double";
    const PROPERTY: &'static str = "a payload is dropped once";
    const WITNESSES: &'static [&'static str] = &["left in the queue", "taken"];
    const FLOOR: u64 = 8;
    const BOUND: Bound = SMALL;

    fn run<D: Design, P: Machine>(seen: &'static Seen) {
        let drops = Arc::new(AtomicU32::new(0));
        let queue = D::build::<P>(Shape::new(1, 2).expect("legal")).expect("suits every design");
        let pool = Pool::new(queue, |_| Counted(Arc::clone(&drops))).expect("there is memory for a model");
        let (client, mut workers) = pool.split();
        let worker = workers.remove(0);
        let other = P::spawn(move || {
            P::step();
            let taken = worker.take().map(slotwork::Claimed::complete).is_some();
            (taken, worker)
        });
        P::step();
        client.acquire().expect("two slots are free").submit();
        drop(client);
        // The last handle is dropped here, ordered after all else: that std's reference count orders
        // it elsewhere too is more than a checker can see.
        let (taken, worker) = P::join(other);
        drop(worker);
        seen.saw(if taken { "taken" } else { "left in the queue" });
        assert_eq!(drops.load(Ordering::Relaxed), 2, "each payload is dropped once");
    }
}
