//! Queues beyond the search's reach: the known bad patterns, in n log n.
//!
//! Where every request is submitted once, a history of a queue is wrong exactly if one of these is in it:
//!
//! ```text
//!   never put     taken, but not submitted before the take had ended
//!   taken twice
//!   inverted      submit a │  │ submit b   … take b │  │ take a, or a is never taken
//!   not empty     ╞════ "nothing" ════╡
//!              ───── a surely there ──
//!                        ── b surely there ─────      no instant is left for "nothing"
//! ```
//!
//! T. A. Henzinger, A. Sezgin, V. Vafeiadis, *Aspect-oriented linearizability proofs*, 2013.

use super::history::{Call, Content, Operation};
use std::collections::BTreeMap;

/// A bad pattern, and the operations that make it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// What is wrong, in words.
    pub why: String,
    /// Indices of the operations.
    pub operations: Vec<usize>,
}

/// What became of one request.
struct Passage {
    content: Content,
    submit: usize,
    /// When it was submitted, and when its take began, if ever: in between it was there.
    there: (u64, u64),
    take: Option<usize>,
}

/// The first bad pattern in the submits and takes of one queue. `in_order`: whether it has to keep order;
/// `exact`: whether "nothing" speaks of one instant.
#[must_use]
pub fn find_bad_pattern(operations: &[Operation], in_order: bool, exact: bool) -> Option<Pattern> {
    let passages = match passages(operations) {
        Ok(passages) => passages,
        Err(pattern) => return Some(pattern),
    };
    let inverted = || if in_order { inverted(operations, &passages) } else { None };
    inverted().or_else(|| if exact { not_empty(operations, &passages) } else { None })
}

/// The passage of each request, or the pattern that makes it impossible.
fn passages(operations: &[Operation]) -> Result<Vec<Passage>, Pattern> {
    let mut passages = BTreeMap::new();
    for (index, operation) in operations.iter().enumerate() {
        if let Call::Submit { content, .. } = operation.call {
            let there = (operation.returned, u64::MAX);
            passages.insert(content, Passage { content, submit: index, there, take: None });
        }
    }
    for (index, operation) in operations.iter().enumerate() {
        let Call::Take { taken: Some((_, content)), .. } = operation.call else { continue };
        match passages.get_mut(&content) {
            Some(passage) if !operation.before(&operations[passage.submit]) => {
                if let Some(earlier) = passage.take.replace(index) {
                    let why = format!("{content} is taken twice");
                    return Err(Pattern { why, operations: vec![earlier, index] });
                }
                passage.there.1 = operation.called;
            }
            _ => return Err(Pattern { why: format!("{content} is taken, but was not put"), operations: vec![index] }),
        }
    }
    Ok(passages.into_values().collect())
}

fn inverted(operations: &[Operation], passages: &[Passage]) -> Option<Pattern> {
    let mut by_end: Vec<&Passage> = passages.iter().collect();
    by_end.sort_by_key(|passage| operations[passage.submit].returned);
    let mut by_begin: Vec<&Passage> = passages.iter().collect();
    by_begin.sort_by_key(|passage| operations[passage.submit].called);
    // Of all submitted before this one: the one whose take began last.
    let (mut earlier, mut last) = (by_end.into_iter().peekable(), None::<&Passage>);
    for passage in by_begin {
        while let Some(before) = earlier.next_if(|other| operations[other.submit].before(&operations[passage.submit])) {
            last = last.filter(|last| last.there.1 >= before.there.1).or(Some(before));
        }
        let (Some(take), Some(last)) = (passage.take, last) else { continue };
        if operations[take].returned < last.there.1 {
            let why = format!("{} was submitted before {}, and is taken after it", last.content, passage.content);
            let involved = [last.submit, passage.submit, take].into_iter().chain(last.take);
            return Some(Pattern { why, operations: involved.collect() });
        }
    }
    None
}

fn not_empty(operations: &[Operation], passages: &[Passage]) -> Option<Pattern> {
    let mut by_begin: Vec<&Passage> = passages.iter().filter(|passage| passage.there.0 < passage.there.1).collect();
    by_begin.sort_by_key(|passage| passage.there.0);
    for (index, operation) in operations.iter().enumerate() {
        if !matches!(operation.call, Call::Take { taken: None, .. }) {
            continue;
        }
        // No instant before this one is left.
        let (mut covered, mut by) = (operation.called, vec![index]);
        for passage in by_begin.iter().take_while(|passage| passage.there.0 < operation.returned) {
            // Times are different, and an instant lies between two of them: the next one must begin before.
            if passage.there.0 <= covered && passage.there.1 > covered {
                covered = passage.there.1;
                by.extend([passage.submit].into_iter().chain(passage.take));
                if covered > operation.returned {
                    let why = "nothing is found, although at every instant a request was there".into();
                    return Some(Pattern { why, operations: by });
                }
            }
        }
    }
    None
}

