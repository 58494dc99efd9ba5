//! Perfetto: track events in protobuf.
//!
//! The one idea: what has a name is told once, at the beginning, and events have its number; so an event is some twenty bytes,
//! and nothing is kept but the tracks of counters that were made.
//!
//! * [`encode`]: protobuf. Source: the `.proto` files of the Perfetto project. Deliberately absent: numbers of processes and
//!   threads of the system, which need not be unique in a run of several nodes.

mod encode;

use std::path::Path;

use marey_model::{LocationId, Nanos};
use rustc_hash::FxHashMap;

use self::encode::Fields;
use super::aside::Aside;
use super::event::{Edge, Event, Message, Part, Visit, What};
use super::{Definitions, Line, Tally, Writer, Written, names};
use crate::Error;

/// Types of track events.
const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;
/// Entries of a table in one packet.
const ENTRIES: usize = 1000;
/// Names of our own, behind those of regions and kinds of events.
const OWN: [&str; 4] = ["send", "receive", "collective", "(unknown region)"];
/// Numbers of clocks: what the trace goes by, and the calendar.
const BOOT_TIME: u64 = 6;
const REAL_TIME: u64 = 1;

pub(super) struct Perfetto<'a> {
    run: &'a Definitions<'a>,
    out: Aside,
    /// Numbers of the categories of regions.
    categories: Vec<u64>,
    /// Arguments that all visits of a region have.
    arguments: Vec<Fields>,
    /// Tracks of counters, by location and number; `None` = peak of the heap.
    counters: FxHashMap<(LocationId, Option<u32>), u64>,
    next_track: u64,
    tally: Tally,
}

impl<'a> Perfetto<'a> {
    pub(super) fn create(run: &'a Definitions<'a>, out: &Path) -> Result<Self, Error> {
        let trace = run.trace;
        let mut levels: Vec<&str> = Vec::new();
        let mut categories = Vec::new();
        let mut arguments = Vec::new();
        for region in trace.regions() {
            let at = levels.iter().position(|level| *level == region.level).unwrap_or_else(|| {
                levels.push(&region.level);
                levels.len() - 1
            });
            categories.push(at as u64 + 1);
            let (name, mut of) = (names::region(region), Fields::default());
            for (key, value) in [("verb", &region.verb), ("noun", &region.noun)] {
                if !value.is_empty() && value != name && value != "execute" {
                    of.message(4, &text_argument(key, value));
                }
            }
            arguments.push(of);
        }
        let n_tracks = trace.processes().len() + trace.locations().len();
        let mut it = Self {
            run,
            out: Aside::create(out)?,
            categories,
            arguments,
            counters: FxHashMap::default(),
            next_track: n_tracks as u64 + 1,
            tally: Tally::default(),
        };
        it.clocks()?;
        it.tracks()?;
        let names = trace.regions().iter().map(names::region);
        let names = names.chain(run.event_kinds.iter().map(String::as_str)).chain(OWN);
        it.table(1, &mut (1..).zip(levels))?;
        it.table(2, &mut (1..).zip(names))?;
        it.places()?;
        Ok(it)
    }

    fn packet(&mut self, packet: &Fields) -> Result<(), Error> {
        let mut whole = Fields::default();
        whole.message(1, packet);
        self.out.write(whole.bytes())
    }

    /// What the clocks showed when the run began.
    fn clocks(&mut self) -> Result<(), Error> {
        let mut snapshot = Fields::default();
        for (clock, ns) in [(BOOT_TIME, 0), (REAL_TIME, self.run.epoch_ns)] {
            let mut reading = Fields::default();
            reading.number(1, clock);
            reading.number(2, ns.max(0).cast_unsigned());
            snapshot.message(1, &reading);
        }
        snapshot.number(2, BOOT_TIME);
        let mut packet = Fields::default();
        packet.message(6, &snapshot);
        packet.number(10, 1);
        // Nothing was said in this sequence before.
        packet.number(13, 1);
        self.packet(&packet)
    }

