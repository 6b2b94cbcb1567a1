//! What carries accesses to devices: a lock around all, a lock around each, or a queue to each.

use super::device::{Access, Device};
use super::{Machine, Scene, Watch, Window};
use crate::gate::Gate;
use crate::processor_time;
use crate::seeds::count::{Count, CountMismatch};
use slotwork::{Client, ClientError, Design, Native, Pool, PoolError, Shape, ShapeError, Submitters, Worker};
use slotwork_catalog::{UnknownDesign, Visitor, visit_all, visit_named};
use slotwork_workqueue::{Event, Waiting};
use std::convert::Infallible;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
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

/// The way to the devices.
trait Bus: Send + Sync + Sized {
    /// One client's end of it.
    type Port: Send;
    /// The ends, one per client, and what each device's own thread needs, if devices have one.
    type Server: Send;

    fn access(&self, port: &mut Self::Port, device: usize, access: Access);

    /// A pass of the I/O thread: an access to each of the first `busy` devices.
    fn pass(&self, port: &mut Self::Port, busy: usize, access: Access) {
        (0..busy).for_each(|device| self.access(port, device, access));
    }

    /// The loop of a device's own thread, until [`Bus::stop`]; gives the device back.
    fn serve(&self, server: Self::Server) -> (usize, Device);

    /// Ends the devices' threads when all is carried out.
    fn stop(&self) {}

    /// The devices that have no thread of their own.
    fn devices(self) -> Vec<Device>;
}

/// A bus and its ends.
type Wired<B> = (B, Vec<<B as Bus>::Port>, Vec<<B as Bus>::Server>);

/// One lock around all devices.
struct OneLock(Mutex<Vec<Device>>);

impl OneLock {
    #[allow(clippy::unnecessary_wraps, reason = "as the others, which can fail")]
    fn new(machine: Machine, clients: usize) -> Result<Wired<Self>, CarrierError> {
        let devices = vec![Device::new(clients); machine.devices];
        Ok((Self(Mutex::new(devices)), vec![(); clients], Vec::new()))
    }
}

impl Bus for OneLock {
    type Port = ();
    type Server = Infallible;

    fn access(&self, _port: &mut (), device: usize, access: Access) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[device].access(access);
    }

    fn pass(&self, _port: &mut (), busy: usize, access: Access) {
        let mut devices = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        devices[..busy].iter_mut().for_each(|device| device.access(access));
    }

    fn serve(&self, server: Infallible) -> (usize, Device) {
        match server {}
    }

    fn devices(self) -> Vec<Device> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A lock around each device.
struct DeviceLocks(Vec<slotwork::CachePadded<Mutex<Device>>>);

impl DeviceLocks {
    #[allow(clippy::unnecessary_wraps, reason = "as the others, which can fail")]
    fn new(machine: Machine, clients: usize) -> Result<Wired<Self>, CarrierError> {
        let device = |_| slotwork::CachePadded::new(Mutex::new(Device::new(clients)));
        Ok((Self((0..machine.devices).map(device).collect()), vec![(); clients], Vec::new()))
    }
}

impl Bus for DeviceLocks {
    type Port = ();
    type Server = Infallible;

    fn access(&self, _port: &mut (), device: usize, access: Access) {
        self.0[device].lock().unwrap_or_else(PoisonError::into_inner).access(access);
    }

    fn serve(&self, server: Infallible) -> (usize, Device) {
        match server {}
    }

    fn devices(self) -> Vec<Device> {
        let device = |lock: slotwork::CachePadded<Mutex<Device>>| {
            lock.into_inner().into_inner().unwrap_or_else(PoisonError::into_inner)
        };
        self.0.into_iter().map(device).collect()
    }
}

type ClientOf<D> = Client<Access, <D as Design>::Queue<Native>>;
type WorkerOf<D> = Worker<Access, <D as Design>::Queue<Native>>;

/// A queue to each device, or one per client and device where the design takes one submitter.
struct Queues<D: Design> {
    /// Where each device's thread sleeps.
    bells: Vec<Event<Native>>,
    stopping: AtomicBool,
    design: std::marker::PhantomData<fn() -> D>,
}

/// What a device's thread has: its number, itself, and the lanes that lead to it.
struct Lanes<D: Design> {
    number: usize,
    device: Device,
    workers: Vec<WorkerOf<D>>,
}

