//! The split of the global mutex: virtual CPUs at devices, beside an I/O thread.
//!
//! ```text
//!   virtual CPU: guest work ──▶ port access to a busy device     counted: accesses
//!   I/O thread:  a pass over the busy devices ──▶ nap            counted: passes
//!
//!   global lock   one lock for all devices; an I/O pass holds it from first to last
//!   device lock   a lock per device; an I/O pass holds one after the other
//!   a design      a device is a thread with a lane of its own; accesses are submitted to it
//! ```
//!
//! Over a design, an access is posted: a virtual CPU waits only when no slot of that device is free. Virtual CPUs share
//! a lane of each device, or have one each where the design takes one submitter; the I/O thread has one of its own. The
//! device's thread looks through its lanes by turns. In a common lane the I/O thread would starve: whoever looks for a
//! slot takes it, first come first served is nobody's claim, and virtual CPUs look more often than a thread that naps.

mod bus;
mod carriers;
mod device;
mod lock;
mod queues;
mod table;

pub use carriers::{Carrier, CarrierError};
pub use device::{Access, Device};
pub use table::split_table;

use super::Watch;
use crate::handler::Handler;
use serde::Serialize;
use std::time::Duration;

/// Sizes and times of the emulator.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Devices.
    pub devices: usize,
    /// Slots for each client at each device, where a design carries the accesses.
    pub slots: usize,
    /// What a virtual CPU does between two accesses.
    pub guest: Handler,
    /// What a device does for an access.
    pub access: Handler,
    /// What the I/O thread does at a busy device in a pass.
    pub pass: Handler,
    /// The I/O thread's nap between two passes.
    pub nap: Duration,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scene {
    /// Virtual CPUs.
    pub processors: usize,
    /// Devices that are accessed: the first so many.
    pub busy: usize,
}

/// What one window gave; verified.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Accesses that virtual CPUs made, and devices carried out.
    pub accesses: u64,
    /// Passes of the I/O thread.
    pub passes: u64,
    /// From the start to the last access.
    pub time: Duration,
    /// Processor time of the whole process; none where unknown.
    pub processor_time: Option<Duration>,
}

/// What is to be measured.
#[derive(Debug)]
pub struct Plan {
    /// The emulator.
    pub machine: Machine,
    /// What competes; the global lock first, the lock per device second.
    pub carriers: Vec<Carrier>,
    /// The rows.
    pub scenes: Vec<Scene>,
    /// How often all is repeated.
    pub rounds: usize,
    /// Length of a window.
    pub window: Duration,
}

/// One window: a line of the CSV.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What carried the accesses.
    pub carrier: &'static str,
    /// Virtual CPUs.
    pub processors: usize,
    /// Devices that were accessed.
    pub busy_devices: usize,
    /// Which round, from 0.
    pub round: usize,
    /// "measured", or why not.
    pub status: String,
    /// Accesses made, and carried out.
    pub accesses: Option<u64>,
    /// Passes of the I/O thread.
    pub passes: Option<u64>,
    /// Length of the window as measured.
    pub seconds: Option<f64>,
    /// Accesses per second.
    pub accesses_per_second: Option<f64>,
    /// Accesses per second of processor time: hardly moves when others use the machine too.
    pub accesses_per_processor_second: Option<f64>,
}

/// What was measured.
#[derive(Debug, Default)]
pub struct Measured {
    /// A row per window, in the order of the windows.
    pub rows: Vec<Row>,
    /// Windows that failed, a line each.
    pub failures: Vec<String>,
    /// Whether it was broken off.
    pub interrupted: bool,
}

impl Plan {
    /// Windows in all: the unit of progress.
    #[must_use]
    pub fn windows(&self) -> u64 {
        (self.scenes.len() * self.carriers.len() * self.rounds) as u64
    }

    /// Measures: for each scene, rounds of one window of each carrier.
    pub fn measure(&self, watch: &mut Watch<'_>) -> Measured {
        let mut measured = Measured::default();
        for &scene in &self.scenes {
            for round in 0..self.rounds {
                for carrier in &self.carriers {
                    let row = |status: String, window: Option<&Window>| Row {
                        carrier: carrier.name,
                        processors: scene.processors,
                        busy_devices: scene.busy,
                        round,
                        status,
                        accesses: window.map(|window| window.accesses),
                        passes: window.map(|window| window.passes),
                        seconds: window.map(|window| window.time.as_secs_f64()),
                        accesses_per_second: window
                            .map(|window| window.accesses as f64 / window.time.as_secs_f64().max(1e-9)),
                        accesses_per_processor_second: window.and_then(|window| {
                            Some(window.accesses as f64 / window.processor_time?.as_secs_f64().max(1e-9))
                        }),
                    };
                    match carrier.run(self.machine, scene, self.window, watch) {
                        Ok(Some(window)) => measured.rows.push(row("measured".into(), Some(&window))),
                        Ok(None) => {
                            measured.interrupted = true;
                            return measured;
                        }
                        Err(CarrierError::NotApplicable(reason)) => {
                            measured.rows.push(row(format!("n/a ({reason})"), None));
                        }
                        Err(error) => {
                            let Scene { processors, busy } = scene;
                            measured
                                .failures
                                .push(format!("{} at {processors} CPUs, {busy} busy devices: {error}", carrier.name));
                            measured.rows.push(row(format!("failed ({error})"), None));
                        }
                    }
                    watch.advance(1);
                }
            }
        }
        measured
    }
}
