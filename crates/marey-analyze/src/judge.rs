//! Whether one group of runs is slower than another, or only seems so.
//!
//! The one idea: times of runs are distributed in ways that nobody knows, so they are compared by rank alone: the ratio
//! of two groups and an interval that contains it in 95 of 100 cases, whatever the distribution, with probabilities that
//! are counted and not approximated. Where the interval cannot tell, no verdict is given.
//!
//! The definitions and their sources are those of `docs/compare.md`.
//!
//! What is deliberately absent: where values come from.

/// How much more one group has than another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ratio {
    /// The estimate: candidate over baseline.
    pub ratio: f64,
    /// The interval.
    pub lower: f64,
    /// Its other end.
    pub upper: f64,
}

/// What is said of a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// No slow-down above the threshold was found, and one of twice the threshold is excluded.
    Pass,
    /// There is one, certainly.
    Fail,
    /// Nobody knows, for this reason.
    NoVerdict(Unclear),
}

/// Why there is no verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unclear {
    /// Runs are too few for any statement; this many of each group would do.
    TooFew(usize),
    /// Runs vary too much for so few of them.
    Noise,
    /// In some of the runs the metric has no value.
    NoValue,
    /// Values of 0 or less have no ratio.
    NoRatio,
}

/// A metric, judged.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Judgement {
    /// The verdict.
    pub outcome: Outcome,
    /// Whether it was judged as a number that does not vary.
    pub is_exact: bool,
    /// How much more the candidate has, as a part of the baseline; of what is better the more there is, how much more
    /// the baseline has. Infinite from 0 to something; `None` = not known.
    pub change: Option<f64>,
    /// The interval of the change.
    pub interval: Option<(f64, f64)>,
    /// Median distance of the baseline's values from their median, as a part of it; `None` = not known.
    pub noise: (Option<f64>, Option<f64>),
}

/// How a metric is to be judged.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rule {
    /// Changes above it fail.
    pub threshold: f64,
    /// More of it is better.
    pub is_higher_better: bool,
    /// It does not vary, unless the values show that it does.
    pub is_exact: bool,
    /// Probability of error of the interval.
    pub alpha: f64,
}

/// Whether values are judged as numbers that do not vary: then they count for no other metric's interval.
pub fn is_exact(rule: &Rule, baseline: &[Option<f64>], candidate: &[Option<f64>]) -> bool {
    let is_one = |values: &[Option<f64>]| values.windows(2).all(|pair| pair[0] == pair[1]);
    rule.is_exact && is_one(baseline) && is_one(candidate)
}

/// Judges the values of a metric; `None` = the run has none.
pub fn judge(rule: &Rule, baseline: &[Option<f64>], candidate: &[Option<f64>]) -> Judgement {
    let is_exact = is_exact(rule, baseline, candidate);
    let unclear = |why| Judgement {
        outcome: Outcome::NoVerdict(why),
        is_exact,
        change: None,
        interval: None,
        noise: (None, None),
    };
    let known = |values: &[Option<f64>]| values.iter().copied().collect::<Option<Vec<f64>>>();
    let (Some(mut old), Some(mut new)) = (known(baseline), known(candidate)) else {
        return unclear(Unclear::NoValue);
    };
    let (Some(&first_old), Some(&first_new)) = (old.first(), new.first()) else {
        return unclear(Unclear::NoValue);
    };
    let noise = (noise(&old), noise(&new));
    if rule.is_higher_better {
        std::mem::swap(&mut old, &mut new);
    }
    if is_exact {
        let (from, to) = if rule.is_higher_better { (first_new, first_old) } else { (first_old, first_new) };
        let change = change_of(from, to);
        let outcome = if change > rule.threshold { Outcome::Fail } else { Outcome::Pass };
        return Judgement { outcome, is_exact, change: Some(change), interval: None, noise };
    }
    let all_equal = old.iter().chain(&new).all(|value| *value == first_old);
    let is_enough = rank(old.len(), new.len(), rule.alpha).is_some();
    if old.iter().chain(&new).any(|value| *value <= 0.0) {
        let outcome = match (is_enough, all_equal) {
            (true, true) => Outcome::Pass,
            (true, false) => Outcome::NoVerdict(Unclear::NoRatio),
            (false, _) => Outcome::NoVerdict(Unclear::TooFew(least_runs(rule.alpha))),
        };
        let change = all_equal.then_some(0.0);
        return Judgement { outcome, is_exact, change, interval: None, noise };
    }
    let Some(found) = ratio(&old, &new, rule.alpha) else {
        let outcome = Outcome::NoVerdict(Unclear::TooFew(least_runs(rule.alpha)));
        let change = median(&quotients(&old, &new)).map(|ratio| ratio - 1.0);
        return Judgement { outcome, is_exact, change, interval: None, noise };
    };
    let (change, lower, upper) = (found.ratio - 1.0, found.lower - 1.0, found.upper - 1.0);
    let outcome = if lower > rule.threshold {
        Outcome::Fail
    } else if change <= rule.threshold && upper <= 2.0 * rule.threshold {
        Outcome::Pass
    } else {
        Outcome::NoVerdict(Unclear::Noise)
    };
    Judgement { outcome, is_exact, change: Some(change), interval: Some((lower, upper)), noise }
}

