//! What each place would give: the table, the most worthwhile first.

use std::io;

use marey_analyze::what_if::{Candidate, Each, What};
use marey_analyze::{Activity, Trace};

use super::super::{Page, Place, rounded};
use super::{difference, is_nothing};
use crate::format::{self, solid};
use crate::paint::{Look, note, shorten, title, wrap};
use crate::table::{Cell, Side, Table};
use crate::words;

/// Places that are tried at most: each takes two variants of the replay.
pub(super) const MOST: usize = 20;

/// What was tried, and where in the program.
pub(super) fn place<'t>(trace: &'t dyn Trace, row: &'t Candidate) -> Place<'t> {
    match &row.what {
        What::Calls(path, all) => {
            let place = Place::of(trace, Activity::Path(*path));
            let line_of = |path| Place::of(trace, Activity::Path(path)).line;
            // Calls on several lines are one place here: none of the lines is that of all.
            let is_one = all.iter().all(|path| line_of(*path) == place.line);
            Place { line: if is_one { place.line } else { 0 }, ..place }
        }
        What::Function(function) => Place {
            function: &function.name,
            file: &function.file,
            line: function.line,
            ..Place::of(trace, Activity::Outside)
        },
        What::Computation => Place::of(trace, Activity::Outside),
    }
}

/// What would be most worthwhile.
pub(super) fn sentence(trace: &dyn Trace, found: &Each) -> String {
    let time = |ns: f64| solid(format::duration(rounded(ns)));
    let Some(best) = found.rows.first().filter(|row| !is_nothing(row.twice, found.as_it_was)) else {
        return "No place would make the run shorter by itself if it were twice as fast.".to_owned();
    };
    let place = place(trace, best);
    let function = shorten(&words::function(place.function), 60);
    let at = words::place(place.file, place.line);
    let at = if at.is_empty() { String::new() } else { format!(" ({at})") };
    let what = match (&best.what, place.function.is_empty()) {
        (What::Computation, _) => "computation outside of recorded calls".to_owned(),
        (What::Function(_), _) => format!("computation in {function}{at}"),
        (What::Calls(..), true) => format!("{}{at}", crate::paint::harmless(place.region)),
        (What::Calls(..), false) => format!("{} in {function}{at}", crate::paint::harmless(place.region)),
    };
    format!(
        "Most worthwhile is {what}: were it twice as fast, the run would take {} instead of {} ({}).",
        time(best.twice),
        time(found.as_it_was),
        difference(best.twice, found.as_it_was)
    )
}

pub(super) fn print(page: &mut Page<'_>, found: &Each) -> io::Result<()> {
    let trace = page.trace;
    writeln!(page.out)?;
    for line in wrap(&sentence(trace, found), page.paint.prose_width()) {
        writeln!(page.out, "{}", page.paint.paint(Look::Strong, &line))?;
    }
    let remark = format!(
        "what the run of {} would take if one place, in itself, were twice as fast, and if it took no time",
        format::duration(rounded(found.as_it_was))
    );
    title(page.out, page.paint, "WHAT IF", &remark)?;
    if found.rows.is_empty() {
        writeln!(
            page.out,
            "  {}",
            page.paint.paint(Look::Faint, "nothing of the critical path can be changed")
        )?;
    } else {
        table(page, found)?;
    }
    let mut table = Table::new(&[("", Side::Left), ("", Side::Right), ("", Side::Right)]);
    for (name, run_time) in [
        ("useful time evened out between synchronisations", found.balanced),
        ("a network that costs nothing", found.ideal),
    ] {
        let gain = format::plain(&difference(run_time, found.as_it_was));
        table.row([name.into(), format::duration(rounded(run_time)).into(), Cell::new(Look::Faint, gain)]);
    }
    writeln!(page.out)?;
    table.print(page.out, page.paint)?;
    if found.rows.iter().any(|row| matches!(row.what, What::Function(_))) {
        note(page.out, page.paint, "computation is divided among functions by samples")?;
    }
    Ok(())
}

fn table(page: &mut Page<'_>, found: &Each) -> io::Result<()> {
    let trace = page.trace;
    let mut table = Table::new(&[
        ("doing", Side::Left),
        ("in", Side::Left),
        ("on the path", Side::Right),
        ("twice", Side::Right),
        ("wins", Side::Right),
        ("no time", Side::Right),
        ("wins ", Side::Right),
    ])
    .can_spare(&["on the path", "no time", "wins "]);
    let (rows, others): (Vec<_>, Vec<_>) =
        found.rows.iter().partition(|row| !is_nothing(row.at_once, found.as_it_was));
    for row in &rows {
        let [what, from] = place(trace, row).cells();
        let gain =
            |run_time: f64| Cell::new(Look::Faint, format::plain(&difference(run_time, found.as_it_was)));
        table.row([
            what,
            from,
            format::duration(rounded(row.on_path)).into(),
            format::duration(rounded(row.twice)).into(),
            gain(row.twice),
            format::duration(rounded(row.at_once)).into(),
            gain(row.at_once),
        ]);
    }
    if !rows.is_empty() {
        table.print(page.out, page.paint)?;
    }
    if others.is_empty() {
        return Ok(());
    }
    let text = format!(
        "{} on the critical path would win less than 0.1 %",
        format::counted_as(others.len() as u64, "more place", "more places")
    );
    writeln!(page.out, "  {}", page.paint.paint(Look::Faint, &text))
}
