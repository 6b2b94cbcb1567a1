//! `slotwork.h`: the full interface.
//!
//! ```text
//!   structures   what a program fills in and reads: configuration, operations, statistics
//!   describe     names and texts: statuses, designs
//!   queue        create, shut down, destroy, count
//!   submitter    create, adopt, destroy: a handle for each thread
//!   request      acquire, submit, withdraw, wait: what a program does all the time
//! ```

pub mod describe;
pub mod queue;
pub mod request;
pub mod structures;
pub mod submitter;
