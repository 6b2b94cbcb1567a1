//! A queue to each device, whose own thread carries the accesses out.

use super::Machine;
use super::bus::{Bus, Wired};
use super::carriers::CarrierError;
use super::device::{Access, Device};
use slotwork::{Client, ClientError, Design, Native, Pool, Shape, ShapeError, Submitters, Worker};
use slotwork_workqueue::{Event, Waiting};
use std::sync::atomic::{AtomicBool, Ordering};

type ClientOf<D> = Client<Access, <D as Design>::Queue<Native>>;
type WorkerOf<D> = Worker<Access, <D as Design>::Queue<Native>>;

/// A queue to each device for the virtual CPUs and one for the I/O thread, or one for each client where the design
/// takes one submitter.
pub(super) struct Queues<D: Design> {
    /// Where each device's thread sleeps.
    bells: Vec<Event<Native>>,
    stopping: AtomicBool,
    design: std::marker::PhantomData<fn() -> D>,
}

/// What a device's thread has: its number, itself, and the lanes that lead to it.
pub(super) struct Lanes<D: Design> {
    number: usize,
    device: Device,
    workers: Vec<WorkerOf<D>>,
}

impl<D: Design> Queues<D> {
    pub(super) fn new(machine: Machine, clients: usize) -> Result<Wired<Self>, CarrierError> {
        // As many slots in all, whether virtual CPUs share a lane or have one each.
        let many = D::CLAIMS.submitters == Submitters::Many;
        let most = D::CLAIMS.max_slots_per_lane.unwrap_or(Shape::MAX_SLOTS);
        let shape = |sharers: usize| {
            let shape = Shape::new(1, (machine.slots * sharers).min(most))?;
            let refuse = |refusal: ShapeError| CarrierError::NotApplicable(refusal.to_string());
            D::CLAIMS.admit(shape).map_err(refuse).map(|()| shape)
        };
        let mut ports: Vec<Vec<ClientOf<D>>> = (0..clients).map(|_| Vec::new()).collect();
        let mut servers = Vec::new();
        for number in 0..machine.devices {
            let mut workers = Vec::new();
            let mut queue = |sharers| -> Result<ClientOf<D>, CarrierError> {
                let queue = D::build::<Native>(shape(sharers)?)?;
                let (client, lanes) = Pool::new(queue, |_slot| Access::default())?.split();
                workers.extend(lanes);
                Ok(client)
            };
            // The I/O thread, the last client, has a lane of its own: virtual CPUs would take every slot of a
            // common one as it becomes free, and it would come to none.
            let sharers = if many { clients - 1 } else { 1 };
            for group in ports.chunks_mut(sharers) {
                let first = queue(group.len())?;
                let refuse = |error: ClientError| CarrierError::NotApplicable(error.to_string());
                for port in &mut group[1..] {
                    port.push(first.try_clone().map_err(refuse)?);
                }
                group[0].push(first);
            }
            servers.push(Lanes { number, device: Device::new(clients), workers });
        }
        let bells = (0..machine.devices).map(|_| Event::new()).collect();
        Ok((Self { bells, stopping: AtomicBool::new(false), design: std::marker::PhantomData }, ports, servers))
    }
}

impl<D: Design> Bus for Queues<D>
where
    ClientOf<D>: Send,
    WorkerOf<D>: Send,
{
    type Port = Vec<ClientOf<D>>;
    type Server = Lanes<D>;

    fn access(&self, port: &mut Self::Port, device: usize, access: Access) {
        let mut vacant = Waiting::YIELD.until(&self.bells[device], || port[device].acquire());
        *vacant = access;
        vacant.submit();
        self.bells[device].notify_one();
    }

    fn serve(&self, server: Lanes<D>) -> (usize, Device) {
        let Lanes { number, mut device, workers } = server;
        let mut next = 0;
        loop {
            let taken = Waiting::SETTLE.until(&self.bells[number], || {
                // The flag comes first: whatever was submitted before it is still found after it.
                let stopping = self.stopping.load(Ordering::Acquire);
                for _ in 0..workers.len() {
                    let worker = &workers[next];
                    next = if next + 1 < workers.len() { next + 1 } else { 0 };
                    if let Some(claimed) = worker.take() {
                        return Some(Some(claimed));
                    }
                }
                stopping.then_some(None)
            });
            match taken {
                Some(claimed) => {
                    device.access(*claimed);
                    claimed.complete();
                }
                None => return (number, device),
            }
        }
    }

    fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        for bell in &self.bells {
            bell.notify_all();
        }
    }

    fn devices(self) -> Vec<Device> {
        Vec::new()
    }
}
