//! An archive as analysis sees it.
//!
//! The one idea: definitions and sums fit in memory, whatever the length of the run, so they are
//! read once and handed out as slices.
//!
//! What is deliberately absent: intervals, messages and everything else that grows with the run.

mod data;

use marey_analyze::{
    AccessRow, AllocationRow, Array, ArrayMessagesRow, BinRow, CallPath, CommunicationRow, Communicator,
    CommunicatorId, CountedRow, Counter, CounterId, Datum, Frame, HeapRow, Location, LocationKind,
    OpenRegion, Problem, Process, ProcessClock, ProfileRow, ReducedRow, Region, SampledRow, Trace,
};
use marey_model::counters::PROGRAM;
use marey_model::spool::MAX_DEPTH;
use marey_model::{CallPathId, LocationId, Nanos, ProcessId, RegionId, Role, StackId, ThreadSerial, Tier};
use rustc_hash::FxHashMap;

use crate::array_messages;
use crate::columns::Columns;
use crate::schema::NONE;
use crate::{Archive, Error};

/// Definitions and sums of a run.
#[derive(Debug)]
pub struct RunTrace {
    duration: Nanos,
    regions: Vec<Region>,
    call_paths: Vec<CallPath>,
    stacks: Stacks,
    processes: Vec<Process>,
    locations: Vec<Location>,
    communicators: Vec<Communicator>,
    profile: Vec<ProfileRow>,
    lanes: Vec<ProfileRow>,
    reduced: Vec<ReducedRow>,
    durations: Vec<BinRow>,
    sizes: Vec<BinRow>,
    communication: Vec<CommunicationRow>,
    data: Vec<Datum>,
    array_messages: Vec<ArrayMessagesRow>,
    samples: Vec<SampledRow>,
    counters: Vec<Counter>,
    counted: Vec<CountedRow>,
    allocations: Vec<AllocationRow>,
    heaps: Vec<HeapRow>,
    problems: Vec<Problem>,
    clocks: Vec<ProcessClock>,
    open_at_end: Option<Vec<OpenRegion>>,
    arrays: Vec<Array>,
    accessed: Vec<AccessRow>,
}

/// Call stacks: each address has its frames once, however many stacks lead through it.
#[derive(Debug, Default)]
struct Stacks {
    /// For each stack, places in `addresses`, innermost first.
    stacks: Vec<Vec<usize>>,
    /// For each address, its frames, the innermost inlined function first.
    addresses: Vec<Vec<Frame>>,
}

impl RunTrace {
    /// Reads what analysis needs of an archive.
    pub fn load(archive: &Archive) -> Result<Self, Error> {
        // The largest by far, where locations are many: a row for each power of two of each call path.
        let bins = || Ok((durations(&archive.table("durations")?)?, sizes(&archive.table("sizes")?)?));
        let (bins, others) = rayon::join(bins, || Self::without_bins(archive));
        let ((mut durations, mut sizes), others) = (bins?, others?);
        for rows in [&mut durations, &mut sizes] {
            rows.retain(|row| has_time(&others.locations, row.location));
        }
        Ok(Self { durations, sizes, ..others })
    }

