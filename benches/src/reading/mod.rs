//! Result files that were written elsewhere, by hand or half: each fault is refused in one line that says what to do.
//!
//! ```text
//!   path ─▶ a file? of a sensible size? text? ─▶ JSON ─▶ schema (old ones upgraded) ─▶ a record ─▶ one that can be true?
//!           └──────────── FileError ────────┘  └────────────── ReadError ─────────┘              └─ Implausible ─┘
//! ```
//!
//! What is read is then trusted by the report, by compare, pick and gate: none of them divides by what might be zero,
//! or draws what might be endless.

mod benchmark;
mod plausible;

pub use benchmark::{Benchmark, shown};
pub use plausible::{Implausible, check};

use crate::record::{ReadError, Record, parse};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A run that was read from a file.
#[derive(Clone, Debug)]
pub struct Run {
    /// What it is called: the file's name without its ending.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// What it says.
    pub record: Record,
}

/// Most bytes of a result file; the standard grid with thirty rounds is a hundredth of it.
pub const MOST_BYTES: u64 = 256 << 20;

/// Why a file is no run.
#[derive(Debug, Error)]
pub enum RunError {
    /// It is a folder.
    #[error("'{}' is a folder: name the .json file in it", .0.display())]
    Folder(PathBuf),
    /// It is a device, a pipe or the like.
    #[error("'{}' is no file", .0.display())]
    NoFile(PathBuf),
    /// It is too large to be one.
    #[error("'{}' has {bytes} bytes, and a result file has at most {MOST_BYTES}: it is none of ours", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How large it is.
        bytes: u64,
    },
    /// It is no text.
    #[error("'{}' is no text, and so no JSON: give the .json that slotwork rank wrote", .0.display())]
    NoText(PathBuf),
    /// It is no record.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It is a record that cannot be true.
    #[error("'{}': {source}", path.display())]
    Implausible {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: Implausible,
    },
}

/// Reads the run in a file.
///
/// # Errors
/// [`RunError`], each in one line.
pub fn load(path: &Path) -> Result<Run, RunError> {
    parsed(&text_of(path)?, path)
}

/// The run in a text; `path` is what it is called by.
///
/// # Errors
/// [`RunError`], each in one line.
pub fn parsed(text: &str, path: &Path) -> Result<Run, RunError> {
    let record = parse(text, path)?;
    check(&record).map_err(|source| RunError::Implausible { path: path.into(), source })?;
    let name = path.file_stem().map_or_else(|| path.display().to_string(), |stem| stem.to_string_lossy().into_owned());
    Ok(Run { name, path: path.into(), record })
}

/// The text of a file, if it is one of a size that can be read.
///
/// # Errors
/// [`RunError`].
pub fn text_of(path: &Path) -> Result<String, RunError> {
    let unreadable = |source| RunError::Read(ReadError::File { path: path.into(), source });
    // Asked before it is opened: opening a pipe would wait for its writer.
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(RunError::Folder(path.into()));
    }
    if !metadata.is_file() {
        return Err(RunError::NoFile(path.into()));
    }
    let too_large = |bytes| RunError::TooLarge { path: path.into(), bytes };
    if metadata.len() > MOST_BYTES {
        return Err(too_large(metadata.len()));
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    File::open(path).map_err(unreadable)?.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(too_large(bytes.len() as u64));
    }
    String::from_utf8(bytes).map_err(|_| RunError::NoText(path.into()))
}

/// Gives runs names that differ: those of their files, or else their whole paths.
pub fn name_apart(runs: &mut [Run]) {
    let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    for (number, run) in runs.iter_mut().enumerate() {
        if names.iter().enumerate().any(|(other, name)| other != number && *name == run.name) {
            run.name = format!("{} ({})", run.path.display(), number + 1);
        }
    }
}
