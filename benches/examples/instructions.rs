//! Round trips of one contender on one thread, for counting their instructions: see `ci/instructions.sh`.
//!
//! `instructions NAME COUNT [planted]`: without a name, the names. Two counts under callgrind differ by the instructions of
//! the round trips between them, exactly: whatever is done once, before and after, is the same in both.

use slotwork_bench::single::{Kind, singles};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut singles = singles();
    let Some(name) = arguments.first() else {
        for single in singles.iter().filter(|single| single.kind != Kind::Floor) {
            println!("{}", single.name.replace(' ', "-"));
        }
        return ExitCode::SUCCESS;
    };
    let count: Option<u64> = arguments.get(1).and_then(|count| count.parse().ok());
    let found = singles.iter_mut().find(|single| single.name.replace(' ', "-") == *name);
    let (Some(count), Some(single)) = (count, found) else {
        eprintln!("instructions NAME COUNT [planted]");
        return ExitCode::from(2);
    };
    // The planted fault: each eighth round trip is made twice, as a loop would that went round once too often.
    let planted: u64 = if arguments.get(2).is_some_and(|word| word == "planted") { count / 8 } else { 0 };
    single.trips.go(count + planted);
    match single.trips.verify() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}
