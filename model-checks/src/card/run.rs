//! Doing the tasks: as many at a time as the machine has cores, each in a process of its own.

use super::plan::Task;
use super::proofs::{Done, Part};
use crate::evidence::{Evidence, Outcome};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// What became of a task, to whoever shows progress.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// Tasks done.
    pub done: usize,
    /// Tasks to do.
    pub all: usize,
    /// The task just done.
    pub task: &'a Done,
}

/// The tasks of one part: every n-th, so that each part gets some of each kind.
#[must_use]
pub fn part_of(tasks: Vec<Task>, part: Part) -> Vec<Task> {
    let Part { number, of } = part;
    tasks.into_iter().skip(number as usize - 1).step_by(of as usize).collect()
}

/// Does all tasks, in the order of the plan as far as that goes, and stops at the next one when `stop` is set: what
/// was done until then is returned. The result is in the order of the plan.
pub fn run(tasks: &[Task], stop: &AtomicBool, mut progress: impl FnMut(Progress<'_>)) -> Vec<Done> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let workers = thread::available_parallelism().map_or(1, usize::from).min(tasks.len().max(1));
    let mut done: Vec<(usize, Done)> = Vec::new();
    thread::scope(|scope| {
        for _ in 0..workers {
            let (next, sender) = (&next, sender.clone());
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(task) = tasks.get(at) else { return };
                    let rows = task.run();
                    // A child that was broken off by the same Ctrl-C has said nothing about its task; and it may be gone
                    // before this process has heard of it.
                    if rows.iter().any(ended_by_signal) {
                        thread::sleep(SIGNALS_ARRIVE);
                    }
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let sent = sender.send((at, Done { task: task.name(), rows }));
                    if sent.is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (at, one) in receiver {
            progress(Progress { done: done.len() + 1, all: tasks.len(), task: &one });
            done.push((at, one));
        }
    });
    done.sort_by_key(|&(at, _)| at);
    done.into_iter().map(|(_, one)| one).collect()
}

/// Longer than a signal to all processes of a terminal takes to reach the last of them.
const SIGNALS_ARRIVE: Duration = Duration::from_millis(500);

fn ended_by_signal(row: &Evidence) -> bool {
    matches!(&row.outcome, Outcome::GaveUp { why } if why.starts_with("signal: "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::{Level, plan};
    use std::collections::BTreeSet;

    #[test]
    fn parts_are_the_whole_and_do_not_overlap() {
        let all: BTreeSet<String> = plan(Level::Quick, &[]).unwrap().iter().map(Task::name).collect();
        let mut seen = BTreeSet::new();
        for number in 1..=8 {
            for task in part_of(plan(Level::Quick, &[]).unwrap(), Part { number, of: 8 }) {
                assert!(seen.insert(task.name()), "{} is in two parts", task.name());
            }
        }
        assert_eq!(seen, all);
    }

    #[test]
    fn nothing_is_begun_after_a_stop() {
        let tasks = plan(Level::Quick, &["bitmap".into()]).unwrap();
        assert!(run(&tasks, &AtomicBool::new(true), |_| ()).is_empty());
    }
}
