//! Medians, and how far to trust them.
//!
//! Random numbers come from a fixed seed: the same samples give the same bound.

/// A median with the extremes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Summary {
    pub median: f64,
    pub least: f64,
    pub greatest: f64,
}

impl Summary {
    /// Of any number of values but none.
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let median = median_of_sorted(&sorted)?;
        Some(Self { median, least: sorted[0], greatest: sorted[sorted.len() - 1] })
    }

    /// The same in a unit that is `factor` times as small.
    pub(super) fn times(self, factor: f64) -> Self {
        Self { median: self.median * factor, least: self.least * factor, greatest: self.greatest * factor }
    }
}

fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    Some(if sorted.len().is_multiple_of(2) { (sorted[middle - 1] + upper) / 2.0 } else { upper })
}

/// A value that the median of the population lies below with a confidence of 95 %, by the
/// percentile bootstrap: the medians of many samples drawn with replacement from this one.
pub(super) fn upper_bound_95(values: &[f64]) -> Option<f64> {
    const RESAMPLES: usize = 10_000;
    let mut random = Random::new();
    let mut medians = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let mut drawn: Vec<f64> = (0..values.len())
            .map(|_| values.get(random.below(values.len())).copied())
            .collect::<Option<_>>()?;
        drawn.sort_by(f64::total_cmp);
        medians.push(median_of_sorted(&drawn)?);
    }
    medians.sort_by(f64::total_cmp);
    medians.get(RESAMPLES * 95 / 100).copied()
}

/// SplitMix64: passes every test that a bootstrap could fail, in three lines.
pub(super) struct Random(u64);

impl Random {
    pub(super) const fn new() -> Self {
        Self(0x006d_6172_6579)
    }

    /// A number below `bound`, which is small beside 2^64, so that the rounding is no matter.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).expect("smaller than a usize")
    }
}

#[cfg(test)]
mod tests {
    use super::{Random, Summary, upper_bound_95};

    fn check_summary(values: &[f64], expected: Option<(f64, f64, f64)>) {
        let expected = expected.map(|(median, least, greatest)| Summary { median, least, greatest });
        assert_eq!(Summary::of(values), expected, "{values:?}");
    }

    #[test]
    fn median_is_the_middle_or_the_mean_of_the_two_in_the_middle() {
        check_summary(&[], None);
        check_summary(&[3.0], Some((3.0, 3.0, 3.0)));
        check_summary(&[9.0, 1.0, 2.0], Some((2.0, 1.0, 9.0)));
        check_summary(&[4.0, 1.0, 2.0, 9.0], Some((3.0, 1.0, 9.0)));
    }

    #[test]
    fn bound_of_equal_values_is_that_value_and_of_none_there_is_none() {
        assert_eq!(upper_bound_95(&[]), None);
        assert_eq!(upper_bound_95(&[1.5; 7]), Some(1.5));
    }

    /// The median of three draws from 1, 2, 3 is 3 with probability 7/27, so 95 % lie at 3; of
    /// fifteen draws from 1 … 15 it exceeds 11 with a probability of 2.5 %, and 10 with 8.8 %.
    #[test]
    fn bound_is_the_percentile_of_the_medians_of_resamples() {
        assert_eq!(upper_bound_95(&[2.0, 3.0, 1.0]), Some(3.0));
        let fifteen: Vec<f64> = (1..=15).map(f64::from).collect();
        assert_eq!(upper_bound_95(&fifteen), Some(11.0));
    }

    #[test]
    fn bound_comes_from_a_fixed_seed() {
        let values: Vec<f64> = (0..20).map(|idx| f64::from(idx * idx % 17)).collect();
        assert_eq!(upper_bound_95(&values), upper_bound_95(&values));
    }

    #[test]
    fn random_numbers_are_below_the_bound_and_spread_evenly() {
        let mut random = Random::new();
        let mut counts = [0_u32; 10];
        (0..10_000).for_each(|_| counts[random.below(10)] += 1);
        // The standard deviation of a count is 30.
        assert!(counts.iter().all(|count| (850..=1150).contains(count)), "{counts:?}");
    }
}
