//! Memory: what each process had at most, and the call paths that allocated it.
//!
//! The one idea: beside what the system counted as resident stands the heap that the recorder saw, so what is left in
//! between is stacks, code, small blocks and what lies unused; then the call paths, those first that had most when
//! their process had most.

use std::collections::BTreeMap;
use std::io;

use marey_analyze::{AllocationPath, ProcessMemory};
use marey_model::ProcessId;
use serde::Serialize;

use super::chains::{Step, outward};
use super::origin::told_apart;
use super::{Facts, Page, json};
use crate::format;
use crate::paint::{Look, harmless, shorten};
use crate::table::{Cell, Side, Table};
use crate::words;

/// Prints both tables.
pub(super) fn print(page: &mut Page<'_>) -> io::Result<()> {
    let rows = &page.facts.memory;
    let Some(least) = rows.iter().map(|row| row.heap.least).min() else {
        page.title("MEMORY", "the heap by call path")?;
        return page.nothing("not recorded");
    };
    let remark = format!(
        "resident: what the system counted; heap: blocks of at least {}, as the program asked for them",
        format::bytes(least)
    );
    page.title("MEMORY", &remark)?;
    processes(page)?;
    if !page.facts.allocations.is_empty() {
        paths(page)?;
    }
    Ok(())
}

/// Those with the largest heaps, in the order of processes.
fn processes(page: &mut Page<'_>) -> io::Result<()> {
    let facts = page.facts;
    let mut rows: Vec<&ProcessMemory> = facts.memory.iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.heap.peak));
    rows.truncate(page.top);
    rows.sort_by_key(|row| row.process);
    let mut table = Table::new(&[
        ("process", Side::Left),
        ("resident peak", Side::Right),
        ("heap peak", Side::Right),
        ("until", Side::Right),
        ("at the end", Side::Right),
        ("allocated", Side::Right),
        ("blocks", Side::Right),
    ])
    .can_spare(&["blocks", "until", "allocated", "at the end"]);
    for row in rows {
        let (blocks, bytes) = allocated(facts, row.process);
        table.row([
            words::process(facts.trace, row.process).into(),
            row.resident.map_or_else(String::new, format::bytes).into(),
            format::bytes(row.heap.peak).into(),
            row.heap.peak_time.map_or_else(|| "the end".to_owned(), format::duration).into(),
            format::bytes(row.heap.at_end).into(),
            format::bytes(bytes).into(),
            format::count(blocks).into(),
        ]);
    }
    table.print(page.out, page.paint)?;
    page.more_of(facts.memory.len().saturating_sub(page.top), "process", "processes")
}

/// Blocks and bytes of all call paths of a process.
fn allocated(facts: &Facts<'_>, process: ProcessId) -> (u64, u64) {
    let rows = facts.trace.allocations().iter().filter(|row| row.process == process);
    rows.fold((0, 0), |sum: (u64, u64), row| {
        (sum.0.saturating_add(row.blocks), sum.1.saturating_add(row.bytes))
    })
}

fn paths(page: &mut Page<'_>) -> io::Result<()> {
    writeln!(page.out)?;
    let rows = rows(page.facts);
    let whole = rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.at_peak));
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    let mut table = Table::new(&[
        ("at peak", Side::Right),
        ("share", Side::Right),
        ("allocated", Side::Right),
        ("blocks", Side::Right),
        ("at the end", Side::Right),
        ("function ← its callers", Side::Left),
        ("place", Side::Left),
        ("by", Side::Left),
    ])
    .can_spare(&["by", "share", "blocks", "place", "allocated"]);
    let shown = &rows[..rows.len().min(page.top)];
    for (row, origin) in shown.iter().zip(told_apart(shown, |row| (&row.steps, &row.verb))) {
        let mut cells: Vec<Cell> = vec![
            format::bytes(row.at_peak).into(),
            format::percent(signed(row.at_peak), signed(whole)).into(),
            format::bytes(row.bytes).into(),
            format::count(row.blocks).into(),
            left(row.at_end).into(),
        ];
        cells.push(match (row.verb.as_str(), origin.functions.as_str()) {
            ("", _) => Cell::new(Look::Faint, "(path not known)"),
            (_, "") => "(unknown)".into(),
            (_, functions) => functions.into(),
        });
        cells.push(shorten(&origin.place, 24).into());
        cells.push(Cell::new(Look::Faint, shorten(&row.verb, 32)));
        table.push(cells);
    }
    table.print(page.out, page.paint)?;
    page.more(rows.len().saturating_sub(page.top), "call path")
}

