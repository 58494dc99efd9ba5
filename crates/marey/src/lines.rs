//! `marey lines`: a source file with what its lines cost.
//!
//! The one idea: numbers stand beside the text that they are of. The text is the user's own file, given on the
//! command line: what a run says of paths is compared, never opened.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use marey_analyze::{LineRow, Sampled, Trace, hot, lines};
use marey_model::Nanos;
use serde::Serialize;

use crate::cli::LinesArgs;
use crate::format;
use crate::paint::{Look, Paint, harmless, title};
use crate::run::Run;
use crate::source::Made;
use crate::table::{Cell, Side, Table};

/// Runs the command.
pub(crate) fn run(args: &LinesArgs) -> anyhow::Result<ExitCode> {
    let run = Run::open(&args.run)?;
    let trace: &dyn Trace = &run.trace;
    let hot = hot(trace);
    let all = lines(trace, &hot);
    let file = file_of(&all, &args.file)?;
    let rows: BTreeMap<u32, &LineRow<'_>> =
        all.iter().filter(|row| row.file == file).map(|row| (row.line, row)).collect();
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.json {
        serde_json::to_writer_pretty(&mut out, &Json::new(file, &rows))?;
        writeln!(out)?;
    } else {
        let paint = Paint::for_stdout();
        let paint = if args.no_color { paint.without_colour() } else { paint };
        let text = text(&args.file)?;
        let mut page = Page { out: &mut out, paint, whole: hot.whole };
        page.title(file, &rows)?;
        page.warn(args, &run, text.as_deref())?;
        page.lines(&rows, text.as_deref(), args.context)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// The one file of the run that the user means: the same path, or one that ends so.
fn file_of<'r>(rows: &[LineRow<'r>], wanted: &Path) -> anyhow::Result<&'r str> {
    let mut files: Vec<&str> = rows.iter().map(|row| row.file).collect();
    files.dedup();
    let absolute = wanted.canonicalize().unwrap_or_else(|_| wanted.to_owned());
    if let Some(file) = files.iter().find(|file| Path::new(file) == absolute) {
        return Ok(file);
    }
    let tail = plain(wanted);
    let found: Vec<&str> = files.iter().copied().filter(|file| Path::new(file).ends_with(&tail)).collect();
    match found[..] {
        [file] => Ok(file),
        [] => {
            let known: Vec<String> = files.iter().take(5).map(|file| harmless(file)).collect();
            let more = if files.len() > 5 { ", …" } else { "" };
            let known = if known.is_empty() {
                "no line of any file; record with --sample, and compile with -g".to_owned()
            } else {
                format!("lines of {}{more}", known.join(", "))
            };
            bail!("nothing happened in {}; the run has {known}", wanted.display())
        }
        _ => {
            let names: Vec<String> = found.iter().map(|file| harmless(file)).collect();
            bail!("{} may be any of {}; give more of its path", wanted.display(), names.join(", "))
        }
    }
}

/// A path by its steps alone: `./a.c` and `src/../a.c` are meant as `a.c`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for step in path.components() {
        match step {
            Component::Normal(name) => plain.push(name),
            // At the beginning it leads to where nobody knows, and what follows is still the end of the path.
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    plain
}

