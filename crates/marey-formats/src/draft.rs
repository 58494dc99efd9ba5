//! A trace that is read in any order, until all of it is known.
//!
//! The one idea: most formats mix the events of all processes, some in no order, and say late what a number means. So a
//! reader notes what happened as it finds it; [`sorted`] puts that in order, process by process, in bounded memory, and
//! [`tell`] writes the spools of one process after the other.
//!
//! What is in memory until the end: names, regions, tracks; never events. Deliberately absent: formats whose files are in
//! the order of a spool already, such as OTF2.

pub(crate) mod sorted;
mod tell;

use std::path::{Path, PathBuf};

use marey_model::spool::FieldType;
use rustc_hash::FxHashMap;

use self::sorted::{Key, Sorter};
use crate::problems::{Problems, kind};
use crate::spool::{Half, Member, Region};
use crate::{Error, Imported, Progress};

/// Kinds of events that are told apart; of a trace that has more, the others are of one kind each with its name.
const MOST_KINDS: usize = 20_000;

/// Something that happens on a track.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act<'a> {
    /// A region is entered.
    Enter { region: u32 },
    /// The innermost open region is left, or the innermost one of a region.
    Leave { region: Option<u32> },
    /// A region is entered, and left so many ns later. What overlaps others without lying within becomes a state beside them.
    Span { region: u32, ns: u64 },
    /// A state that need not nest begins.
    Begin { region: u32, key: u64 },
    /// The last state that began with this key ends.
    End { key: u64 },
    /// What happens with `key` on another track depends on this.
    FlowOut { key: u64 },
    /// This depends on the last [`Self::FlowOut`] of the key; or the region does that is entered next.
    FlowIn { key: u64, is_next: bool },
    /// This depends on the last step of a flow, if there was one in the process; the next one depends on this, if it is not
    /// the last.
    FlowStep { key: u64, is_last: bool },
    /// A counter has a value from now on.
    Counter { counter: u32, value: f64 },
    /// An event that describes itself.
    Event { kind: u32, fields: &'a [u8] },
    /// A fact about the innermost open region; where none is open, an event.
    Fact { kind: u32, as_event: u32, fields: &'a [u8] },
    /// A message is sent, by the open region of MPI; where none is open, by one that is made.
    Send(Half),
    /// A message has come.
    Receive(Half),
    /// A part in a collective.
    Collective(Member),
}

/// Who a process is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owner {
    /// The kernel's number of it, 0 where unknown.
    pub pid: u32,
    /// Name of its machine.
    pub host: String,
    /// Name or command line; empty where unknown.
    pub command: Vec<String>,
    /// Rank in `MPI_COMM_WORLD`.
    pub rank: Option<u32>,
}

/// A communicator besides `MPI_COMM_WORLD`.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub name: String,
    /// Ranks in the world, by rank in it.
    pub members: Vec<u32>,
}

/// A thread or the like.
#[derive(Clone, Debug)]
struct Track {
    process: u32,
    name: String,
    /// Its first event, ns on the trace's clock.
    first: Option<i64>,
    /// Its number among those of its process, once it is told.
    number: usize,
}

/// A kind of events.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Kind {
    name: String,
    is_fact: bool,
    fields: Vec<(String, u8)>,
}

/// What is known of a trace so far.
#[derive(Debug)]
pub(crate) struct Draft {
    pub problems: Problems,
    /// What has recorded it, name and version.
    pub recorder: String,
    /// Calendar time of the trace's time 0, ns since 1970, where it is known.
    pub epoch_ns: Option<i64>,
    /// Ranks in `MPI_COMM_WORLD`, where the trace says so; else as many as processes have one.
    pub world: Option<u32>,
    processes: Vec<Owner>,
    tracks: Vec<Track>,
    groups: Vec<Group>,
    regions: FxHashMap<Region, u32>,
    kinds: FxHashMap<Kind, u32>,
    /// Process, name, unit.
    counters: FxHashMap<(u32, String, String), u32>,
    sorter: Sorter,
    /// Earliest time of all events.
    begin: Option<i64>,
    record: Vec<u8>,
    last: Key,
}

