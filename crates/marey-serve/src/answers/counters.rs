//! Counters in the course of a window.
//!
//! The one idea: a counter is a value that holds until the next, or, of one that only grows, a pace that holds between two
//! readings. Either is cut at the borders of buckets, and a bucket tells the least, the mean by time, and the most.

use marey_analyze::Trace;

use crate::counters::{Of, Value};
use crate::fold::float;
use crate::frame::Columns;
use crate::ranges;
use crate::run::Opened;
use crate::wire::{CounterPlacesHead, Counters, CountersHead};

/// Which counters have values where.
pub(super) fn places(run: &Opened<'_>) -> Vec<u8> {
    let counted = run.counted();
    let is_rate = |of: &Of| run.head.counters.get(of.0 as usize).is_some_and(|counter| counter.is_rate);
    let value = |of: &Of, value: f64| if is_rate(of) { f64::NAN } else { value };
    let mut columns = Columns::default();
    columns.u32("counter", counted.series.keys().map(|of| of.0));
    columns.u32("location", counted.series.keys().map(|of| of.1));
    columns.u32("number", counted.series.values().map(|it| u32::try_from(it.number).unwrap_or(u32::MAX)));
    columns.f64("least", counted.series.iter().map(|(of, it)| value(of, it.least)));
    columns.f64("most", counted.series.iter().map(|(of, it)| value(of, it.most)));
    columns.frame("counter-places", &CounterPlacesHead { damage: counted.damage.clone() })
}

/// A piece of a series.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: i64,
    duration: i64,
    least: f64,
    mean: f64,
    most: f64,
}

pub(super) fn answer(run: &Opened<'_>, asked: &Counters) -> Vec<u8> {
    let window = &asked.window;
    let log2 = window.resolution_log2;
    // Buckets that the window touches are told as wholes.
    let from = (window.from_ns.max(0) >> log2) << log2;
    let to =
        ((window.to_ns.min(run.trace.duration().0.saturating_add(1)) - 1) >> log2).saturating_add(1) << log2;
    let is_meant = |(counter, location): Of| {
        asked.counters.contains(&counter) && ranges::hold(&window.locations, location)
    };
    let found =
        if from < to { run.counted().in_span(run, (from, to), &is_meant) } else { Some(Default::default()) };
    let Some((series, damage)) = found else {
        return frame(&CountersHead { is_whole: false, damage: Vec::new() }, &[]);
    };
    let series = series.into_iter().map(|(of, values)| {
        let end = run.trace.locations().get(of.1 as usize).map_or(0, |location| location.end.0);
        let is_rate = run.head.counters.get(of.0 as usize).is_some_and(|counter| counter.is_rate);
        let mut buckets = Buckets { log2, span: (from, to), open: None, told: Vec::new() };
        let each = &mut |span, value| buckets.add(span, value);
        if is_rate {
            paces(&values, each)
        } else {
            levels(&values, end, each)
        }
        (of, buckets.finish())
    });
    let series: Vec<(Of, Vec<Piece>)> = series.collect();
    frame(&CountersHead { is_whole: true, damage }, &series)
}

/// What holds from when until when: each value until the next, the last until the location ends.
fn levels(values: &[Value], end: i64, each: &mut dyn FnMut((i64, i64), f64)) {
    for (place, &(time, value)) in values.iter().enumerate() {
        let until = values.get(place + 1).map_or(end, |next| next.0);
        each((time, until.max(time)), value);
    }
}

/// How fast it grows between two readings, per second.
fn paces(values: &[Value], each: &mut dyn FnMut((i64, i64), f64)) {
    // Of readings at one instant the largest counts.
    let at_once = values.chunk_by(|one, other| one.0 == other.0);
    let readings: Vec<Value> = at_once
        .filter_map(|all| all.iter().copied().max_by(|one, other| one.1.total_cmp(&other.1)))
        .collect();
    for pair in readings.windows(2) {
        let ((from, before), (to, after)) = (pair[0], pair[1]);
        each((from, to), (after - before) * 1e9 / float(to - from));
    }
}

