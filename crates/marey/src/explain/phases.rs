//! `marey phases`: the iterations of a program, and which of them are not like the others.
//!
//! The one idea: what the program does most of its time is one sentence; what is odd about it are the next.

mod json;
mod words;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use marey_analyze::{
    Activity, CutOut, Figures, Happenings, Loop, Phases, Shares, Span, Trace, phases_in, shares,
};
use marey_archive::Events;
use marey_model::Nanos;

use super::part::Part;
use super::sheet::{Sheet, cells, instant, time, what};
use super::{Place, rounded, who};
use crate::busy::Busy;
use crate::cli::{PhasesArgs, Which, Whose};
use crate::exit::Usage;
use crate::format;
use crate::paint::{Look, title};
use crate::run::{Run, damaged};
use crate::table::{Cell, Side, Table};

/// Runs the command.
pub(crate) fn run(args: &PhasesArgs) -> anyhow::Result<ExitCode> {
    let path = &args.common.run;
    let run = Run::open(path)?;
    let whose = Whose { ranks: args.ranks.clone(), ..Whose::default() };
    let which = Which { whose, communicator: None };
    let part = Part::asked(&run, path, &args.when, &which)?;
    part.has_a_beginning(&run, path)?;
    let events = Events::open(&run.archive, &run.trace).map_err(|error| damaged(path, &error))?;
    let covered = part.covered(&run);
    let asked = Asked { args, run: &run, events: &events, part: &part, span: covered };
    match part.excerpt(&run, path)? {
        None => asked.tell(&run.trace, &events)?,
        Some(sums) => asked.tell(&sums, &CutOut::new(&run.trace, &events, &part.selection))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What is asked for, and of what.
struct Asked<'t> {
    args: &'t PhasesArgs,
    run: &'t Run,
    events: &'t Events<'t>,
    part: &'t Part,
    span: Span,
}

impl Asked<'_> {
    /// Tells of a run, or of a part that is one by itself.
    fn tell(&self, trace: &impl Trace, events: &impl Happenings) -> anyhow::Result<()> {
        let (args, path) = (self.args, &self.args.common.run);
        let busy = Busy::with("looking for iterations");
        let found = phases_in(trace, events, self.span).map_err(|unread| unreadable(path, &unread))?;
        let which = chosen(args, &found)?;
        let within = which
            .map(|which| {
                let waits = self.part.all_waits(self.run, self.events)?;
                shares(trace, events, &waits, &found.loops[which])
            })
            .transpose()
            .map_err(|unread| unreadable(path, &unread))?;
        drop(busy);
        let told =
            which.zip(within.as_ref()).map(|(which, shares)| Told { which, of: &found.loops[which], shares });
        let is_part = self.span.to - self.span.from < self.run.trace.duration();
        let page = Page { found: &found, told: told.as_ref(), span: self.span, is_part };
        let mut out = io::BufWriter::new(io::stdout().lock());
        if args.common.json {
            let duration = self.run.trace.duration();
            serde_json::to_writer_pretty(&mut out, &json::Json::new(trace, duration, &page))?;
            writeln!(out)?;
        } else {
            let mut sheet = Sheet::new(&mut out, &args.common, trace);
            sheet.cut(self.run, self.part)?;
            page.print(&mut sheet, &self.part.remark())?;
        }
        out.flush()?;
        Ok(())
    }
}

/// All that is told.
struct Page<'t> {
    found: &'t Phases,
    told: Option<&'t Told<'t>>,
    /// What of the run it is about.
    span: Span,
    /// Whether that is less than all of its time.
    is_part: bool,
}

/// A loop that is told of in full.
struct Told<'t> {
    which: usize,
    of: &'t Loop,
    shares: &'t Shares,
}

/// The loop that is told of: the main one, or that which the user wants.
fn chosen(args: &PhasesArgs, found: &Phases) -> anyhow::Result<Option<usize>> {
    let Some(wanted) = args.of_loop else { return Ok(found.main) };
    let which = usize::try_from(wanted).ok().and_then(|wanted| wanted.checked_sub(1));
    match which.filter(|which| *which < found.loops.len()) {
        Some(which) => Ok(Some(which)),
        None => bail!(Usage(format!(
            "there is no loop {wanted} in {}: {} found; `marey phases` lists them",
            args.common.run.display(),
            match found.loops.len() {
                0 => "none was".to_owned(),
                1 => "one was".to_owned(),
                number => format!("{number} were"),
            }
        ))),
    }
}

pub(crate) fn unreadable(path: &Path, unread: &marey_analyze::Unread) -> anyhow::Error {
    anyhow::anyhow!("{} cannot be explained, for parts of it cannot be read: {unread}", path.display())
}

