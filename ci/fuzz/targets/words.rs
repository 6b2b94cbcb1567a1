//! Any text as a weakening, a view, a part of a run, a replay line: refused, or written as it was read; an error is one line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model_checks::card::Part;
use model_checks::job::Lens;
use model_checks::platform::Weakening;
use model_checks::replay::Replay;
use std::fmt::Display;
use std::str::FromStr;

/// What is read, written, and read again is the same.
fn comes_back<T: FromStr<Err: Display> + Display>(text: &str) {
    match text.parse::<T>() {
        Ok(value) => {
            let written = value.to_string();
            let again = written.parse::<T>().unwrap_or_else(|error| panic!("'{written}' is not read again: {error}"));
            assert_eq!(again.to_string(), written);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fuzz_target!(|text: &str| {
    comes_back::<Weakening>(text);
    comes_back::<Lens>(text);
    comes_back::<Part>(text);
    comes_back::<Replay>(text);
});
