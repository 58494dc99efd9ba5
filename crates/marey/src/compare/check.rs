//! `marey check`: whether a program got slower.
//!
//! The one idea: metrics are judged from values alone; only when one fails are two runs compared, to say why: those whose
//! values are the medians of their groups.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use marey_analyze::{
    Cause as Difference, Comparison, Digest, Judgement, Outcome, Place, Rule, Subject, Unclear, compare,
    is_exact, judge, ratio,
};

use super::judged::{self, Json};
use super::metrics::{Metric, Thresholds};
use super::sentences::{Changed, most_changed, sentences_with};
use super::{Compared, Depth, distinct, open_all};
use crate::cli::CheckArgs;
use crate::exit::is_closed_pipe;
use crate::paint::Paint;

/// In 95 of 100 checks all intervals hold.
const ALPHA: f64 = 0.05;

/// A check and its verdict.
pub(super) struct Check {
    pub(super) baseline: Vec<Compared>,
    pub(super) candidate: Vec<Compared>,
    pub(super) metrics: Vec<Judged>,
    pub(super) verdict: Verdict,
    pub(super) cause: Option<Cause>,
}

/// A metric with its values.
pub(super) struct Judged {
    pub(super) metric: Metric,
    pub(super) threshold: f64,
    pub(super) judgement: Judgement,
    pub(super) baseline: Vec<Option<f64>>,
    pub(super) candidate: Vec<Option<f64>>,
}

/// What a check says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Pass,
    Fail,
    /// No verdict: nobody knows.
    Open,
}

impl Verdict {
    pub(super) fn of(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Pass => Self::Pass,
            Outcome::Fail => Self::Fail,
            Outcome::NoVerdict(_) => Self::Open,
        }
    }

    /// As it is written everywhere.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Open => "no verdict",
        }
    }

    pub(super) const fn status(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Fail => 1,
            Self::Open => 3,
        }
    }
}

/// Why a check failed.
pub(super) struct Cause {
    /// The runs that were compared.
    pub(super) base: Compared,
    pub(super) other: Compared,
    /// What is said of them.
    pub(super) sentences: Vec<String>,
    /// For each metric that failed and is no time of the whole run: its place.
    pub(super) places: Vec<(String, String)>,
}

/// Runs the command.
pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let asked = Metric::parse_all(&args.metric, Thresholds::Allowed)?;
    let depth = depth_of(&asked);
    let baseline = open_all(args.baseline.iter(), depth)?;
    let candidate = open_all(args.candidate.iter(), depth)?;
    distinct(baseline.iter())?;
    distinct(candidate.iter())?;
    let digests: Vec<&Digest> = baseline.iter().chain(&candidate).map(|run| &run.digest).collect();
    asked.iter().try_for_each(|metric| metric.check_names(&digests))?;
    let metrics = if asked.is_empty() { usual(&digests)? } else { asked };
    let judged = judge_all(metrics, &baseline, &candidate, args.fail_above.0);
    let verdicts = || judged.iter().map(|metric| Verdict::of(metric.judgement.outcome));
    let verdict =
        [Verdict::Fail, Verdict::Open].into_iter().find(|verdict| verdicts().any(|it| it == *verdict));
    let verdict = verdict.unwrap_or(Verdict::Pass);
    let cause =
        (verdict == Verdict::Fail).then(|| cause(args, &judged, (&baseline, &candidate))).transpose()?;
    let check = Check { baseline, candidate, metrics: judged, verdict, cause };
    write(args.junit.as_deref(), || judged::junit(&check))?;
    write(args.markdown.as_deref(), || judged::markdown(&check))?;
    match print(args, &check) {
        // Whoever reads no further, as in `marey check … | head`, changes no verdict.
        Err(error) if is_closed_pipe(&error) => {}
        printed => printed?,
    }
    Ok(ExitCode::from(verdict.status()))
}

fn print(args: &CheckArgs, check: &Check) -> anyhow::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.json {
        serde_json::to_writer_pretty(&mut out, &Json::new(check))?;
        writeln!(out)?;
    } else {
        let paint = Paint::for_stdout();
        let paint = if args.no_color { paint.without_colour() } else { paint };
        judged::print(&mut out, paint, check)?;
    }
    out.flush()?;
    Ok(())
}

fn write(path: Option<&Path>, text: impl FnOnce() -> String) -> anyhow::Result<()> {
    let Some(path) = path else { return Ok(()) };
    std::fs::write(path, text()).with_context(|| format!("cannot write {}", path.display()))
}

