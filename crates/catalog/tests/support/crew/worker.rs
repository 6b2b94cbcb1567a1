//! The worker's part in a crew.

use super::{FIRST_WORKER, FREE, Parcel, Random, Record, SUBMITTED};
use slotwork::{Claimed, Order, RequestQueue, Worker};
use std::sync::atomic::Ordering;
use std::thread::yield_now;

pub(super) struct WorkerRun<'a, Q: RequestQueue> {
    pub(super) record: &'a Record,
    pub(super) worker: &'a Worker<Parcel, Q>,
    pub(super) number: u32,
    pub(super) handled: u64,
    /// Per client: the sequence number seen last.
    pub(super) last: Vec<Option<u64>>,
}

impl<'a, Q: RequestQueue> WorkerRun<'a, Q> {
    pub(super) fn run(mut self) -> u64 {
        let mut random = Random(self.record.plan.seed.wrapping_add(1 << 32 | u64::from(self.number)) | 1);
        let mut claimed = Vec::with_capacity(8);
        while !self.record.stopped() {
            // Read before the last look: what was submitted before the clients ended is then found.
            let ending = self.record.clients_done.load(Ordering::Acquire) == self.record.plan.clients;
            match self.take() {
                Some(guard) => claimed.push(guard),
                None if !claimed.is_empty() => self.complete(&mut claimed, &mut random),
                None if ending => break,
                None => yield_now(),
            }
            if claimed.len() as u64 > random.below(6) {
                self.complete(&mut claimed, &mut random);
            }
        }
        self.handled
    }

    fn take(&mut self) -> Option<Claimed<'a, Parcel, Q>> {
        let record = self.record;
        let published = &record.published[self.worker.lane().index()];
        let published = if record.plan.answers { published.load(Ordering::Acquire) } else { 0 };
        let Some(guard) = self.worker.take() else {
            if published > self.handled {
                let handled = self.handled;
                record.violate(format!("nothing to take, after {published} submits and {handled} takes"));
            }
            return None;
        };
        let slot = guard.slot();
        if !record.pass(slot, SUBMITTED, FIRST_WORKER + self.number) {
            std::mem::forget(guard);
            return None;
        }
        self.handled += 1;
        let parcel = *guard;
        if !parcel.sealed(slot) || parcel.answer != 0 {
            record.violate(format!("slot {} arrived with {parcel:?}", slot.index()));
            return Some(guard);
        }
        let last = &mut self.last[parcel.client as usize];
        if record.order == Order::Fifo && *last >= Some(parcel.sequence) {
            let (client, sequence) = (parcel.client, parcel.sequence);
            record.violate(format!("request {sequence} of client {client} was taken after its request {last:?}"));
        }
        *last = Some(parcel.sequence);
        record.handled[parcel.client as usize].fetch_add(1, Ordering::Relaxed);
        Some(guard)
    }

    /// Gives all back, in no order; some as failed.
    fn complete(&mut self, claimed: &mut Vec<Claimed<'a, Parcel, Q>>, random: &mut Random) {
        while !claimed.is_empty() {
            let place = usize::try_from(random.below(claimed.len() as u64)).expect("a place in a vector");
            let mut guard = claimed.swap_remove(place);
            let fails = random.below(16) == 0;
            if !fails {
                guard.answer = !guard.seal;
            }
            self.record.pass(guard.slot(), FIRST_WORKER + self.number, FREE);
            if fails {
                guard.fail();
            } else {
                guard.complete();
            }
            self.record.progress.fetch_add(1, Ordering::Relaxed);
            if self.record.plan.answers {
                self.record.returned.fetch_add(1, Ordering::Release);
            }
        }
    }
}
