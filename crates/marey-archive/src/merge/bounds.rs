//! What messages say about two clocks: nothing arrives before it was sent.
//!
//! The one idea: each message bounds from one side, at one time, what has to be added to a clock.
//! That correction is a line, and all lines within the bounds are a convex polygon in the plane of
//! its values at both ends of the run. The middle of the polygon's bounding box lies within it, so
//! it contradicts no bound; half the box's sides is the error that it can have. Of the bounds of a
//! pair only their hull matters.

use std::collections::BTreeMap;

use super::input::Input;
use super::messages::{Join, Ops};
use super::shards::Shards;
use super::stream::Decoding;
use crate::Error;
use crate::schema::NONE;

/// Clocks that differ more in speed are not believed: the kernel steers each by 500 ppm at most.
pub(crate) const MOST_DRIFT: f64 = 1e-3;
/// Largest offset between two clocks that is looked at, from where bounds say it lies, ns.
const FARTHEST: f64 = 1e13;
/// Times are rounded to ns at both ends.
const ROUNDING: f64 = 1.0;
/// Points that are kept before they are reduced to their hull.
const PILE: usize = 4096;

/// A time and a bound on what has to be added to a clock then, ns.
pub(crate) type Point = (f64, f64);

/// Messages between one clock and another.
#[derive(Debug, Default)]
struct Hull {
    /// When each arrived, and by how much it had then been sent later, each on its own clock.
    points: Vec<Point>,
    hulled: usize,
    count: u64,
}

/// All bounds, by (sending clock, receiving clock).
#[derive(Debug, Default)]
pub(crate) struct Bounds(BTreeMap<(usize, usize), Hull>);

impl Bounds {
    /// Something left clock `from` at `sent` and was at clock `to` by `received`.
    pub(crate) fn add(&mut self, from: usize, to: usize, sent: f64, received: f64) {
        let hull = self.0.entry((from, to)).or_default();
        hull.points.push((received, sent - received));
        hull.count += 1;
        if hull.points.len() >= hull.hulled * 2 + PILE {
            hull.reduce();
        }
    }

    /// Number of messages.
    pub(crate) fn count(&self, from: usize, to: usize) -> u64 {
        self.0.get(&(from, to)).map_or(0, |hull| hull.count)
    }

    /// The points of a pair: time of arrival and how much later it was sent.
    pub(crate) fn points(&self, from: usize, to: usize) -> &[Point] {
        self.0.get(&(from, to)).map_or(&[], |hull| &hull.points)
    }
}

impl Hull {
    /// Keeps the points that no line above all others passes over.
    fn reduce(&mut self) {
        self.points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut hull: Vec<Point> = Vec::new();
        for &point in &self.points {
            while let [.., before, last] = hull[..]
                && (last.0 - before.0) * (point.1 - before.1) >= (last.1 - before.1) * (point.0 - before.0)
            {
                hull.pop();
            }
            hull.push(point);
        }
        self.hulled = hull.len();
        self.points = hull;
    }
}

/// The lines that are possible, as their values at both ends of the run.
#[derive(Debug)]
pub(crate) struct Region {
    span: (f64, f64),
    /// Added to both coordinates of `corners`.
    shift: f64,
    corners: Vec<Point>,
}

/// A line and how far it can be off within the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// Its values at the beginning and the end.
    pub ends: (f64, f64),
    pub error: f64,
    /// Its slope is bounded by messages, not only by what is believed.
    pub is_drift_known: bool,
}

impl Region {
    /// Lines over `span` that are above `lower` and below `upper`, each loosened by `slack`. `None`
    /// if there is no such line.
    pub(crate) fn between(span: (f64, f64), lower: &[Point], upper: &[Point], slack: f64) -> Option<Self> {
        let most = lower.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
        let least = upper.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
        let shift = match (most.is_finite(), least.is_finite()) {
            (true, true) => f64::midpoint(most, least),
            (true, false) => most,
            (false, true) => least,
            (false, false) => 0.0,
        };
        let drift = MOST_DRIFT * (span.1 - span.0);
        let far = FARTHEST;
        let corners =
            vec![(-far, -far - drift), (far, far - drift), (far, far + drift), (-far, -far + drift)];
        let mut region = Self { span, shift, corners };
        for (points, sign) in [(lower, 1.0), (upper, -1.0)] {
            for &(time, value) in points {
                let at = (time - span.0) / (span.1 - span.0);
                let bound = sign * (value - shift) - slack - ROUNDING;
                region.cut((sign * (1.0 - at), sign * at), bound);
            }
        }
        (!region.corners.is_empty()).then_some(region)
    }

