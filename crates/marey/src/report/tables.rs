//! Tables of the report with one row a rank, a thread, a region, a function or a collective.
//!
//! The one idea: at most `--top` rows, the most costly ones, and a last line that says how many more
//! there are. Of ranks those with the largest and the least shares are shown.

use std::collections::BTreeMap;
use std::io;

use marey_analyze::{Location, Population, Process, RegionRow, exclusive_by_process};
use marey_model::{Level, LocationId, Nanos, ProcessId, Role};
use rustc_hash::FxHashMap;

use super::Page;
use crate::format;
use crate::paint::{Look, bar, harmless, shorten};
use crate::table::{Cell, Side, Table};
use crate::words;

const BAR_WIDTH: usize = 16;

/// One row a process: how long it ran, and how much of that in MPI.
pub(super) fn ranks(page: &mut Page<'_>) -> io::Result<()> {
    let facts = page.facts;
    let has_mpi = facts.headline.mpi > Nanos(0);
    let mut columns =
        vec![("process", Side::Left), ("host", Side::Left), ("threads", Side::Right), ("time", Side::Right)];
    if has_mpi {
        page.title(
            "RANKS",
            "wall time of each process; the bar is its share in MPI, its threads summed; processor: how long \
             its threads ran; memory: the most that it had",
        )?;
        columns.extend([("in MPI", Side::Right), ("outside", Side::Right), ("share", Side::Right)]);
        columns.push(("", Side::Left));
    } else if facts.ranks.len() < facts.trace.locations().iter().filter(|place| place.has_time()).count() {
        return threads(page);
    } else {
        page.title(
            "PROCESSES",
            "wall time of each; processor: how long its threads ran; memory: the most that it had",
        )?;
    }
    columns.extend([("processor", Side::Right), ("memory", Side::Right), ("ended", Side::Left)]);
    let mut table =
        Table::new(&columns).can_spare(&["host", "threads", "outside", "memory", "processor", "in MPI"]);
    let shown = shown_ranks(page);
    for row in shown.iter().map(|&idx| &facts.ranks[idx]) {
        let process = &facts.trace.processes()[row.process.idx()];
        let mut cells: Vec<Cell> = vec![
            words::process(facts.trace, row.process).into(),
            shorten(&harmless(&process.host), 16).into(),
            row.threads.to_string().into(),
            format::duration(row.time).into(),
        ];
        if has_mpi && !row.is_known {
            cells.extend(["unknown", "unknown", "", ""].map(|text| Cell::new(Look::Faint, text)));
        } else if has_mpi {
            cells.push(format::duration(row.mpi).into());
            cells.push(format::duration(row.mpi_base - row.mpi).into());
            cells.push(format::percent(row.mpi.0, row.mpi_base.0).into());
            cells.push(Cell::new(Look::Bar, bar(row.mpi.0, row.mpi_base.0, BAR_WIDTH)));
        }
        cells.push(process.processor_time.map_or_else(String::new, format::duration).into());
        cells.push(process.peak_memory.map_or_else(String::new, format::bytes).into());
        cells.push(outcome_cell(process));
        table.push(cells);
    }
    table.print(page.out, page.paint)?;
    let (one, many) = ("process with a share in between", "processes with shares in between");
    page.more_of(facts.ranks.len() - shown.len(), one, many)
}

fn outcome_cell(process: &Process) -> Cell {
    let look = if process.ended_well() { Look::Text } else { Look::Alarm };
    Cell::new(look, words::outcome(&process.outcome, process.exit_code))
}

