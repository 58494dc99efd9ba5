//! How single calls of the regions differ: how long they took, and how much data they moved.
//!
//! The one idea: the archive counts calls by powers of two, so all that can be said is what so many of them did not
//! exceed. That bound is shown, never a guess in between; the shortest and the longest are exact.
//!
//! Deliberately absent: regions with so few calls that their sums say it all.

use std::collections::BTreeMap;
use std::io;

use marey_analyze::Histogram;
use marey_model::Nanos;

use super::Page;
use crate::format;
use crate::paint::shorten;
use crate::table::{Side, Table};
use crate::words;

/// Fewer calls than this are not worth a row.
const FEW: u64 = 20;
/// What part of the calls a bound is of.
const PARTS: [(&str, f64); 2] = [("half ≤", 0.5), ("99 % ≤", 0.99)];

/// Calls of regions that people call by one name.
#[derive(Default)]
struct Calls {
    exclusive: Nanos,
    timed: u64,
    shortest: Option<Nanos>,
    longest: Option<Nanos>,
    by_duration: Histogram,
    by_size: Histogram,
}

/// One row a name, in the order of the table of regions.
pub(super) fn print(page: &mut Page<'_>) -> io::Result<()> {
    let mut names: BTreeMap<String, Calls> = BTreeMap::new();
    for row in &page.facts.regions {
        let sum = names.entry(words::region(page.facts.trace, row.region)).or_default();
        sum.exclusive = sum.exclusive + row.exclusive;
        sum.timed = sum.timed.saturating_add(row.visits.saturating_sub(row.untimed));
        sum.shortest = [sum.shortest, row.min].into_iter().flatten().min();
        sum.longest = sum.longest.max(row.max);
        sum.by_duration.add_all(&row.by_duration);
        sum.by_size.add_all(&row.by_size);
    }
    let mut rows: Vec<(String, Calls)> = names.into_iter().collect();
    rows.sort_by(|(a, calls_a), (b, calls_b)| calls_b.exclusive.cmp(&calls_a.exclusive).then(a.cmp(b)));
    rows.truncate(page.top);
    // An archive of an earlier version has no histograms.
    rows.retain(|(_, calls)| calls.timed >= FEW && calls.by_duration.bound_of(0.5).is_some());
    if rows.is_empty() {
        return Ok(());
    }
    let has_sizes = rows.iter().any(|(_, calls)| has_data(&calls.by_size));
    let mut remark =
        "how long single calls took: half of them, and 99 of 100, at most so long, by powers of two \
                      of the clock's ticks"
            .to_owned();
    if has_sizes {
        remark.push_str("; data: the same of what single messages and the like moved");
    }
    page.title("SINGLE CALLS", &remark)?;
    const HALF: &str = PARTS[0].0;
    const MOST: &str = PARTS[1].0;
    let mut columns = vec!["region", "shortest", HALF, MOST, "longest"];
    columns.extend(["data: half ≤", "data: 99 % ≤"].into_iter().filter(|_| has_sizes));
    let side = |head| if head == "region" { Side::Left } else { Side::Right };
    let columns: Vec<_> = columns.into_iter().map(|head| (head, side(head))).collect();
    let mut table = Table::new(&columns).can_spare(&["shortest", "data: half ≤", "data: 99 % ≤", HALF]);
    for (name, calls) in &rows {
        let mut cells = vec![shorten(name, 24), calls.shortest.map_or_else(String::new, format::duration)];
        cells.extend(PARTS.map(|(_, part)| duration(calls, part)));
        cells.push(calls.longest.map_or_else(String::new, format::duration));
        cells.extend(PARTS.iter().filter(|_| has_sizes).map(|&(_, part)| size(&calls.by_size, part)));
        table.push(cells.into_iter().map(Into::into).collect());
    }
    table.print(page.out, page.paint)
}

/// What so many of the calls did not exceed; empty where that is not known.
fn duration(calls: &Calls, part: f64) -> String {
    let bound = calls.by_duration.bound_of(part).and_then(|bound| i64::try_from(bound).ok());
    // No call took longer than the longest.
    let bound = bound.map(|bound| calls.longest.map_or(Nanos(bound), |longest| longest.min(Nanos(bound))));
    bound.map_or_else(String::new, format::duration)
}

/// The same of operations; empty where there were none with data.
fn size(sizes: &Histogram, part: f64) -> String {
    let bound = sizes.bound_of(part).filter(|_| has_data(sizes));
    bound.map_or_else(String::new, |bound| format::bytes(bound.saturating_sub(1)))
}

fn has_data(sizes: &Histogram) -> bool {
    sizes.bins().any(|bin| bin.from > 0)
}
