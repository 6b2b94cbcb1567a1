//! The packed stream: a header, then frames in any order, then the end frame. All numbers are little-endian.
//!
//! ```text
//!   stream header  │ "SLOTWORK" │ version 2 │ codec 1 │ 0 │ page size 4 │ CRC-32 of these 4 │
//!   frame header   │ kind 1 │ first 8 │ count 8 │ checksum 4 │ CRC-32 of these 4 │
//!
//!   kind           first                    count                 checksum, followed by
//!   1 page         its number               bytes that follow     of number, bytes, and page; the bytes
//!   2 stored page  its number               bytes that follow     the same; the page as it is
//!   3 zeros        number of the first      number of pages       0
//!   4 end          length of the file       frames before it      0
//! ```
//!
//! The header's own CRC makes a damaged number or length known before it is believed; the checksum of a page covers
//! both what is in the stream and what it should become, so that a page that was swapped on the way is found too.

use super::error::{MigrateError, Place, Position};
use crate::seeds::codec::Codec;
use crate::seeds::memory::PAGE;
use std::io::{self, Read, Write};

const MAGIC: &[u8; 8] = b"SLOTWORK";
const VERSION: u16 = 1;
/// [`PAGE`], as the stream says it.
const PAGE_BYTES: u32 = 4096;
const _: () = assert!(PAGE_BYTES as usize == PAGE);

/// The first bytes of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StreamHeader {
    pub(super) codec: Codec,
}

impl StreamHeader {
    pub(super) const BYTES: usize = 20;

    pub(super) fn write(self, output: &mut dyn Write) -> io::Result<()> {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
        bytes[10] = self.codec.number();
        bytes[12..16].copy_from_slice(&PAGE_BYTES.to_le_bytes());
        seal(&mut bytes);
        output.write_all(&bytes)
    }

    pub(super) fn read(input: &mut dyn Read) -> Result<Self, MigrateError> {
        let mut bytes = [0; Self::BYTES];
        let read =
            read_full(input, &mut bytes).map_err(|source| MigrateError::Reading { after: Position::Start, source })?;
        // An input that breaks off within what a stream begins with is one that was truncated; any other is foreign.
        let known = read.min(MAGIC.len());
        if read == 0 || bytes[..known] != MAGIC[..known] {
            return Err(MigrateError::Foreign);
        }
        if read < Self::BYTES {
            return Err(MigrateError::Truncated(Place::Header));
        }
        if !is_sealed(&bytes) {
            return Err(MigrateError::Foreign);
        }
        let version = u16::from_le_bytes([bytes[8], bytes[9]]);
        let page = number(&bytes[12..16]);
        if version != VERSION || page != PAGE as u64 {
            return Err(MigrateError::Unreadable(format!("version {version}, pages of {page} bytes")));
        }
        Ok(Self { codec: Codec::from_number(bytes[10])? })
    }
}

/// The header of one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    Page { page: u64, length: usize, stored: bool, checksum: u32 },
    Zeros { first: u64, count: u64 },
    End { length: u64, frames: u64 },
}

impl Frame {
    pub(super) const BYTES: usize = 25;

    pub(super) fn write(self, output: &mut dyn Write) -> io::Result<()> {
        let (kind, first, count, checksum) = match self {
            Self::Page { page, length, stored, checksum } => {
                (if stored { 2 } else { 1 }, page, length as u64, checksum)
            }
            Self::Zeros { first, count } => (3, first, count, 0),
            Self::End { length, frames } => (4, length, frames, 0),
        };
        let mut bytes = [0; Self::BYTES];
        bytes[0] = kind;
        bytes[1..9].copy_from_slice(&first.to_le_bytes());
        bytes[9..17].copy_from_slice(&count.to_le_bytes());
        bytes[17..21].copy_from_slice(&checksum.to_le_bytes());
        seal(&mut bytes);
        output.write_all(&bytes)
    }

    /// The next frame's header; `after` is where the reader is.
    pub(super) fn read(input: &mut dyn Read, after: Position) -> Result<Self, MigrateError> {
        let mut bytes = [0; Self::BYTES];
        let read = read_full(input, &mut bytes).map_err(|source| MigrateError::Reading { after, source })?;
        if read < Self::BYTES {
            return Err(MigrateError::Truncated(Place::After(after)));
        }
        if !is_sealed(&bytes) {
            return Err(MigrateError::Frame { after });
        }
        Self::decode(&bytes).ok_or(MigrateError::Frame { after })
    }

