//! Turning rows of the archive's tables into events.
//!
//! The one idea: a row becomes as many events as it has instants (enter and leave, both ends of a
//! message), of which those outside the window are left out here.
//!
//! The order is not made here.

use marey_archive::schema::{NONE, TableSpec};
use marey_archive::{Archive, Columns, Part};
use marey_model::{CallPathId, LocationId, Nanos, RegionId};

use super::event::{Event, Key, Message, Took, Turn, What};
use super::{Window, up_to};

/// Reads events out of one archive.
#[derive(Debug)]
pub(super) struct Source<'a> {
    archive: &'a Archive,
}

/// Takes the events of one part.
type Sink<'a> = dyn FnMut(Event) + 'a;

impl<'a> Source<'a> {
    /// Events of `archive`.
    pub(super) fn new(archive: &'a Archive) -> Self {
        Self { archive }
    }

    /// Hands over the events of a part that lie in the window.
    pub(super) fn read(
        &self,
        table: &'static TableSpec,
        part: &Part,
        window: &Window,
        sink: &mut Sink<'_>,
    ) -> anyhow::Result<()> {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        let filters: Vec<_> = match table.name {
            "intervals" | "overlaps" => vec![up_to("start", window)],
            "events" | "counters" => vec![up_to("time", window)],
            // A message, an edge or a collective has an event on either side.
            _ => Vec::new(),
        };
        let mut result = Ok(());
        self.archive.scan_part(table, part, &names, &filters, |rows| {
            if result.is_ok() {
                result = convert(table, rows, window, sink);
            }
        })?;
        result
    }
}

fn convert(
    table: &'static TableSpec,
    rows: &Columns,
    window: &Window,
    sink: &mut Sink<'_>,
) -> anyhow::Result<()> {
    match table.name {
        "intervals" => intervals(rows, window, sink),
        "overlaps" => overlaps(rows, window, sink),
        "messages" => messages(rows, window, sink),
        "collectives" => collectives(rows, window, sink),
        "edges" => edges(rows, window, sink),
        "events" => instants(rows, window, sink),
        "counters" => counters(rows, window, sink),
        _ => Ok(()),
    }
}

fn intervals(rows: &Columns, window: &Window, sink: &mut Sink<'_>) -> anyhow::Result<()> {
    let (location, start) = (rows.u32("location")?, rows.i64("start")?);
    let (duration, path) = (rows.i64("duration")?, rows.u32("call_path")?);
    let (depth, bytes) = (rows.u32("depth")?, rows.i64("bytes")?);
    let (visits, gaps) = (rows.u32("visits")?, rows.i64("gaps")?);
    for row in 0..rows.len() {
        let (location, path) = (LocationId(location[row]), CallPathId(path[row]));
        let (start, duration) = (Nanos(start[row]), Nanos(duration[row]));
        let (end, depth, bytes) = (start + duration, depth[row], amount(bytes[row]));
        if !window.wants(location) || !window.meets(start, end) {
            continue;
        }
        let level = i64::from(depth);
        if duration.0 <= 0 {
            let what = What::Visit { path, depth, bytes, visits: how_many(visits[row]) };
            sink(Event { key: Key { time: start, location, turn: Turn::Enter, order: level }, what });
            continue;
        }
        let what = What::Enter { path, depth };
        sink(Event { key: Key { time: start, location, turn: Turn::Enter, order: level }, what });
        let took = Took { duration, visits: how_many(visits[row]), gaps: Nanos(gaps[row].max(0)) };
        let what = What::Leave { path, depth, took, bytes };
        sink(Event { key: Key { time: end, location, turn: Turn::Leave, order: -level }, what });
    }
    Ok(())
}

/// Archives that are older have a row for each visit.
fn how_many(visits: u32) -> u32 {
    if visits == NONE { 1 } else { visits }
}

fn overlaps(rows: &Columns, window: &Window, sink: &mut Sink<'_>) -> anyhow::Result<()> {
    let (location, start) = (rows.u32("location")?, rows.i64("start")?);
    let (duration, region) = (rows.i64("duration")?, rows.u32("region")?);
    for row in 0..rows.len() {
        let (location, region) = (LocationId(location[row]), RegionId(region[row]));
        let (start, duration) = (Nanos(start[row]), Nanos(duration[row]));
        if window.wants(location) && window.meets(start, start + duration) {
            let order = i64::from(region.0);
            let begin = Key { time: start, location, turn: Turn::Act, order };
            sink(Event { key: begin, what: What::Begin { region } });
            let end = Key { time: start + duration, location, turn: Turn::Act, order };
            sink(Event { key: end, what: What::End { region, duration } });
        }
    }
    Ok(())
}

