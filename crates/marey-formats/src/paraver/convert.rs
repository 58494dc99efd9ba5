//! From records to what happens on tracks.
//!
//! The one idea: a record of a message tells both its halves, at the time of the first. When a half is told again it must
//! lie within the call that it belongs to, of which the record says the beginning or the end only; so it is put just
//! before that end, or waits until the call has begun.
//!
//! Deliberately absent: the processors that threads ran on, and when a message left its sender.

mod counters;
mod halves;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use marey_model::spool::{FieldType, put_bytes, put_signed};
use rustc_hash::FxHashMap;

use self::counters::Counters;
use self::halves::Halves;
use super::header::Header;
use super::labels::{Labels, Rows};
use super::records::{Record, Who};
use super::types::{self, Meaning};
use crate::Error;
use crate::draft::{Act, Draft, Group, Owner};
use crate::problems::kind;
use crate::spool::{Half, Member};

/// Threads that are there before anything happens on them; more of them are made when it does.
const MOST_THREADS: u64 = 1 << 16;

/// A thread.
#[derive(Clone, Copy, Debug)]
struct Thread {
    track: u32,
    process: u32,
    /// Rank of its process.
    rank: Option<u32>,
    /// Calls of MPI that are open.
    n_calls: u32,
    /// End of its last state, ns.
    state_end: i64,
}

/// A type of events, as far as it has come.
#[derive(Debug)]
pub(super) struct OfType {
    /// Its place among the types.
    place: u32,
    pub meaning: Meaning,
    /// How often it has come.
    pub number: u64,
    /// Its kinds of events: of itself, and as a fact.
    event: Option<u32>,
    fact: Option<u32>,
}

/// What is known while records are read.
pub(super) struct Convert<'a> {
    pub draft: Draft,
    header: &'a Header,
    labels: &'a Labels,
    rows: &'a Rows,
    /// Processes, by application and task, both from 0, with the number of their first thread among all.
    processes: Vec<Vec<(u32, u64)>>,
    threads: FxHashMap<Who, Thread>,
    groups: FxHashMap<i64, (u32, Vec<u32>)>,
    pub types: BTreeMap<i64, OfType>,
    /// Regions that are open, by thread and type.
    open: FxHashMap<(u32, u32), Vec<u32>>,
    /// Values that hold, by thread and type.
    held: BTreeSet<(u32, u32)>,
    /// The last time of all, ns.
    last: i64,
    counters: Counters,
    halves: Halves,
    fields: Vec<u8>,
    has_mpi: bool,
    /// Problems with the number of the first line that has each.
    wrong: BTreeMap<&'static str, (u64, u64)>,
    line: u64,
}

impl<'a> Convert<'a> {
    pub(super) fn new(mut draft: Draft, header: &'a Header, labels: &'a Labels, rows: &'a Rows) -> Self {
        draft.epoch_ns = header.epoch_ns;
        draft.world = header.applications.first().map(|tasks| number(tasks.len()));
        let mut convert = Self {
            draft,
            header,
            labels,
            rows,
            processes: Vec::new(),
            threads: FxHashMap::default(),
            groups: FxHashMap::default(),
            types: BTreeMap::new(),
            open: FxHashMap::default(),
            held: BTreeSet::new(),
            last: 0,
            counters: Counters::default(),
            halves: Halves::default(),
            fields: Vec::new(),
            has_mpi: false,
            wrong: BTreeMap::new(),
            line: 0,
        };
        let (mut before, mut left) = (0_u64, MOST_THREADS);
        let mut of_task = 0;
        for (application, tasks) in (1_u64..).zip(&header.applications) {
            let mut processes = Vec::new();
            for (task, it) in (1_u64..).zip(tasks) {
                let label = |names: &[String], at: u64| {
                    usize::try_from(at).ok().and_then(|at| names.get(at)).cloned().unwrap_or_default()
                };
                let host = it.node.checked_sub(1).map(|node| label(&rows.nodes, node)).unwrap_or_default();
                let name = label(&rows.tasks, of_task);
                of_task += 1;
                // Names that only repeat the number say nothing.
                let command =
                    if name.is_empty() || name.starts_with("TASK ") { Vec::new() } else { vec![name] };
                let rank = (application == 1).then(|| u32::try_from(task - 1).ok()).flatten();
                let process = convert.draft.process(Owner { pid: 0, host, command, rank });
                processes.push((process, before));
                before = before.saturating_add(it.n_threads);
            }
            convert.processes.push(processes);
            for (task, it) in (1_u64..).zip(tasks) {
                for thread in 1..=it.n_threads.min(left) {
                    convert.thread(Who { application, task, thread });
                }
                left -= it.n_threads.min(left);
            }
        }
        convert
    }

