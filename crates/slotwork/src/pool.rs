//! The payloads of a queue, behind guards; all payload `unsafe` is in this file.
//!
//! ```text
//!   Pool ──split──▶ Client ──acquire──▶ Vacant ──submit──▶ …    (drop: withdraws)
//!             └───▶ Worker ──take─────▶ Claimed ─complete─▶ …   (drop, panic: completes as failed)
//!
//!   one slot:  ┌────────┬──────┬───────────┐
//!              │ header │ turn │ payload T │   the design's header shares the payload's line
//!              └────────┴──────┴───────────┘
//!
//!   turn:      │ number of its last completion among the worker's │ worker │ failed │ in flight │
//! ```
//!
//! The queue inside decides who owns a slot; a guard exists only while its slot is owned, and only
//! through a guard is the payload reached. That the queue tells the truth is the promise of
//! [`RequestQueue`]; that nobody else calls the queue, and that each guard gives its slot back
//! exactly once, is upheld here.

use crate::drain::Drain;
use crate::turn::{Outcome, Turn};
use crate::{
    AccessCell, Atomic, CachePadded, ClientError, Destination, Dispatch, Fresh, Header, LaneId, Many, Platform,
    RequestQueue, Shape, SlotId, Slots, SubmitterCount, Submitters,
};
use alloc::sync::Arc;
use alloc::{boxed::Box, vec::Vec};
use core::cell::{Cell, UnsafeCell};
use core::fmt;
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ops::{Deref, DerefMut};
use core::ptr::addr_of_mut;
use thiserror::Error;

crate::sites! {
    /// Every atomic access of the pool.
    pub POOL_SITES in "pool";
    TURN_READ: Load(Relaxed), pairs [], "only the slot's owner reads it so, and the queue's handover orders it after the last owner's store";
    TURN_SUBMIT: Store(Relaxed), pairs [], "a drain compares turns for equality alone; what it waits for is published by COMPLETED_STORE";
    TURN_COMPLETE: Store(Relaxed), pairs [], "names the completion to wait for; the handler's effects are published by COMPLETED_STORE, which comes after";
    TURN_OBSERVE: Load(Relaxed), pairs [], "sees every submission that happens before the drain by coherence alone; every wait ends with COMPLETED_LOAD";
    COMPLETED_STORE: Store(Release), pairs [COMPLETED_LOAD], "publishes the handler's effects, and that the slot is free in the queue";
    COMPLETED_LOAD: Load(Acquire), pairs [COMPLETED_STORE], "a drain that sees the number sees the handler's effects, and finds the slot free";
}

type AtomicU64Of<Q> = <<Q as RequestQueue>::Platform as Platform>::AtomicU64;
type CellOf<Q> = <<Q as RequestQueue>::Platform as Platform>::Cell;
type HoldOf<Q> = <CellOf<Q> as AccessCell>::Hold;

/// One slot, as laid out in memory.
#[repr(C)]
struct Slot<T, Q: RequestQueue> {
    /// Takes no room.
    line: [<Q::Header as Header>::Alignment; 0],
    header: Q::Header,
    turn: AtomicU64Of<Q>,
    cell: CellOf<Q>,
    payload: UnsafeCell<T>,
}

/// What all handles share.
pub(crate) struct Shared<T, Q: RequestQueue> {
    queue: Q,
    slots: Box<[Slot<T, Q>]>,
    /// Per worker: the turn of its last completion that is over.
    completed: Box<[CachePadded<AtomicU64Of<Q>>]>,
}

// SAFETY: a payload is reached only through a guard, and the promise of `RequestQueue` is that a slot
// has one owner and that owners are ordered: so payloads move between threads, which `T: Send`
// allows, and are never shared. All other fields are `Sync` by their own bounds.
unsafe impl<T: Send, Q: RequestQueue> Sync for Shared<T, Q> {}

impl<T, Q: RequestQueue> Slots<Q::Header> for Shared<T, Q> {
    #[inline]
    fn header(&self, slot: SlotId) -> &Q::Header {
        &self.slots[slot.index()].header
    }
}

impl<T, Q: RequestQueue> Shared<T, Q> {
    /// A slot that the queue has just given out.
    #[inline]
    fn slot(&self, id: SlotId) -> &Slot<T, Q> {
        debug_assert!(id.index() < self.slots.len(), "the queue gives out slots of its shape only");
        // SAFETY: an index that a queue returns is below `shape().slots()` (promise of `RequestQueue`),
        // and the table was made with that many slots.
        unsafe { self.slots.get_unchecked(id.index()) }
    }

