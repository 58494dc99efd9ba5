//! A profile: what call paths come to, without the times at which anything was done.
//!
//! The one idea: the counterpart of [`crate::draft`] for formats that have sums alone. A reader says in any order how often
//! and how long a thread was in a call path, and what was counted there; that is sorted in bounded memory, and [`tell`]
//! writes it as what a recorder leaves of threads whose events it had no room for. A thread lasts as long as its call paths
//! took together, for nothing else is known.
//!
//! What is in memory until the end: names, regions, call paths, threads; and while one is written, all of one thread.
//! Deliberately absent: samples by address. Profiles name functions, so these are regions.

mod tell;

use std::path::Path;

use marey_model::spool::{FieldType, put, put_bytes};
use rustc_hash::FxHashMap;

use crate::draft::Owner;
use crate::problems::{Problems, kind};
use crate::sorted::{Key, Sorter};
use crate::spool::Region;
use crate::{Error, Imported, Progress};

/// Regions of a call path; deeper ones count for the one above. A recorder keeps no more either.
const DEEPEST: u16 = 500;
/// Call paths, of all threads together.
const MOST_PATHS: usize = 1 << 20;

/// What the visits of a call path come to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Time {
    /// How many; 0 where nobody counted them.
    pub visits: u64,
    /// Time in it and not beneath.
    pub exclusive_ns: u64,
    /// With what is beneath; `None` where that is the sum of what the profile says of it.
    pub inclusive_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct CallPath {
    parent: Option<u32>,
    region: u32,
    depth: u16,
}

/// Name and fields of a kind of events.
type Kind = (String, Vec<(String, u8)>);

/// What is known of a profile so far.
#[derive(Debug)]
pub(crate) struct Profile {
    pub problems: Problems,
    /// What has recorded it, name and version.
    pub recorder: String,
    /// Calendar time of its beginning, ns since 1970, where it is known.
    pub epoch_ns: Option<u64>,
    processes: Vec<Owner>,
    /// Process and name.
    threads: Vec<(u32, String)>,
    regions: FxHashMap<Region, u32>,
    paths: Vec<CallPath>,
    path_of: FxHashMap<(Option<u32>, u32), u32>,
    /// Name and unit.
    metrics: Vec<(String, String)>,
    kinds: FxHashMap<Kind, u32>,
    sorter: Sorter,
    record: Vec<u8>,
}

/// How records begin in bytes.
mod code {
    pub(super) const EXTREMES: u8 = 3;
    pub(super) const TIME: u8 = 0;
    pub(super) const COUNT: u8 = 1;
    pub(super) const NOTE: u8 = 2;
}

impl Profile {
    /// One that puts what does not fit into memory into a file in this directory.
    pub(crate) fn new(dir: &Path, recorder: &str) -> Self {
        Self {
            problems: Problems::default(),
            recorder: recorder.to_owned(),
            epoch_ns: None,
            processes: Vec::new(),
            threads: Vec::new(),
            regions: FxHashMap::default(),
            paths: Vec::new(),
            path_of: FxHashMap::default(),
            metrics: Vec::new(),
            kinds: FxHashMap::default(),
            sorter: Sorter::new(dir),
            record: Vec::new(),
        }
    }

    pub(crate) fn process(&mut self, owner: Owner) -> u32 {
        self.processes.push(owner);
        number(self.processes.len() - 1)
    }

    /// Who a process is, as far as is known by now.
    pub(crate) fn owner(&mut self, process: u32) -> &mut Owner {
        &mut self.processes[process as usize]
    }

    pub(crate) fn thread(&mut self, process: u32, name: &str) -> u32 {
        self.threads.push((process, name.to_owned()));
        number(self.threads.len() - 1)
    }

    pub(crate) fn region(&mut self, region: &Region) -> u32 {
        if let Some(id) = self.regions.get(region) {
            return *id;
        }
        let id = number(self.regions.len());
        self.regions.insert(region.clone(), id);
        id
    }

    /// A region beneath a call path, or beneath nothing.
    pub(crate) fn path(&mut self, parent: Option<u32>, region: u32) -> u32 {
        if let Some(path) = self.path_of.get(&(parent, region)) {
            return *path;
        }
        let depth = parent.map_or(0, |parent| self.paths[parent as usize].depth + 1);
        let is_full = self.paths.len() >= MOST_PATHS;
        if depth >= DEEPEST || is_full {
            self.problems.add(
                kind::DROPPED,
                "call paths that are too deep or too many, in those above them",
                1,
            );
            return parent.unwrap_or_else(|| self.others());
        }
        let path = number(self.paths.len());
        self.paths.push(CallPath { parent, region, depth });
        self.path_of.insert((parent, region), path);
        path
    }

