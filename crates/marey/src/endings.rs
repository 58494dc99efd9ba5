//! Where processes were that did not end well: "killed inside MPI_Recv, called from solve".
//!
//! The one idea: whoever looks at a run that went wrong asks this first, so the first line of the
//! report, a section of `report` and `info` and a field of the JSON all tell it from the same rows.

use std::io::{self, Write};

use marey_analyze::{EarlyEnding, LastPlace, LastSeen, LocationKind, Trace, early_endings};
use marey_model::{CallPathId, Level};
use serde::Serialize;

use crate::format;
use crate::paint::{Look, Paint, harmless, shorten, title};
use crate::table::{Cell, Side, Table};
use crate::words;

/// Rows of the table at most; the JSON has them all.
const MAX_ROWS: usize = 24;

/// The section, which is left out if all processes ended well.
pub(crate) fn print(out: &mut dyn Write, paint: Paint, trace: &dyn Trace) -> io::Result<()> {
    let endings = early_endings(trace);
    if endings.is_empty() {
        return Ok(());
    }
    let remark = "processes that did not end well, and the innermost measured region that each of \
                  their threads was in; those not listed were in none, or over. killed or exec?: it \
                  gave no notice, so it was killed or went on as another program";
    title(out, paint, "ENDED EARLY", remark)?;
    let mut table = Table::new(&[
        ("thread", Side::Left),
        ("ended", Side::Left),
        ("last event", Side::Right),
        ("was in", Side::Left),
        ("since", Side::Right),
        ("called from", Side::Left),
    ])
    .can_spare(&["last event", "since"]);
    let rows: usize = endings.iter().map(|ending| ending.threads.len().max(1)).sum();
    for row in endings.iter().flat_map(|ending| rows_of(trace, ending)).take(MAX_ROWS) {
        table.push(row);
    }
    table.print(out, paint)?;
    match rows.saturating_sub(MAX_ROWS) {
        0 => Ok(()),
        more => {
            let more = format!("… {}", format::counted(more as u64, "more thread"));
            writeln!(out, "  {}", paint.paint(Look::Faint, &more))
        }
    }
}

/// One row a thread; what is said of the process stands in the first.
fn rows_of(trace: &dyn Trace, ending: &EarlyEnding<'_>) -> Vec<Vec<Cell>> {
    let at =
        trace.processes().get(ending.process.idx()).map_or_else(String::new, |it| format::duration(it.end));
    let outcome = || Cell::new(Look::Alarm, words::outcome(ending.outcome, ending.exit_code));
    if ending.threads.is_empty() {
        let name = words::process(trace, ending.process);
        return vec![vec![name.into(), outcome(), at.into(), "(not known)".into(), "".into(), "".into()]];
    }
    let row = |(place, seen): (usize, &LastSeen<'_>)| {
        let (inside, since, caller) = match &seen.place {
            LastPlace::Inside { call_path, path, start } => {
                let name = shorten(&harmless(path.last().unwrap_or(&"")), 32);
                (Cell::new(Look::Strong, name), format::duration(*start), site(trace, *call_path))
            }
            LastPlace::Outside => {
                (Cell::new(Look::Faint, "no measured region"), String::new(), String::new())
            }
            LastPlace::Unknown => {
                (Cell::new(Look::Faint, "(records are missing)"), String::new(), String::new())
            }
        };
        let (ended, at) = if place == 0 { (outcome(), at.clone()) } else { ("".into(), String::new()) };
        vec![
            words::location(trace, seen.location).into(),
            ended,
            at.into(),
            inside,
            since.into(),
            shorten(&caller, 48).into(),
        ]
    };
    ending.threads.iter().enumerate().map(row).collect()
}

/// `solve (x.c:12)`; of a region without a call stack, where it stands in the source.
fn site(trace: &dyn Trace, path: CallPathId) -> String {
    if let Some(frame) = words::caller(trace, path) {
        let place = words::place(&frame.file, frame.line);
        let function = words::function(&frame.function);
        return if place.is_empty() { function } else { format!("{function} ({place})") };
    }
    let region = trace.call_paths().get(path.idx()).and_then(|path| trace.regions().get(path.region.idx()));
    region.map_or_else(String::new, |region| words::place(&region.file, region.line))
}

