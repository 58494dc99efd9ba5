//! Turning rows of the archive's tables into events.
//!
//! The one idea: a row becomes as many events as it has instants (enter and leave, both ends of a
//! message), of which those outside the window are left out here.
//!
//! The order is not made here.

use marey_archive::schema::{NONE, TableSpec};
use marey_archive::{Archive, Columns, Part as PartOfTable};
use marey_formats::write::{Edge, Event, Key, Message, Part, State, Turn, Visit, What};
use marey_model::{CallPathId, LocationId, Nanos, RegionId};
use rustc_hash::FxHashMap;

use super::{Window, up_to};

/// Reads events out of one archive.
#[derive(Debug)]
pub(super) struct Source<'a> {
    archive: &'a Archive,
    /// Rows that were read, which number what has two ends.
    n_rows: u64,
    /// When the last interval of each depth ends, on each location.
    ends: FxHashMap<LocationId, Vec<Nanos>>,
}

/// Takes the events of one part.
type Sink<'a> = dyn FnMut(Event) + 'a;

impl<'a> Source<'a> {
    /// Events of `archive`.
    pub(super) fn new(archive: &'a Archive) -> Self {
        Self { archive, n_rows: 0, ends: FxHashMap::default() }
    }

    /// Hands over the events of a part that lie in the window.
    pub(super) fn read(
        &mut self,
        table: &'static TableSpec,
        part: &PartOfTable,
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
        let (first, ends) = (&mut self.n_rows, &mut self.ends);
        self.archive.scan_part(table, part, &names, &filters, |rows| {
            if result.is_ok() {
                let mut taker = Taker { window, sink: &mut *sink, first: *first, ends: &mut *ends };
                result = taker.convert(table, rows);
                *first += rows.len() as u64;
            }
        })?;
        result
    }
}

/// Takes rows.
struct Taker<'a, 'b> {
    window: &'a Window,
    sink: &'a mut Sink<'b>,
    /// Number of the first of these rows among all.
    first: u64,
    ends: &'a mut FxHashMap<LocationId, Vec<Nanos>>,
}

impl Taker<'_, '_> {
    fn convert(&mut self, table: &'static TableSpec, rows: &Columns) -> anyhow::Result<()> {
        match table.name {
            "intervals" => self.intervals(rows),
            "overlaps" => self.overlaps(rows),
            "messages" => self.messages(rows),
            "collectives" => self.collectives(rows),
            "edges" => self.edges(rows),
            "events" => self.instants(rows),
            "counters" => self.counters(rows),
            _ => Ok(()),
        }
    }

    fn intervals(&mut self, rows: &Columns) -> anyhow::Result<()> {
        let (location, start) = (rows.u32("location")?, rows.i64("start")?);
        let (duration, path) = (rows.i64("duration")?, rows.u32("call_path")?);
        let (depth, bytes) = (rows.u32("depth")?, rows.i64("bytes")?);
        let (visits, gaps) = (rows.u32("visits")?, rows.i64("gaps")?);
        for row in 0..rows.len() {
            let visit = Visit {
                path: CallPathId(path[row]),
                depth: depth[row],
                start: Nanos(start[row]),
                duration: Nanos(duration[row].max(0)),
                visits: how_many(visits[row]),
                gaps: Nanos(gaps[row].max(0)),
                bytes: amount(bytes[row]),
            };
            let (location, end) = (LocationId(location[row]), visit.start + visit.duration);
            let is_at_end = self.is_at_end(location, &visit);
            if !self.window.wants(location) || !self.window.meets(visit.start, end) {
                continue;
            }
            let level = i64::from(visit.depth);
            if visit.duration.0 == 0 {
                let (turn, order) = if is_at_end { (Turn::Leave, -level) } else { (Turn::Enter, level) };
                self.put((location, visit.start, turn, order), row, What::Visit(visit));
                continue;
            }
            self.put((location, visit.start, Turn::Enter, level), row, What::Enter(visit));
            self.put((location, end, Turn::Leave, -level), row, What::Leave(visit));
        }
        Ok(())
    }

    /// Whether a visit is at the very end of the interval around it, which began before.
    fn is_at_end(&mut self, location: LocationId, visit: &Visit) -> bool {
        let ends = self.ends.entry(location).or_default();
        let depth = usize::try_from(visit.depth).unwrap_or(usize::MAX);
        let around = depth.checked_sub(1).and_then(|around| ends.get(around)).copied();
        ends.truncate(depth);
        // A row that is missing leaves a gap, of which nothing is said.
        if ends.len() == depth {
            ends.push(visit.start + visit.duration);
        }
        around.is_some_and(|end| end <= visit.start)
    }

    fn overlaps(&mut self, rows: &Columns) -> anyhow::Result<()> {
        let (location, start) = (rows.u32("location")?, rows.i64("start")?);
        let (duration, region) = (rows.i64("duration")?, rows.u32("region")?);
        for row in 0..rows.len() {
            let location = LocationId(location[row]);
            let (start, duration) = (Nanos(start[row]), Nanos(duration[row]));
            if self.window.wants(location) && self.window.meets(start, start + duration) {
                let region = RegionId(region[row]);
                let state = State { id: self.first + row as u64, region, start, duration };
                let order = i64::from(region.0);
                self.put((location, start, Turn::Act, order), row, What::Begin(state));
                self.put((location, start + duration, Turn::Act, order), row, What::End(state));
            }
        }
        Ok(())
    }

