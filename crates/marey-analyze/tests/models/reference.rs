//! Models of scaling, slowly: written from `docs/scaling.md` alone.
//!
//! The one idea: equations are solved by elimination, quantiles by summing up the density, everything is computed anew
//! wherever it is needed.

/// Exponents as the page lists them, in its order: of the power, and of the logarithm.
pub(crate) fn hypotheses() -> Vec<(f64, i32)> {
    let powers = |list: &str, log: i32| -> Vec<(f64, i32)> {
        let number = |text: &str| match text.split_once('/') {
            Some((over, under)) => over.parse::<f64>().unwrap() / under.parse::<f64>().unwrap(),
            None => text.parse().unwrap(),
        };
        list.split(", ").map(|text| (number(text), log)).collect()
    };
    let none = "1/4, 1/3, 1/2, 2/3, 3/4, 4/5, 1, 5/4, 4/3, 3/2, 5/3, 7/4, 2, 9/4, 7/3, 5/2, 8/3, 11/4, 3";
    let falling = "-1/4, -1/3, -1/2, -2/3, -3/4, -4/5, -1, -5/4, -4/3, -3/2, -5/3, -7/4, -2";
    [
        powers(none, 0),
        powers("0, 1/4, 1/3, 1/2, 2/3, 3/4, 1, 5/4, 4/3, 3/2, 2, 5/2, 3", 1),
        powers("0, 1/4, 1/3, 1/2, 2/3, 3/4, 1, 3/2, 2, 5/2", 2),
        powers(falling, 0),
    ]
    .concat()
}

pub(crate) fn term(n: f64, (power, log): (f64, i32)) -> f64 {
    n.powf(power) * n.log2().powi(log)
}

/// A fitted hypothesis.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    pub(crate) exponents: Option<(f64, i32)>,
    pub(crate) k: f64,
    pub(crate) c: f64,
    has_k: bool,
    squares: f64,
}

impl Fitted {
    pub(crate) fn at(&self, n: f64) -> f64 {
        self.k + self.exponents.map_or(0.0, |exponents| self.c * term(n, exponents))
    }

    fn row(&self, n: f64) -> Vec<f64> {
        let one = self.has_k.then_some(1.0);
        one.into_iter().chain(self.exponents.map(|exponents| term(n, exponents))).collect()
    }
}

/// What is known of the values.
struct Data {
    sizes: Vec<f64>,
    values: Vec<f64>,
    weights: Vec<f64>,
    repeats: f64,
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let n = values.len();
    if n % 2 == 1 { values[n / 2] } else { f64::midpoint(values[n / 2 - 1], values[n / 2]) }
}

#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn float(n: usize) -> f64 {
    n as f64
}

fn data(points: &[(f64, f64)]) -> Data {
    let mut sizes: Vec<f64> = points.iter().map(|point| point.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let of = |n: f64| points.iter().filter(|point| point.0 == n).map(|point| point.1).collect::<Vec<_>>();
    let values: Vec<f64> = sizes.iter().map(|n| median(&of(*n))).collect();
    let most = values.iter().map(|y| y.abs()).fold(0.0, f64::max);
    let weights: Vec<f64> = values.iter().map(|y| y.abs().max(most / 100.0)).collect();
    let (mut squares, mut freedom) = (0.0, 0);
    for (n, w) in sizes.iter().zip(&weights) {
        let all = of(*n);
        let mean = all.iter().sum::<f64>() / float(all.len());
        squares += all.iter().map(|y| ((y - mean) / w).powi(2)).sum::<f64>();
        freedom += all.len() - 1;
    }
    let repeats = if freedom == 0 { 0.0 } else { squares / float(freedom) };
    Data { sizes, values, weights, repeats }
}

/// Solves A·x = b by elimination with pivots.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for i in 0..n {
        let pivot = (i..n).max_by(|&p, &q| a[p][i].abs().total_cmp(&a[q][i].abs())).unwrap();
        a.swap(i, pivot);
        b.swap(i, pivot);
        for j in i + 1..n {
            let factor = a[j][i] / a[i][i];
            let row = a[i].clone();
            a[j].iter_mut().zip(&row).for_each(|(to, from)| *to -= factor * from);
            b[j] -= factor * b[i];
        }
    }
    let mut x = vec![0.0; n];
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| a[i][j] * x[j]).sum();
        x[i] = (b[i] - known) / a[i][i];
    }
    x
}

/// The matrix of the normal equations.
fn normal(rows: &[Vec<f64>], weights: &[f64]) -> Vec<Vec<f64>> {
    let p = rows[0].len();
    let cell = |i: usize, j: usize| -> f64 {
        rows.iter().zip(weights).map(|(row, w)| row[i] * row[j] / w / w).sum()
    };
    (0..p).map(|i| (0..p).map(|j| cell(i, j)).collect()).collect()
}

