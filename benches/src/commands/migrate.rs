//! `slotwork migrate pack` and `slotwork migrate unpack`.

use super::{Outcome, Session, count};
use crate::run::refuse;
use crate::{INTERRUPTED, cli::complain, progress};
use anyhow::Result;
use clap::{Args, Subcommand};
use serde::Serialize;
use slotwork::Shape;
use slotwork_bench::grid::MAX_THREADS;
use slotwork_bench::seeds::Watch;
use slotwork_bench::seeds::codec::Codec;
use slotwork_bench::seeds::configuration::Policy;
use slotwork_bench::seeds::migrate::{Crew, Input, MigrateError, Moved, Mover, Output, rate};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Options of `slotwork migrate`.
#[derive(Args, Clone, Debug)]
pub(crate) struct MigrateArguments {
    #[command(subcommand)]
    direction: Direction,
}

#[derive(Clone, Debug, Subcommand)]
enum Direction {
    /// Compress a file page by page into a stream of frames.
    #[command(after_help = "\
Pages are compressed by worker threads and written as they come out; zero pages take no room. INPUT may be - for the \
standard input. OUT appears only when it is complete.\n\n\
Example:\n  slotwork migrate pack memory.dump -o memory.packed --design bitmap --threads 2")]
    Pack(PackArguments),
    /// Restore the file, byte by byte as it was.
    #[command(after_help = "\
Every page's checksum is verified; a stream that is truncated, damaged or something else gives one error, which names the \
page, and no OUT. INPUT may be - for the standard input.\n\n\
Example:\n  slotwork migrate unpack memory.packed -o memory.dump")]
    Unpack(MoveArguments),
}

#[derive(Args, Clone, Debug)]
struct PackArguments {
    #[command(flatten)]
    moves: MoveArguments,
    /// How pages are compressed: zlib (level 1), lz4, zstd, or none.
    #[arg(long, value_name = "CODEC", default_value = "zlib")]
    codec: Codec,
}

#[derive(Args, Clone, Debug)]
struct MoveArguments {
    /// The file to read, or - for the standard input.
    input: PathBuf,
    /// The file to write.
    #[arg(short = 'o', long = "output", value_name = "OUT")]
    output: PathBuf,
    /// The design of the queue.
    #[arg(long, value_name = "DESIGN", default_value = "bitmap")]
    design: String,
    /// Worker threads [default: one per core].
    #[arg(short = 't', long, value_name = "N", value_parser = count::<MAX_THREADS>)]
    threads: Option<usize>,
    /// Requests per worker thread.
    #[arg(short = 'r', long, value_name = "N", default_value = "4", value_parser = count::<{ Shape::MAX_SLOTS }>)]
    requests: usize,
    /// How threads wait.
    #[arg(long, value_name = "POLICY", value_enum, default_value_t = Policy::Settle)]
    waiting: Policy,
    /// Print the results as JSON.
    #[arg(long)]
    json: bool,
    /// The folder for the JSON and CSV files.
    #[arg(long, value_name = "DIR", default_value = "results")]
    results: PathBuf,
}

#[derive(Serialize)]
struct Settings {
    input: String,
    output: PathBuf,
}

/// What was done: the one line of the CSV.
#[derive(Serialize)]
struct Row {
    operation: &'static str,
    design: &'static str,
    threads: usize,
    requests_per_thread: usize,
    waiting: String,
    codec: Option<Codec>,
    plain_bytes: u64,
    packed_bytes: u64,
    pages: u64,
    zero_pages: u64,
    seconds: f64,
    plain_bytes_per_second: f64,
}

pub(crate) fn run(arguments: &MigrateArguments) -> Result<u8> {
    match &arguments.direction {
        Direction::Pack(PackArguments { moves, codec }) => migrate(moves, Some(*codec)),
        Direction::Unpack(moves) => migrate(moves, None),
    }
}

/// Whether both are there, and one file.
fn is_same_file(input: &Path, output: &Path) -> bool {
    match (input.canonicalize(), output.canonicalize()) {
        (Ok(input), Ok(output)) => input == output,
        _ => false,
    }
}

/// Packs, if there is a codec; else unpacks.
fn migrate(arguments: &MoveArguments, codec: Option<Codec>) -> Result<u8> {
    let mover = Mover::named(&arguments.design).map_err(refuse)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = arguments.threads.unwrap_or(cores);
    let (requests, waiting) = (arguments.requests, arguments.waiting);
    let crew = Crew { threads, requests, waiting };
    if is_same_file(&arguments.input, &arguments.output) {
        return Err(refuse(format!("'{}' is the input: the output would replace it", arguments.output.display())));
    }
    let input = Input::named(&arguments.input);
    let (mut reader, length) = input.open().map_err(|error| fault(error, &input))?;
    let mut output = Output::create(&arguments.output).map_err(|error| fault(error, &input))?;
    let operation = if codec.is_some() { "pack" } else { "unpack" };
    let session = Session::begin("migrate", &arguments.results, arguments.json)?;

    let bar = progress::bytes(length);
    let mut watch = Watch { interrupted: session.interrupted, progress: &mut |bytes| bar.inc(bytes) };
    let start = Instant::now();
    let moved = match codec {
        Some(codec) => mover.pack(crew, codec, &mut reader, output.file(), &mut watch),
        None => mover.unpack(crew, &mut reader, output.file(), &mut watch),
    };
    let moved = moved.and_then(|moved| output.complete().map(|()| moved));
    let time = start.elapsed();
    bar.finish_and_clear();
    let moved = match moved {
        Ok(moved) => moved,
        Err(MigrateError::Interrupted) => {
            complain(&MigrateError::Interrupted.to_string());
            return Ok(INTERRUPTED);
        }
        Err(error) => return Err(fault(error, &input)),
    };

    let Moved { plain_bytes, packed_bytes, pages, zero_pages } = moved;
    let row = Row {
        operation,
        design: mover.design,
        threads,
        requests_per_thread: requests,
        waiting: waiting.to_string(),
        codec,
        plain_bytes,
        packed_bytes,
        pages,
        zero_pages,
        seconds: time.as_secs_f64(),
        plain_bytes_per_second: rate(&moved, time),
    };
    let text = format!(
        "{operation}: {plain_bytes} bytes plain, {packed_bytes} packed; {pages} pages over {}, {threads} threads, and \
         {zero_pages} zero pages; {:.3} s, {:.3} GB/s\n",
        mover.design,
        row.seconds,
        row.plain_bytes_per_second / 1e9,
    );
    let settings = Settings { input: input.name(), output: arguments.output.clone() };
    session.finish(&Outcome { settings: &settings, rows: &[row], text, failures: &[], interrupted: false })
}

/// The error with the name of the input, and refused where nothing was begun.
fn fault(error: MigrateError, input: &Input) -> anyhow::Error {
    let refuses = error.refuses();
    let named = matches!(error, MigrateError::Input { .. } | MigrateError::Output { .. } | MigrateError::NoFile(_));
    let error = anyhow::Error::from(error);
    let error = if named { error } else { error.context(format!("'{}'", input.name())) };
    if refuses { refuse(format!("{error:#}")) } else { error }
}