impl Page<'_> {
    fn print(&self, sheet: &mut Sheet<'_>, part: &str) -> io::Result<()> {
        let remark = format!("found in what the program calls; counted from 1{part}");
        title(sheet.out, sheet.paint, "ITERATIONS", &remark)?;
        sheet.say(&words::sentences(sheet.trace, self))?;
        let Some(told) = self.told else { return Ok(()) };
        course(sheet, self)?;
        times(sheet, told)?;
        kinds(sheet, told)?;
        outliers(sheet, told)?;
        activities(sheet, told)?;
        loops(sheet, self.found)
    }
}

/// What comes after what: start-up, loops, end.
fn course(sheet: &mut Sheet<'_>, page: &Page<'_>) -> io::Result<()> {
    let (found, length) = (page.found, page.span.to - page.span.from);
    title(sheet.out, sheet.paint, "PHASES", "what comes after what; share: of the run")?;
    let mut table = Table::new(&[
        ("phase", Side::Left),
        ("from", Side::Right),
        ("to", Side::Right),
        ("time", Side::Right),
        ("share", Side::Right),
        ("each", Side::Right),
        ("who", Side::Left),
    ])
    .can_spare(&["who", "to", "share"]);
    for phase in words::course(found, page.span) {
        let time = phase.to - phase.from;
        let it = phase.which.map(|which| &found.loops[which]);
        table.row([
            match it {
                Some(it) => format::counted(it.number, "iteration").into(),
                None => Cell::new(Look::Faint, phase.name),
            },
            format::plain(&instant(phase.from)).into(),
            format::plain(&instant(phase.to)).into(),
            format::duration(time).into(),
            format::percent(time.0, length.0).into(),
            it.map_or_else(String::new, |it| each(it, it.time.median)).into(),
            it.map_or_else(String::new, |it| who(sheet.trace, &it.locations)).into(),
        ]);
    }
    table.print(sheet.out, sheet.paint)
}

/// The time of one iteration, where several are told as one.
fn each(it: &Loop, ns: f64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let one = ns / it.per as f64;
    format::duration(rounded(one))
}

fn row(table: &mut Table, name: Cell, figures: &Figures, whole: f64) {
    let mut cells = vec![name];
    let numbers = [figures.min, figures.mean, figures.median, figures.max, figures.deviation];
    cells.extend(numbers.map(|ns| format::duration(rounded(ns)).into()));
    cells.push(format::percent(rounded(figures.mean).0, rounded(whole).0).into());
    table.push(cells);
}

const FIGURES: [(&str, Side); 7] = [
    ("per iteration", Side::Left),
    ("min", Side::Right),
    ("mean", Side::Right),
    ("median", Side::Right),
    ("max", Side::Right),
    ("sd", Side::Right),
    ("share", Side::Right),
];

fn times(sheet: &mut Sheet<'_>, told: &Told<'_>) -> io::Result<()> {
    let remark = format!(
        "of {}; useful: outside of MPI and calls of threads; means over {}; sd: standard deviation; share: of the mean \
         time",
        words::number(told),
        words::takers(sheet.trace, told),
    );
    title(sheet.out, sheet.paint, "TIME PER ITERATION", &remark)?;
    let mut table = Table::new(&FIGURES).can_spare(&["sd", "median", "share"]);
    let whole = told.of.time.mean;
    let shares = told.shares;
    for (name, figures) in [
        ("time", &told.of.time),
        ("  useful", &shares.useful),
        ("  waiting", &shares.waiting),
        ("  in MPI, waits too", &shares.mpi),
    ] {
        row(&mut table, name.into(), figures, whole);
    }
    table.print(sheet.out, sheet.paint)
}

fn kinds(sheet: &mut Sheet<'_>, told: &Told<'_>) -> io::Result<()> {
    if told.of.kinds.len() < 2 {
        return Ok(());
    }
    let remark = "iterations in which the same calls were made; every: where most are so far apart; only here: what \
                  takes most of what the usual ones do not do";
    title(sheet.out, sheet.paint, "KINDS", remark)?;
    let mut table = Table::new(&[
        ("iterations", Side::Right),
        ("every", Side::Right),
        ("first", Side::Right),
        ("min", Side::Right),
        ("median", Side::Right),
        ("max", Side::Right),
        ("only here", Side::Left),
    ])
    .can_spare(&["max", "min", "first", "only here"]);
    for (place, kind) in told.of.kinds.iter().enumerate().take(sheet.top) {
        let only = told.shares.only_in.get(place).copied().flatten();
        let only = only.map_or_else(String::new, |activity| what(&Place::of(sheet.trace, activity)));
        let ns = |ns: f64| Cell::from(format::duration(rounded(ns)));
        table.row([
            format::count(kind.number).into(),
            kind.every.map(format::count).unwrap_or_default().into(),
            format::count(kind.first as u64 + 1).into(),
            ns(kind.time.min),
            ns(kind.time.median),
            ns(kind.time.max),
            Cell::new(Look::Faint, crate::paint::shorten(&only, 60)),
        ]);
    }
    table.print(sheet.out, sheet.paint)?;
    sheet.more(told.of.kinds.len())
}

