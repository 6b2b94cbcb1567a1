//! A workqueue and its submitters, whatever their design: what both headers are made of.
//!
//! ```text
//!   Carrier ──submitter──▶ Submitting ──acquire──▶ request, a pointer
//!                              │ held:  per slot, whether this submitter holds its request
//!                              ◀──submit, withdraw── request
//! ```
//!
//! A C program holds a request as a bare pointer, so its guard is given up as it goes out, and made again as it comes
//! back. Whether there is one to make is in a table that belongs to the submitter alone: submitting twice, or
//! what another submitter holds, or what was never got, is found out by the look that has to be taken anyway.

use crate::callbacks::Callbacks;
use crate::memory::{Block, Memory, Places};
use crate::status::Status;
use slotwork::{CachePadded, ClientError, Design, PoolError, Shape, SlotId, Submitters};
use slotwork_catalog::{Visitor, visit_named};
use slotwork_workqueue::{
    BuildError, Builder, Configuration, Fate, Report, RequestError, ShutdownError, Submitter, Vacancy, Workqueue,
};
use std::cell::Cell;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What failed, and the detail in words.
pub(crate) type Failure = (Status, String);

/// How long a call may wait.
#[derive(Clone, Copy)]
pub(crate) enum Patience {
    For(Duration),
    ForEver,
}

/// A workqueue of any design.
pub(crate) trait Carrier: Send + Sync {
    /// A submitter, if the design takes one more.
    fn submitter(self: Arc<Self>) -> Result<Box<dyn Submitting>, Status>;
    /// Ends the workers: after handling what is queued, or after cancelling it.
    fn shutdown(&self, cancel: bool) -> Result<Report, Status>;
    /// As `shutdown`, and collects what was handled; refused also inside of a `done`, before it has any effect.
    fn close(&self) -> Result<(), Status>;
    fn report(&self) -> Report;
    fn wakes(&self) -> (u64, u64);
}

/// A submitter of any design. It is used by one thread at a time, and by its own `done`s inside of that.
pub(crate) trait Submitting {
    /// A request, if one is free; never waits.
    fn try_acquire(&self) -> Option<*mut c_void>;
    fn acquire(&self, patience: Patience) -> Result<*mut c_void, Status>;
    fn submit(&self, request: *mut c_void) -> Result<(), Status>;
    fn withdraw(&self, request: *mut c_void) -> Result<(), Status>;
    fn fate(&self, request: *mut c_void) -> Result<Fate, Status>;
    fn drain(&self, patience: Patience) -> Result<(), Status>;
}

/// Builds a workqueue of the design of this name, with requests of `size` bytes.
pub(crate) fn build(
    design: &str,
    configuration: Configuration,
    size: usize,
    callbacks: Callbacks,
) -> Result<Arc<dyn Carrier>, Failure> {
    let built = visit_named(design, &mut Build { configuration: Some(configuration), size, callbacks });
    built.unwrap_or_else(|unknown| Err((Status::UnknownDesign, unknown.to_string())))
}

struct Build {
    configuration: Option<Configuration>,
    size: usize,
    callbacks: Callbacks,
}

impl Visitor for Build {
    type Output = Result<Arc<dyn Carrier>, Failure>;

    fn visit<D: Design>(&mut self) -> Self::Output {
        let (configuration, callbacks) = (self.configuration.take().expect("one design is visited"), self.callbacks);
        // Before anything is allocated for it.
        let slots = Shape::new(configuration.workers, configuration.requests_per_worker)
            .and_then(|shape| D::CLAIMS.admit(shape).map(|()| shape.slots()))
            .map_err(|error| (Status::Shape, error.to_string()))?;
        let block = Block::new(slots, self.size, callbacks)
            .ok_or_else(|| (Status::Memory, format!("no memory for {slots} requests of {} bytes each", self.size)))?;
        let init = |slot: SlotId| Memory::new(&block, slot.index());
        let handler = move |memory: &mut Memory| callbacks.handle(memory.request);
        let padded = CachePadded::new(callbacks);
        let done = move |memory: &mut Memory| padded.done(memory.request);
        let (workqueue, submitter) = Builder::<Memory, D>::from(configuration)
            .try_build(init, handler, done)
            .map_err(|error| (build_status(&error), describe(&error)))?;
        Ok(Arc::new(Queue { workqueue, submitter: Mutex::new(Some(submitter)), block, slots }))
    }
}

