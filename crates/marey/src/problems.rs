//! What was lost, cut short or uncertain in a run.
//!
//! The one idea: the archive lists problems by kind as data; the kinds that other programs rely on
//! have a field each in the JSON, all others are still shown.

use std::io::{self, Write};

use marey_analyze::{Problem, Trace};
use serde::Serialize;

use crate::exit::say;
use crate::format::{self, solid};
use crate::paint::{Look, Paint, harmless, shorten, title, wrap};
use crate::table::{self, Cell, Side, Table};
use crate::words;

/// The sums that other programs rely on; the names are an interface.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Totals {
    /// Windows of the recording that are missing, and threads of which all are.
    lost: u64,
    /// Processes that are not recorded; events or threads of those of which a file is missing.
    missing: u64,
    /// Events that could not be recorded.
    dropped: u64,
    /// Sends without their receive.
    unmatched_sends: u64,
    /// Receives without their send.
    unmatched_receives: u64,
    /// Messages that could be paired in several ways.
    ambiguous: u64,
    /// Channels on which messages were not counted.
    unmatchable_channels: u64,
    /// Messages received before they were sent.
    clock_violations: u64,
    /// Regions that were closed because records are missing.
    truncated: u64,
}

/// The sums by kind.
pub(crate) fn totals(trace: &dyn Trace) -> Totals {
    let sum = |kind: &str| count(trace, kind);
    Totals {
        lost: sum("lost"),
        missing: sum("missing"),
        dropped: sum("dropped"),
        unmatched_sends: sum("unmatched_sends"),
        unmatched_receives: sum("unmatched_receives"),
        ambiguous: sum("ambiguous"),
        unmatchable_channels: sum("unmatchable_channels"),
        clock_violations: sum("clock_violations"),
        truncated: sum("truncated"),
    }
}

/// How often a kind of problem is there.
pub(crate) fn count(trace: &dyn Trace, kind: &str) -> u64 {
    let of_kind = trace.problems().iter().filter(|problem| problem.kind == kind);
    of_kind.map(|problem| problem.count).fold(0, u64::saturating_add)
}

/// What is said of a kind of problem, each thing once.
pub(crate) fn details<'t>(trace: &'t dyn Trace, kind: &str) -> Vec<&'t str> {
    let mut seen = Vec::new();
    for problem in trace.problems().iter().filter(|problem| problem.kind == kind && problem.count > 0) {
        if !seen.contains(&problem.detail.as_str()) {
            seen.push(&problem.detail);
        }
    }
    seen
}

/// What is missing, so that numbers that lack a part of the run are not read as if they had it; `None` = nothing.
pub(crate) fn incomplete(trace: &dyn Trace) -> Option<String> {
    let is_gone = ["lost", "damaged", "missing"].iter().any(|kind| count(trace, kind) > 0);
    let missing = match count(trace, "dropped") {
        0 if !is_gone => return None,
        0 => "parts of the recording are gone".to_owned(),
        dropped => solid(format::counted_as(dropped, "event had no room", "events had no room")),
    };
    Some(format!("Not all of the run was recorded: {missing}. All numbers are of the rest"))
}

/// Says so beside what a command prints.
pub(crate) fn warn(trace: &dyn Trace) {
    if let Some(text) = incomplete(trace) {
        say(&format!("warning: {text}; `marey info` says more"));
    }
}

/// Rows of the table at most; a run of thousands of ranks may have one for each.
const MAX_ROWS: usize = 30;

/// The section on problems, which is never left out.
pub(crate) fn print(out: &mut dyn Write, paint: Paint, trace: &dyn Trace) -> io::Result<()> {
    title(out, paint, "PROBLEMS", "what was lost, cut short or is uncertain")?;
    // A kind that is listed with a count of zero says that all is well.
    let problems: Vec<&Problem> = trace.problems().iter().filter(|problem| problem.count > 0).collect();
    if problems.is_empty() {
        return writeln!(out, "  {}", paint.paint(Look::Good, "none"));
    }
    let columns = [("kind", Side::Left), ("count", Side::Right), ("where", Side::Left), ("", Side::Left)];
    let mut table = Table::new(&columns);
    for problem in problems.iter().take(MAX_ROWS) {
        table.row([
            Cell::new(Look::Alarm, harmless(&problem.kind).replace('_', " ")),
            format::count(problem.count).into(),
            place(trace, problem).into(),
            shorten(&harmless(&problem.detail), 60).into(),
        ]);
    }
    table.print(out, paint)?;
    table::more(out, paint, problems.len().saturating_sub(MAX_ROWS), "row", "rows")?;
    let mut kinds: Vec<&str> = Vec::new();
    for problem in problems.iter().filter(|problem| MEANINGS.iter().any(|(kind, _)| *kind == problem.kind)) {
        if !kinds.contains(&problem.kind.as_str()) {
            kinds.push(&problem.kind);
        }
    }
    if !kinds.is_empty() {
        writeln!(out)?;
    }
    for (kind, meaning) in kinds.iter().filter_map(|known| MEANINGS.iter().find(|(kind, _)| kind == known)) {
        let text = format!("{}: {meaning}", kind.replace('_', " "));
        for (place, line) in wrap(&text, paint.prose_width() - 4).iter().enumerate() {
            let margin = if place == 0 { "  " } else { "    " };
            writeln!(out, "{margin}{}", paint.paint(Look::Faint, line))?;
        }
    }
    Ok(())
}

