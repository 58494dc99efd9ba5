//! Tying clocks to each other, from the reference outwards.
//!
//! The one idea: the clock that shares most exchanges and messages with those that are tied already is
//! tied next, within the bounds of all of them; a bound is as loose as the clock that it comes from is
//! uncertain then. What bounds leave open is the stated bar: half of it to either side.
//!
//! Without bounds from both sides a clock stays what its calendar says, unless messages contradict
//! that, and its error is unknown. How bounds become lines is told in `lines`, what is between two
//! lines in `bend`, how messages are kept from running backwards within the bars in `tighten`.

use super::bend::{self, Knot, contradiction};
use super::bounds::Bounds;
use super::lines::{self, Stretches};
use super::region::{Bound, Line, Region};
use super::tighten::{self, Shift};

/// What has to be added to a clock over its own time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tie {
    /// In the order of time; between them it is a line. Empty = nothing is added.
    pub knots: Vec<Knot>,
    /// Change of what is added while the clock is not set, ns per ns.
    pub drift: f64,
    /// Bound on its error within the run, ns; infinite if there is none.
    pub uncertainty: f64,
    /// Part of what is added, for the sake of messages.
    pub shift: Shift,
}

impl Tie {
    /// Nothing is added, and nothing is known.
    fn unknown() -> Self {
        Self { uncertainty: f64::INFINITY, ..Self::default() }
    }

    /// The knots before and behind a time; those at the end for times beyond it.
    fn around(&self, time: f64) -> Option<(Knot, Knot)> {
        let place = self.knots.partition_point(|knot| knot.time <= time);
        let behind = place.clamp(1, self.knots.len().max(2) - 1);
        Some((*self.knots.get(behind - 1)?, *self.knots.get(behind)?))
    }

    /// What has to be added at a time.
    pub(crate) fn at(&self, time: f64) -> f64 {
        let Some((from, to)) = self.around(time) else { return 0.0 };
        from.offset + (to.offset - from.offset) / (to.time - from.time) * (time - from.time)
    }

    /// How wrong that can be.
    pub(crate) fn error(&self, time: f64) -> f64 {
        let Some((from, to)) = self.around(time) else { return self.uncertainty };
        if from.error.is_infinite() || to.error.is_infinite() {
            return f64::INFINITY;
        }
        let share = ((time - from.time) / (to.time - from.time)).clamp(0.0, 1.0);
        from.error + (to.error - from.error) * share
    }

    /// Whether all of it is one line.
    pub(crate) fn is_line(&self) -> bool {
        let [first, .., last] = &self.knots[..] else { return true };
        let slope = (last.offset - first.offset) / (last.time - first.time);
        self.knots.iter().all(|knot| {
            let line = first.offset + slope * (knot.time - first.time);
            (knot.offset - line).abs() < 0.01
        })
    }

    fn line(line: &Line) -> Self {
        let knot = |time, offset| Knot { time, offset, error: f64::INFINITY };
        let knots = vec![knot(line.span.0, line.ends.0), knot(line.span.1, line.ends.1)];
        Self { knots, drift: line.slope(), ..Self::unknown() }
    }
}

/// How often clocks are fitted again to those that were tied after them, too.
const ROUNDS: usize = 3;

