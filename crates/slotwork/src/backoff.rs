//! Waiting a little longer after each lost race, on any platform.

use crate::Platform;
use core::marker::PhantomData;

/// Exponential backoff: 1, 2, 4 … 64 spin hints, then yields. Not for sleeping: it has no wake.
#[derive(Debug)]
pub struct Backoff<P> {
    step: u32,
    platform: PhantomData<P>,
}

impl<P: Platform> Backoff<P> {
    const SPIN_STEPS: u32 = 6;

    /// A backoff that has not waited yet.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { step: 0, platform: PhantomData }
    }

    /// Waits after a lost compare-exchange: the winner made progress, so only spins.
    #[inline]
    pub fn spin(&mut self) {
        for _ in 0..1_u32 << self.step.min(Self::SPIN_STEPS) {
            P::spin_hint();
        }
        self.step = (self.step + 1).min(Self::SPIN_STEPS + 1);
    }

    /// Waits for another thread to do something: spins at first, then yields.
    #[inline]
    pub fn snooze(&mut self) {
        if self.step <= Self::SPIN_STEPS {
            self.spin();
        } else {
            P::yield_now();
        }
    }
}

impl<P: Platform> Default for Backoff<P> {
    fn default() -> Self {
        Self::new()
    }
}
