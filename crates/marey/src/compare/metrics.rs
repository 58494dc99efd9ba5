//! Derived metrics on the command line: what the user typed, its values, and complaints that point at the place.
//!
//! The one idea: an expression that cannot be understood is shown with a mark under the character at which it shows.

use std::io::{self, Write};

use marey_analyze::{Causes, Digest, Formula, QUANTITIES, Trace, Unit};
use serde::Serialize;

use super::rounded;
use crate::cli::percent;
use crate::exit::Usage;
use crate::format;
use crate::paint::{Look, Paint, harmless, note, title};
use crate::table::{Side, Table};

/// A metric that the user asked for.
#[derive(Clone, Debug)]
pub(crate) struct Metric {
    /// What it is called: the name that was given, or the expression.
    pub(crate) name: String,
    /// The expression.
    pub(crate) text: String,
    pub(crate) formula: Formula,
    /// A threshold of its own, as a part of one.
    pub(crate) threshold: Option<f64>,
    /// What was typed, and where in it the expression begins, in characters.
    typed: (String, usize),
}

/// Whether a metric may have a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thresholds {
    Allowed,
    None,
}

impl Metric {
    /// Reads `NAME = EXPR > 10%`.
    pub(crate) fn parse(typed: &str, thresholds: Thresholds) -> anyhow::Result<Self> {
        let chars: Vec<char> = typed.chars().collect();
        let outside = outside_of_quotes(&chars);
        let name_end = outside.iter().copied().find(|&at| chars[at] == '=');
        let limit = outside.iter().copied().rfind(|&at| chars[at] == '>');
        let text =
            |from: usize, to: usize| chars.get(from..to).unwrap_or_default().iter().collect::<String>();
        let from = name_end.map_or(0, |at| at + 1);
        let to = limit.filter(|&at| at >= from).unwrap_or(chars.len());
        let wrong = |at: usize, what: &str| -> anyhow::Error { wrong(typed, at, what) };
        if let (Some(at), Thresholds::None) = (limit, thresholds) {
            return Err(wrong(at, "a threshold has a meaning for `marey check` only"));
        }
        let threshold = match limit {
            Some(at) => {
                let limit = percent(&text(at + 1, chars.len()));
                Some(limit.map_err(|_| wrong(at + 1, "a percentage is expected, such as 5%"))?.0)
            }
            None => None,
        };
        let expression = text(from, to);
        let formula =
            Formula::parse(&expression).map_err(|error| wrong(from + error.at, &error.to_string()))?;
        let given = name_end.map(|at| text(0, at).trim().to_owned());
        if given.as_deref() == Some("") {
            return Err(wrong(0, "the name is empty"));
        }
        let expression = expression.trim().to_owned();
        Ok(Self {
            name: harmless(&given.unwrap_or_else(|| expression.clone())),
            text: harmless(&expression),
            formula,
            threshold,
            typed: (typed.to_owned(), from),
        })
    }

    /// All that were typed.
    pub(crate) fn parse_all(typed: &[String], thresholds: Thresholds) -> anyhow::Result<Vec<Self>> {
        typed.iter().map(|typed| Self::parse(typed, thresholds)).collect()
    }

    /// Complains about names that none of the runs has.
    pub(crate) fn check_names(&self, runs: &[&Digest]) -> anyhow::Result<()> {
        let Some(unknown) = self.formula.unknown_name(runs) else { return Ok(()) };
        let like =
            unknown.like.map_or_else(String::new, |like| format!("; did you mean `{}`?", harmless(&like)));
        let (runs, name) =
            (if runs.len() == 1 { "the run has" } else { "the runs have" }, harmless(&unknown.name));
        let what = format!("{runs} no {} `{name}`{like}", unknown.what);
        Err(wrong(&self.typed.0, self.typed.1 + unknown.at, &what))
    }

    /// A value as people read it.
    pub(crate) fn value_text(&self, value: f64) -> String {
        if self.is_efficiency() {
            format!("{:.1} %", value * 100.0)
        } else {
            value_text(self.formula.unit(), value)
        }
    }

    /// The difference of two values, with its sign.
    pub(crate) fn difference_text(&self, old: f64, new: f64) -> String {
        if new == old {
            return "0".to_owned();
        }
        let sign = if new > old { "+" } else { "-" };
        let size = (new - old).abs();
        match self.is_efficiency() {
            true => format!("{sign}{:.1} points", size * 100.0),
            false => format!("{sign}{}", value_text(self.formula.unit(), size)),
        }
    }

