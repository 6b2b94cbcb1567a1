//! Cache lines, and who has them: a directory as of MESI, with the time that each request takes.
//!
//! ```text
//!   owner: one core, which may write          sharers: cores that may read
//!
//!   load    have it ▸ hit     owner elsewhere ▸ transfer, both share it     shared ▸ copy     nobody ▸ memory
//!   write   own it  ▸ hit     owner elsewhere ▸ transfer                    shared ▸ others give it up
//!
//!   requests for one line queue up:   │ ── transfer ── │ copy │ copy │ ── transfer ── │
//!                                                                                     └ free at
//! ```
//!
//! A request is served in the order in which it was made. A transfer keeps the line busy as long as it takes; a copy of a
//! shared line only for the directory's part.

use crate::account::{Account, Cause, Time, picoseconds};
use crate::profile::{Cost, MAX_CORES, Profile};
use slotwork::Site;

/// A set of cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CoreSet([u64; MAX_CORES / 64]);

impl CoreSet {
    pub(crate) fn one(core: usize) -> Self {
        let mut set = Self::default();
        set.insert(core);
        set
    }

    #[inline]
    pub(crate) fn has(&self, core: usize) -> bool {
        self.0[core / 64] >> (core % 64) & 1 == 1
    }

    pub(crate) fn insert(&mut self, core: usize) {
        self.0[core / 64] |= 1 << (core % 64);
    }

    fn without(mut self, core: usize) -> Self {
        self.0[core / 64] &= !(1 << (core % 64));
        self
    }

    fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).any(|(own, other)| own & other != 0)
    }

    fn within(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).all(|(own, other)| own & !other == 0)
    }

    fn len(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What an access does to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Load,
    Store,
    /// A read-modify-write, whether it writes in the end or not: a compare-exchange takes the line either way.
    Exchange,
}

/// A thread that spins and waits for the line to change; void when the thread has spun on since.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    pub(crate) thread: usize,
    pub(crate) generation: u64,
}

/// What happened to a line in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineFigures {
    /// Loads, stores, and read-modify-writes.
    pub accesses: u64,
    /// How often it came from another core, or from memory.
    pub transfers: u64,
    /// Copies that were given up for a write.
    pub invalidations: u64,
    /// Picoseconds that threads spent on getting it, waiting included.
    pub cost_picoseconds: u64,
    /// Picoseconds of that for which it was busy with others.
    pub wait_picoseconds: u64,
}

/// One line of memory.
pub(crate) struct Line {
    owner: Option<u16>,
    /// Those that may read it; the owner too.
    holders: CoreSet,
    free_at: Time,
    last_socket: u16,
    pub(crate) watches: Vec<Watch>,
    pub(crate) figures: LineFigures,
    /// Sites that touched it, each once.
    pub(crate) sites: Vec<&'static Site>,
}

impl Line {
    pub(crate) fn new() -> Self {
        Self {
            owner: None,
            holders: CoreSet::default(),
            free_at: 0,
            last_socket: 0,
            watches: Vec::new(),
            figures: LineFigures::default(),
            sites: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn is_held_by(&self, core: usize) -> bool {
        self.holders.has(core)
    }
}

/// The stores of one core that wait for their lines, done in order.
#[derive(Debug, Default)]
pub(crate) struct StoreBuffer {
    /// When each is done.
    pending: std::collections::VecDeque<Time>,
    last: Time,
}

impl StoreBuffer {
    /// When all of it is done.
    pub(crate) fn drained_at(&self) -> Time {
        self.last
    }
}

/// The costs of a profile, as the directory needs them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    hit: Time,
    store: Time,
    same: Time,
    cross: Time,
    memory: Time,
    shared_occupancy: Time,
    cross_occupancy: Time,
    acknowledge: Time,
    exchange: Time,
    pub(crate) fence: Time,
    pub(crate) pause: Time,
    entries: usize,
}

impl Costs {
    pub(crate) fn of(profile: &Profile) -> Self {
        let time = |cost| picoseconds(profile.cost(cost));
        Self {
            hit: time(Cost::Hit),
            store: time(Cost::Store),
            same: time(Cost::SameSocket),
            cross: time(Cost::CrossSocket),
            memory: time(Cost::Memory),
            shared_occupancy: time(Cost::SharedOccupancy),
            cross_occupancy: time(Cost::CrossOccupancy),
            acknowledge: time(Cost::Acknowledge),
            exchange: time(Cost::Exchange),
            fence: time(Cost::Fence),
            pause: time(Cost::Pause),
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the profile bounds it")]
            entries: profile.cost(Cost::Entries) as usize,
        }
    }
}

/// A core, as the directory sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requester {
    pub(crate) core: usize,
    pub(crate) socket: usize,
    /// Of what the core does by itself: 1 in 1024ths of the profile's speed.
    pub(crate) slowness: u64,
    /// By which transfers differ from the profile, in 1024ths.
    pub(crate) noise: u64,
}

impl Requester {
    fn own(&self, time: Time) -> Time {
        (time * self.slowness) >> 10
    }

    fn far(&self, time: Time) -> Time {
        (time * self.noise) >> 10
    }
}

/// What an access came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// How long the thread waits for it.
    pub(crate) time: Time,
    /// When copies of others became void; none where there were none.
    pub(crate) invalidated_at: Option<Time>,
    /// Whether it was a load of a line that the core had.
    pub(crate) quiet: bool,
}