impl Draft {
    /// One that puts what does not fit into memory into a file in this directory.
    pub(crate) fn new(dir: &Path, recorder: &str) -> Self {
        Self {
            problems: Problems::default(),
            recorder: recorder.to_owned(),
            epoch_ns: None,
            world: None,
            processes: Vec::new(),
            tracks: Vec::new(),
            groups: Vec::new(),
            regions: FxHashMap::default(),
            kinds: FxHashMap::default(),
            counters: FxHashMap::default(),
            sorter: Sorter::new(dir),
            begin: None,
            record: Vec::new(),
            last: Key::default(),
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

    /// A thread or the like of a process.
    pub(crate) fn track(&mut self, process: u32, name: &str) -> u32 {
        self.tracks.push(Track { process, name: name.to_owned(), first: None, number: 0 });
        number(self.tracks.len() - 1)
    }

    pub(crate) fn name_track(&mut self, track: u32, name: &str) {
        name.clone_into(&mut self.tracks[track as usize].name);
    }

    /// A communicator; 0 is that of all.
    pub(crate) fn group(&mut self, group: Group) -> u32 {
        self.groups.push(group);
        number(self.groups.len())
    }

    pub(crate) fn region(&mut self, region: &Region) -> u32 {
        if let Some(id) = self.regions.get(region) {
            return *id;
        }
        let id = number(self.regions.len());
        self.regions.insert(region.clone(), id);
        id
    }

    /// A kind of events that describe themselves, or of facts about regions. `None` if there are too many: then the
    /// fields are to be one text.
    pub(crate) fn kind(&mut self, name: &str, is_fact: bool, fields: &[(&str, FieldType)]) -> Option<u32> {
        let fields: Vec<(String, u8)> =
            fields.iter().map(|(name, kind)| ((*name).to_owned(), *kind as u8)).collect();
        let kind = Kind { name: name.to_owned(), is_fact, fields };
        if let Some(id) = self.kinds.get(&kind) {
            return Some(*id);
        }
        (self.kinds.len() < MOST_KINDS || kind.fields.len() <= 1).then(|| {
            let id = number(self.kinds.len());
            self.kinds.insert(kind, id);
            id
        })
    }

    pub(crate) fn counter(&mut self, process: u32, name: &str, unit: &str) -> u32 {
        let id = number(self.counters.len());
        *self.counters.entry((process, name.to_owned(), unit.to_owned())).or_insert(id)
    }

    /// Notes what happens on a track at a time, ns on the trace's own clock. Of one time, what is noted first comes first;
    /// but spans begin behind what else there is, long ones first.
    ///
    /// # Errors
    /// If what does not fit into memory cannot be written.
    pub(crate) fn add(&mut self, track: u32, ns: i64, act: &Act<'_>) -> Result<(), Error> {
        let tie = match act {
            Act::Span { ns, .. } => (u64::MAX - 1).saturating_sub(*ns).max(1),
            Act::FlowIn { is_next: false, .. } => u64::MAX,
            _ => 0,
        };
        let it = &mut self.tracks[track as usize];
        it.first = Some(it.first.map_or(ns, |first| first.min(ns)));
        self.begin = Some(self.begin.map_or(ns, |begin| begin.min(ns)));
        self.last = Key { process: it.process, ns, tie };
        self.put(track, act)
    }

    /// Notes what belongs to what was noted before, right behind it.
    ///
    /// # Errors
    /// If what does not fit into memory cannot be written.
    pub(crate) fn also(&mut self, track: u32, act: &Act<'_>) -> Result<(), Error> {
        self.put(track, act)
    }

    /// Notes what holds of a track from its beginning.
    ///
    /// # Errors
    /// If what does not fit into memory cannot be written.
    pub(crate) fn at_begin(&mut self, track: u32, act: &Act<'_>) -> Result<(), Error> {
        self.last = Key { process: self.tracks[track as usize].process, ns: i64::MIN, tie: 0 };
        self.put(track, act)
    }

    fn put(&mut self, track: u32, act: &Act<'_>) -> Result<(), Error> {
        self.record.clear();
        tell::encode(track, act, &mut self.record);
        self.sorter.add(self.last, &self.record)
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

/// Where the file lies in which events wait: beside the spool.
pub(crate) fn beside(spool: &Path) -> PathBuf {
    spool.parent().unwrap_or(spool).to_owned()
}
