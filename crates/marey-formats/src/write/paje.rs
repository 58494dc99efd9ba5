//! Pajé, the self-defining text format of ViTE, PajeNG and others.
//!
//! The one idea: a location is a container with one stack of states, and what happens is a line, written as it comes. All
//! names are defined at the begin and go by short aliases, so lines are short and odd names stand in one place each.
//!
//! * [`header`]: definitions. * [`texts`]: texts between quotes.
//!
//! Source: the description of the format, and `pj_dump`. Deliberately absent: nodes, which would be containers around those of
//! processes that readers take for ranks.

mod header;
mod texts;

use std::path::Path;

use marey_model::{LocationId, Nanos};

use self::header::Aliases;
use self::texts::quoted;
use super::aside::Aside;
use super::brief::Brief;
use super::event::{Edge, Event, Message, Part, What};
use super::{Definitions, Line, Tally, Writer, Written, names};
use crate::Error;
use crate::paje::Code;

pub(super) struct Paje<'a> {
    run: &'a Definitions<'a>,
    out: Aside,
    aliases: Aliases,
    brief: Brief,
    end: Nanos,
    tally: Tally,
}

impl<'a> Paje<'a> {
    pub(super) fn create(run: &'a Definitions<'a>, out: &Path) -> Result<Self, Error> {
        let mut out = Aside::create(out)?;
        let aliases = header::write(run, &mut out)?;
        Ok(Self {
            run,
            out,
            aliases,
            brief: Brief::default(),
            end: run.trace.duration(),
            tally: Tally::default(),
        })
    }

    /// Writes a line: the number of an event, its time, and what else it has.
    fn line(&mut self, number: usize, time: Nanos, rest: std::fmt::Arguments<'_>) -> Result<(), Error> {
        let time = seconds(time);
        self.out.write(format!("{number} {time} {rest}\n").as_bytes())
    }

    fn push(&mut self, location: LocationId, time: Nanos, event: &What) -> Result<(), Error> {
        let (What::Enter(visit) | What::Visit(visit)) = event else { return Ok(()) };
        let region = names::region_of(self.run.trace, visit.path);
        let region = region.filter(|it| it.idx() < self.run.trace.regions().len());
        let value = region.map_or_else(|| header::UNKNOWN.to_owned(), |it| format!("r{}", it.0));
        self.line(Code::Push as usize, time, format_args!("S c{} {value}", location.0))
    }

    fn pop(&mut self, location: LocationId, time: Nanos) -> Result<(), Error> {
        self.line(Code::Pop as usize, time, format_args!("S c{}", location.0))
    }

    /// Writes an end of a message, of which both are known.
    fn message(&mut self, event: &Event, message: &Message) -> Result<(), Error> {
        if message.sent.is_none() || message.received.is_none() {
            self.tally.left_out("messages of which one end is not known");
            return Ok(());
        }
        self.tally.event(&event.what);
        let number =
            if matches!(event.what, What::Send(_)) { header::START_MESSAGE } else { header::END_MESSAGE };
        let at = event.key.location.0;
        let Message { id, tag, bytes, .. } = message;
        let value = quoted(&names::communicator(self.run.trace, message.communicator));
        self.line(number, event.key.time, format_args!("M 0 c{at} {value} m{id} {tag} {bytes}"))
    }

    fn edge(&mut self, event: &Event, edge: &Edge) -> Result<(), Error> {
        self.tally.event(&event.what);
        let code = if matches!(event.what, What::Cause(_)) { Code::StartLink } else { Code::EndLink };
        let (at, value, id) = (event.key.location.0, quoted(&edge.kind), edge.id);
        self.line(code as usize, event.key.time, format_args!("E 0 c{at} {value} e{id}"))
    }

    fn new_event(&mut self, event: &Event, of: &str, value: &str) -> Result<(), Error> {
        self.tally.event(&event.what);
        let (at, value) = (event.key.location.0, quoted(value));
        self.line(Code::Event as usize, event.key.time, format_args!("{of} c{at} {value}"))
    }

    fn part(&mut self, event: &Event, part: &Part) -> Result<(), Error> {
        self.new_event(event, header::COLLECTIVE, &names::collective(self.run.trace, part))
    }

