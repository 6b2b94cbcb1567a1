//! Running the command in a folder of its own.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;
use tempfile::TempDir;

/// A folder that the command runs in, so that its results land there.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }

    /// Runs it to its end; what hangs fails.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_slotwork"));
        command.current_dir(&self.0).args(arguments).timeout(Duration::from_secs(60)).output().unwrap()
    }

    /// Runs it; it must end well. What it printed.
    #[track_caller]
    pub(crate) fn good(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
        assert_eq!(text(&output.stderr), "", "a bar is quiet where there is no terminal");
        text(&output.stdout)
    }

    /// Runs it; it must say one line and nothing else, and exit with this code. The line.
    #[track_caller]
    pub(crate) fn bad(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let line = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {line}");
        assert_eq!(line.lines().count(), 1, "{arguments:?}: {line}");
        assert!(line.starts_with("slotwork: "), "{line}");
        assert_eq!(text(&output.stdout), "");
        line
    }

    /// The one JSON in `results`.
    #[track_caller]
    pub(crate) fn record(&self) -> Value {
        serde_json::from_slice(&fs::read(self.only("json")).unwrap()).unwrap()
    }

    /// The lines of the one CSV in `results`, header first.
    #[track_caller]
    pub(crate) fn csv(&self) -> Vec<csv::StringRecord> {
        let reader = csv::ReaderBuilder::new().has_headers(false).from_path(self.only("csv"));
        reader.unwrap().records().map(Result::unwrap).collect()
    }

    #[track_caller]
    fn only(&self, extension: &str) -> PathBuf {
        let found = files(&self.path("results"), extension);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    }
}

/// The files of a folder with this extension.
pub(crate) fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
