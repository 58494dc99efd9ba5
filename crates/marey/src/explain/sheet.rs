//! Where sentences and tables of `marey phases` and `marey anomalies` are printed.
//!
//! The one idea: both say first in sentences what there is, and show the numbers below.
//!
//! What is deliberately absent: what is said.

use std::io::{self, Write};

use marey_analyze::{Figures, Trace};
use marey_model::Nanos;
use serde::Serialize;

use super::Place;
use super::part::Part;
use crate::cli::ExplainArgs;
use crate::format::{self, solid};
use crate::paint::{Look, Paint, harmless, shorten, wrap};
use crate::run::Run;
use crate::table::Cell;
use crate::words;

pub(super) struct Sheet<'p> {
    pub(super) out: &'p mut dyn Write,
    pub(super) paint: Paint,
    /// Rows of a table at most.
    pub(super) top: usize,
    pub(super) trace: &'p dyn Trace,
}

impl<'p> Sheet<'p> {
    pub(super) fn new(out: &'p mut dyn Write, args: &ExplainArgs, trace: &'p dyn Trace) -> Self {
        let paint = Paint::for_stdout();
        let paint = if args.no_color { paint.without_colour() } else { paint };
        Self { out, paint, top: usize::try_from(args.top).unwrap_or(usize::MAX), trace }
    }

    /// Prints sentences, one below the other.
    pub(super) fn say(&mut self, sentences: &[String]) -> io::Result<()> {
        for sentence in sentences {
            for (place, line) in wrap(sentence, self.paint.prose_width() - 4).iter().enumerate() {
                let mark = if place == 0 { self.paint.paint(Look::Bar, "· ") } else { "  ".to_owned() };
                writeln!(self.out, "  {mark}{line}")?;
            }
        }
        Ok(())
    }

    /// What is told of less than was asked for.
    pub(super) fn cut(&mut self, run: &Run, part: &Part) -> io::Result<()> {
        match part.cut(run) {
            Some(words) => crate::paint::note(self.out, self.paint, &words),
            None => Ok(()),
        }
    }

    pub(super) fn more(&mut self, rows: usize) -> io::Result<()> {
        crate::table::more(self.out, self.paint, rows.saturating_sub(self.top), "row", "rows")
    }
}

/// Sentences without what only holds lines together.
pub(super) fn plain(sentences: &[String]) -> Vec<String> {
    sentences.iter().map(|sentence| format::plain(sentence)).collect()
}

/// A time that no line break tears apart.
pub(super) fn time(ns: f64) -> String {
    solid(format::duration(super::rounded(ns)))
}

/// An instant of the run, such as `1.234 s`.
pub(super) fn instant(at: Nanos) -> String {
    if at.0.abs() < 1_000_000 {
        return solid(format::duration(at));
    }
    #[expect(clippy::cast_precision_loss, reason = "six digits are shown")]
    let seconds = at.0 as f64 / 1e9;
    solid(if seconds < 10.0 { format!("{seconds:.4} s") } else { format!("{seconds:.3} s") })
}

/// `MPI_Allreduce in step (main.c:40)`
pub(super) fn what(place: &Place<'_>) -> String {
    let region = match place.activity {
        "outside" => return "computation outside of recorded calls".to_owned(),
        "not started" => return "not being there".to_owned(),
        _ if place.region.is_empty() => "(unknown)".to_owned(),
        _ => harmless(place.region),
    };
    let at = words::place(place.file, place.line);
    match (place.function, at.is_empty()) {
        ("", true) => region,
        ("", false) => format!("{region} ({at})"),
        (function, true) => format!("{region} in {}", shorten(&words::function(function), 60)),
        (function, false) => format!("{region} in {} ({at})", shorten(&words::function(function), 60)),
    }
}

/// The same in two cells, where there is little room.
pub(super) fn cells(place: &Place<'_>) -> [Cell; 2] {
    let [what, from] = place.texts();
    [shorten(&what, 24).into(), Cell::new(Look::Faint, shorten(&from, 34))]
}

/// Figures for other programs, in ns.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct JsonFigures {
    min_ns: i64,
    mean_ns: i64,
    median_ns: i64,
    max_ns: i64,
    deviation_ns: i64,
}

impl From<&Figures> for JsonFigures {
    fn from(it: &Figures) -> Self {
        let ns = |ns: f64| super::rounded(ns).0;
        Self {
            min_ns: ns(it.min),
            mean_ns: ns(it.mean),
            median_ns: ns(it.median),
            max_ns: ns(it.max),
            deviation_ns: ns(it.deviation),
        }
    }
}