/// Ties all clocks. `spans` are the times that they were counted, each its own.
pub(crate) fn all(spans: &[(f64, f64)], reference: usize, exchanges: &Bounds, messages: &Bounds) -> Vec<Tie> {
    let mut ties = vec![Tie::unknown(); spans.len()];
    let mut tied: Vec<usize> = Vec::new();
    if let Some(tie) = ties.get_mut(reference) {
        *tie = Tie::default();
        tied.push(reference);
    }
    loop {
        let open = (0..spans.len()).filter(|clock| !tied.contains(clock));
        let weight = |clock: usize| (links(exchanges, clock, &tied), links(messages, clock, &tied));
        let next = open.map(|clock| (weight(clock), std::cmp::Reverse(clock))).max();
        let Some((weight, std::cmp::Reverse(clock))) = next else { break };
        if weight == Default::default() {
            break;
        }
        let around = Around { clock, others: &tied, ties: &ties, sources: [exchanges, messages] };
        ties[clock] = one(spans[clock], &around);
        tied.push(clock);
    }
    // What is true of a clock by the others stays true, so all of them may be asked as often as it helps.
    for _ in 0..if tied.len() > 2 { ROUNDS } else { 0 } {
        let mut is_better = false;
        for &clock in &tied[1..] {
            let others: Vec<usize> = tied.iter().copied().filter(|&other| other != clock).collect();
            let around = Around { clock, others: &others, ties: &ties, sources: [exchanges, messages] };
            let tie = one(spans[clock], &around);
            if tie.uncertainty < ties[clock].uncertainty {
                is_better |= tie.uncertainty < ties[clock].uncertainty * 0.99;
                ties[clock] = tie;
            }
        }
        if !is_better {
            break;
        }
    }
    for (place, &clock) in tied.iter().enumerate().skip(1) {
        if ties[clock].uncertainty.is_finite() {
            let around =
                Around { clock, others: &tied[..place], ties: &ties, sources: [exchanges, messages] };
            let bounds = around.bounds(true, true);
            tighten::tighten(&mut ties[clock], &bounds);
        }
    }
    ties
}

/// How well a clock is tied to others: messages in the rarer direction, and in both.
fn links(bounds: &Bounds, clock: usize, tied: &[usize]) -> (u64, u64) {
    let to: u64 = tied.iter().map(|&other| bounds.count(other, clock)).sum();
    let from: u64 = tied.iter().map(|&other| bounds.count(clock, other)).sum();
    (to.min(from), to.saturating_add(from))
}

/// Bounds on one clock's correction from another that is tied, as loose as `loose` says.
fn add(
    found: &mut Vec<Bound>,
    bounds: &Bounds,
    clock: usize,
    other: usize,
    tie: &Tie,
    loose: impl Fn(f64) -> f64,
) {
    for &(received, later) in bounds.points(other, clock) {
        let sent = received + later;
        let stamp = sent + tie.at(sent);
        found.push(Bound { time: received, value: stamp - received - loose(sent), stamp, is_lower: true });
    }
    for &(received, later) in bounds.points(clock, other) {
        let sent = received + later;
        let stamp = received + tie.at(received);
        found.push(Bound { time: sent, value: stamp - sent + loose(received), stamp, is_lower: false });
    }
}

/// What others say of a clock.
struct Around<'a> {
    clock: usize,
    others: &'a [usize],
    ties: &'a [Tie],
    sources: [&'a Bounds; 2],
}

impl Around<'_> {
    /// Bounds from all others, or those of known error; as if these were right, or as loose as they are not.
    fn bounds(&self, known: bool, is_tight: bool) -> Vec<Bound> {
        let mut found = Vec::new();
        for &other in self.others {
            let tie = &self.ties[other];
            let is_known = tie.uncertainty.is_finite();
            let loose = |time| if is_tight || !is_known { 0.0 } else { tie.error(time) };
            for bounds in self.sources.iter().filter(|_| is_known || !known) {
                add(&mut found, bounds, self.clock, other, tie, loose);
            }
        }
        found
    }
}

fn one(span: (f64, f64), around: &Around<'_>) -> Tie {
    let span = lasting(span, &around.bounds(false, true));
    // Clocks of unknown error are asked only where the others leave a side open.
    for known in [true, false] {
        let Some(found) = lines::find(span, &mut around.bounds(known, false)) else { continue };
        let mut tie = drawn(&found);
        if !known {
            tie.knots.iter_mut().for_each(|knot| knot.error = f64::INFINITY);
            tie.uncertainty = f64::INFINITY;
        }
        return tie;
    }
    let all = around.bounds(false, false);
    let is_lower = all.iter().any(|bound| bound.is_lower);
    if all.iter().all(|bound| contradiction(bound, 0.0) == 0.0) {
        return Tie::unknown();
    }
    Region::within(span, &all, 0.0).map_or_else(Tie::unknown, |region| Tie::line(&region.edge(is_lower)))
}

