//! Tying clocks to each other, from the reference outwards.
//!
//! The one idea: the clock that shares most messages with those that are tied already is tied
//! next, within the bounds of all of them; a bound is as loose as the clock that it comes from is
//! uncertain. Exchanges come first: messages only narrow what they leave open, and where the two
//! contradict each other, for no real clock is a line, exchanges are right.
//!
//! Without bounds from both sides a clock stays what its calendar says, unless messages contradict
//! that, and its error is unknown.

use super::bounds::{Bounds, Point, Region};

/// Contradictions up to this are taken for bends of clocks, ns.
const MOST_SLACK: f64 = 1e9;

/// What has to be added to a clock: a line over its own time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tie {
    time: f64,
    offset: f64,
    /// Change of the offset, ns per ns.
    pub drift: f64,
    /// Bound on its error within the run, ns; infinite if there is none.
    pub uncertainty: f64,
    /// More bounds could not improve it much.
    pub is_settled: bool,
}

impl Tie {
    /// What has to be added at a time.
    pub(crate) fn at(&self, time: f64) -> f64 {
        self.offset + self.drift * (time - self.time)
    }
}

/// Bounds on one clock's correction.
#[derive(Debug, Default)]
struct Around {
    lower: Vec<Point>,
    upper: Vec<Point>,
}

impl Around {
    /// Adds the bounds of a clock that is tied.
    fn add(&mut self, bounds: &Bounds, clock: usize, other: usize, tie: &Tie) {
        let loose = if tie.uncertainty.is_finite() { tie.uncertainty } else { 0.0 };
        for &(received, later) in bounds.points(other, clock) {
            let sent = received + later;
            self.lower.push((received, sent + tie.at(sent) - received - loose));
        }
        for &(received, later) in bounds.points(clock, other) {
            let sent = received + later;
            self.upper.push((sent, received + tie.at(received) - sent + loose));
        }
    }

    fn is_two_sided(&self) -> bool {
        !self.lower.is_empty() && !self.upper.is_empty()
    }

    fn is_empty(&self) -> bool {
        self.lower.is_empty() && self.upper.is_empty()
    }

    fn region(&self, span: (f64, f64), slack: f64) -> Option<Region> {
        Region::between(span, &self.lower, &self.upper, slack)
    }
}

/// Ties all clocks. `spans` are the times that they were counted, each its own.
pub(crate) fn all(spans: &[(f64, f64)], reference: usize, exchanges: &Bounds, messages: &Bounds) -> Vec<Tie> {
    let unknown = Tie { uncertainty: f64::INFINITY, ..Tie::default() };
    let mut ties = vec![unknown; spans.len()];
    let mut tied: Vec<usize> = Vec::new();
    if let Some(tie) = ties.get_mut(reference) {
        *tie = Tie { is_settled: true, ..Tie::default() };
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
        ties[clock] = one(clock, spans[clock], &tied, &ties, exchanges, messages);
        tied.push(clock);
    }
    ties
}

/// How well a clock is tied to others: messages in the rarer direction, and in both.
fn links(bounds: &Bounds, clock: usize, tied: &[usize]) -> (u64, u64) {
    let to: u64 = tied.iter().map(|&other| bounds.count(other, clock)).sum();
    let from: u64 = tied.iter().map(|&other| bounds.count(clock, other)).sum();
    (to.min(from), to.saturating_add(from))
}

fn one(
    clock: usize,
    span: (f64, f64),
    tied: &[usize],
    ties: &[Tie],
    exchanges: &Bounds,
    messages: &Bounds,
) -> Tie {
    let span = (span.0, span.1.max(span.0 + 1000.0));
    let around = |known: bool, sources: &[&Bounds]| {
        let mut around = Around::default();
        for &other in tied.iter().filter(|&&other| !known || ties[other].uncertainty.is_finite()) {
            for bounds in sources {
                around.add(bounds, clock, other, &ties[other]);
            }
        }
        around
    };
    // Clocks of unknown error are asked only where the others leave a side open.
    for (known, sources) in [(true, &[exchanges, messages][..]), (false, &[exchanges, messages])] {
        let all = around(known, sources);
        if !all.is_two_sided() {
            continue;
        }
        let exchanged = around(known, &sources[..1]);
        let found = all.region(span, 0.0).map(|region| (region, 0.0));
        let found = found.or_else(|| loosened(span, &exchanged)).or_else(|| loosened(span, &all));
        let Some((region, slack)) = found else { continue };
        if let Some(line) = region.middle() {
            let error = if known { line.error + slack } else { f64::INFINITY };
            return tie(span, line.ends, error, known && line.is_drift_known);
        }
    }
    let all = around(false, &[exchanges, messages]);
    let fits = |points: &[Point], sign: f64| points.iter().all(|point| point.1 * sign <= 0.0);
    if all.is_empty() || fits(&all.lower, 1.0) && fits(&all.upper, -1.0) {
        return Tie { uncertainty: f64::INFINITY, ..Tie::default() };
    }
    match all.region(span, 0.0) {
        Some(region) => tie(span, region.edge(!all.lower.is_empty()).ends, f64::INFINITY, false),
        None => Tie { uncertainty: f64::INFINITY, ..Tie::default() },
    }
}

/// The region of bounds from both sides with the least slack that leaves one, and the slack.
fn loosened(span: (f64, f64), around: &Around) -> Option<(Region, f64)> {
    if !around.is_two_sided() {
        return None;
    }
    let mut slack = 0.0;
    while slack < MOST_SLACK {
        if let Some(region) = around.region(span, slack) {
            return Some((region, slack));
        }
        slack = (slack * 1.25).max(100.0);
    }
    None
}

fn tie(span: (f64, f64), ends: (f64, f64), uncertainty: f64, is_settled: bool) -> Tie {
    let drift = (ends.1 - ends.0) / (span.1 - span.0);
    Tie { time: span.0, offset: ends.0, drift, uncertainty, is_settled }
}
