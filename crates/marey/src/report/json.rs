//! The report for other programs. Names, units and meaning of every field are an interface:
//! fields may be added, none may change.

use std::collections::BTreeMap;
use std::io::Write;

use marey_analyze::{
    Across, CallPathRow, FileRow, Histogram, MessageSizeRow, MetricKind, Population, RegionRow,
    call_paths_across, exclusive_by_process, reduced, regions_across,
};
use marey_model::Nanos;
use serde::Serialize;

use super::{Facts, across, tree, waiting};
use crate::budget::{self, Governed};
use crate::compare::metrics;
use crate::endings::{self, Ending};
use crate::explain;
use crate::hot;
use crate::info::{self, Overhead};

#[derive(Serialize)]
struct Report<'f> {
    /// What of the run it is about.
    from_ns: i64,
    to_ns: i64,
    /// Which part, in words; null = all.
    part: Option<String>,
    /// Until when all events are there; null = until the end.
    explained_until_ns: Option<i64>,
    /// Those that were asked for.
    derived_metrics: Vec<metrics::JsonComputed<'f>>,
    findings: Vec<explain::findings::JsonFinding>,
    dominant: Option<explain::findings::JsonDominant>,
    /// Null where there is nobody to compare.
    efficiency: Option<explain::findings::JsonEfficiency>,
    /// Why the two are not known; null where they are.
    unexplained: Option<&'f str>,
    waits: Vec<explain::waits::JsonWait<'f>>,
    delays: Vec<explain::waits::JsonDelay<'f>>,
    critical_path: Vec<explain::path::JsonRow<'f>>,
    granularity: Vec<explain::granularity::JsonSmall<'f>>,
    regions: Vec<Region<'f>>,
    call_paths: Vec<Path<'f>>,
    call_tree: Vec<tree::JsonNode<'f>>,
    ranks: Vec<Rank>,
    communication: Vec<Pair>,
    /// Of the whole run; empty for a part.
    buffers: Vec<super::buffers::Json<'f>>,
    message_sizes: Vec<Size>,
    files: Vec<File<'f>>,
    hot: hot::Json<'f>,
    counters: Vec<Counter<'f>>,
    metrics: Vec<Metric>,
    counted_regions: Vec<CountedRegion<'f>>,
    counted_functions: Vec<CountedFunction<'f>>,
    tasks: Vec<super::tasks::Row<'f>>,
    waiting: Vec<Wait<'f>>,
    memory: super::memory::Json<'f>,
    ended_early: Vec<Ending>,
    problems: Vec<Problem<'f>>,
    overhead: Overhead,
    reduced: Governed,
}

/// What was counted beside the time.
#[derive(Serialize)]
struct Counter<'f> {
    name: &'f str,
    unit: &'f str,
    source: &'f str,
    total: u64,
    /// How long it should have been counted, and how long it was; null where that is always the same.
    enabled_ns: Option<i64>,
    running_ns: Option<i64>,
}

/// Lists are in the order of the counters.
#[derive(Serialize)]
struct CountedRegion<'f> {
    level: &'f str,
    verb: Option<&'f str>,
    noun: Option<&'f str>,
    /// What the region is called: one of the two before.
    region: Option<&'f str>,
    exclusive_ns: i64,
    exclusive: Vec<u64>,
    inclusive: Vec<u64>,
}

/// A quotient of counters, or of one and the time.
#[derive(Serialize)]
struct Metric {
    name: &'static str,
    /// `number`, `share` of one, or `bytes_per_second` of a thread.
    kind: &'static str,
}

/// An estimate.
#[derive(Serialize)]
struct CountedFunction<'f> {
    name: Option<&'f str>,
    file: &'f str,
    level: Option<&'f str>,
    values: Vec<f64>,
    /// In the order of the metrics; null where it is not known.
    metrics: Vec<Option<f64>>,
}

