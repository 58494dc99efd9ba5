//! `marey info`: what a run holds and how far it can be trusted.
//!
//! The one idea: everything here is read from definitions and sums, so it answers at once however
//! long the run is.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context;
use marey_analyze::{LocationKind, Trace};
use marey_archive::{Archive, Meta, RunFacts};
use marey_model::{Level, Nanos, Rules};
use serde::Serialize;

use crate::budget::{self, Governed};
use crate::cli::InfoArgs;
use crate::clocks as applied;
use crate::endings::{self, Ending};
use crate::format;
use crate::paint::{Look, Paint, harmless, shorten, title, wrap};
use crate::problems::{self, Totals};
use crate::run::Run;
use crate::table::{Cell, Side, Table};
use crate::words;

/// Runs the command.
pub(crate) fn run(args: &InfoArgs) -> anyhow::Result<ExitCode> {
    let run = Run::open(&args.run)?;
    let info = Info::read(&run)?;
    let mut out = io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &info).map_err(io::Error::from)?;
        writeln!(out)?;
    } else if args.estimate {
        print_estimate(&info, &mut out)?;
    } else {
        Page { run: &run, info: &info }.print(&mut out, Paint::for_stdout())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How many samples there are, and what each stands for.
fn samples(info: &Info) -> String {
    let Some(each) = info.sampled_ns.checked_div(info.samples) else { return "none".to_owned() };
    let each = format::duration(Nanos(i64::try_from(each).unwrap_or(i64::MAX)));
    format!("{}, one in {each} of processor time", format::count(info.samples))
}

/// How much was allocated.
fn heap(info: &Info) -> String {
    match info.heap_blocks {
        0 => "none".to_owned(),
        blocks => format!("{}, {} in all", format::counted(blocks, "block"), format::bytes(info.heap_bytes)),
    }
}

/// What the command prints as JSON. Names and units are an interface.
#[derive(Debug, Serialize)]
struct Info {
    version: String,
    schema: u32,
    duration_ns: i64,
    processes: usize,
    locations: usize,
    intervals: u64,
    messages: u64,
    events: u64,
    samples: u64,
    sampled_ns: u64,
    heap_blocks: u64,
    heap_bytes: u64,
    levels: Vec<String>,
    problems: Totals,
    overhead: Overhead,
    clocks: Vec<Clock>,
    causal_shifts: CausalShifts,
    corrections: Corrected,
    ended_early: Vec<Ending>,
    summed: Summed,
    /// Rules that fit no region of the run.
    idle_rules: Vec<String>,
    trace: FullTrace,
    /// What was only counted to keep within the budget.
    reduced: Governed,
}

/// How large a trace is in which everything is kept.
#[derive(Clone, Copy, Debug, Serialize)]
struct FullTrace {
    /// Records of all processes.
    spool_bytes: u64,
    /// Those of the process that has most.
    largest_process_bytes: u64,
    /// The least limit at which surely nothing is only added up, MiB for each process.
    needed_mb: u64,
}

/// What was only added up, for want of room or because that was asked for.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Summed {
    /// Since when, on the location where it began first; `null` if everything is there.
    since_ns: Option<u64>,
    /// Locations of which something was.
    locations: u64,
    /// Visits.
    visits: u64,
    /// Messages, counted where they were sent.
    messages: u64,
    /// Halves of messages that are alone because whoever has the other half only counted it.
    half_messages: u64,
    /// Visits besides that were only counted or timed because rules said so.
    visits_by_rules: u64,
}

/// What recording cost.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Overhead {
    /// Share of the time of all locations.
    pub(crate) fraction: f64,
    /// Time that recording one event took, over events of all kinds.
    pub(crate) ns_per_event: f64,
    /// Time by which recording lengthened a call of MPI; 0 where no call was sampled.
    pub(crate) ns_per_call: f64,
}