/// How much more `to` is, as a part of `from`.
fn change_of(from: f64, to: f64) -> f64 {
    match (from, to) {
        _ if from == to => 0.0,
        (0.0, _) if to > 0.0 => f64::INFINITY,
        (0.0, _) => f64::NEG_INFINITY,
        _ => (to - from) / from.abs(),
    }
}

/// The ratio of two groups of positive values, and its interval; `None` = there are too few for one. Of more than 200 values
/// the first 200 count. Time grows with the square of the smaller group times the larger.
pub fn ratio(baseline: &[f64], candidate: &[f64], alpha: f64) -> Option<Ratio> {
    let [baseline, candidate] = [baseline, candidate].map(|values| &values[..values.len().min(MOST)]);
    let rank = rank(baseline.len(), candidate.len(), alpha)?;
    let quotients = quotients(baseline, candidate);
    Some(Ratio {
        ratio: median(&quotients)?,
        lower: *quotients.get(rank)?,
        upper: *quotients.get(quotients.len().checked_sub(rank + 1)?)?,
    })
}

/// All quotients of a value of the candidate and one of the baseline, in order.
fn quotients(baseline: &[f64], candidate: &[f64]) -> Vec<f64> {
    let mut quotients: Vec<f64> =
        candidate.iter().flat_map(|new| baseline.iter().map(move |old| new / old)).collect();
    quotients.sort_by(f64::total_cmp);
    quotients
}

/// The median of values in order; of an even number, the mean of the two in the middle.
fn median(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len();
    if n == 0 {
        return None;
    }
    Some(f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]))
}

/// How much values vary: the median of their distances from their median, as a part of that.
pub fn noise(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = median(&sorted)?;
    let mut distances: Vec<f64> = sorted.iter().map(|value| (value - middle).abs()).collect();
    distances.sort_by(f64::total_cmp);
    let noise = median(&distances)? / middle.abs();
    noise.is_finite().then_some(noise)
}

/// More values than that are not needed, and take long.
const MOST: usize = 200;

/// The largest `c` with `2 P(U ≤ c) ≤ α`, for `n` and `m` values of one distribution; `None` = there is none.
pub fn rank(n: usize, m: usize, alpha: f64) -> Option<usize> {
    let mut sum = 0.0;
    let mut rank = None;
    for (c, probability) in probabilities(n, m).into_iter().enumerate() {
        sum += probability;
        if 2.0 * sum > alpha {
            break;
        }
        rank = Some(c);
    }
    rank
}

/// P(U = 0), P(U = 1) … of Mann and Whitney's statistic. The numbers of ways to get each value are the coefficients of
/// Gauss's polynomial ∏ (1 − q^(m+i)) / (1 − q^i), over all i from 1 to n; factor by factor, so that no number is large.
fn probabilities(n: usize, m: usize) -> Vec<f64> {
    let (n, m) = (n.min(MOST), m.min(MOST));
    if n == 0 || m == 0 {
        return Vec::new();
    }
    let mut ways = vec![0.0; n * m + 1];
    ways[0] = 1.0;
    for i in 1..=n {
        for at in (m + i..ways.len()).rev() {
            ways[at] -= ways[at - (m + i)];
        }
        for at in i..ways.len() {
            ways[at] += ways[at - i];
        }
        #[expect(clippy::cast_precision_loss, reason = "there are few values")]
        let scale = i as f64 / (m + i) as f64;
        ways.iter_mut().for_each(|ways| *ways *= scale);
    }
    ways
}

/// How many runs of each group are the least that can give a verdict.
pub fn least_runs(alpha: f64) -> usize {
    (1..MOST).find(|&n| rank(n, n, alpha).is_some()).unwrap_or(MOST)
}
