//! Rows of a proof card: a row per property and source.

use super::check::Property;
use super::survey::{Effort, Rejection, Source, Survey, survey};
use crate::evidence::{Check, Evidence, Extent, Outcome};
use crate::instances::visit_named;
use slotwork::Design;
use slotwork_catalog::Visitor;
use std::time::Duration;

/// What histories say of a design: none if there is no such design.
#[must_use]
pub fn histories(design: &str, thorough: bool) -> Option<Vec<Evidence>> {
    visit_named(design, &mut Histories { thorough }).ok()
}

/// The violations that the same histories show, with the minimised history of each; under shuttle they are
/// the same at every run.
#[must_use]
pub fn rejections(design: &str, thorough: bool) -> Option<Vec<Rejection>> {
    visit_named(design, &mut Rejections { thorough }).ok()
}

struct Histories {
    thorough: bool,
}

impl Visitor for Histories {
    type Output = Vec<Evidence>;

    fn visit<D: Design>(&mut self) -> Vec<Evidence> {
        let surveyed = |source| (source, survey::<D>(source, &Effort::of(source, self.thorough)));
        let all = Source::ALL.into_iter().map(surveyed).flat_map(|(source, survey)| rows(D::NAME, source, &survey));
        let mut rows: Vec<Evidence> = all.collect();
        for row in &mut rows {
            if let (Outcome::Failed { replay, .. }, true) = (&mut row.outcome, self.thorough) {
                replay.push_str(" --full");
            }
        }
        rows
    }
}

struct Rejections {
    thorough: bool,
}

impl Visitor for Rejections {
    type Output = Vec<Rejection>;

    fn visit<D: Design>(&mut self) -> Vec<Rejection> {
        let surveyed = |source| survey::<D>(source, &Effort::of(source, self.thorough));
        Source::ALL.into_iter().filter_map(|source| surveyed(source).rejection).collect()
    }
}

/// A row for each property.
#[must_use]
pub fn rows(design: &str, source: Source, survey: &Survey) -> Vec<Evidence> {
    Property::ALL.into_iter().map(|property| row(design, source, survey, property)).collect()
}

fn row(design: &str, source: Source, survey: &Survey, property: Property) -> Evidence {
    let tally = survey.tallies.get(&property).cloned().unwrap_or_default();
    let (name, unclaimed) = match property.name(survey.rules) {
        Ok(name) => (name, None),
        Err(why) => ("order of requests", Some(why)),
    };
    let rejection = survey.rejection.as_ref().filter(|rejection| rejection.fault.property == property);
    let replay = || format!("verify --design {design}");
    let outcome = if let Some(why) = unclaimed {
        Outcome::NotApplicable { why: format!("the design {why}") }
    } else if let Some(rejection) = rejection {
        Outcome::Failed { why: rejection.to_string(), replay: replay() }
    } else if let Some(why) = &survey.broken {
        Outcome::Failed { why: why.clone(), replay: replay() }
    } else if tally.gave_up > 0 {
        Outcome::GaveUp { why: format!("the search gave up {} of {} histories", tally.gave_up, tally.histories) }
    } else {
        Outcome::Passed
    };
    let recording = if property == Property::OneOwner { survey.recording } else { Duration::ZERO };
    Evidence {
        design: design.into(),
        property: name.into(),
        check: Check::History,
        subject: subject(property).into(),
        view: source.name().into(),
        extent: Extent::Sampled,
        count: tally.histories,
        unit: "histories".into(),
        witnesses: tally.witnesses.iter().map(|(&name, &count)| (name.into(), count)).collect(),
        milliseconds: u64::try_from((tally.time + recording).as_millis()).unwrap_or(u64::MAX),
        blind: "what was not drawn; missing orderings, because the recorder's clock adds order".into(),
        outcome,
    }
}

const fn subject(property: Property) -> &'static str {
    match property {
        Property::OneOwner => "each slot",
        Property::NoneFree => "acquires that find nothing",
        Property::NoneSubmitted => "takes that find nothing",
        Property::Order => "submits and takes",
        Property::Whole => "all operations, up to 4 threads",
    }
}
