//! What events refer to, with one numbering for the whole archive.
//!
//! The one idea: numbers are those of the run where the run has some: regions, communicators, counters, kinds of events,
//! locations and processes.

use std::collections::BTreeMap;

use marey_analyze::{Region, Trace};
use marey_model::{Level, LocationId, Nanos, ProcessId, Role};
use rustc_hash::FxHashMap;

use super::super::{Definitions, names};
use super::encode::{Chunk, Record};

/// Codes of types of values.
pub(super) const UNSIGNED: u8 = 4;
pub(super) const DOUBLE: u8 = 10;
/// What is not there.
const NONE: u32 = u32::MAX;
/// Paradigms.
const USER: u8 = 1;
const MPI: u8 = 4;
/// Types of groups.
const COMM_LOCATIONS: u8 = 4;
const COMM_GROUP: u8 = 5;
/// Bytes of different texts of events.
const MOST_TEXTS: usize = 64 << 20;

/// Numbers of attributes.
pub(super) mod attribute {
    pub(in super::super) const BYTES: u32 = 0;
    pub(in super::super) const VISITS: u32 = 1;
    pub(in super::super) const GAPS: u32 = 2;
    pub(super) const NAMES: [&str; 3] = ["bytes", "visits", "gaps_ns"];
}

/// Texts with their numbers.
#[derive(Debug, Default)]
pub(super) struct Texts {
    numbers: FxHashMap<String, u32>,
    list: Vec<String>,
    n_bytes: usize,
}

impl Texts {
    fn of(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = u32::try_from(self.list.len()).unwrap_or(NONE);
        self.numbers.insert(text.to_owned(), number);
        self.list.push(text.to_owned());
        number
    }

    /// The number of a text of an event; `None` if there are too many.
    pub(super) fn of_event(&mut self, text: &str) -> Option<u32> {
        if let Some(number) = self.numbers.get(text) {
            return Some(*number);
        }
        if MOST_TEXTS < self.n_bytes + text.len() + 64 {
            return None;
        }
        self.n_bytes += text.len() + 64;
        Some(self.of(text))
    }
}

/// Communicators, and who is in them.
pub(super) struct Groups {
    /// Processes that speak MPI, in the order of worlds and ranks; their places are what members are told by.
    speakers: Vec<ProcessId>,
    /// Of each communicator the places of processes in its groups.
    ranks: Vec<Vec<FxHashMap<ProcessId, u32>>>,
}

impl Groups {
    pub(super) fn new(run: &Definitions<'_>) -> Self {
        let processes = run.trace.processes();
        let mut speakers: Vec<ProcessId> = (0..processes.len()).filter_map(ProcessId::from_idx).collect();
        speakers.retain(|id| processes[id.idx()].rank.is_some());
        speakers.sort_by_key(|id| (processes[id.idx()].world, processes[id.idx()].rank));
        let places = |group: &Vec<ProcessId>| (0..).zip(group).map(|(rank, id)| (*id, rank)).collect();
        let ranks = run.members.iter().map(|groups| groups.iter().map(places).collect()).collect();
        Self { speakers, ranks }
    }

    /// Rank of a peer within a communicator, as `own` names it.
    pub(super) fn peer(
        &self,
        run: &Definitions<'_>,
        communicator: u32,
        own: LocationId,
        peer: LocationId,
    ) -> Option<u32> {
        let process = |location: LocationId| run.trace.locations().get(location.idx()).map(|it| it.process);
        let (own, peer) = (process(own)?, process(peer)?);
        match self.ranks.get(usize::try_from(communicator).ok()?)?.as_slice() {
            [group] => group.get(&peer).copied(),
            // Ranks of an intercommunicator are those of the other side.
            [one, other] => {
                let remote = if one.contains_key(&own) { other } else { one };
                remote.get(&peer).copied()
            }
            _ => None,
        }
    }

    /// The number of a communicator in the archive.
    pub(super) fn communicator(&self, communicator: usize) -> u32 {
        if communicator < self.ranks.len() { u32::try_from(communicator).unwrap_or(NONE) } else { NONE }
    }
}

/// The operation of a call.
pub(super) fn operation(verb: &str) -> u8 {
    let name = verb.strip_prefix("MPI_").unwrap_or(verb).to_ascii_lowercase();
    let name = name.trim_end_matches("_c");
    let name = name.strip_prefix('i').filter(|rest| !rest.starts_with("nit")).unwrap_or(name);
    let operations = [
        ("barrier", 0),
        ("bcast", 1),
        ("gather", 2),
        ("gatherv", 3),
        ("scatter", 4),
        ("scatterv", 5),
        ("allgather", 6),
        ("allgatherv", 7),
        ("alltoall", 8),
        ("alltoallv", 9),
        ("alltoallw", 10),
        ("allreduce", 11),
        ("reduce", 12),
        ("reduce_scatter", 13),
        ("scan", 14),
        ("exscan", 15),
        ("reduce_scatter_block", 16),
    ];
    // What else all members do together makes something, or takes it away.
    let is_end = name.ends_with("free") || name == "finalize" || name.ends_with("disconnect");
    let known = operations.iter().find(|(known, _)| *known == name).map(|it| it.1);
    known.unwrap_or(if is_end { 18 } else { 17 })
}

