//! The submitting side: requests, results, drains.

use crate::Engine;
use crate::inside::is_inside_of;
use crate::request::{Fate, Request};
use slotwork::{Client, ClientError, Design, Dispatch, Many, Native, Platform, RequestQueue, SlotId, Vacant};
use std::cell::Cell;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::{Duration, Instant};
use thiserror::Error;

/// The queue was shut down. The request was not submitted, and its slot is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the workqueue was shut down")]
pub struct Stopped;

/// Why there is no request, or no drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RequestError {
    /// The queue was shut down.
    #[error("the workqueue was shut down")]
    Stopped,
    /// No slot became free in time, or not everything ended in time.
    #[error("the time ran out")]
    Timeout,
    /// A handler would have waited for its own worker, or a `done` for the slot it is called with.
    #[error("a handler, or what runs when it is done, may not wait for its own workqueue")]
    InsideHandler,
    /// The process was forked from the one that has the workers.
    #[error("the workers are in another process: this one was forked from it")]
    Forked,
}

/// A submitting handle: moves between threads, and is cloned for each where the design takes many.
pub struct Submitter<T: Send + 'static, D: Design, P: Platform = Native> {
    /// There until the drop.
    client: Option<Client<Request<T>, D::Queue<P>>>,
    engine: Arc<Engine<T, D, P>>,
    process: u32,
    /// What a clone starts with.
    dispatch: Cell<Dispatch>,
}

