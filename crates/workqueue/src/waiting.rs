//! How a thread waits when there is nothing for it: it looks, then lets others run, then sleeps.
//!
//! ```text
//!   look, spin hint ──looks used up──▶ look, yield ──yields used up──▶ look, sleep on an event
//! ```
//!
//! Each stage has a budget. Spinning is right when the other side has a core of its own and is about
//! to be ready; yielding when it waits for this core; sleeping when nothing will come soon.

use crate::Event;
use slotwork::Platform;
use std::slice::from_ref;
use std::time::Duration;

/// A waiting policy: a budget for each stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Waiting {
    /// Looks with a spin hint between them.
    pub looks: u32,
    /// Looks with a yield between them; [`Waiting::FOR_EVER`] never sleeps.
    pub yields: u32,
}

impl Waiting {
    /// A budget that is never used up.
    pub const FOR_EVER: u32 = u32::MAX;
    /// Looks for ever: a core for each thread.
    pub const SPIN: Self = Self { looks: Self::FOR_EVER, yields: 0 };
    /// 64 looks, then yields for ever: more threads than cores, all of them busy.
    pub const YIELD: Self = Self { looks: 64, yields: Self::FOR_EVER };
    /// 64 looks, then sleeps.
    pub const PARK: Self = Self { looks: 64, yields: 0 };
    /// 64 looks, 32 yields, then sleeps: the default.
    pub const SETTLE: Self = Self { looks: 64, yields: 32 };
    /// The waiting of the 2018 workqueue: 1000 looks, then sleeps.
    pub const BUSY_1000: Self = Self { looks: 1000, yields: 0 };

    /// Whether a waiting thread may be asleep, so that it has to be woken.
    #[must_use]
    pub const fn sleeps(self) -> bool {
        self.looks != Self::FOR_EVER && self.yields != Self::FOR_EVER
    }

    /// Looks until there is something; asleep on `event`, if at all. **Blocking.**
    #[inline]
    pub fn until<P: Platform, R>(self, event: &Event<P>, look: impl FnMut() -> Option<R>) -> R {
        self.until_any(from_ref(event), look)
    }

    /// As [`Waiting::until`]; asleep on all of `events`, if at all.
    #[inline]
    pub fn until_any<P: Platform, R>(self, events: &[Event<P>], mut look: impl FnMut() -> Option<R>) -> R {
        match self.awake::<P, R>(&mut look, || false) {
            Some(found) => found,
            None => Event::wait_until_any(events, look),
        }
    }

    /// As [`Waiting::until_any`], until no time `remaining` is left.
    pub fn until_any_timeout<P: Platform, R>(
        self,
        events: &[Event<P>],
        mut look: impl FnMut() -> Option<R>,
        mut remaining: impl FnMut() -> Option<Duration>,
    ) -> Option<R> {
        if let Some(found) = self.awake::<P, R>(&mut look, || remaining().is_none()) {
            return Some(found);
        }
        remaining()?;
        Event::wait_until_any_timeout(events, look, remaining)
    }

    /// The stages before sleep.
    #[inline]
    fn awake<P: Platform, R>(
        self,
        look: &mut impl FnMut() -> Option<R>,
        mut give_up: impl FnMut() -> bool,
    ) -> Option<R> {
        if let Some(found) = look() {
            return Some(found);
        }
        for (budget, pause) in [(self.looks, P::spin_hint as fn()), (self.yields, P::yield_now as fn())] {
            let mut used = 0;
            while used < budget {
                pause();
                if let Some(found) = look() {
                    return Some(found);
                }
                if give_up() {
                    return None;
                }
                used += u32::from(budget != Self::FOR_EVER);
            }
        }
        None
    }
}

impl Default for Waiting {
    fn default() -> Self {
        Self::SETTLE
    }
}
