//! The event, and events that are wrong: what the checks of waiting must reject.

use slotwork::Native;
use slotwork_workqueue::Event;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::Duration;

/// What the checks need of an event.
pub(crate) trait Bell: Default + Send + Sync + 'static {
    fn wait_until<R>(&self, look: impl FnMut() -> Option<R>) -> R;
    fn wait_until_timeout<R>(
        &self,
        look: impl FnMut() -> Option<R>,
        remaining: impl FnMut() -> Option<Duration>,
    ) -> Option<R>;
    fn notify_one(&self) -> bool;
}

impl Bell for Event<Native> {
    fn wait_until<R>(&self, look: impl FnMut() -> Option<R>) -> R {
        self.wait_until(look)
    }

    fn wait_until_timeout<R>(
        &self,
        look: impl FnMut() -> Option<R>,
        remaining: impl FnMut() -> Option<Duration>,
    ) -> Option<R> {
        self.wait_until_timeout(look, remaining)
    }

    fn notify_one(&self) -> bool {
        self.notify_one()
    }
}

/// Nothing is wrong: the control.
pub(crate) const RIGHT: u8 = 0;
/// Looks before it is on the list, and not after.
pub(crate) const NO_SECOND_LOOK: u8 = 1;
/// Keeps a wake that it did not need.
pub(crate) const KEEPS_WAKE: u8 = 2;
/// Wakes the first on the list again and again, until that one runs.
pub(crate) const WAKES_FIRST_AGAIN: u8 = 3;
/// Takes any return of park for a wake: is off the list, and does not know it from being on it.
pub(crate) const TRUSTS_PARK: u8 = 4;
/// Stays on the list when it gives up.
pub(crate) const LEAVES_TRACE: u8 = 5;
/// Wakes another when it was woken and finds nothing.
pub(crate) const REBROADCASTS: u8 = 6;

/// An event with a list under a lock, and one fault.
#[derive(Default)]
pub(crate) struct BadBell<const FAULT: u8> {
    list: Mutex<VecDeque<Arc<Sleeper>>>,
}

struct Sleeper {
    thread: Thread,
    woken: AtomicBool,
}

impl<const FAULT: u8> BadBell<FAULT> {
    fn leave(&self, sleeper: &Arc<Sleeper>) -> bool {
        let mut list = self.list.lock().unwrap();
        let at = list.iter().position(|other| Arc::ptr_eq(other, sleeper));
        at.and_then(|at| list.remove(at)).is_some()
    }

    fn give_up(&self, sleeper: &Arc<Sleeper>) {
        if FAULT != LEAVES_TRACE && !self.leave(sleeper) && FAULT != KEEPS_WAKE {
            self.notify_one();
        }
    }
}

impl<const FAULT: u8> Bell for BadBell<FAULT> {
    fn wait_until<R>(&self, look: impl FnMut() -> Option<R>) -> R {
        self.wait_until_timeout(look, || Some(Duration::from_secs(3600))).expect("for ever")
    }

    fn wait_until_timeout<R>(
        &self,
        mut look: impl FnMut() -> Option<R>,
        mut remaining: impl FnMut() -> Option<Duration>,
    ) -> Option<R> {
        loop {
            if FAULT == NO_SECOND_LOOK
                && let Some(found) = look()
            {
                return Some(found);
            }
            let sleeper = Arc::new(Sleeper { thread: std::thread::current(), woken: AtomicBool::new(false) });
            self.list.lock().unwrap().push_back(Arc::clone(&sleeper));
            if FAULT != NO_SECOND_LOOK
                && let Some(found) = look()
            {
                self.give_up(&sleeper);
                return Some(found);
            }
            while !sleeper.woken.load(Ordering::Acquire) {
                let Some(time) = remaining() else {
                    self.give_up(&sleeper);
                    return look();
                };
                std::thread::park_timeout(time);
                if FAULT == TRUSTS_PARK {
                    break;
                }
            }
            if FAULT == WAKES_FIRST_AGAIN {
                self.leave(&sleeper);
            }
            if let Some(found) = look() {
                return Some(found);
            }
            if FAULT == REBROADCASTS {
                self.notify_one();
            }
        }
    }

    fn notify_one(&self) -> bool {
        let mut list = self.list.lock().unwrap();
        let first = if FAULT == WAKES_FIRST_AGAIN { list.front().cloned() } else { list.pop_front() };
        let Some(sleeper) = first else { return false };
        drop(list);
        sleeper.woken.store(true, Ordering::Release);
        sleeper.thread.unpark();
        true
    }
}
