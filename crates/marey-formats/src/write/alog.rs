//! ALOG, the text format of upshot and nupshot.
//!
//! The one idea: a line for each thing that happens, written as it comes. What the header says of all of them stands in lines
//! with room for a number, which is put in at the end.
//!
//! * [`table`]: what becomes of what.
//!
//! Source of the layout: nupshot's reader and `clog2alog`. Deliberately absent: formats of data other than a number, for
//! which there is no more room than a comment.

mod table;

use std::path::Path;

use marey_analyze::Trace;
use marey_model::{LocationId, Nanos, RegionId, Role};

pub(super) use self::table::document;
use super::aside::Aside;
use super::brief::Brief;
use super::event::{Event, Message, Part, What};
use super::ranks::Ranks;
use super::{Definitions, Tally, Writer, Written, names};
use crate::Error;
use crate::mpe::{RECEIVE, SEND};

/// Bytes of a text; lines of original readers have 1023, and the numbers before it need some.
const LONGEST: usize = 880;
/// Digits of a number that is put in at the end.
const DIGITS: usize = 20;

pub(super) struct Alog<'a> {
    run: &'a Definitions<'a>,
    out: Aside,
    ranks: Ranks,
    /// A visit in no time, by its region.
    brief: Brief,
    /// Where the number of lines is to stand, and the last time.
    gaps: [u64; 2],
    lines: u64,
    end: Nanos,
    tally: Tally,
}

/// A text in one line that is not nothing, and whether its end is left out.
fn text(text: &str) -> (String, bool) {
    if text.trim().is_empty() {
        return ("-".to_owned(), false);
    }
    let mut line = names::one_line(text);
    let is_long = LONGEST < line.len();
    line.truncate(line.floor_char_boundary(LONGEST));
    (line, is_long)
}

fn us(time: Nanos) -> i64 {
    time.0.max(0) / 1000
}

impl<'a> Alog<'a> {
    pub(super) fn create(run: &'a Definitions<'a>, out: &Path) -> Result<Self, Error> {
        let mut it = Self {
            run,
            out: Aside::create(out)?,
            ranks: Ranks::new(run.trace),
            brief: Brief::default(),
            gaps: [0; 2],
            lines: 0,
            end: run.trace.duration(),
            tally: Tally::default(),
        };
        it.header()?;
        Ok(it)
    }

    fn header(&mut self) -> Result<(), Error> {
        let Definitions { trace, creator, command, title, epoch_ns, event_kinds, .. } = self.run;
        for (what, of) in [("command line", &command.join(" ")), ("title", title)] {
            self.out.write(format!("# {what}: {}\n", text(of).0).as_bytes())?;
        }
        self.out.write(format!("# began, ns since 1970: {epoch_ns}\n").as_bytes())?;
        let n_events = self.first() + 3 + trace.counters().len() + event_kinds.len();
        let blank = " ".repeat(DIGITS);
        self.out.write(format!("-1 0 0 0 0 0 {}\n-2 0 0 ", text(creator).0).as_bytes())?;
        self.gaps[0] = self.out.position();
        let processes = trace.processes().len();
        let before = format!("{blank} 0 0\n-3 0 0 {processes} 0 0\n-4 0 0 1 0 0\n-5 0 0 {n_events} 0 0\n");
        self.out.write(format!("{before}-6 0 0 0 0 0\n-7 0 0 0 0 ").as_bytes())?;
        self.gaps[1] = self.out.position();
        self.out.write(format!("{blank}\n-8 0 0 1 0 0\n-11 0 0 0 0 4294967295\n").as_bytes())?;
        if !self.ranks.are_real {
            for (number, process) in trace.processes().iter().enumerate() {
                let name = text(&names::process(process)).0;
                self.out.write(format!("-15 {number} 0 0 0 0 {name}\n").as_bytes())?;
            }
        }
        let own = ["collective", "heap peak", "(unknown event)"].into_iter();
        let counters = trace.counters().iter().map(|it| it.name.as_str());
        let all: Vec<&str> = own.chain(counters).chain(event_kinds.iter().map(String::as_str)).collect();
        for (number, name) in (self.first()..).zip(all) {
            let name = self.named(name).replace('"', "'");
            self.out.write(format!("-9 0 0 {number} 0 0 {name}\n-10 0 0 {number} 0 0 %d\n").as_bytes())?;
        }
        for (number, region) in trace.regions().iter().enumerate() {
            let (name, colour) = (self.named(names::region(region)), colour(region.role));
            self.state(number, colour, &name)?;
        }
        self.state(trace.regions().len(), colour(Role::Manage), "(unknown region)")
    }

    fn state(&mut self, region: usize, colour: &str, name: &str) -> Result<(), Error> {
        let (start, end) = (2 * region, 2 * region + 1);
        self.out.write(format!("-13 0 {start} {end} 0 0 {colour} {name}\n").as_bytes())
    }

    fn named(&mut self, name: &str) -> String {
        let (name, is_long) = text(name);
        if is_long {
            self.tally.left_out("ends of long names");
        }
        name
    }

    /// The number of the first event that is no state's.
    fn first(&self) -> usize {
        2 * (self.run.trace.regions().len() + 1)
    }

    fn counter(&self, number: u32) -> usize {
        let known = usize::try_from(number).ok().filter(|at| *at < self.run.trace.counters().len());
        self.first() + known.map_or(2, |at| 3 + at)
    }

