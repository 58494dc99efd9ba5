//! The statistics of checks: critical values of printed tables, a slow reference, and what they promise, tried out.

use marey_analyze::{Outcome, Rule, Unclear, judge, least_runs, rank, ratio};

const RULE: Rule = Rule { threshold: 0.05, is_higher_better: false, is_exact: false, alpha: 0.05 };

#[test]
fn critical_values_are_those_of_printed_tables() {
    let lines = include_str!("ratios.txt").lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let (n, m, alpha) = (words[0].parse().unwrap(), words[1].parse().unwrap(), words[2].parse().unwrap());
        let expected: Option<usize> = words[3].parse().ok();
        assert_eq!(rank(n, m, alpha), expected, "{line}");
        assert_eq!(rank(m, n, alpha), expected, "{line}");
    }
    // As many runs as the documentation says are the least.
    assert_eq!([0.05, 0.05 / 6.0, 0.05 / 7.0].map(least_runs), [4, 5, 6]);
}

/// Counts the statistic of every way to divide n + m ranks into two groups.
fn counted(n: usize, m: usize, alpha: f64) -> Option<usize> {
    let mut ways = vec![0_u32; n * m + 1];
    let all = 1_u32 << (n + m);
    for set in (0..all).filter(|set| set.count_ones() as usize == n) {
        let is_in = |rank: usize| set >> rank & 1 == 1;
        let pairs = (0..n + m).filter(|&a| is_in(a)).map(|a| (0..a).filter(|&b| !is_in(b)).count());
        ways[pairs.sum::<usize>()] += 1;
    }
    let total: u32 = ways.iter().sum();
    let mut sum = 0;
    let mut at_most = |count: &u32| {
        sum += count;
        2.0 * f64::from(sum) / f64::from(total) <= alpha
    };
    ways.iter().take_while(|count| at_most(count)).count().checked_sub(1)
}

#[test]
fn critical_values_are_those_that_are_counted() {
    for n in 1..=8 {
        for m in 1..=8 {
            for alpha in [0.05, 0.025, 0.01, 0.2] {
                assert_eq!(rank(n, m, alpha), counted(n, m, alpha), "{n} {m} {alpha}");
            }
        }
    }
    // Large numbers: Mann and Whitney's normal approximation, n m / 2 − 1.96 √(n m (n + m + 1) / 12).
    for n in [50_u32, 120, 200] {
        let nm = f64::from(n * n);
        let expected = nm / 2.0 - 1.96 * (nm * f64::from(2 * n + 1) / 12.0).sqrt();
        let found = rank(n as usize, n as usize, 0.05).unwrap();
        assert!((found as f64 - expected).abs() < 0.01 * expected, "{n}: {found} {expected}");
    }
}

/// The bounds are found among the quotients of those values of which the probabilities are.
#[test]
fn of_many_values_the_first_two_hundred_count() {
    let mut random = Random(3);
    let (old, new) = (random.times(300, 0.03, 1.0), random.times(250, 0.03, 1.1));
    let found = ratio(&old, &new, 0.05).unwrap();
    assert_eq!(Some(found), ratio(&old[..200], &new[..200], 0.05));
    assert!(found.lower <= 1.1 && 1.1 <= found.upper && found.upper - found.lower < 0.02, "{found:?}");
}

/// Numbers that look random and are the same each time (xorshift64*).
struct Random(u64);

impl Random {
    /// From 0 to before 1.
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// As runs of programs are: a floor, an exponential tail above it, now and then far more.
    fn time(&mut self, noise: f64, outliers: f64) -> f64 {
        let tail = -(1.0 - self.next()).ln() * noise;
        let outlier = if self.next() < outliers { 10.0 * noise } else { 0.0 };
        1.0 + tail + outlier
    }

    fn times(&mut self, n: usize, noise: f64, factor: f64) -> Vec<f64> {
        (0..n).map(|_| self.time(noise, 0.03) * factor).collect()
    }
}

fn known(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().copied().map(Some).collect()
}

/// The interval holds the true factor as often as it says, of a distribution that is as far from normal as times are.
#[test]
fn intervals_hold_what_they_promise() {
    let mut random = Random(7);
    for (n, m) in [(4, 4), (5, 5), (3, 8), (10, 10)] {
        for factor in [1.0, 1.1] {
            let trials = 4000;
            let inside = (0..trials)
                .filter(|_| {
                    let (old, new) = (random.times(n, 0.03, 1.0), random.times(m, 0.03, factor));
                    let found = ratio(&old, &new, 0.05).unwrap();
                    found.lower <= factor && factor <= found.upper && found.lower <= found.ratio
                })
                .count();
            // 95 % less three standard errors of 4000 trials.
            let share = inside as f64 / f64::from(trials);
            assert!(share >= 0.94, "{n} and {m} runs, factor {factor}: {share}");
            assert!(
                share < 0.995,
                "{n} and {m} runs, factor {factor}: the interval is far too wide: {share}"
            );
        }
    }
}

/// How many of 1000 pairs of groups of 5 fail, and pass.
fn outcomes(noise: f64, outliers: f64, factor: f64) -> (usize, usize) {
    let mut random = Random(11);
    let found: Vec<Outcome> = (0..1000)
        .map(|_| {
            let mut times =
                |factor| -> Vec<f64> { (0..5).map(|_| random.time(noise, outliers) * factor).collect() };
            let (old, new) = (times(1.0), times(factor));
            judge(&RULE, &known(&old), &known(&new)).outcome
        })
        .collect();
    let count = |outcome| found.iter().filter(|found| **found == outcome).count();
    (count(Outcome::Fail), count(Outcome::Pass))
}

