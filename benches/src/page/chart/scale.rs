//! From values to places: linear or logarithmic, with round ticks.

/// An axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    logarithmic: bool,
    from: f64,
    to: f64,
}

impl Scale {
    /// A logarithmic axis over all of `values`; those that are not above zero are not on it.
    #[must_use]
    pub fn logarithmic(values: impl IntoIterator<Item = f64>) -> Self {
        let positive = values.into_iter().filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) = bounds(positive).unwrap_or((1.0, 10.0));
        // At least a factor of two, so that a small difference looks small.
        let widen = (2.0 / (high / low)).max(1.0).sqrt();
        // So that the ends and their ratio are numbers, whatever the values are.
        let (low, high) = (low.max(1e-150), high.clamp(1e-150, 1e150));
        Self { low: low / widen / 1.1, high: high * widen * 1.1, logarithmic: true, from: 0.0, to: 1.0 }
    }

    /// A linear axis from zero over all of `values`.
    #[must_use]
    pub fn from_zero(values: impl IntoIterator<Item = f64>) -> Self {
        let high = bounds(values.into_iter().filter(|value| value.is_finite())).map_or(1.0, |(_, high)| high);
        Self { low: 0.0, high: if high > 0.0 { high * 1.05 } else { 1.0 }, logarithmic: false, from: 0.0, to: 1.0 }
    }

    /// The same values between these places.
    #[must_use]
    pub const fn between(self, from: f64, to: f64) -> Self {
        Self { from, to, ..self }
    }

    /// Where a value is; what lies outside is at the end.
    #[must_use]
    pub fn place(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let part = if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + part * (self.to - self.from)
    }

    /// Round values on the axis, a few of them.
    #[must_use]
    pub fn ticks(&self) -> Vec<f64> {
        if self.logarithmic { self.decades() } else { self.steps() }
    }

    fn decades(&self) -> Vec<f64> {
        let span = (self.high / self.low).log10();
        // A wide axis has its decades only, a narrow one what is between.
        let within: &[f64] = match span {
            _ if span > 3.0 => &[1.0],
            _ if span > 1.2 => &[1.0, 3.0],
            _ => &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
        };
        let every = (span / 6.0).ceil().max(1.0);
        let (first, last) = (self.low.log10().floor(), self.high.log10().ceil());
        let mut ticks = Vec::new();
        let mut decade = first;
        while decade <= last {
            ticks.extend(within.iter().map(|part| part * 10_f64.powf(decade)));
            decade += every;
        }
        ticks.retain(|tick| (self.low..=self.high).contains(tick));
        ticks
    }

    fn steps(&self) -> Vec<f64> {
        let span = self.high - self.low;
        let decade = 10_f64.powf((span / 5.0).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|part| part * decade).into_iter().find(|step| span / step <= 6.0);
        let step = step.unwrap_or(span);
        let mut ticks = vec![self.low];
        while let Some(&last) = ticks.last()
            && last + step <= self.high
        {
            ticks.push(last + step);
        }
        ticks
    }
}

fn bounds(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |bounds, value| {
        let (low, high) = bounds.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_axis_has_a_few_ticks_in_order_on_it() {
        let mut spans = vec![vec![], vec![0.0], vec![1.0], vec![f64::NAN], vec![-3.0, 0.0], vec![1e-300, 1e300]];
        spans.extend((-9..9).map(|power| vec![10_f64.powi(power), 4.2 * 10_f64.powi(power)]));
        spans.extend((1..12).map(|power| vec![0.3, 10_f64.powi(power)]));
        for span in spans {
            for scale in [Scale::logarithmic(span.clone()), Scale::from_zero(span.clone())] {
                let scale = scale.between(100.0, 20.0);
                let ticks = scale.ticks();
                assert!((1..=14).contains(&ticks.len()), "{span:?}: {ticks:?}");
                assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]), "{span:?}: {ticks:?}");
                assert!(ticks.iter().all(|&tick| (20.0..=100.0).contains(&scale.place(tick))), "{span:?}: {ticks:?}");
            }
        }
    }

    #[test]
    fn equal_ratios_are_equal_steps_on_a_logarithmic_axis() {
        let scale = Scale::logarithmic([1.0, 100.0]).between(0.0, 1.0);
        let step = |from: f64, to: f64| scale.place(to) - scale.place(from);
        assert!((step(1.0, 10.0) - step(10.0, 100.0)).abs() < 1e-12);
    }
}
