//! State of a slot that travels with its payload.
//!
//! ```text
//!   ()               │turn│payload│turn│payload│…          slots are packed
//!   CachePadded<H>   │ H        line │turn│payload   line │   state in a line of its own
//!   WithPayload<H>   │ H │turn│payload               line │   state in the payload's line: whoever gets the state has the payload
//! ```

use crate::CachePadded;
use core::ops::Deref;

/// What a queue keeps in each slot, and how slots are aligned.
pub trait Header: Default + Send + Sync {
    /// A slot is aligned as this type is, at the least. No value of it is made.
    type Alignment: Send + Sync;
}

/// Nothing, and slots are packed.
impl Header for () {
    type Alignment = ();
}

/// Slots begin a line, and state has one to itself: the payload begins the next.
impl<H: Default + Send + Sync> Header for CachePadded<H> {
    type Alignment = Self;
}

/// Small state at the head of a line which the payload shares: the line that says who owns the payload brings it along.
#[derive(Debug, Default)]
pub struct WithPayload<H>(H);

impl<H: Default + Send + Sync> Header for WithPayload<H> {
    type Alignment = CachePadded<()>;
}

impl<H> Deref for WithPayload<H> {
    type Target = H;

    #[inline(always)]
    fn deref(&self) -> &H {
        &self.0
    }
}
