//! Chrome trace events, for Perfetto's page, Chrome and others.
//!
//! The one idea: a visit is one event with its duration, written when it begins, so nothing is kept and everything is in order.
//!
//! Source: "Trace Event Format" of the Chromium project. Deliberately absent: numbers of processes and threads of the system,
//! which need not be unique in a run of several nodes.

use std::fmt::Write;
use std::path::Path;

use marey_model::{LocationId, Nanos};
use serde_json::value::RawValue;

use super::aside::Aside;
use super::event::{Edge, Event, Message, Part, State, Visit, What};
use super::{Definitions, Line, Tally, Writer, Written, names};
use crate::Error;

pub(super) struct Chrome<'a> {
    run: &'a Definitions<'a>,
    out: Aside,
    /// Of each region what events say of it: name and category, and arguments.
    regions: Vec<(String, String)>,
    /// Of each location its process and thread.
    places: Vec<String>,
    /// Whether the values of counters say whose they are.
    is_one_of_several: Vec<bool>,
    line: String,
    is_first: bool,
    tally: Tally,
}

impl<'a> Chrome<'a> {
    pub(super) fn create(run: &'a Definitions<'a>, out: &Path) -> Result<Self, Error> {
        let trace = run.trace;
        let regions = trace.regions().iter().map(|region| {
            let mut arguments = format!("\"level\":{},\"verb\":{}", text(&region.level), text(&region.verb));
            for (key, value) in [("noun", region.noun.clone()), ("place", names::place(region))] {
                if !value.is_empty() {
                    arguments += &format!(",\"{key}\":{}", text(&value));
                }
            }
            let name = format!("\"name\":{},\"cat\":{}", text(names::region(region)), text(&region.level));
            (name, arguments)
        });
        let ids = || (0..trace.locations().len()).filter_map(LocationId::from_idx);
        let place = |location| {
            let (process, thread) = names::numbers(trace, location);
            format!("\"pid\":{process},\"tid\":{thread}")
        };
        let mut n_locations = vec![0_u32; trace.processes().len()];
        for location in trace.locations() {
            if let Some(number) = n_locations.get_mut(location.process.idx()) {
                *number += 1;
            }
        }
        let is_one_of_several = |of: &marey_analyze::Location| {
            n_locations.get(of.process.idx()).is_some_and(|number| *number > 1)
        };
        let mut writer = Self {
            run,
            out: Aside::create(out)?,
            regions: regions.collect(),
            places: ids().map(place).collect(),
            is_one_of_several: trace.locations().iter().map(is_one_of_several).collect(),
            line: String::new(),
            is_first: true,
            tally: Tally::default(),
        };
        writer.out.write(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        for (idx, process) in trace.processes().iter().enumerate() {
            let name = text(&names::process(process));
            writer.named("process", idx + 1, (0, idx), &name)?;
        }
        for location in ids() {
            let (process, thread) = names::numbers(trace, location);
            let name = text(&names::location(trace, location));
            let process = usize::try_from(process).unwrap_or(usize::MAX);
            writer.named("thread", process, (thread, location.idx()), &name)?;
        }
        Ok(writer)
    }

    /// Says the name of a process or thread, and its place among the others.
    fn named(&mut self, of: &str, pid: usize, (tid, place): (u64, usize), name: &str) -> Result<(), Error> {
        for (what, value) in [("name", name), ("sort_index", &place.to_string())] {
            self.line.clear();
            let key = if what == "name" { "name" } else { "sort_index" };
            self.add(format_args!(
                "{{\"ph\":\"M\",\"name\":\"{of}_{what}\",\"pid\":{pid},\"tid\":{tid},\"args\":{{\"{key}\":{value}}}"
            ));
            self.end()?;
        }
        Ok(())
    }

    /// Begins an event of a kind.
    fn begin(&mut self, phase: char, location: LocationId, time: Nanos) {
        self.line.clear();
        let place = self.places.get(location.idx()).map_or("\"pid\":0,\"tid\":0", String::as_str);
        self.line.push_str("{\"ph\":\"");
        self.line.push(phase);
        self.line.push_str("\",");
        self.line.push_str(place);
        self.line.push_str(",\"ts\":");
        put_us(&mut self.line, time);
    }

    fn add(&mut self, what: std::fmt::Arguments<'_>) {
        // A text takes all that is written to it.
        self.line.write_fmt(what).ok();
    }

    /// Ends an event and writes it down.
    fn end(&mut self) -> Result<(), Error> {
        self.line.push('}');
        self.out.write(if self.is_first { b"\n" } else { b",\n" })?;
        self.is_first = false;
        self.out.write(self.line.as_bytes())
    }

    fn visit(&mut self, location: LocationId, visit: &Visit) -> Result<(), Error> {
        self.begin('X', location, visit.start);
        self.line.push_str(",\"dur\":");
        put_us(&mut self.line, visit.duration);
        let region = names::region_of(self.run.trace, visit.path);
        let (name, arguments) = region
            .and_then(|region| self.regions.get(region.idx()))
            .map_or(("\"name\":\"(unknown region)\"", ""), |it| (&it.0, &it.1));
        self.line.push(',');
        self.line.push_str(name);
        self.line.push_str(",\"args\":{");
        self.line.push_str(arguments);
        if let Some(bytes) = visit.bytes {
            self.add(format_args!(",\"bytes\":{bytes}"));
        }
        if visit.visits != 1 {
            self.add(format_args!(",\"visits\":{},\"gaps_ns\":{}", visit.visits, visit.gaps.0));
        }
        self.line.push('}');
        self.end()
    }

    fn state(&mut self, phase: char, event: &Event, state: &State) -> Result<(), Error> {
        self.begin(phase, event.key.location, event.key.time);
        let name = self.regions.get(state.region.idx()).map_or("\"name\":\"(unknown region)\"", |it| &it.0);
        self.line.push(',');
        self.line.push_str(name);
        self.add(format_args!(",\"id\":\"0x{:x}\"", state.id));
        self.end()
    }

    fn message(&mut self, phase: char, event: &Event, message: &Message) -> Result<(), Error> {
        self.begin(phase, event.key.location, event.key.time);
        let trace = self.run.trace;
        let who = |end: Option<(LocationId, Nanos)>| {
            end.map_or_else(|| "null".to_owned(), |(place, _)| text(&names::location_of_all(trace, place)))
        };
        let (from, to) = (who(message.sent), who(message.received));
        let Message { id, tag, bytes, communicator, .. } = message;
        let communicator = usize::try_from(*communicator).unwrap_or(usize::MAX);
        let communicator =
            trace.communicators().get(communicator).map_or_else(|| "null".to_owned(), |it| text(&it.name));
        let binds = if phase == 'f' { ",\"bp\":\"e\"" } else { "" };
        self.add(format_args!(
            ",\"name\":\"message\",\"cat\":\"message\",\"id\":\"0x{id:x}\"{binds},\"args\":{{\"from\":{from},\"to\":{to},\
             \"bytes\":{bytes},\"tag\":{tag},\"communicator\":{communicator}}}"
        ));
        self.end()
    }

    fn edge(&mut self, phase: char, event: &Event, edge: &Edge) -> Result<(), Error> {
        self.begin(phase, event.key.location, event.key.time);
        let binds = if phase == 'f' { ",\"bp\":\"e\"" } else { "" };
        let (name, id) = (text(&edge.kind), edge.id);
        self.add(format_args!(",\"name\":{name},\"cat\":\"edge\",\"id\":\"0x{id:x}\"{binds}"));
        self.end()
    }

    fn part(&mut self, event: &Event, part: &Part) -> Result<(), Error> {
        self.begin('i', event.key.location, event.key.time);
        let communicator = usize::try_from(part.communicator).unwrap_or(usize::MAX);
        let communicator = self.run.trace.communicators().get(communicator);
        let communicator = communicator.map_or_else(|| "null".to_owned(), |it| text(&it.name));
        let root = part.root.map_or_else(|| "null".to_owned(), |root| root.to_string());
        let Part { instance, bytes_out, bytes_in, .. } = part;
        self.add(format_args!(
            ",\"s\":\"t\",\"name\":\"collective\",\"cat\":\"collective\",\"args\":{{\"communicator\":{communicator},\
             \"instance\":{instance},\"root\":{root},\"bytes_out\":{bytes_out},\"bytes_in\":{bytes_in}}}"
        ));
        self.end()
    }

    fn counter(&mut self, event: &Event, name: &str, value: f64) -> Result<(), Error> {
        self.begin('C', event.key.location, event.key.time);
        let name = text(name);
        self.add(format_args!(",\"name\":{name}"));
        if self.is_one_of_several.get(event.key.location.idx()) == Some(&true) {
            let (_, thread) = names::numbers(self.run.trace, event.key.location);
            self.add(format_args!(",\"id\":\"{thread}\""));
        }
        let value = serde_json::Number::from_f64(value).map_or_else(String::new, |it| it.to_string());
        self.add(format_args!(",\"args\":{{\"value\":{value}}}"));
        self.end()
    }

    fn instant(&mut self, event: &Event, kind: u32, fields: &str) -> Result<(), Error> {
        self.begin('i', event.key.location, event.key.time);
        let kind = usize::try_from(kind).unwrap_or(usize::MAX);
        let name = text(self.run.event_kinds.get(kind).map_or("(unknown event)", String::as_str));
        let fields = serde_json::from_str::<&RawValue>(fields)
            .ok()
            .map(RawValue::get)
            .filter(|it| it.starts_with('{'))
            .map_or_else(|| format!("{{\"text\":{}}}", text(fields)), str::to_owned);
        self.add(format_args!(",\"s\":\"t\",\"name\":{name},\"args\":{fields}"));
        self.end()
    }
}

impl Writer for Chrome<'_> {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        if let What::Counter { value, .. } = event.what
            && !value.is_finite()
        {
            self.tally.left_out("values of counters that are no numbers");
            return Ok(());
        }
        self.tally.event(&event.what);
        match &event.what {
            What::Enter(visit) | What::Visit(visit) => self.visit(event.key.location, visit),
            What::Leave(_) => Ok(()),
            What::Begin(state) => self.state('b', event, state),
            What::End(state) => self.state('e', event, state),
            What::Send(message) => self.message('s', event, message),
            What::Receive(message) => self.message('f', event, message),
            What::Cause(edge) => self.edge('s', event, edge),
            What::Effect(edge) => self.edge('f', event, edge),
            What::Collective(part) => self.part(event, part),
            What::Instant { kind, fields } => self.instant(event, *kind, fields),
            What::Counter { counter, value } => {
                let run = self.run;
                let counter = usize::try_from(*counter).unwrap_or(usize::MAX);
                let name = run.trace.counters().get(counter).map_or("(unknown counter)", |it| &it.name);
                self.counter(event, name, *value)
            }
            #[expect(clippy::cast_precision_loss, reason = "the format has no other numbers")]
            What::HeapPeak { bytes } => self.counter(event, "heap peak", *bytes as f64),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Written, Error> {
        let Definitions { command, title, epoch_ns, creator, .. } = self.run;
        let (creator, command, title) = (text(creator), text(&command.join(" ")), text(title));
        let end = format!(
            "\n],\"baseTimeNanoseconds\":{epoch_ns},\"otherData\":{{\"recorded with\":{creator},\"command\":{command},\"title\":{title}}}}}\n"
        );
        self.out.write(end.as_bytes())?;
        Ok(self.tally.finish(vec![self.out.put()?]))
    }
}

/// A text as JSON has it.
fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Microseconds, with three digits for ns.
fn put_us(out: &mut String, time: Nanos) {
    let sign = if time.0 < 0 { "-" } else { "" };
    let ns = time.0.unsigned_abs();
    // A text takes all that is written to it.
    write!(out, "{sign}{}.{:03}", ns / 1000, ns % 1000).ok();
}

const LINES: &[Line] = &[
    (
        "visit of a region",
        "`X`: name, category = level; arguments: level, verb, noun, place, bytes",
        "call stacks",
    ),
    ("several visits in vain in a row", "one `X` with `visits` and `gaps_ns`", ""),
    ("visit in no time", "`X` of duration 0", "at the edge of another, whether it is within that"),
    ("state that overlaps others", "`b` and `e` with one `id`", ""),
    (
        "message",
        "`s` at the sender, `f` at the receiver, category `message`; arguments: both ends, bytes, tag, communicator",
        "read back, a flow between processes is only counted",
    ),
    (
        "edge",
        "`s` and `f`, category `edge`, its kind as name",
        "read back, a flow between processes is only counted, and has no kind",
    ),
    ("part in a collective", "`i` of the name `collective`, with communicator, instance, root and bytes", ""),
    ("event", "`i` with its fields as arguments", ""),
    (
        "value of a counter",
        "`C`; with the thread's number as `id` where a process has several",
        "units; what is no number",
    ),
    ("peak of a heap", "`C` of the name `heap peak`", ""),
    (
        "process, location",
        "`M`: names and order; `pid` and `tid` are numbers in this file",
        "nodes, process ids; read back, ranks",
    ),
    ("date, command line, title", "`baseTimeNanoseconds`, `otherData`", ""),
];

pub(super) fn document() -> (&'static str, &'static str, &'static [Line]) {
    let intro = "One JSON object with all events in `traceEvents`; times in µs with three digits behind the point, so exact to 1 ns. \
                 It opens in Perfetto's page and in `chrome://tracing`.";
    ("Chrome trace events", intro, LINES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact_and_texts_are_whole() {
        let us = |ns| {
            let mut out = String::new();
            put_us(&mut out, Nanos(ns));
            out
        };
        assert_eq!(us(1_234_567), "1234.567");
        assert_eq!(us(5), "0.005");
        assert_eq!(us(-1_000), "-1.000");
        assert_eq!(text("a\"b\n\u{1}</script>\u{e9}"), "\"a\\\"b\\n\\u0001</script>é\"");
    }
}
