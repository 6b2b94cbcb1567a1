//! An emulated device: registers, and a count of what reached it.

use crate::handler::Handler;
use crate::seeds::count::Count;

/// One access, by a virtual CPU or by the I/O thread.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Who: a virtual CPU, or the I/O thread behind the last one.
    pub client: usize,
    /// Its number among the accesses of this client.
    pub number: u64,
    /// What the device does for it.
    pub work: Handler,
}

impl Default for Access {
    /// The access in a slot that has carried none yet.
    fn default() -> Self {
        Self { client: 0, number: 0, work: Handler::NOTHING }
    }
}

/// A device.
#[derive(Clone, Debug)]
pub struct Device {
    /// What a device does to itself: one word per access.
    register: u64,
    /// Per client, what it asked for.
    seen: Vec<Count>,
}

impl Device {
    /// A device that so many clients access.
    #[must_use]
    pub fn new(clients: usize) -> Self {
        Self { register: 0, seen: vec![Count::default(); clients] }
    }

    /// Carries an access out.
    #[inline]
    pub fn access(&mut self, access: Access) {
        access.work.run();
        self.register = std::hint::black_box(self.register.wrapping_add(access.number));
        self.seen[access.client].add(access.number);
    }

    /// What this client's accesses came to.
    #[must_use]
    pub fn seen(&self, client: usize) -> Count {
        self.seen[client]
    }
}
