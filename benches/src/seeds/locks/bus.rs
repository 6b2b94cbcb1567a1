//! The way to the devices, and what goes on at its ends for a window.

use super::carriers::CarrierError;
use super::device::{Access, Device};
use super::{Machine, Scene, Watch, Window};
use crate::gate::Gate;
use crate::processor_time;
use crate::seeds::count::Count;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The way to the devices.
pub(super) trait Bus: Send + Sync + Sized {
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
pub(super) type Wired<B> = (B, Vec<<B as Bus>::Port>, Vec<<B as Bus>::Server>);

/// What one client did: per device, what it asked for.
struct Asked {
    per_device: Vec<Count>,
    until: Instant,
}

/// Runs one window over a bus and verifies it; none when it was interrupted.
pub(super) fn run<B: Bus>(
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
