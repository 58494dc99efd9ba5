//! What a slab, and what is left at the end, looks like as rows of tables.

use rayon::prelude::*;

use super::build::Row;
use super::lod::{self, Lod, LodRow};
use super::messages::CollectiveRow;
use super::outcome::MessageRow;
use super::overlaps::Overlap;
use super::slabs::Groups;
use super::stream::{LocationSlab, Slab};
use super::write::{BATCH, LocationRows, Sink, intervals};
use crate::schema::{
    ACCESSES, COLLECTIVES, COUNTERS, EDGES, EVENTS, INTERVALS, IO, LOD, MESSAGES, NONE, OVERLAPS, RMA,
    TableSpec,
};
use crate::{Column, Columns, Error};

/// Gathers one column of each row.
macro_rules! columns {
    ($rows:expr; $($kind:ident $value:expr),* $(,)?) => {
        vec![$(Column::$kind($rows.iter().map($value).collect())),*]
    };
}
pub(super) use columns;

/// The earliest time of a message.
pub(crate) fn first_time(row: &MessageRow) -> i64 {
    let times = [row.send_time, row.recv_post, row.recv_time];
    times.into_iter().filter(|&time| time >= 0).min().unwrap_or(0)
}

/// Group of locations that a message's row lies with: the receiver's, else the sender's.
fn message_group(row: &MessageRow, groups: Groups) -> u32 {
    let location = if row.recv_location == NONE { row.send_location } else { row.recv_location };
    groups.of(location)
}

/// Writes the parts of a slab that need no other location to be known.
/// Their level of detail is kept in `lods`, until it is much or there is no more.
pub(crate) fn write_locations(slab: &Slab, lods: &mut [Lod], sink: &Sink) -> Result<(), Error> {
    let size = sink.groups.size();
    let kept: usize = lods.iter().map(Lod::complete).sum();
    let detail = match slab.is_last {
        true => Detail::Last,
        false if kept >= lod::KEPT_ROWS => Detail::Due,
        false => Detail::Kept,
    };
    let groups = slab.locations.chunks(size).zip(lods.chunks_mut(size));
    let groups: Vec<_> = (0_u32..).zip(groups).collect();
    groups.into_par_iter().try_for_each(|(group, (locations, lods))| {
        let rows: Vec<LocationRows<'_>> = locations
            .iter()
            .map(|l| LocationRows {
                location: l.location,
                rows: &l.rows,
                operations: &l.operations,
                paths: &l.paths,
                depths: &l.depths,
                sets: &l.sets,
            })
            .collect();
        let is_any = rows.iter().any(|location| location.rows.iter().any(|row| row.duration >= 0));
        let write_intervals = || {
            if !is_any {
                return Ok(());
            }
            sink.part(&INTERVALS, slab.number, group, |writer| intervals(writer, &rows))
        };
        // In a run of few locations there is but one group.
        let write_others = || {
            [
                level_of_detail(locations, lods, detail),
                edges(locations),
                events(locations),
                counters(locations),
                rma(locations),
                accesses(locations),
                io(locations),
                super::samples::rows(locations),
            ]
            .into_iter()
            .try_for_each(|(spec, columns)| sink.columns(spec, slab.number, group, columns))
        };
        let (intervals, others) = rayon::join(write_intervals, write_others);
        intervals.and(others)
    })
}

/// Messages, sorted by receiver and time, in the parts of their groups.
pub(crate) fn write_messages(slab: u32, messages: &mut [&MessageRow], sink: &Sink) -> Result<(), Error> {
    // Those without a receiver stand last; only then groups are not together yet.
    if messages.last().is_some_and(|row| row.recv_location == NONE) {
        messages.sort_by_key(|row| message_group(row, sink.groups));
    }
    let groups: Vec<&[&MessageRow]> =
        messages.chunk_by(|a, b| message_group(a, sink.groups) == message_group(b, sink.groups)).collect();
    groups.par_iter().try_for_each(|rows| {
        sink.part(&MESSAGES, slab, message_group(rows[0], sink.groups), |writer| {
            // Piece by piece, so that columns are built in memory that is still in the cache.
            rows.chunks(BATCH).try_for_each(|piece| writer.write(&message_columns(piece)?))
        })
    })
}

