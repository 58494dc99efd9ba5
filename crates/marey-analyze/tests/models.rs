//! Models of scaling: known laws are found, constants stay constant, and error bars hold what they promise.
//!
//! The one idea: made-up measurements of which the law is known, exactly and with noise, and a slow reference that was
//! written from `docs/scaling.md` alone.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "models/reference.rs"]
mod reference;

use marey_analyze::{Model, TERMS, Term, student};

/// Numbers that look random and are the same each time (xorshift).
struct Random(u64);

impl Random {
    fn new() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }

    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        #[expect(clippy::cast_precision_loss, reason = "53 bits are kept")]
        let number = (self.0 >> 11) as f64;
        number / 9_007_199_254_740_992.0
    }

    fn below(&mut self, n: usize) -> usize {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "small"
        )]
        let number = (self.unit() * n as f64) as usize;
        number.min(n - 1)
    }

    /// Nearly normal, of mean 0 and deviation 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

const SIZES: [f64; 6] = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

/// Measurements of a law, `repeats` of each size.
fn measured(
    law: impl Fn(f64) -> f64,
    sizes: &[f64],
    repeats: usize,
    noise: f64,
    random: &mut Random,
) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    for &n in sizes {
        for _ in 0..repeats {
            points.push((n, law(n) * (1.0 + noise * random.normal())));
        }
    }
    points
}

fn exponents(term: Option<Term>) -> Option<(f64, i32)> {
    term.map(|term| (term.power(), i32::from(term.log)))
}

#[test]
fn the_hypotheses_are_those_of_the_page() {
    let key = |it: &(f64, i32)| format!("{:.9} {}", it.0, it.1);
    let mut ours: Vec<String> = TERMS.iter().map(|term| key(&exponents(Some(*term)).unwrap())).collect();
    let mut theirs: Vec<String> = reference::hypotheses().iter().map(key).collect();
    ours.sort();
    theirs.sort();
    assert_eq!(ours, theirs);
    assert_eq!(ours.len(), 42 + 13);
}

/// Tables of Student's distribution.
#[test]
fn quantiles_are_those_of_tables() {
    for (probability, freedom, expected) in [
        (0.975, 1, 12.706_205),
        (0.975, 2, 4.302_653),
        (0.975, 3, 3.182_446),
        (0.995, 3, 5.840_909),
        (0.975, 10, 2.228_139),
        (0.995, 30, 2.749_996),
        (0.995, 1, 63.656_741),
    ] {
        let found = student(probability, freedom);
        assert!((found - expected).abs() < 1e-5, "{probability} {freedom}: {found}");
    }
}

/// Each law comes back from its exact values, with its coefficients, whatever they are.
#[test]
fn exact_laws_are_found() {
    let mut random = Random::new();
    for term in TERMS {
        for (from, _) in SIZES.iter().zip(0..2) {
            let sizes: Vec<f64> = SIZES.iter().map(|n| n * from / 2.0).collect();
            let c = 10f64.powf(6.0 * random.unit() - 3.0);
            let k = if random.below(3) == 0 { 0.0 } else { c * 10.0 * random.unit() };
            let law = |n: f64| k + c * term.at(n);
            let model = Model::fit(&measured(law, &sizes, 1, 0.0, &mut random)).unwrap();
            assert_eq!(model.term, Some(term), "{k} + {c} {term:?}");
            let near = |found: f64, expected: f64| (found - expected).abs() <= 1e-6 * law(sizes[0]).max(c);
            assert!(near(model.constant, k) && near(model.coefficient, c), "{k} + {c} {term:?}: {model:?}");
            let far = model.predict(sizes[5] * 4.0);
            let expected = law(sizes[5] * 4.0);
            assert!((far.value / expected - 1.0).abs() < 1e-6 && !far.is_far);
            assert!((far.upper - far.lower) / expected < 1e-6, "{far:?}");
        }
    }
}

