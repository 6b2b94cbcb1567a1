//! The machines of the checkers: [`Loom`], [`Shuttle`], [`Flaky`]; and threads on each of them.
//!
//! A model is written once, against [`Machine`], and runs on any of them.

mod flaky;
mod loom;
mod shuttle;
mod sites;
mod stand;
mod token;
mod trace;

pub use flaky::{Flaky, FlakyAtomic, spurious_failures};
pub use loom::{Chosen, Interleaving, Loom, LoomAtomic, LoomCell, LoomLock, Spurious, View, Weak};
pub use shuttle::{Shuttle, ShuttleAtomic, ShuttleCell, ShuttleLock};
pub use sites::{Part, TouchedSite, UnknownWeakening, Weakening, touched_sites, weaken};
pub use stand::{Stand, hints_are_steps, take_stand};
pub use token::{LoomJoin, LoomThread};
pub use trace::{Step, begin_steps, keep_steps, steps, table};

use ::shuttle::thread as shuttle_thread;
use slotwork::{Native, Platform};
use std::thread as std_thread;

/// A platform that can start threads, so that a model can be written for all of them.
pub trait Machine: Platform {
    /// A started thread.
    type Join<R: Send + 'static>;

    /// Starts a thread.
    fn spawn<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> Self::Join<R>;

    /// Waits for a thread, and has its result.
    ///
    /// # Panics
    /// When the thread panicked.
    fn join<R: Send + 'static>(thread: Self::Join<R>) -> R;

    /// The handle by which a started thread is woken.
    fn thread<R: Send + 'static>(thread: &Self::Join<R>) -> Self::Thread;

    /// Stands between two operations of a model, where others may come in.
    fn step() {}

    /// Says which operation a thread begins, to whoever reads the execution.
    fn operation(name: &str) {
        let _ = name;
    }
}

macro_rules! machine {
    ($platform:ty, $thread:ident $(, $operation:path)?) => {
        impl Machine for $platform {
            type Join<R: Send + 'static> = $thread::JoinHandle<R>;

            fn spawn<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> Self::Join<R> {
                $thread::spawn(body)
            }

            fn join<R: Send + 'static>(thread: Self::Join<R>) -> R {
                thread.join().expect("a model's thread does not panic")
            }

            fn thread<R: Send + 'static>(thread: &Self::Join<R>) -> Self::Thread {
                thread.thread().clone()
            }

            $(
                fn operation(name: &str) {
                    $operation(name);
                }
            )?
        }
    };
}

machine!(Shuttle, shuttle_thread, shuttle::heading);
machine!(Native, std_thread);
machine!(Flaky, std_thread);