    fn kind(&self, number: u32) -> usize {
        let known = usize::try_from(number).ok().filter(|at| *at < self.run.event_kinds.len());
        self.first() + known.map_or(2, |at| 3 + self.run.trace.counters().len() + at)
    }

    fn region(&self, trace: &dyn Trace, what: &What) -> u32 {
        let unknown = u32::try_from(trace.regions().len()).unwrap_or(u32::MAX);
        let (What::Enter(visit) | What::Leave(visit) | What::Visit(visit)) = what else { return unknown };
        names::region_of(trace, visit.path).map_or(unknown, |RegionId(id)| id.min(unknown))
    }

    fn line(&mut self, event: i64, at: (LocationId, Nanos), data: i64, comment: &str) -> Result<(), Error> {
        let ((rank, thread), time) = (self.ranks.place(at.0), us(at.1));
        self.lines += 1;
        let blank = if comment.is_empty() { "" } else { " " };
        self.out.write(format!("{event} {rank} {thread} {data} 0 {time}{blank}{comment}\n").as_bytes())
    }

    fn message(&mut self, event: &Event, message: &Message) -> Result<(), Error> {
        let is_send = matches!(event.what, What::Send(_));
        let (Some((from, _)), Some((to, _))) = (message.sent, message.received) else {
            self.tally.left_out("messages of which one end is not known");
            return Ok(());
        };
        self.tally.event(&event.what);
        let (number, peer) = if is_send { (SEND, to) } else { (RECEIVE, from) };
        let peer = i64::from(self.ranks.place(peer).0);
        let comment = format!("{} {}", message.tag, message.bytes);
        self.line(number, (event.key.location, event.key.time), peer, &comment)
    }

    fn note(&mut self, event: &Event, number: usize, data: i64, comment: &str) -> Result<(), Error> {
        self.tally.event(&event.what);
        let (comment, is_long) = if comment.is_empty() { (String::new(), false) } else { text(comment) };
        if is_long {
            self.tally.left_out("ends of long fields of events");
        }
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        self.line(number, (event.key.location, event.key.time), data, &comment)
    }

    fn part(&mut self, event: &Event, part: &Part) -> Result<(), Error> {
        let text = names::collective(self.run.trace, part);
        self.note(event, self.first(), i64::from(part.instance), &text)
    }

    fn value(&mut self, event: &Event, number: usize, value: f64) -> Result<(), Error> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it says what it is beside it, where it is not the same"
        )]
        let whole = value.round() as i64;
        #[expect(clippy::cast_precision_loss, reason = "to see whether it is the same")]
        let comment = if whole as f64 == value { String::new() } else { value.to_string() };
        self.note(event, number, whole, &comment)
    }

    fn edge_of(&mut self, event: &Event, is_end: bool) -> Result<(), Error> {
        let at = (event.key.location, event.key.time);
        let region = self.region(self.run.trace, &event.what);
        self.line(2 * i64::from(region) + i64::from(is_end), at, 0, "")
    }

    fn leave_brief(&mut self, left: Option<(LocationId, Nanos, u32)>) -> Result<(), Error> {
        let Some((location, time, region)) = left else { return Ok(()) };
        self.line(2 * i64::from(region) + 1, (location, time), 0, "")
    }
}

impl Writer for Alog<'_> {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        let left = self.brief.left_before(event);
        self.leave_brief(left)?;
        self.end = self.end.max(event.key.time);
        match &event.what {
            What::Enter(_) => {
                self.tally.event(&event.what);
                self.edge_of(event, false)
            }
            What::Leave(_) => self.edge_of(event, true),
            What::Visit(_) => {
                self.tally.event(&event.what);
                self.brief.enter(event, self.region(self.run.trace, &event.what));
                self.edge_of(event, false)
            }
            What::Receive(message) if message.sent.is_some() && message.received.is_none() => Ok(()),
            What::Send(message) | What::Receive(message) => self.message(event, message),
            What::Collective(part) => self.part(event, part),
            What::Instant { kind, fields } => {
                let data = names::only_number(fields).unwrap_or(0);
                self.note(event, self.kind(*kind), data, &names::fields(fields))
            }
            What::Counter { counter, value } => self.value(event, self.counter(*counter), *value),
            What::HeapPeak { bytes } => {
                let bytes = i64::try_from(*bytes).unwrap_or(i64::MAX);
                self.note(event, self.first() + 1, bytes, "")
            }
            What::Begin(_) => {
                self.tally.left_out("states that overlap others");
                Ok(())
            }
            What::Effect(_) => {
                self.tally.left_out("edges");
                Ok(())
            }
            What::End(_) | What::Cause(_) => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Written, Error> {
        let left = self.brief.left_at_end();
        self.leave_brief(left)?;
        let [lines, end] = self.gaps;
        self.out.patch(lines, format!("{:>DIGITS$}", self.lines).as_bytes())?;
        self.out.patch(end, format!("{:>DIGITS$}", us(self.end)).as_bytes())?;
        Ok(self.tally.finish(vec![self.out.put()?]))
    }
}

const fn colour(role: Role) -> &'static str {
    match role {
        Role::Work => "blue:gray",
        Role::Transfer => "orange:gray",
        Role::Wait | Role::Acquire | Role::Release => "red:gray",
        Role::Barrier | Role::AllToAll | Role::OneToAll | Role::AllToOne => "purple:gray",
        Role::Io => "yellow:gray",
        Role::Create | Role::Start | Role::End | Role::Manage => "white:gray",
    }
}
