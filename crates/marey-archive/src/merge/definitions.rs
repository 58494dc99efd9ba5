//! What each process said about itself: its definitions, decoded and put into order.
//!
//! The one idea: a forked child speaks in its parent's terms, so a process's definitions are the
//! inherited beginning of its parent's and then its own.
//!
//! What is deliberately absent: numbers that hold for the whole run; those are made in `globals`.

use std::collections::BTreeMap;

use marey_model::Triple;
use marey_model::spool::{Definition, Stream};
use rustc_hash::FxHashMap;

use super::index::{Index, StreamIndex};
use crate::Error;

/// Who inherits from an ancestor beyond this is not believed.
const MAX_GENERATIONS: u32 = 64;

/// A process as it described itself. Numbers are the process's own.
#[derive(Debug, Default)]
pub(crate) struct ProcessDefs {
    pub key: u64,
    pub pid: u32,
    pub parent_pid: u32,
    pub host: String,
    pub boot: String,
    pub clock: u8,
    pub start: Triple,
    pub command: Vec<String>,
    pub executable: String,
    pub environment: Vec<(String, String)>,
    /// How much was to be recorded of which regions.
    pub rules: String,
    /// Hundredths of a tick that an enter and a leave cost.
    pub pair_cost: u64,
    pub mpi: Option<Mpi>,
    pub threads: BTreeMap<u32, ThreadDef>,
    pub levels: BTreeMap<u32, (String, u8, Vec<String>)>,
    pub regions: BTreeMap<u32, RegionDef>,
    /// Of regions of functions of which only the address is known: module and virtual address.
    pub functions: BTreeMap<u32, (u32, u64)>,
    /// Region and stack.
    pub sites: BTreeMap<u32, (u32, Option<u32>)>,
    pub stacks: BTreeMap<u32, Vec<(u32, u64)>>,
    /// Build-id and path.
    pub modules: BTreeMap<u32, (Vec<u8>, String)>,
    /// Where they lay, in the order in which they were found.
    pub mappings: Vec<Mapping>,
    pub communicators: BTreeMap<u32, CommDef>,
    pub communicator_names: BTreeMap<u32, String>,
    /// Name and size.
    pub datatypes: BTreeMap<u32, (String, u64)>,
    /// Communicator and number.
    pub windows: BTreeMap<u32, (u32, u64)>,
    /// Windows and the data that belong to them, in the order in which they were given.
    pub window_data: Vec<(u32, u32)>,
    pub files: BTreeMap<u32, String>,
    pub event_kinds: BTreeMap<u32, EventKindDef>,
    /// Name and unit.
    pub counters: BTreeMap<u32, (String, String)>,
    /// Of those that are read beside the time: name, unit and source.
    pub counted: BTreeMap<u32, CounterKind>,
    /// Name and first ticks.
    pub lanes: BTreeMap<u32, (String, u64)>,
    pub data: BTreeMap<u32, DataDef>,
    /// Data of which the nouns of regions are.
    pub region_data: BTreeMap<u32, u32>,
    pub shapes: BTreeMap<u32, Shape>,
    pub exchanges: Vec<Exchange>,
    /// Regions of which visits were only counted, in the order in which that was decided.
    pub reduced: Vec<ReducedDef>,
    /// By threads that had ended all their regions before the process ended.
    pub idle: BTreeMap<u32, IdleDef>,
    /// Hundredths of a per cent of its time that recording could take, and hundredths of a tick that counting a visit
    /// cost.
    pub budget: Option<(u32, u64)>,
    pub resources: Option<Resources>,
    /// Code of the kind, code, end.
    pub ending: Option<(u8, i64, Triple)>,
    pub troubles: Vec<(String, u64, String)>,
    /// The definitions end early or have gaps.
    pub damaged: bool,
    /// It said who it is, and which clock it counts.
    pub is_defined: bool,
    /// Definitions of later versions.
    pub unknown: u64,
}

