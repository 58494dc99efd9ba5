//! `marey hot`: which functions and lines the processor time went to.
//!
//! The one idea: what was sampled is an estimate, so every share comes with its error. Numbers come from
//! `marey-analyze`; the report prints the same table.

use std::io::{self, Write};
use std::process::ExitCode;

use marey_analyze::{Hot, HotFunction, HotLine, Sampled, Trace, hot};
use marey_model::Nanos;
use serde::Serialize;

use crate::cli::{HotArgs, HotBy};
use crate::format;
use crate::paint::{Look, Paint, harmless, note, shorten, title};
use crate::problems;
use crate::run::Run;
use crate::table::{self, Cell, Side, Table};
use crate::words;

/// Problems: threads that were not sampled, and periods of processor time without a place.
const UNSAMPLED: &str = "unsampled";
const LOST: &str = "lost_samples";

/// Runs the command.
pub(crate) fn run(args: &HotArgs) -> anyhow::Result<ExitCode> {
    let run = Run::open(&args.run)?;
    let trace: &dyn Trace = &run.trace;
    let hot = hot(trace);
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.json {
        serde_json::to_writer_pretty(&mut out, &Json::new(trace, &hot))?;
        writeln!(out)?;
    } else {
        let paint = Paint::for_stdout();
        let paint = if args.no_color { paint.without_colour() } else { paint };
        let top = usize::try_from(args.top).unwrap_or(usize::MAX);
        let mut page = Page { out: &mut out, paint, top, trace };
        if args.by != Some(HotBy::Line) {
            page.functions(&hot)?;
        }
        if args.by != Some(HotBy::Function) {
            page.lines(&hot)?;
        }
        page.notes(&hot)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Where and how tables are printed.
pub(crate) struct Page<'p> {
    pub(crate) out: &'p mut dyn Write,
    pub(crate) paint: Paint,
    /// Rows of a table at most.
    pub(crate) top: usize,
    pub(crate) trace: &'p dyn Trace,
}

impl Page<'_> {
    /// One row a function, or a call with a region of its own.
    pub(crate) fn functions(&mut self, hot: &Hot<'_>) -> io::Result<()> {
        self.title("HOT FUNCTIONS", hot)?;
        let is_own = |row: &&HotFunction<'_>| row.level.is_some() || !words::is_startup(row.name);
        let rows: Vec<&HotFunction<'_>> = hot.functions.iter().filter(is_own).collect();
        if rows.is_empty() {
            return self.nothing(hot);
        }
        let mut table = Table::new(&[
            ("function or call", Side::Left),
            ("in", Side::Left),
            ("self", Side::Right),
            ("share", Side::Right),
            ("±", Side::Right),
            ("with callees", Side::Right),
            ("of all", Side::Right),
        ])
        .can_spare(&["of all", "in", "with callees"]);
        for row in rows.iter().take(self.top) {
            let place = words::file_or_level(row.file, row.level);
            let mut cells = vec![
                shorten(&words::function(row.name), 40).into(),
                Cell::new(Look::Faint, shorten(&place, 24)),
            ];
            cells.extend(numbers(&row.exclusive, &row.inclusive, &hot.whole));
            table.push(cells);
        }
        table.print(self.out, self.paint)?;
        table::more(self.out, self.paint, rows.len().saturating_sub(self.top), "function", "functions")
    }

    /// One row a line of the source.
    fn lines(&mut self, hot: &Hot<'_>) -> io::Result<()> {
        self.title("HOT LINES", hot)?;
        let rows: Vec<&HotLine<'_>> = hot.lines.iter().filter(|row| row.exclusive.samples > 0).collect();
        if rows.is_empty() {
            return self.nothing(hot);
        }
        let mut table = Table::new(&[
            ("line", Side::Left),
            ("function", Side::Left),
            ("self", Side::Right),
            ("share", Side::Right),
            ("±", Side::Right),
            ("with callees", Side::Right),
            ("of all", Side::Right),
        ])
        .can_spare(&["of all", "with callees", "function"]);
        for row in rows.iter().take(self.top) {
            let mut cells = vec![
                shorten(&words::place(row.file, row.line), 32).into(),
                Cell::new(Look::Faint, shorten(&words::function(row.function), 32)),
            ];
            cells.extend(numbers(&row.exclusive, &row.inclusive, &hot.whole));
            table.push(cells);
        }
        table.print(self.out, self.paint)?;
        table::more(self.out, self.paint, rows.len().saturating_sub(self.top), "line", "lines")
    }

    fn title(&mut self, name: &str, hot: &Hot<'_>) -> io::Result<()> {
        let Sampled { samples, time } = hot.whole;
        let remark = match i64::try_from(samples) {
            Ok(number @ 1..) => format!(
                "processor time of all threads, {}, from {}, one in {} on average; ±: how far off a share \
                 may be, in points: the true one is within that in 19 of 20 runs, if samples stand for equal \
                 times",
                format::duration(time),
                format::counted(samples, "sample"),
                format::duration(Nanos(time.0 / number)),
            ),
            _ => "processor time of all threads".to_owned(),
        };
        title(self.out, self.paint, name, &remark)
    }

    /// Says why a table is empty.
    fn nothing(&mut self, hot: &Hot<'_>) -> io::Result<()> {
        let text = match hot.whole.samples {
            0 if self.unsampled().is_empty() => {
                "no samples: recorded with --sample off, or shorter than a period"
            }
            0 => "no samples",
            _ => "none of which the line is known; compile with -g",
        };
        writeln!(self.out, "  {}", self.paint.paint(Look::Faint, text))
    }

    /// Why threads were not sampled that should have been.
    fn unsampled(&self) -> Vec<&str> {
        problems::details(self.trace, UNSAMPLED)
    }

    /// What one should know of the numbers.
    pub(crate) fn notes(&mut self, hot: &Hot<'_>) -> io::Result<()> {
        let mut notes = Vec::new();
        if hot.incomplete.samples > 0 {
            notes.push(format!(
                "of {} the outer functions are not known: their unwind tables end",
                format::counted(hot.incomplete.samples, "sample")
            ));
        }
        let lost = problems::count(self.trace, LOST);
        if lost > 0 {
            notes.push(format!(
                "of {} of processor time it is not known where they went; shares are of the rest",
                format::counted(lost, "further period")
            ));
        }
        notes.extend(self.unsampled().iter().map(|detail| harmless(detail)));
        notes.iter().try_for_each(|text| note(self.out, self.paint, text))
    }
}