    fn messages(&mut self, rows: &Columns) -> anyhow::Result<()> {
        let (sender, sent) = (rows.u32("send_location")?, rows.i64("send_time")?);
        let (receiver, received) = (rows.u32("recv_location")?, rows.i64("recv_time")?);
        let (posted, started) = (rows.i64("recv_post")?, rows.i64("recv_start")?);
        let (tag, bytes, communicator) = (rows.i64("tag")?, rows.i64("bytes")?, rows.u32("communicator")?);
        for row in 0..rows.len() {
            let message = Message {
                id: self.first + row as u64,
                sent: place(sender[row]).map(|place| (place, Nanos(sent[row]))),
                received: place(receiver[row]).map(|place| (place, Nanos(received[row]))),
                posted: (0 <= posted[row]).then_some(Nanos(posted[row])),
                tag: tag[row],
                bytes: amount(bytes[row]).unwrap_or(0),
                communicator: communicator[row],
            };
            if let Some((place, time)) = message.sent {
                self.emit(place, time, Turn::Act, row, What::Send(message));
            }
            if let Some((place, time)) = message.received {
                // A call that takes no time is not there yet when it arrives.
                let turn = if started[row] == time.0 { Turn::Act } else { Turn::Arrive };
                self.emit(place, time, turn, row, What::Receive(message));
            }
        }
        Ok(())
    }

    fn collectives(&mut self, rows: &Columns) -> anyhow::Result<()> {
        let (place, enter, leave) = (rows.u32("location")?, rows.i64("enter")?, rows.i64("leave")?);
        let (communicator, instance) = (rows.u32("communicator")?, rows.u32("instance")?);
        let (root, out, into) = (rows.i64("root")?, rows.i64("bytes_out")?, rows.i64("bytes_in")?);
        let path = rows.u32("call_path")?;
        for row in 0..rows.len() {
            let start = Nanos(enter[row]);
            let part = Part {
                communicator: communicator[row],
                instance: instance[row],
                root: u32::try_from(root[row]).ok(),
                bytes_out: amount(out[row]).unwrap_or(0),
                bytes_in: amount(into[row]).unwrap_or(0),
                start,
                end: (0 <= leave[row]).then_some(Nanos(leave[row])),
                path: (path[row] != NONE).then_some(CallPathId(path[row])),
            };
            // Before all else that the call says.
            let (place, what) = (LocationId(place[row]), What::Collective(part));
            if self.window.wants(place) && self.window.meets(start, start) {
                self.put((place, start, Turn::Act, -1), row, what);
            }
        }
        Ok(())
    }

    fn edges(&mut self, rows: &Columns) -> anyhow::Result<()> {
        let (from, to) = (rows.u32("from_location")?, rows.u32("to_location")?);
        let (left, arrived) = (rows.i64("from_time")?, rows.i64("to_time")?);
        let kind = rows.text("kind")?;
        for row in 0..rows.len() {
            let edge = Edge {
                id: self.first + row as u64,
                kind: kind[row].clone(),
                from: (LocationId(from[row]), Nanos(left[row])),
                to: (LocationId(to[row]), Nanos(arrived[row])),
            };
            let ((from, left), (to, arrived)) = (edge.from, edge.to);
            self.emit(from, left, Turn::Act, row, What::Cause(edge.clone()));
            self.emit(to, arrived, Turn::Act, row, What::Effect(edge));
        }
        Ok(())
    }

    fn instants(&mut self, rows: &Columns) -> anyhow::Result<()> {
        let (place, time) = (rows.u32("location")?, rows.i64("time")?);
        let (kind, fields) = (rows.u32("kind")?, rows.text("fields")?);
        for row in 0..rows.len() {
            let what = What::Instant { kind: kind[row], fields: fields[row].clone() };
            self.emit(LocationId(place[row]), Nanos(time[row]), Turn::Act, row, what);
        }
        Ok(())
    }

    fn counters(&mut self, rows: &Columns) -> anyhow::Result<()> {
        let (place, time) = (rows.u32("location")?, rows.i64("time")?);
        let (counter, value) = (rows.u32("counter")?, rows.f64("value")?);
        for row in 0..rows.len() {
            let what = What::Counter { counter: counter[row], value: value[row] };
            self.emit(LocationId(place[row]), Nanos(time[row]), Turn::Act, row, what);
        }
        Ok(())
    }

    /// Hands over something that takes no time, if it is wanted.
    fn emit(&mut self, place: LocationId, time: Nanos, turn: Turn, row: usize, what: What) {
        if self.window.wants(place) && self.window.meets(time, time) {
            self.put((place, time, turn, 0), row, what);
        }
    }

    fn put(&mut self, at: (LocationId, Nanos, Turn, i64), row: usize, what: What) {
        let (location, time, turn, order) = at;
        // What begins and ends at one instant begins first.
        let is_end = matches!(what, What::End(_) | What::Receive(_) | What::Effect(_));
        let row = 2 * (self.first + row as u64) + u64::from(is_end);
        let key = Key { time, location, turn, order, row };
        (self.sink)(Event { key, what });
    }
}

/// Archives that are older have a row for each visit.
fn how_many(visits: u32) -> u32 {
    if visits == NONE { 1 } else { visits }
}

fn place(id: u32) -> Option<LocationId> {
    (id != NONE).then_some(LocationId(id))
}

fn amount(bytes: i64) -> Option<u64> {
    u64::try_from(bytes).ok()
}