    /// Stands for the call paths without any above them for which there is no room.
    fn others(&mut self) -> u32 {
        let region = self.region(&Region::of_program("other call paths"));
        let path = number(self.paths.len());
        if let Some(path) = self.path_of.get(&(None, region)) {
            return *path;
        }
        self.paths.push(CallPath { parent: None, region, depth: 0 });
        self.path_of.insert((None, region), path);
        path
    }

    /// What is counted beside the time.
    pub(crate) fn metric(&mut self, name: &str, unit: &str) -> u32 {
        let metric = (name.to_owned(), unit.to_owned());
        if let Some(place) = self.metrics.iter().position(|it| *it == metric) {
            return number(place);
        }
        self.metrics.push(metric);
        number(self.metrics.len() - 1)
    }

    /// A kind of notes.
    pub(crate) fn kind(&mut self, name: &str, fields: &[(&str, FieldType)]) -> u32 {
        let fields = fields.iter().map(|(name, kind)| ((*name).to_owned(), *kind as u8)).collect();
        let id = number(self.kinds.len());
        *self.kinds.entry((name.to_owned(), fields)).or_insert(id)
    }

    /// Adds to what a thread's visits of a call path come to.
    ///
    /// # Errors
    /// If what does not fit into memory cannot be written; so for all that follow.
    pub(crate) fn time(&mut self, thread: u32, path: u32, time: Time) -> Result<(), Error> {
        self.record.clear();
        self.record.push(code::TIME);
        let (has_inclusive, inclusive) = time.inclusive_ns.map_or((0, 0), |ns| (1, ns));
        for word in [time.visits, time.exclusive_ns, has_inclusive, inclusive] {
            put(&mut self.record, word);
        }
        self.add(thread, u64::from(path) + 1)
    }

    /// How long the shortest or the longest of a thread's visits of a call path took; it counts if both are told.
    pub(crate) fn extremes(
        &mut self,
        thread: u32,
        path: u32,
        (shortest_ns, longest_ns): (Option<u64>, Option<u64>),
    ) -> Result<(), Error> {
        self.record.clear();
        self.record.push(code::EXTREMES);
        put(&mut self.record, shortest_ns.map_or(0, |ns| ns.saturating_add(1)));
        put(&mut self.record, longest_ns.map_or(0, |ns| ns.saturating_add(1)));
        self.add(thread, u64::from(path) + 1)
    }

    /// Adds to what was counted in a call path of a thread, or in none.
    pub(crate) fn count(
        &mut self,
        thread: u32,
        path: Option<u32>,
        metric: u32,
        value: u64,
    ) -> Result<(), Error> {
        self.record.clear();
        self.record.push(code::COUNT);
        put(&mut self.record, metric.into());
        put(&mut self.record, value);
        self.add(thread, path.map_or(0, |path| u64::from(path) + 1))
    }

    /// Something that a profile says of a thread and that is neither: an event at its end.
    pub(crate) fn note(&mut self, thread: u32, kind: u32, fields: &[u8]) -> Result<(), Error> {
        self.record.clear();
        self.record.push(code::NOTE);
        put(&mut self.record, kind.into());
        put_bytes(&mut self.record, fields);
        self.add(thread, u64::MAX)
    }

    fn add(&mut self, thread: u32, tie: u64) -> Result<(), Error> {
        let process = self.threads[thread as usize].0;
        self.sorter.add(Key { process, ns: thread.into(), tie }, &self.record)
    }

    pub(crate) fn trouble(&mut self, what: impl Into<String>) {
        self.problems.add(kind::DAMAGED, what, 1);
    }

    /// Writes the spools. `share` bytes of progress are told on the way.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(crate) fn finish(self, spool: &Path, progress: (&dyn Progress, u64)) -> Result<Imported, Error> {
        tell::all(self, spool, progress)
    }
}

/// The number of what is there so often.
fn number(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// Nanoseconds of a time in another unit; what is none, or less than nothing, is 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "such casts saturate, and NaN is 0"
)]
pub(crate) fn whole(value: f64) -> u64 {
    value.round() as u64
}
