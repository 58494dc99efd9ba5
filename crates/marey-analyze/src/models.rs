//! How a number grows with the size of a run: models of the performance model normal form with one term.
//!
//! The one idea: 55 hypotheses are fitted, those that explain no more than chance are dropped, and the one that best
//! predicts the values left out is taken; what the others that fit as well predict is how sure that is.
//!
//! The definitions and their sources are those of `docs/scaling.md`. Time grows with the number of hypotheses times the
//! square of the number of sizes.
//!
//! What is deliberately absent: models of several parameters or terms, and what the numbers are of
//! ([`crate::scaling`]).

mod student;
mod terms;

use std::collections::BTreeMap;

use crate::profile::count;

pub use student::student;
pub use terms::{TERMS, Term};

/// A model.
#[derive(Clone, PartialEq, Debug)]
pub struct Model {
    /// What does not grow.
    pub constant: f64,
    /// What the term is multiplied with; 0 without one.
    pub coefficient: f64,
    /// What grows or falls; `None` = constant.
    pub term: Option<Term>,
    /// How far it is off at sizes that it has not seen, 0 to 2.
    pub cross_validation: f64,
    /// Adjusted R² of the weighted values; 1 of what has no deviation.
    pub adjusted_r2: f64,
    series: Series,
    plausible: Vec<Fit>,
}

/// The probability with which chance alone may pass for growth. Of 55 curves some pass nearly through any three values
/// that rise or fall: with so few, the probability is divided among them.
fn error_of(n_sizes: usize) -> f64 {
    if n_sizes == LEAST_SIZES { 0.01 / count(TERMS.len() as u64) } else { 0.01 }
}

/// What a model predicts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Prediction {
    /// The value.
    pub value: f64,
    /// A single run should not have less …
    pub lower: f64,
    /// … or more than that.
    pub upper: f64,
    /// Whether measured sizes say little of it.
    pub is_far: bool,
}

/// Fewer sizes have no model.
pub const LEAST_SIZES: usize = 3;
/// With fewer, models are told with a warning.
pub const ENOUGH_SIZES: usize = 5;
/// So many times beyond the measured sizes a prediction is far.
pub const FAR: f64 = 4.0;

/// A term that changes by a smaller part of the largest value is none: times are not measured better than that.
const WORTH: f64 = 0.01;
/// A constant is nothing if it is less than that part of the smallest value.
const NOTHING: f64 = 1.0 / 2000.0;
/// Values that deviate by less are constant.
const ALIKE: f64 = 1e-9;
/// A constant whose values differ by more than that part of it is not told as one.
const UNCLEAR: f64 = 0.2;
/// Small values count as this part of the largest, at least.
const LEAST_WEIGHT: f64 = 0.01;