    /// What the bytes say, if that can be.
    fn decode(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let (first, count) = (number(&bytes[1..9]), number(&bytes[9..17]));
        let checksum = u32::from_le_bytes([bytes[17], bytes[18], bytes[19], bytes[20]]);
        match bytes[0] {
            kind @ (1 | 2) => {
                let length = usize::try_from(count).ok().filter(|length| (1..=PAGE).contains(length))?;
                (first < LAST_PAGE).then_some(Self::Page { page: first, length, stored: kind == 2, checksum })
            }
            3 if count > 0 && first.checked_add(count)? <= LAST_PAGE => Some(Self::Zeros { first, count }),
            4 if first.div_ceil(PAGE as u64) <= LAST_PAGE => Some(Self::End { length: first, frames: count }),
            _ => None,
        }
    }
}

/// No file is so long: offsets of files are signed 64-bit numbers.
const LAST_PAGE: u64 = i64::MAX as u64 / PAGE as u64;

/// The checksum of a page: over its number, what is in the stream, and what that should become.
pub(super) fn checksum(page: u64, packed: &[u8], plain: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&page.to_le_bytes());
    hasher.update(packed);
    hasher.update(plain);
    hasher.finalize()
}

/// Reads until `buffer` is full or the input has ended; says how much it read.
pub(super) fn read_full(input: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Writes the CRC of all but the last four bytes there.
fn seal(bytes: &mut [u8]) {
    let at = bytes.len() - 4;
    let crc = crc32fast::hash(&bytes[..at]);
    bytes[at..].copy_from_slice(&crc.to_le_bytes());
}

fn is_sealed(bytes: &[u8]) -> bool {
    let at = bytes.len() - 4;
    bytes[at..] == crc32fast::hash(&bytes[..at]).to_le_bytes()
}

/// Up to eight bytes, the lowest first.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(frame: Frame) -> Vec<u8> {
        let mut bytes = Vec::new();
        frame.write(&mut bytes).unwrap();
        assert_eq!(bytes.len(), Frame::BYTES);
        bytes
    }

    #[test]
    fn frames_come_back_as_they_were() {
        for frame in [
            Frame::Page { page: 7, length: 1, stored: false, checksum: 0x1234_5678 },
            Frame::Page { page: LAST_PAGE - 1, length: PAGE, stored: true, checksum: 0 },
            Frame::Zeros { first: 0, count: LAST_PAGE },
            Frame::End { length: 0, frames: 0 },
            Frame::End { length: u64::from(u32::MAX) + 5, frames: 3 },
        ] {
            assert_eq!(Frame::read(&mut &bytes(frame)[..], Position::Start).unwrap(), frame);
        }
    }

    #[test]
    fn a_flipped_bit_anywhere_in_a_header_is_found() {
        let good = bytes(Frame::Page { page: 7, length: 300, stored: false, checksum: 99 });
        for bit in 0..Frame::BYTES * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let error = Frame::read(&mut &bad[..], Position::Page(3)).unwrap_err();
            assert_eq!(error.to_string(), "corrupt: the frame after page 3 is damaged");
        }
    }

    #[test]
    fn a_well_sealed_frame_that_cannot_be_is_refused() {
        for frame in [
            Frame::Page { page: LAST_PAGE, length: 1, stored: false, checksum: 0 },
            Frame::Page { page: 0, length: PAGE + 1, stored: false, checksum: 0 },
            Frame::Page { page: 0, length: 0, stored: false, checksum: 0 },
            Frame::Zeros { first: 1, count: u64::MAX },
            Frame::Zeros { first: 1, count: LAST_PAGE },
            Frame::Zeros { first: 1, count: 0 },
            Frame::End { length: u64::MAX, frames: 0 },
        ] {
            let read = Frame::read(&mut &bytes(frame)[..], Position::Start);
            assert!(matches!(read, Err(MigrateError::Frame { after: Position::Start })), "{frame:?}: {read:?}");
        }
    }
}