    fn without_bins(archive: &Archive) -> Result<Self, Error> {
        // What is wrong is said of the table that others are about.
        let regions = regions(&archive.table("regions")?, &tiers(&archive.table("levels")?)?)?;
        let call_paths = call_paths(&archive.table("call_paths")?)?;
        let locations = locations(&archive.table("locations")?)?;
        let (profile, lanes) = profile(&archive.table("profile")?)?
            .into_iter()
            .partition(|row: &ProfileRow| has_time(&locations, row.location));
        let (data, array_messages) = array_messages::messages(archive)?;
        Ok(Self {
            data,
            array_messages,
            duration: Nanos(archive.meta().run.duration_ns),
            regions,
            call_paths,
            stacks: Stacks::load(archive)?,
            processes: processes(&archive.table("processes")?)?,
            locations,
            communicators: communicators(&archive.table("communicators")?)?,
            profile,
            lanes,
            reduced: reduced(&archive.table("reduced")?)?,
            durations: Vec::new(),
            sizes: Vec::new(),
            communication: communication(&archive.table("communication")?)?,
            samples: samples(&archive.table("sampled")?)?,
            counters: counters(&archive.table("counter_kinds")?, &archive.table("counter_coverage")?)?,
            counted: counted(&archive.table("counted")?)?,
            allocations: allocations(&archive.table("allocations")?)?,
            heaps: heaps(&archive.table("heap")?)?,
            problems: recounted(problems(&archive.table("problems")?)?, archive),
            clocks: clocks(&archive.table("clocks")?, &archive.table("clock_knots")?)?,
            open_at_end: open_at_end(archive)?,
            arrays: data::arrays(&archive.table("arrays")?, &archive.table("nouns")?)?,
            accessed: data::accessed(&archive.table("accessed")?)?,
        })
    }
}

impl Trace for RunTrace {
    fn arrays(&self) -> &[Array] {
        &self.arrays
    }

    fn accessed(&self) -> &[AccessRow] {
        &self.accessed
    }

    fn duration(&self) -> Nanos {
        self.duration
    }

    fn regions(&self) -> &[Region] {
        &self.regions
    }

    fn call_paths(&self) -> &[CallPath] {
        &self.call_paths
    }

    fn stack(&self, stack: StackId) -> Vec<&Frame> {
        let addresses = self.stacks.stacks.get(stack.idx()).map_or(&[][..], Vec::as_slice);
        addresses.iter().flat_map(|&address| &self.stacks.addresses[address]).collect()
    }

    fn inlined_together(&self, stack: StackId) -> usize {
        let innermost = self.stacks.stacks.get(stack.idx()).and_then(|addresses| addresses.first());
        innermost.map_or(0, |&address| self.stacks.addresses[address].len())
    }

    fn processes(&self) -> &[Process] {
        &self.processes
    }

    fn locations(&self) -> &[Location] {
        &self.locations
    }

    fn communicators(&self) -> &[Communicator] {
        &self.communicators
    }

    fn profile(&self) -> &[ProfileRow] {
        &self.profile
    }

    fn lanes(&self) -> &[ProfileRow] {
        &self.lanes
    }

    fn reduced(&self) -> &[ReducedRow] {
        &self.reduced
    }

    fn durations(&self) -> &[BinRow] {
        &self.durations
    }

    fn sizes(&self) -> &[BinRow] {
        &self.sizes
    }

    fn communication(&self) -> &[CommunicationRow] {
        &self.communication
    }

    fn data(&self) -> &[Datum] {
        &self.data
    }

    fn array_messages(&self) -> &[ArrayMessagesRow] {
        &self.array_messages
    }

    fn samples(&self) -> &[SampledRow] {
        &self.samples
    }

    fn counters(&self) -> &[Counter] {
        &self.counters
    }

    fn counted(&self) -> &[CountedRow] {
        &self.counted
    }

    fn allocations(&self) -> &[AllocationRow] {
        &self.allocations
    }

    fn heaps(&self) -> &[HeapRow] {
        &self.heaps
    }

    fn problems(&self) -> &[Problem] {
        &self.problems
    }

    fn clocks(&self) -> &[ProcessClock] {
        &self.clocks
    }

    fn open_at_end(&self) -> Option<&[OpenRegion]> {
        self.open_at_end.as_deref()
    }
}

