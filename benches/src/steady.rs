//! Whether a throughput has settled: warm-up goes on until it has, or until it is given up.
//!
//! ```text
//!   slices   40 55 61 63 62 61 64 62      requests handled in equal slices of time
//!                  └─ spread of the last five, as part of their mean: below a tenth is steady
//! ```

/// Slices that are looked at together.
pub const SLICES: usize = 5;

/// Most slices until it is given up.
pub const AT_MOST: usize = 2 * SLICES;

/// Steady is a coefficient of variation below this.
pub const SPREAD: f64 = 0.1;

/// What the slices say so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The last slices agree.
    Steady,
    /// They do not yet.
    NotYet,
    /// They still do not, and it has been long enough.
    GivenUp,
}

/// The slices of one warm-up.
#[derive(Clone, Debug, Default)]
pub struct WarmUp {
    rates: Vec<f64>,
}

impl WarmUp {
    /// Adds the rate of a slice, and says what they all say.
    pub fn add(&mut self, rate: f64) -> Settled {
        self.rates.push(rate);
        let Some(from) = self.rates.len().checked_sub(SLICES) else { return Settled::NotYet };
        match variation(&self.rates[from..]) {
            Some(variation) if variation < SPREAD => Settled::Steady,
            _ if self.rates.len() >= AT_MOST => Settled::GivenUp,
            _ => Settled::NotYet,
        }
    }
}

/// The coefficient of variation: standard deviation by mean. None of nothing, and where nothing happened.
#[must_use]
pub fn variation(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1 && mean > 0.0).then(|| (squares / (count - 1.0)).sqrt() / mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slices(rate: impl Fn(usize) -> f64) -> (usize, Settled) {
        let mut warm_up = WarmUp::default();
        for slice in 0.. {
            match warm_up.add(rate(slice)) {
                Settled::NotYet => {}
                settled => return (slice + 1, settled),
            }
        }
        unreachable!("it is given up")
    }

    #[test]
    fn an_even_rate_is_steady_at_once_and_a_rising_one_when_it_has_risen() {
        assert_eq!(slices(|_| 100.0), (SLICES, Settled::Steady));
        let (taken, settled) = slices(|slice| 100.0 * (1.0 - 0.4_f64.powi(i32::try_from(slice).unwrap() + 1)));
        assert_eq!(settled, Settled::Steady);
        assert!(taken > SLICES, "{taken}");
    }

    #[test]
    fn what_jumps_or_stands_still_is_never_steady() {
        assert_eq!(slices(|slice| if slice % 2 == 0 { 100.0 } else { 50.0 }), (AT_MOST, Settled::GivenUp));
        assert_eq!(slices(|_| 0.0), (AT_MOST, Settled::GivenUp));
        assert_eq!(slices(|slice| 2.0_f64.powi(i32::try_from(slice).unwrap())), (AT_MOST, Settled::GivenUp));
    }

    #[test]
    fn variation_is_the_spread_as_part_of_the_mean() {
        assert_eq!((variation(&[]), variation(&[1.0]), variation(&[0.0, 0.0])), (None, None, None));
        assert!((variation(&[1.0, 3.0]).unwrap() - 2.0_f64.sqrt() / 2.0).abs() < 1e-12);
    }
}
