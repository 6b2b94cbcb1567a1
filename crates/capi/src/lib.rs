//! The C interface: a library that an existing C program links.
//!
//! ```text
//!   threaded-workqueue.h ──▶ threaded_workqueue.rs ─┐                     ┌─▶ Workqueue of any design
//!                                                   ├─ border ─ carrier ──┤
//!   slotwork.h ────────────▶ slotwork_h.rs ─────────┘                     └─▶ memory, callbacks
//! ```
//!
//! Two headers over one library: `threaded-workqueue.h` is the interface of 2018, source compatible;
//! `slotwork.h` is the full one. Both are made from these sources; a test holds them to that. What a C program may and may not
//! do is in the headers; how to build and link is in the README.

#![allow(clippy::missing_safety_doc, reason = "the safety of the functions that C calls is told in its headers")]

mod alive;
mod border;
mod callbacks;
mod carrier;
mod choice;
mod growing;
mod memory;
mod names;
mod single;
pub mod slotwork_h;
mod status;
pub mod threaded_workqueue;

pub use status::Status;
