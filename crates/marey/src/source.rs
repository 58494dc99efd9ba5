//! `marey source`: what a program consists of.
//!
//! The one idea: it is asked of the file alone, so it answers before anything was run. All of it comes from the program
//! database of `marey-source`.

mod about;
mod json;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Context, bail};
use marey_source::database::{CallKind, Callee, Database, Function, Place, Text, TypeKind};
use marey_source::{ModuleRef, SymbolizerConfig};

use crate::cli::{SourceArgs, SourceList};
use crate::format;
use crate::paint::{Look, Paint, harmless, note, shorten, title};
use crate::table::{self, Cell, Side, Table};
use crate::words;

/// Rows of a table where no list is asked for.
const FEW: usize = 20;

/// Runs the command.
pub(crate) fn run(args: &SourceArgs) -> anyhow::Result<ExitCode> {
    // What cannot be opened at all is an error; what is missing in it is a note.
    std::fs::File::open(&args.file).with_context(|| format!("cannot open {}", args.file.display()))?;
    let module = ModuleRef { path: &args.file, build_id: None };
    let database = Database::of(&module, &SymbolizerConfig::system());
    if database.functions.is_empty() && database.types.is_empty() {
        match database.problems.first() {
            Some(problem) => bail!("{problem}; give an executable or a shared library"),
            None => bail!(
                "{} has neither debug information nor symbols; compile with -g, or do not strip it",
                args.file.display()
            ),
        }
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.json {
        serde_json::to_writer_pretty(&mut out, &json::Json::new(&database))?;
        writeln!(out)?;
    } else {
        let paint = Paint::for_stdout();
        let paint = if args.no_color { paint.without_colour() } else { paint };
        let few = if args.list.is_some() { usize::MAX } else { FEW };
        let top = args.top.map_or(few, |top| usize::try_from(top).unwrap_or(usize::MAX));
        let mut page = Page { out: &mut out, paint, top, database: &database };
        match (&args.of, args.list) {
            (Some(name), _) => page.about(name)?,
            (None, Some(SourceList::Functions)) => page.functions()?,
            (None, Some(SourceList::Types)) => page.types()?,
            (None, Some(SourceList::Files)) => page.files()?,
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

/// Where and how tables are printed.
struct Page<'p> {
    out: &'p mut dyn Write,
    paint: Paint,
    /// Rows of a table at most.
    top: usize,
    database: &'p Database,
}

impl Page<'_> {
    fn overview(&mut self, name: &str) -> io::Result<()> {
        let it = self.database;
        title(self.out, self.paint, "PROGRAM", &harmless(name))?;
        let with_code = it.functions.iter().filter(|function| !function.entries.is_empty()).count();
        let inlined = it.functions.len() - with_code;
        let called = |kind: CallKind| -> u64 {
            it.calls.iter().filter(|call| call.kind == kind).map(|call| u64::from(call.times)).sum()
        };
        let unknown = it.calls.iter().filter(|call| call.callee == Callee::Unknown);
        let unknown: u64 = unknown.map(|call| u64::from(call.times)).sum();
        let number = |number: usize| format::count(number as u64);
        let mut table =
            Table::new(&[("what", Side::Left), ("number", Side::Right), ("of which", Side::Left)]);
        table.row(["sources".into(), number(it.files.len()).into(), "".into()]);
        let all_inlined = format!("{} are nowhere but in their callers", number(inlined));
        table.row(["functions".into(), number(it.functions.len()).into(), all_inlined.into()]);
        let derived: std::collections::BTreeSet<u32> = it.bases.iter().map(|base| base.derived).collect();
        let derived = format!("{} are derived from others", number(derived.len()));
        table.row(["types".into(), number(it.types.len()).into(), derived.into()]);
        table.row(["members".into(), number(it.members.len()).into(), "".into()]);
        if it.has_calls {
            let of =
                format!("{} lead to whatever an address says when the program runs", format::count(unknown));
            table.row(["calls".into(), format::count(called(CallKind::Called)).into(), of.into()]);
        }
        let inlined = format::count(called(CallKind::Inlined));
        table.row(["inlined calls".into(), inlined.into(), "".into()]);
        table.print(self.out, self.paint)
    }

    /// Those with the most code first, and how often they are called.
    fn functions(&mut self) -> io::Result<()> {
        let remark = "by the size of their code, without what was inlined elsewhere; callers and callees are \
                      functions, not calls";
        title(self.out, self.paint, "FUNCTIONS", remark)?;
        let it = self.database;
        let mut callers: BTreeMap<u32, u64> = BTreeMap::new();
        let mut callees: BTreeMap<u32, u64> = BTreeMap::new();
        let mut pairs: Vec<(u32, Callee)> = it.calls.iter().map(|call| (call.caller, call.callee)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        for (caller, callee) in pairs {
            *callees.entry(caller).or_default() += 1;
            if let Callee::Function(callee) = callee {
                *callers.entry(callee).or_default() += 1;
            }
        }
        let mut rows: Vec<(u32, &Function)> = (0..).zip(&it.functions).collect();
        rows.sort_by_key(|(row, function)| (Reverse(function.code_bytes), it.text(function.name), *row));
        let mut table = Table::new(&[
            ("function", Side::Left),
            ("at", Side::Left),
            ("code", Side::Right),
            ("callers", Side::Right),
            ("callees", Side::Right),
        ])
        .can_spare(&["callees", "callers"]);
        for (row, function) in rows.iter().take(self.top) {
            let of = |sums: &BTreeMap<u32, u64>| format::count(sums.get(row).copied().unwrap_or(0));
            table.row([
                self.name(function.name).into(),
                self.place(function.place),
                if function.entries.is_empty() {
                    "inlined".into()
                } else {
                    format::bytes(function.code_bytes).into()
                },
                of(&callers).into(),
                of(&callees).into(),
            ]);
        }
        table.print(self.out, self.paint)?;
        table::more(self.out, self.paint, rows.len().saturating_sub(self.top), "function", "functions")
    }

    fn types(&mut self) -> io::Result<()> {
        title(self.out, self.paint, "TYPES", "by name, with the types that they are derived from")?;
        let it = self.database;
        let mut rows: Vec<u32> = (0..).zip(&it.types).map(|(row, _)| row).collect();
        rows.sort_by_key(|row| (it.text(it.types[*row as usize].name), *row));
        let mut table = Table::new(&[
            ("type", Side::Left),
            ("kind", Side::Left),
            ("derived from", Side::Left),
            ("at", Side::Left),
            ("size", Side::Right),
            ("members", Side::Right),
        ])
        .can_spare(&["kind", "members"]);
        let mut members: BTreeMap<u32, u64> = BTreeMap::new();
        it.members.iter().for_each(|member| *members.entry(member.of).or_default() += 1);
        for row in rows.iter().take(self.top) {
            let of = &it.types[*row as usize];
            let bases = it.bases.iter().filter(|base| base.derived == *row);
            let bases: Vec<String> = bases.map(|base| self.name(it.types[base.base as usize].name)).collect();
            table.row([
                self.name(of.name).into(),
                kind(of.kind).into(),
                shorten(&bases.join(", "), 40).into(),
                self.place(of.place),
                of.bytes.map_or_else(String::new, format::bytes).into(),
                format::count(members.get(row).copied().unwrap_or(0)).into(),
            ]);
        }
        table.print(self.out, self.paint)?;
        table::more(self.out, self.paint, rows.len().saturating_sub(self.top), "type", "types")
    }

    fn files(&mut self) -> io::Result<()> {
        title(self.out, self.paint, "SOURCES", "by the code of the functions that are defined in them")?;
        let it = self.database;
        let mut sums: Vec<(u64, u64)> = vec![(0, 0); it.files.len()];
        for function in &it.functions {
            let file = function.place.and_then(|place| sums.get_mut(place.file as usize));
            if let Some((functions, code)) = file {
                *functions += 1;
                *code += function.code_bytes;
            }
        }
        let mut rows: Vec<(usize, (u64, u64))> = sums.into_iter().enumerate().collect();
        rows.sort_by_key(|(file, (functions, code))| {
            (Reverse((*code, *functions)), it.text(it.files[*file]))
        });
        let mut table =
            Table::new(&[("source", Side::Left), ("functions", Side::Right), ("code", Side::Right)]);
        for (file, (functions, code)) in rows.iter().take(self.top) {
            let path = harmless(it.text(it.files[*file]));
            table.row([path.into(), format::count(*functions).into(), format::bytes(*code).into()]);
        }
        table.print(self.out, self.paint)?;
        table::more(self.out, self.paint, rows.len().saturating_sub(self.top), "source", "sources")
    }

    fn notes(&mut self) -> io::Result<()> {
        if !self.database.has_debug_information {
            note(
                self.out,
                self.paint,
                "no debug information: names of functions are all there is; compile with -g",
            )?;
        }
        if !self.database.has_calls {
            note(
                self.out,
                self.paint,
                "calls are read from machine code of x86-64 only, so there are none here",
            )?;
        }
        for problem in &self.database.problems {
            note(self.out, self.paint, &harmless(&problem.to_string()))?;
        }
        Ok(())
    }

    /// A name, short enough for a table.
    fn name(&self, name: Text) -> String {
        shorten(&words::function(self.database.text(name)), 56)
    }

    fn place(&self, place: Option<Place>) -> Cell {
        let place =
            place.map_or_else(String::new, |place| words::place(self.database.path(place), place.line));
        Cell::new(Look::Faint, shorten(&place, 32))
    }
}

fn kind(kind: TypeKind) -> &'static str {
    match kind {
        TypeKind::Class => "class",
        TypeKind::Struct => "struct",
        TypeKind::Union => "union",
        TypeKind::Enum => "enum",
    }
}