    /// Keeps what is at least `bound` in direction `normal`.
    fn cut(&mut self, normal: Point, bound: f64) {
        let above = |corner: &Point| normal.0 * corner.0 + normal.1 * corner.1 - bound;
        let mut kept = Vec::with_capacity(self.corners.len() + 1);
        for (idx, corner) in self.corners.iter().enumerate() {
            let next = &self.corners[(idx + 1) % self.corners.len()];
            let (here, there) = (above(corner), above(next));
            if here >= 0.0 {
                kept.push(*corner);
            }
            if (here >= 0.0) != (there >= 0.0) {
                let share = here / (here - there);
                let between = |a: f64, b: f64| a + (b - a) * share;
                kept.push((between(corner.0, next.0), between(corner.1, next.1)));
            }
        }
        self.corners = kept;
    }

    /// The least and greatest of a coordinate.
    fn range(&self, of: impl Fn(&Point) -> f64) -> (f64, f64) {
        let all = self.corners.iter().map(of);
        all.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
    }

    /// The line that can be off least; `None` if the bounds leave one side open.
    pub(crate) fn middle(&self) -> Option<Line> {
        let (begin, end) = (self.range(|corner| corner.0), self.range(|corner| corner.1));
        let farthest = begin.0.abs().max(begin.1.abs()).max(end.0.abs()).max(end.1.abs());
        if farthest > FARTHEST / 2.0 {
            return None;
        }
        let rise = self.range(|corner| corner.1 - corner.0);
        let limit = MOST_DRIFT * (self.span.1 - self.span.0) * 0.999;
        let middle = |range: (f64, f64)| self.shift + f64::midpoint(range.0, range.1);
        Some(Line {
            ends: (middle(begin), middle(end)),
            error: (begin.1 - begin.0).max(end.1 - end.0) / 2.0,
            is_drift_known: rise.0 > -limit && rise.1 < limit,
        })
    }

    /// Where bounds leave one side open: the line nearest to them, as if the quickest messages had
    /// taken no time. Its error is not known.
    pub(crate) fn edge(&self, is_above: bool) -> Line {
        let sign = if is_above { 1.0 } else { -1.0 };
        let height = |corner: &Point| (corner.0 + corner.1) * sign;
        let nearest = self.corners.iter().min_by(|a, b| height(a).total_cmp(&height(b)));
        let &(begin, end) = nearest.expect("a region has corners");
        let limit = MOST_DRIFT * (self.span.1 - self.span.0) * 0.999;
        // A slope that nothing but our own limit keeps from growing says nothing.
        let ends = if (end - begin).abs() < limit { (begin, end) } else { (0.0, 0.0) };
        // What bounds were loosened by, and the rounding of the corrected clock.
        let apart = self.shift + sign * 2.0 * ROUNDING;
        let ends = (ends.0 + apart, ends.1 + apart);
        Line { ends, error: f64::INFINITY, is_drift_known: false }
    }
}

/// Matches all messages of the run on clocks that are not tied yet, for their bounds. Matching
/// depends on the order within processes only, so wrong clocks do no harm. `clock` says which
/// clock a process counts, `axis` turns times of `input` into those of the bounds.
pub(crate) fn find(
    input: &Input,
    clock: impl Fn(u32) -> usize,
    axis: impl Fn(i64) -> f64,
) -> Result<Bounds, Error> {
    let mut decoding = Decoding::new(input);
    let mut joins: Vec<Join> = input.processes.iter().map(|_| Join::default()).collect();
    let mut shards = Shards::new(input.counting());
    let mut bounds = Bounds::default();
    let clock = |location: u32| clock(input.globals.locations[location as usize].process);
    for number in 0..=input.plan.boundaries.len() as u32 {
        let slab = decoding.slab(input, number, &())?;
        let mut ops: Vec<Vec<Ops<'_>>> = joins.iter().map(|_| Vec::new()).collect();
        for own in &slab.locations {
            let (location, happened, paths) = (own.location, &own.happened, &own.paths);
            ops[own.process as usize].push(Ops { location, ops: &happened.ops, paths });
        }
        for ((join, context), ops) in joins.iter_mut().zip(&input.contexts).zip(ops) {
            join.slab(context, &ops);
            if slab.is_last {
                join.finish(context);
            }
            join.collectives.clear();
        }
        shards.advance(&mut joins, &slab.horizons, slab.is_last);
        for row in shards.rows() {
            if row.send_location == NONE || row.recv_location == NONE || row.recv_time < 0 {
                continue;
            }
            let (from, to) = (clock(row.send_location), clock(row.recv_location));
            if from != to {
                bounds.add(from, to, axis(row.send_time), axis(row.recv_time));
            }
        }
        decoding.reuse(slab);
    }
    Ok(bounds)
}