    fn descriptor(
        &mut self,
        uuid: u64,
        parent: Option<u64>,
        (field, of): (u32, &Fields),
        name: &str,
    ) -> Result<(), Error> {
        let mut descriptor = Fields::default();
        descriptor.number(1, uuid);
        if !name.is_empty() {
            descriptor.text(2, name);
        }
        if let Some(parent) = parent {
            descriptor.number(5, parent);
        }
        descriptor.message(field, of);
        let mut packet = Fields::default();
        packet.number(10, 1);
        packet.message(60, &descriptor);
        self.packet(&packet)
    }

    fn tracks(&mut self) -> Result<(), Error> {
        let trace = self.run.trace;
        for (number, process) in (1..).zip(trace.processes()) {
            let mut of = Fields::default();
            of.number(1, number);
            of.text(6, &names::process(process));
            self.descriptor(number, None, (3, &of), "")?;
        }
        for location in (0..trace.locations().len()).filter_map(LocationId::from_idx) {
            let (process, thread) = names::numbers(trace, location);
            let mut of = Fields::default();
            of.number(1, process);
            of.number(2, thread);
            of.text(5, &names::location(trace, location));
            self.descriptor(thread, Some(process), (4, &of), "")?;
        }
        Ok(())
    }

    /// Tells texts with their numbers.
    fn table(&mut self, field: u32, entries: &mut dyn Iterator<Item = (u64, &str)>) -> Result<(), Error> {
        let entries: Vec<(u64, &str)> = entries.collect();
        for some in entries.chunks(ENTRIES) {
            let mut interned = Fields::default();
            for (id, text) in some {
                let mut entry = Fields::default();
                entry.number(1, *id);
                entry.text(2, text);
                interned.message(field, &entry);
            }
            self.interned(&interned)?;
        }
        Ok(())
    }

    /// Tells where regions are.
    fn places(&mut self) -> Result<(), Error> {
        for (id, region) in (1..).zip(self.run.trace.regions()) {
            if region.file.is_empty() {
                continue;
            }
            let (mut entry, mut interned) = (Fields::default(), Fields::default());
            entry.number(1, id);
            entry.text(2, &region.file);
            entry.text(3, names::region(region));
            entry.number(4, region.line.into());
            interned.message(4, &entry);
            self.interned(&interned)?;
        }
        Ok(())
    }

    fn interned(&mut self, interned: &Fields) -> Result<(), Error> {
        let mut packet = Fields::default();
        packet.number(10, 1);
        packet.number(13, 2);
        packet.message(12, interned);
        self.packet(&packet)
    }

    /// Writes an event down; what it says besides time, track and type is in `of`.
    fn track_event(&mut self, time: Nanos, track: u64, kind: Option<u64>, of: &Fields) -> Result<(), Error> {
        let mut event = Fields::default();
        if let Some(kind) = kind {
            event.number(9, kind);
        }
        event.number(11, track);
        event.append(of);
        let mut packet = Fields::default();
        packet.number(8, time.0.max(0).cast_unsigned());
        packet.number(10, 1);
        packet.number(13, 2);
        packet.message(11, &event);
        self.packet(&packet)
    }

    fn track(&self, location: LocationId) -> u64 {
        names::numbers(self.run.trace, location).1
    }

    fn own_name(&self, name: &str) -> u64 {
        let at = OWN.iter().position(|it| *it == name).unwrap_or(OWN.len() - 1);
        (self.run.trace.regions().len() + self.run.event_kinds.len() + at) as u64 + 1
    }

    fn region(&self, region: Option<marey_model::RegionId>, of: &mut Fields) {
        let known = region.and_then(|id| Some((id, self.run.trace.regions().get(id.idx())?)));
        let Some((id, region)) = known else { return of.number(10, self.own_name("(unknown region)")) };
        let number = id.idx() as u64 + 1;
        of.number(10, number);
        of.number(3, self.categories.get(id.idx()).copied().unwrap_or(1));
        if !region.file.is_empty() {
            of.number(34, number);
        }
    }

    fn enter(&mut self, location: LocationId, visit: &Visit) -> Result<(), Error> {
        let mut of = Fields::default();
        let region = names::region_of(self.run.trace, visit.path);
        self.region(region, &mut of);
        if let Some(arguments) = region.and_then(|region| self.arguments.get(region.idx())) {
            of.append(arguments);
        }
        if let Some(bytes) = visit.bytes {
            of.message(4, &number_argument("bytes", bytes));
        }
        if visit.visits != 1 {
            of.message(4, &number_argument("visits", visit.visits.into()));
            of.message(4, &number_argument("gaps_ns", visit.gaps.0.cast_unsigned()));
        }
        self.track_event(visit.start, self.track(location), Some(BEGIN), &of)
    }

