//! Who waits for whom: the progress of each call, found out by suspending threads for ever.
//!
//! A claim of progress is about schedules, so an adversary that makes schedules can refute it. There are two:
//!
//! ```text
//!   suspended threads     one thread, or all but one, stop for ever at step k of a call: do the others go on?
//!   periodic schedules    nobody is suspended; two threads take turns after a pattern: is anything ever finished?
//!
//!              blocked by a suspended thread       ──▶ blocking, and the step at which that thread stands
//!   otherwise  two calls starve each other         ──▶ obstruction-free only
//!   otherwise  one call starves, the other goes on ──▶ lock-free, and not wait-free
//!   otherwise                                      ──▶ nothing worse than wait-free was seen
//! ```
//!
//! # What counts
//!
//! * A **step** is an access at a [`Site`](slotwork::Site), or the taking or giving back of a lock. Spin hints are
//!   none: whoever is suspended at a hint might as well be suspended before the next access.
//! * A call is **finished** whatever its answer: "none is free" and "nothing is submitted" are answers. A suspended thread
//!   keeps the slots that it owns, and whatever only it may go on with (a worker, its lane's requests): that makes slots
//!   fewer, and delays no call. How many requests still go round is counted apart (PAUSED-PEER-FULL): a queue whose
//!   answers are all "none" finishes every call, and yet nothing moves.
//! * A call is **blocked** when its thread makes no step at all, or steps without end (400 of the survivors', with
//!   no end of the call), while others stand still. Each survivor is judged by itself: on a design with a lock per lane, that
//!   another lane goes on is no excuse.
//! * So `acquire` is **lock-free** when, whoever is suspended wherever, a survivor's acquire is finished as far as other
//!   survivors let it; and when two that run in turns do not keep each other from finishing. What it
//!   says is about the call that waits, not the one that is waited for: with a lock, a suspended *take* is what
//!   an *acquire* waits for, and [`Matrix::holds_up`] tells that.
//! * It is **wait-free** when its own steps are bounded, whatever others do. That is looked for in the
//!   same executions: a call on four slots with 48 steps of its own is starved. The bound that was seen is in the
//!   report. A claim of "wait-free" fails when a call is starved; that none was is no proof.
//!
//! What is not seen: schedules before the suspension are drawn, not explored; the inside of crossbeam-epoch, and
//! `OnceLock`, are one step each, and their progress is taken as it is; ordering (all is sequentially
//! consistent).

mod crew;
mod ledger;
mod matrix;
mod periodic;
mod player;
mod suspend;

pub use ledger::{Call, PerCall};
pub use matrix::Matrix;
pub use periodic::{Periodic, STARVED, Schedule, Word};
pub use suspend::{Block, Place, Suspensions};

use crate::evidence::{Check, Evidence, Extent, Outcome};
use crate::museum;
use periodic::Repeater;
use player::play;
use slotwork::Design;
use slotwork_catalog::Visitor;
use std::time::Instant;
use suspend::Suspender;

/// Requests completed beside a suspended thread, from which on the circle is taken to go on for ever. There
/// are four slots.
pub const ENOUGH_ITEMS: u32 = 16;

/// The longest period that is played.
pub const PERIOD: u32 = 8;

/// Schedules before a suspension, per step; thorough, or not.
const fn seeds(thorough: bool) -> u64 {
    if thorough { 120 } else { 12 }
}

/// Finds out the progress of each call of a design.
///
/// # Errors
/// Why an execution did not end, in one line.
pub fn measure_design<D: Design>(thorough: bool) -> Result<Matrix, String> {
    let start = Instant::now();
    let suspender = play::<D, _>(Suspender::of_calls(D::CLAIMS.submitters, seeds(thorough)))?;
    let suspended = start.elapsed();
    let repeater = play::<D, _>(Repeater::new(D::CLAIMS.submitters, PERIOD))?;
    let played = start.elapsed();
    let circle = play::<D, _>(Suspender::of_items(D::CLAIMS.submitters, seeds(thorough)))?;
    let times = [suspended, played - suspended, start.elapsed() - played];
    let milliseconds = times.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    Ok(Matrix {
        design: D::NAME,
        claims: D::CLAIMS,
        period: PERIOD,
        thorough,
        suspensions: suspender.found,
        periodic: repeater.found,
        circle: circle.found,
        milliseconds,
    })
}

struct Measure(bool);

impl Visitor for Measure {
    type Output = (&'static str, Result<Matrix, String>);

    fn visit<D: Design>(&mut self) -> Self::Output {
        (D::NAME, measure_design::<D>(self.0))
    }
}

/// Runs a visitor for a design of the catalog, or one of the museum.
fn visit<V: Visitor>(design: &str, visitor: &mut V) -> Option<V::Output> {
    crate::instances::visit_named(design, visitor).ok().or_else(|| museum::visit_progress(design, visitor))
}

/// What the adversaries find out about a design of the catalog or the museum; none when there is no such
/// design.
#[must_use]
pub fn measure(design: &str, thorough: bool) -> Option<Result<Matrix, String>> {
    visit(design, &mut Measure(thorough)).map(|(_, matrix)| matrix)
}

/// The rows of a design's card; none when there is no such design.
#[must_use]
pub fn matrix(design: &str, thorough: bool) -> Option<Vec<Evidence>> {
    let (name, measured) = visit(design, &mut Measure(thorough))?;
    Some(measured.map_or_else(|why| vec![gave_up(name, why)], |matrix| matrix.evidence()))
}

/// The same as a table for people: which step of whom holds up whom; none when there is no such design.
#[must_use]
pub fn table(design: &str, thorough: bool) -> Option<String> {
    let measured = measure(design, thorough)?;
    Some(measured.map_or_else(|why| format!("progress of {design}: no answer: {why}\n"), |matrix| matrix.to_string()))
}

fn gave_up(design: &str, why: String) -> Evidence {
    Evidence {
        design: design.into(),
        property: "progress".into(),
        check: Check::Progress,
        subject: "all calls".into(),
        view: "suspended threads".into(),
        extent: Extent::Sampled,
        count: 0,
        unit: "executions".into(),
        witnesses: Vec::new(),
        milliseconds: 0,
        blind: String::new(),
        outcome: Outcome::GaveUp { why },
    }
}