    pub(crate) fn shape(&self) -> Shape {
        self.queue.shape()
    }

    pub(crate) fn turn(&self, slot: SlotId) -> Turn {
        Turn(self.slots[slot.index()].turn.load(&TURN_OBSERVE))
    }

    /// The number of the worker's last completion that is over.
    pub(crate) fn completed(&self, lane: LaneId) -> u64 {
        Turn(self.completed[lane.index()].load(&COMPLETED_LOAD)).completion().1
    }
}

/// A queue and its payloads, before it is handed to threads.
pub struct Pool<T, Q: RequestQueue> {
    shared: Shared<T, Q>,
}

/// Why a pool was not built. Whatever had been built was torn down, once.
#[derive(Debug, Error)]
pub enum PoolError<E> {
    /// The constructor of one payload failed.
    #[error("the payload of slot {} could not be made", slot.index())]
    Payload {
        /// The slot it was for.
        slot: SlotId,
        /// What it said.
        source: E,
    },
    /// There is no memory for that many slots of that size.
    #[error("no memory for {slots} slots of {slot_bytes} bytes each")]
    Memory {
        /// Slots asked for.
        slots: usize,
        /// Bytes of one slot with its header.
        slot_bytes: usize,
    },
}

/// The memory of one payload, to be filled in place: see [`Pool::try_new_in_place`].
pub struct Place<'a, T> {
    memory: &'a mut MaybeUninit<T>,
    filled: &'a Cell<bool>,
    /// A place does not pass for one of a shorter life: its proof is for this slot.
    brand: Placed<'a>,
}

/// Proof that a [`Place`] was filled.
pub struct Placed<'a>(PhantomData<fn(&'a ()) -> &'a ()>);

impl<'a, T> Place<'a, T> {
    /// Fills it with a value, by way of the stack.
    #[must_use]
    pub fn write(self, value: T) -> Placed<'a> {
        self.memory.write(value);
        self.filled.set(true);
        self.brand
    }

    /// The memory itself, to build a large payload without passing the stack.
    pub fn memory(&mut self) -> &mut MaybeUninit<T> {
        self.memory
    }

    /// Says that the memory was filled.
    ///
    /// # Safety
    /// The memory holds a valid `T`.
    #[must_use]
    pub unsafe fn assume_filled(self) -> Placed<'a> {
        self.filled.set(true);
        self.brand
    }
}

/// Drops a payload that was placed, when its constructor then fails or panics.
struct Unplace<'a, T> {
    memory: *mut T,
    filled: &'a Cell<bool>,
}

impl<T> Drop for Unplace<'_, T> {
    fn drop(&mut self) {
        if self.filled.get() {
            // SAFETY: `filled` is set exactly when a valid `T` is at `memory`, and this guard is
            // forgotten as soon as the slot becomes part of the table, which drops it from then on.
            unsafe { self.memory.drop_in_place() };
        }
    }
}

impl<T, Q: RequestQueue> Pool<T, Q> {
    /// A pool whose payloads come from `payload`, called once per slot in order.
    ///
    /// Only a fresh queue will do: one that was driven by hand does not compile, for a slot that it gave
    /// out would get a second owner here.
    ///
    /// ```compile_fail,E0308
    /// # use slotwork::{Design, HeaderTable, Native, Pool, RequestQueue, Shape};
    /// # use slotwork_bitmap::Bitmap;
    /// let queue = Bitmap::build::<Native>(Shape::new(1, 4).unwrap()).unwrap().into_inner();
    /// let mut client = queue.client().unwrap();
    /// let pool = Pool::new(queue, |_| 0_u64);
    /// ```
    ///
    /// # Errors
    /// [`PoolError::Memory`].
    pub fn new(
        queue: Fresh<Q>,
        mut payload: impl FnMut(SlotId) -> T,
    ) -> Result<Self, PoolError<core::convert::Infallible>> {
        Self::try_new_in_place(queue, |slot, place| Ok(place.write(payload(slot))))
    }

    /// A pool whose payloads come from a constructor that may fail at any slot.
    ///
    /// # Errors
    /// [`PoolError::Payload`] with the constructor's own error, after dropping each payload made
    /// before; [`PoolError::Memory`].
    pub fn try_new<E>(queue: Fresh<Q>, mut payload: impl FnMut(SlotId) -> Result<T, E>) -> Result<Self, PoolError<E>> {
        Self::try_new_in_place(queue, |slot, place| payload(slot).map(|value| place.write(value)))
    }

