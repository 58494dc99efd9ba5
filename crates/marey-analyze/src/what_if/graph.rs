//! Dependencies that need a look at the intervals: edges, and the calls in which ranks leave together.
//!
//! The one idea: they are found once and kept, for they are few: every other pass hands them out again.

use std::collections::BTreeMap;

use marey_model::{EdgeKind, LocationId, Nanos};

use super::dependencies::{Call, Dependency, Gate, Gates, Place};
use super::variants::{Kind, Moved};
use crate::critical::creators;
use crate::happenings::{Done, Happenings, Span, Unread};
use crate::trace::Trace;
use crate::waits::{Waits, calls_of_edges, together};

/// What is kept.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// Edges into calls of somebody else: there may be many, as of contended locks.
    edges: Vec<(Place, Call)>,
    held: Vec<Held>,
    /// Of each location when it began and who created it.
    pub(super) creators: BTreeMap<LocationId, Place>,
    /// Whether the end of a location was waited for.
    joined: Vec<bool>,
    /// The first thread of each process.
    first_threads: Vec<Option<usize>>,
    /// Barriers of threads: when each member came.
    pub(super) barriers: Vec<Vec<Place>>,
}

#[derive(Debug)]
struct Held {
    moved: Moved,
    arrivals: Vec<Place>,
    calls: Vec<Call>,
    /// Gates that are known by themselves.
    gates: Vec<Gate>,
}

/// What an edge moves.
fn edge(members: usize) -> Moved {
    Moved { kind: Kind::Edge, bytes: 0, members: u32::try_from(members).unwrap_or(u32::MAX) }
}

impl Graph {
    /// One pass over the intervals, if there are edges.
    pub(crate) fn new(run: &impl Trace, events: &impl Happenings, waits: &Waits) -> Result<Self, Unread> {
        Self::of_span(run, events, waits, Span::ALL)
    }

    /// What of it leads into calls of a span of time.
    pub(crate) fn of_span(
        run: &impl Trace,
        events: &impl Happenings,
        waits: &Waits,
        span: Span,
    ) -> Result<Self, Unread> {
        let mut graph = Self { joined: vec![false; run.locations().len()], ..Self::default() };
        graph.first_threads = vec![None; run.processes().len()];
        for (location, place) in
            run.locations().iter().zip(0..).filter(|(location, _)| location.thread.0 == 0)
        {
            if let Some(first) = graph.first_threads.get_mut(location.process.idx()) {
                first.get_or_insert(place);
            }
        }
        let mut barriers: BTreeMap<Place, Vec<Call>> = BTreeMap::new();
        let mut held = Vec::new();
        calls_of_edges(run, events, span, |found, _, call| {
            let (from, to) = (found.from, found.to);
            let call = (to.0, call.start, to.1);
            if from.0 == to.0 {
            } else if found.kind == EdgeKind::Barrier {
                barriers.entry(from).or_default().push(call);
            } else {
                graph.edges.push(((from.0, from.1.min(to.1)), call));
            }
        })?;
        for (from, calls) in barriers {
            let mut come: BTreeMap<LocationId, Nanos> = BTreeMap::new();
            for call in &calls {
                let at = call.1.min(from.1);
                let known = come.entry(call.0).or_insert(at);
                *known = at.max(*known);
            }
            let mut arrivals: Vec<Place> = come.into_iter().collect();
            arrivals.push(from);
            let gates = vec![Gate { location: from.0, at: from.1, waited: false }];
            graph.barriers.push(arrivals.clone());
            held.push(Held { moved: edge(arrivals.len()), arrivals, calls, gates });
        }
        graph.held = held;
        events.edges_in(span, &mut |batch| {
            for joined in batch.iter().filter(|edge| edge.kind == EdgeKind::Join) {
                if let Some(is_joined) = graph.joined.get_mut(joined.from.0.idx()) {
                    *is_joined = true;
                }
            }
        })?;
        for (location, edge) in creators(run, events, span)?.into_iter().collect::<BTreeMap<_, _>>() {
            let Some(created) = run.locations().get(location.idx()) else { continue };
            let from = (edge.from.0, edge.from.1.min(created.start));
            graph.creators.insert(location, from);
            let gates = vec![Gate { location, at: created.start, waited: true }];
            let moved = Moved { kind: Kind::Start, bytes: 0, members: 2 };
            graph.held.push(Held { moved, arrivals: vec![from], calls: Vec::new(), gates });
        }
        for together in together(run, events)? {
            let Some((_, last)) = together.last() else { continue };
            let is_other = |(location, call): &(LocationId, Done)| {
                waits.of(*location).iter().any(|other| {
                    let is_own = (other.from, other.to) == (call.start, last);
                    !is_own && other.from < last && call.start < other.to
                })
            };
            if together.calls.iter().any(is_other) {
                continue;
            }
            let arrivals: Vec<Place> = together.calls.iter().map(|(id, call)| (*id, call.start)).collect();
            let calls: Vec<Call> =
                together.calls.iter().map(|(id, call)| (*id, call.start, call.end)).collect();
            graph.held.push(Held { moved: edge(calls.len()), arrivals, calls, gates: Vec::new() });
        }
        Ok(graph)
    }

    pub(super) fn each(&self, each: &mut dyn FnMut(Dependency<'_>)) {
        let mut gates = Gates::default();
        for (from, call) in &self.edges {
            gates.of(edge(2), &[*from], std::iter::once(*call), each);
        }
        for Held { moved, arrivals, calls, gates: known } in &self.held {
            gates.of(*moved, arrivals, calls.iter().copied(), each);
            if !known.is_empty() {
                each(Dependency { moved: *moved, arrivals, gates: known });
            }
        }
    }

    /// The first thread of the process, if a location is a thread that was cut off when that ended.
    pub(super) fn cut_off_with(&self, run: &impl Trace, location: usize) -> Option<usize> {
        let own = run.locations().get(location)?;
        if own.thread.0 == 0 || self.joined.get(location) == Some(&true) {
            return None;
        }
        let first = self.first_threads.get(own.process.idx()).copied().flatten()?;
        let end = run.locations().get(first)?.end;
        let is_cut_off = end <= own.end && (own.end - end).0.saturating_mul(100) <= run.duration().0;
        is_cut_off.then_some(first)
    }
}