/// `rank 1 aborted inside MPI_Recv called from solve (x.c:12)`. Of several threads only the first
/// is named: which of them ended the process is not known.
pub(crate) fn sentence(trace: &dyn Trace, ending: &EarlyEnding<'_>) -> String {
    let process = words::process(trace, ending.process);
    let inside = match ending.threads.first().map(|seen| &seen.place) {
        Some(LastPlace::Inside { call_path, .. }) => trace.call_paths().get(call_path.idx()),
        _ => None,
    };
    let region = inside.and_then(|path| trace.regions().get(path.region.idx()));
    // No library of the runtime goes on as another program; a region of the program itself may.
    let outcome = match words::outcome(ending.outcome, ending.exit_code) {
        _ if !words::is_without_notice(ending.outcome) => words::outcome(ending.outcome, ending.exit_code),
        _ if region.is_some_and(|region| region.level == Level::MPI) => "was killed, it seems,".to_owned(),
        _ => "ended without notice (killed, or went on as another program)".to_owned(),
    };
    let threads = trace
        .locations()
        .iter()
        .filter(|location| location.process == ending.process && location.kind == LocationKind::Thread);
    let who = if threads.count() < 2 { "" } else { " with its first thread" };
    let place = match ending.threads.first().map(|seen| &seen.place) {
        Some(LastPlace::Inside { call_path, path, .. }) => {
            let region = shorten(&harmless(path.last().unwrap_or(&"")), 60);
            format!("inside {region}{}", called_from(trace, *call_path))
        }
        Some(LastPlace::Outside) => "outside of measured regions".to_owned(),
        Some(LastPlace::Unknown) | None => return format!("{process} {}", outcome.trim_end_matches(',')),
    };
    format!("{process} {outcome}{who} {place}")
}

fn called_from(trace: &dyn Trace, path: CallPathId) -> String {
    match shorten(&site(trace, path), 80) {
        site if site.is_empty() => site,
        site if words::caller(trace, path).is_some() => format!(" called from {site}"),
        site => format!(" ({site})"),
    }
}

/// The same as JSON. Names and units are an interface.
#[derive(Debug, Serialize)]
pub(crate) struct Ending {
    process: u32,
    world: u32,
    rank: Option<u32>,
    outcome: String,
    exit_code: Option<i64>,
    /// Last sign of life of the process.
    end_ns: i64,
    threads: Vec<Thread>,
}

/// Where a thread was.
#[derive(Debug, Serialize)]
struct Thread {
    location: u32,
    thread: u32,
    /// `inside` a region, `outside` of all, or `unknown`.
    state: &'static str,
    /// Names of the regions, root first.
    path: Vec<String>,
    /// When the innermost region was entered.
    start_ns: Option<i64>,
    function: String,
    file: String,
    line: u32,
}

/// All processes that did not end well.
pub(crate) fn json(trace: &dyn Trace) -> Vec<Ending> {
    let ending = |ending: &EarlyEnding<'_>| {
        let process = trace.processes().get(ending.process.idx())?;
        Some(Ending {
            process: ending.process.0,
            world: process.world,
            rank: process.rank,
            outcome: ending.outcome.to_owned(),
            exit_code: ending.exit_code,
            end_ns: process.end.0,
            threads: ending.threads.iter().map(|seen| thread(trace, seen)).collect(),
        })
    };
    early_endings(trace).iter().filter_map(ending).collect()
}

fn thread(trace: &dyn Trace, seen: &LastSeen<'_>) -> Thread {
    let empty = Thread {
        location: seen.location.0,
        thread: trace.locations().get(seen.location.idx()).map_or(0, |location| location.thread.0),
        state: "unknown",
        path: Vec::new(),
        start_ns: None,
        function: String::new(),
        file: String::new(),
        line: 0,
    };
    match &seen.place {
        LastPlace::Unknown => empty,
        LastPlace::Outside => Thread { state: "outside", ..empty },
        LastPlace::Inside { call_path, path, start } => {
            let frame = words::caller(trace, *call_path).cloned().unwrap_or_default();
            Thread {
                state: "inside",
                path: path.iter().map(|&name| name.to_owned()).collect(),
                start_ns: Some(start.0),
                function: frame.function,
                file: frame.file,
                line: frame.line,
                ..empty
            }
        }
    }
}