#[derive(Serialize)]
struct Region<'f> {
    level: &'f str,
    verb: &'f str,
    noun: &'f str,
    calls: u64,
    /// How many of the calls were counted only; the times are of the others.
    untimed_calls: u64,
    /// How many were counted to keep within the budget; their time is an estimate.
    reduced_calls: u64,
    inclusive_ns: i64,
    exclusive_ns: i64,
    /// Null where that is not known.
    waiting_ns: Option<i64>,
    /// Of the durations of single calls, wherever they were made; so are the next three. Null where calls are known
    /// by their sums alone.
    min_ns: Option<i64>,
    max_ns: Option<i64>,
    mean_ns: f64,
    std_ns: Option<f64>,
    bytes: u64,
    /// How the durations of single calls are spread, ns.
    durations: Vec<Bin>,
    /// How much data single operations moved, bytes.
    sizes: Vec<Bin>,
    /// How the exclusive time differs between processes.
    exclusive_of_process: OfProcess,
    across: Option<across::Json>,
}

/// From, to, and how many values are in between; null and null where that is not known.
type Bin = (Option<u64>, Option<u64>, u64);

fn bins(histogram: &Histogram) -> Vec<Bin> {
    let known = histogram.bins().map(|bin| (Some(bin.from), Some(bin.to), bin.number));
    known.chain((histogram.unknown > 0).then_some((None, None, histogram.unknown))).collect()
}

#[derive(Serialize)]
struct OfProcess {
    min_ns: i64,
    max_ns: i64,
    mean_ns: f64,
    std_ns: f64,
    imbalance: f64,
    /// Number of processes that were compared, those without such a time too.
    processes: usize,
    min_process: u32,
    max_process: u32,
}

#[derive(Serialize)]
struct Path<'f> {
    /// Names of the regions, root first.
    path: &'f [&'f str],
    /// The caller of the last of them.
    function: &'f str,
    file: &'f str,
    line: u32,
    calls: u64,
    untimed_calls: u64,
    inclusive_ns: i64,
    exclusive_ns: i64,
    bytes: u64,
    durations: Vec<Bin>,
    /// How much data single operations moved, bytes.
    sizes: Vec<Bin>,
    /// The whole call stack, outermost function first.
    across: Option<across::Json>,
    stack: Vec<Frame<'f>>,
}

#[derive(Serialize)]
pub(super) struct Frame<'f> {
    function: &'f str,
    file: &'f str,
    line: u32,
}

#[derive(Serialize)]
struct Rank {
    process: u32,
    world: u32,
    rank: Option<u32>,
    threads: usize,
    time_ns: i64,
    /// Null where the definitions or events of the process are missing.
    mpi_ns: Option<i64>,
    /// Most that was in memory at a time; null where the process could not say so before it ended, as is the next.
    peak_memory_bytes: Option<u64>,
    /// Processor time of all its threads.
    processor_ns: Option<i64>,
}

/// All messages from one rank to another.
#[derive(Serialize)]
struct Pair {
    from: u32,
    to: u32,
    messages: u64,
    bytes: u64,
    /// The world of the sender; ranks of worlds after the first are told apart by it.
    from_world: u32,
    /// The world of the receiver.
    to_world: u32,
}

/// Messages of one order of size.
#[derive(Serialize)]
struct Size {
    from_bytes: u64,
    /// Excluded.
    to_bytes: u64,
    messages: u64,
    bytes: u64,
}

/// Something lost, unmatched, violated or truncated.
#[derive(Serialize)]
struct Problem<'f> {
    kind: &'f str,
    process: Option<u32>,
    location: Option<u32>,
    count: u64,
    detail: &'f str,
}

/// What was done to a file on one level.
#[derive(Serialize)]
struct File<'f> {
    level: &'f str,
    file: &'f str,
    opens: u64,
    open_ns: i64,
    closes: u64,
    close_ns: i64,
    reads: u64,
    read_bytes: u64,
    read_ns: i64,
    writes: u64,
    written_bytes: u64,
    write_ns: i64,
    seeks: u64,
    seek_ns: i64,
    syncs: u64,
    sync_ns: i64,
    resizes: u64,
    resize_ns: i64,
    /// How many of all these calls were counted only; bytes and times are of the others.
    untimed_calls: u64,
    processes: Vec<u32>,
}

