//! One row for each call that waits and the place that it comes from: how often, how long, and who.
//!
//! The one idea: a place in the program is what its author can change, so calls of one function from one place are a
//! row, whatever led there; the call tree tells that apart. What threads wait that do nothing else has a column of its
//! own, and counts for no share.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use marey_analyze::Trace;
use marey_model::{Nanos, ProcessId};

use super::{Facts, Page};
use crate::format::{self, solid};
use crate::paint::{Look, harmless, shorten};
use crate::table::{Cell, Side, Table};
use crate::words;

/// What a narrow terminal can do without, the least important first.
const SPARE: [&str; 4] = ["by", "longest", "a call", "idle threads"];

/// Calls of one function from one place.
#[derive(Clone, Debug, Default)]
pub(super) struct Row<'f> {
    /// The function that waits.
    pub(super) verb: &'f str,
    /// Function, file and line that it is called from.
    pub(super) function: &'f str,
    pub(super) file: &'f str,
    pub(super) line: u32,
    pub(super) calls: u64,
    /// How many of them are of threads that do more than wait, as `time` is.
    busy_calls: u64,
    pub(super) untimed: u64,
    pub(super) time: Nanos,
    pub(super) idle: Nanos,
    pub(super) longest: Nanos,
    pub(super) processes: BTreeSet<ProcessId>,
}

/// The rows, that with most time first.
pub(super) fn rows<'f>(facts: &'f Facts<'_>) -> Vec<Row<'f>> {
    let mut rows: BTreeMap<(&str, &str, &str, u32), Row<'f>> = BTreeMap::new();
    for path in &facts.waiting.rows {
        let Some(region) = facts.trace.regions().get(path.region.idx()) else { continue };
        let (function, file, line) = match words::caller(facts.trace, path.call_path) {
            Some(frame) => (frame.function.as_str(), frame.file.as_str(), frame.line),
            None => ("", "", 0),
        };
        let verb = region.verb.as_str();
        let row = rows.entry((verb, function, file, line)).or_default();
        (row.verb, row.function, row.file, row.line) = (verb, function, file, line);
        row.calls = row.calls.saturating_add(path.calls);
        row.busy_calls = row.busy_calls.saturating_add(path.busy_calls);
        row.untimed = row.untimed.saturating_add(path.untimed);
        row.time = row.time + path.time;
        row.idle = row.idle + path.idle;
        row.longest = row.longest.max(path.longest.unwrap_or_default());
        row.processes.extend(&path.processes);
    }
    let mut rows: Vec<Row<'_>> = rows.into_values().collect();
    // Those of equal time stay in the order of their names.
    rows.sort_by_key(|row| std::cmp::Reverse((row.time, row.idle)));
    rows
}

/// Prints the table.
pub(super) fn print(page: &mut Page<'_>) -> io::Result<()> {
    let facts = page.facts;
    let idle = facts.waiting.idle.len() as u64;
    let mut remark =
        "calls of the system in which the program was blocked; share: of the time of all threads".to_owned();
    if idle > 0 {
        remark.push_str(&format!(
            " but {}, which hardly did anything but wait",
            format::counted(idle, "idle one")
        ));
    }
    page.title("WAITING", &remark)?;
    let rows = rows(facts);
    if rows.is_empty() {
        return page.nothing("none");
    }
    let has_idle = rows.iter().any(|row| row.idle > Nanos(0));
    let right = |head: &'static str| (head, Side::Right);
    let heads = [("call", Side::Left), ("in", Side::Left), ("at", Side::Left)].into_iter();
    let heads = heads.chain(["calls", "time", "share", "a call", "longest"].map(right));
    let heads = heads.chain(has_idle.then_some(right("idle threads"))).chain([("by", Side::Left)]);
    let mut table = Table::new(&heads.collect::<Vec<_>>()).can_spare(&SPARE);
    for row in rows.iter().take(page.top) {
        let timed = row.calls.saturating_sub(row.untimed);
        let of_timed = |time: Nanos| if timed == 0 { String::new() } else { format::duration(time) };
        let is_counted = timed == 0 && row.time + row.idle == Nanos(0);
        let mean = i64::try_from(timed).map_or(0, |timed| (row.time + row.idle).0 / timed.max(1));
        let mut cells: Vec<Cell> = vec![
            harmless(row.verb).into(),
            shorten(&words::function(row.function), 40).into(),
            Cell::new(Look::Faint, words::place(row.file, row.line)),
            format::count(row.calls).into(),
            // No time is known, which is not the same as none.
            if is_counted { "counted".to_owned() } else { format::duration(row.time) }.into(),
            format::percent(row.time.0, facts.waiting.base.0).into(),
            of_timed(Nanos(mean)).into(),
            of_timed(row.longest).into(),
        ];
        if has_idle {
            cells.push(if row.idle > Nanos(0) { format::duration(row.idle) } else { String::new() }.into());
        }
        cells.push(by(facts.trace, &row.processes).into());
        table.push(cells);
    }
    table.print(page.out, page.paint)?;
    page.more(rows.len().saturating_sub(page.top), "call")
}

/// What is worth a sentence at the head of the report: where threads that do more than wait are blocked.
pub(super) fn sentence(facts: &Facts<'_>) -> Option<String> {
    let waiting = &facts.waiting;
    // A tenth of the time can be felt.
    if waiting.time.0 < waiting.base.0 / 10 || waiting.time <= Nanos(0) {
        return None;
    }
    let rows = rows(facts);
    let first = rows.first()?;
    let place = words::place(first.file, first.line);
    let place = if place.is_empty() { String::new() } else { format!(" ({place})") };
    let function = match first.function {
        "" => String::new(),
        name => format!(", called from {}", shorten(&words::function(name), 60)),
    };
    Some(format!(
        "The program waits in calls of the system for {} of the time of its threads, most in {}{function}{place}: {} in {}.",
        solid(format::percent(waiting.time.0, waiting.base.0)),
        harmless(first.verb),
        solid(format::duration(first.time)),
        solid(format::counted(first.busy_calls, "call")),
    ))
}

/// `rank 3`, `3 ranks`, `all`.
pub(super) fn by(trace: &dyn Trace, processes: &BTreeSet<ProcessId>) -> String {
    match processes.len() {
        1 => processes.first().map_or_else(String::new, |&only| words::process(trace, only)),
        n if n == trace.processes().len() => "all".to_owned(),
        n => {
            let is_rank = |id: &ProcessId| {
                trace.processes().get(id.idx()).is_some_and(|process| process.rank.is_some())
            };
            format!("{n} {}", if processes.iter().all(is_rank) { "ranks" } else { "processes" })
        }
    }
}
