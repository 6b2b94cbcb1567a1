//! A history as a picture: an SVG file that needs nothing else.

use super::history::{History, Operation};
use std::fmt::Write;

const MARGIN: usize = 90;
const STEP: usize = 46;
const ROW: usize = 54;
const TOP: usize = 60;

/// The picture; operations in `accused` are red.
#[must_use]
pub fn timeline(history: &History, title: &str, accused: &[usize]) -> String {
    let mut times: Vec<u64> =
        history.operations.iter().flat_map(|operation| [operation.called, operation.returned]).collect();
    times.sort_unstable();
    let x = |time: u64| MARGIN + STEP / 2 + STEP * times.partition_point(|&other| other < time);
    let (width, height) = (MARGIN + STEP * (times.len() + 1), TOP + ROW * history.threads.len() + 10);
    let mut svg = String::new();
    let title = escape(title);
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <title>{title}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"10\" y=\"24\" font-size=\"14\" fill=\"#222222\">{title}</text>\n"
    );
    for (thread, name) in history.threads.iter().enumerate() {
        let (y, name) = (TOP + ROW * thread + ROW / 2, escape(name));
        let _ = write!(
            svg,
            "<text x=\"10\" y=\"{}\" fill=\"#222222\">{name}</text>\n\
             <line x1=\"{MARGIN}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\" stroke=\"#cccccc\"/>\n",
            y + 4,
            width - 10,
        );
    }
    for (at, operation) in history.operations.iter().enumerate() {
        let Operation { thread, called, returned, call } = operation;
        let (from, to, y) = (x(*called), x(*returned), TOP + ROW * thread + ROW / 2);
        let (fill, stroke) = if accused.contains(&at) { ("#f8d0d0", "#b00020") } else { ("#d6e4f5", "#35618f") };
        let label = escape(&call.to_string());
        let _ = writeln!(
            svg,
            "<g><title>{label}, {called} to {returned}</title>\
             <rect x=\"{from}\" y=\"{}\" width=\"{}\" height=\"18\" rx=\"3\" fill=\"{fill}\" stroke=\"{stroke}\"/>\
             <text x=\"{}\" y=\"{}\" fill=\"{stroke}\">{label}</text></g>",
            y - 9,
            to - from,
            from + 2,
            // Neighbours' labels stand at different heights.
            if at % 2 == 0 { y - 13 } else { y + 20 },
        );
    }
    svg.push_str("</svg>\n");
    svg
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