fn build_status(error: &BuildError<i32>) -> Status {
    match error {
        BuildError::Shape(_) => Status::Shape,
        BuildError::Name { .. } => Status::Configuration,
        BuildError::Pool(PoolError::Payload { .. }) => Status::Init,
        BuildError::Pool(PoolError::Memory { .. }) => Status::Memory,
        BuildError::Dispatch { .. } => Status::Dispatch,
        BuildError::Thread { .. } => Status::Thread,
    }
}

fn describe(error: &BuildError<i32>) -> String {
    match error {
        BuildError::Pool(PoolError::Payload { slot, source }) => {
            format!("init of request {} returned {source}", slot.index())
        }
        BuildError::Thread { source, .. } => format!("{error}: {source}"),
        _ => error.to_string(),
    }
}

/// A workqueue of one design.
struct Queue<D: Design> {
    workqueue: Workqueue<Memory, D>,
    /// Of a design for many: what each submitter is cloned from. Of a design for one: that one, while
    /// nobody has it.
    submitter: Mutex<Option<Submitter<Memory, D>>>,
    block: Arc<Block>,
    slots: usize,
}

impl<D: Design> Queue<D> {
    fn spare(&self) -> std::sync::MutexGuard<'_, Option<Submitter<Memory, D>>> {
        self.submitter.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D: Design> Carrier for Queue<D> {
    fn submitter(self: Arc<Self>) -> Result<Box<dyn Submitting>, Status> {
        let submitter = match (D::CLAIMS.submitters, &mut *self.spare()) {
            (Submitters::One, spare) => spare.take().ok_or(Status::OneSubmitter)?,
            (Submitters::Many, Some(submitter)) => submitter.try_clone().map_err(client_status)?,
            (Submitters::Many, None) => return Err(Status::Stopped),
        };
        let held = Held::nothing(self.slots);
        let submitter = ManuallyDrop::new(submitter);
        Ok(Box::new(Typed { held, places: self.block.places, submitter, queue: self }))
    }

    fn shutdown(&self, cancel: bool) -> Result<Report, Status> {
        if cancel { self.workqueue.shutdown_now() } else { self.workqueue.shutdown() }.map_err(|error| match error {
            ShutdownError::InsideHandler => Status::InsideHandler,
            ShutdownError::Forked => Status::Forked,
        })
    }

    fn close(&self) -> Result<(), Status> {
        // Also in a `done`: whoever it is called from still uses the queue.
        if self.workqueue.is_inside() {
            return Err(Status::InsideHandler);
        }
        self.shutdown(false)?;
        let submitter = self.spare().take();
        // Out of the lock: it runs `done` for what was handled, and that may ask for anything.
        drop(submitter);
        Ok(())
    }

    fn report(&self) -> Report {
        self.workqueue.report()
    }

    fn wakes(&self) -> (u64, u64) {
        self.workqueue.wakes()
    }
}

fn client_status(error: ClientError) -> Status {
    match error {
        ClientError::OneSubmitter => Status::OneSubmitter,
        ClientError::TooManyClients { .. } => Status::TooManySubmitters,
    }
}

fn request_status(error: RequestError) -> Status {
    match error {
        RequestError::Stopped => Status::Stopped,
        RequestError::Timeout => Status::Timeout,
        RequestError::InsideHandler => Status::InsideHandler,
        RequestError::Forked => Status::Forked,
    }
}

/// By slot: whether it is held, and so is here without its guard. In lines that nothing else is in: the submitter writes them
/// all the time, and the allocator may have put beside them what a worker reads.
struct Held(Box<[CachePadded<[Cell<bool>; LINE]>]>);

const LINE: usize = 128;

impl Held {
    fn nothing(slots: usize) -> Self {
        let line = || CachePadded::new([const { Cell::new(false) }; LINE]);
        Self((0..slots.div_ceil(LINE)).map(|_| line()).collect())
    }

