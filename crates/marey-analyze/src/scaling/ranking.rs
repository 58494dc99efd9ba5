//! What a run of another size will be made of.
//!
//! The one idea: rows are ranked by what their models predict there; which of them is first, and from which size on, is
//! looked for between the sizes that were measured and the one that was asked for.
//!
//! What is deliberately absent: which rows there are to choose from; they should add up to something.

use super::{Measure, ScaledRow};
use crate::models::{Model, Prediction};

/// Rows at a size.
#[derive(Clone, PartialEq, Debug)]
pub struct Ranking {
    /// The size.
    pub at: f64,
    /// The largest first.
    pub rows: Vec<Ranked>,
    /// The sum of all predictions, as if they erred independently.
    pub total: Prediction,
    /// What part of that is of rows of which it is not clear how they grow, 0 to 1.
    pub unclear: f64,
    /// The row that is largest.
    pub first: Option<Domination>,
}

/// A row and what it will be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ranked {
    /// Which of the rows.
    pub row: usize,
    /// What its model predicts.
    pub prediction: Prediction,
    /// As a part of all predictions.
    pub share: f64,
}

/// The row that has most.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Domination {
    /// Which of the rows.
    pub row: usize,
    /// From this size on it is the largest of all.
    pub from: f64,
    /// Which row was the largest before; `None` = it is so at all sizes.
    pub before: Option<usize>,
}

/// Ranks rows by what their models predict of a measure at a size.
pub fn ranking(rows: &[&ScaledRow], sizes: &[f64], measure: Measure, at: f64) -> Ranking {
    let models: Vec<(usize, &Model)> = rows
        .iter()
        .enumerate()
        .filter_map(|(number, row)| Some((number, row.of(measure)?.model.as_ref()?)))
        .collect();
    let mut found: Vec<Ranked> = models
        .iter()
        .map(|(row, model)| Ranked { row: *row, prediction: model.predict(at), share: 0.0 })
        .collect();
    let total = sum(&found);
    let is_unclear = |row: &&(usize, &Model)| row.1.is_unclear();
    let unclear: f64 = models.iter().filter(is_unclear).map(|row| row.1.predict_value(at).max(0.0)).sum();
    for row in &mut found {
        row.share = if total.value > 0.0 { row.prediction.value.max(0.0) / total.value } else { 0.0 };
    }
    // Equal ones stay in their order.
    found.sort_by(|a, b| b.prediction.value.total_cmp(&a.prediction.value));
    let first = found.first().filter(|row| row.prediction.value > 0.0).map(|row| row.row);
    let smallest = sizes.iter().copied().fold(f64::INFINITY, f64::min).min(at);
    let first = first.map(|row| domination(&models, row, smallest, at));
    let unclear = if total.value > 0.0 { unclear / total.value } else { 0.0 };
    Ranking { at, rows: found, total, unclear, first }
}

/// All predictions together; those less than 0 are 0.
fn sum(rows: &[Ranked]) -> Prediction {
    let (mut value, mut down, mut up, mut is_far) = (0.0, 0.0, 0.0, false);
    for Ranked { prediction, .. } in rows {
        let known = prediction.value.max(0.0);
        value += known;
        down += (known - prediction.lower.clamp(0.0, known)).powi(2);
        up += (prediction.upper.max(known) - known).powi(2);
        is_far |= prediction.is_far;
    }
    Prediction { value, lower: (value - down.sqrt()).max(0.0), upper: value + up.sqrt(), is_far }
}

/// Which row is largest at a size.
fn largest(models: &[(usize, &Model)], n: f64) -> Option<usize> {
    let mut found: Option<(usize, f64)> = None;
    for (row, model) in models {
        let value = model.predict_value(n);
        if found.is_none_or(|(_, most)| most < value) {
            found = Some((*row, value));
        }
    }
    found.map(|(row, _)| row)
}

/// Between so many sizes, in equal ratios, it is looked which row is largest.
const STEPS: u32 = 256;

fn domination(models: &[(usize, &Model)], row: usize, smallest: f64, at: f64) -> Domination {
    let size = |step: u32| smallest * (at / smallest).powf(f64::from(step) / f64::from(STEPS));
    let other = (0..STEPS).rev().find(|step| largest(models, size(*step)) != Some(row));
    let Some(step) = other else { return Domination { row, from: smallest, before: None } };
    let (mut low, mut high) = (size(step), if step + 1 == STEPS { at } else { size(step + 1) });
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if largest(models, middle) == Some(row) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Domination { row, from: high, before: largest(models, low) }
}
