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
use crate::under_way::{Room, UnderWay};
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
    /// A payload is read and written: its value decides nothing, so the thread does not wait for it, and the line is asked for
    /// once, for both.
    Own,
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
    /// When the owner's read-modify-write is done: until then it cannot read what that leaves behind.
    settled_at: Time,
    /// The store that fetches it now: whose, and until when. Others of the same core are done with it.
    storing: (u16, Time),
    /// The core that fetched it last, if that was for a load, and which access of that core it was.
    loaded: (u16, u64),
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
            settled_at: 0,
            storing: (0, 0),
            loaded: (u16::MAX, 0),
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
    room: Room,
}

impl Costs {
    pub(crate) fn of(profile: &Profile) -> Self {
        let time = |cost| picoseconds(profile.cost(cost));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the profile bounds it")]
        let count = |cost| profile.cost(cost) as usize;
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
            room: Room {
                fetches: count(Cost::Overlap),
                exchanges: count(Cost::ExchangeOverlap),
                stores: count(Cost::Entries),
            },
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
    /// Accesses that it has made.
    pub(crate) made: u64,
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
    /// After how much of that a load sees what is there, if not at once.
    pub(crate) sees_after: Time,
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
    /// So many accesses beyond a load, a core has foreseen a write.
    const FORESEEN: u64 = 16;

    /// Performs an access that is made at `now`, and books it.
    #[allow(clippy::too_many_arguments, reason = "the parts of one access")]
    pub(crate) fn access(
        &mut self,
        kind: Kind,
        by: Requester,
        now: Time,
        under_way: &mut UnderWay,
        costs: &Costs,
        sockets: &[CoreSet],
        account: &mut Account,
    ) -> Outcome {
        self.figures.accesses += 1;
        let had = self.is_held_by(by.core);
        if kind == Kind::Load && had {
            let own = by.own(costs.hit);
            let wait = if self.owner == u16::try_from(by.core).ok() { self.settled_at.saturating_sub(now) } else { 0 };
            account.add(Cause::Buffer, wait);
            account.add(Cause::Hit, own);
            return Outcome { time: wait + own, sees_after: 0, invalidated_at: None, quiet: wait == 0 };
        }
        let others = self.holders.without(by.core);
        let core = u16::try_from(by.core).unwrap_or(u16::MAX);
        // A write that follows a load closely was foreseen when the load was made: the line came for both.
        let foreseen = kind != Kind::Load && had && self.loaded.0 == core && by.made - self.loaded.1 <= Self::FORESEEN;
        // A store that finds an earlier one of its core still fetching the line is done with that one.
        let joins = kind == Kind::Store && self.storing.0 == core && self.storing.1 > now;
        let owned = (had && others.is_empty()) || foreseen || joins;
        let copies = kind != Kind::Load && !others.is_empty();
        let (from, way) = if owned {
            (now, Way { latency: 0, occupancy: 0, cause: Cause::Hit })
        } else {
            let from = match kind {
                Kind::Load | Kind::Own => now,
                Kind::Store => under_way.store_may_begin(costs.room),
                Kind::Exchange => under_way.exchange_may_begin(costs.room),
            };
            (now.max(from), self.way(kind, by, &others, costs, sockets))
        };
        let start = if owned { now } else { from.max(self.free_at) };
        let there = if joins { self.storing.1 } else { start + way.latency };
        let mut sees_after = 0;
        let time = match kind {
            Kind::Load => {
                let own = by.own(costs.hit);
                account.add(Cause::LineWait, start - now);
                account.add(way.cause, way.latency);
                account.add(Cause::Hit, own);
                self.book(there - now, start - now, start + way.occupancy);
                // While the owner's store is under way, what it stores meanwhile is seen too.
                sees_after = self.storing.1.min(start).saturating_sub(now);
                there + own - now
            }
            Kind::Store => {
                let (done, stall) = under_way.store(now, there, !owned, costs.room);
                let issue = by.own(costs.store);
                account.add(Cause::Hit, issue);
                account.add(Cause::Buffer, stall);
                if !owned {
                    // Nobody waits for it, but the line is busy: whoever wants it next does.
                    self.book(stall, 0, done);
                    self.storing = (core, done);
                }
                issue + stall
            }
            Kind::Own | Kind::Exchange => {
                let exchange = (kind == Kind::Exchange).then(|| by.own(costs.exchange));
                let own = by.own(costs.hit) + exchange.unwrap_or(0);
                let late = under_way.over_at() > there;
                if owned && !late {
                    account.add(Cause::Hit, own);
                    self.settled_at = now + own;
                    own
                } else {
                    let (done, stall) = under_way.fetch(now, there, exchange.map(|_| own), costs.room);
                    let stall = stall.saturating_sub(own);
                    let line_wait = stall.min(start - now);
                    account.add(Cause::Hit, own);
                    account.add(Cause::LineWait, line_wait);
                    account.add(if owned || late { Cause::Buffer } else { way.cause }, stall - line_wait);
                    self.settled_at = done;
                    if !owned {
                        self.book(stall, line_wait, done);
                    }
                    own + stall
                }
            }
        };
        if joins && !(had && others.is_empty()) {
            // Whoever asked for the line since then gets it after this store.
            return Outcome { time, sees_after, invalidated_at: None, quiet: false };
        }
        self.loaded = (if kind == Kind::Load { core } else { u16::MAX }, by.made);
        self.hand_over(kind, by, &others, copies);
        Outcome { time, sees_after, invalidated_at: copies.then_some(start), quiet: false }
    }

    /// Books a transfer: what it cost the thread, what of that was waiting, and until when the line is busy.
    fn book(&mut self, cost: Time, wait: Time, free_at: Time) {
        self.figures.transfers += 1;
        self.figures.cost_picoseconds += cost;
        self.figures.wait_picoseconds += wait;
        self.free_at = free_at;
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
            Kind::Own | Kind::Store | Kind::Exchange => {
                // The farthest copy decides; each further one adds its acknowledgement.
                let near = others.within(own_socket);
                let latency = distance(near) + costs.acknowledge * (others.len() - 1);
                let cause = if self.owner.is_some() { booked(near) } else { Cause::Invalidate };
                Way { latency, occupancy: latency, cause }
            }
        }
    }
}
