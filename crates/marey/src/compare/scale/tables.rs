//! The tables of several sizes.
//!
//! The one idea: what is predicted, then the run as a whole, then efficiencies as POP shows them, then what was measured of
//! the same rows; where there is no model, only the last.

use std::io::{self, Write};

use marey_analyze::{LEAST_SIZES, Measure, Model, Prediction, ScaledEfficiency, ScaledMeasure, Work};

use super::verdict::{bar, between, bounds, growth, has_caller, measure_words, name, share, text};
use super::{Modelled, Parameter, Scaled};
use crate::cli::Parts;
use crate::compare::LEAST_SHARE;
use crate::compare::metrics::number;
use crate::paint::{Look, Paint, harmless, note, title};
use crate::table::{Cell, Side, Table, more};

/// Prints all of them.
pub(super) fn print(out: &mut dyn Write, paint: Paint, scaled: &Scaled, top: usize) -> io::Result<()> {
    predictions(out, paint, scaled, top)?;
    run(out, paint, scaled)?;
    efficiencies(out, paint, scaled)?;
    measured(out, paint, scaled, top)
}

/// Between what the growth may lie, in a cell.
fn bounds_text(model: &Model) -> String {
    let Some((slowest, fastest)) = bounds(model) else { return String::new() };
    let name = |term: Option<marey_analyze::Term>| {
        term.map_or_else(|| "constant".to_owned(), |term| term.to_string())
    };
    format!("{} … {}", name(slowest), name(fastest))
}

/// What sizes are.
fn by_size(scaled: &Scaled) -> String {
    match &scaled.parameter {
        Parameter::Named(name) => harmless(name),
        counted => format!("number of {}", counted.name()),
    }
}

fn parts(scaled: &Scaled) -> &'static str {
    match scaled.parts {
        Parts::Places => "by region and caller",
        Parts::Regions => "by region",
        Parts::Paths => "by call path, without what is called from it",
    }
}

fn predictions(out: &mut dyn Write, paint: Paint, scaled: &Scaled, top: usize) -> io::Result<()> {
    let ranking = &scaled.ranking;
    let rows: Vec<_> = ranking.rows.iter().filter(|row| LEAST_SHARE <= row.share).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let remark = format!(
        "{}, {}, at {}; share: of the sum; between: where 19 of 20 runs should lie",
        measure_words(scaled),
        parts(scaled),
        scaled.parameter.text(ranking.at)
    );
    title(out, paint, "PREDICTION", &remark)?;
    let sizes = scaled.sizes();
    let last = format!("at {}", sizes.last().map_or_else(String::new, |size| number(*size)));
    let then = format!("at {}", number(ranking.at));
    let has_callers = scaled.parts != Parts::Regions;
    let mut table = Table::with_heads(
        [
            ("doing", Side::Left),
            ("called by", Side::Left),
            (&last, Side::Right),
            (&then, Side::Right),
            ("between", Side::Right),
            ("share", Side::Right),
            ("grows as", Side::Left),
            ("if not as", Side::Left),
        ]
        .into_iter()
        .filter(|(head, _)| has_callers || *head != "called by")
        .map(|(head, side)| (head.to_owned(), side)),
    )
    .can_spare(&["if not as", "called by", &last, "between", "share"]);
    for ranked in rows.iter().take(top) {
        let row = scaled.row(ranked.row);
        let Some(ScaledMeasure { values, model: Some(model), .. }) = row.of(scaled.by) else { continue };
        let measured = scaled.medians(values).last().copied().flatten();
        let (doing, from) = name(scaled, row);
        let from = if has_caller(scaled, row) { from } else { String::new() };
        let mut cells = vec![
            doing.into(),
            Cell::new(Look::Faint, from),
            Cell::new(Look::Faint, measured.map_or_else(String::new, |value| text(scaled.by, value))),
            Cell::new(Look::Strong, text(scaled.by, ranked.prediction.value)),
            Cell::new(Look::Faint, bar(scaled.by, &ranked.prediction)),
            share(ranked.share).into(),
            growth(model).into(),
            Cell::new(Look::Faint, bounds_text(model)),
        ];
        if !has_callers {
            cells.remove(1);
        }
        table.push(cells);
    }
    table.print(out, paint)?;
    more(out, paint, rows.len().saturating_sub(top), "row", "rows")
}

/// What of the run as a whole is shown.
const OF_THE_RUN: [(&str, Measure); 6] = [
    ("duration", Measure::Path),
    ("time of a rank", Measure::TimePerRank),
    ("time of all", Measure::Time),
    ("waiting", Measure::Waiting),
    ("visits of regions", Measure::Visits),
    ("data that they moved", Measure::Bytes),
];

