//! The report as one page of HTML: style and drawings are in it, and it asks the network for nothing.

use super::chart::Style;
use super::markup::Element;
use super::{Block, Document, Figure, Key, Section};

const STYLE: &str = include_str!("style.css");

/// A table with more rows is folded.
const LONG: usize = 40;

/// The page.
#[must_use]
pub fn html(document: &Document) -> String {
    let meta = |name: &'static str, content: &str| Element::new("meta").with("name", name).with("content", content);
    let head = Element::new("head")
        .child(Element::new("meta").with("charset", "utf-8"))
        .child(meta("viewport", "width=device-width, initial-scale=1"))
        .child(meta("color-scheme", "light dark"))
        .child(Element::new("title").text(document.title.as_str()))
        // Else a browser asks the server for one.
        .child(Element::new("link").with("rel", "icon").with("href", "data:,"))
        .child(Element::new("style").text(STYLE));
    let links = document.sections.iter().map(|section| {
        let link = Element::new("a").with("href", format!("#{}", section.id)).text(section.title.as_str());
        Element::new("li").child(link)
    });
    let main = Element::new("main")
        .child(Element::new("h1").text(document.title.as_str()))
        .children(document.summary.iter().map(|line| Element::new("p").with("class", "summary").text(line.as_str())))
        .child(Element::new("nav").with("aria-label", "sections").child(Element::new("ul").children(links)))
        .children(document.sections.iter().map(section));
    let page = Element::new("html").with("lang", "en").child(head).child(Element::new("body").child(main));
    format!("<!DOCTYPE html>\n{page}\n")
}

fn section(section: &Section) -> Element {
    let mut element =
        Element::new("section").with("id", &section.id).child(Element::new("h2").text(section.title.as_str()));
    let mut charts: Vec<Element> = Vec::new();
    // Charts that follow each other stand side by side where there is room.
    let flush = |element: Element, charts: &mut Vec<Element>| {
        if charts.is_empty() {
            return element;
        }
        element.child(Element::new("div").with("class", "charts").children(std::mem::take(charts)))
    };
    for block in &section.blocks {
        if let Block::Chart(chart) = block {
            charts.push(figure(chart));
            continue;
        }
        element = flush(element, &mut charts);
        element = match block {
            Block::Words(words) => element.child(Element::new("p").text(words.as_str())),
            Block::Code(code) => {
                let line = |line: &str| Element::new("code").text(line);
                element.child(Element::new("pre").children(code.lines().map(line)))
            }
            Block::Table(sheet) if sheet.rows.len() > LONG => {
                let summary = format!("{}: {} rows", sheet.caption, sheet.rows.len());
                let details = Element::new("details").child(Element::new("summary").text(summary));
                element.child(details.child(sheet.html()))
            }
            Block::Table(sheet) => element.child(sheet.html()),
            Block::Chart(_) => element,
        };
    }
    flush(element, &mut charts)
}

fn figure(figure: &Figure) -> Element {
    let mut element = Element::new("figure")
        .child(Element::new("figcaption").text(figure.title.as_str()))
        .child(figure.drawing.clone());
    if !figure.legend.is_empty() {
        let mut keys = Element::new("ul").with("class", "legend").children(figure.legend.iter().map(key));
        if let Some(others) = &figure.others {
            keys = keys.child(Element::new("li").child(sample(Style::GREY, false)).text(others.as_str()));
        }
        element = element.child(keys);
    }
    let details =
        Element::new("details").child(Element::new("summary").text("The figures as a table")).child(figure.data.html());
    element.child(details)
}

fn key(key: &Key) -> Element {
    Element::new("li").child(sample(key.style, key.hollow)).text(key.name.as_str())
}

/// A piece of the line with its marker; the name beside it says all, so it is hidden from readers aloud.
fn sample(style: Style, hollow: bool) -> Element {
    let line = Element::new("line")
        .with("class", format!("line {}", style.class()))
        .with("x1", "1")
        .with("y1", "6")
        .with("x2", "29")
        .with("y2", "6");
    Element::new("svg")
        .with("class", "key")
        .with("viewBox", "0 0 30 12")
        .with("aria-hidden", "true")
        .child(line)
        .child(style.marker((15.0, 6.0), hollow))
}