impl<T: Send + 'static, D: Design, P: Platform> Submitter<T, D, P> {
    /// The first submitter of an engine that is driven by hand; [`Builder`](crate::Builder) makes one too.
    #[must_use]
    pub fn new(client: Client<Request<T>, D::Queue<P>>, engine: Arc<Engine<T, D, P>>) -> Self {
        let dispatch = Cell::new(Dispatch::default());
        Self { client: Some(client), engine, process: std::process::id(), dispatch }
    }

    #[inline]
    fn client(&self) -> &Client<Request<T>, D::Queue<P>> {
        self.client.as_ref().expect("there until the drop")
    }

    /// A free request, if there is one now; "none" is as the design's [`NoneFree`](slotwork::NoneFree) says. Never waits.
    ///
    /// Runs `done` on the calling thread if the slot's last request was handled and nobody ran it yet. A
    /// `done` that calls this runs the next one inside itself.
    #[inline]
    pub fn try_request(&self) -> Option<Vacancy<'_, T, D, P>> {
        let mut vacancy = self.acquire()?;
        vacancy.collect();
        Some(vacancy)
    }

    /// A request that was taken out of its guard: for who can keep a number, but no guard.
    ///
    /// # Safety
    /// `slot` came from [`Vacancy::into_slot`] of a guard of this submitter, and this was not called for it since.
    #[inline]
    pub unsafe fn vacancy(&self, slot: SlotId) -> Vacancy<'_, T, D, P> {
        // SAFETY: as the caller promises.
        let vacant = unsafe { self.client().vacant(slot) };
        Vacancy { vacant: Some(vacant), submitter: self }
    }

    /// The slot alone: its `done` is still to be run, by [`Vacancy::collected`].
    #[inline]
    fn acquire(&self) -> Option<Vacancy<'_, T, D, P>> {
        let vacant = self.client().acquire()?;
        Some(Vacancy { vacant: Some(vacant), submitter: self })
    }

    /// A free request; waits until there is one. **Blocking**, except inside a handler or a `done` of the
    /// same queue, where it fails instead of waiting.
    ///
    /// # Errors
    /// [`RequestError::Stopped`], [`RequestError::InsideHandler`], [`RequestError::Forked`].
    pub fn request(&self) -> Result<Vacancy<'_, T, D, P>, RequestError> {
        if let Some(vacancy) = self.try_request() {
            return Ok(vacancy);
        }
        self.may_wait()?;
        self.engine.wait_vacancy(|| self.look()).map(Vacancy::collected)
    }

    /// As [`Submitter::request`], for at most `timeout`.
    ///
    /// # Errors
    /// As [`Submitter::request`], and [`RequestError::Timeout`].
    pub fn request_timeout(&self, timeout: Duration) -> Result<Vacancy<'_, T, D, P>, RequestError> {
        if let Some(vacancy) = self.try_request() {
            return Ok(vacancy);
        }
        self.may_wait()?;
        let looked = self.engine.wait_vacancy_timeout(|| self.look(), remaining_of(timeout));
        looked.unwrap_or(Err(RequestError::Timeout)).map(Vacancy::collected)
    }

    /// One look of a wait. No `done` runs in it: the thread may be on the list of sleepers still, and a wake that is sent
    /// to it while its `done` runs would be kept from who can use it.
    fn look(&self) -> Option<Result<Vacancy<'_, T, D, P>, RequestError>> {
        let running = self.engine.running();
        match self.acquire() {
            Some(vacancy) => Some(Ok(vacancy)),
            None => (!running).then_some(Err(RequestError::Stopped)),
        }
    }

    fn may_wait(&self) -> Result<(), RequestError> {
        if is_inside_of(&self.engine) {
            return Err(RequestError::InsideHandler);
        }
        if self.is_forked() {
            return Err(RequestError::Forked);
        }
        Ok(())
    }

    /// Whether this process was forked from the one that has the workers. A thread that is not here may hold a lock of the
    /// queue for ever: then all that is sure to return is a drain, which fails, and the drop of a submitter, which does nothing.
    #[must_use]
    pub fn is_forked(&self) -> bool {
        self.process != std::process::id()
    }

    /// Waits until everything submitted before the call, by anybody, has ended, and runs `done` for what
    /// was handled. Others may go on submitting; their requests are not waited for. **Blocking.**
    ///
    /// What another thread is collecting at that moment, its own `done`s are for it to run: they may still be running, or
    /// be to come, when this returns. Where there is a `done`,
    /// all free slots are held for a moment at the end, to see which of them it is to
    /// run for, and those until it has run: a [`Submitter::try_request`] of another thread may then find none. So a `done`
    /// that waits for a thread that waits for a slot may wait for ever.
    ///
    /// # Errors
    /// [`RequestError::InsideHandler`], [`RequestError::Forked`].
    pub fn drain(&self) -> Result<(), RequestError> {
        self.may_wait()?;
        let mut drain = self.client().begin_drain();
        if !drain.poll() {
            self.engine.wait_drained(|| drain.poll());
        }
        self.engine.collect_all(self.client());
        Ok(())
    }

    /// As [`Submitter::drain`], for at most `timeout`. What has ended by then is collected as its slot is
    /// got back, as if there had been no drain.
    ///
    /// # Errors
    /// As [`Submitter::drain`], and [`RequestError::Timeout`].
    pub fn drain_timeout(&self, timeout: Duration) -> Result<(), RequestError> {
        self.may_wait()?;
        let mut drain = self.client().begin_drain();
        if !drain.poll() && !self.engine.wait_drained_timeout(|| drain.poll(), remaining_of(timeout)) {
            return Err(RequestError::Timeout);
        }
        self.engine.collect_all(self.client());
        Ok(())
    }

    /// Chooses how this submitter goes on from worker to worker, and says whether the design can.
    pub fn set_dispatch(&self, dispatch: Dispatch) -> bool {
        let possible = self.client().set_dispatch(dispatch);
        if possible {
            self.dispatch.set(dispatch);
        }
        possible
    }

    /// Another submitter, with the same dispatch policy.
    ///
    /// # Errors
    /// [`ClientError`] where the design takes one, or no more.
    pub fn try_clone(&self) -> Result<Self, ClientError> {
        let client = match self.client().try_clone() {
            // The client of a submitter that was dropped is alive, and counts.
            Err(error @ ClientError::TooManyClients { .. }) => self.engine.spare_client().ok_or(error)?,
            client => client?,
        };
        client.set_dispatch(self.dispatch.get());
        // Whatever a submitter before it was told.
        client.insist();
        Ok(Self {
            client: Some(client),
            engine: Arc::clone(&self.engine),
            process: self.process,
            dispatch: self.dispatch.clone(),
        })
    }
}

/// What is left of `timeout`, from now on; none when it is over.
fn remaining_of(timeout: Duration) -> impl FnMut() -> Option<Duration> {
    let start = Instant::now();
    move || timeout.checked_sub(start.elapsed()).filter(|time| !time.is_zero())
}

impl<T: Send + 'static, D: Design, P: Platform> Clone for Submitter<T, D, P>
where
    D::Queue<P>: RequestQueue<Submitters = Many>,
{
    /// Another submitter.
    ///
    /// # Panics
    /// When the design's limit is reached; [`Submitter::try_clone`] says so instead.
    fn clone(&self) -> Self {
        self.try_clone().expect("the design's limit on submitters is reached")
    }
}

impl<T: Send + 'static, D: Design, P: Platform> Drop for Submitter<T, D, P> {
    /// Runs `done` for what is handled; what is handled later is collected by others, or at the end.
    fn drop(&mut self) {
        match self.client.take() {
            // A lock of the queue may have been held by another thread as this process was forked.
            Some(client) if self.is_forked() => std::mem::forget(client),
            Some(client) => self.engine.give_up(client),
            None => {}
        }
    }
}

/// A free request in hand: derefs to its payload, with the last result in it. Dropping it gives it back.
pub struct Vacancy<'a, T: Send + 'static, D: Design, P: Platform = Native> {
    vacant: Option<Vacant<'a, Request<T>, D::Queue<P>>>,
    submitter: &'a Submitter<T, D, P>,
}