/// Messages for which clocks were moved within their bars.
#[derive(Debug, Serialize)]
struct CausalShifts {
    messages: u64,
    /// By how much they ran backwards before.
    sum_ns: u64,
    max_ns: u64,
}

/// What is added to times as the run is read.
#[derive(Debug, Serialize)]
struct Corrected {
    offsets: Vec<Offset>,
    /// Processes whose clocks were fitted again after the merge.
    refitted: Vec<u32>,
}

/// What the user has added to the times of a process.
#[derive(Debug, Serialize)]
struct Offset {
    process: u32,
    offset_ns: i64,
}

/// How the clock of a process was fitted.
#[derive(Debug, Serialize)]
struct Clock {
    process: u32,
    offset_ns: i64,
    drift_ppm: f64,
    uncertainty_ns: i64,
}

impl Info {
    fn read(run: &Run) -> anyhow::Result<Self> {
        let (archive, trace) = (&run.archive, &run.trace);
        let meta = archive.meta();
        Ok(Self {
            version: meta.marey.clone(),
            schema: meta.schema,
            duration_ns: meta.run.duration_ns,
            processes: trace.processes().len(),
            locations: trace.locations().len(),
            intervals: count(meta, "intervals"),
            messages: count(meta, "messages"),
            events: count(meta, "events"),
            samples: count(meta, "samples"),
            sampled_ns: count(meta, "sampled_time_ns"),
            heap_blocks: count(meta, "heap_blocks"),
            heap_bytes: count(meta, "heap_bytes"),
            levels: levels(archive)?,
            problems: problems::totals(trace),
            overhead: overhead(archive)?,
            clocks: clocks(archive)?,
            causal_shifts: causal_shifts(meta),
            corrections: corrected(archive),
            ended_early: endings::json(trace),
            summed: summed(meta),
            idle_rules: idle_rules(archive)?,
            trace: full_trace(archive, trace)?,
            reduced: budget::read(archive, trace)?,
        })
    }
}

fn full_trace(archive: &Archive, trace: &dyn Trace) -> anyhow::Result<FullTrace> {
    let processes = archive.table("processes").context("cannot read the table of processes")?;
    let bytes = processes.i64("record_bytes")?.iter().map(|&bytes| bytes.max(0).cast_unsigned());
    let mut threads = vec![0; processes.len()];
    for place in trace.locations().iter().filter(|place| place.kind == LocationKind::Thread) {
        if let Some(threads) = threads.get_mut(place.process.idx()) {
            *threads += 1;
        }
    }
    let has_rules = summed(archive.meta()).visits_by_rules > 0;
    let needed = bytes.clone().zip(threads).map(|(bytes, threads)| file_bytes(bytes, threads, has_rules));
    Ok(FullTrace {
        spool_bytes: bytes.clone().sum(),
        largest_process_bytes: bytes.max().unwrap_or(0),
        // Two runs are never quite the same.
        needed_mb: needed.max().unwrap_or(0).div_ceil(1 << 20) + 1,
    })
}

/// At most how large the file of a process becomes whose threads record so many bytes: the limit is one of files.
fn file_bytes(records: u64, threads: u64, has_rules: bool) -> u64 {
    const KIB: u64 = 1 << 10;
    // A head, what is kept free at the end, and regions that are open.
    let windows = records / (64 * KIB) + 8 * threads;
    // A thread's last window may be empty, and is no longer than what was before it.
    let unused = (256 * KIB * threads).min(records + 8 * KIB * threads);
    // Threads that have recorded 128 KiB have room for their sums reserved.
    let prepared = 72 * KIB * threads.min(records / (128 * KIB));
    // Sums beside events, at most.
    let beside = if has_rules { 4 * KIB * KIB * threads } else { 0 };
    records.saturating_add(2 * KIB * windows + unused + prepared + beside)
}