    /// A pool whose payloads are built where they will stay: no payload passes the stack.
    ///
    /// # Errors
    /// As [`Pool::try_new`].
    pub fn try_new_in_place<E>(
        queue: Fresh<Q>,
        mut fill: impl for<'a> FnMut(SlotId, Place<'a, T>) -> Result<Placed<'a>, E>,
    ) -> Result<Self, PoolError<E>> {
        let shape = queue.shape();
        let slots = Self::table(shape, &mut fill)?;
        let queue = queue.into_inner();
        let completed = shape.all_lanes().map(|_| CachePadded::new(Atomic::new(0))).collect();
        Ok(Self { shared: Shared { queue, slots, completed } })
    }

    fn table<E>(
        shape: Shape,
        fill: &mut impl for<'a> FnMut(SlotId, Place<'a, T>) -> Result<Placed<'a>, E>,
    ) -> Result<Box<[Slot<T, Q>]>, PoolError<E>> {
        // The vector drops the finished prefix when a constructor fails or panics.
        let mut table: Vec<Slot<T, Q>> = Vec::new();
        let slots = shape.slots();
        if table.try_reserve_exact(slots).is_err() {
            return Err(PoolError::Memory { slots, slot_bytes: Self::SLOT_BYTES });
        }
        for slot in shape.all_slots() {
            let next = table.spare_capacity_mut()[0].as_mut_ptr();
            // SAFETY: `next` is the first spare slot of the vector: reserved memory of the right size
            // and alignment; taking a field's address reads nothing. `UnsafeCell<T>` has the layout of `T`.
            let payload = unsafe { addr_of_mut!((*next).payload) }.cast::<MaybeUninit<T>>();
            let filled = Cell::new(false);
            let unplace = Unplace { memory: payload.cast::<T>(), filled: &filled };
            // SAFETY: nobody else refers to the spare slot, and `MaybeUninit` may be uninitialised.
            let place = Place { memory: unsafe { &mut *payload }, filled: &filled, brand: Placed(PhantomData) };
            fill(slot, place).map_err(|source| PoolError::Payload { slot, source })?;
            assert!(filled.get(), "`Placed` is made by filling this place only");
            // SAFETY: as above, the fields are reserved, unshared and not yet initialised; after these
            // writes and `fill`, whose `Placed` proves the payload, all five fields are.
            unsafe {
                addr_of_mut!((*next).line).write([]);
                addr_of_mut!((*next).header).write(Q::Header::default());
                addr_of_mut!((*next).turn).write(Atomic::new(0));
                addr_of_mut!((*next).cell).write(AccessCell::new());
            }
            core::mem::forget(unplace);
            // SAFETY: the capacity was reserved, and the slot at the old length is initialised.
            unsafe { table.set_len(slot.index() + 1) };
        }
        Ok(table.into_boxed_slice())
    }

    /// Bytes one slot takes in the pool: header, turn, payload, padding.
    pub const SLOT_BYTES: usize = size_of::<Slot<T, Q>>();

    /// The shape of the queue inside.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shared.shape()
    }

    /// The handles: a client, and one worker per lane in order. Consumes the pool, so that no lane
    /// gets two workers; the payloads live until the last handle is dropped.
    ///
    /// ```compile_fail,E0382
    /// # use slotwork::{Design, Native, Pool, Shape};
    /// # use slotwork_bitmap::Bitmap;
    /// let queue = Bitmap::build::<Native>(Shape::new(1, 4).unwrap()).unwrap();
    /// let pool = Pool::new(queue, |_| 0_u64).unwrap();
    /// let (client, workers) = pool.split();
    /// let (client, workers) = pool.split(); // a second worker for each lane
    /// ```
    ///
    /// # Panics
    /// When the design refuses its first client, which [`RequestQueue::client`] forbids.
    #[must_use]
    pub fn split(self) -> (Client<T, Q>, Vec<Worker<T, Q>>) {
        let state = self.shared.queue.client().expect("the first client never fails");
        let shared = Arc::new(self.shared);
        let workers = shared
            .shape()
            .all_lanes()
            .map(|lane| Worker {
                state: UnsafeCell::new(shared.queue.worker(lane)),
                turn: Cell::new(Turn::before_first(lane)),
                lane,
                shared: Arc::clone(&shared),
            })
            .collect();
        (Client { state: ManuallyDrop::new(UnsafeCell::new(state)), shared }, workers)
    }
}

