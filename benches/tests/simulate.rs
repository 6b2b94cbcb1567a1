//! Simulated machines: the figures of 2018 remade, and the command as a user meets it.

use slotwork_bench::record;
use slotwork_bench::seeds::configuration::{Configuration, Manner, V2, V3};
use slotwork_bench::seeds::published;
use slotwork_bench::simulate::contender;
use slotwork_bench::simulate::pages::{Job, Outcome};
use slotwork_bench::simulate::validity;
use slotwork_coherence::{Cause, Cost, Options, Profile};
use std::path::Path;
use std::process::Output;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tempfile::TempDir;

const MACHINE: &str = "2018-two-socket-server";
/// A part of the published numbers of threads, so that the test is short; the note has all of them.
const THREADS: [usize; 8] = [1, 4, 8, 12, 16, 32, 48, 64];

fn pages(profile: &Profile, name: &str, threads: usize) -> Outcome {
    let configuration = Configuration::named(name, Manner::BEST).unwrap();
    let design = contender::named(configuration.driven.design).unwrap();
    let job = Job::pages(profile, 2000);
    (design.pages)(profile, configuration.setup(threads, 4), job, Options::default()).unwrap()
}

fn curve(profile: &Profile, name: &str) -> Vec<(usize, f64)> {
    THREADS.iter().map(|&threads| (threads, pages(profile, name, threads).gb_per_second())).collect()
}

/// Every point within 15 % of the published one, and flat from 16 threads on.
fn is_v3(curve: &[(usize, f64)]) -> bool {
    let near = |&(threads, figure): &(usize, f64)| {
        let published = published::workqueue(threads).expect("a published number of threads").v3;
        (figure / published - 1.0).abs() <= 0.15
    };
    let flat: Vec<f64> = curve.iter().filter(|point| point.0 >= 16).map(|point| point.1).collect();
    let (least, most) = (flat.iter().copied().fold(f64::INFINITY, f64::min), flat.iter().copied().fold(0.0, f64::max));
    curve.iter().all(near) && least > 0.9 * most
}

/// The peak is at 12 ± 4 threads, and at 64 at most three tenths of it are left.
fn is_v2(curve: &[(usize, f64)]) -> bool {
    let peak = curve.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)).expect("a curve has points");
    let end = curve.iter().find(|point| point.0 == 64).expect("64 threads were simulated").1;
    (8..=16).contains(&peak.0) && end <= 0.3 * peak.1
}

#[test]
fn the_published_curves_come_back() {
    let profile = Profile::named(MACHINE).unwrap();
    let (v2, v3) = (curve(&profile, V2), curve(&profile, V3));
    assert!(is_v3(&v3), "{v3:?}");
    assert!(is_v2(&v2), "{v2:?}");
    // Each check rejects the other's curve, so neither passes by itself.
    assert!(!is_v2(&v3) && !is_v3(&v2));
    // The fall is a matter of lines: where lines cost nothing there is none.
    let lines = [Cost::SameSocket, Cost::CrossSocket, Cost::SharedOccupancy, Cost::CrossOccupancy, Cost::Acknowledge];
    let free = lines.into_iter().fold(profile, |profile, cost| profile.with(cost, 0.0));
    let free = curve(&free, V2);
    assert!(!is_v2(&free), "{free:?}");
}

#[test]
fn the_cause_of_the_fall_is_the_line_that_all_look_at() {
    let profile = Profile::named(MACHINE).unwrap();
    let run = pages(&profile, V2, 48);
    let submitter = &run.report.threads[0].account;
    let waits = submitter.nanoseconds(Cause::LineWait);
    let most = Cause::ALL.iter().map(|&cause| submitter.nanoseconds(cause)).fold(0.0, f64::max);
    assert!(waits >= most, "the submitter's time goes into waiting for a line");
    assert_eq!(run.report.hottest(1)[0].name, "shared-bitmap.done/fill");
    let v3 = pages(&profile, V3, 48).report;
    let waits_in_v3 = v3.threads[0].account.nanoseconds(Cause::LineWait);
    assert!(waits_in_v3 * 20.0 < waits, "{waits_in_v3} against {waits}");
    let fields = v3.by_field();
    let lines = fields.iter().find(|(name, ..)| *name == "bitmap.fill").map(|&(_, lines, _)| lines);
    assert_eq!(lines, Some(48), "a line for each lane");
}

/// Rank correlations with the ranking that was measured on the machine of the profile: one submitter, many, together.
fn beside_the_measured(profile: &Profile) -> Vec<f64> {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../notes/results");
    let measured = record::read(&results.join("2026-12-01-ranking-2-cores.json")).unwrap();
    let mut plan = validity::plan_of(&measured, profile, 1, 1);
    // A quarter of what the command simulates: enough for the order.
    plan.requests = Some(5000);
    let found = validity::compare(&measured, &plan, &AtomicBool::new(false), &mut |_| ());
    assert_eq!(found.cells.len(), 10, "the standard grid");
    found.rankings.iter().map(|(name, _, correlation)| correlation.unwrap_or_else(|| panic!("{name}: none"))).collect()
}

#[test]
fn the_simulated_ranking_is_the_measured_one() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../notes/results");
    let profile = Profile::named(&results.join("2026-11-30-this-machine.toml").to_string_lossy()).unwrap();
    let correlations = beside_the_measured(&profile);
    assert_eq!(correlations.len(), 3);
    assert!(correlations.iter().all(|correlation| *correlation >= 0.9), "{correlations:?}");
    // A machine whose lines come almost at once ranks otherwise: the check can fail.
    let lines = [Cost::SameSocket, Cost::CrossSocket, Cost::SharedOccupancy, Cost::CrossOccupancy];
    let other = lines.into_iter().fold(profile, |profile, cost| profile.with(cost, 3.0));
    let correlations = beside_the_measured(&other);
    assert!(correlations.iter().any(|correlation| *correlation < 0.9), "{correlations:?}");
}

