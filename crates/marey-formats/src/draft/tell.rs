//! From what was noted, in order, to spools.
//!
//! The one idea: each track has a stack of what is open. Spans say when they end, so whatever comes later ends them first;
//! what is entered and left by separate events must nest in them, and what does not is told as a problem.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use marey_model::spool::{
    CommunicatorKind, Definition, FieldType, get, get_bytes, get_signed, put, put_bytes, put_signed,
};
use marey_model::{EdgeKind, Level, Role};
use rustc_hash::FxHashMap;

use super::{Act, Draft, Kind, Track, number};
use crate::problems::{Problems, kind};
use crate::sorted::{Key, Sorted};
use crate::spool::{Half, Identity, Member, Process, Region, Spool, World};
use crate::{Error, Imported, Progress};

/// How acts begin in bytes.
mod code {
    pub(super) const ENTER: u8 = 0;
    pub(super) const LEAVE: u8 = 1;
    pub(super) const SPAN: u8 = 2;
    pub(super) const BEGIN: u8 = 3;
    pub(super) const END: u8 = 4;
    pub(super) const FLOW_OUT: u8 = 5;
    pub(super) const FLOW_IN: u8 = 6;
    pub(super) const FLOW_IN_NEXT: u8 = 7;
    pub(super) const COUNTER: u8 = 8;
    pub(super) const EVENT: u8 = 9;
    pub(super) const FACT: u8 = 10;
    pub(super) const SEND: u8 = 11;
    pub(super) const RECEIVE: u8 = 12;
    pub(super) const COLLECTIVE: u8 = 13;
    pub(super) const FLOW_STEP: u8 = 14;
    pub(super) const FLOW_LAST: u8 = 15;
}

pub(super) fn encode(track: u32, act: &Act<'_>, out: &mut Vec<u8>) {
    let mut numbers = |code: u8, numbers: &[u64]| {
        out.push(code);
        put(out, track.into());
        numbers.iter().for_each(|number| put(out, *number));
    };
    match *act {
        Act::Enter { region } => numbers(code::ENTER, &[region.into()]),
        Act::Leave { region } => numbers(code::LEAVE, &[region.map_or(0, |region| u64::from(region) + 1)]),
        Act::Span { region, ns } => numbers(code::SPAN, &[region.into(), ns]),
        Act::Begin { region, key } => numbers(code::BEGIN, &[region.into(), key]),
        Act::End { key } => numbers(code::END, &[key]),
        Act::FlowOut { key } => numbers(code::FLOW_OUT, &[key]),
        Act::FlowIn { key, is_next } => {
            numbers(if is_next { code::FLOW_IN_NEXT } else { code::FLOW_IN }, &[key])
        }
        Act::FlowStep { key, is_last } => {
            numbers(if is_last { code::FLOW_LAST } else { code::FLOW_STEP }, &[key])
        }
        Act::Counter { counter, value } => numbers(code::COUNTER, &[counter.into(), value.to_bits()]),
        Act::Event { kind, fields } => {
            numbers(code::EVENT, &[kind.into()]);
            put_bytes(out, fields);
        }
        Act::Fact { kind, as_event, fields } => {
            numbers(code::FACT, &[kind.into(), as_event.into()]);
            put_bytes(out, fields);
        }
        Act::Send(half) => {
            numbers(code::SEND, &[half.communicator.into(), half.bytes]);
            put_signed(out, half.peer);
            put_signed(out, half.tag);
        }
        Act::Receive(half) => {
            numbers(code::RECEIVE, &[half.communicator.into(), half.bytes]);
            put_signed(out, half.peer);
            put_signed(out, half.tag);
        }
        Act::Collective(member) => {
            numbers(code::COLLECTIVE, &[member.communicator.into(), member.bytes_out, member.bytes_in]);
            put_signed(out, member.root);
        }
    }
}

