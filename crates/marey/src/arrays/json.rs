//! Arrays for other programs; `docs/sentences.md` says what each name means.

use marey_analyze::{AccessSum, ArrayRow, Beneath, Statement, Trace};
use serde::Serialize;

use super::nests::Nests;
use super::redistributed;
use super::sections::{Section, Sections};
use super::symbols::Symbol;

#[derive(Serialize)]
pub(super) struct Json<'a> {
    time_ns: i64,
    arrays: Vec<Array<'a>>,
    piecemeal: Vec<Piece<'a>>,
    symbols: Vec<Symbol>,
    redistributions: Vec<redistributed::Json>,
}

#[derive(Serialize)]
struct Piece<'a> {
    why: &'static str,
    array: &'a str,
    verb: &'a str,
    file: &'a str,
    line: u32,
    accesses: u64,
    bytes: u64,
    transfers: u64,
    time_ns: i64,
}

#[derive(Serialize)]
struct Array<'a> {
    array: &'a str,
    kind: &'static str,
    file: &'a str,
    line: u32,
    element: &'a str,
    bounds: &'a [(i64, i64)],
    bytes: u64,
    instances: u64,
    processes: Vec<u32>,
    accesses: u64,
    moved_bytes: u64,
    counted: Sum,
    access_ns: i64,
    managed: u64,
    manage_ns: i64,
    local: Sum,
    remote: Sum,
    transfers_beneath: u64,
    by_process: Vec<ByProcess>,
    statements: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Sum {
    accesses: u64,
    bytes: u64,
    time_ns: i64,
}

#[derive(Serialize)]
struct ByProcess {
    process: u32,
    local: Sum,
    remote: Sum,
}

#[derive(Serialize)]
struct Line<'a> {
    verb: &'a str,
    kind: &'static str,
    function: &'a str,
    file: &'a str,
    line: u32,
    accesses: u64,
    bytes: u64,
    time_ns: i64,
    pattern: Option<&'static str>,
    loops: Vec<Loop>,
    callers_loops: Vec<CallerLoop<'a>>,
    sections: Option<Vec<Section>>,
    beneath: Vec<Call<'a>>,
}

#[derive(Serialize)]
struct Loop {
    first_line: u32,
    last_line: u32,
}

#[derive(Serialize)]
struct CallerLoop<'a> {
    function: &'a str,
    file: &'a str,
    first_line: u32,
    last_line: u32,
}

#[derive(Serialize)]
struct Call<'a> {
    level: &'a str,
    call: &'a str,
    calls: u64,
    is_transfer: bool,
    time_ns: i64,
}

impl From<AccessSum> for Sum {
    fn from(sum: AccessSum) -> Self {
        Self { accesses: sum.accesses, bytes: sum.bytes, time_ns: sum.time.0 }
    }
}

impl<'a> Json<'a> {
    pub(super) fn new(
        trace: &'a dyn Trace,
        rows: &'a [ArrayRow],
        nests: &Nests,
        sections: &Sections<'_>,
        (symbols, redistributions): (Vec<Symbol>, Vec<redistributed::Json>),
    ) -> Self {
        let piece = |it: &marey_analyze::Piece<'a>| Piece {
            why: it.kind.name(),
            array: &it.array.name,
            verb: &it.statement.verb,
            file: &it.statement.file,
            line: it.statement.line,
            accesses: it.statement.sum.accesses,
            bytes: it.statement.sum.bytes,
            transfers: it.transfers,
            time_ns: it.statement.sum.time.0,
        };
        Self {
            time_ns: super::time_of(trace).0,
            arrays: rows.iter().map(|row| array(trace, row, nests, sections)).collect(),
            piecemeal: marey_analyze::piecemeal(rows).iter().map(piece).collect(),
            symbols,
            redistributions,
        }
    }
}

fn array<'a>(trace: &'a dyn Trace, row: &'a ArrayRow, nests: &Nests, sections: &Sections<'_>) -> Array<'a> {
    let by_process = |(process, it): (&marey_model::ProcessId, &marey_analyze::Whereabouts)| ByProcess {
        process: process.0,
        local: it.local.into(),
        remote: it.remote.into(),
    };
    Array {
        array: &row.name,
        kind: row.kind.name(),
        file: &row.file,
        line: row.line,
        element: &row.element,
        bounds: &row.bounds,
        bytes: row.bytes,
        instances: row.instances,
        processes: row.processes.iter().map(|process| process.0).collect(),
        accesses: row.moved.accesses,
        moved_bytes: row.moved.bytes,
        counted: row.counted.into(),
        access_ns: row.moved.time.0,
        managed: row.managed.accesses,
        manage_ns: row.managed.time.0,
        local: row.local().into(),
        remote: row.remote().into(),
        transfers_beneath: row.transfers_beneath(),
        by_process: row.by_process.iter().map(by_process).collect(),
        statements: row
            .statements
            .iter()
            .map(|it| line(trace, it, nests, it.kind.moves().then(|| sections.of(row, it)).flatten()))
            .collect(),
    }
}

fn line<'a>(
    trace: &'a dyn Trace,
    statement: &'a Statement,
    nests: &Nests,
    sections: Option<Vec<Section>>,
) -> Line<'a> {
    let lines = |it: marey_analyze::LoopLines| Loop { first_line: it.first, last_line: it.last };
    let of_caller = |it: marey_analyze::CallerLoop<'a>| CallerLoop {
        function: it.function,
        file: it.file,
        first_line: it.lines.first,
        last_line: it.lines.last,
    };
    Line {
        verb: &statement.verb,
        kind: statement.kind.name(),
        function: &statement.function,
        file: &statement.file,
        line: statement.line,
        accesses: statement.sum.accesses,
        bytes: statement.sum.bytes,
        time_ns: statement.sum.time.0,
        pattern: statement.pattern(trace).map(|pattern| pattern.name()),
        loops: nests.around(statement).into_iter().map(lines).collect(),
        callers_loops: nests.of_callers(trace, statement).into_iter().map(of_caller).collect(),
        sections,
        beneath: statement.beneath.iter().map(call).collect(),
    }
}

fn call(beneath: &Beneath) -> Call<'_> {
    Call {
        level: &beneath.level,
        call: &beneath.name,
        calls: beneath.calls,
        is_transfer: beneath.is_transfer,
        time_ns: beneath.time.0,
    }
}
