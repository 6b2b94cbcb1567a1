//! The rankings: who stands where, and how sure that is.

use super::{Part, called};
use crate::page::chart::{Interval, intervals};
use crate::page::{Block, Figure, Sheet, slug};
use crate::record::{Kind, Place, Ranking};

pub(super) fn blocks(part: &Part<'_>) -> Vec<Block> {
    if part.run.record.rankings.is_empty() {
        return vec![Block::Words("This run has no ranking.".into())];
    }
    part.run.record.rankings.iter().flat_map(|ranking| of_category(part, ranking)).collect()
}

fn rank(place: &Place, places: &[Place]) -> String {
    let tied = place.rank.is_some() && places.iter().filter(|other| other.rank == place.rank).count() > 1;
    place.rank.map_or("–".into(), |rank| format!("{}{rank}", if tied { "=" } else { "" }))
}

fn of_category(part: &Part<'_>, ranking: &Ranking) -> Vec<Block> {
    let title = ranking.category.title();
    let id = format!("{}ranking-{}", part.prefix, slug(title));
    let cells = ranking.cells.len();
    let caption = format!("{title}, {cells} cells");
    let header = ["rank", "contender", "score", "95 % interval", "clearly ahead of", "clearly behind", "remarks"];
    let mut sheet = Sheet::new(&id, &caption, header);
    let mut rows = Vec::new();
    for place in &ranking.places {
        let own_rank = rank(place, &ranking.places);
        let scored = |text: String| if place.score.is_some() { text } else { "–".into() };
        sheet.push([
            own_rank.clone(),
            called(&place.design, place.kind),
            place.score.map_or("–".into(), |score| format!("{:.3}", score.value)),
            place.score.map_or("–".into(), |score| format!("{:.3} – {:.3}", score.low, score.high)),
            scored(place.ahead_of.to_string()),
            scored(place.behind.to_string()),
            place.void.as_ref().map_or(String::new(), |reason| format!("no score: {reason}")),
        ]);
        if let Some(score) = place.score {
            let hollow = place.kind == Kind::Peer;
            rows.push(Interval {
                name: format!("{own_rank} {}", place.design),
                hollow,
                value: [score.value, score.low, score.high],
            });
        }
    }
    let mut blocks = Vec::new();
    if !ranking.distinguishable {
        blocks.push(Block::Words(format!("{title}: not distinguishable on this machine.")));
    }
    if rows.is_empty() {
        blocks.push(Block::Table(sheet));
        return blocks;
    }
    let heading = format!("Ranking, {title}");
    let first = &rows[0];
    let description = format!(
        "A row for each of {} contenders with its score over {cells} cells and its 95 % interval, the best first: {} has {:.3}. Hollow: peers.",
        rows.len(),
        first.name,
        first.value[0],
    );
    let drawing = intervals(&id, &heading, &description, "score: 1 is always best", &rows);
    blocks.push(Block::Chart(Box::new(Figure {
        title: heading,
        description,
        drawing,
        legend: Vec::new(),
        others: None,
        data: sheet,
    })));
    blocks
}
