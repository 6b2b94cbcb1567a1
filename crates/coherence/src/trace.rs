//! What happened when, as a file for a trace viewer (Chrome's, or Perfetto).

use crate::account::{Account, Cause, Time};
use serde::Serialize;
use slotwork::Site;
use std::borrow::Cow;

/// Shorter pieces are left out: they would not be seen.
const SHORTEST: Time = 20_000;

/// One piece of a thread's time.
#[derive(Clone, Debug)]
struct Piece {
    thread: usize,
    cause: Cause,
    start: Time,
    length: Time,
    site: Option<&'static Site>,
}

/// Pieces of time, up to a number.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pieces: Vec<Piece>,
    most: usize,
    /// Pieces that were left out, because there were too many.
    pub left_out: u64,
}

/// One event of the file.
#[derive(Serialize)]
struct Event<'a> {
    name: Cow<'a, str>,
    cat: &'a str,
    ph: &'a str,
    /// Microseconds.
    ts: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    pid: usize,
    tid: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<serde_json::Value>,
}

impl Trace {
    /// A trace of at most so many pieces.
    #[must_use]
    pub fn of_at_most(most: usize) -> Self {
        Self { pieces: Vec::new(), most, left_out: 0 }
    }

    fn push(&mut self, piece: Piece) {
        if piece.length < SHORTEST {
            return;
        }
        if let Some(last) = self.pieces.iter_mut().rev().take(8).find(|last| last.thread == piece.thread)
            && last.cause == piece.cause
            && last.site.is_none()
            && piece.site.is_none()
            && last.start + last.length == piece.start
        {
            last.length += piece.length;
            return;
        }
        if self.pieces.len() == self.most {
            self.left_out += 1;
            return;
        }
        self.pieces.push(piece);
    }

    pub(crate) fn note(&mut self, thread: usize, cause: Cause, start: Time, length: Time) {
        self.push(Piece { thread, cause, start, length, site: None });
    }

    pub(crate) fn access(&mut self, thread: usize, before: &Account, after: &Account, at: Time, site: &'static Site) {
        let mut start = at;
        for &cause in Cause::ALL {
            let picoseconds = |account: &Account| (account.nanoseconds(cause) * 1000.0).round();
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a difference of times, not below zero"
            )]
            let length = (picoseconds(after) - picoseconds(before)) as Time;
            self.push(Piece { thread, cause, start, length, site: Some(site) });
            start += length;
        }
    }

    /// The trace as JSON, with the threads' names.
    ///
    /// # Errors
    /// As of serialising.
    pub fn to_json(&self, threads: &[&str]) -> Result<String, serde_json::Error> {
        let named = threads.iter().enumerate().map(|(tid, name)| Event {
            name: "thread_name".into(),
            cat: "",
            ph: "M",
            ts: 0.0,
            dur: None,
            pid: 1,
            tid,
            args: Some(serde_json::json!({ "name": name })),
        });
        let pieces = self.pieces.iter().map(|piece| Event {
            name: match piece.site {
                Some(site) => format!("{}.{}", site.table, site.name).into(),
                None => piece.cause.word().into(),
            },
            cat: piece.cause.word(),
            ph: "X",
            ts: piece.start as f64 / 1e6,
            dur: Some(piece.length as f64 / 1e6),
            pid: 1,
            tid: piece.thread,
            args: None,
        });
        let events: Vec<Event<'_>> = named.chain(pieces).collect();
        serde_json::to_string(&serde_json::json!({ "displayTimeUnit": "ns", "traceEvents": events }))
    }
}
