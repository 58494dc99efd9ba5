//! The replay: all locations go through the run again, in the order of time.
//!
//! The one idea: of each location it is known how far it is in the run and when that is in each variant. Pieces of time move
//! it on; at a gate it becomes the latest of itself and of what has arrived. Since nothing depends on what comes later
//! in the run, one pass is enough.

use std::collections::VecDeque;

use marey_model::{LocationId, Nanos};

use super::balance::Step;
use super::graph::Graph;
use super::instant::Instant;
use super::path::Held;
use super::tape::{Step as Taped, Tape};
use super::variants::{Variants, length};
use super::windows::{Open, Operation, Point, Window, Windows};
use super::{Limits, Replayed};
use crate::activities::{Piece, pieces};
use crate::happenings::{Happenings, Span, Unread};
use crate::trace::Trace;
use crate::waits::Waits;

/// A run on its way through its variants.
pub(crate) struct Replay<'a, R, E> {
    pub(super) run: &'a R,
    events: &'a E,
    graph: &'a Graph,
    pub(super) variants: &'a Variants,
    pub(super) locations: Vec<Along>,
    /// Of each location its time in each variant.
    pub(super) now: Vec<f64>,
    /// The same if the wait that it is in, or was in last, kept its length; and since when that counts.
    kept: Vec<f64>,
    kept_since: Vec<Nanos>,
    ends: Vec<f64>,
    waiting: Vec<f64>,
    windows: Windows,
    pub(super) window: Window,
    /// Points of the window that are done.
    done: usize,
    window_end: Nanos,
    pub(super) slots: Slots,
    /// What arrived before the window and is still waited for.
    open: Open,
    pub(super) instant: Instant,
    held: Option<Vec<Held>>,
    pub(super) tape: Option<Tape>,
    steps: usize,
    unlisted: u64,
}

/// A location on its way.
#[derive(Debug)]
pub(super) struct Along {
    /// Where it is in the run.
    at: Nanos,
    end: Nanos,
    has_ended: bool,
    pieces: VecDeque<Piece>,
    /// Since when and until when it waits, or waited last.
    wait: (Nanos, Nanos),
    /// Its step, in each variant that has any.
    step: Vec<usize>,
}

/// What has arrived and is waited for.
#[derive(Debug, Default)]
pub(super) struct Slots {
    variants: usize,
    values: Vec<f64>,
    /// Who came last in each variant, and where it was.
    causes: Vec<(u32, Nanos)>,
    free: Vec<u32>,
}

impl Slots {
    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            let slot = self.values.len() / self.variants.max(1);
            self.values.resize(self.values.len() + self.variants, 0.0);
            self.causes.resize(self.values.len(), (0, Nanos(0)));
            u32::try_from(slot).unwrap_or(u32::MAX)
        })
    }

    fn places(&self, slot: u32) -> std::ops::Range<usize> {
        let first = slot as usize * self.variants;
        first..first + self.variants
    }
}

/// What replays gave.
pub(crate) struct Finished {
    pub(crate) replayed: Vec<Replayed>,
    /// Gates at which somebody waited, by variant, location and time.
    pub(super) held: Vec<Held>,
    /// Those that are not known.
    pub(super) unlisted: u64,
    /// In each variant who ended last.
    pub(super) last: Vec<usize>,
    /// What the run was longer than anybody was there, ns.
    pub(super) rest: f64,
    pub(super) creators: std::collections::BTreeMap<LocationId, (LocationId, Nanos)>,
    pub(super) tape: Option<Tape>,
}

impl<'a, R: Trace, E: Happenings> Replay<'a, R, E> {
    pub(crate) fn new(
        run: &'a R,
        events: &'a E,
        graph: &'a Graph,
        variants: &'a Variants,
        limits: &Limits,
    ) -> Result<Self, Unread> {
        Self::of_span(run, events, graph, variants, limits, Span::ALL)
    }

