//! What the numbers of a log mean: its header.
//!
//! The one idea: header lines may come in any order, and some writers put them among the others; each holds from where it
//! stands.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::line::{Line, Time};
use crate::Fate::{self, Ignored, Mapped};
use crate::spool::Region;
use crate::{mpe, mpi};

/// A kind of header line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub event: i64,
    name: &'static str,
    pub fate: Fate,
    pub becomes: &'static str,
}

impl Kind {
    pub(super) fn named(&self) -> String {
        format!("{} {}", self.event, self.name)
    }
}

const fn kind(event: i64, name: &'static str, fate: Fate, becomes: &'static str) -> Kind {
    Kind { event, name, fate, becomes }
}

/// All kinds.
pub(super) const KINDS: [Kind; 15] = [
    kind(-1, "creator", Mapped, "what recorded it"),
    kind(-2, "number of events", Ignored, "they are counted, and writers count in different ways"),
    kind(-3, "number of processes", Ignored, "those that have events are there"),
    kind(-4, "number of tasks", Ignored, ""),
    kind(-5, "number of event types", Ignored, ""),
    kind(-6, "first time", Ignored, ""),
    kind(-7, "last time", Ignored, ""),
    kind(-8, "number of timer cycles", Mapped, "times, if the timer has run over"),
    kind(-9, "event type", Mapped, "names of events"),
    kind(-10, "format of data", Mapped, "`EntryExit` makes regions; else ignored"),
    kind(-11, "timer roll-over", Mapped, "times, if the timer has run over"),
    kind(-12, "unused", Ignored, ""),
    kind(
        -13,
        "state",
        Mapped,
        "regions: of MPI if the name begins with `MPI_`, or is that of a function that communicates without it (`SEND`) and the log has messages; else functions of the program",
    ),
    kind(-14, "message type", Ignored, "unused"),
    kind(-15, "name of a process", Mapped, "its command"),
];

/// What TAU writes for the format of events that are entries and exits.
const ENTRY_EXIT: &str = "EntryExit";

/// What an event is.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    Start(Region),
    End(Region),
    /// Entered if its data are above 0, left if below.
    Either(String),
    Event(String),
}

/// What a header says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Header {
    pub creator: Option<String>,
    /// Whether there are messages, so states may be functions of MPI by short names.
    has_messages: bool,
    cycles: i64,
    roll_over: i64,
    names: BTreeMap<i64, String>,
    formats: BTreeMap<i64, String>,
    /// States by their first event, and by their last one.
    starts: BTreeMap<i64, Region>,
    ends: BTreeMap<i64, Region>,
    pub commands: BTreeMap<i64, String>,
}

impl Header {
    pub(crate) fn new(has_messages: bool) -> Self {
        Self { has_messages, ..Self::default() }
    }

    pub(crate) fn learn(&mut self, line: &Line) {
        let comment = || line.comment.clone();
        match line.event {
            -1 if !line.comment.is_empty() => self.creator = Some(comment()),
            -8 => self.cycles = line.data,
            -9 => drop(self.names.entry(line.data).or_insert_with(|| name(&line.comment))),
            -10 => drop(self.formats.entry(line.data).or_insert_with(comment)),
            -11 => {
                if let Time::Whole(at) = line.time {
                    self.roll_over = at;
                }
            }
            -13 => {
                let named = if self.has_messages { mpe::short_region } else { mpi::region };
                let region = named(state(&line.comment));
                // Of one start, the first holds.
                if let Entry::Vacant(start) = self.starts.entry(line.task) {
                    start.insert(region.clone());
                    self.ends.entry(line.data).or_insert(region);
                }
            }
            -15 => drop(self.commands.entry(line.process).or_insert_with(comment)),
            _ => {}
        }
    }

    pub(super) fn meaning(&self, event: i64) -> Meaning {
        if let Some(region) = self.starts.get(&event) {
            return Meaning::Start(region.clone());
        }
        if let Some(region) = self.ends.get(&event) {
            return Meaning::End(region.clone());
        }
        let name = self.names.get(&event).cloned().unwrap_or_else(|| format!("event {event}"));
        if self.formats.get(&event).is_some_and(|format| format == ENTRY_EXIT) {
            return Meaning::Either(name);
        }
        Meaning::Event(name)
    }

    /// The time of a line, in ns, if that can be.
    #[expect(clippy::cast_possible_truncation, reason = "the bound is just before")]
    pub(super) fn ns(&self, line: &Line) -> Option<i64> {
        const MOST: f64 = 9.2e18;
        let cycles = if self.cycles > 1 { line.cycle.checked_mul(self.roll_over)? } else { 0 };
        match line.time {
            Time::Whole(time) => time.checked_add(cycles)?.checked_mul(1000),
            Time::Real(time) => {
                let ns = time * 1e3;
                (ns.abs() < MOST).then(|| ns.round() as i64)?.checked_add(cycles.checked_mul(1000)?)
            }
        }
    }
}

/// The name of an event: TAU has it in quotes, functions with empty parentheses, and blanks for the types of arguments.
fn name(comment: &str) -> String {
    let name = comment.trim().trim_matches('"').trim();
    name.strip_suffix("()").unwrap_or(name).to_owned()
}

/// The name of a state behind `colour:bitmap` or `colour`.
fn state(comment: &str) -> &str {
    let (colour, name) = comment.split_once(char::is_whitespace).unwrap_or((comment, ""));
    // A lone word is rather a name than a colour.
    if name.trim().is_empty() { colour.trim_start_matches(':') } else { name.trim() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_their_name_behind_the_colour() {
        assert_eq!(state("green:light_gray SEND"), "SEND");
        assert_eq!(state(": MPI_Allgather"), "MPI_Allgather");
        assert_eq!(state("blue compute  all"), "compute  all");
        assert_eq!(state("alone"), "alone");
    }

    #[test]
    fn names_are_bare() {
        assert_eq!(name("\"MPI_Init()  \""), "MPI_Init");
        assert_eq!(name("plain"), "plain");
    }
}