/// What [`encode`] has written.
fn decode(bytes: &[u8]) -> Option<(u32, Act<'_>)> {
    let (code, mut at) = (*bytes.first()?, 1);
    let at = &mut at;
    let word = |at: &mut usize| get(bytes, at).and_then(|value| u32::try_from(value).ok());
    let long = |at: &mut usize| get(bytes, at);
    let track = word(at)?;
    let half = |at: &mut usize| {
        let (communicator, length) = (word(at)?, long(at)?);
        Some(Half { communicator, bytes: length, peer: get_signed(bytes, at)?, tag: get_signed(bytes, at)? })
    };
    let act = match code {
        code::ENTER => Act::Enter { region: word(at)? },
        code::LEAVE => Act::Leave { region: long(at)?.checked_sub(1).and_then(|it| u32::try_from(it).ok()) },
        code::SPAN => Act::Span { region: word(at)?, ns: long(at)? },
        code::BEGIN => Act::Begin { region: word(at)?, key: long(at)? },
        code::END => Act::End { key: long(at)? },
        code::FLOW_OUT => Act::FlowOut { key: long(at)? },
        code::FLOW_IN => Act::FlowIn { key: long(at)?, is_next: false },
        code::FLOW_IN_NEXT => Act::FlowIn { key: long(at)?, is_next: true },
        code::FLOW_STEP => Act::FlowStep { key: long(at)?, is_last: false },
        code::FLOW_LAST => Act::FlowStep { key: long(at)?, is_last: true },
        code::COUNTER => Act::Counter { counter: word(at)?, value: f64::from_bits(long(at)?) },
        code::EVENT => Act::Event { kind: word(at)?, fields: get_bytes(bytes, at)? },
        code::FACT => Act::Fact { kind: word(at)?, as_event: word(at)?, fields: get_bytes(bytes, at)? },
        code::SEND => Act::Send(half(at)?),
        code::RECEIVE => Act::Receive(half(at)?),
        code::COLLECTIVE => {
            let (communicator, bytes_out, bytes_in) = (word(at)?, long(at)?, long(at)?);
            Act::Collective(Member { communicator, root: get_signed(bytes, at)?, bytes_out, bytes_in })
        }
        _ => return None,
    };
    Some((track, act))
}

/// What is told of a trace, sorted by its number.
struct Tables {
    regions: Vec<Region>,
    kinds: Vec<Kind>,
    /// Process, name, unit.
    counters: Vec<(u32, String, String)>,
}

impl Tables {
    fn take(draft: &mut Draft) -> Self {
        let mut regions: Vec<_> = std::mem::take(&mut draft.regions).into_iter().collect();
        regions.sort_by_key(|it| it.1);
        let mut kinds: Vec<_> = std::mem::take(&mut draft.kinds).into_iter().collect();
        kinds.sort_by_key(|it| it.1);
        let mut counters: Vec<_> = std::mem::take(&mut draft.counters).into_iter().collect();
        counters.sort_by_key(|it| it.1);
        Self {
            regions: regions.into_iter().map(|it| it.0).collect(),
            kinds: kinds.into_iter().map(|it| it.0).collect(),
            counters: counters.into_iter().map(|it| it.0).collect(),
        }
    }
}

pub(super) fn all(
    mut draft: Draft,
    spool: &Path,
    (progress, share): (&dyn Progress, u64),
) -> Result<Imported, Error> {
    let tables = Tables::take(&mut draft);
    let begin = draft.begin.unwrap_or(0);
    let realtime = draft.epoch_ns.and_then(|epoch| u64::try_from(epoch.checked_add(begin)?).ok());
    let target = Spool::create(spool, realtime.unwrap_or(0))?;
    let mut sorted = std::mem::replace(&mut draft.sorter, super::Sorter::new(spool)).sorted()?;
    let mut next = sorted_next(&mut sorted)?;
    let mut imported = Imported { events: 0, ..Imported::default() };
    let total = sorted.number.max(1);
    let (mut told, mut shared) = (0, 0);
    let mut problems = std::mem::take(&mut draft.problems);
    let mut open = None;
    for process in 0..number(draft.processes.len()) {
        let is_there = next.as_ref().is_some_and(|(key, _)| key.process == process);
        if !is_there && draft.processes[process as usize].rank.is_none() {
            continue;
        }
        // The last one is ended when all problems are known.
        if let Some(before) = open.replace(Teller::begin(&mut draft, &tables, &target, process, begin)?) {
            Teller::end(before, &mut problems, None)?;
        }
        let Some(teller) = &mut open else { continue };
        imported.processes += 1;
        imported.locations += teller.n_tracks;
        while let Some((key, record)) = next.take_if(|(key, _)| key.process == process) {
            let ns = key.ns.max(begin).abs_diff(begin);
            if let Some((track, act)) = decode(&record) {
                teller.act(&draft.tracks, track, ns, &act)?;
            }
            next = sorted_next(&mut sorted)?;
            told += 1;
            let now =
                u64::try_from(u128::from(share) * u128::from(told) / u128::from(total)).unwrap_or(share);
            if now - shared >= 1 << 16 || told == total {
                progress.advance(now - shared);
                shared = now;
            }
        }
    }
    if let Some(last) = open {
        Teller::end(last, &mut problems, Some(()))?;
    }
    imported.problems = problems.iter().map(|(_, text, number)| (text.to_owned(), number)).collect();
    Ok(imported)
}

