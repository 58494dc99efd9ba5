//! What several sizes say, in sentences, and the words for parts and growth that tables use, too.
//!
//! The one idea: first how long the run will take, then what will take most of it and from where on, then what grows
//! fastest; each with its bounds, and with a warning where measurements say little.

use marey_analyze::{
    ENOUGH_SIZES, LEAST_SIZES, Measure, Model, PlaceKind, Prediction, ScaledRow, ScaledSubject, Term, Unit,
};

use super::Scaled;
use crate::compare::metrics::{number, value_text};
use crate::compare::{called_by, doing, in_words, region_and_noun};
use crate::format::{self, solid};
use crate::paint::{harmless, shorten};

/// Parts that have less of a run are not worth a sentence.
const LEAST_SHARE: f64 = 0.02;

/// What was compared: `5 runs, 1 to 16 ranks`.
pub(super) fn heading(scaled: &Scaled) -> String {
    let sizes: Vec<String> = scaled.sizes().iter().map(|size| number(*size)).collect();
    let runs = format::counted(scaled.runs.len() as u64, "run");
    format!("{runs}; {}: {}", harmless(scaled.parameter.name()), sizes.join(", "))
}

/// A value as people read it.
pub(super) fn text(measure: Measure, value: f64) -> String {
    let unit = match measure {
        Measure::Visits => Unit::default(),
        Measure::Bytes => Unit { seconds: 0, bytes: 1 },
        _ => Unit { seconds: 1, bytes: 0 },
    };
    let value =
        if matches!(measure, Measure::Visits) && value.abs() >= 100.0 { value.round() } else { value };
    value_text(Some(unit), value)
}

/// What parts are ranked by.
pub(super) fn measure_words(scaled: &Scaled) -> &'static str {
    match scaled.by {
        Measure::Path => "time on the critical path",
        Measure::TimePerRank if scaled.has_ranks() => "time of a rank",
        Measure::TimePerRank => "time of a thread",
        Measure::Time => "time of all ranks and threads",
        Measure::Visits => "visits",
        Measure::Bytes => "data moved",
        Measure::Waiting => "waiting",
        Measure::DelayCost => "waiting of others that follows",
    }
}

/// What a row is, and who calls it.
pub(super) fn name(scaled: &Scaled, row: &ScaledRow) -> (String, String) {
    match &row.subject {
        ScaledSubject::Run => ("the run".to_owned(), String::new()),
        ScaledSubject::Before => ("before the path".to_owned(), String::new()),
        ScaledSubject::Region(region) => (region_and_noun(region), String::new()),
        ScaledSubject::Place(number) => {
            let (place, line) = &scaled.scaling.places[*number];
            (doing(place), called_by(place, *line))
        }
        ScaledSubject::Path(numbers) => {
            let steps: Vec<String> =
                numbers.iter().map(|number| doing(&scaled.scaling.places[*number].0)).collect();
            let last = numbers.last().map(|number| &scaled.scaling.places[*number]);
            let from = last.map_or_else(String::new, |(place, line)| called_by(place, *line));
            (shorten(&steps.join(" › "), 60), from)
        }
    }
}

/// The same in a sentence.
fn words(scaled: &Scaled, row: &ScaledRow) -> String {
    match &row.subject {
        ScaledSubject::Place(number) => {
            let (place, line) = &scaled.scaling.places[*number];
            in_words(place, *line)
        }
        ScaledSubject::Before => "the time before the critical path begins".to_owned(),
        _ => name(scaled, row).0,
    }
}

/// How a model grows: `n^2`, `constant`, `1 - n^-1`.
pub(super) fn growth(model: &Model) -> String {
    match model.term {
        None if model.is_unclear() => "unclear".to_owned(),
        None => "constant".to_owned(),
        Some(term) if model.coefficient >= 0.0 => term.to_string(),
        Some(term) if term.is_growing() => format!("-{term}"),
        Some(term) => format!("1 - {term}"),
    }
}

/// The same in a sentence.
fn growing(model: &Model) -> String {
    match model.term {
        None if model.is_unclear() => "how it grows is not clear, this is the mean".to_owned(),
        None => "it does not change with the size".to_owned(),
        Some(term) if !term.is_growing() && model.coefficient < 0.0 => {
            format!("it rises to a limit, as 1 - {term}")
        }
        Some(term) if term.is_growing() == (model.coefficient >= 0.0) => format!("it grows as {term}"),
        Some(term) => format!("it falls as {term}"),
    }
}

/// Between what the growth may lie.
pub(super) fn bounds(model: &Model) -> Option<(Option<Term>, Option<Term>)> {
    let terms: Vec<Option<Term>> = model.plausible().collect();
    Some((*terms.first()?, *terms.last()?)).filter(|(slowest, fastest)| slowest != fastest)
}

/// `4.9 s … 5.2 s`
pub(super) fn bar(measure: Measure, prediction: &Prediction) -> String {
    between(|value| text(measure, value), prediction)
}

/// The same of any number; nothing if the ends read alike.
pub(super) fn between(text: impl Fn(f64) -> String, prediction: &Prediction) -> String {
    let (lower, upper) = (text(prediction.lower), text(prediction.upper));
    if lower == upper { String::new() } else { format!("{lower} … {upper}") }
}

