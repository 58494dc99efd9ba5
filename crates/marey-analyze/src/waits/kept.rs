//! Waits while they are found, and their order.
//!
//! The one idea: so many are kept that memory is bounded; where there are more, the shorter half goes into a sum, again
//! and again, so that nothing that is left out is longer than anything that is listed.

use std::cmp::Reverse;

use marey_model::{CallPathId, LocationId, Nanos};
use rustc_hash::FxHashMap;

use super::{Found, Unlisted, Wait};
use crate::happenings::Span;

/// Waits in the order in which they were found.
#[derive(Debug)]
pub(super) struct Kept {
    found: Vec<Found>,
    most: usize,
    span: Span,
    /// How many there are.
    locations: usize,
    unlisted: Unlisted,
}

impl Kept {
    /// No more than `most` that lie in the span, if in part, and between the first so many locations.
    pub(super) fn new(most: usize, span: Span, locations: usize) -> Self {
        Self { found: Vec::new(), most, span, locations, unlisted: Unlisted::default() }
    }

    pub(super) fn add(&mut self, found: Found) {
        let length = length_in(self.span, &found.wait);
        // Whoever reads events may have passed on ids that lead nowhere.
        let is_known = |id: LocationId| id.idx() < self.locations;
        if length == Nanos(0) || !is_known(found.wait.location) || !is_known(found.wait.cause) {
            return;
        }
        if length <= self.unlisted.longest {
            return self.leave_out(length);
        }
        self.found.push(found);
        if self.found.len() > self.most {
            self.halve();
        }
    }

    /// The length is that of what lies in the span.
    fn leave_out(&mut self, length: Nanos) {
        self.unlisted.number += 1;
        self.unlisted.time = self.unlisted.time + length;
    }

    /// Of equal lengths those are kept that come first by location and time, so that half is left even of waits that are all
    /// as long as each other.
    fn halve(&mut self) {
        let (half, span) = (self.found.len() / 2, self.span);
        self.found.select_nth_unstable_by_key(half, |Found { wait, call_end }| {
            let place = (wait.location, wait.from, *call_end, wait.call_path);
            (Reverse(length_in(span, wait)), place, wait.cause, wait.to, wait.pattern, wait.communicator)
        });
        for short in self.found.split_off(half) {
            let length = length_in(span, &short.wait);
            self.unlisted.longest = self.unlisted.longest.max(length);
            self.leave_out(length);
        }
    }

    /// All that are listed: one for each call, none around another, none in a ring. `depth` is that of a call path.
    pub(super) fn finish(self, depth: impl Fn(Option<CallPathId>) -> u32) -> (Vec<Wait>, Unlisted) {
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

/// How much of a wait lies in a span.
fn length_in(span: Span, wait: &Wait) -> Nanos {
    span.clip(wait.from, wait.to).map_or(Nanos(0), |(from, to)| to - from)
}

/// Drops waits that end at one instant and are caused by each other in a ring.
fn drop_rings(list: &mut Vec<Wait>) {
    let mut by_end: Vec<usize> = (0..list.len()).collect();
    by_end.sort_by_key(|&place| list[place].to);
    let mut is_in_ring = vec![false; list.len()];
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
                    Some(&walk) if walk == start && !is_in_ring[place] => {
                        is_in_ring[place] = true;
                        next = waiting.get(&list[place].cause).copied();
                    }
                    Some(_) => break,
                }
            }
        }
    }
    let mut is_in_ring = is_in_ring.into_iter();
    list.retain(|_| is_in_ring.next() != Some(true));
}

#[cfg(test)]
mod tests;
