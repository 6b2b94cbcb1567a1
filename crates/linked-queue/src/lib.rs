//! `linked-queue`: one doubly-linked first-in-first-out queue, shared by all workers.
//!
//! The optimistic queue of Ladan-Mozes and Shavit: an enqueue is a single compare-exchange on the tail.
//! The link that a dequeue follows is stored after it, by a plain store, in the hope that it is in
//! time; when it is not, the dequeue finds its way from the tail and mends it.
//!
//! ```text
//!   head                                                      tail
//!    │                                                          │
//!    ▼       newer        newer          newer (missing yet)    ▼
//!   ┌───┐ ─────────▶ ┌───┐ ─────────▶ ┌───┐ ─ ─ ─ ─ ─ ─ ─ ▶ ┌───┐
//!   │   │            │ 3 │            │ 0 │                 │ 5 │
//!   └───┘ ◀───────── └───┘ ◀───────── └───┘ ◀────────────── └───┘
//!  consumed  older         older             older, set before the tail moves
//! ```
//!
//! The node at the head has been consumed; the one after it is the oldest. A node is allocated for each
//! submission, is reachable by others while it is unlinked, and is given to crossbeam-epoch, which
//! frees it when every thread that could still look at it has moved on. No node comes back
//! meanwhile, so the tags of the paper are not needed. Any worker takes the oldest request, so none
//! idles beside a queued one. Free slots are on a [`FreeList`].
//!
//! Source: E. Ladan-Mozes, N. Shavit, *An optimistic approach to lock-free FIFO queues*, DISC 2004.
//! The sentinel is that of M. Michael, M. Scott, PODC 1996.

#![cfg_attr(not(any(feature = "std", test)), no_std)]

extern crate alloc;

use alloc::{boxed::Box, vec::Vec};
use core::ptr;
use crossbeam_epoch::{Collector, Guard, LocalHandle};
use slotwork::{
    Atomic, Backoff, CachePadded, Claims, ClientError, Design, Destination, Guarantees, LaneId, Many, NoneFree, Order,
    Platform, Progress, RequestQueue, Shape, Site, SlotId, Slots, Submitters,
};
use slotwork_free_list::{FreeList, Header};

slotwork::sites! {
    /// The atomic accesses of the queue; the free list has its own table, and crossbeam-epoch its own atomics.
    pub SITES in "linked-queue";
    TAIL_LOAD: Load(Acquire), pairs [TAIL_SWING], "sees the node at the tail, and by it all older ones, before looking into it";
    TAIL_SWING: CompareExchange(Release, Acquire), pairs [TAIL_LOAD, TAIL_SWING], "publishes the node and the payload; on failure sees the node that came first";
    NEWER_STORE: Store(Release), pairs [NEWER_LOAD], "publishes the node it leads to, whoever stores it";
    NEWER_LOAD: Load(Acquire), pairs [NEWER_STORE], "sees the node it leads to, and the payload";
    HEAD_LOAD: Load(Acquire), pairs [HEAD_SWING], "sees the node at the head before looking into it";
    HEAD_SWING: CompareExchange(Release, Acquire), pairs [HEAD_LOAD, HEAD_SWING], "publishes the new head's node; on failure sees the node that came first";
    DROP_LOAD: Load(Relaxed), pairs [], "the queue is being dropped: nobody else is here";
}

/// A doubly-linked queue shared by all workers.
#[derive(Clone, Copy, Debug)]
pub struct LinkedQueue;

// SAFETY: `construct` makes a new queue.
unsafe impl Design for LinkedQueue {
    const NAME: &'static str = "linked-queue";
    const CLAIMS: Claims = Claims {
        submitters: Submitters::Many,
        order: Order::Fifo,
        none_free: NoneFree::Exact,
        progress: Guarantees::all(Progress::LockFree),
        work_conserving: true,
        allocates: true,
        max_lanes: None,
        max_slots_per_lane: None,
        max_clients: None,
        source: "Ladan-Mozes and Shavit, optimistic queue, 2004",
    };
    const SITES: &'static [&'static [Site]] = &[SITES, slotwork_free_list::SITES];
    type Queue<P: Platform> = LinkedQueueQueue<P>;

    fn construct<P: Platform>(shape: Shape) -> LinkedQueueQueue<P> {
        let sentinel = Node::boxed(u32::MAX, ptr::null());
        LinkedQueueQueue {
            head: CachePadded::new(P::AtomicPtr::new(sentinel)),
            tail: CachePadded::new(P::AtomicPtr::new(sentinel)),
            free: FreeList::full(shape),
            collector: Collector::new(),
            shape,
        }
    }
}

