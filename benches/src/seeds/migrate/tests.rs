//! Round trips over every design, and what each damage to a stream is called.

use super::*;
use crate::seeds::codec::CODECS;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::io::{Seek, SeekFrom};
use std::sync::atomic::AtomicBool;

const CREW: Crew = Crew { threads: 2, requests: 3, waiting: Policy::Settle };

fn watched<R>(run: impl FnOnce(&mut Watch<'_>) -> R) -> R {
    let never = AtomicBool::new(false);
    run(&mut Watch { interrupted: &never, progress: &mut |_| {} })
}

fn pack(design: &str, codec: Codec, plain: &[u8]) -> (Vec<u8>, Moved) {
    let mut packed = Vec::new();
    let moved = watched(|watch| Mover::named(design).unwrap().pack(CREW, codec, &mut &plain[..], &mut packed, watch));
    let moved = moved.unwrap();
    assert_eq!(moved.packed_bytes, packed.len() as u64);
    (packed, moved)
}

fn unpack(design: &str, packed: &[u8]) -> Result<Vec<u8>, MigrateError> {
    let mut file = tempfile::tempfile().unwrap();
    watched(|watch| Mover::named(design).unwrap().unpack(CREW, &mut &packed[..], &mut file, watch))?;
    let mut plain = Vec::new();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.read_to_end(&mut plain).unwrap();
    Ok(plain)
}

fn random(length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    SmallRng::seed_from_u64(3).fill_bytes(&mut bytes);
    bytes
}

/// Pages of text, zero, random and text again: each kind of frame.
fn mixed() -> Vec<u8> {
    let text: Vec<u8> = b"a line of text, and ".iter().copied().cycle().take(3 * PAGE + 17).collect();
    [text.clone(), vec![0; 5 * PAGE], random(2 * PAGE), text, vec![0; 3 * PAGE], vec![9]].concat()
}

#[test]
fn every_design_and_codec_gives_every_input_back() {
    let inputs =
        [vec![], vec![0], vec![1], vec![7; PAGE], vec![0; 4 * PAGE], random(5 * PAGE), random(3 * PAGE + 1), mixed()];
    for entry in slotwork_catalog::ENTRIES {
        for (number, plain) in inputs.iter().enumerate() {
            let codec = CODECS[number % CODECS.len()];
            let (packed, moved) = pack(entry.name, codec, plain);
            assert_eq!(moved.plain_bytes, plain.len() as u64);
            assert!(unpack(entry.name, &packed).unwrap() == *plain, "{}, {codec}, input {number}", entry.name);
        }
    }
}

#[test]
fn zero_pages_take_no_room_and_stay_holes() {
    let (packed, moved) = pack("bitmap", Codec::Zlib, &vec![0; 1000 * PAGE]);
    assert_eq!((moved.pages, moved.zero_pages), (0, 1000));
    assert_eq!(packed.len() as u64, overhead() + frame::Frame::BYTES as u64);
}

#[test]
fn a_stream_cut_at_any_byte_is_truncated() {
    let (packed, _) = pack("bitmap", Codec::Zlib, &[vec![1; PAGE], vec![0; PAGE], b"end".to_vec()].concat());
    for cut in 1..packed.len() {
        let error = unpack("bitmap", &packed[..cut]).unwrap_err();
        assert!(matches!(error, MigrateError::Truncated(_)), "cut at {cut}: {error}");
        assert!(error.to_string().contains("page"), "{error}");
    }
    assert!(matches!(unpack("bitmap", &[]), Err(MigrateError::Foreign)));
}

#[test]
fn a_changed_byte_anywhere_is_found_and_a_page_named() {
    for codec in [Codec::Zlib, Codec::Lz4, Codec::None] {
        let (packed, _) = pack("bitmap", codec, &[vec![1; PAGE], vec![0; PAGE], b"the end".to_vec()].concat());
        for at in (0..packed.len()).step_by(if codec == Codec::None { 13 } else { 1 }) {
            for flip in [0x01, 0x80] {
                let mut bad = packed.clone();
                bad[at] ^= flip;
                let error = unpack("bitmap", &bad).unwrap_err();
                let text = error.to_string();
                if at < frame::StreamHeader::BYTES {
                    assert!(matches!(error, MigrateError::Foreign), "{codec}, byte {at}: {text}");
                } else {
                    assert!(text.starts_with("corrupt: ") && text.contains("page"), "{codec}, byte {at}: {text}");
                }
            }
        }
    }
}

/// The stream without one of its frames, or with it twice, or with bytes behind it.
#[test]
fn a_frame_that_is_missing_or_comes_twice_is_named() {
    let plain = [vec![1; PAGE], vec![2; PAGE], vec![3; PAGE]].concat();
    let (packed, _) = pack("bitmap", Codec::None, &plain);
    let frame = |number: usize| {
        let start = frame::StreamHeader::BYTES + number * (frame::Frame::BYTES + PAGE);
        start..start + frame::Frame::BYTES + PAGE
    };
    // One worker's pages come in order, two workers' may not: the page is read from the frame itself.
    for number in 0..3 {
        let page = u64::from(packed[frame(number).start + 1]);
        let mut without = packed.clone();
        without.drain(frame(number));
        assert!(matches!(unpack("bitmap", &without), Err(MigrateError::Missing(missing)) if missing == page));
        let mut twice = packed.clone();
        twice.splice(frame(number).start..frame(number).start, packed[frame(number)].iter().copied());
        assert!(matches!(unpack("bitmap", &twice), Err(MigrateError::Twice(double)) if double == page));
    }
    let behind = [&packed[..], &[0]].concat();
    assert!(matches!(unpack("bitmap", &behind), Err(MigrateError::Trailing(_))));
}

#[test]
fn pages_whose_contents_were_swapped_are_found() {
    let (mut packed, _) = pack("bitmap", Codec::None, &[vec![1; PAGE], vec![2; PAGE]].concat());
    let first = frame::StreamHeader::BYTES + frame::Frame::BYTES;
    let second = first + PAGE + frame::Frame::BYTES;
    for at in 0..PAGE {
        packed.swap(first + at, second + at);
    }
    assert!(matches!(unpack("bitmap", &packed), Err(MigrateError::Page { .. })));
}

#[test]
fn the_name_is_taken_only_when_all_is_written() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("out");
    let entries = || std::fs::read_dir(folder.path()).unwrap().count();
    let mut output = Output::create(&path).unwrap();
    output.file().write_all(b"half").unwrap();
    assert!(!path.exists());
    drop(output);
    assert_eq!(entries(), 0, "an output that was not completed leaves nothing");
    let mut output = Output::create(&path).unwrap();
    output.file().write_all(b"whole").unwrap();
    output.complete().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"whole");
    assert_eq!(entries(), 1);
    assert!(matches!(Output::create(folder.path()), Err(MigrateError::NoFile(_))));
    assert!(matches!(Output::create(Path::new("/dev/null")), Err(MigrateError::NoFile(_))));
    assert!(matches!(Output::create(&folder.path().join("no/out")), Err(MigrateError::Output { .. })));
}
