//! What statistics says of lists of numbers: medians, the normal distribution, trends.
//!
//! The one idea: the same figures everywhere, where it matters robust ones, which a few wild values do not move.
//!
//! What is deliberately absent: histograms ([`crate::bins`]).

/// From the median absolute deviation to the standard deviation of a normal distribution.
pub(crate) const MAD_TO_SD: f64 = 1.4826;

/// Sums of whole numbers and of their squares: exact, whatever their order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moments {
    number: u64,
    sum: u128,
    squares: u128,
}

impl Moments {
    /// Counts one more value.
    pub fn add(&mut self, value: u64) {
        self.number += 1;
        self.sum += u128::from(value);
        self.squares = self.squares.saturating_add(u128::from(value) * u128::from(value));
    }

    /// How many values there were.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Their mean; 0 of none.
    #[expect(clippy::cast_precision_loss, reason = "16 digits are enough")]
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.number.max(1) as f64
    }

    /// Their standard deviation, of all of them and not of a sample; none where sums are too large to be told apart.
    #[expect(clippy::cast_precision_loss, reason = "16 digits are enough")]
    pub fn deviation(&self) -> Option<f64> {
        // n² times the variance, in whole numbers: a difference of large ones.
        let squares = u128::from(self.number).checked_mul(self.squares)?;
        let variance = squares.checked_sub(self.sum.checked_mul(self.sum)?)?;
        Some((variance as f64).sqrt() / self.number.max(1) as f64)
    }
}

/// The median: of an even number, the mean of both in the middle; 0 of none. Takes time in proportion to the list, whose
/// order it changes.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    let half = values.len() / 2;
    if values.is_empty() {
        return 0.0;
    }
    let is_odd = values.len() % 2 == 1;
    let (below, &mut middle, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    if is_odd { middle } else { 0.5 * (middle + below.iter().copied().fold(f64::NEG_INFINITY, f64::max)) }
}

/// The value that this part of all lies below, interpolated; 0 of none. Puts the list in order.
#[expect(clippy::cast_precision_loss, reason = "lists have fewer than 2⁵³ values")]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in the list")]
pub(crate) fn quantile(values: &mut [f64], part: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else { return 0.0 };
    let at = part.clamp(0.0, 1.0) * last as f64;
    let below = at.floor() as usize;
    let above = (below + 1).min(last);
    values[below] + (values[above] - values[below]) * (at - at.floor())
}

/// The probability that a normal variable is larger than `z` standard deviations above its mean.
pub(crate) fn normal_tail(z: f64) -> f64 {
    0.5 * erfc(z / std::f64::consts::SQRT_2)
}

/// The complementary error function, by a Chebyshev fit whose relative error is below 1.2·10⁻⁷ everywhere (W. Press et
/// al., *Numerical Recipes*, 6.2).
fn erfc(x: f64) -> f64 {
    const C: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let t = 1.0 / (1.0 + 0.5 * x.abs());
    let sum = C.iter().rev().fold(0.0, |sum, c| sum * t + c);
    let tail = t * (sum - x * x).exp();
    if x >= 0.0 { tail } else { 2.0 - tail }
}

/// How many standard deviations above the mean a normal variable is larger with probability `tail`.
pub(crate) fn normal_quantile_above(tail: f64) -> f64 {
    // The tail falls steadily, so halving finds it; 40 is beyond what a float can tell from 0.
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if normal_tail(middle) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Standard deviation of all values, not of a sample, and their mean.
#[expect(clippy::cast_precision_loss, reason = "lists have fewer than 2⁵³ values")]
pub(crate) fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (mean, (squares / n).sqrt())
}

/// A trend of values in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Trend {
    /// Median slope of all pairs, by place in the row.
    pub(crate) slope: f64,
    /// The probability that chance alone gives as much of a trend (two-sided).
    pub(crate) p: f64,
}

/// The trend of Theil and Sen, with the significance of Mann and Kendall: O(n²), for short lists.
pub(crate) fn trend(values: &[f64]) -> Trend {
    let n = values.len();
    if n < 3 {
        return Trend { slope: 0.0, p: 1.0 };
    }
    let mut slopes = Vec::with_capacity(n * (n - 1) / 2);
    let mut score = 0_i64;
    for (at, value) in values.iter().enumerate() {
        for (distance, later) in (1_u32..).zip(&values[at + 1..]) {
            slopes.push((later - value) / f64::from(distance));
            score += i64::from(later > value) - i64::from(later < value);
        }
    }
    let slope = median(&mut slopes);
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, reason = "lists are short")]
    let term = |n: usize| n as f64 * (n as f64 - 1.0) * (2.0 * n as f64 + 5.0);
    let ties: f64 = sorted.chunk_by(|a, b| a == b).map(|tied| term(tied.len())).sum();
    let variance = (term(n) - ties) / 18.0;
    #[expect(clippy::cast_precision_loss, reason = "lists are short")]
    let z = (score.abs() as f64 - 1.0).max(0.0) / variance.max(1.0).sqrt();
    Trend { slope, p: (2.0 * normal_tail(z)).min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_exact() {
        let mut moments = Moments::default();
        [1 << 40, (1 << 40) + 2, (1 << 40) + 4].into_iter().for_each(|value| moments.add(value));
        assert!((moments.deviation().unwrap() - (8.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        (0..3).for_each(|_| moments.add(u64::MAX));
        assert_eq!(moments.deviation(), None, "too large to be told apart");
    }

    /// Values of published tables.
    #[test]
    fn the_normal_distribution_is_that_of_tables() {
        for (z, tail) in [(0.0, 0.5), (1.0, 0.158_655_25), (2.326_347_87, 0.01), (5.0, 2.866_515_7e-7)] {
            assert!((normal_tail(z) / tail - 1.0).abs() < 1e-6, "{z}: {}", normal_tail(z));
            assert!((normal_quantile_above(tail) - z).abs() < 1e-6, "{tail}");
        }
        assert!((normal_tail(-1.0) - 0.841_344_75).abs() < 1e-6);
        assert!((normal_tail(10.0) / 7.619_853e-24 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn quantiles_lie_between_values() {
        assert!((median(&mut [3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
        assert!((median(&mut [4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-12);
        assert!((quantile(&mut [0.0, 10.0], 0.9) - 9.0).abs() < 1e-12);
        assert!(median(&mut []).abs() < 1e-12);
    }

    /// Slopes of all pairs of 1, 2, 4, 3 are 1, 1½, ⅔, 2, ½, −1: their median is (⅔ + 1) / 2. The score is 4, the variance
    /// 4 · 3 · 13 / 18, so z = 3 / 2.9439.
    #[test]
    fn trends_are_those_worked_out_by_hand() {
        let found = trend(&[1.0, 2.0, 4.0, 3.0]);
        assert!((found.slope - 5.0 / 6.0).abs() < 1e-12, "{found:?}");
        assert!((found.p - 2.0 * normal_tail(3.0 / (156.0_f64 / 18.0).sqrt())).abs() < 1e-12);
        assert!((trend(&[5.0; 10]).p - 1.0).abs() < 1e-6);
    }
}
