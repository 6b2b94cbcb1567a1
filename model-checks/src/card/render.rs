//! A card as text: claims with what establishes them, then every property, then the orderings.

use super::claims::claims_of;
use super::proofs::{Proofs, Status};
use crate::evidence::{Check, Evidence, Outcome};
use crate::platform::Weakening;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use slotwork_catalog::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

fn table(heads: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    // Wide enough for a card's longest column, narrow enough to be read.
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(170);
    table.set_header(heads.to_vec());
    table
}

/// The card of one design.
#[must_use]
pub fn card(proofs: &Proofs, entry: &Entry) -> String {
    let own: Vec<&Evidence> =
        proofs.rows().filter(|row| row.design == entry.name && row.check != Check::Museum).collect();
    let tables: BTreeSet<&str> = entry.sites.iter().filter_map(|sites| sites.first()).map(|site| site.table).collect();
    let audited: Vec<&Evidence> =
        proofs.rows().filter(|row| row.check == Check::Audit && tables.contains(row.design.as_str())).collect();
    let mut text = format!("# {} — {}\n\n", entry.name, status_of(proofs, entry, &own, &audited));
    let claims = &entry.claims;
    let _ = writeln!(
        text,
        "submitters {} · order {} · none free {} · work-conserving {} · {}\n",
        claims.submitters,
        claims.order,
        claims.none_free,
        if claims.work_conserving { "yes" } else { "no" },
        claims.source
    );
    text.push_str(&claims_table(entry, &own));
    text.push_str(&properties_table(&own));
    text.push_str(&audit_table(entry, &audited));
    let looked = own.iter().filter(|row| row.check != Check::Audit);
    let blind: BTreeSet<(&str, &str)> = looked.map(|row| (row.view.as_str(), row.blind.as_str())).collect();
    text.push_str("What these views cannot see:\n");
    for (view, blind) in blind {
        let _ = writeln!(text, "  {view}: {blind}");
    }
    let failed = own.iter().chain(&audited).filter_map(|row| Some((row, row.verdict().err()?)));
    for (row, why) in failed {
        let _ = writeln!(text, "\nFAILED {} · {} · {}: {why}", row.check, row.property, row.view);
        if let Outcome::Failed { replay, .. } = &row.outcome {
            let _ = writeln!(text, "  again: slotwork {replay}");
        }
    }
    text.push('\n');
    text
}

fn status_of(proofs: &Proofs, entry: &Entry, own: &[&Evidence], audited: &[&Evidence]) -> Status {
    if own.iter().chain(audited).any(|row| row.verdict().is_err()) {
        return Status::Failed;
    }
    let tables: BTreeSet<&str> = entry.sites.iter().filter_map(|sites| sites.first()).map(|site| site.table).collect();
    let is_own = |task: &str| {
        let mut parts = task.split('/');
        match parts.next() {
            Some("model") => parts.nth(1) == Some(entry.name),
            Some("progress" | "history" | "inspection") => parts.next() == Some(entry.name),
            Some("audit") => {
                parts.next().is_some_and(|mutant| tables.contains(mutant.split('.').next().unwrap_or_default()))
            }
            _ => false,
        }
    };
    let missing = proofs.missing().into_iter().any(is_own);
    let open = claims_of(entry).iter().any(|claim| !claim.is_established(own.iter().copied()));
    if missing || open { Status::Incomplete } else { Status::Green }
}

fn claims_table(entry: &Entry, own: &[&Evidence]) -> String {
    let mut table = table(&["claim", "established by", ""]);
    for claim in claims_of(entry) {
        let kinds: Vec<&str> = claim.needs.iter().map(|(check, _)| check.name()).collect();
        let mark = if claim.is_established(own.iter().copied()) { "yes" } else { "NO" };
        table.add_row([claim.text.as_str(), kinds.join(", ").as_str(), mark]);
    }
    format!("{table}\n\n")
}

/// Rows of one property and one kind of check, together.
fn properties_table(own: &[&Evidence]) -> String {
    let mut groups: BTreeMap<(Check, &str), Vec<&Evidence>> = BTreeMap::new();
    for &row in own.iter().filter(|row| row.check != Check::Audit) {
        groups.entry((row.check, row.property.as_str())).or_default().push(row);
    }
    let mut table = table(&["property", "check", "by", "views", "looked at", "extent", "witnesses", "ms", ""]);
    for column in [7] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for ((check, property), rows) in groups {
        let applying: Vec<&&Evidence> =
            rows.iter().filter(|row| !matches!(row.outcome, Outcome::NotApplicable { .. })).collect();
        let distinct = |of: &dyn Fn(&Evidence) -> String| -> String {
            let mut all: Vec<String> = Vec::new();
            for row in &rows {
                let text = of(row);
                if !all.contains(&text) {
                    all.push(text);
                }
            }
            all.join(", ")
        };
        let Some(first) = applying.first() else {
            let why = match &rows[0].outcome {
                Outcome::NotApplicable { why } => why.clone(),
                _ => String::new(),
            };
            let by = distinct(&|row| row.subject.clone());
            table.add_row([property, check.name(), &by, "-", &why, "-", "-", "-", "n/a"].map(String::from));
            continue;
        };
        let count = applying.iter().fold(0_u64, |sum, row| sum.saturating_add(row.count));
        let (met, all) = applying
            .iter()
            .flat_map(|row| &row.witnesses)
            .fold((0, 0), |(met, all), (_, count)| (met + u32::from(*count > 0), all + 1));
        let milliseconds = applying.iter().fold(0_u64, |sum, row| sum.saturating_add(row.milliseconds));
        let verdict = if applying.iter().all(|row| row.verdict().is_ok()) { "ok" } else { "FAILED" };
        table.add_row([
            property.to_string(),
            check.to_string(),
            distinct(&|row| row.subject.clone()),
            distinct(&|row| row.view.clone()),
            format!("{count} {}", first.unit),
            distinct(&|row| row.extent.to_string()),
            format!("{met} of {all}"),
            milliseconds.to_string(),
            verdict.to_string(),
        ]);
    }
    format!("{table}\n\n")
}

