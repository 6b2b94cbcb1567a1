//! Is there an order of the operations that explains all results? A search after Wing, Gong and Lowe.
//!
//! ```text
//!   time ──▶   [──a──]
//!                 [─────b─────]        a before c; b anywhere beside them:
//!                        [──c──]       b a c · a b c · a c b
//! ```
//!
//! An operation may come next when no other, still to be placed, had ended before it began. The search
//! places one after the other as the specification allows, and goes back where it is stuck. Two things keep
//! it short: what was placed and the state it led to are remembered, and not tried twice; and an operation that
//! only looks is never taken back, for if it may come now, there is nothing to be had from placing it later.
//!
//! J. M. Wing and C. Gong, *Testing and verifying concurrent objects*, 1993; G. Lowe, *Testing for
//! linearizability*, 2017.

use std::collections::HashSet;
use std::hash::Hash;

/// What operations do to a state when they come one after the other; operations go by their index.
pub trait Specification {
    /// All there is to know between two operations.
    type State: Clone + Eq + Hash;

    /// Before all operations.
    fn initial(&self) -> Self::State;

    /// After an operation with the result that it had; none if it cannot have had it here.
    fn step(&self, state: &Self::State, operation: usize) -> Option<Self::State>;

    /// Whether the operation changes no state, whichever it is.
    fn only_looks(&self, operation: usize) -> bool {
        let _ = operation;
        false
    }
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// An order that explains all results.
    Order(Vec<usize>),
    /// There is none.
    NoOrder {
        /// The longest order that could be explained.
        prefix: Vec<usize>,
        /// The operation that ended there, and had no place.
        stuck: usize,
    },
    /// The budget was used up: no answer.
    GaveUp,
}

/// Searches. `spans` has each operation's call and return, all different; `budget` limits the steps.
pub fn search<S: Specification>(specification: &S, spans: &[(u64, u64)], budget: u64) -> Found {
    match run(specification, spans, budget, usize::MAX) {
        Ok(found) => found,
        // The deepest place is known now; the same way leads there again.
        Err(deepest) => run(specification, spans, budget, deepest).unwrap_or(Found::GaveUp),
    }
}

/// One search; at a dead end of depth `wanted` it ends. When there is no order, says how deep it came.
fn run<S: Specification>(specification: &S, spans: &[(u64, u64)], budget: u64, wanted: usize) -> Result<Found, usize> {
    let mut events = Events::new(spans);
    let mut placed = Placed::new(spans.len());
    let mut tried = HashSet::new();
    let mut state = specification.initial();
    // Operations placed, the state before each, and whether it may have changed that.
    let mut order: Vec<(usize, S::State, bool)> = Vec::new();
    let mut at = events.first();
    let (mut steps, mut deepest) = (0, 0);
    while let Some(event) = at {
        steps += 1;
        if steps > budget {
            return Ok(Found::GaveUp);
        }
        let (operation, is_call) = events.of[event];
        if is_call {
            if let Some(after) = specification.step(&state, operation) {
                placed.insert(operation);
                if tried.insert((placed.key(), after.clone())) {
                    let changes = !specification.only_looks(operation);
                    order.push((operation, std::mem::replace(&mut state, after), changes));
                    events.take_out(operation);
                    at = events.first();
                    continue;
                }
                placed.remove(operation);
            }
            at = events.after(event);
            continue;
        }
        // `operation` had ended here, and has no place: a dead end.
        if order.len() == wanted {
            let prefix = order.iter().map(|&(operation, ..)| operation).collect();
            return Ok(Found::NoOrder { prefix, stuck: operation });
        }
        deepest = deepest.max(order.len());
        loop {
            let Some((last, before, changed)) = order.pop() else { return Err(deepest) };
            events.put_back(last);
            placed.remove(last);
            state = before;
            if changed {
                at = events.after(events.call[last]);
                break;
            }
        }
    }
    Ok(Found::Order(order.iter().map(|&(operation, ..)| operation).collect()))
}

/// Calls and returns of what is still to be placed, by time: a doubly linked list with a head at the end.
struct Events {
    /// The operation of each event, and whether it is the call.
    of: Vec<(usize, bool)>,
    next: Vec<usize>,
    previous: Vec<usize>,
    call: Vec<usize>,
    end: Vec<usize>,
}