impl<D: Design> Queues<D> {
    fn new(machine: Machine, clients: usize) -> Result<Wired<Self>, CarrierError> {
        let shape = Shape::new(1, machine.slots)?;
        if let Err(refusal) = D::CLAIMS.admit(shape) {
            return Err(CarrierError::NotApplicable(refusal.to_string()));
        }
        let mut ports: Vec<Vec<ClientOf<D>>> = (0..clients).map(|_| Vec::new()).collect();
        let mut servers = Vec::new();
        for number in 0..machine.devices {
            let mut workers = Vec::new();
            let mut queue = || -> Result<ClientOf<D>, CarrierError> {
                let (client, lanes) = Pool::new(D::build::<Native>(shape)?, |_slot| Access::default())?.split();
                workers.extend(lanes);
                Ok(client)
            };
            if D::CLAIMS.submitters == Submitters::Many {
                let first = queue()?;
                let refuse = |error: ClientError| CarrierError::NotApplicable(error.to_string());
                for port in &mut ports[1..] {
                    port.push(first.try_clone().map_err(refuse)?);
                }
                ports[0].push(first);
            } else {
                for port in &mut ports {
                    port.push(queue()?);
                }
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

/// What one client did: per device, what it asked for.
struct Asked {
    per_device: Vec<Count>,
    until: Instant,
}

fn run<B: Bus>(
    wire: &dyn Fn(Machine, usize) -> Result<Wired<B>, CarrierError>,
    machine: Machine,
    scene: Scene,
    window: Duration,
    watch: &mut Watch<'_>,
) -> Result<Option<Window>, CarrierError> {
    let clients = scene.processors + 1;
    let (bus, ports, servers) = wire(machine, clients)?;
    let (gate, stop) = (Gate::default(), AtomicBool::new(false));
    let processor_before = processor_time::of_this_process();
    let (start, asked, mut served) = std::thread::scope(|scope| {
        let mut devices = Vec::new();
        let mut threads = Vec::new();
        let mut started = Ok(());
        for server in servers {
            let bus = &bus;
            match std::thread::Builder::new().spawn_scoped(scope, move || bus.serve(server)) {
                Ok(thread) => devices.push(thread),
                Err(error) => started = Err(CarrierError::Thread(error)),
            }
        }
        for (client, port) in ports.into_iter().enumerate() {
            let (bus, gate, stop) = (&bus, &gate, &stop);
            let work = move || gate.pass().then(|| client_loop(bus, port, client, machine, scene, stop));
            match std::thread::Builder::new().spawn_scoped(scope, work) {
                Ok(thread) => threads.push(thread),
                Err(error) => started = Err(CarrierError::Thread(error)),
            }
        }
        if started.is_err() {
            gate.cancel();
        } else {
            gate.open_for(clients);
        }
        let start = Instant::now();
        while started.is_ok() && start.elapsed() < window && !watch.is_interrupted() {
            std::thread::sleep(Duration::from_millis(20).min(window.saturating_sub(start.elapsed())));
        }
        stop.store(true, Ordering::Relaxed);
        let asked: Vec<_> = threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        bus.stop();
        let served: Vec<_> = devices.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        started?;
        let asked: Vec<Asked> = asked.into_iter().filter_map(|asked| asked.ok().flatten()).collect();
        let served: Vec<(usize, Device)> = served.into_iter().filter_map(Result::ok).collect();
        let threads_lost = asked.len() != clients || (!served.is_empty() && served.len() != machine.devices);
        if threads_lost { Err(CarrierError::Panicked) } else { Ok((start, asked, served)) }
    })?;
    let processor_after = processor_time::of_this_process();
    served.sort_by_key(|(number, _)| *number);
    let mut devices: Vec<Device> = served.into_iter().map(|(_, device)| device).collect();
    devices.extend(bus.devices());
    verify(&asked, &devices)?;
    if watch.is_interrupted() {
        return Ok(None);
    }
    let made = |asked: &Asked| asked.per_device.iter().map(|count| count.requests).sum::<u64>();
    let (io, processors) = asked.split_last().ok_or(CarrierError::Panicked)?;
    let last = processors.iter().map(|asked| asked.until).max().unwrap_or(start);
    Ok(Some(Window {
        accesses: processors.iter().map(made).sum(),
        passes: io.per_device[0].requests,
        time: last.saturating_duration_since(start),
        processor_time: processor_before.zip(processor_after).map(|(before, after)| after.saturating_sub(before)),
    }))
}

/// Each device has seen from each client exactly what that client asked of it.
fn verify(asked: &[Asked], devices: &[Device]) -> Result<(), CarrierError> {
    for (client, asked) in asked.iter().enumerate() {
        for (number, (count, device)) in asked.per_device.iter().zip(devices).enumerate() {
            let same = count.verify(&device.seen(client), "accesses made", "carried out");
            same.map_err(|source| CarrierError::Count { client, device: number, source })?;
        }
    }
    Ok(())
}

fn client_loop<B: Bus>(
    bus: &B,
    mut port: B::Port,
    client: usize,
    machine: Machine,
    scene: Scene,
    stop: &AtomicBool,
) -> Asked {
    let mut per_device = vec![Count::default(); machine.devices];
    let io_thread = client == scene.processors;
    // Virtual CPUs begin at different devices.
    let mut device = client % scene.busy;
    let mut number = 0;
    while !stop.load(Ordering::Relaxed) {
        if io_thread {
            bus.pass(&mut port, scene.busy, Access { client, number, work: machine.pass });
            per_device[..scene.busy].iter_mut().for_each(|count| count.add(number));
            std::thread::sleep(machine.nap);
        } else {
            machine.guest.run();
            bus.access(&mut port, device, Access { client, number, work: machine.access });
            per_device[device].add(number);
            device = if device + 1 < scene.busy { device + 1 } else { 0 };
        }
        number += 1;
    }
    Asked { per_device, until: Instant::now() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handler::Handler;

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

    #[test]
    fn bench_finds_bug_a_lost_access_is_rejected() {
        let mut device = Device::new(2);
        let mut count = Count::default();
        for number in 0..5 {
            count.add(number);
            device.access(Access { client: 1, number, work: Handler::NOTHING });
        }
        let asked =
            |count| [Count::default(), count].map(|count| Asked { per_device: vec![count], until: Instant::now() });
        assert!(verify(&asked(count), std::slice::from_ref(&device)).is_ok());
        count.add(5);
        let error = verify(&asked(count), &[device]).unwrap_err();
        assert!(
            error.to_string().contains("client 1, device 0: wrong count: 6 accesses made, 5 carried out"),
            "{error}"
        );
    }
}
