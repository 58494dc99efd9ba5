//! What two locations did in a window of time, and which of them did what for longer.
//!
//! The one idea: of each location its latest pieces are kept, so that a window is a walk backwards from its end. Memory is
//! bounded: what lies before them is kept as sums of stretches of time ([`Past`]).
//!
//! What is compared is how long each was in a place of the program, for two may come there by different ways; only what
//! is left then is divided by call path.

use std::collections::VecDeque;

use marey_model::{CallPathId, LocationId, Nanos, RegionId};
use rustc_hash::FxHashMap;

use super::past::Past;
use crate::activities::{Doing, Piece};
use crate::caller::{caller, routine};
use crate::trace::Trace;

/// Pieces that are kept of all locations together, 32 bytes each.
const MOST: usize = 1 << 21;

/// Numbers that the past of all locations together holds, 16 bytes each; as many as locations have call paths at least.
const MOST_PAST: usize = 1 << 20;

/// Pieces of a location that one comparison goes through at most.
const LONGEST: usize = 1 << 14;

/// The same for a wait in vain: nobody is in step after it, so the windows of polls that follow one another all begin where
/// the first does, and would take time that grows with their square.
const LONGEST_IN_VAIN: usize = 1 << 8;

/// The latest pieces of all locations.
#[derive(Debug)]
pub(super) struct Windows {
    pieces: Vec<VecDeque<Piece>>,
    number: usize,
    /// What lies before them.
    past: Vec<Past>,
    n_paths: usize,
    /// For each doing that of its place which stands for all of them.
    place_of: Vec<usize>,
    /// For each doing what the cause did longer; zeros between comparisons.
    excess: Vec<Nanos>,
    /// For each doing that stands for a place: the sums of the excess there, and of what of it is positive.
    places: Vec<(Nanos, Nanos)>,
    /// What is not zero there.
    touched: Vec<Doing>,
}

impl Windows {
    pub(super) fn new(run: &impl Trace) -> Self {
        let n_paths = run.call_paths().len();
        Self {
            pieces: vec![VecDeque::new(); run.locations().len()],
            number: 0,
            past: run.locations().iter().map(|_| Past::default()).collect(),
            n_paths,
            place_of: places(run),
            excess: vec![Nanos(0); Doing::places(n_paths)],
            places: vec![(Nanos(0), Nanos(0)); Doing::places(n_paths)],
            touched: Vec::new(),
        }
    }

    /// The next piece of a location.
    pub(super) fn add(&mut self, location: LocationId, piece: Piece) {
        let pieces = &mut self.pieces[location.idx()];
        match pieces.back_mut() {
            Some(last) if (last.doing, last.waits_until) == (piece.doing, piece.waits_until) => {
                last.end = piece.end;
            }
            _ => {
                pieces.push_back(piece);
                self.number += 1;
            }
        }
    }

    /// Adds up the earlier half of what there is, if that is too much. Behind `until` nothing is known, so waits may go on.
    pub(super) fn add_up_if_full(&mut self, until: Nanos) {
        if self.number <= MOST {
            return;
        }
        for (pieces, past) in self.pieces.iter_mut().zip(&mut self.past) {
            let half =
                pieces.iter().take(pieces.len() / 2).take_while(|piece| piece.waits_until <= until).count();
            past.add(&pieces.drain(..half).collect::<Vec<_>>());
            self.number -= half;
        }
        if self.past.iter().map(Past::len).sum::<usize>() > MOST_PAST {
            self.past.iter_mut().for_each(Past::thin);
        }
    }

