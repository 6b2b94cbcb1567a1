//! A table once, written three ways: HTML, Markdown, CSV.

use super::markup::Element;
use std::fmt::Write;

/// A table with its caption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sheet {
    /// Its name in files and links.
    pub id: String,
    /// What it shows.
    pub caption: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// The rows, each as wide as the header.
    pub rows: Vec<Vec<String>>,
}

impl Sheet {
    /// An empty one.
    #[must_use]
    pub fn new<'a>(id: &str, caption: &str, header: impl IntoIterator<Item = &'a str>) -> Self {
        let header = header.into_iter().map(String::from).collect();
        Self { id: id.into(), caption: caption.into(), header, rows: Vec::new() }
    }

    /// Adds a row; what is missing at its end is empty.
    pub fn push(&mut self, row: impl IntoIterator<Item = String>) {
        let mut row: Vec<String> = row.into_iter().collect();
        row.resize(self.header.len(), String::new());
        self.rows.push(row);
    }

    /// As an element that scrolls sideways by itself where it is too wide.
    #[must_use]
    pub fn html(&self) -> Element {
        let head = self.header.iter().map(|name| Element::new("th").with("scope", "col").text(name.as_str()));
        let row = |cells: &Vec<String>| {
            let cells = cells.iter().enumerate().map(|(column, cell)| {
                let element = if column == 0 { Element::new("th").with("scope", "row") } else { Element::new("td") };
                let element = if is_figure(cell) { element.with("class", "n") } else { element };
                element.text(cell.as_str())
            });
            Element::new("tr").children(cells)
        };
        let table = Element::new("table")
            .child(Element::new("caption").text(self.caption.as_str()))
            .child(Element::new("thead").child(Element::new("tr").children(head)))
            .child(Element::new("tbody").children(self.rows.iter().map(row)));
        // What scrolls must be reachable by keyboard.
        Element::new("div")
            .with("class", "wide")
            .with("tabindex", "0")
            .with("role", "region")
            .with("aria-label", &self.caption)
            .child(table)
    }

    /// As a table of Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells
                .iter()
                .map(|cell| cell.replace('\\', "\\\\").replace('|', "\\|").replace(['\n', '\r'], " "))
                .collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut text = format!("{}\n\n{}", self.caption, line(&self.header));
        let figures = |column: usize| self.rows.iter().all(|row| is_figure(&row[column]) || row[column].is_empty());
        let rules = (0..self.header.len()).map(|column| if column > 0 && figures(column) { "--:" } else { "---" });
        let _ = writeln!(text, "|{}|", rules.collect::<Vec<_>>().join("|"));
        for row in &self.rows {
            text.push_str(&line(row));
        }
        text
    }

    /// As CSV.
    ///
    /// # Errors
    /// What the writer says.
    pub fn csv(&self) -> Result<Vec<u8>, csv::Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&self.header)?;
        for row in &self.rows {
            writer.write_record(row)?;
        }
        writer.into_inner().map_err(|error| error.into_error().into())
    }
}

/// Whether a cell is a figure: those are set to the right.
fn is_figure(cell: &str) -> bool {
    cell == "–"
        || cell.starts_with(|first: char| first.is_ascii_digit() || first == '=' || first == '−')
            && cell.chars().all(|character| character.is_ascii_digit() || " .,–%=()−×ex".contains(character))
}

/// A name in lower case, without what files and links do not take.
#[must_use]
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for character in text.chars() {
        let plain = match character {
            'a'..='z' | '0'..='9' => character,
            'A'..='Z' => character.to_ascii_lowercase(),
            '×' => 'x',
            _ => '-',
        };
        if plain != '-' || !slug.ends_with('-') {
            slug.push(plain);
        }
    }
    slug.trim_matches('-').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        let mut sheet = Sheet::new("t", "What | it shows", ["name", "figure"]);
        sheet.push(["a|b <c> \"d\",".to_string(), "1.50".into()]);
        sheet.push(["short".to_string()]);
        sheet
    }

    #[test]
    fn nothing_in_a_cell_breaks_its_table() {
        let sheet = sheet();
        assert!(sheet.html().to_string().contains("a|b &lt;c&gt; &quot;d&quot;,"));
        assert!(sheet.markdown().contains("| a\\|b <c> \"d\", | 1.50 |"));
        assert!(sheet.markdown().contains("|---|--:|"));
        let csv = String::from_utf8(sheet.csv().unwrap()).unwrap();
        assert_eq!(csv, "name,figure\n\"a|b <c> \"\"d\"\",\",1.50\nshort,\n");
    }

    #[test]
    fn names_are_plain() {
        assert_eq!(slug("1×16/64 yield 100ns"), "1x16-64-yield-100ns");
        assert_eq!(slug("../../etc"), "etc");
    }
}
