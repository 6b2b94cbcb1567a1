//! Elements of HTML and SVG: text is escaped and tags are closed, by construction.
//!
//! What is written is HTML that is well-formed XML as well, so that a test can read it back with an XML reader.

use std::fmt::{self, Write};

/// An element with its attributes and what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Element(Element),
    Text(String),
}

/// Elements of HTML that have no end tag.
const VOID: [&str; 4] = ["br", "hr", "link", "meta"];

impl Element {
    /// An empty element.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, attributes: Vec::new(), children: Vec::new() }
    }

    /// With this attribute.
    #[must_use]
    pub fn with(mut self, attribute: &'static str, value: impl fmt::Display) -> Self {
        self.attributes.push((attribute, value.to_string()));
        self
    }

    /// With this text at the end.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.children.push(Node::Text(text.into()));
        self
    }

    /// With this element at the end.
    #[must_use]
    pub fn child(mut self, child: Self) -> Self {
        self.children.push(Node::Element(child));
        self
    }

    /// With these elements at the end.
    #[must_use]
    pub fn children(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children.extend(children.into_iter().map(Node::Element));
        self
    }
}

impl fmt::Display for Element {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "<{}", self.name)?;
        for (name, value) in &self.attributes {
            write!(formatter, " {name}=\"{}\"", Escaped(value))?;
        }
        if VOID.contains(&self.name) {
            return formatter.write_str("/>");
        }
        formatter.write_char('>')?;
        for child in &self.children {
            match child {
                Node::Element(element) => write!(formatter, "{element}")?,
                // A style sheet is no markup: nothing in ours needs escaping, and a browser would not undo it.
                Node::Text(text) if self.name == "style" => formatter.write_str(text)?,
                Node::Text(text) => write!(formatter, "{}", Escaped(text))?,
            }
        }
        write!(formatter, "</{}>", self.name)?;
        if matches!(self.name, "p" | "tr" | "section" | "figure" | "g" | "svg" | "h1" | "h2" | "h3" | "table" | "style")
        {
            formatter.write_char('\n')?;
        }
        Ok(())
    }
}

/// Text without anything that markup would understand; control characters, which XML forbids, are replaced.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => formatter.write_str("&amp;")?,
                '<' => formatter.write_str("&lt;")?,
                '>' => formatter.write_str("&gt;")?,
                '"' => formatter.write_str("&quot;")?,
                '\n' | '\t' => formatter.write_char(' ')?,
                control if control.is_control() || matches!(control, '\u{fffe}' | '\u{ffff}') => {
                    formatter.write_char('\u{fffd}')?;
                }
                other => formatter.write_char(other)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_cannot_break_out() {
        let element = Element::new("p").with("title", "a\"><script>").text("1 < 2 & \u{0} 3");
        assert_eq!(element.to_string(), "<p title=\"a&quot;&gt;&lt;script&gt;\">1 &lt; 2 &amp; \u{fffd} 3</p>\n");
    }

    #[test]
    fn void_elements_close_themselves_and_others_have_an_end_tag() {
        assert_eq!(Element::new("meta").with("charset", "utf-8").to_string(), "<meta charset=\"utf-8\"/>");
        assert_eq!(Element::new("td").to_string(), "<td></td>");
    }
}
