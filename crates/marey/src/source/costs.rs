//! `marey source RUN`: what the loops of a program cost when it ran.
//!
//! The one idea: call stacks of a run name sources and lines, sources say where loops are, so nothing else is needed: neither
//! the program nor a second run. What each number means stands at [`marey_analyze::LoopCost`].
//!
//! What is deliberately absent: loops in which nothing was seen; `marey source DIR --list loops` has them.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::bail;
use marey_analyze::{LoopCost, Sampled, SourceLoop, Trace, Waits, source_loops};
use marey_archive::Events;
use marey_model::Nanos;
use marey_source::text::{Sources, TextConfig};
use serde::Serialize;

use super::changed::Made;
use super::kinds::loop_kind;
use crate::busy::Busy;
use crate::cli::{SourceArgs, SourceList};
use crate::exit::Usage;
use crate::format;
use crate::paint::{Look, Paint, harmless, note, shorten, title};
use crate::run::Run;
use crate::table::{self, Cell, Side, Table};
use crate::words;

/// Rows of the table, unless the list or another number is asked for.
const FEW: usize = 20;

/// Loops of a run and what they cost.
struct Costs {
    text: Sources,
    /// By loop of the text.
    costs: Vec<LoopCost>,
    /// All samples.
    whole: Sampled,
    /// Whether waits are known.
    has_waits: bool,
    /// Sources that call stacks name and that are not there.
    missing: Vec<String>,
    /// The first that was changed after the program was made, and what is known of when that was.
    newer: Option<(PathBuf, &'static str)>,
}

/// Tells them.
pub(super) fn run(args: &SourceArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    if args.of.is_some() || args.list.is_some_and(|list| list != SourceList::Loops) {
        let path = args.file.display();
        bail!(Usage(format!("of the run {path} loops are told and nothing else; give the program itself")));
    }
    let run = Run::open(&args.file)?;
    let it = Costs::of(&run)?;
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &Json::new(&it))?;
        return Ok(writeln!(out)?);
    }
    let paint = Paint::for_stdout();
    let paint = if args.no_color { paint.without_colour() } else { paint };
    let few = if args.list.is_some() { usize::MAX } else { FEW };
    let top = args.top.map_or(few, |top| usize::try_from(top).unwrap_or(usize::MAX));
    Ok(it.print(out, paint, (&run.name, top))?)
}

impl Costs {
    fn of(run: &Run) -> anyhow::Result<Self> {
        let _busy = Busy::with("reading sources");
        let (there, missing) = named(&run.trace);
        let text = Sources::of_files(&there, &TextConfig::system());
        let loops: Vec<SourceLoop<'_>> = text
            .loops
            .iter()
            .map(|it| SourceLoop { file: text.path(it.file), first: it.lines.first, last: it.lines.last })
            .collect();
        let waits = waits(run)?;
        let (costs, whole) = source_loops(&run.trace, &loops, waits.as_ref());
        let newer = Made::of(run).and_then(|made| {
            let newer = there.iter().find(|file| made.is_before(file))?;
            Some((newer.clone(), made.words()))
        });
        Ok(Self { costs, whole, has_waits: waits.is_some(), missing, newer, text })
    }

    /// Loops in which something was seen, those with most processor time first, then those with most time in calls.
    fn seen(&self) -> Vec<usize> {
        let mut seen: Vec<usize> =
            (0..self.costs.len()).filter(|loop_| self.costs[*loop_] != LoopCost::default()).collect();
        // What is around another comes first where both have the same.
        seen.sort_by_key(|loop_| {
            let cost = &self.costs[*loop_];
            (std::cmp::Reverse((cost.inclusive.time, cost.call_time)), *loop_)
        });
        seen
    }

    fn print(&self, out: &mut dyn Write, paint: Paint, (name, top): (&str, usize)) -> io::Result<()> {
        title(out, paint, "LOOPS", &format!("{name}, those with most processor time first"))?;
        let seen = self.seen();
        let mut heads = vec![
            ("processor", Side::Right),
            ("share", Side::Right),
            ("own", Side::Right),
            ("calls", Side::Right),
            ("in calls", Side::Right),
        ];
        if self.has_waits {
            heads.push(("waiting", Side::Right));
        }
        heads.extend([("data", Side::Right), ("loop", Side::Left), ("at", Side::Left), ("in", Side::Left)]);
        let mut table = Table::new(&heads).can_spare(&["data", "own"]);
        for loop_ in seen.iter().take(top) {
            table.push(self.row(*loop_));
        }
        if seen.is_empty() {
            note(out, paint, "no call stack of this run leads through a loop of a source that can be read")?;
        } else {
            table.print(out, paint)?;
            table::more(out, paint, seen.len().saturating_sub(top), "loop", "loops")?;
        }
        self.notes().iter().try_for_each(|text| note(out, paint, text))
    }

