//! Where it ran, and by which command.

use super::Part;
use crate::page::chart::figure;
use crate::page::{Block, Sheet};

pub(super) fn blocks(part: &Part<'_>) -> Vec<Block> {
    let record = &part.run.record;
    let machine = &record.machine;
    let settings = &record.settings;
    let unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".into());
    let yes = |yes: bool| (if yes { "yes" } else { "no" }).to_string();
    let mut facts =
        Sheet::new(&format!("{}machine", part.prefix), "The machine, and how it was measured", ["fact", "value"]);
    let mut fact = |name: &str, value: String| facts.push([name.to_string(), value]);
    fact("processor", unknown(&machine.processor));
    fact("cores that it may use", machine.cores.to_string());
    fact("system", unknown(&machine.kernel));
    fact("frequency governor", unknown(&machine.governor));
    fact("load at the start", machine.load.map_or("unknown".into(), |load| format!("{load:.2}")));
    fact("compiler", machine.compiler.clone());
    fact("build", machine.profile.clone());
    let dirty = if machine.dirty == Some(true) { ", with changes that are in no commit" } else { "" };
    fact("commit", format!("{}{dirty}", unknown(&machine.commit)));
    fact("simulated", yes(record.simulated));
    fact("began", record.started.clone());
    fact("took", format!("{:.0} s", record.seconds));
    fact("interrupted", yes(record.interrupted));
    fact("rounds", settings.rounds.to_string());
    fact("seed", settings.seed.to_string());
    fact("threads pinned", yes(settings.pinned));
    let quiet = settings.quiet_trip_nanoseconds;
    fact("line ping-pong when quiet", quiet.map_or("not measured".into(), |quiet| format!("{quiet:.0} ns")));
    fact("disturbed windows measured again", settings.repeated_windows.to_string());
    let mut blocks = vec![Block::Code(command(&record.command_line)), Block::Table(facts)];
    if !record.floors.is_empty() {
        let header = ["floor", "what", "ns a round trip", "95 % interval"];
        let mut floors =
            Sheet::new(&format!("{}floors", part.prefix), "What nothing can undercut on this machine", header);
        for floor in &record.floors {
            let estimate = &floor.nanoseconds;
            let interval = format!("{} – {}", figure(estimate.low), figure(estimate.high));
            floors.push([floor.name.clone(), floor.what.clone(), figure(estimate.value), interval]);
        }
        blocks.push(Block::Table(floors));
    }
    blocks
}

/// A command line as it could be typed again.
pub(super) fn command(words: &[String]) -> String {
    let plain =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./,=:+%@".contains(c));
    let quoted = |word: &String| {
        if plain(word) { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_typed_again() {
        let words = ["slotwork", "rank", "--output", "my runs", "", "it's"].map(String::from);
        assert_eq!(command(&words), "slotwork rank --output 'my runs' '' 'it'\\''s'");
    }
}
