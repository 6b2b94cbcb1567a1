//! Which design for this load? First what it claims, then what was measured; and why not the others.
//!
//! ```text
//!   catalog ──claims──▶ can do it ──figures of the nearest cells──▶ ordered ──▶ the pick, the runner-up
//!              └▶ fell out: claim              └▶ behind: figure                        └▶ lines for Cargo.toml, main.rs
//! ```
//!
//! A run answers only for the cells that it measured: the nearest ones to the load are used and named, with the command
//! that would measure the load itself. Designs that the figures cannot tell apart are said to be so; between them decides
//! what costs nothing to promise: the stronger progress, then fewer bytes per slot, then the order of the catalog.

mod figures;
mod lines;
mod needs;
mod newest;
mod show;

pub use figures::{Figure, Figures, Objective};
pub use lines::{cargo_lines, main_lines};
pub use needs::Need;
pub use newest::newest;
pub use show::pick_text;

use crate::reading::Run;
use serde::Serialize;
use slotwork::{Progress, Shape, Submitters};
use slotwork_catalog::Entry;
use thiserror::Error;

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// One submitter or many.
    pub submitters: Submitters,
    /// How many, where it matters.
    pub clients: Option<usize>,
    /// Workers, and slots for each.
    pub shape: Shape,
    /// What the design has to promise.
    pub needs: Vec<Need>,
    /// What is to be best.
    pub objective: Objective,
    /// Nanoseconds of work per request; the nearest that was measured is used.
    pub handler_nanoseconds: u64,
}

impl Load {
    /// So many clients, or what the word means: 1 for one, at least 2 for many.
    #[must_use]
    pub fn client_count(&self) -> usize {
        match self.submitters {
            Submitters::One => 1,
            Submitters::Many => self.clients.unwrap_or(4),
        }
    }

    /// The command that measures exactly this.
    #[must_use]
    pub fn command(&self) -> String {
        let command = if self.objective.is_latency() { "latency" } else { "rank" };
        let work = match self.handler_nanoseconds {
            0 => String::new(),
            nanoseconds => format!(" --handler-ns {nanoseconds}"),
        };
        format!(
            "slotwork {command} --clients {} --workers {} --slots {}{work}",
            self.client_count(),
            self.shape.lanes(),
            self.shape.slots_per_lane(),
        )
    }
}

/// Why a design is not the pick.
#[derive(Clone, Debug, Serialize)]
pub struct Out {
    /// The design.
    pub design: String,
    /// What decided: `claim`, `figure` or `nothing measured`.
    pub by: &'static str,
    /// In words.
    pub reason: String,
    /// Its page, with the claims.
    pub page: String,
    /// Where the figure stands in the result file, as JSON pointers.
    pub rows: Vec<String>,
}

/// A design that stays.
#[derive(Clone, Debug, Serialize)]
pub struct Candidate {
    /// The design.
    pub design: String,
    /// What was measured of it; none where nothing was.
    pub figure: Option<Figure>,
    /// Its page.
    pub page: String,
}

