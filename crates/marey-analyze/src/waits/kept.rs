//! Waits while they are found, and their order.
//!
//! The one idea: so many are kept that memory is bounded; where there are more, the shorter half goes into a sum, again
//! and again, so that what is left out is always less than what is listed.

use std::cmp::Reverse;

use marey_model::{CallPathId, LocationId};
use rustc_hash::FxHashMap;

use super::{Found, Unlisted, Wait};
use crate::happenings::Span;

/// Waits in the order in which they were found.
#[derive(Debug)]
pub(super) struct Kept {
    found: Vec<Found>,
    most: usize,
    span: Span,
    unlisted: Unlisted,
}

impl Kept {
    /// No more than `most` that lie in the span, if in part.
    pub(super) fn new(most: usize, span: Span) -> Self {
        Self { found: Vec::new(), most, span, unlisted: Unlisted::default() }
    }

    pub(super) fn add(&mut self, found: Found) {
        if self.span.clip(found.wait.from, found.wait.to).is_none() {
            return;
        }
        if found.wait.length() <= self.unlisted.longest {
            return self.leave_out(&found.wait);
        }
        self.found.push(found);
        if self.found.len() > self.most {
            self.halve();
        }
    }

    fn leave_out(&mut self, wait: &Wait) {
        self.unlisted.number += 1;
        self.unlisted.time = self.unlisted.time + wait.length();
    }

    fn halve(&mut self) {
        let middle = self.found.len() / 2;
        let (_, median, _) = self.found.select_nth_unstable_by_key(middle, |found| found.wait.length());
        let longest = median.wait.length();
        self.unlisted.longest = longest;
        let (listed, short): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.found).into_iter().partition(|found| found.wait.length() > longest);
        self.found = listed;
        short.iter().for_each(|found| self.leave_out(&found.wait));
    }

    /// All that are listed: one for each call, none around another, none in a ring. `depth` is that of a call path.
    pub(super) fn finish(self, depth: impl Fn(Option<CallPathId>) -> usize) -> (Vec<Wait>, Unlisted) {
        let mut found = self.found;
        // The calls around others first; within a call, what ended the wait first.
        found.sort_by_cached_key(|Found { wait, call_end }| {
            let call = (wait.location, wait.from, Reverse(*call_end), depth(wait.call_path), wait.call_path);
            (call, Reverse(wait.to), wait.cause, wait.pattern)
        });
        found.dedup_by_key(|found| {
            (found.wait.location, found.wait.from, found.call_end, found.wait.call_path)
        });
        let mut list: Vec<Wait> = Vec::with_capacity(found.len());
        for (place, Found { wait, .. }) in found.iter().enumerate() {
            // The next is the first that could lie within its call.
            let is_around = found
                .get(place + 1)
                .is_some_and(|next| next.wait.location == wait.location && next.wait.from < wait.to);
            if !is_around {
                list.push(*wait);
            }
        }
        drop_rings(&mut list);
        list.shrink_to_fit();
        (list, self.unlisted)
    }
}

/// Drops waits that end at one instant and are caused by each other in a ring.
fn drop_rings(list: &mut Vec<Wait>) {
    let mut by_end: Vec<usize> = (0..list.len()).collect();
    by_end.sort_by_key(|&place| list[place].to);
    let mut rings: Vec<usize> = Vec::new();
    for at_once in by_end.chunk_by(|&a, &b| list[a].to == list[b].to).filter(|places| places.len() > 1) {
        // Of each location one wait ends then: they do not overlap.
        let waiting: FxHashMap<LocationId, usize> =
            at_once.iter().map(|&place| (list[place].location, place)).collect();
        let mut seen: FxHashMap<usize, usize> = FxHashMap::default();
        for &start in at_once {
            // Whoever is met again on the same walk is part of a ring.
            let mut next = Some(start);
            while let Some(place) = next {
                match seen.get(&place) {
                    None => {
                        seen.insert(place, start);
                        next = waiting.get(&list[place].cause).copied();
                    }
                    Some(&walk) if walk == start && !rings.contains(&place) => {
                        rings.push(place);
                        next = waiting.get(&list[place].cause).copied();
                    }
                    Some(_) => break,
                }
            }
        }
    }
    if !rings.is_empty() {
        rings.sort_unstable();
        let mut place = 0;
        list.retain(|_| {
            place += 1;
            rings.binary_search(&(place - 1)).is_err()
        });
    }
}
