//! What messages and barriers say about two clocks: nothing arrives before it was sent.
//!
//! The one idea: each message bounds from one side, at one time, what has to be added to a clock. That
//! correction is a line for a while, so of the bounds of a short time only those matter that no line
//! above all others passes over. So much is kept of each of some hundred times, however long the run.
//!
//! A collective that nobody leaves before all have entered it is a message from each to each. What bounds
//! mean for clocks is not decided here.

use std::collections::BTreeMap;

use super::counting::Counting;
use super::gatherings::Gatherings;
use super::input::Input;
use super::messages::{Join, Ops};
use super::shards::Shards;
use super::stream::Decoding;
use crate::Error;
use crate::schema::NONE;

/// Points that are kept before they are reduced to their hulls.
const PILE: usize = 4096;
/// Times of which each keeps its hull: a clock that is set is found to so much of the run.
const TIMES: f64 = 512.0;

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
    /// Keeps of each time the points that no line above all others passes over.
    fn reduce(&mut self) {
        self.points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (Some(first), Some(last)) = (self.points.first(), self.points.last()) else { return };
        let (begin, length) = (first.0, ((last.0 - first.0) / TIMES).max(1.0));
        let mut kept: Vec<Point> = Vec::new();
        for own in
            self.points.chunk_by(|a, b| ((a.0 - begin) / length).floor() == ((b.0 - begin) / length).floor())
        {
            let start = kept.len();
            for &point in own {
                while let [.., before, last] = kept[start..]
                    && (last.0 - before.0) * (point.1 - before.1)
                        >= (last.1 - before.1) * (point.0 - before.0)
                {
                    kept.pop();
                }
                kept.push(point);
            }
        }
        self.hulled = kept.len();
        self.points = kept;
    }
}

/// Matches all messages and barriers of the run on clocks that are not tied yet, for their bounds. Matching
/// depends on the order within processes only, so wrong clocks do no harm. `clock` says which
/// clock a process counts, `axis` turns times of `input` into those of the bounds.
pub(crate) fn find(
    input: &Input,
    clock: impl Fn(u32) -> usize,
    axis: impl Fn(i64) -> f64,
) -> Result<Bounds, Error> {
    let mut decoding = Decoding::new(input);
    let mut joins: Vec<Join> = input.processes.iter().map(|_| Join::default()).collect();
    let mut shards = Shards::new(Counting::default(), Vec::new());
    let mut bounds = Bounds::default();
    let clock = |location: u32| clock(input.globals.locations[location as usize].process);
    let mut gatherings = Gatherings::new(input);
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
            for row in join.collectives.drain(..).filter(|row| row.leave >= 0) {
                let times = (axis(row.enter), axis(row.leave));
                gatherings.take(&row, clock(row.location), times, &decoding.paths, &mut bounds);
            }
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
    gatherings.finish(&mut bounds);
    Ok(bounds)
}
