//! How much time each location spent in which region, in the whole run or in a span of it.
//!
//! The one idea: of the whole run these are the sums of its own profile, so that nothing is read. Of a span all visits in it
//! are: each adds what of it lies inside to its own region, and takes that from the one around it.

use marey_analyze::{CallPath, Span, Trace, Visit};
use marey_model::{CallPathId, Nanos};
use rustc_hash::FxHashMap;

use crate::fold::{MOST_VISITS_EXACTLY, float, visits_in};
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{SharesHead, SharesOf, SpanOf};

/// So many regions have a column, and as many numbers are sent at most.
const MOST_REGIONS: usize = 64;

/// Of a location and a region.
#[derive(Clone, Copy, Default, Debug)]
struct Sums {
    exclusive: i64,
    inclusive: i64,
    visits: u64,
}

type Of = FxHashMap<(u32, u32), Sums>;

pub(super) fn answer(run: &Opened<'_>, asked: &SharesOf) -> Vec<u8> {
    let (sums, is_whole, damage) = match &asked.span {
        None => (of_all(run), true, Vec::new()),
        Some(span) => of_span(run, span),
    };
    let mut sums: Vec<((u32, u32), Sums)> = sums.into_iter().collect();
    sums.sort_unstable_by_key(|it| it.0);
    let mut totals = vec![0_i64; run.trace.regions().len()];
    for ((_, region), sums) in &sums {
        if let Some(total) = totals.get_mut(*region as usize) {
            *total += sums.exclusive;
        }
    }
    let mut order: Vec<usize> = (0..totals.len()).filter(|region| totals[*region] > 0).collect();
    order.sort_by_key(|region| (std::cmp::Reverse(totals[*region]), *region));
    let others = order.len().saturating_sub(MOST_REGIONS);
    order.truncate(MOST_REGIONS);
    // The last column is that of all others.
    let width = order.len() + 1;
    let mut column = vec![width - 1; totals.len()];
    order.iter().enumerate().for_each(|(place, region)| column[*region] = place);
    let mut cells = vec![Sums::default(); run.trace.locations().len() * width];
    for ((location, region), sums) in &sums {
        let place = column.get(*region as usize).map(|column| *location as usize * width + column);
        if let Some(cell) = place.and_then(|place| cells.get_mut(place)) {
            cell.exclusive += sums.exclusive;
            cell.inclusive += sums.inclusive;
            cell.visits += sums.visits;
        }
    }
    let regions = order.iter().map(|region| u32::try_from(*region).unwrap_or(u32::MAX)).collect();
    let mut columns = Columns::default();
    columns.f64("exclusive", cells.iter().map(|it| float(it.exclusive)));
    columns.f64("inclusive", cells.iter().map(|it| float(it.inclusive)));
    columns.f64("visits", cells.iter().map(|it| float(i64::try_from(it.visits).unwrap_or(i64::MAX))));
    let others = u32::try_from(others).unwrap_or(u32::MAX);
    columns.frame("shares", &SharesHead { regions, others, is_whole, damage })
}

fn of_all(run: &Opened<'_>) -> Of {
    let paths = run.trace.call_paths();
    let is_outermost = outermost(run);
    let mut sums = Of::default();
    for row in run.trace.profile() {
        let Some(path) = paths.get(row.call_path.idx()) else { continue };
        let own = sums.entry((row.location.0, path.region.0)).or_default();
        own.exclusive += row.exclusive.0;
        own.visits += row.visits;
        if is_outermost[row.call_path.idx()] {
            own.inclusive += row.inclusive.0;
        }
    }
    sums
}

fn of_span(run: &Opened<'_>, span: &SpanOf) -> (Of, bool, Vec<String>) {
    let mut sums = Of::default();
    let paths = run.trace.call_paths();
    let is_outermost = outermost(run);
    let region_of = |path: CallPathId| paths.get(path.idx()).map(|path| path.region.0);
    let read = visits_of(run, span, &mut |visit, path, inside| {
        let it = &visit.interval;
        let own = sums.entry((it.location.0, path.region.0)).or_default();
        own.exclusive += inside;
        own.visits += u64::from(it.visits);
        if is_outermost[it.call_path.idx()] {
            own.inclusive += inside;
        }
        if let Some(around) = path.parent.and_then(region_of) {
            sums.entry((it.location.0, around)).or_default().exclusive -= inside;
        }
    });
    let is_whole = read.is_some();
    (sums, is_whole, read.unwrap_or_default())
}

/// Hands out all visits that a span has something of, with their call paths and how much that is, ns; then says what could
/// not be read. `None` = there are too many.
pub(super) fn visits_of(
    run: &Opened<'_>,
    span: &SpanOf,
    each: &mut dyn FnMut(&Visit, &CallPath, i64),
) -> Option<Vec<String>> {
    let all = 0..u32::try_from(run.trace.locations().len()).unwrap_or(u32::MAX);
    let (from, to) = (span.from_ns.max(0), span.to_ns);
    let ranges = [(all.start, all.end)];
    if run.has_no_visits() || visits_in(run, (from, to), &ranges, |_| true) > MOST_VISITS_EXACTLY {
        return None;
    }
    let paths = run.trace.call_paths();
    let within = Span { from: Nanos(from), to: Nanos(to) };
    let read = run.events.overlapping(within, all, &mut |visits| {
        for visit in visits {
            let it = &visit.interval;
            let (begin, end) = (it.start.max(Nanos(from)), it.end.min(Nanos(to)));
            if let Some(path) = paths.get(it.call_path.idx()).filter(|_| begin <= end) {
                each(visit, path, (visit.inside_before(end) - visit.inside_before(begin)).0);
            }
        }
    });
    Some(read.err().map_or_else(Vec::new, |unread| unread.0))
}

/// By call path, whether its region is not around it already.
fn outermost(run: &Opened<'_>) -> Vec<bool> {
    let paths = run.trace.call_paths();
    let mut found = Vec::with_capacity(paths.len());
    for path in paths {
        let mut above = path.parent;
        let mut is_outermost = true;
        while let Some(around) = above.and_then(|above| paths.get(above.idx())) {
            if around.region == path.region {
                is_outermost = false;
                break;
            }
            above = around.parent;
        }
        found.push(is_outermost);
    }
    found
}
