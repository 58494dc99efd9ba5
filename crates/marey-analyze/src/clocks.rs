//! How far two clocks may be apart.
//!
//! The one idea: a difference of times of two locations is wrong by no more than both clocks are together, and not at all
//! if it is one clock.
//!
//! What is deliberately absent: how that is known (`docs/clocks.md`).

use marey_model::{LocationId, Nanos};

use crate::paths::float;
use crate::trace::{ProcessClock, Trace};

/// The clocks of a run.
pub(crate) struct Clocks<'t> {
    run: &'t dyn Trace,
    /// The clock of each process, if anything is known of it.
    of_process: Vec<Option<&'t ProcessClock>>,
}

impl<'t> Clocks<'t> {
    pub(crate) fn new(run: &'t dyn Trace) -> Self {
        let mut of_process = vec![None; run.processes().len()];
        for clock in run.clocks() {
            if let Some(of_process) = of_process.get_mut(clock.process.idx()) {
                *of_process = Some(clock);
            }
        }
        Self { run, of_process }
    }

    /// By how much the times of two locations may be wrong against each other at an instant, ns; infinite if nobody knows.
    pub(crate) fn bar(&self, a: LocationId, b: LocationId, at: Nanos) -> f64 {
        let process = |id: LocationId| self.run.locations().get(id.idx()).map(|location| location.process);
        if self.run.clocks().is_empty() || process(a) == process(b) {
            return 0.0;
        }
        let clock =
            |id| process(id).and_then(|process| self.of_process.get(process.idx()).copied().flatten());
        let (Some(a), Some(b)) = (clock(a), clock(b)) else { return f64::INFINITY };
        let node = |clock: &ProcessClock| {
            self.run.processes().get(clock.process.idx()).map(|process| process.host.as_str())
        };
        let is_one = match (a.clock, b.clock) {
            (Some(a), Some(b)) => a == b,
            _ => node(a) == node(b),
        };
        if is_one { 0.0 } else { bound(a, at) + bound(b, at) }
    }
}

/// By how much a clock may be wrong at an instant, ns.
fn bound(clock: &ProcessClock, at: Nanos) -> f64 {
    let knots = &clock.knots;
    let behind = knots.partition_point(|knot| knot.0 <= at);
    let known = |place: Option<usize>| place.and_then(|place| knots.get(place));
    let value = |bound: Option<Nanos>| bound.map_or(f64::INFINITY, float);
    match (known(behind.checked_sub(1)), known(Some(behind))) {
        (Some(&(from, first)), Some(&(to, second))) => {
            let (first, second) = (value(first), value(second));
            if first.is_infinite() || second.is_infinite() {
                return f64::INFINITY;
            }
            first + (second - first) * float(at - from) / float(to - from)
        }
        (Some(knot), None) | (None, Some(knot)) => value(knot.1),
        (None, None) => f64::INFINITY,
    }
}
