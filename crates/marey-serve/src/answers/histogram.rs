//! How visits of some regions differ in length or size, in bins that they share.
//!
//! The one idea: values are whole numbers, so sums of them and of their squares are exact, and each lies in one bin of
//! which the edges are told.

use marey_analyze::Moments;

use crate::fold::float_u64;
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{Histogram, HistogramHead};

use super::sample::{Read, is_too_large, read};

/// What is known of values.
#[derive(Clone, Debug, Default)]
struct Known {
    moments: Moments,
    least: Option<u64>,
    most: u64,
}

impl Known {
    fn add(&mut self, value: u64) {
        self.moments.add(value);
        self.least = Some(self.least.map_or(value, |least| least.min(value)));
        self.most = self.most.max(value);
    }

    fn deviation(&self) -> f64 {
        self.moments.deviation().unwrap_or(f64::NAN)
    }
}

/// What is known of the values of all regions together, and of each.
#[derive(Debug)]
struct Both {
    all: Known,
    each: Vec<Known>,
}

impl Both {
    fn add(&mut self, place: usize, value: u64) {
        self.all.add(value);
        self.each[place].add(value);
    }
}

pub(super) fn answer(run: &Opened<'_>, request: &Histogram) -> Vec<u8> {
    let sample = &request.sample;
    let (bins, regions) = (request.bins as usize, sample.regions.len());
    let mut known = Both { all: Known::default(), each: vec![Known::default(); regions] };
    let is_whole = !is_too_large(run, sample);
    let mut done = Read::default();
    let mut edges = Vec::new();
    let mut counts = vec![0.0; bins * regions];
    if is_whole {
        let mut range = request.range;
        if range.is_none() {
            done = read(run, sample, &mut |_, place, value| known.add(place, value));
            range = known.all.least.map(|least| (least, known.all.most));
        }
        if let Some(range) = range {
            edges = edges_of(range, request.bins, request.logarithmic);
            let is_known = known.all.moments.number() > 0;
            let again = read(run, sample, &mut |_, place, value| {
                if !is_known {
                    known.add(place, value);
                }
                if let Some(bin) = bin_of(&edges, value) {
                    counts[place * bins + bin] += 1.0;
                }
            });
            done = again;
        }
    }
    let head = HistogramHead {
        number: known.all.moments.number(),
        untold: done.untold,
        least: known.all.least.unwrap_or(0),
        most: known.all.most,
        mean: known.all.moments.mean(),
        deviation: known.all.deviation(),
        is_whole,
        damage: done.damage,
    };
    if edges.is_empty() {
        counts.clear();
    }
    let mut columns = Columns::default();
    columns.f64("edge", edges);
    columns.f64("number", counts);
    columns.f64("visits", known.each.iter().map(|it| float_u64(it.moments.number())));
    columns.f64("least", known.each.iter().map(|it| float_u64(it.least.unwrap_or(0))));
    columns.f64("most", known.each.iter().map(|it| float_u64(it.most)));
    columns.f64("mean", known.each.iter().map(|it| it.moments.mean()));
    columns.f64("deviation", known.each.iter().map(Known::deviation));
    columns.frame("histogram", &head)
}

/// Where bins begin, and where the last ends.
#[expect(clippy::cast_precision_loss, reason = "edges need 53 bits")]
fn edges_of((least, most): (u64, u64), bins: u32, logarithmic: bool) -> Vec<f64> {
    let (from, to) = (least as f64, (most.max(least.saturating_add(1))) as f64);
    let part = |number: u32| f64::from(number) / f64::from(bins);
    let edge = |number: u32| match (number, logarithmic) {
        (0, _) => from,
        (number, _) if number == bins => to,
        (number, false) => from + (to - from) * part(number),
        // From 0 there is no ratio: the first bin then ends where 1 would.
        (number, true) => from.max(1.0) * (to / from.max(1.0)).powf(part(number)),
    };
    (0..=bins).map(edge).collect()
}

/// The bin of a value; its lower edge belongs to it, and to the last its upper edge, too.
#[expect(clippy::cast_precision_loss, reason = "values are shorter than 104 days")]
fn bin_of(edges: &[f64], value: u64) -> Option<usize> {
    let value = value as f64;
    let last = edges.len().checked_sub(2)?;
    if value < edges[0] || edges[last + 1] < value {
        return None;
    }
    Some((edges.partition_point(|edge| *edge <= value) - 1).min(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_a_range_lies_in_one_bin() {
        for (range, bins, logarithmic) in
            [((3, 1000), 7, false), ((3, 1000), 7, true), ((0, 9), 4, true), ((5, 5), 3, false)]
        {
            let edges = edges_of(range, bins, logarithmic);
            assert_eq!(edges.len(), bins as usize + 1);
            assert!(edges.is_sorted(), "{edges:?}");
            for value in range.0..=range.1 {
                let bin = bin_of(&edges, value).unwrap();
                #[expect(clippy::cast_precision_loss, reason = "small")]
                let value = value as f64;
                assert!(edges[bin] <= value && value <= edges[bin + 1], "{value} in {bin} of {edges:?}");
            }
            assert_eq!(bin_of(&edges, range.1 + 2), None);
        }
        assert_eq!(bin_of(&[], 1), None);
    }
}
