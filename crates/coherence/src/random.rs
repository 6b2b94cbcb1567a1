//! Random numbers that depend on a seed alone.

/// A generator of one thread (xorshift*, Vigna 2014).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The generator of a thread.
    pub(crate) const fn new(seed: u64, thread: usize) -> Self {
        let mixed =
            (seed ^ (thread as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        Self(mixed | 1)
    }

    /// The next number.
    pub(crate) const fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }

    /// From 0 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        self.next() as f64 / (1_u64 << 53) as f64
    }

    /// About 1024: `part` of it more or less at most, evenly.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 100 and 2000")]
    pub(crate) fn about(&mut self, part: f64) -> u64 {
        if part == 0.0 { 1024 } else { (1024.0 * (1.0 + part * (2.0 * self.unit() - 1.0))) as u64 }
    }
}