    /// Of a span of time alone: everybody is at its beginning when that was.
    pub(crate) fn of_span(
        run: &'a R,
        events: &'a E,
        graph: &'a Graph,
        variants: &'a Variants,
        limits: &Limits,
        span: Span,
    ) -> Result<Self, Unread> {
        let n = run.locations().len();
        let from = span.from.max(Nanos(0));
        let begin = length(Nanos(0), from);
        let along = |location: &crate::trace::Location| Along {
            at: from,
            end: location.end.max(location.start),
            has_ended: false,
            pieces: VecDeque::new(),
            wait: (Nanos(0), Nanos(0)),
            step: vec![0; if variants.are_balanced { variants.len() } else { 0 }],
        };
        Ok(Self {
            run,
            events,
            graph,
            variants,
            locations: run.locations().iter().map(along).collect(),
            now: vec![begin; n * variants.len()],
            kept: vec![begin; n * variants.len()],
            kept_since: vec![Nanos(0); n * variants.len()],
            ends: vec![0.0; n * variants.len()],
            waiting: vec![0.0; n * variants.len()],
            windows: Windows::new(run, events, graph, limits.points, span)?,
            window: Window::default(),
            done: 0,
            window_end: Nanos(i64::MIN),
            slots: Slots { variants: variants.len(), ..Slots::default() },
            open: Open::default(),
            instant: Instant::new(n),
            held: None,
            tape: None,
            steps: limits.steps,
            unlisted: 0,
        })
    }

    /// Notes who waited for whom.
    pub(crate) fn with_path(self) -> Self {
        Self { held: Some(Vec::new()), ..self }
    }

    /// Notes what happens, at most so much of it.
    pub(super) fn with_tape(self, most: usize) -> Self {
        let tape = Tape::new(self.locations.len(), most);
        Self { tape: Some(tape), ..self }
    }

    fn write(&mut self, location: usize, at: Nanos, step: Taped) {
        if let Some(tape) = &mut self.tape {
            tape.write(location, at, step);
        }
    }

    /// Goes through the run: one pass over the intervals.
    pub(crate) fn all(&mut self, waits: &Waits) -> Result<(), Unread> {
        let (run, events) = (self.run, self.events);
        let this = std::cell::RefCell::new(self);
        let mut result = Ok(());
        pieces(
            run,
            events,
            waits,
            Span::ALL,
            |location, piece| this.borrow_mut().add(location, piece),
            |until| {
                if result.is_ok() {
                    result = this.borrow_mut().slab(until);
                }
            },
        )?;
        result
    }

    /// The next piece of a location.
    pub(crate) fn add(&mut self, location: LocationId, piece: Piece) {
        self.locations[location.idx()].pieces.push_back(piece);
    }

    /// All pieces before `until` are known.
    pub(crate) fn slab(&mut self, until: Nanos) -> Result<(), Unread> {
        self.points_before(until)?;
        for location in 0..self.locations.len() {
            self.advance(location, until);
        }
        Ok(())
    }

    /// All locations come to an instant, and what they wait for until then has happened.
    pub(super) fn come_to(&mut self, at: Nanos) -> Result<(), Unread> {
        self.points_before(at + Nanos(1))?;
        for location in 0..self.locations.len() {
            self.advance(location, at);
        }
        Ok(())
    }

    fn points_before(&mut self, until: Nanos) -> Result<(), Unread> {
        loop {
            while let Some(first) = self.window.points.get(self.done).filter(|point| point.at < until) {
                let at = first.at;
                // Few things happen at one instant.
                let len = self.window.points[self.done..].iter().take_while(|point| point.at <= at).count();
                let places = self.done..self.done + len;
                self.done += len;
                self.pass(at, places);
            }
            let is_done = self.done == self.window.points.len();
            if !is_done || self.window_end >= until || self.windows.next_end().is_none() {
                return Ok(());
            }
            for operation in self.window.operations.iter().filter(|operation| operation.gates > 0) {
                if let Some(slot) = operation.slot {
                    self.open.keep(operation.key, slot);
                }
            }
            // Before the next is there, or memory would hold both.
            self.window = Window::default();
            self.window_end = self.windows.next_end().unwrap_or(Nanos(i64::MAX));
            self.window = self.windows.load(self.run, self.events, self.graph, &mut self.open)?;
            self.done = 0;
        }
    }

