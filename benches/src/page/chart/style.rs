//! How a series is told from the others: by colour, by marker and by dash, so that no one of them is needed.

use super::super::markup::Element;
use super::short;

/// How many series can be told apart; the others are drawn in grey.
pub const MOST_STYLES: usize = 8;

/// The looks of one series: one of [`MOST_STYLES`], or grey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style(Option<usize>);

impl Style {
    /// For what is only background.
    pub const GREY: Self = Self(None);

    /// The style of this number; grey from [`MOST_STYLES`] on.
    #[must_use]
    pub const fn numbered(number: usize) -> Self {
        Self(if number < MOST_STYLES { Some(number) } else { None })
    }

    /// Whether it can be told from the others.
    #[must_use]
    pub const fn is_grey(self) -> bool {
        self.0.is_none()
    }

    /// The class of the style sheet that has its colour and dash.
    #[must_use]
    pub fn class(self) -> String {
        self.0.map_or("grey".into(), |number| format!("s{number}"))
    }

    /// Its marker at a place; hollow for what is no design.
    pub(crate) fn marker(self, (x, y): (f64, f64), hollow: bool) -> Element {
        let class = format!("mark {}{}", self.class(), if hollow { " hollow" } else { "" });
        let polygon = |corners: &[(f64, f64)]| {
            let corner = |&(dx, dy): &(f64, f64)| format!("{},{}", short(x + dx), short(y + dy));
            let points = corners.iter().map(corner).collect::<Vec<_>>().join(" ");
            Element::new("polygon").with("points", points)
        };
        let shape = match self.0 {
            None => Element::new("circle").with("cx", short(x)).with("cy", short(y)).with("r", "1.8"),
            Some(0) => Element::new("circle").with("cx", short(x)).with("cy", short(y)).with("r", "3.4"),
            Some(1) => polygon(&[(-3.0, -3.0), (3.0, -3.0), (3.0, 3.0), (-3.0, 3.0)]),
            Some(2) => polygon(&[(0.0, -4.2), (3.8, 2.8), (-3.8, 2.8)]),
            Some(3) => polygon(&[(0.0, -4.5), (4.5, 0.0), (0.0, 4.5), (-4.5, 0.0)]),
            Some(4) => polygon(&[(0.0, 4.2), (3.8, -2.8), (-3.8, -2.8)]),
            // A plus, a flat bar and an upright one.
            Some(5) => polygon(&[
                (-1.3, -4.0),
                (1.3, -4.0),
                (1.3, -1.3),
                (4.0, -1.3),
                (4.0, 1.3),
                (1.3, 1.3),
                (1.3, 4.0),
                (-1.3, 4.0),
                (-1.3, 1.3),
                (-4.0, 1.3),
                (-4.0, -1.3),
                (-1.3, -1.3),
            ]),
            Some(6) => polygon(&[(-4.5, -1.7), (4.5, -1.7), (4.5, 1.7), (-4.5, 1.7)]),
            Some(_) => polygon(&[(-1.7, -4.5), (1.7, -4.5), (1.7, 4.5), (-1.7, 4.5)]),
        };
        shape.with("class", class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_styles_share_a_marker() {
        let marker = |number| {
            let drawn = Style::numbered(number).marker((0.0, 0.0), false).to_string();
            drawn.split(" class=").next().unwrap_or_default().to_string()
        };
        for number in 0..MOST_STYLES {
            assert!((number + 1..=MOST_STYLES).all(|other| marker(number) != marker(other)), "{number}");
        }
        assert!(Style::numbered(MOST_STYLES).is_grey());
    }
}
