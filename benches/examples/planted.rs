//! A short run with one design that stalls, for `ci/gate-noisy.sh`: what a gate must find, on the real machine.
//!
//! ```text
//!   planted FILE [DESIGN=PERCENT]       measures a few designs and peers, and writes the run to FILE
//! ```
//!
//! A worker of the slowed design stops, whenever it has worked for 0.2 ms, for so long that the given part of its time is gone.

use jiff::Timestamp;
use slotwork::{
    Claims, ClientError, Design, Destination, Dispatch, LaneId, Platform, RequestQueue, Shape, Site, SlotId, Slots,
};
use slotwork_bench::alarm::Alarm;
use slotwork_bench::contender::{self, Contender, Peers};
use slotwork_bench::grid::{Wanted, cells};
use slotwork_bench::machine::Machine;
use slotwork_bench::measure::{Measured, Plan};
use slotwork_bench::placement::Placement;
use slotwork_bench::record::{Record, SCHEMA, Settings};
use slotwork_bench::verdict::{rankings, summarise};
use slotwork_catalog::{Visitor, visit_named};
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Which part of its time a worker of [`Slowed`] loses.
static LOST: OnceLock<f64> = OnceLock::new();

struct Slowed<D>(PhantomData<D>);

struct SlowedQueue<Q>(Q);

/// A worker that has worked since then, and looks at the clock now and then.
struct Stalling<W> {
    worker: W,
    since: Instant,
    calls: u32,
}

impl<W> Stalling<W> {
    const TURN: Duration = Duration::from_micros(200);

    fn stall(&mut self) {
        self.calls = self.calls.wrapping_add(1);
        if !self.calls.is_multiple_of(16) || self.since.elapsed() < Self::TURN {
            return;
        }
        let lost = LOST.get().copied().unwrap_or(0.0);
        let stall = self.since.elapsed().mul_f64(lost / (1.0 - lost));
        let start = Instant::now();
        while start.elapsed() < stall {
            std::hint::spin_loop();
        }
        self.since = Instant::now();
    }
}

// SAFETY: `construct` makes a new queue, as that of `D` does.
unsafe impl<D: Design> Design for Slowed<D> {
    const NAME: &'static str = D::NAME;
    const CLAIMS: Claims = D::CLAIMS;
    const SITES: &'static [&'static [Site]] = D::SITES;
    type Queue<P: Platform> = SlowedQueue<D::Queue<P>>;

    fn construct<P: Platform>(shape: Shape) -> Self::Queue<P> {
        SlowedQueue(D::construct(shape))
    }
}

// SAFETY: every call is passed on as it is.
unsafe impl<Q: RequestQueue> RequestQueue for SlowedQueue<Q> {
    type Platform = Q::Platform;
    type Submitters = Q::Submitters;
    type Header = Q::Header;
    type Client = Q::Client;
    type Worker = Stalling<Q::Worker>;

    fn shape(&self) -> Shape {
        self.0.shape()
    }

    fn client(&self) -> Result<Q::Client, ClientError> {
        self.0.client()
    }

    fn retire(&self, client: Q::Client) {
        self.0.retire(client);
    }

    fn set_dispatch(&self, client: &mut Q::Client, dispatch: Dispatch) -> bool {
        self.0.set_dispatch(client, dispatch)
    }

    fn worker(&self, lane: LaneId) -> Stalling<Q::Worker> {
        Stalling { worker: self.0.worker(lane), since: Instant::now(), calls: 0 }
    }

    fn acquire(&self, slots: &impl Slots<Q::Header>, client: &mut Q::Client) -> Option<SlotId> {
        self.0.acquire(slots, client)
    }

    fn submit(&self, slots: &impl Slots<Q::Header>, client: &mut Q::Client, slot: SlotId) -> Destination {
        self.0.submit(slots, client, slot)
    }

    fn withdraw(&self, slots: &impl Slots<Q::Header>, client: &mut Q::Client, slot: SlotId) {
        self.0.withdraw(slots, client, slot);
    }

    fn take(&self, slots: &impl Slots<Q::Header>, worker: &mut Stalling<Q::Worker>) -> Option<SlotId> {
        self.0.take(slots, &mut worker.worker)
    }

    fn complete(&self, slots: &impl Slots<Q::Header>, worker: &mut Stalling<Q::Worker>, slot: SlotId) {
        self.0.complete(slots, &mut worker.worker, slot);
        worker.stall();
    }
}

struct Enter;

impl Visitor for Enter {
    type Output = Contender;

    fn visit<D: Design>(&mut self) -> Contender {
        Contender::of::<Slowed<D>>()
    }
}

const DESIGNS: [&str; 4] = ["bitmap-claim", "freelist-bitmap", "double-list", "global-lock"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let file = arguments.get(1).ok_or("planted FILE [DESIGN=PERCENT]")?;
    let planted = match arguments.get(2) {
        Some(planted) => {
            let (name, percent) = planted.split_once('=').ok_or("DESIGN=PERCENT")?;
            LOST.get_or_init(|| percent.parse::<f64>().map_or(0.0, |percent| percent / 100.0));
            Some(visit_named(name, &mut Enter)?)
        }
        None => None,
    };
    let mut contenders = DESIGNS.map(contender::named).into_iter().collect::<Result<Vec<_>, _>>()?;
    if let Some(planted) = planted {
        let own =
            contenders.iter_mut().find(|contender| contender.name == planted.name).ok_or("it is not measured here")?;
        *own = planted;
    }
    contenders.extend(contender::peers(Peers::Some));
    let placement = Placement::pinned();
    let wanted = Wanted { clients: vec![1, 2], workers: vec![2], slots: vec![4, 64], ..Wanted::default() };
    let plan = Plan {
        cells: cells(&wanted, &contenders, placement.cores())?,
        contenders,
        rounds: 7,
        window: Some(Duration::from_millis(20)),
        seed: u64::from(std::process::id()),
        placement,
        traces: false,
        loads: Vec::new(),
    };
    let (started, start) = (Timestamp::now(), Instant::now());
    let Measured { mut cells, alarm, repeated_windows, interrupted } =
        plan.measure(&AtomicBool::new(false), &mut |_| {});
    summarise(&mut cells);
    let record = Record {
        schema: SCHEMA,
        started: started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        seconds: start.elapsed().as_secs_f64(),
        interrupted,
        simulated: false,
        command_line: arguments.clone(),
        machine: Machine::inspect(&plan.placement),
        settings: Settings {
            rounds: plan.rounds,
            seed: plan.seed,
            pinned: plan.placement.is_pinned(),
            quiet_trip_nanoseconds: alarm.quiet(),
            disturbed_beyond: Alarm::THRESHOLD,
            disturbed_below_share: Plan::LEAST_SHARE,
            repeated_windows,
        },
        floors: Vec::new(),
        rankings: rankings(&cells, &plan.contenders, plan.seed),
        cells,
    };
    std::fs::write(file, serde_json::to_string(&record)?)?;
    Ok(())
}