/// Calls of one function of the system from one place.
#[derive(Serialize)]
struct Wait<'f> {
    call: &'f str,
    /// Its caller.
    function: &'f str,
    file: &'f str,
    line: u32,
    calls: u64,
    /// How many of them were counted only; the times are of the others.
    untimed_calls: u64,
    /// Of threads that do more than wait.
    time_ns: i64,
    /// Of the others.
    idle_ns: i64,
    longest_ns: i64,
    processes: Vec<u32>,
}

/// Prints the report as one JSON object.
pub(super) fn print(
    out: &mut dyn Write,
    facts: &Facts<'_>,
    computed: &[metrics::Computed],
) -> anyhow::Result<()> {
    let causes = facts.causes.as_ref();
    let paths_across = call_paths_across(facts.trace, facts.causes.as_ref().ok());
    let span = facts.part.span(facts.run);
    let report = Report {
        from_ns: span.from.0,
        to_ns: span.to.0,
        part: facts.part.is_asked().then(|| crate::format::plain(&facts.part.words)),
        explained_until_ns: facts.part.until.map(|until| until.0),
        derived_metrics: metrics::json(computed),
        findings: causes.map_or_else(
            |_| Vec::new(),
            |it| explain::findings::json(facts.explained, it, facts.path, &facts.part.options),
        ),
        dominant: causes
            .ok()
            .filter(|_| !facts.part.chooses_calls())
            .and_then(|it| explain::findings::json_dominant(facts.explained, it)),
        efficiency: causes
            .ok()
            .filter(|_| !facts.part.chooses_calls())
            .and_then(|it| explain::findings::json_efficiency(facts.explained, it)),
        unexplained: causes.err().map(String::as_str),
        waits: causes.map_or_else(|_| Vec::new(), |it| explain::waits::json_waits(facts.trace, it)),
        delays: causes.map_or_else(|_| Vec::new(), |it| explain::waits::json_delays(facts.trace, it)),
        critical_path: causes.map_or_else(|_| Vec::new(), |it| explain::path::json_path(facts.trace, it)),
        granularity: explain::granularity::json(facts.trace, facts.small.as_deref().unwrap_or_default()),
        regions: regions(facts),
        call_paths: facts.call_paths.iter().map(|row| path(facts, row, &paths_across)).collect(),
        call_tree: tree::json(facts),
        ranks: facts.ranks.iter().map(|row| rank(facts, row)).collect(),
        communication: facts.pairs.iter().filter_map(|row| pair(facts, row)).collect(),
        buffers: if facts.part.is_asked() { Vec::new() } else { super::buffers::json(facts) },
        message_sizes: facts.sizes.iter().map(size).collect(),
        files: facts.files.iter().map(file).collect(),
        hot: hot::Json::new(facts.trace, &facts.hot),
        counters: counters(facts),
        metrics: facts.counted.metrics().map(metric).collect(),
        counted_regions: counted_regions(facts),
        counted_functions: counted_functions(facts),
        tasks: super::tasks::rows(facts),
        waiting: waiting::rows(facts).iter().map(wait).collect(),
        memory: super::memory::json(facts),
        ended_early: endings::json(&facts.run.trace),
        problems: facts.trace.problems().iter().map(problem).collect(),
        overhead: info::overhead(&facts.run.archive)?,
        reduced: budget::read(&facts.run.archive, &facts.run.trace)?,
    };
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)?;
    Ok(())
}

