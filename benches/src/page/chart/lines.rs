//! Lines over named places, each with a band: throughput against threads, latency against load.

use super::{Scale, Style, WIDTH, drawing, figure, rule, short, text};
use crate::page::markup::Element;

/// One point of a line, with the ends of its band.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// The value.
    pub value: f64,
    /// The lower end of the band.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// One series.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// Its looks.
    pub style: Style,
    /// Drawn hollow: it is no design, but stands beside them.
    pub hollow: bool,
    /// A point at each place; none where it has no figure.
    pub spots: Vec<Option<Spot>>,
}

/// A line chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// Names of the places along the axis.
    pub places: Vec<String>,
    /// What the places are.
    pub across: String,
    /// What goes upwards, with its unit.
    pub upwards: String,
    /// Whether a line goes on over a place where it has no point: the place is then another's, and no gap.
    pub bridged: bool,
    /// The series.
    pub lines: Vec<Line>,
}

const HEIGHT: f64 = 250.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 22.0;
const BOTTOM: f64 = 40.0;

/// Draws it, on a logarithmic axis.
#[must_use]
pub fn lines(id: &str, title: &str, description: &str, chart: &Lines) -> Element {
    let values = chart.lines.iter().flat_map(|line| &line.spots).flatten();
    let scale = Scale::logarithmic(values.flat_map(|spot| [spot.value, spot.low, spot.high]));
    let scale = scale.between(HEIGHT - BOTTOM, TOP);
    let step = (WIDTH - LEFT - RIGHT) / chart.places.len().max(1) as f64;
    let across = |place: usize| LEFT + step * (place as f64 + 0.5);
    let mut svg = drawing(id, HEIGHT, title, description).child(text(4.0, 12.0, "axis", &chart.upwards));
    for tick in scale.ticks() {
        let y = scale.place(tick);
        svg = svg.child(rule("grid", (LEFT, y), (WIDTH - RIGHT, y)));
        svg = svg.child(text(LEFT - 5.0, y + 3.5, "tick end", &figure(tick)));
    }
    for (place, name) in chart.places.iter().enumerate() {
        svg = svg.child(text(across(place), HEIGHT - BOTTOM + 15.0, "tick middle", name));
    }
    svg = svg.child(text(f64::midpoint(LEFT, WIDTH - RIGHT), HEIGHT - 7.0, "axis middle", &chart.across));
    // Grey first: the others lie on top of it.
    let (grey, named): (Vec<&Line>, Vec<&Line>) = chart.lines.iter().partition(|line| line.style.is_grey());
    svg.children(grey.into_iter().chain(named).map(|line| series(line, &scale, chart.bridged, across)))
}

fn series(line: &Line, scale: &Scale, bridged: bool, across: impl Fn(usize) -> f64) -> Element {
    let mut group = Element::new("g").child(Element::new("title").text(line.name.as_str()));
    for run in runs(&line.spots, bridged) {
        let at = |(place, value): (usize, f64)| format!("{},{}", short(across(place)), short(scale.place(value)));
        let joined = |points: Vec<(usize, f64)>| points.into_iter().map(at).collect::<Vec<_>>().join(" ");
        if !line.style.is_grey() {
            let low = run.iter().map(|&(place, spot)| (place, spot.low));
            let high = run.iter().rev().map(|&(place, spot)| (place, spot.high));
            let band = Element::new("polygon").with("class", format!("band {}", line.style.class()));
            group = group.child(band.with("points", joined(low.chain(high).collect())));
        }
        let middle = run.iter().map(|&(place, spot)| (place, spot.value)).collect();
        let stroke = Element::new("polyline").with("class", format!("line {}", line.style.class()));
        group = group.child(stroke.with("points", joined(middle)));
        for &(place, spot) in &run {
            if !line.style.is_grey() {
                group = group.child(rule(
                    &format!("whisker {}", line.style.class()),
                    (across(place), scale.place(spot.low)),
                    (across(place), scale.place(spot.high)),
                ));
            }
            group = group.child(line.style.marker((across(place), scale.place(spot.value)), line.hollow));
        }
    }
    group
}

/// The stretches without a gap; one, where gaps are bridged.
fn runs(spots: &[Option<Spot>], bridged: bool) -> Vec<Vec<(usize, Spot)>> {
    let mut runs: Vec<Vec<(usize, Spot)>> = Vec::new();
    let mut open = false;
    for (place, spot) in spots.iter().enumerate() {
        let Some(spot) = spot.filter(|spot| spot.value > 0.0) else {
            open &= bridged;
            continue;
        };
        if !open {
            runs.push(Vec::new());
        }
        open = true;
        if let Some(run) = runs.last_mut() {
            run.push((place, spot));
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_breaks_the_line_and_hides_nothing() {
        let spot = |value| Some(Spot { value, low: value, high: value });
        let places: Vec<Vec<usize>> = runs(&[spot(1.0), None, spot(2.0), spot(3.0), spot(0.0)], false)
            .iter()
            .map(|run| run.iter().map(|&(place, _)| place).collect())
            .collect();
        assert_eq!(places, [vec![0], vec![2, 3]]);
    }
}
