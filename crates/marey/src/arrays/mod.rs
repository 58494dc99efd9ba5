//! `marey arrays`: what it cost to act on each array.
//!
//! The one idea: whoever looks for a slow statement finds it by its array, and what the statement means beneath, number of
//! calls and bytes, beside it. Numbers come from `marey-analyze`; the report prints the same first table.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::bail;
use marey_analyze::{
    ArrayRow, LocationKind, Piece, Piecemeal, SectionRow, SectionRows, Statement, Trace, accesses_not_kept,
    arrays, piecemeal,
};
use marey_model::{AccessKind, DataKind, Nanos, NounId};

use crate::cli::{ArraysArgs, ArraysBy};
use crate::exit::Usage;
use crate::format;
use crate::paint::{Look, Paint, harmless, note, remark, shorten, title};
use crate::problems;
use crate::run::Run;
use crate::table::{self, Cell, Side, Table};
use crate::words;
use chosen::Chosen;
use selected::Selection;

mod chosen;
mod json;
mod nests;
mod redistributed;
mod sections;
mod selected;
mod symbols;
mod written;

/// Runs the command.
pub(crate) fn run(args: &ArraysArgs) -> anyhow::Result<ExitCode> {
    let run = Run::open(&args.run)?;
    let trace: &dyn Trace = &run.trace;
    let mut rows = arrays(trace);
    let mut moved = None;
    let chosen = args.array.as_deref().map(|text| Chosen::of(&rows, text));
    if let Some(chosen) = &chosen {
        let mut known: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
        rows.retain(|row| chosen.is(row));
        if rows.is_empty() {
            // What is redistributed by messages and collective operations need be no array of several processes.
            if args.by == Some(ArraysBy::Redistribution) && !chosen.has_place() {
                let all = redistributed::of(&run, &rows, None)?;
                known.extend(all.iter().flat_map(|it| [it.from.clone(), it.to.clone()]));
                moved = Some(redistributed::of_array(all, &chosen.name));
            }
            if moved.as_ref().is_none_or(Vec::is_empty) {
                known.retain(|it| !it.is_empty());
                known.sort();
                known.dedup();
                bail!(Usage(unknown(args.array.as_deref().unwrap_or_default(), &known)));
            }
        }
    }
    let name = chosen.as_ref().map(|chosen| &*chosen.name);
    let has_gaps = run.archive.meta().run.leaves_out();
    let is_selection = args.section.is_some() || args.on.is_some();
    if !is_selection && args.snap.is_some() {
        bail!(Usage("--snap says how a selection snaps; select with --section or --on".to_owned()));
    }
    if is_selection && matches!(args.by, Some(ArraysBy::Array | ArraysBy::Symbol | ArraysBy::Redistribution))
    {
        bail!(Usage("a selection is of one array: --by line, process or section".to_owned()));
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    let paint = Paint::for_stdout();
    let paint = if args.no_color { paint.without_colour() } else { paint };
    let top = usize::try_from(args.top).unwrap_or(usize::MAX);
    if is_selection {
        let selection = Selection::of(&run, &rows, name, args)?;
        if args.json {
            serde_json::to_writer_pretty(&mut out, &selected::Json::new(trace, &selection))?;
            writeln!(out)?;
        } else {
            Page { out: &mut out, paint, top, trace, has_gaps }.selection(&selection, args.by)?;
        }
    } else if args.json {
        let sections = sections(&run, &rows)?;
        let sections = sections::Sections::new(sections.as_deref());
        let nests = nests::Nests::of(trace, &rows);
        let symbols = symbols::of(&run, name)?;
        let moved = match moved {
            Some(moved) => moved,
            None => redistributed::of(&run, &rows, name)?,
        };
        let moved = redistributed::json(moved);
        let json = json::Json::new(trace, &rows, &nests, &sections, (symbols, moved));
        serde_json::to_writer_pretty(&mut out, &json)?;
        writeln!(out)?;
    } else {
        let mut page = Page { out: &mut out, paint, top, trace, has_gaps };
        match args.by {
            Some(ArraysBy::Array) => page.arrays(&rows)?,
            Some(ArraysBy::Line) => page.lines(&rows)?,
            Some(ArraysBy::Process) => page.processes(&rows)?,
            Some(ArraysBy::Symbol) => page.symbols(&symbols::of(&run, name)?)?,
            Some(ArraysBy::Section) => match sections(&run, &rows)? {
                Some(sections) => {
                    page.sections(&rows, &sections)?;
                    let not_kept = rows.iter().map(|row| accesses_not_kept(trace, row.noun, &|_| true));
                    page.not_kept(not_kept.fold(0, u64::saturating_add))?;
                }
                None => bail!(selected::NO_ACCESSES),
            },
            Some(ArraysBy::Redistribution) => {
                let moved = match moved {
                    Some(moved) => moved,
                    None => redistributed::of(&run, &rows, name)?,
                };
                page.redistributions(&moved, true)?;
            }
            None => {
                page.arrays(&rows)?;
                if !rows.is_empty() {
                    page.lines(&rows)?;
                }
                page.redistributions(&redistributed::of(&run, &rows, name)?, false)?;
            }
        }
    }
    out.flush()?;
    problems::warn(trace);
    Ok(ExitCode::SUCCESS)
}

/// Sections of accesses to these arrays; `None` = the run has no single accesses.
fn sections(run: &Run, rows: &[ArrayRow]) -> anyhow::Result<Option<Vec<SectionRow>>> {
    if !run.archive.has_accesses() {
        return Ok(None);
    }
    let arrays = run.trace.arrays();
    let nouns: BTreeSet<NounId> = rows.iter().map(|row| row.noun).collect();
    let mut found = SectionRows::default();
    selected::accesses(run, &|at| nouns.contains(&arrays[at].noun), |access| {
        found.add(arrays[access.array].noun, access);
    })?;
    Ok(Some(found.rows(&run.trace)))
}

fn unknown(name: &str, known: &[String]) -> String {
    let shown: Vec<String> = known.iter().take(8).map(|name| harmless(name)).collect();
    match shown.is_empty() {
        true => "the run tells of no arrays".to_owned(),
        false => format!("there is no array {}; there are {}", harmless(name), shown.join(", ")),
    }
}

/// Time of all threads together.
pub(crate) fn time_of(trace: &dyn Trace) -> Nanos {
    let threads = trace.locations().iter().filter(|location| location.kind == LocationKind::Thread);
    threads.fold(Nanos(0), |sum, location| sum + (location.end - location.start).max(Nanos(0)))
}

/// Where and how tables are printed.
pub(crate) struct Page<'p> {
    pub(crate) out: &'p mut dyn Write,
    pub(crate) paint: Paint,
    /// Rows of a table at most.
    pub(crate) top: usize,
    pub(crate) trace: &'p dyn Trace,
    /// Whether rules left calls out, so that what is not there may have been done.
    pub(crate) has_gaps: bool,
}