/// Kind, start, stride and number of each dimension.
pub(crate) type Shape = Vec<(u8, (i64, (i64, u64)))>;

/// A datum: array, variable or block.
#[derive(Debug, Clone)]
pub(crate) struct DataDef {
    pub kind: u8,
    pub name: String,
    pub place: Option<(u32, u64)>,
    pub from_frame: Option<i64>,
    pub within: Option<(u32, u64)>,
    pub site: Option<u32>,
    pub address: u64,
    pub bytes: u64,
    pub element: u64,
    pub code: u8,
    pub bounds: Vec<(i64, u64)>,
    pub ticks: u64,
    /// When it was given back, ticks; 0 if it was not.
    pub until: u64,
}

/// Since when visits of a site are only counted, and what recording them had taken, hundredths of a per cent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReducedDef {
    pub site: u32,
    pub ticks: u64,
    pub share: u32,
}

/// When regions of a thread ended that nobody left, because of what which thread did, by a kind of edge; and the site that
/// it was in from then on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdleDef {
    pub ticks: u64,
    pub by: u32,
    pub kind: u8,
    pub site: u32,
    pub since: u64,
    pub wait: u32,
}

/// Name, unit and source of a counter.
pub(crate) type CounterKind = (String, String, String);

/// What a process has used; times in ns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resources {
    pub peak_memory: u64,
    pub user: u64,
    pub system: u64,
    pub major_faults: u64,
    pub waits: u64,
    pub preemptions: u64,
}

/// Where a module lay in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mapping {
    /// Its number in the process.
    pub module: u32,
    /// Address minus virtual address.
    pub bias: u64,
    pub start: u64,
    pub end: u64,
    /// When it was found to be there no more, ticks.
    pub until: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Mpi {
    pub library: String,
    pub world: String,
    pub size: u32,
    pub rank: u32,
    pub thread_level: u32,
    pub enter: u64,
}

#[derive(Debug, Default, Clone)]
pub(crate) struct ThreadDef {
    pub os_thread: u32,
    pub name: String,
}

