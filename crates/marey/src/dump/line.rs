//! How an event looks as a line of text, and as JSON.
//!
//! The one idea: the text is for eyes, indented and in words, and may change; the JSON is an interface
//! (`docs/json.md`) and says the same with numbers.

use std::io::Write;

use marey_analyze::Trace;
use marey_archive::Archive;
use marey_formats::write::{Event, Message, Visit, What};
use marey_model::{CallPathId, LocationId, Nanos, RegionId};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};

use crate::format;
use crate::paint::{Look, Paint, harmless, shorten};
use crate::words;

/// Prints events.
pub(super) struct Printer<'a> {
    trace: &'a dyn Trace,
    event_kinds: FxHashMap<u32, String>,
    counters: FxHashMap<u32, (String, String)>,
    labels: Vec<String>,
    communicators: Vec<String>,
    regions: Vec<String>,
    label_width: usize,
    /// Regions open on each location, so that what happens inside stands inside.
    open: FxHashMap<LocationId, u32>,
    style: Style,
}

#[derive(Clone, Copy, Debug)]
enum Style {
    Text(Paint),
    Json,
}

/// Columns before the event itself: enough for a day in seconds with nanoseconds.
const TIME_WIDTH: usize = 15;

impl<'a> Printer<'a> {
    /// Prints events of `archive`.
    pub(super) fn new(archive: &Archive, trace: &'a dyn Trace, json: bool) -> anyhow::Result<Self> {
        let kinds = archive.table("event_kinds")?;
        let names = kinds.text("name")?.iter().map(|name| harmless(name));
        let event_kinds = kinds.u32("id")?.iter().copied().zip(names).collect();
        let counters = archive.table("counter_kinds")?;
        let names = counters.text("name")?.iter().map(|name| harmless(name));
        let units = counters.text("unit")?.iter().map(|unit| harmless(unit));
        let counters = counters.u32("id")?.iter().copied().zip(names.zip(units)).collect();
        let ids = (0..trace.locations().len()).filter_map(LocationId::from_idx);
        let labels: Vec<String> = ids.map(|id| shorten(&words::location(trace, id), 24)).collect();
        let label_width = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        Ok(Self {
            trace,
            event_kinds,
            counters,
            label_width: label_width.max("location".len()),
            open: FxHashMap::default(),
            labels,
            communicators: trace.communicators().iter().map(|c| harmless(&c.name)).collect(),
            regions: trace.regions().iter().map(|region| harmless(region.name())).collect(),
            style: if json { Style::Json } else { Style::Text(Paint::for_stdout()) },
        })
    }

    /// Prints what the columns are.
    pub(super) fn head(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        if let Style::Text(paint) = self.style {
            let head = format!("{:>TIME_WIDTH$}  {:<2$}  event", "time [s]", "location", self.label_width);
            writeln!(out, "{}", paint.paint(Look::Faint, &head))?;
        }
        Ok(())
    }

    /// Prints one event.
    pub(super) fn print(&mut self, out: &mut dyn Write, event: &Event) -> anyhow::Result<()> {
        match self.style {
            Style::Json => writeln!(out, "{}", self.json(event))?,
            Style::Text(paint) => {
                let label = self.labels.get(event.key.location.idx()).map_or("(unknown)", String::as_str);
                let time =
                    paint.paint(Look::Faint, &format!("{:>TIME_WIDTH$}", format::seconds(event.key.time)));
                let (text, width) = (self.text(&event.what, paint), self.label_width);
                let depth = match event.what {
                    What::Enter(visit) | What::Leave(visit) | What::Visit(visit) => visit.depth,
                    _ => self.open.get(&event.key.location).copied().unwrap_or(0),
                };
                writeln!(out, "{time}  {label:<width$}  {}{text}", indent(depth))?;
                match event.what {
                    What::Enter(visit) => self.open.insert(event.key.location, visit.depth + 1),
                    What::Leave(visit) => self.open.insert(event.key.location, visit.depth),
                    _ => None,
                };
            }
        }
        Ok(())
    }