fn slotwork(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_slotwork"));
    command.current_dir(folder).args(arguments).timeout(Duration::from_secs(300)).output().unwrap()
}

#[track_caller]
fn good(folder: &Path, arguments: &[&str]) -> String {
    let output = slotwork(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What stands in the files of a folder, by extension, without their names: those have the time in them.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entry = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        (path.extension().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap())
    };
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(entry).collect();
    files.sort();
    files
}

#[test]
fn two_runs_leave_identical_files_and_another_seed_does_not() {
    let place = TempDir::new().unwrap();
    for workload in ["round-trip", "page"] {
        let run = |seed: &str, output: &str| {
            let common = ["simulate", "--machine", "64-core-server", "--threads", "2,5", "--requests", "200"];
            let rest = ["--workload", workload, "--rounds", "2", "--seed", seed, "--output", output];
            let told = good(place.path(), &[&common[..], &rest[..]].concat());
            assert!(told.contains("SIMULATED"), "{told}");
            files(&place.path().join(output))
        };
        let first = run("1", &format!("{workload}-first"));
        assert_eq!(first.len(), 2);
        assert!(first == run("1", &format!("{workload}-second")), "{workload}: two runs of one seed differ");
        let other = run("2", &format!("{workload}-other"));
        assert!(first[0].1 != other[0].1, "{workload}: the check cannot see a difference");
    }
}

#[test]
fn explain_names_fields_and_a_trace_is_one() {
    let place = TempDir::new().unwrap();
    let arguments = ["simulate", "--machine", "laptop-two-kinds", "--design", "double-list,bitmap", "--threads", "3"];
    let rest = ["--rounds", "1", "--requests", "200", "--explain", "--trace", "trace.json", "--handler-ns", "300"];
    let told = good(place.path(), &[&arguments[..], &rest[..]].concat());
    for words in ["bitmap.fill", "bitmap.done", "free-list.", "transfers", "wakes / request", "hottest lines"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let text = std::fs::read_to_string(place.path().join("trace.json")).unwrap();
    let trace: serde_json::Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let named = |name: &str| events.iter().filter(|event| event["args"]["name"] == name).count();
    assert_eq!((named("client-0"), named("worker-2")), (1, 1));
    let working = events.iter().filter(|event| event["cat"] == "working").count();
    assert!(working >= 200, "each request's work is a piece: {working}");
    assert!(events.iter().filter(|event| event["ph"] == "X").all(|event| event["dur"].as_f64().unwrap() > 0.0));
}

#[test]
fn the_ladder_climbs_on_a_simulated_machine() {
    let place = TempDir::new().unwrap();
    let told =
        good(place.path(), &["ladder", "--machine", MACHINE, "--threads", "24", "--work", "page", "--steps-only"]);
    assert!(told.contains("SIMULATED on 2018-two-socket-server"), "{told}");
    assert!(told.contains("Gains from step to step") && told.contains("shared-bitmap.done/fill"), "{told}");
}

#[test]
fn what_cannot_be_simulated_is_one_line() {
    let place = TempDir::new().unwrap();
    let bad = |arguments: &[&str], words: &[&str]| {
        let output = slotwork(place.path(), arguments);
        let line = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {line}");
        assert_eq!(line.lines().count(), 1, "{line}");
        assert!(words.iter().all(|word| line.contains(word)), "{line}");
    };
    bad(&["simulate", "--machine", "nonsense"], &["nonsense", "256-core-server"]);
    bad(&["simulate", "--machine", "64-core-server", "--design", "nonsense"], &["nonsense", "bitmap"]);
    bad(&["simulate", "--machine", "64-core-server", "--threads", "0"], &["threads"]);
    bad(&["ladder", "--machine", "nonsense"], &["nonsense"]);
    let profile = Profile::named(MACHINE).unwrap().to_toml();
    std::fs::write(place.path().join("bad.toml"), profile.replace("pause = 56.0", "pauze = 56.0")).unwrap();
    bad(&["simulate", "--machine", "bad.toml"], &["processor.pauze", "processor.pause"]);
    std::fs::write(place.path().join("zero.toml"), profile.replace("count = 36", "count = 0")).unwrap();
    bad(&["simulate", "--machine", "zero.toml"], &["cores[0].count", "is 0"]);
}

#[test]
fn beside_a_measured_run_as_json_too() {
    let place = TempDir::new().unwrap();
    let cell = ["--clients", "1", "--workers", "1", "--slots", "4", "--design", "bitmap", "--design", "lane-lock"];
    let rank = ["rank", "--rounds", "1", "--window-ms", "5", "--output", "measured"];
    good(place.path(), &[&rank[..], &cell[..]].concat());
    let kept = std::fs::read_dir(place.path().join("measured")).unwrap().map(|entry| entry.unwrap().path());
    let json = kept.into_iter().find(|path| path.extension().is_some_and(|own| own == "json")).unwrap();
    let asked = ["simulate", "--machine", MACHINE, "--rounds", "1", "--against", json.to_str().unwrap(), "--json"];
    let beside: serde_json::Value = serde_json::from_str(&good(place.path(), &asked)).unwrap();
    assert_eq!(beside["simulated"], true);
    let designs = beside["comparison"]["cells"][0]["designs"].as_array().unwrap();
    assert_eq!(designs.len(), 2);
    // On a busy machine nothing may have gone through in so short a window; on the simulated one something does.
    assert!(designs.iter().all(|design| design[1].is_number() && design[2].as_f64() > Some(0.0)), "{designs:?}");
}