fn message_columns(rows: &[&MessageRow]) -> Result<Columns, Error> {
    let columns = columns![rows;
        U32 |row| row.send_location,
        I64 |row| row.send_time,
        I64 |row| row.send_end,
        U32 |row| row.recv_location,
        I64 |row| row.recv_post,
        I64 |row| row.recv_start,
        I64 |row| row.recv_time,
        I64 |row| row.bytes,
        I64 |row| row.tag,
        U32 |row| row.communicator,
        U32 |row| row.send_datatype,
        U32 |row| row.recv_datatype,
        I64 |row| row.send_buffer,
        I64 |row| row.recv_buffer,
        U32 |row| row.send_path,
        U32 |row| row.recv_path,
        I64 |row| row.send_start,
        U32 |row| row.send_done_path,
        U32 |row| row.send_array,
        U32 |row| row.recv_array,
    ];
    Columns::from_columns(&MESSAGES, columns)
}

/// Overlapping states, sorted by location and start.
pub(crate) fn write_overlaps(slab: u32, overlaps: &[Overlap], sink: &Sink) -> Result<(), Error> {
    for rows in overlaps.chunk_by(|a, b| sink.groups.of(a.location) == sink.groups.of(b.location)) {
        let mut latest = (NONE, 0);
        let ends = rows.iter().map(|row| {
            let end = row.start + row.duration;
            latest = (row.location, if latest.0 == row.location { end.max(latest.1) } else { end });
            latest.1
        });
        let ends = ends.collect();
        let mut columns = columns![rows;
            U32 |row| row.location,
            I64 |row| row.start,
            I64 |row| row.duration,
            U32 |row| row.region,
        ];
        columns.push(Column::I64(ends));
        sink.columns(&OVERLAPS, slab, sink.groups.of(rows[0].location), columns)?;
    }
    Ok(())
}

/// Collectives as columns.
pub(crate) fn collectives(rows: &[CollectiveRow]) -> Result<Columns, Error> {
    let columns = columns![rows;
        U32 |row| row.communicator,
        U32 |row| row.instance,
        U32 |row| row.location,
        I64 |row| row.enter,
        I64 |row| row.leave,
        U32 |row| row.path,
        I64 |row| row.root,
        I64 |row| row.bytes_out,
        I64 |row| row.bytes_in,
        I64 |row| row.start,
        U32 |row| row.done_path,
        U32 |row| row.arrays[0],
        U32 |row| row.arrays[1],
    ];
    Columns::from_columns(&COLLECTIVES, columns)
}

type Table = (&'static TableSpec, Vec<Column>);

/// What becomes of the level of detail that a slab makes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// It waits for that of later slabs.
    Kept,
    /// It is written, with what was kept.
    Due,
    /// The same, and so is what is still open.
    Last,
}

fn level_of_detail(locations: &[LocationSlab], lods: &mut [Lod], detail: Detail) -> Table {
    let made: Vec<(u32, Vec<LodRow>)> = locations
        .par_iter()
        .zip(lods)
        .map(|(l, lod)| {
            lod.slab(&l.lod_keys, (&l.rows, &l.operations), &l.long);
            if detail == Detail::Last {
                lod.finish();
            }
            (l.location, if detail == Detail::Kept { Vec::new() } else { lod.take() })
        })
        .collect();
    let rows: Vec<(u32, &LodRow)> = lod::in_order(&made);
    let columns = columns![rows;
        U32 |row| row.0,
        U32 |row| row.1.level,
        U32 |row| row.1.depth,
        U32 |row| row.1.resolution_log2,
        I64 |row| row.1.bucket,
        U32 |row| row.1.regions[0].0,
        I64 |row| row.1.regions[0].1,
        U32 |row| row.1.regions[1].0,
        I64 |row| row.1.regions[1].1,
        U32 |row| row.1.regions[2].0,
        I64 |row| row.1.regions[2].1,
        I64 |row| row.1.rest,
    ];
    (&LOD, columns)
}

fn edges(locations: &[LocationSlab]) -> Table {
    let rows: Vec<_> = locations
        .iter()
        .flat_map(|l| {
            l.happened.edges.iter().zip(&l.edge_nouns).map(move |(edge, noun)| (l.location, edge, *noun))
        })
        .collect();
    let columns = columns![rows;
        Text |row| row.1.kind.name().to_owned(),
        U32 |row| row.1.from_location,
        I64 |row| row.1.from_time,
        U32 |row| row.0,
        I64 |row| row.1.to_time,
        U32 |row| row.2,
    ];
    (&EDGES, columns)
}