/// The answer to `--estimate`.
fn print_estimate(info: &Info, out: &mut dyn Write) -> io::Result<()> {
    let FullTrace { spool_bytes, largest_process_bytes, needed_mb } = info.trace;
    if spool_bytes == 0 {
        return writeln!(out, "This run does not say how much was recorded.");
    }
    writeln!(
        out,
        "A trace of everything takes {} of events, at most {} in one process.\n\
         `marey record --max-mb {needed_mb}` keeps all of it; the default is 256.",
        format::bytes(spool_bytes),
        format::bytes(largest_process_bytes),
    )
}

/// What was only added up.
fn summed(meta: &Meta) -> Summed {
    let total = |name: &str| meta.counts.get(name).copied().unwrap_or(0);
    let locations = total("summed_locations");
    Summed {
        since_ns: (locations > 0).then(|| total("summed_since_ns")),
        locations,
        visits: total("summed_visits"),
        messages: total("summed_messages"),
        half_messages: total("half_counted_messages"),
        visits_by_rules: total("beside_visits"),
    }
}

/// Since when some threads have only sums; none if all have their events to the end.
pub(crate) fn summed_since(archive: &Archive) -> Option<Nanos> {
    archive.meta().summed_since_ns().map(Nanos)
}

/// Of a profile without times, what it is; in words.
pub(crate) fn without_times(meta: &Meta) -> Option<String> {
    let from = if meta.run.imported_from.is_empty() { "a profile" } else { &meta.run.imported_from };
    meta.run.without_times.then(|| format!("{from}, which says how long and not when"))
}

/// In words, if there is something.
pub(crate) fn only_sums(meta: &Meta) -> Option<String> {
    let Summed { since_ns, locations, visits, messages, .. } = summed(meta);
    let since = Nanos(i64::try_from(since_ns?).unwrap_or(i64::MAX));
    let all = meta.rows("locations");
    let from = format::solid(format!("from {} on", format::duration(since)));
    Some(format!(
        "{} and {}{} are only known as sums, on {}",
        format::solid(format::counted(visits, "visit")),
        format::solid(format::counted(messages, "message")),
        if since == Nanos(0) { String::new() } else { format!(" {from}") },
        format::solid(format!("{locations} of {}", format::counted(all, "location"))),
    ))
}

/// Of how many messages only one half is there, in words, if there are some.
pub(crate) fn half_messages(meta: &Meta) -> Option<String> {
    let halves = summed(meta).half_messages;
    (halves > 0).then(|| {
        let halves = format::solid(format::counted(halves, "message"));
        format!("of {halves} only one side is there, the other was only counted")
    })
}

/// Rules that are named; the archive's `meta.json` has all.
const MAX_RULES: usize = 5;

/// What was only counted or timed because rules said so, in words.
pub(crate) fn by_rules(meta: &Meta, idle: &[String]) -> Option<String> {
    let visits = summed(meta).visits_by_rules;
    let rules = &meta.run.rules;
    (!rules.is_empty()).then(|| {
        let shown = rules.iter().take(MAX_RULES).cloned().collect::<Vec<_>>().join(", ");
        format!(
            "{} only counted or timed, as {} said: {shown}{}{}",
            format::solid(format!("{} were", format::counted(visits, "visit"))),
            format::solid(format::counted(rules.len() as u64, "rule")),
            if rules.len() > MAX_RULES { " …" } else { "" },
            without_regions(idle).map(|told| format!("; {told}")).unwrap_or_default(),
        )
    })
}

/// That rules fitted nothing, in words, if some did not.
pub(crate) fn without_regions(idle: &[String]) -> Option<String> {
    let (first, others) = idle.split_first()?;
    let more = match others.len() as u64 {
        0 => String::new(),
        more => format!(" and of {}", format::counted_as(more, "other rule", "other rules")),
    };
    Some(format!("no region is as the pattern of `{first}`{more} says"))
}

