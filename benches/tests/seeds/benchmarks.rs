//! The seeds' benchmarks as a user meets them: tables, results, refusals.

use crate::place::{self, Place};
use slotwork::Submitters;
use slotwork_catalog::ENTRIES;

/// Sixteen pages.
const SMALL: &str = "0.00006103515625";

#[test]
fn workqueue_bench_prints_each_run_and_the_average() {
    let place = Place::new();
    let shown =
        place.good(&["workqueue-bench", "-t", "2", "-r", "3", "-m", SMALL, "-c", "2", "--design", "bitmap-claim"]);
    assert_eq!(shown.lines().filter(|line| line.contains("requests 16, failed attempts")).count(), 2, "{shown}");
    assert!(shown.contains("Average over the runs"), "{shown}");
    let record = place.record();
    assert_eq!(record["rows"].as_array().unwrap().len(), 2);
    for row in record["rows"].as_array().unwrap() {
        assert_eq!(row["pages"], 16);
        assert!(row["gb_per_second"].as_f64().unwrap() > 0.0);
        // A page that is zero but for one byte: zlib makes less than a fiftieth of it.
        assert!(row["compression_rate"].as_f64().unwrap() < 0.02, "{row}");
    }
    assert_eq!(place.csv().len(), 3);
}

#[test]
fn workqueue_bench_sweep_shows_every_design_beside_the_published_figures() {
    let place = Place::new();
    let shown = place.good(&[
        "workqueue-bench",
        "--threads-sweep",
        "1,4",
        "-m",
        SMALL,
        "-c",
        "1",
        "--codec",
        "lz4",
        "--state",
        "worker",
    ]);
    assert!(shown.contains("0.428") && shown.contains("1.849"), "the published columns: {shown}");
    let record = place.record();
    let rows = record["rows"].as_array().unwrap();
    for name in ENTRIES.iter().map(|entry| entry.name).chain(["v2-faithful", "v3-faithful", "rayon"]) {
        let own: Vec<_> = rows.iter().filter(|row| row["configuration"] == name).collect();
        assert_eq!(own.len(), 2, "{name}");
        assert!(own.iter().all(|row| row["status"] == "measured" && row["pages"] == 16), "{name}");
    }
    let faithful = rows.iter().find(|row| row["configuration"] == "v3-faithful").unwrap();
    assert_eq!((&faithful["waiting"], &faithful["dispatch"]), (&"busy-1000".into(), &"round-robin".into()));
}

#[test]
fn workqueue_bench_takes_pages_from_a_file_of_any_length() {
    let place = Place::new();
    let file = place.write("input", &vec![5; 4096 * 2 + 1]);
    place.good(&["workqueue-bench", "--input", file.to_str().unwrap(), "-c", "1", "--codec", "none"]);
    let row = &place.record()["rows"][0];
    assert_eq!((&row["pages"], &row["compression_rate"]), (&3.into(), &1.0.into()));
}

#[test]
fn workqueue_bench_refuses_what_cannot_be() {
    let place = Place::new();
    let empty = place.write("empty", b"");
    for arguments in [
        vec!["-t", "0"],
        vec!["-r", "0"],
        vec!["-c", "0"],
        vec!["-m", "0"],
        vec!["-m", "-1"],
        vec!["-m", "nan"],
        vec!["-m", "1e9"],
        vec!["-r", "65"],
        vec!["--design", "nonsense"],
        vec!["--codec", "gzip"],
        vec!["--input", "missing"],
        vec!["--input", empty.to_str().unwrap()],
        vec!["--threads-sweep", "1,0"],
        vec!["--dispatch", "fill-first", "--design", "global-lock"],
    ] {
        place.bad(2, &[&["workqueue-bench"], &arguments[..]].concat());
    }
    assert!(place::files(&place.path("results"), "json").is_empty(), "nothing was measured");
}

#[test]
fn ladder_has_a_row_per_step() {
    let place = Place::new();
    let shown = place.good(&["ladder", "--threads", "1,3", "--seconds", "0.002", "--rounds", "1"]);
    for step in ["v2 ", "shared-bitmap", "aligned", "requests", "events", "bitmaps", "v3 ", "v3-fill", "v3-settle"] {
        assert!(shown.contains(step), "{step}: {shown}");
    }
    let record = place.record();
    let rows = record["rows"].as_array().unwrap();
    let steps = record["settings"]["steps"].as_array().unwrap().len();
    assert_eq!(rows.len(), steps * 2 * 2, "steps × threads × kinds of work");
    assert!(rows.iter().all(|row| row["status"] == "measured"));
    place.bad(2, &["ladder", "--threads", "0"]);
    place.bad(2, &["ladder", "--work", "idle"]);
}