impl Model {
    /// The model of values at sizes, all of them numbers; `None` = they are too few. What is not a number, or has a size
    /// that is not positive, is left out.
    pub fn fit(points: &[(f64, f64)]) -> Option<Self> {
        let series = Series::new(points)?;
        let m = series.points.len();
        let constant = series.constant(None);
        let is_alike =
            series.points.iter().all(|it| ((it.value - constant.constant) / it.weight).abs() < ALIKE);
        let freedom = count(m as u64 - 2);
        let needed = student(1.0 - error_of(m) / 2.0, whole(m - 2)).powi(2);
        let explains = |fit: &Fit| {
            let parts = || series.points.iter().map(|it| fit.at(it.size));
            let change = parts().fold(f64::NEG_INFINITY, f64::max) - parts().fold(f64::INFINITY, f64::min);
            let contributes = change >= WORTH * series.most;
            contributes
                && series.is_foreseen(fit)
                && (constant.squares - fit.squares) * freedom > needed * fit.squares
        };
        let hypotheses = TERMS.iter().filter(|term| term.log == 0 || 1.0 <= series.points[0].size);
        let all: Vec<Fit> = hypotheses
            .filter(|_| !is_alike)
            .filter_map(|term| series.fit(*term, None))
            .filter(Fit::is_finite)
            .collect();
        let fits: Vec<Fit> = all.iter().filter(|fit| explains(fit)).copied().collect();
        let best = fits
            .iter()
            .map(|fit| (series.cross_validation(fit.term), *fit))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let (cross_validation, best) =
            best.unwrap_or_else(|| (series.cross_validation(None), series.mean(None)));
        if !best.is_finite() {
            return None;
        }
        let as_good = |fits: Vec<Fit>| {
            let smallest = fits.iter().map(|fit| fit.squares).fold(f64::INFINITY, f64::min);
            let rest = (m - 3).max(1);
            let limit = smallest * (1.0 + student(0.975, whole(rest)).powi(2) / count(rest as u64));
            fits.into_iter().filter(move |fit| fit.squares <= limit || fit.term == best.term)
        };
        let plausible: Vec<Fit> = if best.term.is_some() {
            as_good(fits).collect()
        } else if series.differs_from(best.constant) {
            // No growth is sure, and so is none excluded that fits as well as any.
            std::iter::once(best).chain(as_good(all)).collect()
        } else {
            vec![best]
        };
        let unexplained = best.squares / (count(m as u64) - best.n_coefficients());
        let of_all = constant.squares / count(m as u64 - 1);
        Some(Self {
            constant: best.constant,
            coefficient: best.coefficient,
            term: best.term,
            cross_validation,
            adjusted_r2: match best.term {
                Some(_) if of_all > 0.0 => 1.0 - unexplained / of_all,
                Some(_) => 1.0,
                None => {
                    if is_alike {
                        1.0
                    } else {
                        0.0
                    }
                }
            },
            series,
            plausible,
        })
    }

    /// Whether sizes are too few to rely on it.
    pub fn has_few_sizes(&self) -> bool {
        self.series.points.len() < ENOUGH_SIZES
    }

    /// Whether values differ by more than a fifth of their mean and no growth explains it: sizes are too few, or it is
    /// chance. That is no constant to rely on.
    pub fn is_unclear(&self) -> bool {
        self.term.is_none() && self.series.differs_from(self.constant)
    }

    /// What it says of a size.
    pub fn predict(&self, n: f64) -> Prediction {
        let floor = self.floor();
        let (mut lower, mut upper) = (f64::INFINITY, f64::NEG_INFINITY);
        for fit in &self.plausible {
            let (at, half) = (fit.at(n), self.series.half_bar(fit, n));
            lower = lower.min(at - half);
            upper = upper.max(at + half);
        }
        let points = &self.series.points;
        let (smallest, largest) = (points[0].size, points[points.len() - 1].size);
        Prediction {
            value: self.predict_value(n),
            lower: lower.max(floor),
            upper: upper.max(floor),
            is_far: n > FAR * largest || n < smallest / FAR,
        }
    }

    /// The value alone.
    pub fn predict_value(&self, n: f64) -> f64 {
        let value = self.constant + self.coefficient * self.term.map_or(0.0, |term| term.at(n));
        value.max(self.floor())
    }

    /// What it cannot be less than.
    fn floor(&self) -> f64 {
        if self.series.has_negative { f64::NEG_INFINITY } else { 0.0 }
    }

    /// Terms that cannot be excluded, from the slowest growing to the fastest; `None` = constant.
    pub fn plausible(&self) -> impl Iterator<Item = Option<Term>> {
        let mut terms: Vec<Option<Term>> = self.plausible.iter().map(|fit| fit.term).collect();
        terms.sort_by(|a, b| match (a, b) {
            (Some(a), Some(b)) => a.cmp_growth(b),
            _ => a.is_some().cmp(&b.is_some()),
        });
        terms.into_iter()
    }

    /// How many sizes it was made from.
    pub fn n_sizes(&self) -> usize {
        self.series.points.len()
    }
}

/// A value at a size.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Point {
    size: f64,
    value: f64,
    /// What an error of one part is.
    weight: f64,
}

/// Values at sizes, in their order.
#[derive(Clone, PartialEq, Debug)]
struct Series {
    points: Vec<Point>,
    has_negative: bool,
    /// The largest value.
    most: f64,
    /// The smallest that is not 0.
    least: f64,
    /// The variance of repeats, as parts of the value.
    repeats: f64,
}

