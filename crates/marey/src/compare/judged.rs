//! What a check says: as text, and as JSON.
//!
//! The one idea: one sentence a metric, which says what was found and how sure that is; then the numbers; then, where it
//! failed, the cause.

use std::io::{self, Write};

use marey_analyze::Outcome;
use serde::Serialize;

use super::change;
use super::check::{Check, Judged, Verdict, reason};
use super::diff::numbered;
use super::metrics::unit_name;
pub(super) use super::pages::{junit, markdown};
use crate::format::{self, plain, solid};
use crate::paint::{Look, Paint, note, title, wrap};
use crate::table::{Cell, Side, Table};

/// The median of values, if all are known.
pub(super) fn median(values: &[Option<f64>]) -> Option<f64> {
    let mut known = values.iter().copied().collect::<Option<Vec<f64>>>()?;
    known.sort_by(f64::total_cmp);
    let n = known.len();
    (n > 0).then(|| f64::midpoint(known[(n - 1) / 2], known[n / 2]))
}

/// How many metrics share the probability of error.
pub(super) fn n_measured(check: &Check) -> usize {
    check.metrics.iter().filter(|judged| !judged.judgement.is_exact).count()
}

/// `duration is 10.2 % more, and surely more than 5 % (9.8 to 10.6 %)`
pub(super) fn sentence(judged: &Judged, n_measured: usize) -> String {
    let name = &judged.metric.name;
    let limit = percent(judged.threshold);
    let judgement = &judged.judgement;
    let is_better = judged.metric.formula.is_higher_better();
    let found = match judgement.change {
        Some(0.0) => "the same".to_owned(),
        Some(part) if part.is_infinite() => "more than nothing, where there was none".to_owned(),
        Some(part) => {
            let more = (part > 0.0) ^ is_better;
            format!("{} {}", percent(part.abs()), if more { "more" } else { "less" })
        }
        None => String::new(),
    };
    let less = if is_better { "less" } else { "more" };
    let interval = judgement.interval.map_or_else(String::new, |(lower, upper)| {
        format!(" (between {} and {})", solid(change(lower)), solid(change(upper)))
    });
    match judgement.outcome {
        Outcome::Fail if judgement.is_exact => format!("{name} is {found}; {limit} {less} is the limit."),
        Outcome::Fail => format!("{name} is {found}{interval}, surely beyond the limit of {limit} {less}."),
        Outcome::Pass if judgement.is_exact => format!("{name} is {found}."),
        Outcome::Pass => format!("{name} is {found}{interval}; the limit is {limit} {less}."),
        Outcome::NoVerdict(_) => {
            let why = reason(judged, n_measured).unwrap_or_default();
            match judgement.change {
                Some(_) => format!("{name} seems to be {found}{interval}, but that is no verdict: {why}."),
                None => format!("{name}: {why}."),
            }
        }
    }
}

pub(super) fn percent(part: f64) -> String {
    let percent = part * 100.0;
    solid(if percent.fract() == 0.0 {
        format!("{percent:.0} %")
    } else if percent < 0.1 {
        format!("{percent:.2} %")
    } else {
        format!("{percent:.1} %")
    })
}

/// How many runs, in words.
pub(super) fn groups(check: &Check) -> String {
    let (old, new) = (check.baseline.len(), check.candidate.len());
    let candidate = if new == 1 { "1 candidate run" } else { "candidate runs" };
    let new = if new == 1 { String::new() } else { format!("{new} ") };
    format!("{} and {new}{candidate}", format::counted(old as u64, "baseline run"))
}

/// The line that says it all.
pub(super) fn headline(check: &Check) -> String {
    let count = |verdict| {
        check.metrics.iter().filter(|judged| Verdict::of(judged.judgement.outcome) == verdict).count() as u64
    };
    let metrics = |verdict| format::counted(count(verdict), "metric");
    let all = check.metrics.len() as u64;
    match check.verdict {
        Verdict::Pass => format!("{} within the limits", format::counted(all, "metric")),
        Verdict::Fail => format!("{} of {all} beyond the limit", metrics(Verdict::Fail)),
        Verdict::Open => format!("{} of {all} without a verdict", metrics(Verdict::Open)),
    }
}

