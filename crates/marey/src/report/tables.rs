//! Tables of the report with one row a rank, a region or a function.

use std::io;

use marey_analyze::RegionRow;
use marey_model::{Level, Nanos, Role};
use rustc_hash::FxHashMap;

use super::Page;
use super::spread::{self, Spread};
use crate::format;
use crate::paint::{Look, bar, shorten};
use crate::table::{Cell, Side, Table};
use crate::words;

const BAR_WIDTH: usize = 16;

/// One row a process: how long it ran, and how much of that in MPI.
pub(super) fn ranks(page: &mut Page<'_>) -> io::Result<()> {
    let facts = page.facts;
    let has_mpi = facts.headline.mpi > Nanos(0);
    page.title("RANKS", "wall time of each process; the bar is its share in MPI, its threads summed")?;
    let mut table = Table::new(&[
        ("process", Side::Left),
        ("host", Side::Left),
        ("threads", Side::Right),
        ("time", Side::Right),
        ("in MPI", Side::Right),
        ("outside", Side::Right),
        ("share", Side::Right),
        ("", Side::Left),
        ("ended", Side::Left),
    ]);
    let shown = shown_ranks(page);
    for row in shown.iter().map(|&idx| &facts.ranks[idx]) {
        let process = &facts.trace.processes()[row.process.idx()];
        let mpi = if has_mpi { format::duration(row.mpi) } else { String::new() };
        let outside = if has_mpi { format::duration(row.mpi_base - row.mpi) } else { String::new() };
        table.row([
            words::process(facts.trace, row.process).into(),
            shorten(&crate::paint::harmless(&process.host), 16).into(),
            row.threads.to_string().into(),
            format::duration(row.time).into(),
            mpi.into(),
            outside.into(),
            if has_mpi { format::percent(row.mpi.0, row.mpi_base.0) } else { String::new() }.into(),
            Cell::new(Look::Bar, bar(row.mpi.0, row.mpi_base.0, BAR_WIDTH)),
            crate::paint::harmless(&process.outcome).into(),
        ]);
    }
    table.print(page.out, page.paint)?;
    page.more(facts.ranks.len() - shown.len(), "process")
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

/// One row a region, by exclusive time.
pub(super) fn regions(page: &mut Page<'_>) -> io::Result<()> {
    let facts = page.facts;
    let whole = time_of_locations(page);
    let spreads = spread::of_regions(facts.trace);
    let mut rows: Vec<&RegionRow<'_>> = facts.regions.iter().filter(|row| row.visits > 0).collect();
    rows.sort_by(|a, b| b.exclusive.cmp(&a.exclusive).then(a.region.cmp(&b.region)));
    // Where nothing nests, both times are the same and the second column says nothing.
    let nests = rows.iter().any(|row| row.exclusive != row.inclusive);
    let mut columns = vec![("region", Side::Left), ("calls", Side::Right), ("exclusive", Side::Right)];
    columns.push(("share", Side::Right));
    columns.extend(nests.then_some(("inclusive", Side::Right)));
    columns.push(("a call", Side::Right));
    let has_ranks = facts.ranks.len() > 1;
    if has_ranks {
        columns.extend([
            ("min", Side::Right),
            ("mean", Side::Right),
            ("max", Side::Right),
            ("std", Side::Right),
        ]);
    }
    let remark = match has_ranks {
        true => "all locations together; min … std: exclusive time of a process",
        false => "all locations together",
    };
    page.title("REGIONS", remark)?;
    let mut table = Table::new(&columns);
    for row in rows.iter().take(page.top) {
        let mut cells: Vec<Cell> = vec![
            shorten(&words::region(facts.trace, row.region), 24).into(),
            format::count(row.visits).into(),
            format::duration(row.exclusive).into(),
            format::percent(row.exclusive.0, whole).into(),
        ];
        cells.extend(nests.then(|| format::duration(row.inclusive).into()));
        cells.push(duration_of(row.mean).into());
        if has_ranks {
            let Spread { min, max, mean, std } = spreads.get(&row.region).copied().unwrap_or_default();
            cells.extend(
                [format::duration(min), duration_of(mean), format::duration(max), duration_of(std)]
                    .map(Cell::from),
            );
        }
        table.push(cells);
    }
    table.print(page.out, page.paint)?;
    page.more(rows.len().saturating_sub(page.top), "region")
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
        caller.calls += row.visits;
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
    ]);
    for ((function, file), Caller { calls, time, callees }) in rows.iter().take(page.top) {
        let most = callees.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)));
        table.row([
            shorten(&words::function(function), 40).into(),
            Cell::new(Look::Faint, shorten(&words::place(file, 0), 24)),
            format::count(*calls).into(),
            format::duration(*time).into(),
            format::percent(time.0, whole).into(),
            most.map_or_else(String::new, |(name, _)| crate::paint::harmless(name)).into(),
        ]);
    }
    table.print(page.out, page.paint)?;
    page.more(rows.len().saturating_sub(page.top), "function")
}

/// One row a collective function.
pub(super) fn collectives(page: &mut Page<'_>) -> io::Result<()> {
    let facts = page.facts;
    page.title("COLLECTIVES", "calls of all ranks; the time of a call includes waiting for the others")?;
    let is_collective = |row: &&RegionRow<'_>| {
        let role = matches!(row.role, Role::Barrier | Role::AllToAll | Role::OneToAll | Role::AllToOne);
        role && row.level == Level::MPI && row.visits > 0
    };
    let mut rows: Vec<_> = facts.regions.iter().filter(is_collective).collect();
    if rows.is_empty() {
        return page.nothing("none");
    }
    rows.sort_by(|a, b| b.inclusive.cmp(&a.inclusive).then(a.region.cmp(&b.region)));
    let mut table = Table::new(&[
        ("collective", Side::Left),
        ("calls", Side::Right),
        ("time", Side::Right),
        ("of MPI", Side::Right),
        ("mean", Side::Right),
        ("max", Side::Right),
        ("bytes", Side::Right),
        ("a call", Side::Right),
    ]);
    for row in rows.iter().take(page.top) {
        let has_bytes = row.bytes > 0;
        table.row([
            words::region(facts.trace, row.region).into(),
            format::count(row.visits).into(),
            format::duration(row.inclusive).into(),
            format::percent(row.inclusive.0, facts.headline.mpi.0).into(),
            duration_of(row.mean).into(),
            row.max.map_or_else(String::new, format::duration).into(),
            if has_bytes { format::bytes(row.bytes) } else { String::new() }.into(),
            if has_bytes { format::bytes(row.bytes / row.visits) } else { String::new() }.into(),
        ]);
    }
    table.print(page.out, page.paint)?;
    page.more(rows.len().saturating_sub(page.top), "function")
}

/// The sum of the times of all locations: what shares are shares of.
pub(super) fn time_of_locations(page: &Page<'_>) -> i64 {
    page.facts.trace.locations().iter().map(|place| (place.end - place.start).0.max(0)).sum()
}

fn duration_of(ns: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "a mean of times lies within the times")]
    format::duration(Nanos(ns.round() as i64))
}
