//! The client's part in a crew.

use super::{FIRST_CLIENT, FREE, Parcel, Random, Record, SUBMITTED};
use slotwork::{Client, Destination, Outcome, RequestQueue, Vacant};
use std::sync::atomic::Ordering;
use std::thread::yield_now;

pub(super) struct ClientRun<'a, Q: RequestQueue> {
    pub(super) record: &'a Record,
    pub(super) client: &'a Client<Parcel, Q>,
    pub(super) number: u32,
    pub(super) submitted: u64,
    /// Acquires less withdraws.
    pub(super) net_acquired: u64,
    /// Whether its last acquire found nothing.
    pub(super) found_nothing: bool,
}

impl<'a, Q: RequestQueue> ClientRun<'a, Q> {
    pub(super) fn run(mut self) -> u64 {
        let plan = self.record.plan;
        let mut random =
            Random(plan.seed.wrapping_add(u64::from(self.number) + 1).wrapping_mul(0x2545_f491_4f6c_dd1d) | 1);
        let mut held = Vec::with_capacity(8);
        while self.submitted < plan.requests && !self.record.stopped() {
            let want = (1 + random.below(4)).min(plan.requests - self.submitted);
            while (held.len() as u64) < want {
                let Some(vacant) = self.acquire() else { break };
                held.push(vacant);
            }
            if held.is_empty() {
                yield_now();
                continue;
            }
            if random.below(8) == 0 {
                held.drain(..).for_each(|vacant| self.withdraw(vacant));
            }
            while let Some(vacant) = held.pop() {
                self.submit(vacant);
            }
            if random.below(16) == 0 {
                self.look_around();
            }
            if plan.drains && random.below(128) == 0 {
                self.drain();
            }
        }
        self.submitted
    }

    fn me(&self) -> u32 {
        FIRST_CLIENT + self.number
    }

    fn acquire(&mut self) -> Option<Vacant<'a, Parcel, Q>> {
        let plan = self.record.plan;
        let returned = if plan.answers { self.record.returned.load(Ordering::Acquire) } else { 0 };
        let found = self.client.acquire();
        let found_nothing = std::mem::replace(&mut self.found_nothing, found.is_none());
        let Some(vacant) = found else {
            let slots = self.client.shape().slots() as u64;
            // Of a sole client's; with `answers`, those that may have been in flight at some time of the call.
            let in_flight = usize::try_from(self.submitted.saturating_sub(returned)).unwrap_or(usize::MAX);
            let refills = found_nothing && self.record.none_free.refills(in_flight, self.client.shape().slots());
            if plan.answers && plan.clients == 1 && slots + returned > self.net_acquired && !refills {
                let acquired = self.net_acquired;
                let text = format!("none free, after {acquired} acquires and {returned} completions of {slots} slots");
                self.record.violate(text);
            }
            return None;
        };
        let slot = vacant.slot();
        if !self.record.pass(slot, FREE, self.me()) {
            std::mem::forget(vacant);
            return None;
        }
        self.net_acquired += 1;
        let parcel = *vacant;
        let right = match vacant.outcome() {
            Outcome::Fresh => parcel == Parcel::default(),
            Outcome::Completed => parcel.sealed(slot) && parcel.answer == !parcel.seal,
            Outcome::Failed => parcel.sealed(slot) && parcel.answer == 0,
        };
        if !right {
            let outcome = vacant.outcome();
            self.record.violate(format!("slot {}, {outcome:?}, came back with {parcel:?}", slot.index()));
        }
        Some(vacant)
    }

    fn withdraw(&mut self, vacant: Vacant<'_, Parcel, Q>) {
        self.record.pass(vacant.slot(), self.me(), FREE);
        self.net_acquired -= 1;
        drop(vacant);
    }

    fn submit(&mut self, mut vacant: Vacant<'_, Parcel, Q>) {
        let slot = vacant.slot();
        vacant.fill(self.number, self.submitted, slot);
        self.record.pass(slot, self.me(), SUBMITTED);
        let destination = vacant.submit();
        self.submitted += 1;
        self.record.progress.fetch_add(1, Ordering::Relaxed);
        let lane = match destination {
            Destination::Lane(lane) => lane.index(),
            Destination::Any if self.record.plan.lanes == 1 => 0,
            Destination::Any => return,
        };
        if self.record.plan.answers {
            self.record.published[lane].fetch_add(1, Ordering::Release);
        }
    }

    fn look_around(&self) {
        let (flying, slots) = (self.client.in_flight(), self.client.shape().slots());
        if flying > slots {
            self.record.violate(format!("in_flight() is {flying} of {slots}"));
        }
    }

    /// Everything this client has submitted is handled when a drain ends, and the handlers are seen.
    fn drain(&self) {
        let mut drain = self.client.begin_drain();
        while !drain.poll() {
            if self.record.stopped() {
                return;
            }
            yield_now();
        }
        let handled = self.record.handled[self.number as usize].load(Ordering::Relaxed);
        if handled != self.submitted {
            self.record.violate(format!("a drain ended with {handled} of {} requests handled", self.submitted));
        }
    }
}