fn run(out: &mut dyn Write, paint: Paint, scaled: &Scaled) -> io::Result<()> {
    let sizes = scaled.sizes();
    let has_models = LEAST_SIZES <= sizes.len();
    let remark = match has_models {
        true => format!(
            "as a whole, the sum of its parts; predicted at {}",
            scaled.parameter.text(scaled.ranking.at)
        ),
        false => "as a whole".to_owned(),
    };
    title(out, paint, "RUN", &remark)?;
    let [first, last] = [sizes.first(), sizes.last()]
        .map(|size| format!("at {}", size.map_or_else(String::new, |size| number(*size))));
    let then = format!("at {}", number(scaled.ranking.at));
    let mut heads = vec![("", Side::Left), (&first, Side::Right)];
    if 1 < sizes.len() {
        heads.push((&last, Side::Right));
    }
    if has_models {
        heads.extend([
            (&*then, Side::Right),
            ("between", Side::Right),
            ("grows as", Side::Left),
            ("if not as", Side::Left),
        ]);
    }
    let n_columns = heads.len();
    let mut table = Table::with_heads(heads.into_iter().map(|(head, side)| (head.to_owned(), side)))
        .can_spare(&["if not as", "between", &first, &last]);
    let mut add = |name: &str, values: &[Option<f64>], told: Told, text: &dyn Fn(f64) -> String| {
        let medians = scaled.medians(values);
        let cell = |value: Option<&Option<f64>>| {
            Cell::new(Look::Faint, value.copied().flatten().map_or_else(|| "no value".to_owned(), text))
        };
        let mut cells = vec![name.into(), cell(medians.first())];
        if 1 < sizes.len() {
            cells.push(cell(medians.last()));
        }
        cells.extend([
            Cell::new(Look::Strong, told.prediction.map_or_else(String::new, |it| text(it.value))),
            Cell::new(Look::Faint, told.prediction.map_or_else(String::new, |it| between(text, &it))),
            told.growth.into(),
            Cell::new(Look::Faint, told.bounds),
        ]);
        cells.truncate(n_columns);
        table.push(cells);
    };
    let told = |model: Option<&Model>| Told {
        prediction: model.map(|model| model.predict(scaled.ranking.at)),
        growth: model.map_or_else(String::new, growth),
        bounds: model.map_or_else(String::new, bounds_text),
    };
    for (name, measure) in OF_THE_RUN {
        if let Some(found) = scaled.scaling.run().and_then(|run| run.of(measure)) {
            let own = told(found.model.as_ref());
            let told = match scaled.total(measure) {
                // The curve of a sum of several laws may be no law.
                Some(sum) if found.model.as_ref().is_none_or(|it| OFF < it.cross_validation) => {
                    Told { prediction: Some(sum), growth: NO_LAW.to_owned(), bounds: String::new() }
                }
                Some(sum) => Told { prediction: Some(sum), ..own },
                None => own,
            };
            add(name, &found.values, told, &|value| text(measure, value));
        }
    }
    for Modelled { metric, values, model } in &scaled.metrics {
        add(&metric.name, values, told(model.as_ref()), &|value| metric.value_text(value));
    }
    table.print(out, paint)
}

/// A model of the run as a whole that is off by more is not shown as a law.
const OFF: f64 = 0.02;
const NO_LAW: &str = "no single law";

/// What is told of a number at another size.
struct Told {
    prediction: Option<Prediction>,
    growth: String,
    bounds: String,
}