/// A hypothesis with its coefficients.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Fit {
    constant: f64,
    coefficient: f64,
    term: Option<Term>,
    has_constant: bool,
    /// Sum of the squares of its errors, as parts of the values.
    squares: f64,
}

impl Fit {
    fn at(&self, n: f64) -> f64 {
        self.constant + self.term.map_or(0.0, |term| self.coefficient * term.at(n))
    }

    fn is_finite(&self) -> bool {
        self.constant.is_finite() && self.coefficient.is_finite() && self.squares.is_finite()
    }

    fn n_coefficients(&self) -> f64 {
        f64::from(u8::from(self.has_constant) + u8::from(self.term.is_some()))
    }
}

/// Weighted sums that the normal equations are made of.
#[derive(Clone, Copy, Default)]
struct Moments {
    weight: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
}

impl Series {
    fn new(points: &[(f64, f64)]) -> Option<Self> {
        let mut of_size: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for &(size, value) in points {
            if size.is_finite() && 0.0 < size && value.is_finite() {
                // The bits of positive numbers are in the order of the numbers.
                of_size.entry(size.to_bits()).or_default().push(value);
            }
        }
        if of_size.len() < LEAST_SIZES {
            return None;
        }
        let mut found: Vec<Point> = of_size
            .iter()
            .map(|(size, values)| Point { size: f64::from_bits(*size), value: median(values), weight: 1.0 })
            .collect();
        let sizes = || found.iter().map(|point| point.value.abs());
        let most = sizes().fold(0.0, f64::max);
        let least = sizes().filter(|size| 0.0 < *size).fold(f64::INFINITY, f64::min);
        for point in &mut found {
            let weight = point.value.abs().max(LEAST_WEIGHT * most);
            point.weight = if weight > 0.0 { weight } else { 1.0 };
        }
        let (mut squares, mut freedom) = (0.0, 0);
        for (point, values) in found.iter().zip(of_size.values()) {
            let mean = values.iter().sum::<f64>() / count(values.len() as u64);
            squares += values.iter().map(|value| ((value - mean) / point.weight).powi(2)).sum::<f64>();
            freedom += values.len() as u64 - 1;
        }
        Some(Self {
            has_negative: found.iter().any(|point| point.value < 0.0),
            points: found,
            most,
            least,
            repeats: if freedom == 0 { 0.0 } else { squares / count(freedom) },
        })
    }

