//! Which cells are measured, and which contender takes part in which.

use crate::contender::Contender;
use crate::placement::Placement;
use crate::record::Kind;
use crate::waiting::Waiting;
use crate::workload::Cell;
use slotwork::{Shape, ShapeError, Submitters};
use std::time::Duration;
use thiserror::Error;

/// Clients × workers of the standard grid.
pub const STANDARD_THREADS: [(usize, usize); 5] = [(1, 1), (1, 4), (2, 2), (4, 4), (1, 16)];

/// Clients × workers of the wide grid.
pub const WIDE_THREADS: [(usize, usize); 6] = [(1, 1), (1, 2), (2, 2), (4, 4), (1, 16), (1, 64)];

/// Slots per lane of the wide grid.
pub const WIDE_SLOTS: [usize; 4] = [1, 4, 16, 64];

/// Slots per lane of the standard grid.
pub const STANDARD_SLOTS: [usize; 2] = [4, 64];

/// Most threads of one side: more is a slip of the finger.
pub const MAX_THREADS: usize = 1024;

/// Most slots of one queue: more would only measure the memory.
pub const MAX_SLOTS: usize = 1 << 20;

/// Why a contender takes no part in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NotApplicable {
    /// It takes one submitter, and the cell has more clients.
    #[error("one submitter")]
    OneSubmitter,
    /// It takes fewer clients.
    #[error("at most {0} clients")]
    Clients(usize),
    /// It takes fewer lanes.
    #[error("at most {0} lanes")]
    Lanes(usize),
    /// It takes fewer slots per lane.
    #[error("at most {0} slots per lane")]
    Slots(usize),
}

/// Why a grid cannot be measured at all.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GridError {
    /// No design takes such a shape.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// More slots than are measured.
    #[error("{workers} workers with {slots} slots each are too many slots: at most {MAX_SLOTS} in all")]
    TooManySlots {
        /// Workers asked for.
        workers: usize,
        /// Slots per lane asked for.
        slots: usize,
    },
    /// None of the chosen designs takes any of the cells.
    #[error("no chosen design can do {clients} × {workers} with {slots} slots per lane: {reasons}")]
    NobodyTakes {
        /// Clients asked for.
        clients: usize,
        /// Workers asked for.
        workers: usize,
        /// Slots per lane asked for.
        slots: usize,
        /// Each design with its reason.
        reasons: String,
    },
}

/// Whether `contender` can do this cell, by its claims.
///
/// # Errors
/// Why not.
pub fn admit(contender: &Contender, cell: &Cell) -> Result<(), NotApplicable> {
    let claims = &contender.claims;
    if claims.submitters == Submitters::One && cell.clients > 1 {
        return Err(NotApplicable::OneSubmitter);
    }
    if let Some(limit) = claims.max_clients
        && cell.clients > limit
    {
        return Err(NotApplicable::Clients(limit));
    }
    claims.admit(cell.shape).map_err(|error| match error {
        ShapeError::DesignSlots { limit, .. } | ShapeError::TooManySlots { limit, .. } => NotApplicable::Slots(limit),
        ShapeError::DesignLanes { limit, .. } | ShapeError::TooManyLanes { limit, .. } => NotApplicable::Lanes(limit),
        ShapeError::NoLanes => NotApplicable::Lanes(0),
        ShapeError::NoSlots => NotApplicable::Slots(0),
    })
}

/// What was asked for in place of the standard grid; nothing where it stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The wide grid in place of the standard one.
    pub wide: bool,
    /// Clients.
    pub clients: Vec<usize>,
    /// Workers.
    pub workers: Vec<usize>,
    /// Slots per lane.
    pub slots: Vec<usize>,
    /// Waiting policies, each in every cell; none stands for what suits the cell.
    pub waiting: Vec<Option<Waiting>>,
    /// Work per request in nanoseconds, each in every cell; no work, if empty.
    pub handlers: Vec<u64>,
}

