//! A source with what lies in it and what its lines cost, and what was called from within a loop.

use std::cmp::Reverse;

use marey_analyze::{SourceLoop, calls_within};

use super::{function, none};
use crate::answers::refused;
use crate::fold::float;
use crate::frame::Columns;
use crate::program::{Program, Reference, of_graph};
use crate::run::Opened;
use crate::wire::{
    NumberOf, SourceFileHead, SourceLoopHead, WireConstruct, WireCost, WireEnd, WireReference,
    WireSourceCall, WireSourceFunction, WireSourceLoop, WireSymbol,
};

/// More calls of a file are not told: those of a line are what is looked at.
const MOST_CALLS: usize = 1 << 17;

pub(in crate::answers) fn file(run: &Opened<'_>, asked: &NumberOf) -> Vec<u8> {
    let (it, number) = (run.program(), asked.number);
    if it.files.get(number as usize).is_none() {
        return none("source", number);
    }
    let text = match it.text(run, number) {
        Ok(text) => text.map(|text| text.lines().map(without_tabs).collect()),
        Err(error) => return refused(format!("the text of the source cannot be read: {error}")),
    };
    let is_here = |file: Option<u32>| file == Some(number);
    let mut functions: Vec<WireSourceFunction> = (0..)
        .zip(&it.functions)
        .filter(|(_, function)| is_here(function.file))
        .filter_map(|(number, _)| function(it, number))
        .collect();
    functions.sort_by_key(|it| (if it.first == 0 { it.line } else { it.first }, Reverse(it.last)));
    let loops = (0..).zip(&it.loops).zip(&it.loop_costs).filter(|((_, it), _)| is_here(it.file));
    let mut loops: Vec<WireSourceLoop> = loops
        .map(|((number, it), cost)| WireSourceLoop {
            number,
            kind: it.kind.clone(),
            first: it.first,
            last: it.last,
            depth: it.depth,
            function: it.function,
            cost: *cost,
        })
        .collect();
    loops.sort_by_key(|it| (it.first, it.depth));
    let types = (0..).zip(&it.types).filter(|(_, it)| is_here(it.file));
    let mut types: Vec<_> = types.map(|(number, found)| super::types::wire(number, found)).collect();
    types.sort_by_key(|it| it.line);
    let constructs = it.constructs.iter().filter(|it| is_here(it.file)).map(|it| WireConstruct {
        model: it.model.clone(),
        text: it.text.clone(),
        first: it.first,
        last: it.last,
    });
    let head = SourceFileHead {
        file: number,
        text,
        functions,
        types,
        loops,
        constructs: constructs.collect(),
        references: it.references.iter().filter(|it| is_here(it.file)).map(reference).collect(),
        statements: it.statements.get(&number).cloned().unwrap_or_default(),
        calls: calls(it, number),
    };
    columns(it, number).frame("source-file", &head)
}

fn reference(it: &Reference) -> WireReference {
    let ends = it.ends.iter().map(|end| WireEnd {
        end: end.end.clone(),
        text: end.text.clone(),
        line: end.line,
        carried: end.carried,
        distance: end.distance,
    });
    let symbols = it.symbols.iter().map(|symbol| WireSymbol {
        text: symbol.text.clone(),
        end: symbol.end.clone(),
        subscript: symbol.subscript,
        value: symbol.value.clone(),
        worth: symbol.worth,
    });
    WireReference {
        array: it.array.clone(),
        text: it.text.clone(),
        image: it.image.clone(),
        does: it.does.clone(),
        line: it.line,
        within: it.within,
        moved_by: it.moved_by,
        turned_by: it.turned_by,
        ends: ends.collect(),
        symbols: symbols.collect(),
    }
}

/// A line with spaces for tabs, which is as wide as it was.
fn without_tabs(line: &str) -> String {
    /// What compilers and terminals take a tab for.
    const TAB: usize = 8;
    let mut plain = String::with_capacity(line.len());
    let mut width = 0;
    for letter in line.chars() {
        let wide = if letter == '\t' { TAB - width % TAB } else { 1 };
        width += wide;
        if letter == '\t' { plain.extend(std::iter::repeat_n(' ', wide)) } else { plain.push(letter) }
    }
    plain
}