fn messages(rows: &Columns, window: &Window, sink: &mut Sink<'_>) -> anyhow::Result<()> {
    let (sender, sent) = (rows.u32("send_location")?, rows.i64("send_time")?);
    let (receiver, received) = (rows.u32("recv_location")?, rows.i64("recv_time")?);
    let (tag, bytes, communicator) = (rows.i64("tag")?, rows.i64("bytes")?, rows.u32("communicator")?);
    for row in 0..rows.len() {
        let (from, to) = (location(sender[row]), location(receiver[row]));
        let (tag, bytes) = (tag[row], amount(bytes[row]).unwrap_or(0));
        let end = |peer| Message { peer, tag, bytes, communicator: communicator[row] };
        if let Some(place) = from {
            emit(window, sink, place, sent[row], Turn::Act, What::Send(end(to)));
        }
        if let Some(place) = to {
            emit(window, sink, place, received[row], Turn::Arrive, What::Receive(end(from)));
        }
    }
    Ok(())
}

fn collectives(rows: &Columns, window: &Window, sink: &mut Sink<'_>) -> anyhow::Result<()> {
    let (place, enter) = (rows.u32("location")?, rows.i64("enter")?);
    let (communicator, instance) = (rows.u32("communicator")?, rows.u32("instance")?);
    let (root, out, into) = (rows.i64("root")?, rows.i64("bytes_out")?, rows.i64("bytes_in")?);
    for row in 0..rows.len() {
        let what = What::Collective {
            communicator: communicator[row],
            instance: instance[row],
            root: u32::try_from(root[row]).ok(),
            bytes_out: amount(out[row]).unwrap_or(0),
            bytes_in: amount(into[row]).unwrap_or(0),
        };
        emit(window, sink, LocationId(place[row]), enter[row], Turn::Act, what);
    }
    Ok(())
}

fn edges(rows: &Columns, window: &Window, sink: &mut Sink<'_>) -> anyhow::Result<()> {
    let (from, to) = (rows.u32("from_location")?, rows.u32("to_location")?);
    let (left, arrived) = (rows.i64("from_time")?, rows.i64("to_time")?);
    let kind = rows.text("kind")?;
    for row in 0..rows.len() {
        let (from, from_time) = (LocationId(from[row]), Nanos(left[row]));
        let what = What::Edge { kind: kind[row].clone(), from, from_time };
        emit(window, sink, LocationId(to[row]), arrived[row], Turn::Act, what);
    }
    Ok(())
}

fn instants(rows: &Columns, window: &Window, sink: &mut Sink<'_>) -> anyhow::Result<()> {
    let (place, time) = (rows.u32("location")?, rows.i64("time")?);
    let (kind, fields) = (rows.u32("kind")?, rows.text("fields")?);
    for row in 0..rows.len() {
        let what = What::Instant { kind: kind[row], fields: fields[row].clone() };
        emit(window, sink, LocationId(place[row]), time[row], Turn::Act, what);
    }
    Ok(())
}

fn counters(rows: &Columns, window: &Window, sink: &mut Sink<'_>) -> anyhow::Result<()> {
    let (place, time) = (rows.u32("location")?, rows.i64("time")?);
    let (counter, value) = (rows.u32("counter")?, rows.f64("value")?);
    for row in 0..rows.len() {
        let what = What::Counter { counter: counter[row], value: value[row] };
        emit(window, sink, LocationId(place[row]), time[row], Turn::Act, what);
    }
    Ok(())
}

fn emit(window: &Window, sink: &mut Sink<'_>, place: LocationId, time: i64, turn: Turn, what: What) {
    let time = Nanos(time);
    if window.wants(place) && window.meets(time, time) {
        sink(Event { key: Key { time, location: place, turn, order: 0 }, what });
    }
}

fn location(id: u32) -> Option<LocationId> {
    (id != NONE).then_some(LocationId(id))
}

fn amount(bytes: i64) -> Option<u64> {
    u64::try_from(bytes).ok()
}
