//! Gates and arrivals in the order of time, as many at a time as memory should hold.
//!
//! The one idea: a window is a span of time between two slabs. Whatever has something in it is looked up again when it comes,
//! messages in their slabs alone, and what began before and ends later is known by what it is: whoever arrives and waits at
//! the same instants may stand for one another.

use marey_model::Nanos;
use rustc_hash::FxHashMap;

use super::dependencies::{self, Dependency};
use super::graph::Graph;
use super::variants::Moved;
use crate::happenings::{Happenings, Span, Unread};
use crate::trace::Trace;

/// What happens at an instant of a location. The order is that within an instant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Role {
    /// A gate at which it waited.
    Waited,
    Arrives,
    /// A gate at which it did not wait.
    Passes,
}

/// A gate or an arrival.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Point {
    pub(super) at: Nanos,
    pub(super) role: Role,
    pub(super) location: u32,
    /// Its place among the operations of the window.
    pub(super) operation: u32,
}

/// A dependency of the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    /// What it is known by in windows before and behind this; 0 = it has nothing there.
    pub(super) key: u64,
    pub(super) moved: Moved,
    /// Arrivals that are still to come.
    pub(super) coming: u32,
    /// Gates that are still to come, also behind the window.
    pub(super) gates: u32,
    /// Where what has arrived is kept.
    pub(super) slot: Option<u32>,
}

/// A span of time.
#[derive(Debug, Default)]
pub(super) struct Window {
    pub(super) points: Vec<Point>,
    pub(super) operations: Vec<Operation>,
}

/// Where what has arrived is kept of operations that have gates behind a window.
#[derive(Debug, Default)]
pub(super) struct Open(FxHashMap<u64, Vec<u32>>);

impl Open {
    pub(super) fn keep(&mut self, key: u64, slot: u32) {
        self.0.entry(key).or_default().push(slot);
    }

    /// That of one of those with this key, which are all alike.
    fn take(&mut self, key: u64) -> Option<u32> {
        let slots = self.0.get_mut(&key)?;
        let slot = slots.pop();
        if slots.is_empty() {
            self.0.remove(&key);
        }
        slot
    }
}

/// All windows of a run, or of a span of it.
#[derive(Debug)]
pub(super) struct Windows {
    /// Where they end.
    ends: Vec<Nanos>,
    /// How many points the largest has.
    most: usize,
    next: usize,
    /// The first, if it is the only one.
    first: Option<Window>,
    n_locations: usize,
    span: Span,
}

impl Windows {
    /// One pass over what can depend on each other.
    pub(super) fn new(
        run: &impl Trace,
        events: &impl Happenings,
        graph: &Graph,
        most: usize,
        span: Span,
    ) -> Result<Self, Unread> {
        let n_locations = run.locations().len();
        let slabs = events.slabs();
        let mut numbers = vec![0_usize; slabs.len().max(1)];
        let mut total = 0;
        let mut window = Window::default();
        let all = (span.from, span.to);
        dependencies::each(run, events, graph, (span, span), &mut |dependency| {
            if !has_gate(&dependency, span) {
                return;
            }
            let times = dependency.arrivals.iter().map(|arrival| arrival.1.max(span.from));
            let times = times.chain(dependency.gates.iter().map(|gate| gate.at));
            for at in times.filter(|at| span.from <= *at && *at < span.to) {
                let slab = slabs.partition_point(|begin| *begin <= at).max(1) - 1;
                numbers[slab] += 1;
                total += 1;
            }
            if total <= most {
                window.add(&dependency, span.from, all, n_locations, |_| None);
            } else if !window.points.is_empty() {
                // It is not the only one.
                window = Window::default();
            }
        })?;
        if total <= most {
            window.points.sort_unstable();
            return Ok(Self { ends: vec![all.1], most, next: 0, first: Some(window), n_locations, span });
        }
        let mut ends = Vec::new();
        let (mut inside, mut largest) = (0, 0);
        for (slab, number) in numbers.into_iter().enumerate() {
            if inside > 0 && inside + number > most {
                ends.push(slabs[slab]);
                inside = 0;
            }
            inside += number;
            largest = largest.max(inside);
        }
        ends.push(all.1);
        Ok(Self { ends, most: largest, next: 0, first: None, n_locations, span })
    }