/// The submitting side. It moves between threads but is not shared by them.
///
/// With a design for many submitters it is cloned, one for each; with a design for one submitter,
/// that does not compile:
///
/// ```compile_fail,E0599
/// # use slotwork::{Design, Native, Pool, Shape};
/// # use slotwork_bitmap::Bitmap;
/// let queue = Bitmap::build::<Native>(Shape::new(1, 4).unwrap()).unwrap();
/// let (client, _workers) = Pool::new(queue, |_| 0_u64).unwrap().split();
/// let second = client.clone();
/// ```
///
/// The same with a design for many submitters compiles:
///
/// ```
/// # use slotwork::{Design, Native, Pool, Shape};
/// # use slotwork_locked::GlobalLock;
/// let queue = GlobalLock::build::<Native>(Shape::new(1, 4).unwrap()).unwrap();
/// let (client, _workers) = Pool::new(queue, |_| 0_u64).unwrap().split();
/// let second = client.clone();
/// ```
pub struct Client<T, Q: RequestQueue> {
    state: ManuallyDrop<UnsafeCell<Q::Client>>,
    shared: Arc<Shared<T, Q>>,
}

impl<T, Q: RequestQueue> Client<T, Q> {
    #[inline]
    fn with<R>(&self, call: impl FnOnce(&Q, &Shared<T, Q>, &mut Q::Client) -> R) -> R {
        // SAFETY: `Client` is not `Sync`, so no other thread is here; `call` only ever calls one method
        // of the queue, which knows no handle and so does not come back here.
        call(&self.shared.queue, &self.shared, unsafe { &mut *self.state.get() })
    }

    /// Takes a free slot, wherever in the queue it is; none only when none was free, as the
    /// design's [`NoneFree`](crate::NoneFree) says. Never waits.
    #[inline]
    pub fn acquire(&self) -> Option<Vacant<'_, T, Q>> {
        let id = self.with(Q::acquire)?;
        let slot = self.shared.slot(id);
        Some(Vacant { client: self, id, slot, hold: Some(slot.cell.hold()) })
    }

    /// The guard of a slot that was taken out of its guard: for who can keep a number, but no guard.
    ///
    /// # Safety
    /// `slot` came from [`Vacant::into_slot`] of a guard of this client, and this was not called for it since.
    #[inline]
    pub unsafe fn vacant(&self, slot: SlotId) -> Vacant<'_, T, Q> {
        let id = slot;
        let slot = self.shared.slot(id);
        Vacant { client: self, id, slot, hold: Some(slot.cell.hold()) }
    }

    /// Another client of the same queue, with the limit checked as it runs.
    ///
    /// # Errors
    /// [`ClientError::OneSubmitter`] or [`ClientError::TooManyClients`].
    pub fn try_clone(&self) -> Result<Self, ClientError> {
        if Q::Submitters::COUNT == Submitters::One {
            return Err(ClientError::OneSubmitter);
        }
        let state = self.shared.queue.client()?;
        Ok(Self { state: ManuallyDrop::new(UnsafeCell::new(state)), shared: Arc::clone(&self.shared) })
    }

    /// Chooses how this client goes on from lane to lane, and says whether the design can do that.
    pub fn set_dispatch(&self, dispatch: Dispatch) -> bool {
        self.with(|queue, _, state| queue.set_dispatch(state, dispatch))
    }

    /// Makes the next [`Client::acquire`] find a slot that is free, whatever the last one found: for designs whose "none free"
    /// is [`NoneFree::Refill`](crate::NoneFree::Refill). For others it always is so.
    pub fn insist(&self) {
        self.with(|queue, _, state| queue.insist(state));
    }

    /// Begins to wait for everything submitted before this call, by anybody, to complete.
    #[must_use]
    pub fn begin_drain(&self) -> Drain<T, Q> {
        Drain::begin(&self.shared)
    }

    /// Waits for everything submitted before this call, by anybody, to complete; then results can be
    /// read and slots acquired. Others may go on submitting. **Blocking**: needs the workers to go on; a
    /// [`Claimed`] that is leaked, or a [`Worker`] dropped while requests wait for it, lets it wait for ever.
    pub fn drain(&self) {
        self.begin_drain().wait();
    }

    /// How many slots are submitted and not yet completed, `0..=slots`. Observational only: it may
    /// be out of date before it returns, so nothing should be decided by it.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.shape().all_slots().filter(|&slot| self.shared.turn(slot).in_flight()).count()
    }

    /// The shape of the queue.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shared.shape()
    }
}

