//! Those visits of some regions that last so long or move so much, or that a test finds, one by one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use marey_analyze::{Anomaly, Interval, Moments, NormalLimits, Trace};

use super::sample::{is_too_large, place_of, read};
use crate::fold::{float, float_u64};
use crate::frame::Columns;
use crate::ranges;
use crate::run::Opened;
use crate::wire::{Instances, InstancesHead, Measure, Which};

/// More than this are no picture.
const MOST: usize = 20_000;

/// One of them, the value first, so that they are ordered by it; the last is the place of its region.
type Row = (u64, u32, i64, i64, usize);

pub(super) fn answer(run: &Opened<'_>, request: &Instances) -> Vec<u8> {
    if is_too_large(run, &request.sample) {
        let head = InstancesHead { number: 0, sum: 0.0, is_whole: false, damage: Vec::new() };
        return frame(request, head, Vec::new());
    }
    match request.which {
        Which::Range((least, most)) => {
            listed(run, request, &|_, value| (least..=most).contains(&value), &|_| f64::NAN)
        }
        Which::Normal(percent) => beyond(run, request, percent),
        Which::Anomalous(percent) => anomalous(run, request, percent),
    }
}

/// Those of the sample that are meant, by the place of their region and their value.
fn listed(
    run: &Opened<'_>,
    request: &Instances,
    is_meant: &dyn Fn(usize, u64) -> bool,
    expected: &dyn Fn(usize) -> f64,
) -> Vec<u8> {
    let mut kept: BinaryHeap<Reverse<Row>> = BinaryHeap::new();
    let (mut number, mut sum) = (0, 0_u128);
    let done = read(run, &request.sample, &mut |interval: &Interval, place, value| {
        if !is_meant(place, value) {
            return;
        }
        number += 1;
        sum += u128::from(value);
        let Some(line) = run.line_of(interval.location, interval.call_path) else { return };
        kept.push(Reverse((value, line, interval.start.0, interval.end.0 - interval.start.0, place)));
        if kept.len() > MOST {
            kept.pop();
        }
    });
    let rows = kept.into_iter().map(|Reverse(row)| (row, expected(row.4))).collect();
    frame(request, InstancesHead { number, sum: together(sum), is_whole: true, damage: done.damage }, rows)
}

/// Those beyond what is normal among the visits of their region in the sample.
fn beyond(run: &Opened<'_>, request: &Instances, percent: f64) -> Vec<u8> {
    let mut moments = vec![Moments::default(); request.sample.regions.len()];
    // What cannot be read is told when they are listed.
    read(run, &request.sample, &mut |_, place, value| moments[place].add(value));
    let limits: Vec<Option<NormalLimits>> = moments
        .iter()
        .map(|it| match request.sample.of {
            Measure::Duration => NormalLimits::of_durations(it, percent),
            Measure::Bytes => NormalLimits::of_sizes(it, percent),
        })
        .collect();
    let is_meant = |place: usize, value: u64| {
        let value = float_u64(value);
        limits[place].is_some_and(|it| value < it.least || it.most < value)
    };
    listed(run, request, &is_meant, &|place| limits[place].map_or(f64::NAN, |it| it.mean))
}

/// What the robust test says of the whole run, of which those of the sample are told.
fn anomalous(run: &Opened<'_>, request: &Instances, percent: f64) -> Vec<u8> {
    let sample = &request.sample;
    let found = match run.anomalies(percent) {
        Ok(found) => found,
        Err(unread) => {
            let head = InstancesHead { number: 0, sum: 0.0, is_whole: true, damage: unread.0 };
            return frame(request, head, Vec::new());
        }
    };
    let place = |it: &Anomaly| {
        let is_in = (sample.from_ns..sample.to_ns).contains(&it.start.0)
            && ranges::hold(&sample.locations, it.location.0);
        let region = run.trace.call_paths().get(it.call_path.idx()).map(|path| path.region.0);
        region.filter(|_| is_in).and_then(|region| place_of(sample, region))
    };
    let mut rows = Vec::new();
    let (mut number, mut sum) = (0, 0_u128);
    for (it, place) in found.list.iter().filter_map(|it| Some((it, place(it)?))) {
        let value = it.duration.0.max(0).unsigned_abs();
        number += 1;
        sum += u128::from(value);
        if let Some(line) = run.line_of(it.location, it.call_path) {
            rows.push(((value, line, it.start.0, it.duration.0, place), it.expected));
        }
    }
    frame(request, InstancesHead { number, sum: together(sum), is_whole: true, damage: Vec::new() }, rows)
}

#[expect(clippy::cast_precision_loss, reason = "16 digits are enough")]
fn together(sum: u128) -> f64 {
    sum as f64
}

fn frame(request: &Instances, head: InstancesHead, mut rows: Vec<(Row, f64)>) -> Vec<u8> {
    rows.sort_unstable_by_key(|((_, line, start, ..), _)| (*start, *line));
    let mut columns = Columns::default();
    columns.u32("line", rows.iter().map(|row| row.0.1));
    columns.u32("region", rows.iter().map(|row| request.sample.regions[row.0.4]));
    columns.f64("start", rows.iter().map(|row| float(row.0.2)));
    columns.f64("duration", rows.iter().map(|row| float(row.0.3)));
    columns.f64("value", rows.iter().map(|row| float_u64(row.0.0)));
    columns.f64("expected", rows.iter().map(|row| row.1));
    columns.frame("instances", &head)
}
