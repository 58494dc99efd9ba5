//! A process: its definitions, and the numbers that all its threads count in common.
//!
//! The one idea: what a record names is defined when it is first named, so a process has no definitions but those that
//! its events use.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::PathBuf;

use marey_model::spool::{ALIGN, CommunicatorKind, Definition, FieldType, Head, SLACK, Stream, at};
use marey_model::{Level, Role, Tier, Triple};
use rustc_hash::FxHashMap;

use super::thread::Thread;
use super::{CLOCK, Identity, Spool, cannot_write};
use crate::Error;

/// Definitions in a window, bytes.
const DEFINITIONS: usize = 4 << 20;
/// Bytes of a definition.
const MOST: usize = 64 << 20;

/// A region: what is entered and left.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Region {
    /// Name and tier of its level.
    pub level: (Cow<'static, str>, Tier),
    /// `execute` for a function of the program; else what is called.
    pub verb: String,
    /// What it does, in the terms of analysis.
    pub role: Role,
    /// Kind and name of the noun; empty where there is none.
    pub noun: (Cow<'static, str>, String),
    /// Source file, empty where unknown.
    pub file: String,
    /// Line in it, 0 where unknown.
    pub line: u32,
}

impl Region {
    /// A function of MPI, or something of its level that has no noun.
    pub fn of_mpi(verb: &str, role: Role) -> Self {
        Self {
            level: (Level::MPI.into(), Tier::Runtime),
            verb: verb.to_owned(),
            role,
            noun: ("".into(), String::new()),
            file: String::new(),
            line: 0,
        }
    }

    /// A function of the program, or what a tool treats as such.
    pub fn of_program(name: &str) -> Self {
        Self {
            level: (Level::SOURCE.into(), Tier::Source),
            verb: "execute".to_owned(),
            role: Role::Work,
            noun: ("function".into(), name.to_owned()),
            file: String::new(),
            line: 0,
        }
    }
}

/// A process's place among the ranks of MPI.
#[derive(Clone, Debug)]
pub struct World {
    /// Its rank.
    pub rank: u32,
    /// How many there are.
    pub size: u32,
    /// What is known of the library.
    pub library: String,
}

/// Name, whether it is an attribute, and its fields.
type EventKind = (String, bool, Vec<(String, u8)>);

/// A process on its way into a spool.
#[derive(Debug)]
pub struct Process {
    spool: Spool,
    pub(super) key: u64,
    path: PathBuf,
    events: BufWriter<File>,
    /// Where the next window of events begins.
    end: u64,
    definitions: BufWriter<File>,
    definitions_path: PathBuf,
    /// Definitions that are in no window yet.
    text: Vec<u8>,
    n_windows: u64,
    text_before: u64,
    pub(super) threads: Vec<Thread>,
    levels: FxHashMap<Cow<'static, str>, u32>,
    regions: FxHashMap<Region, u32>,
    kinds: FxHashMap<EventKind, u32>,
    n_counters: u32,
    /// Messages that have passed each channel: whether towards the process, communicator, peer, tag.
    pub(super) channels: FxHashMap<(bool, u32, i64, i64), u64>,
    /// Collectives that have begun on each communicator.
    pub(super) collectives: FxHashMap<u32, u64>,
    /// What the numbers of new channels begin with: not 0 behind a gap.
    pub(super) base: u64,
    pub(super) serial: u64,
    /// The last time of all its threads.
    pub(super) last: u64,
}

impl Process {
    pub(super) fn create(spool: &Spool, identity: &Identity) -> Result<Self, Error> {
        let key = u64::from(identity.number) + 1;
        let stem = format!("imported-{}-{key:016x}", identity.pid);
        let path = spool.dir.join(format!("{stem}.events"));
        let definitions_path = spool.dir.join(format!("{stem}.definitions"));
        let open = |path: &PathBuf| File::create_new(path).map_err(cannot_write(path));
        let mut process = Self {
            spool: spool.clone(),
            key,
            events: BufWriter::new(open(&path)?),
            path,
            end: 0,
            definitions: BufWriter::new(open(&definitions_path)?),
            definitions_path,
            text: Vec::new(),
            n_windows: 0,
            text_before: 0,
            threads: Vec::new(),
            levels: FxHashMap::default(),
            regions: FxHashMap::default(),
            kinds: FxHashMap::default(),
            n_counters: 0,
            channels: FxHashMap::default(),
            collectives: FxHashMap::default(),
            base: 0,
            serial: 0,
            last: 0,
        };
        let first = Definition::Process {
            key,
            pid: identity.pid,
            parent_pid: 0,
            host: identity.host.clone(),
            boot: "imported".to_owned(),
            clock: CLOCK,
            start: spool.triple(0),
            command: identity.command.clone(),
            executable: identity.command.first().cloned().unwrap_or_default(),
            directory: String::new(),
            version: identity.recorder.clone(),
            environment: Vec::new(),
            forked_from: None,
            inherited: 0,
            pair_cost: 0,
        };
        process.define(&first)?;
        Ok(process)
    }

    pub(super) fn triple(&self, ns: u64) -> Triple {
        self.spool.triple(ns)
    }

    /// Adds a definition.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn define(&mut self, definition: &Definition) -> Result<(), Error> {
        let before = self.text.len();
        definition.encode(&mut self.text);
        if MOST < self.text.len() - before {
            // Readers believe in no window that is larger than all sense.
            self.text.truncate(before);
            let detail = format!("a definition of more than {} MiB is left out", MOST >> 20);
            Definition::Trouble { kind: "dropped".to_owned(), count: 1, detail }.encode(&mut self.text);
        }
        if self.text.len() < DEFINITIONS { Ok(()) } else { self.write_definitions() }
    }

    fn write_definitions(&mut self) -> Result<(), Error> {
        let size = (Head::records_at(0) + self.text.len() + SLACK).next_multiple_of(ALIGN);
        let head = Head {
            size: u32::try_from(size).unwrap_or(u32::MAX),
            process: self.key,
            thread: 0,
            stream: Stream::Definitions,
            sequence: self.n_windows,
            ticks: 0,
            triple: Triple::default(),
            bytes_before: self.text_before,
            serial: 0,
            buffer: 0,
            round: 0,
            is_summing: false,
        };
        let mut window = vec![0; size];
        let begin = head.encode_into(&[], &mut window);
        let end = begin + self.text.len();
        window[begin..end].copy_from_slice(&self.text);
        window[at::CURSOR..at::CURSOR + 8].copy_from_slice(&(end as u64).to_le_bytes());
        self.definitions.write_all(&window).map_err(cannot_write(&self.definitions_path))?;
        self.n_windows += 1;
        self.text_before += self.text.len() as u64;
        self.text.clear();
        Ok(())
    }

    /// Writes a window of events behind the others.
    pub(super) fn write_window(&mut self, window: &[u8]) -> Result<(), Error> {
        self.events.write_all(window).map_err(cannot_write(&self.path))?;
        // The rest of it is a hole.
        self.end += window.len().next_multiple_of(ALIGN) as u64;
        self.events.seek(SeekFrom::Start(self.end)).map_err(cannot_write(&self.path))?;
        Ok(())
    }

    /// Makes it a rank of MPI; `MPI_COMM_WORLD` is its communicator 0.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn join(&mut self, world: &World) -> Result<(), Error> {
        self.define(&Definition::Mpi {
            flavour: 0,
            library: world.library.clone(),
            world: "world".to_owned(),
            size: world.size,
            rank: world.rank,
            thread_level: 0,
            enter: 0,
            leave: 0,
        })?;
        self.define(&Definition::Communicator {
            id: 0,
            kind: CommunicatorKind::World as u8,
            parent: None,
            number: 0,
            tag: 0,
            leader: 0,
            size: world.size,
            rank: world.rank,
            remote_size: 0,
            members: vec![(0, world.size.into())],
            remote_members: Vec::new(),
            port: String::new(),
            ticks: 0,
        })
    }

    /// The site of a region.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn site(&mut self, region: &Region) -> Result<u32, Error> {
        if let Some(site) = self.regions.get(region) {
            return Ok(*site);
        }
        let level = self.level(&region.level)?;
        let id = number(self.regions.len());
        self.regions.insert(region.clone(), id);
        self.define(&Definition::Region {
            id,
            level,
            verb: region.verb.clone(),
            role: region.role.code(),
            noun_kind: region.noun.0.to_string(),
            noun: region.noun.1.clone(),
            file: region.file.clone(),
            line: region.line,
        })?;
        self.define(&Definition::Site { id, region: id, stack: None })?;
        Ok(id)
    }

    fn level(&mut self, (name, tier): &(Cow<'static, str>, Tier)) -> Result<u32, Error> {
        if let Some(level) = self.levels.get(name) {
            return Ok(*level);
        }
        let id = number(self.levels.len());
        self.levels.insert(name.clone(), id);
        self.define(&Definition::Level {
            id,
            name: name.to_string(),
            tier: *tier as u8,
            built_on: Vec::new(),
        })?;
        Ok(id)
    }

    /// A kind of events, or of attributes of regions, that describe themselves.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn event_kind(
        &mut self,
        name: &str,
        is_attribute: bool,
        fields: &[(&str, FieldType)],
    ) -> Result<u32, Error> {
        // Other types make another kind of it, or its fields would be read as what they are not.
        let fields: Vec<(String, u8)> =
            fields.iter().map(|(name, kind)| ((*name).to_owned(), *kind as u8)).collect();
        let kind = (name.to_owned(), is_attribute, fields);
        if let Some(kind) = self.kinds.get(&kind) {
            return Ok(*kind);
        }
        let id = number(self.kinds.len());
        let (name, attribute, fields) = kind.clone();
        self.kinds.insert(kind, id);
        self.define(&Definition::EventKind { id, name, attribute, fields })?;
        Ok(id)
    }

    /// A new counter.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn counter(&mut self, name: &str, unit: &str) -> Result<u32, Error> {
        let id = self.n_counters;
        self.n_counters += 1;
        self.define(&Definition::Counter { id, name: name.to_owned(), unit: unit.to_owned() })?;
        Ok(id)
    }

    /// A thread, the number of which is returned; they are counted from 0.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn thread(&mut self, name: &str, start: u64) -> Result<usize, Error> {
        let serial = number(self.threads.len());
        self.define(&Definition::Thread {
            serial,
            os_thread: 0,
            name: name.to_owned(),
            ticks: start,
            creator: None,
        })?;
        self.threads.push(Thread::default());
        Ok(self.threads.len() - 1)
    }

    /// The last time of all its threads.
    pub const fn last(&self) -> u64 {
        self.last
    }

    /// Something that is wrong with what was imported.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn trouble(&mut self, kind: &str, count: u64, detail: &str) -> Result<(), Error> {
        self.define(&Definition::Trouble { kind: kind.to_owned(), count, detail: detail.to_owned() })
    }

    /// Ends the process: at its last event, with this exit status.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn end(mut self, status: i64) -> Result<(), Error> {
        for thread in 0..self.threads.len() {
            self.seal(thread)?;
        }
        self.define(&Definition::Ending { kind: 0, code: status, end: self.triple(self.last) })?;
        self.write_definitions()?;
        self.definitions.flush().map_err(cannot_write(&self.definitions_path))?;
        self.events.flush().map_err(cannot_write(&self.path))?;
        // The last window is as long as its head says.
        self.events.get_ref().set_len(self.end).map_err(cannot_write(&self.path))
    }
}

/// The number of what is there so often.
fn number(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
