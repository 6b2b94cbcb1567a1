//! Packing: pages in, frames out.

use super::error::{MigrateError, Position};
use super::frame::{Frame, StreamHeader, read_full};
use super::page::{Direction, Page};
use super::{Crew, Moved, Watch, ZEROS};
use crate::seeds::codec::Codec;
use slotwork::Design;
use slotwork_workqueue::{Fate, Submitter, Vacancy, Workqueue};
use std::io::{BufReader, BufWriter, Read, Write};

/// The frames that were written.
struct Frames<'a> {
    output: BufWriter<&'a mut dyn Write>,
    frames: u64,
    bytes: u64,
    pages: u64,
}

impl Frames<'_> {
    fn write(&mut self, page: u64, frame: Frame, payload: &[u8]) -> Result<(), MigrateError> {
        let written = frame.write(&mut self.output).and_then(|()| self.output.write_all(payload));
        written.map_err(|source| MigrateError::Writing { page, source })?;
        self.frames += 1;
        self.bytes += (Frame::BYTES + payload.len()) as u64;
        Ok(())
    }

    /// Writes what the request last came to, if it was not written yet.
    fn collect<D: Design>(&mut self, request: &mut Vacancy<'_, Page, D>) -> Result<(), MigrateError> {
        if !std::mem::take(&mut request.pending) {
            return Ok(());
        }
        let Page { number: page, stored, checksum, .. } = **request;
        if request.fate() != Fate::Handled {
            return Err(MigrateError::Panicked(page));
        }
        self.write(page, Frame::Page { page, length: request.packed.len(), stored, checksum }, &request.packed)?;
        self.pages += 1;
        Ok(())
    }
}

/// Packs all of `input` into `output` over design `D`.
pub(super) fn pack<D: Design>(
    crew: Crew,
    codec: Codec,
    input: &mut dyn Read,
    output: &mut dyn Write,
    watch: &mut Watch<'_>,
) -> Result<Moved, MigrateError> {
    let (queue, submitter) = Workqueue::<Page, D>::builder("pack")
        .workers(crew.threads)
        .requests_per_worker(crew.requests)
        .waiting(crew.waiting.waiting())
        .try_build(|_slot| Page::new(Direction::Pack, codec), Page::work, |_page| {})?;
    let mut output = BufWriter::with_capacity(1 << 18, output);
    StreamHeader { codec }.write(&mut output).map_err(|source| MigrateError::Writing { page: 0, source })?;
    let mut frames = Frames { output, frames: 0, bytes: StreamHeader::BYTES as u64, pages: 0 };

    let mut moved = read_pages(&submitter, input, &mut frames, watch)?;
    submitter.drain()?;
    // All requests are free now. Each is kept, so that the next one is another.
    let mut held = Vec::new();
    while let Some(mut request) = submitter.try_request() {
        frames.collect(&mut request)?;
        held.push(request);
    }
    drop(held);
    drop(submitter);
    let report = queue.shutdown()?;
    if (report.handled, frames.pages) != (moved.pages, moved.pages) {
        let (submitted, handled, collected) = (moved.pages, report.handled, frames.pages);
        return Err(MigrateError::Count { submitted, handled, collected });
    }
    let end = Frame::End { length: moved.plain_bytes, frames: frames.frames };
    let last = moved.pages + moved.zero_pages;
    frames.write(last, end, &[])?;
    frames.output.flush().map_err(|source| MigrateError::Writing { page: last, source })?;
    moved.packed_bytes = frames.bytes;
    Ok(moved)
}

/// Submits every page that is not zero, and writes what comes back meanwhile.
fn read_pages<D: Design>(
    submitter: &Submitter<Page, D>,
    input: &mut dyn Read,
    frames: &mut Frames<'_>,
    watch: &mut Watch<'_>,
) -> Result<Moved, MigrateError> {
    let mut input = BufReader::with_capacity(1 << 18, input);
    let mut moved = Moved::default();
    let (mut page, mut zeros) = (0, 0);
    loop {
        let mut request = submitter.request()?;
        frames.collect(&mut request)?;
        let ended = loop {
            if watch.is_interrupted() {
                return Err(MigrateError::Interrupted);
            }
            let after = if page == 0 { Position::Start } else { Position::Page(page - 1) };
            let read = read_full(&mut input, &mut request.plain[..])
                .map_err(|source| MigrateError::Reading { after, source })?;
            watch.advance(read as u64);
            moved.plain_bytes += read as u64;
            request.plain[read..].fill(0);
            if read == 0 {
                break true;
            }
            if request.plain[..] != ZEROS {
                break false;
            }
            zeros += 1;
            page += 1;
        };
        if zeros > 0 {
            frames.write(page - 1, Frame::Zeros { first: page - zeros, count: zeros }, &[])?;
            moved.zero_pages += std::mem::take(&mut zeros);
        }
        if ended {
            return Ok(moved);
        }
        request.number = page;
        request.pending = true;
        request.submit()?;
        moved.pages += 1;
        page += 1;
    }
}