/// One row a thread: what a program without MPI divides its work over.
fn threads(page: &mut Page<'_>) -> io::Result<()> {
    let facts = page.facts;
    page.title("THREADS", "wall time of each; the bar is its share in measured regions, such as waiting")?;
    let mut measured = vec![Nanos(0); facts.trace.locations().len()];
    for row in facts.trace.profile() {
        if let Some(sum) = measured.get_mut(row.location.idx()) {
            *sum = *sum + row.exclusive;
        }
    }
    let mut table = Table::new(&[
        ("thread", Side::Left),
        ("name", Side::Left),
        ("time", Side::Right),
        ("measured", Side::Right),
        ("outside", Side::Right),
        ("share", Side::Right),
        ("", Side::Left),
    ])
    .can_spare(&["name", "outside", "measured"]);
    let is_meant = |place: &Location| place.has_time() && !facts.trace.leaves_out(place.process);
    let places = || facts.trace.locations().iter().enumerate().filter(|(_, place)| is_meant(place));
    for (idx, place) in places().take(page.top) {
        let (time, inside) = (place.end - place.start, measured[idx]);
        let id = LocationId::from_idx(idx).unwrap_or_default();
        table.row([
            words::location(facts.trace, id).into(),
            shorten(&harmless(&place.name), 16).into(),
            format::duration(time).into(),
            format::duration(inside).into(),
            format::duration(time - inside).into(),
            format::percent(inside.0, time.0).into(),
            Cell::new(Look::Bar, bar(inside.0, time.0, BAR_WIDTH)),
        ]);
    }
    table.print(page.out, page.paint)?;
    page.more(places().count().saturating_sub(page.top), "thread")
}

/// All ranks if they fit; else those with the largest and the smallest shares, in their order.
fn shown_ranks(page: &Page<'_>) -> Vec<usize> {
    let ranks = &page.facts.ranks;
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    if ranks.len() <= page.top {
        return order;
    }
    order.sort_by(|&a, &b| ranks[b].mpi_share().total_cmp(&ranks[a].mpi_share()).then(a.cmp(&b)));
    let (most, least) = (page.top.div_ceil(2), page.top / 2);
    order.drain(most..order.len() - least);
    order.sort_unstable();
    order
}

/// Regions that people call by one name: MPI calls on all communicators are one row.
#[derive(Default)]
struct Named {
    calls: u64,
    /// How many of them were counted only.
    untimed: u64,
    exclusive: Nanos,
    inclusive: Nanos,
    /// Sum of the durations of all calls that were timed, those within calls of the same region too.
    durations: Nanos,
    /// How much of the exclusive time was waiting for others.
    waiting: Nanos,
    /// Exclusive time of each process.
    of_process: BTreeMap<ProcessId, Nanos>,
}

fn named(page: &Page<'_>) -> Vec<(String, Named)> {
    let facts = page.facts;
    let times = exclusive_by_process(facts.trace);
    let waiting = facts.causes.as_ref().map_or_else(|_| Vec::new(), |it| it.waiting_by_region(facts.trace));
    let mut sums: BTreeMap<String, Named> = BTreeMap::new();
    // In a part of a run somebody may be in a call that began before.
    for row in facts.regions.iter().filter(|row| row.visits > 0 || row.inclusive > Nanos(0)) {
        let sum = sums.entry(words::region(facts.trace, row.region)).or_default();
        sum.calls = sum.calls.saturating_add(row.visits);
        sum.untimed = sum.untimed.saturating_add(row.untimed);
        sum.exclusive = sum.exclusive + row.exclusive;
        sum.inclusive = sum.inclusive + row.inclusive;
        sum.durations = sum.durations + row.durations;
        sum.waiting = sum.waiting + waiting.get(row.region.idx()).copied().unwrap_or_default();
        for (&process, &time) in &times[row.region.idx()] {
            let sum = sum.of_process.entry(process).or_default();
            *sum = *sum + time;
        }
    }
    let mut rows: Vec<(String, Named)> = sums.into_iter().collect();
    rows.sort_by(|(a, sum_a), (b, sum_b)| sum_b.exclusive.cmp(&sum_a.exclusive).then(a.cmp(b)));
    rows
}

