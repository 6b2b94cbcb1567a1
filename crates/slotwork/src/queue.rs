//! What a design is: a queue over indices, and the factory that makes it.

use crate::{Claims, Header, LaneId, Platform, Shape, ShapeError, Site, SlotId, Submitters};
use alloc::boxed::Box;
use thiserror::Error;

/// A request queue over slot indices. It never touches a payload.
///
/// Each method takes the table of per-slot headers (see [`RequestQueue::Header`]) and the state of
/// the calling handle. The caller is a [`Pool`](crate::Pool), which turns the protocol below into
/// types; tests may drive a queue by hand.
///
/// # Protocol
/// Only a slot that [`acquire`](Self::acquire) returned to this client, and that was neither submitted nor
/// withdrawn since, is submitted or withdrawn; only a slot that [`take`](Self::take) returned to
/// this worker, and that was not completed since, is completed. A caller that breaks this gets wrong
/// answers or a panic, but never undefined behaviour from the queue itself.
///
/// # Safety
/// An implementation promises that, as long as the caller keeps the protocol, **a slot has one
/// owner**: between the return of `acquire` and the call of `submit` or `withdraw`, and between
/// the return of `take` and the call of `complete`, no other call of `acquire` or `take` returns
/// that slot; and that everything its last owner did before handing it over happens before the
/// next owner gets it. [`Pool`](crate::Pool) hands out `&mut T` on the strength of this. Every index
/// returned is below `shape().slots()`, and `shape` is the same at every call.
pub unsafe trait RequestQueue: Send + Sync + 'static {
    /// The machine it runs on.
    type Platform: Platform;
    /// [`One`] or [`Many`]; agrees with the design's claims.
    type Submitters: SubmitterCount;
    /// State of one slot that should travel with its payload: the pool lays it out in front of the
    /// payload. `()` packs slots; `CachePadded<()>` gives each its own line; [`WithPayload`](crate::WithPayload) does,
    /// and puts its state into it.
    type Header: Header;
    /// What one client remembers between calls. It moves between threads with its handle.
    type Client: Send;
    /// What one lane's worker remembers between calls. It moves between threads with its handle.
    type Worker: Send;

    /// The shape it was built with.
    fn shape(&self) -> Shape;

    /// A new client. The first one after the build never fails.
    ///
    /// # Errors
    /// [`ClientError`] when the design's limit is reached.
    fn client(&self) -> Result<Self::Client, ClientError>;

    /// Takes a client's state back; it holds no slot any more.
    fn retire(&self, client: Self::Client);

    /// Chooses how a client goes on from lane to lane, and says whether this design can; one that
    /// has no lanes to choose from cannot, and need not implement this.
    fn set_dispatch(&self, client: &mut Self::Client, dispatch: Dispatch) -> bool {
        let _ = client;
        dispatch == Dispatch::RoundRobin
    }

    /// Makes a client's next acquire as good as its first: one that found nothing before may be told to wait for more than a
    /// free slot by [`NoneFree::Refill`](crate::NoneFree::Refill). Others need not implement this.
    fn insist(&self, client: &mut Self::Client) {
        let _ = client;
    }

    /// Whether a client that sleeps need not be woken yet for what this worker completed: by
    /// [`NoneFree::Refill`](crate::NoneFree::Refill) it would be told to wait for more, and a completion is still to come, after
    /// which this says no. Asked after a completion, behind a sequentially consistent fence. Others need not implement this.
    fn refills(&self, worker: &Self::Worker) -> bool {
        let _ = worker;
        false
    }

    /// The worker of a lane; called once per lane.
    fn worker(&self, lane: LaneId) -> Self::Worker;

    /// Takes a free slot, wherever in the queue it is; none only as [`Claims::none_free`] says.
    fn acquire(&self, slots: &impl Slots<Self::Header>, client: &mut Self::Client) -> Option<SlotId>;

    /// Publishes a held slot, and says which worker may take it.
    fn submit(&self, slots: &impl Slots<Self::Header>, client: &mut Self::Client, slot: SlotId) -> Destination;

    /// Gives a held slot back as free.
    fn withdraw(&self, slots: &impl Slots<Self::Header>, client: &mut Self::Client, slot: SlotId);

    /// Claims a slot that was submitted to this worker; none when there is none.
    fn take(&self, slots: &impl Slots<Self::Header>, worker: &mut Self::Worker) -> Option<SlotId>;

    /// Gives a claimed slot back as free.
    fn complete(&self, slots: &impl Slots<Self::Header>, worker: &mut Self::Worker, slot: SlotId);
}