/// What call paths of the same functions and lines allocated.
#[derive(Default)]
struct Row {
    /// The functions, innermost first.
    steps: Vec<Step>,
    /// `malloc`, or the regions that lie between the program and it; empty if the path is not known.
    verb: String,
    at_peak: u64,
    bytes: u64,
    blocks: u64,
    at_end: u64,
}

/// The rows, in the order of [`Facts::allocations`] but for what comes together. Where lines are not known, calls of one
/// function by another from several places would look all the same, and are one row.
fn rows(facts: &Facts<'_>) -> Vec<Row> {
    let mut rows: BTreeMap<(Vec<Step>, String), Row> = BTreeMap::new();
    for path in &facts.allocations {
        let steps = path.call_path.map(|path| outward(facts.trace, path)).unwrap_or_default();
        let verb = path.path.iter().map(|name| harmless(name)).collect::<Vec<_>>().join(" → ");
        let row = rows.entry((steps, verb)).or_default();
        for (sum, more) in [
            (&mut row.at_peak, path.sum.at_peak),
            (&mut row.bytes, path.sum.bytes),
            (&mut row.blocks, path.sum.blocks),
            (&mut row.at_end, path.sum.bytes_at_end()),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
    let mut rows: Vec<Row> =
        rows.into_iter().map(|((steps, verb), row)| Row { steps, verb, ..row }).collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.at_peak, row.bytes)));
    rows
}

fn left(bytes: u64) -> String {
    if bytes == 0 { String::new() } else { format::bytes(bytes) }
}

/// The same for other programs.
#[derive(Serialize)]
pub(super) struct Json<'f> {
    processes: Vec<JsonProcess>,
    call_paths: Vec<JsonPath<'f>>,
}

#[derive(Serialize)]
struct JsonProcess {
    process: u32,
    resident_bytes: Option<u64>,
    least_bytes: u64,
    peak_bytes: u64,
    /// Until when that was there; null if at the end.
    peak_ns: Option<i64>,
    end_bytes: u64,
    lost_blocks: u64,
    lost_bytes: u64,
}

#[derive(Serialize)]
struct JsonPath<'f> {
    /// Names of the regions, root first; the last is the function that allocated. Empty if the path is not known.
    path: &'f [&'f str],
    /// The caller.
    function: &'f str,
    file: &'f str,
    line: u32,
    processes: usize,
    blocks: u64,
    bytes: u64,
    freed_blocks: u64,
    freed_bytes: u64,
    /// In the process in which it was highest.
    peak_bytes: u64,
    at_peak_bytes: u64,
    stack: Vec<json::Frame<'f>>,
}

/// What the JSON of a report has of memory.
pub(super) fn json<'f>(facts: &'f Facts<'_>) -> Json<'f> {
    let process = |row: &ProcessMemory| JsonProcess {
        process: row.process.0,
        resident_bytes: row.resident,
        least_bytes: row.heap.least,
        peak_bytes: row.heap.peak,
        peak_ns: row.heap.peak_time.map(|time| time.0),
        end_bytes: row.heap.at_end,
        lost_blocks: row.heap.lost_blocks,
        lost_bytes: row.heap.lost_bytes,
    };
    let path = |row: &'f AllocationPath<'_>| JsonPath {
        path: &row.path,
        function: &row.caller.function,
        file: &row.caller.file,
        line: row.caller.line,
        processes: row.processes,
        blocks: row.sum.blocks,
        bytes: row.sum.bytes,
        freed_blocks: row.sum.freed_blocks,
        freed_bytes: row.sum.freed_bytes,
        peak_bytes: row.sum.peak,
        at_peak_bytes: row.sum.at_peak,
        stack: row.call_path.map(|path| json::stack(facts, path)).unwrap_or_default(),
    };
    Json {
        processes: facts.memory.iter().map(process).collect(),
        call_paths: facts.allocations.iter().map(path).collect(),
    }
}