impl<T, Q: RequestQueue<Submitters = Many>> Clone for Client<T, Q> {
    /// Another client of the same queue.
    ///
    /// # Panics
    /// When the design's limit on clients is reached; [`Client::try_clone`] says so instead.
    fn clone(&self) -> Self {
        self.try_clone().expect("the design's limit on clients is reached")
    }
}

impl<T, Q: RequestQueue> Drop for Client<T, Q> {
    fn drop(&mut self) {
        // SAFETY: the client is being dropped, so its state is taken once and not used again.
        let state = unsafe { ManuallyDrop::take(&mut self.state) };
        self.shared.queue.retire(state.into_inner());
    }
}

/// One lane's worker. It moves between threads but is not shared by them, and cannot be cloned.
///
/// ```compile_fail,E0599
/// # use slotwork::{Design, Native, Pool, Shape};
/// # use slotwork_bitmap::Bitmap;
/// let queue = Bitmap::build::<Native>(Shape::new(1, 4).unwrap()).unwrap();
/// let (_client, workers) = Pool::new(queue, |_| 0_u64).unwrap().split();
/// let second = workers[0].clone();
/// ```
pub struct Worker<T, Q: RequestQueue> {
    state: UnsafeCell<Q::Worker>,
    /// The turn of its last completion.
    turn: Cell<Turn>,
    lane: LaneId,
    shared: Arc<Shared<T, Q>>,
}

impl<T, Q: RequestQueue> Worker<T, Q> {
    #[inline]
    fn with<R>(&self, call: impl FnOnce(&Q, &Shared<T, Q>, &mut Q::Worker) -> R) -> R {
        // SAFETY: as in `Client::with`.
        call(&self.shared.queue, &self.shared, unsafe { &mut *self.state.get() })
    }

    /// Claims a submitted slot; none when none is there for this worker. Never waits.
    #[inline]
    pub fn take(&self) -> Option<Claimed<'_, T, Q>> {
        let id = self.with(Q::take)?;
        let slot = self.shared.slot(id);
        Some(Claimed { worker: self, id, slot, hold: Some(slot.cell.hold()) })
    }

    /// Whether a client that sleeps until a slot is free need not be woken yet, as it would be told to wait for more: for
    /// designs whose "none free" is [`NoneFree::Refill`](crate::NoneFree::Refill). For others it always need be.
    ///
    /// To be asked after a completion, and after a sequentially consistent fence, by whoever would wake it; the client
    /// has such a fence between going on the list of sleepers and its last look. Then one of the completions that are
    /// still to come is told that it need be. Never waits.
    #[must_use]
    pub fn refills(&self) -> bool {
        self.with(|queue, _, state| queue.refills(state))
    }

    /// The lane it serves.
    #[must_use]
    pub fn lane(&self) -> LaneId {
        self.lane
    }

    /// The shape of the queue.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shared.shape()
    }

    #[inline]
    fn finish(&self, id: SlotId, turn: &AtomicU64Of<Q>, failed: bool) {
        let completion = self.turn.get().next();
        self.turn.set(completion);
        turn.store(completion.with_outcome(failed).get(), &TURN_COMPLETE);
        self.with(|queue, slots, state| queue.complete(slots, state, id));
        self.shared.completed[self.lane.index()].store(completion.get(), &COMPLETED_STORE);
    }
}

/// A slot held by a client: derefs to the payload, with the last request's result still in it.
///
/// [`Vacant::submit`] consumes it; dropping it withdraws the slot.
///
/// ```compile_fail,E0382
/// # use slotwork::{Design, Native, Pool, Shape};
/// # use slotwork_bitmap::Bitmap;
/// let queue = Bitmap::build::<Native>(Shape::new(1, 4).unwrap()).unwrap();
/// let (client, _workers) = Pool::new(queue, |_| 0_u64).unwrap().split();
/// let request = client.acquire().unwrap();
/// request.submit();
/// request.submit(); // twice
/// ```
pub struct Vacant<'a, T, Q: RequestQueue> {
    client: &'a Client<T, Q>,
    id: SlotId,
    slot: &'a Slot<T, Q>,
    hold: Option<HoldOf<Q>>,
}