impl Events {
    fn new(spans: &[(u64, u64)]) -> Self {
        let ends = |(operation, &(called, returned))| [(called, operation, true), (returned, operation, false)];
        let mut by_time: Vec<_> = spans.iter().enumerate().flat_map(ends).collect();
        by_time.sort_unstable();
        let head = by_time.len();
        let mut events = Self {
            of: by_time.iter().map(|&(_, operation, is_call)| (operation, is_call)).collect(),
            next: (1..=head).chain([0]).collect(),
            previous: std::iter::once(head).chain(0..head).collect(),
            call: vec![0; spans.len()],
            end: vec![0; spans.len()],
        };
        for (event, &(_, operation, is_call)) in by_time.iter().enumerate() {
            let place = if is_call { &mut events.call } else { &mut events.end };
            place[operation] = event;
        }
        events
    }

    fn after(&self, event: usize) -> Option<usize> {
        Some(self.next[event]).filter(|&next| next < self.of.len())
    }

    fn first(&self) -> Option<usize> {
        self.after(self.of.len())
    }

    fn take_out(&mut self, operation: usize) {
        for event in [self.call[operation], self.end[operation]] {
            let (previous, next) = (self.previous[event], self.next[event]);
            self.next[previous] = next;
            self.previous[next] = previous;
        }
    }

    /// In the opposite order, so that each finds its neighbours as it left them.
    fn put_back(&mut self, operation: usize) {
        for event in [self.end[operation], self.call[operation]] {
            let (previous, next) = (self.previous[event], self.next[event]);
            self.next[previous] = event;
            self.previous[next] = event;
        }
    }
}

/// The set of placed operations. Those that began early are nearly all placed and those that began late
/// nearly none, so its key is where the first gap is, and the bits from there to the last one set.
struct Placed {
    words: Vec<u64>,
    /// All words before this one are full.
    full: usize,
    /// All words from this one on are empty.
    empty: usize,
}

impl Placed {
    fn new(operations: usize) -> Self {
        Self { words: vec![0; operations.div_ceil(64)], full: 0, empty: 0 }
    }

    fn insert(&mut self, operation: usize) {
        self.words[operation / 64] |= 1 << (operation % 64);
        self.empty = self.empty.max(operation / 64 + 1);
        while self.words.get(self.full) == Some(&u64::MAX) {
            self.full += 1;
        }
    }

    fn remove(&mut self, operation: usize) {
        self.words[operation / 64] &= !(1 << (operation % 64));
        self.full = self.full.min(operation / 64);
        while self.empty > 0 && self.words[self.empty - 1] == 0 {
            self.empty -= 1;
        }
    }

