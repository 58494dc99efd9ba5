//! Redistribution: what it cost to lay data out otherwise, so that what lay with one process lies with all others.
//!
//! The one idea: whoever transposes an array moves a part of it from each process to each other. Three things do that: a
//! statement on an array of several processes whose accesses lead from each rank to each other, a collective operation that
//! is made for it, and messages from one array to another between all pairs of ranks. Source: the questions that Adve et al.,
//! *An Integrated Compilation and Performance Analysis Environment for Data Parallel Programs* (1995) leave for later: how
//! often programs redistribute, and at what cost.
//!
//! Deliberately absent: arrays that are made anew with other bounds, which moves nothing; whether a program could do without;
//! accesses and messages of less than four ranks, for there neighbours on both sides are all.

use std::collections::{BTreeMap, BTreeSet};

use marey_model::{AccessKind, CallPathId, Nanos, ProcessId};

use crate::arrays::{ArrayRow, Statement};
use crate::paths::{Paths, add};
use crate::patterns::FlowPattern;
use crate::trace::{Datum, Trace};

/// What laid data out otherwise.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RedistributedBy {
    /// Accesses to an array of several processes.
    Accesses,
    /// A collective operation in which each sends to each.
    Collective,
    /// Messages between all pairs of ranks.
    Messages,
}

impl RedistributedBy {
    /// The name for other programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accesses => "accesses",
            Self::Collective => "collective",
            Self::Messages => "messages",
        }
    }
}

/// What calls of one place that take part in collective operations of all with all came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllToAll {
    /// The starting call.
    pub call_path: Option<CallPathId>,
    /// What was sent; `None` = no buffer.
    pub sent: Option<Datum>,
    /// What was received into.
    pub received: Option<Datum>,
    /// Operations that somebody took part in so.
    pub operations: u64,
    /// Bytes that members contributed.
    pub bytes: u64,
    /// Time of the members' calls: of those that wait for it, if others start it.
    pub time: Nanos,
}

/// Data that is laid out otherwise.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Redistribution {
    /// By what.
    pub by: RedistributedBy,
    /// What is done: `get`, `MPI_Alltoall`; of messages nothing.
    pub verb: String,
    /// Where data lay before; empty = not known, or it has no name.
    pub from: String,
    /// Where it lies then.
    pub to: String,
    /// The function; empty = unknown.
    pub function: String,
    /// Source file; empty = unknown.
    pub file: String,
    /// Line; 0 = unknown.
    pub line: u32,
    /// Accesses, operations or messages.
    pub times: u64,
    /// Bytes that were moved or contributed, what a process keeps for itself among them.
    pub bytes: u64,
    /// Time of the calls, all threads together; `None` = not known, for messages are sent in calls that do other things, too.
    pub time: Option<Nanos>,
}

/// What of a run lays data out otherwise, that with most time first, then that with most bytes. Time: linear in statements,
/// sums of messages and what is given.
pub fn redistributions(
    trace: &dyn Trace,
    arrays: &[ArrayRow],
    collectives: &[AllToAll],
) -> Vec<Redistribution> {
    let mut found: Vec<Redistribution> = arrays.iter().flat_map(|array| by_accesses(trace, array)).collect();
    found.extend(by_collectives(trace, collectives));
    found.extend(by_messages(trace));
    found.sort_by_key(|it| std::cmp::Reverse((it.time, it.bytes)));
    found
}

/// Among fewer ranks, neighbours to both sides are all.
const LEAST_RANKS: usize = 4;

/// From each of all ranks to each other.
fn is_among_all(trace: &dyn Trace, flows: impl Iterator<Item = (ProcessId, ProcessId)>) -> bool {
    let ranks = trace.processes().iter().filter(|it| it.rank.is_some()).count();
    ranks >= LEAST_RANKS && FlowPattern::of_processes(trace, flows) == Some(FlowPattern::AllToAll)
}

