//! What carries accesses to devices: a lock around all, a lock around each, or a queue to each.

use super::bus::run;
use super::lock::{DeviceLocks, OneLock};
use super::queues::Queues;
use super::{Machine, Scene, Watch, Window};
use crate::seeds::count::CountMismatch;
use slotwork::{Design, PoolError, ShapeError};
use slotwork_catalog::{UnknownDesign, Visitor, visit_all, visit_named};
use std::convert::Infallible;
use std::io;
use std::time::Duration;
use thiserror::Error;

type RunWindow = fn(Machine, Scene, Duration, &mut Watch<'_>) -> Result<Option<Window>, CarrierError>;

/// A carrier, without its type.
#[derive(Clone, Copy, Debug)]
pub struct Carrier {
    /// The name it is shown by.
    pub name: &'static str,
    run: RunWindow,
}

/// Why there is no window to count.
#[derive(Debug, Error)]
pub enum CarrierError {
    /// It cannot carry this.
    #[error("n/a ({0})")]
    NotApplicable(String),
    /// A queue cannot be built.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// There is no memory for it.
    #[error(transparent)]
    Pool(#[from] PoolError<Infallible>),
    /// A thread could not be started.
    #[error("a thread could not be started")]
    Thread(#[source] io::Error),
    /// A thread panicked.
    #[error("a thread panicked")]
    Panicked,
    /// Accesses were lost, doubled, or confused.
    #[error("client {client}, device {device}: {source}")]
    Count {
        /// Who made them.
        client: usize,
        /// Where they should have come.
        device: usize,
        /// How they differ.
        source: CountMismatch,
    },
}

impl Carrier {
    /// Both locks, then the designs of these names; all designs, if none is named.
    ///
    /// # Errors
    /// [`UnknownDesign`].
    pub fn chosen(names: &[String]) -> Result<Vec<Self>, UnknownDesign> {
        let locks = [
            Self {
                name: "one global lock",
                run: |machine, scene, window, watch| run(&OneLock::new, machine, scene, window, watch),
            },
            Self {
                name: "lock per device",
                run: |machine, scene, window, watch| run(&DeviceLocks::new, machine, scene, window, watch),
            },
        ];
        let designs = if names.is_empty() {
            visit_all(&mut Enter)
        } else {
            names.iter().map(|name| visit_named(name, &mut Enter)).collect::<Result<_, _>>()?
        };
        Ok(locks.into_iter().chain(designs).collect())
    }

    /// Runs one window and verifies it; none when it was interrupted.
    ///
    /// # Errors
    /// [`CarrierError`].
    pub fn run(
        &self,
        machine: Machine,
        scene: Scene,
        window: Duration,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Window>, CarrierError> {
        (self.run)(machine, scene, window, watch)
    }
}

struct Enter;

impl Visitor for Enter {
    type Output = Carrier;
    fn visit<D: Design>(&mut self) -> Carrier {
        Carrier {
            name: D::NAME,
            run: |machine, scene, window, watch| run(&Queues::<D>::new, machine, scene, window, watch),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handler::Handler;
    use std::sync::atomic::AtomicBool;

    const MACHINE: Machine = Machine {
        devices: 3,
        slots: 2,
        guest: Handler::NOTHING,
        access: Handler::NOTHING,
        pass: Handler::NOTHING,
        nap: Duration::from_micros(50),
    };

    #[test]
    fn every_carrier_carries_all() {
        let never = AtomicBool::new(false);
        let mut watch = Watch { interrupted: &never, progress: &mut |_| {} };
        for carrier in Carrier::chosen(&[]).unwrap() {
            for busy in [1, 3] {
                let scene = Scene { processors: 2, busy };
                let window = carrier.run(MACHINE, scene, Duration::from_millis(10), &mut watch);
                let window = window.unwrap_or_else(|error| panic!("{}: {error}", carrier.name)).unwrap();
                assert!(window.accesses > 0 && window.passes > 0, "{}", carrier.name);
            }
        }
    }
}