struct Node<P: Platform> {
    slot: u32,
    /// The node enqueued before this one. Set before the node is published, never changed.
    older: *const Node<P>,
    /// The node enqueued after this one: null, or the one node whose `older` is this one.
    newer: P::AtomicPtr<Node<P>>,
}

impl<P: Platform> Node<P> {
    fn boxed(slot: u32, older: *const Self) -> *mut Self {
        Box::into_raw(Box::new(Self { slot, older, newer: P::AtomicPtr::new(ptr::null_mut()) }))
    }
}

/// The queue of [`LinkedQueue`].
pub struct LinkedQueueQueue<P: Platform> {
    /// The node consumed last.
    head: CachePadded<P::AtomicPtr<Node<P>>>,
    /// The node enqueued last.
    tail: CachePadded<P::AtomicPtr<Node<P>>>,
    free: FreeList<P>,
    collector: Collector,
    shape: Shape,
}

// SAFETY: the raw pointers lead to nodes that are owned by the queue as a whole; a node's plain fields
// are written before it is published and only read after, and it is freed once, when no thread can
// reach it. Everything else is `Send` and `Sync` by its own bounds.
unsafe impl<P: Platform> Send for LinkedQueueQueue<P> {}
// SAFETY: as above.
unsafe impl<P: Platform> Sync for LinkedQueueQueue<P> {}

/// A handle's registration with the collector, and the nodes that it has unlinked.
pub struct Participant<P: Platform> {
    handle: LocalHandle,
    /// Unlinked nodes, handed to the collector [`BATCH`] at a time.
    unlinked: Vec<*mut Node<P>>,
}

/// Nodes handed to the collector at once: the price of handing over is shared by so many.
const BATCH: usize = 32;

// SAFETY: a `LocalHandle` is `!Send` only because it is a raw pointer: its state is plain fields and
// atomics, with no thread's identity in it (crossbeam-epoch 0.9, `internal.rs`). Nothing borrows from it
// between calls of the queue: each call pins and unpins. The unlinked nodes are this handle's alone to
// free. The owning handle moves as a whole, which orders its uses.
unsafe impl<P: Platform> Send for Participant<P> {}

impl<P: Platform> Participant<P> {
    /// Gives the unlinked nodes to the collector, which frees them when nobody can look at them.
    fn hand_over(&mut self, guard: &Guard) {
        let nodes = core::mem::replace(&mut self.unlinked, Vec::with_capacity(BATCH));
        // SAFETY: each node was unlinked once, by this participant, before this point; threads that may
        // still look at it were pinned then, and the collector waits for them.
        unsafe { guard.defer_unchecked(move || nodes.into_iter().for_each(|node| drop(Box::from_raw(node)))) };
    }
}

impl<P: Platform> Drop for Participant<P> {
    fn drop(&mut self) {
        if !self.unlinked.is_empty() {
            let guard = self.handle.pin();
            self.hand_over(&guard);
        }
    }
}

impl<P: Platform> LinkedQueueQueue<P> {
    fn participant(&self) -> Participant<P> {
        Participant { handle: self.collector.register(), unlinked: Vec::new() }
    }

    /// A participant of another queue would pin another collector, and keep nothing here from being freed.
    #[inline]
    fn check(&self, participant: &Participant<P>) {
        assert!(participant.handle.collector() == &self.collector, "a handle is used with the queue that made it");
    }

    /// Appends a slot. The guard keeps every node that is read here from being freed.
    fn enqueue(&self, slot: SlotId, _guard: &Guard) {
        let node = Node::<P>::boxed(slot.get(), ptr::null());
        let mut backoff = Backoff::<P>::new();
        let mut tail = self.tail.load(&TAIL_LOAD);
        loop {
            // SAFETY: the node was just made and is published only by the exchange below.
            unsafe { (*node).older = tail };
            match self.tail.compare_exchange_weak(tail, node, &TAIL_SWING) {
                Ok(_) => break,
                Err(now) => tail = now,
            }
            backoff.spin();
        }
        // SAFETY: `tail` was the queue's tail while we were pinned, so it is not freed before we unpin.
        unsafe { (*tail).newer.store(node, &NEWER_STORE) };
    }

