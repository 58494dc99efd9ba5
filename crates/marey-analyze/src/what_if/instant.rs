//! All gates and arrivals of one instant of the run.
//!
//! The one idea: whoever waited until now goes on before it arrives anywhere, and a gate opens when all have arrived; so
//! one follows from the other, and what is left in the end are circles.

use std::ops::Range;

use marey_model::Nanos;

use super::circles::circles;
use super::replay::Replay;
use super::variants::Kind;
use super::windows::{Point, Role};
use crate::happenings::Happenings;
use crate::trace::Trace;

/// Scratch of an instant, empty between two.
#[derive(Debug, Default)]
pub(super) struct Instant {
    /// Of each location how many gates hold it up.
    holding: Vec<u32>,
    /// Gates that hold somebody up, by operation.
    gates: Vec<(u32, u32)>,
    is_open: Vec<bool>,
    /// Gates that may be passed.
    ready: Vec<u32>,
}

impl Instant {
    pub(super) fn new(n_locations: usize) -> Self {
        Self { holding: vec![0; n_locations], ..Self::default() }
    }
}

impl<R: Trace, E: Happenings> Replay<'_, R, E> {
    /// Passes the points of one instant.
    pub(super) fn pass(&mut self, at: Nanos, places: Range<usize>) {
        for place in places.clone() {
            let location = self.window.points[place].location as usize;
            self.advance(location, at);
        }
        let points = &self.window.points[places.clone()];
        let n_waited = points.partition_point(|point| point.role == Role::Waited);
        let n_before = points.partition_point(|point| point.role != Role::Passes);
        let waited = places.start..places.start + n_waited;
        let arrivals = waited.end..places.start + n_before;
        if waited.is_empty() {
            for place in arrivals.clone() {
                self.arrive_at(place, &waited);
            }
        } else {
            self.resolve(at, &waited, &arrivals);
        }
        for place in arrivals.end..places.end {
            self.open(self.window.points[place], false);
        }
    }

    fn location(&self, place: usize) -> usize {
        self.window.points[place].location as usize
    }

    /// Lets a location arrive, and says which gates may be passed then.
    fn arrive_at(&mut self, place: usize, waited: &Range<usize>) {
        let point = self.window.points[place];
        // Whoever does something for others while it waits has got there by itself.
        if self.is_in_wait(point.location as usize, point.at) {
            self.keep_wait(point.location as usize, point.at);
        }
        self.cross(point.location as usize, point.at);
        if self.arrive(point) && !waited.is_empty() {
            let from = self.instant.gates.partition_point(|gate| gate.0 < point.operation);
            let own = self.instant.gates[from..].iter().take_while(|gate| gate.0 == point.operation);
            self.instant.ready.extend(own.map(|gate| gate.1));
        }
    }

    fn resolve(&mut self, at: Nanos, waited: &Range<usize>, arrivals: &Range<usize>) {
        let number = |place: usize| u32::try_from(place - waited.start).unwrap_or(u32::MAX);
        self.instant.gates.clear();
        self.instant.is_open.clear();
        self.instant.is_open.resize(waited.len(), false);
        for place in waited.clone() {
            let point = self.window.points[place];
            self.instant.holding[point.location as usize] += 1;
            self.instant.gates.push((point.operation, number(place)));
            if self.is_start(place) {
                self.await_begin(point.location);
            }
            if self.window.operations[point.operation as usize].coming == 0 {
                self.instant.ready.push(number(place));
            }
        }
        self.instant.gates.sort_unstable();
        for place in arrivals.clone() {
            if self.instant.holding[self.location(place)] == 0 {
                self.arrive_at(place, waited);
            }
        }
        self.go_on(waited, arrivals);
        if self.instant.is_open.iter().all(|is_open| *is_open) {
            return;
        }
        for circle in circles(&self.stuck(waited, arrivals)) {
            let is_held = circle.first().is_some_and(|&location| self.instant.holding[location as usize] > 0);
            if !is_held {
                continue;
            }
            for &location in &circle {
                self.let_go(location, at, waited);
            }
            for &location in &circle {
                self.arrive_all(location, waited, arrivals);
            }
            self.go_on(waited, arrivals);
        }
    }

    /// Passes gates as long as there are any that may be passed.
    fn go_on(&mut self, waited: &Range<usize>, arrivals: &Range<usize>) {
        while let Some(gate) = self.instant.ready.pop() {
            let place = waited.start + gate as usize;
            if !self.instant.is_open[gate as usize] {
                self.pass_gate(place, waited);
                let point = self.window.points[place];
                if self.instant.holding[point.location as usize] == 0 {
                    self.arrive_all(point.location, waited, arrivals);
                }
            }
        }
    }

    /// The gates of a location.
    fn of_location(&self, waited: &Range<usize>, location: u32) -> Range<usize> {
        of_location(&self.window.points, waited, location)
    }

    fn is_start(&self, place: usize) -> bool {
        let operation = self.window.points[place].operation;
        self.window.operations[operation as usize].moved.kind == Kind::Start
    }

    fn pass_gate(&mut self, place: usize, waited: &Range<usize>) {
        let point = self.window.points[place];
        self.instant.is_open[place - waited.start] = true;
        self.instant.holding[point.location as usize] -= 1;
        self.open(point, self.is_start(place));
    }

    /// All that a location does at this instant, once nothing holds it up.
    fn arrive_all(&mut self, location: u32, waited: &Range<usize>, arrivals: &Range<usize>) {
        for place in of_location(&self.window.points, arrivals, location) {
            self.arrive_at(place, waited);
        }
    }

    /// Passes the gates of a location that is part of a circle, with what has arrived.
    fn let_go(&mut self, location: u32, at: Nanos, waited: &Range<usize>) {
        for place in self.of_location(waited, location) {
            if self.instant.is_open[place - waited.start] {
                continue;
            }
            let point = self.window.points[place];
            let has_none = self.window.operations[point.operation as usize].slot.is_none();
            self.pass_gate(place, waited);
            if has_none && self.is_start(place) {
                self.begin_at(location, at);
            }
        }
        self.keep_wait(location as usize, at);
    }

    /// Whom each location that cannot go on waits for.
    fn stuck(&self, waited: &Range<usize>, arrivals: &Range<usize>) -> Vec<(u32, u32)> {
        let holds = |place: &usize| self.instant.holding[self.location(*place)] > 0;
        let mut coming: Vec<(u32, u32)> = arrivals
            .clone()
            .filter(holds)
            .map(|place| (self.window.points[place].operation, self.window.points[place].location))
            .collect();
        coming.sort_unstable();
        let mut stuck = Vec::new();
        for place in waited.clone().filter(|place| !self.instant.is_open[place - waited.start]) {
            let point = self.window.points[place];
            let from = coming.partition_point(|arrival| arrival.0 < point.operation);
            let own = coming[from..].iter().take_while(|arrival| arrival.0 == point.operation);
            stuck.extend(own.map(|arrival| (point.location, arrival.1)));
        }
        stuck
    }
}

/// Those of a location among points of one role.
fn of_location(points: &[Point], all: &Range<usize>, location: u32) -> Range<usize> {
    let own = &points[all.clone()];
    let first = own.partition_point(|point| point.location < location);
    let len = own[first..].partition_point(|point| point.location == location);
    all.start + first..all.start + first + len
}
