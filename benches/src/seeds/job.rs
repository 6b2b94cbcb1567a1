//! What the workers do with each request.

use super::codec::{Codec, Packer};
use super::memory::Memory;
use std::io;

/// Work on numbered pages.
pub trait Job: Send + Sync + 'static {
    /// What a request keeps from page to page.
    type State: Send + 'static;

    /// The state of a new request.
    ///
    /// # Errors
    /// When it cannot be made.
    fn state(&self) -> io::Result<Self::State>;

    /// Number of pages, at least 1.
    fn pages(&self) -> usize;

    /// Does the work; says how many bytes it made of the page.
    ///
    /// # Panics
    /// When the work cannot be done: the request ends as failed.
    fn work(&self, state: &mut Self::State, page: usize) -> u64;
}

/// Compresses each page of a memory.
#[derive(Debug)]
pub struct CompressPages {
    /// The pages.
    pub memory: Memory,
    /// How.
    pub codec: Codec,
}

impl Job for CompressPages {
    type State = Packer;

    fn state(&self) -> io::Result<Packer> {
        Packer::new(self.codec)
    }

    fn pages(&self) -> usize {
        self.memory.pages()
    }

    #[inline]
    fn work(&self, packer: &mut Packer, page: usize) -> u64 {
        match packer.pack(self.memory.page(page)) {
            Ok(packed) => packed.len() as u64,
            Err(error) => panic!("page {page} cannot be compressed: {error}"),
        }
    }
}

/// Does nothing: what remains is the queue.
#[derive(Clone, Copy, Debug)]
pub struct Nothing;

impl Job for Nothing {
    type State = ();

    fn state(&self) -> io::Result<()> {
        Ok(())
    }

    fn pages(&self) -> usize {
        1
    }

    #[inline]
    fn work(&self, _state: &mut (), _page: usize) -> u64 {
        0
    }
}
