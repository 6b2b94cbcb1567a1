//! Request queues with a free list for all lanes and signal words per lane.
//!
//! [`FreelistBitmap`]: a worker grabs the signals of its own lane, a word at a time. [`FreelistSteal`]: any
//! worker takes any signal, so that none idles beside a submitted slot.

#![cfg_attr(not(any(feature = "std", test)), no_std)]

extern crate alloc;

mod grab;
mod steal;

pub use grab::{FreelistBitmap, FreelistBitmapQueue};
pub use steal::{FreelistSteal, FreelistStealQueue};