fn outliers(sheet: &mut Sheet<'_>, told: &Told<'_>) -> io::Result<()> {
    if told.of.outliers.is_empty() {
        return Ok(());
    }
    let remark = "longer than others of their kind, by more than chance; most: what took longer beyond its mean, waits \
                  apart";
    title(sheet.out, sheet.paint, "LONG ITERATIONS", remark)?;
    let mut table = Table::new(&[
        ("iteration", Side::Right),
        ("from", Side::Right),
        ("time", Side::Right),
        ("expected", Side::Right),
        ("most", Side::Right),
        ("who", Side::Left),
        ("doing", Side::Left),
    ])
    .can_spare(&["expected", "most", "who", "from"]);
    for (outlier, different) in told.of.outliers.iter().zip(&told.shares.different).take(sheet.top) {
        let span = told.of.iterations[outlier.iteration];
        let (most, who, doing) = different.map_or_else(Default::default, |it| {
            let [what, _] = cells(&Place::of(sheet.trace, it.activity));
            (format!("+{}", format::plain(&time(it.excess))), who(sheet.trace, &[it.location]), Some(what))
        });
        table.row([
            format::count(outlier.iteration as u64 + 1).into(),
            format::plain(&instant(span.from)).into(),
            format::duration(span.length()).into(),
            format::duration(rounded(outlier.expected)).into(),
            most.into(),
            who.into(),
            doing.unwrap_or_else(|| "".into()),
        ]);
    }
    table.print(sheet.out, sheet.paint)?;
    sheet.more(told.of.outliers.len())
}

fn activities(sheet: &mut Sheet<'_>, told: &Told<'_>) -> io::Result<()> {
    let remark = "time per iteration by what was done, and waiting in any call, that first which varies most";
    title(sheet.out, sheet.paint, "WHAT VARIES", remark)?;
    let columns = [&[("doing", Side::Left), ("called by", Side::Left)][..], &FIGURES[1..]].concat();
    let mut table = Table::new(&columns).can_spare(&["share", "median", "called by", "min", "max"]);
    // What varies by less than a thousandth of an iteration would fill the page.
    let least = told.of.time.mean / 1000.0;
    let waiting = (told.shares.waiting.max > 0.0).then_some((None, &told.shares.waiting));
    let mut rows: Vec<(Option<Activity>, &Figures)> = told
        .shares
        .activities
        .iter()
        .map(|(activity, figures)| (Some(*activity), figures))
        .chain(waiting)
        .collect();
    // Of equals the activity first: it stays in its order.
    rows.sort_by(|a, b| b.1.deviation.total_cmp(&a.1.deviation));
    let number = rows.len();
    let mut shown = 0;
    for (activity, figures) in rows.into_iter().take(sheet.top).filter(|row| least <= row.1.deviation) {
        shown += 1;
        let mut cells = match activity {
            Some(activity) => cells(&Place::of(sheet.trace, activity)).to_vec(),
            None => vec![Cell::new(Look::Faint, "waiting"), "".into()],
        };
        let numbers = [figures.min, figures.mean, figures.median, figures.max, figures.deviation];
        cells.extend(numbers.map(|ns| format::duration(rounded(ns)).into()));
        cells.push(format::percent(rounded(figures.mean).0, rounded(told.of.time.mean).0).into());
        table.push(cells);
    }
    table.print(sheet.out, sheet.paint)?;
    let rest = number - shown;
    crate::table::more(sheet.out, sheet.paint, rest, "row that varies less", "rows that vary less")
}

fn loops(sheet: &mut Sheet<'_>, found: &Phases) -> io::Result<()> {
    if found.loops.len() < 2 {
        return Ok(());
    }
    let remark = "all that were found; in: the loop that they are in; rounds: how many times they were begun; --loop N \
                  tells more of one";
    title(sheet.out, sheet.paint, "LOOPS", remark)?;
    let mut table = Table::new(&[
        ("loop", Side::Right),
        ("in", Side::Right),
        ("iterations", Side::Right),
        ("rounds", Side::Right),
        ("each", Side::Right),
        ("who", Side::Left),
        ("told by", Side::Left),
    ])
    .can_spare(&["rounds", "who"]);
    for (place, it) in found.loops.iter().enumerate() {
        table.row([
            format::count(place as u64 + 1).into(),
            it.inside.map(|outer| format::count(outer as u64 + 1)).unwrap_or_default().into(),
            format::count(it.number).into(),
            format::count(it.rounds).into(),
            each(it, it.time.median).into(),
            who(sheet.trace, &it.locations).into(),
            crate::paint::shorten(&words::site(sheet.trace, it), 60).into(),
        ]);
    }
    table.print(sheet.out, sheet.paint)
}

/// A phase of the run.
struct Phase {
    name: &'static str,
    from: Nanos,
    to: Nanos,
    /// The loop that it is.
    which: Option<usize>,
}
