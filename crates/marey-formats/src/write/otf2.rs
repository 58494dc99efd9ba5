//! OTF2, version 3: an archive for Vampir, Cube and whatever else reads what Score-P writes.
//!
//! The one idea: each location has a file of events of its own, of which one chunk is in memory; definitions are written at the
//! end, when it is known how many events there are and which texts they have.
//!
//! * [`encode`]: numbers, records, chunks. * [`definitions`]: what events refer to. * [`lanes`]: files of events.
//!
//! Source: the sources and headers of OTF2 3.0. Deliberately absent: local definitions, for all numbers are those of the whole
//! archive; compression and containers.

mod definitions;
mod encode;
mod lanes;

use std::path::{Path, PathBuf};

use marey_model::{LocationId, Nanos};
use rustc_hash::FxHashMap;

use self::definitions::{Groups, Texts, attribute};
use self::encode::Record;
use self::lanes::Lanes;
use super::aside::AsideDirectory;
use super::event::{Event, Message, Part, Visit, What};
use super::{Definitions, Line, Tally, Writer, Written, names};
use crate::Error;
use marey_model::Level;

/// Names of the archive's files.
const NAME: &str = "traces";

/// Codes of records of events.
mod code {
    pub(super) const ENTER: u8 = 12;
    pub(super) const LEAVE: u8 = 13;
    pub(super) const MPI_SEND: u8 = 14;
    pub(super) const MPI_RECV: u8 = 18;
    pub(super) const COLLECTIVE_BEGIN: u8 = 22;
    pub(super) const COLLECTIVE_END: u8 = 23;
    pub(super) const METRIC: u8 = 31;
    pub(super) const PARAMETER_STRING: u8 = 32;
}

pub(super) struct Otf2<'a> {
    run: &'a Definitions<'a>,
    dir: AsideDirectory,
    lanes: Lanes,
    texts: Texts,
    groups: Groups,
    /// Regions that are open on each location, with when they end.
    open: FxHashMap<LocationId, Vec<Visit>>,
    /// A visit in no time that is not left yet, for what is said of it comes behind it.
    held: FxHashMap<LocationId, Visit>,
    /// Parts in collectives that are over when the region is left that is open to this depth.
    parts: FxHashMap<LocationId, Vec<(usize, Part)>>,
    /// The last time of all.
    end: Nanos,
    tally: Tally,
}

impl<'a> Otf2<'a> {
    pub(super) fn create(run: &'a Definitions<'a>, out: &Path) -> Result<Self, Error> {
        let dir = AsideDirectory::create(out)?;
        let events = dir.aside.join(NAME);
        std::fs::create_dir(&events).map_err(|source| Error::Write { path: events.clone(), source })?;
        Ok(Self {
            run,
            lanes: Lanes::new(&events, run.trace.locations().len()),
            dir,
            texts: Texts::default(),
            groups: Groups::new(run),
            open: FxHashMap::default(),
            held: FxHashMap::default(),
            parts: FxHashMap::default(),
            end: run.trace.duration(),
            tally: Tally::default(),
        })
    }

    fn add(&mut self, location: LocationId, time: Nanos, record: &Record) -> Result<(), Error> {
        self.lanes.add(location, time, None, record)
    }

    fn region(&self, visit: &Visit) -> u32 {
        let unknown = u32::try_from(self.run.trace.regions().len()).unwrap_or(u32::MAX);
        names::region_of(self.run.trace, visit.path).map_or(unknown, |region| region.0)
    }

    fn enter(&mut self, location: LocationId, visit: &Visit) -> Result<(), Error> {
        let record = Record::single(code::ENTER).word(self.region(visit));
        let is_of_mpi = names::region_of(self.run.trace, visit.path)
            .and_then(|region| self.run.trace.regions().get(region.idx()))
            .is_some_and(|region| region.level == Level::MPI);
        let mut attributes = Vec::new();
        if let Some(bytes) = visit.bytes.filter(|_| !is_of_mpi) {
            attributes.push((attribute::BYTES, bytes));
        }
        if visit.visits != 1 {
            attributes.push((attribute::VISITS, visit.visits.into()));
            attributes.push((attribute::GAPS, visit.gaps.0.cast_unsigned()));
        }
        self.lanes.add(location, visit.start, Some(&attributes), &record)?;
        self.open.entry(location).or_default().push(*visit);
        Ok(())
    }