impl<T, Q: RequestQueue> Vacant<'_, T, Q> {
    /// Which slot it is.
    #[inline]
    #[must_use]
    pub fn slot(&self) -> SlotId {
        self.id
    }

    /// What became of the slot's last request.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        Turn(self.slot.turn.load(&TURN_READ)).outcome()
    }

    /// Gives the guard up and keeps the slot, which stays acquired until [`Client::vacant`] makes a guard of it again.
    #[inline]
    #[must_use = "the slot is lost without its number"]
    pub fn into_slot(self) -> SlotId {
        let mut this = ManuallyDrop::new(self);
        this.hold = None;
        this.id
    }

    /// Publishes the slot to a worker, and says which worker may take it.
    #[inline]
    pub fn submit(self) -> Destination {
        let mut this = ManuallyDrop::new(self);
        this.hold = None;
        let turn = &this.slot.turn;
        turn.store(Turn(turn.load(&TURN_READ)).submitted().get(), &TURN_SUBMIT);
        this.client.with(|queue, slots, state| queue.submit(slots, state, this.id))
    }
}

impl<T, Q: RequestQueue> Drop for Vacant<'_, T, Q> {
    #[inline]
    fn drop(&mut self) {
        self.hold = None;
        self.client.with(|queue, slots, state| queue.withdraw(slots, state, self.id));
    }
}

/// A slot claimed by a worker: derefs to the payload.
///
/// [`Claimed::complete`] consumes it; dropping it, as a panic does, completes it as failed.
///
/// ```compile_fail,E0382
/// # use slotwork::{Design, Native, Pool, Shape};
/// # use slotwork_bitmap::Bitmap;
/// let queue = Bitmap::build::<Native>(Shape::new(1, 4).unwrap()).unwrap();
/// let (_client, workers) = Pool::new(queue, |_| 0_u64).unwrap().split();
/// let mut claimed = workers[0].take().unwrap();
/// claimed.complete();
/// *claimed = 1; // after it was given back
/// ```
pub struct Claimed<'a, T, Q: RequestQueue> {
    worker: &'a Worker<T, Q>,
    id: SlotId,
    slot: &'a Slot<T, Q>,
    hold: Option<HoldOf<Q>>,
}

impl<T, Q: RequestQueue> Claimed<'_, T, Q> {
    /// Which slot it is.
    #[must_use]
    pub fn slot(&self) -> SlotId {
        self.id
    }

    /// Gives the slot back handled.
    #[inline]
    pub fn complete(self) {
        let mut this = ManuallyDrop::new(self);
        this.hold = None;
        this.worker.finish(this.id, &this.slot.turn, false);
    }

    /// Gives the slot back as failed; the same as dropping it, in words.
    pub fn fail(self) {
        drop(self);
    }
}

impl<T, Q: RequestQueue> Drop for Claimed<'_, T, Q> {
    fn drop(&mut self) {
        self.hold = None;
        self.worker.finish(self.id, &self.slot.turn, true);
    }
}

macro_rules! guard {
    ($guard:ident) => {
        impl<T, Q: RequestQueue> Deref for $guard<'_, T, Q> {
            type Target = T;

            #[inline]
            fn deref(&self) -> &T {
                // SAFETY: the guard exists, so its slot is owned by this handle (promise of
                // `RequestQueue`), and the only way to the payload is through this guard.
                unsafe { &*self.slot.payload.get() }
            }
        }

        impl<T, Q: RequestQueue> DerefMut for $guard<'_, T, Q> {
            #[inline]
            fn deref_mut(&mut self) -> &mut T {
                // SAFETY: as in `deref`, and the guard is borrowed mutably.
                unsafe { &mut *self.slot.payload.get() }
            }
        }

        impl<T: fmt::Debug, Q: RequestQueue> fmt::Debug for $guard<'_, T, Q> {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.debug_tuple(stringify!($guard)).field(&self.id.index()).field(&**self).finish()
            }
        }
    };
}

guard!(Vacant);
guard!(Claimed);

macro_rules! opaque {
    ($($handle:ident)+) => {
        $(
            impl<T, Q: RequestQueue> fmt::Debug for $handle<T, Q> {
                fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                    let shape = self.shared.shape();
                    formatter.debug_struct(stringify!($handle)).field("shape", &shape).finish_non_exhaustive()
                }
            }
        )+
    };
}

opaque!(Pool Client Worker);