    /// Whether it is a part of one that is written as a percentage.
    fn is_efficiency(&self) -> bool {
        QUANTITIES.iter().any(|quantity| quantity.is_efficiency && quantity.name == self.text)
    }
}

/// Characters that are not in quotes.
fn outside_of_quotes(chars: &[char]) -> Vec<usize> {
    let mut is_quoted = false;
    let mut outside = Vec::new();
    for (at, c) in chars.iter().enumerate() {
        is_quoted ^= *c == '"';
        if !is_quoted {
            outside.push(at);
        }
    }
    outside
}

/// What is wrong, with a mark under the place.
fn wrong(typed: &str, at: usize, what: &str) -> anyhow::Error {
    let mark = format!("{:at$}^", "");
    anyhow::Error::new(Usage(format!(
        "--metric: {what}\n    {}\n    {mark}\n  `marey check --help` lists what there is",
        harmless(typed)
    )))
}

/// The name of a unit: `s`, `B/s`; empty for numbers.
pub(crate) fn unit_name(unit: Option<Unit>) -> String {
    let Some(unit) = unit else { return String::new() };
    let part = |name: &str, power: i32| match power {
        0 => None,
        1 => Some(name.to_owned()),
        power => Some(format!("{name}^{power}")),
    };
    let parts = |sign: i32| -> Vec<String> {
        let powers = [("B", unit.bytes * sign), ("s", unit.seconds * sign)];
        powers
            .into_iter()
            .filter(|(_, power)| 0 < *power)
            .filter_map(|(name, power)| part(name, power))
            .collect()
    };
    let (over, under) = (parts(1).join("·"), parts(-1).join("·"));
    match (over.as_str(), under.as_str()) {
        (over, "") => over.to_owned(),
        ("", under) => format!("1/{under}"),
        (over, under) => format!("{over}/{under}"),
    }
}

pub(super) fn value_text(unit: Option<Unit>, value: f64) -> String {
    match unit.map(|unit| (unit.seconds, unit.bytes)) {
        Some((1, 0)) => duration(value),
        Some((0, 1)) if value >= 0.0 => format::bytes(whole(value)),
        Some((-1, 1)) if value >= 1.0 => format!("{}/s", format::bytes(whole(value))),
        _ => {
            let name = unit_name(unit);
            let gap = if name.is_empty() { "" } else { " " };
            format!("{}{gap}{name}", number(value))
        }
    }
}

/// Seconds.
fn duration(seconds: f64) -> String {
    // Beyond 200 years nanoseconds do not fit.
    if seconds.abs() < 6e9 {
        format::duration(rounded(seconds * 1e9))
    } else {
        format!("{} s", number(seconds))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what is too large stays at the end"
)]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

/// Four digits, and all of a count.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if value.fract() == 0.0 && size < 1e15 {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", format::count(whole(size)));
    }
    if !(1e-4..1e7).contains(&size) {
        return format!("{value:.3e}");
    }
    let digits = match size {
        size if size < 0.01 => 6,
        size if size < 1.0 => 4,
        size if size < 10.0 => 3,
        size if size < 100.0 => 2,
        size if size < 1000.0 => 1,
        _ => 0,
    };
    format!("{value:.digits$}")
}

/// A metric of one run.
#[derive(Debug)]
pub(crate) struct Computed {
    metric: Metric,
    /// The value, or why there is none.
    value: Result<f64, String>,
}

/// For other programs.
#[derive(Serialize)]
pub(crate) struct JsonComputed<'m> {
    name: &'m str,
    expression: &'m str,
    unit: String,
    value: Option<f64>,
    /// Why there is no value.
    reason: Option<&'m str>,
}

/// The metrics of a run, for the report.
pub(crate) fn of_run(
    typed: &[String],
    trace: &dyn Trace,
    causes: impl FnOnce() -> anyhow::Result<Causes>,
) -> anyhow::Result<Vec<Computed>> {
    let metrics = Metric::parse_all(typed, Thresholds::None)?;
    if metrics.is_empty() {
        return Ok(Vec::new());
    }
    let mut digest = Digest::new(trace);
    if metrics.iter().any(|metric| metric.formula.needs_events()) {
        // Without events they have no value, which is told; the findings of the report say why.
        if let Ok(causes) = causes() {
            digest.explain(trace, &causes);
        }
    }
    let compute = |metric: Metric| {
        metric.check_names(&[&digest])?;
        let value = metric.formula.value(&digest).map_err(|why| why.to_string());
        Ok(Computed { metric, value })
    };
    metrics.into_iter().map(compute).collect()
}