/// Events take longer to read, so they are only where they are needed.
fn depth_of(metrics: &[Metric]) -> Depth {
    if metrics.iter().any(|metric| metric.formula.needs_events()) { Depth::Events } else { Depth::Sums }
}

/// What is judged if nothing is said.
fn usual(runs: &[&Digest]) -> anyhow::Result<Vec<Metric>> {
    let mut metrics = vec![Metric::parse("duration", Thresholds::None)?];
    for text in ["messages", "message_bytes"] {
        let metric = Metric::parse(text, Thresholds::None)?;
        if runs.iter().any(|run| metric.formula.value(run).is_ok_and(|value| value != 0.0)) {
            metrics.push(metric);
        }
    }
    Ok(metrics)
}

fn judge_all(
    metrics: Vec<Metric>,
    baseline: &[Compared],
    candidate: &[Compared],
    fail_above: f64,
) -> Vec<Judged> {
    let values = |metric: &Metric, runs: &[Compared]| -> Vec<Option<f64>> {
        runs.iter().map(|run| metric.formula.value(&run.digest).ok()).collect()
    };
    let rule = |metric: &Metric, alpha: f64| Rule {
        threshold: metric.threshold.unwrap_or(fail_above),
        is_higher_better: metric.formula.is_higher_better(),
        is_exact: metric.formula.is_exact(),
        alpha,
    };
    let with_values: Vec<_> = metrics
        .into_iter()
        .map(|metric| {
            let (old, new) = (values(&metric, baseline), values(&metric, candidate));
            (metric, old, new)
        })
        .collect();
    let measured =
        with_values.iter().filter(|(metric, old, new)| !is_exact(&rule(metric, ALPHA), old, new)).count();
    #[expect(clippy::cast_precision_loss, reason = "there are few metrics")]
    let alpha = ALPHA / measured.max(1) as f64;
    with_values
        .into_iter()
        .map(|(metric, baseline, candidate)| {
            let rule = rule(&metric, alpha);
            let judgement = judge(&rule, &baseline, &candidate);
            Judged { threshold: rule.threshold, metric, judgement, baseline, candidate }
        })
        .collect()
}

