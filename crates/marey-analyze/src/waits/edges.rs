//! Waits at the end of edges: locks, conditions, barriers and joins of threads, accesses to windows, or whatever a level calls
//! by these roles.

use marey_model::{CallPathId, EdgeKind, LocationId, Nanos, Role};
use rustc_hash::FxHashMap;

use super::kept::Kept;
use super::{Pattern, in_call, role_of};
use crate::happenings::{Done, Edge, Happenings, Interval, Span, Unread, visits_in};
use crate::trace::Trace;

/// Finds the waits at the ends of all edges.
pub(super) fn find(
    run: &impl Trace,
    events: &impl Happenings,
    span: Span,
    found: &mut Kept,
) -> Result<(), Unread> {
    calls_of_edges(run, events, span, |edge, pattern, call| {
        // No longer than until it arrived.
        let cause = (edge.from.0, edge.from.1.min(edge.to.1));
        in_call(edge.to.0, call, cause, pattern).into_iter().for_each(|wait| found.add(wait));
    })
}

/// Hands out all edges that lead into a call in which somebody may have waited in the span, with that call.
pub(crate) fn calls_of_edges(
    run: &impl Trace,
    events: &impl Happenings,
    span: Span,
    mut each: impl FnMut(&Edge, Pattern, Done),
) -> Result<(), Unread> {
    let mut edges: Vec<(Edge, Pattern)> = Vec::new();
    // What arrives after the span may have been waited for in it.
    let later = Span { to: Nanos(i64::MAX), ..span };
    events.edges_in(later, &mut |batch| {
        // Ends that are nowhere are skipped.
        let is_known = |id: LocationId| id.idx() < run.locations().len();
        let is_in = |edge: &&Edge| edge.to.1 > span.from && is_known(edge.from.0) && is_known(edge.to.0);
        edges.extend(batch.iter().filter(is_in).filter_map(|edge| Some((*edge, pattern_of(edge.kind)?))));
    })?;
    if edges.is_empty() {
        return Ok(());
    }
    edges.sort_unstable_by_key(|(edge, pattern)| (edge.to, edge.from, *pattern));
    let mut ends: FxHashMap<LocationId, Arrivals<'_>> = FxHashMap::default();
    for edges in edges.chunk_by(|a, b| a.0.to.0 == b.0.to.0) {
        ends.insert(edges[0].0.to.0, Arrivals { edges, open: Vec::new() });
    }
    let mut begin = |interval: &Interval, ends: &mut FxHashMap<LocationId, Arrivals<'_>>| {
        // A call of which the path leads nowhere is skipped, so that the one around it is what an edge leads to.
        let is_known = interval.call_path.idx() < run.call_paths().len();
        if let Some(arrivals) = ends.get_mut(&interval.location).filter(|_| is_known) {
            arrivals.before(interval.start, run, &mut each);
            arrivals.begin(interval);
        }
    };
    visits_in(events, span, |interval| begin(interval, &mut ends), |_| {})?;
    // Where a call that began in the span goes on after it, others in it may be what an edge leads to.
    let last = ends.values().filter_map(|arrivals| arrivals.last_within()).max();
    if let Some(last) = last.filter(|last| *last > span.to) {
        let behind = Span { from: span.to, to: last };
        let mut each = |interval: &Interval| {
            if interval.start >= span.to {
                begin(interval, &mut ends);
            }
        };
        visits_in(events, behind, &mut each, |_| {})?;
    }
    for edges in edges.chunk_by(|a, b| a.0.to.0 == b.0.to.0) {
        if let Some(arrivals) = ends.get_mut(&edges[0].0.to.0) {
            arrivals.before(Nanos(i64::MAX), run, &mut each);
        }
    }
    Ok(())
}

/// What is waited for where an edge of a kind leads to; none where somebody only begins.
fn pattern_of(kind: EdgeKind) -> Option<Pattern> {
    match kind {
        // Of tasks: their threads go on with something else, and what they do wait for has edges of its own.
        EdgeKind::Create | EdgeKind::Spawn | EdgeKind::Done => None,
        EdgeKind::Join => Some(Pattern::Join),
        EdgeKind::LockHandOver => Some(Pattern::Lock),
        EdgeKind::Wake => Some(Pattern::Condition),
        EdgeKind::Barrier => Some(Pattern::Barrier),
        EdgeKind::Post => Some(Pattern::LatePost),
        EdgeKind::Complete => Some(Pattern::LateComplete),
    }
}

/// The ends of edges on a location that are still to come, and what is open there.
struct Arrivals<'a> {
    edges: &'a [(Edge, Pattern)],
    /// Outermost first.
    open: Vec<(Nanos, Nanos, CallPathId)>,
}

impl Arrivals<'_> {
    fn begin(&mut self, interval: &Interval) {
        while self.open.last().is_some_and(|&(_, end, _)| end <= interval.start) {
            self.open.pop();
        }
        self.open.push((interval.start, interval.end, interval.call_path));
    }

    /// When the last edge arrives that leads into what is open.
    fn last_within(&self) -> Option<Nanos> {
        let last = self.open.iter().map(|(_, end, _)| *end).max()?;
        self.edges[..self.edges.partition_point(|(edge, _)| edge.to.1 <= last)]
            .last()
            .map(|(edge, _)| edge.to.1)
    }

    /// Handles the edges that arrive at or before `time`, at which the next interval begins.
    fn before(&mut self, time: Nanos, run: &impl Trace, each: &mut impl FnMut(&Edge, Pattern, Done)) {
        while let Some(((edge, pattern), rest)) = self.edges.split_first()
            && edge.to.1 <= time
        {
            self.edges = rest;
            let arrival = edge.to.1;
            let holds = |&&(start, end, _): &&(Nanos, Nanos, CallPathId)| start < arrival && arrival <= end;
            let Some(&(start, end, path)) = self.open.iter().rev().find(holds) else { continue };
            if role_of(run, Some(path)).is_none_or(|role| role == Role::Work) {
                continue;
            }
            each(edge, *pattern, Done { start, end, call_path: Some(path) });
        }
    }
}
