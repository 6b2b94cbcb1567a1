//! Any bytes as a file of proofs: refused in one line, or a set of rows that can be judged, merged and printed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model_checks::card::{Proofs, card, merge, summary};
use std::cell::RefCell;
use std::io::{Seek, Write};
use tempfile::NamedTempFile;

thread_local! {
    static FILE: RefCell<NamedTempFile> = RefCell::new(NamedTempFile::new().expect("a temporary file can be made"));
}

fuzz_target!(|bytes: &[u8]| {
    FILE.with_borrow_mut(|file| {
        file.as_file().set_len(0).expect("it can be emptied");
        file.rewind().expect("it can be rewound");
        file.write_all(bytes).expect("it can be written");
        let Ok(proofs) = Proofs::read(file.path()) else { return };
        let _ = (proofs.status(), proofs.missing(), proofs.failures(), proofs.open_claims(), summary(&proofs));
        for entry in slotwork_catalog::ENTRIES {
            let _ = card(&proofs, entry);
        }
        let Ok(other) = Proofs::read(file.path()) else { panic!("the same file is read twice") };
        let _ = merge(vec![proofs, other]);
    });
});