/// The run of a group with the lower median of a metric.
fn median_run(values: &[Option<f64>]) -> usize {
    let mut order: Vec<usize> = (0..values.len()).collect();
    let value = |at: &usize| values[*at].unwrap_or(f64::INFINITY);
    order.sort_by(|a, b| value(a).total_cmp(&value(b)));
    order.get(values.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

/// Compares the two runs that stand for their groups.
fn cause(args: &CheckArgs, metrics: &[Judged], groups: (&[Compared], &[Compared])) -> anyhow::Result<Cause> {
    let has_failed = |metric: &&Judged| metric.judgement.outcome == Outcome::Fail;
    let first = metrics.iter().find(has_failed).context("a check that failed has a metric that did")?;
    let paths: [&PathBuf; 2] =
        [&args.baseline[median_run(&first.baseline)], &args.candidate[median_run(&first.candidate)]];
    let mut runs = open_all(paths.into_iter(), Depth::Events)?;
    let (Some(other), Some(base)) = (runs.pop(), runs.pop()) else { anyhow::bail!("two runs are compared") };
    let (sentences, places) = {
        let comparison = compare(&base.digest, &other.digest);
        let places = metrics.iter().filter(has_failed).filter_map(|judged| {
            let place = place_of(&judged.metric, &comparison)?;
            Some((judged.metric.name.clone(), place))
        });
        let remark = |cause: &Difference| if is_chance(&comparison, cause, groups) { CHANCE } else { "" };
        (sentences_with(&base, &other, &comparison, remark), places.collect())
    };
    Ok(Cause { base, other, sentences, places })
}

const CHANCE: &str = " The other runs do not show that: it may be chance.";

/// Whether the groups do not differ where the two runs that stand for them do: in time of the place itself.
fn is_chance(comparison: &Comparison<'_>, cause: &Difference, groups: (&[Compared], &[Compared])) -> bool {
    let Subject::Place(place) = cause.subject else { return false };
    let Some(old) = comparison.old_name(place).filter(|_| comparison.places[place].other.is_some()) else {
        return false;
    };
    let times = |runs: &[Compared], name: &Place| -> Vec<f64> {
        let time = |run: &Compared| {
            let row = run.digest.places.iter().find(|row| row.place == *name);
            row.map_or(0.0, |row| row.sums.exclusive.0 as f64)
        };
        runs.iter().map(time).collect()
    };
    let (old, new) = (times(groups.0, old), times(groups.1, comparison.name(place).0));
    if old.iter().chain(&new).any(|time| *time <= 0.0) {
        return false;
    }
    let Some(found) = ratio(&old, &new, ALPHA) else { return false };
    if cause.difference() > 0.0 { found.lower <= 1.0 } else { 1.0 <= found.upper }
}

/// Where in the program a metric changed that is no time of the run as a whole.
fn place_of(metric: &Metric, comparison: &Comparison<'_>) -> Option<String> {
    let unit = metric.formula.unit()?;
    if metric.text == "duration" || metric.text == "time" {
        return None;
    }
    let named = metric.formula.named();
    let what = match (unit.seconds, unit.bytes) {
        (1, 0) => Changed::Time,
        (0, 1) => Changed::Bytes,
        // Of other numbers, such as messages, no place has a part.
        (0, 0) if metric.formula.counts_visits() => Changed::Visits,
        _ => return None,
    };
    most_changed(comparison, &named, what)
}

/// Why there is no verdict, in words.
pub(super) fn reason(judged: &Judged, n_measured: usize) -> Option<String> {
    let Outcome::NoVerdict(why) = judged.judgement.outcome else { return None };
    let missing = |values: &[Option<f64>]| values.iter().filter(|value| value.is_none()).count();
    Some(match why {
        Unclear::TooFew(least) => {
            let metrics = match n_measured {
                0 | 1 => String::new(),
                many => format!(", to judge {many} measured metrics"),
            };
            format!(
                "too few repeats: {} and {} runs; {least} of each are needed at least{metrics}",
                judged.baseline.len(),
                judged.candidate.len()
            )
        }
        Unclear::Noise => "too few repeats for so much noise: more runs of each would tell".to_owned(),
        Unclear::NoValue => {
            format!("no value in {} of the runs", missing(&judged.baseline) + missing(&judged.candidate))
        }
        Unclear::NoRatio => "values of 0 or less have no ratio".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use marey_analyze::{Explained, FunctionName, PlaceKind, PlaceSums, PlaceTime, RegionName, Sums};
    use marey_model::Nanos;

    use super::*;

    /// A run that is `time` long, all of it in one call.
    fn run(time: i64) -> Compared {
        let place = Place {
            kind: PlaceKind::Call,
            region: RegionName { verb: "sleep".to_owned(), ..RegionName::default() },
            caller: FunctionName::default(),
        };
        let sums = Sums { visits: 1, exclusive: Nanos(time), inclusive: Nanos(time), ..Sums::default() };
        let on_path =
            PlaceTime { place: 0, location: 0, time: Nanos(time), waiting: Nanos(0), on_path: Nanos(time) };
        let mut digest = Digest::default();
        digest.duration = Nanos(time);
        digest.places = vec![PlaceSums { place, line: 0, sums }];
        digest.explained = Some(Explained { times: vec![on_path], is_whole: true, ..Explained::default() });
        Compared {
            began: 0,
            name: "run".to_owned(),
            digest,
            unexplained: None,
            is_incomplete: false,
            said: Default::default(),
            loops: None,
        }
    }

    #[test]
    fn what_other_runs_do_not_show_may_be_chance() {
        let group = |times: [i64; 5]| times.map(run);
        let (old, new) = (run(100), run(120));
        let comparison = compare(&old.digest, &new.digest);
        let [cause] = comparison.verdict.causes.as_slice() else { panic!("{:?}", comparison.verdict) };
        let is_chance = |old, new| is_chance(&comparison, cause, (&group(old), &group(new)));
        let steady = [100, 101, 99, 102, 98];
        assert!(!is_chance(steady, [120, 121, 119, 122, 118]));
        assert!(is_chance(steady, [120, 101, 99, 100, 98]));
        assert!(is_chance(steady, [80, 81, 79, 82, 120]));
        // Too few runs tell nothing.
        assert!(!super::is_chance(&comparison, cause, (&[run(100)], &[run(90)])));
    }

    #[test]
    fn the_run_that_stands_for_its_group_has_the_median() {
        for (values, expected) in [
            (&[Some(3.0), Some(1.0), Some(2.0)][..], 2),
            (&[Some(4.0), Some(1.0), Some(2.0), Some(3.0)], 2),
            (&[Some(1.0)], 0),
            (&[None, Some(5.0), Some(4.0)], 1),
        ] {
            assert_eq!(median_run(values), expected, "{values:?}");
        }
    }
}