impl Page<'_> {
    /// One row an array.
    pub(crate) fn arrays(&mut self, rows: &[ArrayRow]) -> io::Result<()> {
        let is_of_views = !rows.is_empty() && rows.iter().all(|row| row.kind == DataKind::View);
        let remark = match is_of_views {
            true => {
                "copies of Views, by time, all threads together; beneath: calls of lower levels that moved data for them; what \
                 kernels access is not known"
            }
            false => {
                "accesses across processes, by time of the calls, all threads together; beneath: calls of lower levels \
                 that moved data for them"
            }
        };
        title(self.out, self.paint, "ARRAYS", remark)?;
        if rows.is_empty() {
            let text = "none: no level of this run tells of arrays, such as windows of MPI; coarrays of Fortran are recorded \
                        where their library is loaded as a shared one";
            return note(self.out, self.paint, text);
        }
        let whole = time_of(self.trace).0;
        let mut table = Table::new(&[
            ("array", Side::Left),
            ("elements", Side::Left),
            ("each", Side::Right),
            ("on", Side::Right),
            ("accesses", Side::Right),
            ("remote", Side::Right),
            ("bytes", Side::Right),
            ("beneath", Side::Right),
            ("time", Side::Right),
            ("share", Side::Right),
            ("declared", Side::Left),
        ])
        .can_spare(&["on", "declared", "each", "remote", "elements"]);
        for row in rows.iter().take(self.top) {
            let moved = row.moved;
            let number = |number: u64| if number == 0 { String::new() } else { format::count(number) };
            table.push(vec![
                shorten(&name(row), 32).into(),
                Cell::new(Look::Faint, shorten(&elements(row), 32)),
                format::bytes(row.bytes).into(),
                format::count(row.processes.len() as u64).into(),
                number(moved.accesses).into(),
                match row.local().accesses.saturating_add(row.remote().accesses) {
                    0 => String::new(),
                    all => {
                        let part = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
                        format::percent(part(row.remote().accesses), part(all))
                    }
                }
                .into(),
                if moved.accesses == 0 { String::new() } else { format::bytes(moved.bytes) }.into(),
                number(row.transfers_beneath()).into(),
                format::duration(row.time()).into(),
                format::percent(row.time().0, whole).into(),
                Cell::new(Look::Faint, words::place(&row.file, row.line)),
            ]);
        }
        table.print(self.out, self.paint)?;
        table::more(self.out, self.paint, rows.len().saturating_sub(self.top), "array", "arrays")?;
        self.counted(rows)?;
        self.piecemeal(rows)?;
        self.made_often(rows)?;
        self.unused(rows)
    }

    /// Says of how many accesses it is not known where they lead to.
    fn counted(&mut self, rows: &[ArrayRow]) -> io::Result<()> {
        let all = rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.counted.accesses));
        if all == 0 {
            return Ok(());
        }
        let (number, are) = (format::count(all), if all == 1 { "access was" } else { "accesses were" });
        self.remark(&format!(
            "{number} {are} only counted with the calls, at a limit or because a rule or a mode asked for sums only: remote, and \
             where data goes, are known of the others"
        ))
    }

    /// Says which accesses are made piece by piece.
    fn piecemeal(&mut self, rows: &[ArrayRow]) -> io::Result<()> {
        let pieces = piecemeal(rows);
        let mut told: Vec<Piecemeal> = Vec::new();
        for piece in pieces.iter().take(MOST_PIECES) {
            self.remark(&in_words(piece, told.contains(&piece.kind)))?;
            told.push(piece.kind);
        }
        let more = pieces.len().saturating_sub(MOST_PIECES);
        table::more(
            self.out,
            self.paint,
            more,
            "statement that moves data so",
            "statements that move data so",
        )
    }

    fn remark(&mut self, text: &str) -> io::Result<()> {
        remark(self.out, self.paint, text)
    }

    /// Says which coarrays are made again and again.
    fn made_often(&mut self, rows: &[ArrayRow]) -> io::Result<()> {
        let each = |row: &ArrayRow| row.instances / (row.processes.len() as u64).max(1);
        // A component is another one in each variable of its type.
        let is_one =
            |row: &&ArrayRow| row.kind == DataKind::Coarray && !row.name.contains('%') && each(row) >= OFTEN;
        for row in rows.iter().filter(is_one).take(MOST_PIECES) {
            let makes = |it: &&Statement| it.kind == AccessKind::Make;
            let most = row.statements.iter().filter(makes).max_by_key(|it| it.sum.accesses);
            let at = most.map(|it| words::place(&it.file, it.line)).filter(|place| !place.is_empty());
            let at = at.map_or_else(String::new, |place| format!(", most at {place}"));
            let whole = vec![":"; row.bounds.len().max(1)].join(", ");
            let (name, number) = (name(row), format::count(each(row)));
            self.remark(&format!(
                "{name} is made {number} times on each image{at}, and each time all images wait for each other. Make it once, \
                 before the loop; what is assigned to the whole of an allocatable coarray may make it anew too: assign to \
                 `{name}({whole})`."
            ))?;
        }
        Ok(())
    }

    /// Says which arrays nobody accesses.
    fn unused(&mut self, rows: &[ArrayRow]) -> io::Result<()> {
        let unused: Vec<&ArrayRow> = rows.iter().filter(|row| row.is_unused()).collect();
        if unused.is_empty() {
            return Ok(());
        }
        let bytes = unused.iter().map(|row| row.bytes).fold(0, u64::saturating_add);
        let names: Vec<String> = unused.iter().take(6).map(|row| name(row)).collect();
        let more = unused.len().saturating_sub(names.len());
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let (names, bytes) = (names.join(", "), format::bytes(bytes));
        let text = if self.has_gaps {
            format!(
                "no access was recorded to {names}{more}; but a rule left calls out, some of them perhaps"
            )
        } else {
            format!("never accessed across processes: {names}{more}; {bytes} in each that need not be shared")
        };
        note(self.out, self.paint, &text)
    }

    /// One row a line of the source and array.
    fn lines(&mut self, rows: &[ArrayRow]) -> io::Result<()> {
        let remark = "what is done to arrays, by line; an access: mean; data goes: from rank to rank, or by so many ranks; in loops: \
                      their lines, the innermost first, also of callers; beneath: calls of lower levels";
        title(self.out, self.paint, "STATEMENTS", remark)?;
        let mut lines: Vec<(&ArrayRow, &Statement)> =
            rows.iter().flat_map(|row| row.statements.iter().map(move |it| (row, it))).collect();
        lines.sort_by_key(|(_, statement)| std::cmp::Reverse(statement.sum.time));
        if lines.is_empty() {
            return note(self.out, self.paint, "none");
        }
        let whole = time_of(self.trace).0;
        let nests = nests::Nests::of(self.trace, rows);
        let mut table = Table::new(&[
            ("what", Side::Left),
            ("at", Side::Left),
            ("in", Side::Left),
            ("accesses", Side::Right),
            ("bytes", Side::Right),
            ("time", Side::Right),
            ("share", Side::Right),
            ("an access", Side::Right),
            ("data goes", Side::Left),
            ("in loops", Side::Left),
            ("beneath", Side::Left),
        ])
        .can_spare(&["in", "share", "an access", "bytes", "in loops"]);
        for (row, statement) in lines.iter().take(self.top) {
            let sum = statement.sum;
            let each = i64::try_from(sum.accesses).ok().filter(|number| *number > 0);
            table.push(vec![
                shorten(&format!("{} {}", harmless(&statement.verb), name(row)), 32).into(),
                words::place(&statement.file, statement.line).into(),
                Cell::new(Look::Faint, shorten(&words::function(&statement.function), 24)),
                format::count(sum.accesses).into(),
                format::bytes(sum.bytes).into(),
                format::duration(sum.time).into(),
                format::percent(sum.time.0, whole).into(),
                each.map_or_else(String::new, |each| format::duration(Nanos(sum.time.0 / each))).into(),
                statement.pattern(self.trace).map_or_else(String::new, |it| it.to_string()).into(),
                nests.in_words(self.trace, statement).into(),
                Cell::new(Look::Faint, beneath(statement)),
            ]);
        }
        table.print(self.out, self.paint)?;
        table::more(self.out, self.paint, lines.len().saturating_sub(self.top), "statement", "statements")
    }

    /// One row a process and array.
    fn processes(&mut self, rows: &[ArrayRow]) -> io::Result<()> {
        let remark = "where each process finds the elements that it accesses";
        title(self.out, self.paint, "ARRAYS BY PROCESS", remark)?;
        let mut table = Table::new(&[
            ("array", Side::Left),
            ("process", Side::Left),
            ("own", Side::Right),
            ("own bytes", Side::Right),
            ("others'", Side::Right),
            ("others' bytes", Side::Right),
            ("time", Side::Right),
            ("remote", Side::Right),
        ]);
        let all: Vec<_> =
            rows.iter().flat_map(|row| row.by_process.iter().map(move |it| (row, it))).collect();
        if all.is_empty() {
            return note(self.out, self.paint, "none");
        }
        for (row, (process, it)) in all.iter().take(self.top) {
            let part = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
            let both = it.local.with(it.remote);
            table.row([
                shorten(&name(row), 32).into(),
                words::process(self.trace, **process).into(),
                format::count(it.local.accesses).into(),
                format::bytes(it.local.bytes).into(),
                format::count(it.remote.accesses).into(),
                format::bytes(it.remote.bytes).into(),
                format::duration(both.time).into(),
                format::percent(part(it.remote.accesses), part(both.accesses)).into(),
            ]);
        }
        table.print(self.out, self.paint)?;
        table::more(self.out, self.paint, all.len().saturating_sub(self.top), "row", "rows")
    }
}

