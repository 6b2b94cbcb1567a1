//! A profile of this machine, from measured ping-pong, exchanges, fences, pauses and wakes.
//!
//! ```text
//!   one core    hit, store, exchange, fence, pause, yield, allocator     a loop each, the fastest of several trials
//!               interruptions                                            gaps between two readings of the clock
//!   two cores   a handover, alone and with lines that go with it         the middle of the undisturbed trials
//!               park and unpark                                          the fastest
//!   one core,   yield to and fro                                         what a switch adds
//!   two threads one computes, one yields                                 the quantum
//! ```
//!
//! Whatever disturbs a trial makes it slower, so the fastest trial counts. What two cores cannot show, such as
//! another socket, is taken to be as this socket, and said so in the file.

mod disturbance;
mod trip;

use self::trip::{Load, with_overlap, with_trip};
use crate::placement::Placement;
use crate::single::{OneThread, RoundTrips};
use slotwork::{CachePadded, Design, Pool, Shape};
use slotwork_bitmap::Bitmap;
use slotwork_coherence::{CoreGroup, Cost, Options, Order, Profile, Simulated, Simulation, SimulationError};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};

const TRIALS: usize = 9;
const STEPS: u32 = 20_000;

/// Nanoseconds of one of `steps`, in the fastest of several trials.
fn fastest(trials: usize, steps: u32, mut trial: impl FnMut() -> Option<Duration>) -> Option<f64> {
    let times = (0..trials).filter_map(|_| trial());
    times.min().map(|time| time.as_secs_f64() * 1e9 / f64::from(steps))
}

/// Nanoseconds of one `step`, beyond what the loop costs.
fn step(mut step: impl FnMut()) -> f64 {
    let timed = |step: &mut dyn FnMut()| {
        let start = Instant::now();
        for _ in 0..STEPS {
            step();
        }
        Some(start.elapsed())
    };
    let whole = fastest(TRIALS, STEPS, || timed(&mut step)).unwrap_or(0.0);
    let empty = fastest(TRIALS, STEPS, || timed(&mut || _ = black_box(0))).unwrap_or(0.0);
    (whole - empty).max(0.1)
}

/// Runs two bodies at once, each on a core of its own, or both on one; the first one's time.
fn pair(cores: [usize; 2], placement: &Placement, bodies: [&(dyn Fn() -> Duration + Sync); 2]) -> Option<Duration> {
    std::thread::scope(|scope| {
        let threads = cores.into_iter().zip(bodies).map(|(core, body)| {
            std::thread::Builder::new().spawn_scoped(scope, move || {
                placement.bind(core);
                body()
            })
        });
        let threads: Vec<_> = threads.collect::<Result<_, _>>().ok()?;
        let times: Option<Vec<Duration>> = threads.into_iter().map(|thread| thread.join().ok()).collect();
        times?.first().copied()
    })
}