    /// Moves a location on to where it was at `to`.
    pub(super) fn advance(&mut self, location: usize, to: Nanos) {
        let n = self.variants.len();
        while self.locations[location].at < to {
            let (along, own) = (&mut self.locations[location], location * n..(location + 1) * n);
            if along.at >= along.end && !along.has_ended {
                self.note_end(location);
                continue;
            }
            let from = along.at;
            let Some(piece) = along.pieces.front().copied() else {
                let (to, rest) = if from < along.end && along.end < to {
                    (along.end, length(from, along.end))
                } else {
                    (to, length(from, to))
                };
                self.now[own].iter_mut().for_each(|now| *now += rest);
                along.at = to;
                self.write(location, from, Taped::Works);
                continue;
            };
            if piece.end <= from {
                along.pieces.pop_front();
                continue;
            }
            let mut until = piece.end.min(to);
            if from < along.end {
                until = until.min(along.end);
            }
            if self.variants.are_balanced {
                until = until.min(self.cross_before(location, from));
            }
            self.spend(location, &piece, until);
            self.locations[location].at = until;
        }
    }

    /// Spends part of a piece.
    fn spend(&mut self, location: usize, piece: &Piece, until: Nanos) {
        let n = self.variants.len();
        let own = location * n..(location + 1) * n;
        let waits = piece.waits_until > Nanos(0);
        let (at, is_new) =
            (self.locations[location].at, self.locations[location].wait.1 != piece.waits_until);
        if !waits || is_new {
            self.write(location, at, if waits { Taped::Waits { after_wait: false } } else { Taped::Works });
        }
        let along = &mut self.locations[location];
        if waits && along.wait.1 != piece.waits_until {
            along.wait = (along.at, piece.waits_until);
            self.kept[own.clone()].copy_from_slice(&self.now[own.clone()]);
            self.kept_since[own.clone()].fill(along.at);
        }
        let span = length(along.at, until);
        let Some(id) = LocationId::from_idx(location) else { return };
        let (variants, step) = (self.variants, &along.step);
        let spent = if waits { &mut self.kept[own] } else { &mut self.now[own] };
        variants.with_factors(self.run, id, piece.doing, |factors, is_useful| {
            for (variant, (time, factor)) in spent.iter_mut().zip(factors).enumerate() {
                let steps =
                    if variants.are_balanced && is_useful { variants.steps(variant, location) } else { &[] };
                let balance =
                    steps.get(step.get(variant).copied().unwrap_or(0)).map_or(1.0, |step| step.factor);
                *time += span * factor * balance;
            }
        });
    }

    /// Ends the steps that end before `at`; tells when the next one ends.
    fn cross_before(&mut self, location: usize, at: Nanos) -> Nanos {
        self.cross(location, at);
        let ends = (0..self.variants.len()).filter_map(|variant| {
            let step = self.locations[location].step[variant];
            self.variants.steps(variant, location).get(step).map(|step| step.until)
        });
        ends.min().unwrap_or(Nanos(i64::MAX))
    }

    /// Ends the steps that end at `at` or before.
    pub(super) fn cross(&mut self, location: usize, at: Nanos) {
        if !self.variants.are_balanced {
            return;
        }
        let n = self.variants.len();
        for variant in 0..n {
            let steps: &[Step] = self.variants.steps(variant, location);
            while let Some(step) = steps.get(self.locations[location].step[variant])
                && step.until <= at
            {
                self.now[location * n + variant] += step.extra;
                self.locations[location].step[variant] += 1;
            }
        }
    }

