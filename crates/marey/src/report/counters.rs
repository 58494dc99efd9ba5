//! One row a function or call: what the processor and the kernel counted in it, and what that says.
//!
//! The one idea: a reader looks for the function that is odd, so quotients such as instructions a cycle stand beside
//! the counts, and what has few counts comes last.

use std::io;

use marey_analyze::{Counted, CountedFunction, Metric, MetricKind};
use marey_model::Nanos;

use super::Page;
use crate::format;
use crate::paint::{Look, harmless, note, shorten};
use crate::problems;
use crate::table::{Cell, Side, Table};
use crate::words;

/// Below this share of the time a counter was counted so seldom that short stretches mean little.
const WHOLE: f64 = 0.999;

/// Whether there is anything to say.
pub(super) fn is_worthwhile(page: &Page<'_>) -> bool {
    !page.facts.counted.counters.is_empty() || !missing(page).is_empty()
}

/// Why counters could not be had.
fn missing<'p>(page: &Page<'p>) -> Vec<&'p str> {
    problems::details(page.facts.trace, "uncounted")
}

/// Prints the table.
pub(super) fn print(page: &mut Page<'_>) -> io::Result<()> {
    let counted = &page.facts.counted;
    let remark = if page.facts.hot.whole.samples > 0 {
        "of all threads; exact for calls and regions, divided among their functions by samples"
    } else {
        "of all threads, in the region itself"
    };
    page.title("COUNTERS", remark)?;
    if counted.counters.is_empty() {
        if missing(page).is_empty() {
            return page.nothing("nothing was counted beside the time: record with --counters auto");
        }
    } else {
        rows(page, counted)?;
    }
    notes(page)
}

fn rows(page: &mut Page<'_>, counted: &Counted<'_>) -> io::Result<()> {
    let metrics: Vec<&'static Metric> = counted.metrics().collect();
    let heads = [("function or call".to_owned(), Side::Left), ("in".to_owned(), Side::Left)].into_iter();
    let heads = heads.chain(metrics.iter().map(|metric| (metric.name.to_owned(), Side::Right)));
    let names: Vec<String> = counted.counters.iter().map(|counter| harmless(&counter.name)).collect();
    let heads = heads.chain(names.iter().map(|name| (name.clone(), Side::Right)));
    // The first quotient and the first count tell most.
    let spare: Vec<String> =
        ["in".to_owned()].into_iter().chain(names.iter().skip(1).rev().cloned()).collect();
    let spare: Vec<&str> =
        spare.iter().map(String::as_str).chain(metrics.iter().skip(1).rev().map(|it| it.name)).collect();
    let mut table = Table::with_heads(heads).can_spare(&spare);
    let is_own = |row: &&CountedFunction<'_>| {
        row.level.is_some() || row.name.is_none_or(|name| !words::is_startup(name))
    };
    let functions: Vec<_> = counted.functions.iter().filter(is_own).collect();
    for row in functions.iter().take(page.top) {
        let name = row.name.map_or_else(|| "(outside of all regions)".to_owned(), words::function);
        let place = words::file_or_level(row.file, row.level);
        let mut cells = vec![Cell::from(shorten(&name, 40)), Cell::new(Look::Faint, shorten(&place, 24))];
        let time = time_of(page, row);
        cells.extend(metrics.iter().map(|metric| quotient(metric, metric.value(counted, &row.values, time))));
        cells.extend(row.values.iter().zip(&counted.counters).map(|(&value, it)| amount(value, &it.unit)));
        table.push(cells);
    }
    if functions.len() > 1 {
        #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
        let whole: Vec<f64> = counted.whole.iter().map(|&value| value as f64).collect();
        let mut cells = vec![Cell::new(Look::Faint, "all"), Cell::from(String::new())];
        let time = Some(page.facts.hot.whole.time).filter(|time| time.0 > 0);
        cells.extend(metrics.iter().map(|metric| quotient(metric, metric.value(counted, &whole, time))));
        cells.extend(whole.iter().zip(&counted.counters).map(|(&value, it)| amount(value, &it.unit)));
        table.push(cells);
    }
    table.print(page.out, page.paint)?;
    page.more(functions.len().saturating_sub(page.top), "function")
}

/// Processor time of a function, if it was sampled.
fn time_of(page: &Page<'_>, row: &CountedFunction<'_>) -> Option<Nanos> {
    let is_it = |hot: &&marey_analyze::HotFunction<'_>| {
        (Some(hot.name), hot.file, hot.level) == (row.name, row.file, row.level)
    };
    let found = page.facts.hot.functions.iter().find(is_it)?;
    Some(found.exclusive.time).filter(|time| time.0 > 0)
}

fn quotient(metric: &Metric, value: Option<f64>) -> Cell {
    let Some(value) = value else { return Cell::from(String::new()) };
    let text = match metric.kind {
        MetricKind::Number => format!("{value:.2}"),
        MetricKind::Share => format!("{:.1} %", 100.0 * value),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rates are not negative")]
        MetricKind::Rate => format!("{}/s", format::bytes(value as u64)),
    };
    text.into()
}

fn amount(value: f64, unit: &str) -> Cell {
    #[expect(clippy::cast_possible_truncation, reason = "times fit")]
    let text = match unit {
        "ns" => format::duration(Nanos(value as i64)),
        _ => format::amount(value),
    };
    if value == 0.0 { Cell::new(Look::Faint, "0") } else { text.into() }
}

/// What one should know of the numbers.
fn notes(page: &mut Page<'_>) -> io::Result<()> {
    let mut notes = Vec::new();
    #[expect(clippy::cast_precision_loss, reason = "a percentage is shown")]
    for counter in &page.facts.counted.counters {
        let share = counter.running.0 as f64 / counter.enabled.0.max(1) as f64;
        if counter.enabled.0 > 0 && share < WHOLE {
            notes.push(format!(
                "{} was counted {:.0} % of the time, for the processor has fewer counters than were asked for; its \
                 numbers are scaled to all of it.",
                harmless(&counter.name),
                100.0 * share
            ));
        }
    }
    notes.extend(missing(page).iter().map(|detail| format!("not counted: {}.", harmless(detail))));
    notes.iter().try_for_each(|text| note(page.out, page.paint, text))
}
