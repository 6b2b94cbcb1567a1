//! The files of a report: all of them, or an error that names the one that could not be written.

use super::{Document, html, markdown};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What was written.
#[derive(Clone, Debug, Serialize)]
pub struct Written {
    /// The page.
    pub html: PathBuf,
    /// The same in Markdown.
    pub markdown: PathBuf,
    /// The tables.
    pub tables: Vec<PathBuf>,
    /// How many charts the page has.
    pub charts: usize,
}

/// Why a report is not written.
#[derive(Debug, Error)]
#[error("cannot write '{}': {source}", path.display())]
pub struct WriteError {
    path: PathBuf,
    source: std::io::Error,
}

/// Writes `report.html`, `report.md` and `tables/*.csv` into a folder, which is made if need be.
///
/// # Errors
/// [`WriteError`].
pub fn write(document: &Document, folder: &Path) -> Result<Written, WriteError> {
    let failed = |path: &Path, source| WriteError { path: path.into(), source };
    let tables = folder.join("tables");
    fs::create_dir_all(&tables).map_err(|source| failed(&tables, source))?;
    let put = |path: PathBuf, bytes: &[u8]| {
        fs::write(&path, bytes).map_err(|source| failed(&path, source)).map(|()| path.clone())
    };
    let mut written = Vec::new();
    for sheet in document.tables() {
        let path = tables.join(format!("{}.csv", sheet.id));
        let bytes = sheet.csv().map_err(|error| failed(&path, std::io::Error::other(error)))?;
        written.push(put(path, &bytes)?);
    }
    Ok(Written {
        html: put(folder.join("report.html"), html(document).as_bytes())?,
        markdown: put(folder.join("report.md"), markdown(document).as_bytes())?,
        tables: written,
        charts: document.charts().len(),
    })
}
