//! What a location did long ago: how long in each doing, by stretches of time.
//!
//! The one idea: pieces of time that nobody can keep are added up, some hundred at a time, and the longer ago the more are in
//! one stretch. Nothing is forgotten; only a window that begins within a stretch takes a part of that for the whole of it.
//!
//! Deliberately absent: when something was done within a stretch.

use std::collections::VecDeque;

use marey_model::Nanos;

use crate::activities::{Doing, Piece};

/// Pieces in a stretch, at first.
const PIECES: usize = 256;

/// A stretch of a location's time.
#[derive(Debug)]
struct Stretch {
    from: Nanos,
    to: Nanos,
    /// How long it did what, in the order of doings; waits are waits.
    times: Vec<(Doing, Nanos)>,
}

impl Stretch {
    fn of(pieces: &[Piece]) -> Option<Self> {
        let (first, last) = (pieces.first()?, pieces.last()?);
        // What waits is over by the end of what is added up.
        let times = pieces.iter().map(|piece| (piece.counts_as(Nanos(i64::MAX)), piece.end - piece.start));
        Some(Self { from: first.start, to: last.end, times: summed(times.collect()) })
    }

    fn with(mut self, next: Self) -> Self {
        self.times.extend(next.times);
        Self { from: self.from, to: next.to, times: summed(self.times) }
    }
}

fn summed(mut times: Vec<(Doing, Nanos)>) -> Vec<(Doing, Nanos)> {
    times.sort_unstable_by_key(|(doing, _)| *doing);
    times.dedup_by(|next, sum| {
        let is_same = next.0 == sum.0;
        if is_same {
            sum.1 = sum.1 + next.1;
        }
        is_same
    });
    times.shrink_to_fit();
    times
}

/// The past of a location.
#[derive(Debug, Default)]
pub(super) struct Past {
    stretches: VecDeque<Stretch>,
}

impl Past {
    /// Adds pieces that come behind all others.
    pub(super) fn add(&mut self, pieces: &[Piece]) {
        self.stretches.extend(pieces.chunks(PIECES).filter_map(Stretch::of));
    }

    /// Numbers that it holds.
    pub(super) fn len(&self) -> usize {
        self.stretches.iter().map(|stretch| stretch.times.len()).sum()
    }

    /// Makes one stretch of two each, but for the latest quarter.
    pub(super) fn thin(&mut self) {
        let kept = self.stretches.len() / 4;
        let latest = self.stretches.split_off(self.stretches.len() - kept);
        let mut earlier = std::mem::take(&mut self.stretches).into_iter();
        while let Some(first) = earlier.next() {
            self.stretches.push_back(match earlier.next() {
                Some(second) => first.with(second),
                None => first,
            });
        }
        self.stretches.extend(latest);
    }

    /// The earliest time since which there are at most so many numbers; `None` = there is nothing.
    pub(super) fn since(&self, most: usize) -> Option<Nanos> {
        let mut left = most;
        let within = self.stretches.iter().rev().take_while(|stretch| {
            let is_within = stretch.times.len() <= left;
            left = left.saturating_sub(stretch.times.len());
            is_within
        });
        within.last().map(|stretch| stretch.from)
    }

    /// Tells how long what was done from `since` to `to`.
    pub(super) fn sum(&self, since: Nanos, to: Nanos, mut each: impl FnMut(Doing, Nanos)) {
        let end = self.stretches.partition_point(|stretch| stretch.from < to);
        for stretch in self.stretches.range(..end).rev().take_while(|stretch| stretch.to > since) {
            let inside = stretch.to.min(to) - stretch.from.max(since);
            let all = stretch.to - stretch.from;
            for (doing, time) in &stretch.times {
                each(*doing, if inside == all { *time } else { share(*time, inside, all) });
            }
        }
    }
}

/// `time` · `inside` / `all`, rounded down.
fn share(time: Nanos, inside: Nanos, all: Nanos) -> Nanos {
    let share = i128::from(time.0) * i128::from(inside.0) / i128::from(all.0.max(1));
    Nanos(i64::try_from(share).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_ago_is_summed_and_nothing_is_lost() {
        let calls = [Doing::WAITS, Doing::of_path(0), Doing::of_path(1)];
        let pieces: Vec<Piece> = (0..10_000)
            .map(|at| {
                let doing = calls[at % 3];
                let (start, end) = (Nanos(10 * at as i64), Nanos(10 * at as i64 + 10));
                let waits_until = if doing == Doing::WAITS { end } else { Nanos(0) };
                Piece { start, end, doing: if doing == Doing::WAITS { calls[1] } else { doing }, waits_until }
            })
            .collect();
        let mut past = Past::default();
        for part in pieces.chunks(1000) {
            past.add(part);
            past.thin();
        }
        assert!(past.len() < 100, "{}", past.len());
        let sums = |since: i64, to: i64| {
            let mut sums = [0; 3];
            past.sum(Nanos(since), Nanos(to), |doing, time| {
                sums[calls.iter().position(|it| *it == doing).unwrap()] += time.0;
            });
            sums
        };
        assert_eq!(sums(0, 100_000), [33_340, 33_330, 33_330]);
        assert_eq!(past.since(usize::MAX), Some(Nanos(0)));
        assert_eq!(past.since(0), None);
        // Within a stretch its parts are as long as in all of it.
        for time in sums(51_234, 87_654) {
            assert!((time - 36_420 / 3).abs() < 40, "{time}");
        }
    }
}
