//! Structures that begin with their size, so that a program built against an older or a newer header is understood.
//!
//! ```text
//!   older program   │ size │ a │ b │            read: what is missing is zero      write: what fits
//!   this library    │ size │ a │ b │ c │
//!   newer program   │ size │ a │ b │ c │ d │    read: d must be zero               write: d is left as it is
//! ```
//!
//! Each size that was ever published is known, so that a smaller one (as of a pointer to the structure, taken by mistake) is
//! refused, and none cuts a field.

use crate::status::Status;
use std::mem::MaybeUninit;
use std::slice;

/// Bytes of a structure that a program can mean; more is a size that was never set.
const MOST: usize = 1 << 16;

/// A structure of the C interface that begins with its size.
///
/// # Safety
/// It is `repr(C)`, its first field is a `usize`, all zeroes are a value of it, it has no padding, and none of `SIZES` is smaller
/// than that field or greater than the structure.
pub(crate) unsafe trait Growing: Copy {
    /// What it was in each version that changed it: append the new size when it grows.
    const SIZES: &'static [usize];
}

/// How many bytes the program has, and how many of them are a structure that was published.
///
/// # Safety
/// `structure` is null, or its size is readable.
unsafe fn sizes<T: Growing>(structure: *const T) -> Result<(usize, usize), Status> {
    if structure.is_null() {
        return Err(Status::Null);
    }
    // SAFETY: not null, so as the caller promises; the first field is the size.
    let size = unsafe { structure.cast::<usize>().read() };
    let known = T::SIZES.iter().rev().find(|&&known| known <= size);
    known.filter(|_| size <= MOST).map(|&known| (size, known)).ok_or(Status::Configuration)
}

/// The structure, with zeroes for what an older program does not know.
///
/// # Safety
/// `structure` is null, or readable for as many bytes as its size says.
pub(crate) unsafe fn read<T: Growing>(structure: *const T) -> Result<T, Status> {
    // SAFETY: as the caller promises.
    let (size, known) = unsafe { sizes(structure) }?;
    let bytes = structure.cast::<u8>();
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
    let (_, known) = unsafe { sizes(structure) }?;
    let (skip, value) = (size_of::<usize>(), (&raw const value).cast::<u8>());
    // SAFETY: `known` bytes are readable here and writable there, and at least `skip`.
    unsafe { structure.cast::<u8>().add(skip).copy_from_nonoverlapping(value.add(skip), known - skip) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: usize = size_of::<usize>();

    /// Of three versions: `size` and `number`, then `second`, then `third`.
    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Now {
        size: usize,
        number: usize,
        second: usize,
        third: usize,
    }
    // SAFETY: all of it holds.
    unsafe impl Growing for Now {
        const SIZES: &'static [usize] = &[2 * WORD, 3 * WORD, 4 * WORD];
    }

    #[repr(C)]
    struct Later {
        now: Now,
        further: usize,
    }

    fn of_size(size: usize) -> Now {
        Now { size, number: 1, second: 2, third: 3 }
    }

    fn read_of(now: Now) -> Result<Now, Status> {
        // SAFETY: a size of at most that structure's, or one that is refused.
        unsafe { read(&raw const now) }
    }

    #[test]
    fn older_and_newer_structures_are_understood() {
        assert_eq!(read_of(of_size(2 * WORD)), Ok(Now { second: 0, third: 0, ..of_size(2 * WORD) }));
        assert_eq!(read_of(of_size(3 * WORD)), Ok(Now { third: 0, ..of_size(3 * WORD) }));
        assert_eq!(read_of(of_size(4 * WORD)), Ok(of_size(4 * WORD)));
        let mut later = Later { now: of_size(5 * WORD), further: 0 };
        // SAFETY: `later` is as large as its size says.
        unsafe {
            assert_eq!(read((&raw const later).cast::<Now>()), Ok(of_size(5 * WORD)));
            later.further = 1;
            assert_eq!(read((&raw const later).cast::<Now>()), Err(Status::Configuration));
            assert_eq!(read(std::ptr::null::<Now>()), Err(Status::Null));
        }
        let mut old = of_size(3 * WORD);
        // SAFETY: as above.
        unsafe { assert_eq!(write(Now { size: 9, number: 9, second: 9, third: 9 }, &raw mut old), Ok(())) };
        let expected = Now { size: 3 * WORD, number: 9, second: 9, third: 3 };
        assert_eq!(old, expected, "an older program's memory is not overwritten");
    }

    #[test]
    fn a_size_that_was_never_set_or_is_a_pointers_is_refused() {
        for size in [0, 1, WORD, 2 * WORD - 1, MOST + 1, usize::MAX] {
            assert_eq!(read_of(of_size(size)), Err(Status::Configuration), "{size}");
            let mut structure = of_size(size);
            // SAFETY: a size that is refused.
            assert_eq!(unsafe { write(of_size(9), &raw mut structure) }, Err(Status::Configuration), "{size}");
            assert_eq!(structure, of_size(size));
        }
    }

    #[test]
    fn a_size_that_cuts_a_field_means_the_fields_before_it() {
        let mut cut = of_size(3 * WORD + 4);
        assert_eq!(read_of(cut), Err(Status::Configuration), "what is cut is not known, so it has to be zero");
        cut.third = 0;
        assert_eq!(read_of(cut), Ok(cut));
        cut.third = 3;
        // SAFETY: as large as its size says, and larger.
        unsafe { assert_eq!(write(Now { size: 9, number: 9, second: 9, third: 9 }, &raw mut cut), Ok(())) };
        assert_eq!(cut, Now { size: 3 * WORD + 4, number: 9, second: 9, third: 3 });
    }
}