#[test]
fn the_same_program_passes_and_a_slower_one_fails() {
    // With noise of 1 %, as quiet machines have it.
    let (fail, pass) = outcomes(0.01, 0.0, 1.0);
    assert!(fail == 0 && pass >= 950, "the same: {fail} fail, {pass} pass");
    let (fail, pass) = outcomes(0.01, 0.0, 1.1);
    assert!(fail >= 950 && pass == 0, "10 % slower: {fail} fail, {pass} pass");
    // A slow-down of just the threshold is at most seldom called one above it.
    let (fail, _) = outcomes(0.01, 0.0, 1.05);
    assert!(fail <= 50, "5 % slower: {fail} fail");
    // One run in 33 takes 10 % longer than the others, by chance. Of 100 groups of 5 such runs 14 have one of them; it
    // costs the candidate a verdict at most, and never makes it fail.
    let (fail, pass) = outcomes(0.01, 0.03, 1.0);
    assert!(fail == 0 && pass >= 860, "the same, outliers: {fail} fail, {pass} pass");
    // Where noise is as large as the threshold, neither is claimed.
    let (fail, _) = outcomes(0.05, 0.03, 1.0);
    assert!(fail <= 10, "noise: {fail} fail");
    let (_, pass) = outcomes(0.05, 0.03, 1.2);
    assert!(pass <= 10, "noise, 20 % slower: {pass} pass");
}

#[test]
fn verdicts_follow_the_documentation() {
    use Outcome::{Fail, NoVerdict, Pass};
    let exact = Rule { is_exact: true, ..RULE };
    let higher = Rule { is_higher_better: true, ..RULE };
    let strict = Rule { threshold: 0.0, is_exact: true, ..RULE };
    let steady = [1.0, 1.001, 0.999, 1.002, 1.003];
    let slower = steady.map(|time| time * 1.2);
    let a_little = steady.map(|time| time * 1.06);
    let noisy = [1.0, 1.3, 0.8, 1.1, 0.7];
    type Case<'a> = (&'a str, Rule, &'a [f64], &'a [f64], Outcome);
    // The estimate is 1, the 3rd largest quotient 1.15: a slow-down of 10 % is not excluded.
    let half_slow = [1.0, 1.0, 1.0, 1.15, 1.15];
    let cases: [Case<'_>; 23] = [
        ("one run of a time", RULE, &[1.0], &[1.0], NoVerdict(Unclear::TooFew(4))),
        ("one run that is twice as slow", RULE, &[1.0], &[2.0], NoVerdict(Unclear::TooFew(4))),
        ("three runs", RULE, &steady[..3], &slower[..3], NoVerdict(Unclear::TooFew(4))),
        ("four runs", RULE, &steady[..4], &slower[..4], Fail),
        ("the same", RULE, &steady, &steady, Pass),
        ("slower", RULE, &steady, &slower, Fail),
        ("faster", RULE, &slower, &steady, Pass),
        ("just above the threshold", RULE, &steady, &a_little, Fail),
        ("not excluded", RULE, &[1.0; 5], &half_slow, NoVerdict(Unclear::Noise)),
        ("noise", RULE, &noisy, &noisy, NoVerdict(Unclear::Noise)),
        ("less of what is better", higher, &slower, &steady, Fail),
        ("more of what is better", higher, &steady, &slower, Pass),
        ("a count", exact, &[100.0], &[100.0], Pass),
        ("a count that grew by 4 %", exact, &[100.0], &[104.0], Pass),
        ("a count that grew by 6 %", exact, &[100.0], &[106.0], Fail),
        ("a count that shrank", exact, &[100.0], &[10.0], Pass),
        ("any more at all", strict, &[100.0], &[101.0], Fail),
        ("from nothing", exact, &[0.0], &[1.0], Fail),
        ("still nothing", exact, &[0.0], &[0.0], Pass),
        ("a count that varies", exact, &[100.0, 101.0], &[100.0, 100.0], NoVerdict(Unclear::TooFew(4))),
        (
            "a count that varies, and grew",
            exact,
            &[100.0, 101.0, 99.0, 98.0],
            &[120.0, 121.0, 122.0, 123.0],
            Fail,
        ),
        ("no waiting at all", RULE, &[0.0; 5], &[0.0; 5], Pass),
        ("from no time to some", RULE, &[0.0; 5], &[0.1; 5], NoVerdict(Unclear::NoRatio)),
    ];
    for (what, rule, old, new, expected) in cases {
        assert_eq!(judge(&rule, &known(old), &known(new)).outcome, expected, "{what}");
    }
    let without = judge(&RULE, &[Some(1.0), None], &known(&steady));
    assert_eq!(without.outcome, NoVerdict(Unclear::NoValue));
}

/// 5 and 5 runs: the estimate is the 13th of 25 quotients, the bounds the 3rd from either end.
#[test]
fn ratio_and_interval_are_those_quotients() {
    let old = [1.0, 2.0, 4.0, 8.0, 16.0];
    let new = [1.0, 32.0, 1024.0, 32_768.0, 1_048_576.0];
    // 2^(5 i − j): all whole exponents from −4 to 20.
    let found = ratio(&old, &new, 0.05).unwrap();
    assert_eq!((found.ratio, found.lower, found.upper), (2_f64.powi(8), 2_f64.powi(-2), 2_f64.powi(18)));
}