/// Least squares of a hypothesis, without the value of number `left_out`.
fn least(data: &Data, exponents: Option<(f64, i32)>, has_k: bool, left_out: Option<usize>) -> Fitted {
    let mut fitted = Fitted { exponents, k: 0.0, c: 0.0, has_k, squares: 0.0 };
    let kept: Vec<usize> = (0..data.sizes.len()).filter(|i| Some(*i) != left_out).collect();
    let rows: Vec<Vec<f64>> = kept.iter().map(|&i| fitted.row(data.sizes[i])).collect();
    let weights: Vec<f64> = kept.iter().map(|&i| data.weights[i]).collect();
    let right = (0..rows[0].len())
        .map(|column| {
            let parts = kept.iter().zip(&rows).zip(&weights);
            parts.map(|((&i, row), w)| row[column] * data.values[i] / w / w).sum()
        })
        .collect();
    let mut found = solve(normal(&rows, &weights), right).into_iter();
    if has_k {
        fitted.k = found.next().unwrap();
    }
    fitted.c = found.next().unwrap_or(0.0);
    let residual = |&i: &usize| ((fitted.at(data.sizes[i]) - data.values[i]) / data.weights[i]).powi(2);
    fitted.squares = kept.iter().map(residual).sum();
    fitted
}

/// The constant as it is told.
fn mean(data: &Data, left_out: Option<usize>) -> Fitted {
    let kept: Vec<f64> =
        (0..data.values.len()).filter(|i| Some(*i) != left_out).map(|i| data.values[i]).collect();
    let k = kept.iter().sum::<f64>() / float(kept.len());
    let most = data.values.iter().map(|y| y.abs()).fold(0.0, f64::max);
    let w = k.abs().max(most / 100.0);
    let squares = kept.iter().map(|y| ((y - k) / w).powi(2)).sum();
    Fitted { exponents: None, k, c: 0.0, has_k: true, squares }
}

/// Step 1.
fn fitted(data: &Data, exponents: (f64, i32), left_out: Option<usize>) -> Option<Fitted> {
    let is_growing = exponents.0 > 0.0 || exponents.1 > 0;
    let smallest = data.values.iter().map(|y| y.abs()).filter(|y| *y > 0.0).fold(f64::INFINITY, f64::min);
    let may_be_negative = data.values.iter().any(|y| *y < 0.0);
    let mut found = least(data, Some(exponents), true, left_out);
    let is_wrong = !may_be_negative && !is_growing && found.k < 0.0;
    if is_wrong || found.k.abs() < smallest / 2000.0 {
        found = least(data, Some(exponents), false, left_out);
    }
    let is_allowed = may_be_negative || !is_growing || found.c >= 0.0;
    is_allowed.then_some(found)
}

/// The last condition of step 3.
fn is_foreseen(data: &Data, exponents: (f64, i32)) -> bool {
    let is_growing = exponents.0 > 0.0 || exponents.1 > 0;
    let end = if is_growing { data.sizes.len() - 1 } else { 0 };
    let off = |fit: &Fitted| (fit.at(data.sizes[end]) - data.values[end]).abs();
    fitted(data, exponents, Some(end)).is_some_and(|others| 2.0 * off(&others) <= off(&mean(data, Some(end))))
}

/// The density of Student's distribution but for its factor.
fn density(x: f64, freedom: f64) -> f64 {
    (1.0 + x * x / freedom).powf(-f64::midpoint(freedom, 1.0))
}

/// The integral of the density from 0 to tan(angle)·√ν, by Simpson's rule in the angle.
fn integral(angle: f64, freedom: f64) -> f64 {
    let f = |angle: f64| density(angle.tan() * freedom.sqrt(), freedom) / angle.cos().powi(2);
    let n = 300;
    let h = angle / f64::from(n);
    let inner: f64 = (1..n).map(|i| f(f64::from(i) * h) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
    (f(0.0) + inner + f(angle)) * h / 3.0
}

/// The quantile of Student's distribution.
pub(crate) fn student(probability: f64, freedom: f64) -> f64 {
    let half = std::f64::consts::FRAC_PI_2 * (1.0 - 1e-9);
    let whole = integral(half, freedom);
    let (mut low, mut high) = (0.0, half);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if integral(middle, freedom) / whole < 2.0 * probability - 1.0 { low = middle } else { high = middle }
    }
    low.tan() * freedom.sqrt()
}

/// The model and its error bars.
pub(crate) struct Reference {
    pub(crate) best: Fitted,
    pub(crate) cv: f64,
    pub(crate) plausible: Vec<Fitted>,
    data: Data,
}

