//! Linearizability: recorded histories of the circle against its sequential specification.
//!
//! ```text
//!            real threads ─┐                        ┌─ each slot: one owner, answers kept
//!   scenario               ├─▶ record ─▶ history ─▶ ├─ "none free", "nothing submitted": as claimed
//!            shuttle ──────┘                        ├─ order: as claimed
//!                                                   └─ everything at once
//! ```
//!
//! Files, in the order to read them: [`history`] (what is recorded), [`specification`] (what is right), [`search`]
//! (is there an order that explains it?), [`patterns`] (the same for queues beyond the search's reach), [`mod@check`]
//! (which of them for which claim), [`scenario`] and [`record`] (how histories come about), [`minimise`], [`table`],
//! [`timeline`] (how a wrong one is shown), [`mod@survey`], [`report`] and [`known_bad`].
//!
//! # What is claimed, and so checked, of an answer "none"
//!
//! An *exact* answer is an operation of the whole queue: there was an instant during the call at which nothing was
//! there. Many designs promise less: a *scan* says that no single slot was there all the time. That is a
//! specification too, and a sharp one: for **each slot by itself**, there was an instant during the call at which
//! that slot was not there. So a scan's answer is put into the history of every slot, and an exact answer into
//! the one history of all slots. A *refill* is a scan's answer, but for those that come again while nearly all slots are in
//! flight: these are counted.
//!
//! # Verdicts
//!
//! Linearizable; a violation, minimised; or *gave up*, which is no pass.

pub mod check;
pub mod history;
pub mod known_bad;
pub mod minimise;
pub mod patterns;
pub mod record;
pub mod refill;
pub mod report;
pub mod scenario;
pub mod search;
pub mod specification;
pub mod survey;
pub mod table;
pub mod timeline;

pub use check::{Fault, Property, Verdict, check, check_all};
pub use history::{Call, Content, History, Operation};
pub use known_bad::{KNOWN_BAD, KnownBad};
pub use report::{histories, rejections};
pub use survey::{Effort, Rejection, Source, Survey, survey};
