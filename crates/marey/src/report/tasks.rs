//! What lasts beside the threads: tasks, spans that were suspended, lanes of the program's own.
//!
//! The one idea: a lane says of its owner when it was there, and within that when it was ready and when some thread ran
//! it; the rest it waited for something. No thread spent that time, so none of it is a share of anything.

use std::collections::BTreeMap;
use std::io;

use marey_model::{CallPathId, Nanos, Role};
use serde::Serialize;

use super::{Facts, Page};
use crate::format;
use crate::paint::{harmless, shorten};
use crate::table::{Side, Table};
use crate::words;

/// Tasks of one name from one place.
#[derive(Serialize, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Row<'f> {
    name: &'f str,
    level: &'f str,
    file: &'f str,
    line: u32,
    /// How many there were.
    number: u64,
    /// How many lanes they had, one after the other.
    lanes: u64,
    /// How long they were there, added up.
    lived_ns: i64,
    longest_ns: i64,
    /// How often and how long threads were at them.
    runs: u64,
    running_ns: i64,
    /// How long they could have run and did not.
    ready_ns: i64,
    /// The rest.
    waiting_ns: i64,
}

/// The rows, that with most time first.
pub(super) fn rows<'f>(facts: &'f Facts<'_>) -> Vec<Row<'f>> {
    let trace = facts.trace;
    let region = |path: CallPathId| {
        let path = trace.call_paths().get(path.idx())?;
        Some((path, trace.regions().get(path.region.idx())?))
    };
    let mut rows: BTreeMap<(u32, &str), Row<'f>> = BTreeMap::new();
    for sums in trace.lanes() {
        let Some((path, of)) = region(sums.call_path) else { continue };
        // What lies deeper is within what some thread did.
        let (root, depth) = match path.parent {
            None => (path, 0),
            Some(parent) => match region(parent) {
                Some((above, _)) if above.parent.is_none() => (above, 1),
                _ => continue,
            },
        };
        let Some(life) = trace.regions().get(root.region.idx()) else { continue };
        let row = rows.entry((root.region.0, &life.noun)).or_default();
        let name = life.name();
        row.name = name.strip_prefix("live ").unwrap_or(name);
        (row.level, row.file, row.line) = (&life.level, &life.file, life.line);
        match (depth, of.role) {
            (0, _) => {
                row.number = row.number.saturating_add(sums.visits);
                row.lanes += 1;
                row.lived_ns = row.lived_ns.saturating_add(sums.inclusive.0);
                row.waiting_ns = row.waiting_ns.saturating_add(sums.exclusive.0);
                row.longest_ns = row.longest_ns.max(sums.max.unwrap_or_default().0);
            }
            (_, Role::Wait) => row.ready_ns = row.ready_ns.saturating_add(sums.inclusive.0),
            _ => {
                row.runs = row.runs.saturating_add(sums.visits);
                row.running_ns = row.running_ns.saturating_add(sums.inclusive.0);
            }
        }
    }
    let mut rows: Vec<Row<'_>> = rows.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.lived_ns));
    rows
}

/// Prints the table, if there are any.
pub(super) fn print(page: &mut Page<'_>) -> io::Result<()> {
    let rows = rows(page.facts);
    if rows.is_empty() {
        return Ok(());
    }
    page.title(
        "TASKS",
        "what lasts beside the threads, added up: running on some thread; ready, but no thread was free; the rest of its \
         life it waited; at a time: lanes that they needed",
    )?;
    let mut table = Table::new(&[
        ("task", Side::Left),
        ("tasks", Side::Right),
        ("at a time", Side::Right),
        ("runs", Side::Right),
        ("running", Side::Right),
        ("ready", Side::Right),
        ("waiting", Side::Right),
        ("a life", Side::Right),
        ("longest", Side::Right),
        ("made at", Side::Left),
    ])
    .can_spare(&["at a time", "longest", "runs", "made at"]);
    for row in rows.iter().take(page.top) {
        let lives = i64::try_from(row.number).unwrap_or(i64::MAX).max(1);
        let [running, ready, waiting, life, longest] =
            [row.running_ns, row.ready_ns, row.waiting_ns, row.lived_ns / lives, row.longest_ns]
                .map(|time| format::duration(Nanos(time)));
        table.row([
            shorten(&harmless(row.name), 40).into(),
            format::count(row.number).into(),
            format::count(row.lanes).into(),
            format::count(row.runs).into(),
            running.into(),
            ready.into(),
            waiting.into(),
            life.into(),
            longest.into(),
            words::place(row.file, row.line).into(),
        ]);
    }
    table.print(page.out, page.paint)?;
    page.more(rows.len().saturating_sub(page.top), "row")
}
