//! Where simulated time went: by cause, and at which lines.

use crate::report::table;
use slotwork_coherence::{Cause, Report};
use std::fmt::Write;

/// How many lines are shown.
const HOTTEST: usize = 10;

/// A run, as text: causes per request, wakes, and the lines that cost most.
#[must_use]
pub fn explained(title: &str, report: &Report, requests: u64) -> String {
    let mut text = format!("{title}: simulated, {requests} requests in {:.1} µs\n", report.nanoseconds / 1000.0);
    let account = report.account();
    let total = account.total_picoseconds() as f64 / 1000.0;
    let mut causes: Vec<(Cause, f64)> =
        Cause::ALL.iter().map(|&cause| (cause, account.nanoseconds(cause))).filter(|&(_, time)| time > 0.0).collect();
    causes.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut by_cause = table(&["time of all threads", "part", "ns / request"], 1..3);
    for (cause, time) in causes {
        by_cause.add_row(vec![
            cause.word().to_string(),
            format!("{:.1} %", 100.0 * time / total.max(1e-9)),
            format!("{:.1}", time / requests.max(1) as f64),
        ]);
    }
    let _ = writeln!(text, "{by_cause}\n{:.3} wakes / request", report.wakes() as f64 / requests.max(1) as f64);
    let header =
        ["hottest lines", "line", "accesses", "transfers", "copies given up", "µs to get it", "of that waiting"];
    let mut lines = table(&header, 1..7);
    for line in report.hottest(HOTTEST) {
        let figures = line.figures;
        if figures.cost_picoseconds == 0 {
            continue;
        }
        lines.add_row(vec![
            line.name.clone(),
            line.number.to_string(),
            figures.accesses.to_string(),
            figures.transfers.to_string(),
            figures.invalidations.to_string(),
            format!("{:.1}", figures.cost_picoseconds as f64 / 1e6),
            format!("{:.1}", figures.wait_picoseconds as f64 / 1e6),
        ]);
    }
    let _ = writeln!(text, "{lines}");
    let fields: Vec<String> = report
        .by_field()
        .iter()
        .take(4)
        .filter(|(_, _, figures)| figures.cost_picoseconds > 0)
        .map(|(name, count, figures)| {
            let lines = if *count == 1 { "line" } else { "lines" };
            format!("{name} ({count} {lines}) {:.0} µs", figures.cost_picoseconds as f64 / 1e6)
        })
        .collect();
    let _ = writeln!(text, "by field: {}", fields.join(", "));
    text
}

/// What the first thread, the submitter, saves per request from one run to the next, in words: the cause that changes
/// most, and the field whose lines cost it.
#[must_use]
pub fn cause_of_gain(before: &Report, after: &Report, requests: u64) -> String {
    let per_request = |report: &Report, cause| {
        report.threads.first().map_or(0.0, |thread| thread.account.nanoseconds(cause)) / requests.max(1) as f64
    };
    // Waiting for work is what is left when there is nothing to gain.
    let causes = Cause::ALL.iter().filter(|&&cause| cause != Cause::Spin && cause != Cause::Work);
    let change = |cause: &&Cause| (per_request(after, **cause) - per_request(before, **cause)).abs();
    let Some(&cause) = causes.max_by(|a, b| change(a).total_cmp(&change(b))) else { return String::new() };
    let (was, is) = (per_request(before, cause), per_request(after, cause));
    if (was - is).abs() < 5.0 {
        return "the submitter's time stays as it was".into();
    }
    let field = before.by_field().first().map_or(String::new(), |(name, ..)| format!(" (before: {name})"));
    format!("submitter, {}: {was:.0} → {is:.0} ns / request{field}", cause.word())
}