/// One row a name, by exclusive time.
pub(super) fn regions(page: &mut Page<'_>) -> io::Result<()> {
    let whole = time_of_locations(page);
    let rows = named(page);
    // Where nothing nests, both times are the same and the second column says nothing.
    let nests = rows.iter().any(|(_, row)| row.exclusive != row.inclusive);
    let has_ranks = page.facts.ranks.len() > 1;
    let mut columns = vec![("region", Side::Left), ("calls", Side::Right), ("exclusive", Side::Right)];
    columns.push(("share", Side::Right));
    columns.extend(nests.then_some(("inclusive", Side::Right)));
    columns.push(("a call", Side::Right));
    let waits = rows.iter().any(|(_, row)| row.waiting > Nanos(0));
    columns.extend(waits.then_some(("waiting", Side::Right)));
    let spread_columns = ["mean", "max", "uneven"].map(|head| (head, Side::Right));
    columns.extend(spread_columns.into_iter().filter(|_| has_ranks));
    let mut remark = "calls and times of all threads together; a call: mean of single calls".to_owned();
    if has_ranks {
        let each = if page.facts.ranks.iter().all(|row| row.rank.is_some()) { "rank" } else { "process" };
        remark.push_str(&format!("; mean, max: exclusive time of a {each}; uneven: max over mean, less 1"));
    }
    if waits {
        remark.push_str("; waiting: for others (`marey waits`)");
    }
    page.title("REGIONS", &remark)?;
    let population = Population::new(page.facts.trace);
    if rows.is_empty() {
        return page.nothing("none");
    }
    let mut table = Table::new(&columns).can_spare(&[
        "std",
        "min",
        "inclusive",
        "mean",
        "a call",
        "uneven",
        "max",
        "waiting",
    ]);
    for (name, row) in rows.iter().take(page.top) {
        let mut cells: Vec<Cell> = vec![shorten(name, 24).into(), calls(row.calls, row.inclusive).into()];
        if row.untimed == row.calls && row.exclusive == Nanos(0) && row.inclusive == Nanos(0) {
            // No time is known, which is not the same as none.
            cells.push(Cell::new(Look::Faint, "counted"));
            cells.resize_with(columns.len(), || String::new().into());
            table.push(cells);
            continue;
        }
        cells.push(format::duration(row.exclusive).into());
        cells.push(format::percent(row.exclusive.0, whole).into());
        cells.extend(nests.then(|| format::duration(row.inclusive).into()));
        cells.push(mean(row).map_or_else(String::new, format::duration).into());
        if waits {
            let waiting = if row.waiting > Nanos(0) { format::duration(row.waiting) } else { String::new() };
            cells.push(waiting.into());
        }
        if has_ranks {
            let spread = population.spread(&row.of_process);
            let (mean, max) = (duration_of(spread.mean), format::duration(spread.max));
            let uneven = format!("{:.0} %", 100.0 * spread.imbalance());
            cells.extend([mean, max, uneven].map(Cell::from));
        }
        table.push(cells);
    }
    table.print(page.out, page.paint)?;
    page.more(rows.len().saturating_sub(page.top), "region")
}

/// How many calls; nothing where they took time and nobody counted them, as in profiles by samples.
fn calls(number: u64, time: Nanos) -> String {
    if number == 0 && time > Nanos(0) { String::new() } else { format::count(number) }
}

/// The mean of the calls that were timed, if there are any.
fn mean(row: &Named) -> Option<Nanos> {
    let timed = i64::try_from(row.calls.saturating_sub(row.untimed)).unwrap_or(i64::MAX);
    (timed > 0).then(|| Nanos(row.durations.0 / timed))
}

/// What a function of the program called.
#[derive(Default)]
struct Caller<'a> {
    calls: u64,
    time: Nanos,
    /// Time by name of the region.
    callees: FxHashMap<&'a str, Nanos>,
}

