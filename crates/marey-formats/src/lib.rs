//! Traces and profiles of other tools.
//!
//! The one idea: a reader turns a foreign trace into a spool, as the recorders of its processes would have left one
//! ([`spool`]), and the merge makes a run of it. So every report, analysis and view works on what was imported, and what
//! the foreign tool lost or contradicts is counted in the same table of problems.
//!
//! A reader looks at nothing but the files that it is given, bounds every count and depth before it allocates, and never
//! panics: what is damaged gives what stands before the damage, and a problem that says where. What a format says and a run
//! has no place for is kept as an event that describes itself, or counted; each reader has a table that says which.
//!
//! * [`recognise`]: which format a file has, by its content. * [`import`]: the way into a spool.
//! * `otf2`: Open Trace Format 2, of Score-P and others. * `chrome`: Chrome trace events. * `perfetto`: Perfetto's track events. * `clog2`, `clog1`, `alog`, `slog2`: logs of MPE.
//! * `paraver`: Paraver, of Extrae and others. * `tau`: traces of TAU. * `sddf`: Pablo's SDDF, of TAU and Dimemas too. * `paje`: Pajé.
//! * `tau_profile`: profiles of TAU. * `pprof`: profiles of pprof.
//! * `cube`: CUBE 4, of Score-P and Scalasca. * `callgrind`: callgrind's format. * `speedscope`: Speedscope's own format.
//! * [`mod@write`]: the other way, from a run to files of these formats.
//!
//! Deliberately absent: the merge and everything behind it; terminals.

mod alog;
mod bytes;
mod callgrind;
mod categories;
mod chrome;
mod clog1;
mod clog2;
mod cube;
mod draft;
mod error;
mod input;
mod mpe;
mod mpi;
mod otf2;
mod paje;
mod paraver;
mod perfetto;
mod pprof;
pub mod problems;
mod profile;
mod protobuf;
mod recognise;
mod sddf;
mod slog2;
mod sorted;
mod speedscope;
pub mod spool;
mod tau;
mod tau_profile;
pub mod write;

use std::path::Path;

pub use error::Error;
pub use recognise::{Format, recognise};

/// Told how far the work is. Called from several threads.
pub trait Progress: Sync {
    /// There are so many bytes to read.
    fn begin(&self, total: u64);
    /// So many more are read.
    fn advance(&self, bytes: u64);
}

/// Nobody watches.
impl Progress for () {
    fn begin(&self, _: u64) {}
    fn advance(&self, _: u64) {}
}

/// What was imported.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Imported {
    /// Processes that have a spool now.
    pub processes: u64,
    /// Threads and the like in them.
    pub locations: u64,
    /// Records of events that were read.
    pub events: u64,
    /// Whether it says how often and how long something was done, and nothing of when.
    pub is_profile: bool,
    /// Records by the names that the format has for them: how many, and what became of them. Sorted by name.
    pub records: Vec<(String, Fate, u64)>,
    /// The same of definitions.
    pub definitions: Vec<(String, Fate, u64)>,
    /// What could not be read or kept, a text for each with how often.
    pub problems: Vec<(String, u64)>,
}

/// What becomes of a kind of record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fate {
    /// What it says has a place of its own in a run: regions, messages, counters …
    Mapped,
    /// It is an event that describes itself, with all its fields.
    Kept,
    /// It says nothing that a run could hold; only counted.
    Ignored,
}

impl Fate {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mapped => "mapped",
            Self::Kept => "kept",
            Self::Ignored => "ignored",
        }
    }
}

/// What is read of each format and what becomes of it: the text of `docs/formats.md`.
pub fn document() -> String {
    String::from(
        "# Formats of other tools\n\n`marey import` makes a run out of a trace or profile of another tool; the format is \
         recognised by what the file holds.\nEach kind of record is *mapped* to what a run has of its own (regions, \
         messages, counters …), *kept* as an event that describes itself, or *ignored*, and counted either way: \
         `marey import --json` says how many there were of each.\n\n",
    ) + &[
        otf2::document(),
        chrome::document(),
        perfetto::document(),
        clog2::document(),
        alog::document(),
        clog1::document(),
        slog2::document(),
        paraver::document(),
        tau::document(),
        sddf::document(),
        paje::document(),
        tau_profile::document(),
        pprof::document(),
        cube::document(),
        callgrind::document(),
        speedscope::document(),
    ]
    .map(|text| text.trim().to_owned() + "\n")
    .join("\n")
        + "\n"
        + &write::document()
}

/// Turns a foreign trace into a spool in directory `spool`, which must not be there yet.
///
/// # Errors
/// If the format is not known, the trace is beyond what can be made sense of, or files cannot be read or written. A trace
/// that is damaged in parts is no error.
pub fn import(input: &Path, spool: &Path, progress: &dyn Progress) -> Result<Imported, Error> {
    let (format, file) = recognise(input)?;
    match format {
        Format::Otf2 => otf2::import(&file, spool, progress),
        Format::Chrome => chrome::import(&file, spool, progress),
        Format::Clog2 => clog2::import(&file, spool, progress),
        Format::Clog1 => clog1::import(&file, spool, progress),
        Format::Slog2 => slog2::import(&file, spool, progress),
        Format::Alog => alog::import(&file, spool, progress),
        Format::Paraver => paraver::import(&file, spool, progress),
        Format::Perfetto => perfetto::import(&file, spool, progress),
        Format::Paje => paje::import(&file, spool, progress),
        Format::Sddf => sddf::import(&file, spool, progress),
        Format::Tau => tau::import(&file, spool, progress),
        Format::TauProfile => tau_profile::import(&file, spool, progress),
        Format::Pprof => pprof::import(&file, spool, progress),
        Format::Cube => cube::import(&file, spool, progress),
        Format::Callgrind => callgrind::import(&file, spool, progress),
        Format::Speedscope => speedscope::import(&file, spool, progress),
    }
}
