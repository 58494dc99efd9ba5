//! How durations are distributed, in little memory and to two per cent.
//!
//! The one idea: bins of whole numbers, 32 an octave, of which only those are kept that have something in them; exact
//! below 64 ns.
//!
//! What is deliberately absent: what is usual and what is not.

use std::collections::BTreeMap;

/// log₂ of the number of bins an octave.
const FINE: u32 = 5;
/// Bins an octave.
pub(crate) const OCTAVE: u32 = 1 << FINE;

/// Counts by bin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bins {
    pub(crate) counts: BTreeMap<u32, u64>,
}

/// The bin of a duration, ns.
pub(crate) fn bin_of(ns: u64) -> u32 {
    if ns < u64::from(2 * OCTAVE) {
        return u32::try_from(ns).unwrap_or(0);
    }
    let octave = ns.ilog2();
    let fine = u32::try_from(ns >> (octave - FINE)).unwrap_or(0) - OCTAVE;
    (octave - FINE) * OCTAVE + OCTAVE + fine
}

/// The least duration of a bin, ns.
pub(crate) fn least_of(bin: u32) -> u64 {
    if bin < 2 * OCTAVE {
        return u64::from(bin);
    }
    let octave = bin / OCTAVE - 1;
    (u64::from(bin % OCTAVE) + u64::from(OCTAVE)).checked_shl(octave).unwrap_or(u64::MAX)
}

impl Bins {
    pub(crate) fn add(&mut self, ns: u64) {
        *self.counts.entry(bin_of(ns)).or_default() += 1;
    }

    pub(crate) fn add_all(&mut self, other: &Self) {
        for (&bin, number) in &other.counts {
            *self.counts.entry(bin).or_default() += number;
        }
    }

    /// All counts.
    pub(crate) fn number(&self) -> u64 {
        self.counts.values().sum()
    }

    /// The duration that this part of those in a range of bins lies below, ns; `None` if there are none. Within a bin
    /// they are taken to lie evenly.
    #[expect(clippy::cast_precision_loss, reason = "counts need no more than 53 bits")]
    pub(crate) fn quantile(&self, bins: std::ops::Range<u32>, part: f64) -> Option<f64> {
        let number: u64 = self.counts.range(bins.clone()).map(|(_, number)| number).sum();
        let wanted = part * number as f64;
        let mut passed = 0.0;
        let mut last = None;
        for (&bin, &number) in self.counts.range(bins) {
            let (from, to) = (least_of(bin) as f64, least_of(bin + 1) as f64);
            let number = number as f64;
            // Exact bins have no width; the middle of what it stands for is the value itself.
            let value =
                if bin < 2 * OCTAVE { from } else { from + (to - from) * ((wanted - passed) / number) };
            if wanted <= passed + number {
                return Some(value);
            }
            passed += number;
            last = Some(to);
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_follow_one_another_and_are_two_to_three_per_cent_wide() {
        for bin in 0..1800 {
            let (least, next) = (least_of(bin), least_of(bin + 1));
            assert_eq!((bin_of(least), bin_of(next - 1)), (bin, bin), "{bin}");
            assert!(bin < 64 || (next - least) * 32 <= least, "{bin}");
        }
        assert!(least_of(bin_of(u64::MAX)) > u64::MAX / 2);
    }

    #[test]
    fn quantiles_are_as_exact_as_bins() {
        let mut bins = Bins::default();
        (1..=1000).for_each(|ms| bins.add(ms * 1_000_000));
        for (part, ms) in [(0.5, 500.0), (0.9, 900.0), (0.01, 10.0)] {
            let found = bins.quantile(0..u32::MAX, part).unwrap() / 1e6;
            assert!((found / ms - 1.0).abs() < 0.03, "{part}: {found}");
        }
        assert_eq!(bins.quantile(0..1, 0.5), None);
    }
}
