//! Request queues whose state is a few bits per slot, in words of their own per lane.
//!
//! Five designs of one idea: [`Bitmap`] for one submitter, [`BitmapClaim`] and [`BitmapOwned`] for many, [`BitmapSteal`] for
//! many and workers that help each other out, [`BitmapRefill`] for more threads than cores as well. All take up to 64 slots per lane.

#![cfg_attr(not(any(feature = "std", test)), no_std)]

extern crate alloc;

mod bitmap;
mod claim;
mod clients;
mod once;
mod owned;
mod steal;

pub use bitmap::{Bitmap, BitmapQueue};
pub use claim::{BitmapClaim, BitmapClaimQueue};
pub use owned::{BitmapOwned, BitmapOwnedQueue};
pub use steal::{BitmapRefill, BitmapSteal, BitmapStealQueue};

/// The place of the lowest set bit of `word`, and that bit.
#[inline(always)]
fn lowest(word: u64) -> Option<(u32, u64)> {
    (word != 0).then(|| (word.trailing_zeros(), word & word.wrapping_neg()))
}
