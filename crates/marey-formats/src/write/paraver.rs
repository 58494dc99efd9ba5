//! Paraver: a trace of text, with what its numbers mean in a file beside it, and names in another.
//!
//! The one idea: a record is made when all of it is known, which for states and messages is not the time that it is of; so lines
//! go through the sorter of bounded memory that readers use, and the trace is written at the end.
//!
//! * [`labels`]: numbers of types and values. * [`states`]: what threads did, as Paraver names it. * [`tasks`]: which task a
//!   location is of.
//!
//! Source of the layout: "Paraver trace format" by BSC; of the numbers: Extrae. Deliberately absent: processors, for a run does
//! not say where threads ran.

mod labels;
mod states;
mod tasks;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use marey_model::{LocationId, Nanos};
use rustc_hash::FxHashMap;

use self::labels::Labels;
use self::states::States;
use self::tasks::Tasks;
use super::aside::Aside;
use super::event::{Event, Message, Part, Visit, What};
use super::{Definitions, Line, Tally, Writer, Written};
use crate::Error;
use crate::sorted::{Key, Sorter};

pub(super) struct Paraver<'a> {
    run: &'a Definitions<'a>,
    out: [Aside; 3],
    sorter: Sorter,
    labels: Labels,
    tasks: Tasks,
    states: States,
    /// The enter of a call of MPI on each location, which what it says of the operation is added to.
    pending: FxHashMap<LocationId, (Nanos, String)>,
    /// What each counter of the machine had last, on each location.
    counted: FxHashMap<(LocationId, u32), f64>,
    end: Nanos,
    tally: Tally,
}

/// What comes first at one time: a call that takes none is over before its message is told, else.
#[derive(Clone, Copy)]
enum Turn {
    Leave,
    Message,
    Other,
}

/// The three files of a trace.
pub(super) fn files(out: &Path) -> Vec<PathBuf> {
    vec![out.to_owned(), out.with_extension("pcf"), out.with_extension("row")]
}

