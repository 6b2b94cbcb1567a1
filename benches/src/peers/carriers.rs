//! Queues of numbers that any thread may push to and pop from.

use crossbeam_queue::{ArrayQueue, SegQueue};
use nblf_queue::MPMCQueue;
use slotwork::Progress;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// A queue of numbers, first in first out, for any number of threads on both sides.
pub trait Carrier: Send + Sync + 'static {
    /// The name it is shown by.
    const NAME: &'static str;
    /// Where it comes from.
    const SOURCE: &'static str;
    /// What its documentation promises of push and pop.
    const PROGRESS: Progress;
    /// Whether a push may allocate.
    const ALLOCATES: bool;

    /// An empty one with room for so many numbers.
    fn with_room(slots: usize) -> Self;

    /// Appends a number. There is always room: there are no more numbers than were asked for.
    fn push(&self, number: u32);

    /// Takes the oldest; none when there was an instant without any.
    fn pop(&self) -> Option<u32>;
}

/// A push that finds no room means that a number was doubled.
const ROOM: &str = "there is room for every slot";

impl Carrier for ArrayQueue<u32> {
    const NAME: &'static str = "array-queue";
    const SOURCE: &'static str = "crossbeam-queue 0.3, a pair of ArrayQueue";
    // A thread that stops between its two writes holds up the others when they come round.
    const PROGRESS: Progress = Progress::Blocking;
    const ALLOCATES: bool = false;

    fn with_room(slots: usize) -> Self {
        Self::new(slots)
    }

    #[inline]
    fn push(&self, number: u32) {
        Self::push(self, number).expect(ROOM);
    }

    #[inline]
    fn pop(&self) -> Option<u32> {
        Self::pop(self)
    }
}

impl Carrier for SegQueue<u32> {
    const NAME: &'static str = "seg-queue";
    const SOURCE: &'static str = "crossbeam-queue 0.3, a pair of SegQueue";
    const PROGRESS: Progress = Progress::Blocking;
    const ALLOCATES: bool = true;

    fn with_room(_slots: usize) -> Self {
        Self::new()
    }

    #[inline]
    fn push(&self, number: u32) {
        Self::push(self, number);
    }

    #[inline]
    fn pop(&self) -> Option<u32> {
        Self::pop(self)
    }
}

impl Carrier for concurrent_queue::ConcurrentQueue<u32> {
    const NAME: &'static str = "concurrent-queue";
    const SOURCE: &'static str = "concurrent-queue 2, a pair of bounded ones";
    const PROGRESS: Progress = Progress::Blocking;
    const ALLOCATES: bool = false;

    fn with_room(slots: usize) -> Self {
        Self::bounded(slots)
    }

    #[inline]
    fn push(&self, number: u32) {
        Self::push(self, number).expect(ROOM);
    }

    #[inline]
    fn pop(&self) -> Option<u32> {
        Self::pop(self).ok()
    }
}

/// nblf-queue's queue.
pub(super) struct NonBlockingFifo(nblf_queue::Queue<u32>);

impl NonBlockingFifo {
    /// Its tag has 15 bits per place: with few places it wraps while a thread is off its core for a moment, and then
    /// numbers may be lost. With this many places that takes two million operations.
    const LEAST_PLACES: usize = 64;
}

impl Carrier for NonBlockingFifo {
    const NAME: &'static str = "nblf-queue";
    const SOURCE: &'static str = "nblf-queue 0.3, a pair, at least 64 places each; Denis and Goedefroit 2025";
    const PROGRESS: Progress = Progress::LockFree;
    const ALLOCATES: bool = false;

    fn with_room(slots: usize) -> Self {
        Self(nblf_queue::Queue::new(slots.max(Self::LEAST_PLACES)))
    }

    #[inline]
    fn push(&self, number: u32) {
        // It may say that it is full although it is not.
        while self.0.push(number).is_err() {
            std::hint::spin_loop();
        }
    }

    #[inline]
    fn pop(&self) -> Option<u32> {
        self.0.pop()
    }
}

/// A locked deque, as one writes it in a minute.
pub(super) struct MutexDeque(Mutex<VecDeque<u32>>);

impl Carrier for MutexDeque {
    const NAME: &'static str = "mutex-vecdeque";
    const SOURCE: &'static str = "the standard library's, a pair of Mutex<VecDeque>";
    const PROGRESS: Progress = Progress::Blocking;
    const ALLOCATES: bool = false;

    fn with_room(slots: usize) -> Self {
        Self(Mutex::new(VecDeque::with_capacity(slots)))
    }

    #[inline]
    fn push(&self, number: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(number);
    }

    #[inline]
    fn pop(&self) -> Option<u32> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

macro_rules! channels {
    ($($(#[doc = $text:literal])+ $name:ident = $channel:expr => $sender:ty, $receiver:ty, $shown:literal, $source:literal, $progress:ident,
       |$send:ident, $number:ident| $push:expr, |$receive:ident| $pop:expr;)+) => {
        $(
            $(#[doc = $text])+
            pub(super) struct $name($sender, $receiver);

            impl Carrier for $name {
                const NAME: &'static str = $shown;
                const SOURCE: &'static str = $source;
                const PROGRESS: Progress = Progress::$progress;
                const ALLOCATES: bool = false;

                fn with_room(slots: usize) -> Self {
                    let (sender, receiver) = $channel(slots);
                    Self(sender, receiver)
                }

                #[inline]
                fn push(&self, $number: u32) {
                    let $send = &self.0;
                    let sent: bool = $push;
                    assert!(sent, "{ROOM}");
                }

                #[inline]
                fn pop(&self) -> Option<u32> {
                    let $receive = &self.1;
                    $pop
                }
            }
        )+
    };
}

channels! {
    /// crossbeam's channel.
    CrossbeamChannel = crossbeam_channel::bounded => crossbeam_channel::Sender<u32>, crossbeam_channel::Receiver<u32>,
        "crossbeam-channel", "crossbeam-channel 0.5, a pair of bounded ones", Blocking,
        |sender, number| sender.try_send(number).is_ok(), |receiver| receiver.try_recv().ok();
    /// flume's channel.
    Flume = flume::bounded => flume::Sender<u32>, flume::Receiver<u32>,
        "flume", "flume 0.12, a pair of bounded ones", Blocking,
        |sender, number| sender.try_send(number).is_ok(), |receiver| receiver.try_recv().ok();
    /// kanal's channel.
    Kanal = kanal::bounded => kanal::Sender<u32>, kanal::Receiver<u32>,
        "kanal", "kanal 0.1, a pair of bounded ones", Blocking,
        |sender, number| sender.try_send(number).unwrap_or(false), |receiver| receiver.try_recv().ok().flatten();
    /// crossfire's channel.
    Crossfire = crossfire::mpmc::bounded_blocking => crossfire::MTx<crossfire::mpmc::Array<u32>>, crossfire::MRx<crossfire::mpmc::Array<u32>>,
        "crossfire", "crossfire 3, a pair of bounded ones", Blocking,
        |sender, number| sender.try_send(number).is_ok(), |receiver| receiver.try_recv().ok();
}