    /// Removes the oldest slot. Nothing only if there was an instant at which nothing was queued.
    fn dequeue(&self, worker: &mut Participant<P>) -> Option<SlotId> {
        let guard = &worker.handle.pin();
        let mut backoff = Backoff::<P>::new();
        let mut head = self.head.load(&HEAD_LOAD);
        loop {
            // SAFETY: `head` was the queue's head while we were pinned, so it is not freed before we unpin.
            let mut oldest = unsafe { (*head).newer.load(&NEWER_LOAD) };
            if oldest.is_null() {
                let tail = self.tail.load(&TAIL_LOAD);
                if tail == head {
                    return None;
                }
                oldest = Self::mend(tail, head, guard);
            }
            match self.head.compare_exchange_weak(head, oldest, &HEAD_SWING) {
                Ok(_) => {
                    // SAFETY: `oldest` was not consumed before, so it cannot have been freed, and we are pinned.
                    let slot = unsafe { (*oldest).slot };
                    worker.unlinked.push(head);
                    if worker.unlinked.len() == BATCH {
                        worker.hand_over(guard);
                    }
                    return Some(SlotId::new(slot as usize));
                }
                Err(now) => head = now,
            }
            backoff.spin();
        }
    }

    /// Stores the missing `newer` links between `tail` and `head`, and returns the node after `head`.
    ///
    /// `tail` was read after `head`, so it is newer, and going to older nodes comes to `head`.
    fn mend(tail: *mut Node<P>, head: *mut Node<P>, _guard: &Guard) -> *mut Node<P> {
        let mut node = tail;
        loop {
            // SAFETY: `node` is newer than `head`, which was the queue's head while we were pinned: neither
            // it nor the nodes between are freed before we unpin.
            let older = unsafe { (*node).older.cast_mut() };
            // SAFETY: as above; `older` is `head` or newer.
            unsafe { (*older).newer.store(node, &NEWER_STORE) };
            if older == head {
                return node;
            }
            node = older;
        }
    }
}

// SAFETY: a free slot is on the free list once, and one pop takes it off: its owner, who enqueues it
// once. A node is consumed by the one HEAD_SWING that moves the head onto it, and only from the node
// before it; that worker owns the slot. TAIL_SWING and NEWER_STORE publish the payload, and whoever
// reaches the node has read one of them, itself or through the one that stored the link.
unsafe impl<P: Platform> RequestQueue for LinkedQueueQueue<P> {
    type Platform = P;
    type Submitters = Many;
    type Header = Header<P>;
    type Client = Participant<P>;
    type Worker = Participant<P>;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn client(&self) -> Result<Participant<P>, ClientError> {
        Ok(self.participant())
    }

    fn retire(&self, _client: Participant<P>) {}

    fn worker(&self, _lane: LaneId) -> Participant<P> {
        self.participant()
    }

    #[inline]
    fn acquire(&self, slots: &impl Slots<Self::Header>, _client: &mut Participant<P>) -> Option<SlotId> {
        self.free.pop(slots)
    }

    #[inline]
    fn submit(&self, _slots: &impl Slots<Self::Header>, client: &mut Participant<P>, slot: SlotId) -> Destination {
        self.check(client);
        self.enqueue(slot, &client.handle.pin());
        Destination::Any
    }

    #[inline]
    fn withdraw(&self, slots: &impl Slots<Self::Header>, _client: &mut Participant<P>, slot: SlotId) {
        self.free.push(slots, slot);
    }

    #[inline]
    fn take(&self, _slots: &impl Slots<Self::Header>, worker: &mut Participant<P>) -> Option<SlotId> {
        self.check(worker);
        self.dequeue(worker)
    }

    #[inline]
    fn complete(&self, slots: &impl Slots<Self::Header>, _worker: &mut Participant<P>, slot: SlotId) {
        self.free.push(slots, slot);
    }
}

impl<P: Platform> Drop for LinkedQueueQueue<P> {
    /// Frees the chain from the newest node to the one consumed last, one after the other: a long
    /// queue needs no deep stack.
    fn drop(&mut self) {
        let head = self.head.load(&DROP_LOAD);
        let mut node = self.tail.load(&DROP_LOAD);
        loop {
            // SAFETY: nobody else is here; each node from the tail to the head is linked, was not given to
            // the collector (that has only those before the head), and is freed once.
            let freed = unsafe { Box::from_raw(node) };
            if node == head {
                return;
            }
            node = freed.older.cast_mut();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotwork::{HeaderTable, Native};

    #[test]
    #[should_panic(expected = "the queue that made it")]
    fn a_handle_of_another_queue_is_refused() {
        let shape = Shape::new(1, 1).unwrap();
        let [one, other] = [(); 2].map(|()| LinkedQueue::construct::<Native>(shape));
        let mut stranger = other.worker(LaneId::FIRST);
        one.take(&HeaderTable::new(shape), &mut stranger);
    }
}