    fn leave(&mut self, location: LocationId, visit: &Visit) -> Result<(), Error> {
        let end = visit.start + visit.duration;
        let open = self.open.entry(location).or_default();
        let depth = open.len();
        open.pop();
        let parts = self.parts.get_mut(&location);
        let over: Vec<(usize, Part)> =
            parts.map(|parts| parts.extract_if(.., |(at, _)| depth <= *at).collect()).unwrap_or_default();
        for (_, part) in over {
            self.part(location, end, &part)?;
        }
        self.add(location, end, &Record::single(code::LEAVE).word(self.region(visit)))
    }

    /// Leaves a visit in no time, if this is not about it.
    fn release(&mut self, event: &Event) -> Result<(), Error> {
        let location = event.key.location;
        let Some(visit) = self.held.get(&location) else { return Ok(()) };
        let is_about_it = event.key.turn == super::Turn::Act && event.key.time == visit.start;
        if is_about_it {
            return Ok(());
        }
        let Some(visit) = self.held.remove(&location) else { return Ok(()) };
        self.leave(location, &visit)
    }

    fn message(&mut self, event: &Event, message: &Message) -> Result<(), Error> {
        let is_send = matches!(event.what, What::Send(_));
        let other = if is_send { message.received } else { message.sent };
        let own = event.key.location;
        let peer = other.and_then(|(peer, _)| self.groups.peer(self.run, message.communicator, own, peer));
        let (Some(peer), Ok(communicator)) = (peer, usize::try_from(message.communicator)) else {
            self.tally.left_out(match other {
                None => "messages of which one end is not known",
                Some(_) => "messages within communicators that are not known",
            });
            return Ok(());
        };
        self.tally.event(&event.what);
        let tag = u32::try_from(message.tag).unwrap_or(u32::MAX);
        let code = if is_send { code::MPI_SEND } else { code::MPI_RECV };
        let number = self.groups.communicator(communicator);
        let record = Record::new(code).word(peer).word(number).word(tag).long(message.bytes);
        self.add(own, event.key.time, &record)
    }

    fn collective(&mut self, event: &Event, part: &Part) -> Result<(), Error> {
        let location = event.key.location;
        self.tally.event(&event.what);
        self.add(location, event.key.time, &Record::new(code::COLLECTIVE_BEGIN))?;
        let open = self.open.get(&location).map_or(&[][..], Vec::as_slice);
        let is_it =
            |visit: &Visit| Some(visit.path) == part.path && Some(visit.start + visit.duration) == part.end;
        match open.iter().rposition(is_it) {
            Some(at) => {
                self.parts.entry(location).or_default().push((at + 1, *part));
                Ok(())
            }
            // It is completed by another call, which the record cannot tell.
            None => self.part(location, event.key.time, part),
        }
    }

    /// The end of a part in a collective.
    fn part(&mut self, location: LocationId, time: Nanos, part: &Part) -> Result<(), Error> {
        let communicator = usize::try_from(part.communicator).unwrap_or(usize::MAX);
        let region = part.path.and_then(|path| names::region_of(self.run.trace, path));
        let verb =
            region.and_then(|region| self.run.trace.regions().get(region.idx())).map_or("", |it| &it.verb);
        let record = Record::new(code::COLLECTIVE_END)
            .byte(definitions::operation(verb))
            .word(self.groups.communicator(communicator))
            .word(part.root.unwrap_or(u32::MAX))
            .long(part.bytes_out)
            .long(part.bytes_in);
        self.add(location, time, &record)
    }

    fn metric(&mut self, event: &Event, metric: u32, value: f64) -> Result<(), Error> {
        let record =
            Record::new(code::METRIC).word(metric).byte(1).byte(definitions::DOUBLE).long(value.to_bits());
        self.add(event.key.location, event.key.time, &record)
    }