    fn key(&self) -> (usize, Box<[u64]>) {
        (self.full, self.words[self.full..self.empty.max(self.full)].into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A register: `Some` is a write, `None` with a value is a read of it.
    struct Register(Vec<(bool, u32)>);

    impl Specification for Register {
        type State = u32;

        fn initial(&self) -> u32 {
            0
        }

        fn step(&self, state: &u32, operation: usize) -> Option<u32> {
            let (write, value) = self.0[operation];
            if write { Some(value) } else { (*state == value).then_some(value) }
        }

        fn only_looks(&self, operation: usize) -> bool {
            !self.0[operation].0
        }
    }

    fn found(operations: &[(bool, u32)], spans: &[(u64, u64)], budget: u64) -> Found {
        search(&Register(operations.to_vec()), spans, budget)
    }

    const W: bool = true;
    const R: bool = false;

    #[test]
    fn nothing_is_explained_by_nothing() {
        assert_eq!(found(&[], &[], 1), Found::Order(vec![]));
    }

    #[test]
    fn a_read_may_come_before_or_after_a_write_beside_it() {
        for value in [0, 1] {
            assert!(matches!(found(&[(W, 1), (R, value)], &[(1, 4), (2, 3)], 100), Found::Order(_)));
        }
        assert!(matches!(found(&[(W, 1), (R, 2)], &[(1, 4), (2, 3)], 100), Found::NoOrder { .. }));
    }

    #[test]
    fn a_read_after_a_write_does_not_see_what_was_before_it() {
        let stale = found(&[(W, 1), (R, 0)], &[(1, 2), (3, 4)], 100);
        assert_eq!(stale, Found::NoOrder { prefix: vec![0], stuck: 1 });
    }

    #[test]
    fn two_readers_agree_on_the_order_of_two_writes() {
        // Both writes last all the time; one reader sees 1 then 2, the other 2 then 1.
        let operations = [(W, 1), (W, 2), (R, 1), (R, 2), (R, 2), (R, 1)];
        let spans = [(1, 20), (2, 21), (3, 4), (7, 8), (5, 6), (9, 10)];
        assert!(matches!(found(&operations, &spans, 1000), Found::NoOrder { .. }));
        // A reader that sees the same twice more is explained.
        let operations = [(W, 1), (W, 2), (R, 1), (R, 2), (R, 2), (R, 2)];
        let spans = [(1, 20), (2, 21), (3, 4), (5, 6), (7, 8), (9, 10)];
        assert_eq!(found(&operations, &spans, 1000), Found::Order(vec![0, 2, 1, 3, 4, 5]));
    }

    #[test]
    fn a_small_budget_gives_up_and_never_passes() {
        let operations: Vec<_> = (0..12).map(|value| (W, value)).chain([(R, 99)]).collect();
        let spans: Vec<_> = (0..12).map(|at| (at, 100 + at)).chain([(50, 51)]).collect();
        assert!(matches!(found(&operations, &spans, 1_000_000), Found::NoOrder { .. }));
        for budget in [0, 1, 12, 40] {
            assert_eq!(found(&operations, &spans, budget), Found::GaveUp);
        }
    }

    #[test]
    fn the_longest_prefix_is_reported() {
        let operations = [(W, 1), (R, 1), (W, 2), (R, 7)];
        let Found::NoOrder { prefix, stuck } = found(&operations, &[(1, 2), (3, 4), (5, 6), (7, 8)], 100) else {
            panic!("7 was never written");
        };
        assert_eq!((prefix, stuck), (vec![0, 1, 2], 3));
    }

    #[test]
    fn a_long_history_is_quick() {
        // Each write overlaps the next one; each read sees the write before it.
        let operations: Vec<_> = (0..10_000).map(|at| if at % 2 == 0 { (W, at) } else { (R, at - 1) }).collect();
        let spans: Vec<_> = (0..10_000).map(|at| (at * 4, at * 4 + 6)).map(|(a, b)| (a, b + 1)).collect();
        assert!(matches!(found(&operations, &spans, 1_000_000), Found::Order(_)));
    }

    /// Against all orders: the search finds one exactly when there is one.
    #[test]
    fn it_agrees_with_trying_every_order() {
        fn explained(operations: &[(bool, u32)], spans: &[(u64, u64)], left: &mut Vec<usize>, state: u32) -> bool {
            left.is_empty()
                || (0..left.len()).any(|at| {
                    let next = left[at];
                    let may_be_next = left.iter().all(|&other| spans[other].1 > spans[next].0);
                    let (write, value) = operations[next];
                    may_be_next && (write || state == value) && {
                        left.remove(at);
                        let ok = explained(operations, spans, left, value);
                        left.insert(at, next);
                        ok
                    }
                })
        }
        let (mut random, mut verdicts) = (2018_u64, [0, 0]);
        let mut draw = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        for _ in 0..2000 {
            let count = 2 + draw(5);
            let mut spans: Vec<_> = (0..count).map(|at| (at * 10, at * 10 + 1 + 10 * draw(4) + at % 7)).collect();
            spans.iter_mut().for_each(|span| span.1 = span.1 * 8 + 3);
            spans
                .iter_mut()
                .enumerate()
                .for_each(|(at, span)| *span = (span.0 * 8 + at as u64 % 3, span.1 + at as u64));
            let operations: Vec<_> = (0..count).map(|_| (draw(2) == 0, u32::try_from(draw(3)).unwrap())).collect();
            let by_trying = explained(&operations, &spans, &mut (0..spans.len()).collect(), 0);
            let by_search = matches!(found(&operations, &spans, 100_000), Found::Order(_));
            assert_eq!(by_search, by_trying, "{operations:?} {spans:?}");
            verdicts[usize::from(by_trying)] += 1;
        }
        assert!(verdicts.iter().all(|&count| count > 200), "both verdicts occur: {verdicts:?}");
    }
}