#[test]
fn allocator_prints_the_lines_of_the_original() {
    let place = Place::new();
    let shown = place.good(&["allocator", "2", "3", "0.02", "4", "--design", "freelist-bitmap"]);
    let value = |key: &str| -> u64 {
        let line = shown.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        line.unwrap_or_else(|| panic!("{key} in {shown}")).parse().unwrap()
    };
    assert_eq!((value("CLIENT_THREADS"), value("SERVER_THREADS")), (2, 3));
    assert_eq!((value("INIT"), value("FINI")), (12, 12));
    for key in ["CLIENT_ITERATIONS", "THREAD_ITERATIONS", "HANDLERS", "DONES"] {
        assert_eq!(value(key), value("SUCCESSFUL_REQUESTS"), "{key}");
    }
    for key in ["ENQUEUE_DURATION_NS", "DEQUEUE_DURATION_NS"] {
        assert!(value(key) >= 10_000_000, "{key}");
    }
    for key in ["CLIENT_ITERATIONS_PER_MS", "THREAD_ITERATIONS_PER_MS", "FAILED_REQUESTS"] {
        value(key);
    }
}

#[test]
fn allocator_sweep_is_the_csv_of_the_script_and_one_submitter_is_not_applicable() {
    let place = Place::new();
    let sweep = ["--sweep", "--seconds", "0.005", "--runs", "1", "--sweep-threads", "1,2", "--sweep-tasks", "1,4"];
    let shown = place.good(&[&["allocator"], &sweep[..]].concat());
    let header = "Test,Clients Threads,Servers Threads,Tasks,Successful requests,Client iterations,Thread iterations,\
                  Failed requests,Enqueue duration,Dequeue duration,Design,Status";
    assert_eq!(shown.lines().next().unwrap(), header);
    let lines = place.csv();
    assert_eq!(lines.len(), 1 + 4 * ENTRIES.len());
    for line in &lines[1..] {
        let entry = slotwork_catalog::entry(&line[10]).unwrap();
        let refused = entry.claims.submitters == Submitters::One && &line[1] == "2";
        assert_eq!(&line[11], if refused { "n/a (one submitter)" } else { "ok" }, "{line:?}");
    }
}

#[test]
fn allocator_refuses_what_cannot_be() {
    let place = Place::new();
    let line = place.bad(2, &["allocator", "2", "1", "1", "1", "--design", "bitmap"]);
    assert!(line.contains("one submitter"), "{line}");
    for arguments in [
        vec!["0", "1", "1", "1"],
        vec!["1", "0", "1", "1"],
        vec!["1", "1", "0", "1"],
        vec!["1", "1", "1", "0"],
        vec!["1", "1", "1"],
        vec!["1", "1", "1", "1", "--design", "nonsense"],
        vec!["1", "1", "1", "1", "--sweep"],
    ] {
        place.bad(2, &[&["allocator"], &arguments[..]].concat());
    }
}

#[test]
fn locks_measures_both_locks_and_every_design_in_every_row() {
    let place = Place::new();
    let shown = place.good(&["locks", "--seconds", "0.005", "--rounds", "1", "--devices", "2", "--cpus", "1,2"]);
    assert!(shown.contains("virtio-net") && shown.contains("× global lock"), "{shown}");
    let record = place.record();
    let rows = record["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4 * (2 + ENTRIES.len()));
    assert!(rows.iter().all(|row| row["status"] == "measured"), "{rows:?}");
    place.bad(2, &["locks", "--devices", "0"]);
    place.bad(2, &["locks", "--design", "nonsense"]);
}

#[test]
fn every_help_has_an_example() {
    let place = Place::new();
    for command in [
        &["workqueue-bench"][..],
        &["allocator"],
        &["ladder"],
        &["locks"],
        &["migrate", "pack"],
        &["migrate", "unpack"],
    ] {
        let shown = place.good(&[command, &["--help"]].concat());
        assert!(shown.contains("Example") && shown.contains("  slotwork "), "{command:?}: {shown}");
    }
}

#[test]
#[cfg(unix)]
fn an_interrupted_benchmark_keeps_what_it_measured() {
    use std::process::{Command, Stdio};
    use std::time::Duration;
    let mut wait = Duration::from_millis(200);
    loop {
        let place = Place::new();
        let child = Command::new(env!("CARGO_BIN_EXE_slotwork"))
            .args([
                "workqueue-bench",
                "-m",
                "0.002",
                "-c",
                "100000",
                "--output",
                place.path("results").to_str().unwrap(),
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // From then on Ctrl-C is heard.
        while place::files(&place.path("results"), "csv").is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(wait);
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", place::text(&output.stderr));
        let record = place.record();
        assert_eq!(record["interrupted"], true);
        // On a busy machine the first run may not have ended: wait longer.
        if !record["rows"].as_array().unwrap().is_empty() {
            break;
        }
        wait *= 2;
    }
}