/// Accesses made piece by piece that are told of, at most; and of other remarks.
const MOST_PIECES: usize = 3;
/// A coarray that each image makes so many times is worth a remark.
const OFTEN: u64 = 10;

/// What is made piece by piece, and what to do, if that `is_told` not yet.
fn in_words(piece: &Piece<'_>, is_told: bool) -> String {
    let Statement { verb, file, line, sum, .. } = piece.statement;
    let place = words::place(file, *line);
    let at = if place.is_empty() { String::new() } else { format!(" at {place}") };
    let (array, verb) = (name(piece.array), harmless(verb));
    let number = format::count(sum.accesses);
    // What was only counted has no time.
    let take =
        if sum.time > Nanos(0) { format!(" take {}", format::duration(sum.time)) } else { String::new() };
    let what = match piece.kind {
        Piecemeal::Elements => format!(
            "moves single elements: {number} times {}{take}",
            format::bytes(sum.bytes / sum.accesses.max(1)),
        ),
        Piecemeal::Sections => {
            format!("became {} transfers beneath: {number} accesses{take}", format::count(piece.transfers),)
        }
    };
    if is_told {
        return format!("{verb} {array}{at} {what}, as above.");
    }
    let remedy = match piece.array.kind {
        DataKind::Window => MORE_AT_ONCE.to_owned(),
        _ => remedy(piece.kind, &array, piece.array.bounds.len()),
    };
    format!("{verb} {array}{at} {what}. {remedy}")
}