impl Stacks {
    fn load(archive: &Archive) -> Result<Self, Error> {
        let modules = archive.table("modules")?;
        check_ids(&modules)?;
        let paths = modules.text("path")?;
        let known = frames(&archive.table("frames")?)?;
        let rows = archive.table("stacks")?;
        let (ids, depths) = (rows.u32("id")?, rows.u32("frame")?);
        let (of_module, vaddrs) = (rows.u32("module")?, rows.i64("vaddr")?);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&row| (ids[row], depths[row]));
        let mut found = Self::default();
        let mut places: FxHashMap<(u32, i64), usize> = FxHashMap::default();
        for row in order {
            // Every stack has a row, so a gap in the ids is damage and must not take memory.
            let id = ids[row] as usize;
            if id > found.stacks.len() {
                return Err(Error::WrongId { table: "stacks", row: row as u64, found: ids[row] });
            }
            if id == found.stacks.len() {
                found.stacks.push(Vec::new());
            }
            let address = (of_module[row], vaddrs[row]);
            let place = *places.entry(address).or_insert_with(|| {
                let module = paths.get(address.0 as usize).map(String::as_str);
                let frames = known.get(&address).cloned();
                found.addresses.push(frames.unwrap_or_else(|| vec![unnamed(module, address.1)]));
                found.addresses.len() - 1
            });
            found.stacks[id].push(place);
        }
        Ok(found)
    }
}

/// Frames of each address, the innermost first; those of which nothing is known are left out.
fn frames(rows: &Columns) -> Result<FxHashMap<(u32, i64), Vec<Frame>>, Error> {
    let (modules, vaddrs) = (rows.u32("module")?, rows.i64("vaddr")?);
    let (depths, lines) = (rows.u32("inline_depth")?, rows.u32("line")?);
    let (functions, files) = (rows.text("function")?, rows.text("file")?);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&row| (modules[row], vaddrs[row], depths[row]));
    let mut frames: FxHashMap<(u32, i64), Vec<Frame>> = FxHashMap::default();
    for row in order {
        let frame = Frame { function: functions[row].clone(), file: files[row].clone(), line: lines[row] };
        if frame != Frame::default() {
            frames.entry((modules[row], vaddrs[row])).or_default().push(frame);
        }
    }
    Ok(frames)
}

/// A frame of which only the address is known: `libx.so+0x1234`, which tools can look up.
fn unnamed(module: Option<&str>, vaddr: i64) -> Frame {
    let name = module.and_then(|path| path.rsplit('/').next()).unwrap_or("?");
    Frame { function: format!("{name}+{vaddr:#x}"), ..Frame::default() }
}

/// Where each level stands; of a later version's tiers nothing is known but that they are below the user's words.
fn tiers(rows: &Columns) -> Result<FxHashMap<u32, Tier>, Error> {
    let tier = |name: &String| Tier::ALL.into_iter().find(|tier| tier.name() == name);
    let rows = rows.u32("id")?.iter().zip(rows.text("tier")?);
    Ok(rows.map(|(id, name)| (*id, tier(name).unwrap_or(Tier::Runtime))).collect())
}

fn regions(rows: &Columns, tiers: &FxHashMap<u32, Tier>) -> Result<Vec<Region>, Error> {
    check_ids(rows)?;
    let level_ids = rows.u32("level_id")?;
    let (levels, verbs, nouns) = (rows.text("level")?, rows.text("verb")?, rows.text("noun")?);
    let (roles, files, lines) = (rows.text("role")?, rows.text("file")?, rows.u32("line")?);
    let tier = |row: usize| tiers.get(&level_ids[row]).copied().unwrap_or(Tier::Runtime);
    let region = |row: usize| Region {
        level: levels[row].clone(),
        tier: tier(row),
        verb: verbs[row].clone(),
        noun: nouns[row].clone(),
        role: role(&roles[row]),
        file: files[row].clone(),
        line: lines[row],
        label: (tier(row) == Tier::Model && !nouns[row].is_empty()).then(|| label(&verbs[row], &nouns[row])),
    };
    Ok((0..rows.len()).map(region).collect())
}

/// What a region of a programming model is called: verb and noun, unless that would say the same word twice, as of the
/// noun `dynamic loop`.
fn label(verb: &str, noun: &str) -> Box<str> {
    let mut words = noun.split(|c: char| !c.is_alphanumeric() && c != '_');
    if words.any(|word| word == verb) { noun.into() } else { format!("{verb} {noun}").into() }
}