fn sorted_next(sorted: &mut Sorted) -> Result<Option<(Key, Vec<u8>)>, Error> {
    let mut record = Vec::new();
    Ok(sorted.next(&mut record)?.map(|key| (key, record)))
}

/// Something that is open on a track.
#[derive(Clone, Copy, Debug)]
struct Open {
    region: u32,
    /// When it ends, if that is known.
    end: Option<u64>,
}

/// What a track has open.
#[derive(Debug, Default)]
struct Stack {
    open: Vec<Open>,
    /// Places in it of those whose end is known; they end from last to first.
    known: Vec<usize>,
    /// States beside that end at a time: time, token.
    beside: BinaryHeap<Reverse<(u64, u64)>>,
    /// What was left early at this time, because what it lay in was left: their own ends are still to come.
    early: (u64, Vec<u32>),
    /// Flows that lead to the next region: from which thread, when.
    waiting: Vec<(usize, u64)>,
    /// Time of the last record.
    last: u64,
}

/// One process on its way.
struct Teller<'a> {
    tables: &'a Tables,
    process: Process,
    n_tracks: u64,
    sites: Vec<Option<u32>>,
    kinds: Vec<Option<u32>>,
    counters: FxHashMap<u32, u32>,
    /// Numbers that communicators have in the process.
    groups: FxHashMap<u32, u32>,
    stacks: Vec<Stack>,
    /// States that have begun and not ended.
    states: FxHashMap<u64, Vec<u64>>,
    tokens: u64,
    flows: FxHashMap<u64, (usize, u64)>,
    problems: Problems,
}

impl<'a> Teller<'a> {
    fn begin(
        draft: &mut Draft,
        tables: &'a Tables,
        target: &Spool,
        number: u32,
        begin: i64,
    ) -> Result<Self, Error> {
        let owner = &draft.processes[number as usize];
        let identity = Identity {
            number,
            pid: owner.pid,
            host: owner.host.clone(),
            command: owner.command.clone(),
            recorder: draft.recorder.clone(),
        };
        let mut process = target.process(&identity)?;
        let mut groups = FxHashMap::default();
        if let Some(rank) = owner.rank {
            let highest = draft.processes.iter().filter_map(|it| it.rank).max().unwrap_or(0);
            let size = draft.world.unwrap_or(0).max(highest.saturating_add(1));
            process.join(&World { rank, size, library: draft.recorder.clone() })?;
            groups.insert(0, 0);
            for (id, group) in (1..).zip(&draft.groups) {
                let Some(place) = group.members.iter().position(|it| *it == rank) else { continue };
                let own = super::number(groups.len());
                groups.insert(id, own);
                let is_self = group.members.len() == 1;
                process.define(&Definition::Communicator {
                    id: own,
                    kind: if is_self { CommunicatorKind::SelfOnly } else { CommunicatorKind::Split } as u8,
                    parent: (!is_self).then_some(0),
                    number: id.into(),
                    tag: 0,
                    leader: 0,
                    size: super::number(group.members.len()),
                    rank: super::number(place),
                    remote_size: 0,
                    members: group.members.iter().map(|it| (i64::from(*it), 1)).collect(),
                    remote_members: Vec::new(),
                    port: String::new(),
                    ticks: 0,
                })?;
                if !group.name.is_empty() {
                    process.define(&Definition::CommunicatorName { id: own, name: group.name.clone() })?;
                }
            }
        }
        let mut n_tracks = 0;
        for track in draft.tracks.iter_mut().filter(|it| it.process == number) {
            let first = track.first.map_or(0, |first| first.max(begin).abs_diff(begin));
            track.number = process.thread(&track.name, first)?;
            n_tracks += 1;
        }
        let n_stacks = usize::try_from(n_tracks).unwrap_or(0);
        Ok(Self {
            tables,
            process,
            n_tracks,
            sites: vec![None; tables.regions.len()],
            kinds: vec![None; tables.kinds.len()],
            counters: FxHashMap::default(),
            groups,
            stacks: (0..n_stacks).map(|_| Stack::default()).collect(),
            states: FxHashMap::default(),
            tokens: 0,
            flows: FxHashMap::default(),
            problems: Problems::default(),
        })
    }