    fn text(&self, what: &What, paint: Paint) -> String {
        let faint = |text: &str| paint.paint(Look::Faint, text);
        match what {
            What::Enter(visit) => format!("> {}", self.path(visit.path)),
            What::Leave(visit) => format!("< {}{}", self.path(visit.path), faint(&taken(visit))),
            What::Visit(visit) => format!("= {}{}", self.path(visit.path), faint(&taken(visit))),
            What::Begin(state) => format!("[ {}", self.region(state.region)),
            What::End(state) => {
                let took = faint(&format!("  {}", format::duration(state.duration)));
                format!("] {}{took}", self.region(state.region))
            }
            What::Send(message) => format!("-> {}", self.message(message, message.received)),
            What::Receive(message) => format!("<- {}", self.message(message, message.sent)),
            What::Collective(part) => {
                let root = part.root.map_or_else(String::new, |root| format!(", root {root}"));
                let (sent, got) = (format::bytes(part.bytes_out), format::bytes(part.bytes_in));
                let (communicator, instance) = (self.communicator(part.communicator), part.instance);
                format!("@ {communicator} #{instance}{root}, {sent} out, {got} in")
            }
            What::Cause(edge) => {
                let to = words::location(self.trace, edge.to.0);
                format!("~ {} to {to} at {}", harmless(&edge.kind), format::seconds(edge.to.1))
            }
            What::Effect(edge) => {
                let from = words::location(self.trace, edge.from.0);
                format!("~ {} from {from} at {}", harmless(&edge.kind), format::seconds(edge.from.1))
            }
            What::Instant { kind, fields } => {
                format!("* {} {}", self.event_kind(*kind), faint(&harmless(fields)))
            }
            What::Counter { counter, value } => {
                let (name, unit) = self.counter(*counter);
                format!("# {name} = {value} {unit}").trim_end().to_owned()
            }
            What::HeapPeak { bytes } => format!("# heap peak = {}", format::bytes(*bytes)),
        }
    }

    fn json(&self, event: &Event) -> Value {
        let mut line = Map::new();
        let mut put = |name: &str, value: Value| line.insert(name.to_owned(), value);
        put("time_ns", json!(event.key.time.0));
        put("location", json!(event.key.location.0));
        put("rank", json!(self.rank(event.key.location)));
        let (kind, fields) = self.json_fields(&event.what);
        put("event", json!(kind));
        if let Value::Object(fields) = fields {
            line.extend(fields);
        }
        Value::Object(line)
    }

    fn json_fields(&self, what: &What) -> (&'static str, Value) {
        match what {
            What::Enter(visit) => ("enter", self.json_region(visit)),
            What::Leave(visit) => ("leave", with(self.json_region(visit), visit)),
            What::Visit(visit) => ("visit", with(self.json_region(visit), visit)),
            What::Begin(state) => ("begin", json!({ "state": self.region(state.region) })),
            What::End(state) => {
                ("end", json!({ "state": self.region(state.region), "duration_ns": state.duration.0 }))
            }
            What::Send(message) => ("send", self.json_message(message, message.received)),
            What::Receive(message) => ("receive", self.json_message(message, message.sent)),
            What::Collective(part) => {
                let communicator = self.communicator(part.communicator);
                let fields = json!({ "communicator": communicator, "instance": part.instance, "root": part.root,
                    "bytes_out": part.bytes_out, "bytes_in": part.bytes_in });
                ("collective", fields)
            }
            What::Cause(edge) => {
                let (to, time) = edge.to;
                ("cause", json!({ "kind": edge.kind, "to_location": to.0, "to_time_ns": time.0 }))
            }
            What::Effect(edge) => {
                let (from, time) = edge.from;
                ("edge", json!({ "kind": edge.kind, "from_location": from.0, "from_time_ns": time.0 }))
            }
            What::Instant { kind, fields } => {
                let fields = serde_json::from_str(fields).unwrap_or_else(|_| json!(fields));
                ("instant", json!({ "name": self.event_kind(*kind), "fields": fields }))
            }
            What::Counter { counter, value } => {
                let (name, unit) = self.counter(*counter);
                ("counter", json!({ "name": name, "value": value, "unit": unit }))
            }
            What::HeapPeak { bytes } => ("heap_peak", json!({ "bytes": bytes })),
        }
    }

