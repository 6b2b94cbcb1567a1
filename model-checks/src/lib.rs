//! Is it right? Platforms for model checkers, models of every design, and the museum of known faults.
//!
//! ```text
//!   platform   Loom (three views), Shuttle, Flaky: machines on which the shipped code runs unchanged
//!   models     small programs over a queue, with what must hold, what must be seen, and how far to look
//!   audit      every ordering weakened by a step: which model notices?
//!   card       all of it, planned, run apart, and put together: a proof card per design
//!   histories  recorded runs, searched for an order that explains them
//!   inspection what one thread finds out: limits, allocations
//!   progress   who waits for whom: threads suspended at every step, and every periodic schedule
//!   evidence   what one check found out about one design: a row of its proof card
//!   job        one model × one design × one view: a process of its own, and the line it reports
//!   replay     one line that shows a failure again
//!   museum     known-bad variants and weakened orderings that the models must reject
//!   oracle     is the checker itself right? random programs against brute force
//! ```
//!
//! # What each view sees, and what it cannot see
//!
//! | view | by | sees | cannot see |
//! |---|---|---|---|
//! | `weak` | loom | stale values, missing happens-before at payloads, missing fences, deadlocks | interleavings of "load, then compare-exchange", which loom's reduction skips; load buffering |
//! | `interleaving` | loom | every interleaving up to the bound, missing happens-before | stale values: a load reads the newest, but where a plain store races with a read-modify-write |
//! | `spurious` | loom | as `interleaving`, with weak exchanges that fail and parks that return for no reason | as `interleaving` |
//! | `random`, `pct`, `uniform` | shuttle | larger sizes: five threads and six rounds, or eight and fifty | any ordering, for all is sequentially consistent; what was not drawn |
//!
//! Neither of loom's views alone is a proof, and a **bounded** model is not one at all: it says that no
//! execution with that many preemptions is wrong. Every line says which it was. A model also has a floor
//! of executions and witnesses that must have occurred, in every view, so that a model that looks at
//! nothing fails. Further limits, whatever the view: five threads; seven remembered
//! stores per atomic; `std`'s own reference counts and `OnceLock` are outside, as are
//! crossbeam-epoch's internals, so that `linked-queue`'s links are checked and its reclamation is not.
//! Sequentially consistent loads and stores would be read as acquire and release; no site has them.
//!
//! # Running
//!
//! ```text
//! cargo test -p model-checks                                    bounded where marked so; a few minutes
//! cargo test -p model-checks --test models -- naive_pool        one model; or a design, or a view
//! cargo test -p model-checks --test progress                    who waits for whom; a minute
//! RUSTFLAGS="--cfg loom" cargo test -p model-checks --release   the same, unbounded where that ends in minutes
//! ```
//!
//! Nothing here counts executions down: a run that is cut off must not look like one that ended. One that takes longer
//! than half an hour, or more steps than a model should, has not answered, and is no rejection either.

pub mod apart;
pub mod audit;
pub mod card;
pub mod evidence;
pub mod histories;
pub mod inspection;
mod instances;
pub mod job;
pub mod models;
pub mod museum;
pub mod oracle;
pub mod platform;
pub mod progress;
pub mod replay;
pub mod seen;
