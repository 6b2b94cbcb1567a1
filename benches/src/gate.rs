//! The start barrier: threads are created first, then all go at once, or none do.
//!
//! A plain barrier would wait for ever for a thread that could not be created.

use std::sync::{Condvar, Mutex, PoisonError};

/// Holds threads until it is opened or cancelled.
#[derive(Debug, Default)]
pub struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    arrived: usize,
    verdict: Option<bool>,
}

impl Gate {
    /// Waits at the gate; says whether the threads go.
    pub fn pass(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.arrived += 1;
        self.changed.notify_all();
        loop {
            if let Some(verdict) = state.verdict {
                return verdict;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until `threads` threads are at the gate, then lets all go.
    pub fn open_for(&self, threads: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.arrived < threads {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.verdict = Some(true);
        self.changed.notify_all();
    }

    /// Sends all threads home, those still to come too.
    pub fn cancel(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).verdict = Some(false);
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_go_or_none_do() {
        for opened in [true, false] {
            let gate = Gate::default();
            let passed = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| gate.pass())).collect();
                if opened {
                    gate.open_for(4);
                } else {
                    gate.cancel();
                }
                threads.into_iter().map(|thread| thread.join().unwrap()).filter(|&passed| passed).count()
            });
            assert_eq!(passed, if opened { 4 } else { 0 });
        }
    }
}
