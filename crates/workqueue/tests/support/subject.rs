//! What a check needs of a workqueue: so that it runs on every design, and on variants that are wrong.

use slotwork::{Design, Submitters};
use slotwork_workqueue::{Completion, Fate, Report, RequestError, Stopped, Submitter, Waiting, Workqueue};
use std::marker::PhantomData;
use std::time::Duration;

/// The payload of the checks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parcel {
    /// Which request it is.
    pub(crate) number: u64,
    /// What the handler made of it.
    pub(crate) answer: u64,
}

/// The answer that [`Parcel::number`] should get.
pub(crate) fn answer(number: u64) -> u64 {
    !number.rotate_left(7)
}

/// The usual handler.
pub(crate) fn handle(parcel: &mut Parcel) {
    parcel.answer = answer(parcel.number);
}

/// The `done` of a check that has no use for it.
pub(crate) fn ignore(_parcel: &mut Parcel) {}

/// Size and policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) workers: usize,
    pub(crate) requests_per_worker: usize,
    pub(crate) waiting: Waiting,
}

impl Plan {
    pub(crate) fn new(workers: usize, requests_per_worker: usize) -> Self {
        Self { workers, requests_per_worker, waiting: Waiting::default() }
    }

    /// As many requests in all as this.
    pub(crate) fn slots(self) -> usize {
        self.workers * self.requests_per_worker
    }
}

/// How long a submitter waits for a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wait {
    Not,
    ForEver,
    For(Duration),
}

/// Why there was no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Full,
    Stopped,
    Timeout,
    Other,
}

impl From<RequestError> for Refused {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Stopped => Self::Stopped,
            RequestError::Timeout => Self::Timeout,
            RequestError::InsideHandler | RequestError::Forked => Self::Other,
        }
    }
}

impl From<Stopped> for Refused {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

/// What becomes of a slot in hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    Submit,
    Withdraw,
}

/// A handler or a `done`.
pub(crate) type Function = Box<dyn Fn(&mut Parcel) + Send + Sync>;

/// What decides what becomes of a slot in hand.
pub(crate) type Fill<'a> = &'a mut dyn FnMut(&mut Parcel, Fate) -> Then;

/// A kind of workqueue. Behind `dyn`, so that each check is compiled once and not for every design again.
pub(crate) trait Subject: Sync {
    /// Whether it takes more than one submitter.
    fn many(&self) -> bool;
    /// Whether no worker sleeps beside a request that waits.
    fn conserves(&self) -> bool;
    fn build(&self, plan: Plan, handler: Function, done: Function) -> (Box<dyn Queue>, Box<dyn Submits>);
}

impl dyn Subject + '_ {
    pub(crate) fn start(
        &self,
        plan: Plan,
        handler: impl Fn(&mut Parcel) + Send + Sync + 'static,
        done: impl Fn(&mut Parcel) + Send + Sync + 'static,
    ) -> (Box<dyn Queue>, Box<dyn Submits>) {
        self.build(plan, Box::new(handler), Box::new(done))
    }
}

/// A workqueue: its threads' side.
pub(crate) trait Queue: Send + Sync {
    fn shutdown(&self) -> Report;
    fn shutdown_now(&self) -> Report;
    fn report(&self) -> Report;
    /// Wakes of workers, and of submitters.
    fn wakes(&self) -> (u64, u64);
}

/// A workqueue: its submitters' side.
pub(crate) trait Submits: Send {
    fn another(&self) -> Box<dyn Submits>;
    /// Gets a slot, lets `fill` decide what becomes of it, and does that.
    fn use_slot(&self, wait: Wait, fill: Fill<'_>) -> Result<(), Refused>;
    fn drain(&self) -> Result<(), Refused>;
}

impl dyn Submits + '_ {
    /// As [`Submits::use_slot`].
    pub(crate) fn with(&self, wait: Wait, fill: impl FnOnce(&mut Parcel, Fate) -> Then) -> Result<(), Refused> {
        let mut fill = Some(fill);
        self.use_slot(wait, &mut |parcel, fate| fill.take().expect("called once")(parcel, fate))
    }

    /// Submits one request.
    pub(crate) fn send(&self, wait: Wait, number: u64) -> Result<(), Refused> {
        self.with(wait, |parcel, _| {
            *parcel = Parcel { number, answer: 0 };
            Then::Submit
        })
    }
}

/// The workqueue over a design, with its completion events.
pub(crate) struct Real<D>(pub(crate) Completion, pub(crate) PhantomData<fn() -> D>);

impl<D: Design> Subject for Real<D> {
    fn many(&self) -> bool {
        D::CLAIMS.submitters == Submitters::Many
    }

    fn conserves(&self) -> bool {
        D::CLAIMS.work_conserving
    }

    fn build(&self, plan: Plan, handler: Function, done: Function) -> (Box<dyn Queue>, Box<dyn Submits>) {
        let (queue, submitter) = Workqueue::<Parcel, D>::builder("subject")
            .workers(plan.workers)
            .requests_per_worker(plan.requests_per_worker)
            .waiting(plan.waiting)
            .completion(self.0)
            .try_build(|_| Ok::<_, ()>(Parcel::default()), handler, done)
            .expect("a small workqueue");
        (Box::new(queue), Box::new(submitter))
    }
}

impl<D: Design> Queue for Workqueue<Parcel, D> {
    fn shutdown(&self) -> Report {
        self.shutdown().expect("outside of handlers")
    }

    fn shutdown_now(&self) -> Report {
        self.shutdown_now().expect("outside of handlers")
    }

    fn report(&self) -> Report {
        self.report()
    }

    fn wakes(&self) -> (u64, u64) {
        self.wakes()
    }
}

impl<D: Design> Submits for Submitter<Parcel, D> {
    fn another(&self) -> Box<dyn Submits> {
        Box::new(self.try_clone().expect("fewer submitters than the design takes"))
    }

    fn use_slot(&self, wait: Wait, fill: Fill<'_>) -> Result<(), Refused> {
        let mut vacancy = match wait {
            Wait::Not => self.try_request().ok_or(Refused::Full)?,
            Wait::ForEver => self.request()?,
            Wait::For(time) => self.request_timeout(time)?,
        };
        let fate = vacancy.fate();
        match fill(&mut vacancy, fate) {
            Then::Submit => Ok(vacancy.submit()?),
            Then::Withdraw => Ok(()),
        }
    }

    fn drain(&self) -> Result<(), Refused> {
        Ok(self.drain()?)
    }
}