/// What to do about single elements of a window.
const MORE_AT_ONCE: &str = "Move more with one call, by a larger count or a datatype that means all that is wanted \
                            (`MPI_Type_vector`), or have most with the process itself.";

/// What to do about accesses that are made piece by piece, of an array of so many dimensions.
pub(crate) fn remedy(kind: Piecemeal, array: &str, dimensions: usize) -> String {
    match (kind, dimensions) {
        (Piecemeal::Elements, 0 | 1) => format!(
            "Move a section at once ({array}(lower:upper)[image]), or lay the arrays of the statement out alike, so that \
             most is with the image itself."
        ),
        (Piecemeal::Elements, more) => {
            let others = ", j".repeat(more - 1);
            format!(
                "Move a section along the first dimension at once ({array}(lower:upper{others})[image]): only there do \
                 elements lie side by side. If the loop runs along another one, let the owner copy what is asked for into \
                 an array without gaps, or lay the arrays of the statement out alike, so that most is with the image itself."
            )
        }
        (Piecemeal::Sections, _) => "The library moves it element by element, for the section, or the array that it is \
                                     assigned to, does not lie in one piece, or is allocatable, of which the library is not \
                                     told that. Have both lie side by side (the first dimension whole), and assign to an \
                                     array of fixed shape."
            .to_owned(),
    }
}

fn name(row: &ArrayRow) -> String {
    if row.name.is_empty() { format!("({} without a name)", row.kind.name()) } else { harmless(&row.name) }
}

/// Type and bounds: `real(8) (1:10,0:3)`.
fn elements(row: &ArrayRow) -> String {
    let bounds: Vec<String> = row.bounds.iter().map(|(lower, upper)| format!("{lower}:{upper}")).collect();
    match (row.element.is_empty(), bounds.is_empty()) {
        (_, true) => harmless(&row.element),
        (true, false) => format!("({})", bounds.join(",")),
        (false, false) => format!("{} ({})", harmless(&row.element), bounds.join(",")),
    }
}

/// The calls that served a statement.
fn beneath(statement: &Statement) -> String {
    let mut calls: Vec<_> = statement.beneath.iter().collect();
    // What moves data first, then what is called most.
    calls.sort_by_key(|it| std::cmp::Reverse((it.is_transfer, it.calls)));
    let shown: Vec<String> = calls
        .iter()
        .take(3)
        .map(|it| format!("{} {}", format::count(it.calls), harmless(&it.name)))
        .collect();
    let more = if statement.beneath.len() > 3 { " …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