    fn leave(&mut self, location: LocationId, time: Nanos) -> Result<(), Error> {
        self.track_event(time, self.track(location), Some(END), &Fields::default())
    }

    fn state(&mut self, event: &Event, phase: char, state: &super::State) -> Result<(), Error> {
        let (mut of, mut legacy) = (Fields::default(), Fields::default());
        self.region(Some(state.region), &mut of);
        legacy.number(2, u64::from(u32::from(phase)));
        legacy.number(11, state.id + 1);
        of.message(6, &legacy);
        self.track_event(event.key.time, self.track(event.key.location), None, &of)
    }

    fn message(&mut self, event: &Event, message: &Message) -> Result<(), Error> {
        let (mut of, trace) = (Fields::default(), self.run.trace);
        let is_send = matches!(event.what, What::Send(_));
        of.number(10, self.own_name(if is_send { "send" } else { "receive" }));
        of.fixed(if is_send { 47 } else { 48 }, message.id + 1);
        let (key, other) = if is_send { ("to", message.received) } else { ("from", message.sent) };
        if let Some((place, _)) = other {
            of.message(4, &text_argument(key, &names::location_of_all(trace, place)));
        }
        of.message(4, &number_argument("bytes", message.bytes));
        of.message(4, &signed_argument("tag", message.tag));
        self.communicator(message.communicator, &mut of);
        self.track_event(event.key.time, self.track(event.key.location), Some(INSTANT), &of)
    }

    fn communicator(&self, id: u32, of: &mut Fields) {
        let at = usize::try_from(id).unwrap_or(usize::MAX);
        if let Some(communicator) = self.run.trace.communicators().get(at) {
            of.message(4, &text_argument("communicator", &communicator.name));
        }
    }

    fn edge(&mut self, event: &Event, edge: &Edge) -> Result<(), Error> {
        let mut of = Fields::default();
        of.text(22, "edge");
        of.text(23, &edge.kind);
        of.fixed(if matches!(event.what, What::Cause(_)) { 47 } else { 48 }, edge.id + 1);
        self.track_event(event.key.time, self.track(event.key.location), Some(INSTANT), &of)
    }

    fn part(&mut self, event: &Event, part: &Part) -> Result<(), Error> {
        let mut of = Fields::default();
        of.number(10, self.own_name("collective"));
        self.communicator(part.communicator, &mut of);
        of.message(4, &number_argument("instance", part.instance.into()));
        if let Some(root) = part.root {
            of.message(4, &number_argument("root", root.into()));
        }
        of.message(4, &number_argument("bytes_out", part.bytes_out));
        of.message(4, &number_argument("bytes_in", part.bytes_in));
        self.track_event(event.key.time, self.track(event.key.location), Some(INSTANT), &of)
    }

    fn instant(&mut self, event: &Event, kind: u32, fields: &str) -> Result<(), Error> {
        let mut of = Fields::default();
        let known = usize::try_from(kind).is_ok_and(|kind| kind < self.run.event_kinds.len());
        if known {
            of.number(10, self.run.trace.regions().len() as u64 + u64::from(kind) + 1);
        } else {
            of.text(23, "(unknown event)");
        }
        match serde_json::from_str::<serde_json::Value>(fields) {
            Ok(serde_json::Value::Object(fields)) => {
                fields.iter().for_each(|(key, value)| of.message(4, &argument(key, value)));
            }
            _ => of.message(4, &text_argument("text", fields)),
        }
        self.track_event(event.key.time, self.track(event.key.location), Some(INSTANT), &of)
    }

