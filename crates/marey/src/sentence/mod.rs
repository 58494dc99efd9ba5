//! `marey sentence`: what a verb and a noun cost on a level.
//!
//! The one idea: the answer is three numbers, what they were made of, and where they are; all of it is
//! `marey-analyze`'s, here it gets words and units.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::bail;
use marey_analyze::{By, Group, LevelRow, Sentence, SentenceCost, Trace, levels, over_time, sentences};
use marey_archive::Events;
use marey_model::{Level, Nanos};

use crate::arrays::time_of;
use crate::cli::{SentenceArgs, SentenceBy};
use crate::exit::Usage;
use crate::explain::phases::unreadable;
use crate::format;
use crate::paint::{Look, Paint, bar, harmless, note, shorten, title, wrap};
use crate::problems;
use crate::run::{Run, damaged};
use crate::table::{self, Cell, Side, Table};
use crate::words;

mod json;

/// Characters of a whole bar.
const BAR_WIDTH: usize = 20;

/// Into how many spans the run is cut by time.
const SPANS: usize = 60;

/// What regions without a noun are called in tables and in questions.
const NO_NOUN: &str = "(none)";

/// Runs the command.
pub(crate) fn run(args: &SentenceArgs) -> anyhow::Result<ExitCode> {
    let run = Run::open(&args.run)?;
    let trace: &dyn Trace = &run.trace;
    let noun = args.noun.clone().map(|noun| if noun == NO_NOUN { String::new() } else { noun });
    let asked = Sentence { level: args.level.clone(), verb: args.verb.clone(), noun };
    let contexts = args.under.iter().map(|text| context(trace, text)).collect::<anyhow::Result<Vec<_>>>()?;
    if asked == Sentence::default() {
        bail!(Usage("say what is asked for: --level, --verb or --noun".to_owned()));
    }
    known(trace, &asked)?;
    let by = match args.by {
        SentenceBy::Line | SentenceBy::Time => By::Line,
        SentenceBy::Noun => By::Noun,
        SentenceBy::Verb => By::Verb,
        SentenceBy::Rank => By::Process,
    };
    let cost = sentences(trace, &asked, &contexts, by);
    let spans = match args.by {
        SentenceBy::Time => {
            let events =
                Events::open(&run.archive, &run.trace).map_err(|error| damaged(&args.run, &error))?;
            over_time(trace, &events, &cost.call_paths, SPANS)
                .map_err(|unread| unreadable(&args.run, &unread))?
        }
        _ => Vec::new(),
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    let told = Told { args, asked: &asked, cost: &cost, spans: &spans, whole: time_of(trace), trace };
    if args.json {
        serde_json::to_writer_pretty(&mut out, &json::Json::new(&told))?;
        writeln!(out)?;
    } else {
        let paint = Paint::for_stdout();
        let paint = if args.no_color { paint.without_colour() } else { paint };
        told.print(&mut out, paint)?;
    }
    out.flush()?;
    problems::warn(trace);
    Ok(ExitCode::SUCCESS)
}

fn context(trace: &dyn Trace, text: &str) -> anyhow::Result<Sentence> {
    let Ok(sentence) = Sentence::parse_of(text, trace.regions()) else {
        bail!(Usage(format!("--under {text:?} is no sentence: LEVEL:VERB NOUN, or a function")));
    };
    if let Some(level) = &sentence.level {
        known_level(trace, level)?;
    }
    Ok(sentence)
}

/// Refuses what no region of the run can be.
fn known(trace: &dyn Trace, asked: &Sentence) -> anyhow::Result<()> {
    if let Some(level) = &asked.level {
        known_level(trace, level)?;
    }
    Ok(())
}

fn known_level(trace: &dyn Trace, level: &str) -> anyhow::Result<()> {
    let mut names: Vec<&str> = trace.regions().iter().map(|region| region.level.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if names.iter().any(|name| marey_model::fits(level, name)) {
        return Ok(());
    }
    let how = match level {
        Level::SOURCE => {
            "; functions are regions where they were instrumented (`marey instrument`, -finstrument-functions); all others are \
             contexts: --under FUNCTION"
        }
        _ => "",
    };
    bail!(Usage(format!("the run has no level {}; it has {}{how}", harmless(level), names.join(", "))));
}

/// All that is told.
struct Told<'t> {
    args: &'t SentenceArgs,
    asked: &'t Sentence,
    cost: &'t SentenceCost,
    /// Visits and time in each span.
    spans: &'t [(u64, Nanos)],
    whole: Nanos,
    trace: &'t dyn Trace,
}

impl Told<'_> {
    fn print(&self, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
        let cost = self.cost;
        title(out, paint, "SENTENCE", &self.words())?;
        if cost.visits == 0 {
            return note(out, paint, "never; `*` stands for any text in what is asked for");
        }
        let untimed = match cost.untimed {
            0 => String::new(),
            some => format!(", {} of them only counted", format::count(some)),
        };
        let bytes = if cost.bytes == 0 { String::new() } else { format!(", {}", format::bytes(cost.bytes)) };
        let line = format!(
            "{} times{untimed}, {} with all that it took beneath, {} of the time of all threads{bytes}",
            format::count(cost.visits),
            format::duration(cost.time),
            format::percent(cost.time.0, self.whole.0),
        );
        for line in wrap(&line, paint.prose_width() - 2) {
            writeln!(out, "  {line}")?;
        }
        self.shares(out, paint)?;
        match self.args.by {
            SentenceBy::Time => self.times(out, paint),
            _ => self.groups(out, paint),
        }
    }

    /// What is asked for, as a heading says it.
    fn words(&self) -> String {
        let Sentence { level, verb, noun } = self.asked;
        let part =
            |part: &Option<String>, any: &str| part.as_deref().map_or_else(|| any.to_owned(), harmless);
        let noun = match noun.as_deref() {
            Some("") => "without a noun".to_owned(),
            _ => part(noun, "to anything"),
        };
        let mut words = format!("{} {noun}", part(verb, "anything"));
        words.push_str(&format!(" on {}", part(level, "any level")));
        for context in &self.args.under {
            words.push_str(&format!(", under {}", harmless(context)));
        }
        words
    }

    fn shares(&self, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
        let remark = "adds up to the whole; explicit: it says so itself, or serves it by doing the same; implicit: keeps what \
                      it means";
        title(out, paint, "MADE OF", remark)?;
        let mut table = Table::new(&[
            ("level", Side::Left),
            ("what", Side::Left),
            ("", Side::Left),
            ("visits", Side::Right),
            ("time", Side::Right),
            ("share", Side::Right),
            ("", Side::Left),
        ]);
        for share in &self.cost.shares {
            table.row([
                harmless(&share.level).into(),
                share.class.name().into(),
                Cell::new(Look::Faint, if share.is_explicit { "explicit" } else { "implicit" }),
                format::count(share.visits).into(),
                format::duration(share.time).into(),
                format::percent(share.time.0, self.cost.time.0).into(),
                Cell::new(Look::Bar, bar(share.time.0, self.cost.time.0, BAR_WIDTH)),
            ]);
        }
        table.print(out, paint)
    }

    fn groups(&self, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
        let (name, head) = match self.args.by {
            SentenceBy::Noun => ("BY NOUN", "noun"),
            SentenceBy::Verb => ("BY VERB", "verb"),
            SentenceBy::Rank => ("BY RANK", "process"),
            _ => ("BY LINE", "at"),
        };
        title(out, paint, name, "outermost visits; a visit: mean")?;
        let mut table = Table::new(&[
            (head, Side::Left),
            ("visits", Side::Right),
            ("time", Side::Right),
            ("share", Side::Right),
            ("a visit", Side::Right),
            ("bytes", Side::Right),
            ("", Side::Left),
        ]);
        let top = usize::try_from(self.args.top).unwrap_or(usize::MAX);
        for group in self.cost.groups.iter().take(top) {
            let each = i64::try_from(group.visits).ok().filter(|number| *number > 0);
            table.row([
                shorten(&self.name(group), 40).into(),
                format::count(group.visits).into(),
                format::duration(group.time).into(),
                format::percent(group.time.0, self.cost.time.0).into(),
                each.map_or_else(String::new, |each| format::duration(Nanos(group.time.0 / each))).into(),
                if group.bytes == 0 { String::new() } else { format::bytes(group.bytes) }.into(),
                Cell::new(Look::Bar, bar(group.time.0, self.cost.time.0, BAR_WIDTH)),
            ]);
        }
        table.print(out, paint)?;
        table::more(out, paint, self.cost.groups.len().saturating_sub(top), "row", "rows")
    }

    fn name(&self, group: &Group) -> String {
        match group.process {
            Some(process) => words::process(self.trace, process),
            None if group.name.is_empty() => NO_NOUN.to_owned(),
            None => harmless(&group.name),
        }
    }

    fn times(&self, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
        title(
            out,
            paint,
            "BY TIME",
            "visits that began, and time of all threads, in equal spans of the run",
        )?;
        let mut table = Table::new(&[
            ("from", Side::Right),
            ("visits", Side::Right),
            ("time", Side::Right),
            ("", Side::Left),
        ]);
        let most = self.spans.iter().map(|(_, time)| time.0).max().unwrap_or(0);
        let len = marey_analyze::span_length(self.trace, self.spans.len()).0;
        for (at, (visits, time)) in (0_i64..).zip(self.spans) {
            table.row([
                format::duration(Nanos(at * len)).into(),
                format::count(*visits).into(),
                format::duration(*time).into(),
                Cell::new(Look::Bar, bar(time.0, most, 40)),
            ]);
        }
        table.print(out, paint)
    }
}

/// One row a level: what it cost, and what of that lower levels took. Printed by the report of a run that has levels of
/// programming models.
pub(crate) fn print_levels(out: &mut dyn Write, paint: Paint, trace: &dyn Trace) -> io::Result<()> {
    let remark = "time of all threads in the regions of each, and what of that went to other levels beneath";
    title(out, paint, "LEVELS", remark)?;
    let rows: Vec<LevelRow> = levels(trace);
    let whole = time_of(trace);
    let mut table = Table::new(&[
        ("level", Side::Left),
        ("visits", Side::Right),
        ("time", Side::Right),
        ("share", Side::Right),
        ("own", Side::Right),
        ("beneath", Side::Left),
    ]);
    for row in &rows {
        let beneath: Vec<String> = row
            .beneath
            .iter()
            .filter(|(_, time)| time.0 > 0)
            .map(|(level, time)| format!("{} {}", harmless(level), format::duration(*time)))
            .collect();
        table.row([
            harmless(&row.level).into(),
            format::count(row.visits).into(),
            format::duration(row.time).into(),
            format::percent(row.time.0, whole.0).into(),
            format::duration(row.own).into(),
            Cell::new(Look::Faint, beneath.join(", ")),
        ]);
    }
    table.print(out, paint)
}