/// One row a function of the program, by the time of the regions that it calls.
pub(super) fn functions(page: &mut Page<'_>) -> io::Result<()> {
    let facts = page.facts;
    page.title("FUNCTIONS", "time in measured regions, by the function that called them")?;
    let whole = time_of_locations(page);
    let mut sums: FxHashMap<(&str, &str), Caller<'_>> = FxHashMap::default();
    for row in &facts.call_paths {
        let caller = sums.entry((&row.function, &row.file)).or_default();
        caller.calls = caller.calls.saturating_add(row.visits);
        caller.time = caller.time + row.exclusive;
        let time = caller.callees.entry(row.path.last().copied().unwrap_or_default()).or_default();
        *time = *time + row.exclusive;
    }
    let mut rows: Vec<_> = sums.into_iter().collect();
    rows.sort_by(|(a, caller_a), (b, caller_b)| caller_b.time.cmp(&caller_a.time).then(a.cmp(b)));
    let mut table = Table::new(&[
        ("function", Side::Left),
        ("file", Side::Left),
        ("calls", Side::Right),
        ("time", Side::Right),
        ("share", Side::Right),
        ("most of it in", Side::Left),
    ])
    .can_spare(&["file", "calls", "most of it in"]);
    for ((function, file), Caller { calls, time, callees }) in rows.iter().take(page.top) {
        let most = callees.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)));
        table.row([
            shorten(&words::function(function), 40).into(),
            Cell::new(Look::Faint, shorten(&words::place(file, 0), 24)),
            self::calls(*calls, *time).into(),
            format::duration(*time).into(),
            format::percent(time.0, whole).into(),
            most.map_or_else(String::new, |(name, _)| harmless(name)).into(),
        ]);
    }
    table.print(page.out, page.paint)?;
    page.more(rows.len().saturating_sub(page.top), "function")
}

/// One row a collective function.
pub(super) fn collectives(page: &mut Page<'_>) -> io::Result<()> {
    let facts = page.facts;
    page.title(
        "COLLECTIVES",
        "calls of all ranks; a call, max: mean and longest of single calls, waiting for the others included",
    )?;
    let is_collective = |row: &&RegionRow<'_>| {
        let role = matches!(row.role, Role::Barrier | Role::AllToAll | Role::OneToAll | Role::AllToOne);
        role && row.level == Level::MPI && (row.visits > 0 || row.inclusive > Nanos(0))
    };
    let mut rows: Vec<_> = facts.regions.iter().filter(is_collective).collect();
    if rows.is_empty() {
        return page.nothing("none");
    }
    rows.sort_by(|a, b| b.inclusive.cmp(&a.inclusive).then(a.region.cmp(&b.region)));
    let mut table = Table::new(&[
        ("collective", Side::Left),
        ("communicator", Side::Left),
        ("calls", Side::Right),
        ("time", Side::Right),
        ("of MPI", Side::Right),
        ("a call", Side::Right),
        ("max", Side::Right),
        ("bytes", Side::Right),
    ])
    .can_spare(&["max", "bytes", "of MPI", "a call"]);
    for row in rows.iter().take(page.top) {
        let has_bytes = row.bytes > 0;
        table.row([
            words::region(facts.trace, row.region).into(),
            Cell::new(Look::Faint, shorten(&harmless(row.noun).replace("MPI_COMM_", ""), 30)),
            format::count(row.visits).into(),
            format::duration(row.inclusive).into(),
            format::percent(row.inclusive.0, facts.headline.mpi.0).into(),
            row.max.map_or_else(String::new, |_| duration_of(row.mean)).into(),
            row.max.map_or_else(String::new, format::duration).into(),
            if has_bytes { format::bytes(row.bytes) } else { String::new() }.into(),
        ]);
    }
    table.print(page.out, page.paint)?;
    page.more(rows.len().saturating_sub(page.top), "row")
}

/// The sum of the times of all locations: what shares are shares of.
pub(super) fn time_of_locations(page: &Page<'_>) -> i64 {
    let times = page.facts.trace.locations().iter().map(|place| (place.time().1 - place.start).max(Nanos(0)));
    times.fold(Nanos(0), |sum, time| sum + time).0
}

fn duration_of(ns: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "a mean of times lies within the times")]
    format::duration(Nanos(ns.round() as i64))
}
