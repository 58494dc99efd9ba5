//! Which of what recurs is a loop.
//!
//! The one idea: a loop is looked for in one function at a time, from the root on, so the outermost is found first, and
//! of what recurs in one function the finest that is regular.
//!
//! What is deliberately absent: when each iteration began ([`super::borders`]).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use marey_model::{LocationId, Nanos};

use super::marks::{Mark, Marks, Recurs};
use super::tree::{NodeId, Tree};

/// Loops that are followed at most.
const MOST_LOOPS: usize = 16;
/// What recurs less often is no loop.
const LEAST: u64 = 5;
/// What takes a smaller part of the run, 1 in so many, is not looked into.
const PART: i64 = 20;

/// A loop, and where its iterations begin and end.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The function or region that it is in.
    pub(super) within: NodeId,
    /// Of each location the call that iterations begin with there, and the one that they end with.
    pub(super) ends: BTreeMap<LocationId, (Mark, Mark)>,
    /// Children of `within` that are part of it.
    pub(super) family: Vec<NodeId>,
    pub(super) number: u64,
    /// The loop that it is an inner loop of.
    pub(super) inside: Option<usize>,
    /// Where, and from when until when.
    pub(super) spans: BTreeMap<LocationId, Recurs>,
}

impl Found {
    /// The time that it covers, all locations together.
    pub(super) fn covers(&self) -> i128 {
        self.spans.values().map(|span| i128::from((span.end - span.first).0)).sum()
    }

    pub(super) fn first(&self) -> Nanos {
        self.spans.values().map(|span| span.first).min().unwrap_or_default()
    }

    /// The call that iterations begin, or end, with on most locations; of several, on the first.
    pub(super) fn end(&self, of: impl Fn(&(Mark, Mark)) -> Mark) -> Mark {
        let all: Vec<Mark> = self.ends.values().map(of).collect();
        let often = |mark: &Mark| all.iter().filter(|other| *other == mark).count();
        // The last of equals is taken, so from the end.
        all.iter().rev().copied().max_by_key(often).unwrap_or(Mark::Runs(self.within))
    }
}

/// Finds all loops, an outer one before those inside it.
pub(super) fn find(tree: &Tree, marks: &Marks, run: Nanos) -> Vec<Found> {
    let mut finder = Finder { tree, marks, least: Nanos(run.0 / PART), found: Vec::new() };
    // By hand, for calls may be nested deeper than our stack is.
    let mut ahead = vec![(NodeId::ROOT, None)];
    while let Some((node, inside)) = ahead.pop() {
        let from = finder.found.len();
        finder.loops_in(node, inside);
        let mut next = finder.children_ahead(node, inside, from);
        next.reverse();
        ahead.extend(next);
    }
    finder.found
}

struct Finder<'a> {
    tree: &'a Tree,
    marks: &'a Marks,
    /// The least time to look into.
    least: Nanos,
    found: Vec<Found>,
}

/// A mark and where it recurs as often as on most locations.
#[derive(Clone, Debug)]
struct Candidate {
    mark: Mark,
    number: u64,
    spans: BTreeMap<LocationId, Recurs>,
}

impl Candidate {
    fn first(&self) -> Nanos {
        self.spans.values().map(|span| span.first).min().unwrap_or_default()
    }
}

