//! What the workqueue keeps beside a user's payload.

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// The slot has carried none yet.
    Fresh,
    /// Its handler returned.
    Handled,
    /// Its handler panicked.
    Failed,
    /// The queue was shut down before a worker came to it.
    Cancelled,
}

/// The payload of a slot: the user's value, and what became of its last request.
#[derive(Debug)]
pub struct Request<T> {
    pub(crate) value: T,
    pub(crate) fate: Fate,
    /// It ended, and its submitter's side has not collected it yet.
    pub(crate) uncollected: bool,
}

impl<T> Request<T> {
    /// A request that was never submitted.
    pub const fn new(value: T) -> Self {
        Self { value, fate: Fate::Fresh, uncollected: false }
    }

    pub(crate) fn end(&mut self, fate: Fate) {
        self.fate = fate;
        self.uncollected = true;
    }

    /// Whether [`Request::take_handled`] would give the value.
    pub(crate) fn is_handled(&self) -> bool {
        self.uncollected && self.fate == Fate::Handled
    }

    /// The value, if the request was handled and this is the first call since.
    #[inline]
    pub(crate) fn take_handled(&mut self) -> Option<&mut T> {
        let uncollected = std::mem::take(&mut self.uncollected);
        (uncollected && self.fate == Fate::Handled).then_some(&mut self.value)
    }
}
