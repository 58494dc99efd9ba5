//! What processes, locations and regions are called, and the numbers that formats know them by.
//!
//! Deliberately absent: names that are fit for a terminal: writers give names as they are, in their format's way.

use super::event::Part;
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

/// What a communicator is called.
pub(super) fn communicator(trace: &dyn Trace, id: u32) -> String {
    let known = usize::try_from(id).ok().and_then(|id| trace.communicators().get(id));
    known.map_or_else(|| format!("communicator {id}"), |it| it.name.clone())
}

/// A part in a collective, for formats that have nothing of that kind.
pub(super) fn collective(trace: &dyn Trace, part: &Part) -> String {
    let Part { instance, bytes_out, bytes_in, .. } = part;
    let root = part.root.map_or_else(String::new, |root| format!(", root {root}"));
    let communicator = communicator(trace, part.communicator);
    format!("{communicator}, operation {instance}{root}, bytes out {bytes_out}, in {bytes_in}")
}

/// Fields of an event of the program in one line.
pub(super) fn fields(json: &str) -> String {
    let Ok(serde_json::Value::Object(fields)) = serde_json::from_str(json) else { return json.to_owned() };
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", text(value))).collect();
    fields.join(", ")
}

/// The only field of an event, if that is a whole number.
pub(super) fn only_number(json: &str) -> Option<i64> {
    let serde_json::Value::Object(fields) = serde_json::from_str(json).ok()? else { return None };
    let mut values = fields.values();
    values.next()?.as_i64().filter(|_| values.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_a_line() {
        assert_eq!(fields(r#"{"n":1,"text":"a b","list":[1,2]}"#), "list=[1,2], n=1, text=a b");
        assert_eq!((fields("{}"), only_number("{}")), (String::new(), None));
        assert_eq!(only_number(r#"{"n":1}"#), Some(1));
        assert_eq!(only_number(r#"{"n":1,"m":1}"#), None);
    }
}
