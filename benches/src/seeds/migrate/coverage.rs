//! Which pages have come: each once, none missing. Memory goes with the gaps, not with the pages.

use std::collections::BTreeMap;

/// A set of page numbers, as runs: start to one behind the end, no two of which touch.
#[derive(Debug, Default)]
pub(super) struct Coverage(BTreeMap<u64, u64>);

impl Coverage {
    /// Adds `count` pages from `first`, at least one.
    ///
    /// # Errors
    /// The lowest of them that is there already.
    pub(super) fn add(&mut self, first: u64, count: u64) -> Result<(), u64> {
        let end = first + count;
        let before = self.0.range(..=first).next_back().map(|(&start, &end)| (start, end));
        let after = self.0.range(first..).next().map(|(&start, &end)| (start, end));
        if before.is_some_and(|(_, before_end)| before_end > first) {
            return Err(first);
        }
        if let Some((start, _)) = after.filter(|&(start, _)| start < end) {
            return Err(start);
        }
        let joined_end = match after {
            Some((start, after_end)) if start == end => {
                self.0.remove(&start);
                after_end
            }
            _ => end,
        };
        let joined_start = before.filter(|&(_, before_end)| before_end == first).map_or(first, |(start, _)| start);
        self.0.insert(joined_start, joined_end);
        Ok(())
    }

    /// The lowest page below `end` that is missing.
    pub(super) fn first_missing(&self, end: u64) -> Option<u64> {
        let covered = self.0.get(&0).copied().unwrap_or(0);
        (covered < end).then_some(covered)
    }

    /// The lowest page from `end` on that is there.
    pub(super) fn first_beyond(&self, end: u64) -> Option<u64> {
        let last = self.0.range(..end).next_back();
        let across = last.filter(|&(_, &run_end)| run_end > end).map(|_| end);
        across.or_else(|| self.0.range(end..).next().map(|(&start, _)| start))
    }

    #[cfg(test)]
    fn runs(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::seq::SliceRandom;
    use rand::{RngExt, SeedableRng};
    use std::collections::BTreeSet;

    #[test]
    fn agrees_with_a_plain_set() {
        let mut random = SmallRng::seed_from_u64(7);
        for _ in 0..200 {
            let (mut coverage, mut plain) = (Coverage::default(), BTreeSet::new());
            for _ in 0..30 {
                let (first, count) = (random.random_range(0..40), random.random_range(1..5));
                let taken = (first..first + count).find(|page| plain.contains(page));
                assert_eq!(coverage.add(first, count).err(), taken);
                if taken.is_none() {
                    plain.extend(first..first + count);
                }
                for end in 0..45 {
                    assert_eq!(coverage.first_missing(end), (0..end).find(|page| !plain.contains(page)));
                    assert_eq!(coverage.first_beyond(end), plain.range(end..).next().copied());
                }
            }
        }
    }

    #[test]
    fn pages_in_any_order_come_to_one_run() {
        let mut pages: Vec<u64> = (0..1000).collect();
        pages.shuffle(&mut SmallRng::seed_from_u64(1));
        let mut coverage = Coverage::default();
        pages.iter().for_each(|&page| coverage.add(page, 1).unwrap());
        assert_eq!((coverage.runs(), coverage.first_missing(1000)), (1, None));
    }
}