/// All that is to be said, the most important first.
pub(super) fn sentences(scaled: &Scaled) -> Vec<String> {
    let n_sizes = scaled.sizes().len();
    let at = solid(scaled.parameter.text(scaled.ranking.at));
    let mut all = Vec::new();
    if n_sizes < LEAST_SIZES {
        all.push(format!(
            "{} too few for a model: {LEAST_SIZES} are the least, {ENOUGH_SIZES} are enough. What was measured \
             stands below.",
            if n_sizes == 1 { "1 size is".to_owned() } else { format!("{n_sizes} sizes are") }
        ));
        return all;
    }
    all.extend(duration(scaled, &at));
    all.extend(unclear(scaled));
    all.extend(domination(scaled, &at));
    all.extend(fastest(scaled));
    if n_sizes < ENOUGH_SIZES {
        all.push(format!(
            "Only {} were measured: models of fewer than {ENOUGH_SIZES} are not to be relied on.",
            format::counted(n_sizes as u64, "size")
        ));
    }
    if scaled.is_far() {
        let sizes = scaled.sizes();
        let largest = sizes.last().map_or_else(String::new, |size| scaled.parameter.text(*size));
        all.push(format!(
            "{at} is far from what was measured, more than 4 times beyond {}: take the predictions for a direction \
             and not for numbers.",
            if scaled.ranking.at > sizes[0] { largest } else { scaled.parameter.text(sizes[0]) }
        ));
    }
    all
}

fn duration(scaled: &Scaled, at: &str) -> Option<String> {
    let own = || Some(scaled.scaling.run()?.of(Measure::Path)?.model.as_ref()?.predict(scaled.ranking.at));
    let found = scaled.total(Measure::Path).or_else(own)?;
    let value = solid(text(Measure::Path, found.value));
    let bar = match bar(Measure::Path, &found) {
        bar if bar.is_empty() => String::new(),
        _ => format!(
            ", {} to {} in 19 of 20 cases",
            solid(text(Measure::Path, found.lower)),
            solid(text(Measure::Path, found.upper))
        ),
    };
    let given = if matches!(scaled.parameter, super::Parameter::Named(_)) { "At" } else { "With" };
    Some(format!("{given} {at} the run is predicted to take {value}{bar}."))
}

/// That a part of it is a guess.
fn unclear(scaled: &Scaled) -> Option<String> {
    let part = scaled.unclear(Measure::Path).filter(|part| LEAST_SHARE <= *part)?;
    Some(format!(
        "How {} of that grows is not clear: such parts are taken at the mean of what was measured, and what they may be \
         instead is within those limits.",
        solid(share(part))
    ))
}

fn domination(scaled: &Scaled, at: &str) -> Option<String> {
    let first = scaled.ranking.first?;
    let row = scaled.row(first.row);
    let model = row.of(scaled.by)?.model.as_ref()?;
    let found = scaled.ranking.rows.first()?;
    let value = solid(text(scaled.by, found.prediction.value));
    let name = words(scaled, row);
    let since = match first.before {
        None => "It has more than anything else at all sizes from the smallest one on".to_owned(),
        Some(before) => format!(
            "It has more than anything else from {} on; before that, {} has",
            solid(scaled.parameter.text(from(scaled, first.from))),
            words(scaled, scaled.row(before))
        ),
    };
    Some(format!(
        "At {at}, {name} will have most {}: {value}, {} of all; {}. {since}.",
        match scaled.by {
            Measure::Path => "of the critical path".to_owned(),
            _ => format!("of the {}", measure_words(scaled)),
        },
        solid(share(found.share)),
        growing(model)
    ))
}

/// From a size on that there can be: numbers of ranks are whole.
fn from(scaled: &Scaled, size: f64) -> f64 {
    let is_whole = scaled.scaling.sizes.iter().all(|size| size.fract() == 0.0);
    if is_whole { (size - 1e-6).ceil() } else { size }
}

/// The part that grows fastest among those that will matter, if it is not the one that dominates.
fn fastest(scaled: &Scaled) -> Option<String> {
    let growing = scaled.ranking.rows.iter().filter(|row| LEAST_SHARE <= row.share).filter_map(|ranked| {
        let row = scaled.row(ranked.row);
        let model = row.of(scaled.by)?.model.as_ref()?;
        let term = model.term.filter(|term| term.is_growing() && model.coefficient > 0.0)?;
        Some((ranked, row, term))
    });
    let (ranked, row, term) = growing.max_by(|a, b| a.2.cmp_growth(&b.2))?;
    if scaled.ranking.first.is_some_and(|first| first.row == ranked.row) {
        return None;
    }
    let values = scaled.medians(&row.of(scaled.by)?.values);
    let last = values.last().copied().flatten()?;
    let size = scaled.sizes().last().map_or_else(String::new, |size| scaled.parameter.text(*size));
    Some(format!(
        "{} grows fastest of what will matter, as {term}: {} at {}, {} then ({}).",
        words(scaled, row),
        solid(text(scaled.by, last)),
        solid(size),
        solid(text(scaled.by, ranked.prediction.value)),
        solid(share(ranked.share))
    ))
}

/// A part of one.
pub(super) fn share(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

/// Whether a row is a place of the program that somebody calls.
pub(super) fn has_caller(scaled: &Scaled, row: &ScaledRow) -> bool {
    match &row.subject {
        ScaledSubject::Place(number) => scaled.scaling.places[*number].0.kind == PlaceKind::Call,
        ScaledSubject::Path(_) => true,
        _ => false,
    }
}