    /// Where the next one ends; `None` behind the last.
    pub(super) fn next_end(&self) -> Option<Nanos> {
        self.ends.get(self.next).copied()
    }

    /// The next one. What is still open of those before is taken from `open`.
    pub(super) fn load(
        &mut self,
        run: &impl Trace,
        events: &impl Happenings,
        graph: &Graph,
        open: &mut Open,
    ) -> Result<Window, Unread> {
        let from = self.next.checked_sub(1).map_or(self.span.from, |before| self.ends[before]);
        let to = self.ends.get(self.next).copied().unwrap_or(self.span.to);
        self.next += 1;
        if let Some(only) = self.first.take() {
            return Ok(only);
        }
        let (points, operations) = (Vec::with_capacity(self.most), Vec::with_capacity(self.most / 2));
        let mut window = Window { points, operations };
        // Who arrived before the span is there when it begins, wherever the call lies that waits for that.
        let inside = if self.next == 1 { self.span } else { Span { from, to } };
        dependencies::each(run, events, graph, (self.span, inside), &mut |dependency| {
            if has_gate(&dependency, self.span) {
                let begin = self.span.from;
                window.add(&dependency, begin, (from, to), self.n_locations, |key| open.take(key));
            }
        })?;
        window.points.sort_unstable();
        Ok(window)
    }
}

/// Whether somebody depends in a span on something.
fn has_gate(dependency: &Dependency<'_>, span: Span) -> bool {
    dependency.gates.iter().any(|gate| span.from <= gate.at && gate.at < span.to)
}

impl Window {
    /// Takes what of a dependency lies from `from` on and before `to`. Who arrived before `begin` is there then.
    fn add(
        &mut self,
        dependency: &Dependency<'_>,
        begin: Nanos,
        (from, to): (Nanos, Nanos),
        n_locations: usize,
        slot: impl FnOnce(u64) -> Option<u32>,
    ) {
        let is_inside = |at: Nanos| from <= at && at < to;
        let arrivals = || dependency.arrivals.iter().map(|(id, at)| (*id, (*at).max(begin)));
        let some = arrivals().any(|arrival| is_inside(arrival.1))
            || dependency.gates.iter().any(|gate| is_inside(gate.at));
        let ids = dependency.arrivals.iter().map(|arrival| arrival.0);
        let mut ids = ids.chain(dependency.gates.iter().map(|gate| gate.location));
        // Ids that lead nowhere are skipped.
        if !some || ids.any(|id| n_locations <= id.idx()) {
            return;
        }
        let Ok(operation) = u32::try_from(self.operations.len()) else { return };
        let later = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let is_whole = arrivals().all(|arrival| is_inside(arrival.1))
            && dependency.gates.iter().all(|gate| is_inside(gate.at));
        let key = if is_whole { 0 } else { dependency.key() };
        self.operations.push(Operation {
            key,
            moved: dependency.moved,
            coming: later(arrivals().filter(|arrival| from <= arrival.1).count()),
            gates: later(dependency.gates.iter().filter(|gate| from <= gate.at).count()),
            slot: if is_whole { None } else { slot(key) },
        });
        for (location, at) in arrivals().filter(|arrival| is_inside(arrival.1)) {
            self.points.push(Point { at, role: Role::Arrives, location: location.0, operation });
        }
        for gate in dependency.gates.iter().filter(|gate| is_inside(gate.at)) {
            let role = if gate.waited { Role::Waited } else { Role::Passes };
            self.points.push(Point { at: gate.at, role, location: gate.location.0, operation });
        }
    }
}
