//! What the workers do with each request.

use super::codec::{Codec, Packer};
use super::memory::Memory;
use clap::ValueEnum;
use std::cell::RefCell;
use std::io;

/// Whose a codec's state is. zlib's is a quarter of a megabyte, which caches feel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StateOf {
    /// Each request has one, as in the original benchmark.
    Request,
    /// Each worker thread has one.
    Worker,
}

thread_local! {
    /// The state of this worker thread, which serves one job all its life.
    static OWN: RefCell<Option<Packer>> = const { RefCell::new(None) };
}

/// Work on numbered pages.
#[derive(Debug)]
pub enum Job {
    /// Compresses each page of a memory.
    Compress {
        /// The pages.
        memory: Memory,
        /// How.
        codec: Codec,
        /// Whose the codec's state is.
        state: StateOf,
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
            Self::Compress { codec, state: StateOf::Request, .. } => Packer::new(*codec).map(Some),
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
            (Self::Compress { memory, .. }, Some(packer)) => compress(packer, memory, page),
            (Self::Compress { memory, codec, .. }, None) => OWN.with_borrow_mut(|own| {
                let new = || Packer::new(*codec).expect("there is memory for a codec's state");
                compress(own.get_or_insert_with(new), memory, page)
            }),
            #[cfg(test)]
            (Self::FailsAt(bad), _) if *bad == page => panic!("planted"),
            _ => 0,
        }
    }
}

#[inline]
fn compress(packer: &mut Packer, memory: &Memory, page: usize) -> u64 {
    match packer.pack(memory.page(page)) {
        Ok(packed) => packed.len() as u64,
        Err(error) => panic!("page {page} cannot be compressed: {error}"),
    }
}
