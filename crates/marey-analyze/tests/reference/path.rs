//! The section "Critical path".
//!
//! The one idea: a walk backwards that asks at every step for the latest wait that has not been followed yet.

use marey_analyze::{Happenings, Trace};
use marey_model::{EdgeKind, LocationId, Nanos};
use marey_testkit::ExpectedSpan;

use super::Record;
use super::waits::waits;

/// The critical path by time, and the time before it.
pub(crate) fn critical_path(run: &(impl Trace + Happenings)) -> (Vec<ExpectedSpan>, Nanos) {
    let record = Record::of(run);
    let mut waits = waits(run);
    let mut spans = Vec::new();
    let last = record.locations.iter().map(|location| location.end).max();
    let ends_last = record.locations.iter().position(|location| Some(location.end) == last);
    let Some(mut location) = ends_last.and_then(LocationId::from_idx) else { return (spans, run.duration()) };
    let mut t = run.duration();
    let before = loop {
        let may_follow = |wait: &&marey_testkit::ExpectedWait| wait.location == location && wait.to <= t;
        if let Some(wait) = waits.iter().filter(may_follow).max_by_key(|wait| wait.to).copied() {
            waits.retain(|other| *other != wait);
            spans.push(ExpectedSpan { location, from: wait.to, to: t });
            (location, t) = (wait.cause, wait.to);
        } else if let Some((creator, created)) = creation(&record, location) {
            let from = created.min(t);
            spans.push(ExpectedSpan { location, from, to: t });
            (location, t) = (creator, from);
        } else {
            let from = record.locations[location.idx()].start.min(t);
            spans.push(ExpectedSpan { location, from, to: t });
            break from;
        }
    };
    spans.retain(|span| span.from < span.to);
    spans.reverse();
    (spans, before)
}

/// Who created a location, and when.
fn creation(record: &Record, location: LocationId) -> Option<(LocationId, Nanos)> {
    let start = |of: LocationId| record.locations[of.idx()].start;
    let creates = record.edges.iter().filter(|edge| {
        edge.kind == EdgeKind::Create && edge.to.0 == location && start(edge.from.0) < start(location)
    });
    creates.min_by_key(|edge| (edge.to.1, edge.from.1, edge.from.0)).map(|edge| edge.from)
}
