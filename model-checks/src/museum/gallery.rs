//! The whole museum: every known fault, by whatever check it is rejected.

use super::{EXHIBITS, Exhibit, PROGRESS_EXHIBITS, ProgressExhibit};
use crate::evidence::{Check, Evidence, Outcome};
use crate::histories::{KNOWN_BAD, KnownBad, Source, known_bad};
use crate::progress;
use serde::Serialize;
use std::fmt;
use std::time::Instant;

/// A known fault, as it is listed.
#[derive(Clone, Debug, Serialize)]
pub struct Piece {
    /// Its name.
    pub name: String,
    /// Whose fault it is, and how it shows.
    pub story: String,
    /// The kind of check that rejects it.
    pub check: Check,
    #[serde(skip)]
    way: Way,
}

#[derive(Clone)]
enum Way {
    Model(&'static Exhibit),
    Progress(&'static ProgressExhibit),
    History(&'static KnownBad),
}

impl fmt::Debug for Way {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Model(_) => "Model",
            Self::Progress(_) => "Progress",
            Self::History(_) => "History",
        })
    }
}

/// A known fault, as it was rejected.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    /// Its name.
    pub name: String,
    /// Whose fault it is, and how it shows.
    pub story: String,
    /// Whether it was rejected, and its sound counterpart accepted. Anything else is a defect of the check.
    pub rejected: bool,
    /// How, in a line.
    pub how: String,
    /// The steps that lead to it, as a table.
    pub steps: String,
    /// How many executions, schedules or histories it took.
    pub looked_at: u64,
}

impl fmt::Display for Shown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, story, rejected, how, steps, looked_at } = self;
        writeln!(formatter, "{name}\n{story}\n")?;
        if !steps.is_empty() {
            writeln!(formatter, "{}\n", steps.trim_end())?;
        }
        let verdict = if *rejected { "rejected" } else { "ACCEPTED: the check is at fault" };
        writeln!(formatter, "{verdict} after {looked_at}: {how}")
    }
}

/// Every known fault.
#[must_use]
pub fn gallery() -> Vec<Piece> {
    let piece = |name: &str, story: &str, check, way| Piece { name: name.into(), story: story.into(), check, way };
    let models = EXHIBITS.iter().map(|exhibit| {
        let check = if crate::job::Lens::EXPLORING.contains(&exhibit.lens) { Check::Model } else { Check::Sampled };
        piece(exhibit.name, exhibit.story, check, Way::Model(exhibit))
    });
    let progress = PROGRESS_EXHIBITS
        .iter()
        .map(|exhibit| piece(exhibit.name, exhibit.story, Check::Progress, Way::Progress(exhibit)));
    let histories = KNOWN_BAD.iter().map(|known| piece(known.name, known.story, Check::History, Way::History(known)));
    models.chain(progress).chain(histories).collect()
}

/// What is wrong by these rows, each in a line.
fn refuted(rows: &[Evidence]) -> impl Iterator<Item = &str> {
    rows.iter().filter_map(|row| match &row.outcome {
        Outcome::Failed { why, .. } => Some(why.as_str()),
        _ => None,
    })
}

impl Piece {
    /// Shows it: rejects it again, here and now.
    #[must_use]
    pub fn show(&self) -> Shown {
        let shown = |rejected, how: String, steps: String, looked_at| Shown {
            name: self.name.clone(),
            story: self.story.clone(),
            rejected,
            how: how.trim().into(),
            steps,
            looked_at,
        };
        match &self.way {
            Way::Model(exhibit) => match exhibit.show().and_then(|showing| Ok((showing, exhibit.counterpart()?))) {
                Ok((showing, counterpart)) => shown(
                    true,
                    format!(
                        "{} (execution {}, with {} preemptions, {} view); its counterpart is right in {counterpart}",
                        showing.why, showing.executions, showing.preemptions, exhibit.lens
                    ),
                    showing.steps,
                    showing.executions,
                ),
                Err(why) => shown(false, why, String::new(), 0),
            },
            Way::Progress(exhibit) => {
                let Some(Ok(matrix)) = progress::measure(exhibit.design, false) else {
                    return shown(false, "an execution did not end".into(), String::new(), 0);
                };
                let rows = matrix.evidence();
                let looked_at = rows.iter().map(|row| row.count).sum();
                let steps = matrix.to_string();
                match refuted(&rows).find(|why| why.contains(exhibit.expected)).map(String::from) {
                    None => shown(false, format!("it was not found that {}", exhibit.expected), steps, looked_at),
                    Some(why) => match progress::measure(exhibit.counterpart, false) {
                        Some(Ok(sound)) if refuted(&sound.evidence()).next().is_none() => {
                            let how = format!("{why}; of its counterpart {} nothing is refuted", exhibit.counterpart);
                            shown(true, how, steps, looked_at)
                        }
                        _ => shown(false, "its counterpart is refuted".into(), steps, looked_at),
                    },
                }
            }
            Way::History(known) => {
                let rejection = (known.survey)(Source::Shuttle).rejection;
                let (right, sound) =
                    (known_bad::sound(Source::Shuttle).rejection.is_none(), "its counterpart is wrong");
                match rejection.filter(|rejection| rejection.fault.property == known.property) {
                    Some(found) if right => shown(true, found.to_string(), found.table(), found.histories),
                    Some(_) => shown(false, sound.into(), String::new(), 0),
                    None => shown(false, "every history could be explained".into(), String::new(), 0),
                }
            }
        }
    }

    /// The same, as a row.
    #[must_use]
    pub fn evidence(&self) -> Evidence {
        let start = Instant::now();
        let shown = self.show();
        let outcome = if shown.rejected {
            Outcome::Passed
        } else {
            Outcome::Failed { why: shown.how.clone(), replay: format!("museum {}", self.name) }
        };
        Evidence {
            design: self.name.clone(),
            property: format!("rejected: {}", shown.how.replace('\n', " ")),
            check: Check::Museum,
            subject: self.name.clone(),
            view: self.check.to_string(),
            extent: crate::evidence::Extent::Sampled,
            count: shown.looked_at,
            unit: "looked at until rejected".into(),
            witnesses: Vec::new(),
            milliseconds: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
            blind: "other ways into the same fault".into(),
            outcome,
        }
    }
}
