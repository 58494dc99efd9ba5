//! Runs in the formats of other tools.
//!
//! The one idea: a writer is told what there is (regions, processes, locations …), then all events in the order of time, one by
//! one, and writes as it goes. So memory does not grow with the run. Each has a table of what it writes as what, and of what its
//! format cannot hold; what is left out of a run is counted.
//!
//! * `event`: what happens. * `aside`: files that appear when they are complete. * `names`: what processes and regions are
//!   called. * `chrome`: Chrome trace events. * `paraver`: Paraver. * `perfetto`: Perfetto.
//! * `otf2`: OTF2. * `paje`: Pajé. * `alog`: ALOG. * `clog2`: CLOG-2.
//! * `brief`: visits in no time. * `ranks`: ranks and threads for formats that know nothing else.
//!
//! Deliberately absent: where events come from, and what is told of that on a terminal.

mod alog;
mod aside;
mod brief;
mod chrome;
mod clog2;
mod event;
mod names;
mod otf2;
mod paje;
mod paraver;
mod perfetto;
mod ranks;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use marey_analyze::Trace;
use marey_model::ProcessId;

pub use event::{Edge, Event, Key, Message, Part, State, Turn, Visit, What};

use crate::Error;

/// A format that runs are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Chrome trace events, JSON.
    Chrome,
    /// Paraver: a trace with labels and names beside it.
    Paraver,
    /// Perfetto: track events in protobuf.
    Perfetto,
    /// OTF2: an archive, a directory.
    Otf2,
    /// Pajé: one text.
    Paje,
    /// ALOG: one text.
    Alog,
    /// CLOG-2: one file of blocks.
    Clog2,
}