#[test]
fn laws_that_are_not_powers_alone_are_kept_within_reason() {
    let fit = |law: &dyn Fn(f64) -> f64| {
        let points: Vec<(f64, f64)> = SIZES.iter().map(|n| (*n, law(*n))).collect();
        Model::fit(&points).unwrap()
    };
    // n - 1 messages: a negative constant is right.
    let model = fit(&|n| n - 1.0);
    assert_eq!(exponents(model.term), Some((1.0, 0)));
    assert!((model.constant + 1.0).abs() < 1e-9);
    // (n - 1) / n of the data: rises to a limit.
    let model = fit(&|n| 100.0 * (n - 1.0) / n);
    assert_eq!(exponents(model.term), Some((-1.0, 0)));
    assert!((model.predict(1e6).value - 100.0).abs() < 0.01);
    // Falls in a straight line: no prediction is less than nothing.
    let model = fit(&|n| 100.0 - n);
    for n in [128.0, 1024.0, 1e6] {
        assert!(0.0 <= model.predict(n).value && 0.0 <= model.predict(n).lower, "{model:?}");
    }
    // Falls a little faster than 1/n: it comes to nothing, and not to less.
    let model = fit(&|n| 100.0 / n - 1.0);
    assert!(0.0 <= model.constant && 0.0 < model.predict(1024.0).value, "{model:?}");
    // None at all with one rank.
    let points: Vec<(f64, f64)> =
        [1.0f64, 2.0, 4.0, 8.0, 16.0].iter().map(|n| (*n, 3.0 * n * n.log2())).collect();
    assert_eq!(exponents(Model::fit(&points).unwrap().term), Some((1.0, 1)));
    // Of a difference both signs are right.
    let points: Vec<(f64, f64)> = SIZES.iter().map(|n| (*n, 10.0 - 2.0 * n)).collect();
    let model = Model::fit(&points).unwrap();
    assert_eq!(exponents(model.term), Some((1.0, 0)));
    assert!((model.predict(128.0).value + 246.0).abs() < 1e-6);
}

#[test]
fn constants_stay_constant() {
    for value in [0.0, 1.0, 1e-9, 12345.678] {
        let points: Vec<(f64, f64)> = SIZES.iter().map(|n| (*n, value)).collect();
        let model = Model::fit(&points).unwrap();
        assert_eq!(model.term, None);
        let found = model.predict(1024.0);
        assert!((found.value - value).abs() <= 1e-12 * value);
        assert!((found.upper - found.lower).abs() <= 1e-6 * value && found.is_far);
    }
    let mut random = Random::new();
    for (sizes, repeats, noise) in
        [(3, 1, 0.05), (4, 1, 0.05), (5, 1, 0.01), (5, 1, 0.05), (6, 5, 0.05), (10, 1, 0.05)]
    {
        let sizes: Vec<f64> = (0..sizes).map(|i| 2f64.powi(i)).collect();
        let told = (0..1000)
            .filter(|_| {
                let points = measured(|_| 3.0, &sizes, repeats, noise, &mut random);
                Model::fit(&points).unwrap().term.is_some()
            })
            .count();
        eprintln!(
            "{} sizes, {repeats} repeats, noise {noise}: {told} of 1000 constants told as growing",
            sizes.len()
        );
        assert!(told <= 50, "{told}");
    }
}

/// One value that sticks out at an end is no law, however steep a curve could be laid through it.
#[test]
fn a_single_value_is_no_growth() {
    for values in [[1.2000, 1.2001, 1.2002, 1.2003, 1.2235], [2.0, 1.0001, 1.0002, 1.0000, 1.0001]] {
        let points: Vec<(f64, f64)> = [1.0, 2.0, 3.0, 4.0, 6.0].into_iter().zip(values).collect();
        let model = Model::fit(&points).unwrap();
        assert_eq!(model.term, None, "{values:?}");
        let mean = values.iter().sum::<f64>() / 5.0;
        assert!((model.constant - mean).abs() < 1e-12);
    }
}

