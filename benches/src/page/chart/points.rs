//! Points with their names, and the front of those that nobody beats in both: the Pareto chart.

use super::{Scale, Style, WIDTH, drawing, figure, rule, short, text};
use crate::page::markup::Element;

/// One point: the more across the better, the less upwards the better.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Its name.
    pub name: String,
    /// Drawn hollow: it is no design, but stands beside them.
    pub hollow: bool,
    /// Across.
    pub x: f64,
    /// Upwards.
    pub y: f64,
}

/// A chart of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    /// What goes across, with its unit; more is better.
    pub across: String,
    /// What goes upwards, with its unit; less is better.
    pub upwards: String,
    /// The points.
    pub points: Vec<Point>,
}

impl Points {
    /// Which points nobody beats: nobody is at least as good in both and better in one.
    #[must_use]
    pub fn front(&self) -> Vec<bool> {
        let beats = |a: &Point, b: &Point| a.x >= b.x && a.y <= b.y && (a.x > b.x || a.y < b.y);
        self.points.iter().map(|point| !self.points.iter().any(|other| beats(other, point))).collect()
    }
}

const HEIGHT: f64 = 280.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 40.0;
/// Room that a name takes, per letter and in height.
const LETTER: f64 = 5.2;
const NAME: f64 = 10.5;

/// Draws it, on logarithmic axes.
#[must_use]
pub fn points(id: &str, title: &str, description: &str, chart: &Points) -> Element {
    let across = Scale::logarithmic(chart.points.iter().map(|point| point.x)).between(LEFT, WIDTH - RIGHT);
    let upwards = Scale::logarithmic(chart.points.iter().map(|point| point.y)).between(HEIGHT - BOTTOM, TOP);
    let mut svg = drawing(id, HEIGHT, title, description).child(text(4.0, 12.0, "axis", &chart.upwards));
    for tick in upwards.ticks() {
        let y = upwards.place(tick);
        svg = svg.child(rule("grid", (LEFT, y), (WIDTH - RIGHT, y)));
        svg = svg.child(text(LEFT - 5.0, y + 3.5, "tick end", &figure(tick)));
    }
    for tick in across.ticks() {
        let x = across.place(tick);
        svg = svg.child(rule("grid", (x, TOP), (x, HEIGHT - BOTTOM)));
        svg = svg.child(text(x, HEIGHT - BOTTOM + 15.0, "tick middle", &figure(tick)));
    }
    svg = svg.child(text(f64::midpoint(LEFT, WIDTH - RIGHT), HEIGHT - 7.0, "axis middle", &chart.across));
    let front = chart.front();
    let place = |point: &Point| (across.place(point.x), upwards.place(point.y));
    let mut steps: Vec<(f64, f64)> =
        chart.points.iter().zip(&front).filter(|(_, first)| **first).map(|(point, _)| place(point)).collect();
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    if steps.len() > 1 {
        let points = steps.iter().map(|&(x, y)| format!("{},{}", short(x), short(y))).collect::<Vec<_>>().join(" ");
        svg = svg.child(Element::new("polyline").with("class", "front").with("points", points));
    }
    let mut taken: Vec<[f64; 4]> = chart.points.iter().map(|point| room(place(point), 4.0)).collect();
    for (point, first) in chart.points.iter().zip(front) {
        let (x, y) = place(point);
        let words = format!(
            "{}: {} at {}{}",
            point.name,
            figure(point.y),
            figure(point.x),
            if first { ", on the front" } else { "" }
        );
        let style = if first { Style::numbered(0) } else { Style::numbered(1) };
        let (name_at, anchor) = free_place(&point.name, (x, y), &mut taken);
        let group = Element::new("g")
            .child(Element::new("title").text(words))
            .child(style.marker((x, y), point.hollow))
            .child(text(name_at.0, name_at.1, &format!("name {anchor}"), &point.name));
        svg = svg.child(group);
    }
    svg
}

/// Left, top, right and bottom around a place.
fn room((x, y): (f64, f64), half: f64) -> [f64; 4] {
    [x - half, y - half, x + half, y + half]
}

/// A place for a name beside its point where it covers nothing, if there is one; and how it is anchored there.
fn free_place(name: &str, (x, y): (f64, f64), taken: &mut Vec<[f64; 4]>) -> ((f64, f64), &'static str) {
    let width = name.chars().count() as f64 * LETTER;
    let beside =
        |dy: f64| [((x + 7.0, y + dy), "start", x + 7.0, y + dy), ((x - 7.0, y + dy), "end", x - 7.0 - width, y + dy)];
    let candidates = [3.5, -6.0, 13.0, -16.0, 23.0, -26.0, 33.0].into_iter().flat_map(beside);
    let boxed = |left: f64, base: f64| [left, base - NAME + 2.0, left + width, base + 2.0];
    let overlaps = |a: &[f64; 4], b: &[f64; 4]| a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
    let inside = |a: &[f64; 4]| a[0] >= LEFT && a[2] <= WIDTH && a[1] >= 12.0 && a[3] <= HEIGHT - BOTTOM + 4.0;
    let mut first = None;
    for (at, anchor, left, base) in candidates {
        let wanted = boxed(left, base);
        if inside(&wanted) {
            if !taken.iter().any(|other| overlaps(&wanted, other)) {
                taken.push(wanted);
                return (at, anchor);
            }
            first.get_or_insert((at, anchor));
        }
    }
    first.unwrap_or(((x + 7.0, y + 3.5), "start"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_is_whom_nobody_beats() {
        let point = |name: &str, x, y| Point { name: name.into(), hollow: false, x, y };
        let points = vec![
            point("fast", 10.0, 5.0),
            point("beaten", 9.0, 5.0),
            point("short", 3.0, 1.0),
            point("twin", 3.0, 1.0),
            point("worst", 1.0, 9.0),
        ];
        let chart = Points { across: String::new(), upwards: String::new(), points };
        assert_eq!(chart.front(), [true, false, true, true, false]);
    }

    #[test]
    fn names_do_not_cover_each_other() {
        let mut taken = Vec::new();
        let places: Vec<(f64, f64)> = (0..4).map(|_| free_place("a-design", (100.0, 100.0), &mut taken).0).collect();
        assert_eq!(taken.len(), 4);
        assert!((1..4).all(|number| !places[..number].contains(&places[number])));
    }
}