fn paradigm(level: &str) -> u8 {
    match level {
        Level::MPI => MPI,
        Level::OPENMP => 3,
        Level::THREADS => 7,
        Level::KOKKOS => 24,
        "cuda" => 5,
        "measurement" => 6,
        "hmpp" => 8,
        "ompss" => 9,
        "gaspi" => 11,
        "upc" => 12,
        "shmem" => 13,
        "openacc" => 18,
        "opencl" => 19,
        "hip" => 23,
        _ => USER,
    }
}

fn role(region: &Region) -> u8 {
    match region.role {
        Role::Barrier => 15,
        Role::OneToAll => 23,
        Role::AllToOne => 24,
        Role::AllToAll => 25,
        Role::Io => 27,
        Role::Transfer => 28,
        Role::Create => 32,
        Role::Acquire => 12,
        Role::Wait if region.level == Level::MPI => 28,
        Role::Wait => 33,
        _ if region.level == Level::MPI => 2,
        _ => 1,
    }
}

/// Definitions in the order in which they are written.
struct List {
    records: Vec<Record>,
    texts: Texts,
}

impl List {
    fn text(&mut self, text: &str) -> u32 {
        self.texts.of(text)
    }

    fn add(&mut self, record: Record) {
        self.records.push(record);
    }
}

/// The global definitions, and how many there are.
pub(super) fn write(
    run: &Definitions<'_>,
    groups: &Groups,
    texts: Texts,
    counts: &[u64],
    end: Nanos,
) -> (Vec<u8>, u64) {
    let mut list = List { records: Vec::new(), texts };
    // Some readers want a text for what has none.
    list.text("");
    system(run, counts, &mut list);
    regions(run.trace, &mut list);
    communicators(run, groups, &mut list);
    others(run, &mut list);
    let epoch = run.epoch_ns.max(0).cast_unsigned();
    let clock = Record::new(5).long(1_000_000_000).long(0).long(end.0.max(0).cast_unsigned() + 1).long(epoch);
    let paradigms = [(USER, "User", 1), (3, "OpenMP", 3), (MPI, "MPI", 0), (7, "Pthread", 3)];
    let paradigms: Vec<Record> = paradigms
        .iter()
        .map(|(number, name, class)| Record::new(6).byte(*number).word(list.text(name)).byte(*class))
        .collect();
    let strings = (0..).zip(&list.texts.list).map(|(number, text)| Record::new(10).word(number).text(text));
    let all = [clock].into_iter().chain(strings).chain(paradigms).chain(list.records);
    let (mut chunk, mut bytes) = (Chunk::of_definitions(), Vec::new());
    for record in all {
        let added = chunk.add(None, &[], &record, &mut |full| {
            bytes.extend(full);
            Ok(())
        });
        debug_assert!(added.is_ok(), "memory takes everything");
    }
    let number = chunk.number();
    bytes.extend(chunk.end());
    (bytes, number)
}

/// Nodes, processes and locations.
fn system(run: &Definitions<'_>, counts: &[u64], list: &mut List) {
    let trace = run.trace;
    let mut nodes: BTreeMap<&str, u32> = BTreeMap::new();
    let (machine, node) = (list.text("machine"), list.text("node"));
    let name = list.text("(all)");
    list.add(Record::new(12).word(0).word(name).word(machine).word(NONE));
    for process in trace.processes() {
        let number = u32::try_from(nodes.len() + 1).unwrap_or(NONE);
        if !nodes.contains_key(process.host.as_str()) {
            nodes.insert(&process.host, number);
            let name = list.text(&process.host);
            list.add(Record::new(12).word(number).word(name).word(node).word(0));
        }
    }
    for (number, process) in (0..).zip(trace.processes()) {
        let name = list.text(&names::process(process));
        let node = nodes.get(process.host.as_str()).copied().unwrap_or(0);
        list.add(Record::new(13).word(number).word(name).byte(1).word(node).word(NONE));
    }
    for (number, location) in (0..).zip(trace.locations()) {
        let id = LocationId(number);
        let name = list.text(&names::location(trace, id));
        let n_events = counts.get(id.idx()).copied().unwrap_or(0);
        let record = Record::new(14).long(number.into()).word(name).byte(1).long(n_events);
        list.add(record.word(location.process.0));
    }
}

