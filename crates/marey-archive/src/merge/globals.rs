//! Numbers that hold for the whole run: levels, nouns, regions, stacks and all else that several
//! processes define, each once.
//!
//! The one idea: things are the same if their content is. Processes are gone through in their
//! final order and their definitions in the order of their numbers, so the same input always gets
//! the same numbers.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};

use marey_model::counters::PROGRAM;
use marey_model::spool::{FieldType, Stream};
use marey_model::{Level, Role, is_recorder};
use rustc_hash::FxHashMap;

use super::arrays::{ArrayRow, DataPlace};
use super::clock::Clock;
use super::definitions::{CounterKind, IdleDef, ProcessDefs, Shape};
use super::identity::{Communicators, Seen};
use super::index::Index;
use super::windows::{self, Windows};
use crate::schema::NONE;

/// A site whose number is above this is not believed.
const MAX_SITE: u32 = 1 << 24;

/// Kind of the nouns that are files.
const FILE: &str = "file";

/// Gives numbers to different values in the order of their first appearance.
#[derive(Debug)]
pub(crate) struct Interner<K> {
    pub rows: Vec<K>,
    known: FxHashMap<K, u32>,
}

impl<K> Default for Interner<K> {
    fn default() -> Self {
        Self { rows: Vec::new(), known: FxHashMap::default() }
    }
}