fn events(locations: &[LocationSlab]) -> Table {
    let mut rows: Vec<_> = locations
        .iter()
        .flat_map(|l| l.happened.events.iter().map(move |event| (l.location, event)))
        .collect();
    // Attributes bear the time of their interval's enter, so they may stand too late.
    rows.sort_by_key(|row| (row.0, row.1.0));
    let columns = columns![rows;
        U32 |row| row.0,
        I64 |row| row.1.0,
        U32 |row| row.1.1,
        Text |row| row.1.2.clone(),
    ];
    (&EVENTS, columns)
}

fn counters(locations: &[LocationSlab]) -> Table {
    let mut rows: Vec<_> =
        locations.iter().flat_map(|l| l.happened.counters.iter().map(move |row| (l.location, row))).collect();
    // Those of the program come first.
    if !rows.is_sorted_by_key(|(location, row)| (*location, row.0)) {
        rows.sort_by_key(|(location, row)| (*location, row.0));
    }
    let columns = columns![rows;
        U32 |row| row.0,
        I64 |row| row.1.0,
        U32 |row| row.1.1,
        F64 |row| row.1.2,
    ];
    (&COUNTERS, columns)
}

/// When the visit of a call path that began at an instant ended; −1 if it did not in this slab.
fn leave_of(location: &LocationSlab, start: i64, path: u32) -> i64 {
    leave_in(&location.rows, start, path)
}

/// The same among the visits of a location.
pub(super) fn leave_in(rows: &[Row], start: i64, path: u32) -> i64 {
    let first = rows.partition_point(|row| row.start < start);
    let at_once = rows[first..].iter().take_while(|row| row.start == start);
    let mut own = at_once.filter(|row| row.path == path && row.duration >= 0);
    own.next().map_or(-1, |row| row.start + row.duration)
}

fn rma(locations: &[LocationSlab]) -> Table {
    let rows: Vec<_> =
        locations.iter().flat_map(|l| l.happened.rma.iter().map(move |row| (l, row))).collect();
    let columns = columns![rows;
        U32 |row| row.0.location,
        I64 |row| row.1.time,
        U32 |row| row.0.paths.get(row.1.path as usize).copied().unwrap_or(NONE),
        Text |row| row.1.kind.to_owned(),
        U32 |row| row.1.window,
        I64 |row| row.1.target,
        I64 |row| row.1.bytes,
        I64 |row| row.1.displacement,
        I64 |row| leave_of(row.0, row.1.time, row.1.path),
        U32 |row| row.1.peer,
        U32 |row| row.1.array,
        U32 |row| row.1.target_array,
    ];
    (&RMA, columns)
}

fn accesses(locations: &[LocationSlab]) -> Table {
    let rows: Vec<_> =
        locations.iter().flat_map(|l| l.happened.accesses.iter().map(move |row| (l, row))).collect();
    let columns = columns![rows;
        U32 |row| row.0.location,
        I64 |row| row.1.time,
        U32 |row| row.0.paths.get(row.1.path as usize).copied().unwrap_or(NONE),
        Text |row| row.1.kind.to_owned(),
        U32 |row| row.1.array,
        I64 |row| row.1.target,
        U32 |row| row.1.peer,
        I64 |row| row.1.bytes,
        I64 |row| row.1.offset,
        U32 |row| row.1.shape,
        I64 |row| row.1.leave,
    ];
    (&ACCESSES, columns)
}

fn io(locations: &[LocationSlab]) -> Table {
    let rows: Vec<_> = locations.iter().flat_map(|l| l.happened.io.iter().map(move |row| (l, row))).collect();
    let columns = columns![rows;
        U32 |row| row.0.location,
        I64 |row| row.1.time,
        U32 |row| row.0.paths.get(row.1.path as usize).copied().unwrap_or(NONE),
        Text |row| row.1.kind.to_owned(),
        U32 |row| row.1.file,
        I64 |row| row.1.bytes,
        I64 |row| row.1.offset,
    ];
    (&IO, columns)
}
