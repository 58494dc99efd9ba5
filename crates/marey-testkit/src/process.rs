//! One process: who it is, what its numbers mean, and its two files.
//!
//! The one idea: times are readings of the process's clock, by default in ns from 0, and everything
//! that a clock can do wrong is a field that a test sets.
//!
//! What its threads do is told in [`acts`], how that becomes windows in [`stream`].

mod acts;
mod stream;

use std::collections::BTreeMap;

use marey_model::Triple;
use marey_model::spool::{ALIGN, Definition, Head, SLACK, Stream};

pub use self::acts::Message;
use self::stream::{Thread, window};

/// Calendar time of reading 0, ns since 1970.
const REALTIME: u64 = 1_700_000_000_000_000_000;

/// A process on its way into a spool.
#[derive(Debug)]
pub struct Process {
    /// Its random number.
    pub key: u64,
    /// Its process id.
    pub pid: u32,
    /// Name of its node.
    pub host: String,
    /// Boot of its node.
    pub boot: String,
    /// Code of its clock's kind.
    pub clock: u8,
    /// Length of its windows, bytes.
    pub window_len: usize,
    /// Maps a reading to true time: `ns = reading × speed − offset`.
    pub speed: f64,
    /// See [`Self::speed`].
    pub offset: f64,
    /// Definitions behind the first, in order.
    pub definitions: Vec<Definition>,
    /// Reading at which its measurement began.
    pub start: u64,
    /// Reading at which it ended by itself; `None` = it was killed.
    pub end: Option<u64>,
    /// How it ended: kind and code of its last definition.
    pub ending: (u8, i64),
    /// Key of the process that forked it, and how many bytes of that one's definitions it has.
    pub forked_from: Option<(u64, u64)>,
    threads: Vec<Thread>,
    regions: BTreeMap<(u32, String), u32>,
    channels: BTreeMap<(bool, u32, i64, i64), u64>,
    collectives: BTreeMap<u32, u64>,
    serials: u64,
    tokens: u64,
}

impl Process {
    /// A process with the levels `source`, `mpi` and `threads`, numbers 0 to 2.
    pub fn new(key: u64) -> Self {
        let levels = [("source", 0), ("mpi", 2), ("threads", 2)];
        let definitions = (0..).zip(levels).map(|(id, (name, tier))| Definition::Level {
            id,
            name: name.to_owned(),
            tier,
            built_on: Vec::new(),
        });
        Self {
            key,
            pid: 100 + u32::try_from(key % 100_000).unwrap_or(0),
            host: "node".to_owned(),
            boot: "boot".to_owned(),
            clock: 1,
            window_len: 4 * ALIGN,
            speed: 1.0,
            offset: 0.0,
            definitions: definitions.collect(),
            start: 0,
            end: None,
            ending: (0, 0),
            forked_from: None,
            threads: Vec::new(),
            regions: BTreeMap::new(),
            channels: BTreeMap::new(),
            collectives: BTreeMap::new(),
            serials: 0,
            tokens: 0,
        }
    }

    /// Makes it a rank of an MPI world, with `MPI_COMM_WORLD` as communicator 0.
    pub fn join_world(&mut self, world: &str, size: u32, rank: u32) {
        self.definitions.push(Definition::Mpi {
            flavour: 0,
            library: "MPI of tests".to_owned(),
            world: world.to_owned(),
            size,
            rank,
            thread_level: 3,
            enter: 1,
            leave: 2,
        });
        self.communicator(0, 0, None, 0, 0, &[(0, u64::from(size))], rank);
    }

    /// Defines an intracommunicator.
    #[expect(clippy::too_many_arguments, reason = "the fields of the definition that tests vary")]
    pub fn communicator(
        &mut self,
        id: u32,
        kind: u8,
        parent: Option<u32>,
        number: u64,
        leader: i64,
        members: &[(i64, u64)],
        rank: u32,
    ) {
        let size: u64 = members.iter().map(|run| run.1).sum();
        self.definitions.push(Definition::Communicator {
            id,
            kind,
            parent,
            number,
            tag: 0,
            leader,
            size: u32::try_from(size).unwrap_or(u32::MAX),
            rank,
            remote_size: 0,
            members: members.to_vec(),
            remote_members: Vec::new(),
            port: String::new(),
            ticks: 3,
        });
    }

    /// A file mapped over the 4 KiB from `start` on, from reading `ticks` of the clock on.
    pub fn module(&mut self, id: u32, path: &str, start: u64, ticks: u64) {
        self.definitions.push(Definition::Module {
            id,
            path: path.to_owned(),
            build_id: Vec::new(),
            bias: start,
            start,
            end: start + 0x1000,
            ticks,
        });
    }

    /// The site of a region on a level (0 source, 1 mpi), defined when it is first asked for.
    pub fn site(&mut self, level: u32, verb: &str) -> u32 {
        if let Some(&id) = self.regions.get(&(level, verb.to_owned())) {
            return id;
        }
        let id = u32::try_from(self.regions.len()).unwrap_or(u32::MAX);
        self.regions.insert((level, verb.to_owned()), id);
        self.definitions.push(Definition::Region {
            id,
            level,
            verb: verb.to_owned(),
            role: u8::from(level == 1),
            noun_kind: String::new(),
            noun: String::new(),
            file: String::new(),
            line: 0,
        });
        self.definitions.push(Definition::Site { id, region: id, stack: None });
        id
    }

    fn triple(&self, ticks: u64) -> Triple {
        let ns = self.true_time(ticks);
        Triple { ticks, monotonic_ns: ns, realtime_ns: REALTIME + ns }
    }

    /// True time of a reading, ns.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "made-up times are small"
    )]
    fn true_time(&self, ticks: u64) -> u64 {
        (ticks as f64 * self.speed - self.offset).max(0.0) as u64
    }

    /// The content of the events file.
    pub fn event_bytes(&self) -> Vec<u8> {
        self.event_windows().concat()
    }

    /// All definitions so far, one after the other: a child that is forked now inherits so many
    /// bytes.
    pub fn definition_text(&self) -> Vec<u8> {
        let mut text = Vec::new();
        self.process_definition().encode(&mut text);
        for definition in &self.definitions {
            definition.encode(&mut text);
        }
        text
    }

    /// The content of the definitions file.
    pub fn definition_bytes(&self) -> Vec<u8> {
        let mut text = self.definition_text();
        if let Some(end) = self.end {
            let (kind, code) = self.ending;
            Definition::Ending { kind, code, end: self.triple(end) }.encode(&mut text);
        }
        let size = (Head::records_at(0) + text.len() + SLACK).next_multiple_of(ALIGN);
        let head = Head {
            size: u32::try_from(size).unwrap_or(u32::MAX),
            process: self.key,
            thread: 0,
            stream: Stream::Definitions,
            sequence: 0,
            ticks: 0,
            triple: Triple::default(),
            bytes_before: 0,
            serial: 0,
            buffer: 0,
            round: 0,
            is_summing: false,
        };
        window(&head, &[], &text)
    }

    fn process_definition(&self) -> Definition {
        Definition::Process {
            key: self.key,
            pid: self.pid,
            parent_pid: 1,
            host: self.host.clone(),
            boot: self.boot.clone(),
            clock: self.clock,
            start: self.triple(self.start),
            command: vec!["./app".to_owned()],
            executable: "/bin/app".to_owned(),
            directory: "/".to_owned(),
            version: "test".to_owned(),
            environment: Vec::new(),
            forked_from: self.forked_from.map(|parent| parent.0),
            inherited: self.forked_from.map_or(0, |parent| parent.1),
            pair_cost: 4000,
        }
    }
}