/// Prints a check.
pub(super) fn print(out: &mut dyn Write, paint: Paint, check: &Check) -> io::Result<()> {
    let look = |verdict| match verdict {
        Verdict::Pass => Look::Good,
        Verdict::Fail => Look::Alarm,
        Verdict::Open => Look::Strong,
    };
    let word = check.verdict.name().to_uppercase();
    let beside = word.chars().count() + 2;
    for (at, line) in wrap(&headline(check), paint.prose_width() - beside).iter().enumerate() {
        match at {
            0 => writeln!(out, "\n{}  {line}", paint.paint(look(check.verdict), &word))?,
            _ => writeln!(out, "{:beside$}{line}", "")?,
        }
    }
    let n = n_measured(check);
    for judged in &check.metrics {
        let verdict = Verdict::of(judged.judgement.outcome);
        let text = format!("{}: {}", verdict.name(), sentence(judged, n));
        for (at, line) in wrap(&text, paint.prose_width() - 4).iter().enumerate() {
            let mark = if at == 0 { "· " } else { "  " };
            writeln!(out, "  {}{line}", paint.paint(look(verdict), mark))?;
        }
    }
    table(out, paint, check)?;
    let Some(cause) = &check.cause else { return Ok(()) };
    let remark = format!(
        "{} → {}, the runs that stand for their groups: the metric that failed first is at its median",
        cause.base.name, cause.other.name
    );
    title(out, paint, "CAUSE", &remark)?;
    for (name, place) in &cause.places {
        let text = format!("{name}: {place}");
        wrap(&text, paint.prose_width() - 2).iter().try_for_each(|line| writeln!(out, "  {line}"))?;
    }
    numbered(out, paint, &cause.sentences)
}

fn table(out: &mut dyn Write, paint: Paint, check: &Check) -> io::Result<()> {
    let remark = format!("medians of {}; noise of both: median distance from the median", groups(check));
    title(out, paint, "METRICS", &remark)?;
    let mut table = Table::new(&[
        ("metric", Side::Left),
        ("baseline", Side::Right),
        ("candidate", Side::Right),
        ("noise", Side::Right),
        ("change", Side::Right),
        ("interval", Side::Right),
        ("limit", Side::Right),
        ("verdict", Side::Left),
    ])
    .can_spare(&["noise", "limit", "baseline", "interval"]);
    for judged in &check.metrics {
        let judgement = &judged.judgement;
        let value = |values: &[Option<f64>]| {
            median(values).map_or_else(|| "no value".to_owned(), |value| judged.metric.value_text(value))
        };
        let noise = [judgement.noise.0, judgement.noise.1].map(|noise| noise.map(|noise| noise * 100.0));
        let noise = match noise {
            [Some(old), Some(new)] => format!("{old:.1}, {new:.1} %"),
            [Some(noise), None] | [None, Some(noise)] => format!("{noise:.1} %"),
            [None, None] => String::new(),
        };
        let interval = match judgement.interval {
            Some((lower, upper)) => format!("{} … {}", change(lower), change(upper)),
            None if judgement.is_exact => "exact".to_owned(),
            None => String::new(),
        };
        let part = judgement.change.map_or_else(String::new, |part| {
            if part.is_infinite() { "new".to_owned() } else { change(part) }
        });
        let verdict = Verdict::of(judgement.outcome);
        let look = if verdict == Verdict::Fail { Look::Alarm } else { Look::Text };
        table.row([
            judged.metric.name.clone().into(),
            Cell::new(Look::Faint, value(&judged.baseline)),
            value(&judged.candidate).into(),
            Cell::new(Look::Faint, noise),
            part.into(),
            interval.into(),
            percent(judged.threshold).replace('\u{a0}', " ").into(),
            Cell::new(look, verdict.name()),
        ]);
    }
    table.print(out, paint)?;
    let n = n_measured(check);
    if check.metrics.iter().any(|judged| judged.judgement.interval.is_some()) {
        let all = if n == 1 { "The interval holds" } else { "All intervals together hold" };
        note(
            out,
            paint,
            &format!("{all} the true change in 95 of 100 checks, if runs vary by chance alone."),
        )?;
    }
    for run in check.baseline.iter().chain(&check.candidate).filter(|run| run.is_incomplete) {
        note(out, paint, &format!("Not all of {} was recorded; its numbers are of the rest.", run.name))?;
    }
    Ok(())
}

