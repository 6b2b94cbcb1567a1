//! Runs a test in a process of its own: for what concerns the whole process.

use std::io::Read;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const NAME: &str = "SLOTWORK_TEST_CHILD";

/// Runs `body` in a child process, in which the calling test alone is run; `test` is its full name. Returns what
/// went wrong there.
pub(crate) fn fault_in_child(test: &str, patience: Duration, body: impl FnOnce()) -> Option<String> {
    run(test, patience, &[], body)
}

/// As [`fault_in_child`]; nothing goes wrong.
pub(crate) fn in_child(test: &str, body: impl FnOnce()) {
    in_child_with(test, &[], body);
}

/// As [`in_child`], with these environment variables.
pub(crate) fn in_child_with(test: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    let fault = run(test, super::PATIENCE, variables, body);
    assert!(fault.is_none(), "{}", fault.unwrap_or_default());
}

fn run(test: &str, patience: Duration, variables: &[(&str, &str)], body: impl FnOnce()) -> Option<String> {
    if std::env::var(NAME).is_ok_and(|name| name == test) {
        body();
        std::process::exit(0);
    }
    let program = std::env::current_exe().expect("the test's own program");
    let mut child = Command::new(program)
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(NAME, test)
        .envs(variables.iter().copied())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a second process");
    let mut stderr = child.stderr.take().expect("piped");
    let output = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = stderr.read_to_string(&mut text);
        text
    });
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            let output = output.join().expect("a reader");
            return (!status.success()).then(|| format!("{status}\n{output}"));
        }
        if started.elapsed() > patience {
            child.kill().expect("a child");
            child.wait().expect("a child");
            return Some(format!("no end in {patience:?}"));
        }
        sleep(Duration::from_millis(2));
    }
}