    fn act(&mut self, tracks: &[Track], track: u32, ns: u64, act: &Act<'_>) -> Result<(), Error> {
        let thread = tracks[track as usize].number;
        match *act {
            Act::Enter { region } => {
                self.close(thread, ns, true)?;
                self.enter(thread, ns, Open { region, end: None })
            }
            Act::Leave { region } => {
                self.close(thread, ns, true)?;
                self.leave(thread, ns, region)
            }
            Act::Span { region, ns: length } => {
                self.close(thread, ns, true)?;
                let end = ns.saturating_add(length);
                let around =
                    self.stacks[thread].known.last().and_then(|at| self.stacks[thread].open[*at].end);
                if around.is_some_and(|around| around < end) {
                    self.problems.add(
                        kind::MISSING,
                        "spans that overlap others, and are states beside them",
                        1,
                    );
                    let token = self.begin_state(thread, ns, region)?;
                    self.stacks[thread].beside.push(Reverse((end, token)));
                    return Ok(());
                }
                self.enter(thread, ns, Open { region, end: Some(end) })
            }
            Act::Begin { region, key } => {
                self.close(thread, ns, false)?;
                let token = self.begin_state(thread, ns, region)?;
                self.states.entry(key).or_default().push(token);
                Ok(())
            }
            Act::End { key } => {
                self.close(thread, ns, false)?;
                let token = self.states.get_mut(&key).and_then(Vec::pop);
                let Some(token) = token else {
                    self.trouble("states that ended and had not begun in their process");
                    return Ok(());
                };
                self.process.end_state(thread, token, ns)
            }
            Act::FlowOut { key } => {
                self.flows.insert(key, (thread, ns));
                Ok(())
            }
            Act::FlowIn { key, is_next } => {
                self.close(thread, ns, !is_next)?;
                let Some((from, since)) = self.flows.get(&key).copied() else {
                    self.trouble("flows that began in no other thread of their process");
                    return Ok(());
                };
                if is_next {
                    self.stacks[thread].waiting.push((from, since));
                    return Ok(());
                }
                self.edge(thread, from, since)
            }
            Act::FlowStep { key, is_last } => {
                let before = match is_last {
                    true => self.flows.remove(&key),
                    false => self.flows.insert(key, (thread, ns)),
                };
                before.map_or(Ok(()), |(from, since)| self.edge(thread, from, since))
            }
            Act::Counter { counter, value } => {
                self.close(thread, ns, false)?;
                let counter = self.counter(counter)?;
                self.process.count(thread, counter, ns, value)?;
                self.stacks[thread].last = ns;
                Ok(())
            }
            Act::Event { kind, fields } => {
                self.close(thread, ns, false)?;
                let kind = self.kind(kind)?;
                self.process.event(thread, kind, ns, fields)?;
                self.stacks[thread].last = ns;
                Ok(())
            }
            Act::Fact { kind, as_event, fields } => {
                if self.stacks[thread].open.is_empty() {
                    let kind = self.kind(as_event)?;
                    return self.process.event(thread, kind, ns, fields);
                }
                let kind = self.kind(kind)?;
                self.process.attribute(thread, kind, fields)
            }
            Act::Send(half) => {
                let Some(half) = self.half(half) else { return Ok(()) };
                self.within(thread, ns, ("send", Role::Transfer), |process| process.send(thread, half))
            }
            Act::Receive(half) => {
                let Some(half) = self.half(half) else { return Ok(()) };
                self.within(thread, ns, ("receive", Role::Transfer), |process| process.receive(thread, half))
            }
            Act::Collective(member) => {
                let Some(communicator) = self.own_group(member.communicator) else { return Ok(()) };
                let member = Member { communicator, ..member };
                self.within(thread, ns, ("collective", Role::AllToAll), |process| {
                    process.collective(thread, member)
                })
            }
        }
    }