/// Prints the metrics of a run.
pub(crate) fn print(out: &mut dyn Write, paint: Paint, computed: &[Computed]) -> io::Result<()> {
    title(out, paint, "METRICS", "as they were asked for; `marey check --help` lists what there is")?;
    let mut table = Table::new(&[("metric", Side::Left), ("value", Side::Right)]);
    for row in computed {
        let value = match &row.value {
            Ok(value) => row.metric.value_text(*value),
            Err(_) => "no value".to_owned(),
        };
        table.row([row.metric.name.clone().into(), crate::table::Cell::new(Look::Strong, value)]);
    }
    table.print(out, paint)?;
    for row in computed {
        if let Err(why) = &row.value {
            note(out, paint, &format!("{}: {why}", row.metric.name))?;
        }
    }
    Ok(())
}

/// The metrics of a run for other programs.
pub(crate) fn json(computed: &[Computed]) -> Vec<JsonComputed<'_>> {
    computed
        .iter()
        .map(|row| JsonComputed {
            name: &row.metric.name,
            expression: &row.metric.text,
            unit: unit_name(row.metric.formula.unit()),
            value: row.value.as_ref().ok().copied(),
            reason: row.value.as_ref().err().map(String::as_str),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_may_have_a_name_and_a_threshold() {
        let read = |text: &str| {
            let metric = Metric::parse(text, Thresholds::Allowed).unwrap();
            (metric.name, metric.text, metric.threshold)
        };
        let own = |name: &str, text: &str, limit| (name.to_owned(), text.to_owned(), limit);
        assert_eq!(read("duration"), own("duration", "duration", None));
        assert_eq!(read(" mpi_time / time "), own("mpi_time / time", "mpi_time / time", None));
        assert_eq!(read("share = mpi_time / time > 10%"), own("share", "mpi_time / time", Some(0.1)));
        assert_eq!(read("messages > 0%"), own("messages", "messages", Some(0.0)));
        let quoted = "region(\"a = b > c\").time > 1 %";
        assert_eq!(read(quoted), own("region(\"a = b > c\").time", "region(\"a = b > c\").time", Some(0.01)));
    }

    #[test]
    fn complaints_point_at_the_place() {
        let complaint = |text: &str, thresholds| format!("{}", Metric::parse(text, thresholds).unwrap_err());
        for (text, mark, what) in [
            ("mpi_time / tmie", 11, "did you mean `time`?"),
            ("share = 1 +", 11, "the expression ends"),
            ("share = größe", 8, "there is no quantity `größe`"),
            ("time > x", 6, "a percentage is expected"),
            (" = time", 0, "the name is empty"),
            ("", 0, "an expression is expected"),
        ] {
            let said = complaint(text, Thresholds::Allowed);
            let lines: Vec<&str> = said.lines().collect();
            assert!(lines[0].contains(what), "{said}");
            assert_eq!(
                (lines[1].trim_end(), lines[2]),
                (format!("    {text}").trim_end(), &*format!("    {:mark$}^", "")),
                "{said}"
            );
        }
        assert!(complaint("time > 5%", Thresholds::None).contains("for `marey check` only"));
    }

    #[test]
    fn values_have_units_and_few_digits() {
        let value = |text: &str, value| Metric::parse(text, Thresholds::None).unwrap().value_text(value);
        for (text, number, expected) in [
            ("time", 1.5, "1.50 s"),
            ("bytes", 2048.0, "2.00 KiB"),
            ("bytes / time", 2048.0, "2.00 KiB/s"),
            ("visits / time", 2048.25, "2048 1/s"),
            ("visits", 1_234_567.0, "1 234 567"),
            ("mpi_time / time", 0.123_456, "0.1235"),
            ("time * time", 2.5, "2.500 s^2"),
            ("time + bytes", 2.5, "2.500"),
            ("visits / visits", 1e-9, "1.000e-9"),
            ("0 - bytes", -3.0, "-3 B"),
            ("time", 1e12, "1 000 000 000 000 s"),
            ("load_balance", 0.5, "50.0 %"),
        ] {
            assert_eq!(value(text, number), expected, "{text}");
        }
    }
}