/// The time that a clock was counted, as far as is known, and never none.
fn lasting(span: (f64, f64), bounds: &[Bound]) -> (f64, f64) {
    let times = || bounds.iter().map(|bound| bound.time);
    let from = times().fold(span.0, f64::min);
    (from, times().fold(span.1, f64::max).max(from + 1000.0))
}

/// Pieces in which a line is drawn, for its bar is least in the middle.
const PIECES: u32 = 4;

/// The correction along its lines and what is between them.
fn drawn(found: &Stretches) -> Tie {
    let mut tie = Tie::default();
    let mut lasted = 0.0;
    for (place, stretch) in found.all.iter().enumerate() {
        let Some(line) = stretch.region.middle() else { continue };
        let (from, to) = stretch.span;
        let pieces = if to - from > 1.0 { PIECES } else { 0 };
        for piece in 0..=pieces {
            let time = from + (to - from) * f64::from(piece) / f64::from(PIECES);
            let (low, high) = stretch.region.values(time);
            let offset = line.at(time);
            push(&mut tie.knots, Knot { time, offset, error: (high - offset).max(offset - low) });
        }
        let length = (to - from).max(1.0);
        tie.drift += line.slope() * length;
        lasted += length;
        if let Some(next) = found.all.get(place + 1) {
            for knot in bend::between(stretch, next) {
                push(&mut tie.knots, knot);
            }
        }
    }
    tie.drift /= lasted;
    // Lines that are just possible would have next to no bar: but what the quickest messages leave open is
    // open, since the clock need not be a line to the last ns.
    for knot in &mut tie.knots {
        knot.error = knot.error.max(found.half_round) + found.slack;
    }
    for pair in found.all.windows(2) {
        if let Some((twice, by)) = bend::counted_twice(&pair[0], &pair[1]) {
            doubt(&mut tie, twice, by);
        }
    }
    for bound in &found.contradicting {
        if contradiction(bound, tie.at(bound.time)) > tie.error(bound.time) {
            let place = tie.knots.partition_point(|knot| knot.time <= bound.time);
            let last = tie.knots.len() - 1;
            tie.knots[place.saturating_sub(1)].error = f64::INFINITY;
            tie.knots[place.min(last)].error = f64::INFINITY;
        }
    }
    tie.uncertainty = tie.knots.iter().map(|knot| knot.error).fold(0.0, f64::max);
    tie
}

/// Says that all of a range of readings can be wrong by so much more.
fn doubt(tie: &mut Tie, (from, to): (f64, f64), by: f64) {
    let new = [from - 1.0, from, to, to + 1.0].map(|time| Knot {
        time,
        offset: tie.at(time),
        error: tie.error(time),
    });
    let first = tie.knots[0].time;
    for knot in new.into_iter().filter(|knot| knot.time > first) {
        let place = tie.knots.partition_point(|other| other.time < knot.time);
        if tie.knots.get(place).is_none_or(|other| other.time > knot.time) {
            tie.knots.insert(place, knot);
        }
    }
    for knot in tie.knots.iter_mut().filter(|knot| from <= knot.time && knot.time <= to) {
        // Between the two lines the middle is taken, which is no farther from either.
        knot.error += if knot.error < by / 2.0 { by } else { 0.0 };
    }
}

/// Adds a knot behind all others, so that the clock goes on.
fn push(knots: &mut Vec<Knot>, mut knot: Knot) {
    // The end of a line from which a step is no distance away.
    while knots.last().is_some_and(|last| last.time >= knot.time) {
        knots.pop();
    }
    if let Some(last) = knots.last() {
        let back = (last.time + last.offset) - (knot.time + knot.offset);
        if back > 0.0 {
            knot.offset += back;
            knot.error += back;
        }
    }
    knots.push(knot);
}
