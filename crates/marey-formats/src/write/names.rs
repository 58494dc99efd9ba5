//! What processes, locations and regions are called, and the numbers that formats know them by.
//!
//! Deliberately absent: names that are fit for a terminal: writers give names as they are, in their format's way.

use marey_analyze::{Location, Process, Region, Trace};
use marey_model::{CallPathId, LocationId, RegionId};

/// What a process is called.
pub(super) fn process(process: &Process) -> String {
    match process.rank {
        Some(rank) if process.world == 0 => format!("rank {rank}"),
        Some(rank) => format!("rank {rank} of world {}", process.world),
        None => format!("process {}", process.pid),
    }
}

/// What a location is called.
pub(super) fn location(trace: &dyn Trace, id: LocationId) -> String {
    let Some(location) = trace.locations().get(id.idx()) else { return format!("location {}", id.0) };
    if location.name.is_empty() { format!("thread {}", location.thread.0) } else { location.name.clone() }
}

/// What a location is called among those of all processes.
pub(super) fn location_of_all(trace: &dyn Trace, id: LocationId) -> String {
    let of = trace.locations().get(id.idx()).and_then(|location| process_of(trace, location));
    let name = location(trace, id);
    of.map_or_else(|| name.clone(), |of| format!("{} {name}", process(of)))
}

/// The process of a location.
pub(super) fn process_of<'a>(trace: &'a dyn Trace, location: &Location) -> Option<&'a Process> {
    trace.processes().get(location.process.idx())
}

/// The region of a call path.
pub(super) fn region_of(trace: &dyn Trace, path: CallPathId) -> Option<RegionId> {
    trace.call_paths().get(path.idx()).map(|path| path.region)
}

/// What a region is called.
pub(super) fn region(region: &Region) -> &str {
    let name = region.name();
    if name.is_empty() { "(no name)" } else { name }
}

/// A text in one line: control characters as they are written in sources.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() { line.extend(letter.escape_default()) } else { line.push(letter) }
    }
    line
}

/// `FILE:LINE` of a region; empty if not known.
pub(super) fn place(region: &Region) -> String {
    match (region.file.as_str(), region.line) {
        ("", _) => String::new(),
        (file, 0) => file.to_owned(),
        (file, line) => format!("{file}:{line}"),
    }
}

/// Numbers of processes and threads for formats whose readers take them for those of the operating system: no two are alike,
/// in all of the run.
pub(super) fn numbers(trace: &dyn Trace, location: LocationId) -> (u64, u64) {
    let process = trace.locations().get(location.idx()).map_or(0, |location| location.process.idx());
    (process as u64 + 1, (trace.processes().len() + location.idx()) as u64 + 1)
}