/// Rules that fit no region of the run, so that they may have been mistyped. None where regions were more than
/// are told apart.
pub(crate) fn idle_rules(archive: &Archive) -> anyhow::Result<Vec<String>> {
    let rules = &archive.meta().run.rules;
    // Those of older recorders may be none to us.
    let Ok(rules) = Rules::parse(&rules.join("\n")) else { return Ok(Vec::new()) };
    if rules.is_empty() {
        return Ok(Vec::new());
    }
    let regions = archive.table("regions").context("cannot read the table of regions")?;
    let (levels, files) = (regions.text("level")?, regions.text("file")?);
    let (verbs, nouns) = (regions.text("verb")?, regions.text("noun")?);
    if verbs.iter().any(|verb| verb == "(other regions)") {
        return Ok(Vec::new());
    }
    let region = |row: usize| {
        let level = &levels[row];
        let name = if level == Level::SOURCE { &nouns[row] } else { &verbs[row] };
        (level.as_str(), name.as_str(), files[row].as_str())
    };
    Ok(rules.idle(&(0..regions.len()).map(region).collect::<Vec<_>>()))
}

/// A total of the run; where the merge gave none, the rows that are there.
fn count(meta: &Meta, name: &str) -> u64 {
    meta.counts.get(name).copied().unwrap_or_else(|| meta.rows(name))
}

fn levels(archive: &Archive) -> anyhow::Result<Vec<String>> {
    let table = archive.table("levels").context("cannot read the table of levels")?;
    Ok(table.text("name")?.iter().map(|name| harmless(name)).collect())
}

/// What recording cost, as the recorders measured it themselves.
pub(crate) fn overhead(archive: &Archive) -> anyhow::Result<Overhead> {
    let locations = archive.table("locations").context("cannot read the table of locations")?;
    let spans = locations.i64("start")?.iter().zip(locations.i64("end")?);
    let times = spans.map(|(start, end)| end.saturating_sub(*start).max(0));
    let whole = times.fold(0, i64::saturating_add);
    let total = |name: &str| archive.meta().counts.get(name).copied().unwrap_or(0);
    Ok(Overhead {
        fraction: ratio(total("overhead_ns"), whole.cast_unsigned()),
        ns_per_event: ratio(total("overhead_ns").saturating_sub(total("counting_ns")), total("recorded")),
        ns_per_call: ratio(total("sampled_ns"), total("sampled_calls")),
    })
}

#[expect(clippy::cast_precision_loss, reason = "an estimate to begin with")]
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn causal_shifts(meta: &Meta) -> CausalShifts {
    let total = |name: &str| meta.counts.get(name).copied().unwrap_or(0);
    CausalShifts {
        messages: total("causal_shifts"),
        sum_ns: total("causal_shift_sum_ns"),
        max_ns: total("causal_shift_max_ns"),
    }
}

fn corrected(archive: &Archive) -> Corrected {
    let corrections = archive.corrections();
    let offsets = corrections.offsets.iter();
    let mut refitted: Vec<u32> = corrections.fits.iter().flat_map(|fit| fit.processes.clone()).collect();
    refitted.sort_unstable();
    let offset = |(&process, &offset_ns): (&u32, &i64)| Offset { process, offset_ns };
    Corrected { offsets: offsets.map(offset).collect(), refitted }
}

fn clocks(archive: &Archive) -> anyhow::Result<Vec<Clock>> {
    let table = archive.table("clocks").context("cannot read the table of clocks")?;
    let (process, offset_ns) = (table.u32("process")?, table.i64("offset_ns")?);
    let (drift_ppm, uncertainty_ns) = (table.f64("drift_ppm")?, table.i64("uncertainty_ns")?);
    let row = |row: usize| Clock {
        process: process[row],
        offset_ns: offset_ns[row],
        drift_ppm: drift_ppm[row],
        uncertainty_ns: uncertainty_ns[row],
    };
    Ok((0..table.len()).map(row).collect())
}

