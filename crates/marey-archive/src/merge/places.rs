//! Where things happened: processes and locations with their spans, and what was open at the cuts and at
//! the end.

use marey_model::spool::Stream;

use super::build::Long;
use super::decode::Decoder;
use super::definitions::{ProcessDefs, Resources};
use super::globals::{Context, Location};
use super::input::Input;
use super::rows::columns;
use super::stream::Decoding;
use super::tables;
use crate::schema::*;
use crate::{Column, Columns, Error};

pub(super) fn snapshots(decoding: &Decoding) -> Result<Columns, Error> {
    let mut rows: Vec<(u32, u32, &Long)> = Vec::new();
    for (location, long) in &decoding.long {
        for slab in long.first_slab + 1..=long.last_slab {
            rows.push((slab, *location, long));
        }
    }
    rows.sort_by_key(|(slab, location, row)| (*slab, *location, row.start, row.depth));
    let path = |location: u32, path: u32| {
        let globals = &decoding.locations[location as usize].builder.globals;
        globals.get(path as usize).copied().unwrap_or(NONE)
    };
    let columns = columns![rows;
        U32 |row| row.0,
        U32 |row| row.1,
        I64 |row| row.2.start,
        I64 |row| row.2.duration,
        U32 |row| path(row.1, row.2.path),
        U32 |row| row.2.depth,
    ];
    Columns::from_columns(&SNAPSHOTS, columns)
}

/// Where each thread was when its process ended.
pub(super) fn open_at_end(decoding: &Decoding) -> Result<Columns, Error> {
    let mut rows: Vec<(u32, u32, u32, i64)> = Vec::new();
    for location in &decoding.locations {
        let regions = location.decoder.iter().flat_map(|decoder| &decoder.at_end);
        for (depth, region) in (0_u32..).zip(regions) {
            let path = location.builder.globals.get(region.path as usize).copied().unwrap_or(NONE);
            rows.push((location.id, depth, path, region.start));
        }
    }
    let columns = columns![rows;
        U32 |row| row.0,
        U32 |row| row.1,
        U32 |row| row.2,
        I64 |row| row.3,
    ];
    Columns::from_columns(&OPEN_AT_END, columns)
}

/// First and last instant of each location.
pub(super) fn spans(input: &Input, decoding: &Decoding) -> Vec<(i64, i64)> {
    decoding.locations.iter().enumerate().map(|(number, state)| span(input, number, state)).collect()
}

/// First and last instant of a location.
pub(super) fn span(input: &Input, number: usize, state: &super::stream::Location) -> (i64, i64) {
    let location = &input.globals.locations[number];
    let clock = &input.contexts[location.process as usize].clock;
    let first = location.ticks.map(|ticks| clock.ns(ticks));
    let seen = (state.builder.first != i64::MIN).then_some((state.builder.first, state.builder.last));
    let last = location.stream.map(|_| clock.ns(input.plan.last_ticks[state.id as usize]));
    let start = first.into_iter().chain(seen.map(|seen| seen.0)).min().unwrap_or(0);
    // A thread that did not say that it ended was there as long as its process. Where records are
    // missing, time goes as far as they do, or all that follows would count as computing.
    let is_alive = !location.is_lane && state.decoder.as_ref().is_some_and(Decoder::is_alive);
    let lived = is_alive.then(|| clock.ns(input.endings[location.process as usize]));
    let end = last.into_iter().chain(seen.map(|seen| seen.1)).chain(lived).max().unwrap_or(start);
    (start, end.max(start))
}

fn rank(input: &Input, process: usize) -> i64 {
    input.processes[process].mpi.as_ref().map_or(-1, |mpi| mpi.rank.into())
}