/// The role of a name; one that a later version has added counts as book-keeping.
fn role(name: &str) -> Role {
    Role::ALL.into_iter().find(|role| role.name() == name).unwrap_or(Role::Manage)
}

/// Regions of a thread, and what libraries and files add inside of the last.
const DEEPEST: usize = 2 * MAX_DEPTH;

fn call_paths(rows: &Columns) -> Result<Vec<CallPath>, Error> {
    check_ids(rows)?;
    let (parents, regions, stacks) = (rows.u32("parent")?, rows.u32("region")?, rows.u32("stack")?);
    let mut paths: Vec<CallPath> = Vec::with_capacity(rows.len());
    let mut depths: Vec<usize> = Vec::with_capacity(rows.len());
    for row in 0..rows.len() {
        // A parent stands before its children. What a damaged table says otherwise stands beneath nothing, so that who
        // walks up comes to an end; and soon, for nothing is deeper than a recorder follows.
        let mut parent = some(parents[row]).filter(|parent| (*parent as usize) < row).map(CallPathId);
        let depth = parent.map_or(0, |parent| depths[parent.idx()] + 1);
        if depth > DEEPEST {
            parent = parent.and_then(|parent| paths[parent.idx()].parent);
        }
        depths.push(depth.min(DEEPEST));
        paths.push(CallPath {
            parent,
            region: RegionId(regions[row]),
            stack: some(stacks[row]).map(StackId),
        });
    }
    Ok(paths)
}

fn processes(rows: &Columns) -> Result<Vec<Process>, Error> {
    check_ids(rows)?;
    let (hosts, pids, outcomes) = (rows.text("host")?, rows.u32("pid")?, rows.text("outcome")?);
    let (worlds, ranks) = (rows.u32("world")?, rows.i64("rank")?);
    let (starts, ends) = (rows.i64("start")?, rows.i64("end")?);
    let codes = rows.i64("exit_code")?;
    let (memory, user, system) = (rows.i64("peak_memory")?, rows.i64("user_time")?, rows.i64("system_time")?);
    let process = |row: usize| Process {
        host: hosts[row].clone(),
        pid: pids[row],
        world: worlds[row],
        rank: u32::try_from(ranks[row]).ok(),
        start: Nanos(starts[row]),
        end: Nanos(ends[row]),
        outcome: outcomes[row].clone(),
        exit_code: Some(codes[row]).filter(|&code| code >= 0),
        peak_memory: u64::try_from(memory[row]).ok(),
        processor_time: (user[row] >= 0 && system[row] >= 0)
            .then(|| Nanos(user[row].saturating_add(system[row]))),
    };
    Ok((0..rows.len()).map(process).collect())
}

/// Clocks of processes. Archives of before version 4 have neither knots nor numbers of clocks.
fn clocks(rows: &Columns, knots: &Columns) -> Result<Vec<ProcessClock>, Error> {
    let bound = |ns: i64| (ns >= 0).then_some(Nanos(ns));
    let mut of_process: FxHashMap<u32, Vec<(Nanos, Option<Nanos>)>> = FxHashMap::default();
    let (processes, times, bounds) =
        (knots.u32("process")?, knots.i64("time")?, knots.i64("uncertainty_ns")?);
    for ((process, time), ns) in processes.iter().zip(times).zip(bounds) {
        of_process.entry(*process).or_default().push((Nanos(*time), bound(*ns)));
    }
    let (processes, bounds) = (rows.u32("process")?, rows.i64("uncertainty_ns")?);
    let numbers = rows.u32("clock")?;
    let clock = |row: usize| {
        let mut knots = of_process.remove(&processes[row]).unwrap_or_default();
        if knots.is_empty() {
            knots.push((Nanos(0), bound(bounds[row])));
        }
        knots.sort_by_key(|knot| knot.0);
        ProcessClock { process: ProcessId(processes[row]), clock: some(numbers[row]), knots }
    };
    Ok((0..rows.len()).map(clock).collect())
}