/// The cells behind the name.
fn numbers(exclusive: &Sampled, inclusive: &Sampled, whole: &Sampled) -> [Cell; 5] {
    let (_, error) = exclusive.share(whole);
    let percent = |part: &Sampled| format::percent(part.time.0, whole.time.0);
    [
        format::duration(exclusive.time).into(),
        percent(exclusive).into(),
        Cell::new(Look::Faint, format!("{:.1}", 100.0 * error)),
        format::duration(inclusive.time).into(),
        percent(inclusive).into(),
    ]
}

/// The answer for other programs, a part of the report's too; what the fields mean is told by the help.
#[derive(Serialize)]
pub(crate) struct Json<'h> {
    samples: u64,
    time_ns: i64,
    incomplete_samples: u64,
    lost_samples: u64,
    unsampled: Vec<&'h str>,
    functions: Vec<JsonFunction<'h>>,
    lines: Vec<JsonLine<'h>>,
}

#[derive(Serialize)]
struct JsonFunction<'h> {
    name: &'h str,
    file: &'h str,
    level: Option<&'h str>,
    #[serde(flatten)]
    numbers: JsonNumbers,
}

#[derive(Serialize)]
struct JsonLine<'h> {
    file: &'h str,
    line: u32,
    function: &'h str,
    #[serde(flatten)]
    numbers: JsonNumbers,
}

#[derive(Serialize)]
struct JsonNumbers {
    exclusive_samples: u64,
    exclusive_ns: i64,
    exclusive_share: f64,
    exclusive_error: f64,
    inclusive_samples: u64,
    inclusive_ns: i64,
    inclusive_share: f64,
    inclusive_error: f64,
}

impl<'h> Json<'h> {
    pub(crate) fn new(trace: &'h dyn Trace, hot: &'h Hot<'h>) -> Self {
        let numbers = |exclusive: &Sampled, inclusive: &Sampled| {
            let ((exclusive_share, exclusive_error), (inclusive_share, inclusive_error)) =
                (exclusive.share(&hot.whole), inclusive.share(&hot.whole));
            JsonNumbers {
                exclusive_samples: exclusive.samples,
                exclusive_ns: exclusive.time.0,
                exclusive_share,
                exclusive_error,
                inclusive_samples: inclusive.samples,
                inclusive_ns: inclusive.time.0,
                inclusive_share,
                inclusive_error,
            }
        };
        let function = |row: &HotFunction<'h>| JsonFunction {
            name: row.name,
            file: row.file,
            level: row.level,
            numbers: numbers(&row.exclusive, &row.inclusive),
        };
        let line = |row: &HotLine<'h>| JsonLine {
            file: row.file,
            line: row.line,
            function: row.function,
            numbers: numbers(&row.exclusive, &row.inclusive),
        };
        Self {
            samples: hot.whole.samples,
            time_ns: hot.whole.time.0,
            incomplete_samples: hot.incomplete.samples,
            lost_samples: problems::count(trace, LOST),
            unsampled: problems::details(trace, UNSAMPLED),
            functions: hot.functions.iter().map(function).collect(),
            lines: hot.lines.iter().map(line).collect(),
        }
    }
}
