//! How a page is compressed, and made whole again.

use super::memory::PAGE;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use serde::{Serialize, Serializer};
use std::fmt;
use std::io;
use std::str::FromStr;
use thiserror::Error;

/// Room for whatever a codec makes of a page, even of one that does not compress.
const MOST: usize = PAGE + PAGE / 8;

/// A way to compress pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// zlib, level 1: that of the original benchmark.
    Zlib,
    /// LZ4, as a block.
    Lz4,
    /// Zstandard, level 1; needs a C toolchain to build, so it is a feature of the package.
    #[cfg(feature = "zstd")]
    Zstd,
    /// Not at all: the page is copied.
    None,
}

/// A name of no codec, or of one that was not built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum UnknownCodec {
    /// There is none.
    #[error("known codecs are zlib, lz4, zstd and none")]
    Unknown,
    /// This build is without it.
    #[error("this build is without zstd: build it with --features zstd, which needs a C compiler")]
    #[cfg(not(feature = "zstd"))]
    NotBuilt,
}

/// A page could not be compressed, or what should be one is none.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct CodecError(String);

impl Codec {
    /// The number by which a packed stream names it.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Zlib => 1,
            Self::Lz4 => 2,
            #[cfg(feature = "zstd")]
            Self::Zstd => 3,
        }
    }

    /// The codec of this number, or why there is none.
    ///
    /// # Errors
    /// [`UnknownCodec`].
    pub const fn from_number(number: u8) -> Result<Self, UnknownCodec> {
        match number {
            0 => Ok(Self::None),
            1 => Ok(Self::Zlib),
            2 => Ok(Self::Lz4),
            #[cfg(feature = "zstd")]
            3 => Ok(Self::Zstd),
            #[cfg(not(feature = "zstd"))]
            3 => Err(UnknownCodec::NotBuilt),
            _ => Err(UnknownCodec::Unknown),
        }
    }
}

impl FromStr for Codec {
    type Err = UnknownCodec;

    fn from_str(name: &str) -> Result<Self, UnknownCodec> {
        match name {
            "none" => Ok(Self::None),
            "zlib" => Ok(Self::Zlib),
            "lz4" => Ok(Self::Lz4),
            "zstd" => Self::from_number(3),
            _ => Err(UnknownCodec::Unknown),
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::None => "none",
            Self::Zlib => "zlib",
            Self::Lz4 => "lz4",
            #[cfg(feature = "zstd")]
            Self::Zstd => "zstd",
        })
    }
}

impl Serialize for Codec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Compresses pages: the state of one codec, kept from page to page, and the last result.
pub struct Packer {
    state: PackerState,
    room: Box<[u8; MOST]>,
    length: usize,
}

enum PackerState {
    None,
    Zlib(Box<Compress>),
    Lz4,
    #[cfg(feature = "zstd")]
    Zstd(Box<zstd::bulk::Compressor<'static>>),
}

impl Packer {
    /// A packer.
    ///
    /// # Errors
    /// When the codec has no memory for its state.
    pub fn new(codec: Codec) -> io::Result<Self> {
        let state = match codec {
            Codec::None => PackerState::None,
            Codec::Zlib => PackerState::Zlib(Box::new(Compress::new(Compression::fast(), true))),
            Codec::Lz4 => PackerState::Lz4,
            #[cfg(feature = "zstd")]
            Codec::Zstd => PackerState::Zstd(Box::new(zstd::bulk::Compressor::new(1)?)),
        };
        Ok(Self { state, room: Box::new([0; MOST]), length: 0 })
    }

    /// Compresses one page; returns the result, which is kept.
    ///
    /// # Errors
    /// [`CodecError`].
    pub fn pack(&mut self, page: &[u8]) -> Result<&[u8], CodecError> {
        let room = &mut self.room[..];
        self.length = match &mut self.state {
            PackerState::None => {
                room[..page.len()].copy_from_slice(page);
                page.len()
            }
            PackerState::Zlib(zlib) => {
                zlib.reset();
                match zlib.compress(page, room, FlushCompress::Finish) {
                    Ok(Status::StreamEnd) => length(zlib.total_out()),
                    Ok(status) => return Err(CodecError(format!("zlib has not ended: {status:?}"))),
                    Err(error) => return Err(CodecError(error.to_string())),
                }
            }
            PackerState::Lz4 => lz4_flex::block::compress_into(page, room).map_err(|e| CodecError(e.to_string()))?,
            #[cfg(feature = "zstd")]
            PackerState::Zstd(zstd) => zstd.compress_to_buffer(page, room).map_err(|e| CodecError(e.to_string()))?,
        };
        Ok(self.packed())
    }