/// A request that was overtaken too often: after its submit had ended and before its take began,
/// `limit` or more others were taken from its lane.
#[must_use]
pub fn find_overtaken(operations: &[Operation], limit: usize) -> Option<Pattern> {
    let passages = match passages(operations) {
        Ok(passages) => passages,
        Err(pattern) => return Some(pattern),
    };
    let mut takes: Vec<(u64, u64, usize)> = passages
        .iter()
        .filter_map(|passage| passage.take)
        .map(|take| (operations[take].called, operations[take].returned, take))
        .collect();
    takes.sort_unstable();
    passages.iter().find_map(|passage| {
        let from = takes.partition_point(|&(called, ..)| called < passage.there.0);
        let others = takes[from..].iter().take_while(|&&(called, ..)| called < passage.there.1);
        let overtaking: Vec<usize> =
            others.filter(|&&(_, returned, _)| returned < passage.there.1).map(|&(.., take)| take).collect();
        (overtaking.len() >= limit).then(|| {
            let why = format!(
                "{} is overtaken by {} others; the claim is fewer than {limit}",
                passage.content,
                overtaking.len()
            );
            let involved = [passage.submit].into_iter().chain(overtaking).chain(passage.take);
            Pattern { why, operations: involved.collect() }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::search::{Found, search};
    use super::super::specification::QueueSpec;
    use super::*;
    use proptest::prelude::*;

    fn submit(thread: usize, span: (u64, u64), number: u32) -> Operation {
        let call = Call::Submit { slot: number, content: Content::request(number), lane: Some(0) };
        Operation { thread, called: span.0, returned: span.1, call }
    }

    fn take(thread: usize, span: (u64, u64), number: Option<u32>) -> Operation {
        let call = Call::Take { lane: 0, taken: number.map(|number| (number, Content::request(number))) };
        Operation { thread, called: span.0, returned: span.1, call }
    }

    fn why(operations: &[Operation]) -> Option<String> {
        find_bad_pattern(operations, true, true).map(|pattern| pattern.why)
    }

    #[test]
    fn each_bad_pattern_is_found_and_its_harmless_sibling_is_not() {
        let put = submit(0, (1, 2), 1);
        assert_eq!(why(&[put, take(1, (3, 4), Some(1))]), None);
        assert!(why(&[put, take(1, (3, 4), Some(2))]).unwrap().contains("not put"));
        assert!(why(&[submit(0, (5, 6), 1), take(1, (3, 4), Some(1))]).unwrap().contains("not put"));
        assert!(why(&[put, take(1, (3, 4), Some(1)), take(1, (5, 6), Some(1))]).unwrap().contains("twice"));
        let (a, b) = (submit(0, (1, 2), 1), submit(0, (3, 4), 2));
        assert!(why(&[a, b, take(1, (5, 6), Some(2)), take(1, (7, 8), Some(1))]).unwrap().contains("after it"));
        assert!(why(&[a, b, take(1, (5, 6), Some(2))]).is_some(), "the first is never taken");
        assert_eq!(why(&[submit(0, (1, 4), 1), submit(2, (2, 3), 2), take(1, (5, 6), Some(2))]), None, "beside");
        assert!(why(&[put, take(1, (3, 4), None)]).unwrap().contains("nothing"));
        assert_eq!(why(&[put, take(1, (3, 6), None), take(2, (4, 5), Some(1))]), None, "taken meanwhile");
        // The first is surely there until 7, the second from 6 on: no instant is left.
        let covered = [put, submit(0, (5, 6), 2), take(1, (3, 10), None), take(2, (7, 8), Some(1))];
        assert!(why(&covered).unwrap().contains("at every instant"));
        assert_eq!(find_bad_pattern(&covered, true, false), None, "of no single request is that said");
    }

    #[test]
    fn a_request_overtaken_too_often_is_found_at_the_limit_exactly() {
        let mut operations = vec![submit(0, (1, 2), 100)];
        for number in 0..4_u32 {
            let at = 10 * u64::from(number) + 10;
            operations.push(submit(0, (at, at + 1), number));
            operations.push(take(1, (at + 2, at + 3), Some(number)));
        }
        operations.push(take(1, (90, 91), Some(100)));
        assert!(find_overtaken(&operations, 4).unwrap().why.contains("overtaken by 4"));
        assert_eq!(find_overtaken(&operations, 5), None);
    }

    /// Times from a list of threads that are drawn step by step: calls and returns as they come.
    fn history(draws: &[(usize, bool, u32)]) -> Vec<Operation> {
        let (mut operations, mut open): (Vec<Operation>, [Option<usize>; 3]) = (Vec::new(), [None; 3]);
        let mut submitted = 0;
        for (&(thread, puts, number), time) in draws.iter().zip(1..) {
            if let Some(at) = open[thread].take() {
                operations[at].returned = time;
                continue;
            }
            open[thread] = Some(operations.len());
            operations.push(if puts {
                submitted += 1;
                submit(thread, (time, 1000 + thread as u64), submitted)
            } else {
                take(thread, (time, 1000 + thread as u64), (number > 0).then_some(number))
            });
        }
        operations
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

        /// The patterns and the search say the same of every history, in order or not.
        #[test]
        fn patterns_and_search_agree(draws in prop::collection::vec((0..3_usize, any::<bool>(), 0..4_u32), 0..20)) {
            let operations = history(&draws);
            let spans: Vec<_> = operations.iter().map(|operation| (operation.called, operation.returned)).collect();
            for in_order in [true, false] {
                let specification = QueueSpec { operations: &operations, in_order };
                let found = search(&specification, &spans, 1_000_000);
                let pattern = find_bad_pattern(&operations, in_order, true);
                prop_assert_eq!(matches!(found, Found::Order(_)), pattern.is_none(), "{:?} {:?}", found, pattern);
            }
        }
    }
}
