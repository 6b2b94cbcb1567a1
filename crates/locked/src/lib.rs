//! The honest baselines: what a careful programmer writes first.
//!
//! [`GlobalLock`] has one lock around the whole queue; [`LaneLock`] has one per lane, which is the
//! step that the 2008 patches took for an emulator's devices.

#![cfg_attr(not(any(feature = "std", test)), no_std)]

extern crate alloc;

mod global;
mod lane;

pub use global::{GlobalLock, GlobalLockQueue};
pub use lane::{LaneLock, LaneLockQueue};
