//! Threads and locks: work that is shorter than what is done around it.
//!
//! The one idea: edges say how long it took from one thread to the other, and what lies between two edges is the work.
//!
//! What is deliberately absent: locks that were free, which are not recorded one by one.

use std::collections::{BTreeMap, VecDeque};

use marey_model::{CallPathId, EdgeKind, LocationId, Nanos, Role};
use rustc_hash::FxHashMap;

use super::{Small, SmallKind, Sums, count};
use crate::causes::Causes;
use crate::happenings::{Edge, Happenings, Span, Unread, visits_in};
use crate::paths::float;
use crate::trace::Trace;
use crate::waits::role_of;

/// The innermost call around each of some instants: its begin and its path.
type Calls = FxHashMap<(LocationId, Nanos), (Nanos, CallPathId)>;

/// Edges of these kinds.
fn edges(events: &impl Happenings, kinds: &[EdgeKind]) -> Result<Vec<Edge>, Unread> {
    let mut found: Vec<Edge> = Vec::new();
    events.edges(&mut |batch| found.extend(batch.iter().filter(|edge| kinds.contains(&edge.kind))))?;
    found.sort_by_key(|edge| (edge.to.1, edge.to.0, edge.from));
    Ok(found)
}

/// The innermost call that each of some instants lies in or ends. Time: a search for each interval, and the instants in it.
fn calls_around(
    events: &impl Happenings,
    instants: impl Iterator<Item = (LocationId, Nanos)>,
) -> Result<Calls, Unread> {
    let mut wanted: FxHashMap<LocationId, Vec<Nanos>> = FxHashMap::default();
    for (location, at) in instants {
        wanted.entry(location).or_default().push(at);
    }
    wanted.values_mut().for_each(|list| list.sort_unstable());
    let mut calls = Calls::default();
    visits_in(
        events,
        Span::ALL,
        |interval| {
            let Some(list) = wanted.get(&interval.location) else { return };
            let first = list.partition_point(|at| *at <= interval.start);
            for &at in list[first..].iter().take_while(|at| **at <= interval.end) {
                // Inner ones come later.
                calls.insert((interval.location, at), (interval.start, interval.call_path));
            }
        },
        |_| {},
    )?;
    Ok(calls)
}

/// The call that created each thread: the first with that role that ends after the edge begins, which is at or just before
/// the call's own begin, and that begins before the thread does.
fn creators(run: &impl Trace, events: &impl Happenings, edges: &[Edge]) -> Result<Calls, Unread> {
    let mut wanted: FxHashMap<LocationId, VecDeque<(Nanos, Nanos)>> = FxHashMap::default();
    for edge in edges.iter().filter(|edge| edge.kind == EdgeKind::Create) {
        wanted.entry(edge.from.0).or_default().push_back((edge.from.1, edge.to.1));
    }
    wanted.values_mut().for_each(|list| list.make_contiguous().sort_unstable());
    let mut calls = Calls::default();
    visits_in(
        events,
        Span::ALL,
        |interval| {
            let Some(list) = wanted.get_mut(&interval.location) else { return };
            if role_of(run, Some(interval.call_path)) != Some(Role::Create) {
                return;
            }
            while let Some(&(at, begun)) = list.front().filter(|(at, _)| *at < interval.end) {
                list.pop_front();
                if interval.start <= begun {
                    calls.insert((interval.location, at), (interval.start, interval.call_path));
                }
            }
        },
        |_| {},
    )?;
    Ok(calls)
}