/// Rows of a table at most: more than that nobody reads, and the JSON has them all.
const MAX_ROWS: usize = 64;

/// The same for people.
struct Page<'a> {
    run: &'a Run,
    info: &'a Info,
}

impl Page<'_> {
    fn print(&self, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
        writeln!(out, "{}", paint.paint(Look::Title, &self.run.name))?;
        self.facts().print(out, paint)?;
        title(out, paint, "RECORDED", "")?;
        self.amounts().print(out, paint)?;
        title(out, paint, "PROCESSES", "")?;
        self.processes().print(out, paint)?;
        endings::print(out, paint, &self.run.trace)?;
        title(out, paint, "CLOCKS", "offset and drift are corrected; what may remain is the uncertainty")?;
        self.clocks().print(out, paint)?;
        self.shifts(out, paint)?;
        applied::print(out, paint, self.run.archive.corrections())?;
        problems::print(out, paint, &self.run.trace)
    }

    fn facts(&self) -> Table {
        let meta = self.run.archive.meta();
        let facts = &meta.run;
        let mut table = Table::new(&[("", Side::Left), ("", Side::Left)]);
        let mut fact = |name: &str, value: String| {
            if !value.is_empty() {
                table.row([Cell::new(Look::Faint, name), harmless(&value).into()]);
            }
        };
        fact("title", facts.title.clone());
        fact("memo", facts.memo.clone());
        fact("command", facts.command.join(" "));
        fact("started", format::date(facts.start_realtime_ns));
        fact("duration", format::duration(Nanos(facts.duration_ns)));
        fact("hosts", facts.hosts.join(", "));
        fact("launcher", facts.launcher.clone());
        fact("MPI", facts.mpi_library.clone());
        fact("git commit", facts.git_commit.clone());
        let marey = format!("marey {}", meta.marey);
        match facts.imported_from.as_str() {
            "" => fact("recorded by", marey),
            format => fact("imported", format!("from {format}, by {marey}")),
        }
        table
    }

    fn amounts(&self) -> Table {
        let info = self.info;
        let bytes = self.run.archive.meta().tables.values().flatten().map(|part| part.bytes).sum();
        let mut table = Table::new(&[("", Side::Left), ("", Side::Left)]);
        let mut amount = |name: &str, value: String| table.row([Cell::new(Look::Faint, name), value.into()]);
        amount("intervals", format::count(info.intervals));
        amount("messages", format::count(info.messages));
        amount("events", format::count(info.events));
        amount("samples", samples(info));
        amount("memory", heap(info));
        amount("levels", info.levels.join(", "));
        let meta = self.run.archive.meta();
        let sums = without_times(meta).map(|_| "sums; when anything was done is not known".to_owned());
        amount("detail", sums.or_else(|| only_sums(meta)).unwrap_or_else(|| "all".to_owned()));
        if let Some(halves) = half_messages(self.run.archive.meta()) {
            amount("halves", halves);
        }
        if let Some(rules) = by_rules(self.run.archive.meta(), &info.idle_rules) {
            amount("filter", harmless(&rules));
        }
        if let Some(reduced) = info.reduced.in_words(info.overhead) {
            amount("budget", reduced);
        }
        amount("size", format::bytes(bytes));
        amount("cost", cost(info.overhead, &self.run.archive.meta().run));
        table
    }

    fn processes(&self) -> Table {
        let columns = [
            ("process", Side::Right),
            ("world", Side::Right),
            ("rank", Side::Right),
            ("host", Side::Left),
            ("pid", Side::Right),
            ("threads", Side::Right),
            ("locations", Side::Left),
            ("time", Side::Right),
            ("ended", Side::Left),
        ];
        let mut table = Table::new(&columns).can_spare(&["world", "pid", "host", "threads", "locations"]);
        let trace = &self.run.trace;
        let mut places: Vec<Vec<usize>> = vec![Vec::new(); trace.processes().len()];
        for (idx, place) in trace.locations().iter().enumerate() {
            if let Some(places) = places.get_mut(place.process.idx()) {
                places.push(idx);
            }
        }
        for (id, process) in trace.processes().iter().enumerate().take(MAX_ROWS) {
            let places = places.get(id).map_or(&[][..], Vec::as_slice);
            let is_thread = |&&place: &&usize| trace.locations()[place].kind == LocationKind::Thread;
            let threads = places.iter().filter(is_thread).count();
            table.row([
                id.to_string().into(),
                process.world.to_string().into(),
                process.rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string()).into(),
                shorten(&harmless(&process.host), 16).into(),
                process.pid.to_string().into(),
                threads.to_string().into(),
                ranges(places).into(),
                format::duration(process.end - process.start).into(),
                words::outcome(&process.outcome, process.exit_code).into(),
            ]);
        }
        table
    }

    /// For which messages clocks were moved.
    fn shifts(&self, out: &mut dyn Write, paint: Paint) -> io::Result<()> {
        let CausalShifts { messages, sum_ns, max_ns } = self.info.causal_shifts;
        if messages == 0 {
            return Ok(());
        }
        let [sum, most] =
            [sum_ns, max_ns].map(|ns| format::duration(Nanos(i64::try_from(ns).unwrap_or(i64::MAX))));
        let messages = format::counted(messages, "message");
        let text = format!(
            "Clocks were moved within their uncertainty for {messages} that would run backwards otherwise, by {sum} \
             in all and {most} at most."
        );
        writeln!(out)?;
        for line in wrap(&text, paint.prose_width() - 2) {
            writeln!(out, "  {}", paint.paint(Look::Faint, &line))?;
        }
        Ok(())
    }

    fn clocks(&self) -> Table {
        let columns = [
            ("process", Side::Right),
            ("offset", Side::Right),
            ("drift", Side::Right),
            ("uncertainty", Side::Right),
        ];
        let mut table = Table::new(&columns).can_spare(&["drift"]);
        for clock in self.info.clocks.iter().take(MAX_ROWS) {
            let uncertainty = match clock.uncertainty_ns {
                ns if ns < 0 => "unknown".to_owned(),
                ns => format::duration(Nanos(ns)),
            };
            table.row([
                clock.process.to_string().into(),
                format::duration(Nanos(clock.offset_ns)).into(),
                format!("{:.3} ppm", clock.drift_ppm).into(),
                uncertainty.into(),
            ]);
        }
        table
    }
}