    /// Takes a record of a line; `pairs` are types and values of an event.
    ///
    /// # Errors
    /// If what does not fit into memory cannot be written.
    pub(super) fn record(&mut self, line: u64, record: &Record, pairs: &[(i64, i64)]) -> Result<(), Error> {
        self.line = line;
        match record {
            Record::State { who, begin, end, state } => self.state(*who, (*begin, *end), *state),
            Record::Event { who, time } => self.event(*who, *time, pairs),
            Record::Message { from, sent, to, awaited, received, bytes, tag } => {
                self.message((*from, *sent), (*to, *awaited, *received), *bytes, *tag)
            }
            Record::Communicator { application, id, tasks } => {
                self.communicator(*application, *id, tasks);
                Ok(())
            }
            Record::Remark => Ok(()),
        }
    }

    /// Counts something that is wrong with a line.
    pub(super) fn wrong(&mut self, line: u64, what: &'static str) {
        self.wrong.entry(what).or_insert((0, line)).0 += 1;
    }

    fn trouble(&mut self, what: &'static str) {
        self.wrong(self.line, what);
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// If what does not fit into memory cannot be written.
    pub(super) fn end(mut self) -> Result<(Draft, BTreeMap<i64, OfType>), Error> {
        self.halves.release(&mut self.draft, i64::MAX)?;
        for place in std::mem::take(&mut self.held) {
            // Nothing says that a value holds no more when the trace ends.
            self.draft.add(place.0, self.last, &Act::End { key: key_of_value(place) })?;
        }
        let is_alone = self.header.applications.iter().map(Vec::len).sum::<usize>() == 1;
        if is_alone && !self.has_mpi {
            // A program without MPI, in a format that has tasks for each.
            if let Some((process, _)) = self.processes.first().and_then(|tasks| tasks.first()) {
                self.draft.owner(*process).rank = None;
                self.draft.world = None;
            }
        }
        for (what, (number, first)) in &self.wrong {
            self.draft.problems.add(kind::DAMAGED, format!("{what}; the first is line {first}"), *number);
        }
        let discarded = self.counters.discarded;
        self.draft.problems.add(
            kind::DAMAGED,
            "differences of counters beyond what the time since the last one allows, which count as 0",
            discarded,
        );
        Ok((self.draft, self.types))
    }

    /// A time in ns.
    fn ns(&mut self, time: i64) -> Option<i64> {
        let ns = time.checked_mul(self.header.unit);
        if ns.is_none() {
            self.trouble("times that are too late for any trace");
        }
        ns
    }

    fn thread(&mut self, who: Who) -> Option<Thread> {
        if let Some(thread) = self.threads.get(&who) {
            return Some(*thread);
        }
        let at = |number: u64| number.checked_sub(1).and_then(|at| usize::try_from(at).ok());
        let (application, task) = (at(who.application), at(who.task));
        let place = application.zip(task).and_then(|(application, task)| {
            let process = self.processes.get(application)?.get(task).copied()?;
            Some((process, self.header.applications.get(application)?.get(task).copied()?))
        });
        let (Some(((process, before), of_header)), true) = (place, who.thread > 0) else {
            self.trouble("records of tasks that the first line does not name");
            return None;
        };
        let is_listed = who.thread <= of_header.n_threads;
        if !is_listed {
            self.trouble("threads that the first line does not name");
        }
        let label = before.checked_add(who.thread - 1).and_then(|at| usize::try_from(at).ok());
        let label = label.and_then(|at| self.rows.threads.get(at)).filter(|_| is_listed);
        let name = label
            .cloned()
            .unwrap_or_else(|| format!("THREAD {}.{}.{}", who.application, who.task, who.thread));
        let track = self.draft.track(process, &name);
        let rank = self.draft.owner(process).rank;
        let thread = Thread { track, process, rank, n_calls: 0, state_end: 0 };
        self.threads.insert(who, thread);
        Some(thread)
    }

    fn communicator(&mut self, application: u64, id: i64, tasks: &[u64]) {
        if application != 1 {
            return self.trouble("communicators of applications behind the first, which are left out");
        }
        let size = self.processes.first().map_or(0, Vec::len);
        let rank = |task: &u64| {
            let rank = u32::try_from(task.checked_sub(1)?).ok()?;
            (usize::try_from(rank).is_ok_and(|rank| rank < size)).then_some(rank)
        };
        let members: Option<Vec<u32>> = tasks.iter().map(rank).collect();
        let Some(members) = members.filter(|members| !members.is_empty() && is_each_once(members)) else {
            return self.trouble("communicators whose members make no sense");
        };
        if self.groups.contains_key(&id) {
            return self.trouble("communicators that are there twice");
        }
        let is_world = members.iter().copied().eq(0..number(size));
        let group = if is_world {
            0
        } else {
            self.draft.group(Group { name: String::new(), members: members.clone() })
        };
        self.groups.insert(id, (group, members));
    }

    fn state(&mut self, who: Who, (begin, end): (i64, i64), state: i64) -> Result<(), Error> {
        if self.header.end > 0 && end > self.header.end {
            self.trouble("states that end behind the end of the trace, and are left out");
            return Ok(());
        }
        let Some(thread) = self.thread(who) else { return Ok(()) };
        let (Some(begin), Some(end)) = (self.ns(begin), self.ns(end)) else { return Ok(()) };
        self.reach(begin)?;
        if begin < thread.state_end {
            self.trouble("states that begin before the last one of their thread has ended");
        }
        if let Some(it) = self.threads.get_mut(&who) {
            it.state_end = it.state_end.max(end);
        }
        let region = self.draft.region(&types::state_of_thread(self.labels, state));
        let key = u64::from(thread.track);
        self.last = self.last.max(end);
        self.draft.add(thread.track, begin, &Act::Begin { region, key })?;
        self.draft.add(thread.track, end, &Act::End { key })
    }

    /// Records come in the order of time, so what waits for an earlier one is due.
    fn reach(&mut self, ns: i64) -> Result<(), Error> {
        self.halves.release(&mut self.draft, ns)
    }

    fn event(&mut self, who: Who, time: i64, pairs: &[(i64, i64)]) -> Result<(), Error> {
        let Some(thread) = self.thread(who) else { return Ok(()) };
        let Some(ns) = self.ns(time) else { return Ok(()) };
        self.reach(ns)?;
        self.last = self.last.max(ns);
        for (kind, _) in pairs {
            self.of_type(*kind).number += 1;
        }
        // Counters have counted what was before; calls come before the facts about them.
        let mut since = None;
        for (kind, value) in pairs {
            if self.of_type(*kind).meaning == Meaning::Counter {
                let since = *since.get_or_insert_with(|| self.counters.read(thread.track, ns));
                self.count(thread, (ns, since), *kind, *value)?;
            }
        }
        let mut has_entered = false;
        for (kind, value) in pairs {
            match self.of_type(*kind).meaning {
                Meaning::Region if *value != 0 => {
                    self.enter(who, thread, ns, (*kind, *value), pairs)?;
                    has_entered = true;
                }
                Meaning::Region => self.leave(who, thread, ns, *kind)?,
                Meaning::State => self.hold(thread, ns, *kind, *value)?,
                _ => {}
            }
        }
        for (kind, value) in pairs {
            match self.of_type(*kind).meaning {
                Meaning::Event => self.keep(thread, ns, (*kind, *value), false)?,
                // 0 says that there is no more to tell.
                Meaning::Fact if *value != 0 || types::is_size(*kind) => {
                    self.keep(thread, ns, (*kind, *value), has_entered)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn of_type(&mut self, kind: i64) -> &mut OfType {
        let place = number(self.types.len());
        let labels = self.labels;
        self.types.entry(kind).or_insert_with(|| OfType {
            place,
            meaning: types::meaning(kind, labels),
            number: 0,
            event: None,
            fact: None,
        })
    }

    fn count(&mut self, thread: Thread, (ns, since): (i64, i64), kind: i64, value: i64) -> Result<(), Error> {
        let total = self.counters.add(thread.track, kind, value, ns.saturating_sub(since));
        let label = self.labels.types.get(&kind).map(|it| it.label.as_str());
        // Behind the name stands what it means, in brackets.
        let name = label.map_or_else(
            || format!("counter {kind}").into(),
            |it| Cow::Borrowed(it.split_once(" [").map_or(it, |it| it.0)),
        );
        let counter = self.draft.counter(thread.process, &name, "");
        self.draft.add(thread.track, ns, &Act::Counter { counter, value: total })
    }

    fn enter(
        &mut self,
        who: Who,
        thread: Thread,
        ns: i64,
        (kind, value): (i64, i64),
        pairs: &[(i64, i64)],
    ) -> Result<(), Error> {
        let find = |wanted: i64| pairs.iter().find(|it| it.0 == wanted).map(|it| it.1);
        let of_place = kind.saturating_add(types::TO_PLACE);
        let place = find(of_place).and_then(|place| self.labels.value(of_place, place));
        let region = self.draft.region(&types::region(self.labels, kind, value, place));
        let of_type = self.of_type(kind).place;
        self.open.entry((thread.track, of_type)).or_default().push(region);
        self.draft.add(thread.track, ns, &Act::Enter { region })?;
        if !types::is_mpi(kind) {
            return Ok(());
        }
        self.has_mpi = true;
        if let Some(it) = self.threads.get_mut(&who) {
            it.n_calls = it.n_calls.saturating_add(1);
        }
        if let (types::COLLECTIVE, Some(communicator)) = (kind, find(types::COMMUNICATOR)) {
            let size = |kind: i64| find(kind).and_then(|size| u64::try_from(size).ok()).unwrap_or(0);
            let sizes = (size(types::BYTES_OUT), size(types::BYTES_IN));
            let is_root = find(types::IS_ROOT).is_some_and(|it| it != 0);
            self.collective(thread, ns, communicator, sizes, is_root)?;
        }
        self.halves.release_of(&mut self.draft, thread.track, ns)
    }

    fn collective(
        &mut self,
        thread: Thread,
        ns: i64,
        communicator: i64,
        (bytes_out, bytes_in): (u64, u64),
        is_root: bool,
    ) -> Result<(), Error> {
        let Some((group, members)) = self.groups.get(&communicator) else {
            self.trouble("collectives on communicators that are not there");
            return Ok(());
        };
        let own = thread.rank.and_then(|rank| members.iter().position(|it| *it == rank));
        let Some(own) = own else {
            self.trouble("collectives on communicators that their process is not in");
            return Ok(());
        };
        // The other members do not know; it is enough that one does.
        let root = if is_root { i64::try_from(own).unwrap_or(-1) } else { -1 };
        let member = Member { communicator: *group, root, bytes_out, bytes_in };
        self.draft.add(thread.track, ns, &Act::Collective(member))
    }

    fn leave(&mut self, who: Who, thread: Thread, ns: i64, kind: i64) -> Result<(), Error> {
        let of_type = self.of_type(kind).place;
        let Some(region) = self.open.get_mut(&(thread.track, of_type)).and_then(Vec::pop) else {
            self.trouble("calls that were left and not entered");
            return Ok(());
        };
        if types::is_mpi(kind)
            && let Some(it) = self.threads.get_mut(&who)
        {
            it.n_calls = it.n_calls.saturating_sub(1);
        }
        self.draft.add(thread.track, ns, &Act::Leave { region: Some(region) })
    }

    /// A value holds from now on, and the last one of its type no more.
    fn hold(&mut self, thread: Thread, ns: i64, kind: i64, value: i64) -> Result<(), Error> {
        let of_type = self.of_type(kind).place;
        let place = (thread.track, of_type);
        let key = key_of_value(place);
        if self.held.remove(&place) {
            self.draft.add(thread.track, ns, &Act::End { key })?;
        }
        if value == 0 {
            return Ok(());
        }
        self.held.insert(place);
        let region = self.draft.region(&types::state_of_type(self.labels, kind, value));
        self.draft.add(thread.track, ns, &Act::Begin { region, key })
    }

    /// Keeps a type and its value with their labels, as an event or a fact about the call that has been entered.
    fn keep(
        &mut self,
        thread: Thread,
        ns: i64,
        (kind, value): (i64, i64),
        is_fact: bool,
    ) -> Result<(), Error> {
        let has_labels = self.labels.values(kind).is_some();
        self.fields.clear();
        put_signed(&mut self.fields, value);
        if has_labels {
            put_bytes(&mut self.fields, self.labels.value(kind, value).unwrap_or_default().as_bytes());
        }
        let event = self.kind(kind, false, has_labels);
        let as_fact = if is_fact { self.kind(kind, true, has_labels) } else { None };
        let fields = &self.fields;
        match (event, as_fact) {
            (Some(as_event), Some(kind)) => {
                self.draft.add(thread.track, ns, &Act::Fact { kind, as_event, fields })
            }
            (Some(kind), None) => self.draft.add(thread.track, ns, &Act::Event { kind, fields }),
            (None, _) => {
                self.trouble("events of types beyond the number that can be kept apart");
                Ok(())
            }
        }
    }

    /// The kind of the events of a type.
    fn kind(&mut self, kind: i64, is_fact: bool, has_labels: bool) -> Option<u32> {
        let it = self.of_type(kind);
        let known = if is_fact { it.fact } else { it.event };
        if known.is_some() {
            return known;
        }
        let label = self.labels.types.get(&kind).map(|it| it.label.clone()).filter(|it| !it.is_empty());
        let name = label.unwrap_or_else(|| format!("type {kind}"));
        let both = [("value", FieldType::Signed), ("label", FieldType::Text)];
        let fields = if has_labels { &both[..] } else { &both[..1] };
        let made = self.draft.kind(&name, is_fact, fields);
        let it = self.of_type(kind);
        *(if is_fact { &mut it.fact } else { &mut it.event }) = made;
        made
    }

    fn message(
        &mut self,
        (from, sent): (Who, i64),
        (to, awaited, received): (Who, i64, i64),
        bytes: u64,
        tag: i64,
    ) -> Result<(), Error> {
        let (Some(sender), Some(receiver)) = (self.thread(from), self.thread(to)) else { return Ok(()) };
        let (Some(source), Some(target)) = (sender.rank, receiver.rank) else {
            self.trouble("messages of applications behind the first, which are left out");
            return Ok(());
        };
        let times = (self.ns(sent), self.ns(awaited), self.ns(received));
        let (Some(sent), Some(awaited), Some(received)) = times else { return Ok(()) };
        self.reach(sent)?;
        self.has_mpi = true;
        let half = |peer: u32| Half { communicator: 0, peer: peer.into(), tag, bytes };
        if sender.n_calls > 0 {
            self.draft.add(sender.track, sent, &Act::Send(half(target)))?;
        } else {
            self.halves.wait(&mut self.draft, sender.track, sent, Act::Send(half(target)))?;
        }
        let act = Act::Receive(half(source));
        // It was there when the call was left: one ns before, that is still open, whatever the order of records.
        if received.saturating_sub(awaited) > 1 {
            return self.draft.add(receiver.track, received - 1, &act);
        }
        // It was there before it was asked for.
        let at = awaited.max(received);
        if at <= sent && receiver.n_calls > 0 {
            return self.draft.add(receiver.track, at, &act);
        }
        self.halves.wait(&mut self.draft, receiver.track, at, act)
    }
}

/// The key of a value that holds, by thread and place of its type; states of threads have the numbers below.
fn key_of_value((track, of_type): (u32, u32)) -> u64 {
    (u64::from(of_type) + 1) << 32 | u64::from(track)
}

fn is_each_once(members: &[u32]) -> bool {
    let mut sorted = members.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair.first() != pair.last())
}

fn number(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