    /// The last result.
    #[must_use]
    pub fn packed(&self) -> &[u8] {
        &self.room[..self.length]
    }
}

/// Makes pages whole again.
pub struct Unpacker(UnpackerState);

enum UnpackerState {
    None,
    Zlib(Box<Decompress>),
    Lz4,
    #[cfg(feature = "zstd")]
    Zstd(Box<zstd::bulk::Decompressor<'static>>),
}

impl Unpacker {
    /// An unpacker.
    ///
    /// # Errors
    /// When the codec has no memory for its state.
    pub fn new(codec: Codec) -> io::Result<Self> {
        Ok(Self(match codec {
            Codec::None => UnpackerState::None,
            Codec::Zlib => UnpackerState::Zlib(Box::new(Decompress::new(true))),
            Codec::Lz4 => UnpackerState::Lz4,
            #[cfg(feature = "zstd")]
            Codec::Zstd => UnpackerState::Zstd(Box::new(zstd::bulk::Decompressor::new()?)),
        }))
    }

    /// Fills `page` with what `packed` is the compressed form of, which is exactly a page.
    ///
    /// # Errors
    /// [`CodecError`].
    pub fn unpack(&mut self, packed: &[u8], page: &mut [u8]) -> Result<(), CodecError> {
        let written = match &mut self.0 {
            UnpackerState::None if packed.len() == page.len() => {
                page.copy_from_slice(packed);
                page.len()
            }
            UnpackerState::None => packed.len(),
            UnpackerState::Zlib(zlib) => {
                zlib.reset(true);
                match zlib.decompress(packed, page, FlushDecompress::Finish) {
                    Ok(Status::StreamEnd) if length(zlib.total_in()) == packed.len() => length(zlib.total_out()),
                    Ok(_) => return Err(CodecError("not the zlib stream of one page".into())),
                    Err(error) => return Err(CodecError(error.to_string())),
                }
            }
            UnpackerState::Lz4 => {
                lz4_flex::block::decompress_into(packed, page).map_err(|e| CodecError(e.to_string()))?
            }
            #[cfg(feature = "zstd")]
            UnpackerState::Zstd(zstd) => {
                zstd.decompress_to_buffer(packed, page).map_err(|e| CodecError(e.to_string()))?
            }
        };
        if written == page.len() { Ok(()) } else { Err(CodecError(format!("{written} bytes instead of a page"))) }
    }
}

fn length(total: u64) -> usize {
    usize::try_from(total).unwrap_or(usize::MAX)
}

macro_rules! opaque {
    ($($type:ident),+) => {
        $(impl fmt::Debug for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.debug_struct(stringify!($type)).finish_non_exhaustive()
            }
        })+
    };
}

opaque!(Packer, Unpacker);

/// The codecs of this build.
pub const CODECS: &[Codec] = &[
    Codec::Zlib,
    Codec::Lz4,
    #[cfg(feature = "zstd")]
    Codec::Zstd,
    Codec::None,
];

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    fn pages() -> Vec<Vec<u8>> {
        let mut random = vec![0; PAGE];
        SmallRng::seed_from_u64(1).fill_bytes(&mut random);
        let text: Vec<u8> = b"one page of a file, and another ".iter().copied().cycle().take(PAGE).collect();
        vec![vec![0; PAGE], random, text]
    }

    #[test]
    fn every_codec_gives_every_page_back() {
        for &codec in CODECS {
            let (mut packer, mut unpacker) = (Packer::new(codec).unwrap(), Unpacker::new(codec).unwrap());
            for page in pages().iter().chain(&pages()) {
                let packed = packer.pack(page).unwrap().to_vec();
                assert_eq!(packer.packed(), packed);
                let mut unpacked = vec![1; PAGE];
                unpacker.unpack(&packed, &mut unpacked).unwrap();
                assert!(unpacked == *page, "{codec}");
            }
        }
    }

    #[test]
    fn what_is_no_page_is_an_error() {
        for &codec in CODECS {
            let mut unpacker = Unpacker::new(codec).unwrap();
            let mut page = vec![0; PAGE];
            let packed = Packer::new(codec).unwrap().pack(&pages()[2]).unwrap().to_vec();
            assert!(unpacker.unpack(&packed[..packed.len() - 1], &mut page).is_err(), "{codec}: truncated");
            assert!(unpacker.unpack(&[], &mut page).is_err(), "{codec}: empty");
            assert!(unpacker.unpack(&packed, &mut page[..PAGE - 1]).is_err(), "{codec}: more than a page");
            // And none of this harms the next page.
            unpacker.unpack(&packed, &mut page).unwrap();
            assert!(page == pages()[2], "{codec}");
        }
    }

    #[test]
    fn names_and_numbers_lead_back() {
        for &codec in CODECS {
            assert_eq!(codec.to_string().parse(), Ok(codec));
            assert_eq!(Codec::from_number(codec.number()), Ok(codec));
        }
        assert!("gzip".parse::<Codec>().is_err());
        assert!(Codec::from_number(200).is_err());
    }
}