/// From an unpark to the first instruction of the woken thread, and the unpark itself, in nanoseconds.
fn wake(placement: &Placement) -> Option<(f64, f64)> {
    const WAKES: u32 = 40;
    let told = AtomicU64::new(0);
    let woken = AtomicU64::new(0);
    let over = AtomicBool::new(false);
    let origin = Instant::now();
    let now = || u64::try_from(origin.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let (mut call, mut delay) = (f64::INFINITY, f64::INFINITY);
    std::thread::scope(|scope| {
        let sleeper = std::thread::Builder::new()
            .spawn_scoped(scope, || {
                placement.bind(1);
                let mut seen = 0;
                while !over.load(Ordering::Acquire) {
                    std::thread::park();
                    let token = told.load(Ordering::Acquire);
                    if token != seen {
                        seen = token;
                        woken.store(now(), Ordering::Release);
                    }
                }
            })
            .ok()?;
        placement.bind(0);
        for number in 1..=u64::from(WAKES) {
            // Long enough for the other to be asleep, its core too.
            std::thread::sleep(Duration::from_micros(300));
            woken.store(0, Ordering::Release);
            told.store(number, Ordering::Release);
            let before = now();
            sleeper.thread().unpark();
            let after = now();
            let mut at = 0;
            while at == 0 && now() < after + 50_000_000 {
                at = woken.load(Ordering::Acquire);
            }
            if at > before {
                call = call.min((after - before) as f64);
                delay = delay.min((at - before) as f64);
            }
        }
        over.store(true, Ordering::Release);
        sleeper.thread().unpark();
        sleeper.join().ok()?;
        delay.is_finite().then_some((delay, call))
    })
}

/// Two threads on one core yield to each other: nanoseconds of one turn.
fn turn(placement: &Placement) -> Option<f64> {
    const TURNS: u32 = 2000;
    let there = AtomicU64::new(0);
    let yields = || {
        // Both have to be there, or the first one yields to nobody.
        let round = there.fetch_add(1, Ordering::AcqRel) / 2;
        while there.load(Ordering::Acquire) < 2 * round + 2 {
            std::thread::yield_now();
        }
        let start = Instant::now();
        (0..TURNS).for_each(|_| std::thread::yield_now());
        start.elapsed()
    };
    fastest(TRIALS, 2 * TURNS, || pair([0, 0], placement, [&yields, &yields]))
}

/// Accesses of one round trip of `bitmap` on one thread, as the machine counts them.
fn accesses_of_a_round_trip(profile: &Profile) -> Result<f64, SimulationError> {
    const TRIPS: u32 = 1000;
    let mut run = Simulation::new(profile, Options::default())?;
    let shape = Shape::new(1, crate::single::SLOTS).expect("one lane of a few slots is a shape");
    let (client, workers) = run.build(|| {
        let queue = Bitmap::build::<Simulated>(shape).expect("bitmap takes one lane of 64 slots");
        Pool::new(queue, |_| 0_u64).expect("a few slots fit in memory").split()
    });
    run.spawn("both", move || {
        for _ in 0..TRIPS {
            if let Some(slot) = client.acquire() {
                slot.submit();
            }
            if let Some(slot) = workers[0].take() {
                slot.complete();
            }
        }
    });
    Ok(run.run()?.accesses as f64 / f64::from(TRIPS))
}

/// Measures this machine. What could not be measured is as in the profile `like`.
///
/// # Errors
/// [`SimulationError`].
pub fn calibrate(placement: &Placement, like: &Profile) -> Result<Profile, SimulationError> {
    placement.bind(0);
    let word = CachePadded::new(AtomicU64::new(0));
    let mut profile = like.clone();
    profile.name = "this-machine".into();
    profile.order = Order::Fill;
    profile.cores =
        vec![CoreGroup { socket: 0, count: placement.cores().clamp(1, slotwork_coherence::MAX_CORES), speed: 1.0 }];
    let trips = fastest(TRIALS, STEPS, {
        let mut both = OneThread::<Bitmap>::new();
        move || {
            let start = Instant::now();
            both.go(u64::from(STEPS));
            Some(start.elapsed())
        }
    });
    let accesses = accesses_of_a_round_trip(&profile)?;
    let hit = (trips.unwrap_or(10.0) / accesses).max(0.1);
    let set = |profile: Profile, cost, value: f64| profile.with(cost, (value * 100.0).round() / 100.0);
    profile = set(profile, Cost::Hit, hit);
    profile = set(profile, Cost::Store, hit);
    profile = set(profile, Cost::Exchange, (step(|| _ = word.fetch_add(1, Ordering::AcqRel)) - hit).max(0.1));
    let fenced = step(|| {
        word.store(1, Ordering::Release);
        fence(Ordering::SeqCst);
    });
    profile = set(profile, Cost::Fence, (fenced - hit).max(0.1));
    profile = set(profile, Cost::Pause, step(std::hint::spin_loop));
    profile = set(profile, Cost::Yield, step(std::thread::yield_now));
    if let Some(turn) = turn(placement) {
        let switch = (turn - profile.cost(Cost::Yield)).max(50.0);
        profile = set(profile, Cost::Switch, switch);
    }
    if let Some((delay, call)) = wake(placement) {
        profile = set(profile, Cost::Unpark, call);
        profile = set(profile, Cost::Wake, (delay - call).max(0.0));
        let park = call.min(profile.cost(Cost::Switch));
        profile = set(profile, Cost::Park, park);
    }
    profile = set(profile, Cost::Allocate, step(|| drop(black_box(Box::new(0_u64)))) / 2.0);
    if let Some((every, length)) = disturbance::interruptions() {
        profile = profile.with(Cost::InterruptEvery, every.round().max(1000.0)).with(Cost::Interrupt, length.round());
    } else {
        profile = profile.with(Cost::InterruptEvery, 0.0).with(Cost::Interrupt, 0.0);
    }
    if let Some(quantum) = disturbance::quantum(placement) {
        profile = profile.with(Cost::Quantum, quantum.round());
    }
    if let Some(trip) = trip::measured(placement, Load::NOTHING) {
        profile = with_trip(profile, trip)?;
        for (cost, load) in [(Cost::Overlap, Load::PAYLOADS), (Cost::ExchangeOverlap, Load::EXCHANGES)] {
            if let Some(trip) = trip::measured(placement, load) {
                profile = with_overlap(&profile, cost, load, trip)?;
            }
        }
    }
    Ok(profile)
}
