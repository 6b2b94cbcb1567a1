//! Park and unpark for loom: its own make a thread runnable whatever it is blocked on.
//!
//! Loom's `unpark` of a thread that waits for a mutex, or in a join, ends that wait, and the model breaks
//! down; and it orders the two threads even when the wake is never used. So each thread has a token
//! here, an atomic of the model, and loom's own unpark is called only for a thread that is parked.
//!
//! ```text
//!   unpark:  token ≔ 1 (release);  parked? make it runnable
//!   park:    token ≔ 0 (acquire);  was it 1? return.  block;  token ≔ 0 (acquire)
//! ```
//!
//! Between the exchange and what follows it no other thread of the model runs, for threads are switched
//! before an access only.

use loom::sync::atomic::AtomicU32;
use loom::thread;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a thread is woken by.
#[derive(Debug)]
struct Token {
    token: AtomicU32,
    /// Whether the thread is blocked in `park`. No part of the model.
    parked: AtomicBool,
    /// How often it called `park`. No part of the model.
    parks: std::sync::atomic::AtomicU32,
}

/// A thread of loom that can be woken.
#[derive(Clone, Debug)]
pub struct LoomThread {
    thread: thread::Thread,
    token: Arc<Token>,
}

/// A started thread of loom.
pub struct LoomJoin<R> {
    handle: thread::JoinHandle<R>,
    token: Arc<Token>,
}

loom::thread_local! {
    static TOKEN: std::cell::RefCell<Arc<Token>> = std::cell::RefCell::new(Token::new());
}

impl Token {
    fn new() -> Arc<Self> {
        Arc::new(Self { token: AtomicU32::new(0), parked: AtomicBool::new(false), parks: Default::default() })
    }
}

impl LoomThread {
    pub(super) fn current() -> Self {
        Self { thread: thread::current(), token: TOKEN.with(|token| Arc::clone(&token.borrow())) }
    }

    /// With `flaky`, every other call of a thread returns for no reason, the first one too.
    pub(super) fn park(flaky: bool) {
        let token = Self::current().token;
        if flaky && token.parks.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
            thread::yield_now();
            return;
        }
        if token.token.swap(0, Ordering::Acquire) == 1 {
            return;
        }
        token.parked.store(true, Ordering::Relaxed);
        thread::park();
        token.token.swap(0, Ordering::Acquire);
    }

    pub(super) fn unpark(&self) {
        self.token.token.swap(1, Ordering::Release);
        if self.token.parked.swap(false, Ordering::Relaxed) {
            self.thread.unpark();
        }
    }
}

impl<R: Send + 'static> LoomJoin<R> {
    pub(super) fn spawn(body: impl FnOnce() -> R + Send + 'static) -> Self {
        let token = Token::new();
        let own = Arc::clone(&token);
        let handle = thread::spawn(move || {
            TOKEN.with(|token| *token.borrow_mut() = own);
            body()
        });
        Self { handle, token }
    }

    pub(super) fn join(self) -> R {
        self.handle.join().expect("a model's thread does not panic")
    }

    pub(super) fn thread(&self) -> LoomThread {
        LoomThread { thread: self.handle.thread().clone(), token: Arc::clone(&self.token) }
    }
}
