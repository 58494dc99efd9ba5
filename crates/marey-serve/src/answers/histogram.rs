//! How visits of a region differ in length or size.
//!
//! The one idea: values are whole numbers, so sums of them and of their squares are exact, and each lies in one bin of
//! which the edges are told.

use marey_analyze::Moments;

use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{Histogram, HistogramHead};

use super::sample::{is_too_large, read};

/// What is known of all values.
#[derive(Debug, Default)]
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
}

pub(super) fn answer(run: &Opened<'_>, request: &Histogram) -> Vec<u8> {
    let sample = &request.sample;
    let mut known = Known::default();
    let is_whole = !is_too_large(run, sample);
    let mut done = super::sample::Read::default();
    let mut edges = Vec::new();
    let mut counts = vec![0.0; request.bins as usize];
    if is_whole {
        let mut range = request.range;
        if range.is_none() {
            done = read(run, sample, &mut |_, value| known.add(value));
            range = known.least.map(|least| (least, known.most));
        }
        if let Some(range) = range {
            edges = edges_of(range, request.bins, request.logarithmic);
            let is_known = known.moments.number() > 0;
            let again = read(run, sample, &mut |_, value| {
                if !is_known {
                    known.add(value);
                }
                if let Some(bin) = bin_of(&edges, value) {
                    counts[bin] += 1.0;
                }
            });
            done = again;
        }
    }
    let head = HistogramHead {
        number: known.moments.number(),
        untold: done.untold,
        least: known.least.unwrap_or(0),
        most: known.most,
        mean: known.moments.mean(),
        deviation: known.moments.deviation().unwrap_or(f64::NAN),
        is_whole,
        damage: done.damage,
    };
    if edges.is_empty() {
        counts.clear();
    }
    let mut columns = Columns::default();
    columns.f64("edge", edges);
    columns.f64("number", counts);
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