    fn note_end(&mut self, location: usize) {
        let n = self.variants.len();
        for variant in 0..n {
            let rest = self.variants.steps(variant, location).last().map_or(0.0, |step| step.extra);
            self.ends[location * n + variant] = self.now[location * n + variant] + rest;
        }
        self.locations[location].has_ended = true;
        self.write(location, self.locations[location].at, Taped::Ends);
    }

    /// A location arrives somewhere; tells whether it was the last.
    pub(super) fn arrive(&mut self, point: Point) -> bool {
        let n = self.variants.len();
        let operation = &mut self.window.operations[point.operation as usize];
        operation.coming = operation.coming.saturating_sub(1);
        let is_last = operation.coming == 0;
        // Nobody will ask.
        if operation.gates == 0 {
            return is_last;
        }
        let is_first = operation.slot.is_none();
        let slot = *operation.slot.get_or_insert_with(|| self.slots.take());
        self.write(point.location as usize, point.at, Taped::Arrives { slot, is_first });
        let own = point.location as usize * n;
        for (variant, place) in self.slots.places(slot).enumerate() {
            let (value, cause) = (self.now[own + variant], (point.location, point.at));
            let best = &mut self.slots.values[place];
            if is_first || *best < value || (*best <= value && point.location < self.slots.causes[place].0) {
                *best = value;
                self.slots.causes[place] = cause;
            }
        }
        is_last
    }

    /// A location comes to a gate.
    pub(super) fn open(&mut self, point: Point, is_start: bool) {
        let n = self.variants.len();
        let operation = &mut self.window.operations[point.operation as usize];
        operation.gates = operation.gates.saturating_sub(1);
        let Some(slot) = operation.slot else { return };
        if operation.gates == 0 {
            operation.slot = None;
            self.slots.free.push(slot);
        }
        let operation: Operation = *operation;
        let own = point.location as usize * n;
        let has_begun = self.now.get(own) != Some(&f64::NEG_INFINITY);
        let step = match (is_start, has_begun) {
            (true, _) => Taped::Begins { slot },
            (false, true) => Taped::Opens { slot },
            (false, false) => Taped::OpensEarly { slot },
        };
        self.write(point.location as usize, point.at, step);
        for (variant, place) in self.slots.places(slot).enumerate() {
            let (value, (cause, cause_at)) = (self.slots.values[place], self.slots.causes[place]);
            let now = &mut self.now[own + variant];
            if is_start || *now == f64::NEG_INFINITY {
                let later = if is_start {
                    length(cause_at, point.at)
                } else {
                    self.variants.cost(variant, &operation.moved)
                };
                *now = now.max(value + later);
                continue;
            }
            let cost = self.variants.cost(variant, &operation.moved);
            if *now < value + cost {
                let wait = value + cost - *now;
                *now = value + cost;
                self.waiting[own + variant] += wait;
                // A wait that is not over goes on from here.
                if self.kept[own + variant] < *now {
                    (self.kept[own + variant], self.kept_since[own + variant]) = (*now, point.at);
                }
                self.note(Held {
                    variant: u32::try_from(variant).unwrap_or(u32::MAX),
                    location: point.location,
                    at: point.at,
                    waited: point.role == super::windows::Role::Waited,
                    keeps: false,
                    cause,
                    cause_at,
                    cost,
                    wait,
                });
            }
        }
    }

    /// When a location begins is said by who created it.
    pub(super) fn await_begin(&mut self, location: u32) {
        self.write(location as usize, self.locations[location as usize].at, Taped::Awaits);
        let n = self.variants.len();
        let own = location as usize * n..(location as usize + 1) * n;
        self.kept[own.clone()].copy_from_slice(&self.now[own.clone()]);
        self.now[own].fill(f64::NEG_INFINITY);
    }

    /// It begins when it did: nobody says.
    pub(super) fn begin_at(&mut self, location: u32, at: Nanos) {
        let n = self.variants.len();
        let own = location as usize * n..(location as usize + 1) * n;
        self.kept_since[own].fill(Nanos(0));
        self.keep(location, at);
    }

