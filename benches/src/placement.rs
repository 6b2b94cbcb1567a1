//! Which core each thread runs on.

use core_affinity::CoreId;

/// The cores that this process may use, and whether threads are bound to them.
#[derive(Clone, Debug)]
pub struct Placement {
    cores: Vec<CoreId>,
    available: usize,
    pinned: bool,
}

impl Placement {
    /// The cores of this process; threads are pinned, if that works here.
    #[must_use]
    pub fn pinned() -> Self {
        let cores = core_affinity::get_core_ids().unwrap_or_default();
        // A thread of its own: the pin must not stay on the caller.
        let works = cores.first().is_some_and(|&core| {
            std::thread::spawn(move || core_affinity::set_for_current(core)).join().unwrap_or(false)
        });
        Self { available: available(&cores), cores, pinned: works }
    }

    /// The cores of this process; threads run where the scheduler puts them.
    #[must_use]
    pub fn free() -> Self {
        Self { pinned: false, ..Self::pinned() }
    }

    /// How many cores there are for this process.
    #[must_use]
    pub fn cores(&self) -> usize {
        self.available
    }

    /// Whether threads are pinned.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        self.pinned
    }

    /// Two different cores, to measure the way between them.
    #[must_use]
    pub fn two_cores(&self) -> Option<[CoreId; 2]> {
        match self.cores[..] {
            [first, second, ..] => Some([first, second]),
            _ => None,
        }
    }

    /// Binds the calling thread to its core: round robin by thread number. Does nothing when free.
    pub fn bind(&self, thread: usize) {
        if self.pinned && !self.cores.is_empty() {
            core_affinity::set_for_current(self.cores[thread % self.cores.len()]);
        }
    }
}

fn available(cores: &[CoreId]) -> usize {
    match cores.len() {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        count => count,
    }
}