pub(super) fn locations(input: &Input, decoding: &Decoding, spans: &[(i64, i64)]) -> Result<Columns, Error> {
    let rows: Vec<(&Location, &(i64, i64))> = input.globals.locations.iter().zip(spans).collect();
    let host = |row: &(&Location, &(i64, i64))| input.processes[row.0.process as usize].host.clone();
    let since =
        |state: &super::stream::Location| state.decoder.as_ref().and_then(|decoder| decoder.added_up.since);
    let detail = decoding.locations.iter().map(|state| since(state).unwrap_or(-1)).collect();
    let mut columns = columns![rows;
        U32 |row| row.0.process,
        Text |row| row.0.name.clone(),
        Text |row| if row.0.is_lane { "lane" } else { "thread" }.to_owned(),
        U32 |row| row.0.thread,
        I64 |row| row.0.os_thread,
        Text host,
        U32 |row| input.worlds[row.0.process as usize].unwrap_or(0),
        I64 |row| rank(input, row.0.process as usize),
        I64 |row| row.1.0,
        I64 |row| row.1.1,
    ];
    columns.push(Column::I64(detail));
    tables::with_ids(&LOCATIONS, rows.len(), columns)
}

/// Bytes of all records of a process: those in the last window of each stream, and before it.
fn record_bytes(input: &Input, key: u64) -> i64 {
    let streams = input.index.streams[input.index.streams_of(key)].iter();
    let events = streams.filter(|stream| stream.kind != Stream::Definitions);
    let last = events.filter_map(|stream| stream.windows.last());
    let bytes = last.map(|window| window.bytes_before.saturating_add(window.len()));
    i64::try_from(bytes.fold(0, u64::saturating_add)).unwrap_or(i64::MAX)
}

/// First and last instant of each process.
fn process_spans(input: &Input, spans: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let mut own: Vec<Option<(i64, i64)>> = vec![None; input.processes.len()];
    for (location, span) in input.globals.locations.iter().zip(spans) {
        let whole = own[location.process as usize].get_or_insert(*span);
        *whole = (whole.0.min(span.0), whole.1.max(span.1));
    }
    let processes = input.processes.iter().zip(&input.contexts).zip(own);
    let span = |((process, context), own): ((&ProcessDefs, &Context), Option<(i64, i64)>)| {
        let ns = |ticks| context.clock.ns(ticks);
        let defined = (process.start.ticks != 0).then(|| ns(process.start.ticks));
        let start = defined.into_iter().chain(own.map(|span| span.0)).min().unwrap_or(0);
        let ended = process.ending.as_ref().map(|ending| ns(ending.2.ticks));
        (start, ended.into_iter().chain(own.map(|span| span.1)).max().unwrap_or(start))
    };
    processes.map(span).collect()
}

/// A number of what a process has used; −1 if it did not say.
fn used(process: &ProcessDefs, which: impl FnOnce(&Resources) -> u64) -> i64 {
    process.resources.as_ref().map_or(-1, |used| i64::try_from(which(used)).unwrap_or(i64::MAX))
}

pub(super) fn processes(input: &Input, spans: &[(i64, i64)]) -> Result<Columns, Error> {
    let mut table = Columns::new(&PROCESSES);
    let spans = process_spans(input, spans);
    for (idx, (process, (start, end))) in input.processes.iter().zip(spans).enumerate() {
        let (outcome, code) = tables::outcome(input, idx);
        let mpi = process.mpi.as_ref();
        let level = mpi.map_or("", |mpi| match mpi.thread_level {
            0 => "single",
            1 => "funneled",
            2 => "serialized",
            _ => "multiple",
        });
        table.push(&[
            (idx as u32).into(),
            process.host.as_str().into(),
            process.pid.into(),
            input.worlds[idx].unwrap_or(0).into(),
            rank(input, idx).into(),
            mpi.map_or(-1, |mpi| i64::from(mpi.size)).into(),
            process.command.join(" ").as_str().into(),
            process.executable.as_str().into(),
            start.into(),
            end.into(),
            outcome.as_str().into(),
            code.into(),
            mpi.map_or("", |mpi| mpi.library.as_str()).into(),
            level.into(),
            record_bytes(input, process.key).into(),
            used(process, |used| used.peak_memory).into(),
            used(process, |used| used.user).into(),
            used(process, |used| used.system).into(),
            used(process, |used| used.major_faults).into(),
            used(process, |used| used.waits).into(),
            used(process, |used| used.preemptions).into(),
        ])?;
    }
    Ok(table)
}
