//! From one line of a clock's correction to the next.
//!
//! The one idea: in between, the truth is the one line up to some instant and the other from there on.
//! If the lines meet, that is where the clock changed its speed, and which of the two holds is known
//! but for how well the lines are. If they do not, the clock was put forward or back, and only what
//! happened before and after says when; but nothing can have been before the last that is certain of the
//! one line, nor after the first of the other. The middle of what is possible is taken, half of it is
//! the bar.

use super::lines::Stretch;
use super::region::{Bound, MOST_DRIFT};

/// What has to be added at a time, and how wrong that can be; all ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Knot {
    pub time: f64,
    pub offset: f64,
    pub error: f64,
}

/// Pieces in which a bend is drawn.
const PIECES: u32 = 8;
/// Times closer than this are one, ns.
const NEAR: f64 = 1.0;

type Range = (f64, f64);

impl Knot {
    fn of(time: f64, range: Range) -> Self {
        Self { time, offset: f64::midpoint(range.0, range.1), error: (range.1 - range.0).max(0.0) / 2.0 }
    }
}

/// The middle of a line's values.
fn middle(stretch: &Stretch, time: f64) -> f64 {
    stretch.region.middle().map_or(0.0, |line| line.at(time))
}

/// Where a clock was put back it counts the same readings twice, and other threads than those whose messages
/// say so may have taken some before and some after: the readings of which that cannot be told, and by
/// how much the clock was put back. `None` if it was not.
pub(crate) fn counted_twice(before: &Stretch, after: &Stretch) -> Option<(Range, f64)> {
    let (from, to) = (before.span.1, after.span.0);
    let by = middle(after, to) - middle(before, from);
    if !is_step(before, after) || by <= 0.0 {
        return None;
    }
    // The clock may have gone on after the last message of before, until the first that came after.
    let latest = before.next_sent.map_or(0.0, |sent| sent - from - middle(before, from));
    Some(((from - by, to.max(from + latest)), by))
}

/// Knots strictly between the end of a line and the beginning of the next.
pub(crate) fn between(before: &Stretch, after: &Stretch) -> Vec<Knot> {
    if is_step(before, after) {
        return step(before, after);
    }
    samples(before, after).skip(1).take(PIECES as usize - 1).map(|time| bend(before, after, time)).collect()
}

fn samples(before: &Stretch, after: &Stretch) -> impl Iterator<Item = f64> {
    let (from, to) = (before.span.1, after.span.0);
    (0..=PIECES).map(move |piece| from + (to - from) * f64::from(piece) / f64::from(PIECES))
}

/// Whether the lines meet nowhere in between.
fn is_step(before: &Stretch, after: &Stretch) -> bool {
    let apart = |time| {
        let ((low, high), (other_low, other_high)) = (before.region.values(time), after.region.values(time));
        if other_low > high {
            1
        } else if low > other_high {
            -1
        } else {
            0
        }
    };
    let first = apart(before.span.1);
    first != 0 && samples(before, after).all(|time| apart(time) == first)
}

/// A time at which the clock changes its speed, or has done so, or will.
fn bend(before: &Stretch, after: &Stretch, time: f64) -> Knot {
    let (from, to) = (before.span.1, after.span.0);
    let (one, other) = (before.region.values(time), after.region.values(time));
    let gap = |time| middle(after, time) - middle(before, time);
    let min = (one.0.min(other.0), one.1.min(other.1));
    let max = (one.0.max(other.0), one.1.max(other.1));
    let range = match (gap(from), gap(to)) {
        (early, late) if early <= 0.0 && late >= 0.0 => max,
        (early, late) if early >= 0.0 && late <= 0.0 => min,
        _ => (min.0, max.1),
    };
    let mut tight = range;
    for bound in &before.behind {
        let loose = MOST_DRIFT * (bound.time - time).abs();
        if bound.is_lower {
            tight.0 = tight.0.max(bound.value - loose);
        } else {
            tight.1 = tight.1.min(bound.value + loose);
        }
    }
    Knot::of(time, if tight.0 <= tight.1 { tight } else { range })
}

/// The clock was set somewhere between.
fn step(before: &Stretch, after: &Stretch) -> Vec<Knot> {
    let (from, to) = (before.span.1, after.span.0);
    let error = |stretch: &Stretch, time| {
        let (low, high) = stretch.region.values(time);
        (high - low) / 2.0
    };
    let known = |time| error(before, time).max(error(after, time));
    let at = |time| (middle(before, time), middle(after, time));
    if to - from < 4.0 * NEAR {
        let (one, other) = at(from);
        let both = Knot {
            error: (one - other).abs() / 2.0 + known(from),
            ..Knot::of(from, (one.min(other), one.max(other)))
        };
        let left = Knot { time: from - NEAR, offset: one, error: error(before, from) };
        let right = Knot { time: to + NEAR, offset: other, error: error(after, to) };
        return vec![left, both, right];
    }
    // On the common axis nothing is earlier than `first` nor later than `last`.
    let (first, last) = (from + at(from).0, to + at(to).1);
    let one = |time: f64| time + at(time).0;
    let other = |time: f64| time + at(time).1;
    // Where one line leaves what is possible, and where the other comes into it.
    let leaves = solve(from, to, |time| one(time) - last);
    let comes = solve(from, to, |time| other(time) - first);
    let mut times = vec![from + NEAR, to - NEAR];
    times.extend([leaves, comes].into_iter().flatten().filter(|&t| from + NEAR < t && t < to - NEAR));
    times.sort_by(f64::total_cmp);
    times.dedup();
    let knot = |time: f64| {
        let low = one(time).min(other(time)).max(first);
        let high = one(time).max(other(time)).min(last);
        let mut knot = Knot::of(time, (low.min(high) - time, high.max(low) - time));
        knot.error += known(time);
        knot
    };
    times.into_iter().map(knot).collect()
}

/// Where a line is 0.
fn solve(from: f64, to: f64, line: impl Fn(f64) -> f64) -> Option<f64> {
    let (early, late) = (line(from), line(to));
    (early * late < 0.0).then(|| from + (to - from) * early / (early - late))
}

/// By how much a value contradicts a bound, ns; 0 if it does not.
pub(crate) fn contradiction(bound: &Bound, value: f64) -> f64 {
    if bound.is_lower { bound.value - value } else { value - bound.value }.max(0.0)
}
