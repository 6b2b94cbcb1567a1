//! The newest run of `notes/results`, as it was when this program was built.

use crate::reading::{Run, parsed};
use std::path::Path;

const TEXT: &str = include_str!(env!("SLOTWORK_NEWEST_RUN"));
const NAME: &str = env!("SLOTWORK_NEWEST_RUN_NAME");

/// That run; none where there was none, or this version does not read it.
#[must_use]
pub fn newest() -> Option<Run> {
    parsed(TEXT, Path::new(NAME)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_run_of_the_notes_is_one() {
        let run = newest().unwrap();
        assert!(NAME.starts_with("notes/results/20") && !run.record.cells.is_empty(), "{NAME}");
    }
}
