//! Moving a clock within its bar, so that messages do not run backwards.
//!
//! The one idea: bounds are loosened by what is uncertain of the clock that they come from, so messages
//! between two clocks that were tied to a third can still arrive before they were sent. If one shift of
//! the whole clock, no larger than its bar anywhere, mends all of them, it is that. Else the clock is
//! moved where it must be and comes back slowly before and behind, as in the controlled logical clock of
//! Becker, Rabenseifner and Wolf; but all that counts the clock is moved alike, forward as well as back,
//! and so nothing changes its order within a process.
//!
//! What cannot be mended so without breaking something else stays as it is, and is counted.

use super::bend::{Knot, contradiction};
use super::region::Bound;
use super::tie::Tie;

/// How fast a moved clock comes back: it seems to gain or lose a hundredth meanwhile.
const RAMP: f64 = 0.01;
/// Places at which a clock is moved at most: each is four knots.
const MOST_MOVES: usize = 64;
/// A message takes some time, and times are rounded at both ends, ns.
const LEAST: f64 = 2.0;

/// By how much a clock was moved: (time, ns) in the order of time, lines in between, as at the ends
/// beyond them. Empty = it was not.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shift(pub Vec<(f64, f64)>);

impl Shift {
    pub(crate) fn at(&self, time: f64) -> f64 {
        let place = self.0.partition_point(|point| point.0 <= time);
        match (place.checked_sub(1).and_then(|before| self.0.get(before)), self.0.get(place)) {
            (Some(from), Some(to)) => from.1 + (to.1 - from.1) * (time - from.0) / (to.0 - from.0),
            (Some(end), None) | (None, Some(end)) => end.1,
            (None, None) => 0.0,
        }
    }
}

/// A move of a clock for a while.
#[derive(Clone, Copy, Debug)]
struct Move {
    /// The time for which all of it is needed.
    span: (f64, f64),
    by: f64,
}

impl Move {
    /// The time from its first to its last effect.
    fn reach(&self) -> (f64, f64) {
        let ramp = self.by.abs() / RAMP;
        (self.span.0 - ramp, self.span.1 + ramp)
    }

    fn at(&self, time: f64) -> f64 {
        let beyond = (self.span.0 - time).max(time - self.span.1).max(0.0);
        self.by.signum() * (self.by.abs() - beyond * RAMP).max(0.0)
    }

    /// One move in the place of two.
    fn with(self, other: Self) -> Self {
        let by = if self.by.abs() > other.by.abs() { self.by } else { other.by };
        Self { span: (self.span.0.min(other.span.0), self.span.1.max(other.span.1)), by }
    }
}

/// Moves a clock within its bar, for bounds that are as tight as if all other clocks were right.
pub(crate) fn tighten(tie: &mut Tie, bounds: &[Bound]) {
    let needed = |bound: &Bound| {
        let against = contradiction(bound, tie.at(bound.time));
        if against > 0.0 { against + LEAST } else { 0.0 }
    };
    let mut broken: Vec<&Bound> = bounds.iter().filter(|bound| needed(bound) > 0.0).collect();
    if broken.is_empty() {
        return;
    }
    let shift = match whole(tie, bounds) {
        Some(by) => Shift(vec![(tie.knots[0].time, by)]),
        None => {
            broken.sort_by(|a, b| a.time.total_cmp(&b.time).then(a.value.total_cmp(&b.value)));
            moves(tie, bounds, &broken, needed)
        }
    };
    apply(tie, shift);
}

/// The least shift of the whole clock that mends everything.
fn whole(tie: &Tie, bounds: &[Bound]) -> Option<f64> {
    let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
    for bound in bounds {
        let apart = bound.value - tie.at(bound.time);
        if bound.is_lower {
            least = least.max(apart + LEAST);
        } else {
            most = most.min(apart - LEAST);
        }
    }
    let room = tie.knots.iter().map(|knot| knot.error).fold(f64::INFINITY, f64::min);
    let by = if least > 0.0 { least } else { most.min(0.0) };
    (least <= most && by.abs() <= room).then_some(by)
}

/// Moves for a while, where they break nothing.
fn moves(tie: &Tie, bounds: &[Bound], broken: &[&Bound], needed: impl Fn(&Bound) -> f64) -> Shift {
    let mut made: Vec<Move> = Vec::new();
    for bound in broken {
        let by = needed(bound) * if bound.is_lower { 1.0 } else { -1.0 };
        if made.last().is_some_and(|last| last.at(bound.time) * by.signum() >= by.abs()) {
            continue;
        }
        let mut wanted = Move { span: (bound.time, bound.time), by };
        let mut kept = made.len();
        // What touches it becomes one with it, or the clock would come back and go again.
        while let Some(before) = kept.checked_sub(1).map(|place| made[place])
            && before.reach().1 >= wanted.reach().0
        {
            wanted = before.with(wanted);
            kept -= 1;
        }
        let is_one_way = made[kept..].iter().all(|before| before.by.signum() == by.signum());
        let (from, to) = wanted.reach();
        let breaks = |bound: &&Bound| {
            let moved = tie.at(bound.time) + wanted.at(bound.time);
            let before: f64 = made[kept..].iter().map(|old| old.at(bound.time)).sum();
            contradiction(bound, moved) > contradiction(bound, tie.at(bound.time) + before)
        };
        let is_inside = wanted.by.abs() <= tie.error(wanted.span.0).min(tie.error(wanted.span.1));
        let touched = bounds.iter().filter(|bound| from < bound.time && bound.time < to);
        if is_one_way && is_inside && kept < MOST_MOVES && !touched.into_iter().any(|bound| breaks(&bound)) {
            made.truncate(kept);
            made.push(wanted);
        }
    }
    let points = made.iter().flat_map(|made| {
        let (from, to) = made.reach();
        let (first, last) = (made.span.0, made.span.1.max(made.span.0 + 1.0));
        [(from, 0.0), (first, made.by), (last, made.by), (to.max(last + 1.0), 0.0)]
    });
    Shift(points.collect())
}

/// Moves the clock, and says that it can be wrong by so much more.
fn apply(tie: &mut Tie, shift: Shift) {
    let mut times: Vec<f64> = tie.knots.iter().map(|knot| knot.time).collect();
    let (first, last) = (times[0], times[times.len() - 1]);
    times.extend(shift.0.iter().map(|point| point.0).filter(|&time| first < time && time < last));
    times.sort_by(f64::total_cmp);
    times.dedup();
    let moved = |time: f64| {
        let by = shift.at(time);
        Knot { time, offset: tie.at(time) + by, error: tie.error(time) + by.abs() }
    };
    let knots: Vec<Knot> = times.into_iter().map(moved).collect();
    tie.knots = knots;
    tie.uncertainty = tie.knots.iter().map(|knot| knot.error).fold(0.0, f64::max);
    tie.shift = shift;
}
