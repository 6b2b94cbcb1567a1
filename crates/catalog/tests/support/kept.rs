//! Guards that keep their handle alive, so that a test can store both in any order.

use slotwork::{Claimed, Client, RequestQueue, Vacant, Worker};
use std::rc::Rc;

/// A slot held by a client.
pub(crate) type Held<T, Q> = Kept<Vacant<'static, T, Q>, Client<T, Q>>;
/// A slot claimed by a worker.
pub(crate) type Taken<T, Q> = Kept<Claimed<'static, T, Q>, Worker<T, Q>>;

/// A guard and the handle that it borrows from. The guard is dropped first.
pub(crate) struct Kept<G, H> {
    pub(crate) guard: G,
    pub(crate) handle: Rc<H>,
}

impl<G, H> Kept<G, H> {
    /// Uses the guard up, with the handle alive all the while.
    pub(crate) fn finish<R>(self, last: impl FnOnce(G) -> R) -> R {
        let Self { guard, handle } = self;
        let result = last(guard);
        drop(handle);
        result
    }
}

/// Acquires.
pub(crate) fn acquire<T, Q: RequestQueue>(client: &Rc<Client<T, Q>>) -> Option<Held<T, Q>> {
    // SAFETY: the `Rc` beside the guard keeps the client where it is, and is dropped after the guard.
    let handle: &'static Client<T, Q> = unsafe { &*Rc::as_ptr(client) };
    Some(Kept { guard: handle.acquire()?, handle: Rc::clone(client) })
}

/// Takes.
pub(crate) fn take<T, Q: RequestQueue>(worker: &Rc<Worker<T, Q>>) -> Option<Taken<T, Q>> {
    // SAFETY: as in `acquire`.
    let handle: &'static Worker<T, Q> = unsafe { &*Rc::as_ptr(worker) };
    Some(Kept { guard: handle.take()?, handle: Rc::clone(worker) })
}