/// Calls in a file. One that binary and text tell of is the binary's, which says who is called.
fn calls(it: &Program, number: u32) -> Vec<WireSourceCall> {
    let here = it.calls.iter().filter(|call| call.file == Some(number) && call.line != 0);
    let mut calls: Vec<WireSourceCall> = here
        .take(MOST_CALLS)
        .map(|call| {
            let callee = call.callee.and_then(|callee| it.functions.get(callee as usize));
            WireSourceCall {
                line: call.line,
                caller: call.caller,
                callee: call.callee,
                name: callee.map_or_else(|| call.name.clone(), |callee| callee.name.clone()),
                kind: call.kind.clone(),
                to_file: callee.and_then(|callee| callee.file),
                to_line: callee.map_or(0, |callee| callee.line),
            }
        })
        .collect();
    calls.sort_by(|a, b| (a.line, &a.name, a.callee).cmp(&(b.line, &b.name, b.callee)));
    calls.dedup_by(|a, b| a.line == b.line && a.name == b.name && a.callee == b.callee);
    calls
}

fn columns(it: &Program, number: u32) -> Columns {
    let mut columns = Columns::default();
    let lines: Vec<(u32, &WireCost)> =
        it.lines.range((number, 0)..=(number, u32::MAX)).map(|((_, line), cost)| (*line, cost)).collect();
    columns.u32("line", lines.iter().map(|(line, _)| *line));
    columns.f64("exclusive", lines.iter().map(|(_, cost)| float(cost.exclusive_ns)));
    columns.f64("inclusive", lines.iter().map(|(_, cost)| float(cost.inclusive_ns)));
    columns.f64("calls", lines.iter().map(|(_, cost)| unsigned(cost.calls)));
    columns.f64("call_time", lines.iter().map(|(_, cost)| float(cost.call_ns)));
    columns.f64("waiting", lines.iter().map(|(_, cost)| float(cost.waiting_ns)));
    columns.f64("bytes", lines.iter().map(|(_, cost)| unsigned(cost.bytes)));
    let calls = it.line_calls.range((number, 0, 0)..=(number, u32::MAX, u32::MAX));
    let calls: Vec<(u32, u32, &WireCost)> =
        calls.map(|((_, line, region), cost)| (*line, *region, cost)).collect();
    columns.u32("call_line", calls.iter().map(|it| it.0));
    columns.u32("call_region", calls.iter().map(|it| it.1));
    columns.f64("call_calls", calls.iter().map(|it| unsigned(it.2.calls)));
    columns.f64("call_call_time", calls.iter().map(|it| float(it.2.call_ns)));
    columns.f64("call_waiting", calls.iter().map(|it| float(it.2.waiting_ns)));
    columns.f64("call_bytes", calls.iter().map(|it| unsigned(it.2.bytes)));
    columns
}

/// What was called from within a loop.
pub(in crate::answers) fn within_loop(run: &Opened<'_>, asked: &NumberOf) -> Vec<u8> {
    let it = run.program();
    let Some(found) = it.loops.get(asked.number as usize) else { return none("loop", asked.number) };
    let lines = SourceLoop { file: it.path(found.file), first: found.first, last: found.last };
    let waits = run.causes().map(|causes| &causes.waits);
    let mut rows: Vec<(u32, WireCost)> = calls_within(&run.trace, &lines, waits)
        .iter()
        .map(|(region, cost)| (region.0, of_graph(cost, 0)))
        .collect();
    rows.sort_by_key(|(region, cost)| (Reverse(cost.call_ns), *region));
    let mut columns = Columns::default();
    columns.u32("region", rows.iter().map(|(region, _)| *region));
    columns.f64("calls", rows.iter().map(|(_, cost)| unsigned(cost.calls)));
    columns.f64("call_time", rows.iter().map(|(_, cost)| float(cost.call_ns)));
    columns.f64("waiting", rows.iter().map(|(_, cost)| float(cost.waiting_ns)));
    columns.f64("bytes", rows.iter().map(|(_, cost)| unsigned(cost.bytes)));
    columns.frame("source-loop", &SourceLoopHead { number: asked.number })
}

fn unsigned(value: u64) -> f64 {
    float(i64::try_from(value).unwrap_or(i64::MAX))
}