/// The answer.
#[derive(Clone, Debug, Serialize)]
pub struct Pick {
    /// The design to take.
    pub pick: Candidate,
    /// How sure that is, in words.
    pub sure: String,
    /// The next best, if there is one.
    pub runner_up: Option<Candidate>,
    /// Those that the figures cannot tell from the pick.
    pub not_distinguishable: Vec<String>,
    /// All others.
    pub out: Vec<Out>,
    /// What the figures are of; none where the claims alone decided.
    pub figures: Option<Figures>,
    /// The command that measures this very load.
    pub measure: String,
    /// For `Cargo.toml`.
    pub cargo_toml: String,
    /// For `main.rs`.
    pub main_rs: String,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PickError {
    /// No design can do it.
    #[error("no design does all of this: {0}")]
    Nobody(String),
}

/// Where a design's page is, and the part of it that says this.
fn page(name: &str) -> String {
    format!("notes/designs/{name}.md#claims")
}

/// Picks from `entries`; figures are those of `run`.
///
/// # Errors
/// [`PickError`].
pub fn pick(load: &Load, entries: &[Entry], run: Option<&Run>, tree: &str) -> Result<Pick, PickError> {
    let mut out = Vec::new();
    let mut able: Vec<&Entry> = Vec::new();
    for entry in entries {
        match needs::objection(load, &entry.claims) {
            Some(reason) => out.push(Out {
                design: entry.name.into(),
                by: "claim",
                reason,
                page: page(entry.name),
                rows: Vec::new(),
            }),
            None => able.push(entry),
        }
    }
    if able.is_empty() {
        let reasons = out.iter().map(|out| format!("{}: {}", out.design, out.reason)).collect::<Vec<_>>().join("; ");
        return Err(PickError::Nobody(reasons));
    }
    let figures = run.and_then(|run| Figures::of(load, run, &able));
    let figure = |entry: &Entry| figures.as_ref().and_then(|figures| figures.of_design(entry.name).cloned());
    let mut candidates: Vec<(&Entry, Option<Figure>)> = able.iter().map(|entry| (*entry, figure(entry))).collect();
    // Best figure first; those without one last, by their promises.
    candidates.sort_by(|a, b| {
        let ratio = |figure: &Option<Figure>| figure.as_ref().map_or(f64::NEG_INFINITY, |figure| figure.score.value);
        ratio(&b.1).total_cmp(&ratio(&a.1)).then(weakest(a.0).cmp(&weakest(b.0)))
    });
    settle_ties(&mut candidates);
    let (first, others) = candidates.split_first().expect("somebody is able");
    let tied = |figure: &Option<Figure>| match (&first.1, figure) {
        (Some(first), Some(other)) => first.cannot_be_told_from(other),
        (None, None) => true,
        _ => false,
    };
    let not_distinguishable: Vec<String> =
        others.iter().filter(|(_, figure)| tied(figure)).map(|(entry, _)| entry.name.to_string()).collect();
    let candidate = |(entry, figure): &(&Entry, Option<Figure>)| Candidate {
        design: entry.name.into(),
        figure: figure.clone(),
        page: page(entry.name),
    };
    for (entry, figure) in others.iter().skip(1) {
        out.push(behind(entry, figure.as_ref(), first, figures.as_ref()));
    }
    Ok(Pick {
        pick: candidate(first),
        sure: sure(first, others, &not_distinguishable, figures.as_ref()),
        runner_up: others.first().map(candidate),
        not_distinguishable,
        out,
        figures: figures.clone(),
        measure: load.command(),
        cargo_toml: cargo_lines(first.0, tree),
        main_rs: main_lines(first.0, load),
    })
}

/// The weakest progress of its operations.
fn weakest(entry: &Entry) -> Progress {
    let progress = &entry.claims.progress;
    slotwork::Operation::ALL.into_iter().map(|operation| progress.of(operation)).max().unwrap_or(Progress::Blocking)
}

/// Among those that cannot be told from the first, the best promise comes first.
fn settle_ties(candidates: &mut [(&Entry, Option<Figure>)]) {
    let Some(first) = candidates.first().and_then(|(_, figure)| figure.clone()) else { return };
    let tied = candidates
        .iter()
        .take_while(|(_, figure)| figure.as_ref().is_some_and(|figure| first.cannot_be_told_from(figure)))
        .count();
    candidates[..tied].sort_by_key(|(entry, figure)| {
        (weakest(entry), figure.as_ref().and_then(|figure| figure.slot_bytes).unwrap_or(usize::MAX))
    });
}

fn behind(entry: &Entry, figure: Option<&Figure>, first: &(&Entry, Option<Figure>), figures: Option<&Figures>) -> Out {
    let out = |by, reason, rows| Out { design: entry.name.into(), by, reason, page: page(entry.name), rows };
    match (figure, &first.1) {
        (Some(own), Some(best)) => {
            let words = if best.cannot_be_told_from(own) {
                "not distinguishable from the pick, which promises no less"
            } else {
                "behind the pick"
            };
            out("figure", format!("{words}: {}", own.words(figures)), own.rows.clone())
        }
        _ => {
            let reason = figures.and_then(|figures| figures.gap(entry.name));
            let reason = reason.unwrap_or_else(|| "its claims do as well, and nothing was measured".into());
            out("nothing measured", reason, Vec::new())
        }
    }
}

fn sure(
    first: &(&Entry, Option<Figure>),
    others: &[(&Entry, Option<Figure>)],
    tied: &[String],
    figures: Option<&Figures>,
) -> String {
    let Some(figures) = figures.filter(|_| first.1.is_some()) else {
        return "by claims alone: nothing like this load was measured here".into();
    };
    let near = if figures.exact { "at this very load" } else { "at the nearest load that was measured" };
    if others.is_empty() {
        return "the only design that promises this".into();
    }
    if tied.is_empty() {
        return format!("clearly ahead, {near}, on that machine");
    }
    format!("{near}, on that machine, it cannot be told from {}: it is taken for what it promises", tied.join(", "))
}
