//! A threaded workqueue over any request queue design.
//!
//! A queue alone is a data structure; this is what a program uses: named worker threads, a handler,
//! results collected by the submitter, waiting, panics, drain and shutdown.
//!
//! ```text
//!   Submitter ──request──▶ Vacancy ──submit──▶ │ queue │ ──▶ worker thread: handler(&mut T)
//!       ▲                                                            │
//!       └── done(&mut T), when the slot is got back ◀────────────────┘
//! ```
//!
//! Read in this order: [`Waiting`] and [`Event`], how threads wait and are woken; [`Engine`], what the
//! threads share and do, on any platform; [`Workqueue`], the threads of this machine around it.
//!
//! ```
//! use slotwork_bitmap::BitmapClaim;
//! use slotwork_workqueue::Workqueue;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (queue, submitter) = Workqueue::<u64, BitmapClaim>::builder("squares")
//!     .workers(2)
//!     .build(|_slot| 0, |number| *number *= *number)?;
//! for number in 0..100 {
//!     let mut request = submitter.request()?;
//!     *request = number;
//!     request.submit()?;
//! }
//! submitter.drain()?;
//! let report = queue.shutdown()?;
//! assert_eq!(report.handled, 100);
//! # Ok(())
//! # }
//! ```

mod engine;
mod event;
mod inside;
mod request;
mod submitter;
mod waiting;
mod workqueue;

pub use engine::{Completion, Done, ENGINE_SITES, Engine, Report};
pub use event::{EVENT_SITES, Event};
pub use request::{Fate, Request};
pub use submitter::{RequestError, Stopped, Submitter, Vacancy};
pub use waiting::Waiting;
pub use workqueue::{BuildError, Builder, Built, Configuration, DEFAULT_REQUESTS_PER_WORKER, ShutdownError, Workqueue};