    /// The earliest time from `since` on since which enough is known of both, each until its own time, and there is no more
    /// than is to be compared.
    pub(super) fn known_since(
        &self,
        cause: (LocationId, Nanos),
        other: (LocationId, Nanos),
        since: Nanos,
        in_vain: bool,
    ) -> Nanos {
        let longest = if in_vain { LONGEST_IN_VAIN } else { LONGEST };
        let begin = |(location, to): (LocationId, Nanos)| {
            let pieces = &self.pieces[location.idx()];
            let end = pieces.partition_point(|piece| piece.start < to);
            if let Some(first) = end.checked_sub(longest) {
                return pieces.get(first).map_or(Nanos(0), |piece| piece.start);
            }
            let past = self.past[location.idx()].since(longest - end);
            past.or_else(|| pieces.front().map(|piece| piece.start)).unwrap_or_default()
        };
        since.max(begin(cause)).max(begin(other))
    }

    /// Tells what `cause` did longer from `since` to its time than `other` did from `since` to its own.
    pub(super) fn compare(
        &mut self,
        cause: (LocationId, Nanos),
        other: (LocationId, Nanos),
        since: Nanos,
        mut each: impl FnMut(Doing, Nanos),
    ) {
        self.sum(cause, since, 1);
        self.sum(other, since, -1);
        self.touched.sort_unstable();
        self.touched.dedup();
        for doing in &self.touched {
            let at = doing.place(self.n_paths);
            let (sum, positive) = &mut self.places[self.place_of[at]];
            let excess = self.excess[at];
            (*sum, *positive) = (*sum + excess, *positive + excess.max(Nanos(0)));
        }
        for doing in &self.touched {
            let at = doing.place(self.n_paths);
            let excess = std::mem::take(&mut self.excess[at]);
            let (sum, positive) = self.places[self.place_of[at]];
            if excess > Nanos(0) && sum > Nanos(0) {
                each(*doing, part(excess, sum, positive));
            }
        }
        for doing in self.touched.drain(..) {
            self.places[self.place_of[doing.place(self.n_paths)]] = (Nanos(0), Nanos(0));
        }
    }

    fn sum(&mut self, (location, to): (LocationId, Nanos), since: Nanos, sign: i64) {
        let pieces = &self.pieces[location.idx()];
        let end = pieces.partition_point(|piece| piece.start < to);
        for piece in pieces.range(..end).rev().take_while(|piece| piece.end > since) {
            let time = piece.end.min(to) - piece.start.max(since);
            let doing = piece.counts_as(to);
            let sum = &mut self.excess[doing.place(self.n_paths)];
            if *sum == Nanos(0) {
                self.touched.push(doing);
            }
            sum.0 += sign * time.0;
        }
        let (excess, touched, n_paths) = (&mut self.excess, &mut self.touched, self.n_paths);
        self.past[location.idx()].sum(since, to, |doing, time| {
            let sum = &mut excess[doing.place(n_paths)];
            if *sum == Nanos(0) {
                touched.push(doing);
            }
            sum.0 += sign * time.0;
        });
    }
}

/// `excess` · `sum` / `positive`, rounded up: who has a part of it keeps one.
fn part(excess: Nanos, sum: Nanos, positive: Nanos) -> Nanos {
    let part =
        (i128::from(excess.0) * i128::from(sum.0) + i128::from(positive.0) - 1) / i128::from(positive.0);
    Nanos(i64::try_from(part).unwrap_or(i64::MAX))
}

/// For each doing the first that is in the same place: a region that is called from the same function, by way of the same
/// routine of a library if any. What has no call stack is in a place of its own.
fn places(run: &impl Trace) -> Vec<usize> {
    let n_paths = run.call_paths().len();
    let mut known: FxHashMap<(RegionId, &str, &str, Option<&str>), usize> = FxHashMap::default();
    let mut place_of: Vec<usize> = (0..Doing::places(n_paths)).collect();
    for (path, place) in run.call_paths().iter().zip(0..) {
        let Some(id) = CallPathId::from_idx(place) else { continue };
        let Some(frame) = caller(run, id) else { continue };
        let key = (path.region, frame.function.as_str(), frame.file.as_str(), routine(run, id));
        place_of[place] = *known.entry(key).or_insert(place);
    }
    place_of
}