impl Finder<'_> {
    /// Adds the loops of one function.
    fn loops_in(&mut self, node: NodeId, inside: Option<usize>) {
        let from = self.found.len();
        let children = &self.tree.nodes[node.idx()].children;
        let mut all: Vec<Candidate> =
            children.iter().filter_map(|child| self.candidate(Mark::Runs(*child))).collect();
        all.extend(self.tree.region(node).and_then(|_| self.candidate(Mark::Visits(node))));
        let outer = inside.map_or(0, |outer| self.found[outer].number);
        // Where a function is entered as often as something in it recurs, not it but its caller iterates.
        let entered = self.candidate(Mark::Runs(node)).map_or(1, |it| it.number).max(outer);
        let least = LEAST.max(entered.saturating_mul(2));
        all.retain(|it| {
            least <= it.number && self.least <= mean_length(&it.spans) && self.marks.is_regular(it.mark)
        });
        all.sort_by_key(|it| (Reverse((it.number, it.spans.len())), it.first(), it.mark));
        for candidate in all {
            if self.found.len() >= MOST_LOOPS {
                return;
            }
            let is_told = self.found[from..].iter().any(|known| lies_in(&candidate.spans, &known.spans));
            if !is_told {
                let found = self.described(node, candidate, inside);
                self.found.push(found);
            }
        }
    }

    fn described(&self, within: NodeId, it: Candidate, inside: Option<usize>) -> Found {
        let children = self.tree.nodes[within.idx()].children.iter().copied();
        let family: Vec<NodeId> = match it.mark {
            Mark::Visits(_) => children.collect(),
            Mark::Runs(_) => children.filter(|child| self.overlaps(*child, &it.spans)).collect(),
        };
        let mut ends: BTreeMap<LocationId, (Mark, Mark)> =
            it.spans.keys().map(|location| (*location, (it.mark, it.mark))).collect();
        if let Mark::Runs(_) = it.mark {
            let mut borders: BTreeMap<LocationId, (Recurs, Recurs)> =
                it.spans.iter().map(|(location, span)| (*location, (*span, *span))).collect();
            for mark in family.iter().map(|child| Mark::Runs(*child)) {
                for (location, recurs) in self.marks.of(mark) {
                    let Some((first, last)) = borders.get_mut(&location) else { continue };
                    let Some((opener, closer)) = ends.get_mut(&location) else { continue };
                    if recurs.number != it.spans[&location].number {
                        continue;
                    }
                    if recurs.first < first.first {
                        (*first, *opener) = (recurs, mark);
                    }
                    if last.last < recurs.last {
                        (*last, *closer) = (recurs, mark);
                    }
                }
            }
        }
        Found { within, ends, family, number: it.number, inside, spans: it.spans }
    }

    /// Where a node overlaps spans, on a location of theirs.
    fn overlaps(&self, node: NodeId, spans: &BTreeMap<LocationId, Recurs>) -> bool {
        self.marks.of(Mark::Runs(node)).any(|(location, own)| {
            spans.get(&location).is_some_and(|span| {
                // What is over when the loop begins is not of it; of no length may be what begins with it.
                own.first < span.end && span.first < own.end || own.first == span.first
            })
        })
    }

    /// The children of a node that are worth looking into, and inside which loop they are.
    fn children_ahead(
        &self,
        node: NodeId,
        inside: Option<usize>,
        from: usize,
    ) -> Vec<(NodeId, Option<usize>)> {
        let mut ahead = Vec::new();
        for &child in &self.tree.nodes[node.idx()].children {
            let around = (from..self.found.len()).find(|&it| self.found[it].family.contains(&child));
            let spans: BTreeMap<_, _> = self.marks.of(Mark::Runs(child)).collect();
            if self.least <= mean_length(&spans) {
                ahead.push((child, around.or(inside)));
            }
        }
        ahead
    }

    /// A mark on the locations where it recurs as often as on most.
    fn candidate(&self, mark: Mark) -> Option<Candidate> {
        let all: Vec<(LocationId, Recurs)> = self.marks.of(mark).collect();
        let mut frequency: BTreeMap<u64, usize> = BTreeMap::new();
        for (_, recurs) in &all {
            *frequency.entry(recurs.number).or_default() += 1;
        }
        let (usual, _) = frequency.into_iter().max_by_key(|&(number, times)| (times, number))?;
        // Who was killed had perhaps done one more than the others.
        let slack = 1.max(usual / 100);
        let spans: BTreeMap<_, _> =
            all.into_iter().filter(|(_, recurs)| recurs.number.abs_diff(usual) <= slack).collect();
        let number = spans.values().map(|recurs| recurs.number).min()?;
        Some(Candidate { mark, number, spans })
    }
}

/// Mean length of spans.
fn mean_length(spans: &BTreeMap<LocationId, Recurs>) -> Nanos {
    let sum: i64 = spans.values().map(|span| (span.end - span.first).0).fold(0, i64::saturating_add);
    i64::try_from(spans.len()).ok().and_then(|number| sum.checked_div(number)).map_or(Nanos(-1), Nanos)
}

/// Whether spans lie for half of their time or more in others, on some location of both.
fn lies_in(spans: &BTreeMap<LocationId, Recurs>, others: &BTreeMap<LocationId, Recurs>) -> bool {
    spans.iter().any(|(location, span)| {
        others.get(location).is_some_and(|other| {
            let both = span.end.min(other.end) - span.first.max(other.first);
            (span.end - span.first).0 <= both.0.saturating_mul(2)
        })
    })
}