/// Whether a location has time of its own; one that is not known has.
fn has_time(locations: &[Location], id: LocationId) -> bool {
    locations.get(id.idx()).is_none_or(Location::has_time)
}

fn locations(rows: &Columns) -> Result<Vec<Location>, Error> {
    check_ids(rows)?;
    let (processes, threads) = (rows.u32("process")?, rows.u32("thread")?);
    let (names, kinds) = (rows.text("name")?, rows.text("kind")?);
    let (starts, ends, threads_of_system) = (rows.i64("start")?, rows.i64("end")?, rows.i64("os_thread")?);
    let location = |row: usize| Location {
        process: ProcessId(processes[row]),
        name: names[row].clone(),
        kind: match (kinds[row].as_str(), threads_of_system[row]) {
            ("lane", -1) => LocationKind::Lane,
            ("lane", _) => LocationKind::Handlers,
            _ => LocationKind::Thread,
        },
        thread: ThreadSerial(threads[row]),
        start: Nanos(starts[row]),
        end: Nanos(ends[row]),
    };
    Ok((0..rows.len()).map(location).collect())
}

fn communicators(rows: &Columns) -> Result<Vec<Communicator>, Error> {
    check_ids(rows)?;
    let (names, sizes, parents) = (rows.text("name")?, rows.u32("size")?, rows.u32("parent")?);
    let communicator = |row: usize| Communicator {
        name: names[row].clone(),
        size: sizes[row],
        parent: some(parents[row]).map(CommunicatorId),
    };
    Ok((0..rows.len()).map(communicator).collect())
}

fn profile(rows: &Columns) -> Result<Vec<ProfileRow>, Error> {
    let (paths, locations) = (rows.u32("call_path")?, rows.u32("location")?);
    let (visits, bytes, squares) = (rows.i64("visits")?, rows.i64("bytes")?, rows.f64("sum_squares")?);
    let (inclusive, exclusive) = (rows.i64("inclusive")?, rows.i64("exclusive")?);
    let (min, max, untimed) = (rows.i64("min")?, rows.i64("max")?, rows.i64("untimed")?);
    let known = |time: i64| (time >= 0).then_some(Nanos(time));
    let row = |row: usize| ProfileRow {
        call_path: CallPathId(paths[row]),
        location: LocationId(locations[row]),
        visits: count(visits[row]),
        untimed: count(untimed[row]),
        inclusive: Nanos(inclusive[row]),
        exclusive: Nanos(exclusive[row]),
        min: known(min[row]),
        max: known(max[row]),
        sum_squares: squares[row],
        bytes: count(bytes[row]),
    };
    Ok((0..rows.len()).map(row).collect())
}

fn reduced(rows: &Columns) -> Result<Vec<ReducedRow>, Error> {
    let (paths, locations, since) = (rows.u32("call_path")?, rows.u32("location")?, rows.i64("since")?);
    let (visits, time) = (rows.i64("visits")?, rows.i64("time")?);
    let row = |row: usize| ReducedRow {
        call_path: CallPathId(paths[row]),
        location: LocationId(locations[row]),
        since: Nanos(since[row]),
        visits: count(visits[row]),
        time: Nanos(time[row]),
    };
    Ok((0..rows.len()).map(row).collect())
}

fn durations(rows: &Columns) -> Result<Vec<BinRow>, Error> {
    let (paths, locations, log2) = (rows.u32("call_path")?, rows.u32("location")?, rows.i64("ticks_log2")?);
    let (from, to, visits) = (rows.i64("from")?, rows.i64("to")?, rows.i64("visits")?);
    let row = |row: usize| BinRow {
        call_path: CallPathId(paths[row]),
        location: LocationId(locations[row]),
        bin: (log2[row] >= -1).then(|| (u32::try_from(log2[row]).ok(), (count(from[row]), count(to[row])))),
        number: count(visits[row]),
    };
    Ok((0..rows.len()).map(row).collect())
}

