//! What can go wrong on the way, each with the page it went wrong at.

use crate::seeds::codec::UnknownCodec;
use slotwork_workqueue::{BuildError, RequestError, ShutdownError, Stopped};
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why a file was not packed or unpacked.
#[derive(Debug, Error)]
pub enum MigrateError {
    /// The input cannot be opened or read.
    #[error("cannot read '{name}'")]
    Input {
        /// The input.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// The output cannot be made or written.
    #[error("cannot write '{}'", path.display())]
    Output {
        /// The output.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The output's name is taken by something that is not a file.
    #[error("'{}' is there already, and is no regular file", .0.display())]
    NoFile(PathBuf),
    /// The input ended or failed while it was read.
    #[error("reading failed after {after}")]
    Reading {
        /// How far it was.
        after: Position,
        /// Why.
        source: io::Error,
    },
    /// Writing failed.
    #[error("writing page {page} failed")]
    Writing {
        /// Which page.
        page: u64,
        /// Why.
        source: io::Error,
    },
    /// It is something else, or its first bytes are damaged.
    #[error("this is no packed stream: it does not begin as one")]
    Foreign,
    /// The first bytes name a version, page size or codec that is not known.
    #[error("this packed stream cannot be read here: {0}")]
    Unreadable(String),
    /// The stream ends before its end frame.
    #[error("truncated: the input ends {0}")]
    Truncated(Place),
    /// A frame's header is damaged, or says what cannot be.
    #[error("corrupt: the frame after {after} is damaged")]
    Frame {
        /// The last frame that was not.
        after: Position,
    },
    /// A page cannot be made whole.
    #[error("corrupt: page {page} is damaged: {reason}")]
    Page {
        /// Which page.
        page: u64,
        /// Why.
        reason: String,
    },
    /// A page came twice.
    #[error("corrupt: page {0} comes twice")]
    Twice(u64),
    /// A page did not come.
    #[error("corrupt: page {0} is missing")]
    Missing(u64),
    /// A page lies behind the end.
    #[error("corrupt: page {0} is behind the end of the file")]
    Beyond(u64),
    /// The number of frames is not that of the end frame.
    #[error("corrupt: {found} frames, but the end frame after {after} says {said}")]
    Frames {
        /// Frames that came.
        found: u64,
        /// Frames that should have come.
        said: u64,
        /// The last frame.
        after: Position,
    },
    /// Something follows the end frame.
    #[error("corrupt: something follows the end frame after {0}")]
    Trailing(Position),
    /// A worker failed.
    #[error("the worker that had page {0} panicked")]
    Panicked(u64),
    /// Pages were lost or doubled on the way through the queue.
    #[error("wrong count: {submitted} pages submitted, {handled} handled, {collected} collected")]
    Count {
        /// Pages that were given to the workers.
        submitted: u64,
        /// Pages that they say they handled.
        handled: u64,
        /// Pages that came back.
        collected: u64,
    },
    /// The workqueue cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError<io::Error>),
    /// The submitter was refused.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// It was stopped early.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// It could not be stopped.
    #[error(transparent)]
    Shutdown(#[from] ShutdownError),
    /// Ctrl-C.
    #[error("interrupted: nothing was written under the output's name")]
    Interrupted,
}

impl From<UnknownCodec> for MigrateError {
    fn from(error: UnknownCodec) -> Self {
        Self::Unreadable(error.to_string())
    }
}

impl MigrateError {
    /// Whether nothing was begun: what was asked for cannot be done.
    #[must_use]
    pub const fn refuses(&self) -> bool {
        matches!(
            self,
            Self::Input { .. }
                | Self::Output { .. }
                | Self::NoFile(_)
                | Self::Foreign
                | Self::Unreadable(_)
                | Self::Build(_)
        )
    }
}

/// How far the reader was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Nothing was read but the stream's header, if it has one.
    Start,
    /// The last page that was read, or named by a frame.
    Page(u64),
}

impl std::fmt::Display for Position {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Start => formatter.write_str("the start, before any page"),
            Self::Page(page) => write!(formatter, "page {page}"),
        }
    }
}

/// Where the input ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the stream's header.
    Header,
    /// Between two frames, or in the header of one.
    After(Position),
    /// In the middle of a page.
    Within(u64),
}

impl std::fmt::Display for Place {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Header => formatter.write_str("within its first bytes, before any page"),
            Self::After(position) => write!(formatter, "after {position}, without an end frame"),
            Self::Within(page) => write!(formatter, "within page {page}"),
        }
    }
}
