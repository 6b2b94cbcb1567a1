//! A history as a table: a column per thread, a row per event.
//!
//! ```text
//!   time │ client 0            │ worker 0
//!      1 │ ┌ acquire           │
//!      2 │ └ → slot 0 (fresh)  │ ┌ take
//! ```

use super::history::{Call, History, Operation};
use std::fmt::Write;

/// The table; operations in `accused` are marked.
#[must_use]
pub fn table(history: &History, accused: &[usize]) -> String {
    let operations = history.operations.iter().enumerate();
    let mut events: Vec<(u64, usize, bool)> = operations
        .flat_map(|(at, operation)| [(operation.called, at, true), (operation.returned, at, false)])
        .collect();
    events.sort_unstable();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (row, &(_, at, is_call)) in events.iter().enumerate() {
        let operation = &history.operations[at];
        let mark = if accused.contains(&at) { " ◀" } else { "" };
        let mut cells = vec![String::new(); history.threads.len()];
        for (_, other) in open(history, events[row].0) {
            cells[other.thread] = "│".into();
        }
        let (beginning, end) = halves(&operation.call);
        cells[operation.thread] = if is_call { format!("┌ {beginning}") } else { format!("└ {end}{mark}") };
        rows.push(cells);
    }
    let widths: Vec<usize> = (0..history.threads.len())
        .map(|thread| {
            let cells = rows.iter().map(|cells| cells[thread].chars().count());
            cells.chain([history.threads[thread].chars().count()]).max().unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    let mut line = |first: &str, cells: &[String]| {
        let _ = write!(text, "{first:>4}");
        for (cell, &width) in cells.iter().zip(&widths) {
            let _ = write!(text, " │ {cell:<width$}");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    };
    line("time", &history.threads);
    for (row, cells) in rows.iter().enumerate() {
        line(&(row + 1).to_string(), cells);
    }
    text
}

/// Operations under way at a time.
fn open(history: &History, time: u64) -> impl Iterator<Item = (usize, &Operation)> {
    let under_way = move |(_, operation): &(usize, &Operation)| operation.called < time && time < operation.returned;
    history.operations.iter().enumerate().filter(under_way)
}

/// What is known of an operation when it begins, and what when it ends.
fn halves(call: &Call) -> (String, String) {
    let text = call.to_string();
    match text.split_once(" → ") {
        Some((name, result)) => (name.into(), format!("→ {result}")),
        None => (text, "done".into()),
    }
}