/// Cuts what holds at the borders of buckets.
struct Buckets {
    log2: u32,
    /// Nothing outside of it is told.
    span: (i64, i64),
    open: Option<Open>,
    told: Vec<Piece>,
}

/// A bucket that is being filled.
struct Open {
    number: i64,
    covered: i64,
    /// Of values and times.
    sum: f64,
    least: f64,
    most: f64,
}

impl Buckets {
    fn add(&mut self, (from, to): (i64, i64), value: f64) {
        // What holds for no time at all was there, too, at its instant.
        let is_before = if from < to { to <= self.span.0 } else { from < self.span.0 };
        if is_before || self.span.1 <= from {
            return;
        }
        let (from, until) = (from.max(self.span.0), to.min(self.span.1));
        let (first, last) = (from >> self.log2, (until - 1).max(from) >> self.log2);
        self.part(first, until.min((first + 1) << self.log2) - from, value);
        if first + 1 < last {
            self.leave();
            self.tell(Piece {
                start: (first + 1) << self.log2,
                duration: (last - first - 1) << self.log2,
                least: value,
                mean: value,
                most: value,
            });
        }
        if first < last {
            self.part(last, until - (last << self.log2), value);
        }
    }

    /// Adds a part of a bucket.
    fn part(&mut self, number: i64, length: i64, value: f64) {
        if self.open.as_ref().is_some_and(|open| open.number != number) {
            self.leave();
        }
        let none = Open { number, covered: 0, sum: 0.0, least: value, most: value };
        let open = self.open.get_or_insert(none);
        open.covered += length;
        open.sum += value * float(length);
        open.least = open.least.min(value);
        open.most = open.most.max(value);
    }

    fn leave(&mut self) {
        let Some(open) = self.open.take() else { return };
        // Rounding must not carry the mean outside; of no time at all it is the middle.
        let mean =
            if open.covered > 0 { open.sum / float(open.covered) } else { (open.least + open.most) / 2.0 };
        self.tell(Piece {
            start: open.number << self.log2,
            duration: 1 << self.log2,
            least: open.least,
            mean: mean.clamp(open.least, open.most),
            most: open.most,
        });
    }

    /// Tells a piece; one that goes on with the value of that before is one with it.
    fn tell(&mut self, piece: Piece) {
        let is_constant = |it: &Piece| it.least.total_cmp(&it.most).is_eq();
        match self.told.last_mut() {
            Some(last)
                if last.start + last.duration == piece.start
                    && is_constant(last)
                    && is_constant(&piece)
                    && last.least.total_cmp(&piece.least).is_eq() =>
            {
                last.duration += piece.duration;
            }
            _ => self.told.push(piece),
        }
    }

    fn finish(mut self) -> Vec<Piece> {
        self.leave();
        self.told
    }
}

fn frame(head: &CountersHead, series: &[(Of, Vec<Piece>)]) -> Vec<u8> {
    let pieces = || series.iter().flat_map(|(_, pieces)| pieces);
    let mut sum = 0;
    let behind = series.iter().map(|(_, pieces)| {
        sum += u32::try_from(pieces.len()).unwrap_or(0);
        sum
    });
    let behind: Vec<u32> = behind.collect();
    let mut columns = Columns::default();
    columns.u32("counter", series.iter().map(|(of, _)| of.0));
    columns.u32("location", series.iter().map(|(of, _)| of.1));
    columns.u32("behind", behind);
    columns.f64("start", pieces().map(|piece| float(piece.start)));
    columns.f64("duration", pieces().map(|piece| float(piece.duration)));
    columns.f64("least", pieces().map(|piece| piece.least));
    columns.f64("mean", pieces().map(|piece| piece.mean));
    columns.f64("most", pieces().map(|piece| piece.most));
    columns.frame("counters", head)
}
