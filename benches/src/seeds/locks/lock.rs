//! The two ways of 2008: one lock around all devices, and a lock around each.

use super::Machine;
use super::bus::{Bus, Wired};
use super::carriers::CarrierError;
use super::device::{Access, Device};
use slotwork::CachePadded;
use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};

/// One lock around all devices.
pub(super) struct OneLock(Mutex<Vec<Device>>);

impl OneLock {
    #[allow(clippy::unnecessary_wraps, reason = "as the others, which can fail")]
    pub(super) fn new(machine: Machine, clients: usize) -> Result<Wired<Self>, CarrierError> {
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
pub(super) struct DeviceLocks(Vec<CachePadded<Mutex<Device>>>);

impl DeviceLocks {
    #[allow(clippy::unnecessary_wraps, reason = "as the others, which can fail")]
    pub(super) fn new(machine: Machine, clients: usize) -> Result<Wired<Self>, CarrierError> {
        let device = |_| CachePadded::new(Mutex::new(Device::new(clients)));
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
        let device =
            |lock: CachePadded<Mutex<Device>>| lock.into_inner().into_inner().unwrap_or_else(PoisonError::into_inner);
        self.0.into_iter().map(device).collect()
    }
}
