//! A process: what its locations' events become in a spool.
//!
//! The one idea: its locations are read side by side, the earliest event first, so that messages and operations are
//! counted in the order in which the process did them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use marey_model::spool::{
    ANY_SOURCE, ANY_TAG, CommunicatorKind, Definition, FieldType, put, put_bytes, put_signed,
};
use marey_model::{Level, Role};
use rustc_hash::{FxHashMap, FxHashSet};

use super::definitions::{Communicator, Definitions};
use super::lane::{Beside, Event, Lane, value};
use super::records::{self, Field, code};
use super::{Archive, OfProcess, group, paradigm};
use crate::problems::{Problems, kind};
use crate::spool::{Half, Identity, Member, Process, Region, Spool, World};
use crate::{Error, Fate, Progress};

/// Regions that are made where a trace has none: verb and role.
const SEND: (&str, Role) = ("send", Role::Transfer);
const RECEIVE: (&str, Role) = ("receive", Role::Transfer);
const COMPLETE: (&str, Role) = ("complete", Role::Wait);
const COLLECTIVE: (&str, Role) = ("collective", Role::AllToAll);

/// Bytes of a command line.
const MOST_COMMAND: usize = 2 << 20;

/// A process that is being converted.
struct Conversion<'a> {
    definitions: &'a Definitions,
    process: Process,
    /// Sites by region.
    sites: FxHashMap<u32, u32>,
    /// Those of MPI, to which messages belong that come within.
    of_mpi: FxHashSet<u32>,
    /// Our number of each communicator that the process is in.
    communicators: FxHashMap<u32, u32>,
    counters: FxHashMap<u32, (u32, f64)>,
    /// Operations that are under way, by request.
    requests: BTreeMap<u64, Vec<Begun>>,
    /// Calling contexts that each thread is in, outermost first.
    contexts: FxHashMap<usize, Vec<u32>>,
    fields: Vec<u8>,
    status: i64,
    of: OfProcess,
}

/// An operation that is under way.
#[derive(Clone, Copy, Debug)]
struct Begun {
    /// Who began it.
    thread: usize,
    serial: u64,
    is_send: bool,
}

/// Converts a process. `first` are the problems of the whole archive, which one process tells of.
pub(super) fn process(
    archive: &Archive,
    target: &Spool,
    (number, group): (u32, u32),
    locations: &[u64],
    first: Option<&Problems>,
    progress: &dyn Progress,
) -> Result<OfProcess, Error> {
    let mut lanes = Vec::with_capacity(locations.len());
    let mut heads = Vec::with_capacity(locations.len());
    let mut queue = BinaryHeap::with_capacity(locations.len());
    for (thread, location) in locations.iter().enumerate() {
        let mut lane = Lane::open(archive, *location, thread)?;
        let mut event = Event::default();
        if lane.next(&mut event)? {
            queue.push(Reverse((event.ns, thread)));
        }
        lanes.push(lane);
        heads.push(event);
    }
    // The beginnings of a process's events say how it was called.
    let identity = identify(archive, number, group, &heads);
    let mut conversion = Conversion::begin(archive, target, &identity, group)?;
    for (location, head) in locations.iter().zip(&heads) {
        let name = archive.definitions.locations.get(location).map_or(0, |it| it.name);
        conversion.process.thread(archive.definitions.string(name), head.ns)?;
    }
    while let Some(Reverse((_, thread))) = queue.pop() {
        let (lane, head) = (&mut lanes[thread], &mut heads[thread]);
        if lane.take_damage() {
            conversion.gap(lane.thread, head.ns)?;
        }
        conversion.event(lane.thread, head)?;
        if lane.next(head)? {
            queue.push(Reverse((head.ns, thread)));
        }
        let n_read = lane.take_read();
        if n_read > 0 {
            progress.advance(n_read);
        }
    }
    for lane in &lanes {
        lane.tell(archive, &mut conversion.of.problems);
    }
    conversion.of.locations = locations.len() as u64;
    conversion.end(first)
}

