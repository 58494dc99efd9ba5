//! What was lost, cut short or uncertain in a run.
//!
//! The one idea: the archive lists problems by kind as data; the kinds that other programs rely on
//! have a field each in the JSON, all others are still shown.

use std::io::{self, Write};

use marey_analyze::{Problem, Trace};
use serde::Serialize;

use crate::format;
use crate::paint::{Look, Paint, harmless, shorten, title};
use crate::table::{Cell, Side, Table};
use crate::words;

/// The sums that other programs rely on; the names are an interface.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Totals {
    /// Events that were committed and could not be read.
    lost: u64,
    /// Events that could not be recorded.
    dropped: u64,
    /// Sends without their receive.
    unmatched_sends: u64,
    /// Receives without their send.
    unmatched_receives: u64,
    /// Channels on which messages were not counted.
    unmatchable_channels: u64,
    /// Messages received before they were sent.
    clock_violations: u64,
    /// Places where detail ended early.
    truncated: u64,
}

/// The sums by kind.
pub(crate) fn totals(problems: &[Problem]) -> Totals {
    let sum = |kind: &str| problems.iter().filter(|problem| problem.kind == kind).map(|p| p.count).sum();
    Totals {
        lost: sum("lost"),
        dropped: sum("dropped"),
        unmatched_sends: sum("unmatched_sends"),
        unmatched_receives: sum("unmatched_receives"),
        unmatchable_channels: sum("unmatchable_channels"),
        clock_violations: sum("clock_violations"),
        truncated: sum("truncated"),
    }
}

/// Rows of the table at most; a run of thousands of ranks may have one for each.
const MAX_ROWS: usize = 30;

/// The section on problems, which is never left out.
pub(crate) fn print(out: &mut dyn Write, paint: Paint, trace: &dyn Trace) -> io::Result<()> {
    title(out, paint, "PROBLEMS", "what was lost, cut short or is uncertain")?;
    // A kind that is listed with a count of zero says that all is well.
    let problems: Vec<&Problem> = trace.problems().iter().filter(|problem| problem.count > 0).collect();
    if problems.is_empty() {
        return writeln!(out, "  {}", paint.paint(Look::Good, "none"));
    }
    let columns = [("kind", Side::Left), ("count", Side::Right), ("where", Side::Left), ("", Side::Left)];
    let mut table = Table::new(&columns);
    for problem in problems.iter().take(MAX_ROWS) {
        table.row([
            Cell::new(Look::Alarm, harmless(&problem.kind).replace('_', " ")),
            format::count(problem.count).into(),
            place(trace, problem).into(),
            shorten(&harmless(&problem.detail), 60).into(),
        ]);
    }
    table.print(out, paint)?;
    match problems.len().saturating_sub(MAX_ROWS) {
        0 => Ok(()),
        more => writeln!(out, "  {}", paint.paint(Look::Faint, &format!("… {more} more rows"))),
    }
}

/// Where it happened, in words.
fn place(trace: &dyn Trace, problem: &Problem) -> String {
    match (problem.location, problem.process) {
        (Some(location), _) => words::location(trace, location),
        (None, Some(process)) => words::process(trace, process),
        (None, None) => "run".to_owned(),
    }
}
