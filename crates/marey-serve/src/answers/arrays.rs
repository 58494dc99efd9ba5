//! What it cost to act on arrays, from where, and how they lie with the processes; and what messages come from and go to.
//!
//! The one idea: all of it is `marey-analyze`'s, of the run or of a part of it; the list has sums, and more of an array is
//! told when somebody asks for it.

use std::collections::BTreeMap;

use marey_analyze::{
    AccessSum, ArrayRow, ArrayTraffic, Nests, Piece, Redistribution, Statement, Trace, array_traffic, arrays,
    piecemeal,
};
use marey_model::ProcessId;

use super::part;
use super::sentences::{more, region_of};
use crate::frame::Columns;
use crate::program::nests;
use crate::run::Opened;
use crate::wire::{
    ArrayHead, ArrayOf, ArraysHead, PartOf, WireAccesses, WireArray, WireArrayPart, WireBeneath, WireBuffer,
    WireCallerLoop, WirePiece, WireRedistribution, WireStatement,
};

/// More arrays, and more data of messages, are not told.
const MOST_ARRAYS: usize = 5000;
/// Nor more statements of one, or processes.
const MOST_ROWS: usize = 5000;
/// Nor more that is made piece by piece.
const MOST_PIECES: usize = 20;
/// Nor more pairs of processes of what messages come from.
const MOST_PAIRS: usize = 64;

pub(super) fn answer(run: &Opened<'_>, asked: &PartOf) -> Vec<u8> {
    let mut part = part::of(run, asked);
    let rows = arrays(&part.trace);
    // Sums of messages are of the whole run.
    let traffic = array_traffic(&run.trace);
    let has_gaps = run.archive.meta().run.leaves_out();
    let (moved, damage) = run.redistributed();
    part.damage.extend(damage.iter().cloned());
    let head = ArraysHead {
        of_ns: part.of_ns,
        arrays: rows.iter().take(MOST_ARRAYS).map(|row| array(row, has_gaps)).collect(),
        more: more(rows.len(), MOST_ARRAYS),
        pieces: piecemeal(&rows).iter().take(MOST_PIECES).map(piece).collect(),
        buffers: traffic.iter().take(MOST_ARRAYS).map(buffer).collect(),
        more_buffers: more(traffic.len(), MOST_ARRAYS),
        redistributions: moved.iter().take(MOST_ROWS).map(redistribution).collect(),
        more_redistributions: more(moved.len(), MOST_ROWS),
        whole_ns: part::time_of(run, &PartOf { span: None, locations: None }),
        is_whole: part.is_whole,
        damage: part.damage,
    };
    Columns::default().frame("arrays", &head)
}

fn redistribution(it: &Redistribution) -> WireRedistribution {
    WireRedistribution {
        by: it.by.name().to_owned(),
        verb: it.verb.clone(),
        from: it.from.clone(),
        to: it.to.clone(),
        function: it.function.clone(),
        file: it.file.clone(),
        line: it.line,
        times: it.times,
        bytes: it.bytes,
        time_ns: it.time.map(|time| time.0),
    }
}

fn accesses(sum: AccessSum) -> WireAccesses {
    WireAccesses { accesses: sum.accesses, bytes: sum.bytes, time_ns: sum.time.0 }
}

fn array(row: &ArrayRow, has_gaps: bool) -> WireArray {
    WireArray {
        number: row.noun.0,
        name: row.name.clone(),
        kind: row.kind.name().to_owned(),
        file: row.file.clone(),
        line: row.line,
        element: row.element.clone(),
        bounds: row.bounds.clone(),
        bytes: row.bytes,
        instances: row.instances,
        processes: more(row.processes.len(), 0),
        moved: accesses(row.moved),
        counted: accesses(row.counted),
        managed: accesses(row.managed),
        local: accesses(row.local()),
        remote: accesses(row.remote()),
        transfers_beneath: row.transfers_beneath(),
        is_unused: row.is_unused() && !has_gaps,
    }
}

fn piece(piece: &Piece<'_>) -> WirePiece {
    WirePiece {
        array: piece.array.noun.0,
        why: piece.kind.name().to_owned(),
        verb: piece.statement.verb.clone(),
        file: piece.statement.file.clone(),
        line: piece.statement.line,
        sum: accesses(piece.statement.sum),
        transfers: piece.transfers,
    }
}

