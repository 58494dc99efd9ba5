//! `marey remarks`: hot loops that the compiler left as they are, why, and what could be won.
//!
//! The one idea: what compilers said lies in the run, put there when it was merged ([`gather`]); costs come from its samples.
//! So a run is asked alone, and nothing that it names is opened but sources, for the line of code that is shown.
//!
//! [`Told`] is all that is known of a run, for whoever shows it: the command, the report, the comparison.

pub(crate) mod gather;
mod json;
mod page;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::{Context, bail};
use marey_analyze::{OnPath, RemarkRow, Remarked, SampledRow, remarked, remarked_alone};
use marey_archive::Events;
use marey_model::Nanos;
use marey_source::remarks::of_paths;

use crate::busy::Busy;
use crate::cli::RemarksArgs;
use crate::exit::{Usage, say, text_of};
use crate::paint::{Paint, harmless};
use crate::run::Run;

pub(crate) use gather::Gathered;
pub(crate) use page::{in_report, outcome_of};

/// Warnings that are told when a run is merged: a build that was begun anew has one for each of its records.
const MOST_PROBLEMS: usize = 5;

/// What compilers said of a run's program, and what was sampled on the critical path.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) rows: Vec<RemarkRow>,
    on_path: Option<(Vec<SampledRow>, Nanos)>,
    /// Why nothing is known, if something was kept: a run is whole without.
    pub(crate) unread: Option<String>,
}

impl Told {
    /// Of a run, as it keeps it.
    pub(crate) fn of(run: &Run) -> Self {
        let rows = marey_archive::remarks(&run.archive).map_err(anyhow::Error::new);
        rows.and_then(|rows| Self::with(run, rows)).unwrap_or_else(|error| Self::unread(run, &error))
    }

    /// The same for whoever does not ask for the critical path.
    pub(crate) fn without_path(run: &Run) -> Self {
        let rows = marey_archive::remarks(&run.archive).map_err(anyhow::Error::new);
        let told = rows.map(|rows| Self { rows, ..Self::default() });
        told.unwrap_or_else(|error| Self::unread(run, &error))
    }

    fn unread(run: &Run, error: &anyhow::Error) -> Self {
        let unread = format!("remarks of compilers in {} cannot be read: {}", run.name, text_of(error));
        Self { unread: Some(harmless(&unread)), ..Self::default() }
    }

    /// With rows from elsewhere.
    fn with(run: &Run, rows: Vec<RemarkRow>) -> anyhow::Result<Self> {
        // Without remarks nobody asks for the path.
        let on_path = if rows.is_empty() { None } else { on_path(run)? };
        Ok(Self { rows, on_path, unread: None })
    }

    /// Rows beside costs.
    pub(crate) fn remarked(&self, run: &Run) -> Remarked<'_> {
        let on_path = self.on_path.as_ref();
        remarked(&run.trace, &self.rows, on_path.map(|(samples, length)| OnPath { samples, length: *length }))
    }
}

/// Samples on the critical path, and its length; `None` = there is none, or no sample on it.
fn on_path(run: &Run) -> anyhow::Result<Option<(Vec<SampledRow>, Nanos)>> {
    if run.archive.meta().summed_since_ns().is_some() {
        return Ok(None);
    }
    // What was not prepared would be found from all events, for an order that samples nearly give.
    let Some(causes) = marey_archive::prepared(&run.archive, &run.trace) else { return Ok(None) };
    let events = Events::open(&run.archive, &run.trace)?;
    let samples = events.sampled_on(&causes.path)?;
    let length = causes.path.spans.iter().fold(Nanos(0), |sum, span| sum + (span.to - span.from));
    Ok(Some((samples, length)).filter(|(samples, _)| !samples.is_empty()))
}

/// Puts what compilers said of the program into a run that was just merged. It is whole without.
pub(crate) fn keep_of(run: &Path) {
    let _busy = Busy::with("reading remarks of compilers");
    match gather::keep(run) {
        Ok(kept) => {
            let (few, more) = kept.problems.split_at(kept.problems.len().min(MOST_PROBLEMS));
            few.iter().for_each(|problem| say(&format!("warning: {}", harmless(problem))));
            if !more.is_empty() {
                let number = crate::format::counted(more.len() as u64, "warning");
                say(&format!(
                    "warning: {number} more of records of compilers; `marey remarks RUN` tells them"
                ));
            }
        }
        Err(error) => say(&format!("warning: remarks of compilers are not kept: {}", text_of(&error))),
    }
}

/// Runs the command.
pub(crate) fn run(args: &RemarksArgs) -> anyhow::Result<ExitCode> {
    std::fs::File::open(&args.file).with_context(|| format!("cannot open {}", args.file.display()))?;
    for path in &args.remarks {
        std::fs::File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    }
    let given = (!args.remarks.is_empty()).then(|| of_paths(&args.remarks));
    let busy = Busy::with("reading remarks");
    let run = if crate::source::is_run(&args.file) { Some(Run::open(&args.file)?) } else { None };
    let gathered = match (&run, &given) {
        (Some(run), Some(records)) => gather::of_run(&run.trace, records),
        (Some(run), None) => Gathered {
            rows: marey_archive::remarks(&run.archive)?,
            records: 0,
            problems: crate::problems::details(&run.trace, gather::PROBLEM)
                .into_iter()
                .map(harmless)
                .collect(),
        },
        (None, _) if args.file.is_dir() => {
            let mut paths = vec![args.file.clone()];
            paths.extend(args.remarks.iter().cloned());
            gather::of_records(&of_paths(&paths))
        }
        (None, _) => gather::of_program(&args.file, given.as_deref()),
    };
    if gathered.rows.is_empty() {
        bail!(Usage(without_records(&args.file, run.is_some(), &gathered)));
    }
    let Gathered { rows, records, problems } = gathered;
    let told = match &run {
        Some(run) => Told::with(run, rows)?,
        None => Told { rows, ..Told::default() },
    };
    let remarked = match &run {
        Some(run) => told.remarked(run),
        None => remarked_alone(&told.rows),
    };
    drop(busy);
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.json {
        json::print(&mut out, &remarked, records, &problems)?;
    } else {
        let paint = Paint::for_stdout();
        let paint = if args.no_color { paint.without_colour() } else { paint };
        let name = run.as_ref().map_or_else(|| args.file.display().to_string(), |run| run.name.clone());
        let top = usize::try_from(args.top).unwrap_or(usize::MAX);
        let page = page::Page {
            paint,
            top,
            all: args.all,
            has_costs: run.is_some(),
            run: run.as_ref().and_then(began),
            it: &remarked,
        };
        page.print(&mut out, &name, &problems)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// When a run began.
fn began(run: &Run) -> Option<SystemTime> {
    let start = u64::try_from(run.archive.meta().run.start_realtime_ns).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(start))
}

/// Why there is nothing, and what to do.
fn without_records(path: &Path, is_run: bool, gathered: &Gathered) -> String {
    let shown = path.display();
    let mut text = gathered.problems.first().map_or_else(String::new, |problem| format!("{problem}. "));
    text += &match is_run {
        true => format!(
            "No remarks of compilers are known of {shown}: none were found when it was recorded. Compile with records, and \
             record again; or give those of this program with --remarks DIR."
        ),
        false => format!(
            "No remarks of compilers are known of {shown}. Compile with records, or give them with --remarks DIR."
        ),
    };
    text += "\n  gcc, g++, gfortran, clang:  add  -g -fsave-optimization-record\n  \
             cargo:  RUSTFLAGS='-Ccodegen-units=1 -Cdebuginfo=1 -Cremark=all' cargo build --release 2> app.remarks";
    text
}