    fn set(&mut self, event: &Event, alias: &str, value: f64) -> Result<(), Error> {
        if !value.is_finite() {
            self.tally.left_out("values of counters that are no numbers");
            return Ok(());
        }
        self.tally.event(&event.what);
        let at = event.key.location.0;
        self.line(Code::SetVariable as usize, event.key.time, format_args!("{alias} c{at} {value}"))
    }
}

/// A time as the format has it, to the ns.
fn seconds(time: Nanos) -> String {
    let ns = time.0.max(0);
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

impl Writer for Paje<'_> {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        if let Some((location, time, _)) = self.brief.left_before(event) {
            self.pop(location, time)?;
        }
        let (location, time) = (event.key.location, event.key.time);
        self.end = self.end.max(time);
        match &event.what {
            What::Enter(_) => {
                self.tally.event(&event.what);
                self.push(location, time, &event.what)
            }
            What::Leave(_) => self.pop(location, time),
            What::Visit(_) => {
                self.tally.event(&event.what);
                self.brief.enter(event, 0);
                self.push(location, time, &event.what)
            }
            What::Receive(message) if message.sent.is_some() && message.received.is_none() => Ok(()),
            What::Send(message) | What::Receive(message) => self.message(event, message),
            What::Cause(edge) | What::Effect(edge) => self.edge(event, edge),
            What::Collective(part) => self.part(event, part),
            What::Instant { kind, fields: json } => {
                let of = self.aliases.kind(*kind).to_owned();
                self.new_event(event, &of, &names::fields(json))
            }
            What::Counter { counter, value } => {
                let of = self.aliases.counter(*counter).to_owned();
                self.set(event, &of, *value)
            }
            #[expect(clippy::cast_precision_loss, reason = "the format has no other numbers")]
            What::HeapPeak { bytes } => self.set(event, header::HEAP_PEAK, *bytes as f64),
            What::Begin(_) => {
                self.tally.left_out("states that overlap others");
                Ok(())
            }
            What::End(_) => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Written, Error> {
        if let Some((location, time, _)) = self.brief.left_at_end() {
            self.pop(location, time)?;
        }
        let code = Code::Destroy as usize;
        for id in 0..self.run.trace.locations().len() {
            self.line(code, self.end, format_args!("{} c{id}", header::THREAD))?;
        }
        for id in 0..self.run.trace.processes().len() {
            self.line(code, self.end, format_args!("{} p{id}", header::PROCESS))?;
        }
        Ok(self.tally.finish(vec![self.out.put()?]))
    }
}

const LINES: &[Line] = &[
    (
        "visit of a region",
        "`PushState` and `PopState` of the one type of states; the region is a value with a colour by its role, its level and place",
        "call stacks; bytes; read back, level and place",
    ),
    ("several visits in vain in a row", "one state", "how many they were"),
    ("state that overlaps others", "", "all of it"),
    (
        "message",
        "`StartLink` and `EndLink` of the type `message`, with `Tag` and `Size`; the value is the communicator",
        "messages of which one end is not known; read back, the communicator; an end at the very time at which its call is left may have a visit of its own, in no time",
    ),
    ("edge", "links of the type `edge`; the value is its kind", "read back, the kind"),
    (
        "part in a collective",
        "`NewEvent` of the type `collective`: communicator, operation, root and bytes as a text",
        "read back, it is an event",
    ),
    (
        "event",
        "`NewEvent` of a type for its kind; the value is its fields as a text",
        "read back, single fields",
    ),
    ("value of a counter", "`SetVariable` in the container of the location", "units; what is no number"),
    ("peak of a heap", "`SetVariable` of the type `heap peak`", ""),
    (
        "process, location",
        "containers of the types `Rank` and `Thread`; `Program` instead of `Rank` if one has no rank, or not of the first world",
        "nodes, process ids; read back, processes without ranks are one",
    ),
    (
        "names",
        "control characters as `\\n`, `\\u{1b}` …; `'` instead of `\"`; not more than 32 000 bytes; `-` if there is nothing",
        "",
    ),
    ("date, command line, title", "comments at the begin", "read back, all of it"),
];

pub(super) fn document() -> (&'static str, &'static str, &'static [Line]) {
    let intro = "One text, in the order of time, in seconds with nine digits behind the point. Times before the begin of the run \
                 are 0.";
    ("Pajé", intro, LINES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        assert_eq!(seconds(Nanos(12_000_000_003)), "12.000000003");
        assert_eq!(seconds(Nanos(-1)), "0.000000000");
    }
}