#[test]
fn what_is_not_explained_is_no_constant() {
    let fit = |values: [f64; 3]| {
        let points: Vec<(f64, f64)> = [1.0, 2.0, 4.0].into_iter().zip(values).collect();
        let model = Model::fit(&points).unwrap();
        assert_eq!(model.term, None, "{values:?}");
        model.is_unclear()
    };
    assert!(fit([120.0, 178.0, 240.0]));
    assert!(!fit([100.0, 110.0, 95.0]));
    assert!(!fit([0.0, 0.0, 0.0]));
}

/// What may be a constant and may double has a bar with room for both.
#[test]
fn what_is_unclear_is_not_told_as_if_it_stayed() {
    // 100·(1 + 0.14·log₂ n), about, by the first four; the last falls out.
    let points = [(1.0, 100.0), (2.0, 113.0), (4.0, 129.0), (8.0, 140.0), (16.0, 115.0)];
    let model = Model::fit(&points).unwrap();
    assert!(model.is_unclear());
    let found = model.predict(64.0);
    assert!((found.value - 119.4).abs() < 1e-9);
    // Either may go on: as it fell at last, or as it grew before.
    assert!(found.lower <= 119.4 && 100.0 * (1.0 + 0.14 * 6.0) <= found.upper, "{found:?}");
    assert!(model.plausible().count() > 1);
    // What hardly differs is a constant, and known to be.
    let steady = Model::fit(&points.map(|(n, value)| (n, 119.4 + (value - 119.4) / 4.0))).unwrap();
    assert!(!steady.is_unclear() && steady.plausible().count() == 1);
    assert!(steady.predict(64.0).upper < 150.0);
}

#[test]
fn few_sizes_give_a_warning_or_no_model() {
    let points = |n: usize| -> Vec<(f64, f64)> { SIZES[..n].iter().map(|n| (*n, 2.0 * n)).collect() };
    assert!(Model::fit(&[]).is_none());
    for n in 1..3 {
        assert!(Model::fit(&points(n)).is_none(), "{n}");
        // Repeats are no sizes.
        assert!(Model::fit(&points(n).repeat(5)).is_none(), "{n}");
    }
    for n in 3..6 {
        let model = Model::fit(&points(n)).unwrap();
        assert_eq!(exponents(model.term), Some((1.0, 0)), "{n}");
        assert_eq!(model.has_few_sizes(), n < 5);
    }
    // No logarithm below 1.
    let halves: Vec<(f64, f64)> = SIZES.iter().map(|n| (n / 4.0, 5.0 + (n / 4.0).log2())).collect();
    assert!(exponents(Model::fit(&halves).unwrap().term).is_none_or(|it| it.1 == 0));
    // What cannot be counted with is no measurement.
    assert!(Model::fit(&[(1.0, f64::NAN), (2.0, 1.0), (4.0, 1.0)]).is_none());
    assert!(
        Model::fit(&[(0.0, 1.0), (2.0, 1.0), (4.0, 1.0), (8.0, 1.0)]).is_some_and(|it| it.has_few_sizes())
    );
    assert!(
        Model::fit(&[(1.0, f64::MAX), (2.0, f64::MAX), (4.0, f64::MAX)]).is_none_or(|it| it.term.is_none())
    );
}

