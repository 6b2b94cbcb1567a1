//! The benchmark of 2018, as `page_compress.c` beside this file does it in C: the same options, the same output.
//!
//! `cargo run --release -p slotwork-capi --example page_compress -- -t 4`
//!
//! It uses the C library's own zlib, so that a difference between the two is the interface's.

#![allow(clippy::cast_possible_truncation, reason = "zlib counts in 32 bits, and these are small constants")]

use libz_sys::{Z_FINISH, Z_OK, Z_STREAM_END, deflate, deflateEnd, deflateInit_, deflateReset, z_stream, zlibVersion};
use slotwork_bitmap::Bitmap;
use slotwork_workqueue::Workqueue;
use std::cell::Cell;
use std::ffi::c_int;
use std::io::Read as _;
use std::mem::MaybeUninit;
use std::time::Instant;

const PAGE: usize = 4096;
const OUTPUT: usize = PAGE + PAGE / 8 + 64;

/// The stream is boxed because zlib keeps its address, and not assumed to be a value because its null allocators are none.
struct Request {
    stream: Box<MaybeUninit<z_stream>>,
    page: &'static [u8],
    compressed: u64,
    output: Box<[u8; OUTPUT]>,
}

// SAFETY: a stream belongs to whoever has the request.
unsafe impl Send for Request {}

impl Request {
    fn new() -> Result<Self, c_int> {
        let mut stream = Box::new(MaybeUninit::<z_stream>::zeroed());
        let size = c_int::try_from(size_of::<z_stream>()).expect("a small structure");
        // SAFETY: zlib asks for null allocators and no input, which zeroes are; version and size are this stream's.
        let code = unsafe { deflateInit_(stream.as_mut_ptr(), 1, zlibVersion(), size) };
        let request = Self { stream, page: &[], compressed: 0, output: Box::new([0; _]) };
        if code == Z_OK { Ok(request) } else { Err(code) }
    }

    fn compress(&mut self) {
        let stream = self.stream.as_mut_ptr();
        // SAFETY: the stream was initialised; input and output are as long as they are said to be.
        unsafe {
            deflateReset(stream);
            (*stream).next_in = self.page.as_ptr().cast_mut();
            (*stream).avail_in = PAGE as u32;
            (*stream).next_out = self.output.as_mut_ptr();
            (*stream).avail_out = OUTPUT as u32;
            self.compressed = if deflate(stream, Z_FINISH) == Z_STREAM_END { (*stream).total_out } else { 0 };
        }
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        // SAFETY: initialised, or zeroed, which zlib refuses.
        unsafe { deflateEnd(self.stream.as_mut_ptr()) };
    }
}

thread_local! {
    /// Pages done and bytes compressed: counted where `done` runs, on the submitter's thread.
    static DONE: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

struct Options {
    threads: usize,
    requests: usize,
    mebibytes: usize,
    runs: usize,
    empty: bool,
    stepwise: bool,
}

impl Options {
    fn parse() -> Result<Self, Box<dyn std::error::Error>> {
        let mut options = Self { threads: 2, requests: 4, mebibytes: 64, runs: 3, empty: false, stepwise: false };
        let mut arguments = std::env::args().skip(1);
        while let Some(option) = arguments.next() {
            let field = match option.as_str() {
                "-t" => &mut options.threads,
                "-r" => &mut options.requests,
                "-m" => &mut options.mebibytes,
                "-c" => &mut options.runs,
                "-e" => {
                    options.empty = true;
                    continue;
                }
                "-s" => {
                    options.stepwise = true;
                    continue;
                }
                unknown => return Err(format!("unknown option {unknown}").into()),
            };
            *field = arguments.next().ok_or("an option has no value")?.parse()?;
        }
        Ok(options)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Options { threads, requests, mebibytes, runs, empty, stepwise } = Options::parse()?;
    let mut memory = vec![0_u8; mebibytes << 20];
    memory.chunks_mut(PAGE).for_each(|page| page[0] = 0x10);
    let memory: &'static [u8] = memory.leak();

    let handler = move |request: &mut Request| {
        if !empty {
            request.compress();
        }
    };
    let done = |request: &mut Request| {
        let (pages, bytes) = DONE.get();
        DONE.set((pages + 1, bytes + request.compressed));
    };
    let (queue, submitter) = Workqueue::<Request, Bitmap>::builder("compress")
        .workers(threads)
        .requests_per_worker(requests)
        .try_build(|_slot| Request::new(), handler, done)
        .map_err(|error| error.to_string())?;

    let mut failed = false;
    let mut left = runs;
    while if stepwise { std::io::stdin().read(&mut [0])? > 0 } else { left > 0 } {
        left = left.saturating_sub(1);
        DONE.set((0, 0));
        let mut submitted = 0;
        let start = Instant::now();
        for page in memory.chunks(PAGE) {
            let mut request = loop {
                if let Some(request) = submitter.try_request() {
                    break request;
                }
            };
            request.page = page;
            request.submit()?;
            submitted += 1;
        }
        submitter.drain()?;
        let seconds = start.elapsed().as_secs_f64();
        let (pages, bytes) = DONE.get();
        failed |= pages != submitted;
        println!(
            "threads={threads} pages={submitted} done={pages} seconds={seconds:.6} requests_per_second={:.0} ratio={:.1}",
            pages as f64 / seconds,
            if bytes > 0 { memory.len() as f64 / bytes as f64 } else { 0.0 },
        );
    }
    drop(submitter);
    queue.shutdown()?;
    if failed { Err("pages done are not pages submitted".into()) } else { Ok(()) }
}
