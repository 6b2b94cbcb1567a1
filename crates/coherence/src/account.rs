//! Where the time of a thread went, by cause; every picosecond of a thread is in one of them.

use std::ops::AddAssign;

/// Simulated time, in picoseconds.
pub(crate) type Time = u64;

/// Picoseconds of so many nanoseconds.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "profiles bound what is converted")]
pub(crate) fn picoseconds(nanoseconds: f64) -> Time {
    (nanoseconds * 1000.0).round() as Time
}

macro_rules! causes {
    ($($variant:ident $word:literal $doc:literal;)+) => {
        /// What a thread's time was spent on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Cause {
            $(#[doc = $doc] $variant),+
        }

        impl Cause {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// As it is shown.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    };
}

causes! {
    Hit "hits" "Accesses to lines that the core had, and what the core does by itself: exchanges, fences.";
    SameSocket "transfers" "Lines that came from a core of the same socket.";
    CrossSocket "far transfers" "Lines that came from another socket.";
    Memory "memory" "Lines that nobody had.";
    Invalidate "invalidations" "Copies of others that had to be given up before a write.";
    LineWait "waiting for a line" "A line was busy with the requests of others.";
    Buffer "earlier accesses" "Earlier stores and loads had to be done first, or the store buffer was full.";
    Spin "spinning" "Spin hints, and looks that found nothing new.";
    Work "working" "The handler's and the submitter's own work.";
    System "system calls" "Going to sleep, waking others, yielding.";
    Switch "switches" "The core went from one thread to another.";
    Asleep "asleep" "Asleep, until the wake had arrived.";
    Allocator "allocator" "Memory was taken, or given back.";
    Interrupted "interrupted" "A tick, or whatever is below the system, had the core.";
    Queued "waiting for a core" "Ready to run, but the core was another thread's.";
}

const CAUSES: usize = Cause::ALL.len();

/// A sum of times by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account([Time; CAUSES]);

impl Account {
    pub(crate) fn add(&mut self, cause: Cause, time: Time) {
        self.0[cause as usize] += time;
    }

    /// Nanoseconds of one cause.
    #[must_use]
    pub fn nanoseconds(&self, cause: Cause) -> f64 {
        self.0[cause as usize] as f64 / 1000.0
    }

    /// All causes together, in picoseconds.
    #[must_use]
    pub fn total_picoseconds(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl AddAssign<&Self> for Account {
    fn add_assign(&mut self, other: &Self) {
        for (own, others) in self.0.iter_mut().zip(other.0) {
            *own += others;
        }
    }
}
