//! Values of runs for Extra-P: one line of JSON a measurement.
//!
//! The one idea: Extra-P knows a call path by its text, so what is written alike is one, and its values are added; every
//! run has a value of everything, as its reader demands.
//!
//! The format is Extra-P's (<https://github.com/extra-p/extrap/blob/master/docs/file-formats.md>).

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use marey_analyze::{Measure, Place, PlaceKind, ScaledRow, ScaledSubject};
use serde_json::{Map, Value, json};

use super::Scaled;
use crate::compare::doing;
use crate::paint::harmless;

/// Writes them.
pub(super) fn export(path: &Path, scaled: &Scaled) -> anyhow::Result<()> {
    let failed = || format!("cannot write {}", path.display());
    let file = std::fs::File::create(path).with_context(failed)?;
    let mut out = std::io::BufWriter::new(file);
    for ((callpath, metric), values) in series(scaled) {
        for (size, value) in scaled.scaling.sizes.iter().zip(values) {
            let params: Map<String, Value> =
                [(scaled.parameter.name().to_owned(), number(*size))].into_iter().collect();
            let line =
                json!({ "params": params, "callpath": callpath, "metric": metric, "value": number(value) });
            writeln!(out, "{line}").with_context(failed)?;
        }
    }
    out.flush().with_context(failed)
}

/// Whole numbers without a point.
fn number(value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "by the check")]
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

/// All values by call path and metric.
fn series(scaled: &Scaled) -> BTreeMap<(String, String), Vec<f64>> {
    let mut found: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    let n_runs = scaled.scaling.sizes.len();
    let mut add = |key: (String, String), values: &[Option<f64>]| {
        // Extra-P has no word for what was not measured.
        let Some(known) = values.iter().copied().collect::<Option<Vec<f64>>>() else { return };
        let sums = found.entry(key).or_insert_with(|| vec![0.0; n_runs]);
        sums.iter_mut().zip(known).for_each(|(sum, value)| *sum += value);
    };
    for row in &scaled.scaling.rows {
        let Some(callpath) = callpath(scaled, row) else { continue };
        for measure in &row.measures {
            let is_of_paths = matches!(
                measure.measure,
                Measure::Time | Measure::TimePerRank | Measure::Visits | Measure::Bytes
            );
            let is_path = matches!(row.subject, ScaledSubject::Path(_));
            let is_call = is_path || is_place_of_a_call(scaled, row);
            if is_call && is_of_paths != is_path {
                continue;
            }
            add((callpath.clone(), measure.measure.name().to_owned()), &measure.values);
        }
    }
    let mut names = BTreeSet::new();
    for modelled in &scaled.metrics {
        if names.insert(&modelled.metric.name) {
            add(("run".to_owned(), modelled.metric.name.clone()), &modelled.values);
        }
    }
    found
}

fn is_place_of_a_call(scaled: &Scaled, row: &ScaledRow) -> bool {
    match row.subject {
        ScaledSubject::Place(number) => scaled.scaling.places[number].0.kind == PlaceKind::Call,
        _ => false,
    }
}

/// `main->solve->MPI_Send`; of what has none, nothing.
fn callpath(scaled: &Scaled, row: &ScaledRow) -> Option<String> {
    let of = |numbers: &[usize]| {
        let mut steps: Vec<String> = Vec::new();
        for number in numbers {
            let place = &scaled.scaling.places[*number].0;
            let caller = step(&place.caller.name);
            if !caller.is_empty() && steps.last() != Some(&caller) {
                steps.push(caller);
            }
            steps.push(region(place));
        }
        steps.join("->")
    };
    match &row.subject {
        ScaledSubject::Run => Some("run".to_owned()),
        ScaledSubject::Before => Some("before the critical path".to_owned()),
        ScaledSubject::Region(_) => None,
        ScaledSubject::Place(number) => Some(of(&[*number])),
        ScaledSubject::Path(numbers) => Some(of(numbers)),
    }
}

fn region(place: &Place) -> String {
    match place.kind {
        PlaceKind::Call if !place.region.name().is_empty() => step(place.region.name()),
        _ => doing(place),
    }
}

/// A name that is no path.
fn step(name: &str) -> String {
    harmless(name).replace("->", "→")
}
