//! A report to send: one HTML page that needs nothing but itself, the same in Markdown, and every table as CSV.
//!
//! ```text
//!   runs ──▶ content: sections of words, charts and tables ─┬─▶ html       charts drawn in the page
//!            (what it says is decided once)                 ├─▶ markdown   a chart becomes its table
//!                                                           └─▶ csv        a file per table
//! ```

pub mod chart;
mod content;
mod files;
mod html;
mod markdown;
pub mod markup;
mod sheet;

pub use content::document;
pub use files::{WriteError, Written, write};
pub use html::html;
pub use markdown::markdown;
pub use sheet::{Sheet, slug};

use markup::Element;

/// A whole report, however it is written.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its title.
    pub title: String,
    /// What it says in short, first.
    pub summary: Vec<String>,
    /// The rest.
    pub sections: Vec<Section>,
}

/// A part of it.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its name in links.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What comes in it.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, Debug)]
pub enum Block {
    /// A paragraph.
    Words(String),
    /// A command line, or lines of one.
    Code(String),
    /// A chart.
    Chart(Box<Figure>),
    /// A table.
    Table(Sheet),
}

/// A chart with everything that it draws.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its title.
    pub title: String,
    /// What it shows, in words.
    pub description: String,
    /// The drawing.
    pub drawing: Element,
    /// Its series, as they are drawn.
    pub legend: Vec<Key>,
    /// What the legend does not name.
    pub others: Option<String>,
    /// Every figure that is drawn.
    pub data: Sheet,
}

/// One series in the legend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub name: String,
    /// Its looks.
    pub style: chart::Style,
    /// Drawn hollow.
    pub hollow: bool,
}

impl Document {
    /// Every table in it, those of the charts included.
    #[must_use]
    pub fn tables(&self) -> Vec<&Sheet> {
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        blocks
            .filter_map(|block| match block {
                Block::Table(sheet) => Some(sheet),
                Block::Chart(figure) => Some(&figure.data),
                Block::Words(_) | Block::Code(_) => None,
            })
            .collect()
    }

    /// Every chart in it.
    #[must_use]
    pub fn charts(&self) -> Vec<&Figure> {
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        blocks
            .filter_map(|block| match block {
                Block::Chart(figure) => Some(&**figure),
                _ => None,
            })
            .collect()
    }
}