/// The cells to measure. Slots alone leave the standard clients × workers; one of clients and workers
/// makes the other 1. A cell in which nobody can take part stays, and is shown so, as long as somebody can in another.
///
/// # Errors
/// [`GridError`] where nobody can take part in any.
pub fn cells(wanted: &Wanted, contenders: &[Contender], cores: usize) -> Result<Vec<Cell>, GridError> {
    let or_one = |counts: &[usize]| if counts.is_empty() { vec![1] } else { counts.to_vec() };
    let threads: Vec<(usize, usize)> = if wanted.clients.is_empty() && wanted.workers.is_empty() {
        if wanted.wide { WIDE_THREADS.to_vec() } else { STANDARD_THREADS.to_vec() }
    } else {
        let workers = or_one(&wanted.workers);
        or_one(&wanted.clients).into_iter().flat_map(|clients| workers.iter().map(move |&w| (clients, w))).collect()
    };
    let slots = or_default(&wanted.slots, if wanted.wide { &WIDE_SLOTS } else { &STANDARD_SLOTS });
    let shapes = threads.into_iter().flat_map(|(clients, workers)| slots.iter().map(move |&s| (clients, workers, s)));
    let mut cells: Vec<Cell> = Vec::new();
    for (clients, workers, slots) in shapes {
        for &handler in or_default(&wanted.handlers, &[0]) {
            for &waiting in or_default(&wanted.waiting, &[None]) {
                let waiting = waiting.unwrap_or(Waiting::suited_to(clients + workers, cores));
                let cell = cell(clients, workers, slots, waiting, handler)?;
                if !cells.contains(&cell) {
                    cells.push(cell);
                }
            }
        }
    }
    // The harness without a queue takes everything, and says nothing alone.
    let queues: Vec<&Contender> = contenders.iter().filter(|contender| contender.kind != Kind::Floor).collect();
    let possible = |cell: &Cell| queues.iter().any(|contender| admit(contender, cell).is_ok());
    if !cells.iter().any(possible)
        && let Some(cell) = cells.first()
    {
        return Err(nobody_takes(cell, &queues));
    }
    Ok(cells)
}

fn or_default<'a, T>(wanted: &'a [T], default: &'a [T]) -> &'a [T] {
    if wanted.is_empty() { default } else { wanted }
}

fn nobody_takes(cell: &Cell, contenders: &[&Contender]) -> GridError {
    let refusal = |contender: &&Contender| Some(format!("{} takes {}", contender.name, admit(contender, cell).err()?));
    GridError::NobodyTakes {
        clients: cell.clients,
        workers: cell.shape.lanes(),
        slots: cell.shape.slots_per_lane(),
        reasons: contenders.iter().filter_map(refusal).collect::<Vec<_>>().join("; "),
    }
}

fn cell(
    clients: usize,
    workers: usize,
    slots: usize,
    waiting: Waiting,
    handler_nanoseconds: u64,
) -> Result<Cell, GridError> {
    let shape = Shape::new(workers, slots)?;
    if shape.slots() > MAX_SLOTS {
        return Err(GridError::TooManySlots { workers, slots });
    }
    Ok(Cell { clients, shape, waiting, handler_nanoseconds })
}

