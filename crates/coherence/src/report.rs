//! What a run came to: time by cause, lines by the names of what touches them.

use crate::account::{Account, Time};
use crate::line::{Line, LineFigures};
use crate::trace::Trace;
use slotwork::Site;
use std::collections::BTreeMap;

/// One thread of a run.
#[derive(Clone, Debug)]
pub struct ThreadReport {
    /// Its name.
    pub name: String,
    /// When it ended, in nanoseconds.
    pub ended_nanoseconds: f64,
    /// Where its time went.
    pub account: Account,
    /// How often it was woken from sleep.
    pub wakes: u64,
}

/// One line of memory that a run touched.
#[derive(Clone, Debug)]
pub struct LineReport {
    /// The fields on it: see [`field_names`].
    pub name: String,
    /// Its number, in the order of first use.
    pub number: usize,
    /// What happened to it.
    pub figures: LineFigures,
}

/// What a run came to.
#[derive(Clone, Debug)]
pub struct Report {
    /// Simulated time from the beginning to the end of the last thread, in nanoseconds.
    pub nanoseconds: f64,
    /// Its threads, in the order in which they were spawned.
    pub threads: Vec<ThreadReport>,
    /// The lines that were touched, in the order of first use.
    pub lines: Vec<LineReport>,
    /// Accesses that were simulated one by one.
    pub accesses: u64,
    /// Looks of spinning threads that were made up for without being simulated.
    pub made_up_looks: u64,
    /// How often another thread had its turn.
    pub turns: u64,
    /// What happened when, if that was asked for.
    pub trace: Option<Trace>,
}

impl Report {
    /// The time of all threads together, by cause.
    #[must_use]
    pub fn account(&self) -> Account {
        let mut sum = Account::default();
        self.threads.iter().for_each(|thread| sum += &thread.account);
        sum
    }

    /// How often threads were woken from sleep.
    #[must_use]
    pub fn wakes(&self) -> u64 {
        self.threads.iter().map(|thread| thread.wakes).sum()
    }

    /// The lines that cost most, at most so many.
    #[must_use]
    pub fn hottest(&self, most: usize) -> Vec<&LineReport> {
        let mut lines: Vec<&LineReport> = self.lines.iter().collect();
        lines.sort_by_key(|line| (std::cmp::Reverse(line.figures.cost_picoseconds), line.number));
        lines.truncate(most);
        lines
    }

    /// The same by field: all lines of a name added up, with how many they are.
    #[must_use]
    pub fn by_field(&self) -> Vec<(&str, usize, LineFigures)> {
        let mut fields: BTreeMap<&str, (usize, LineFigures)> = BTreeMap::new();
        for line in &self.lines {
            let (count, sum) = fields.entry(&line.name).or_default();
            *count += 1;
            sum.accesses += line.figures.accesses;
            sum.transfers += line.figures.transfers;
            sum.invalidations += line.figures.invalidations;
            sum.cost_picoseconds += line.figures.cost_picoseconds;
            sum.wait_picoseconds += line.figures.wait_picoseconds;
        }
        let mut fields: Vec<_> = fields.into_iter().map(|(name, (count, sum))| (name, count, sum)).collect();
        fields.sort_by_key(|&(name, _, sum)| (std::cmp::Reverse(sum.cost_picoseconds), name));
        fields
    }
}

/// The fields on a line, from the sites that touched it. A site is named by the field it is at and what it does there, as
/// `FILL_LOAD`; so a line that `FILL_STORE` and `FILL_LOAD` of table `bitmap` touch is `bitmap.fill`, and one with
/// several fields has all their names: whoever shares it falsely is seen.
#[must_use]
pub fn field_names(sites: &[&Site]) -> String {
    let mut tables: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for site in sites {
        let field = site.name.split('_').next().unwrap_or(site.name).to_lowercase();
        let fields = tables.entry(site.table).or_default();
        if !fields.contains(&field) {
            fields.push(field);
        }
    }
    let of_table = |(table, mut fields): (&str, Vec<String>)| {
        fields.sort();
        format!("{table}.{}", fields.join("/"))
    };
    tables.into_iter().map(of_table).collect::<Vec<_>>().join(" + ")
}

pub(crate) fn line_report((number, line): (usize, &Line)) -> LineReport {
    LineReport { name: field_names(&line.sites), number, figures: line.figures }
}

pub(crate) fn nanoseconds(time: Time) -> f64 {
    time as f64 / 1000.0
}
