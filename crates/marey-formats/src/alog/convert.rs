//! What becomes of lines.

use std::collections::{BTreeMap, BTreeSet};

use marey_model::spool::{FieldType, put_bytes, put_signed};

use super::header::{Header, Meaning};
use super::line::Line;
use super::record;
use crate::draft::{Act, Draft, Owner};
use crate::spool::{Half, Region};
use crate::{Error, mpe, mpi};

/// Threads of a process, more than any has.
const MOST_TASKS: i64 = 1 << 16;

/// How many lines there are of each kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Count {
    /// Of a header, by their number.
    pub definitions: BTreeMap<i64, u64>,
    pub records: BTreeMap<&'static str, u64>,
    /// Lines that are neither.
    pub strays: u64,
}

/// A log on its way into a draft.
#[derive(Debug)]
pub(crate) struct Convert<'a> {
    draft: &'a mut Draft,
    header: Header,
    processes: BTreeMap<i64, u32>,
    tracks: BTreeMap<(i64, i64), u32>,
    count: Count,
}

/// Where and when something happens.
#[derive(Clone, Copy, Debug)]
struct Place {
    track: u32,
    ns: i64,
}

/// Data and comment.
type Fact<'a> = (i64, &'a str);

impl<'a> Convert<'a> {
    pub(crate) fn new(draft: &'a mut Draft, ranks: &BTreeSet<u32>, header: Header) -> Self {
        let mut processes = BTreeMap::new();
        for rank in ranks {
            let process = draft.process(Owner { rank: Some(*rank), ..Owner::default() });
            processes.insert(i64::from(*rank), process);
        }
        let (tracks, count) = (BTreeMap::new(), Count::default());
        Self { draft, header, processes, tracks, count }
    }

    /// What the header said, and how many lines there were.
    pub(crate) fn end(self) -> (Header, Count) {
        for (process, command) in &self.header.commands {
            if let Some(process) = self.processes.get(process) {
                self.draft.owner(*process).command = vec![command.clone()];
            }
        }
        (self.header, self.count)
    }

    /// Notes what a line says; none is a line that is no record.
    ///
    /// # Errors
    /// If what does not fit into memory cannot be written.
    pub(crate) fn line(&mut self, line: Option<&Line>) -> Result<(), Error> {
        let Some(line) = line else {
            self.count.strays += 1;
            return Ok(());
        };
        if !line.is_event() {
            *self.count.definitions.entry(line.event).or_default() += 1;
            self.header.learn(line);
            return Ok(());
        }
        let Some(ns) = self.header.ns(line) else {
            self.draft.trouble("records whose time is no time");
            return Ok(());
        };
        let Some(track) = self.track(line) else {
            self.draft.trouble("records of processes or tasks that cannot be");
            return Ok(());
        };
        let place = Place { track, ns };
        let (name, noted) = match line.event {
            mpe::SEND => (record::SEND, self.message(place, line, Act::Send)),
            mpe::RECEIVE => (record::RECEIVE, self.message(place, line, Act::Receive)),
            -100 => (record::TIMES, self.keep(place, "clock", line)),
            event => match self.header.meaning(event) {
                Meaning::Start(region) => {
                    (record::STATE, self.enter(place, &region, (line.data, &line.comment)))
                }
                Meaning::End(region) => {
                    (record::STATE, self.leave(place, &region, (line.data, &line.comment)))
                }
                // Here data are no more than the direction.
                Meaning::Either(name) if line.data > 0 => {
                    (record::STATE, self.enter(place, &mpi::region(&name), (0, "")))
                }
                Meaning::Either(name) if line.data < 0 => {
                    (record::STATE, self.leave(place, &mpi::region(&name), (0, "")))
                }
                Meaning::Either(name) => (record::EVENT, self.keep(place, &name, line)),
                Meaning::Event(name) => (record::EVENT, self.keep(place, &name, line)),
            },
        };
        *self.count.records.entry(name).or_default() += 1;
        noted
    }

    fn track(&mut self, line: &Line) -> Option<u32> {
        let process = *self.processes.get(&line.process)?;
        let task = Some(line.task).filter(|task| (0..MOST_TASKS).contains(task))?;
        let new = || self.draft.track(process, &format!("task {task}"));
        Some(*self.tracks.entry((line.process, task)).or_insert_with(new))
    }

    fn enter(&mut self, Place { track, ns }: Place, region: &Region, fact: Fact<'_>) -> Result<(), Error> {
        let region = self.draft.region(region);
        self.draft.add(track, ns, &Act::Enter { region })?;
        self.fact(track, "data", fact, Draft::also)
    }

    fn leave(&mut self, Place { track, ns }: Place, region: &Region, fact: Fact<'_>) -> Result<(), Error> {
        let region = Some(self.draft.region(region));
        self.fact(track, "data at the end", fact, |draft, track, fact| draft.add(track, ns, fact))?;
        self.draft.add(track, ns, &Act::Leave { region })
    }

    /// Adds what an event of a state has as a fact about its region; most have nothing.
    fn fact(
        &mut self,
        track: u32,
        name: &str,
        (data, comment): Fact<'_>,
        add: impl FnOnce(&mut Draft, u32, &Act<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if data == 0 && comment.is_empty() {
            return Ok(());
        }
        let (kinds, fields) = fields("value", data, comment);
        let kinds = (self.draft.kind(name, true, &kinds), self.draft.kind(name, false, &kinds));
        let (Some(kind), Some(as_event)) = kinds else { return Ok(()) };
        add(self.draft, track, &Act::Fact { kind, as_event, fields: &fields })
    }

    fn message(
        &mut self,
        Place { track, ns }: Place,
        line: &Line,
        act: fn(Half) -> Act<'static>,
    ) -> Result<(), Error> {
        let mut words = line.comment.split_whitespace().map(|word| word.parse::<i64>().ok());
        let (tag, size) = (words.next().flatten(), words.next().flatten());
        let (Some(tag), Some(bytes)) = (tag, size.and_then(|size| u64::try_from(size).ok())) else {
            self.draft.trouble("messages without a tag and a size");
            return Ok(());
        };
        if !self.processes.contains_key(&line.data) {
            self.draft.trouble("messages from or to a process that has no events");
            return Ok(());
        }
        self.draft.add(track, ns, &act(Half { communicator: 0, peer: line.data, tag, bytes }))
    }

    fn keep(&mut self, Place { track, ns }: Place, name: &str, line: &Line) -> Result<(), Error> {
        let (kinds, fields) = fields("data", line.data, &line.comment);
        let Some(kind) = self.draft.kind(name, false, &kinds) else {
            self.draft.trouble("events of more kinds than can be told apart");
            return Ok(());
        };
        self.draft.add(track, ns, &Act::Event { kind, fields: &fields })
    }
}

/// Fields of data under a name, and of a comment if there is one.
fn fields(name: &'static str, data: i64, comment: &str) -> (Vec<(&'static str, FieldType)>, Vec<u8>) {
    let mut kinds = vec![(name, FieldType::Signed)];
    let mut fields = Vec::new();
    put_signed(&mut fields, data);
    if !comment.is_empty() {
        kinds.push(("comment", FieldType::Text));
        put_bytes(&mut fields, comment.as_bytes());
    }
    (kinds, fields)
}