    /// Ends whatever of a track ends before a time, or also at it.
    fn close(&mut self, thread: usize, ns: u64, is_at: bool) -> Result<(), Error> {
        let is_due = |end: u64| end < ns || is_at && end == ns;
        loop {
            let stack = &mut self.stacks[thread];
            let own = stack.known.last().and_then(|at| stack.open[*at].end).filter(|end| is_due(*end));
            let beside = stack.beside.peek().map(|it| it.0).filter(|it| is_due(it.0));
            match (own, beside) {
                (Some(end), beside) if beside.is_none_or(|it| end <= it.0) => {
                    let at = stack.known.pop().unwrap_or(0);
                    let within = stack.open.len() - at - 1;
                    self.problems.add(
                        kind::DAMAGED,
                        "regions that were open when what they lay in ended",
                        within as u64,
                    );
                    self.leave_levels(thread, end, within + 1)?;
                }
                (_, Some((end, token))) => {
                    stack.beside.pop();
                    stack.last = end;
                    self.process.end_state(thread, token, end)?;
                }
                _ => return Ok(()),
            }
        }
    }

    fn enter(&mut self, thread: usize, ns: u64, open: Open) -> Result<(), Error> {
        let site = self.site(open.region)?;
        self.process.enter(thread, site, ns)?;
        let stack = &mut self.stacks[thread];
        if open.end.is_some() {
            stack.known.push(stack.open.len());
        }
        stack.open.push(open);
        stack.last = ns;
        for (from, since) in std::mem::take(&mut self.stacks[thread].waiting) {
            self.edge(thread, from, since)?;
        }
        Ok(())
    }

    /// Leaves the innermost region that was entered without an end, or the innermost such one of `region`.
    fn leave(&mut self, thread: usize, ns: u64, region: Option<u32>) -> Result<(), Error> {
        let stack = &mut self.stacks[thread];
        // What is within a span ends within it.
        let first = stack.known.last().map_or(0, |at| at + 1);
        let own = &stack.open[first..];
        let is_meant = |open: &Open| region.is_none_or(|region| open.region == region);
        let Some(levels) = own.iter().rev().position(is_meant).map(|at| at + 1) else {
            let (at, early) = &mut stack.early;
            let was_early =
                early.iter().position(|it| *at == ns && region.is_none_or(|region| region == *it));
            match was_early {
                Some(place) => drop(early.remove(place)),
                None => self.trouble("regions that were left and not entered"),
            }
            return Ok(());
        };
        if levels > 1 {
            // Those within may be left by the next events, at the same time: some tools write them in another order.
            let begin = stack.open.len() + 1 - levels;
            if stack.early.0 != ns {
                let late = std::mem::take(&mut stack.early.1).len();
                stack.early.0 = ns;
                self.problems.add(kind::DAMAGED, NOT_LEFT, late as u64);
            }
            let stack = &mut self.stacks[thread];
            let within: Vec<u32> = stack.open[begin..].iter().map(|open| open.region).collect();
            stack.early.1.extend(within);
        }
        self.leave_levels(thread, ns, levels)
    }

    fn leave_levels(&mut self, thread: usize, ns: u64, levels: usize) -> Result<(), Error> {
        for _ in 0..levels {
            self.process.leave(thread, ns)?;
            self.stacks[thread].open.pop();
        }
        self.stacks[thread].last = ns;
        Ok(())
    }

    fn begin_state(&mut self, thread: usize, ns: u64, region: u32) -> Result<u64, Error> {
        let site = self.site(region)?;
        self.tokens += 1;
        self.process.begin_state(thread, site, self.tokens, ns)?;
        self.stacks[thread].last = ns;
        Ok(self.tokens)
    }