/// What a kind of problem means for who reads the numbers, and what can be done about it.
const MEANINGS: [(&str, &str); 34] = [
    ("lost", "parts of the recording are gone, and all that stood in them. Were files of it removed or cut?"),
    (
        "missing",
        "processes that are not recorded, or of which a file of the recording (.definitions or .events) is \
         missing or empty. Their time in MPI is not known, and they are left out where ranks are compared. \
         Was the file removed?",
    ),
    (
        "dropped",
        "events for which there was no room, or that are of more kinds, regions or lanes than are told apart. Without room, \
         what a thread did from there on is not in counts and times: give more with --max-mb, or record to a disk with more \
         space (--spool DIR).",
    ),
    ("damaged", "bytes of the recording that make no sense; what stood there is left out."),
    (
        "other_api",
        "code that was compiled with the marey.h, Fortran module or crate of another version of marey: its regions \
         and events are not recorded. Compile it anew with those of this one.",
    ),
    (
        "truncated",
        "regions whose end stands in records that are missing; they are taken to end at the last instant \
         that is known.",
    ),
    (
        "untimed",
        "visits at a depth at which the recorder only counts, or on lanes where it only adds up, or inside a \
         visit of the same region where there were thousands of call paths. They are among the calls, and have \
         no times and no intervals.",
    ),
    (
        "reduced",
        "visits of regions that the program enters so often that recording each took more of the processor time than \
         the budget. Their number is exact, their time known from visits that were timed at random; they have no \
         intervals. Record each with --budget off, or leave them out with --rule 'off NAME'.",
    ),
    (
        "other_paths",
        "visits of call paths that came after the 8 190 things for which a thread keeps sums, or whose outer part is \
         lost. They are together in `(other paths)` or beneath it, and missing where they belong.",
    ),
    (
        "other_messages",
        "messages of channels that came after the 8 190 things for which a thread keeps sums. They are missing in who \
         sent how much to whom.",
    ),
    (
        "other_sizes",
        "operations of call paths that came after those for whose sizes a thread has room. They are missing in \
         `sizes`; what they moved is in `bytes`.",
    ),
    (
        "negative",
        "call paths from whose own time more was taken for visits that were only timed than there was; it is shown as \
         none. An error of marey's: please report it.",
    ),
    ("late_ticks", "the clock of a processor ran backwards; these readings were set to the one before."),
    (
        "unmatched_sends",
        "messages that nobody is known to have received. Usual where a process was killed or events were dropped; else the program \
         left them behind.",
    ),
    (
        "unmatched_receives",
        "receives of messages that nobody is known to have sent, perhaps a process that is not measured.",
    ),
    (
        "ambiguous",
        "several threads sent or received at the same time with the same sender, receiver, communicator and \
         tag, and sizes that do not tell the messages apart. Which send belongs to which receive is not \
         known, so these messages are not among the pairs; times and calls are not affected. A tag or \
         communicator for each thread makes them certain.",
    ),
    (
        "unmatchable_channels",
        "pairs of sender and receiver of which some messages were not counted; from there on sends and \
         receives are shown without their other half.",
    ),
    (
        "clock_violations",
        "messages that seem to be received before they are sent: the clocks differ by more than could be \
         corrected. Compare times of different nodes with care; `marey info` shows the uncertainty.",
    ),
    (
        "causal_shifts",
        "messages that seemed to be received before they were sent, by less than their clocks are uncertain. These \
         clocks were moved so that they are not; all that a clock counts was moved alike, and the uncertainty \
         says so.",
    ),
    (
        "unmatched_begins",
        "states that the program began and did not end; they last until the end of the run.",
    ),
    ("unmatched_ends", "states that the program ended without having begun them; they are left out."),
    ("orphans", "completions of operations whose begin is not in the recording; they are left out."),
    ("unknown", "definitions that this version of marey does not know. Was the run recorded by a later one?"),
    (
        "unsampled",
        "threads or processes of which no samples were taken, or no more from some time on, so `marey hot` and the call tree lack their functions; \
         regions and calls are not affected.",
    ),
    (
        "uncounted",
        "counters that could not be had, so COUNTERS lacks them; `marey doctor` says whether this machine has any.",
    ),
    (
        "lost_samples",
        "periods of processor time for which there was no room. Shares of functions are of the rest.",
    ),
    (
        "lost_counts",
        "readings of counters for whose call paths there was no room; what they counted stands outside of all regions. \
         Fewer counters or fewer instrumented functions need less of it.",
    ),
    (
        "missed_calls",
        "calls of the C library that a signal handler made while the recorder was at work; they are missing in FILES and \
         WAITING.",
    ),
    (
        "no_heap",
        "processes of which the heap is not recorded; the most that they had in memory, and all else, is. What a program \
         with an allocator of its own allocates can be recorded if it runs with the C library's.",
    ),
    (
        "lost_blocks",
        "blocks of memory for which there was no room, or that a signal handler asked for while the recorder was at work; \
         they are missing in MEMORY. Fewer are recorded with a larger --heap.",
    ),
    (
        "remarks",
        "records of compilers that are missing, cut, or of another time than the program or its sources; what they say is \
         left out, or may be about other lines. `marey remarks RUN` tells them in full.",
    ),
    ("source_rows", "parts of what the program consists of for which there was no room in the run."),
    (
        "source_code",
        "machine code that --embed-code has not kept, as there was no room for it or it could not be read. `marey source RUN \
         --code NAME` takes it from the program while that is there.",
    ),
    ("symbols", "functions, files or lines that could not be named."),
];

/// Where it happened, in words.
fn place(trace: &dyn Trace, problem: &Problem) -> String {
    match (problem.location, problem.process) {
        (Some(location), _) => words::location(trace, location),
        (None, Some(process)) => words::process(trace, process),
        (None, None) => "run".to_owned(),
    }
}
