//! What is usual among the iterations of a loop, and which are not.
//!
//! The one idea: iterations are compared with their like, those in which the same calls were made, by medians, which
//! the odd ones do not move.
//!
//! What is deliberately absent: what was done in them ([`super::shares`]).

use rustc_hash::FxHashMap;

use super::{Drift, Figures, Kind, Loop, Outlier};
use crate::paths::float;
use crate::statistics::{MAD_TO_SD, mean_and_deviation, median, normal_quantile_above, quantile, trend};

/// So many of a kind are needed to say how far they stray.
const LEAST_LIKE: usize = 8;
/// So many are needed to say how long they usually take.
const LEAST_MEDIAN: usize = 3;
/// Whoever is longer by less is no outlier.
const LEAST_RATIO: f64 = 1.2;
/// The chance that any iteration of a loop is an outlier by chance.
const CHANCE: f64 = 0.01;
/// Points of a trend at most, for all pairs of them are looked at.
const MOST_POINTS: usize = 1000;

/// Fills in what follows from the borders.
pub(super) fn judge(told: &mut Loop) {
    let lengths: Vec<f64> = told.iterations.iter().map(|iteration| float(iteration.length())).collect();
    told.time = Figures::of(&lengths);
    let members = kinds(told, &lengths);
    told.outliers = outliers(&lengths, &members);
    let usual = members.first().map_or(&[][..], Vec::as_slice);
    told.drift = drift(&lengths, usual);
}

impl Figures {
    /// Those of a list.
    pub(crate) fn of(values: &[f64]) -> Self {
        let (mean, deviation) = mean_and_deviation(values);
        let least = values.iter().copied().reduce(f64::min);
        let largest = values.iter().copied().reduce(f64::max);
        let median = median(&mut values.to_vec());
        Self { min: least.unwrap_or(0.0), mean, median, max: largest.unwrap_or(0.0), deviation }
    }
}

/// Names the kinds, and gives the iterations of each; the most frequent first.
fn kinds(told: &mut Loop, lengths: &[f64]) -> Vec<Vec<usize>> {
    let mut by_sign: FxHashMap<u64, usize> = FxHashMap::default();
    let mut members: Vec<Vec<usize>> = Vec::new();
    for (place, iteration) in told.iterations.iter().enumerate() {
        let kind = *by_sign.entry(iteration.sign).or_insert_with(|| {
            members.push(Vec::new());
            members.len() - 1
        });
        members[kind].push(place);
    }
    members.sort_by_key(|places| (std::cmp::Reverse(places.len()), places.first().copied()));
    for (kind, places) in members.iter().enumerate() {
        places.iter().for_each(|place| told.iterations[*place].kind = kind);
        let own: Vec<f64> = places.iter().map(|place| lengths[*place]).collect();
        let first = places.first().copied().unwrap_or(0);
        let number = places.len() as u64;
        told.kinds.push(Kind { number, time: Figures::of(&own), every: every(places), first });
    }
    members
}

/// By how many iterations those of a kind are apart, if most are by the same.
fn every(places: &[usize]) -> Option<u64> {
    let mut frequency: FxHashMap<usize, usize> = FxHashMap::default();
    for pair in places.windows(2) {
        *frequency.entry(pair[1] - pair[0]).or_default() += 1;
    }
    let mut frequency: Vec<(usize, usize)> = frequency.into_iter().collect();
    frequency.sort_unstable();
    let (apart, times) = frequency.into_iter().max_by_key(|(_, times)| *times)?;
    let is_so = 1 < apart && 3 <= places.len() && 4 * (places.len() - 1) <= 5 * times;
    is_so.then_some(apart as u64)
}

fn outliers(lengths: &[f64], members: &[Vec<usize>]) -> Vec<Outlier> {
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵³ iterations")]
    let limit = normal_quantile_above(CHANCE / lengths.len().max(1) as f64);
    let logarithm = |place: &usize| lengths[*place].max(1.0).ln();
    let like = |places: &[usize]| {
        let mut logarithms: Vec<f64> = places.iter().map(logarithm).collect();
        let middle = median(&mut logarithms);
        let tail = (quantile(&mut logarithms, 0.9) - middle) / normal_quantile_above(0.1);
        let mut distances: Vec<f64> = logarithms.iter().map(|value| (value - middle).abs()).collect();
        let deviation = MAD_TO_SD * median(&mut distances);
        (middle, deviation.max(tail).max(1.02_f64.ln()))
    };
    let Some(usual) = members.first().filter(|usual| usual.len() >= LEAST_LIKE) else { return Vec::new() };
    let of_usual = like(usual);
    let mut found = Vec::new();
    for places in members {
        let has_like = places.len() >= LEAST_MEDIAN;
        let (middle, deviation) = match places.len() {
            LEAST_LIKE.. => like(places),
            // A few of a kind are long together, but not further apart than the usual ones.
            LEAST_MEDIAN.. => (like(places).0, of_usual.1),
            _ => of_usual,
        };
        let expected = middle.exp();
        for &place in places {
            let score = (logarithm(&place) - middle) / deviation;
            if LEAST_RATIO * expected < lengths[place] && limit < score {
                let excess = lengths[place] - expected;
                found.push(Outlier { iteration: place, expected, excess, score, has_like });
            }
        }
    }
    found.sort_by(|a, b| b.excess.total_cmp(&a.excess).then(a.iteration.cmp(&b.iteration)));
    found
}

/// The drift of some iterations.
#[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵³ iterations")]
fn drift(lengths: &[f64], places: &[usize]) -> Drift {
    let block = places.len().div_ceil(MOST_POINTS).max(1);
    let middle = |places: &[usize]| {
        let mut block: Vec<f64> = places.iter().map(|place| lengths[*place]).collect();
        median(&mut block)
    };
    // A block that is not whole says less than the others.
    let points: Vec<f64> = places.chunks_exact(block).map(middle).collect();
    let trend = trend(&points);
    let (Some(first), Some(last)) = (places.first(), places.last()) else { return Drift::default() };
    // Between two points of the usual kind may lie iterations of other kinds.
    let apart = (last - first) as f64 / (places.len().max(2) - 1) as f64 * block as f64;
    let slope = trend.slope / apart.max(1.0);
    let mut all: Vec<f64> = places.iter().map(|place| lengths[*place]).collect();
    let usual = median(&mut all);
    let change = if usual > 0.0 { slope * (last - first) as f64 / usual } else { 0.0 };
    Drift { slope, change, p: trend.p }
}