fn regions(trace: &dyn Trace, list: &mut List) {
    for (number, region) in (0..).zip(trace.regions()) {
        let name = list.text(names::region(region));
        let description = list.text(&region.level);
        let file = if region.file.is_empty() { NONE } else { list.text(&region.file) };
        let record = Record::new(15).word(number).word(name).word(description).byte(0).word(file);
        // Lines that are not known are 0, as that where it ends.
        let record = record.word(region.line).word(0).word(name);
        list.add(record.byte(role(region)).byte(paradigm(&region.level)).word(0));
    }
    let number = u32::try_from(trace.regions().len()).unwrap_or(NONE);
    let name = list.text("(unknown region)");
    let record = Record::new(15).word(number).word(name).word(name).byte(0).word(NONE).word(0).word(0);
    list.add(record.word(name).byte(0).byte(0).word(0));
}

fn communicators(run: &Definitions<'_>, groups: &Groups, list: &mut List) {
    let trace = run.trace;
    if groups.speakers.is_empty() {
        return;
    }
    let empty = list.text("");
    let group = |list: &mut List, number: u32, kind: u8, members: &[u64]| {
        let mut record =
            Record::new(18).word(number).word(empty).byte(0).word(u32::try_from(members.len()).unwrap_or(0));
        for member in members {
            record = record.long(*member);
        }
        list.add(record.byte(kind).byte(MPI).word(0));
    };
    // Each speaks by its first location.
    let first =
        |id: &ProcessId| trace.locations().iter().position(|it| it.process == *id).map(|at| at as u64);
    let all: Vec<u64> = groups.speakers.iter().filter_map(first).collect();
    group(list, 0, COMM_LOCATIONS, &all);
    let place = |id: &ProcessId| groups.speakers.iter().position(|it| it == id).map(|at| at as u64);
    let mut next = 1;
    for at in parents_first(trace) {
        let (Some(communicator), Some(members)) = (trace.communicators().get(at), run.members.get(at)) else {
            continue;
        };
        let number = u32::try_from(at).unwrap_or(NONE);
        let mut numbers = Vec::new();
        for of in members {
            let members: Vec<u64> = of.iter().filter_map(place).collect();
            group(list, next, COMM_GROUP, &members);
            numbers.push(next);
            next += 1;
        }
        let name = list.text(&communicator.name);
        let parent = communicator.parent.map_or(NONE, |it| it.0);
        match numbers.as_slice() {
            [one, other, ..] => {
                list.add(Record::new(43).word(number).word(name).word(*one).word(*other).word(NONE).word(0));
            }
            [only] => list.add(Record::new(22).word(number).word(name).word(*only).word(parent).word(0)),
            [] => {}
        }
    }
}

/// Communicators in an order in which each comes behind that which it was made from: some readers want to know that by then.
fn parents_first(trace: &dyn Trace) -> Vec<usize> {
    let communicators = trace.communicators();
    let mut is_told = vec![false; communicators.len()];
    let mut order = Vec::with_capacity(communicators.len());
    for first in 0..communicators.len() {
        let (mut way, mut next) = (Vec::new(), Some(first));
        while let Some(at) = next.filter(|at| is_told.get(*at) == Some(&false)) {
            is_told[at] = true;
            way.push(at);
            next = communicators[at].parent.and_then(|it| usize::try_from(it.0).ok());
        }
        order.extend(way.into_iter().rev());
    }
    order
}

/// Counters, kinds of events, attributes.
fn others(run: &Definitions<'_>, list: &mut List) {
    let counters =
        run.trace.counters().iter().map(|it| (it.name.as_str(), it.unit.as_str(), it.source.as_str()));
    for (number, (name, unit, source)) in (0..).zip(counters.chain([("heap peak", "bytes", "program")])) {
        let (name, unit) = (list.text(name), list.text(unit));
        let empty = list.text("");
        // What only ever counts is a sum since the begin; all else is true at that point.
        let (kind, mode) = if source == "program" { (3, 17) } else { (0, 0) };
        let record = Record::new(19).word(number).word(name).word(empty).byte(kind).byte(mode).byte(DOUBLE);
        list.add(record.byte(1).long(0).word(unit));
        // Values come when somebody says so.
        list.add(Record::new(20).word(number).byte(1).word(number).byte(2).byte(2));
    }
    for (number, name) in (0..).zip(&run.event_kinds) {
        let name = list.text(name);
        list.add(Record::new(23).word(number).word(name).byte(0));
    }
    for (number, name) in (0..).zip(attribute::NAMES) {
        let (name, empty) = (list.text(name), list.text(""));
        list.add(Record::new(11).word(number).word(name).byte(UNSIGNED).word(empty));
    }
}
