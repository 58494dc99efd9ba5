//! Tables of a changed run: before and after, by place and by location.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

use marey_analyze::Trace;
use marey_analyze::what_if::{Replayed, WhatIf};
use marey_model::LocationId;

use super::super::{Page, Place, rounded, who};
use crate::format;
use crate::paint::{Look, harmless, title};
use crate::table::{Cell, Side, Table};
use crate::words;

/// Time on a path, ns.
#[derive(Debug, Default)]
struct Sum {
    before: f64,
    after: f64,
    locations: BTreeSet<LocationId>,
}

fn sums<'t>(trace: &'t dyn Trace, found: &WhatIf) -> BTreeMap<Place<'t>, Sum> {
    let mut sums: BTreeMap<Place<'_>, Sum> = BTreeMap::new();
    for row in &found.as_it_was.path {
        sums.entry(Place::of(trace, row.activity)).or_default().before += row.time;
    }
    for row in &found.changed.path {
        let sum = sums.entry(Place::of(trace, row.activity)).or_default();
        sum.after += row.time;
        sum.locations.insert(row.location);
    }
    sums
}

/// Parts of a path that are told in the sentence.
const MAIN: usize = 3;
/// Others are less than this part of it.
const LEAST: f64 = 0.05;

/// `computation on rank 1 (52.3 %) and MPI_Recv on rank 0 (31.0 %)`
pub(super) fn main_parts(trace: &dyn Trace, replayed: &Replayed) -> String {
    let mut parts: BTreeMap<(Place<'_>, LocationId), f64> = BTreeMap::new();
    for row in &replayed.path {
        *parts.entry((Place::of(trace, row.activity), row.location)).or_default() += row.time;
    }
    let mut parts: Vec<_> = parts.into_iter().collect();
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let is_told = |part: &&((Place<'_>, LocationId), f64)| part.1 >= LEAST * replayed.run_time;
    let told = parts.iter().filter(is_told).take(MAIN).map(|((place, location), time)| {
        let share = format::solid(format::percent(rounded(*time).0, rounded(replayed.run_time).0));
        let from = if place.function.is_empty() {
            String::new()
        } else {
            format!(" in {}", words::function(place.function))
        };
        let what = match place.activity {
            "outside" => "computation".to_owned(),
            "not started" => "the start".to_owned(),
            _ => format!("{}{from}", harmless(place.region)),
        };
        format!("{what} on {} ({share})", words::location(trace, *location))
    });
    let told: Vec<String> = told.collect();
    match told.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        all => all.join(""),
    }
}

fn change(before: f64, after: f64) -> Cell {
    let difference = rounded(after - before);
    let sign = if difference.0 > 0 { "+" } else { "" };
    Cell::new(Look::Faint, format!("{sign}{}", format::duration(difference)))
}

fn time(ns: f64) -> Cell {
    format::duration(rounded(ns)).into()
}

pub(super) fn by_activity(page: &mut Page<'_>, found: &WhatIf) -> io::Result<()> {
    let trace = page.trace;
    let remark = "what the run consists of, as it was and as it would be; on: who is on the path then";
    title(page.out, page.paint, "CRITICAL PATH", remark)?;
    let mut rows: Vec<_> = sums(trace, found).into_iter().collect();
    rows.sort_by_key(|(_, sum)| Reverse(rounded(sum.before.max(sum.after))));
    let mut table = Table::new(&[
        ("doing", Side::Left),
        ("called by", Side::Left),
        ("on", Side::Left),
        ("before", Side::Right),
        ("after", Side::Right),
        ("change", Side::Right),
    ])
    .can_spare(&["called by", "change", "on"]);
    for (place, sum) in rows.iter().take(page.top) {
        let [what, from] = place.cells();
        let on = who(trace, &Vec::from_iter(sum.locations.iter().copied()));
        table.row([what, from, on.into(), time(sum.before), time(sum.after), change(sum.before, sum.after)]);
    }
    for (name, before, after) in [
        ("the network", found.as_it_was.network, found.changed.network),
        ("before the path", found.as_it_was.before_path, found.changed.before_path),
    ] {
        if before > 0.0 || after > 0.0 {
            table.row([name.into(), "".into(), "".into(), time(before), time(after), change(before, after)]);
        }
    }
    let (before, after) = (found.as_it_was.run_time, found.changed.run_time);
    table.row(["all".into(), "".into(), "".into(), time(before), time(after), change(before, after)]);
    table.print(page.out, page.paint)?;
    page.more(rows.len())
}

/// What is shown of a location, ns.
pub(super) struct Row {
    pub(super) location: LocationId,
    pub(super) ends: [f64; 2],
    pub(super) waiting: [f64; 2],
    pub(super) on_path: [f64; 2],
}

/// All locations, those with most of the new path first.
pub(super) fn rows(trace: &dyn Trace, found: &WhatIf) -> Vec<Row> {
    let both = [&found.as_it_was, &found.changed];
    let on_path = both.map(|replayed| {
        let mut sums = vec![0.0; trace.locations().len()];
        for row in &replayed.path {
            sums[row.location.idx()] += row.time;
        }
        sums
    });
    let row = |(id, place): (u32, usize)| Row {
        location: LocationId(id),
        ends: both.map(|replayed| replayed.ends[place]),
        waiting: both.map(|replayed| replayed.waiting[place]),
        on_path: [on_path[0][place], on_path[1][place]],
    };
    let has_time = |(_, place): &(u32, usize)| trace.locations()[*place].has_time();
    let mut rows: Vec<Row> = (0..).zip(0..trace.locations().len()).filter(has_time).map(row).collect();
    rows.sort_by_key(|row| (Reverse(rounded(row.on_path[1])), Reverse(rounded(row.on_path[0]))));
    rows
}

pub(super) fn by_location(page: &mut Page<'_>, found: &WhatIf) -> io::Result<()> {
    let trace = page.trace;
    let remark = "how long the path is on each, how long it waits, and when it ends; then: as it would be";
    title(page.out, page.paint, "RANKS AND THREADS", remark)?;
    let mut table = Table::new(&[
        ("who", Side::Left),
        ("on the path", Side::Right),
        ("then", Side::Right),
        ("waiting", Side::Right),
        ("then ", Side::Right),
        ("end", Side::Right),
        ("then  ", Side::Right),
    ])
    .can_spare(&["end", "then  ", "waiting", "then "]);
    let rows = rows(trace, found);
    for row in rows.iter().take(page.top) {
        table.row([
            words::location(trace, row.location).into(),
            time(row.on_path[0]),
            time(row.on_path[1]),
            time(row.waiting[0]),
            time(row.waiting[1]),
            time(row.ends[0]),
            time(row.ends[1]),
        ]);
    }
    table.print(page.out, page.paint)?;
    page.more(rows.len())
}