impl<'a> Paraver<'a> {
    pub(super) fn create(run: &'a Definitions<'a>, out: &Path) -> Result<Self, Error> {
        let create = |end: &str| Aside::create(&out.with_extension(end));
        let dir = out.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Self {
            run,
            out: [create("prv")?, create("pcf")?, create("row")?],
            sorter: Sorter::new(dir),
            labels: Labels::new(run),
            tasks: Tasks::new(run.trace),
            states: States::new(run.trace),
            pending: FxHashMap::default(),
            counted: FxHashMap::default(),
            end: run.trace.duration(),
            tally: Tally::default(),
        })
    }

    fn line(&mut self, time: Nanos, turn: Turn, line: &str) -> Result<(), Error> {
        self.sorter.add(Key { process: 0, ns: time.0, tie: turn as u64 }, line.as_bytes())
    }

    /// Writes down a type with its value.
    fn value(&mut self, location: LocationId, time: Nanos, kind: i64, value: i64) -> Result<(), Error> {
        let line = format!("2:{}:{}:{kind}:{value}\n", self.tasks.who(location), time.0.max(0));
        self.line(time, Turn::Other, &line)
    }

    fn enter(&mut self, location: LocationId, visit: &Visit) -> Result<(), Error> {
        let known = self.labels.region_of(self.run.trace, visit.path);
        let mut line =
            format!("2:{}:{}:{}:{}", self.tasks.who(location), visit.start.0.max(0), known.kind, known.value);
        if let Some(place) = known.place {
            // A text takes all that is written to it.
            write!(line, ":{}:{place}", known.kind + labels::TO_PLACE).ok();
        }
        if labels::is_mpi(known.kind) {
            self.pending.insert(location, (visit.start, line));
            return Ok(());
        }
        line.push('\n');
        self.line(visit.start, Turn::Other, &line)
    }

    fn leave(&mut self, location: LocationId, visit: &Visit, time: Nanos) -> Result<(), Error> {
        let known = self.labels.region_of(self.run.trace, visit.path);
        let mut line = format!("2:{}:{}:{}:0", self.tasks.who(location), time.0.max(0), known.kind);
        if known.place.is_some() {
            write!(line, ":{}:0", known.kind + labels::TO_PLACE).ok();
        }
        let turn = if visit.duration.0 == 0 { Turn::Other } else { Turn::Leave };
        self.line(time, turn, &(line + "\n"))
    }

    /// Writes the enter of a call of MPI down, if one waits and this is not about it.
    fn release(&mut self, event: &Event) -> Result<(), Error> {
        let Some((time, _)) = self.pending.get(&event.key.location) else { return Ok(()) };
        if matches!(event.what, What::Collective(_)) && *time == event.key.time {
            return Ok(());
        }
        let Some((time, line)) = self.pending.remove(&event.key.location) else { return Ok(()) };
        self.line(time, Turn::Other, &(line + "\n"))
    }

    fn part(&mut self, event: &Event, part: &Part) -> Result<(), Error> {
        let location = event.key.location;
        let Some((time, mut line)) = self.pending.remove(&location) else {
            self.tally.left_out("parts in collectives outside of their calls");
            return Ok(());
        };
        self.tally.event(&event.what);
        let Part { bytes_out, bytes_in, communicator, .. } = part;
        write!(line, ":{}:{bytes_out}:{}:{bytes_in}", labels::BYTES_OUT, labels::BYTES_IN).ok();
        let group = usize::try_from(*communicator).unwrap_or(usize::MAX);
        if self.tasks.group(self.run, group).is_some() {
            write!(line, ":{}:{}", labels::COMMUNICATOR, u64::from(*communicator) + 1).ok();
        }
        let own = self.run.trace.locations().get(location.idx()).map(|it| it.process);
        let members = self.run.members.get(group).and_then(|groups| groups.first());
        let rank = members.and_then(|members| members.iter().position(|it| Some(*it) == own));
        if part.root.is_some() && part.root == rank.and_then(|rank| u32::try_from(rank).ok()) {
            write!(line, ":{}:1", labels::IS_ROOT).ok();
        }
        self.line(time, Turn::Other, &(line + "\n"))
    }

    fn message(&mut self, message: &Message) -> Result<(), Error> {
        let (Some((from, sent)), Some((to, received))) = (message.sent, message.received) else {
            self.tally.left_out("messages of which one end is not known");
            return Ok(());
        };
        self.tally.wrote("messages");
        let posted = message.posted.unwrap_or(received).0.clamp(0, received.0.max(0));
        let (from, to) = (self.tasks.who(from), self.tasks.who(to));
        let (sent_ns, received_ns) = (sent.0.max(0), received.0.max(0));
        let Message { bytes, tag, .. } = message;
        let line = format!("3:{from}:{sent_ns}:{sent_ns}:{to}:{posted}:{received_ns}:{bytes}:{tag}\n");
        self.line(sent, Turn::Message, &line)
    }

    fn counter(&mut self, event: &Event, counter: u32, value: f64) -> Result<(), Error> {
        let location = event.key.location;
        let (kind, is_sum) = self.labels.counter(counter);
        let last = if is_sum { self.counted.insert((location, counter), value).unwrap_or(0.0) } else { 0.0 };
        let Some(whole) = whole(value - last) else {
            self.tally.left_out("values of counters beyond 64 bits");
            return Ok(());
        };
        #[expect(clippy::cast_precision_loss, reason = "to see whether it is the same")]
        if whole as f64 != value - last {
            self.tally.left_out("fractions of values of counters");
        }
        self.tally.event(&event.what);
        self.value(location, event.key.time, kind, whole)
    }

    fn instant(&mut self, event: &Event, kind: u32, fields: &str) -> Result<(), Error> {
        let fields = serde_json::from_str::<serde_json::Value>(fields).unwrap_or_default();
        let members: Vec<&serde_json::Value> =
            fields.as_object().map(|it| it.values().collect()).unwrap_or_default();
        let value = match members.as_slice() {
            [only] => only.as_i64(),
            _ => None,
        };
        if value.is_none() && !members.is_empty() {
            self.tally.left_out("fields of events, other than one whole number");
        }
        self.tally.event(&event.what);
        self.value(event.key.location, event.key.time, labels::event(kind), value.unwrap_or(1))
    }

    /// A thread does something else from now on.
    fn state(&mut self, location: LocationId, span: Option<(Nanos, Nanos, u8)>) -> Result<(), Error> {
        let Some((begin, end, state)) = span.filter(|(begin, end, _)| begin < end && 0 <= begin.0) else {
            return Ok(());
        };
        let line = format!("1:{}:{}:{}:{state}\n", self.tasks.who(location), begin.0, end.0);
        self.line(begin, Turn::Other, &line)
    }
}

/// A whole number near a value.
fn whole(value: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "it is looked at before")]
    (value.abs() < 9.2e18).then(|| value.round() as i64)
}