fn sizes(rows: &Columns) -> Result<Vec<BinRow>, Error> {
    let (paths, locations) = (rows.u32("call_path")?, rows.u32("location")?);
    let (log2, operations) = (rows.i64("size_log2")?, rows.i64("operations")?);
    let range = |log2: Option<u32>| match log2 {
        None => (0, 1),
        Some(log2) => {
            let power = |log2: u32| 1_u64.checked_shl(log2).unwrap_or(u64::MAX);
            (power(log2), power(log2.saturating_add(1)))
        }
    };
    let row = |row: usize| {
        let log2 = u32::try_from(log2[row]).ok();
        BinRow {
            call_path: CallPathId(paths[row]),
            location: LocationId(locations[row]),
            bin: Some((log2, range(log2))),
            number: count(operations[row]),
        }
    };
    Ok((0..rows.len()).map(row).collect())
}

fn communication(rows: &Columns) -> Result<Vec<CommunicationRow>, Error> {
    let (from, to) = (rows.u32("from_process")?, rows.u32("to_process")?);
    let (communicators, sizes) = (rows.u32("communicator")?, rows.i64("size_log2")?);
    let (messages, bytes) = (rows.i64("messages")?, rows.i64("bytes")?);
    let row = |row: usize| CommunicationRow {
        from: ProcessId(from[row]),
        to: ProcessId(to[row]),
        communicator: some(communicators[row]).map(CommunicatorId),
        size_log2: u32::try_from(sizes[row]).ok(),
        is_size_known: sizes[row] >= -1,
        messages: count(messages[row]),
        bytes: count(bytes[row]),
    };
    Ok((0..rows.len()).map(row).collect())
}

fn samples(rows: &Columns) -> Result<Vec<SampledRow>, Error> {
    let (paths, locations, stacks) = (rows.u32("call_path")?, rows.u32("location")?, rows.u32("stack")?);
    let (samples, times, complete) = (rows.i64("samples")?, rows.i64("time")?, rows.u32("complete")?);
    let row = |row: usize| SampledRow {
        call_path: some(paths[row]).map(CallPathId),
        location: LocationId(locations[row]),
        stack: some(stacks[row]).map(StackId),
        samples: count(samples[row]),
        time: Nanos(times[row]),
        is_complete: complete[row] != 0,
    };
    Ok((0..rows.len()).map(row).collect())
}

fn counters(rows: &Columns, coverage: &Columns) -> Result<Vec<Counter>, Error> {
    let (names, units, sources) = (rows.text("name")?, rows.text("unit")?, rows.text("source")?);
    let counter = |row: usize| Counter {
        name: names[row].clone(),
        unit: units[row].clone(),
        source: if sources[row].is_empty() { PROGRAM.to_owned() } else { sources[row].clone() },
        enabled: Nanos(0),
        running: Nanos(0),
    };
    let mut counters: Vec<Counter> = (0..rows.len()).map(counter).collect();
    let (of, enabled, running) =
        (coverage.u32("counter")?, coverage.i64("enabled")?, coverage.i64("running")?);
    for row in 0..coverage.len() {
        if let Some(counter) = counters.get_mut(of[row] as usize) {
            counter.enabled = counter.enabled + Nanos(enabled[row]);
            counter.running = counter.running + Nanos(running[row]);
        }
    }
    Ok(counters)
}

fn counted(rows: &Columns) -> Result<Vec<CountedRow>, Error> {
    let (paths, locations, stacks) = (rows.u32("call_path")?, rows.u32("location")?, rows.u32("stack")?);
    let (counters, values) = (rows.u32("counter")?, rows.i64("value")?);
    let row = |row: usize| CountedRow {
        call_path: some(paths[row]).map(CallPathId),
        location: LocationId(locations[row]),
        stack: some(stacks[row]).map(StackId),
        counter: CounterId(counters[row]),
        value: count(values[row]),
    };
    Ok((0..rows.len()).map(row).collect())
}