pub(super) fn threads(
    run: &impl Trace,
    events: &impl Happenings,
    causes: &Causes,
) -> Result<Vec<Small>, Unread> {
    let edges = edges(events, &[EdgeKind::Create, EdgeKind::Join])?;
    if edges.is_empty() {
        return Ok(Vec::new());
    }
    let of_joins = edges.iter().filter(|edge| edge.kind == EdgeKind::Join).map(|edge| edge.to);
    let (created, calls) = (creators(run, events, &edges)?, calls_around(events, of_joins)?);
    let joins: FxHashMap<LocationId, &Edge> =
        edges.iter().filter(|edge| edge.kind == EdgeKind::Join).map(|edge| (edge.from.0, edge)).collect();
    let mut all: BTreeMap<CallPathId, (Sums, Spent)> = BTreeMap::new();
    for edge in edges.iter().filter(|edge| edge.kind == EdgeKind::Create) {
        let (Some(join), Some(&(begin, path))) = (joins.get(&edge.to.0), created.get(&edge.from)) else {
            continue;
        };
        let Some(thread) = run.locations().get(edge.to.0.idx()) else { continue };
        let joined = calls.get(&join.to).map_or(join.from.1, |(begin, _)| (*begin).max(join.from.1));
        let cost = (edge.to.1 - begin).max(Nanos(0)) + (join.to.1 - joined).max(Nanos(0));
        let waits = causes.waits.of(edge.to.0).iter().fold(Nanos(0), |sum, wait| sum + wait.length());
        let (sums, spent) = all.entry(path).or_default();
        sums.add(edge.from.0, true, 0, cost);
        sums.work = sums.work + ((thread.end - thread.start) - waits).max(Nanos(0));
        spent.entry(edge.from.0).or_default().push((begin, edge.to.1));
        spent.entry(join.to.0).or_default().push((joined, join.to.1));
    }
    let small = |(path, (mut sums, spent)): (_, (Sums, Spent))| {
        // An empty thread lives about as long as creating it takes.
        let is_short = sums.work < sums.cost + sums.cost;
        sums.cost = in_all(run, spent);
        let small = sums.small(run, SmallKind::Threads, Some(path)).filter(|_| is_short)?;
        Some(Small { gain: Some(small.cost), ..small })
    };
    Ok(all.into_iter().filter_map(small).collect())
}

/// When each location created or joined.
type Spent = BTreeMap<LocationId, Vec<(Nanos, Nanos)>>;

/// How long locations did so: while one thread comes to life the next is created, and nobody spends that time twice.
fn in_all(run: &impl Trace, spent: Spent) -> Nanos {
    let mut sum = Nanos(0);
    for (location, mut spans) in spent {
        let Some(it) = run.locations().get(location.idx()) else { continue };
        spans.sort_unstable();
        let mut until = it.start;
        for (from, to) in spans {
            let to = to.min(it.end);
            sum = sum + (to - from.max(until)).max(Nanos(0));
            until = until.max(to);
        }
    }
    sum
}

pub(super) fn locks(run: &impl Trace, events: &impl Happenings) -> Result<Vec<Small>, Unread> {
    let edges = edges(events, &[EdgeKind::LockHandOver])?;
    if edges.is_empty() {
        return Ok(Vec::new());
    }
    let calls = calls_around(events, edges.iter().map(|edge| edge.to))?;
    // When each location gave a lock on.
    let mut given: FxHashMap<LocationId, Vec<Nanos>> = FxHashMap::default();
    for edge in &edges {
        given.entry(edge.from.0).or_default().push(edge.from.1);
    }
    given.values_mut().for_each(|list| list.sort_unstable());
    let mut all: BTreeMap<CallPathId, Sums> = BTreeMap::new();
    for edge in &edges {
        let Some(&(_, path)) = calls.get(&edge.to) else { continue };
        let next =
            given.get(&edge.to.0).and_then(|list| list.get(list.partition_point(|at| *at < edge.to.1)));
        let Some(&next) = next else { continue };
        let sums = all.entry(path).or_default();
        sums.add(edge.to.0, true, 0, edge.to.1 - edge.from.1);
        sums.work = sums.work + (next - edge.to.1);
    }
    let small = |(path, sums): (_, Sums)| {
        let is_short = float(sums.work) / count(sums.number) < float(sums.cost) / count(sums.number);
        sums.small(run, SmallKind::Locks, Some(path)).filter(|_| is_short)
    };
    Ok(all.into_iter().filter_map(small).collect())
}