fn buffer(it: &ArrayTraffic<'_>) -> WireBuffer {
    let (name, kind, file, line) = it.datum.map_or_else(Default::default, |datum| {
        (datum.name.clone(), datum.kind.clone(), datum.file.clone(), datum.line)
    });
    let pairs = it.pairs.iter().take(MOST_PAIRS).map(|((from, to), bytes)| (from.0, to.0, *bytes));
    WireBuffer {
        name,
        kind,
        file,
        line,
        sent: it.sent,
        sent_bytes: it.sent_bytes,
        received: it.received,
        received_bytes: it.received_bytes,
        pairs: pairs.collect(),
        more_pairs: more(it.pairs.len(), MOST_PAIRS),
    }
}

pub(super) fn one(run: &Opened<'_>, asked: &ArrayOf) -> Vec<u8> {
    let part = part::of(run, &asked.part);
    let rows = arrays(&part.trace);
    let row = rows.iter().find(|row| row.noun.0 == asked.array);
    let head = row.map(|row| {
        let processes = processes(&part.trace, row);
        // Why they cannot be read the view of sources tells.
        let nests = nests(run.archive).unwrap_or_default();
        ArrayHead {
            more_processes: more(processes.len(), MOST_ROWS),
            processes: processes.into_iter().take(MOST_ROWS).collect(),
            statements: row
                .statements
                .iter()
                .take(MOST_ROWS)
                .map(|it| statement(run, &part.trace, &nests, it))
                .collect(),
            more_statements: more(row.statements.len(), MOST_ROWS),
            has_sections: run.archive.has_accesses(),
        }
    });
    Columns::default().frame("array", &head)
}

fn processes(trace: &dyn Trace, row: &ArrayRow) -> Vec<WireArrayPart> {
    let none = accesses(AccessSum::default());
    let part = |process: ProcessId| WireArrayPart {
        process: process.0,
        bounds: Vec::new(),
        bytes: 0,
        instances: 0,
        local: none,
        remote: none,
        asked: none,
    };
    let mut parts: BTreeMap<ProcessId, WireArrayPart> = BTreeMap::new();
    for array in trace.arrays().iter().filter(|array| array.is_acted_on() && array.noun == row.noun) {
        let own = parts.entry(array.process).or_insert_with(|| part(array.process));
        own.instances += 1;
        if own.bytes < array.bytes || own.bounds.is_empty() {
            own.bytes = array.bytes;
            own.bounds.clone_from(&array.bounds);
        }
    }
    for (process, place) in &row.by_process {
        let own = parts.entry(*process).or_insert_with(|| part(*process));
        own.local = accesses(place.local);
        own.remote = accesses(place.remote);
    }
    for access in trace.accessed().iter().filter(|access| access.kind.moves()) {
        let array = access.array.and_then(|array| trace.arrays().get(array));
        let own = trace.locations().get(access.location.idx()).map(|location| location.process);
        let Some(peer) = access.peer.filter(|peer| own != Some(*peer)) else { continue };
        if array.is_some_and(|array| array.noun == row.noun) {
            let sum = &mut parts.entry(peer).or_insert_with(|| part(peer)).asked;
            sum.accesses = sum.accesses.saturating_add(access.accesses);
            sum.bytes = sum.bytes.saturating_add(access.bytes);
            sum.time_ns = sum.time_ns.saturating_add(access.time.0);
        }
    }
    parts.into_values().collect()
}

fn statement(run: &Opened<'_>, trace: &dyn Trace, nests: &Nests, it: &Statement) -> WireStatement {
    let of_callers = nests.of_callers(trace, it.call_paths.iter().copied());
    let beneath = it.beneath.iter().map(|it| WireBeneath {
        level: it.level.clone(),
        name: it.name.clone(),
        calls: it.calls,
        is_transfer: it.is_transfer,
        time_ns: it.time.0,
    });
    WireStatement {
        verb: it.verb.clone(),
        kind: it.kind.name().to_owned(),
        function: it.function.clone(),
        file: it.file.clone(),
        line: it.line,
        region: it.call_paths.iter().next().and_then(|path| region_of(run, *path)),
        sum: accesses(it.sum),
        pattern: it.pattern(trace).map_or_else(String::new, |it| it.to_string()),
        loops: nests.around(&it.file, it.line).iter().map(|it| (it.first, it.last)).collect(),
        callers_loops: of_callers
            .iter()
            .map(|it| WireCallerLoop {
                function: it.function.to_owned(),
                file: it.file.to_owned(),
                first: it.lines.first,
                last: it.lines.last,
            })
            .collect(),
        beneath: beneath.collect(),
    }
}
