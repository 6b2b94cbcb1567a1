//! What the threads of one execution did, step by step: for a failing execution that is to be read.
//!
//! ```text
//!    #   main                      thread 1
//!    1   acquire
//!    2     load free-list.HEAD → 1
//!    3                             acquire
//!    4                               load free-list.HEAD → 1
//! ```
//!
//! Off unless asked for, since most executions are never looked at. All threads of a model share one
//! thread of the system, so one list of that thread holds the steps of all, in their order.

use slotwork::{Access, Site};
use std::cell::{Cell, RefCell};
use std::fmt::Write as _;

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which thread took it; 0 is the model's own.
    pub thread: usize,
    /// Whether it is an operation that begins, not an access.
    pub heading: bool,
    /// What was done.
    pub text: String,
}

thread_local! {
    static ON: Cell<bool> = const { Cell::new(false) };
    static STEPS: RefCell<Vec<Step>> = const { RefCell::new(Vec::new()) };
    /// Addresses in the order they were met: what an allocator gives out says nothing to a reader.
    static PLACES: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Keeps the steps of each execution from now on, until the next one begins.
pub fn keep_steps() {
    ON.set(true);
}

pub(super) fn is_on() -> bool {
    ON.get()
}

/// An execution begins.
pub fn begin_steps() {
    STEPS.with_borrow_mut(Vec::clear);
    PLACES.with_borrow_mut(Vec::clear);
}

pub(super) fn record(thread: usize, heading: bool, text: String) {
    STEPS.with_borrow_mut(|steps| steps.push(Step { thread, heading, text }));
}

/// The steps of the execution that ran last.
#[must_use]
pub fn steps() -> Vec<Step> {
    STEPS.with_borrow(Clone::clone)
}

/// How an access is written: what it does, where, and with which values.
pub(super) fn access(site: &Site, values: &[&dyn Shown], result: Option<&dyn Shown>) -> String {
    let verb = match site.access {
        Access::Load(_) => "load",
        Access::Store(_) => "store",
        Access::Rmw(_) => "change",
        Access::CompareExchange(..) => "exchange",
        Access::Fence(_) => "fence",
        Access::Lock => "lock",
    };
    let mut text = format!("{verb} {}.{}", site.table, site.name);
    let values: Vec<_> = values.iter().map(|value| value.shown()).collect();
    if !values.is_empty() {
        let _ = write!(text, " {}", values.join(" ⇒ "));
    }
    if let Some(result) = result {
        let _ = write!(text, " → {}", result.shown());
    }
    text
}

/// A value as a reader wants to see it.
pub(super) trait Shown {
    /// Its text.
    fn shown(&self) -> String;
}

impl Shown for u32 {
    fn shown(&self) -> String {
        u64::from(*self).shown()
    }
}

impl Shown for u64 {
    fn shown(&self) -> String {
        if *self < 1 << 16 { self.to_string() } else { format!("{self:#x}") }
    }
}

impl<T> Shown for *mut T {
    fn shown(&self) -> String {
        if self.is_null() {
            return "null".into();
        }
        let address = self.addr();
        let number = PLACES.with_borrow_mut(|places| {
            places.iter().position(|&place| place == address).unwrap_or_else(|| {
                places.push(address);
                places.len() - 1
            })
        });
        format!("node {number}")
    }
}

impl<V: Shown> Shown for Result<V, V> {
    fn shown(&self) -> String {
        match self {
            Ok(_) => "done".into(),
            Err(found) => format!("no, it is {}", found.shown()),
        }
    }
}

/// Steps of a table; of more, those in between are left out.
const MOST: usize = 120;
/// Steps before those.
const FIRST: usize = 40;

/// The steps as a table, a column per thread. An arrow leads to what an access found: of a change, what was there
/// before it.
#[must_use]
pub fn table(steps: &[Step]) -> String {
    let threads = steps.iter().map(|step| step.thread + 1).max().unwrap_or(0);
    let written = |step: &Step| format!("{}{}", if step.heading { "" } else { "  " }, step.text);
    let widths: Vec<usize> = (0..threads)
        .map(|thread| {
            let own = steps.iter().filter(|step| step.thread == thread).map(|step| written(step).chars().count());
            own.max().unwrap_or(0).max("thread 0".len())
        })
        .collect();
    let row = |number: &str, thread: usize, text: &str| {
        let indent: usize = widths[..thread].iter().map(|width| width + 2).sum();
        format!("{number:>4}   {}{text}", " ".repeat(indent))
    };
    let mut heads = String::new();
    for (thread, width) in widths.iter().enumerate() {
        let name = if thread == 0 { "main".into() } else { format!("thread {thread}") };
        let _ = write!(heads, "{name:width$}  ");
    }
    let mut lines = vec![format!("{:>4}   {}", "#", heads.trim_end())];
    for (number, step) in steps.iter().enumerate() {
        if steps.len() > MOST && number == FIRST {
            lines.push(format!("   …   {} steps", steps.len() - MOST));
        }
        if steps.len() <= MOST || !(FIRST..steps.len() - (MOST - FIRST)).contains(&number) {
            lines.push(row(&(number + 1).to_string(), step.thread, &written(step)));
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_stand_in_columns() {
        let step = |thread, heading, text: &str| Step { thread, heading, text: text.into() };
        let steps = [step(0, true, "acquire"), step(0, false, "load a.B → 1"), step(1, true, "take")];
        let table = table(&steps);
        let lines: Vec<_> = table.lines().collect();
        assert_eq!(lines.len(), 4);
        let column = |text: &str| lines.iter().find_map(|line| line.find(text).map(|at| line[..at].chars().count()));
        assert_eq!(column("thread 1"), column("take"));
        assert!(column("load a.B") > column("acquire"));
        assert_eq!(super::table(&[]).lines().count(), 1);
        let many = vec![step(0, false, "load a.B → 1"); MOST + 7];
        assert_eq!(super::table(&many).lines().count(), MOST + 2, "the middle is left out, and said so");
        assert!(super::table(&many).contains("…   7 steps"));
    }

    #[test]
    fn nodes_are_numbered_as_they_are_met() {
        begin_steps();
        let [first, second] = [8, 16].map(std::ptr::without_provenance_mut::<u64>);
        assert_eq!([first.shown(), second.shown(), first.shown()], ["node 0", "node 1", "node 0"]);
        assert_eq!(std::ptr::null_mut::<u64>().shown(), "null");
    }
}