/// The measured window of a cell when none is asked for: longer where threads outnumber cores, so that it
/// holds many of the scheduler's turns, and longest where many threads have to have some each.
#[must_use]
pub fn window_of(cell: &Cell, placement: &Placement) -> Duration {
    let threads = cell.clients + cell.shape.lanes();
    Duration::from_millis(match threads {
        _ if threads <= placement.cores() => 100,
        ..=32 => 220,
        _ => 250,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::catalog;

    fn wanted(clients: &[usize], workers: &[usize], slots: &[usize]) -> Wanted {
        Wanted { clients: clients.to_vec(), workers: workers.to_vec(), slots: slots.to_vec(), ..Wanted::default() }
    }

    fn named(name: &str) -> Vec<Contender> {
        catalog().into_iter().filter(|contender| contender.name == name).collect()
    }

    #[test]
    fn the_standard_grid() {
        let cells = cells(&Wanted::default(), &catalog(), 2).unwrap();
        assert_eq!(cells.len(), STANDARD_THREADS.len() * STANDARD_SLOTS.len());
        assert_eq!(cells.iter().filter(|cell| cell.waiting == Waiting::Spin).count(), 2);
        let wide = Wanted { wide: true, ..Wanted::default() };
        assert_eq!(super::cells(&wide, &catalog(), 2).unwrap().len(), WIDE_THREADS.len() * WIDE_SLOTS.len());
    }

    #[test]
    fn what_is_asked_for_replaces_what_it_names() {
        assert_eq!(cells(&wanted(&[], &[], &[8]), &catalog(), 2).unwrap().len(), 5);
        assert_eq!(cells(&wanted(&[1, 2], &[3], &[8]), &catalog(), 2).unwrap().len(), 2);
        let ones = cells(&wanted(&[], &[3, 3], &[]), &catalog(), 2).unwrap();
        assert_eq!(ones.len(), 2);
        assert!(ones.iter().all(|cell| cell.clients == 1 && cell.shape.lanes() == 3));
    }

    #[test]
    fn policies_and_work_are_axes_too() {
        let waiting = vec![None, Some(Waiting::Yield), Some(Waiting::Park)];
        let wanted = Wanted { waiting, handlers: vec![0, 100], ..wanted(&[1], &[1, 2], &[4]) };
        let cells = cells(&wanted, &catalog(), 2).unwrap();
        // With more threads than cores, what suits is to yield: that cell is there once.
        assert_eq!(cells.len(), 2 * 3 + 2 * 2);
        let names: std::collections::HashSet<_> =
            cells.iter().map(|cell| (cell.waiting, cell.handler_nanoseconds, cell.shape)).collect();
        assert_eq!(names.len(), cells.len());
    }

    #[test]
    fn bound_on_wrong_arg_each_limit_is_tested_on_its_own_argument() {
        let bitmap = named("bitmap");
        // 65 workers and 65 clients are no 65 slots per lane.
        assert!(cells(&wanted(&[1], &[65], &[64]), &bitmap, 2).is_ok());
        let error = cells(&wanted(&[1], &[1], &[65]), &bitmap, 2).unwrap_err();
        assert!(error.to_string().contains("at most 64 slots per lane"), "{error}");
        let error = cells(&wanted(&[2], &[1], &[64]), &bitmap, 2).unwrap_err();
        assert!(error.to_string().contains("one submitter"), "{error}");
        let error = cells(&wanted(&[65], &[1], &[4]), &named("bitmap-owned"), 2).unwrap_err();
        assert!(error.to_string().contains("at most 64 clients"), "{error}");
        // The harness's own row takes anything, and does not make a cell possible.
        let with_floor = [named("bitmap"), vec![crate::floors::no_queue()]].concat();
        assert!(cells(&wanted(&[1], &[1], &[65]), &with_floor, 2).is_err());
        // One possible cell is enough: the others are shown as what they are.
        assert_eq!(cells(&Wanted::default(), &bitmap, 2).unwrap().len(), 10);
        assert_eq!(cells(&wanted(&[1], &[1], &[64, 65]), &bitmap, 2).unwrap().len(), 2);
        // Somebody else in the catalog takes 65 slots per lane.
        assert!(cells(&wanted(&[1], &[1], &[65]), &catalog(), 2).is_ok());
    }

    #[test]
    fn cap_zero_and_size_calc_overflow_are_errors() {
        assert!(cells(&wanted(&[1], &[0], &[1]), &catalog(), 2).is_err());
        assert!(cells(&wanted(&[1], &[1], &[0]), &catalog(), 2).is_err());
        assert!(cells(&wanted(&[1], &[1], &[usize::MAX]), &catalog(), 2).is_err());
        assert!(cells(&wanted(&[1], &[1024], &[1 << 11]), &catalog(), 2).is_err());
    }
}