/// Who the process is, by its definitions and its first events.
fn identify(archive: &Archive, number: u32, group: u32, heads: &[Event]) -> Identity {
    let definitions = &archive.definitions;
    let begin = heads.iter().find(|event| event.code == code::PROGRAM_BEGIN);
    let mut command = Vec::new();
    let mut pid = 0;
    if let Some(event) = begin {
        command.push(definitions.string(event.word(0)).to_owned());
        for argument in &event.list {
            // As long as the system lets a command line be; the same text can be named over and over.
            if command.iter().map(String::len).sum::<usize>() < MOST_COMMAND {
                command.push(definitions.string(word(argument.value)).to_owned());
            }
        }
        let named = |it: &&Beside| {
            definitions
                .attributes
                .get(&it.number)
                .is_some_and(|name| definitions.string(*name) == "ProcessId")
        };
        pid = event.attributes.iter().find(named).map_or(0, |it| word(it.value));
    }
    let host = definitions.groups_of_locations.get(&group).map_or("", |it| definitions.host(it)).to_owned();
    let version = &archive.anchor.creator;
    Identity { number, pid, host, command, recorder: version.clone() }
}

fn word(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

impl<'a> Conversion<'a> {
    fn begin(archive: &'a Archive, target: &Spool, identity: &Identity, group: u32) -> Result<Self, Error> {
        let mut conversion = Self {
            definitions: &archive.definitions,
            process: target.process(identity)?,
            sites: FxHashMap::default(),
            of_mpi: FxHashSet::default(),
            communicators: FxHashMap::default(),
            counters: FxHashMap::default(),
            requests: BTreeMap::new(),
            contexts: FxHashMap::default(),
            fields: Vec::new(),
            status: 0,
            of: OfProcess::default(),
        };
        let ranks = &archive.ranks;
        if let Some(rank) = ranks.of(group) {
            let size = word(ranks.processes.len() as u64);
            conversion.process.join(&World { rank, size, library: archive.anchor.creator.clone() })?;
            if let Some(world) = ranks.world {
                conversion.communicators.insert(world, 0);
            }
            for (id, communicator) in &archive.definitions.communicators {
                if Some(*id) != ranks.world {
                    conversion.communicator(*id, communicator, rank)?;
                }
            }
        }
        Ok(conversion)
    }

    /// Defines a communicator if the process is in it.
    fn communicator(&mut self, id: u32, communicator: &Communicator, rank: u32) -> Result<(), Error> {
        let groups = &self.definitions.groups;
        let of = |group: u32| groups.get(&group).filter(|it| it.paradigm == paradigm::MPI);
        let Some(mut local) = of(communicator.group) else { return Ok(()) };
        let mut remote = communicator.second.and_then(of);
        let place = |group: &super::Group| group.members.iter().position(|it| *it == u64::from(rank));
        if let Some(other) = remote
            && place(local).is_none()
        {
            remote = Some(local);
            local = other;
        }
        let is_self = local.kind == group::COMM_SELF;
        let place = if is_self { Some(0) } else { place(local) };
        let (Some(place), true) = (place, is_self || local.kind == group::COMM_GROUP) else { return Ok(()) };
        let own = word(self.communicators.len() as u64 + 1);
        self.communicators.insert(id, own);
        let kind = match (is_self, remote) {
            (true, _) => CommunicatorKind::SelfOnly,
            (_, Some(_)) => CommunicatorKind::Intercomm,
            _ => CommunicatorKind::Split,
        };
        self.process.define(&Definition::Communicator {
            id: own,
            kind: kind as u8,
            parent: (!is_self).then_some(0),
            number: id.into(),
            tag: 0,
            leader: 0,
            size: if is_self { 1 } else { word(local.members.len() as u64) },
            rank: word(place as u64),
            remote_size: remote.map_or(0, |remote| word(remote.members.len() as u64)),
            members: if is_self { vec![(rank.into(), 1)] } else { runs(&local.members) },
            remote_members: remote.map_or_else(Vec::new, |remote| runs(&remote.members)),
            port: String::new(),
            ticks: 0,
        })?;
        let name = self.definitions.string(communicator.name);
        if name.is_empty() {
            return Ok(());
        }
        self.process.define(&Definition::CommunicatorName { id: own, name: name.to_owned() })
    }

    fn event(&mut self, thread: usize, event: &Event) -> Result<(), Error> {
        *self.of.counts.entry(event.code).or_default() += 1;
        let ns = event.ns;
        // What is said of a region when it is left is said of that region.
        let is_left = matches!(event.code, code::LEAVE | code::CONTEXT_LEAVE);
        if is_left {
            self.attributes(thread, event)?;
        }
        match event.code {
            code::ENTER => {
                let site = self.site(event.word(0))?;
                self.process.enter(thread, site, ns)?;
            }
            code::LEAVE => self.leave(thread, event.word(0), ns)?,
            code::CONTEXT_ENTER => self.enter_context(thread, event.word(0), ns)?,
            code::CONTEXT_LEAVE => self.leave_context(thread, event.word(0), ns)?,
            code::MPI_SEND | code::MPI_ISEND | code::MPI_RECV | code::MPI_IRECV => {
                self.message(thread, event)?
            }
            code::MPI_ISEND_COMPLETE => {
                if let Some(begun) = self.take_request(thread, event.value(0)) {
                    self.within((thread, ns), COMPLETE, |process| process.sent(thread, begun.serial))?;
                } else {
                    self.trouble("completions of sends that were not seen to begin");
                }
            }
            code::MPI_IRECV_REQUEST => {
                let any = Half { communicator: 0, peer: ANY_SOURCE, tag: ANY_TAG, bytes: 0 };
                let serial =
                    self.within((thread, ns), RECEIVE, |process| process.post_receive(thread, any))?;
                self.begin_request(event.value(0), Begun { thread, serial, is_send: false });
            }
            code::MPI_REQUEST_CANCELLED => {
                if let Some(begun) = self.take_request(thread, event.value(0)) {
                    self.within((thread, ns), COMPLETE, |process| process.cancelled(thread, begun.serial))?;
                }
            }
            code::MPI_COLLECTIVE_END => self.collective(thread, event)?,
            code::METRIC => self.metric(thread, event)?,
            code::PARAMETER_STRING | code::PARAMETER_INT | code::PARAMETER_UNSIGNED => {
                self.parameter(thread, event)?
            }
            code::PROGRAM_BEGIN => {}
            code::PROGRAM_END => self.status = event.value(0).cast_signed(),
            _ => match records::of(event.code) {
                Some(known) if known.fate == Fate::Kept => self.keep(thread, event, known)?,
                _ => {}
            },
        }
        if is_left { Ok(()) } else { self.attributes(thread, event) }
    }

    fn attributes(&mut self, thread: usize, event: &Event) -> Result<(), Error> {
        for attribute in &event.attributes {
            let name = self.definitions.attributes.get(&attribute.number).copied().unwrap_or(u32::MAX);
            self.fact((thread, event.ns), name, attribute.kind, attribute.value)?;
        }
        Ok(())
    }

    /// Does something to the innermost open region, if that is one of MPI. Where the trace has none, one is made that takes no
    /// time: a message has its order from the calls that send and receive, and functions of the program do both.
    fn within<T>(
        &mut self,
        (thread, ns): (usize, u64),
        (verb, role): (&str, Role),
        act: impl FnOnce(&mut Process) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.process.innermost(thread).is_some_and(|site| self.of_mpi.contains(&site)) {
            return act(&mut self.process);
        }
        let outside = Region::of_mpi(verb, role);
        let site = self.process.site(&outside)?;
        self.process.enter(thread, site, ns)?;
        let result = act(&mut self.process)?;
        self.process.leave(thread, ns)?;
        Ok(result)
    }

    fn site(&mut self, region: u32) -> Result<u32, Error> {
        if let Some(site) = self.sites.get(&region) {
            return Ok(*site);
        }
        let named = match self.definitions.regions.get(&region) {
            Some(region) => paradigm::region(self.definitions, region),
            None => {
                self.trouble("regions that are not defined");
                Region::of_program(&format!("(region {region})"))
            }
        };
        let site = self.process.site(&named)?;
        self.sites.insert(region, site);
        if named.level.0 == Level::MPI {
            self.of_mpi.insert(site);
        }
        Ok(site)
    }

    fn leave(&mut self, thread: usize, region: u32, ns: u64) -> Result<(), Error> {
        let site = self.site(region)?;
        if self.process.is_deep(thread) {
            return self.process.leave(thread, ns).map(|_| ());
        }
        let Some(levels) = self.process.levels_to(thread, site) else {
            self.trouble("regions that were left and not entered");
            return Ok(());
        };
        if levels > 1 {
            self.trouble("regions that were left while others within were not");
        }
        for _ in 0..levels {
            self.process.leave(thread, ns)?;
        }
        Ok(())
    }

    /// The contexts from the outermost one to this.
    fn way(&self, context: u32) -> Vec<u32> {
        let mut way = Vec::new();
        let mut next = context;
        // One that leads into itself has no outermost.
        while let Some((_, parent)) = self.definitions.contexts.get(&next)
            && way.len() < 1 << 12
        {
            way.push(next);
            next = *parent;
        }
        way.reverse();
        way
    }

    /// Goes to a context: what is not on the way there is left, and the context itself is entered anew.
    fn enter_context(&mut self, thread: usize, context: u32, ns: u64) -> Result<(), Error> {
        let way = self.way(context);
        let open = self.contexts.remove(&thread).unwrap_or_default();
        let least = way.len().saturating_sub(1);
        let same = open.iter().zip(&way).take(least).take_while(|(a, b)| a == b).count();
        for _ in same..open.len() {
            self.process.leave(thread, ns)?;
        }
        for context in way.iter().skip(same) {
            let region = self.definitions.contexts.get(context).map_or(u32::MAX, |it| it.0);
            let site = self.site(region)?;
            self.process.enter(thread, site, ns)?;
        }
        if way.is_empty() {
            self.trouble("calling contexts that are not defined");
        }
        self.contexts.insert(thread, way);
        Ok(())
    }

    fn leave_context(&mut self, thread: usize, context: u32, ns: u64) -> Result<(), Error> {
        let open = self.contexts.entry(thread).or_default();
        let Some(at) = open.iter().rposition(|it| *it == context) else {
            self.trouble("calling contexts that were left and not entered");
            return Ok(());
        };
        let n_left = open.len() - at;
        open.truncate(at);
        for _ in 0..n_left {
            self.process.leave(thread, ns)?;
        }
        Ok(())
    }

    fn message(&mut self, thread: usize, event: &Event) -> Result<(), Error> {
        let Some(&communicator) = self.communicators.get(&event.word(1)) else {
            self.trouble("messages on communicators that the process is not in");
            if event.code == code::MPI_IRECV {
                self.give_up(thread, event.value(4), event.ns)?;
            }
            return Ok(());
        };
        let (peer, tag) = (event.word(0).into(), event.word(2).into());
        let half = Half { communicator, peer, tag, bytes: event.value(3) };
        let (request, at) = (event.value(4), (thread, event.ns));
        match event.code {
            code::MPI_SEND => self.within(at, SEND, |process| process.send(thread, half)),
            code::MPI_ISEND => {
                let serial = self.within(at, SEND, |process| process.post_send(thread, half))?;
                self.begin_request(request, Begun { thread, serial, is_send: true });
                Ok(())
            }
            code::MPI_IRECV => match self.take_request(thread, request) {
                Some(begun) => {
                    self.within(at, COMPLETE, |process| process.received(thread, begun.serial, half))
                }
                None => self.within(at, RECEIVE, |process| process.receive(thread, half)),
            },
            _ => self.within(at, RECEIVE, |process| process.receive(thread, half)),
        }
    }

    fn begin_request(&mut self, request: u64, begun: Begun) {
        self.requests.entry(request).or_default().push(begun);
    }

    /// The operation of a request: the last that this thread has begun, or that another one has.
    fn take_request(&mut self, thread: usize, request: u64) -> Option<Begun> {
        let begun = self.requests.get_mut(&request)?;
        let at = begun.iter().rposition(|it| it.thread == thread).or_else(|| begun.len().checked_sub(1))?;
        let taken = begun.remove(at);
        if begun.is_empty() {
            self.requests.remove(&request);
        }
        Some(taken)
    }

    /// Ends an operation of which nobody knows what became of it, so that it stands in nobody's way, as one that is under way
    /// does: what was sent was sent, and what would have been received is not known.
    fn give_up(&mut self, thread: usize, request: u64, ns: u64) -> Result<(), Error> {
        let Some(Begun { serial, is_send, .. }) = self.take_request(thread, request) else { return Ok(()) };
        self.within((thread, ns), COMPLETE, |process| match is_send {
            true => process.freed(thread, serial),
            false => process.cancelled(thread, serial),
        })
    }

    /// Events of a thread are missing here.
    fn gap(&mut self, thread: usize, ns: u64) -> Result<(), Error> {
        self.process.gap(thread, ns)?;
        self.contexts.remove(&thread);
        let of_thread = |(request, begun): (&u64, &Vec<Begun>)| {
            begun.iter().filter(|it| it.thread == thread).map(|_| *request).collect::<Vec<_>>()
        };
        let lost: Vec<u64> = self.requests.iter().flat_map(of_thread).collect();
        lost.into_iter().try_for_each(|request| self.give_up(thread, request, ns))
    }

    fn collective(&mut self, thread: usize, event: &Event) -> Result<(), Error> {
        let Some(&communicator) = self.communicators.get(&event.word(1)) else {
            self.trouble("collectives on communicators that the process is not in");
            return Ok(());
        };
        // The highest numbers stand for no root, for this process and for the other group.
        let root = event.word(2);
        let root = if root < u32::MAX - 16 { root.into() } else { -1 };
        let member = Member { communicator, root, bytes_out: event.value(3), bytes_in: event.value(4) };
        self.within((thread, event.ns), COLLECTIVE, |process| process.collective(thread, member))
    }

    fn metric(&mut self, thread: usize, event: &Event) -> Result<(), Error> {
        let definitions = self.definitions;
        let metric = event.word(0);
        let class = definitions.instances.get(&metric).copied().unwrap_or(metric);
        let Some(members) = definitions.classes.get(&class) else {
            self.trouble("values of metrics that are not defined");
            return Ok(());
        };
        for (member, it) in members.iter().zip(&event.list) {
            let (counter, scale) = self.counter(*member)?;
            self.process.count(thread, counter, event.ns, scale * real(it))?;
        }
        Ok(())
    }

    fn counter(&mut self, member: u32) -> Result<(u32, f64), Error> {
        if let Some(known) = self.counters.get(&member) {
            return Ok(*known);
        }
        let metric = self.definitions.metrics.get(&member).cloned().unwrap_or_default();
        let (name, unit) = (self.definitions.string(metric.name), self.definitions.string(metric.unit));
        let counter = self.process.counter(name, unit)?;
        self.counters.insert(member, (counter, metric.scale));
        Ok((counter, metric.scale))
    }

    fn parameter(&mut self, thread: usize, event: &Event) -> Result<(), Error> {
        let name = self.definitions.parameters.get(&event.word(0)).copied().unwrap_or(u32::MAX);
        let value = event.value(1);
        let kind = match event.code {
            code::PARAMETER_STRING => value::STRING,
            code::PARAMETER_INT => *value::SIGNED.end(),
            _ => 4,
        };
        self.fact((thread, event.ns), name, kind, value)
    }

    /// Notes a fact about the innermost open region; where none is open, as an event.
    fn fact(&mut self, (thread, ns): (usize, u64), name: u32, kind: u8, value: u64) -> Result<(), Error> {
        let is_of_region = self.process.innermost(thread).is_some();
        let mut fields = std::mem::take(&mut self.fields);
        fields.clear();
        let kind = match kind {
            value::STRING => {
                put_bytes(&mut fields, self.definitions.string(word(value)).as_bytes());
                FieldType::Text
            }
            value::F32 | value::F64 => {
                fields.extend(value.to_le_bytes());
                FieldType::Real
            }
            kind if value::SIGNED.contains(&kind) => {
                put_signed(&mut fields, value.cast_signed());
                FieldType::Signed
            }
            _ => {
                put(&mut fields, value);
                FieldType::Unsigned
            }
        };
        let name = self.definitions.string(name);
        let id = self.process.event_kind(name, is_of_region, &[("value", kind)])?;
        if is_of_region {
            self.process.attribute(thread, id, &fields)?;
        } else {
            self.process.event(thread, id, ns, &fields)?;
        }
        self.fields = fields;
        Ok(())
    }

    /// Keeps an event with all its fields.
    fn keep(&mut self, thread: usize, event: &Event, known: &records::Kind) -> Result<(), Error> {
        let mut fields = std::mem::take(&mut self.fields);
        fields.clear();
        let mut types = Vec::with_capacity(known.fields.len());
        for (at, (name, field)) in known.fields.iter().enumerate() {
            let value = event.values().get(at).copied().unwrap_or(u64::MAX);
            types.push((
                *name,
                match field {
                    Field::Of(super::local::Numbered::String) => {
                        put_bytes(&mut fields, self.definitions.string(word(value)).as_bytes());
                        FieldType::Text
                    }
                    Field::Signed => {
                        put_signed(&mut fields, value.cast_signed());
                        FieldType::Signed
                    }
                    _ => {
                        put(&mut fields, value);
                        FieldType::Unsigned
                    }
                },
            ));
        }
        let id = self.process.event_kind(known.name, false, &types)?;
        self.process.event(thread, id, event.ns, &fields)?;
        self.fields = fields;
        Ok(())
    }

    fn trouble(&mut self, what: &'static str) {
        self.of.problems.add(kind::DAMAGED, what, 1);
    }

    fn end(mut self, first: Option<&Problems>) -> Result<OfProcess, Error> {
        let left: Vec<(u64, usize)> = self
            .requests
            .iter()
            .flat_map(|(request, begun)| begun.iter().map(|it| (*request, it.thread)))
            .collect();
        self.of.problems.add(kind::MISSING, "completions of operations that were begun", left.len() as u64);
        for (request, thread) in left {
            let ns = self.process.last();
            self.give_up(thread, request, ns)?;
        }
        let all = first.into_iter().chain(std::iter::once(&self.of.problems));
        for (kind, text, number) in all.flat_map(Problems::iter) {
            self.process.trouble(kind, number, text)?;
        }
        self.process.end(self.status)?;
        Ok(self.of)
    }
}

/// A value of a metric.
#[expect(clippy::cast_precision_loss, reason = "counters of a run are real numbers")]
fn real(it: &Beside) -> f64 {
    match it.kind {
        value::F64 => f64::from_bits(it.value),
        kind if value::SIGNED.contains(&kind) => it.value.cast_signed() as f64,
        _ => it.value as f64,
    }
}

/// Numbers that follow each other as (first, how many).
fn runs(members: &[u64]) -> Vec<(i64, u64)> {
    let mut runs: Vec<(i64, u64)> = Vec::new();
    for member in members {
        let member = i64::try_from(*member).unwrap_or(-1);
        match runs.last_mut() {
            Some((first, len)) if first.checked_add(len.cast_signed()) == Some(member) => *len += 1,
            _ => runs.push((member, 1)),
        }
    }
    runs
}
