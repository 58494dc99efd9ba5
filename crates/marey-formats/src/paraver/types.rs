//! What types of events mean: which are regions, states, counters, or facts about the call that they come with.
//!
//! The one idea: the numbers that Extrae has for what it records are known; of all others the labels of the values decide.
//! If 0 is called an end, other values begin something, and what they begin nests. If values have labels, and 0 has none
//! or another, a value holds until the next one comes, as in all of Paraver's own views.
//!
//! Source of the numbers: the events file of Extrae's documentation, and what its traces hold.

use marey_model::{Level, Role, Tier};

use super::labels::Labels;
use crate::spool::Region;
use crate::{Fate, mpi};

/// What becomes of a type of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    /// A value enters a region, 0 leaves it.
    Region,
    /// A value holds until the next one; 0 is none.
    State,
    /// How much a hardware counter has counted since it was read last.
    Counter,
    /// Something about the call that is entered in the same record.
    Fact,
    /// Where the function of another type in the same record is.
    Place,
    Event,
}

/// Calls of MPI: point-to-point, collective, other, one-sided, files.
const MPI: std::ops::RangeInclusive<i64> = 50_000_001..=50_000_005;
pub(super) const COLLECTIVE: i64 = 50_000_002;
/// Facts about collective calls of MPI.
const OF_COLLECTIVE: std::ops::RangeInclusive<i64> = 50_100_000..=50_199_999;
pub(super) const BYTES_OUT: i64 = 50_100_001;
pub(super) const BYTES_IN: i64 = 50_100_002;
/// Only the root has it.
pub(super) const IS_ROOT: i64 = 50_100_003;
pub(super) const COMMUNICATOR: i64 = 50_100_004;
const COUNTERS: std::ops::RangeInclusive<i64> = 42_000_000..=42_999_999;
const PARALLEL: i64 = 60_000_001;
const FUNCTIONS_OF_OPENMP: [i64; 3] = [60_000_018, 60_000_023, 60_000_024];
const USER_FUNCTION: i64 = 60_000_019;
const THREAD_FUNCTION: i64 = 60_000_020;
/// Where the functions of types are, whose numbers are this much less.
pub(super) const TO_PLACE: i64 = 100;
const PLACES: std::ops::RangeInclusive<i64> = 60_000_100..=60_000_199;
const OPENMP: std::ops::RangeInclusive<i64> = 60_000_000..=60_999_999;
/// Functions that a call came from, level by level, and their lines.
const CALLERS: [std::ops::RangeInclusive<i64>; 2] = [70_000_000..=70_999_999, 80_000_000..=80_999_999];
/// Beginning of the recorder, and writing what it has recorded.
const OF_RECORDER: [i64; 2] = [40_000_002, 40_000_003];
const IO: i64 = 40_000_004;
const CUDA: std::ops::RangeInclusive<i64> = 63_000_000..=63_999_999;
const OPENCL: std::ops::RangeInclusive<i64> = 64_000_000..=64_999_999;

/// Whether 0 is a size, and not that there is none.
pub(super) fn is_size(kind: i64) -> bool {
    kind == BYTES_OUT || kind == BYTES_IN
}

pub(super) fn is_mpi(kind: i64) -> bool {
    MPI.contains(&kind)
}

pub(super) fn meaning(kind: i64, labels: &Labels) -> Meaning {
    if is_mpi(kind) || kind == PARALLEL || FUNCTIONS_OF_OPENMP.contains(&kind) || kind == USER_FUNCTION {
        return Meaning::Region;
    }
    if COUNTERS.contains(&kind) {
        return Meaning::Counter;
    }
    if PLACES.contains(&kind) {
        return Meaning::Place;
    }
    if OF_COLLECTIVE.contains(&kind) || CALLERS.iter().any(|range| range.contains(&kind)) {
        return Meaning::Fact;
    }
    match labels.values(kind) {
        None => Meaning::Event,
        Some(values) if values.get(&0).is_some_and(|label| is_end(label)) => Meaning::Region,
        Some(_) => Meaning::State,
    }
}

impl Meaning {
    pub(super) const fn fate(self) -> Fate {
        match self {
            Self::Region | Self::State | Self::Counter | Self::Place => Fate::Mapped,
            Self::Fact | Self::Event => Fate::Kept,
        }
    }
}

/// Whether a label of 0 says that something ends.
pub(super) fn is_end(label: &str) -> bool {
    let label = label.to_ascii_lowercase();
    let words = ["end", "outside", "leave", "close", "exit"];
    words.iter().any(|word| label.split(|it: char| !it.is_ascii_alphabetic()).next() == Some(word))
}

