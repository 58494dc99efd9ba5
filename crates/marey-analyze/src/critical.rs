//! The critical path: the chain of activities that made the run as long as it was.
//!
//! The one idea: whoever does not wait is why others do, so the path is found backwards from the end, going over to the
//! cause wherever a wait ended; it needs the waits and nothing else.
//!
//! The definition is that of `docs/wait-states.md`.
//!
//! What is deliberately absent: what was done on the path ([`crate::causes`]).

use marey_model::{EdgeKind, LocationId, Nanos};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::happenings::{Edge, Happenings, Span, Unread};
use crate::trace::{Location, Trace};
use crate::waits::{Wait, Waits};

/// The critical path of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CriticalPath {
    /// Its spans, one after the other in time.
    pub spans: Vec<PathSpan>,
    /// Time of the run before the first.
    pub before: Nanos,
}

impl CriticalPath {
    /// Leaves only what lies in a span.
    pub(crate) fn clip(&mut self, span: Span) {
        self.spans.retain_mut(|piece| match span.clip(piece.from, piece.to) {
            Some(within) => {
                (piece.from, piece.to) = within;
                true
            }
            None => false,
        });
        self.before = (self.before.min(span.to) - span.from).max(Nanos(0));
    }
}

/// A span of time that a location is on the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathSpan {
    /// Where.
    pub location: LocationId,
    /// From when on.
    pub from: Nanos,
    /// Until when.
    pub to: Nanos,
}

/// Finds the path: O(spans · log waits), and one pass over the edges.
///
/// # Errors
/// What of the run could not be read.
pub fn critical_path(
    run: &impl Trace,
    events: &impl Happenings,
    waits: &Waits,
) -> Result<CriticalPath, Unread> {
    let creators = creators(run, events, Span::ALL)?;
    let locations = run.locations();
    let order =
        |&(id, location): &(u32, &Location)| (location.has_time(), location.end, std::cmp::Reverse(id));
    let last = (0..).zip(locations).max_by_key(order);
    let Some((mut here, location)) = last.map(|(id, location)| (LocationId(id), location)) else {
        return Ok(CriticalPath { spans: Vec::new(), before: run.duration() });
    };
    let mut time = run.duration().max(location.end);
    let mut spans = Vec::new();
    // Where waits that ended at this very instant have been followed.
    let mut followed: FxHashSet<LocationId> = FxHashSet::default();
    loop {
        let own = waits.of(here);
        let is_over = |wait: &&Wait| wait.to < time || wait.to == time && !followed.contains(&here);
        let (from, next) = match own[..own.partition_point(|wait| wait.to <= time)].iter().rev().find(is_over)
        {
            Some(wait) => (wait.to, Some((wait.cause, wait.to))),
            None => match creators.get(&here) {
                Some(creator) => (creator.from.1, Some(creator.from)),
                None => (locations.get(here.idx()).map_or(Nanos(0), |location| location.start), None),
            },
        };
        if from < time {
            spans.push(PathSpan { location: here, from, to: time });
            followed.clear();
            time = from;
        }
        followed.insert(here);
        let Some((cause, _)) = next else { break };
        here = cause;
    }
    spans.reverse();
    Ok(CriticalPath { spans, before: time })
}

/// The edges by which locations were created, of those that lead into a span of time.
pub(crate) fn creators(
    run: &impl Trace,
    events: &impl Happenings,
    span: Span,
) -> Result<FxHashMap<LocationId, Edge>, Unread> {
    let start = |location: LocationId| run.locations().get(location.idx()).map(|location| location.start);
    let mut creators: FxHashMap<LocationId, Edge> = FxHashMap::default();
    events.edges_in(span, &mut |batch| {
        for edge in batch.iter().filter(|edge| edge.kind == EdgeKind::Create) {
            let (Some(from), Some(to)) = (start(edge.from.0), start(edge.to.0)) else { continue };
            // Nobody was created by who came later, so that there is an end.
            if from < to {
                let creator = creators.entry(edge.to.0).or_insert(*edge);
                let order = |edge: &Edge| (edge.to.1, edge.from.1, edge.from.0);
                if order(edge) < order(creator) {
                    *creator = *edge;
                }
            }
        }
    })?;
    Ok(creators)
}