    fn instant(&mut self, event: &Event, kind: u32, fields: &str) -> Result<(), Error> {
        let Some(text) = self.texts.of_event(fields) else {
            self.tally.left_out("events beyond 64 MiB of different texts");
            return Ok(());
        };
        self.tally.event(&event.what);
        self.add(
            event.key.location,
            event.key.time,
            &Record::new(code::PARAMETER_STRING).word(kind).word(text),
        )
    }
}

impl Writer for Otf2<'_> {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        self.release(event)?;
        let location = event.key.location;
        self.end = self.end.max(event.key.time);
        match &event.what {
            What::Enter(visit) => {
                self.tally.event(&event.what);
                self.enter(location, visit)
            }
            What::Leave(visit) => self.leave(location, visit),
            What::Visit(visit) => {
                self.tally.event(&event.what);
                self.enter(location, visit)?;
                self.held.insert(location, *visit);
                Ok(())
            }
            What::Send(message) | What::Receive(message) => self.message(event, message),
            What::Collective(part) => self.collective(event, part),
            What::Counter { counter, value } => {
                self.tally.event(&event.what);
                self.metric(event, *counter, *value)
            }
            #[expect(clippy::cast_precision_loss, reason = "metrics are such numbers")]
            What::HeapPeak { bytes } => {
                self.tally.event(&event.what);
                let number = u32::try_from(self.run.trace.counters().len()).unwrap_or(u32::MAX);
                self.metric(event, number, *bytes as f64)
            }
            What::Instant { kind, fields } => self.instant(event, *kind, fields),
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
        let mut held: Vec<(LocationId, Visit)> = std::mem::take(&mut self.held).into_iter().collect();
        held.sort_by_key(|it| it.0);
        for (location, visit) in held {
            self.leave(location, &visit)?;
        }
        let this = *self;
        let counts = this.lanes.finish()?;
        let (all, n_definitions) = definitions::write(this.run, &this.groups, this.texts, &counts, this.end);
        let anchor = encode::anchor(&this.run.creator, counts.len() as u64, n_definitions);
        for (end, bytes) in [("def", &all), ("otf2", &anchor)] {
            let path = this.dir.aside.join(format!("{NAME}.{end}"));
            std::fs::write(&path, bytes).map_err(|source| Error::Write { path, source })?;
        }
        let dir = this.dir.put()?;
        Ok(this.tally.finish(vec![dir.join(format!("{NAME}.otf2")), dir]))
    }
}

/// The archive's directory.
pub(super) fn files(out: &Path) -> Vec<PathBuf> {
    vec![out.to_owned()]
}

const LINES: &[Line] = &[
    (
        "visit of a region",
        "Enter and Leave; regions with file, line, role and paradigm; bytes, but of calls of MPI, as an attribute",
        "call stacks; levels that are no paradigm are the paradigm `user`",
    ),
    ("several visits in vain in a row", "one visit with the attributes `visits` and `gaps_ns`", ""),
    ("state that overlaps others", "", "all of it"),
    (
        "message",
        "MpiSend when the sending call is entered, MpiRecv when the completing call is left; ranks are those of the communicator",
        "that it was nonblocking; when the receive was posted; those of which one end or the communicator is not known",
    ),
    ("edge", "", "all of it"),
    (
        "part in a collective",
        "MpiCollectiveBegin and MpiCollectiveEnd within the call; of nonblocking ones both within the call that begins them",
        "the number of the operation",
    ),
    ("communicator", "Comm or InterComm, with its group", ""),
    (
        "event",
        "ParameterString: its kind as parameter, its fields as JSON",
        "those beyond 64 MiB of different texts",
    ),
    ("value of a counter", "Metric, a real number, with its unit", ""),
    ("peak of a heap", "Metric `heap peak`", ""),
    (
        "process, location",
        "LocationGroup and Location, beneath a SystemTreeNode for each node",
        "process ids; what processes without MPI are",
    ),
    ("date", "ClockProperties: ticks are ns since the begin of the run", ""),
    ("command line, title", "", "all of it"),
    ("a byte 0 in names", "`\\0`", ""),
];

pub(super) fn document() -> (&'static str, &'static str, &'static [Line]) {
    let intro = "A directory with `traces.otf2`, `traces.def` and `traces/`, a file for each location, little-endian. Times before the begin \
                 of the run are 0.";
    ("OTF2", intro, LINES)
}
