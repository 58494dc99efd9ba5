//! Several sizes for other programs. Names, units and meaning of every field are an interface.
//!
//! The one idea: every series with its values and its model, whatever the text shows.

use marey_analyze::{Measure, Model, PlaceKind, Ranked, ScaledRow, ScaledSubject, Term, Work};
use serde::Serialize;

use super::verdict::{bounds, growth, sentences};
use super::{Parts, Scaled};
use crate::compare::json::{BEFORE, JsonPlace, Run, json_place};
use crate::compare::metrics::unit_name;
use crate::format::plain;

/// What the command prints.
#[derive(Serialize)]
pub(super) struct Json<'s> {
    parameter: &'s str,
    at: f64,
    by: &'static str,
    rows: &'static str,
    scaling: &'static str,
    sizes: Vec<f64>,
    few_sizes: bool,
    text: Vec<String>,
    runs: Vec<SizedRun<'s>>,
    /// Of the run as a whole, as sums over its places.
    totals: Vec<JsonTotal>,
    ranking: Vec<JsonRanked<'s>>,
    models: Vec<JsonSeries<'s>>,
    efficiencies: Vec<JsonEfficiency<'s>>,
}

#[derive(Serialize)]
struct SizedRun<'s> {
    #[serde(flatten)]
    run: Run<'s>,
    size: f64,
}

#[derive(Serialize)]
struct JsonTotal {
    metric: &'static str,
    value: f64,
    lower: f64,
    upper: f64,
    far: bool,
    unclear: f64,
}

/// What a series is of.
#[derive(Serialize)]
struct JsonSubject<'s> {
    subject: &'static str,
    #[serde(flatten)]
    place: JsonPlace<'s>,
    /// Names of the regions of a call path.
    path: Vec<&'s str>,
}

#[derive(Serialize)]
struct JsonRanked<'s> {
    #[serde(flatten)]
    subject: JsonSubject<'s>,
    value: f64,
    lower: f64,
    upper: f64,
    far: bool,
    share: f64,
    growth: String,
}

#[derive(Serialize)]
struct JsonSeries<'s> {
    #[serde(flatten)]
    subject: JsonSubject<'s>,
    /// Of a metric that was asked for, its name.
    name: Option<&'s str>,
    metric: &'s str,
    unit: String,
    values: &'s [Option<f64>],
    model: Option<JsonModel>,
}

#[derive(Serialize)]
struct JsonModel {
    growth: String,
    slowest: String,
    fastest: String,
    constant: f64,
    coefficient: f64,
    /// Numerator and denominator.
    power: (i8, u8),
    log: u8,
    cross_validation: f64,
    adjusted_r2: f64,
    value: f64,
    lower: f64,
    upper: f64,
    far: bool,
}

#[derive(Serialize)]
struct JsonEfficiency<'s> {
    run: &'s str,
    size: f64,
    locations: usize,
    reference: bool,
    global: Option<f64>,
    parallel: f64,
    load_balance: f64,
    communication: f64,
    serialisation: f64,
    setting_up: f64,
    transfer: f64,
    scalability: Option<f64>,
    speed_up: f64,
}

const RUN: JsonPlace<'static> =
    JsonPlace { activity: "run", level: "", region: "", function: "", file: "", line: 0 };

fn subject<'s>(scaled: &'s Scaled, row: &'s ScaledRow) -> JsonSubject<'s> {
    let place = |number: &usize| {
        let (place, line) = &scaled.scaling.places[*number];
        json_place(place, *line)
    };
    let (name, place, path) = match &row.subject {
        ScaledSubject::Run => ("run", RUN, Vec::new()),
        ScaledSubject::Before => ("before", BEFORE, Vec::new()),
        ScaledSubject::Region(region) => {
            let named = JsonPlace {
                activity: "region",
                level: &region.level,
                region: region.name(),
                file: &region.file,
                ..RUN
            };
            ("region", named, Vec::new())
        }
        ScaledSubject::Place(number) => ("place", place(number), Vec::new()),
        ScaledSubject::Path(numbers) => {
            let names = numbers.iter().map(|number| {
                let name = &scaled.scaling.places[*number].0;
                debug_assert_eq!(name.kind, PlaceKind::Call);
                name.region.name()
            });
            ("call path", numbers.last().map_or(RUN, place), names.collect())
        }
    };
    JsonSubject { subject: name, place, path }
}

