//! The workqueue over every design: the circle, waiting, panics, drains, shutdown, threads, processes. A test that
//! is named after a fault of this kind of software shows that it is not here; what each check is worth, the variants
//! in `support` show, which it must reject.

mod bells;
mod circle;
mod completion;
mod done;
mod drain;
mod panics;
#[cfg(unix)]
mod process;
mod raced;
mod shutdown;
mod threads;
mod waits;
mod wakes;

#[path = "../support/mod.rs"]
mod support;
