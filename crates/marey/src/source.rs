//! `marey source`: what a program consists of.
//!
//! The one idea: it is asked of files alone, so it answers before anything was run. All of it comes from the program
//! database of `marey-source`, whose two witnesses are the binary and the text; what only one of them knows says so. Of a run
//! it is asked what the loops that it went through cost.

mod about;
mod changed;
mod code;
mod costs;
mod json;
pub(crate) mod kept;
mod kinds;
mod lists;
mod witness;
mod written;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use marey_source::Problem;
use marey_source::database::{CallKind, Callee, Place, Text};

pub(crate) use self::changed::Made;
use self::witness::Witnesses;
use crate::cli::{SourceArgs, SourceList};
use crate::format;
use crate::paint::{Look, Paint, harmless, note, shorten, title};
use crate::table::{Cell, Side, Table};
use crate::words;

/// Rows of a table where no list is asked for.
const FEW: usize = 20;
/// Files that are named by themselves in notes.
const FEW_FILES: usize = 3;

/// Runs the command.
pub(crate) fn run(args: &SourceArgs) -> anyhow::Result<ExitCode> {
    // What cannot be opened at all is an error; what is missing in it is a note.
    let failed = || format!("cannot open {}", args.file.display());
    let kind = std::fs::metadata(&args.file).with_context(failed)?;
    // A pipe would keep us waiting, a device has no end.
    if !kind.is_file() && !kind.is_dir() {
        bail!("{} is neither a file nor a directory", args.file.display());
    }
    std::fs::File::open(&args.file).with_context(failed)?;
    if let Some(name) = &args.code {
        let mut out = io::BufWriter::new(io::stdout().lock());
        if is_run(&args.file) {
            code::of_run(args, name, &mut out)?;
        } else {
            code::of_file(args, name, &mut out)?;
        }
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    if is_run(&args.file) {
        let mut out = io::BufWriter::new(io::stdout().lock());
        costs::run(args, &mut out)?;
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    let witnesses = Witnesses::ask(&args.file);
    refuse_nothing(&args.file, &witnesses)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.json {
        serde_json::to_writer_pretty(&mut out, &json::Json::new(&witnesses))?;
        writeln!(out)?;
    } else {
        let paint = Paint::for_stdout();
        let paint = if args.no_color { paint.without_colour() } else { paint };
        let few = if args.list.is_some() { usize::MAX } else { FEW };
        let top = args.top.map_or(few, |top| usize::try_from(top).unwrap_or(usize::MAX));
        let mut page = Page { out: &mut out, paint, top, it: &witnesses };
        match (&args.of, args.list) {
            (Some(name), _) => page.about(name)?,
            (None, Some(SourceList::Functions)) => page.functions()?,
            (None, Some(SourceList::Types)) => page.types()?,
            (None, Some(SourceList::Files)) => page.files()?,
            (None, Some(SourceList::Loops)) => page.loops()?,
            (None, Some(SourceList::Constructs)) => page.constructs()?,
            (None, Some(SourceList::References)) => page.references()?,
            (None, Some(SourceList::Calls)) => page.calls()?,
            (None, None) => {
                page.overview(&args.file.display().to_string())?;
                page.functions()?;
            }
        }
        page.notes()?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Whether a run lies there, packed or not, merged or not.
pub(crate) fn is_run(path: &Path) -> bool {
    let is_merged = path.join(marey_archive::META_FILE).is_file() && path.join("regions.parquet").is_file();
    let is_packed = || path.is_file() && crate::run::begins_like_zip(path);
    is_merged || path.join("spool/launch.json").is_file() || is_packed()
}

/// Who is told nothing is told why.
fn refuse_nothing(path: &Path, it: &Witnesses) -> anyhow::Result<()> {
    if !it.binary.functions.is_empty() || !it.binary.types.is_empty() || !it.text.files.is_empty() {
        return Ok(());
    }
    if path.is_dir() {
        bail!("no sources of C, C++, Fortran or Rust are below {}", path.display());
    }
    match it.binary.problems.first().or(it.text.problems.first()) {
        Some(problem) => {
            bail!("{problem}; give an executable, a shared library, a source or a directory of sources")
        }
        None => bail!(
            "{} has neither debug information nor symbols; compile with -g, or do not strip it",
            path.display()
        ),
    }
}

/// Where and how tables are printed.
struct Page<'p> {
    out: &'p mut dyn Write,
    paint: Paint,
    /// Rows of a table at most.
    top: usize,
    it: &'p Witnesses,
}

impl Page<'_> {
    fn overview(&mut self, name: &str) -> io::Result<()> {
        let Witnesses { binary, text, joined, .. } = self.it;
        title(self.out, self.paint, "PROGRAM", &harmless(name))?;
        let number = |number: usize| format::count(number as u64);
        let mut table =
            Table::new(&[("what", Side::Left), ("number", Side::Right), ("of which", Side::Left)]);
        let lines: u64 = text.files.iter().map(|file| u64::from(file.lines)).sum();
        let read = format!("{} could be read, with {} lines", number(text.files.len()), format::count(lines));
        let files = self.it.files().len();
        table.row(["sources".into(), number(files).into(), read.into()]);
        let mut of = Vec::new();
        if self.it.has_binary() {
            let inlined = binary.functions.iter().filter(|function| function.entries.is_empty()).count();
            of.push(format!("{} are nowhere but in their callers", number(inlined)));
        }
        let alone = self.it.functions_of_text().len();
        if self.it.has_both() {
            let both = joined.functions.iter().flatten().count();
            of.push(format!("binary and text know {}, the text alone {}", number(both), number(alone)));
        }
        table.row(["functions".into(), number(binary.functions.len() + alone).into(), of.join("; ").into()]);
        let alone: BTreeSet<u32> = self.it.types_of_text().into_iter().collect();
        let derived: BTreeSet<u32> = binary.bases.iter().map(|base| base.derived).collect();
        let written: BTreeSet<u32> =
            text.bases.iter().filter_map(|base| base.derived).filter(|row| alone.contains(row)).collect();
        let types = binary.types.len() + alone.len();
        let derived = format!("{} are derived from others", number(derived.len() + written.len()));
        table.row(["types".into(), number(types).into(), derived.into()]);
        let written = text.members.iter().filter(|it| alone.contains(&it.of)).count();
        table.row(["members".into(), number(binary.members.len() + written).into(), "".into()]);
        self.calls_and_loops(&mut table);
        table.print(self.out, self.paint)
    }

    fn calls_and_loops(&self, table: &mut Table) {
        let Witnesses { binary, text, .. } = self.it;
        let called = |kind: CallKind| -> u64 {
            binary.calls.iter().filter(|call| call.kind == kind).map(|call| u64::from(call.times)).sum()
        };
        if binary.has_calls {
            let unknown = binary.calls.iter().filter(|call| call.callee == Callee::Unknown);
            let unknown: u64 = unknown.map(|call| u64::from(call.times)).sum();
            let of =
                format!("{} lead to whatever an address says when the program runs", format::count(unknown));
            table.row(["calls".into(), format::count(called(CallKind::Called)).into(), of.into()]);
        }
        if self.it.has_binary() {
            let inlined = format::count(called(CallKind::Inlined));
            table.row(["inlined calls".into(), inlined.into(), "".into()]);
        }
        if text.files.is_empty() {
            return;
        }
        let count = |number: usize| -> Cell { format::count(number as u64).into() };
        let through = |kind| text.calls.iter().filter(|call| call.kind == kind).count() as u64;
        let of = format!(
            "{} name a member of an object, {} say by an expression who is called",
            format::count(through(marey_source::text::CallKind::Member)),
            format::count(through(marey_source::text::CallKind::Unknown))
        );
        table.row(["written calls".into(), count(text.calls.len()), of.into()]);
        let nests = text.loops.iter().filter(|it| it.depth == 1).count() as u64;
        let deepest = text.loops.iter().map(|it| it.depth).max().unwrap_or(0);
        let of = format!("{} are in no other, the deepest nest has {deepest}", format::count(nests));
        table.row(["loops".into(), count(text.loops.len()), of.into()]);
        let of = self.models().join(", ");
        table.row(["parallel constructs".into(), count(text.constructs.len()), of.into()]);
        if !text.references.is_empty() {
            let in_loops = text.references.iter().filter(|it| it.within.is_some()).count() as u64;
            let of = format!("{} stand in loops", format::count(in_loops));
            table.row(["references to other images".into(), count(text.references.len()), of.into()]);
        }
    }

    fn notes(&mut self) -> io::Result<()> {
        let Witnesses { binary, text, n_missing, newer, .. } = self.it;
        let mut notes: Vec<String> = Vec::new();
        if self.it.has_binary() {
            // Where it is elsewhere, that is told below.
            let is_split = |it: &Problem| matches!(it, Problem::DebugPartsMissing { .. });
            if !binary.has_debug_information && !binary.problems.iter().any(is_split) {
                notes.push(
                    "no debug information: names of functions are all there is; compile with -g".to_owned(),
                );
            }
            if !binary.has_calls {
                notes.push(
                    "calls are read from machine code of x86-64 only, so there are none here".to_owned(),
                );
            }
            if *n_missing != 0 {
                notes.push(format!(
                    "{} that the program was made of cannot be read here; loops, constructs and the last lines of \
                     functions are not known for them",
                    format::counted(*n_missing as u64, "source")
                ));
            }
        }
        if let Some(newer) = newer {
            notes.push(format!(
                "sources are newer than the program, so their lines may be others: {}",
                harmless(&newer.display().to_string())
            ));
        }
        let unclear: Vec<_> = text.files.iter().filter(|file| file.unclear != 0).collect();
        if !unclear.is_empty() {
            let parts: u64 = unclear.iter().map(|file| u64::from(file.unclear)).sum();
            let mut worst = unclear.clone();
            worst.sort_by_key(|file| std::cmp::Reverse(file.unclear));
            let named: Vec<String> = worst
                .iter()
                .take(FEW_FILES)
                .map(|file| {
                    let path = harmless(text.text(file.path));
                    format!("{path}:{} ({} in all)", file.first_unclear, file.unclear)
                })
                .collect();
            notes.push(format!(
                "{} in {} could not be parsed, so that something may be missing there; most: {}",
                format::counted(parts, "place"),
                format::counted(unclear.len() as u64, "source"),
                named.join(", ")
            ));
        }
        let problems = binary.problems.iter().chain(&text.problems);
        notes.extend(problems.map(|problem| harmless(&problem.to_string())));
        notes.iter().try_for_each(|text| note(self.out, self.paint, text))
    }

    /// A name, short enough for a table.
    fn name(&self, name: Text) -> String {
        shorten(&words::function(self.it.binary.text(name)), 56)
    }

    /// A name of the text.
    fn written(&self, name: Text) -> String {
        shorten(&words::function(self.it.text.text(name)), 56)
    }

    fn place(&self, place: Option<Place>) -> Cell {
        let place =
            place.map_or_else(String::new, |place| words::place(self.it.binary.path(place), place.line));
        Cell::new(Look::Faint, shorten(&place, 32))
    }

    /// A place of the text.
    fn at(&self, file: u32, line: u32) -> Cell {
        Cell::new(Look::Faint, shorten(&words::place(self.it.text.path(file), line), 32))
    }
}