fn regions<'f>(facts: &'f Facts<'_>) -> Vec<Region<'f>> {
    let (times, population) = (exclusive_by_process(facts.trace), Population::new(facts.trace));
    let waiting = facts.causes.as_ref().ok().map(|causes| causes.waiting_by_region(facts.trace));
    let across = regions_across(facts.trace, facts.causes.as_ref().ok());
    let reduced = reduced(facts.trace);
    let region = |row: &RegionRow<'f>| {
        let spread = population.spread(&times[row.region.idx()]);
        let of_none = (row.visits <= row.untimed && row.durations == Nanos(0)).then_some(0);
        Region {
            level: row.level,
            verb: row.verb,
            noun: row.noun,
            calls: row.visits,
            untimed_calls: row.untimed,
            reduced_calls: reduced.get(&row.region).map_or(0, |its| its.visits),
            inclusive_ns: row.inclusive.0,
            exclusive_ns: row.exclusive.0,
            waiting_ns: waiting.as_ref().and_then(|sums| sums.get(row.region.idx())).map(|time| time.0),
            min_ns: row.min.map(|min| min.0).or(of_none),
            max_ns: row.max.map(|max| max.0).or(of_none),
            mean_ns: row.mean,
            // Squares are not known where visits differ and do not deviate.
            std_ns: row
                .min
                .filter(|_| row.std > 0.0 || row.min == row.max)
                .map(|_| row.std)
                .or(of_none.map(|_| 0.0)),
            bytes: row.bytes,
            durations: bins(&row.by_duration),
            sizes: bins(&row.by_size),
            exclusive_of_process: OfProcess {
                min_ns: spread.min.0,
                max_ns: spread.max.0,
                mean_ns: spread.mean,
                std_ns: spread.std,
                imbalance: spread.imbalance(),
                processes: spread.processes,
                min_process: spread.min_process.0,
                max_process: spread.max_process.0,
            },
            across: across.get(row.region.idx()).and_then(Option::as_ref).map(across::Json::new),
        }
    };
    facts.regions.iter().filter(|row| row.visits > 0 || row.inclusive > Nanos(0)).map(region).collect()
}

fn counters<'f>(facts: &'f Facts<'_>) -> Vec<Counter<'f>> {
    let counters = facts.counted.counters.iter().zip(&facts.counted.whole);
    let counter = |(counter, &total): (&&'f marey_analyze::Counter, &u64)| {
        let time = |time: Nanos| (counter.enabled.0 > 0).then_some(time.0);
        Counter {
            name: &counter.name,
            unit: &counter.unit,
            source: &counter.source,
            total,
            enabled_ns: time(counter.enabled),
            running_ns: time(counter.running),
        }
    };
    counters.map(counter).collect()
}

fn counted_regions<'f>(facts: &'f Facts<'_>) -> Vec<CountedRegion<'f>> {
    let region = |row: &marey_analyze::CountedRegion<'f>| CountedRegion {
        level: row.region.map_or("", |region| &region.level),
        verb: row.region.map(|region| &*region.verb),
        noun: row.region.map(|region| &*region.noun),
        region: row.region.map(marey_analyze::Region::name),
        exclusive_ns: row.time.0,
        exclusive: row.exclusive.clone(),
        inclusive: row.inclusive.clone(),
    };
    facts.counted.regions.iter().map(region).collect()
}

fn metric(metric: &'static marey_analyze::Metric) -> Metric {
    let kind = match metric.kind {
        MetricKind::Number => "number",
        MetricKind::Share => "share",
        MetricKind::Rate => "bytes_per_second",
    };
    Metric { name: metric.name, kind }
}

fn counted_functions<'f>(facts: &'f Facts<'_>) -> Vec<CountedFunction<'f>> {
    let hot = facts.hot.functions.iter().filter(|row| row.exclusive.time > Nanos(0));
    let times: BTreeMap<_, _> =
        hot.map(|row| ((Some(row.name), row.file, row.level), row.exclusive.time)).collect();
    let metrics = |row: &marey_analyze::CountedFunction<'f>| {
        let time = times.get(&(row.name, row.file, row.level)).copied();
        facts.counted.metrics().map(|metric| metric.value(&facts.counted, &row.values, time)).collect()
    };
    let function = |row: &marey_analyze::CountedFunction<'f>| CountedFunction {
        name: row.name,
        file: row.file,
        level: row.level,
        values: row.values.clone(),
        metrics: metrics(row),
    };
    facts.counted.functions.iter().map(function).collect()
}