    /// What the thread did last depends on what `from` did at a time.
    fn edge(&mut self, thread: usize, from: usize, since: u64) -> Result<(), Error> {
        // A flow within a thread says no more than its order does.
        if from == thread {
            return Ok(());
        }
        let Some(back) = self.stacks[thread].last.checked_sub(since) else {
            self.trouble("flows to where their thread has done nothing since they began");
            return Ok(());
        };
        self.process.edge(thread, EdgeKind::Spawn, from, back)
    }

    /// Does something to the innermost open region, if that is one of MPI; else to one that is made and takes no time.
    fn within(
        &mut self,
        thread: usize,
        ns: u64,
        (verb, role): (&str, Role),
        act: impl FnOnce(&mut Process) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.close(thread, ns, false)?;
        let innermost = self.stacks[thread].open.last();
        if innermost.is_some_and(|open| self.tables.regions[open.region as usize].level.0 == Level::MPI) {
            return act(&mut self.process);
        }
        let outside = Region::of_mpi(verb, role);
        let site = self.process.site(&outside)?;
        self.process.enter(thread, site, ns)?;
        act(&mut self.process)?;
        self.process.leave(thread, ns)?;
        self.stacks[thread].last = ns;
        Ok(())
    }

    fn half(&mut self, half: Half) -> Option<Half> {
        Some(Half { communicator: self.own_group(half.communicator)?, ..half })
    }

    fn own_group(&mut self, group: u32) -> Option<u32> {
        let own = self.groups.get(&group).copied();
        if own.is_none() {
            self.trouble("messages and collectives on communicators that their process is not in");
        }
        own
    }

    fn site(&mut self, region: u32) -> Result<u32, Error> {
        if let Some(site) = self.sites[region as usize] {
            return Ok(site);
        }
        let site = self.process.site(&self.tables.regions[region as usize])?;
        self.sites[region as usize] = Some(site);
        Ok(site)
    }

    fn kind(&mut self, kind: u32) -> Result<u32, Error> {
        if let Some(own) = self.kinds[kind as usize] {
            return Ok(own);
        }
        let Kind { name, is_fact, fields } = &self.tables.kinds[kind as usize];
        let fields: Vec<(&str, FieldType)> = fields
            .iter()
            .filter_map(|(name, kind)| Some((name.as_str(), FieldType::from_code(*kind)?)))
            .collect();
        let own = self.process.event_kind(name, *is_fact, &fields)?;
        self.kinds[kind as usize] = Some(own);
        Ok(own)
    }

    fn counter(&mut self, counter: u32) -> Result<u32, Error> {
        if let Some(own) = self.counters.get(&counter) {
            return Ok(*own);
        }
        let (_, name, unit) = &self.tables.counters[counter as usize];
        let own = self.process.counter(name, unit)?;
        self.counters.insert(counter, own);
        Ok(own)
    }

    fn trouble(&mut self, what: &'static str) {
        self.problems.add(kind::DAMAGED, what, 1);
    }

    /// Ends the process; the last one tells also of what is wrong with the trace as a whole.
    fn end(mut self, of_trace: &mut Problems, is_last: Option<()>) -> Result<(), Error> {
        for thread in 0..self.stacks.len() {
            self.close(thread, u64::MAX, true)?;
            let late = std::mem::take(&mut self.stacks[thread].early.1).len();
            self.problems.add(kind::DAMAGED, NOT_LEFT, late as u64);
        }
        let end = self.process.last();
        for thread in 0..self.stacks.len() {
            let levels = self.stacks[thread].open.len();
            self.problems.add(kind::MISSING, "regions that are never left", levels as u64);
            self.leave_levels(thread, end, levels)?;
        }
        let states: u64 = self.states.values().map(|tokens| tokens.len() as u64).sum();
        self.problems.add(kind::MISSING, "states that never end", states);
        let whole = of_trace.clone();
        let told = is_last.map(|()| whole).unwrap_or_default();
        for (kind, text, number) in told.iter().chain(self.problems.iter()) {
            self.process.trouble(kind, number, text)?;
        }
        of_trace.merge(std::mem::take(&mut self.problems));
        self.process.end(0)
    }
}

const NOT_LEFT: &str = "regions that were left while others within were not";