/// Ascending numbers in short: `0-3, 7`.
fn ranges(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let text = |run: &[usize]| match run {
        [first, .., last] => format!("{first}-{last}"),
        one => one.iter().map(usize::to_string).collect(),
    };
    runs.map(text).collect::<Vec<_>>().join(", ")
}

/// What recording cost, in words.
pub(crate) fn cost(overhead: Overhead, run: &RunFacts) -> String {
    if !run.imported_from.is_empty() {
        return "not known: another tool has recorded it".to_owned();
    }
    if overhead.ns_per_event <= 0.0 {
        return "not known: too little was recorded".to_owned();
    }
    let percent = overhead.fraction * 100.0;
    // Two digits that count: a cost of 0.00 % would look like a claim.
    let decimals = if percent < 0.001 {
        5
    } else if percent < 0.1 {
        3
    } else {
        2
    };
    let call = match overhead.ns_per_call {
        ns if ns > 0.0 => format!("{ns:.1} ns a call of MPI, "),
        _ => String::new(),
    };
    let event = overhead.ns_per_event;
    format!("{call}{event:.1} ns an event on average, {percent:.decimals$} % of the time of all threads")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_a_row_are_one_range() {
        for (numbers, expected) in [(&[][..], ""), (&[4], "4"), (&[0, 1, 2, 7, 9, 10], "0-2, 7, 9-10")] {
            assert_eq!(ranges(numbers), expected);
        }
    }
}