/// The answer for other programs; what the fields mean is told by the help.
#[derive(Serialize)]
pub(super) struct Json<'c> {
    verdict: &'static str,
    exit_status: u8,
    metrics: Vec<JsonMetric<'c>>,
    /// Names of the runs, in the order of the values of metrics.
    baseline: Vec<&'c str>,
    candidate: Vec<&'c str>,
    cause: Option<JsonCause<'c>>,
}

#[derive(Serialize)]
struct JsonMetric<'c> {
    name: &'c str,
    expression: &'c str,
    unit: String,
    verdict: &'static str,
    text: String,
    /// Why there is no verdict.
    reason: Option<String>,
    exact: bool,
    higher_is_better: bool,
    threshold: f64,
    change: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    baseline: &'c [Option<f64>],
    candidate: &'c [Option<f64>],
    baseline_median: Option<f64>,
    candidate_median: Option<f64>,
    baseline_noise: Option<f64>,
    candidate_noise: Option<f64>,
    /// Where in the program it changed most; null unless it failed and is no time of the run as a whole.
    place: Option<String>,
}

#[derive(Serialize)]
struct JsonCause<'c> {
    base: &'c str,
    run: &'c str,
    sentences: Vec<String>,
}

impl<'c> Json<'c> {
    pub(super) fn new(check: &'c Check) -> Self {
        let n = n_measured(check);
        let metric = |judged: &'c Judged| {
            let judgement = &judged.judgement;
            let place = check
                .cause
                .iter()
                .flat_map(|cause| &cause.places)
                .find(|(name, _)| *name == judged.metric.name);
            JsonMetric {
                name: &judged.metric.name,
                expression: &judged.metric.text,
                unit: unit_name(judged.metric.formula.unit()),
                verdict: Verdict::of(judgement.outcome).name(),
                text: plain(&sentence(judged, n)),
                reason: reason(judged, n),
                exact: judgement.is_exact,
                higher_is_better: judged.metric.formula.is_higher_better(),
                threshold: judged.threshold,
                change: judgement.change.filter(|part| part.is_finite()),
                lower: judgement.interval.map(|interval| interval.0),
                upper: judgement.interval.map(|interval| interval.1),
                baseline: &judged.baseline,
                candidate: &judged.candidate,
                baseline_median: median(&judged.baseline),
                candidate_median: median(&judged.candidate),
                baseline_noise: judgement.noise.0,
                candidate_noise: judgement.noise.1,
                place: place.map(|(_, place)| plain(place)),
            }
        };
        Self {
            verdict: check.verdict.name(),
            exit_status: check.verdict.status(),
            metrics: check.metrics.iter().map(metric).collect(),
            baseline: check.baseline.iter().map(|run| run.name.as_str()).collect(),
            candidate: check.candidate.iter().map(|run| run.name.as_str()).collect(),
            cause: check.cause.as_ref().map(|cause| JsonCause {
                base: &cause.base.name,
                run: &cause.other.name,
                sentences: cause.sentences.iter().map(|text| plain(text)).collect(),
            }),
        }
    }
}
