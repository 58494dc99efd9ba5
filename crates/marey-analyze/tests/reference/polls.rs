//! The section "From polls and probes".
//!
//! The one idea: the visits of one region on one location are listed, and of each is asked what it found; runs are what
//! lies between those that found something.

use std::collections::BTreeSet;

use marey_analyze::{CommunicatorId, Done, Interval, Member};
use marey_model::{CallPathId, Level, LocationId, Nanos, RegionId, Role};

use super::Record;

/// A call in which a location waited for what somebody did, if it began before that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) location: LocationId,
    pub(crate) call: Done,
    pub(crate) cause: LocationId,
    pub(crate) at: Nanos,
    pub(crate) pattern: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Test,
    Take,
    Probe,
    Status,
}

/// What somebody waited for.
#[derive(Clone, Copy)]
struct Thing {
    /// Who and when; `None` = not known, or nobody waited for it.
    who: Option<(LocationId, Nanos)>,
    pattern: &'static str,
    since: Nanos,
    communicator: Option<CommunicatorId>,
}

fn kind(record: &Record, path: CallPathId) -> Option<Kind> {
    let region = &record.regions[record.call_paths[path.idx()].region.idx()];
    let kind = match region.verb.as_str() {
        "MPI_Test" | "MPI_Testall" | "MPI_Testany" | "MPI_Testsome" => Kind::Test,
        "MPI_Mprobe" | "MPI_Improbe" => Kind::Take,
        "MPI_Probe" | "MPI_Iprobe" => Kind::Probe,
        "MPI_Request_get_status" => Kind::Status,
        _ => return None,
    };
    (region.level == Level::MPI).then_some(kind)
}

/// Whether calls of a call path ask.
pub(crate) fn asks(record: &Record, path: CallPathId) -> bool {
    kind(record, path).is_some()
}

/// All of them.
pub(crate) fn asked(record: &Record) -> Vec<Asked> {
    let region = |visit: &Interval| record.call_paths[visit.call_path.idx()].region;
    let regions: BTreeSet<(LocationId, RegionId)> =
        record.intervals.iter().map(|visit| (visit.location, region(visit))).collect();
    let mut all = Vec::new();
    for (location, of) in regions {
        let is_it = |visit: &&Interval| (visit.location, region(visit)) == (location, of);
        let mut visits: Vec<&Interval> = record.intervals.iter().filter(is_it).collect();
        visits.sort_by_key(|visit| (visit.start, visit.depth));
        if let Some(kind) = kind(record, visits[0].call_path) {
            of_region(record, location, visits, kind, &mut all);
        }
    }
    all
}

fn of_region(
    record: &Record,
    location: LocationId,
    visits: Vec<&Interval>,
    kind: Kind,
    all: &mut Vec<Asked>,
) {
    let mut run: Vec<&Interval> = Vec::new();
    for visit in visits {
        let found = found(record, visit, kind);
        let completes = kind == Kind::Test && found.is_some();
        if !completes {
            run.push(visit);
        }
        let Some(things) = found else { continue };
        for call in calls(record, &run) {
            for thing in &things {
                let Some((cause, at)) = thing.who else { continue };
                if cause != location && (kind != Kind::Test || thing.since <= call.start) {
                    all.push(Asked { location, call, cause, at, pattern: thing.pattern });
                }
            }
        }
        run.clear();
    }
}

/// "Visits one behind the other are one call."
fn calls(record: &Record, run: &[&Interval]) -> Vec<Done> {
    let mut calls: Vec<Done> = Vec::new();
    let mut pause = Nanos(0);
    for visit in run {
        let start = visit.start + visit.computed;
        let is_between = |other: &Interval, before: &Done| {
            other.location == visit.location
                && (before.start, visit.depth) < (other.start, other.depth)
                && (other.start, other.depth) < (visit.start, visit.depth)
                && !run.contains(&other)
        };
        if let Some(last) = calls.last_mut()
            && start - last.end <= pause
            && !record.intervals.iter().any(|other| is_between(other, last))
        {
            last.end = visit.end;
            pause = Nanos((2000 * i64::from(visit.visits)).min(20_000_000));
            continue;
        }
        pause = Nanos((2000 * i64::from(visit.visits)).min(20_000_000));
        calls.push(Done { start, end: visit.end, call_path: Some(visit.call_path) });
    }
    calls
}