    fn json_region(&self, visit: &Visit) -> Value {
        let depth = visit.depth;
        let region = self.trace.call_paths().get(visit.path.idx());
        match region.and_then(|path| self.trace.regions().get(path.region.idx())) {
            Some(region) => json!({ "level": region.level, "verb": region.verb, "noun": region.noun,
                "depth": depth }),
            None => json!({ "depth": depth }),
        }
    }

    fn json_message(&self, message: &Message, other: Option<(LocationId, Nanos)>) -> Value {
        let peer = other.map(|(peer, _)| peer);
        json!({ "peer_location": peer.map(|peer| peer.0), "peer_rank": peer.and_then(|peer| self.rank(peer)),
            "bytes": message.bytes, "tag": message.tag,
            "communicator": self.communicator(message.communicator) })
    }

    fn message(&self, message: &Message, other: Option<(LocationId, Nanos)>) -> String {
        let peer = other.map_or_else(|| "?".to_owned(), |(peer, _)| words::location(self.trace, peer));
        let communicator = self.communicator(message.communicator);
        format!("{peer}  {}  tag {}  {communicator}", format::bytes(message.bytes), message.tag)
    }

    fn rank(&self, location: LocationId) -> Option<u32> {
        let process = self.trace.locations().get(location.idx())?.process;
        self.trace.processes().get(process.idx())?.rank
    }

    fn path(&self, path: CallPathId) -> &str {
        self.trace.call_paths().get(path.idx()).map_or("(unknown path)", |path| self.region(path.region))
    }

    fn region(&self, region: RegionId) -> &str {
        self.regions.get(region.idx()).map_or("(unknown region)", String::as_str)
    }

    fn communicator(&self, id: u32) -> &str {
        let place = usize::try_from(id).unwrap_or(usize::MAX);
        self.communicators.get(place).map_or("(unknown communicator)", String::as_str)
    }

    fn event_kind(&self, kind: u32) -> &str {
        self.event_kinds.get(&kind).map_or("(unknown event)", String::as_str)
    }

    fn counter(&self, counter: u32) -> (&str, &str) {
        self.counters.get(&counter).map_or(("(unknown counter)", ""), |(name, unit)| (name, unit))
    }
}

fn with(mut region: Value, visit: &Visit) -> Value {
    if let Value::Object(fields) = &mut region {
        fields.insert("duration_ns".to_owned(), json!(visit.duration.0));
        fields.insert("visits".to_owned(), json!(visit.visits));
        fields.insert("gaps_ns".to_owned(), json!(visit.gaps.0));
        fields.insert("bytes".to_owned(), json!(visit.bytes));
    }
    region
}

/// What a line says of a visit behind its name.
fn taken(visit: &Visit) -> String {
    format!("  {}{}", time_taken(visit), size(visit.bytes))
}

/// How long a visit took, or several in a row.
fn time_taken(visit: &Visit) -> String {
    let duration = format::duration(visit.duration);
    if visit.visits == 1 {
        return duration;
    }
    let calls = format::counted(u64::from(visit.visits), "call");
    format!("{calls} in {duration}, {} between them", format::duration(visit.gaps))
}

fn indent(depth: u32) -> String {
    // Deeper than this nobody can tell levels apart, and lines would not fit.
    "  ".repeat(usize::try_from(depth.min(24)).unwrap_or(24))
}

fn size(bytes: Option<u64>) -> String {
    bytes.map_or_else(String::new, |bytes| format!("  {}", format::bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polls_in_a_row_say_how_many_they_are() {
        let (path, start, bytes) = (CallPathId(0), Nanos(0), None);
        let duration = Nanos(1_500_000);
        let one = Visit { path, depth: 0, start, duration, visits: 1, gaps: Nanos(0), bytes };
        assert_eq!(time_taken(&one), "1.50 ms");
        let many = Visit { visits: 1_200, gaps: Nanos(500_000), ..one };
        assert_eq!(time_taken(&many), "1 200 calls in 1.50 ms, 500 µs between them");
    }
}