    /// The wait that a location is in, or one that ends here, keeps its length so far.
    pub(super) fn keep_wait(&mut self, location: usize, at: Nanos) {
        let wait = self.locations[location].wait;
        if at <= wait.0 || wait.1 < at {
            return;
        }
        self.keep(u32::try_from(location).unwrap_or(u32::MAX), at);
    }

    fn keep(&mut self, location: u32, at: Nanos) {
        self.write(location as usize, at, Taped::Keeps);
        let n = self.variants.len();
        for variant in 0..n {
            let place = location as usize * n + variant;
            if self.now[place] < self.kept[place] {
                self.note(Held {
                    variant: u32::try_from(variant).unwrap_or(u32::MAX),
                    location,
                    at,
                    waited: true,
                    keeps: true,
                    cause: location,
                    cause_at: self.kept_since[place],
                    cost: 0.0,
                    wait: f64::INFINITY,
                });
                self.now[place] = self.kept[place];
            }
        }
    }

    fn note(&mut self, step: Held) {
        let Some(held) = &mut self.held else { return };
        held.push(step);
        if held.len() > self.steps {
            self.unlisted += super::path::halve(held);
        }
    }

    /// Whether a location is in a wait that is not over.
    pub(super) fn is_in_wait(&self, location: usize, at: Nanos) -> bool {
        let wait = self.locations[location].wait;
        wait.0 < at && at < wait.1
    }

    /// Where each location is in a variant.
    pub(super) fn now_of(&self, variant: usize) -> impl Iterator<Item = f64> {
        self.now.iter().skip(variant).step_by(self.variants.len()).copied()
    }

    /// The same; none of those that have ended by `at`.
    pub(super) fn not_ended(&self, variant: usize, at: Nanos) -> impl Iterator<Item = Option<f64>> {
        self.now_of(variant).zip(&self.locations).map(move |(now, along)| (at < along.end).then_some(now))
    }

    pub(crate) fn finish(mut self) -> Finished {
        // What lies behind the end of the run: damaged records. Nothing more can be read of them.
        self.points_before(Nanos(i64::MAX)).ok();
        for location in 0..self.locations.len() {
            let end = self.locations[location].end;
            self.advance(location, end);
            if !self.locations[location].has_ended {
                self.note_end(location);
            }
        }
        let n = self.variants.len();
        let locations = self.run.locations();
        let counted: Vec<usize> =
            (0..locations.len()).filter(|at| self.graph.cut_off_with(self.run, *at).is_none()).collect();
        let recorded = counted.iter().map(|&at| locations[at].end).max().unwrap_or_default();
        let rest = length(recorded.min(self.run.duration()), self.run.duration());
        let of_variant = |all: &[f64], variant: usize| -> Vec<f64> {
            all.iter().skip(variant).step_by(n).copied().collect()
        };
        let (mut replayed, mut last) = (Vec::new(), Vec::new());
        for variant in 0..n {
            let mut ends = of_variant(&self.ends, variant);
            for location in 0..locations.len() {
                if let Some(first) = self.graph.cut_off_with(self.run, location) {
                    ends[location] = ends[first] + length(locations[first].end, locations[location].end);
                }
            }
            let latest = counted.iter().copied().max_by(|&a, &b| ends[a].total_cmp(&ends[b]).then(b.cmp(&a)));
            let run_time = latest.map_or(0.0, |at| ends[at]) + rest;
            last.push(latest.unwrap_or(0));
            let waiting = of_variant(&self.waiting, variant);
            replayed.push(Replayed { run_time, ends, waiting, ..Replayed::default() });
        }
        Finished {
            replayed,
            held: self.held.unwrap_or_default(),
            unlisted: self.unlisted,
            last,
            rest,
            creators: self.graph.creators.clone(),
            tape: self.tape,
        }
    }
}
