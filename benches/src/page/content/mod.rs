//! What a report says, in which order.

mod answers;
mod beside;
mod cast;
mod latency;
mod machines;
mod pareto;
mod rankings;
mod seeds;
mod throughput;

use super::{Block, Document, Section, Sheet};
use crate::compare::{Comparison, Options, compare};
use crate::reading::{Benchmark, Run};
use crate::record::Kind;
use cast::Cast;

/// The report of these runs and benchmarks; one of the two may be empty.
#[must_use]
pub fn document(runs: &[Run], benchmarks: &[Benchmark]) -> Document {
    let mut sections = Vec::new();
    let mut summary = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        // One run needs no name.
        let (prefix, of) = if runs.len() == 1 {
            (String::new(), String::new())
        } else {
            (format!("r{}-", number + 1), format!(": {}", run.name))
        };
        let cast = Cast::of(&run.record);
        let part = Part { run, cast: &cast, prefix: &prefix };
        summary.extend(answers::summary(&part));
        let all = [
            ("which", "Which one?", answers::blocks(&part)),
            ("ranking", "Ranking", rankings::blocks(&part)),
            ("beside", "Beside peers", beside::blocks(&part)),
            ("throughput", "Throughput against threads", throughput::blocks(&part)),
            ("latency", "Latency", latency::blocks(&part)),
            ("pareto", "What speed costs", pareto::blocks(&part)),
            ("figures", "All figures", throughput::figures(&part)),
            ("machine", "Machine and command", machines::blocks(&part)),
        ];
        sections.extend(all.into_iter().map(|(id, title, blocks)| Section {
            id: format!("{prefix}{id}"),
            title: format!("{title}{of}"),
            blocks,
        }));
    }
    if runs.len() > 1 {
        sections.push(Section { id: "compare".into(), title: "Machines compared".into(), blocks: compared(runs) });
    }
    sections.push(Section {
        id: "seeds".into(),
        title: "The published tables, remade".into(),
        blocks: seeds::blocks(benchmarks),
    });
    sections.push(Section { id: "reading".into(), title: "How to read this".into(), blocks: how_to_read() });
    Document { title: "slotwork: which request queue?".into(), summary, sections }
}

/// One run, as the sections see it.
struct Part<'a> {
    run: &'a Run,
    cast: &'a Cast,
    /// What makes its names unique in the page.
    prefix: &'a str,
}

/// A name, and that it is a peer where it is.
fn called(name: &str, kind: Kind) -> String {
    match kind {
        Kind::Design => name.into(),
        Kind::Peer => format!("{name} (peer)"),
        Kind::Floor => format!("{name} (floor)"),
    }
}

fn compared(runs: &[Run]) -> Vec<Block> {
    match compare(runs, Options::default()) {
        Err(reason) => vec![Block::Words(format!("Not compared: {reason}."))],
        Ok(comparison) => comparison_blocks(&comparison),
    }
}

fn comparison_blocks(comparison: &Comparison) -> Vec<Block> {
    let mut blocks: Vec<Block> =
        comparison.remarks.iter().map(|remark| Block::Words(format!("Note: {remark}."))).collect();
    for category in &comparison.categories {
        let title = category.category.title();
        let mut header = vec!["rank", "contender", "score over all"];
        header.extend(comparison.machines.iter().map(|machine| machine.name.as_str()));
        let caption = format!(
            "{title}: {} pairs agree on every machine, {} flip, {} are open",
            category.agreed,
            category.flips.len(),
            category.open
        );
        let mut sheet = Sheet::new(&format!("compare-{}", super::slug(title)), &caption, header);
        for row in &category.rows {
            let mut line = vec![
                row.rank.map_or("–".into(), |rank| rank.to_string()),
                called(&row.design, row.kind),
                row.score
                    .map_or("–".into(), |score| format!("{:.3} ({:.3} – {:.3})", score.value, score.low, score.high)),
            ];
            line.extend(row.scores.iter().map(|score| score.map_or("–".into(), |score| format!("{:.3}", score.value))));
            sheet.push(line);
        }
        blocks.push(Block::Table(sheet));
        blocks.extend(category.flips.iter().map(|flip| {
            Block::Words(format!(
                "{title}: {} is clearly ahead of {} on {}, and clearly behind on {}.",
                flip.design,
                flip.other,
                flip.ahead_on.join(", "),
                flip.behind_on.join(", ")
            ))
        }));
    }
    blocks
}

fn how_to_read() -> Vec<Block> {
    [
        "A cell is clients × workers / slots per worker, how threads wait, and the work per request if there is any.",
        "A score is the geometric mean, over the cells of a category, of the throughput as part of the best of the same round; 1 is \
         always best. Its 95 % interval comes from resampling rounds. Contenders whose intervals overlap, directly or through others, \
         share a rank: on this machine they cannot be told apart.",
        "Peers are what a program would use instead: queues of other crates or of the standard library, behind the same workload. \
         They are ranked with the designs, marked, and drawn hollow.",
        "Latency is measured from when a request was due, under a paced load, so that what a slow request delays counts against it. \
         Saturated means that the contender could not keep up with that load.",
        "A design that takes one submitter has no figure where there are several; a design that failed, or handled nothing, in any \
         cell has no score.",
    ]
    .map(|words| Block::Words(words.into()))
    .into()
}
