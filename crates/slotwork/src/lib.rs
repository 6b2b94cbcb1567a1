//! The contract of a request queue, and nothing else.
//!
//! A request queue moves preallocated slots round a circle. A *client* acquires a free slot, fills it
//! and submits it; a *worker* takes it, handles it and completes it; the slot is free again, with
//! its result in it:
//!
//! ```text
//!            acquire            submit              take             complete
//!   free ───────────────▶ held ───────▶ submitted ───────▶ claimed ───────────▶ free
//!     ▲                     │
//!     └────── withdraw ─────┘
//! ```
//!
//! The crate is read in this order:
//!
//! 1. [`Shape`], [`SlotId`], [`LaneId`]: how many slots, and whose;
//! 2. [`Claims`]: what a design says of itself, so that checks can hold it to that;
//! 3. [`Site`] and [`sites!`]: an atomic access as a named thing with an ordering, a partner and a
//!    reason;
//! 4. [`Platform`]: the machine a design runs on; [`Native`] is this one;
//! 5. [`RequestQueue`] and [`Design`]: a queue over indices, and the factory that makes it;
//! 6. [`Pool`]: the payloads, behind [`Client`], [`Worker`], [`Vacant`] and [`Claimed`].
//!
//! Without the feature `std`, on by default, there is no [`Native`], and nothing else is missing: the crate and the designs need
//! `alloc` only, and run on a [`Platform`] of the user's own.
//!
//! # Example
//!
//! ```
//! use slotwork::{Design, Native, Pool, Shape};
//! use slotwork_bitmap::Bitmap;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let queue = Bitmap::build::<Native>(Shape::new(1, 4)?)?;
//! let (client, mut workers) = Pool::new(queue, |_slot| 0_u64)?.split();
//! let worker = workers.remove(0);
//!
//! let mut request = client.acquire().expect("four slots are free");
//! *request = 20;
//! request.submit();
//!
//! let mut claimed = worker.take().expect("one request is submitted");
//! *claimed += 1;
//! claimed.complete();
//! # Ok(())
//! # }
//! ```

#![cfg_attr(not(any(feature = "std", test)), no_std)]

extern crate alloc;

mod atomics;
mod backoff;
mod claims;
mod cursor;
mod drain;
mod header;
#[cfg(doctest)]
mod misuse;
#[cfg(feature = "std")]
mod native;
mod platform;
mod pool;
mod queue;
mod requirements;
mod shape;
mod site;
mod turn;

pub use atomics::NativeCell;
pub use backoff::Backoff;
pub use claims::{Claims, Guarantees, NoneFree, Operation, Order, Progress, Submitters};
pub use crossbeam_utils::CachePadded;
pub use cursor::Cursor;
pub use drain::Drain;
pub use header::{Header, WithPayload};
#[cfg(feature = "std")]
pub use native::Native;
pub use platform::{AccessCell, Atomic, AtomicInteger, Lock, Platform};
pub use pool::{Claimed, Client, POOL_SITES, Place, Placed, Pool, PoolError, Vacant, Worker};
pub use queue::{
    ClientError, Design, Destination, Dispatch, Fresh, HeaderTable, Many, One, RequestQueue, Slots, SubmitterCount,
};
pub use shape::{LaneId, Shape, ShapeError, SlotId};
pub use site::{Access, PairFault, Site, check_pairs};
pub use turn::Outcome;
