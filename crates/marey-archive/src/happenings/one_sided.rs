//! Who gave access to a window and who had it: edges that the calls on one-sided windows are the ends of.
//!
//! The one idea: calls are matched by their order, process by process, as MPI does; posts with starts and completes with
//! waits by counting, locks by when they were asked for and given back. The definitions are those of
//! `docs/wait-states.md`.
//!
//! What is deliberately absent: fences, which are operations of all, and whether anybody waited.

mod locks;

use marey_analyze::Edge;
use marey_model::spool::RmaKind;
use marey_model::{EdgeKind, LocationId, Nanos};
use rustc_hash::FxHashMap;

/// A call on a window; one for each process that it names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Call {
    pub(super) window: u32,
    pub(super) process: u32,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) location: u32,
    pub(super) kind: RmaKind,
    /// The process that it names, if it names one.
    pub(super) peer: Option<u32>,
}

impl Call {
    fn holds(&self, instant: i64) -> bool {
        self.start < instant && instant <= self.end
    }
}

/// An edge to the end of a call.
fn edge(kind: EdgeKind, from: &Call, to: &Call) -> Edge {
    Edge {
        kind,
        from: (LocationId(from.location), Nanos(from.start)),
        to: (LocationId(to.location), Nanos(to.end)),
    }
}

/// Edges of which perhaps a transfer is the end.
#[derive(Debug, Default)]
pub(super) struct OneSided {
    /// Those that are certain.
    pub(super) edges: Vec<Edge>,
    /// Posts that came between the start and the complete of their access epochs: by window, origin and target, and time.
    between: FxHashMap<(u32, u32, u32), Vec<Between>>,
}

#[derive(Clone, Copy, Debug)]
struct Between {
    post: Call,
    complete: Call,
    /// A transfer is the end of the edge.
    is_found: bool,
}

impl OneSided {
    /// From all calls but transfers, in any order: n log n in their number.
    pub(super) fn new(mut calls: Vec<Call>) -> Self {
        calls.sort_unstable();
        let mut found = Self::default();
        for window in calls.chunk_by(|a, b| a.window == b.window) {
            found.epochs(window);
            locks::find(window, &mut found.edges);
        }
        found
    }

    /// Whether transfers can tell more.
    pub(super) fn asks_for_transfers(&self) -> bool {
        !self.between.is_empty()
    }

    /// Takes a transfer: posts that came in it were waited for there.
    pub(super) fn transfer(&mut self, transfer: &Call) {
        let Some(target) = transfer.peer else { return };
        let key = (transfer.window, transfer.process, target);
        let Some(posts) = self.between.get_mut(&key) else { return };
        let first = posts.partition_point(|between| between.post.start <= transfer.start);
        if let Some(between) = posts.get_mut(first).filter(|between| transfer.holds(between.post.start)) {
            between.is_found = true;
            self.edges.push(edge(EdgeKind::Post, &between.post, transfer));
        }
    }

    /// All edges.
    pub(super) fn finish(mut self) -> Vec<Edge> {
        let left = self.between.into_values().flatten().filter(|between| !between.is_found);
        self.edges.extend(left.map(|left| edge(EdgeKind::Post, &left.post, &left.complete)));
        self.edges.sort_unstable_by_key(|edge| (edge.to, edge.from, edge.kind));
        self.edges
    }

    /// Matches the access epochs of a window with its exposure epochs.
    fn epochs(&mut self, window: &[Call]) {
        let mut exposures: FxHashMap<(u32, u32), Vec<Epoch>> = FxHashMap::default();
        let mut accesses: Vec<((u32, u32), Epoch)> = Vec::new();
        for own in window.chunk_by(|a, b| a.process == b.process) {
            epochs_of(own, RmaKind::Post, RmaKind::Wait, |peer, epoch| {
                exposures.entry((peer, epoch.begin.process)).or_default().push(epoch);
            });
            epochs_of(own, RmaKind::Start, RmaKind::Complete, |peer, epoch| {
                accesses.push(((epoch.begin.process, peer), epoch));
            });
        }
        let mut numbers: FxHashMap<(u32, u32), usize> = FxHashMap::default();
        for (pair, access) in accesses {
            let number = numbers.entry(pair).or_default();
            let exposure = exposures.get(&pair).and_then(|all| all.get(*number));
            *number += 1;
            if let Some(exposure) = exposure {
                self.matched(pair, &access, exposure);
            }
        }
    }

    fn matched(&mut self, (origin, target): (u32, u32), access: &Epoch, exposure: &Epoch) {
        let post = exposure.begin;
        if access.begin.holds(post.start) {
            self.edges.push(edge(EdgeKind::Post, &post, &access.begin));
        } else if let Some(complete) = access.end {
            if complete.holds(post.start) || post.start <= access.begin.start {
                self.edges.push(edge(EdgeKind::Post, &post, &complete));
            } else if post.start <= complete.start {
                self.between.entry((post.window, origin, target)).or_default().push(Between {
                    post,
                    complete,
                    is_found: false,
                });
            }
        }
        if let (Some(complete), Some(wait)) = (access.end, exposure.end) {
            self.edges.push(edge(EdgeKind::Complete, &complete, &wait));
        }
    }
}

/// The calls at the two ends of an epoch; the second is not known of one that never ended.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    begin: Call,
    end: Option<Call>,
}

/// Hands out the epochs of a process, one for each process that they name, in the order of their beginnings.
fn epochs_of(own: &[Call], begins: RmaKind, ends: RmaKind, mut each: impl FnMut(u32, Epoch)) {
    let mut last: Vec<Call> = Vec::new();
    let mut pass = |last: &mut Vec<Call>, end: Option<Call>| {
        for begin in last.drain(..) {
            if let Some(peer) = begin.peer {
                each(peer, Epoch { begin, end });
            }
        }
    };
    for call in own {
        if call.kind == begins {
            // Another call before the epoch has ended: of the one before, the end was not recorded.
            if last.first().is_some_and(|first| first.start != call.start) {
                pass(&mut last, None);
            }
            last.push(*call);
        } else if call.kind == ends {
            pass(&mut last, Some(*call));
        }
    }
    pass(&mut last, None);
}

#[cfg(test)]
mod tests;