/// The lines of the user's file; `None` if there is none here.
fn text(path: &Path) -> anyhow::Result<Option<Vec<String>>> {
    // A pipe or a device may never end.
    if std::fs::metadata(path).is_ok_and(|it| !it.is_file()) {
        bail!("{} is no file, so there is no text to show; `--json` has the numbers alone", path.display());
    }
    match std::fs::read(path) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            Ok(Some(text.lines().map(|line| harmless(&line.replace('\t', "    "))).collect()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

struct Page<'p> {
    out: &'p mut dyn Write,
    paint: Paint,
    whole: Sampled,
}

impl Page<'_> {
    fn title(&mut self, file: &str, rows: &BTreeMap<u32, &LineRow<'_>>) -> io::Result<()> {
        let sum = |of: fn(&LineRow<'_>) -> Nanos| rows.values().fold(Nanos(0), |sum, row| sum + of(row));
        let (own, calls) = (sum(|row| row.exclusive.time), sum(|row| row.call_time));
        let remark = format!(
            "{} of processor time in its lines, {} of all; {} in measured calls from them",
            format::duration(own),
            format::percent(own.0, self.whole.time.0),
            format::duration(calls),
        );
        title(self.out, self.paint, &harmless(file), &remark)
    }

    /// Says why the text may not be that of the program.
    fn warn(&mut self, args: &LinesArgs, run: &Run, text: Option<&[String]>) -> io::Result<()> {
        let newer_than = Made::of(run).filter(|made| made.is_before(&args.file));
        let warning = match text {
            None => format!("{} is not here: numbers only", harmless(&args.file.display().to_string())),
            Some(_) => match newer_than {
                Some(made) => format!("the file was changed after {}: lines may have moved", made.words()),
                None => return Ok(()),
            },
        };
        writeln!(self.out, "  {}", self.paint.paint(Look::Alarm, &warning))
    }

    fn lines(
        &mut self,
        rows: &BTreeMap<u32, &LineRow<'_>>,
        text: Option<&[String]>,
        context: Option<u32>,
    ) -> io::Result<()> {
        let len = text.map_or(0, |text| u32::try_from(text.len()).unwrap_or(u32::MAX));
        // A run may name lines that the text does not have, up to 2³² of them: these are shown, and none in
        // between.
        let beyond = rows.range(len.saturating_add(1)..).map(|(&line, _)| line);
        let is_near = |line: u32| match context {
            None => true,
            Some(near) => rows.range(line.saturating_sub(near)..=line.saturating_add(near)).next().is_some(),
        };
        let mut table = Table::new(&[
            ("self", Side::Right),
            ("share", Side::Right),
            ("with callees", Side::Right),
            ("calls", Side::Right),
            ("in calls", Side::Right),
            ("bytes", Side::Right),
            ("allocated", Side::Right),
            ("line", Side::Right),
            ("", Side::Left),
        ])
        .can_spare(&["bytes", "share", "with callees", "allocated"]);
        let mut before = 0;
        for line in (1..=len).filter(|&line| is_near(line)).chain(beyond) {
            if line != before + 1 && text.is_some() {
                let mut gap: Vec<Cell> = vec!["".into(); 7];
                gap.extend([Cell::new(Look::Faint, "⋮"), "".into()]);
                table.push(gap);
            }
            before = line;
            let mut cells = rows.get(&line).map_or_else(|| vec!["".into(); 7], |row| self.numbers(row));
            cells.push(Cell::new(Look::Faint, line.to_string()));
            let source = text.and_then(|text| text.get(line as usize - 1)).map_or("", String::as_str);
            let look = if rows.contains_key(&line) { Look::Strong } else { Look::Text };
            cells.push(Cell::new(look, source));
            table.push(cells);
        }
        table.print(self.out, self.paint)
    }

    fn numbers(&self, row: &LineRow<'_>) -> Vec<Cell> {
        let time = |time: Nanos| if time == Nanos(0) { String::new() } else { format::duration(time) };
        let bytes = |bytes: u64| if bytes == 0 { String::new() } else { format::bytes(bytes) };
        let own = row.exclusive.time;
        let share = if own == Nanos(0) { String::new() } else { format::percent(own.0, self.whole.time.0) };
        vec![
            time(own).into(),
            share.into(),
            time(row.inclusive.time).into(),
            if row.calls == 0 { String::new() } else { format::count(row.calls) }.into(),
            time(row.call_time).into(),
            bytes(row.bytes).into(),
            bytes(row.allocated).into(),
        ]
    }
}

/// The answer for other programs; what the fields mean is told by the help.
#[derive(Serialize)]
struct Json<'l> {
    file: &'l str,
    lines: Vec<JsonLine>,
}

#[derive(Serialize)]
struct JsonLine {
    line: u32,
    exclusive_samples: u64,
    exclusive_ns: i64,
    inclusive_samples: u64,
    inclusive_ns: i64,
    calls: u64,
    call_ns: i64,
    bytes: u64,
    allocated_bytes: u64,
    at_peak_bytes: u64,
}

impl<'l> Json<'l> {
    fn new(file: &'l str, rows: &BTreeMap<u32, &LineRow<'_>>) -> Self {
        let line = |row: &&LineRow<'_>| JsonLine {
            line: row.line,
            exclusive_samples: row.exclusive.samples,
            exclusive_ns: row.exclusive.time.0,
            inclusive_samples: row.inclusive.samples,
            inclusive_ns: row.inclusive.time.0,
            calls: row.calls,
            call_ns: row.call_time.0,
            bytes: row.bytes,
            allocated_bytes: row.allocated,
            at_peak_bytes: row.at_peak,
        };
        Self { file, lines: rows.values().map(line).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of these files is meant; empty if none or several.
    fn check(wanted: &str, expected: &str) {
        let files = ["/x/a.c", "/x/src/a.c", "/x/src/b.c", "/x/lib/b.c"];
        let rows = files.map(|file| LineRow { file, line: 1, ..LineRow::default() });
        assert_eq!(file_of(&rows, Path::new(wanted)).unwrap_or_default(), expected, "{wanted}");
    }

    #[test]
    fn files_are_known_by_the_end_of_their_path() {
        check("/x/a.c", "/x/a.c");
        check("src/a.c", "/x/src/a.c");
        check("./src/./a.c", "/x/src/a.c");
        check("x/src/../a.c", "/x/a.c");
        check("lib/../src/b.c", "/x/src/b.c");
        check("src/deep/../../lib/b.c", "/x/lib/b.c");
        check("../lib/b.c", "/x/lib/b.c");
        check("b.c", "");
        check("c.c", "");
    }
}