impl<'a, T: Send + 'static, D: Design, P: Platform> Vacancy<'a, T, D, P> {
    #[inline]
    fn vacant(&self) -> &Vacant<'a, Request<T>, D::Queue<P>> {
        self.vacant.as_ref().expect("present until it is submitted or dropped")
    }

    /// Runs `done` for the slot's last request, if that is still to be done. It is in its guard already: if
    /// `done` panics, the slot is given back and whoever waits for it is woken.
    #[inline]
    fn collect(&mut self) {
        if let Some(vacant) = &mut self.vacant {
            self.submitter.engine.collect(vacant);
        }
    }

    fn collected(mut self) -> Self {
        self.collect();
        self
    }

    /// Gives the guard up and keeps the request, until [`Submitter::vacancy`] makes a guard of it again.
    #[inline]
    #[must_use = "the slot is lost without its number"]
    pub fn into_slot(self) -> SlotId {
        let mut this = ManuallyDrop::new(self);
        this.vacant.take().expect("present until it is submitted or dropped").into_slot()
    }

    /// What became of the slot's last request.
    #[must_use]
    pub fn fate(&self) -> Fate {
        self.vacant().fate
    }

    /// Which slot it is.
    #[inline]
    #[must_use]
    pub fn slot(&self) -> SlotId {
        self.vacant().slot()
    }

    /// Hands the request to the workers. Never waits. In a process that was forked, nobody will handle it.
    ///
    /// # Errors
    /// [`Stopped`] after a shutdown; the slot is given back.
    #[inline]
    pub fn submit(self) -> Result<(), Stopped> {
        let engine = &self.submitter.engine;
        if !engine.running() {
            return Err(self.refused());
        }
        // Nothing is left to drop: told so, the compiler keeps the guard out of memory.
        let mut this = ManuallyDrop::new(self);
        let vacant = this.vacant.take().expect("present until it is submitted or dropped");
        engine.submitted(vacant.submit());
        Ok(())
    }

    #[cold]
    fn refused(self) -> Stopped {
        drop(self);
        Stopped
    }
}

impl<T: Send + 'static, D: Design, P: Platform> Drop for Vacancy<'_, T, D, P> {
    #[inline]
    fn drop(&mut self) {
        if let Some(vacant) = self.vacant.take() {
            drop(vacant);
            self.submitter.engine.vacated(1);
        }
    }
}

impl<T: Send + 'static, D: Design, P: Platform> Deref for Vacancy<'_, T, D, P> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.vacant().value
    }
}

impl<T: Send + 'static, D: Design, P: Platform> DerefMut for Vacancy<'_, T, D, P> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.vacant.as_mut().expect("present until it is submitted or dropped").value
    }
}

impl<T: Send + fmt::Debug + 'static, D: Design, P: Platform> fmt::Debug for Vacancy<'_, T, D, P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Vacancy").field(&**self).finish()
    }
}

impl<T: Send + 'static, D: Design, P: Platform> fmt::Debug for Submitter<T, D, P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Submitter").field("engine", &self.engine).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workqueue;
    use slotwork_bitmap::{Bitmap, BitmapClaim};
    use std::convert::Infallible;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_done_that_panics_keeps_no_other_request_from_its_own() {
        let dones = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&dones);
        let done = move |_: &mut ()| assert!(counted.fetch_add(1, Ordering::Relaxed) > 0, "the first one panics");
        let builder = Workqueue::<(), Bitmap>::builder("dones");
        let (queue, submitter) = builder.try_build(|_| Ok::<_, Infallible>(()), |()| {}, done).unwrap();
        let held: Vec<_> = (0..4).map(|_| submitter.try_request().unwrap()).collect();
        held.into_iter().for_each(|vacancy| vacancy.submit().unwrap());
        while queue.report().handled < 4 {
            std::thread::yield_now();
        }
        assert!(catch_unwind(AssertUnwindSafe(|| drop(submitter))).is_err());
        queue.shutdown().unwrap();
        assert_eq!(dones.load(Ordering::Relaxed), 4);
    }

    #[test]
    fn a_clone_dispatches_as_its_original() {
        let builder = Workqueue::<(), BitmapClaim>::builder("clones").workers(2).dispatch(Dispatch::FillFirst);
        let (_queue, submitter) = builder.build(|_| (), |()| {}).unwrap();
        let clone = submitter.clone();
        let slots: Vec<_> = std::iter::from_fn(|| clone.try_request().map(std::mem::ManuallyDrop::new)).collect();
        let lanes: Vec<_> = slots.iter().map(|vacancy| vacancy.slot().index() / 4).collect();
        assert_eq!(lanes, [0, 0, 0, 0, 1, 1, 1, 1]);
    }
}
