//! What a queue needs around it when its threads may sleep: [`Event`].

mod event;

pub use event::{EVENT_SITES, Event};
