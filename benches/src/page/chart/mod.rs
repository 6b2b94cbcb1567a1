//! Charts as inline SVG: colours come from the page's style sheet, so that one drawing suits light and dark.
//!
//! ```text
//!   figure ─┬─ svg role=img ── title, desc          what it shows, in words
//!           ├─ legend                               colour, marker and dash of each series
//!           └─ details ── table                     every figure that is drawn
//! ```
//!
//! A drawing library would write its colours into each element, and neither titles nor descriptions; these
//! few kinds of chart need little more than a scale.

mod intervals;
mod lines;
mod points;
mod scale;
mod style;

pub use intervals::{Interval, intervals};
pub use lines::{Line, Lines, Spot, lines};
pub use points::{Point, Points, points};
pub use scale::Scale;
pub use style::{MOST_STYLES, Style};

use super::markup::Element;

/// Width of every drawing in its own units; on the page it is as wide as there is room.
pub(crate) const WIDTH: f64 = 440.0;

/// The drawing of a chart, with its text alternative.
fn drawing(id: &str, height: f64, title: &str, description: &str) -> Element {
    let label = format!("{id}-title");
    let words = format!("{id}-description");
    Element::new("svg")
        .with("class", "chart")
        .with("viewBox", format!("0 0 {WIDTH} {height}"))
        .with("role", "img")
        .with("aria-labelledby", format!("{label} {words}"))
        .child(Element::new("title").with("id", label).text(title))
        .child(Element::new("desc").with("id", words).text(description))
}

fn text(x: f64, y: f64, class: &str, words: &str) -> Element {
    Element::new("text").with("x", short(x)).with("y", short(y)).with("class", class).text(words)
}

fn rule(class: &str, from: (f64, f64), to: (f64, f64)) -> Element {
    Element::new("line")
        .with("class", class)
        .with("x1", short(from.0))
        .with("y1", short(from.1))
        .with("x2", short(to.0))
        .with("y2", short(to.1))
}

/// A coordinate to a tenth: more is not seen.
fn short(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), String::from)
}

/// A figure of any size in three significant digits or so.
#[must_use]
pub fn figure(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if !value.is_finite() => "–".into(),
        _ if size >= 99.95 => format!("{value:.0}"),
        _ if size >= 9.995 => format!("{value:.1}"),
        _ if size >= 0.995 => format!("{value:.2}"),
        _ if size >= 0.000_1 => format!("{value:.3}"),
        0.0 => "0".into(),
        _ => format!("{value:.0e}"),
    }
}
