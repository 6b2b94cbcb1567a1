//! What the workers do with each request.

use super::codec::{Codec, Packer};
use super::memory::Memory;
use std::io;

/// Work on numbered pages.
#[derive(Debug)]
pub enum Job {
    /// Compresses each page of a memory.
    Compress {
        /// The pages.
        memory: Memory,
        /// How.
        codec: Codec,
    },
    /// Does nothing: what remains is the queue.
    Nothing,
    /// Panics at one page, as a codec would that cannot do it.
    #[cfg(test)]
    FailsAt(usize),
}

impl Job {
    /// What a request keeps from page to page.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn state(&self) -> io::Result<Option<Packer>> {
        match self {
            Self::Compress { codec, .. } => Packer::new(*codec).map(Some),
            _ => Ok(None),
        }
    }

    /// Number of pages, at least 1.
    #[must_use]
    pub fn pages(&self) -> usize {
        match self {
            Self::Compress { memory, .. } => memory.pages(),
            Self::Nothing => 1,
            #[cfg(test)]
            Self::FailsAt(page) => page + 1,
        }
    }

    /// Does the work, with the state that was made for it; says how many bytes it made of the page.
    ///
    /// # Panics
    /// When the work cannot be done: the request ends as failed.
    #[inline]
    pub fn work(&self, state: &mut Option<Packer>, page: usize) -> u64 {
        match (self, state) {
            (Self::Compress { memory, .. }, Some(packer)) => match packer.pack(memory.page(page)) {
                Ok(packed) => packed.len() as u64,
                Err(error) => panic!("page {page} cannot be compressed: {error}"),
            },
            #[cfg(test)]
            (Self::FailsAt(bad), _) if *bad == page => panic!("planted"),
            _ => 0,
        }
    }
}