/// The stack of a call path, outermost function first.
pub(super) fn stack<'f>(facts: &'f Facts<'_>, path: marey_model::CallPathId) -> Vec<Frame<'f>> {
    let stack = facts.trace.call_paths().get(path.idx()).and_then(|path| path.stack);
    let frames = stack.map(|stack| facts.trace.stack(stack)).unwrap_or_default();
    let frame = |frame: &&'f marey_analyze::Frame| Frame {
        function: &frame.function,
        file: &frame.file,
        line: frame.line,
    };
    frames.iter().rev().map(frame).collect()
}

fn path<'f>(facts: &'f Facts<'_>, row: &'f CallPathRow<'_>, across: &[Option<Across>]) -> Path<'f> {
    Path {
        path: &row.path,
        function: &row.function,
        file: &row.file,
        line: row.line,
        calls: row.visits,
        untimed_calls: row.untimed,
        inclusive_ns: row.inclusive.0,
        exclusive_ns: row.exclusive.0,
        bytes: row.bytes,
        durations: bins(&row.by_duration),
        sizes: bins(&row.by_size),
        across: across.get(row.call_path.idx()).and_then(Option::as_ref).map(across::Json::new),
        stack: stack(facts, row.call_path),
    }
}

fn file<'f>(row: &FileRow<'f>) -> File<'f> {
    let [read, write, open, close, seek, sync, resize] = row.deeds;
    File {
        level: row.level,
        file: row.name,
        opens: open.calls,
        open_ns: open.time.0,
        closes: close.calls,
        close_ns: close.time.0,
        reads: read.calls,
        read_bytes: read.bytes,
        read_ns: read.time.0,
        writes: write.calls,
        written_bytes: write.bytes,
        write_ns: write.time.0,
        seeks: seek.calls,
        seek_ns: seek.time.0,
        syncs: sync.calls,
        sync_ns: sync.time.0,
        resizes: resize.calls,
        resize_ns: resize.time.0,
        untimed_calls: row.deeds.iter().map(|deeds| deeds.untimed).fold(0, u64::saturating_add),
        processes: row.processes.iter().map(|process| process.0).collect(),
    }
}

fn size(row: &MessageSizeRow) -> Size {
    let bound = |log2: u32| 1_u64.checked_shl(log2).unwrap_or(u64::MAX);
    let (from_bytes, to_bytes) =
        row.size_log2.map_or((0, 1), |log2| (bound(log2), bound(log2.saturating_add(1))));
    Size { from_bytes, to_bytes, messages: row.messages, bytes: row.bytes }
}

fn problem(row: &marey_analyze::Problem) -> Problem<'_> {
    Problem {
        kind: &row.kind,
        process: row.process.map(|process| process.0),
        location: row.location.map(|location| location.0),
        count: row.count,
        detail: &row.detail,
    }
}

fn wait<'f>(row: &waiting::Row<'f>) -> Wait<'f> {
    Wait {
        call: row.verb,
        function: row.function,
        file: row.file,
        line: row.line,
        calls: row.calls,
        untimed_calls: row.untimed,
        time_ns: row.time.0,
        idle_ns: row.idle.0,
        longest_ns: row.longest.0,
        processes: row.processes.iter().map(|process| process.0).collect(),
    }
}

fn rank(facts: &Facts<'_>, row: &marey_analyze::RankRow) -> Rank {
    let process = facts.trace.processes().get(row.process.idx());
    Rank {
        peak_memory_bytes: process.and_then(|process| process.peak_memory),
        processor_ns: process.and_then(|process| process.processor_time).map(|time| time.0),
        process: row.process.0,
        world: row.world,
        rank: row.rank,
        threads: row.threads,
        time_ns: row.time.0,
        mpi_ns: row.is_known.then_some(row.mpi.0),
    }
}

/// Only ranks send messages; a pair without them is damage, which the problems tell.
fn pair(facts: &Facts<'_>, row: &marey_analyze::PairRow) -> Option<Pair> {
    let world = |id: marey_model::ProcessId| facts.trace.processes().get(id.idx()).map(|p| p.world);
    Some(Pair {
        from: row.from_rank?,
        to: row.to_rank?,
        messages: row.messages,
        bytes: row.bytes,
        from_world: world(row.from)?,
        to_world: world(row.to)?,
    })
}
