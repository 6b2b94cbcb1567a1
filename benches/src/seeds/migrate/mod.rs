//! Packing a file page by page through a workqueue, and unpacking it again.
//!
//! ```text
//!   pack    read a page ──▶ │ workers compress │ ──▶ frame, as it comes out: in any order
//!   unpack  read a frame ─▶ │ workers unpack   │ ──▶ written at its page's place
//! ```
//!
//! What a request can hold is all that is in memory: input and output are streamed. The output is written under
//! a temporary name beside its own, and gets its own when it is complete: see [`Output`].

mod coverage;
mod error;
mod frame;
mod output;
mod pack;
mod page;
mod unpack;

pub use error::MigrateError;
pub use output::Output;

use super::Watch;
use super::codec::Codec;
use super::configuration::Policy;
use super::memory::PAGE;
use serde::Serialize;
use slotwork::Design;
use slotwork_catalog::{UnknownDesign, Visitor, visit_named};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How the workqueue is set up.
#[derive(Clone, Copy, Debug)]
pub struct Crew {
    /// Worker threads.
    pub threads: usize,
    /// Requests per worker.
    pub requests: usize,
    /// How threads wait.
    pub waiting: Policy,
}

/// What went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// Bytes of the file itself.
    pub plain_bytes: u64,
    /// Bytes of the packed stream.
    pub packed_bytes: u64,
    /// Pages that went through the workers.
    pub pages: u64,
    /// Pages that are zero, and did not.
    pub zero_pages: u64,
}

/// Where the bytes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file.
    File(PathBuf),
    /// The standard input.
    Standard,
}

impl Input {
    /// `-` is the standard input.
    #[must_use]
    pub fn named(name: &Path) -> Self {
        if name == Path::new("-") { Self::Standard } else { Self::File(name.into()) }
    }

    /// The name it is shown by.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Standard => "standard input".into(),
        }
    }

    /// Opens it; says its length where that is known.
    ///
    /// # Errors
    /// [`MigrateError::Input`].
    pub fn open(&self) -> Result<(Box<dyn Read>, Option<u64>), MigrateError> {
        let error = |source| MigrateError::Input { name: self.name(), source };
        match self {
            Self::Standard => Ok((Box::new(io::stdin().lock()), None)),
            Self::File(path) => {
                let file = File::open(path).map_err(error)?;
                let metadata = file.metadata().map_err(error)?;
                if metadata.is_dir() {
                    return Err(error(io::ErrorKind::IsADirectory.into()));
                }
                Ok((Box::new(file), metadata.is_file().then_some(metadata.len())))
            }
        }
    }
}

type Pack = fn(Crew, Codec, &mut dyn Read, &mut dyn Write, &mut Watch<'_>) -> Result<Moved, MigrateError>;
type Unpack = fn(Crew, &mut dyn Read, &mut File, &mut Watch<'_>) -> Result<Moved, MigrateError>;

/// A design that moves pages, without its type.
#[derive(Clone, Copy, Debug)]
pub struct Mover {
    /// Its name.
    pub design: &'static str,
    pack: Pack,
    unpack: Unpack,
}

struct Enter;

impl Visitor for Enter {
    type Output = Mover;
    fn visit<D: Design>(&mut self) -> Mover {
        Mover { design: D::NAME, pack: pack::pack::<D>, unpack: unpack::unpack::<D> }
    }
}

impl Mover {
    /// The design of this name.
    ///
    /// # Errors
    /// [`UnknownDesign`].
    pub fn named(name: &str) -> Result<Self, UnknownDesign> {
        visit_named(name, &mut Enter)
    }

    /// Packs all of `input` into `output`. Progress is in bytes of the input.
    ///
    /// # Errors
    /// [`MigrateError`]; then what was written is of no use.
    pub fn pack(
        &self,
        crew: Crew,
        codec: Codec,
        input: &mut dyn Read,
        output: &mut dyn Write,
        watch: &mut Watch<'_>,
    ) -> Result<Moved, MigrateError> {
        (self.pack)(crew, codec, input, output, watch)
    }

    /// Unpacks all of `input` into `output`, which is empty. Progress is in bytes of the input.
    ///
    /// # Errors
    /// [`MigrateError`]; then what was written is of no use.
    pub fn unpack(
        &self,
        crew: Crew,
        input: &mut dyn Read,
        output: &mut File,
        watch: &mut Watch<'_>,
    ) -> Result<Moved, MigrateError> {
        (self.unpack)(crew, input, output, watch)
    }
}

/// Bytes of a packed stream that hold no page: its header and its end frame.
#[must_use]
pub const fn overhead() -> u64 {
    (frame::StreamHeader::BYTES + frame::Frame::BYTES) as u64
}

/// Plain bytes per second.
#[must_use]
pub fn rate(moved: &Moved, time: Duration) -> f64 {
    moved.plain_bytes as f64 / time.as_secs_f64().max(1e-9)
}

/// A page of zeros.
static ZEROS: [u8; PAGE] = [0; PAGE];

#[cfg(test)]
mod tests;
