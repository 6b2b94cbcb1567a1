//! A page on its way through the workers: the payload of a request, in either direction.

use super::frame::checksum;
use crate::seeds::codec::{Codec, Packer, Unpacker};
use crate::seeds::memory::PAGE;
use std::io;

/// Which way pages go.
#[derive(Clone, Copy, Debug)]
pub(super) enum Direction {
    Pack,
    Unpack,
}

/// A page, plain and packed.
pub(super) struct Page {
    pub(super) number: u64,
    pub(super) plain: Box<[u8; PAGE]>,
    pub(super) packed: Vec<u8>,
    /// Compressing would make it no smaller: `packed` is the page as it is.
    pub(super) stored: bool,
    pub(super) checksum: u32,
    /// What is wrong with it.
    pub(super) fault: Option<String>,
    /// It was submitted, and its result was not collected yet.
    pub(super) pending: bool,
    work: Work,
}

enum Work {
    Pack(Packer),
    Unpack(Unpacker),
}

impl Page {
    pub(super) fn new(direction: Direction, codec: Codec) -> io::Result<Self> {
        let work = match direction {
            Direction::Pack => Work::Pack(Packer::new(codec)?),
            Direction::Unpack => Work::Unpack(Unpacker::new(codec)?),
        };
        let (plain, packed) = (Box::new([0; PAGE]), Vec::with_capacity(PAGE));
        Ok(Self { number: 0, plain, packed, stored: false, checksum: 0, fault: None, pending: false, work })
    }

    /// The worker's part.
    pub(super) fn work(&mut self) {
        match &mut self.work {
            Work::Pack(packer) => {
                self.packed.clear();
                match packer.pack(&self.plain[..]) {
                    Ok(packed) if packed.len() < PAGE => self.packed.extend_from_slice(packed),
                    _ => self.packed.extend_from_slice(&self.plain[..]),
                }
                self.stored = self.packed.len() == PAGE;
                self.checksum = checksum(self.number, &self.packed, &self.plain[..]);
            }
            Work::Unpack(unpacker) => {
                let unpacked = if !self.stored {
                    unpacker.unpack(&self.packed, &mut self.plain[..]).map_err(|error| error.to_string())
                } else if self.packed.len() == PAGE {
                    self.plain.copy_from_slice(&self.packed);
                    Ok(())
                } else {
                    Err("a stored page has another length".into())
                };
                let same = || checksum(self.number, &self.packed, &self.plain[..]) == self.checksum;
                self.fault = match unpacked {
                    Err(fault) => Some(fault),
                    Ok(()) if !same() => Some("its checksum is wrong".into()),
                    Ok(()) => None,
                };
            }
        }
    }
}
