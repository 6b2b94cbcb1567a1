//! Structures that begin with their size, so that a program built against an older or a newer header is understood.
//!
//! ```text
//!   older program   │ size │ a │ b │            read: what is missing is zero      write: what fits
//!   this library    │ size │ a │ b │ c │
//!   newer program   │ size │ a │ b │ c │ d │    read: d must be zero               write: d is left as it is
//! ```

use crate::status::Status;
use std::mem::MaybeUninit;
use std::slice;

/// Bytes of a structure that a program can mean; more is a size that was never set.
const MOST: usize = 1 << 16;

/// A structure of the C interface that begins with its size.
///
/// # Safety
/// It is `repr(C)`, its first field is a `usize`, all zeroes are a value of it, and it has no padding.
pub(crate) unsafe trait Growing: Copy {}

/// # Safety
/// `structure` is null, or its size is readable.
unsafe fn size<T: Growing>(structure: *const T) -> Result<usize, Status> {
    if structure.is_null() {
        return Err(Status::Null);
    }
    // SAFETY: not null, so as the caller promises; the first field is the size.
    let size = unsafe { structure.cast::<usize>().read() };
    if (size_of::<usize>()..=MOST).contains(&size) { Ok(size) } else { Err(Status::Configuration) }
}

/// The structure, with zeroes for what an older program does not know.
///
/// # Safety
/// `structure` is null, or readable for as many bytes as its size says.
pub(crate) unsafe fn read<T: Growing>(structure: *const T) -> Result<T, Status> {
    // SAFETY: as the caller promises.
    let size = unsafe { size(structure) }?;
    let (bytes, known) = (structure.cast::<u8>(), size.min(size_of::<T>()));
    // SAFETY: `size` bytes are readable.
    let unknown = unsafe { slice::from_raw_parts(bytes.add(known), size - known) };
    if unknown.iter().any(|&byte| byte != 0) {
        return Err(Status::Configuration);
    }
    let mut copy = MaybeUninit::<T>::zeroed();
    // SAFETY: `known` bytes are readable there and writable here; all zeroes are a value, and so is any
    // beginning of the caller's over them.
    unsafe {
        copy.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(bytes, known);
        Ok(copy.assume_init())
    }
}

/// Writes as much of `value` as the program knows, but not the size.
///
/// # Safety
/// `structure` is null, or readable and writable for as many bytes as its size says.
pub(crate) unsafe fn write<T: Growing>(value: T, structure: *mut T) -> Result<(), Status> {
    // SAFETY: as the caller promises.
    let known = unsafe { size(structure) }?.min(size_of::<T>());
    let (skip, value) = (size_of::<usize>(), (&raw const value).cast::<u8>());
    // SAFETY: `known` bytes are readable here and writable there, and at least `skip`.
    unsafe { structure.cast::<u8>().add(skip).copy_from_nonoverlapping(value.add(skip), known - skip) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Now {
        size: usize,
        number: u64,
    }
    // SAFETY: all of it holds.
    unsafe impl Growing for Now {}

    #[repr(C)]
    struct Later {
        size: usize,
        number: u64,
        further: u64,
    }

    #[test]
    fn older_and_newer_structures_are_understood() {
        let bytes = size_of::<usize>();
        let mut old = Now { size: bytes, number: 7 };
        // SAFETY: readable and writable throughout.
        unsafe {
            assert_eq!(read(&raw const old), Ok(Now { size: bytes, number: 0 }));
            assert_eq!(write(Now { size: 0, number: 9 }, &raw mut old), Ok(()));
            assert_eq!(old, Now { size: bytes, number: 7 }, "an older program's memory is not overwritten");
            old.size = size_of::<Now>();
            assert_eq!(write(Now { size: 0, number: 9 }, &raw mut old), Ok(()));
            assert_eq!(read(&raw const old).map(|now| now.number), Ok(9));
            old.size = 1;
            assert_eq!(read(&raw const old), Err(Status::Configuration));
            assert_eq!(read(std::ptr::null::<Now>()), Err(Status::Null));
            let mut new = Later { size: size_of::<Later>(), number: 5, further: 0 };
            assert_eq!(read((&raw const new).cast::<Now>()).map(|now| now.number), Ok(5));
            new.further = 1;
            assert_eq!(read((&raw const new).cast::<Now>()), Err(Status::Configuration));
        }
    }
}