impl Writer for Paraver<'_> {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        self.release(event)?;
        let (location, time) = (event.key.location, event.key.time);
        self.end = self.end.max(time);
        match &event.what {
            What::Enter(visit) => {
                self.tally.event(&event.what);
                let state = self.labels.state_of(self.run.trace, visit.path);
                let before = self.states.enter(location, time, state);
                self.state(location, before)?;
                self.enter(location, visit)
            }
            What::Leave(visit) => {
                let before = self.states.leave(location, time);
                self.state(location, before)?;
                self.leave(location, visit, time)
            }
            What::Visit(visit) => {
                self.tally.event(&event.what);
                self.enter(location, visit)?;
                // What is said of a collective that takes no time comes behind it.
                if let Some((time, line)) = self.pending.remove(&location) {
                    self.line(time, Turn::Other, &(line + "\n"))?;
                }
                self.leave(location, visit, time)
            }
            What::Send(message) => self.message(message),
            What::Receive(message) if message.sent.is_none() => self.message(message),
            What::Receive(_) | What::End(_) | What::Cause(_) => Ok(()),
            What::Collective(part) => self.part(event, part),
            What::Counter { counter, value } => self.counter(event, *counter, *value),
            What::Instant { kind, fields } => self.instant(event, *kind, fields),
            What::HeapPeak { bytes } => {
                self.tally.event(&event.what);
                self.value(location, time, labels::HEAP_PEAK, i64::try_from(*bytes).unwrap_or(i64::MAX))
            }
            What::Begin(_) => {
                self.tally.left_out("states that overlap others");
                Ok(())
            }
            What::Effect(_) => {
                self.tally.left_out("edges");
                Ok(())
            }
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Written, Error> {
        for (location, time, line) in sorted(std::mem::take(&mut self.pending)) {
            self.end = self.end.max(time);
            debug_assert!(location.idx() < self.run.trace.locations().len());
            self.line(time, Turn::Other, &(line + "\n"))?;
        }
        for (location, span) in self.states.finish() {
            self.state(location, Some(span))?;
        }
        let this = *self;
        let [mut prv, mut pcf, mut row] = this.out;
        prv.write(this.tasks.header(this.run, this.end).as_bytes())?;
        let mut sorted = this.sorter.sorted()?;
        let mut line = Vec::new();
        while sorted.next(&mut line)?.is_some() {
            prv.write(&line)?;
        }
        pcf.write(this.labels.text().as_bytes())?;
        row.write(this.tasks.rows(this.run.trace).as_bytes())?;
        for file in [&mut prv, &mut pcf, &mut row] {
            file.close()?;
        }
        // Whoever waits for the trace finds the others there.
        let (pcf, row) = (pcf.put()?, row.put()?);
        Ok(this.tally.finish(vec![prv.put()?, pcf, row]))
    }
}

fn sorted(pending: FxHashMap<LocationId, (Nanos, String)>) -> Vec<(LocationId, Nanos, String)> {
    let mut list: Vec<_> = pending.into_iter().map(|(place, (time, line))| (place, time, line)).collect();
    list.sort();
    list
}

const LINES: &[Line] = &[
    (
        "visit of a region of MPI",
        "types 50000001 to 50000005 with the values of Extrae; others have values from 1000 on",
        "call stacks; bytes, but of messages and collectives",
    ),
    ("of a region of the source", "60000019, with file and line as 60000119", "call stacks"),
    (
        "of a region of another level",
        "types from 94000001 on, one for each level",
        "call stacks; read back, the level",
    ),
    ("several visits in vain in a row", "one visit", "how many they were"),
    ("what a thread does", "state records, by the innermost region", ""),
    ("state that overlaps others", "", "all of it"),
    (
        "message",
        "a communication: logical and physical send when the sending call was entered, logical receive when it was posted, \
         physical receive when the completing call was left",
        "the communicator; messages of which one end is not known; read back, which of several with one tag is which, where communicators or threads overtake each other",
    ),
    ("edge", "", "all of it"),
    (
        "part in a collective",
        "50100001 to 50100004 with the enter of the call",
        "the number of the operation; read back, those of calls that are no 50000002",
    ),
    ("communicator", "`c` lines", "names; those between two groups, or with processes of no rank"),
    (
        "event",
        "types from 92000000 on; the value is the only field, if that is a whole number, else 1",
        "other fields",
    ),
    (
        "value of a counter",
        "of the processor or the kernel: 42000000 and on, since the last reading; of the program: 93000000 and on",
        "fractions",
    ),
    ("peak of a heap", "type 91000001", ""),
    (
        "process, location",
        "ranks of the first world are tasks of application 1, in their order; others of application 2; names in the .row",
        "process ids; ranks, where some are missing; read back, that processes without MPI have none",
    ),
    ("control characters of names", "`\\n`, `\\u{1b}` …", ""),
    ("date", "in the first line, to the minute", "seconds"),
    ("command line, title", "", "all of it"),
];

pub(super) fn document() -> (&'static str, &'static str, &'static [Line]) {
    let intro = "`NAME.prv`, in ns and in the order of time, with `NAME.pcf` and `NAME.row` beside it. Nested regions of one type are \
                 seen by Paraver's semantic function Stacked Val. Times before the begin of the run are 0.";
    ("Paraver", intro, LINES)
}
