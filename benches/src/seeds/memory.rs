//! The pages that are compressed: the memory of the original benchmark, or a real file.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Bytes of a page.
pub const PAGE: usize = 4096;

/// What the first byte of each page of the synthetic memory is; all others are zero.
const MARK: u8 = 0x10;

/// A number of whole pages in memory.
#[derive(Clone, Debug)]
pub struct Memory {
    bytes: Vec<u8>,
}

/// Why there are no pages to work on.
#[derive(Debug, Error)]
pub enum MemoryError {
    /// So much memory cannot be meant.
    #[error("a memory of {gib} GiB has no page, or more than can be: at least one page, at most {most} GiB")]
    Size {
        /// GiB asked for.
        gib: f64,
        /// The most that can be asked for.
        most: f64,
    },
    /// There is not so much memory on this machine.
    #[error("there is no memory for {bytes} bytes: {available} are available")]
    NotThere {
        /// Bytes asked for.
        bytes: u64,
        /// Bytes that could be had.
        available: u64,
    },
    /// The file has no byte.
    #[error("'{}' is empty: there is no page in it", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read '{}'", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Memory {
    /// The most GiB that can be asked for.
    pub const MOST_GIB: f64 = 4096.0;

    /// The memory of the original benchmark: zero, but for the first byte of each page.
    ///
    /// # Errors
    /// [`MemoryError::Size`], [`MemoryError::NotThere`].
    pub fn synthetic(gib: f64) -> Result<Self, MemoryError> {
        let pages = pages_of(gib)?;
        let mut bytes = reserve(pages as u64 * PAGE as u64)?;
        bytes.resize(pages * PAGE, 0);
        bytes.chunks_exact_mut(PAGE).for_each(|page| page[0] = MARK);
        Ok(Self { bytes })
    }

    /// The pages of a file of any length; the last one is padded with zeros.
    ///
    /// # Errors
    /// [`MemoryError::Unreadable`], [`MemoryError::Empty`], [`MemoryError::NotThere`].
    pub fn of_file(path: &Path) -> Result<Self, MemoryError> {
        let unreadable = |source| MemoryError::Unreadable { path: path.into(), source };
        let file = File::open(path).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        let mut bytes = reserve(length.next_multiple_of(PAGE as u64))?;
        // The length was a guess: a file may grow, and some have none until they are read.
        file.take(available().unwrap_or(u64::MAX)).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.is_empty() {
            return Err(MemoryError::Empty { path: path.into() });
        }
        bytes.resize(bytes.len().next_multiple_of(PAGE), 0);
        Ok(Self { bytes })
    }

    /// Number of pages, at least 1.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.bytes.len() / PAGE
    }

    /// One page.
    ///
    /// # Panics
    /// When there is no such page.
    #[inline]
    #[must_use]
    pub fn page(&self, page: usize) -> &[u8] {
        &self.bytes[page * PAGE..][..PAGE]
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
fn pages_of(gib: f64) -> Result<usize, MemoryError> {
    let pages = gib * (1 << 30) as f64 / PAGE as f64;
    if !(1.0..=Memory::MOST_GIB * (1 << 18) as f64).contains(&pages) {
        return Err(MemoryError::Size { gib, most: Memory::MOST_GIB });
    }
    Ok(pages as usize)
}

/// Room for so many bytes. What the machine does not have is refused: some systems would say yes
/// here, and kill the program when it fills the room.
fn reserve(bytes: u64) -> Result<Vec<u8>, MemoryError> {
    let available = available().unwrap_or(u64::MAX);
    let refusal = MemoryError::NotThere { bytes, available };
    let mut room = Vec::new();
    match usize::try_from(bytes) {
        Ok(length) if bytes <= available && room.try_reserve_exact(length).is_ok() => Ok(room),
        _ => Err(refusal),
    }
}

/// Bytes of memory that could be had without swapping; none where the system does not say.
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn synthetic_memory_is_zero_but_for_a_mark_in_each_page() {
        let memory = Memory::synthetic(3.0 / (1 << 18) as f64).unwrap();
        assert_eq!(memory.pages(), 3);
        for page in 0..3 {
            assert_eq!(memory.page(page)[0], 0x10);
            assert!(memory.page(page)[1..].iter().all(|&byte| byte == 0));
        }
    }

    #[test]
    fn absurd_sizes_are_refused() {
        for gib in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-9, 1e9] {
            assert!(matches!(Memory::synthetic(gib), Err(MemoryError::Size { .. })), "{gib}");
        }
    }

    #[test]
    fn the_last_page_of_a_file_is_padded() {
        for (length, pages) in [(1, 1), (PAGE, 1), (PAGE + 1, 2)] {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(&vec![7; length]).unwrap();
            let memory = Memory::of_file(file.path()).unwrap();
            assert_eq!(memory.pages(), pages);
            let sevens = (0..pages).flat_map(|page| memory.page(page)).filter(|&&byte| byte == 7).count();
            assert_eq!(sevens, length);
        }
        let empty = tempfile::NamedTempFile::new().unwrap();
        assert!(matches!(Memory::of_file(empty.path()), Err(MemoryError::Empty { .. })));
    }
}