/// How a line is got: how long it takes, how long that keeps the line busy, and by which cause it is booked.
struct Way {
    latency: Time,
    occupancy: Time,
    cause: Cause,
}

impl Line {
    /// Performs an access that is made at `now`, and books it.
    #[allow(clippy::too_many_arguments, reason = "the parts of one access")]
    pub(crate) fn access(
        &mut self,
        kind: Kind,
        by: Requester,
        now: Time,
        buffer: &mut StoreBuffer,
        costs: &Costs,
        sockets: &[CoreSet],
        account: &mut Account,
    ) -> Outcome {
        self.figures.accesses += 1;
        let had = self.is_held_by(by.core);
        if kind == Kind::Load && had {
            let time = by.own(costs.hit);
            account.add(Cause::Hit, time);
            return Outcome { time, invalidated_at: None, quiet: true };
        }
        let mut at = now;
        if kind == Kind::Exchange {
            // Earlier stores come first.
            at = at.max(buffer.last);
            account.add(Cause::Buffer, at - now);
        }
        let others = self.holders.without(by.core);
        let owned = had && others.is_empty();
        let copies = kind != Kind::Load && !others.is_empty();
        let own = by.own(if kind == Kind::Exchange { costs.exchange + costs.hit } else { costs.hit });
        let (start, way) = if owned {
            (at, Way { latency: 0, occupancy: 0, cause: Cause::Hit })
        } else {
            let from = if kind == Kind::Store { at.max(buffer.last) } else { at };
            (from.max(self.free_at), self.way(kind, by, &others, costs, sockets))
        };
        if kind == Kind::Store {
            return self.buffer_store(start, &way, by, now, owned, copies, buffer, costs, account);
        }
        let done = start + way.latency + own;
        account.add(Cause::LineWait, start - at);
        account.add(way.cause, way.latency);
        account.add(Cause::Hit, own);
        if !owned {
            self.figures.transfers += 1;
            self.figures.cost_picoseconds += start - at + way.latency;
            self.figures.wait_picoseconds += start - at;
            self.free_at = start + way.occupancy + if kind == Kind::Exchange { own } else { 0 };
        }
        self.hand_over(kind, by, &others, copies);
        Outcome { time: done - now, invalidated_at: copies.then_some(start), quiet: false }
    }

    /// A store: the thread goes on, unless the buffer is full.
    #[allow(clippy::too_many_arguments, reason = "the parts of one access")]
    fn buffer_store(
        &mut self,
        start: Time,
        way: &Way,
        by: Requester,
        now: Time,
        owned: bool,
        copies: bool,
        buffer: &mut StoreBuffer,
        costs: &Costs,
        account: &mut Account,
    ) -> Outcome {
        let issue = by.own(costs.store);
        let start = start.max(buffer.last);
        let done = start + way.latency;
        while buffer.pending.front().is_some_and(|&done| done <= now) {
            buffer.pending.pop_front();
        }
        let mut stall = 0;
        if buffer.pending.len() >= costs.entries
            && let Some(first) = buffer.pending.pop_front()
        {
            stall = first.saturating_sub(now);
        }
        if !owned {
            buffer.pending.push_back(done);
            self.figures.transfers += 1;
            // Nobody waits for it, but the line is busy: whoever wants it next does.
            self.figures.cost_picoseconds += stall;
            self.free_at = done;
        }
        buffer.last = done.max(buffer.last);
        account.add(Cause::Hit, issue);
        account.add(Cause::Buffer, stall);
        let others = self.holders.without(by.core);
        self.hand_over(Kind::Store, by, &others, copies);
        Outcome { time: issue + stall, invalidated_at: copies.then_some(start), quiet: false }
    }

    fn hand_over(&mut self, kind: Kind, by: Requester, others: &CoreSet, copies: bool) {
        self.last_socket = u16::try_from(by.socket).unwrap_or(u16::MAX);
        if kind == Kind::Load {
            self.holders.insert(by.core);
            self.owner = if others.is_empty() { u16::try_from(by.core).ok() } else { None };
        } else {
            if copies {
                self.figures.invalidations += others.len();
            }
            self.holders = CoreSet::one(by.core);
            self.owner = u16::try_from(by.core).ok();
        }
    }

    fn way(&self, kind: Kind, by: Requester, others: &CoreSet, costs: &Costs, sockets: &[CoreSet]) -> Way {
        let own_socket = &sockets[by.socket];
        if others.is_empty() {
            let memory = by.far(costs.memory);
            return Way { latency: memory, occupancy: memory, cause: Cause::Memory };
        }
        let booked = |near: bool| if near { Cause::SameSocket } else { Cause::CrossSocket };
        let distance = |near: bool| by.far(if near { costs.same } else { costs.cross });
        match kind {
            Kind::Load => {
                let near = others.meets(own_socket);
                let latency = distance(near);
                let occupancy = if self.owner.is_some() {
                    latency
                } else if usize::from(self.last_socket) == by.socket {
                    costs.shared_occupancy
                } else {
                    costs.cross_occupancy
                };
                Way { latency, occupancy, cause: booked(near) }
            }
            Kind::Store | Kind::Exchange => {
                // The farthest copy decides; each further one adds its acknowledgement.
                let near = others.within(own_socket);
                let latency = distance(near) + costs.acknowledge * (others.len() - 1);
                let cause = if self.owner.is_some() { booked(near) } else { Cause::Invalidate };
                Way { latency, occupancy: latency, cause }
            }
        }
    }
}