impl<K: Clone + Eq + Hash> Interner<K> {
    pub(crate) fn id(&mut self, key: K) -> u32 {
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        let id = u32::try_from(self.rows.len()).expect("fewer than 2^32 of a kind fit in memory");
        self.rows.push(key.clone());
        self.known.insert(key, id);
        id
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct LevelRow {
    pub name: String,
    pub tier: u8,
    pub built_on: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct NounRow {
    pub level: u32,
    pub kind: String,
    pub name: String,
    pub file: String,
    pub line: u32,
    /// Tells apart what has the same name: the communicator, process or number; else 0.
    pub distinct: u64,
}

/// A function of which only the address is known: module and virtual address.
pub(crate) type Place = (u32, u64);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct RegionRow {
    pub level: u32,
    pub verb: u32,
    pub noun: u32,
    pub file: String,
    pub line: u32,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct VerbRow {
    pub level: u32,
    pub name: String,
    pub role: u8,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct EventKindRow {
    pub name: String,
    pub attribute: bool,
    pub fields: Vec<(String, u8)>,
}

/// All dictionaries of the run.
#[derive(Debug, Default)]
pub(crate) struct Globals {
    pub levels: Interner<LevelRow>,
    pub nouns: Interner<NounRow>,
    pub verbs: Interner<VerbRow>,
    pub regions: Interner<RegionRow>,
    /// Nouns that are functions of which only the address is known.
    pub functions: BTreeMap<u32, Place>,
    /// Data of all processes, in the order of their numbers.
    pub arrays: Vec<ArrayRow>,
    /// Where nouns that are data have their names from.
    pub data: BTreeMap<u32, DataPlace>,
    /// The same the other way round.
    pub known_data: FxHashMap<DataPlace, u32>,
    pub shapes: Interner<Shape>,
    pub modules: Interner<(Vec<u8>, String)>,
    pub stacks: Interner<Vec<(u32, u64)>>,
    pub datatypes: Interner<(String, u64)>,
    pub counter_kinds: Interner<CounterKind>,
    pub event_kinds: Interner<EventKindRow>,
    /// Sets of further nouns, one noun each.
    pub participants: Interner<u32>,
    pub communicators: Communicators,
    pub windows: Windows,
    pub locations: Vec<Location>,
    /// Id of the level `mpi`.
    pub mpi_level: u32,
    /// Stands for sites that were never defined; used if the flag says so.
    pub unknown_region: u32,
    pub used_unknown: AtomicBool,
    /// Stands for call paths for which a recorder that added up had no place; used if the flag says so.
    pub other_region: u32,
    pub used_other: AtomicBool,
}

/// A location of the run.
#[derive(Debug, Clone)]
pub(crate) struct Location {
    pub process: u32,
    pub name: String,
    pub is_lane: bool,
    pub thread: u32,
    pub os_thread: i64,
    /// First reading, where one is known.
    pub ticks: Option<u64>,
    /// Which of [`Index::streams`] it is; `None` for a lane.
    pub stream: Option<usize>,
}

/// What a site leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub region: u32,
    pub stack: u32,
    pub level: u32,
}

/// A noun that can take part in an interval, and the set of it alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub noun: u32,
    pub set: u32,
}

/// Names and types of an event's fields; `None` for a type of a later version.
type Fields = Vec<(String, Option<FieldType>)>;

/// What the decoder of a process's streams has to know.
#[derive(Debug)]
pub(crate) struct Context {
    pub process: u32,
    pub clock: Clock,
    pub sites: Vec<Option<Site>>,
    pub unknown_site: Site,
    pub communicators: FxHashMap<u32, (Seen, Part)>,
    pub datatypes: FxHashMap<u32, u32>,
    /// With what else is known of them.
    pub windows: FxHashMap<u32, (Part, windows::Seen)>,
    pub files: FxHashMap<u32, Part>,
    /// With the row in [`Globals::arrays`].
    pub data: FxHashMap<u32, (u32, Part)>,
    pub shapes: FxHashMap<u32, u32>,
    /// Id and the name and type of each field.
    pub event_kinds: FxHashMap<u32, (u32, Fields)>,
    pub counters: FxHashMap<u32, u32>,
    /// Those that are read beside the time.
    pub counted: FxHashMap<u32, u32>,
    /// Locations of threads and lanes by their numbers in the process.
    pub threads: FxHashMap<u32, u32>,
    pub lanes: FxHashMap<u32, u32>,
    /// By their numbers in the process, threads that had ended all their regions before it ended.
    pub idle: BTreeMap<u32, IdleDef>,
    pub mpi_level: u32,
    /// Nobody knows when what is in sums was done.
    pub without_times: bool,
}

impl Context {
    /// The process of a rank in the world of this one.
    pub(crate) fn worlds_process(&self, globals: &Globals, rank: i64) -> u32 {
        // Every process numbers its world 0.
        self.communicators.get(&0).map_or(NONE, |(world, _)| globals.process_of(world.id, rank))
    }

    pub(crate) fn site(&self, globals: &Globals, site: u32) -> Site {
        match self.sites.get(site as usize) {
            Some(Some(site)) => *site,
            _ => {
                globals.used_unknown.store(true, Ordering::Relaxed);
                self.unknown_site
            }
        }
    }
}

/// Modules and stacks of the run by the numbers that a process has given them.
pub(crate) struct Numbers {
    pub modules: FxHashMap<u32, u32>,
    pub stacks: FxHashMap<u32, u32>,
}

/// What all processes have said, and the numbers of that.
#[derive(Clone, Copy)]
pub(crate) struct All<'a> {
    pub processes: &'a [ProcessDefs],
    pub numbers: &'a [Numbers],
}

/// Makes the dictionaries, and for each process the way from its numbers to them.
pub(crate) fn build(
    index: &Index,
    processes: &[ProcessDefs],
    clocks: &[Clock],
    communicators: Communicators,
) -> (Globals, Vec<Context>) {
    let windows = Windows::new(processes, &communicators);
    let mut globals = Globals { communicators, windows, ..Globals::default() };
    // A window may be called after what lies with another process.
    let numbers: Vec<Numbers> = processes.iter().map(|process| globals.numbers(process)).collect();
    let all = All { processes, numbers: &numbers };
    let mut contexts: Vec<Context> =
        (0..processes.len()).map(|idx| globals.process(idx, all, clocks[idx].clone(), index)).collect();
    globals.reserve_regions();
    let level = globals.level(Level::SOURCE);
    for context in &mut contexts {
        context.unknown_site = Site { region: globals.unknown_region, stack: NONE, level };
        context.mpi_level = globals.mpi_level;
    }
    (globals, contexts)
}

impl Globals {
    /// The process that has a rank in a communicator of one group; [`NONE`] if it was not measured.
    pub(crate) fn process_of(&self, communicator: u32, rank: i64) -> u32 {
        let known = self.communicators.rows.get(communicator as usize).filter(|known| !known.inter);
        let rank = u32::try_from(rank).ok();
        known.zip(rank).and_then(|(known, rank)| known.members.get(&(0, rank))).copied().unwrap_or(NONE)
    }

    /// Reserves the regions that stand for others, whether or not they are used: that only decoding can tell.
    pub(crate) fn reserve_regions(&mut self) {
        self.unknown_region = self.regions.rows.len() as u32;
        self.other_region = self.unknown_region + 1;
    }

    /// What stands for call paths that share their sums.
    pub(crate) fn other_paths(&self, context: &Context) -> Site {
        self.used_other.store(true, Ordering::Relaxed);
        Site { region: self.other_region, ..context.unknown_site }
    }

    /// Id of a level by name; made if no process defined it.
    pub(crate) fn level(&mut self, name: &str) -> u32 {
        match self.levels.rows.iter().position(|level| level.name == name) {
            Some(place) => place as u32,
            None => self.levels.id(LevelRow { name: name.to_owned(), tier: 0, built_on: Vec::new() }),
        }
    }

    fn process(&mut self, idx: usize, all: All<'_>, clock: Clock, index: &Index) -> Context {
        let (process, numbers) = (&all.processes[idx], &all.numbers[idx]);
        let mut levels = FxHashMap::default();
        for (&id, (name, tier, built_on)) in &process.levels {
            let known = self.levels.rows.iter().position(|level| level.name == *name);
            let row = || LevelRow { name: name.clone(), tier: *tier, built_on: built_on.clone() };
            let global = known.map_or_else(|| self.levels.id(row()), |place| place as u32);
            levels.insert(id, global);
        }
        self.mpi_level = self.level(Level::MPI);
        let data = self.process_data(idx, all, &clock);
        let shapes = process.shapes.iter().map(|(&id, shape)| (id, self.shapes.id(shape.clone()))).collect();
        let sites = self.sites(process, &levels, numbers, &data);
        let (threads, lanes) = self.locations(idx, process, index);
        let communicators = self.communicators(idx, process);
        let seen = self.windows.of_process(idx).clone();
        let windows = seen.into_iter().map(|(id, seen)| {
            let (comm, number) = (seen.communicator, seen.number);
            let distinct = u64::from(comm) << 32 | number & 0xffff_ffff;
            (id, (self.part("window", format!("window {number}"), distinct), seen))
        });
        let windows = windows.collect();
        let files = process.files.iter().map(|(&id, name)| (id, self.file(name)));
        let files = files.collect();
        let datatypes = process.datatypes.iter();
        let datatypes = datatypes.map(|(&id, (name, size))| (id, self.datatypes.id((name.clone(), *size))));
        let datatypes = datatypes.collect();
        let counters =
            process.counters.iter().map(|(&id, (name, unit))| (id, self.program_counter(name, unit)));
        let counters = counters.collect();
        let counted =
            process.counted.iter().map(|(&id, counter)| (id, self.counter_kinds.id(counter.clone())));
        let counted = counted.collect();
        let event_kinds = process.event_kinds.iter().map(|(&id, kind)| {
            let row = EventKindRow {
                name: kind.name.clone(),
                attribute: kind.attribute,
                fields: kind.fields.clone(),
            };
            let fields = kind.fields.iter().map(|(name, code)| (name.clone(), FieldType::from_code(*code)));
            (id, (self.event_kinds.id(row), fields.collect()))
        });
        let event_kinds = event_kinds.collect();
        Context {
            process: idx as u32,
            clock,
            sites,
            unknown_site: Site { region: 0, stack: NONE, level: 0 },
            communicators,
            datatypes,
            windows,
            files,
            data,
            shapes,
            event_kinds,
            counters,
            counted,
            threads,
            lanes,
            idle: process.idle.clone(),
            mpi_level: 0,
            without_times: false,
        }
    }

    fn program_counter(&mut self, name: &str, unit: &str) -> u32 {
        self.counter_kinds.id((name.to_owned(), unit.to_owned(), PROGRAM.to_owned()))
    }

    /// The number of a stack; of one without frames there is nothing to say.
    pub(crate) fn stack(&mut self, frames: Vec<(u32, u64)>) -> u32 {
        if frames.is_empty() { NONE } else { self.stacks.id(frames) }
    }

    /// Modules and stacks of a process by its own numbers.
    fn numbers(&mut self, process: &ProcessDefs) -> Numbers {
        let modules: FxHashMap<u32, u32> =
            process.modules.iter().map(|(&id, module)| (id, self.modules.id(module.clone()))).collect();
        let is_ours = |module: &u32| process.modules.get(module).is_some_and(|(_, path)| is_recorder(path));
        let mut stacks = FxHashMap::default();
        for (&id, frames) in &process.stacks {
            // A call may come from inside of another one that is measured; that the recorder stands in between is nobody's
            // matter.
            let frames = frames.iter().filter(|(module, _)| !is_ours(module));
            let frames =
                frames.map(|&(module, vaddr)| (modules.get(&module).copied().unwrap_or(NONE), vaddr));
            stacks.insert(id, self.stack(frames.collect()));
        }
        Numbers { modules, stacks }
    }

    fn sites(
        &mut self,
        process: &ProcessDefs,
        levels: &FxHashMap<u32, u32>,
        Numbers { modules, stacks }: &Numbers,
        data: &FxHashMap<u32, (u32, Part)>,
    ) -> Vec<Option<Site>> {
        let mut regions = FxHashMap::default();
        for (&id, def) in &process.regions {
            let level = levels.get(&def.level).copied();
            let level = level.unwrap_or_else(|| self.level(Level::SOURCE));
            let verb = self.verbs.id(VerbRow { level, name: def.verb.clone(), role: def.role });
            let datum = process.region_data.get(&id).and_then(|datum| data.get(datum));
            let noun = if let Some((_, part)) = datum {
                part.noun
            } else if def.noun.is_empty() && def.noun_kind.is_empty() {
                NONE
            } else {
                let (kind, name) = (def.noun_kind.clone(), def.noun.clone());
                let (file, line) = (def.file.clone(), def.line);
                let place = process.functions.get(&id);
                let place =
                    place.map(|(module, vaddr)| (modules.get(module).copied().unwrap_or(NONE), *vaddr));
                // The same place in two modules of one name is not the same.
                let distinct = place.map_or(0, |place| u64::from(place.0) + 1);
                // Whatever acts on a file, on whichever level, acts on the same one.
                let level = if kind == FILE { self.file_level() } else { level };
                let noun = self.nouns.id(NounRow { level, kind, name, file, line, distinct });
                self.functions.extend(place.map(|place| (noun, place)));
                noun
            };
            let row = RegionRow { level, verb, noun, file: def.file.clone(), line: def.line };
            regions.insert(id, (self.regions.id(row), level));
        }
        let len = process.sites.keys().next_back().map_or(0, |&last| last.min(MAX_SITE) as usize + 1);
        let mut sites = vec![None; len];
        for (&id, (region, stack)) in process.sites.range(..=MAX_SITE) {
            let stack = stack.and_then(|stack| stacks.get(&stack)).copied().unwrap_or(NONE);
            sites[id as usize] = regions.get(region).map(|&(region, level)| Site { region, stack, level });
        }
        sites
    }

    fn part(&mut self, kind: &str, name: String, distinct: u64) -> Part {
        let (kind, file) = (kind.to_owned(), String::new());
        let noun = self.nouns.id(NounRow { level: self.mpi_level, kind, name, file, line: 0, distinct });
        Part { noun, set: self.participants.id(noun) }
    }

    fn file(&mut self, name: &str) -> Part {
        let (kind, name, level) = (FILE.to_owned(), name.to_owned(), self.file_level());
        let noun = self.nouns.id(NounRow { level, kind, name, file: String::new(), line: 0, distinct: 0 });
        Part { noun, set: self.participants.id(noun) }
    }

    /// The level that files are nouns of; recorders of before version 5 did not speak of it.
    fn file_level(&self) -> u32 {
        let known = self.levels.rows.iter().position(|level| level.name == Level::FILES);
        known.map_or(self.mpi_level, |place| place as u32)
    }

    fn communicators(&mut self, idx: usize, process: &ProcessDefs) -> FxHashMap<u32, (Seen, Part)> {
        let mut found = FxHashMap::default();
        for &number in process.communicators.keys() {
            let seen = self.communicators.seen[idx][&number];
            let row = &self.communicators.rows[seen.id as usize];
            let name =
                if row.name.is_empty() { format!("communicator {}", seen.id) } else { row.name.clone() };
            found.insert(number, (seen, self.part("communicator", name, u64::from(seen.id) + 1)));
        }
        found
    }

    /// Adds the locations of a process: its threads, what ran in their signal handlers, its lanes.
    fn locations(
        &mut self,
        idx: usize,
        process: &ProcessDefs,
        index: &Index,
    ) -> (FxHashMap<u32, u32>, FxHashMap<u32, u32>) {
        let (mut threads, mut lanes) = (FxHashMap::default(), FxHashMap::default());
        for place in index.streams_of(process.key) {
            let stream = &index.streams[place];
            if stream.kind == Stream::Definitions {
                continue;
            }
            let def = process.threads.get(&stream.thread).cloned().unwrap_or_default();
            let base = if def.name.is_empty() { format!("thread {}", stream.thread) } else { def.name };
            let is_lane = stream.kind == Stream::Second;
            let id = self.locations.len() as u32;
            if !is_lane {
                threads.insert(stream.thread, id);
            }
            self.locations.push(Location {
                process: idx as u32,
                name: if is_lane { format!("{base} (signal handlers)") } else { base },
                is_lane,
                thread: stream.thread,
                os_thread: if def.os_thread == 0 { -1 } else { def.os_thread.into() },
                ticks: stream.windows.first().map(|window| window.ticks),
                stream: Some(place),
            });
        }
        for (&lane, (name, ticks)) in &process.lanes {
            lanes.insert(lane, self.locations.len() as u32);
            self.locations.push(Location {
                process: idx as u32,
                name: name.clone(),
                is_lane: true,
                thread: lane,
                os_thread: -1,
                ticks: Some(*ticks),
                stream: None,
            });
        }
        (threads, lanes)
    }

    /// Role of a verb; what an unknown code means is nobody's matter.
    pub(crate) fn role(verb: &VerbRow) -> &'static str {
        Role::from_code(verb.role).unwrap_or(Role::Manage).name()
    }
}
