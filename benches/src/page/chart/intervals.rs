//! A ranking at a glance: a row for each, its score, and the interval it lies in.

use super::{Scale, Style, WIDTH, drawing, figure, rule, text};
use crate::page::markup::Element;

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Its name, rank included.
    pub name: String,
    /// Drawn hollow: it is no design, but stands beside them.
    pub hollow: bool,
    /// The estimate, and the lower and upper end.
    pub value: [f64; 3],
}

const LEFT: f64 = 150.0;
const RIGHT: f64 = 14.0;
const ROW: f64 = 17.0;

/// Draws them in the order given, on a linear axis from zero.
#[must_use]
pub fn intervals(id: &str, title: &str, description: &str, axis: &str, rows: &[Interval]) -> Element {
    let bottom = ROW * rows.len() as f64 + 8.0;
    let scale = Scale::from_zero(rows.iter().flat_map(|row| row.value)).between(LEFT, WIDTH - RIGHT);
    let mut svg = drawing(id, bottom + 36.0, title, description);
    for tick in scale.ticks() {
        let x = scale.place(tick);
        svg = svg.child(rule("grid", (x, 2.0), (x, bottom)));
        svg = svg.child(text(x, bottom + 13.0, "tick middle", &figure(tick)));
    }
    svg = svg.child(text(f64::midpoint(LEFT, WIDTH - RIGHT), bottom + 29.0, "axis middle", axis));
    for (number, row) in rows.iter().enumerate() {
        let y = ROW * (number as f64 + 0.5) + 4.0;
        let [value, low, high] = row.value.map(|value| scale.place(value));
        let words =
            format!("{}: {} ({} – {})", row.name, figure(row.value[0]), figure(row.value[1]), figure(row.value[2]));
        let style = Style::numbered(usize::from(row.hollow));
        let group = Element::new("g")
            .child(Element::new("title").text(words))
            .child(text(LEFT - 7.0, y + 3.8, "row end", &row.name))
            .child(rule(&format!("whisker wide {}", style.class()), (low, y), (high, y)))
            .child(style.marker((value, y), row.hollow));
        svg = svg.child(group);
    }
    svg
}
