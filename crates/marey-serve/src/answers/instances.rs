//! Those visits of a region that last so long or move so much, one by one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use marey_analyze::{Anomaly, Interval, Trace};

use super::sample::{is_too_large, read};
use crate::fold::float;
use crate::frame::Columns;
use crate::ranges;
use crate::run::Opened;
use crate::wire::{Instances, InstancesHead, Which};

/// More than this are no picture.
const MOST: usize = 20_000;

/// One of them, the value first, so that they are ordered by it.
type Row = (u64, u32, i64, i64);

pub(super) fn answer(run: &Opened<'_>, request: &Instances) -> Vec<u8> {
    if is_too_large(run, &request.sample) {
        let head = InstancesHead { number: 0, sum: 0.0, is_whole: false, damage: Vec::new() };
        return frame(head, Vec::new());
    }
    match request.which {
        Which::Range(range) => in_range(run, request, range),
        Which::Anomalous(percent) => anomalous(run, request, percent),
    }
}

#[expect(clippy::cast_precision_loss, reason = "16 digits are enough")]
fn in_range(run: &Opened<'_>, request: &Instances, (least, most): (u64, u64)) -> Vec<u8> {
    let mut kept: BinaryHeap<Reverse<Row>> = BinaryHeap::new();
    let (mut number, mut sum) = (0, 0_u128);
    let done = read(run, &request.sample, &mut |interval: &Interval, value| {
        if value < least || most < value {
            return;
        }
        number += 1;
        sum += u128::from(value);
        let Some(line) = run.line_of(interval.location, interval.call_path) else { return };
        kept.push(Reverse((value, line, interval.start.0, interval.end.0 - interval.start.0)));
        if kept.len() > MOST {
            kept.pop();
        }
    });
    let rows = kept.into_iter().map(|Reverse(row)| (row, f64::NAN)).collect();
    frame(InstancesHead { number, sum: sum as f64, is_whole: true, damage: done.damage }, rows)
}

/// What the robust test says of the whole run, of which those of the sample are told.
#[expect(clippy::cast_precision_loss, reason = "16 digits are enough")]
fn anomalous(run: &Opened<'_>, request: &Instances, percent: f64) -> Vec<u8> {
    let sample = &request.sample;
    let found = match run.anomalies(percent) {
        Ok(found) => found,
        Err(unread) => {
            let head = InstancesHead { number: 0, sum: 0.0, is_whole: true, damage: unread.0 };
            return frame(head, Vec::new());
        }
    };
    let is_meant = |it: &&Anomaly| {
        let region = run.trace.call_paths().get(it.call_path.idx()).map(|path| path.region.0);
        region == Some(sample.region)
            && (sample.from_ns..sample.to_ns).contains(&it.start.0)
            && ranges::hold(&sample.locations, it.location.0)
    };
    let mut rows = Vec::new();
    let (mut number, mut sum) = (0, 0_u128);
    for it in found.list.iter().filter(is_meant) {
        let value = it.duration.0.max(0).unsigned_abs();
        number += 1;
        sum += u128::from(value);
        if let Some(line) = run.line_of(it.location, it.call_path) {
            rows.push(((value, line, it.start.0, it.duration.0), it.expected));
        }
    }
    frame(InstancesHead { number, sum: sum as f64, is_whole: true, damage: Vec::new() }, rows)
}

#[expect(clippy::cast_precision_loss, reason = "16 digits are enough")]
fn frame(head: InstancesHead, mut rows: Vec<(Row, f64)>) -> Vec<u8> {
    rows.sort_unstable_by_key(|((_, line, start, _), _)| (*start, *line));
    let mut columns = Columns::default();
    columns.u32("line", rows.iter().map(|row| row.0.1));
    columns.f64("start", rows.iter().map(|row| float(row.0.2)));
    columns.f64("duration", rows.iter().map(|row| float(row.0.3)));
    columns.f64("value", rows.iter().map(|row| row.0.0 as f64));
    columns.f64("expected", rows.iter().map(|row| row.1));
    columns.frame("instances", &head)
}
