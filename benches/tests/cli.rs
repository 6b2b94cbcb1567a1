//! The command as a user meets it: what it prints, what it refuses, what it leaves behind.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

fn slotwork(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_slotwork"));
    command.args(arguments);
    command
}

/// Runs it to its end; what hangs fails.
fn output(arguments: &[&str]) -> Output {
    let mut command = assert_cmd::Command::from_std(slotwork(arguments));
    command.timeout(Duration::from_secs(60)).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// One line on stderr, nothing on stdout, exit code 2; returns the line.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let output = output(arguments);
    let line = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {line}");
    assert_eq!(line.lines().count(), 1, "{arguments:?}: {line}");
    assert!(line.starts_with("slotwork: "), "{arguments:?}: {line}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    line
}

/// A short run of `designs` into a folder of its own; its output and the record it left.
fn short_run(folder: &Path, arguments: &[&str]) -> (Output, Value) {
    let mut all = vec!["rank", "--rounds", "1", "--window-ms", "20", "--output", folder.to_str().unwrap()];
    all.extend(arguments);
    let output = output(&all);
    let record = fs::read_to_string(only_file(folder, "json")).unwrap();
    (output, serde_json::from_str(&record).unwrap())
}

/// The same, with windows that grow until each holds a round trip: how busy the machine is must decide nothing.
fn measured_run(arguments: &[&str]) -> (Output, Value) {
    let mut window = 20;
    loop {
        let folder = TempDir::new().unwrap();
        let milliseconds = window.to_string();
        let mut all = vec!["rank", "--rounds", "1", "--window-ms", &milliseconds];
        all.extend(["--output", folder.path().to_str().unwrap()]);
        all.extend(arguments);
        let output = output(&all);
        let record = fs::read_to_string(only_file(folder.path(), "json")).unwrap();
        let record: Value = serde_json::from_str(&record).unwrap();
        if window >= 2000 || samples(&record).iter().all(|sample| sample["round_trips"].as_u64() > Some(0)) {
            return (output, record);
        }
        window *= 4;
    }
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
}

#[track_caller]
fn only_file(folder: &Path, extension: &str) -> PathBuf {
    let files = files(folder, extension);
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

fn samples(record: &Value) -> Vec<&Value> {
    let array = |value: &'_ Value| value.as_array().unwrap().len();
    let mut samples = Vec::new();
    for cell in 0..array(&record["cells"]) {
        for row in 0..array(&record["cells"][cell]["rows"]) {
            samples.extend(record["cells"][cell]["rows"][row]["samples"].as_array().unwrap());
        }
    }
    samples
}

#[test]
fn an_unknown_design_is_refused_with_the_known_ones() {
    let line = refused(&["rank", "--design", "nonsense"]);
    assert!(line.contains("'nonsense'") && line.contains("bitmap-claim"), "{line}");
}

#[test]
fn cap_zero_is_refused_for_every_count() {
    for option in ["--clients", "--workers", "--slots", "--rounds", "--window-ms"] {
        let line = refused(&["rank", option, "0"]);
        assert!(line.contains(option) && line.contains('0'), "{line}");
    }
    refused(&["cost", "--rounds", "0"]);
}

#[test]
fn absurd_counts_are_refused() {
    for option in ["--clients", "--workers", "--slots", "--rounds", "--window-ms", "--handler-ns"] {
        for count in ["100000000000", "99999999999999999999999", "-1", "x", ""] {
            refused(&["rank", option, count]);
        }
    }
    refused(&["rank", "--workers", "1024", "--slots", "65536"]);
}

#[test]
fn bound_on_wrong_arg_65_slots_are_too_many_for_a_bitmap_and_65_workers_are_not() {
    let line = refused(&["rank", "--slots", "65", "--design", "bitmap"]);
    assert!(line.contains("at most 64 slots per lane"), "{line}");
    let line = refused(&["rank", "--clients", "2", "--design", "bitmap"]);
    assert!(line.contains("one submitter"), "{line}");
    let folder = TempDir::new().unwrap();
    let (output, _) = short_run(folder.path(), &["--design", "bitmap", "--workers", "65", "--slots", "4"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn a_design_that_takes_part_in_some_cells_only_is_measured_in_those() {
    let folder = TempDir::new().unwrap();
    let (output, record) = short_run(folder.path(), &["--design", "bitmap", "--slots", "64,65"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    assert!(shown.contains("n/a (one submitter)") && shown.contains("n/a (at most 64 slots per lane)"), "{shown}");
    assert_eq!(record["cells"].as_array().unwrap().len(), 10);
    // The design in its three cells, the floor in all ten.
    assert_eq!(samples(&record).len(), 3 + 10);
}

#[test]
fn a_misspelt_command_line_gets_one_line() {
    refused(&["rnak"]);
    refused(&["rank", "--dessign", "bitmap"]);
    let line = refused(&["rank", "--wait", "sleep"]);
    assert!(line.contains("settle"), "{line}");
    refused(&["rank", "--design"]);
    refused(&["list", "--rounds", "1"]);
}

#[test]
fn an_unwritable_folder_is_found_before_measuring() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("taken");
    fs::write(&file, "").unwrap();
    let below = file.join("results");
    for output in [&file, &below] {
        let line = refused(&["rank", "--rounds", "1000", "--output", output.to_str().unwrap()]);
        assert!(line.contains("taken"), "{line}");
    }
}

#[test]
fn list_shows_every_design_and_no_dwcas_is_needed() {
    let shown = text(&output(&["list"]).stdout);
    let listed: Value = serde_json::from_slice(&output(&["list", "--json"]).stdout).unwrap();
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), slotwork_catalog::ENTRIES.len());
    for (entry, listed) in slotwork_catalog::ENTRIES.iter().zip(listed) {
        assert!(shown.contains(entry.name), "{shown}");
        assert_eq!(listed["design"], entry.name);
        assert_eq!(listed["widest_atomic_bits"], 64);
        assert_eq!(listed["lock_free_on_this_target"], entry.claims.progress.lock_free());
        assert_eq!(listed["progress"]["acquire"], entry.claims.progress.acquire.to_string());
        assert_eq!(listed["max_slots_per_lane"], serde_json::json!(entry.claims.max_slots_per_lane));
    }
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let mut child = slotwork(&["list"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn a_short_rank_leaves_a_record_that_agrees_with_itself() {
    let folder = TempDir::new().unwrap();
    let arguments =
        ["--design", "bitmap", "--design", "global-lock", "--clients", "1,2", "--workers", "1", "--slots", "4"];
    let (output, record) = short_run(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(record["schema"], 2);
    assert_eq!(record["interrupted"], false);
    assert!(record["command_line"].as_array().unwrap().iter().any(|argument| argument == "--window-ms"));
    assert_eq!(record["cells"].as_array().unwrap().len(), 2);
    let samples = samples(&record);
    // Two designs with one client, one with two, and the floor in both cells.
    assert_eq!(samples.len(), 3 + 2);
    for sample in samples {
        let trips = sample["round_trips"].as_u64().unwrap();
        assert!(sample["handled_in_all"].as_u64().unwrap() >= trips, "{sample}");
        let throughput = trips as f64 / sample["seconds"].as_f64().unwrap();
        assert!((sample["throughput"].as_f64().unwrap() - throughput).abs() <= 1e-9 * throughput, "{sample}");
    }
    let shown = text(&output.stdout);
    assert!(shown.contains("n/a (one submitter)"), "{shown}");
    assert!(shown.lines().last().unwrap().starts_with("results: "), "{shown}");

    let mut csv = csv::Reader::from_path(only_file(folder.path(), "csv")).unwrap();
    let lines: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
    assert_eq!(lines.len(), 6);
    assert!(lines.iter().any(|line| line.iter().any(|field| field == "n/a (one submitter)")));
}

#[test]
fn json_on_stdout_is_the_record() {
    let folder = TempDir::new().unwrap();
    let arguments =
        ["--json", "--design", "bitmap", "--clients", "1", "--workers", "1", "--slots", "4", "--handler-ns", "500"];
    let (output, record) = short_run(folder.path(), &arguments);
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap(), record);
    assert_eq!(record["cells"][0]["handler_nanoseconds"], 500);
}

#[test]
fn peers_and_the_floor_are_rows_of_the_same_table_and_marked() {
    let arguments = ["--design", "bitmap-claim", "--peers", "all", "--workers", "1", "--slots", "4", "--wait", "yield"];
    let (output, record) = measured_run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let rows = record["cells"][0]["rows"].as_array().unwrap();
    let of_kind = |kind: &str| rows.iter().filter(|row| row["kind"] == kind).count();
    assert_eq!((of_kind("design"), of_kind("floor")), (1, 3), "no queue, and two by hand");
    assert!(of_kind("peer") >= 10);
    let places = record["rankings"][0]["places"].as_array().unwrap();
    assert_eq!(places.len(), rows.len() - 3, "all but the floors have a place");
    assert!(rows.iter().all(|row| row["kind"] == "floor" || row["of_floor"].as_f64().unwrap() > 0.0));
    assert!(record["floors"].as_array().unwrap().len() >= 2);
    let shown = text(&output.stdout);
    assert!(
        shown.contains("rtrb (peer)")
            && shown.contains("(no queue)")
            && shown.contains("(by hand: flag)")
            && shown.contains("× floor"),
        "{shown}"
    );
    refused(&["rank", "--peers", "few"]);
}

#[test]
fn latency_and_traces_are_measured_when_they_are_asked_for() {
    let arguments =
        ["--design", "bitmap", "--workers", "1", "--slots", "4", "--latency=0.1,0.2", "--traces", "--wait", "yield"];
    let (output, record) = measured_run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let row = &record["cells"][0]["rows"][0];
    let loads = row["latency"].as_array().unwrap();
    assert_eq!(loads.len(), 2);
    assert!(loads[0]["offered_per_second"].as_f64() < loads[1]["offered_per_second"].as_f64());
    assert!(row["metrics"]["fairness_slots"].as_f64().is_some());
    assert!(text(&output.stdout).contains("p99.9"));
    refused(&["rank", "--latency=0"]);
    refused(&["rank", "--latency=x"]);
}

#[test]
fn a_self_test_has_each_design_twice_and_nobody_else() {
    let folder = TempDir::new().unwrap();
    let (output, record) = short_run(folder.path(), &["--self-test", "--design", "bitmap", "--workers", "1"]);
    // One round decides nothing, so it cannot fail either.
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let names: Vec<&str> =
        record["cells"][0]["rows"].as_array().unwrap().iter().map(|row| row["design"].as_str().unwrap()).collect();
    assert_eq!(names, ["bitmap", "bitmap (again)"]);
    assert!(text(&output.stdout).contains("not distinguishable on this machine"));
}

#[test]
fn completions_and_manual_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = text(&output(&["completions", shell]).stdout);
        assert!(script.contains("workqueue-bench") && script.contains("handler-ns"), "{shell}");
    }
    let page = text(&output(&["man"]).stdout);
    for word in ["slotwork\\-rank", "Exit codes", "\\-\\-peers", "\\-\\-threads\\-sweep"] {
        assert!(page.contains(word), "{word}");
    }
    refused(&["completions", "tcsh"]);
}

#[test]
fn floors_can_be_had_as_json() {
    let shown: Value = serde_json::from_slice(&output(&["floors", "--json"]).stdout).unwrap();
    let floors = shown["floors"].as_array().unwrap();
    assert!(floors.len() >= 2 && floors.iter().all(|floor| floor["nanoseconds"]["value"].as_f64().unwrap() > 0.0));
    assert!(text(&output(&["floors"]).stdout).contains("uncontended"));
}

#[test]
fn every_measuring_command_has_json() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().to_str().unwrap();
    let commands: [&[&str]; 4] = [
        &["workqueue-bench", "-m", "0.001", "-c", "1", "--output", path],
        &["allocator", "1", "1", "0.02", "4", "--output", path],
        &[
            "ladder",
            "--threads",
            "1",
            "--seconds",
            "0.01",
            "--rounds",
            "1",
            "--steps-only",
            "--work",
            "empty",
            "--output",
            path,
        ],
        &["locks", "--seconds", "0.01", "--rounds", "1", "--output", path],
    ];
    for command in commands {
        let mut arguments = command.to_vec();
        arguments.push("--json");
        let output = output(&arguments);
        assert_eq!(output.status.code(), Some(0), "{command:?}: {}", text(&output.stderr));
        let shown: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{command:?}: {error}"));
        assert!(!shown["rows"].as_array().unwrap().is_empty(), "{command:?}");
    }
}

#[test]
fn two_runs_in_one_second_do_not_overwrite_each_other() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().to_str().unwrap();
    let quick = [
        "rank",
        "--rounds",
        "1",
        "--window-ms",
        "1",
        "--design",
        "bitmap",
        "--workers",
        "1",
        "--slots",
        "1",
        "--output",
        path,
    ];
    for _ in 0..3 {
        assert!(output(&quick).status.success());
    }
    assert_eq!(files(folder.path(), "json").len(), 3);
    assert_eq!(files(folder.path(), "csv").len(), 3);
}

#[test]
fn cost_shows_every_design_beside_the_reference() {
    let output = output(&["cost", "--rounds", "3", "--json"]);
    assert!(output.status.success());
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    let costs = shown["costs"].as_array().unwrap();
    // Beside the designs and the peers, the reference and two floors.
    let of_kind = |kind: &str| costs.iter().filter(|cost| cost["kind"] == kind).count();
    assert_eq!(of_kind("design"), slotwork_catalog::ENTRIES.len());
    assert!(of_kind("peer") >= 10);
    assert_eq!((of_kind("reference"), of_kind("floor")), (1, 2));
    let reference = costs.iter().find(|cost| cost["kind"] == "reference").unwrap();
    assert_eq!(reference["of_reference"]["value"], 1.0);
}

#[test]
#[cfg(target_os = "linux")]
fn one_cpu_is_enough_under_every_policy() {
    for policy in ["auto", "spin", "yield", "park", "settle"] {
        let folder = TempDir::new().unwrap();
        // The child inherits the one core of the thread that starts it.
        let (output, record) = std::thread::scope(|scope| {
            let run = || {
                let core = core_affinity::get_core_ids().unwrap()[0];
                assert!(core_affinity::set_for_current(core));
                short_run(folder.path(), &["--clients", "2", "--workers", "2", "--slots", "4", "--wait", policy])
            };
            scope.spawn(run).join().unwrap()
        });
        assert_eq!(output.status.code(), Some(0), "{policy}: {}", text(&output.stderr));
        assert_eq!(record["machine"]["cores"], 1);
        assert_eq!(record["settings"]["quiet_trip_nanoseconds"], Value::Null);
        assert!(text(&output.stdout).contains("no disturbance alarm"));
        let handled = |sample: &&Value| sample["handled_in_all"].as_u64().unwrap();
        assert!(samples(&record).iter().map(handled).sum::<u64>() > 0, "{policy}");
    }
}

#[test]
#[cfg(unix)]
fn an_interrupted_run_keeps_what_it_measured() {
    let mut wait = Duration::from_millis(200);
    loop {
        let folder = TempDir::new().unwrap();
        let path = folder.path().to_str().unwrap();
        let arguments =
            ["rank", "--rounds", "1000", "--window-ms", "50", "--design", "bitmap", "--workers", "1", "--output", path];
        let child = slotwork(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // From then on Ctrl-C is heard.
        while files(folder.path(), "csv").is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(wait);
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("interrupted"), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("INTERRUPTED"));
        let record: Value =
            serde_json::from_str(&fs::read_to_string(only_file(folder.path(), "json")).unwrap()).unwrap();
        assert_eq!(record["interrupted"], true);
        // On a busy machine the first window may not have ended: wait longer.
        if !samples(&record).is_empty() {
            break;
        }
        wait *= 2;
    }
}