    #[inline]
    fn of(&self, slot: usize) -> &Cell<bool> {
        &self.0[slot / LINE][slot % LINE]
    }
}

/// A submitter of one design, and which requests it holds; in lines of its own, as [`Held`] is.
#[repr(align(128))]
struct Typed<D: Design> {
    held: Held,
    /// Of the block, at hand; `queue` keeps it.
    places: Places,
    /// There until the drop.
    submitter: ManuallyDrop<Submitter<Memory, D>>,
    queue: Arc<Queue<D>>,
}

impl<D: Design> Typed<D> {
    #[inline]
    fn hold(&self, vacancy: Vacancy<'_, Memory, D>) -> *mut c_void {
        // Not read from the vacancy: its line comes from the worker, and the program need not wait for it to begin.
        let request = self.places.request(vacancy.slot().index());
        debug_assert_eq!(request, vacancy.request, "one place for a slot, by number and as it was initialised");
        self.held.of(vacancy.into_slot().index()).set(true);
        request
    }

    #[inline]
    fn release(&self, request: *mut c_void) -> Result<Vacancy<'_, Memory, D>, Status> {
        let slot = self.places.slot(request).ok_or(Status::ForeignRequest)?;
        if !self.held.of(slot).replace(false) {
            return Err(Status::NotHeld);
        }
        // SAFETY: `hold` took the slot out of a guard of this submitter, and it was not released since.
        Ok(unsafe { self.submitter.vacancy(SlotId::new(slot)) })
    }
}

impl<D: Design> Submitting for Typed<D> {
    #[inline]
    fn try_acquire(&self) -> Option<*mut c_void> {
        self.submitter.try_request().map(|vacancy| self.hold(vacancy))
    }

    fn acquire(&self, patience: Patience) -> Result<*mut c_void, Status> {
        let vacancy = match patience {
            Patience::For(timeout) => self.submitter.request_timeout(timeout).map_err(request_status)?,
            Patience::ForEver => self.submitter.request().map_err(request_status)?,
        };
        Ok(self.hold(vacancy))
    }

    #[inline]
    fn submit(&self, request: *mut c_void) -> Result<(), Status> {
        self.release(request)?.submit().map_err(|_| Status::Stopped)
    }

    fn withdraw(&self, request: *mut c_void) -> Result<(), Status> {
        self.release(request).map(drop)
    }

    fn fate(&self, request: *mut c_void) -> Result<Fate, Status> {
        let vacancy = self.release(request)?;
        let fate = vacancy.fate();
        self.hold(vacancy);
        Ok(fate)
    }

    fn drain(&self, patience: Patience) -> Result<(), Status> {
        match patience {
            Patience::For(timeout) => self.submitter.drain_timeout(timeout),
            Patience::ForEver => self.submitter.drain(),
        }
        .map_err(request_status)
    }
}

impl<D: Design> Drop for Typed<D> {
    fn drop(&mut self) {
        // A lock of the queue may have been held by another thread as this process was forked.
        if self.submitter.is_forked() {
            return;
        }
        for slot in 0..self.queue.slots {
            if self.held.of(slot).take() {
                // SAFETY: as in `release`.
                drop(unsafe { self.submitter.vacancy(SlotId::new(slot)) });
            }
        }
        // SAFETY: taken once, here, and not used any more.
        let submitter = unsafe { ManuallyDrop::take(&mut self.submitter) };
        if D::CLAIMS.submitters == Submitters::One {
            // Kept for the next one, which also collects what this one did not; or for the end.
            *self.queue.spare() = Some(submitter);
        }
    }
}