/// The per-slot headers of a queue, by slot.
pub trait Slots<H> {
    /// The header of one slot.
    ///
    /// # Panics
    /// When the slot is not of this queue.
    fn header(&self, slot: SlotId) -> &H;
}

/// Headers without payloads, for driving a queue by hand.
#[derive(Debug)]
pub struct HeaderTable<H>(Box<[H]>);

impl<H: Default> HeaderTable<H> {
    /// A header per slot of `shape`.
    #[must_use]
    pub fn new(shape: Shape) -> Self {
        Self(shape.all_slots().map(|_| H::default()).collect())
    }
}

impl<H> Slots<H> for HeaderTable<H> {
    #[inline]
    fn header(&self, slot: SlotId) -> &H {
        &self.0[slot.index()]
    }
}

/// How a client goes on from lane to lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dispatch {
    /// To the next lane after each slot: spreads the work, and wakes many workers. Where slots are nobody's,
    /// the design's own order.
    #[default]
    RoundRobin,
    /// Stays with a lane until its slots are all in use: long batches, few workers awake.
    FillFirst,
}

/// Who may take a submitted slot, and so who has to be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// This lane's worker alone.
    Lane(LaneId),
    /// Any worker.
    Any,
}

/// [`Submitters`] as a type, so that misuse does not compile.
pub trait SubmitterCount: Send + Sync + 'static {
    /// The same as a value.
    const COUNT: Submitters;
}

/// One submitter: its client cannot be cloned.
#[derive(Clone, Copy, Debug)]
pub struct One;

/// Many submitters: a client is cloned for each.
#[derive(Clone, Copy, Debug)]
pub struct Many;

impl SubmitterCount for One {
    const COUNT: Submitters = Submitters::One;
}

impl SubmitterCount for Many {
    const COUNT: Submitters = Submitters::Many;
}

/// Why there is no further client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ClientError {
    /// The design takes one submitter.
    #[error("this design takes one submitter, and it has one")]
    OneSubmitter,
    /// The design's limit is reached; a dropped client makes room.
    #[error("{limit} clients are alive, and this design takes no more")]
    TooManyClients {
        /// The limit, from the design's claims.
        limit: usize,
    },
}

/// A queue that nobody has used yet: every slot is free, and no handle was made. Only such a one can
/// carry payloads.
#[derive(Debug)]
pub struct Fresh<Q>(Q);

impl<Q: RequestQueue> Fresh<Q> {
    /// Says that a queue is fresh.
    ///
    /// # Safety
    /// No method of `queue` was called, but [`RequestQueue::shape`].
    pub const unsafe fn new_unchecked(queue: Q) -> Self {
        Self(queue)
    }

    /// The queue itself, to be driven by hand.
    pub fn into_inner(self) -> Q {
        self.0
    }

    /// Its shape.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.0.shape()
    }
}

/// A factory of queues: what stands in the catalog.
///
/// # Safety
/// An implementation promises that what [`Design::construct`] and [`Design::build`] return is fresh: made
/// for this call, every slot free, no handle made. [`Pool`](crate::Pool) hands out `&mut T` on the strength of
/// this too: a slot that somebody was using would get a second owner.
pub unsafe trait Design: 'static {
    /// The name by which it is chosen and shown: lower case and hyphens.
    const NAME: &'static str;
    /// What it says of itself.
    const CLAIMS: Claims;
    /// Its atomic accesses, a table per part.
    const SITES: &'static [&'static [Site]];
    /// The queue it makes.
    type Queue<P: Platform>: RequestQueue<Platform = P>;

    /// A queue of a shape that the claims admit; every slot is free. Called by [`Design::build`], which checks
    /// the shape; with a shape beyond the limits, the queue need not work.
    fn construct<P: Platform>(shape: Shape) -> Self::Queue<P>;

    /// A queue of this shape, every slot free.
    ///
    /// # Errors
    /// [`ShapeError`] when the shape is beyond the design's limits; nothing is allocated then.
    fn build<P: Platform>(shape: Shape) -> Result<Fresh<Self::Queue<P>>, ShapeError> {
        Self::CLAIMS.admit(shape)?;
        Ok(Fresh(Self::construct(shape)))
    }
}