/// What a visit found; `None` = it was in vain, nothing = that and all before it were given up.
fn found(record: &Record, visit: &Interval, kind: Kind) -> Option<Vec<Thing>> {
    let things = match kind {
        Kind::Test => completed(record, visit),
        Kind::Take => posted(record, visit),
        Kind::Probe | Kind::Status => {
            let next = next_call(record, visit)?;
            let mut things = if kind == Kind::Probe { posted(record, next) } else { completed(record, next) };
            let noun = |visit: &Interval| {
                record.regions[record.call_paths[visit.call_path.idx()].region.idx()].noun.as_str()
            };
            let is_on_it = |thing: &Thing| {
                let name = thing.communicator.and_then(|id| record.communicators.get(id.0 as usize));
                let name = name.map_or("", |communicator| &communicator.name);
                let of_call = if noun(next).is_empty() { name } else { noun(next) };
                let is_other = ![noun(visit), of_call].contains(&"") && noun(visit) != of_call;
                !(kind == Kind::Probe && is_other)
            };
            things.retain(is_on_it);
            let is_given_up = kind == Kind::Probe && !things.is_empty();
            things.retain(|thing| thing.who.is_some_and(|(_, at)| at < visit.end));
            if is_given_up && things.is_empty() {
                return Some(things);
            }
            things
        }
    };
    (!things.is_empty()).then_some(things)
}

/// The next call of MPI that neither asks in vain nor manages, unless another look comes before it.
fn next_call<'r>(record: &'r Record, visit: &Interval) -> Option<&'r Interval> {
    let is_mpi = |call: &&Interval| {
        record.regions[record.call_paths[call.call_path.idx()].region.idx()].level == Level::MPI
    };
    let order = |call: &Interval| (call.start, call.depth);
    let mut later: Vec<&Interval> = record
        .intervals
        .iter()
        .filter(|call| call.location == visit.location && order(visit) < order(call))
        .filter(is_mpi)
        .collect();
    later.sort_by_key(|call| order(call));
    for call in later {
        match kind(record, call.call_path) {
            Some(Kind::Probe | Kind::Status) => return None,
            Some(Kind::Test) if completed(record, call).is_empty() => {}
            Some(Kind::Take) if posted(record, call).is_empty() => {}
            _ if record.role(call.call_path) == Role::Manage => {}
            _ => return Some(call),
        }
    }
    None
}

fn posted(record: &Record, call: &Interval) -> Vec<Thing> {
    let mut things = Vec::new();
    for message in &record.messages {
        let Some(receiving) = message.receiving else { continue };
        if (receiving.location, receiving.post) == (call.location, call.start) {
            let who = message.sending.map(|sending| (sending.location, sending.send));
            let communicator = message.communicator;
            things.push(Thing { who, pattern: "late sender", since: receiving.post, communicator });
        }
    }
    things
}

fn completed(record: &Record, call: &Interval) -> Vec<Thing> {
    let is_it = |location: LocationId, done: Done| {
        (location, done.start, done.call_path) == (call.location, call.start, Some(call.call_path))
    };
    let mut things = Vec::new();
    for message in &record.messages {
        let communicator = message.communicator;
        if let Some(receiving) = message.receiving.filter(|it| is_it(it.location, it.done)) {
            let who = message.sending.map(|sending| (sending.location, sending.send));
            things.push(Thing { who, pattern: "late sender", since: receiving.post, communicator });
        }
        let Some(sending) = message.sending else { continue };
        if let Some(done) = sending.done.filter(|done| is_it(sending.location, *done)) {
            let receiving = message.receiving.filter(|receiving| receiving.post < done.end);
            let who = receiving.map(|receiving| (receiving.location, receiving.post));
            things.push(Thing { who, pattern: "late receiver", since: sending.send, communicator });
        }
    }
    for operation in &record.operations {
        for member in operation {
            if member.done.is_some_and(|done| is_it(member.location, done)) {
                let awaited = awaited(record, operation, member);
                things.push(Thing {
                    who: awaited.map(|(_, who)| who),
                    pattern: awaited.map_or("", |(pattern, _)| pattern),
                    since: member.enter,
                    communicator: None,
                });
            }
        }
    }
    things
}

/// What a member of an operation waits for.
pub(crate) fn awaited(
    record: &Record,
    operation: &[Member],
    member: &Member,
) -> Option<(&'static str, (LocationId, Nanos))> {
    let named = operation.iter().filter_map(|member| Some((member.location, member.root?)));
    let root = named.min().map(|(_, root)| root);
    let root_is_there = operation.iter().any(|other| Some(other.location) == root);
    let is_root = Some(member.location) == root;
    let (pattern, others): (_, Vec<&Member>) = match record.operation_role(operation)? {
        Role::Barrier => ("wait at barrier", operation.iter().collect()),
        Role::AllToAll => ("wait at N×N", operation.iter().collect()),
        Role::OneToAll if root_is_there && !is_root => (
            "late broadcast",
            operation.iter().filter(|other| Some(other.location) == root).take(1).collect(),
        ),
        Role::AllToOne if is_root => {
            ("early reduce", operation.iter().filter(|other| Some(other.location) != root).collect())
        }
        Role::Manage | Role::Io if record.waits_for_all(operation) => {
            ("wait at N×N", operation.iter().collect())
        }
        _ => return None,
    };
    let last = others.iter().map(|other| other.enter).max()?;
    let who = others.iter().filter(|other| other.enter == last).map(|other| other.location).min()?;
    Some((pattern, (who, last)))
}