fn by_accesses<'r>(trace: &'r dyn Trace, array: &'r ArrayRow) -> impl Iterator<Item = Redistribution> + 'r {
    // What both reads and writes, as an atomic operation does, lays nothing out.
    let is_one =
        |it: &&Statement| matches!(it.kind, AccessKind::Read | AccessKind::Write) && it.sum.bytes > 0;
    let moving = array.statements.iter().filter(is_one);
    let all = moving.filter(|it| is_among_all(trace, it.flows.iter().copied()));
    all.map(|it| {
        let is_read = it.kind == AccessKind::Read;
        let (from, to) = if is_read { (array.name.as_str(), "") } else { ("", array.name.as_str()) };
        Redistribution {
            by: RedistributedBy::Accesses,
            verb: it.verb.clone(),
            from: from.to_owned(),
            to: to.to_owned(),
            function: it.function.clone(),
            file: it.file.clone(),
            line: it.line,
            times: it.sum.accesses,
            bytes: it.sum.bytes,
            time: Some(it.sum.time),
        }
    })
}

fn by_collectives(trace: &dyn Trace, collectives: &[AllToAll]) -> Vec<Redistribution> {
    let paths = Paths::new(trace);
    let mut sums: BTreeMap<[String; 5], Redistribution> = BTreeMap::new();
    for it in collectives {
        let site = it.call_path.map(|path| paths.call_site(path)).unwrap_or_default();
        let path = it.call_path.and_then(|path| trace.call_paths().get(path.idx()));
        let region = path.and_then(|path| trace.regions().get(path.region.idx()));
        let verb = region.map_or_else(String::new, |it| it.name().to_owned());
        let (from, to) = (name_of(it.sent.as_ref()), name_of(it.received.as_ref()));
        let place = format!("{:010}{}", site.line, site.file);
        let key = [verb.clone(), from.clone(), to.clone(), place, site.function.clone()];
        let row = sums.entry(key).or_insert_with(|| Redistribution {
            by: RedistributedBy::Collective,
            verb,
            from,
            to,
            function: site.function,
            file: site.file,
            line: site.line,
            times: 0,
            bytes: 0,
            time: Some(Nanos(0)),
        });
        row.times = row.times.saturating_add(it.operations);
        row.bytes = row.bytes.saturating_add(it.bytes);
        if let Some(time) = &mut row.time {
            add(time, it.time);
        }
    }
    sums.into_values().collect()
}

/// Memory of which nobody knows what it is has no name.
fn name_of(datum: Option<&Datum>) -> String {
    datum.filter(|it| it.kind != "other").map_or_else(String::new, |it| it.name.clone())
}

fn by_messages(trace: &dyn Trace) -> Vec<Redistribution> {
    #[derive(Default)]
    struct Sum {
        messages: u64,
        bytes: u64,
        flows: BTreeSet<(ProcessId, ProcessId)>,
    }
    let mut sums: BTreeMap<(Option<usize>, Option<usize>), Sum> = BTreeMap::new();
    for row in trace.array_messages() {
        let sum = sums.entry((row.sent, row.received)).or_default();
        sum.messages = sum.messages.saturating_add(row.messages);
        sum.bytes = sum.bytes.saturating_add(row.bytes);
        sum.flows.insert((row.from, row.to));
    }
    let datum = |place: Option<usize>| place.and_then(|place| trace.data().get(place));
    let known = sums.into_iter().filter(|((sent, received), _)| {
        // From nowhere to nowhere is no array.
        !name_of(datum(*sent)).is_empty() || !name_of(datum(*received)).is_empty()
    });
    let all = known.filter(|(_, sum)| is_among_all(trace, sum.flows.iter().copied()));
    all.map(|((sent, received), sum)| {
        let at = datum(received).or(datum(sent));
        Redistribution {
            by: RedistributedBy::Messages,
            verb: String::new(),
            from: name_of(datum(sent)),
            to: name_of(datum(received)),
            function: String::new(),
            file: at.map_or_else(String::new, |it| it.file.clone()),
            line: at.map_or(0, |it| it.line),
            times: sum.messages,
            bytes: sum.bytes,
            time: None,
        }
    })
    .collect()
}
