//! What durations of like visits usually are: modes, and how fast their tails fall.
//!
//! The one idea: modes are what natural gaps separate, and a tail is judged by a tail: by where its tenth begins and how
//! fast that thins out, so that a heavy tail makes fewer visits odd.
//!
//! What is deliberately absent: what visits are alike ([`super::groups`]).

use crate::bins::{Bins, OCTAVE};
use crate::statistics::normal_tail;

/// Bins that are one in the histogram that valleys are looked for in: a quarter of an octave.
const COARSE: u32 = OCTAVE / 4;
/// A valley is at most so small a part of both peaks.
const VALLEY: u64 = 10;
/// A mode has at least one in so many visits …
const PART: u64 = 20;
/// … and so many of them.
const LEAST: u64 = 5;
/// Where quantiles of a normal distribution lie, in standard deviations: 75 and 90 per cent.
const Q75: f64 = 0.674_489_75;
const Q90: f64 = 1.281_551_57;
/// No clock tells more exactly, ns.
const CLOCK: f64 = 50.0;

/// A mode, in logarithms of durations in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mode {
    middle: f64,
    upper: Tail,
    lower: Tail,
}

/// One tail of a mode.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tail {
    /// Where its tenth begins.
    tenth: f64,
    normal: f64,
    exponential: f64,
}

/// Modes of a histogram, from short to long.
pub(super) fn modes(bins: &Bins) -> Vec<Mode> {
    let number = bins.number();
    let least = LEAST.max(number.div_ceil(PART));
    let is_mode = |range: &std::ops::Range<u32>| {
        bins.counts.range(range.clone()).map(|(_, number)| number).sum::<u64>() >= least
    };
    let found: Vec<Mode> = pieces(bins).into_iter().filter(is_mode).filter_map(|it| mode(bins, it)).collect();
    if found.is_empty() { mode(bins, 0..u32::MAX).into_iter().collect() } else { found }
}

/// The histogram cut at its valleys, in fine bins.
fn pieces(bins: &Bins) -> Vec<std::ops::Range<u32>> {
    let mut coarse: Vec<(u32, u64)> = Vec::new();
    for (&bin, &number) in &bins.counts {
        match coarse.last_mut() {
            Some((last, sum)) if *last == bin / COARSE => *sum += number,
            Some((last, _)) if *last + 1 < bin / COARSE => {
                // A gap is a valley of nothing.
                let empty = *last + 1;
                coarse.extend([(empty, 0), (bin / COARSE, number)]);
            }
            _ => coarse.push((bin / COARSE, number)),
        }
    }
    let mut cuts = vec![0];
    // The peak since the last cut, and the least after it.
    let (mut peak, mut valley) = (0_u64, (0_u32, u64::MAX));
    for (place, number) in coarse {
        if valley.1.saturating_mul(VALLEY) <= peak
            && valley.1.saturating_mul(VALLEY) <= number
            && valley.1 < number
        {
            cuts.push(valley.0 * COARSE);
            (peak, valley) = (number, (place, number));
        } else if peak < number {
            (peak, valley) = (number, (place, number));
        } else if number < valley.1 {
            valley = (place, number);
        }
    }
    cuts.push(u32::MAX);
    cuts.windows(2).map(|ends| ends[0]..ends[1]).collect()
}

fn mode(bins: &Bins, range: std::ops::Range<u32>) -> Option<Mode> {
    let at = |part: f64| Some(bins.quantile(range.clone(), part)?.max(1.0).ln());
    let middle = at(0.5)?;
    let least = 1.02_f64.ln().max(CLOCK / middle.exp());
    let tail = |quarter: f64, tenth: f64, end: f64| {
        let (quarter, away, end) = ((quarter - middle).abs(), (tenth - middle).abs(), (end - tenth).abs());
        let normal = (away / Q90).max(quarter / Q75).max(least);
        let exponential = (end / (0.10_f64 / 0.03).ln()).max(normal / 2.0);
        Tail { tenth, normal, exponential }
    };
    let upper = tail(at(0.75)?, at(0.90)?, at(0.97)?);
    let lower = tail(at(0.25)?, at(0.10)?, at(0.03)?);
    Some(Mode { middle, upper, lower })
}

impl Tail {
    /// The probability of a logarithm at least so far away from the middle.
    fn probability(&self, middle: f64, value: f64) -> f64 {
        let normal = normal_tail((value - middle).abs() / self.normal);
        let beyond = (value - middle).abs() - (self.tenth - middle).abs();
        let exponential = if beyond > 0.0 { 0.1 * (-beyond / self.exponential).exp() } else { 0.5 };
        normal.max(exponential)
    }
}

/// How likely a duration is that is longer than a mode's: the probability, and the median of that mode, ns. `None` = it
/// is shorter than all.
pub(super) fn judged(modes: &[Mode], ns: f64) -> Option<(f64, f64)> {
    let value = ns.max(1.0).ln();
    let next = modes.partition_point(|mode| mode.middle <= value);
    let below = modes.get(next.checked_sub(1)?)?;
    let mut probability = below.upper.probability(below.middle, value);
    if let Some(above) = modes.get(next) {
        probability = probability.max(above.lower.probability(above.middle, value));
    }
    Some((probability, below.middle.exp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lengths: impl IntoIterator<Item = u64>) -> Bins {
        let mut bins = Bins::default();
        lengths.into_iter().for_each(|length| bins.add(length));
        bins
    }

    #[test]
    fn what_lies_apart_is_a_mode_and_what_is_rare_is_not() {
        let near = |ms: u64| (0..100).map(move |at| ms * 1_000_000 + at * 1000 * ms);
        let middles = |bins: &Bins| -> Vec<String> {
            modes(bins).iter().map(|mode| format!("{:.0}", (mode.middle.exp() / 5e6).round() * 5.0)).collect()
        };
        assert_eq!(middles(&of(near(10))), ["10"]);
        assert_eq!(middles(&of(near(10).chain(near(100)))), ["10", "105"]);
        // Five of a hundred and five are odd, twelve of a hundred and twelve are a kind.
        assert_eq!(middles(&of(near(10).chain(vec![90_000_000; 5]))), ["10"]);
        assert_eq!(middles(&of(near(10).chain(vec![90_000_000; 12]))), ["10", "90"]);
        assert!(modes(&Bins::default()).is_empty());
    }

    #[test]
    fn a_uniform_distribution_has_one_mode() {
        assert_eq!(modes(&of((1..1000).map(|at| at * 1000))).len(), 1);
    }
}
