//! The atomics of `core` as a platform's: every access folds to the plain instruction.

use crate::{AccessCell, Atomic, AtomicInteger, Site};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

macro_rules! atomic {
    ([$($parameter:ident)?] $cell:ty, $value:ty) => {
        impl<$($parameter)?> Atomic<$value> for $cell {
            #[inline(always)]
            fn new(value: $value) -> Self {
                Self::new(value)
            }

            #[inline(always)]
            fn load(&self, site: &'static Site) -> $value {
                self.load(site.load())
            }

            #[inline(always)]
            fn store(&self, value: $value, site: &'static Site) {
                self.store(value, site.store());
            }

            #[inline(always)]
            fn swap(&self, value: $value, site: &'static Site) -> $value {
                self.swap(value, site.rmw())
            }

            #[inline(always)]
            fn compare_exchange(&self, current: $value, new: $value, site: &'static Site) -> Result<$value, $value> {
                let (success, failure) = site.compare_exchange();
                self.compare_exchange(current, new, success, failure)
            }

            #[inline(always)]
            fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                site: &'static Site,
            ) -> Result<$value, $value> {
                let (success, failure) = site.compare_exchange();
                self.compare_exchange_weak(current, new, success, failure)
            }
        }
    };
}

macro_rules! integer {
    ($cell:ty, $value:ty: $($operation:ident)+) => {
        impl AtomicInteger<$value> for $cell {
            $(
                #[inline(always)]
                fn $operation(&self, value: $value, site: &'static Site) -> $value {
                    self.$operation(value, site.rmw())
                }
            )+
        }
    };
}

atomic!([] AtomicU32, u32);
atomic!([] AtomicU64, u64);
atomic!([T] AtomicPtr<T>, *mut T);
integer!(AtomicU32, u32: fetch_add fetch_sub fetch_and fetch_or fetch_xor);
integer!(AtomicU64, u64: fetch_add fetch_sub fetch_and fetch_or fetch_xor);

/// Stands for a payload where nobody checks: no size, no cost. Accesses are ordered by the design alone.
#[derive(Debug)]
pub struct NativeCell;

impl AccessCell for NativeCell {
    type Hold = ();

    #[inline(always)]
    fn new() -> Self {
        Self
    }

    #[inline(always)]
    fn hold(&self) -> Self::Hold {}
}