impl Reference {
    /// The lower end, value and upper end of a prediction.
    pub(crate) fn predict(&self, n: f64) -> (f64, f64, f64) {
        let data = &self.data;
        let most = data.values.iter().map(|y| y.abs()).fold(0.0, f64::max);
        let (mut lower, mut upper) = (f64::INFINITY, f64::NEG_INFINITY);
        for fit in &self.plausible {
            let rows: Vec<Vec<f64>> = data.sizes.iter().map(|n| fit.row(*n)).collect();
            let freedom = float(rows.len() - rows[0].len());
            let variance = fit.squares / freedom;
            let row = fit.row(n);
            let w = fit.at(n).abs().max(most / 100.0);
            let even = vec![w; data.weights.len()];
            let weights = if fit.exponents.is_none() { &even } else { &data.weights };
            let inverse = solve(normal(&rows, weights), row.clone());
            let v: f64 = row.iter().zip(&inverse).map(|(a, b)| a * b).sum();
            let all = variance * v + variance.max(data.repeats) * w * w;
            let d = student(0.975, freedom) * all.sqrt();
            lower = lower.min(fit.at(n) - d);
            upper = upper.max(fit.at(n) + d);
        }
        if data.values.iter().all(|y| 0.0 <= *y) {
            (lower, upper) = (lower.max(0.0), upper.max(0.0));
        }
        (lower, self.best.at(n), upper)
    }
}

/// The model of values at sizes; `None` if sizes are fewer than 3.
pub(crate) fn model(points: &[(f64, f64)]) -> Option<Reference> {
    let data = data(points);
    let m = data.sizes.len();
    if m < 3 {
        return None;
    }
    let cv = |exponents: Option<(f64, i32)>| {
        let parts = (0..m).map(|i| {
            let fit = exponents.and_then(|exponents| fitted(&data, exponents, Some(i)));
            let fit = fit.unwrap_or_else(|| mean(&data, Some(i)));
            let (at, y) = (fit.at(data.sizes[i]), data.values[i]);
            let sum = at.abs() + y.abs();
            if sum == 0.0 { 0.0 } else { 2.0 * (at - y).abs() / sum }
        });
        parts.sum::<f64>() / float(m)
    };
    let constant = least(&data, None, true, None);
    let error = if m == 3 { 0.01 / 55.0 } else { 0.01 };
    let needed = student(1.0 - error / 2.0, float(m - 2)).powi(2);
    let explains = |fit: &Fitted| {
        let parts: Vec<f64> = data.sizes.iter().map(|n| fit.c * term(*n, fit.exponents.unwrap())).collect();
        let most = |list: &[f64]| list.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let negated: Vec<f64> = parts.iter().map(|part| -part).collect();
        let values: Vec<f64> = data.values.iter().map(|y| y.abs()).collect();
        (constant.squares - fit.squares) * float(m - 2) / fit.squares > needed
            && is_foreseen(&data, fit.exponents.unwrap())
            && most(&parts) + most(&negated) >= 0.01 * most(&values)
    };
    let is_constant =
        data.values.iter().zip(&data.weights).all(|(y, w)| *w == 0.0 || ((y - constant.k) / w).abs() < 1e-9);
    let has_logarithm = |exponents: &(f64, i32)| 0 < exponents.1;
    let all: Vec<Fitted> = hypotheses()
        .into_iter()
        .filter(|exponents| !has_logarithm(exponents) || 1.0 <= data.sizes[0])
        .filter_map(|exponents| fitted(&data, exponents, None))
        .filter(|_| !is_constant)
        .collect();
    let fits: Vec<Fitted> = all.iter().filter(|fit| explains(fit)).cloned().collect();
    let freedom = float((m - 3).max(1));
    let limit = |fits: &[Fitted]| {
        let smallest = fits.iter().map(|fit| fit.squares).fold(f64::INFINITY, f64::min);
        smallest * (1.0 + student(0.975, freedom).powi(2) / freedom)
    };
    let Some(best) = fits.iter().min_by(|a, b| cv(a.exponents).total_cmp(&cv(b.exponents))) else {
        let cv = cv(None);
        let constant = mean(&data, None);
        let mut plausible = vec![constant.clone()];
        let most = data.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = data.values.iter().copied().fold(f64::INFINITY, f64::min);
        if most - least > constant.k.abs() / 5.0 {
            let limit = limit(&all);
            plausible.extend(all.into_iter().filter(|fit| fit.squares <= limit));
        }
        return Some(Reference { best: constant, cv, plausible, data });
    };
    let limit = limit(&fits);
    let is_plausible = |fit: &&Fitted| fit.squares <= limit || fit.exponents == best.exponents;
    let plausible = fits.iter().filter(is_plausible).cloned().collect();
    Some(Reference { cv: cv(best.exponents), best: best.clone(), plausible, data })
}