/// The region that a value enters. `place` is the label of where it is.
pub(super) fn region(labels: &Labels, kind: i64, value: i64, place: Option<&str>) -> Region {
    let label = labels.value(kind, value).map_or_else(|| format!("{kind}:{value}"), str::to_owned);
    let of_type = labels.types.get(&kind).map_or("", |it| it.label.as_str());
    let (file, line) = place.and_then(file_and_line).unwrap_or_default();
    let region = |level: (&'static str, Tier), verb: &str, role, noun: (&'static str, String)| Region {
        level: (level.0.into(), level.1),
        verb: verb.to_owned(),
        role,
        noun: (noun.0.into(), noun.1),
        file,
        line,
    };
    let nothing = ("", String::new());
    if is_mpi(kind) {
        let is_named = label.starts_with("MPI_") || labels.value(kind, value).is_none();
        let name = if is_named { label } else { format!("MPI_{label}") };
        return region((Level::MPI, Tier::Runtime), &name, mpi::role(&name), nothing);
    }
    if kind == PARALLEL {
        let construct = label.trim_end_matches(" (open)").to_ascii_lowercase();
        return region((Level::OPENMP, Tier::Model), "parallel", Role::Work, ("construct", construct));
    }
    if FUNCTIONS_OF_OPENMP.contains(&kind) {
        return region((Level::OPENMP, Tier::Model), "execute", Role::Work, ("function", label));
    }
    if kind == THREAD_FUNCTION {
        return region((Level::THREADS, Tier::Runtime), "execute", Role::Work, ("function", label));
    }
    // Of what has no other values, the type has the name.
    let is_plain = matches!(label.to_ascii_lowercase().as_str(), "begin" | "start" | "enter");
    let label = if is_plain && !of_type.is_empty() { of_type.to_owned() } else { label };
    let level = level(kind);
    if level.0 == Level::SOURCE && kind != IO {
        return region(level, "execute", Role::Work, ("function", label));
    }
    region(level, &label, role(kind, &label), nothing)
}

/// The state beside regions that a value begins.
pub(super) fn state_of_type(labels: &Labels, kind: i64, value: i64) -> Region {
    let label = labels.value(kind, value).map_or_else(|| value.to_string(), str::to_owned);
    let of_type = labels.types.get(&kind).map_or_else(|| kind.to_string(), |it| it.label.clone());
    let level = if OPENMP.contains(&kind) { (Level::OPENMP, Tier::Model) } else { PARAVER };
    state(level, label, of_type)
}

/// The state of a record of states.
pub(super) fn state_of_thread(labels: &Labels, number: i64) -> Region {
    let label = labels.states.get(&number).map_or_else(|| format!("state {number}"), Clone::clone);
    state(PARAVER, label, String::new())
}

const PARAVER: (&str, Tier) = ("paraver", Tier::Node);

fn state((level, tier): (&'static str, Tier), verb: String, of: String) -> Region {
    let noun = if of.is_empty() { "" } else { "state" };
    // Work is what regions say; a state beside them would be counted twice.
    Region {
        level: (level.into(), tier),
        verb,
        role: Role::Manage,
        noun: (noun.into(), of),
        file: String::new(),
        line: 0,
    }
}

fn level(kind: i64) -> (&'static str, Tier) {
    if OF_RECORDER.contains(&kind) {
        return ("measurement", Tier::Node);
    }
    if OPENMP.contains(&kind) && kind != USER_FUNCTION {
        return (Level::OPENMP, Tier::Model);
    }
    if CUDA.contains(&kind) {
        return ("cuda", Tier::Model);
    }
    if OPENCL.contains(&kind) {
        return ("opencl", Tier::Model);
    }
    (Level::SOURCE, Tier::Source)
}

/// What a call does, as far as its name says.
fn role(kind: i64, label: &str) -> Role {
    if kind == IO {
        return Role::Io;
    }
    let label = label.to_ascii_lowercase();
    let roles = [
        ("barrier", Role::Barrier),
        ("lock", Role::Acquire),
        ("critical", Role::Acquire),
        ("wait", Role::Wait),
        ("join", Role::Wait),
        ("memcpy", Role::Transfer),
        ("synchronize", Role::Wait),
        ("initialization", Role::Manage),
        ("flush", Role::Manage),
    ];
    roles.iter().find(|(word, _)| label.contains(word)).map_or(Role::Work, |it| it.1)
}

/// `LINE (FILE, OBJECT)`, as Extrae writes it.
fn file_and_line(label: &str) -> Option<(String, u32)> {
    let (line, rest) = label.split_once(" (")?;
    let (file, _) = rest.strip_suffix(')')?.split_once(", ")?;
    let line = line.parse().ok().filter(|line| *line > 0)?;
    Some((file.to_owned(), line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_known_by_their_labels() {
        for end in ["End", "Outside MPI", "close", "Leave", "exit"] {
            assert!(is_end(end), "{end}");
        }
        for other in ["Endless loop?", "Unlocked status", "Idle", ""] {
            assert_eq!(is_end(other), other.starts_with("End "), "{other}");
        }
    }

    #[test]
    fn places_are_files_with_lines() {
        assert_eq!(file_and_line("92 (pixel.h, lib.so)"), Some(("pixel.h".to_owned(), 92)));
        assert_eq!(file_and_line("0 (Unresolved)"), None);
        assert_eq!(file_and_line("0 (a, b)"), None);
    }
}