impl Form {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Chrome, Self::Paraver, Self::Perfetto, Self::Otf2, Self::Paje, Self::Alog, Self::Clog2];

    /// What it is called in a sentence.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chrome => "Chrome trace events",
            Self::Paraver => "Paraver traces",
            Self::Perfetto => "Perfetto traces",
            Self::Otf2 => "OTF2 archives",
            Self::Paje => "Pajé traces",
            Self::Alog => "ALOG logs",
            Self::Clog2 => "CLOG-2 logs",
        }
    }

    /// What names of its files end in.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Chrome => ".json",
            Self::Paraver => ".prv",
            Self::Perfetto => ".pftrace",
            Self::Otf2 => ".otf2",
            Self::Paje => ".trace",
            Self::Alog => ".alog",
            Self::Clog2 => ".clog2",
        }
    }

    /// Whether a trace can have this name.
    ///
    /// # Errors
    /// If not: why.
    pub fn fits(self, out: &Path) -> Result<(), String> {
        match self {
            Self::Paraver if out.extension() != Some("prv".as_ref()) => {
                Err("a Paraver trace is NAME.prv, with NAME.pcf and NAME.row beside it".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// All files and directories that belong to a trace of this name.
    pub fn files(self, out: &Path) -> Vec<PathBuf> {
        match self {
            Self::Chrome | Self::Perfetto | Self::Paje | Self::Alog | Self::Clog2 => vec![out.to_owned()],
            Self::Paraver => paraver::files(out),
            Self::Otf2 => otf2::files(out),
        }
    }
}

/// What is known of a run before its events.
pub struct Definitions<'a> {
    /// Regions, call paths, processes, locations, communicators, counters.
    pub trace: &'a dyn Trace,
    /// Names of kinds of events, by number.
    pub event_kinds: Vec<String>,
    /// Of each communicator its processes in the order of their ranks, a list for each group.
    pub members: Vec<Vec<Vec<ProcessId>>>,
    /// The command line that was recorded.
    pub command: Vec<String>,
    /// The title that the user gave.
    pub title: String,
    /// When the run began, ns since 1970.
    pub epoch_ns: i64,
    /// Who writes: name and version.
    pub creator: String,
}

/// Writes one run.
pub trait Writer {
    /// Takes the next event.
    ///
    /// # Errors
    /// If it cannot be written.
    fn event(&mut self, event: &Event) -> Result<(), Error>;

    /// Writes what is left; the files appear.
    ///
    /// # Errors
    /// If it cannot be written. Then no file is there that was not before.
    fn finish(self: Box<Self>) -> Result<Written, Error>;
}

/// What was written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Written {
    /// Where; the first is the one to open.
    pub files: Vec<PathBuf>,
    /// How many of what.
    pub written: Vec<(&'static str, u64)>,
    /// What the format cannot hold: how many of what, or of which only a part was written.
    pub left_out: Vec<(&'static str, u64)>,
}

/// Begins to write a run.
///
/// # Errors
/// If a file cannot be made.
pub fn create<'a>(form: Form, run: &'a Definitions<'a>, out: &Path) -> Result<Box<dyn Writer + 'a>, Error> {
    match form {
        Form::Chrome => Ok(Box::new(chrome::Chrome::create(run, out)?)),
        Form::Paraver => Ok(Box::new(paraver::Paraver::create(run, out)?)),
        Form::Perfetto => Ok(Box::new(perfetto::Perfetto::create(run, out)?)),
        Form::Otf2 => Ok(Box::new(otf2::Otf2::create(run, out)?)),
        Form::Paje => Ok(Box::new(paje::Paje::create(run, out)?)),
        Form::Alog => Ok(Box::new(alog::Alog::create(run, out)?)),
        Form::Clog2 => Ok(Box::new(clog2::Clog2::create(run, out)?)),
    }
}

/// A line of a writer's table: what a run has, what that is written as, and what of it is lost.
type Line = (&'static str, &'static str, &'static str);

/// What is written, and what not: the second half of `docs/formats.md`.
pub(crate) fn document() -> String {
    let mut text = String::from(
        "# Runs in formats of other tools\n\n`marey export RUN --to FORMAT` writes a run for other tools. What is left out of a \
         run is counted and said. Times are relative to the begin of the run, which stands beside where the format has a place \
         for it.\nVisits, messages and the rest are those of `marey dump`: what a run has only as sums is not written.\n",
    );
    for (title, intro, lines) in [
        chrome::document(),
        paraver::document(),
        perfetto::document(),
        otf2::document(),
        paje::document(),
        alog::document(),
        clog2::document(),
    ] {
        text += &format!(
            "\n## {title}, written\n\n{intro}\n\n| of a run | written as | not written |\n|---|---|---|\n"
        );
        for (what, becomes, lost) in lines {
            text += &format!("| {what} | {becomes} | {lost} |\n");
        }
    }
    text
}

/// Counts what was written, and what was not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    written: BTreeMap<&'static str, u64>,
    left_out: BTreeMap<&'static str, u64>,
}

impl Tally {
    fn wrote(&mut self, what: &'static str) {
        *self.written.entry(what).or_default() += 1;
    }

    fn left_out(&mut self, what: &'static str) {
        *self.left_out.entry(what).or_default() += 1;
    }

    /// Counts what most formats write of an event.
    fn event(&mut self, what: &What) {
        self.wrote(match what {
            What::Enter(_) | What::Visit(_) => "visits",
            What::Begin(_) => "states",
            What::Send(_) => "sends",
            What::Receive(_) => "receives",
            What::Collective(_) => "parts in collectives",
            What::Effect(_) => "edges",
            What::Instant { .. } => "events",
            What::Counter { .. } => "values of counters",
            What::HeapPeak { .. } => "peaks of heaps",
            What::Leave(_) | What::End(_) | What::Cause(_) => return,
        });
    }

    fn finish(self, files: Vec<PathBuf>) -> Written {
        let list = |map: BTreeMap<&'static str, u64>| map.into_iter().collect();
        Written { files, written: list(self.written), left_out: list(self.left_out) }
    }
}
