//! Unpacking: frames in, pages out, each at its place.

use super::coverage::Coverage;
use super::error::{MigrateError, Place, Position};
use super::frame::{Frame, StreamHeader, read_full};
use super::page::{Direction, Page};
use super::{Crew, Moved, Watch};
use crate::seeds::memory::PAGE;
use slotwork::Design;
use slotwork_workqueue::{Fate, Submitter, Vacancy, Workqueue};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

/// The file that is written, and how far.
struct Pages<'a> {
    file: BufWriter<&'a mut File>,
    at: u64,
    written: u64,
}

impl Pages<'_> {
    /// Writes what the request last came to, if it was not written yet.
    fn collect<D: Design>(&mut self, request: &mut Vacancy<'_, Page, D>) -> Result<(), MigrateError> {
        if !std::mem::take(&mut request.pending) {
            return Ok(());
        }
        let page = request.number;
        if request.fate() != Fate::Handled {
            return Err(MigrateError::Panicked(page));
        }
        if let Some(reason) = request.fault.take() {
            return Err(MigrateError::Page { page, reason });
        }
        self.write(page, &request.plain[..]).map_err(|source| MigrateError::Writing { page, source })
    }

    fn write(&mut self, page: u64, plain: &[u8]) -> io::Result<()> {
        let place = page * PAGE as u64;
        if place != self.at {
            self.file.seek(SeekFrom::Start(place))?;
        }
        self.file.write_all(plain)?;
        self.at = place + PAGE as u64;
        self.written += 1;
        Ok(())
    }
}

/// What is known when the end frame has come.
struct End {
    length: u64,
    moved: Moved,
}

/// Unpacks all of `input` into `output` over design `D`.
pub(super) fn unpack<D: Design>(
    crew: Crew,
    input: &mut dyn Read,
    output: &mut File,
    watch: &mut Watch<'_>,
) -> Result<Moved, MigrateError> {
    let mut input = BufReader::with_capacity(1 << 18, input);
    let StreamHeader { codec } = StreamHeader::read(&mut input)?;
    let (queue, submitter) = Workqueue::<Page, D>::builder("unpack")
        .workers(crew.threads)
        .requests_per_worker(crew.requests)
        .waiting(crew.waiting.waiting())
        .try_build(|_slot| Page::new(Direction::Unpack, codec), Page::work, |_page| {})?;
    let mut pages = Pages { file: BufWriter::with_capacity(1 << 18, output), at: 0, written: 0 };

    let End { length, moved } = read_frames(&submitter, &mut input, &mut pages, watch)?;
    submitter.drain()?;
    // All requests are free now. Each is kept, so that the next one is another.
    let mut held = Vec::new();
    while let Some(mut request) = submitter.try_request() {
        pages.collect(&mut request)?;
        held.push(request);
    }
    drop(held);
    drop(submitter);
    let report = queue.shutdown()?;
    if (report.handled, pages.written) != (moved.pages, moved.pages) {
        let (submitted, handled, collected) = (moved.pages, report.handled, pages.written);
        return Err(MigrateError::Count { submitted, handled, collected });
    }
    let last = moved.pages + moved.zero_pages;
    let ended = pages.file.flush().and_then(|()| pages.file.get_ref().set_len(length));
    ended.map_err(|source| MigrateError::Writing { page: last, source })?;
    Ok(moved)
}

/// Submits every page, and writes what comes back meanwhile, until the end frame.
fn read_frames<D: Design>(
    submitter: &Submitter<Page, D>,
    input: &mut dyn Read,
    pages: &mut Pages<'_>,
    watch: &mut Watch<'_>,
) -> Result<End, MigrateError> {
    let mut coverage = Coverage::default();
    let mut moved = Moved { packed_bytes: StreamHeader::BYTES as u64, ..Moved::default() };
    watch.advance(moved.packed_bytes);
    let mut after = Position::Start;
    for frames in 0.. {
        if watch.is_interrupted() {
            return Err(MigrateError::Interrupted);
        }
        let frame = Frame::read(input, after)?;
        let mut bytes = Frame::BYTES as u64;
        match frame {
            Frame::Page { page, length, stored, checksum } => {
                coverage.add(page, 1).map_err(MigrateError::Twice)?;
                let mut request = submitter.request()?;
                pages.collect(&mut request)?;
                request.packed.resize(length, 0);
                let read =
                    read_full(input, &mut request.packed).map_err(|source| MigrateError::Reading { after, source })?;
                if read < length {
                    return Err(MigrateError::Truncated(Place::Within(page)));
                }
                (request.number, request.stored, request.checksum) = (page, stored, checksum);
                request.pending = true;
                request.submit()?;
                after = Position::Page(page);
                moved.pages += 1;
                bytes += length as u64;
            }
            Frame::Zeros { first, count } => {
                coverage.add(first, count).map_err(MigrateError::Twice)?;
                after = Position::Page(first + count - 1);
                moved.zero_pages += count;
            }
            Frame::End { length, frames: said } => {
                moved.packed_bytes += bytes;
                moved.plain_bytes = length;
                watch.advance(bytes);
                return check_end(&coverage, input, length, [frames, said], after).map(|()| End { length, moved });
            }
        }
        moved.packed_bytes += bytes;
        watch.advance(bytes);
    }
    unreachable!("the end frame or the end of the input comes first")
}

/// That every page of the file came, no other one, and nothing behind the end frame.
fn check_end(
    coverage: &Coverage,
    input: &mut dyn Read,
    length: u64,
    [found, said]: [u64; 2],
    after: Position,
) -> Result<(), MigrateError> {
    let end = length.div_ceil(PAGE as u64);
    if let Some(page) = coverage.first_missing(end) {
        return Err(MigrateError::Missing(page));
    }
    if let Some(page) = coverage.first_beyond(end) {
        return Err(MigrateError::Beyond(page));
    }
    if found != said {
        return Err(MigrateError::Frames { found, said, after });
    }
    match read_full(input, &mut [0]) {
        Ok(0) => Ok(()),
        Ok(_) => Err(MigrateError::Trailing(after)),
        Err(source) => Err(MigrateError::Reading { after, source }),
    }
}
