//! What a model saw: how many executions there were, and how many of the interesting ones.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Counts of one run. Its atomics are the machine's own: they add no order to a model.
#[derive(Debug)]
pub struct Seen {
    names: &'static [&'static str],
    executions: AtomicU64,
    witnesses: Vec<Witness>,
}

#[derive(Debug, Default)]
struct Witness {
    executions: AtomicU64,
    /// The execution that counted last, so that each counts once.
    last: AtomicU64,
}

impl Seen {
    /// Nothing seen yet; `names` are the witnesses to look for.
    #[must_use]
    pub fn new(names: &'static [&'static str]) -> Self {
        let witnesses = names.iter().map(|_| Witness::default()).collect();
        Self { names, executions: AtomicU64::new(0), witnesses }
    }

    /// An execution begins.
    pub fn begin(&self) {
        self.executions.fetch_add(1, Ordering::Relaxed);
    }

    /// This execution is one of the interesting ones.
    ///
    /// # Panics
    /// When the witness was not declared.
    pub fn saw(&self, name: &str) {
        let at = self.names.iter().position(|&declared| declared == name).expect("a witness is declared");
        let (witness, execution) = (&self.witnesses[at], self.executions());
        if witness.last.swap(execution, Ordering::Relaxed) != execution {
            witness.executions.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// As [`Seen::saw`], if so.
    pub fn saw_if(&self, name: &str, so: bool) {
        if so {
            self.saw(name);
        }
    }

    /// How many executions began.
    #[must_use]
    pub fn executions(&self) -> u64 {
        self.executions.load(Ordering::Relaxed)
    }

    /// Each witness, and the number of executions it was seen in.
    pub fn witnesses(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.names
            .iter()
            .zip(&self.witnesses)
            .map(|(&name, witness)| (name, witness.executions.load(Ordering::Relaxed)))
    }
}

/// Tells whether operations of one execution overlap in time.
#[derive(Debug, Default)]
pub struct Overlap(AtomicU32);

impl Overlap {
    /// Runs an operation; another one that is under way makes this a witness.
    pub fn during<R>(&self, seen: &Seen, name: &str, operation: impl FnOnce() -> R) -> R {
        seen.saw_if(name, self.0.fetch_add(1, Ordering::Relaxed) > 0);
        let result = operation();
        self.0.fetch_sub(1, Ordering::Relaxed);
        result
    }
}
