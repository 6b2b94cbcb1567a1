//! Packing and unpacking files as a user does: round trips, damage, and being killed.

use crate::place::{self, Place};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use slotwork_catalog::ENTRIES;
use std::fs;
use std::path::Path;

const PAGE: usize = 4096;

fn random(length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    SmallRng::seed_from_u64(11).fill_bytes(&mut bytes);
    bytes
}

/// Text, zero pages, random pages, an odd end.
fn mixed() -> Vec<u8> {
    let text: Vec<u8> = b"what is here twice packs well. ".iter().copied().cycle().take(9 * PAGE).collect();
    [text, vec![0; 20 * PAGE], random(7 * PAGE), b"end".to_vec()].concat()
}

fn name(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn every_design_packs_and_any_other_unpacks_bit_for_bit() {
    let place = Place::new();
    let input = place.write("input", &mixed());
    let (packed, output) = (place.path("packed"), place.path("output"));
    let others = ENTRIES.iter().cycle().skip(1);
    for (entry, other) in ENTRIES.iter().zip(others) {
        place.good(&["migrate", "pack", name(&input), "-o", name(&packed), "--design", entry.name, "--threads", "3"]);
        place.good(&[
            "migrate",
            "unpack",
            name(&packed),
            "-o",
            name(&output),
            "--design",
            other.name,
            "--threads",
            "2",
        ]);
        assert!(fs::read(&output).unwrap() == mixed(), "{} and {}", entry.name, other.name);
        fs::remove_file(&output).unwrap();
    }
}

#[test]
fn inputs_of_every_length_come_back() {
    let inputs = [vec![], vec![0], vec![1], random(PAGE), random(2 * PAGE + 1), vec![0; 3 * PAGE], vec![0; PAGE + 5]];
    for (number, bytes) in inputs.iter().enumerate() {
        let place = Place::new();
        let input = place.write("input", bytes);
        let codec = ["zlib", "lz4", "none"][number % 3];
        let shown = place.good(&["migrate", "pack", name(&input), "-o", "packed", "--codec", codec]);
        assert!(shown.contains(&format!("pack: {} bytes plain", bytes.len())), "{shown}");
        let row = &place.record()["rows"][0];
        assert_eq!(row["plain_bytes"], bytes.len());
        assert_eq!(row["packed_bytes"], fs::metadata(place.path("packed")).unwrap().len());
        place.good(&["migrate", "unpack", "packed", "-o", "output"]);
        assert!(fs::read(place.path("output")).unwrap() == *bytes, "input {number}");
    }
}

#[test]
fn standard_input_is_an_input_too() {
    let place = Place::new();
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_slotwork"));
    command.current_dir(place.path("")).args(["migrate", "pack", "-", "-o", "packed"]).write_stdin(mixed());
    command.assert().success();
    place.good(&["migrate", "unpack", "packed", "-o", "output"]);
    assert!(fs::read(place.path("output")).unwrap() == mixed());
}

#[test]
fn a_damaged_stream_gives_one_error_that_names_a_page_and_no_output() {
    let place = Place::new();
    let input = place.write("input", &mixed());
    place.good(&["migrate", "pack", name(&input), "-o", "packed"]);
    let packed = fs::read(place.path("packed")).unwrap();
    let refuse = |bytes: &[u8], code: i32, expected: &str| {
        let damaged = place.write("damaged", bytes);
        let line = place.bad(code, &["migrate", "unpack", name(&damaged), "-o", "output"]);
        assert!(line.contains(expected) && line.contains("damaged"), "{line}");
        assert!(!place.path("output").exists());
        line
    };
    for cut in [19, 20, 21, 44, 45, 60, packed.len() / 2, packed.len() - 26, packed.len() - 25, packed.len() - 1] {
        let line = refuse(&packed[..cut], 1, "truncated: the input ends");
        assert!(line.contains("page"), "{line}");
    }
    for at in [20, 25, 44, 47, packed.len() / 2, packed.len() - 1] {
        let mut bytes = packed.clone();
        bytes[at] ^= 0x10;
        let line = refuse(&bytes, 1, "corrupt: ");
        assert!(line.contains("page"), "{line}");
    }
    refuse(&[&packed[..], b"more"].concat(), 1, "something follows the end frame");
    for foreign in [&b""[..], b"no", b"\x7fELF, or some other file that is longer than a header", &mixed()] {
        refuse(foreign, 2, "this is no packed stream");
    }
    let left: Vec<_> = fs::read_dir(place.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().ends_with(".part")), "{left:?}");
}

#[test]
fn an_old_output_survives_a_failure() {
    let place = Place::new();
    let foreign = place.write("foreign", b"something else altogether");
    place.write("output", b"precious");
    place.bad(2, &["migrate", "unpack", name(&foreign), "-o", "output"]);
    assert_eq!(fs::read(place.path("output")).unwrap(), b"precious");
}

#[test]
fn an_input_is_never_its_own_output() {
    let place = Place::new();
    let input = place.write("input", &mixed());
    for output in ["input", "./input"] {
        let line = place.bad(2, &["migrate", "pack", name(&input), "-o", output]);
        assert!(line.contains("is the input"), "{line}");
        assert!(fs::read(&input).unwrap() == mixed());
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let place = Place::new();
    let input = name(&place.write("input", b"x")).to_string();
    for arguments in [
        vec!["pack", "missing", "-o", "out"],
        vec!["pack", ".", "-o", "out"],
        vec!["pack", &input],
        vec!["pack", &input, "-o", "."],
        vec!["pack", &input, "-o", "no/such/folder"],
        vec!["pack", &input, "-o", "/dev/null"],
        vec!["pack", &input, "-o", "out", "--threads", "0"],
        vec!["pack", &input, "-o", "out", "--requests", "65"],
        vec!["pack", &input, "-o", "out", "--design", "nonsense"],
        vec!["pack", &input, "-o", "out", "--codec", "nonsense"],
        vec!["unpack", &input, "-o", "out", "--codec", "zlib"],
    ] {
        place.bad(2, &[&["migrate"], &arguments[..]].concat());
        assert!(!place.path("out").exists(), "{arguments:?}");
    }
}

#[test]
#[cfg(unix)]
fn killed_midway_it_leaves_no_final_file() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let place = Place::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_slotwork"))
        .current_dir(place.path(""))
        .args(["migrate", "pack", "-", "-o", "packed"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // It takes in far more than its buffers hold, and never sees the end.
    let mut stdin = child.stdin.take().unwrap();
    let block = random(PAGE);
    for _ in 0..2000 {
        stdin.write_all(&block).unwrap();
    }
    let parts = || place::files(&place.path(""), "part");
    assert_eq!(parts().len(), 1, "it writes under another name");
    assert!(fs::metadata(&parts()[0]).unwrap().len() > 0, "and has begun to");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!place.path("packed").exists());
}

#[test]
#[cfg(unix)]
fn interrupted_midway_it_leaves_nothing() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let place = Place::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_slotwork"))
        .current_dir(place.path(""))
        .args(["migrate", "pack", "-", "-o", "packed"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let block = random(PAGE);
    for _ in 0..500 {
        stdin.write_all(&block).unwrap();
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    // The signal is seen between two pages; the pipe closes when it has gone.
    while stdin.write_all(&block).is_ok() {}
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(place::text(&output.stderr).contains("nothing was written"));
    assert!(!place.path("packed").exists());
    assert!(place::files(&place.path(""), "part").is_empty());
}
