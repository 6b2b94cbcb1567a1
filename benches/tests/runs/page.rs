//! What a page must be, whatever is in it: well-formed, sufficient to itself, and each chart said in words as well.

use roxmltree::{Document, Node};
use std::collections::HashSet;

/// What is wrong with a page; nothing, if empty.
pub(crate) fn faults(page: &str) -> Vec<String> {
    let Some(rest) = page.strip_prefix("<!DOCTYPE html>\n") else { return vec!["no doctype".into()] };
    let tree = match Document::parse(rest) {
        Ok(tree) => tree,
        Err(error) => return vec![format!("not well-formed: {error}")],
    };
    let mut faults = Vec::new();
    ids(&tree, &mut faults);
    for node in tree.descendants().filter(Node::is_element) {
        network(&node, &mut faults);
    }
    for style in named(&tree, "style") {
        let text = style.text().unwrap_or_default();
        if text.contains("url(") || text.contains("@import") || text.contains("//") {
            faults.push("the style sheet refers to something outside".into());
        }
        for wanted in ["prefers-color-scheme: dark", "color-scheme: light dark"] {
            if !text.contains(wanted) {
                faults.push(format!("the style sheet lacks {wanted}"));
            }
        }
    }
    if !named(&tree, "meta").any(|node| node.attribute("name") == Some("viewport")) {
        faults.push("no viewport for a phone".into());
    }
    if tree.root_element().attribute("lang").is_none() {
        faults.push("no language".into());
    }
    let charts: Vec<Node<'_, '_>> = named(&tree, "svg").filter(|svg| svg.attribute("aria-hidden").is_none()).collect();
    for chart in &charts {
        alternative(chart, &mut faults);
    }
    if charts.is_empty() {
        faults.push("no chart".into());
    }
    for table in named(&tree, "table") {
        regular(&table, &mut faults);
    }
    faults
}

fn named<'a, 'input>(tree: &'a Document<'input>, name: &'static str) -> impl Iterator<Item = Node<'a, 'input>> {
    tree.descendants().filter(move |node| node.has_tag_name(name))
}

fn ids(tree: &Document<'_>, faults: &mut Vec<String>) {
    let mut ids = HashSet::new();
    for id in tree.descendants().filter_map(|node| node.attribute("id")) {
        if !ids.insert(id) {
            faults.push(format!("the id {id} is there twice"));
        }
    }
    for link in named(tree, "a") {
        let target = link.attribute("href").unwrap_or_default();
        if !target.strip_prefix('#').is_some_and(|id| ids.contains(id)) {
            faults.push(format!("the link {target} leads nowhere"));
        }
    }
}

/// Nothing is fetched, nothing runs, and no colour is out of reach of the colour scheme.
fn network(node: &Node<'_, '_>, faults: &mut Vec<String>) {
    let element = node.tag_name().name();
    if matches!(element, "script" | "iframe" | "object" | "embed" | "img" | "image" | "use" | "base" | "form") {
        faults.push(format!("a {element} element"));
    }
    for attribute in node.attributes() {
        let (name, value) = (attribute.name(), attribute.value());
        if name.starts_with("on") {
            faults.push(format!("an {name} handler"));
        }
        let local = value.starts_with('#') || value == "data:,";
        if matches!(name, "href" | "src" | "srcset" | "action" | "poster" | "background") && !local {
            faults.push(format!("{name} is {value}"));
        }
        if matches!(name, "fill" | "stroke" | "style") {
            faults.push(format!("a colour of its own: {name} {value}"));
        }
    }
}

/// A chart is an image with a name and a description, and its figures stand in a table beside it.
fn alternative(chart: &Node<'_, '_>, faults: &mut Vec<String>) {
    let own = |name: &'static str| {
        let child = chart.children().find(|child| child.has_tag_name(name));
        child.and_then(|child| Some((child.attribute("id")?.to_string(), child.text()?.trim().to_string())))
    };
    let (title, description) = (own("title"), own("desc"));
    let called = title.as_ref().map_or(String::new(), |(_, words)| words.clone());
    if chart.attribute("role") != Some("img") {
        faults.push(format!("chart {called}: role is not img"));
    }
    match (&title, &description) {
        (Some((title, words)), Some((description, more))) => {
            if words.is_empty() || more.len() < 20 {
                faults.push(format!("chart {title}: says too little"));
            }
            let labels = chart.attribute("aria-labelledby").unwrap_or_default();
            if labels.split(' ').collect::<Vec<_>>() != [title.as_str(), description.as_str()] {
                faults.push(format!("chart {title}: is labelled by {labels}"));
            }
        }
        _ => faults.push(format!("chart {called}: no title or no description")),
    }
    let figure = chart.ancestors().find(|node| node.has_tag_name("figure"));
    let table = figure.and_then(|figure| figure.descendants().find(|node| node.has_tag_name("table")));
    if table.is_none_or(|table| table.descendants().filter(|node| node.has_tag_name("tr")).count() < 2) {
        faults.push(format!("chart {called}: no table of its figures"));
    }
    for node in chart.descendants() {
        for attribute in node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            let figures =
                matches!(name, "x" | "y" | "x1" | "x2" | "y1" | "y2" | "cx" | "cy" | "r" | "points" | "viewBox");
            let is_number = |word: &str| word.parse::<f64>().is_ok_and(f64::is_finite);
            if figures && !value.split([' ', ',']).all(is_number) {
                faults.push(format!("chart {called}: {name} is {value:.60}"));
            }
        }
    }
}

/// A table has a caption, and rows as wide as its head.
fn regular(table: &Node<'_, '_>, faults: &mut Vec<String>) {
    let caption = table.children().find(|node| node.has_tag_name("caption"));
    let caption = caption.and_then(|node| node.text()).unwrap_or_default();
    if caption.is_empty() {
        faults.push("a table without a caption".into());
    }
    let rows = table.descendants().filter(|node| node.has_tag_name("tr"));
    let widths: HashSet<usize> = rows.map(|row| row.children().filter(Node::is_element).count()).collect();
    if widths.len() != 1 {
        faults.push(format!("table {caption}: rows of {widths:?} cells"));
    }
}
