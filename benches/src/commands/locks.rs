//! `slotwork locks`.

use super::{Outcome, Session, count, seconds, unique};
use crate::progress;
use crate::run::refuse;
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use slotwork_bench::handler::Handler;
use slotwork_bench::seeds::Watch;
use slotwork_bench::seeds::locks::{Carrier, Machine, Plan, Scene, split_table};
use std::path::PathBuf;
use std::time::Duration;

/// Most threads of a kind: each device may have one.
const MOST: usize = 256;

/// Options of `slotwork locks`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Virtual CPUs make port accesses to devices beside an I/O thread that passes over the busy devices. Under a lock, \
whoever accesses a device carries the access out; over a design, it is submitted to the device's own thread, which has \
a lane for them (one per virtual CPU, where the design takes one submitter) and one for the I/O thread, and a virtual CPU \
waits only when no slot is free. \
Accesses carried out must equal accesses made, client by client and device by device, else the exit code is 1.\n\n\
Example:\n  slotwork locks --devices 4 --cpus 1,4 --design bitmap,freelist-bitmap")]
pub(crate) struct LocksArguments {
    /// Devices.
    #[arg(long, value_name = "N", default_value = "4", value_parser = count::<MOST>)]
    devices: usize,
    /// Virtual CPUs of each row.
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', default_value = "1,4", value_parser = count::<MOST>)]
    cpus: Vec<usize>,
    /// A design to measure beside the locks; may be repeated [default: all].
    #[arg(long = "design", value_name = "DESIGN", value_delimiter = ',')]
    designs: Vec<String>,
    /// Slots for each client at each device, where a design carries the accesses.
    #[arg(long, value_name = "N", default_value = "4", value_parser = count::<64>)]
    slots: usize,
    /// What a virtual CPU does between two accesses, in nanoseconds.
    #[arg(long, value_name = "NS", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(0..=Handler::MAX_NANOSECONDS))]
    guest_ns: u64,
    /// What a device does for an access, in nanoseconds.
    #[arg(long, value_name = "NS", default_value_t = 500, value_parser = clap::value_parser!(u64).range(0..=Handler::MAX_NANOSECONDS))]
    access_ns: u64,
    /// What the I/O thread does at each busy device in a pass, in nanoseconds.
    #[arg(long, value_name = "NS", default_value_t = 5000, value_parser = clap::value_parser!(u64).range(0..=Handler::MAX_NANOSECONDS))]
    pass_ns: u64,
    /// The I/O thread's nap between two passes, in microseconds.
    #[arg(long, value_name = "US", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    nap_us: u64,
    /// How often all is repeated.
    #[arg(long, value_name = "N", default_value = "3", value_parser = count::<1000>)]
    rounds: usize,
    /// Length of a window.
    #[arg(long, value_name = "S", default_value = "0.25", value_parser = seconds)]
    seconds: Duration,
    /// Print the results as JSON.
    #[arg(long)]
    json: bool,
    /// The folder for the JSON and CSV files.
    #[arg(long, value_name = "DIR", default_value = "results")]
    output: PathBuf,
}

#[derive(Serialize)]
struct Settings {
    devices: usize,
    slots_per_client: usize,
    guest_nanoseconds: u64,
    access_nanoseconds: u64,
    pass_nanoseconds: u64,
    nap_microseconds: u64,
    rounds: usize,
    seconds: f64,
}

pub(crate) fn run(arguments: &LocksArguments) -> Result<u8> {
    let carriers = Carrier::chosen(&unique(arguments.designs.clone())).map_err(refuse)?;
    let session = Session::begin("locks", &arguments.output, arguments.json)?;
    let machine = Machine {
        devices: arguments.devices,
        slots: arguments.slots,
        guest: Handler::calibrated(arguments.guest_ns),
        access: Handler::calibrated(arguments.access_ns),
        pass: Handler::calibrated(arguments.pass_ns),
        nap: Duration::from_micros(arguments.nap_us),
    };
    let scenes = unique(vec![1, arguments.devices]).into_iter().flat_map(|busy| {
        let scene = move |processors| Scene { processors, busy };
        unique(arguments.cpus.clone()).into_iter().map(scene)
    });
    let (scenes, rounds, window) = (scenes.collect(), arguments.rounds, arguments.seconds);
    let plan = Plan { machine, carriers, scenes, rounds, window };

    let bar = progress::count(Some(plan.windows()));
    let measured =
        plan.measure(&mut Watch { interrupted: session.interrupted, progress: &mut |windows| bar.inc(windows) });
    bar.finish_and_clear();

    let settings = Settings {
        devices: arguments.devices,
        slots_per_client: arguments.slots,
        guest_nanoseconds: arguments.guest_ns,
        access_nanoseconds: arguments.access_ns,
        pass_nanoseconds: arguments.pass_ns,
        nap_microseconds: arguments.nap_us,
        rounds,
        seconds: window.as_secs_f64(),
    };
    session.finish(&Outcome {
        settings: &settings,
        rows: &measured.rows,
        text: split_table(&plan, &measured.rows),
        failures: &measured.failures,
        interrupted: measured.interrupted,
    })
}
