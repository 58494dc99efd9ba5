//! What `marey instrument` prints.
//!
//! The one idea: how many have a guard, what has none and why, and what to type next. Reasons come by their number; a list
//! names each.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use marey_model::Detail;

use super::Done;
use super::choose::{Chooser, Chosen, Row, Verdict};
use super::json::NOT_CHOSEN;
use crate::format;
use crate::paint::{Look, Paint, harmless, note, shorten, title};
use crate::table::{Cell, Side, Table};
use crate::words;

/// How much is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    Few,
    All,
}

/// Prints what was found, and done.
pub(super) fn print(done: &Done, rows: Rows, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
    if rows == Rows::All {
        list(done, out, paint)?;
    }
    let source = done.source.display();
    let remark = match &done.copy {
        Some(copy) => format!("{source} copied to {}", copy.display()),
        None => format!("{source}, what would be"),
    };
    title(out, paint, "INSTRUMENTED", &harmless(&remark))?;
    numbers(done, out, paint)?;
    reasons(done, out, paint)?;
    left_out(done, rows, out, paint)?;
    for problem in &done.problems {
        note(out, paint, &harmless(problem))?;
    }
    next(done, out, paint)
}

fn numbers(done: &Done, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
    let mut table = Table::new(&[
        ("what", Side::Left),
        ("number", Side::Right),
        ("with a guard", Side::Right),
        ("not chosen", Side::Right),
        ("cannot have one", Side::Right),
    ]);
    let files = &done.choice.files;
    let guarded = files.iter().filter(|file| !file.guards.is_empty()).count();
    let count = |number: usize| -> Cell { format::count(number as u64).into() };
    table.row(["sources".into(), count(files.len()), count(guarded), "".into(), "".into()]);
    for (what, name) in [(Chosen::Function, "functions"), (Chosen::Loop, "loops")] {
        let of = |wanted: fn(&Verdict) -> bool| {
            let rows = done.choice.rows.iter().filter(|row| row.what == what);
            count(rows.filter(|row| wanted(&row.verdict)).count())
        };
        table.row([
            name.into(),
            of(|_| true),
            of(|it| *it == Verdict::Guarded),
            of(|it| *it == Verdict::NotChosen),
            of(|it| matches!(it, Verdict::Refused(_))),
        ]);
    }
    table.print(out, paint)
}

fn reasons(done: &Done, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
    let mut reasons: BTreeMap<&str, (usize, &Row)> = BTreeMap::new();
    for row in &done.choice.rows {
        if let Verdict::Refused(reason) = row.verdict {
            reasons.entry(reason).or_insert((0, row)).0 += 1;
        }
    }
    if reasons.is_empty() {
        return Ok(());
    }
    title(out, paint, "NO GUARD", "chosen, and yet without one; --list names all")?;
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, (number, _))| std::cmp::Reverse(*number));
    let columns =
        [("number", Side::Right), ("reason", Side::Left), ("the first", Side::Left), ("at", Side::Left)];
    let mut table = Table::new(&columns).can_spare(&["the first"]);
    for (reason, (number, row)) in reasons {
        table.row([
            format::count(number as u64).into(),
            reason.into(),
            shorten(&harmless(&words::function(&row.name)), 32).into(),
            at(done, row),
        ]);
    }
    table.print(out, paint)
}

fn left_out(done: &Done, rows: Rows, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
    let all = &done.tree.left_out;
    if all.is_empty() {
        return Ok(());
    }
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for it in all {
        reasons.entry(it.reason).or_default().push(harmless(&it.path.display().to_string()));
    }
    title(out, paint, "LEFT OUT", "not in the copy; --list names all")?;
    let columns = [("number", Side::Right), ("reason", Side::Left), ("path", Side::Left)];
    let mut table = Table::new(&columns);
    for (reason, paths) in reasons {
        let number = format::count(paths.len() as u64);
        let shown = if rows == Rows::All { paths.len() } else { 1 };
        for path in &paths[..shown] {
            table.row([number.clone().into(), reason.into(), shorten(path, 48).into()]);
        }
    }
    table.print(out, paint)
}

fn list(done: &Done, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
    title(out, paint, "FUNCTIONS AND LOOPS", "in the order of the text; without a remark they get a guard")?;
    let mut table = Table::new(&[("at", Side::Left), ("name", Side::Left), ("no guard", Side::Left)]);
    for row in &done.choice.rows {
        let remark = match row.verdict {
            Verdict::Guarded => "",
            // Of loops nobody has spoken.
            Verdict::NotChosen if row.what == Chosen::Loop => continue,
            Verdict::NotChosen => NOT_CHOSEN,
            Verdict::Refused(reason) => reason,
        };
        let name = shorten(&harmless(&words::function(&row.name)), 56);
        table.row([at(done, row), name.into(), Cell::new(Look::Faint, remark)]);
    }
    table.print(out, paint)
}

fn at(done: &Done, row: &Row) -> Cell {
    let path = harmless(&done.choice.files[row.file].path.display().to_string());
    let line = format!(":{}", row.line);
    Cell::new(Look::Faint, shorten(&path, 40 - line.len()) + &line)
}

fn next(done: &Done, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
    let Some(copy) = &done.copy else { return Ok(()) };
    title(out, paint, "NEXT", "")?;
    if done.guards() == 0 {
        return writeln!(
            out,
            "  Nothing has a guard, so there is nothing to record but what is recorded anyway."
        );
    }
    writeln!(out, "  Build in {} as you build in {},", harmless(&show(copy)), harmless(&show(&done.source)))?;
    let is_of_recording =
        Chooser::rules(&done.rules).iter().any(|(detail, _)| matches!(detail, Detail::Count | Detail::Time));
    let filter = match &done.filter {
        Some(filter) if is_of_recording => format!(" --filter {}", filter.display()),
        _ => String::new(),
    };
    writeln!(out, "  then   marey record{} -- PROGRAM", harmless(&filter))
}

fn show(path: &Path) -> String {
    path.display().to_string()
}
