//! `marey diff`: what differs between runs, and why.
//!
//! The one idea: sentences first, then tables; each run is compared with the first one.

use std::io::{self, Write};
use std::process::ExitCode;

use marey_analyze::{Digest, compare};

use super::json::{Diff, Json, Run};
use super::loops::{self, WithLoops};
use super::metrics::{Metric, Thresholds};
use super::sentences::sentences;
use super::tables::Page;
use super::{Compared, Depth, open_all};
use crate::cli::DiffArgs;
use crate::paint::{Look, Paint, note, title, wrap};

/// Runs the command.
pub(crate) fn run(args: &DiffArgs) -> anyhow::Result<ExitCode> {
    let metrics = Metric::parse_all(&args.metric, Thresholds::None)?;
    let runs = open_all(args.runs.iter(), Depth::Loops)?;
    let digests: Vec<&Digest> = runs.iter().map(|run| &run.digest).collect();
    metrics.iter().try_for_each(|metric| metric.check_names(&digests))?;
    let Some((base, others)) = runs.split_first() else { return Ok(ExitCode::SUCCESS) };
    let mut out = io::BufWriter::new(io::stdout().lock());
    let comparisons: Vec<_> = others.iter().map(|other| compare(&base.digest, &other.digest)).collect();
    if args.json {
        let pairs = others.iter().zip(&comparisons);
        let comparisons = pairs
            .map(|(other, comparison)| {
                let it = Json::new(base, other, comparison, &metrics);
                WithLoops { it, loops: loops::json(base, other) }
            })
            .collect();
        serde_json::to_writer_pretty(&mut out, &Diff { base: Run::new(base), comparisons })?;
        writeln!(out)?;
    } else {
        let paint = Paint::for_stdout();
        let paint = if args.no_color { paint.without_colour() } else { paint };
        let top = usize::try_from(args.top).unwrap_or(usize::MAX);
        for (other, comparison) in others.iter().zip(&comparisons) {
            let heading = format!("{} → {}", base.name, other.name);
            title(&mut out, paint, "VERDICT", &heading)?;
            numbered(&mut out, paint, &sentences(base, other, comparison))?;
            remarks(&mut out, paint, base, other)?;
            loops::print(&mut out, paint, base, other, top)?;
            Page { out: &mut out, paint, top, comparison, base, other }.tables(&metrics)?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// The first sentence alone, the others as a list.
pub(super) fn numbered(out: &mut dyn Write, paint: Paint, sentences: &[String]) -> io::Result<()> {
    let width = paint.prose_width();
    for (number, text) in sentences.iter().enumerate() {
        let (mark, indent) = if number == 0 { ("", 2) } else { ("· ", 4) };
        for (at, line) in wrap(text, width - indent).iter().enumerate() {
            let mark = if at == 0 { mark } else { "" };
            let gap = " ".repeat(indent - mark.chars().count());
            let line = if number == 0 { paint.paint(Look::Strong, line) } else { line.clone() };
            writeln!(out, "{gap}{}{line}", paint.paint(Look::Bar, mark))?;
        }
    }
    Ok(())
}

/// What is missing from the runs.
pub(super) fn remarks_of(base: &Compared, other: &Compared) -> Vec<String> {
    let mut remarks = Vec::new();
    for run in [base, other] {
        remarks.extend(run.unexplained.clone());
        if run.is_incomplete {
            remarks.push(format!(
                "Not all of {} was recorded; its numbers are of the rest: `marey report` says more.",
                run.name
            ));
        }
    }
    remarks
}

/// What must be known to read the rest.
fn remarks(out: &mut dyn Write, paint: Paint, base: &Compared, other: &Compared) -> io::Result<()> {
    remarks_of(base, other).iter().try_for_each(|text| note(out, paint, text))?;
    note(
        out,
        paint,
        "One run of each: a difference may be chance. `marey check` tells from repeats whether it is not.",
    )
}