    /// Whether values differ by too much to be told as a constant.
    fn differs_from(&self, constant: f64) -> bool {
        let values = || self.points.iter().map(|point| point.value);
        let spread = values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min);
        spread > UNCLEAR * constant.abs()
    }

    /// All points but one.
    fn kept(&self, left_out: Option<usize>) -> impl Iterator<Item = &Point> + Clone {
        self.points.iter().enumerate().filter(move |(at, _)| Some(*at) != left_out).map(|(_, point)| point)
    }

    fn with_squares(&self, mut fit: Fit, left_out: Option<usize>) -> Fit {
        let error = |point: &Point| ((fit.at(point.size) - point.value) / point.weight).powi(2);
        fit.squares = self.kept(left_out).map(error).sum();
        fit
    }

    fn constant(&self, left_out: Option<usize>) -> Fit {
        let moments = self.moments(None, left_out);
        let constant = moments.y / moments.weight;
        let fit = Fit { constant, coefficient: 0.0, term: None, has_constant: true, squares: 0.0 };
        self.with_squares(fit, left_out)
    }

    /// The constant as it is told: the mean. Weighted by themselves, small values would pull it down.
    fn mean(&self, left_out: Option<usize>) -> Fit {
        let n = count(self.kept(left_out).count() as u64);
        let constant = self.kept(left_out).map(|point| point.value).sum::<f64>() / n;
        let weight = self.even_weight(constant);
        let error = |point: &Point| ((constant - point.value) / weight).powi(2);
        let squares = self.kept(left_out).map(error).sum();
        Fit { constant, coefficient: 0.0, term: None, has_constant: true, squares }
    }

    /// What an error of one part is where the model says this.
    fn even_weight(&self, value: f64) -> f64 {
        let weight = value.abs().max(LEAST_WEIGHT * self.most);
        if weight > 0.0 { weight } else { 1.0 }
    }

    fn moments(&self, term: Option<Term>, left_out: Option<usize>) -> Moments {
        let mut sums = Moments::default();
        for point in self.kept(left_out) {
            let (weight, x) = (point.weight.powi(-2), term.map_or(0.0, |term| term.at(point.size)));
            sums.weight += weight;
            sums.x += weight * x;
            sums.y += weight * point.value;
            sums.xx += weight * x * x;
            sums.xy += weight * x * point.value;
        }
        sums
    }

    /// The hypothesis of a term, fitted to all points but one; `None` = it would become negative.
    fn fit(&self, term: Term, left_out: Option<usize>) -> Option<Fit> {
        let sums = self.moments(Some(term), left_out);
        let (x, y) = (sums.x / sums.weight, sums.y / sums.weight);
        // About the means, where nothing cancels.
        let (mut xx, mut xy) = (0.0, 0.0);
        for point in self.kept(left_out) {
            let (weight, dx) = (point.weight.powi(-2), term.at(point.size) - x);
            xx += weight * dx * dx;
            xy += weight * dx * (point.value - y);
        }
        let coefficient = xy / xx;
        let mut fit = Fit {
            constant: y - coefficient * x,
            coefficient,
            term: Some(term),
            has_constant: true,
            squares: 0.0,
        };
        let is_wrong = !self.has_negative && !term.is_growing() && fit.constant < 0.0;
        if is_wrong || fit.constant.abs() < NOTHING * self.least {
            fit = Fit { constant: 0.0, coefficient: sums.xy / sums.xx, has_constant: false, ..fit };
        }
        if !self.has_negative && term.is_growing() && fit.coefficient < 0.0 {
            return None;
        }
        Some(self.with_squares(fit, left_out))
    }

    /// Whether the value at the end where the term is largest can be told from the others: at most half as far off as
    /// their mean. What a single value says is no growth.
    fn is_foreseen(&self, fit: &Fit) -> bool {
        let Some(term) = fit.term else { return true };
        let end = if term.is_growing() { self.points.len() - 1 } else { 0 };
        let point = &self.points[end];
        let off = |fit: &Fit| (fit.at(point.size) - point.value).abs();
        self.fit(term, Some(end)).is_some_and(|others| 2.0 * off(&others) <= off(&self.mean(Some(end))))
    }

    /// How far a hypothesis is off at sizes that it was not fitted to.
    fn cross_validation(&self, term: Option<Term>) -> f64 {
        let error = |(at, point): (usize, &Point)| {
            let fit = term.and_then(|term| self.fit(term, Some(at)));
            let fit = fit.unwrap_or_else(|| self.mean(Some(at)));
            let (found, value) = (fit.at(point.size), point.value);
            let sum = found.abs() + value.abs();
            if sum == 0.0 { 0.0 } else { 2.0 * (found - value).abs() / sum }
        };
        self.points.iter().enumerate().map(error).sum::<f64>() / count(self.points.len() as u64)
    }

    /// Half of the error bar that a hypothesis has by itself.
    fn half_bar(&self, fit: &Fit, n: f64) -> f64 {
        let m = self.points.len();
        let freedom = m - usize::from(fit.has_constant) - usize::from(fit.term.is_some());
        let variance = fit.squares / count(freedom as u64);
        let sums = self.moments(fit.term, None);
        let curve = match fit.term {
            None => self.even_weight(fit.constant).powi(2) / count(m as u64),
            Some(term) if fit.has_constant => {
                let mean = sums.x / sums.weight;
                let spread: f64 =
                    self.points.iter().map(|it| ((term.at(it.size) - mean) / it.weight).powi(2)).sum();
                1.0 / sums.weight + (term.at(n) - mean).powi(2) / spread
            }
            Some(term) => term.at(n).powi(2) / sums.xx,
        };
        let weight = self.even_weight(fit.at(n));
        let all = variance * curve + variance.max(self.repeats) * weight * weight;
        student(0.975, whole(freedom)) * all.sqrt()
    }
}

fn whole(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let n = values.len();
    f64::midpoint(values[(n - 1) / 2], values[n / 2])
}
