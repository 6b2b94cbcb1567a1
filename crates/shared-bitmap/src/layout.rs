//! What stands in whose cache line: the steps from v2 towards v3.
//!
//! ```text
//!   V2           fill and done bitmaps adjoin, cursor beside what all read, slots packed
//!   Aligned      each bitmap begins a line, the cursor has one of its own
//!   SlotsApart   … and each slot begins a line
//!   LaneBitmaps  … and each lane's bits begin a line
//! ```
//!
//! The step after that, one word per lane with a plain flip, is a different design: `bitmap`.

use core::ops::Deref;
use slotwork::{CachePadded, Header, Platform, Shape};

/// A step: where bits, cursor and slots stand.
pub trait Layout: Send + Sync + 'static {
    /// The design's name.
    const NAME: &'static str;
    /// Where it comes from.
    const SOURCE: &'static str;
    /// Its alignment packs slots, or sets them apart.
    type Header: Header;
    /// The cursor, alone or not.
    type Cursor<P: Platform>: Deref<Target = P::AtomicU32> + From<P::AtomicU32> + Send + Sync;

    /// Bits from the first slot of a lane to the first of the next.
    fn lane_stride(shape: Shape) -> usize;

    /// The word at which the done bitmap begins, behind `words` words of the fill bitmap.
    fn done_begins(words: usize) -> usize;
}

/// Words in a line of 128 bytes: two lines of 64, because processors fetch neighbours together.
pub(crate) const LINE_WORDS: usize = 16;

/// As in v2: nothing is aligned.
#[derive(Clone, Copy, Debug)]
pub struct V2;

/// The bitmaps and the cursor have lines of their own.
#[derive(Clone, Copy, Debug)]
pub struct Aligned;

/// So has each slot.
#[derive(Clone, Copy, Debug)]
pub struct SlotsApart;

/// So have each lane's bits.
#[derive(Clone, Copy, Debug)]
pub struct LaneBitmaps;

/// A cursor that stands where it is put.
pub struct Inline<T>(T);

impl<T> From<T> for Inline<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for Inline<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl Layout for V2 {
    const NAME: &'static str = "shared-bitmap";
    const SOURCE: &'static str = "QEMU threaded workqueue v2, 2018";
    type Header = ();
    type Cursor<P: Platform> = Inline<P::AtomicU32>;

    fn lane_stride(shape: Shape) -> usize {
        shape.slots_per_lane()
    }

    fn done_begins(words: usize) -> usize {
        words
    }
}

macro_rules! apart {
    ($($layout:ident $name:literal, header $header:ty, $shape:ident => $stride:expr;)+) => {
        $(
            impl Layout for $layout {
                const NAME: &'static str = $name;
                const SOURCE: &'static str = "a step from QEMU threaded workqueue v2 to v3, 2018";
                type Header = $header;
                type Cursor<P: Platform> = CachePadded<P::AtomicU32>;

                fn lane_stride($shape: Shape) -> usize {
                    $stride
                }

                fn done_begins(words: usize) -> usize {
                    words.next_multiple_of(LINE_WORDS)
                }
            }
        )+
    };
}

apart! {
    Aligned "step-aligned", header (), shape => shape.slots_per_lane();
    SlotsApart "step-slots-apart", header CachePadded<()>, shape => shape.slots_per_lane();
    LaneBitmaps "step-lane-bitmaps", header CachePadded<()>, shape => {
        shape.slots_per_lane().next_multiple_of(LINE_WORDS * 64)
    };
}