/// The same as the slow reference says: term, coefficients, cross-validation, error bars.
#[test]
fn noisy_laws_agree_with_the_reference() {
    let mut random = Random::new();
    for case in 0..300 {
        let term = TERMS[random.below(TERMS.len())];
        let noise = [0.001, 0.01, 0.05, 0.2][random.below(4)];
        let sizes: Vec<f64> =
            (0..3 + random.below(6)).map(|i| 2f64.powi(i32::try_from(i).unwrap())).collect();
        let sign = if random.below(8) == 0 { -1.0 } else { 1.0 };
        let k = 5.0 * random.unit();
        let points = measured(|n| sign * (k + term.at(n)), &sizes, 1 + random.below(3), noise, &mut random);
        let found = Model::fit(&points).unwrap();
        let expected = reference::model(&points).unwrap();
        assert_eq!(
            exponents(found.term).map(|it| format!("{:.6} {}", it.0, it.1)),
            expected.best.exponents.map(|it| format!("{:.6} {}", it.0, it.1)),
            "case {case}: {points:?}"
        );
        let near = |what: &str, found: f64, expected: f64, scale: f64| {
            assert!((found - expected).abs() <= 1e-6 * scale, "case {case}, {what}: {found} {expected}");
        };
        let scale = points.iter().map(|it| it.1.abs()).fold(0.0, f64::max);
        near("constant", found.constant, expected.best.k, scale);
        near("coefficient", found.coefficient, expected.best.c, scale + expected.best.c.abs());
        near("cv", found.cross_validation, expected.cv, 1.0);
        assert_eq!(found.plausible().count(), expected.plausible.len(), "case {case}");
        for n in [1.0, 3.0, 100.0, 1000.0] {
            let (prediction, (lower, value, upper)) = (found.predict(n), expected.predict(n));
            let scale = value.abs() + upper.abs() + lower.abs();
            near("value", prediction.value, if sign > 0.0 { value.max(0.0) } else { value }, scale);
            near("lower", prediction.lower, lower, scale);
            near("upper", prediction.upper, upper, scale);
        }
    }
}

/// What is found of laws with noise, over many random cases; `docs/scaling.md` states the figures.
#[test]
fn noisy_laws_are_found_and_predicted() {
    let mut random = Random::new();
    // Sizes, repeats, noise; least shares in percent: right exponents, prediction within 25 %, within its bar.
    for (sizes, repeats, noise, least) in [
        (6, 5, 0.01, [85, 95, 90]),
        (6, 1, 0.01, [80, 90, 90]),
        (6, 5, 0.05, [60, 85, 90]),
        (6, 1, 0.05, [40, 75, 90]),
        (5, 1, 0.05, [30, 60, 90]),
        (8, 3, 0.02, [80, 90, 90]),
    ] {
        let sizes: Vec<f64> = (1..=sizes).map(|i| 2f64.powi(i)).collect();
        let largest = *sizes.last().unwrap();
        let n = 250;
        let mut shares = [0; 4];
        let mut widths = Vec::new();
        for _ in 0..n {
            let term = TERMS[random.below(TERMS.len())];
            // The constant is as much as the term somewhere among the sizes, or there is none.
            let at = sizes[random.below(sizes.len())];
            let k = if random.below(2) == 0 { 0.0 } else { term.at(at) };
            let law = |n: f64| k + term.at(n);
            let model = Model::fit(&measured(law, &sizes, repeats, noise, &mut random)).unwrap();
            let found = model.predict(4.0 * largest);
            let once = measured(law, &[4.0 * largest], 1, noise, &mut random)[0].1;
            shares[0] += usize::from(model.term == Some(term));
            shares[1] += usize::from((found.value / law(4.0 * largest) - 1.0).abs() <= 0.25);
            shares[2] += usize::from(found.lower <= once && once <= found.upper);
            let plausible: Vec<Term> = model.plausible().flatten().collect();
            shares[3] += usize::from(plausible.contains(&term));
            widths.push((found.upper - found.lower) / 2.0 / law(4.0 * largest));
        }
        let shares = shares.map(|share| share * 1000 / n);
        widths.sort_by(f64::total_cmp);
        eprintln!(
            "{} sizes, {repeats} repeats, noise {noise}: ‰ right {}, within 25 % {}, within the bar {}, plausible {}; \
             median half bar {:.3}",
            sizes.len(),
            shares[0],
            shares[1],
            shares[2],
            shares[3],
            widths[n / 2]
        );
        for (share, least) in shares.iter().zip(least) {
            assert!(least * 10 <= *share, "{shares:?}");
        }
    }
}
