//! What a user would take instead of a design: other crates' queues and the standard library's, as contenders.
//!
//! ```text
//!   Pair<C>   clients ──pop── free: C ◀──push── workers        any queue of numbers, twice
//!             clients ──push─▶ submitted: C ──pop──▶ workers
//!   Rings     a ring each way for each worker                  queues with one producer and one consumer
//!   Mpsc      a channel to each worker, one back               channels with one consumer
//! ```
//!
//! A peer carries slot numbers, as a design does, so it runs behind the same [`Pool`](slotwork::Pool), workload, counts and
//! checks. It is written as a [`Design`](slotwork::Design) for that reason alone: it is in no catalog, its claims are what its
//! documentation says and nobody here proved, and it runs on this machine only. `notes/method.md` says which
//! there are, and which are not.

mod carriers;
mod mpsc;
mod pair;
mod rings;

pub use carriers::Carrier;
pub use mpsc::Mpsc;
pub use pair::{Pair, PairQueue};
pub use rings::Rings;

use slotwork_catalog::Visitor;

macro_rules! peers {
    ($($peer:ty),+ $(,)?) => {
        /// Visits every peer, in the order in which they are shown.
        pub fn visit_peers<V: Visitor>(visitor: &mut V) -> Vec<V::Output> {
            vec![$(visitor.visit::<$peer>()),+]
        }
    };
}

peers! {
    Pair<crossbeam_queue::ArrayQueue<u32>>,
    Pair<crossbeam_queue::SegQueue<u32>>,
    Pair<carriers::CrossbeamChannel>,
    Pair<carriers::Flume>,
    Pair<carriers::Kanal>,
    Pair<carriers::Crossfire>,
    Pair<concurrent_queue::ConcurrentQueue<u32>>,
    Pair<carriers::NonBlockingFifo>,
    Rings,
    Mpsc,
    Pair<carriers::MutexDeque>,
}

/// The peers of `--peers some`: the reference, the fastest for few threads and for many, a
/// channel as most people use one, and what needs no crate at all.
pub const SOME: [&str; 5] = ["array-queue", "nblf-queue", "rtrb", "crossbeam-channel", "mutex-vecdeque"];
