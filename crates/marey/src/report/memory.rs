//! Memory: what each process had at most, and the call paths that allocated it.
//!
//! The one idea: beside what the system counted as resident stands the heap that the recorder saw, so what is left in
//! between is stacks, code, small blocks and what lies unused; then the call paths, those first that had most when
//! their process had most.

use std::io;

use marey_analyze::{AllocationPath, ProcessMemory};
use marey_model::ProcessId;
use serde::Serialize;

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
    let facts = page.facts;
    writeln!(page.out)?;
    let rows = &facts.allocations;
    let whole = rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.sum.at_peak));
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    let mut table = Table::new(&[
        ("at peak", Side::Right),
        ("share", Side::Right),
        ("allocated", Side::Right),
        ("blocks", Side::Right),
        ("at the end", Side::Right),
        ("function", Side::Left),
        ("place", Side::Left),
        ("by", Side::Left),
    ])
    .can_spare(&["by", "share", "blocks", "place", "allocated"]);
    for row in rows.iter().take(page.top) {
        let mut cells: Vec<Cell> = vec![
            format::bytes(row.sum.at_peak).into(),
            format::percent(signed(row.sum.at_peak), signed(whole)).into(),
            format::bytes(row.sum.bytes).into(),
            format::count(row.sum.blocks).into(),
            left(row.sum.bytes_at_end()).into(),
        ];
        cells.extend(place(page, row));
        table.push(cells);
    }
    table.print(page.out, page.paint)?;
    page.more(rows.len().saturating_sub(page.top), "call path")
}

fn left(bytes: u64) -> String {
    if bytes == 0 { String::new() } else { format::bytes(bytes) }
}

/// The function of the program, its place, and what it called: `malloc`, or the regions that lie in between.
fn place(page: &Page<'_>, row: &AllocationPath<'_>) -> [Cell; 3] {
    let trace = page.facts.trace;
    let Some(path) = row.call_path else {
        return ["(path not known)", "", ""].map(|text| Cell::new(Look::Faint, text));
    };
    let frame = words::caller(trace, path);
    let function = frame.map_or_else(|| "(unknown)".to_owned(), |frame| words::function(&frame.function));
    let place = frame.map_or_else(String::new, |frame| words::place(&frame.file, frame.line));
    let by = row.path.iter().map(|name| harmless(name)).collect::<Vec<_>>().join(" → ");
    [shorten(&function, 32).into(), shorten(&place, 24).into(), Cell::new(Look::Faint, shorten(&by, 32))]
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
    /// The innermost place that has a line.
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
