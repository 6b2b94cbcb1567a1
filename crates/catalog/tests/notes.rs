//! The design pages in `notes/designs/`: each design has one, and its tables are those of the code.
//!
//! `UPDATE_NOTES=1 cargo test -p slotwork-catalog --test notes` writes the tables anew.

use slotwork::{Claims, Operation, Site, check_pairs};
use slotwork_catalog::{ENTRIES, Entry};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

const BEGIN: &str = "<!-- from the code: begin -->\n";
const END: &str = "<!-- from the code: end -->\n";

fn page_of(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../notes/designs/{name}.md"))
}

fn limit(limit: Option<usize>) -> String {
    limit.map_or("none".into(), |limit| limit.to_string())
}

fn claims_table(claims: &Claims) -> String {
    let mut table = String::from("| claim | value |\n|---|---|\n");
    let mut row = |claim: &str, value: String| writeln!(table, "| {claim} | {value} |").unwrap();
    row("submitters", claims.submitters.to_string());
    row("order per lane", claims.order.to_string());
    row("\"none free\" is", claims.none_free.to_string());
    for operation in Operation::ALL {
        row(&format!("`{operation}`"), claims.progress.of(operation).to_string());
    }
    row("any worker takes any request", if claims.work_conserving { "yes" } else { "no" }.into());
    row("allocates after the build", if claims.allocates { "yes" } else { "no" }.into());
    row("limits: lanes, slots per lane, clients", {
        let limits = [claims.max_lanes, claims.max_slots_per_lane, claims.max_clients];
        limits.map(limit).join(", ")
    });
    row("source", claims.source.into());
    table
}

fn site_table(sites: &[Site]) -> String {
    let mut table = String::from("| site | access | pairs with | why |\n|---|---|---|---|\n");
    for site in sites {
        let named = site.to_string();
        let (_, access) = named.split_once(": ").expect("a site prints as name: access");
        let pairs = site.pairs.iter().map(|pair| format!("`{pair}`")).collect::<Vec<_>>().join(", ");
        writeln!(table, "| `{}` | `{access}` | {pairs} | {} |", site.name, site.why).unwrap();
    }
    table
}

fn generated(entry: &Entry) -> String {
    let mut text = format!("## Claims\n\n{}\n## Atomic accesses\n", claims_table(&entry.claims));
    for sites in entry.sites {
        write!(text, "\nOf `{}`:\n\n{}", sites[0].table, site_table(sites)).unwrap();
    }
    text
}

#[test]
fn every_design_has_a_page_with_the_tables_of_its_code() {
    for entry in ENTRIES {
        let path = page_of(entry.name);
        let page = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let (before, rest) = page.split_once(BEGIN).expect("a page has the begin mark");
        let (old, after) = rest.split_once(END).expect("a page has the end mark");
        let new = generated(entry);
        if std::env::var_os("UPDATE_NOTES").is_some() {
            fs::write(&path, [before, BEGIN, &new, END, after].concat()).unwrap();
        } else {
            assert!(old == new, "{} is out of date: run this test with UPDATE_NOTES=1", path.display());
        }
        for heading in ["## Idea", "## States", "## Progress", "## When to pick it"] {
            assert!(page.contains(heading), "{} lacks '{heading}'", path.display());
        }
    }
}

#[test]
fn every_site_pairs_and_has_a_reason() {
    let tables = ENTRIES.iter().flat_map(|entry| entry.sites).chain([&slotwork::POOL_SITES]);
    for table in tables {
        assert_eq!(check_pairs(table), []);
    }
}

#[test]
fn a_designs_own_sites_are_named_after_it() {
    for entry in ENTRIES {
        let table = entry.sites[0][0].table;
        // One that is another with a rule more has its accesses, and no others.
        let is_anothers = |other: &Entry| other.name == table && std::ptr::eq(other.sites[0], entry.sites[0]);
        assert!(table == entry.name || ENTRIES.iter().any(is_anothers), "{}: the table is {table}'s", entry.name);
    }
}
