//! Counting requests so that none can be lost or doubled unseen.
//!
//! Each request has a number of its own. A count is how many there were, and a sum over a hash of their numbers:
//! one request lost and another one doubled leaves the number of requests right and the sum wrong.

use serde::Serialize;
use std::ops::AddAssign;
use thiserror::Error;

/// How many requests, and which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// How many.
    pub requests: u64,
    /// Sum over a hash of their numbers.
    pub sum: u64,
}

impl Count {
    /// Counts the request of this number.
    #[inline]
    pub fn add(&mut self, number: u64) {
        self.requests += 1;
        // The finishing steps of SplitMix64: neighbours become unlike.
        let mut hash = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.sum = self.sum.wrapping_add(hash ^ hash >> 31);
    }

    /// That `later`, a later station of the circle, has seen the same requests.
    ///
    /// # Errors
    /// [`CountMismatch`].
    pub fn verify(
        &self,
        later: &Self,
        earlier_station: &'static str,
        later_station: &'static str,
    ) -> Result<(), CountMismatch> {
        if self == later {
            return Ok(());
        }
        let [before, after] = [self.requests, later.requests];
        Err(CountMismatch { before, after, earlier_station, later_station })
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

/// Requests were lost, doubled, or confused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("wrong count: {before} {earlier_station}, {after} {later_station}{}", if before == after { ", but not the same ones" } else { "" })]
pub struct CountMismatch {
    before: u64,
    after: u64,
    earlier_station: &'static str,
    later_station: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(numbers: impl IntoIterator<Item = u64>) -> Count {
        let mut count = Count::default();
        numbers.into_iter().for_each(|number| count.add(number));
        count
    }

    #[test]
    fn order_and_grouping_do_not_matter() {
        let mut sum = count([3, 1]);
        sum += count([2, 0]);
        assert_eq!(sum.verify(&count(0..4), "submitted", "handled"), Ok(()));
    }

    #[test]
    fn bench_finds_bug_a_planted_loss_a_double_and_a_swap_are_rejected() {
        let all = count(0..1000);
        let lost = all.verify(&count((0..1000).filter(|&number| number != 517)), "submitted", "handled");
        assert_eq!(lost.unwrap_err().to_string(), "wrong count: 1000 submitted, 999 handled");
        assert!(all.verify(&count((0..1000).chain([517])), "submitted", "handled").is_err());
        let swapped = (0..1000).map(|number| if number == 517 { 516 } else { number });
        let swapped = all.verify(&count(swapped), "submitted", "handled").unwrap_err();
        assert!(swapped.to_string().ends_with("but not the same ones"), "{swapped}");
    }
}