fn model(model: &Model, at: f64) -> JsonModel {
    let name = |term: Option<Term>| term.map_or_else(|| "constant".to_owned(), |term| term.to_string());
    let (slowest, fastest) = bounds(model).unwrap_or((model.term, model.term));
    let prediction = model.predict(at);
    JsonModel {
        growth: growth(model),
        slowest: name(slowest),
        fastest: name(fastest),
        constant: model.constant,
        coefficient: model.coefficient,
        power: model.term.map_or((0, 1), |term| term.power),
        log: model.term.map_or(0, |term| term.log),
        cross_validation: model.cross_validation,
        adjusted_r2: model.adjusted_r2,
        value: prediction.value,
        lower: prediction.lower,
        upper: prediction.upper,
        far: prediction.is_far,
    }
}

fn unit(measure: Measure) -> &'static str {
    match measure {
        Measure::Visits => "",
        Measure::Bytes => "B",
        _ => "s",
    }
}

impl<'s> Json<'s> {
    pub(super) fn new(scaled: &'s Scaled) -> Self {
        let at = scaled.ranking.at;
        let sizes = scaled.sizes();
        let ranked = |ranked: &Ranked| {
            let row = scaled.row(ranked.row);
            let known = row.of(scaled.by).and_then(|it| it.model.as_ref());
            JsonRanked {
                subject: subject(scaled, row),
                value: ranked.prediction.value,
                lower: ranked.prediction.lower,
                upper: ranked.prediction.upper,
                far: ranked.prediction.is_far,
                share: ranked.share,
                growth: known.map_or_else(String::new, growth),
            }
        };
        let series = scaled.scaling.rows.iter().flat_map(|row| {
            row.measures.iter().map(|it| JsonSeries {
                subject: subject(scaled, row),
                name: None,
                metric: it.measure.name(),
                unit: unit(it.measure).to_owned(),
                values: &it.values,
                model: it.model.as_ref().map(|it| model(it, at)),
            })
        });
        let asked = scaled.metrics.iter().map(|it| JsonSeries {
            subject: JsonSubject { subject: "run", place: RUN, path: Vec::new() },
            name: Some(&it.metric.name),
            metric: &it.metric.text,
            unit: unit_name(it.metric.formula.unit()),
            values: &it.values,
            model: it.model.as_ref().map(|it| model(it, at)),
        });
        let efficiency = |row: &marey_analyze::ScaledEfficiency| JsonEfficiency {
            run: &scaled.runs[row.run].name,
            size: scaled.scaling.sizes[row.run],
            locations: row.own.locations,
            reference: row.is_reference,
            global: row.global,
            parallel: row.own.parallel,
            load_balance: row.own.load_balance,
            communication: row.own.communication,
            serialisation: row.own.serialisation,
            setting_up: row.own.setting_up,
            transfer: row.own.transfer,
            scalability: row.scalability,
            speed_up: row.speed_up,
        };
        Self {
            parameter: scaled.parameter.name(),
            at,
            by: scaled.by.name(),
            rows: match scaled.parts {
                Parts::Places => "places",
                Parts::Regions => "regions",
                Parts::Paths => "paths",
            },
            scaling: match scaled.work {
                Work::OfAll => "strong",
                Work::OfEach => "weak",
            },
            few_sizes: sizes.len() < marey_analyze::ENOUGH_SIZES,
            sizes,
            text: sentences(scaled).iter().map(|text| plain(text)).collect(),
            runs: (scaled.runs.iter().zip(&scaled.scaling.sizes))
                .map(|(run, size)| SizedRun { run: Run::new(run), size: *size })
                .collect(),
            totals: (scaled.totals.iter())
                .map(|it| JsonTotal {
                    metric: it.measure.name(),
                    value: it.prediction.value,
                    lower: it.prediction.lower,
                    upper: it.prediction.upper,
                    far: it.prediction.is_far,
                    unclear: it.unclear,
                })
                .collect(),
            ranking: scaled.ranking.rows.iter().map(ranked).collect(),
            models: series.chain(asked).collect(),
            efficiencies: scaled.efficiencies.iter().map(efficiency).collect(),
        }
    }
}
