//! The payload of every workload: small, and checked both ways.
//!
//! ```text
//!   client: input  = next of its own sequence        sum of inputs it submitted ─┐
//!   worker: result = transform(input)                sum of inputs it handled  ──┴─ must be equal
//!   client: result = transform(input)?               in the slot that it gets back
//! ```
//!
//! A lost request, a doubled one, and one that another client's write has overtaken each change a sum
//! or fail the last check, even when the counts happen to agree.

/// What a slot carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    input: u64,
    result: u64,
}

impl Request {
    /// A slot that nobody used yet; it passes [`Request::is_handled`].
    #[must_use]
    pub const fn unused() -> Self {
        Self { input: 0, result: transform(0) }
    }

    /// The client's part: a new input, and no result.
    #[inline]
    pub fn fill(&mut self, input: u64) {
        *self = Self { input, result: 0 };
    }

    /// The worker's part; returns the input.
    #[inline]
    pub fn handle(&mut self) -> u64 {
        self.result = transform(self.input);
        self.input
    }

    /// Whether the result belongs to the input: what a client asks of a slot that it gets back.
    #[inline]
    #[must_use]
    pub fn is_handled(&self) -> bool {
        self.result == transform(self.input)
    }
}

/// Two instructions, so that the check does not drown what is measured; no input maps to zero but
/// the one that no sequence produces early.
#[inline]
const fn transform(input: u64) -> u64 {
    !input.rotate_left(17)
}

/// The inputs of one client: well spread, and disjoint from the other clients' for 2⁴⁸ steps.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    next: u64,
}

impl Sequence {
    /// An odd number near 2⁶⁴ divided by the golden ratio: its multiples visit every value.
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

    /// The sequence of the client with this index.
    #[must_use]
    pub const fn of_client(index: usize) -> Self {
        Self { next: Self::STEP.wrapping_mul((index as u64) << 48 | 1) }
    }

    /// The next input.
    #[inline]
    #[must_use]
    pub fn next_input(&mut self) -> u64 {
        let input = self.next;
        self.next = self.next.wrapping_add(Self::STEP);
        input
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_filled_request_is_not_handled_until_it_is() {
        assert!(Request::unused().is_handled());
        let mut request = Request::unused();
        let mut sequence = Sequence::of_client(3);
        for _ in 0..1000 {
            let input = sequence.next_input();
            request.fill(input);
            assert!(!request.is_handled());
            assert_eq!(request.handle(), input);
            assert!(request.is_handled());
        }
    }

    #[test]
    fn clients_have_disjoint_sequences() {
        let mut seen = HashSet::new();
        for client in 0..16 {
            let mut sequence = Sequence::of_client(client);
            assert!((0..1000).all(|_| seen.insert(sequence.next_input())));
        }
    }
}