    fn counter(&mut self, event: &Event, counter: Option<u32>, value: f64) -> Result<(), Error> {
        let location = event.key.location;
        let track = match self.counters.get(&(location, counter)) {
            Some(track) => *track,
            None => {
                let track = self.next_track;
                self.next_track += 1;
                self.counters.insert((location, counter), track);
                let known = counter.and_then(|id| self.run.trace.counters().get(usize::try_from(id).ok()?));
                let (name, unit) = match (counter, known) {
                    (None, _) => ("heap peak", "bytes"),
                    (_, Some(known)) => (known.name.as_str(), known.unit.as_str()),
                    _ => ("(unknown counter)", ""),
                };
                let mut of = Fields::default();
                if !unit.is_empty() {
                    of.text(6, unit);
                }
                self.descriptor(track, Some(self.track(location)), (8, &of), name)?;
                track
            }
        };
        let mut of = Fields::default();
        of.fixed(44, value.to_bits());
        self.track_event(event.key.time, track, Some(COUNTER), &of)
    }
}

fn argument(name: &str, value: &serde_json::Value) -> Fields {
    use serde_json::Value as Json;
    let mut it = Fields::default();
    it.text(10, name);
    match value {
        Json::Bool(is) => it.number(2, (*is).into()),
        Json::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => it.number(3, number),
            (_, Some(number)) => it.number(4, number.cast_unsigned()),
            _ => it.fixed(5, number.as_f64().unwrap_or(f64::NAN).to_bits()),
        },
        Json::String(text) => it.text(6, text),
        _ => it.text(9, &value.to_string()),
    }
    it
}

fn text_argument(name: &str, text: &str) -> Fields {
    argument(name, &text.into())
}

fn number_argument(name: &str, number: u64) -> Fields {
    argument(name, &number.into())
}

fn signed_argument(name: &str, number: i64) -> Fields {
    argument(name, &number.into())
}

impl Writer for Perfetto<'_> {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        self.tally.event(&event.what);
        let (location, time) = (event.key.location, event.key.time);
        match &event.what {
            What::Enter(visit) => self.enter(location, visit),
            What::Leave(_) => self.leave(location, time),
            What::Visit(visit) => {
                self.enter(location, visit)?;
                self.leave(location, time)
            }
            What::Begin(state) => self.state(event, 'b', state),
            What::End(state) => self.state(event, 'e', state),
            What::Send(message) | What::Receive(message) => self.message(event, message),
            What::Cause(edge) | What::Effect(edge) => self.edge(event, edge),
            What::Collective(part) => self.part(event, part),
            What::Instant { kind, fields } => self.instant(event, *kind, fields),
            What::Counter { counter, value } => self.counter(event, Some(*counter), *value),
            #[expect(clippy::cast_precision_loss, reason = "counters are such numbers")]
            What::HeapPeak { bytes } => self.counter(event, None, *bytes as f64),
        }
    }

    fn finish(self: Box<Self>) -> Result<Written, Error> {
        Ok(self.tally.finish(vec![self.out.put()?]))
    }
}

const LINES: &[Line] = &[
    (
        "visit of a region",
        "a slice: name, category = level, source location; annotations: verb, noun, bytes",
        "call stacks",
    ),
    ("several visits in vain in a row", "one slice with `visits` and `gaps_ns`", ""),
    ("state that overlaps others", "legacy asynchronous events `b` and `e` with one global id", ""),
    (
        "message",
        "an instant `send` within the sending call and one `receive` at the end of the receiving call, joined by a flow; \
         annotations: the other end, bytes, tag, communicator",
        "read back, they are events",
    ),
    (
        "edge",
        "two instants of its kind, joined by a flow",
        "read back, between processes they are events only",
    ),
    ("part in a collective", "an instant `collective`, with communicator, instance, root and bytes", ""),
    ("event", "an instant with its fields as annotations", ""),
    ("value of a counter", "a value on the counter's track beneath that of the thread, with its unit", ""),
    ("peak of a heap", "a value of the counter `heap peak`", ""),
    (
        "process, location",
        "track descriptors with names; numbers are of this file",
        "nodes, process ids; read back, ranks",
    ),
    ("date", "a snapshot of the clocks: boot time 0 is the begin of the run", ""),
    ("command line, title", "", "all of it"),
];

pub(super) fn document() -> (&'static str, &'static str, &'static [Line]) {
    let intro = "Packets of one sequence with interned names, in the order of time. Times before the begin of the run are 0.";
    ("Perfetto", intro, LINES)
}