    fn row(&self, loop_: usize) -> Vec<Cell> {
        let (it, cost) = (&self.text.loops[loop_], &self.costs[loop_]);
        let share = |cost: &LoopCost| format::percent(cost.inclusive.time.0, self.whole.time.0);
        let time = |time: Nanos| if time.0 == 0 { String::new() } else { format::duration(time) };
        let mut cells: Vec<Cell> = vec![
            time(cost.inclusive.time).into(),
            if cost.inclusive.time.0 == 0 { String::new() } else { share(cost) }.into(),
            time(cost.exclusive.time).into(),
            if cost.calls == 0 { String::new() } else { format::count(cost.calls) }.into(),
            time(cost.call_time).into(),
        ];
        if self.has_waits {
            cells.push(time(cost.waiting).into());
        }
        let place = words::place(self.text.path(it.file), it.lines.first);
        let function = it.function.and_then(|row| self.text.functions.get(row as usize));
        let function = function.map_or("", |it| self.text.text(it.name));
        cells.extend([
            if cost.bytes == 0 { String::new() } else { format::bytes(cost.bytes) }.into(),
            loop_kind(it.kind).into(),
            Cell::new(Look::Faint, shorten(&format!("{place}–{}", it.lines.last), 40)),
            shorten(&words::function(function), 40).into(),
        ]);
        cells
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "processor is in the loop and in all that it calls, own without loops and calls within; calls are those of \
             libraries that were measured"
                .to_owned(),
        ];
        if self.whole.samples == 0 {
            notes.push("this run has no samples, so only calls are known; `marey record` takes them unless told not to".to_owned());
        }
        if let Some((newer, what)) = &self.newer {
            notes.push(format!(
                "sources were changed after {what}, so their lines may be others: {}",
                harmless(&newer.display().to_string())
            ));
        }
        if let Some(first) = self.missing.first() {
            notes.push(format!(
                "{} that call stacks lead through cannot be read: {}{}",
                format::counted(self.missing.len() as u64, "source"),
                harmless(first),
                if self.missing.len() > 1 { " …" } else { "" }
            ));
        }
        notes
    }
}

/// Sources that call stacks name: those that are there, and those that are not.
fn named(trace: &dyn Trace) -> (Vec<PathBuf>, Vec<String>) {
    let of_samples = trace.samples().iter().filter_map(|row| row.stack);
    let stacks: BTreeSet<_> =
        of_samples.chain(trace.call_paths().iter().filter_map(|path| path.stack)).collect();
    let mut files: BTreeSet<&str> = BTreeSet::new();
    for stack in stacks {
        let lines = trace.stack(stack).into_iter().filter(|frame| frame.line != 0);
        files.extend(lines.map(|frame| frame.file.as_str()).filter(|file| !file.is_empty()));
    }
    let sources = files.into_iter().filter(|file| Sources::has_source_name(Path::new(file)));
    let (there, missing): (Vec<&str>, Vec<&str>) = sources.partition(|file| Path::new(file).is_file());
    (there.into_iter().map(PathBuf::from).collect(), missing.into_iter().map(str::to_owned).collect())
}

/// The waits of a run that has all of its events; `None` = not all of them are there.
fn waits(run: &Run) -> anyhow::Result<Option<Waits>> {
    if run.archive.meta().summed_since_ns().is_some() {
        return Ok(None);
    }
    let events = Events::open(&run.archive, &run.trace)?;
    Ok(crate::explain::all_waits(run, &events).ok())
}

#[derive(Serialize)]
struct Json<'c> {
    processor_ns: i64,
    samples: u64,
    missing: &'c [String],
    newer: Option<String>,
    loops: Vec<JsonLoop<'c>>,
}

#[derive(Serialize)]
struct JsonLoop<'c> {
    kind: &'static str,
    file: &'c str,
    first_line: u32,
    last_line: u32,
    depth: u32,
    function: Option<&'c str>,
    processor_ns: i64,
    samples: u64,
    own_ns: i64,
    own_samples: u64,
    calls: u64,
    calls_ns: i64,
    bytes: u64,
    waiting_ns: Option<i64>,
}

impl<'c> Json<'c> {
    fn new(it: &'c Costs) -> Self {
        let of = |loop_: usize| {
            let (found, cost) = (&it.text.loops[loop_], &it.costs[loop_]);
            let function = found.function.and_then(|row| it.text.functions.get(row as usize));
            JsonLoop {
                kind: loop_kind(found.kind),
                file: it.text.path(found.file),
                first_line: found.lines.first,
                last_line: found.lines.last,
                depth: found.depth,
                function: function.map(|function| it.text.text(function.name)),
                processor_ns: cost.inclusive.time.0,
                samples: cost.inclusive.samples,
                own_ns: cost.exclusive.time.0,
                own_samples: cost.exclusive.samples,
                calls: cost.calls,
                calls_ns: cost.call_time.0,
                bytes: cost.bytes,
                waiting_ns: it.has_waits.then_some(cost.waiting.0),
            }
        };
        Self {
            processor_ns: it.whole.time.0,
            samples: it.whole.samples,
            missing: &it.missing,
            newer: it.newer.as_ref().map(|(path, _)| path.display().to_string()),
            loops: it.seen().into_iter().map(of).collect(),
        }
    }
}