fn audit_table(entry: &Entry, audited: &[&Evidence]) -> String {
    if audited.is_empty() {
        let any = entry.sites.iter().copied().flatten().any(|site| !Weakening::steps(site).is_empty());
        return if any { "Orderings: not audited.\n\n" } else { "Orderings: none to weaken.\n\n" }.into();
    }
    let mut table = table(&["weakened", "fate", "view", "executions", "ms", ""]);
    for row in audited {
        let verdict = if row.verdict().is_ok() { "ok" } else { "FAILED" };
        table.add_row([
            row.subject.clone(),
            row.property.clone(),
            row.view.clone(),
            row.count.to_string(),
            row.milliseconds.to_string(),
            verdict.into(),
        ]);
    }
    format!("{table}\n\n")
}

/// What stands around every design, and is audited once for all.
const AROUND: [&str; 3] = ["pool", "event", "engine"];

/// All designs in a table, the shared parts, the museum, and what it comes to.
#[must_use]
pub fn summary(proofs: &Proofs) -> String {
    let mut designs =
        table(&["design", "models", "sampled", "histories", "inspection", "progress", "orderings", "ms", "card"]);
    for name in proofs.designs() {
        let Ok(entry) = slotwork_catalog::entry(name) else { continue };
        let own: Vec<&Evidence> =
            proofs.rows().filter(|row| row.design == name && row.check != Check::Museum).collect();
        let tables: BTreeSet<&str> =
            entry.sites.iter().filter_map(|sites| sites.first()).map(|site| site.table).collect();
        let audited: Vec<&Evidence> =
            proofs.rows().filter(|row| row.check == Check::Audit && tables.contains(row.design.as_str())).collect();
        let count = |check: Check| -> String {
            let rows =
                own.iter().filter(|row| row.check == check && !matches!(row.outcome, Outcome::NotApplicable { .. }));
            let (rows, looked) =
                rows.fold((0_u64, 0_u64), |(rows, looked), row| (rows + 1, looked.saturating_add(row.count)));
            format!("{rows} · {looked}")
        };
        let killed = audited.iter().filter(|row| row.property.starts_with("killed")).count();
        let milliseconds = own.iter().fold(0_u64, |sum, row| sum.saturating_add(row.milliseconds));
        designs.add_row([
            name.to_string(),
            count(Check::Model),
            count(Check::Sampled),
            count(Check::History),
            count(Check::Inspection),
            count(Check::Progress),
            format!("{killed} of {} killed", audited.len()),
            milliseconds.to_string(),
            status_of(proofs, entry, &own, &audited).to_string(),
        ]);
    }
    let museum: Vec<&Evidence> = proofs.rows().filter(|row| row.check == Check::Museum).collect();
    let rejected = museum.iter().filter(|row| row.verdict().is_ok()).count();
    let mut text = format!(
        "slotwork verify · {} · {} · commit {} · {}\n(runs · executions, schedules or histories)\n{designs}\n",
        proofs.level,
        proofs.made,
        proofs.commit,
        proofs.machines.join(" + ")
    );
    let around = AROUND.map(|part| {
        let rows = proofs.rows().filter(|row| row.check == Check::Audit && row.design == part);
        let (killed, all) =
            rows.fold((0, 0), |(killed, all), row| (killed + u32::from(row.property.starts_with("killed")), all + 1));
        format!("{part} {killed} of {all} orderings killed")
    });
    if proofs.rows().any(|row| AROUND.contains(&row.design.as_str())) {
        let _ = writeln!(text, "around them: {}", around.join(" · "));
    }
    if !museum.is_empty() {
        let _ = writeln!(text, "museum: {rejected} of {} known faults rejected", museum.len());
    }
    for (row, why) in proofs.failures() {
        let design = row.map_or("-", |row| row.design.as_str());
        let _ = writeln!(text, "FAILED {design}: {why}");
        if let Some(Outcome::Failed { replay, .. }) = row.map(|row| &row.outcome) {
            let _ = writeln!(text, "  again: slotwork {replay}");
        }
    }
    for claim in proofs.open_claims() {
        let _ = writeln!(text, "not established: {claim}");
    }
    let missing = proofs.missing();
    if !missing.is_empty() {
        let shown = missing.iter().take(5).copied().collect::<Vec<_>>().join(", ");
        let more = if missing.len() > 5 { ", …" } else { "" };
        let _ = writeln!(text, "not done: {} of {} tasks: {shown}{more}", missing.len(), proofs.planned.len());
    }
    let _ = writeln!(text, "{}", proofs.status());
    text
}