fn allocations(rows: &Columns) -> Result<Vec<AllocationRow>, Error> {
    let (paths, processes) = (rows.u32("call_path")?, rows.u32("process")?);
    let (blocks, bytes) = (rows.i64("blocks")?, rows.i64("bytes")?);
    let (freed_blocks, freed_bytes) = (rows.i64("freed_blocks")?, rows.i64("freed_bytes")?);
    let (peaks, at_peak) = (rows.i64("peak")?, rows.i64("at_peak")?);
    let row = |row: usize| AllocationRow {
        call_path: some(paths[row]).map(CallPathId),
        process: ProcessId(processes[row]),
        blocks: count(blocks[row]),
        bytes: count(bytes[row]),
        freed_blocks: count(freed_blocks[row]),
        freed_bytes: count(freed_bytes[row]),
        peak: count(peaks[row]),
        at_peak: count(at_peak[row]),
    };
    Ok((0..rows.len()).map(row).collect())
}

fn heaps(rows: &Columns) -> Result<Vec<HeapRow>, Error> {
    let (processes, least) = (rows.u32("process")?, rows.i64("least")?);
    let (peaks, times, at_end) = (rows.i64("peak")?, rows.i64("peak_time")?, rows.i64("at_end")?);
    let (lost_blocks, lost_bytes) = (rows.i64("lost_blocks")?, rows.i64("lost_bytes")?);
    let row = |row: usize| HeapRow {
        process: ProcessId(processes[row]),
        least: count(least[row]),
        peak: count(peaks[row]),
        peak_time: (times[row] >= 0).then_some(Nanos(times[row])),
        at_end: count(at_end[row]),
        lost_blocks: count(lost_blocks[row]),
        lost_bytes: count(lost_bytes[row]),
    };
    Ok((0..rows.len()).map(row).collect())
}

fn problems(rows: &Columns) -> Result<Vec<Problem>, Error> {
    let (kinds, details, counts) = (rows.text("kind")?, rows.text("detail")?, rows.i64("count")?);
    let (processes, locations) = (rows.u32("process")?, rows.u32("location")?);
    let problem = |row: usize| Problem {
        kind: kinds[row].clone(),
        process: some(processes[row]).map(ProcessId),
        location: some(locations[row]).map(LocationId),
        count: count(counts[row]),
        detail: details[row].clone(),
    };
    Ok((0..rows.len()).map(problem).collect())
}

/// With what was counted anew after clocks had been corrected.
fn recounted(mut problems: Vec<Problem>, archive: &Archive) -> Vec<Problem> {
    let Some(count) = archive.corrections().violations else { return problems };
    problems.retain(|problem| problem.kind != "clock_violations");
    if count > 0 {
        let detail =
            "messages that seem to arrive before they are sent, with the corrections that are applied";
        let (kind, detail) = ("clock_violations".to_owned(), detail.to_owned());
        problems.push(Problem { kind, process: None, location: None, count, detail });
    }
    problems
}

/// `None` if the archive was written before the table was thought of.
fn open_at_end(archive: &Archive) -> Result<Option<Vec<OpenRegion>>, Error> {
    if archive.parts("open_at_end").is_empty() {
        return Ok(None);
    }
    let rows = archive.table("open_at_end")?;
    let (locations, depths) = (rows.u32("location")?, rows.u32("depth")?);
    let (paths, starts) = (rows.u32("call_path")?, rows.i64("start")?);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&row| (locations[row], depths[row]));
    let region = |row: usize| OpenRegion {
        location: LocationId(locations[row]),
        call_path: CallPathId(paths[row]),
        start: Nanos(starts[row]),
    };
    Ok(Some(order.into_iter().map(region).collect()))
}

/// Checks that ids are the numbers of the rows, on which everything that refers to them relies.
fn check_ids(rows: &Columns) -> Result<(), Error> {
    for (row, &id) in rows.u32("id")?.iter().enumerate() {
        if id as usize != row {
            return Err(Error::WrongId { table: rows.spec().name, row: row as u64, found: id });
        }
    }
    Ok(())
}

fn some(id: u32) -> Option<u32> {
    (id != NONE).then_some(id)
}

/// A number of things; less than none is damage and counts as none.
fn count(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}