/// A line of the table of efficiencies: its name, and how a run's number of it is shown.
type Factor = (&'static str, fn(&ScaledEfficiency) -> Option<f64>);

const FACTORS: [Factor; 9] = [
    ("global efficiency", |row| row.global),
    ("  parallel efficiency", |row| Some(row.own.parallel)),
    ("    load balance", |row| Some(row.own.load_balance)),
    ("    communication efficiency", |row| Some(row.own.communication)),
    ("      serialisation", |row| Some(row.own.serialisation)),
    ("      setting up", |row| Some(row.own.setting_up)),
    ("      transfer", |row| Some(row.own.transfer)),
    ("  computation scalability", |row| row.scalability),
    ("speed-up", |row| Some(row.speed_up)),
];

fn efficiencies(out: &mut dyn Write, paint: Paint, scaled: &Scaled) -> io::Result<()> {
    let rows = &scaled.efficiencies;
    let Some(reference) = rows.iter().find(|row| row.is_reference) else { return Ok(()) };
    // Nobody to share the work with, nor to wait for.
    if rows.iter().all(|row| row.own.locations < 2) {
        return Ok(());
    }
    let heads: Vec<String> = rows.iter().map(|row| number(scaled.scaling.sizes[row.run])).collect();
    let scaling = match scaled.work {
        Work::OfAll => "strong scaling: all runs do the same work",
        Work::OfEach => "weak scaling: each rank or thread does the same work in all runs",
    };
    let remark = format!(
        "by {}; {scaling}; compared with {}",
        by_size(scaled),
        scaled.parameter.text(scaled.scaling.sizes[reference.run])
    );
    title(out, paint, "EFFICIENCIES", &remark)?;
    let columns = std::iter::once((String::new(), Side::Left));
    let columns = columns.chain(heads.iter().map(|head| (head.clone(), Side::Right)));
    let mut table = Table::with_heads(columns).can_spare(&spare(&heads));
    for (name, of) in FACTORS {
        let values: Vec<Option<f64>> = rows.iter().map(of).collect();
        if values.iter().all(Option::is_none) {
            continue;
        }
        let cell = |value: &Option<f64>| match value {
            Some(value) if name == "speed-up" => format!("×{value:.2}"),
            Some(value) => share(*value),
            None => String::new(),
        };
        let cells = values.iter().map(|value| Cell::from(cell(value)));
        table.push(std::iter::once(Cell::from(name)).chain(cells).collect());
    }
    table.print(out, paint)?;
    if rows.iter().all(|row| row.scalability.is_none()) {
        note(
            out,
            paint,
            "All runs have equally many ranks and threads: how much work a size is nobody knows, so there is no \
             computation scalability.",
        )
    } else if scaled.work == Work::OfAll {
        note(out, paint, "If each rank had the same work in all runs, say --weak.")
    } else {
        Ok(())
    }
}

/// Columns of sizes to do without, the least important first: every other one, then more, the first and the last never.
fn spare(heads: &[String]) -> Vec<&str> {
    let inner = heads.get(1..heads.len().saturating_sub(1)).unwrap_or_default();
    let (odd, even): (Vec<_>, Vec<_>) = inner.iter().enumerate().partition(|(at, _)| at % 2 == 0);
    odd.into_iter()
        .chain(even)
        .map(|(_, head)| head.as_str())
        .chain(heads.first().map(String::as_str))
        .collect()
}

fn measured(out: &mut dyn Write, paint: Paint, scaled: &Scaled, top: usize) -> io::Result<()> {
    // In the order of the prediction, or of the largest run.
    let mut rows: Vec<(usize, Vec<Option<f64>>)> = Vec::new();
    let ranked: Vec<usize> = match scaled.ranking.rows.is_empty() {
        false => {
            let rows = scaled.ranking.rows.iter().filter(|row| LEAST_SHARE <= row.share);
            rows.map(|row| row.row).collect()
        }
        true => (0..scaled.ranked.len()).collect(),
    };
    for row in ranked {
        if let Some(found) = scaled.row(row).of(scaled.by) {
            rows.push((row, scaled.medians(&found.values)));
        }
    }
    let last = |values: &[Option<f64>]| values.last().copied().flatten().unwrap_or(0.0);
    if scaled.ranking.rows.is_empty() {
        rows.sort_by(|a, b| last(&b.1).total_cmp(&last(&a.1)));
    }
    if rows.is_empty() {
        return Ok(());
    }
    let remark = format!(
        "{}, {}; columns: {}{}",
        measure_words(scaled),
        parts(scaled),
        by_size(scaled),
        if scaled.runs.len() > scaled.sizes().len() { "; medians of repeats" } else { "" }
    );
    title(out, paint, "MEASURED", &remark)?;
    let heads: Vec<String> = scaled.sizes().iter().map(|size| number(*size)).collect();
    let has_callers = scaled.parts != Parts::Regions;
    let names = if has_callers { &["doing", "called by"][..] } else { &["doing"] };
    let columns = names.iter().map(|name| ((*name).to_owned(), Side::Left));
    let columns = columns.chain(heads.iter().map(|head| (head.clone(), Side::Right)));
    let mut spare = spare(&heads);
    spare.insert(0, "called by");
    let mut table = Table::with_heads(columns).can_spare(&spare);
    for (row, values) in rows.iter().take(top) {
        let row = scaled.row(*row);
        let (doing, from) = name(scaled, row);
        let from = if has_caller(scaled, row) { from } else { String::new() };
        let cells = values
            .iter()
            .map(|value| Cell::from(value.map_or_else(|| "no value".to_owned(), |it| text(scaled.by, it))));
        let names = [doing.into(), Cell::new(Look::Faint, from)];
        table.push(names.into_iter().take(if has_callers { 2 } else { 1 }).chain(cells).collect());
    }
    table.print(out, paint)?;
    more(out, paint, rows.len().saturating_sub(top), "row", "rows")
}