#[derive(Debug, Clone)]
pub(crate) struct RegionDef {
    pub level: u32,
    pub verb: String,
    pub role: u8,
    pub noun_kind: String,
    pub noun: String,
    pub file: String,
    pub line: u32,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct CommDef {
    pub kind: u8,
    pub parent: Option<u32>,
    pub number: u64,
    pub tag: i64,
    pub leader: i64,
    pub size: u32,
    pub rank: u32,
    pub remote_size: u32,
    pub members: Vec<(i64, u64)>,
    pub remote_members: Vec<(i64, u64)>,
    pub port: String,
    pub ticks: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct EventKindDef {
    pub name: String,
    pub attribute: bool,
    pub fields: Vec<(String, u8)>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Exchange {
    pub peer: u32,
    pub sent: u64,
    pub received: u64,
    pub returned: u64,
    pub came_back: u64,
}

/// The definitions of one process, window by window: (offset in its stream, bytes).
struct Text {
    pieces: Vec<(u64, Vec<u8>)>,
    lost: u64,
}

/// Decodes the definitions of all processes that left a stream, in the order of their keys.
pub(crate) fn read(index: &Index) -> Result<Vec<ProcessDefs>, Error> {
    let mut texts = FxHashMap::default();
    let mut keys: Vec<u64> = index.streams.iter().map(|stream| stream.process).collect();
    keys.dedup();
    for stream in index.streams.iter().filter(|stream| stream.kind == Stream::Definitions) {
        texts.insert(stream.process, text(index, stream)?);
    }
    Ok(keys.into_iter().map(|key| process(key, &texts)).collect())
}

fn text(index: &Index, stream: &StreamIndex) -> Result<Text, Error> {
    let mut pieces = Vec::new();
    for window in &stream.windows {
        let mut bytes = vec![0; usize::try_from(window.len()).expect("windows are below 2^30 bytes")];
        let read = index.read(window.file, window.offset + u64::from(window.records_at()), &mut bytes)?;
        bytes.truncate(read);
        pieces.push((window.bytes_before, bytes));
    }
    Ok(Text { pieces, lost: stream.lost })
}

fn process(key: u64, texts: &FxHashMap<u64, Text>) -> ProcessDefs {
    let mut defs = ProcessDefs { key, ..ProcessDefs::default() };
    match texts.get(&key) {
        Some(text) => {
            if let Some((parent, bytes)) = forked_from(text) {
                inherit(parent, bytes, texts, &mut defs, 0);
            }
            defs.take(text, u64::MAX, Whose::Own);
        }
        None => defs.damaged = true,
    }
    defs
}

fn forked_from(text: &Text) -> Option<(u64, u64)> {
    let (_, first) = text.pieces.first()?;
    match Definition::decode(first, &mut 0)?? {
        Definition::Process { forked_from: Some(parent), inherited, .. } => Some((parent, inherited)),
        _ => None,
    }
}

fn inherit(parent: u64, bytes: u64, texts: &FxHashMap<u64, Text>, defs: &mut ProcessDefs, generation: u32) {
    let Some(text) = texts.get(&parent).filter(|_| generation < MAX_GENERATIONS) else {
        defs.damaged = true;
        return;
    };
    if let Some((grandparent, bytes)) = forked_from(text) {
        inherit(grandparent, bytes, texts, defs, generation + 1);
    }
    defs.take(text, bytes, Whose::Inherited);
}

#[derive(Clone, Copy, PartialEq)]
enum Whose {
    Own,
    Inherited,
}

impl ProcessDefs {
    fn take(&mut self, text: &Text, until: u64, whose: Whose) {
        self.damaged |= text.lost != 0;
        for (before, bytes) in &text.pieces {
            let mut at = 0;
            while at < bytes.len() && before.saturating_add(at as u64) < until {
                match Definition::decode(bytes, &mut at) {
                    Some(Some(definition)) => self.define(definition, whose),
                    Some(None) => self.unknown += 1,
                    None => {
                        self.damaged = true;
                        break;
                    }
                }
            }
        }
    }

    fn define(&mut self, definition: Definition, whose: Whose) {
        use Definition as D;
        // What a child has in common with its parent are names; not threads, ranks, or its end.
        let own = whose == Whose::Own;
        match definition {
            D::Level { id, name, tier, built_on } => {
                self.levels.insert(id, (name, tier, built_on));
            }
            D::Region { id, level, verb, role, noun_kind, noun, file, line } => {
                self.regions.insert(id, RegionDef { level, verb, role, noun_kind, noun, file, line });
            }
            D::Function { region, module, vaddr } => {
                self.functions.insert(region, (module, vaddr));
            }
            D::Site { id, region, stack } => {
                self.sites.insert(id, (region, stack));
            }
            D::Stack { id, frames, .. } => {
                self.stacks.insert(id, frames);
            }
            D::Module { id, path, build_id, bias, start, end, .. } => {
                self.modules.insert(id, (build_id, path));
                self.mappings.push(Mapping { module: id, bias, start, end, until: u64::MAX });
            }
            D::Unmapped { id, ticks } => {
                let mut mappings = self.mappings.iter_mut();
                if let Some(mapping) = mappings.find(|it| it.module == id && it.until == u64::MAX) {
                    mapping.until = ticks;
                }
            }
            D::Datatype { id, name, size } => {
                self.datatypes.insert(id, (name, size));
            }
            D::File { id, name } => {
                self.files.insert(id, name);
            }
            D::EventKind { id, name, attribute, fields } => {
                self.event_kinds.insert(id, EventKindDef { name, attribute, fields });
            }
            D::Counter { id, name, unit } => {
                self.counters.insert(id, (name, unit));
            }
            D::Counted { id, name, unit, source } => {
                self.counted.insert(id, (name, unit, source));
            }
            D::Data {
                id,
                kind,
                name,
                place,
                from_frame,
                within,
                site,
                address,
                bytes,
                element,
                code,
                bounds,
                ticks,
            } => {
                self.data.insert(
                    id,
                    DataDef {
                        kind,
                        name,
                        place,
                        from_frame,
                        within,
                        site,
                        address,
                        bytes,
                        element,
                        code,
                        bounds,
                        ticks,
                        until: 0,
                    },
                );
            }
            D::DataFreed { id, ticks } => {
                if let Some(data) = self.data.get_mut(&id) {
                    data.until = ticks;
                }
            }
            D::DataName { id, name } => {
                if let Some(data) = self.data.get_mut(&id) {
                    data.name = name;
                }
            }
            D::WindowData { window, data } => {
                self.window_data.push((window, data));
            }
            D::RegionData { region, data } => {
                self.region_data.insert(region, data);
            }
            D::Shape { id, dimensions } => {
                self.shapes.insert(id, dimensions);
            }
            // A forked child goes on as its parent was.
            D::Reduced { site, ticks, share, .. } => {
                self.reduced.push(ReducedDef { site, ticks, share });
            }
            other if own => self.define_own(other),
            _ => {}
        }
    }

    fn define_own(&mut self, definition: Definition) {
        use Definition as D;
        match definition {
            D::Process {
                pid,
                parent_pid,
                host,
                boot,
                clock,
                start,
                command,
                executable,
                environment,
                pair_cost,
                ..
            } => {
                (self.pid, self.parent_pid) = (pid, parent_pid);
                (self.host, self.boot, self.clock, self.start) = (host, boot, clock, start);
                (self.command, self.executable, self.environment) = (command, executable, environment);
                self.pair_cost = pair_cost;
                self.is_defined = true;
            }
            D::Mpi { library, world, size, rank, thread_level, enter, .. } => {
                self.mpi = Some(Mpi { library, world, size, rank, thread_level, enter });
            }
            D::Thread { serial, os_thread, name, .. } => {
                self.threads.insert(serial, ThreadDef { os_thread, name });
            }
            D::Communicator {
                id,
                kind,
                parent,
                number,
                tag,
                leader,
                size,
                rank,
                remote_size,
                members,
                remote_members,
                port,
                ticks,
            } => {
                let def = CommDef {
                    kind,
                    parent,
                    number,
                    tag,
                    leader,
                    size,
                    rank,
                    remote_size,
                    members,
                    remote_members,
                    port,
                    ticks,
                };
                self.communicators.insert(id, def);
            }
            D::CommunicatorName { id, name } => {
                self.communicator_names.insert(id, name);
            }
            D::Window { id, communicator, number, .. } => {
                self.windows.insert(id, (communicator, number));
            }
            D::Lane { id, name, ticks } => {
                self.lanes.insert(id, (name, ticks));
            }
            D::Exchange { peer, sent, received, returned, came_back } => {
                self.exchanges.push(Exchange { peer, sent, received, returned, came_back });
            }
            D::Rules { text } => self.rules = text,
            D::Budget { share, count_cost } => self.budget = Some((share, count_cost)),
            D::Resources { peak_memory, user_ns, system_ns, major_faults, waits, preemptions } => {
                let (user, system) = (user_ns, system_ns);
                self.resources =
                    Some(Resources { peak_memory, user, system, major_faults, waits, preemptions });
            }
            D::Idle { thread, ticks, by, kind, site, since, wait } => {
                self.idle.insert(thread, IdleDef { ticks, by, kind, site, since, wait });
            }
            D::Ending { kind, code, end } => self.ending = Some((kind, code, end)),
            D::Trouble { kind, count, detail } => self.troubles.push((kind, count, detail)),
            _ => {}
        }
    }
}
